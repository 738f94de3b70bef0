/* SPDX-License-Identifier: MIT */
#include "target/pipeline.h"

#include "base/likely.h"

/* No line's address, nor near one: it is beyond what a program can map. */
#define NO_LINE (UINT64_C(1) << 63)

#define LENGTH_MAX 4 /* bytes of an instruction */

/* ---- operations ------------------------------------------------------------------------------ */

static uint64_t latency_of(const struct vs_target_config *c, unsigned unit)
{
    switch (unit) {
    case VS_UNIT_MULTIPLY:
        return c->multiply;
    case VS_UNIT_DIVIDE:
        return c->divide;
    case VS_UNIT_FP_ADD:
        return c->fp_add;
    case VS_UNIT_FP_MULTIPLY:
        return c->fp_multiply;
    case VS_UNIT_FP_FUSED:
        return c->fp_fused;
    case VS_UNIT_FP_DIVIDE:
        return c->fp_divide;
    case VS_UNIT_FP_ROOT:
        return c->fp_root;
    case VS_UNIT_FP_CONVERT:
        return c->fp_convert;
    case VS_UNIT_FP_MOVE:
        return c->fp_move;
    default:
        return 1;
    }
}

void vs_issue_table_init(struct vs_issue_table *table, const struct vs_target_config *config,
                         const struct vs_operations *operations)
{
    table->links = operations->links;
    for (unsigned i = 0; i < operations->count; i++) {
        struct vs_operation op = operations->describe(i);
        table->ops[i] =
            (struct vs_issue){.op = op, .latency = (uint16_t)latency_of(config, op.unit)};
    }
}

/* ---- a core ---------------------------------------------------------------------------------- */

int vs_pipeline_init(struct vs_pipeline *p, const struct vs_target_config *config,
                     const struct vs_issue_table *table, struct vs_hierarchy *caches, unsigned core)
{
    *p = (struct vs_pipeline){.config = config,
                              .table = table,
                              .caches = caches,
                              .core = core,
                              .width = (uint32_t)config->width,
                              .line_mask = ~(config->line - 1),
                              .inside = config->line - LENGTH_MAX,
                              .line = NO_LINE};
    return vs_branch_unit_init(&p->branches,
                               &(struct vs_branch_unit_config){.gshare = (uint32_t)config->gshare,
                                                               .ras = (uint32_t)config->ras,
                                                               .ibtb = (uint32_t)config->ibtb});
}

void vs_pipeline_fini(struct vs_pipeline *p)
{
    vs_branch_unit_fini(&p->branches);
}

void vs_pipeline_restart(struct vs_pipeline *p, uint64_t cycle)
{
    vs_inorder_restart(&p->issue, cycle);
    p->line = NO_LINE;
}

static void stall(struct vs_pipeline *p, uint64_t cycles)
{
    vs_slots_hold(&p->issue.slots, cycles);
}

static void fetch_line(struct vs_pipeline *p, uint64_t line)
{
    int latency = vs_hierarchy_fetch(p->caches, p->core, line);
    p->line = line;
    if (unlikely(latency < 0))
        p->error = latency;
    else
        stall(p, (uint64_t)latency - p->config->l1);
}

static unsigned length_of(const struct vs_cpu_record *r)
{
    return r->kind & VS_RECORD_SHORT ? 2 : 4;
}

/* Fetches an instruction, unless it lies in the line that was fetched last. */
static __attribute__((noinline)) void fetch(struct vs_pipeline *p, const struct vs_cpu_record *r)
{
    uint64_t first = r->pc & p->line_mask, last = (r->pc + length_of(r) - 1) & p->line_mask;
    if (last == p->line)
        return;
    if (first != p->line)
        fetch_line(p, first);
    if (first != last)
        fetch_line(p, last);
}

static inline void set_ready(struct vs_pipeline *p, unsigned reg, uint64_t cycle)
{
    vs_inorder_result(p->issue.ready, reg, cycle);
}

void vs_pipeline_access(struct vs_pipeline *p, const struct vs_cpu_record *r, uint64_t cycle,
                        uint64_t latency)
{
    vs_slots_take(&p->issue.slots, cycle);
    p->last = cycle;
    if (p->table->ops[r->op].op.unit != VS_UNIT_STORE)
        set_ready(p, r->rd, cycle + latency);
    stall(p, latency - p->config->l1);
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool predict_conditional(struct vs_pipeline *p, const struct vs_cpu_record *r)
{
    bool right = vs_branch_unit_outcome(&p->branches, r->pc, r->kind & VS_RECORD_DONE);
    p->stats.conditionals++;
    p->stats.mispredicted += !right;
    return right;
}

static bool predict_indirect(struct vs_pipeline *p, const struct vs_cpu_record *r, unsigned flags)
{
    bool right = vs_branch_unit_target(&p->branches, r->pc, flags, r->addr);
    p->stats.indirects++;
    p->stats.indirect_mispredicted += !right;
    return right;
}

static void issue_branch(struct vs_pipeline *p, const struct vs_cpu_record *r, unsigned flags)
{
    bool right = flags & VS_BR_COND       ? predict_conditional(p, r)
                 : flags & VS_BR_INDIRECT ? predict_indirect(p, r, flags)
                                          : true;
    if (flags & VS_BR_CALL)
        vs_branch_unit_call(&p->branches, r->pc + length_of(r));
    if (!right)
        stall(p, 1 + p->config->penalty);
    else if (r->kind & VS_RECORD_DONE)
        stall(p, 1);
}

/* An instruction issues in that cycle that does more to the pipeline than a latency says. */
static void issue_special(struct vs_pipeline *p, const struct vs_cpu_record *r, uint64_t cycle)
{
    const struct vs_issue *i = &p->table->ops[r->op];
    if (i->op.unit == VS_UNIT_FENCE) {
        vs_hierarchy_fence_i(p->caches, p->core);
        p->line = NO_LINE;
        return;
    }
    unsigned flags = vs_record_branch(r, &i->op, p->table->links);
    if (!(flags & VS_BR_COND))
        set_ready(p, r->rd, cycle + 1);
    issue_branch(p, r, flags);
}

/* ---- instructions in a row ------------------------------------------------------------------- */

/* What each instruction changes is kept here, since the compiler cannot know that storing to
 * `ready` leaves the pipeline's members alone. */
struct now {
    struct vs_slots slots;
    uint64_t line;
};

static inline struct now enter(const struct vs_pipeline *p)
{
    return (struct now){.slots = p->issue.slots, .line = p->line};
}

static inline void leave(struct vs_pipeline *p, struct now now)
{
    p->issue.slots = now.slots;
}

/* Fetches the instruction and returns when it will issue. */
static inline uint64_t wait_for(struct vs_pipeline *p, struct now *now,
                                const struct vs_cpu_record *r)
{
    if (unlikely(r->pc - now->line > p->inside)) {
        leave(p, *now);
        fetch(p, r);
        *now = enter(p);
    }
    return vs_inorder_when(&now->slots, p->issue.ready, p->width, r->rs1, r->rs2, r->rs3);
}

static inline __attribute__((always_inline)) void issue(struct vs_pipeline *p, struct now *now,
                                                        const struct vs_cpu_record *records,
                                                        uint64_t *cycles, size_t count)
{
    const struct vs_issue *const ops = p->table->ops;
    for (size_t i = 0; i < count; i++) {
        const struct vs_cpu_record *r = &records[i];
        const struct vs_issue *o = &ops[r->op];
        uint64_t at = cycles[i] = wait_for(p, now, r);
        vs_slots_take(&now->slots, at);
        if (likely(o->op.unit < VS_UNIT_BRANCH)) {
            set_ready(p, r->rd, at + o->latency);
            continue;
        }
        leave(p, *now);
        issue_special(p, r, at);
        *now = enter(p);
    }
    if (count)
        p->last = cycles[count - 1];
}

void vs_pipeline_issue(struct vs_pipeline *p, const struct vs_cpu_record *records, uint64_t *cycles,
                       size_t count)
{
    struct now now = enter(p);
    issue(p, &now, records, cycles, count);
    leave(p, now);
}

uint64_t vs_pipeline_reach(struct vs_pipeline *p, const struct vs_cpu_record *records,
                           uint64_t *cycles, size_t count)
{
    struct now now = enter(p);
    issue(p, &now, records, cycles, count);
    uint64_t at = wait_for(p, &now, &records[count]);
    leave(p, now);
    return at;
}
