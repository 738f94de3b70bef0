/* SPDX-License-Identifier: MIT */
/* A CPU that src does not know, run over a memory that records, and replayed from the stream of a
 * load-value technique: replay takes any CPU. */
#include <signal.h>

#include "base/buf.h"
#include "replay/replay.h"
#include "rng.h"
#include "technique/registry.h"
#include "toy_cpu.h"
#include "encoded.h"
#include "unittest.h"

#define CODE UINT64_C(0x100)
#define DATA UINT64_C(0x1000)

enum { CORES = 2, EVENTS = 4096, LOOPS = 20, SIZE = 256 };

/* r1, r2: addresses; r3: loops left. It ends where it divides by r0, which is 0. */
static const uint8_t code[][4] = {
    {SWAP, 1, 2, 0},    {LOAD, 4, 1, 1},      {ADD, 5, 5, 4},    {STORE, 5, 2, 2}, {VLOAD, 0, 1, 8},
    {VSTORE, 0, 2, 4},  {OUTSIDE, 6, 0, 0},   {ADD, 5, 5, 6},    {CALL, 0, 0, 0},  {ADD, 5, 5, 7},
    {ADDI, 3, 0xff, 0}, {BRANCH, 3, 0xf5, 0}, {DIVIDE, 0, 0, 0},
};

/* The same with instructions that repeat themselves, and a handler that ends with a call. r6 and r7
 * go through memory, and r4 says how often. */
static const uint8_t repeating[][4] = {
    {ADD, 6, 1, 0},       {ADD, 7, 2, 0},    {ADDI, 4, 5, 0}, {COPY, 6, 7, 4},  {ADDI, 4, 4, 0},
    {FILL, 6, 5, 4},      {LOAD, 5, 2, 3},   {ADDI, 4, 1, 0}, {COPY, 6, 7, 4},  {ADDI, 3, 0xff, 0},
    {BRANCH, 3, 0xf6, 0}, {DIVIDE, 0, 0, 0}, {ADD, 5, 5, 3},  {STORE, 5, 1, 7}, {CALL, 0, 0, 0},
};
enum { HANDLER = 12 };

static const uint16_t calls[] = {VS_SYS_none, VS_SYS_getpid};
static const struct vs_abi abi = {.call = 3,
                                  .args = {1, 1, 1, 1, 1, 1},
                                  .result = 7,
                                  .stack = 1,
                                  .calls = calls,
                                  .call_count = 2};
static const struct vs_isa toy_isa = {
    .name = "toy", .address_bits = 64, .length_max = 4, .cpu = &toy_ops, .abi = &abi};

/* ---- a run ----------------------------------------------------------------------------------- */

struct run {
    struct vs_cpu_memory seen; /* first */
    const void *program;
    size_t program_size;
    uint8_t data[SIZE];
    struct vs_event events[EVENTS];
    size_t count;
    struct vs_buf wide;
    struct vs_cpu_code *code;
    struct toy cores[CORES];
    uint64_t counted[CORES];
};

static void note(struct run *r, const struct vs_cpu *cpu, unsigned kind, uint64_t addr,
                 const void *bytes, size_t size, uint64_t retired)
{
    struct vs_event *e = &r->events[r->count++];
    CHECK(r->count <= EVENTS);
    *e = (struct vs_event){.kind = (uint8_t)kind,
                           .thread = (uint16_t)cpu->id,
                           .icount = (uint16_t)(retired - r->counted[cpu->id]),
                           .addr = addr,
                           .size = (uint16_t)size};
    r->counted[cpu->id] = retired;
    if (size > 8) {
        e->value = r->wide.len;
        CHECK_EQ(vs_buf_put(&r->wide, bytes, size), 0);
    } else if (size) {
        memcpy(&e->value, bytes, size);
    }
}

static int run_fetch(struct vs_cpu_memory *m, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                     size_t size)
{
    (void)cpu;
    memcpy(bytes, (const uint8_t *)((struct run *)m)->program + (addr - CODE), size);
    return (int)size;
}

static int run_read(struct vs_cpu_memory *m, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                    enum vs_access access, void *bytes)
{
    struct run *r = (struct run *)m;
    (void)access;
    memcpy(bytes, r->data + (addr - DATA), size);
    note(r, cpu, VS_LOAD, addr, bytes, size, cpu->retired + !cpu->iterations);
    return 0;
}

static int run_write(struct vs_cpu_memory *m, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                     enum vs_access access, const void *bytes)
{
    struct run *r = (struct run *)m;
    (void)access;
    memcpy(r->data + (addr - DATA), bytes, size);
    note(r, cpu, VS_STORE, addr, bytes, size, cpu->retired + !cpu->iterations);
    return 0;
}

static int run_outside(struct vs_cpu_memory *m, struct vs_cpu *cpu, unsigned what, unsigned size,
                       void *bytes)
{
    uint64_t value = 7 * cpu->retired + what;
    memcpy(bytes, &value, size);
    note((struct run *)m, cpu, VS_NONDET, 0, bytes, size, cpu->retired + 1);
    return 0;
}

static const struct vs_cpu_memory_ops run_ops = {
    .fetch = run_fetch, .read = run_read, .write = run_write, .outside = run_outside};

/* Sets registers, and tells them in an event behind `head` bytes. Pairs end with a number of -1. */
static void set(struct run *r, struct toy *t, unsigned kind, size_t head, const int64_t *pairs)
{
    uint8_t bytes[256] = {0};
    int64_t used = (int64_t)head;
    for (; *pairs != -1; pairs += 2)
        used = vs_regs_put(bytes, sizeof(bytes), (size_t)used, (unsigned)pairs[0], &pairs[1], 8);
    CHECK_EQ(vs_cpu_set_registers(&t->cpu, bytes + head, (size_t)used - head), 0);
    note(r, &t->cpu, kind, 0, bytes, (size_t)used, t->cpu.retired);
}

#define SET(r, t, kind, head, ...) set(r, t, kind, head, (const int64_t[]){__VA_ARGS__, -1})

static void begin(struct run *r, struct rng *rng, const void *program, size_t size)
{
    *r = (struct run){
        .seen.ops = &run_ops, .code = toy_code_new(), .program = program, .program_size = size};
    CHECK(r->code);
    for (unsigned i = 0; i < SIZE; i++)
        r->data[i] = (uint8_t)rng_below(rng, 256);
    for (unsigned i = 0; i < CORES; i++) {
        struct toy *t = &r->cores[i];
        toy_ops.init(&t->cpu, i, r->code, &r->seen);
        SET(r, t, VS_THREAD_START, 0, VS_REG_PC, CODE, 1, DATA + 8 * i, 2, DATA + 64 - 8 * i, 3,
            LOOPS);
    }
}

static void finish(struct run *r)
{
    for (unsigned i = 0; i < CORES; i++)
        note(r, &r->cores[i].cpu, VS_COUNT, 0, NULL, 0, r->cores[i].cpu.retired);
}

static void record(struct run *r, uint64_t seed)
{
    struct rng rng = rng_init(seed);
    begin(r, &rng, code, sizeof(code));
    for (unsigned ended = 0; ended != (1 << CORES) - 1;) {
        struct toy *t = &r->cores[rng_below(&rng, CORES)];
        int stop = vs_cpu_run(&t->cpu, 1 + rng_below(&rng, 3));
        if (stop == VS_STOP_CALL)
            SET(r, t, VS_SYSCALL, sizeof(struct vs_syscall_head), 7, (int64_t)rng_below(&rng, 99));
        else if (stop == VS_STOP_ARITHMETIC)
            ended |= 1u << t->cpu.id;
    }
    finish(r);
}

/* Cores stop after any iteration: another goes on, code changes, or a handler is entered. */
static void record_repeating(struct run *r, uint64_t seed)
{
    struct rng rng = rng_init(seed);
    struct toy saved[CORES];
    bool handling[CORES] = {0};
    begin(r, &rng, repeating, sizeof(repeating));
    for (unsigned ended = 0; ended != (1 << CORES) - 1;) {
        unsigned core = (unsigned)rng_below(&rng, CORES);
        struct toy *t = &r->cores[core];
        t->cpu.iterate_until = rng_below(&rng, 7);
        int stop = vs_cpu_run(&t->cpu, rng_below(&rng, 3));
        if (stop == VS_STOP_CALL) {
            handling[core] = false;
            SET(r, t, VS_EXCEPTION_RET, 0, VS_REG_PC, (int64_t)saved[core].cpu.pc, 5,
                (int64_t)saved[core].r[5], VS_REG_ITERATIONS, (int64_t)saved[core].cpu.iterations);
        } else if (stop == VS_STOP_ARITHMETIC) {
            ended |= 1u << core;
        } else if (!handling[core] && !rng_below(&rng, 4) && !(ended >> core & 1)) {
            saved[core] = *t;
            handling[core] = true;
            uint64_t back = t->cpu.iterations;
            if (back)
                SET(r, t, VS_EXCEPTION, 0, VS_REG_PC, CODE + 4 * HANDLER, VS_REG_ITERATIONS,
                    (int64_t)back, VS_REG_CAUSE, SIGUSR1);
            else
                SET(r, t, VS_EXCEPTION, 0, VS_REG_PC, CODE + 4 * HANDLER, VS_REG_CAUSE, SIGUSR1);
        } else if (!rng_below(&rng, 16)) {
            note(r, &t->cpu, VS_CODE, 0, NULL, 0, t->cpu.retired);
        }
    }
    finish(r);
}

/* ---- its replay ------------------------------------------------------------------------------ */

struct replayed {
    struct vs_text text;
    struct vs_buf bits;
    struct vs_port_stream stream;
    struct vs_replay replay;
};

static void replay(struct replayed *p, const struct run *run, const char *technique)
{
    const struct vs_block block = {CODE, run->program, (uint32_t)run->program_size,
                                   (uint32_t)run->program_size / 4};
    const struct vs_batch batch = {.events = run->events,
                                   .wide = run->wide.data,
                                   .wide_size = run->wide.len,
                                   .count = run->count};
    *p = (struct replayed){0};
    struct vs_replay_config config = {
        .isa = &toy_isa, .setup = {CORES, 64, false, 0}, .code = &p->text};
    p->stream = encode_events(&config.spec, technique, &config.setup, &batch, &p->bits);
    config.streams = &p->stream;
    CHECK_EQ(vs_text_add(&p->text, &block), 0);
    CHECK_EQ(vs_text_index(&p->text), 0);
    CHECK_EQ(vs_replay_init(&p->replay, &config, NULL), 0);
}

static int go_to(struct vs_replay *r, uint64_t position)
{
    const struct vs_replay_goal goal = {position, VS_REPLAY_NONE, UINT64_MAX, false};
    int stop = vs_replay_run(r, &goal);
    if (stop < 0)
        unittest_fail(__FILE__, __LINE__, "%s", r->diag.text);
    return stop;
}

/* The replay is over, and its cores are what those of the run were. */
static void compare(struct vs_replay *r, const struct run *run)
{
    for (unsigned i = 0; i < CORES; i++) {
        uint8_t is[WIDE], was[WIDE];
        CHECK_EQ(r->cores[i].cpu->retired, run->cores[i].cpu.retired);
        for (unsigned k = 0; k <= V; k += k == REGS - 1 ? V - k : 1) {
            int size = toy_get(r->cores[i].cpu, k, is);
            CHECK_EQ(toy_get(&run->cores[i].cpu, k, was), size);
            CHECK(!memcmp(is, was, (size_t)size));
        }
    }
    for (uint64_t at = 0; at < SIZE && r->view_count == 1; at++) {
        uint8_t byte;
        CHECK(!vs_replay_read(r, 0, DATA + at, &byte, 1) || byte == run->data[at]);
    }
}

static void check(const struct run *run, const char *technique)
{
    static const uint64_t breaks[] = {CODE + 4};
    struct vs_replay_state *state;
    struct replayed p;
    unsigned core, stops = 0;
    int stop;
    replay(&p, run, technique);
    CHECK_EQ(go_to(&p.replay, 100), VS_REPLAY_REACHED);
    CHECK_EQ(vs_replay_save(&p.replay, &state), 0);
    CHECK_EQ(go_to(&p.replay, UINT64_MAX), VS_REPLAY_OVER);
    compare(&p.replay, run);
    CHECK_EQ(vs_replay_fatal(&p.replay, &core), SIGFPE);
    CHECK_EQ(vs_replay_restore(&p.replay, state), 0);
    CHECK_EQ(p.replay.position, 100);
    vs_replay_break(&p.replay, breaks, 1);
    while ((stop = go_to(&p.replay, UINT64_MAX)) == VS_REPLAY_BREAK)
        stops++;
    CHECK_EQ(stop, VS_REPLAY_OVER);
    CHECK(stops > LOOPS && stops < CORES * LOOPS);
    compare(&p.replay, run);
    vs_replay_drop(state);
    vs_replay_fini(&p.replay);
    vs_text_fini(&p.text);
    vs_buf_fini(&p.bits);
}

static const char *const techniques[] = {"mlvNX_b", "mlvCF_e:CS32",  "mlvCF_e:shared", "mlvFA",
                                         "mc2RT",   "mc2RT:implied", "mlvFA_dedicated"};

TEST(replays_a_cpu_that_src_does_not_know)
{
    static struct run run;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        record(&run, seed);
        for (unsigned i = 0; i < sizeof(techniques) / sizeof(techniques[0]); i++)
            check(&run, techniques[i]);
        toy_code_free(run.code);
        vs_buf_fini(&run.wide);
    }
}

/* What can be seen where a replay stands. */
static uint64_t fold(struct vs_replay *r)
{
    uint64_t sum = r->position;
    for (unsigned i = 0; i < CORES; i++) {
        const struct toy *t = (const struct toy *)(const void *)r->cores[i].cpu;
        sum = sum * 31 + t->cpu.pc * 7 + t->cpu.retired * 3 + t->cpu.iterations;
        for (unsigned k = 0; k < REGS; k++)
            sum = sum * 31 + t->r[k];
    }
    return sum;
}

/* Goes from instruction to instruction, and then to some of them from a checkpoint. */
static void check_everywhere(const struct run *run, const char *technique, uint64_t seed)
{
    enum { STATES = 8 };
    struct rng rng = rng_init(seed);
    struct vs_replay_state *states[STATES] = {0};
    uint64_t all = 0, step = 0;
    struct replayed p;
    for (unsigned i = 0; i < CORES; i++)
        all += run->cores[i].cpu.retired;
    uint64_t *folded = calloc(all + 1, sizeof(*folded));
    CHECK(folded);
    step = all / STATES + 1;
    replay(&p, run, technique);
    for (uint64_t at = 0; at <= all; at++) {
        CHECK_EQ(go_to(&p.replay, at), VS_REPLAY_REACHED);
        CHECK_EQ(p.replay.position, at);
        folded[at] = fold(&p.replay);
        if (at % step == 0)
            CHECK_EQ(vs_replay_save(&p.replay, &states[at / step]), 0);
    }
    CHECK_EQ(go_to(&p.replay, UINT64_MAX), VS_REPLAY_OVER);
    compare(&p.replay, run);
    for (unsigned i = 0; i < 40; i++) {
        uint64_t from = rng_below(&rng, STATES), to = from * step;
        if (!states[from])
            continue;
        to += rng_below(&rng, all + 1 - to);
        CHECK_EQ(vs_replay_restore(&p.replay, states[from]), 0);
        CHECK_EQ(go_to(&p.replay, to), VS_REPLAY_REACHED);
        CHECK_EQ(fold(&p.replay), folded[to]);
    }
    CHECK_EQ(go_to(&p.replay, UINT64_MAX), VS_REPLAY_OVER);
    compare(&p.replay, run);
    for (unsigned i = 0; i < STATES; i++)
        vs_replay_drop(states[i]);
    vs_replay_fini(&p.replay);
    vs_text_fini(&p.text);
    vs_buf_fini(&p.bits);
    free(folded);
}

TEST(replays_instructions_that_repeat_themselves)
{
    static struct run run;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        record_repeating(&run, seed);
        for (unsigned i = 0; i < sizeof(techniques) / sizeof(techniques[0]); i++)
            check_everywhere(&run, techniques[i], seed);
        toy_code_free(run.code);
        vs_buf_fini(&run.wide);
    }
}
