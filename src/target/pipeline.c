/* SPDX-License-Identifier: MIT */
#include "target/pipeline.h"

#include <string.h>

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
                              .width = config->width,
                              .line_mask = ~(config->line - 1),
                              .inside = config->line - LENGTH_MAX,
                              .line = NO_LINE};
    int err = 0;
    if (config->gshare)
        err = vs_gshare_init(&p->gshare, (unsigned)config->gshare, VS_GSHARE_FOLDED);
    if (!err)
        err = vs_ras_init(&p->ras, (unsigned)config->ras);
    if (!err)
        err = vs_ibtb_init(&p->ibtb, &(struct vs_ibtb_config){.entries = (unsigned)config->ibtb});
    if (err)
        vs_pipeline_fini(p);
    return err;
}

void vs_pipeline_fini(struct vs_pipeline *p)
{
    vs_gshare_fini(&p->gshare);
    vs_ras_fini(&p->ras);
    vs_ibtb_fini(&p->ibtb);
}

void vs_pipeline_restart(struct vs_pipeline *p, uint64_t cycle)
{
    if (p->cycle < cycle) {
        p->cycle = cycle;
        p->used = 0;
    }
    p->line = NO_LINE;
    memset(p->ready, 0, sizeof(p->ready));
}

static void stall(struct vs_pipeline *p, uint64_t cycles)
{
    p->cycle += cycles;
    if (cycles)
        p->used = 0;
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

void vs_pipeline_fetch(struct vs_pipeline *p, const struct vs_cpu_record *r)
{
    uint64_t first = r->pc & p->line_mask, last = (r->pc + vs_record_length(r) - 1) & p->line_mask;
    if (last == p->line)
        return;
    if (first != p->line)
        fetch_line(p, first);
    if (first != last)
        fetch_line(p, last);
}

void vs_pipeline_access(struct vs_pipeline *p, const struct vs_cpu_record *r, uint64_t cycle,
                        uint64_t latency)
{
    const struct vs_issue *i = &p->table->ops[r->op];
    vs_pipeline_commit(p, cycle);
    if (i->op.unit != VS_UNIT_STORE)
        vs_pipeline_ready(p, r->rd + i->op.rd, cycle + latency);
    stall(p, latency - p->config->l1);
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool predict_conditional(struct vs_pipeline *p, const struct vs_cpu_record *r)
{
    bool taken = r->kind & VS_RECORD_DONE, predicted = false;
    if (p->config->gshare)
        predicted = vs_gshare_update(&p->gshare, r->pc, taken);
    p->stats.conditionals++;
    p->stats.mispredicted += predicted != taken;
    return predicted == taken;
}

static bool predict_indirect(struct vs_pipeline *p, const struct vs_cpu_record *r, bool returns)
{
    uint64_t predicted;
    bool right;
    if (returns)
        right = vs_ras_pop(&p->ras, &predicted) && predicted == r->addr;
    else
        right = vs_ibtb_update(&p->ibtb, r->pc, r->addr);
    p->stats.indirects++;
    p->stats.indirect_mispredicted += !right;
    return right;
}

static void issue_branch(struct vs_pipeline *p, const struct vs_cpu_record *r, unsigned flags)
{
    bool right = flags & VS_BR_COND       ? predict_conditional(p, r)
                 : flags & VS_BR_INDIRECT ? predict_indirect(p, r, flags & VS_BR_RETURN)
                                          : true;
    if (flags & VS_BR_CALL)
        vs_ras_push(&p->ras, r->pc + vs_record_length(r));
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
        vs_pipeline_ready(p, r->rd, cycle + 1);
    issue_branch(p, r, flags);
}

/* ---- instructions in a row ------------------------------------------------------------------- */

/* What each instruction changes is kept in variables, since the compiler cannot know that storing
 * to `ready` leaves the pipeline's members alone. */
void vs_pipeline_issue(struct vs_pipeline *p, const struct vs_cpu_record *records, uint64_t *cycles,
                       size_t count)
{
    const struct vs_issue *const ops = p->table->ops;
    const uint64_t width = p->width, inside = p->inside;
    uint64_t cycle = p->cycle, used = p->used, line = p->line;
    for (size_t i = 0; i < count; i++) {
        const struct vs_cpu_record *r = &records[i];
        const struct vs_issue *o = &ops[r->op];
        if (unlikely(r->pc - line > inside)) {
            p->cycle = cycle;
            p->used = used;
            vs_pipeline_fetch(p, r);
            cycle = p->cycle;
            used = p->used;
            line = p->line;
        }
        uint64_t at = cycle + (used == width);
        at = vs_later(at, p->ready[r->rs1 + o->op.rs1]);
        at = vs_later(at, p->ready[r->rs2 + o->op.rs2]);
        at = vs_later(at, p->ready[r->rs3 + o->op.rs3]);
        cycles[i] = at;
        used = at == cycle ? used + 1 : 1;
        cycle = at;
        if (likely(o->op.unit < VS_UNIT_BRANCH)) {
            vs_pipeline_ready(p, r->rd + o->op.rd, at + o->latency);
            continue;
        }
        p->cycle = cycle;
        p->used = used;
        issue_special(p, r, at);
        cycle = p->cycle;
        used = p->used;
        line = p->line;
    }
    p->cycle = cycle;
    p->used = used;
    if (count)
        p->last = cycles[count - 1];
}
