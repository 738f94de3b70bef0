/* SPDX-License-Identifier: MIT */
/* Instructions that access a part of their memory operand, or none of it, or more: masked moves and
 * gathers with every mask, strings of no length, conditional moves, state that is saved and
 * restored. Prints a sum; the registers of each loop come from the loop before, so that a debugger
 * that follows them and takes an access for one that was not made goes wrong. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Alignas(64) uint32_t from[64], to[64];
static _Alignas(64) unsigned char state[4096];
static uint64_t sum;

static void prepare(void)
{
    for (uint32_t i = 0; i < 64; i++) {
        from[i] = i * 0x01010101u + 7;
        to[i] = ~i;
    }
}

static void add(const void *bytes, size_t size)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + b[i];
}

/* Lane i is on if bit i of the mask is. */
static void lanes(uint32_t words[8], unsigned mask, unsigned wide)
{
    for (unsigned i = 0; i < 8; i++)
        words[i] = mask >> (i / wide) & 1 ? 0x80000000u | i : 0x7fffffffu - i;
}

#define MASKED(name, load, store, type, wide)                                                      \
    __attribute__((target("avx2"))) static void name(unsigned mask, uint32_t *at)                  \
    {                                                                                              \
        _Alignas(32) uint32_t words[8], got[8] = {0};                                              \
                                                                                                   \
        lanes(words, mask, wide);                                                                  \
        __asm__ volatile("vmovdqa %[m], %%" type "1\n\t" load " (%[a]), %%" type "1, %%" type      \
                         "2\n\t" store " %%" type "2, %%" type "1, 64(%[a],%[i],4)\n\t"            \
                         "mov (%[a]), %%eax\n\tvmovdqa %%" type "2, %[g]\n\tvzeroupper"            \
                         : [g] "=m"(got)                                                           \
                         : [m] "m"(words), [a] "r"(at), [i] "r"((uint64_t)(mask & 3))              \
                         : "xmm1", "xmm2", "rax", "memory");                                       \
        add(got, sizeof(got));                                                                     \
    }

MASKED(words_of_8, "vpmaskmovd", "vpmaskmovd", "ymm", 1)
MASKED(words_of_4, "vpmaskmovd", "vpmaskmovd", "xmm", 1)
MASKED(quads_of_4, "vpmaskmovq", "vpmaskmovq", "ymm", 2)
MASKED(quads_of_2, "vpmaskmovq", "vpmaskmovq", "xmm", 2)
MASKED(floats_of_8, "vmaskmovps", "vmaskmovps", "ymm", 1)
MASKED(floats_of_4, "vmaskmovps", "vmaskmovps", "xmm", 1)
MASKED(doubles_of_4, "vmaskmovpd", "vmaskmovpd", "ymm", 2)
MASKED(doubles_of_2, "vmaskmovpd", "vmaskmovpd", "xmm", 2)

#define GATHER(name, instruction, type, index, wide)                                               \
    __attribute__((target("avx2"))) static void name(unsigned mask, uint32_t *at)                  \
    {                                                                                              \
        _Alignas(32) uint32_t words[8], got[8] = {0};                                              \
        _Alignas(32) uint32_t places[8] = {3, 0, 9, 0, 2, 0, 30, 0};                               \
                                                                                                   \
        lanes(words, mask, wide);                                                                  \
        __asm__ volatile("vmovdqa %[m], %%" type "1\n\tvmovdqa %[p], %%" index "3\n\t"             \
                         "vpxor %%ymm2, %%ymm2, %%ymm2\n\t" instruction " %%" type                 \
                         "1, 4(%[a],%%" index "3,4), %%" type "2\n\tmov 4(%[a]), %%eax\n\t"        \
                         "vmovdqa %%" type "2, %[g]\n\tvzeroupper"                                 \
                         : [g] "=m"(got)                                                           \
                         : [m] "m"(words), [p] "m"(places), [a] "r"(at)                            \
                         : "xmm1", "xmm2", "xmm3", "rax", "memory");                               \
        add(got, sizeof(got));                                                                     \
    }

GATHER(gather_words, "vpgatherdd", "ymm", "ymm", 1)
GATHER(gather_words_by_quads, "vpgatherqd", "xmm", "ymm", 1)
GATHER(gather_quads, "vpgatherdq", "ymm", "xmm", 2)
GATHER(gather_quads_by_quads, "vpgatherqq", "ymm", "ymm", 2)
GATHER(gather_floats, "vgatherdps", "xmm", "xmm", 1)
GATHER(gather_doubles, "vgatherqpd", "xmm", "xmm", 2)

/* maskmovdqu stores bytes where rdi points to. */
static void bytes(unsigned mask, uint32_t *at)
{
    _Alignas(16) unsigned char words[16];

    for (unsigned i = 0; i < 16; i++)
        words[i] = (unsigned char)((mask >> (i % 8) & 1) << 7 | i);
    __asm__ volatile("movdqa %[m], %%xmm1\n\tmovdqu (%[a]), %%xmm2\n\t"
                     "maskmovdqu %%xmm1, %%xmm2\n\tmov (%%rdi), %%eax\n\tmov %%eax, 4(%%rdi)"
                     :
                     : [m] "m"(words), [a] "r"(at), "D"(at + 16)
                     : "xmm1", "xmm2", "rax", "memory");
}

/* maskmovq, the same with half of that. */
static void bytes_of_8(unsigned mask, uint32_t *at)
{
    unsigned char words[8];

    for (unsigned i = 0; i < 8; i++)
        words[i] = (unsigned char)((mask >> i & 1) << 7 | i);
    __asm__ volatile("movq %[m], %%mm1\n\tmovq (%[a]), %%mm2\n\t"
                     "maskmovq %%mm1, %%mm2\n\tmov (%%rdi), %%eax\n\tmov %%eax, 4(%%rdi)\n\temms"
                     :
                     : [m] "m"(words), [a] "r"(at), "D"(at + 16)
                     : "mm1", "mm2", "rax", "memory");
}

#define STRING(instruction, n)                                                                     \
    do {                                                                                           \
        uint64_t count = n;                                                                        \
        void *target = to + 8, *source = from + 8;                                                 \
        uint32_t word = from[9];                                                                   \
                                                                                                   \
        __asm__ volatile(instruction "\n\tmov (%%rdi), %%eax\n\tmov (%%rsi), %%edx\n\t"            \
                                     "cld"                                                         \
                         : "+c"(count), "+D"(target), "+S"(source), "+a"(word)                     \
                         :                                                                         \
                         : "rdx", "cc", "memory");                                                 \
        sum += count + (uintptr_t)target - (uintptr_t)to;                                          \
    } while (0)

static void strings(unsigned n)
{
    STRING("rep stosb", n);
    STRING("rep stosl", n);
    STRING("rep movsb", n);
    STRING("rep movsq", n);
    STRING("lodsl\n\tlodsw", n);
    STRING("repe cmpsb", n);
    STRING("repne scasl", n);
    STRING("repe scasb", n);
    STRING("std\n\trep movsl", n);
    STRING("std\n\trep stosw", n);
    STRING("stosb\n\tmovsb\n\tlodsb\n\tscasb", n);
}

static void conditions(unsigned n)
{
    uint64_t a = n, b = 5, *p = (uint64_t *)from;

    __asm__ volatile("test $1, %[n]\n\tcmovz (%[p]), %[a]\n\tcmovnz 8(%[p]), %[b]\n\t"
                     "mov (%[p],%[n],8), %%rax\n\tsetz 16(%[p])\n\tlock cmpxchg %[b], 24(%[p])\n\t"
                     "cmpxchg %[a], 32(%[p])\n\tmov 24(%[p]), %%rax\n\tmov 28(%[p]), %%edx\n\t"
                     "cmpxchg8b 24(%[p])\n\tlock xadd %[a], 40(%[p])\n\tbtsl %%ecx, 48(%[p])\n\t"
                     "btsl $3, 48(%[p])\n\tmov 48(%[p]), %%rdx"
                     : [a] "+r"(a), [b] "+b"(b)
                     : [n] "r"((uint64_t)(n & 3)), [p] "r"(p), "c"(n * 9)
                     : "rax", "rdx", "cc", "memory");
    sum += a + b;
}

/* The components that are asked for: x87, SSE, AVX in any combination. */
static void states(unsigned n)
{
    __asm__ volatile("fxsave (%[p])\n\tfxrstor (%[p])\n\tmov (%[p]), %%rcx\n\t"
                     "fnstenv 1024(%[p])\n\tfldenv 1024(%[p])\n\tmov 1024(%[p]), %%rcx\n\t"
                     "stmxcsr 512(%[p])\n\tldmxcsr 512(%[p])\n\tfldpi\n\tfstpt 520(%[p])\n\t"
                     "fldt 520(%[p])\n\tfstpl 520(%[p])\n\tmov 520(%[p]), %%rcx"
                     :
                     : [p] "r"(state)
                     : "rcx", "memory");
    add(state + 520, 8);
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile(
            "xor %%edx, %%edx\n\txsave (%[p])\n\txrstor (%[p])\n\tmov (%[p]), %%rcx\n\t"
            "mov 512(%[p]), %%rdx"
            :
            : [p] "r"(state + 1024), "a"(n & 7)
            : "rcx", "rdx", "memory");
}

int main(void)
{
    memset(state, 0, sizeof(state));
    prepare();
    for (unsigned mask = 0; mask < 256; mask++) {
        bytes(mask, from);
        if (mask % 8 == 0)
            bytes_of_8(mask / 8 * 9, from);
        if (!__builtin_cpu_supports("avx2"))
            continue;
        words_of_8(mask, from);
        floats_of_8(mask, from);
        gather_words(mask, from);
        if (mask >= 16)
            continue;
        words_of_4(mask, from);
        quads_of_4(mask, from);
        floats_of_4(mask, from);
        doubles_of_4(mask, from);
        gather_words_by_quads(mask, from);
        gather_quads(mask, from);
        gather_quads_by_quads(mask, from);
        gather_floats(mask, from);
        if (mask >= 4)
            continue;
        quads_of_2(mask, from);
        doubles_of_2(mask, from);
        gather_doubles(mask, from);
    }
    for (unsigned n = 0; n < 9; n++) {
        strings(n);
        conditions(n);
        states(n);
    }
    add(from, sizeof(from));
    add(to, sizeof(to));
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
