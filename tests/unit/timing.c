/* SPDX-License-Identifier: MIT */
/* The model of a core's time, against the simulator's pipeline over caches that always hit, and
 * against a reference that is written apart. */
#include "technique/timing.h"

#include "isa/rv64/rv64.h"
#include "isa/set.h"
#include "rng.h"
#include "target/pipeline.h"

#include "unittest.h"

enum { PIECES = 60, LENGTH_MAX = 90, ROUNDS = 20000 };

#define CODE UINT64_C(0x10000)

/* Straight code that ends with something. */
struct piece {
    uint64_t pc;
    unsigned count;
    struct vs_insn last;
};

struct program {
    uint32_t words[PIECES * LENGTH_MAX];
    size_t count;
    struct piece pieces[PIECES];
};

static const uint16_t ends[] = {VS_RV64_BEQ, VS_RV64_BLT, VS_RV64_JALR, VS_RV64_JAL, VS_RV64_ECALL};

static bool is_straight(const struct vs_rv64_insn *insn)
{
    switch (vs_rv64_row(insn->op)->class) {
    case VS_RV64_CLASS_BRANCH:
    case VS_RV64_CLASS_JAL:
    case VS_RV64_CLASS_JALR:
    case VS_RV64_CLASS_ECALL:
    case VS_RV64_CLASS_EBREAK:
    case VS_RV64_CLASS_FENCEI:
        return false;
    default:
        return true;
    }
}

static void add_word(struct program *p, uint32_t word)
{
    p->words[p->count++] = word;
}

static uint32_t random_word(struct rng *rng, unsigned op)
{
    const struct vs_rv64_row *row = vs_rv64_row(op);
    return row->match | ((uint32_t)rng_next(rng) & ~row->mask);
}

/* Registers are few, so that instructions wait for each other. */
static uint32_t random_straight(struct rng *rng)
{
    struct vs_rv64_insn insn;
    uint32_t word;
    do
        word = random_word(rng, (unsigned)(rng_next(rng) % VS_RV64_OPS)) &
               ~(UINT32_C(0x18) << 7 | UINT32_C(0x18) << 15 | UINT32_C(0x18) << 20);
    while (vs_rv64_insn_decode(word, &insn) < 0 || insn.length != 4 || !is_straight(&insn));
    return word;
}

static uint32_t random_end(struct rng *rng)
{
    struct vs_rv64_insn insn;
    uint32_t word;
    do
        word = random_word(rng, ends[rng_next(rng) % (sizeof(ends) / sizeof(ends[0]))]);
    while (vs_rv64_insn_decode(word, &insn) < 0);
    return word;
}

static void make_program(struct program *p, struct rng *rng)
{
    p->count = 0;
    for (unsigned i = 0; i < PIECES; i++) {
        struct piece *piece = &p->pieces[i];
        piece->pc = CODE + 4 * p->count;
        piece->count = 1 + (unsigned)(rng_next(rng) % LENGTH_MAX);
        for (unsigned k = 1; k < piece->count; k++)
            add_word(p, random_straight(rng));
        add_word(p, random_end(rng));
        CHECK_EQ(vs_rv64_decode((const uint8_t *)&p->words[p->count - 1], 4,
                                piece->pc + 4 * (piece->count - 1), &piece->last),
                 0);
    }
}

static size_t fetch(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                    size_t capacity)
{
    const struct program *p = context;
    uint64_t offset = pc - CODE, size = 4 * p->count;
    (void)version;
    if (offset >= size)
        return 0;
    size_t n = size - offset < capacity ? (size_t)(size - offset) : capacity;
    memcpy(bytes, (const uint8_t *)p->words + offset, n);
    return n;
}

static const struct vs_rv64_insn *insn_at(const struct program *p, uint64_t pc,
                                          struct vs_rv64_insn *insn)
{
    CHECK_EQ(vs_rv64_insn_decode(p->words[(pc - CODE) / 4], insn), 0);
    return insn;
}

static void timing_init(struct vs_timing *t, const struct vs_target_config *c,
                        const struct program *p)
{
    struct vs_timing_config config = {
        .width = (unsigned)c->width,
        .penalty = (unsigned)c->penalty,
        .system = (unsigned)c->system,
        .predictors = {(uint32_t)c->gshare, (uint32_t)c->ras, (uint32_t)c->ibtb}};
    for (unsigned i = 0; i < VS_TIMING_UNITS; i++)
        config.latency[i] = 1;
    config.latency[VS_UNIT_MEMORY] = (uint16_t)c->l1;
    config.latency[VS_UNIT_MULTIPLY] = (uint16_t)c->multiply;
    config.latency[VS_UNIT_DIVIDE] = (uint16_t)c->divide;
    config.latency[VS_UNIT_FP_ADD] = (uint16_t)c->fp_add;
    config.latency[VS_UNIT_FP_MULTIPLY] = (uint16_t)c->fp_multiply;
    config.latency[VS_UNIT_FP_FUSED] = (uint16_t)c->fp_fused;
    config.latency[VS_UNIT_FP_DIVIDE] = (uint16_t)c->fp_divide;
    config.latency[VS_UNIT_FP_ROOT] = (uint16_t)c->fp_root;
    config.latency[VS_UNIT_FP_CONVERT] = (uint16_t)c->fp_convert;
    config.latency[VS_UNIT_FP_MOVE] = (uint16_t)c->fp_move;
    CHECK_EQ(vs_timing_init(t, &config, 1), 0);
    t->code = (struct vs_address_code){.context = p, .isa = vs_isa_find("rv64"), .fetch = fetch};
}

/* What the last instruction of a piece does this time. */
static struct vs_step random_step(struct rng *rng, const struct piece *piece)
{
    const struct vs_insn *last = &piece->last;
    bool taken = !(last->branch & VS_BR_COND) || rng_next(rng) % 3 == 0;
    return (struct vs_step){
        .pc = piece->pc + 4 * (piece->count - 1),
        .target = last->branch & VS_BR_INDIRECT ? CODE + 4 * (rng_next(rng) % 4) : last->target,
        .kind = last->branch & VS_BR_INDIRECT ? VS_STEP_INDIRECT : VS_STEP_CONDITIONAL,
        .flags = (uint8_t)(last->branch | (taken ? VS_BR_TAKEN : 0)),
        .size = 4};
}

static bool is_told(const struct piece *piece)
{
    return piece->last.branch & (VS_BR_COND | VS_BR_INDIRECT);
}

/* ---- the simulator's pipeline ---------------------------------------------------------------- */

struct simulated {
    struct vs_issue_table table;
    struct vs_hierarchy caches;
    struct vs_pipeline p;
};

static void simulated_init(struct simulated *s, const struct vs_target_config *c,
                           const struct program *program)
{
    struct vs_hierarchy_config h;
    vs_target_config_caches(c, &h);
    CHECK_EQ(vs_hierarchy_init(&s->caches, &h, NULL), 0);
    vs_issue_table_init(&s->table, c, &vs_rv64_operation_set);
    for (uint64_t offset = 0; offset < 4 * program->count; offset += 32)
        vs_hierarchy_fetch(&s->caches, 0, CODE + offset);
    CHECK_EQ(vs_pipeline_init(&s->p, c, &s->table, &s->caches, 0), 0);
}

static void simulate_one(struct simulated *s, const struct vs_rv64_insn *decoded, uint64_t pc,
                         const struct vs_step *step, const struct vs_target_config *c)
{
    struct vs_rv64_insn insn = *decoded;
    uint64_t cycle;
    vs_rv64_number_registers(&insn);
    struct vs_cpu_record r = {.pc = pc,
                              .addr = step->target,
                              .op = insn.op,
                              .rd = insn.rd,
                              .rs1 = insn.rs1,
                              .rs2 = insn.rs2,
                              .rs3 = insn.rs3,
                              .kind = step->flags & VS_BR_TAKEN ? VS_RECORD_DONE : 0};
    unsigned unit = vs_rv64_operation_set.describe(insn.op).unit;
    if (unit == VS_UNIT_MEMORY || unit == VS_UNIT_STORE)
        vs_pipeline_access(&s->p, &r, vs_pipeline_reach(&s->p, &r, NULL, 0), c->l1);
    else
        vs_pipeline_issue(&s->p, &r, &cycle, 1);
    if (vs_rv64_row(insn.op)->class == VS_RV64_CLASS_ECALL)
        vs_pipeline_restart(&s->p, s->p.issue.slots.cycle + c->system);
}

static void compare_with_pipeline(uint64_t seed, uint64_t width)
{
    static struct program program;
    struct vs_target_config config;
    struct simulated s;
    struct vs_timing t;
    struct rng rng;
    rng = rng_init(seed);
    make_program(&program, &rng);
    CHECK_EQ(vs_target_config_init(&config, "cs32"), 0);
    config.width = width;
    config.timed = 1;
    simulated_init(&s, &config, &program);
    timing_init(&t, &config, &program);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct piece *piece = &program.pieces[rng_next(&rng) % PIECES];
        struct vs_step step = random_step(&rng, piece);
        for (unsigned k = 0; k < piece->count; k++) {
            struct vs_rv64_insn insn;
            uint64_t pc = piece->pc + 4 * k;
            simulate_one(&s, insn_at(&program, pc, &insn), pc, &step, &config);
        }
        unsigned cut = (unsigned)(rng_next(&rng) % piece->count);
        vs_timing_pass(&t, 0, 0, piece->pc, cut);
        vs_timing_pass(&t, 0, 0, piece->pc + 4 * cut, piece->count - cut);
        if (is_told(piece)) {
            CHECK_EQ(vs_timing_now(&t, 0), s.p.last);
            vs_timing_branch(&t, 0, &step);
        }
        CHECK_EQ(vs_timing_now(&t, 0), s.p.issue.slots.cycle);
    }
    CHECK(s.p.stats.mispredicted && s.p.stats.indirect_mispredicted);
    CHECK(s.p.stats.mispredicted < s.p.stats.conditionals);
    CHECK(s.p.stats.indirect_mispredicted < s.p.stats.indirects);
    vs_timing_fini(&t);
    vs_pipeline_fini(&s.p);
    vs_hierarchy_fini(&s.caches);
}

TEST(is_the_pipeline_if_nothing_misses)
{
    compare_with_pipeline(1, 1);
    compare_with_pipeline(2, 2);
    compare_with_pipeline(3, 4);
}

/* ---- a reference ----------------------------------------------------------------------------- */

/* Without predictors: a conditional branch is expected not to be taken, an indirect one never. */
struct plain {
    uint64_t now, issued; /* issued: how many in `now` */
    uint64_t there[64];   /* when registers are there */
};

static void plain_wait(struct plain *p, uint64_t until)
{
    if (until > p->now) {
        p->now = until;
        p->issued = 0;
    }
}

static uint64_t plain_latency(unsigned class, const struct vs_target_config *c)
{
    return class == VS_RV64_CLASS_MUL     ? c->multiply
           : class == VS_RV64_CLASS_DIV   ? c->divide
           : class == VS_RV64_CLASS_LOAD  ? c->l1
           : class == VS_RV64_CLASS_LR    ? c->l1
           : class == VS_RV64_CLASS_SC    ? c->l1
           : class == VS_RV64_CLASS_AMO   ? c->l1
           : class == VS_RV64_CLASS_FADD  ? c->fp_add
           : class == VS_RV64_CLASS_FCMP  ? c->fp_add
           : class == VS_RV64_CLASS_FMUL  ? c->fp_multiply
           : class == VS_RV64_CLASS_FMA   ? c->fp_fused
           : class == VS_RV64_CLASS_FDIV  ? c->fp_divide
           : class == VS_RV64_CLASS_FSQRT ? c->fp_root
           : class == VS_RV64_CLASS_FCVT  ? c->fp_convert
           : class == VS_RV64_CLASS_FMOVE ? c->fp_move
                                          : 1;
}

static void plain_issue(struct plain *p, const struct vs_rv64_insn *decoded,
                        const struct vs_target_config *c)
{
    struct vs_rv64_insn insn = *decoded;
    vs_rv64_number_registers(&insn);
    if (p->issued == c->width)
        plain_wait(p, p->now + 1);
    if (insn.rs1)
        plain_wait(p, p->there[insn.rs1]);
    if (insn.rs2)
        plain_wait(p, p->there[insn.rs2]);
    if (insn.rs3)
        plain_wait(p, p->there[insn.rs3]);
    p->issued++;
    p->there[insn.rd] = p->now + plain_latency(vs_rv64_row(insn.op)->class, c);
}

/* After a piece: the branch, or the system call. */
static void plain_end(struct plain *p, const struct piece *piece, const struct vs_step *step,
                      const struct vs_target_config *c)
{
    bool taken = step->flags & VS_BR_TAKEN, cond = piece->last.branch & VS_BR_COND;
    if (piece->last.kind == VS_INSN_SYSCALL) {
        plain_wait(p, p->now + c->system);
        memset(p->there, 0, sizeof(p->there));
    } else if (cond ? taken : (piece->last.branch & VS_BR_INDIRECT) != 0) {
        plain_wait(p, p->now + 1 + c->penalty);
    } else if (taken) {
        plain_wait(p, p->now + 1);
    }
}

/* Whatever is in flight is late by as much as the core. */
static void plain_set(struct plain *p, uint64_t cycle)
{
    for (unsigned i = 0; i < 64 && cycle != p->now; i++)
        if (p->there[i] > p->now)
            p->there[i] += cycle - p->now;
    if (cycle != p->now)
        p->issued = 1;
    p->now = cycle;
}

TEST(is_the_reference)
{
    static struct program program;
    struct vs_target_config config;
    struct plain p = {0};
    struct vs_timing t;
    struct rng rng;
    rng = rng_init(9);
    make_program(&program, &rng);
    CHECK_EQ(vs_target_config_init(&config, "tewar"), 0);
    config.width = 3;
    config.gshare = config.ras = config.ibtb = 0;
    timing_init(&t, &config, &program);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct piece *piece = &program.pieces[rng_next(&rng) % PIECES];
        struct vs_step step = random_step(&rng, piece);
        struct vs_rv64_insn insn;
        for (unsigned k = 0; k < piece->count; k++)
            plain_issue(&p, insn_at(&program, piece->pc + 4 * k, &insn), &config);
        vs_timing_pass(&t, 0, 0, piece->pc, piece->count);
        if (is_told(piece)) {
            CHECK_EQ(vs_timing_now(&t, 0), p.now);
            if (rng_next(&rng) % 4 == 0) {
                uint64_t cycle = p.now + rng_next(&rng) % 50;
                cycle -= cycle > 5 ? 5 : 0;
                plain_set(&p, cycle);
                vs_timing_set(&t, 0, cycle);
            }
            vs_timing_branch(&t, 0, &step);
        }
        plain_end(&p, piece, &step, &config);
        CHECK_EQ(vs_timing_now(&t, 0), p.now);
    }
    vs_timing_fini(&t);
}

/* ---- the edges ------------------------------------------------------------------------------- */

TEST(takes_a_cycle_for_what_is_not_known)
{
    static struct program program;
    struct vs_target_config config;
    struct vs_timing t;
    CHECK_EQ(vs_target_config_init(&config, "cs32"), 0);
    program.count = 0;
    timing_init(&t, &config, &program);
    vs_timing_pass(&t, 0, 0, CODE, 7);
    CHECK_EQ(vs_timing_now(&t, 0), 7);
    t.code = (struct vs_address_code){0};
    vs_timing_pass(&t, 0, 0, CODE + 4, 5);
    CHECK_EQ(vs_timing_now(&t, 0), 12);
    vs_timing_restart(&t, 0, 3);
    CHECK_EQ(vs_timing_now(&t, 0), 3);
    vs_timing_fini(&t);
}

TEST(refuses_predictors_of_odd_sizes)
{
    struct vs_timing_config config = {.predictors = {.gshare = 1000}};
    struct vs_diag diag;
    CHECK_EQ(vs_timing_check(&config, &diag), -VSE_INVAL);
    config.predictors = (struct vs_branch_unit_config){.ibtb = 1};
    CHECK_EQ(vs_timing_check(&config, &diag), -VSE_INVAL);
    config.predictors = (struct vs_branch_unit_config){.gshare = 1024, .ras = 5, .ibtb = 64};
    CHECK_EQ(vs_timing_check(&config, &diag), 0);
}
