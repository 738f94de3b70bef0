/* SPDX-License-Identifier: MIT */
/* The CPU of native programs: it computes what the host's processor does, stops after exactly as
 * many instructions as it is told, inside any access, and goes on from there. The code is part of
 * this program; it works on an arena, at the addresses that the arena has here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "isa/cpu_load.h"
#include "isa/x86_64/x86.h"
#include "unittest.h"

#define ARENA 65536
#define STOP  UINT64_C(0x10) /* where the code returns to: nothing is there */

enum { REFUSED = -4242, RAX = 0, RCX = 2, RSI = 4, RDI = 5, RSP = 7 };

/* uint64_t work(uint8_t *arena): everything that is done differently somewhere: pushes and calls,
 * divisions, locked and string instructions, bits, vectors, x87, operands of 10 and of many bytes,
 * and several accesses in one instruction. */
__asm__(".text\n"
        "work_begin:\n"
        "work:\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    mov %rdi, %rbx\n"
        "    mov $20, %r12d\n"
        "1:  mov %r12, %rax\n"
        "    imul $0x1e3779b1, %rax, %rax\n"
        "    mov %rax, (%rbx)\n"
        "    mov 8(%rbx), %rcx\n"
        "    or $1, %rcx\n"
        "    xor %edx, %edx\n"
        "    div %rcx\n"
        "    add %rdx, 16(%rbx)\n"
        "    mov %r12, %rax\n"
        "    cqo\n"
        "    idivq 24(%rbx)\n"
        "    lock xadd %rax, 32(%rbx)\n"
        "    lock addq $3, 40(%rbx)\n"
        "    mov 40(%rbx), %rax\n"
        "    lea 5(%rax), %rcx\n"
        "    lock cmpxchg %rcx, 40(%rbx)\n"
        "    lock cmpxchg %rcx, 48(%rbx)\n"
        "    lea 64(%rbx), %rsi\n"
        "    lea 1024(%rbx), %rdi\n"
        "    mov $37, %ecx\n"
        "    rep movsb\n"
        "    lea 64(%rbx), %rsi\n"
        "    lea 1024(%rbx), %rdi\n"
        "    mov $64, %ecx\n"
        "    repe cmpsb\n"
        "    mov %rcx, 56(%rbx)\n"
        "    xor %ecx, %ecx\n"
        "    rep stosq\n"
        "    pushq 56(%rbx)\n"
        "    popq 72(%rbx)\n"
        "    movdqu 64(%rbx), %xmm0\n"
        "    paddq 80(%rbx), %xmm0\n"
        "    movdqu %xmm0, 96(%rbx)\n"
        "    cvtsi2sd %r12, %xmm1\n"
        "    sqrtsd %xmm1, %xmm1\n"
        "    movsd %xmm1, 112(%rbx)\n"
        "    fldl 112(%rbx)\n"
        "    fldpi\n"
        "    fmulp\n"
        "    fstpt 128(%rbx)\n"
        "    fxsave 2048(%rbx)\n"
        "    fxrstor 2048(%rbx)\n"
        "    mov %r12d, %eax\n"
        "    mov %rax, %rcx\n"
        "    bts %rcx, %rax\n"
        "    btsq %rcx, 144(%rbx)\n"
        "    andl $0, 152(%rbx)\n"
        "    call 3f\n"
        "    add %rax, 160(%rbx)\n"
        "    dec %r12d\n"
        "    jnz 1b\n"
        "    mov 16(%rbx), %rax\n"
        "    add 32(%rbx), %rax\n"
        "    add 160(%rbx), %rax\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        "3:  enter $32, $0\n"
        "    mov %rax, -8(%rbp)\n"
        "    xchg %rax, -8(%rbp)\n"
        "    leave\n"
        "    ret\n"
        "work_end:\n"
        "faults_begin:\n"
        "    xor %ecx, %ecx\n"
        "    div %rcx\n"
        "    ret\n"
        "faults_end:\n"
        /* Loads of which nothing comes, as a whole or in part, and registers that are set again. */
        "lost_begin:\n"
        "    mov $9, %r8d\n"
        "1:\n"
        "    mov 8(%rdi), %rax\n"
        "    mov 16(%rdi,%r8,8), %eax\n"
        "    jmp 2f\n"
        "2:\n"
        "    cmp %rax, 24(%rdi)\n"
        "    add $7, %eax\n"
        "    jmp 2f\n"
        "2:\n"
        "    testb $1, 32(%rdi)\n"
        "    and 48(%rdi), %rcx\n"
        "    mov $1, %ecx\n"
        "    jmp 2f\n"
        "2:\n"
        "    sub $8, %rsp\n"
        "    push %rsi\n"
        "    pop %rdx\n"
        "    pop %rdx\n"
        "    jmp 2f\n"
        "2:\n"
        "    movdqu 64(%rdi), %xmm0\n"
        "    movdqu 80(%rdi), %xmm0\n"
        "    jmp 2f\n"
        "2:\n"
        "    cvtsi2sdl 96(%rdi), %xmm1\n"
        "    pshufb 64(%rdi), %xmm1\n"
        "    pxor %xmm1, %xmm1\n"
        "    jmp 2f\n"
        "2:\n"
        "    cvtps2pd 64(%rdi), %xmm2\n"
        "    cvtsi2sd %r8d, %xmm2\n"
        "    roundps $0, 64(%rdi), %xmm2\n"
        "    movss %xmm0, %xmm2\n"
        "    jmp 2f\n"
        "2:\n"
        "    movzbl 3(%rdi), %edx\n"
        "    xor %edx, %edx\n"
        "    jmp 2f\n"
        "2:\n"
        "    lea 56(%rdi), %rsi\n"
        "    lodsb\n"
        "    sub %rdi, %rsi\n"
        "    mov %rsi, %rax\n"
        "    jmp 2f\n"
        "2:\n"
        "    andl $0, 40(%rdi)\n"
        "    jmp 2f\n"
        "2:\n"
        "    mov %rsi, 112(%rdi)\n"
        "    mov %rdi, %rsi\n"
        "    mov %rsi, %rax\n"
        "    cqo\n"
        "    mov $3, %ecx\n"
        "    div %rcx\n"
        "    mov $5, %eax\n"
        "    jmp 2f\n"
        "2:\n"
        "    dec %r8d\n"
        "    jnz 1b\n"
        "    ret\n"
        "lost_end:\n"
        ".previous\n");
extern const uint8_t work_begin[], work_end[], faults_begin[], faults_end[];
extern const uint8_t lost_begin[], lost_end[];
uint64_t work(uint8_t *arena);

/* ---- a memory -------------------------------------------------------------------------------- */

struct memory {
    struct vs_cpu_memory seen; /* first */
    uint8_t *arena;
    const uint8_t *code;
    size_t size;
    uint64_t rng;
    unsigned refuse; /* one in so many accesses is refused; 0: none */
    uint64_t accesses;
    uint64_t trail; /* of all accesses, in their order */
};

static int fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                 size_t size)
{
    const struct memory *m = (const struct memory *)memory;
    uint64_t at = addr - (uintptr_t)m->code;
    if (at >= m->size) {
        cpu->fault = addr;
        return 0;
    }
    size_t n = m->size - at < size ? m->size - at : size;
    memcpy(bytes, m->code + at, n);
    return (int)n;
}

/* Returns 0; REFUSED; VS_CPU_FAULT. */
static int ask(struct memory *m, struct vs_cpu *cpu, uint64_t addr, unsigned size)
{
    if (addr - (uintptr_t)m->arena > ARENA - size) {
        cpu->fault = addr;
        return VS_CPU_FAULT;
    }
    if (m->refuse && vs_random(&m->rng) % m->refuse == 0)
        return REFUSED;
    m->accesses++;
    m->trail = (m->trail ^ (addr - (uintptr_t)m->arena) ^ (uint64_t)size << 32 ^
                (cpu->pc - (uintptr_t)m->code) << 40) *
               0x100000001b3u;
    return 0;
}

static int read_bytes(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                      unsigned size, enum vs_access access, void *bytes)
{
    int err = ask((struct memory *)memory, cpu, addr, size);
    (void)access;
    if (!err)
        memcpy(bytes, (const void *)(uintptr_t)addr, size);
    return err;
}

static int write_bytes(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, enum vs_access access, const void *bytes)
{
    int err = ask((struct memory *)memory, cpu, addr, size);
    (void)access;
    if (!err)
        memcpy((void *)(uintptr_t)addr, bytes, size);
    return err;
}

static int outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what, unsigned size,
                   void *bytes)
{
    (void)memory, (void)cpu, (void)what;
    memset(bytes, 0x5a, size);
    return 0;
}

static const struct vs_cpu_memory_ops memory_ops = {
    .fetch = fetch, .read = read_bytes, .write = write_bytes, .outside = outside};

/* ---- a machine ------------------------------------------------------------------------------- */

struct machine {
    struct memory memory;
    struct vs_cpu_code *code;
    struct vs_cpu *cpu;
};

static const struct vs_cpu_ops *load(void)
{
    const struct vs_cpu_ops *ops;
    const char *made_from;
    struct vs_diag diag = {0};
    char path[PATH_MAX];
    unittest_built("lib/vestige", path);
    int err = vs_cpu_load(vs_isa_find("x86-64"), path, &ops, &made_from, &diag);
    CHECK_STR(diag.text, "");
    CHECK_EQ(err, 0);
    CHECK_HAS(made_from, "Valgrind");
    return ops;
}

static void fill(uint8_t *arena)
{
    uint64_t rng = 7;
    for (size_t i = 0; i < ARENA / 2; i++)
        arena[i] = (uint8_t)vs_random(&rng);
    memset(arena + ARENA / 2, 0, ARENA / 2);
}

static void begin(struct machine *m, const uint8_t *code, const uint8_t *end)
{
    const struct vs_cpu_ops *ops = load();
    uint64_t stop = STOP, sp;
    *m = (struct machine){.memory = {.seen = {.ops = &memory_ops},
                                     .arena = aligned_alloc(4096, ARENA),
                                     .code = code,
                                     .size = (size_t)(end - code),
                                     .rng = 11}};
    CHECK(m->memory.arena);
    fill(m->memory.arena);
    m->code = ops->code_new();
    m->cpu = vs_cpu_new(ops, 1, m->code, &m->memory.seen);
    sp = (uintptr_t)m->memory.arena + ARENA - 1024 - 8;
    memcpy((void *)(uintptr_t)sp, &stop, 8);
    m->cpu->pc = (uintptr_t)code;
    vs_cpu_put(m->cpu, RDI, (uintptr_t)m->memory.arena);
    vs_cpu_put(m->cpu, RSP, sp);
}

static void end(struct machine *m)
{
    free(m->cpu);
    vs_cpu_code_free(m->code);
    free(m->memory.arena);
}

/* The whole of a core, but for addresses of its arena. */
static uint64_t look(const struct machine *m)
{
    uint64_t sum = m->cpu->pc * 31 + m->cpu->retired;
    uint8_t bytes[VS_REGISTER_BYTES];
    for (unsigned i = 0; i < 67; i++) {
        int n = m->cpu->ops->get(m->cpu, i, bytes);
        for (int k = 0; k < n; k++)
            sum = (sum ^ bytes[k]) * 0x100000001b3u;
    }
    return sum;
}

/* ---- cases ----------------------------------------------------------------------------------- */

TEST(computes_what_the_host_does)
{
    struct machine m;
    uint8_t *arena = aligned_alloc(4096, ARENA);
    begin(&m, work_begin, work_end);
    fill(arena);
    uint64_t expected = work(arena);
    CHECK_EQ(vs_cpu_run(m.cpu, UINT64_MAX), VS_STOP_FETCH_FAULT);
    CHECK_EQ(m.cpu->fault, STOP);
    CHECK_EQ(m.cpu->pc, STOP);
    CHECK_EQ(vs_cpu_get(m.cpu, RAX), expected);
    /* The state of x87 is in there, which is the host's in one of them. */
    CHECK_MEM(m.memory.arena, arena, 128);
    CHECK_MEM(m.memory.arena + 144, arena + 144, 1024);
    CHECK(m.cpu->retired > 20 * 50);
    free(arena);
    end(&m);
}

TEST(stops_after_each_number_of_instructions)
{
    struct machine whole, part;
    begin(&whole, work_begin, work_end);
    begin(&part, work_begin, work_end);
    uint64_t rng = 3;
    vs_cpu_run(whole.cpu, UINT64_MAX);
    uint64_t all = whole.cpu->retired;
    while (part.cpu->retired < all) {
        uint64_t n = 1 + vs_random(&rng) % 100, before = part.cpu->retired;
        uint64_t wanted = n < all - before ? before + n : all;
        CHECK_EQ(vs_cpu_run(part.cpu, wanted - before), VS_STOP_LIMIT);
        CHECK_EQ(part.cpu->retired, wanted);
    }
    CHECK_EQ(vs_cpu_run(part.cpu, 1), VS_STOP_FETCH_FAULT);
    CHECK_EQ(vs_cpu_get(part.cpu, RAX), vs_cpu_get(whole.cpu, RAX));
    CHECK_MEM(part.memory.arena, whole.memory.arena, ARENA / 2);
    end(&whole);
    end(&part);
}

/* Wherever an access is refused, registers are as before the instruction, whose accesses are made
 * again. */
TEST(is_left_inside_any_access)
{
    struct machine whole, part;
    begin(&whole, work_begin, work_end);
    begin(&part, work_begin, work_end);
    vs_cpu_run(whole.cpu, UINT64_MAX);
    part.memory.refuse = 3;
    uint64_t refused = 0, sum = 0, retired = UINT64_MAX, iterations = 0;
    for (;;) {
        int stop = vs_cpu_run(part.cpu, UINT64_MAX);
        if (stop != REFUSED) {
            CHECK_EQ(stop, VS_STOP_FETCH_FAULT);
            break;
        }
        if (part.cpu->retired == retired && part.cpu->iterations == iterations)
            CHECK_EQ(look(&part), sum); /* refused again, and nothing changed */
        sum = look(&part);
        retired = part.cpu->retired;
        iterations = part.cpu->iterations;
        refused++;
    }
    CHECK(refused > 500);
    CHECK_EQ(part.cpu->retired, whole.cpu->retired);
    CHECK_EQ(vs_cpu_get(part.cpu, RAX), vs_cpu_get(whole.cpu, RAX));
    CHECK_MEM(part.memory.arena, whole.memory.arena, ARENA / 2);
    end(&whole);
    end(&part);
}

/* A block makes the accesses that its instructions make one by one, in their order, whatever comes
 * of them. */
static void compare_singles(const uint8_t *code, const uint8_t *code_end)
{
    struct machine blocks, singles;
    int stop = VS_STOP_LIMIT;
    begin(&blocks, code, code_end);
    begin(&singles, code, code_end);
    CHECK_EQ(vs_cpu_run(blocks.cpu, UINT64_MAX), VS_STOP_FETCH_FAULT);
    while (stop == VS_STOP_LIMIT)
        stop = vs_cpu_run(singles.cpu, 1);
    CHECK_EQ(stop, VS_STOP_FETCH_FAULT);
    CHECK_EQ(blocks.memory.accesses, singles.memory.accesses);
    CHECK_EQ(blocks.memory.trail, singles.memory.trail);
    CHECK_EQ(blocks.cpu->retired, singles.cpu->retired);
    CHECK_EQ(vs_cpu_get(blocks.cpu, RAX), vs_cpu_get(singles.cpu, RAX));
    CHECK_EQ(vs_cpu_get(blocks.cpu, RCX), vs_cpu_get(singles.cpu, RCX));
    end(&blocks);
    end(&singles);
}

TEST(makes_the_same_accesses_in_blocks)
{
    compare_singles(work_begin, work_end);
    compare_singles(lost_begin, lost_end);
}

TEST(pauses_where_it_costs_least)
{
    struct machine whole, part;
    begin(&whole, work_begin, work_end);
    begin(&part, work_begin, work_end);
    vs_cpu_run(whole.cpu, UINT64_MAX);
    part.cpu->pause_after = 100;
    uint64_t pauses = 0, all = whole.cpu->retired;
    while (part.cpu->retired < all) {
        uint64_t before = part.cpu->retired;
        CHECK_EQ(vs_cpu_run(part.cpu, all - before), VS_STOP_LIMIT);
        CHECK(part.cpu->retired >= before + 100 || part.cpu->retired == all);
        CHECK(part.cpu->retired < before + 200);
        pauses++;
    }
    CHECK(pauses > 3);
    CHECK_EQ(vs_cpu_run(part.cpu, 1), VS_STOP_FETCH_FAULT);
    CHECK_EQ(part.memory.trail, whole.memory.trail);
    CHECK_MEM(part.memory.arena, whole.memory.arena, ARENA / 2);
    end(&whole);
    end(&part);
}

/* A rep counts once, and is left after its first iteration if a run ends there. */
TEST(repeats_iteration_by_iteration)
{
    struct machine m;
    begin(&m, work_begin, work_end);
    while (!m.cpu->iterations)
        CHECK_EQ(vs_cpu_run(m.cpu, 1), VS_STOP_LIMIT);
    uint64_t pc = m.cpu->pc, retired = m.cpu->retired;
    CHECK_EQ(m.cpu->iterations, 1);
    CHECK_EQ(vs_cpu_get(m.cpu, RCX), 36);
    m.cpu->iterate_until = 10;
    CHECK_EQ(vs_cpu_run(m.cpu, 0), VS_STOP_LIMIT);
    CHECK_EQ(m.cpu->iterations, 10);
    CHECK_EQ(vs_cpu_get(m.cpu, RCX), 27);
    CHECK_EQ(m.cpu->pc, pc);
    m.cpu->iterate_until = 0;
    CHECK_EQ(vs_cpu_run(m.cpu, 0), VS_STOP_LIMIT);
    CHECK_EQ(m.cpu->iterations, 0);
    CHECK_EQ(vs_cpu_get(m.cpu, RCX), 0);
    CHECK_EQ(m.cpu->retired, retired);
    CHECK_EQ(m.cpu->pc, pc + 2);
    end(&m);
}

TEST(goes_back_to_a_checkpoint)
{
    struct machine m;
    uint8_t copy[VS_CPU_SAVED_MAX], *arena = malloc(ARENA);
    begin(&m, work_begin, work_end);
    CHECK_EQ(vs_cpu_run(m.cpu, 500), VS_STOP_LIMIT);
    m.cpu->ops->save(m.cpu, copy);
    memcpy(arena, m.memory.arena, ARENA);
    uint64_t sum = look(&m);
    vs_cpu_run(m.cpu, 600);
    uint64_t later = look(&m);
    m.cpu->ops->restore(m.cpu, copy);
    memcpy(m.memory.arena, arena, ARENA);
    CHECK_EQ(look(&m), sum);
    vs_cpu_run(m.cpu, 600);
    CHECK_EQ(look(&m), later);
    free(arena);
    end(&m);
}

TEST(stops_at_addresses)
{
    struct machine m;
    begin(&m, work_begin, work_end);
    uint64_t passed = 0, at = 0;
    /* An instruction in the midst of the loop's first block. */
    vs_cpu_run(m.cpu, 8);
    at = m.cpu->pc;
    vs_cpu_break(m.code, &at, 1);
    m.cpu->passing = at;
    while (vs_cpu_run(m.cpu, UINT64_MAX) == VS_STOP_BREAK) {
        CHECK_EQ(m.cpu->pc, at);
        CHECK_EQ(vs_cpu_run(m.cpu, UINT64_MAX), VS_STOP_BREAK);
        m.cpu->passing = at;
        passed++;
    }
    CHECK_EQ(passed, 19);
    vs_cpu_break(m.code, NULL, 0);
    end(&m);
}

TEST(tells_what_cannot_be_done)
{
    struct machine m;
    begin(&m, faults_begin, faults_end);
    CHECK_EQ(vs_cpu_run(m.cpu, UINT64_MAX), VS_STOP_ARITHMETIC);
    CHECK_EQ(m.cpu->pc, (uintptr_t)faults_begin + 2);
    CHECK_EQ(m.cpu->retired, 1);
    vs_cpu_put(m.cpu, RSP, 8);
    vs_cpu_put(m.cpu, VS_REG_PC, (uintptr_t)faults_end - 1);
    CHECK_EQ(vs_cpu_run(m.cpu, UINT64_MAX), VS_STOP_LOAD_FAULT);
    CHECK_EQ(m.cpu->fault, 8);
    end(&m);
}

static void *run_one(void *context)
{
    struct machine m;
    begin(&m, work_begin, work_end);
    vs_cpu_run(m.cpu, UINT64_MAX);
    *(uint64_t *)context = vs_cpu_get(m.cpu, RAX);
    end(&m);
    return NULL;
}

TEST(runs_side_by_side)
{
    enum { MACHINES = 4 };
    pthread_t threads[MACHINES];
    uint64_t results[MACHINES];
    for (unsigned i = 0; i < MACHINES; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, run_one, &results[i]), 0);
    for (unsigned i = 0; i < MACHINES; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 1; i < MACHINES; i++)
        CHECK_EQ(results[i], results[0]);
}

TEST(names_what_is_missing)
{
    const struct vs_cpu_ops *ops;
    struct vs_diag diag = {0};
    CHECK_ERR(vs_cpu_load(vs_isa_find("x86-64"), "/nowhere", &ops, NULL, &diag), VSE_NOTFOUND);
    CHECK_HAS(diag.text, "/nowhere/");
}
