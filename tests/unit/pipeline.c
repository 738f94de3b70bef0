/* SPDX-License-Identifier: MIT */
#include "target/pipeline.h"

#include "isa/rv64/rv64.h"

#include "unittest.h"

#define CODE UINT64_C(0x10000)
#define F0   VS_RV64_REG_F0

/* A core whose code is in its cache; latencies of cs32. */
struct fixture {
    struct vs_target_config config;
    struct vs_issue_table table;
    struct vs_hierarchy caches;
    struct vs_pipeline p;
    uint64_t pc;
};

static void init(struct fixture *f, unsigned width)
{
    struct vs_hierarchy_config h;
    CHECK_EQ(vs_target_config_init(&f->config, "cs32"), 0);
    f->config.width = width;
    f->config.timed = 1;
    vs_target_config_caches(&f->config, &h);
    CHECK_EQ(vs_hierarchy_init(&f->caches, &h, NULL), 0);
    vs_issue_table_init(&f->table, &f->config, &vs_rv64_operation_set);
    for (uint64_t line = 0; line < 4096; line += 32)
        vs_hierarchy_fetch(&f->caches, 0, CODE + line);
    CHECK_EQ(vs_pipeline_init(&f->p, &f->config, &f->table, &f->caches, 0), 0);
    f->pc = CODE;
}

static void fini(struct fixture *f)
{
    vs_pipeline_fini(&f->p);
    vs_hierarchy_fini(&f->caches);
}

static struct vs_cpu_record record(struct fixture *f, unsigned op, unsigned rd, unsigned rs1,
                                   unsigned rs2)
{
    struct vs_cpu_record r = {.pc = f->pc,
                              .op = (uint16_t)op,
                              .rd = (uint8_t)rd,
                              .rs1 = (uint8_t)rs1,
                              .rs2 = (uint8_t)rs2};
    f->pc += 4;
    return r;
}

/* Returns when an instruction will issue, if it is the next. */
static uint64_t when(struct fixture *f, const struct vs_cpu_record *r)
{
    return vs_pipeline_reach(&f->p, r, NULL, 0);
}

/* Issues an instruction, which must happen in that cycle. */
static void issue_at(struct fixture *f, const struct vs_cpu_record *r, uint64_t cycle)
{
    uint64_t got;
    vs_pipeline_issue(&f->p, r, &got, 1);
    CHECK_EQ(got, cycle);
    CHECK_EQ(f->p.last, cycle);
}

static uint64_t issue(struct fixture *f, unsigned op, unsigned rd, unsigned rs1, unsigned rs2)
{
    struct vs_cpu_record r = record(f, op, rd, rs1, rs2);
    uint64_t cycle = when(f, &r);
    CHECK_EQ(when(f, &r), cycle);
    issue_at(f, &r, cycle);
    return cycle;
}

static uint64_t access(struct fixture *f, unsigned op, unsigned rd, unsigned rs1, unsigned rs2,
                       uint64_t latency)
{
    struct vs_cpu_record r = record(f, op, rd, rs1, rs2);
    uint64_t cycle = when(f, &r);
    vs_pipeline_access(&f->p, &r, cycle, latency);
    return cycle;
}

static uint64_t branch(struct fixture *f, unsigned op, unsigned rd, unsigned rs1, bool taken,
                       uint64_t target)
{
    struct vs_cpu_record r = record(f, op, rd, rs1, 0);
    r.kind = (uint8_t)(VS_RECORD_BRANCH | (taken ? VS_RECORD_DONE : 0));
    r.addr = target;
    uint64_t cycle = when(f, &r);
    issue_at(f, &r, cycle);
    if (taken)
        f->pc = target;
    return cycle;
}

TEST(issues_as_many_as_its_width)
{
    static struct fixture f;
    init(&f, 1);
    for (uint64_t i = 0; i < 10; i++)
        CHECK_EQ(issue(&f, VS_RV64_ADDI, 5, 6, 0), i);
    fini(&f);
    init(&f, 2);
    for (uint64_t i = 0; i < 10; i++)
        CHECK_EQ(issue(&f, VS_RV64_ADDI, (unsigned)(5 + i), 30, 0), i / 2);
    /* one that needs the result of the cycle's other waits */
    CHECK_EQ(issue(&f, VS_RV64_ADDI, 20, 30, 0), 5);
    CHECK_EQ(issue(&f, VS_RV64_ADDI, 21, 20, 0), 6);
    fini(&f);
}

TEST(waits_for_operands)
{
    static struct fixture f;
    init(&f, 1);
    CHECK_EQ(issue(&f, VS_RV64_MUL, 5, 6, 7), 0);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 8, 9, 10), 1);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 8, 9, 5), 3);
    CHECK_EQ(issue(&f, VS_RV64_DIV, 11, 8, 9), 4);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 12, 11, 9), 24);
    /* f5 is another register than x5 */
    CHECK_EQ(issue(&f, VS_RV64_FADD_D, F0 + 5, F0 + 6, F0 + 7), 25);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 8, 5, 5), 26);
    CHECK_EQ(issue(&f, VS_RV64_FMUL_D, F0 + 9, F0 + 5, F0 + 6), 29);
    /* x0 is never waited for */
    CHECK_EQ(issue(&f, VS_RV64_DIV, 0, 1, 2), 30);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 8, 0, 0), 31);
    fini(&f);
}

TEST(hides_hits_and_waits_for_misses)
{
    static struct fixture f;
    init(&f, 1);
    CHECK_EQ(access(&f, VS_RV64_LD, 5, 2, 0, 4), 0);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 1);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 5, 8), 4);
    CHECK_EQ(access(&f, VS_RV64_LD, 5, 2, 0, 16), 5);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 17);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 5, 8), 21);
    CHECK_EQ(access(&f, VS_RV64_SD, 0, 2, 5, 116), 22);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 134);
    fini(&f);
}

TEST(pays_for_branches)
{
    static struct fixture f;
    init(&f, 1);
    /* counters begin at weakly not taken */
    CHECK_EQ(branch(&f, VS_RV64_BEQ, 0, 5, false, 0), 0);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 1);
    CHECK_EQ(branch(&f, VS_RV64_BEQ, 0, 5, true, CODE + 0x100), 2);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 2 + 1 + 8);
    /* direct jumps are known; a return too, if its call was seen */
    CHECK_EQ(branch(&f, VS_RV64_JAL, 1, 0, true, CODE + 0x200), 12);
    CHECK_EQ(branch(&f, VS_RV64_JALR, 0, 1, true, CODE + 0x108), 13);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 14);
    CHECK_EQ(branch(&f, VS_RV64_JALR, 0, 1, true, CODE + 0x108), 15);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 15 + 9);
    CHECK_EQ(f.p.stats.conditionals, 2);
    CHECK_EQ(f.p.stats.mispredicted, 1);
    CHECK_EQ(f.p.stats.indirects, 2);
    CHECK_EQ(f.p.stats.indirect_mispredicted, 1);
    fini(&f);
}

TEST(waits_for_code)
{
    static struct fixture f;
    init(&f, 1);
    f.pc = CODE + 0x8000;
    /* from memory: 12 + 100 beyond a hit, once a line */
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 112);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 113);
    f.pc = CODE + 0x801e; /* in two lines */
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 113 + 112);
    CHECK_EQ(f.caches.stats[0].fetch_misses, 128 + 2);
    struct vs_cpu_record fence = record(&f, VS_RV64_FENCE_I, 0, 0, 0);
    issue_at(&f, &fence, when(&f, &fence));
    /* back in the shared cache only */
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 7, 8), 226 + 12);
    fini(&f);
}

TEST(starts_over_with_another_thread)
{
    static struct fixture f;
    init(&f, 1);
    CHECK_EQ(issue(&f, VS_RV64_DIV, 5, 6, 7), 0);
    vs_pipeline_restart(&f.p, 10);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 5, 5), 10);
    vs_pipeline_restart(&f.p, 3);
    CHECK_EQ(issue(&f, VS_RV64_ADD, 6, 5, 5), 11);
    fini(&f);
}
