/* SPDX-License-Identifier: MIT */
#include "isa/x86_64/x86.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rng.h"
#include "unittest.h"

#define PC UINT64_C(0x3f83200000)

enum {
    COND = VS_BR_COND,
    CALL = VS_BR_CALL,
    IJUMP = VS_BR_INDIRECT,
    ICALL = VS_BR_INDIRECT | VS_BR_CALL,
    RET = VS_BR_INDIRECT | VS_BR_RETURN,
};

/* Bytes written as in a listing, "f3 a4". */
struct code {
    uint8_t bytes[64];
    size_t size;
};

static struct code code(const char *hex)
{
    struct code c = {.size = 0};
    char *end;
    for (;; hex = end) {
        unsigned long byte = strtoul(hex, &end, 16);
        if (end == hex)
            return c;
        CHECK(byte < 256 && c.size < sizeof(c.bytes));
        c.bytes[c.size++] = (uint8_t)byte;
    }
}

/* Decodes hex, which is one instruction; every shorter piece of it is a truncated one. */
static struct vs_insn decode(const char *hex)
{
    struct code c = code(hex);
    struct vs_insn insn, untouched;
    memset(&untouched, 0xa5, sizeof(untouched));
    for (size_t cut = 0; cut < c.size; cut++) {
        memcpy(&insn, &untouched, sizeof(insn));
        if (vs_x86_decode(c.bytes, cut, PC, &insn) != -VSE_TRUNCATED)
            unittest_fail(__FILE__, __LINE__, "%s is not truncated at %zu", hex, cut);
        CHECK_MEM(&insn, &untouched, sizeof(insn));
    }
    if (vs_x86_decode(c.bytes, c.size, PC, &insn) || insn.length != c.size)
        unittest_fail(__FILE__, __LINE__, "%s is no instruction of %zu bytes", hex, c.size);
    return insn;
}

/* hex is an instruction of that kind, and in no other way special. */
static void is_kind(const char *hex, unsigned kind)
{
    struct vs_insn insn = decode(hex);
    if (insn.kind != kind || insn.branch || insn.target || insn.repeat || insn.locked)
        unittest_fail(__FILE__, __LINE__, "%s has kind %u, branch %u, repeat %d, locked %d", hex,
                      insn.kind, insn.branch, insn.repeat, insn.locked);
}

/* hex is a branch with those flags and that target, 0 for an indirect one. */
static void is_branch(const char *hex, unsigned flags, uint64_t target)
{
    struct vs_insn insn = decode(hex);
    if (insn.kind != VS_INSN_BRANCH || insn.branch != flags || insn.target != target ||
        insn.repeat || insn.locked)
        unittest_fail(__FILE__, __LINE__, "%s has kind %u, branch %u, target %#llx", hex, insn.kind,
                      insn.branch, (unsigned long long)insn.target);
    CHECK_EQ(vs_insn_is_direct(&insn), !(flags & VS_BR_INDIRECT));
}

static void is_repeat(const char *hex, bool repeat)
{
    struct vs_insn insn = decode(hex);
    if (insn.kind != VS_INSN_PLAIN || insn.repeat != repeat || insn.locked)
        unittest_fail(__FILE__, __LINE__, "%s: repeat is %d, kind %u", hex, insn.repeat, insn.kind);
}

static void is_locked(const char *hex, bool locked)
{
    struct vs_insn insn = decode(hex);
    if (insn.kind != VS_INSN_PLAIN || insn.locked != locked || insn.repeat)
        unittest_fail(__FILE__, __LINE__, "%s: locked is %d, kind %u", hex, insn.locked, insn.kind);
}

/* ---- branches ------------------------------------------------------------------------------- */

TEST(knows_every_conditional_jump_in_both_encodings)
{
    char hex[32];
    for (unsigned condition = 0; condition < 16; condition++) {
        snprintf(hex, sizeof(hex), "%x 7f", 0x70 + condition);
        is_branch(hex, COND, PC + 2 + 127);
        snprintf(hex, sizeof(hex), "%x 80", 0x70 + condition);
        is_branch(hex, COND, PC + 2 - 128);
        snprintf(hex, sizeof(hex), "0f %x 00 01 00 00", 0x80 + condition);
        is_branch(hex, COND, PC + 6 + 256);
        snprintf(hex, sizeof(hex), "0f %x f0 ff ff ff", 0x80 + condition);
        is_branch(hex, COND, PC + 6 - 16);
    }
    is_branch("2e 74 10", COND, PC + 3 + 16);
    is_branch("3e 0f 85 10 00 00 00", COND, PC + 7 + 16);
    is_branch("f2 74 10", COND, PC + 3 + 16);
}

TEST(knows_loops_and_jumps_on_a_count)
{
    is_branch("e0 fe", COND, PC);
    is_branch("e1 fe", COND, PC);
    is_branch("e2 fe", COND, PC);
    is_branch("e3 fe", COND, PC);
    is_branch("67 e2 10", COND, PC + 3 + 16);
    is_branch("67 e3 10", COND, PC + 3 + 16);
}

TEST(knows_direct_jumps_and_calls)
{
    is_branch("eb fe", 0, PC);
    is_branch("e9 00 00 00 80", 0, PC + 5 - 0x80000000);
    is_branch("e8 2b 11 00 00", CALL, PC + 0x1130);
    is_branch("f2 e9 00 00 00 00", 0, PC + 6);
    is_branch("f2 e8 00 00 00 00", CALL, PC + 6);
    is_branch("66 66 48 e8 00 00 00 00", CALL, PC + 8);
}

TEST(knows_indirect_jumps_and_calls)
{
    is_branch("ff e0", IJUMP, 0);
    is_branch("41 ff e7", IJUMP, 0);
    is_branch("3e ff e0", IJUMP, 0);
    is_branch("ff 25 10 00 00 00", IJUMP, 0);
    is_branch("f2 ff 25 10 00 00 00", IJUMP, 0);
    is_branch("ff 24 c5 00 00 40 00", IJUMP, 0);
    is_branch("ff d0", ICALL, 0);
    is_branch("41 ff 54 24 08", ICALL, 0);
    is_branch("ff 15 10 00 00 00", ICALL, 0);
    is_branch("48 ff 28", IJUMP, 0); /* far */
    is_branch("ff 18", ICALL, 0);    /* far */
}

TEST(knows_returns)
{
    is_branch("c3", RET, 0);
    is_branch("c2 08 00", RET, 0);
    is_branch("f3 c3", RET, 0);
    is_branch("f2 c3", RET, 0);
    is_branch("cb", RET, 0);
    is_branch("48 cb", RET, 0);
    is_branch("ca 08 00", RET, 0);
    is_branch("cf", RET, 0);
    is_branch("48 cf", RET, 0);
    is_branch("48 0f 07", RET, 0);    /* sysretq */
    is_branch("48 0f 35", RET, 0);    /* sysexitq */
    is_branch("f3 0f 01 ec", RET, 0); /* uiret */
}

TEST(wraps_targets_at_the_ends_of_memory)
{
    struct code jump = code("eb 10");
    struct vs_insn insn;
    CHECK_EQ(vs_x86_decode(jump.bytes, jump.size, UINT64_MAX - 1, &insn), 0);
    CHECK_EQ(insn.target, 16);
    jump = code("e9 00 00 00 80");
    CHECK_EQ(vs_x86_decode(jump.bytes, jump.size, 0, &insn), 0);
    CHECK_EQ(insn.target, UINT64_C(0xffffffff80000005));
}

/* ---- other kinds ---------------------------------------------------------------------------- */

TEST(knows_system_calls)
{
    is_kind("0f 05", VS_INSN_SYSCALL);
    is_kind("0f 34", VS_INSN_SYSCALL);
    is_kind("cd 80", VS_INSN_SYSCALL);
}

TEST(takes_what_traps_as_plain)
{
    is_kind("0f 0b", VS_INSN_PLAIN); /* ud2 */
    is_kind("f4", VS_INSN_PLAIN);    /* hlt */
    is_kind("cc", VS_INSN_PLAIN);    /* int3 */
    is_kind("f1", VS_INSN_PLAIN);    /* int1 */
    is_kind("cd 03", VS_INSN_PLAIN);
    is_kind("cd 81", VS_INSN_PLAIN);
}

TEST(goes_from_a_transaction_to_its_fallback)
{
    is_branch("c7 f8 10 00 00 00", COND, PC + 6 + 16); /* xbegin */
    is_kind("c6 f8 01", VS_INSN_PLAIN);                /* xabort */
    is_kind("0f 01 d5", VS_INSN_PLAIN);                /* xend */
}

TEST(knows_instructions_with_results_from_outside)
{
    is_kind("0f 31", VS_INSN_NONDET);       /* rdtsc */
    is_kind("0f 01 f9", VS_INSN_NONDET);    /* rdtscp */
    is_kind("0f 33", VS_INSN_NONDET);       /* rdpmc */
    is_kind("0f 01 fd", VS_INSN_NONDET);    /* rdpru */
    is_kind("0f a2", VS_INSN_NONDET);       /* cpuid */
    is_kind("0f 01 d0", VS_INSN_NONDET);    /* xgetbv */
    is_kind("f3 0f c7 f8", VS_INSN_NONDET); /* rdpid */
    is_kind("0f c7 f0", VS_INSN_NONDET);    /* rdrand */
    is_kind("49 0f c7 f7", VS_INSN_NONDET);
    is_kind("0f c7 f8", VS_INSN_NONDET); /* rdseed */
    is_kind("66 0f c7 f8", VS_INSN_NONDET);
}

TEST(knows_plain_instructions)
{
    is_kind("90", VS_INSN_PLAIN);
    is_kind("66 2e 0f 1f 84 00 00 00 00 00", VS_INSN_PLAIN); /* nop */
    is_kind("f3 0f 1e fa", VS_INSN_PLAIN);                   /* endbr64 */
    is_kind("48 8b 05 00 10 00 00", VS_INSN_PLAIN);          /* mov rax, [rip+0x1000] */
    is_kind("48 b8 01 02 03 04 05 06 07 08", VS_INSN_PLAIN); /* mov rax, imm64 */
    is_kind("48 a1 01 02 03 04 05 06 07 08", VS_INSN_PLAIN); /* mov rax, [abs64] */
    is_kind("64 48 8b 04 25 28 00 00 00", VS_INSN_PLAIN);    /* mov rax, fs:[0x28] */
    is_kind("0f 94 c0", VS_INSN_PLAIN);                      /* setz */
    is_kind("0f 44 c1", VS_INSN_PLAIN);                      /* cmovz */
    is_kind("d9 c0", VS_INSN_PLAIN);                         /* fld */
    is_kind("c8 10 00 00", VS_INSN_PLAIN);                   /* enter */
    is_kind("c9", VS_INSN_PLAIN);                            /* leave */
}

TEST(knows_vector_instructions)
{
    is_kind("0f 58 c1", VS_INSN_PLAIN);                            /* addps */
    is_kind("66 0f 3a 63 c1 0c", VS_INSN_PLAIN);                   /* pcmpistri */
    is_kind("c5 fd 6f 06", VS_INSN_PLAIN);                         /* vmovdqa ymm0 */
    is_kind("c5 f5 fe c2", VS_INSN_PLAIN);                         /* vpaddd ymm */
    is_kind("c4 e2 7d 58 c0", VS_INSN_PLAIN);                      /* vpbroadcastd ymm */
    is_kind("c4 e2 75 90 04 90", VS_INSN_PLAIN);                   /* vpgatherdd ymm */
    is_kind("c4 e3 fd 00 c0 4e", VS_INSN_PLAIN);                   /* vpermq ymm, imm */
    is_kind("c4 c2 fd b8 84 88 00 01 00 00", VS_INSN_PLAIN);       /* vfmadd231pd ymm */
    is_kind("c4 e2 fb f5 c1", VS_INSN_PLAIN);                      /* pdep */
    is_kind("62 f1 7c 48 58 00", VS_INSN_PLAIN);                   /* vaddps zmm */
    is_kind("62 f3 75 20 3f 05 00 00 00 00 04", VS_INSN_PLAIN);    /* vpcmpb, mask */
    is_kind("64 62 f1 7c 48 10 84 98 00 01 00 00", VS_INSN_PLAIN); /* vmovups zmm, fs: */
    is_kind("c4 e3 71 4b c2 30", VS_INSN_PLAIN);                   /* vblendvpd */
}

TEST(takes_a_valgrind_request_as_five_instructions)
{
    is_kind("48 c1 c7 03", VS_INSN_PLAIN);
    is_kind("48 c1 c7 0d", VS_INSN_PLAIN);
    is_kind("48 c1 c7 3d", VS_INSN_PLAIN);
    is_kind("48 c1 c7 33", VS_INSN_PLAIN);
    is_kind("48 87 db", VS_INSN_NONDET); /* xchg rbx, rbx */
    is_kind("48 87 c9", VS_INSN_NONDET); /* xchg rcx, rcx */
    is_kind("48 87 d2", VS_INSN_PLAIN);  /* nothing else that is like them */
    is_kind("49 87 db", VS_INSN_PLAIN);
    is_kind("48 87 d9", VS_INSN_PLAIN);
    is_kind("87 db", VS_INSN_PLAIN);
}

/* ---- prefixes ------------------------------------------------------------------------------- */

TEST(repeats_string_instructions)
{
    static const char *const opcode[] = {"6c", "6d", "6e", "6f", "a4", "a5", "a6",
                                         "a7", "aa", "ab", "ac", "ad", "ae", "af"};
    char hex[32];
    for (size_t i = 0; i < sizeof(opcode) / sizeof(opcode[0]); i++) {
        is_repeat(opcode[i], false);
        snprintf(hex, sizeof(hex), "f3 %s", opcode[i]);
        is_repeat(hex, true);
        snprintf(hex, sizeof(hex), "f2 %s", opcode[i]);
        is_repeat(hex, true);
        snprintf(hex, sizeof(hex), "48 %s", opcode[i]);
        is_repeat(hex, false);
        snprintf(hex, sizeof(hex), "66 f3 48 %s", opcode[i]);
        is_repeat(hex, true);
    }
}

TEST(repeats_nothing_else)
{
    is_repeat("f3 90", false);          /* pause */
    is_repeat("f3 0f b8 c0", false);    /* popcnt */
    is_repeat("f3 0f bc c0", false);    /* tzcnt */
    is_repeat("f2 0f 10 00", false);    /* movsd of a double */
    is_repeat("f2 0f c2 c1 00", false); /* cmpsd of doubles */
    is_repeat("f3 0f 1e fa", false);    /* endbr64 */
    is_repeat("f3 89 08", false);
    is_repeat("c5 fb 10 00", false); /* vmovsd */
}

TEST(locks_read_modify_writes)
{
    is_locked("f0 0f b1 0a", true);    /* cmpxchg */
    is_locked("f0 48 0f c7 0f", true); /* cmpxchg16b */
    is_locked("f0 0f c1 07", true);    /* xadd */
    is_locked("f0 ff 07", true);       /* inc */
    is_locked("f0 83 0c 24 00", true); /* or [rsp], 0 */
    is_locked("f0 0f ba 2f 03", true); /* bts */
    is_locked("64 f0 01 04 25 00 00 00 00", true);
    is_locked("f2 f0 ff 07", true); /* xacquire */
    is_locked("86 07", true);       /* xchg, no prefix needed */
    is_locked("87 07", true);
    is_locked("f0 48 87 07", true);
    is_locked("48 87 05 00 10 00 00", true);
}

TEST(locks_nothing_else)
{
    is_locked("87 c8", false); /* xchg of registers */
    is_locked("48 87 d3", false);
    is_locked("49 90", false);
    is_locked("91", false);
    is_locked("0f b1 0a", false);
    is_locked("48 0f c7 0f", false);
    is_locked("0f c1 07", false);
    is_locked("ff 07", false);
}

/* ---- what is no instruction ----------------------------------------------------------------- */

static void refuses(const char *hex)
{
    struct code c = code(hex);
    struct vs_insn insn;
    char text[VS_X86_TEXT_MAX];
    if (vs_x86_decode(c.bytes, c.size, PC, &insn) != -VSE_CORRUPT)
        unittest_fail(__FILE__, __LINE__, "%s is not refused", hex);
    CHECK_ERR(vs_x86_format(c.bytes, c.size, PC, text, sizeof(text)), VSE_CORRUPT);
}

TEST(refuses_opcodes_that_64_bit_mode_lacks)
{
    static const char *const opcode[] = {"06", "07", "0e", "16", "17", "1e", "1f",
                                         "27", "2f", "37", "3f", "60", "61", "82",
                                         "9a", "ce", "d4", "d5", "d6", "ea"};
    char hex[64];
    for (size_t i = 0; i < sizeof(opcode) / sizeof(opcode[0]); i++) {
        snprintf(hex, sizeof(hex), "%s 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", opcode[i]);
        refuses(hex);
    }
}

TEST(refuses_undefined_forms)
{
    refuses("ff ff");
    refuses("ff d8"); /* far call through a register */
    refuses("0f 04");
    refuses("8d c0"); /* lea of a register */
    refuses("c5 f8 ff");
}

TEST(refuses_locks_that_nothing_supports)
{
    refuses("f0 01 ca"); /* no memory operand */
    refuses("f0 87 c8");
    refuses("f0 89 08"); /* mov */
    refuses("f0 a4");    /* movs */
    refuses("f0 90");
    refuses("f0 e8 00 00 00 00");
    refuses("f0 3b 08"); /* cmp */
}

TEST(refuses_more_than_15_bytes)
{
    char hex[64] = "";
    for (int i = 0; i < 14; i++)
        strcat(hex, "66 ");
    strcat(hex, "90");
    is_kind(hex, VS_INSN_PLAIN);
    memmove(hex + 3, hex, strlen(hex) + 1);
    memcpy(hex, "66 ", 3);
    refuses(hex);
    hex[15 * 3] = '\0';
    refuses(hex); /* prefixes alone: whatever follows is too long */
}

/* ---- text ----------------------------------------------------------------------------------- */

static void reads(const char *hex, const char *text)
{
    struct code c = code(hex);
    char out[VS_X86_TEXT_MAX];
    int length = vs_x86_format(c.bytes, c.size, PC, out, sizeof(out));
    CHECK_EQ(length, (int)strlen(text));
    CHECK_STR(out, text);
    for (size_t capacity = 0; capacity <= (size_t)length; capacity++) {
        char *exact = malloc(capacity);
        CHECK_ERR(vs_x86_format(c.bytes, c.size, PC, exact, capacity), VSE_LIMIT);
        free(exact);
    }
    CHECK_EQ(vs_x86_format(c.bytes, c.size, PC, out, (size_t)length + 1), length);
    CHECK_STR(out, text);
    for (size_t cut = 0; cut < c.size; cut++)
        CHECK_ERR(vs_x86_format(c.bytes, cut, PC, out, sizeof(out)), VSE_TRUNCATED);
}

TEST(writes_absolute_addresses)
{
    reads("e8 2b 11 00 00", "call 0x3f83201130");
    reads("eb fe", "jmp 0x3f83200000");
    reads("0f 84 fa ff ff ff", "jz 0x3f83200000");
    reads("e3 10", "jrcxz 0x3f83200012");
    reads("48 8b 05 00 10 00 00", "mov rax, [0x3f83201007]");
    reads("ff 25 0a 00 00 00", "jmp [0x3f83200010]");
}

TEST(writes_intel_syntax)
{
    reads("c3", "ret");
    reads("c2 08 00", "ret 0x8");
    reads("48 83 ec 08", "sub rsp, 0x8");
    reads("8b 44 8d fc", "mov eax, [rbp+rcx*4-0x4]");
    reads("ff 14 c5 00 10 40 00", "call [rax*8+0x401000]");
    reads("f3 48 ab", "rep stosq");
    reads("f0 0f c1 07", "lock xadd [rdi], eax");
    reads("c7 00 ff 00 00 00", "mov dword ptr [rax], 0xff");
    reads("c5 f5 fe c2", "vpaddd ymm0, ymm1, ymm2");
    reads("0f 05", "syscall");
}

/* ---- properties ----------------------------------------------------------------------------- */

/* Memory that ends where what may be read ends. Sanitizers do not see into a shared library. */
/* The end of memory that can be read. */
static uint8_t *edge(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *base =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    CHECK_EQ(mprotect(base + page, page, PROT_NONE), 0);
    return base + page;
}

/* Random, but with more of the bytes that decoders treat specially than chance would give. */
static void fill(struct rng *r, uint8_t *bytes, size_t size)
{
    static const uint8_t special[] = {0x0f, 0x26, 0x2e, 0x38, 0x3a, 0x40, 0x48, 0x62, 0x64,
                                      0x66, 0x67, 0x8f, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3, 0xff};
    unsigned bias = (unsigned)rng_below(r, 4);
    for (size_t i = 0; i < size; i++)
        bytes[i] =
            rng_below(r, 4) < bias ? special[rng_below(r, sizeof(special))] : (uint8_t)rng_next(r);
}

/* What a decoded instruction may say, whatever its bytes. */
static void check_facts(const struct vs_insn *insn, size_t size)
{
    CHECK(insn->length > 0 && insn->length <= size && insn->length <= VS_X86_LENGTH_MAX);
    CHECK(insn->kind <= VS_INSN_NONDET);
    CHECK(!(insn->branch & ~(VS_BR_ALL & ~VS_BR_TAKEN)));
    CHECK(insn->kind == VS_INSN_BRANCH || (insn->branch == 0 && insn->target == 0));
    CHECK(!(insn->branch & VS_BR_INDIRECT) || insn->target == 0);
    CHECK(!(insn->branch & VS_BR_RETURN) || insn->branch == RET);
    CHECK(!(insn->branch & VS_BR_COND) || insn->branch == COND);
    CHECK(!(insn->repeat && insn->locked));
    CHECK(insn->kind == VS_INSN_PLAIN || !(insn->repeat || insn->locked));
}

TEST(reads_only_the_bytes_given)
{
    uint8_t *end = edge();
    struct rng r = rng_init(1);
    unsigned outcomes[3] = {0};
    for (int i = 0; i < 300000; i++) {
        size_t size = rng_below(&r, 20);
        uint8_t *bytes = end - size;
        char text[VS_X86_TEXT_MAX];
        struct vs_insn insn;
        fill(&r, bytes, size);
        int rc = vs_x86_decode(bytes, size, PC, &insn);
        CHECK(rc == 0 || rc == -VSE_CORRUPT || (rc == -VSE_TRUNCATED && size < VS_X86_LENGTH_MAX));
        outcomes[rc == 0 ? 0 : rc == -VSE_CORRUPT ? 1 : 2]++;
        int length = vs_x86_format(bytes, size, PC, text, sizeof(text));
        if (rc == 0) {
            check_facts(&insn, size);
            CHECK(length > 0);
        } else
            CHECK_EQ(length, rc);
    }
    CHECK(outcomes[0] > 10000 && outcomes[1] > 10000 && outcomes[2] > 10000);
}

TEST(depends_on_no_byte_after_the_instruction)
{
    uint8_t *end = edge();
    struct rng r = rng_init(2);
    unsigned decoded = 0;
    for (int i = 0; i < 100000; i++) {
        uint8_t bytes[VS_X86_LENGTH_MAX];
        struct vs_insn insn, again;
        memset(&insn, 0, sizeof(insn));
        memset(&again, 0, sizeof(again));
        fill(&r, bytes, sizeof(bytes));
        if (vs_x86_decode(bytes, sizeof(bytes), PC, &insn))
            continue;
        decoded++;
        for (size_t size = 0; size < insn.length; size++) {
            memcpy(end - size, bytes, size);
            CHECK_ERR(vs_x86_decode(end - size, size, PC, &again), VSE_TRUNCATED);
        }
        memcpy(end - insn.length, bytes, insn.length);
        CHECK_EQ(vs_x86_decode(end - insn.length, insn.length, PC, &again), 0);
        CHECK_EQ(again.target, insn.target);
        CHECK_EQ(again.length, insn.length);
        CHECK_EQ(again.kind, insn.kind);
        CHECK_EQ(again.branch, insn.branch);
        CHECK_EQ(again.repeat, insn.repeat);
        CHECK_EQ(again.locked, insn.locked);
    }
    CHECK(decoded > 10000);
}

/* ---- another disassembler ------------------------------------------------------------------- */

/* One line of `objdump -d -w`: address, bytes, mnemonic and operands in AT&T syntax. */
struct listed {
    uint64_t pc;
    struct code code;
    char prefixes[64]; /* each with a space before and after */
    char mnemonic[32];
    char operands[96];
};

static bool is_prefix(const char *word)
{
    static const char *const words[] = {"addr32", "bnd", "cs",       "data16",  "ds",  "es",
                                        "fs",     "gs",  "lock",     "notrack", "rep", "repnz",
                                        "repz",   "ss",  "xacquire", "xrelease"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return strncmp(word, "rex", 3) == 0 || word[0] == '{';
}

/* False for a line that is not an instruction. */
static bool parse(char *line, struct listed *l)
{
    char *text, *bytes;
    l->pc = strtoull(line, &bytes, 16);
    if (strncmp(bytes, ":\t", 2) != 0 || !(text = strchr(bytes + 2, '\t')))
        return false;
    *text++ = '\0';
    l->code = code(bytes + 2);
    text[strcspn(text, "\n#")] = '\0';
    strcpy(l->prefixes, " ");
    for (;;) {
        int used = 0;
        l->mnemonic[0] = '\0';
        sscanf(text, "%31s%n", l->mnemonic, &used);
        text += used;
        if (!is_prefix(l->mnemonic))
            break;
        CHECK(strlen(l->prefixes) + strlen(l->mnemonic) + 2 < sizeof(l->prefixes));
        strcat(strcat(l->prefixes, l->mnemonic), " ");
    }
    snprintf(l->operands, sizeof(l->operands), "%s", text + strspn(text, " "));
    return l->mnemonic[0] && !strstr(l->mnemonic, "(bad)");
}

static bool starts(const char *s, const char *start)
{
    return strncmp(s, start, strlen(start)) == 0;
}

/* The facts, told from the text. */
static struct vs_insn expected(const struct listed *l)
{
    static const char *const nondet[] = {"rdtsc",  "rdtscp", "rdpmc",  "rdpru", "cpuid",
                                         "xgetbv", "rdpid",  "rdrand", "rdseed"};
    const char *m = l->mnemonic;
    bool direct = isxdigit((unsigned char)l->operands[0]);
    struct vs_insn insn = {.length = (uint8_t)l->code.size};
    if (m[0] == 'j' || starts(m, "loop") || starts(m, "xbegin")) {
        insn.kind = VS_INSN_BRANCH;
        insn.branch = !starts(m, "jmp") ? COND : direct ? 0 : IJUMP;
    } else if (starts(m, "call") || starts(m, "lcall")) {
        insn.kind = VS_INSN_BRANCH;
        insn.branch = direct ? CALL : ICALL;
    } else if (starts(m, "ret") || starts(m, "lret") || starts(m, "iret")) {
        insn.kind = VS_INSN_BRANCH;
        insn.branch = RET;
    } else if (starts(m, "syscall"))
        insn.kind = VS_INSN_SYSCALL;
    for (size_t i = 0; i < sizeof(nondet) / sizeof(nondet[0]); i++)
        if (strcmp(m, nondet[i]) == 0)
            insn.kind = VS_INSN_NONDET;
    if (strcmp(m, "xchg") == 0 &&
        (strcmp(l->operands, "%rbx,%rbx") == 0 || strcmp(l->operands, "%rcx,%rcx") == 0))
        insn.kind = VS_INSN_NONDET;
    if (insn.kind == VS_INSN_BRANCH)
        insn.target = direct ? strtoull(l->operands, NULL, 16) : 0;
    else
        insn.repeat = strstr(l->prefixes, " rep") != NULL && strcmp(m, "nop") != 0;
    insn.locked =
        strstr(l->prefixes, " lock ") || (starts(m, "xchg") && strpbrk(l->operands, "(:"));
    return insn;
}

static void compare(const struct listed *l)
{
    struct vs_insn want = expected(l), got = {0};
    int rc = vs_x86_decode(l->code.bytes, l->code.size, l->pc, &got);
    if (rc || got.length != want.length || got.kind != want.kind || got.branch != want.branch ||
        got.target != want.target || got.repeat != want.repeat || got.locked != want.locked)
        unittest_fail(__FILE__, __LINE__,
                      "%#llx:%s%s %s: status %d, length %u, kind %u, branch %u, target %#llx, "
                      "repeat %d, locked %d",
                      (unsigned long long)l->pc, l->prefixes, l->mnemonic, l->operands, rc,
                      got.length, got.kind, got.branch, (unsigned long long)got.target, got.repeat,
                      got.locked);
}

/* Returns the number of instructions compared. */
static size_t agree_on(const char *file)
{
    char command[4200], line[1000];
    size_t count = 0;
    struct listed l;
    snprintf(command, sizeof(command), "LC_ALL=C objdump -d -w --insn-width=15 '%s'", file);
    FILE *listing = popen(command, "r");
    CHECK(listing);
    while (fgets(line, sizeof(line), listing)) {
        /* It writes an fwait and the instruction after it as one. */
        if (!parse(line, &l) || l.code.bytes[0] == 0x9b)
            continue;
        compare(&l);
        count++;
    }
    CHECK_EQ(pclose(listing), 0);
    return count;
}

TEST(agrees_with_objdump_on_this_program)
{
    char file[64];
    snprintf(file, sizeof(file), "/proc/%d/exe", (int)getpid());
    CHECK(agree_on(file) > 1000);
}

TEST(agrees_with_objdump_on_the_c_library)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    CHECK(symbol && dladdr(symbol, &info) && info.dli_fname);
    CHECK(agree_on(info.dli_fname) > 100000);
}
