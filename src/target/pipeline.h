/* SPDX-License-Identifier: MIT */
/* The time of an in-order core. An instruction commits in the cycle in which it issues: its
 * operands are there, the instructions before it have issued, and nothing can undo it from then on.
 * Its results are there after the operation's latency. A miss, of code or of data, holds the core
 * until the line is there; a hit's latency only delays instructions that use the value. A
 * mispredicted branch delays what follows by a penalty; what follows a taken branch issues in a
 * later cycle. */
#ifndef TARGET_PIPELINE_H
#define TARGET_PIPELINE_H

#include "base/likely.h"
#include "isa/cpu_log.h"
#include "model/gshare.h"
#include "model/ibtb.h"
#include "model/ras.h"
#include "target/config.h"
#include "target/hierarchy.h"

/* An operation, whose register files are given as offsets into `ready`, and its latency. */
struct vs_issue {
    struct vs_operation op;
    uint16_t latency;
};

_Static_assert(sizeof(struct vs_issue) == 8, "found by a shift");

struct vs_issue_table {
    struct vs_issue ops[VS_OPERATIONS_MAX];
    uint32_t links;
};

void vs_issue_table_init(struct vs_issue_table *table, const struct vs_target_config *config,
                         const struct vs_operations *operations);

struct vs_pipeline_stats {
    uint64_t conditionals, mispredicted; /* branches */
    uint64_t indirects, indirect_mispredicted;
};

struct vs_pipeline {
    const struct vs_target_config *config;
    const struct vs_issue_table *table;
    struct vs_hierarchy *caches;
    unsigned core;

    uint64_t width, line_mask;
    uint64_t inside; /* the last offset in a line at which any instruction ends in the line, too */
    uint64_t cycle;  /* the earliest in which the next instruction can issue */
    uint64_t used;   /* instructions that have issued in it */
    uint64_t line;   /* the line of code that was fetched last */
    uint64_t last;   /* cycle of the last commit */
    uint64_t ready[64];

    struct vs_gshare gshare;
    struct vs_ras ras;
    struct vs_ibtb ibtb;
    struct vs_pipeline_stats stats;
    int error; /* a fetch's, or 0 */
};

/* Returns 0; -VSE_NOMEM. What is passed must outlive the pipeline. */
int vs_pipeline_init(struct vs_pipeline *p, const struct vs_target_config *config,
                     const struct vs_issue_table *table, struct vs_hierarchy *caches,
                     unsigned core);
/* A zeroed struct is fine. */
void vs_pipeline_fini(struct vs_pipeline *p);

/* The core begins anew at the cycle, with nothing in flight. */
void vs_pipeline_restart(struct vs_pipeline *p, uint64_t cycle);

/* Fetches an instruction, unless it lies in the line that was fetched last. */
void vs_pipeline_fetch(struct vs_pipeline *p, const struct vs_cpu_record *r);

static inline uint64_t vs_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline unsigned vs_record_length(const struct vs_cpu_record *r)
{
    return r->kind & VS_RECORD_SHORT ? 2 : 4;
}

/* Returns whether an instruction of any length at pc lies in the line that was fetched last. */
static inline bool vs_pipeline_has(const struct vs_pipeline *p, uint64_t pc)
{
    return pc - p->line <= p->inside;
}

/* Fetches the next instruction, and returns when it will issue if nothing happens before. A second
 * call for the same instruction returns the same. */
static inline uint64_t vs_pipeline_when(struct vs_pipeline *p, const struct vs_cpu_record *r)
{
    const struct vs_issue *i = &p->table->ops[r->op];
    if (unlikely(!vs_pipeline_has(p, r->pc)))
        vs_pipeline_fetch(p, r);
    uint64_t at = p->cycle + (p->used == p->width);
    at = vs_later(at, p->ready[r->rs1 + i->op.rs1]);
    at = vs_later(at, p->ready[r->rs2 + i->op.rs2]);
    return vs_later(at, p->ready[r->rs3 + i->op.rs3]);
}

static inline void vs_pipeline_commit(struct vs_pipeline *p, uint64_t cycle)
{
    p->used = cycle == p->cycle ? p->used + 1 : 1;
    p->cycle = p->last = cycle;
}

/* A result is there from the cycle on. Register 0 stands for none, and is always there. */
static inline void vs_pipeline_ready(struct vs_pipeline *p, unsigned reg, uint64_t cycle)
{
    p->ready[reg] = cycle;
    p->ready[0] = 0;
}

/* An access to memory issued in that cycle and takes `latency` cycles. */
void vs_pipeline_access(struct vs_pipeline *p, const struct vs_cpu_record *r, uint64_t cycle,
                        uint64_t latency);

/* The next `count` instructions issue, none of which accesses memory. Sets the cycle of each. */
void vs_pipeline_issue(struct vs_pipeline *p, const struct vs_cpu_record *records, uint64_t *cycles,
                       size_t count);

#endif
