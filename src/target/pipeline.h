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
#include "model/branch_unit.h"
#include "model/inorder.h"
#include "target/config.h"
#include "target/hierarchy.h"

/* An operation and its latency. */
struct vs_issue {
    struct vs_operation op;
    uint16_t latency;
};

_Static_assert(sizeof(struct vs_issue) == 4, "found by a shift");

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

    uint32_t width;
    struct vs_inorder issue;
    uint64_t line_mask;
    uint64_t inside; /* the last offset in a line at which any instruction ends in the line, too */
    uint64_t line;   /* the line of code that was fetched last */
    uint64_t last;   /* cycle of the last commit */

    struct vs_branch_unit branches;
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

/* The next `count` instructions issue, none of which accesses memory. Sets the cycle of each. */
void vs_pipeline_issue(struct vs_pipeline *p, const struct vs_cpu_record *records, uint64_t *cycles,
                       size_t count);

/* Does the same, fetches the instruction after them, and returns when that will issue if nothing
 * happens before. A second call for the same instruction, with none before it, returns the same. */
uint64_t vs_pipeline_reach(struct vs_pipeline *p, const struct vs_cpu_record *records,
                           uint64_t *cycles, size_t count);

/* An access to memory issued in that cycle and takes `latency` cycles. */
void vs_pipeline_access(struct vs_pipeline *p, const struct vs_cpu_record *r, uint64_t cycle,
                        uint64_t latency);

#endif
