/* SPDX-License-Identifier: MIT */
/* The memory of a timed run: it knows when an access would happen, and refuses one whose turn has
 * not come.
 *
 * The pipeline learns about instructions late: their records lie in the core's log until an access,
 * or the end of the core's run, needs the time. An access is due if its moment is before the
 * horizon; if it is not, the run ends before the instruction with VS_NOT_YET, and `next` is when
 * the access would be. */
#ifndef TARGET_TIMED_H
#define TARGET_TIMED_H

#include "isa/ram.h"
#include "isa/isa.h"
#include "target/config.h"
#include "target/hierarchy.h"
#include "target/line.h"
#include "target/pipeline.h"

/* What ends a run because an access is not due. */
#define VS_NOT_YET (-VSE_END)

/* A core's past: what it retired, and when. */
struct vs_past {
    struct vs_pipeline pipeline;
    struct vs_cpu_log log;
    uint64_t *commits; /* the cycle of each record */
    size_t timed;      /* records whose cycle is known; those of an access are from when it is made,
                        * before they are in the log */
    uint64_t accessed; /* cycle of the last access */
    uint64_t next;     /* after VS_NOT_YET: when the access would be */
};

/* How many pages that were accessed lately are remembered, by address. */
#define VS_TIMED_RECENT 64

struct vs_timed_page {
    uint64_t page; /* VS_RAM_NONE: none */
    uint8_t *bytes;
};

struct vs_timed {
    struct vs_cpu_memory seen; /* what the cores see; must be first */
    const struct vs_target_config *config;
    struct vs_ram *memory;
    struct vs_hierarchy caches;
    struct vs_issue_table issues;
    uint64_t random; /* state */
    struct vs_timed_page reads[VS_TIMED_RECENT], writes[VS_TIMED_RECENT];

    /* The run that is under way. */
    struct vs_past *past;
    unsigned core;
    struct vs_moment horizon; /* accesses from here on are not due */
};

/* The configuration and the memory must outlive it. Returns 0; -VSE_INVAL; -VSE_NOMEM. fini is fine
 * after an error, and for a zeroed struct. */
int vs_timed_init(struct vs_timed *t, const struct vs_target_config *config, struct vs_ram *memory,
                  struct vs_diag *diag);
void vs_timed_fini(struct vs_timed *t);

/* Makes a log of so many records, with a pipeline if `timed` is not NULL. Returns 0; -VSE_NOMEM.
 * fini is fine as above. */
int vs_past_init(struct vs_past *p, struct vs_timed *timed, unsigned core, size_t records);
void vs_past_fini(struct vs_past *p);

/* Forgets all records. */
void vs_past_clear(struct vs_past *p);

/* Gives a cycle to each record that has none. */
void vs_past_settle(struct vs_past *p);

/* Forgets the recent pages. To be called when memory was mapped, or changed by anyone but the
 * cores. */
void vs_timed_forget(struct vs_timed *t);

#endif
