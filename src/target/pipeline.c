/* SPDX-License-Identifier: MIT */
#include "target/pipeline.h"

#include <string.h>

#include "base/likely.h"
#include "isa/rv64/rv64.h"

#define FLOAT   32
#define NO_LINE UINT64_MAX

/* ---- operations ------------------------------------------------------------------------------ */

static bool is_special(unsigned class)
{
    return class == VS_RV64_CLASS_BRANCH || class == VS_RV64_CLASS_JAL ||
           class == VS_RV64_CLASS_JALR || class == VS_RV64_CLASS_FENCEI;
}

static uint64_t latency_of(const struct vs_target_config *c, unsigned class)
{
    switch (class) {
    case VS_RV64_CLASS_MUL:
        return c->multiply;
    case VS_RV64_CLASS_DIV:
        return c->divide;
    case VS_RV64_CLASS_FADD:
    case VS_RV64_CLASS_FCMP:
        return c->fp_add;
    case VS_RV64_CLASS_FMUL:
        return c->fp_multiply;
    case VS_RV64_CLASS_FMA:
        return c->fp_fused;
    case VS_RV64_CLASS_FDIV:
        return c->fp_divide;
    case VS_RV64_CLASS_FSQRT:
        return c->fp_root;
    case VS_RV64_CLASS_FCVT:
        return c->fp_convert;
    case VS_RV64_CLASS_FMOVE:
        return c->fp_move;
    default:
        return 1;
    }
}

/* Registers that are floating point, by format; those it lacks are x0. */
static void set_files(struct vs_issue *i, unsigned format)
{
    switch (format) {
    case VS_RV64_FORMAT_FLOAD:
    case VS_RV64_FORMAT_FXR:
    case VS_RV64_FORMAT_FX:
        i->rd = FLOAT;
        break;
    case VS_RV64_FORMAT_FSTORE:
        i->rs2 = FLOAT;
        break;
    case VS_RV64_FORMAT_FFFFR:
        i->rs3 = FLOAT;
        /* fallthrough */
    case VS_RV64_FORMAT_FFF:
    case VS_RV64_FORMAT_FFFR:
        i->rs2 = FLOAT;
        /* fallthrough */
    case VS_RV64_FORMAT_FFR:
        i->rd = i->rs1 = FLOAT;
        break;
    case VS_RV64_FORMAT_XFF:
        i->rs2 = FLOAT;
        /* fallthrough */
    case VS_RV64_FORMAT_XF:
    case VS_RV64_FORMAT_XFR:
        i->rs1 = FLOAT;
        break;
    default:
        break;
    }
}

void vs_issue_table_init(struct vs_issue_table *table, const struct vs_target_config *config)
{
    for (unsigned op = 0; op < VS_RV64_OPS; op++) {
        const struct vs_rv64_row *row = vs_rv64_row(op);
        struct vs_issue *i = &table->ops[op];
        *i = (struct vs_issue){.class = row->class,
                               .special = is_special(row->class),
                               .latency = (uint16_t)latency_of(config, row->class)};
        set_files(i, row->format);
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

void vs_pipeline_fetch(struct vs_pipeline *p, uint64_t first, uint64_t last)
{
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
    if (i->class != VS_RV64_CLASS_STORE)
        vs_pipeline_ready(p, r->rd + i->rd, cycle + latency);
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

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

static bool predict_indirect(struct vs_pipeline *p, const struct vs_cpu_record *r)
{
    bool returns = is_link(r->rs1) && r->rd != r->rs1, right;
    uint64_t predicted;
    if (returns)
        right = vs_ras_pop(&p->ras, &predicted) && predicted == r->addr;
    else
        right = vs_ibtb_update(&p->ibtb, r->pc, r->addr);
    p->stats.indirects++;
    p->stats.indirect_mispredicted += !right;
    return right;
}

static void issue_branch(struct vs_pipeline *p, const struct vs_cpu_record *r, unsigned class)
{
    bool right = class == VS_RV64_CLASS_BRANCH ? predict_conditional(p, r)
                 : class == VS_RV64_CLASS_JALR ? predict_indirect(p, r)
                                               : true;
    if (class != VS_RV64_CLASS_BRANCH && is_link(r->rd))
        vs_ras_push(&p->ras, r->pc + vs_record_length(r));
    if (!right)
        stall(p, 1 + p->config->penalty);
    else if (r->kind & VS_RECORD_DONE)
        stall(p, 1);
}

void vs_pipeline_special(struct vs_pipeline *p, const struct vs_cpu_record *r, uint64_t cycle)
{
    const struct vs_issue *i = &p->table->ops[r->op];
    vs_pipeline_commit(p, cycle);
    if (i->class == VS_RV64_CLASS_FENCEI) {
        vs_hierarchy_fence_i(p->caches, p->core);
        p->line = NO_LINE;
        return;
    }
    if (i->class != VS_RV64_CLASS_BRANCH)
        vs_pipeline_ready(p, r->rd, cycle + 1);
    issue_branch(p, r, i->class);
}
