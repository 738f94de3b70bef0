/* SPDX-License-Identifier: MIT */
/* States of a run on its way through execution, from which it can be executed on. A snapshot has
 * what changed in memory since the one before, so that the first ones up to some place, one after
 * the other, make the state there.
 *
 * They are collected first, by a struct vs_snapshot_list, which is bounded: when there are too
 * many, or they are too large, every other one is dropped, and the way between them doubles. Then
 * they are packed into one piece of bytes, and used from there; the piece may also be kept in a
 * file (survey.h), so that it is data from outside. */
#ifndef RERUN_SNAPSHOTS_H
#define RERUN_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "rerun/whole_memory.h"

#define VS_SNAPSHOTS_MOST  64
#define VS_SNAPSHOTS_BYTES (UINT64_C(64) << 20)

/* A thread of the run. */
struct vs_snapshot_thread {
    uint64_t goal;   /* instructions that it retired, as the inputs say */
    uint64_t last;   /* those that events account for */
    uint64_t held;   /* iterations of the instruction that it is in, or 0 */
    uint64_t events; /* of the thread */
    uint64_t live;   /* enum vs_snapshot_core */
};

/* A thread's core follows, behind all threads, unless it has none. */
enum vs_snapshot_core {
    VS_SNAPSHOT_NONE,
    VS_SNAPSHOT_LIVE,
    VS_SNAPSHOT_STALE, /* what it did is not known: a gap is due */
};

/* What is not memory. */
struct vs_snapshot_head {
    uint64_t input;        /* number of the next input */
    uint64_t events;       /* that were made before */
    uint64_t instructions; /* that all threads have retired */
    uint64_t emptied;      /* 1: no page of the snapshots before is left; else 0 */
    uint64_t threads, pages;
};

/* ---- collecting ------------------------------------------------------------------------------ */

struct vs_snapshot_page {
    uint64_t number;
    uint32_t size; /* of the packed page; 0: there is none any more */
    uint8_t *packed;
};

struct vs_snapshot {
    struct vs_snapshot_head head;
    struct vs_buf state; /* threads, and the cores of those that live */
    struct vs_snapshot_page *pages;
    size_t bytes; /* that it takes, about */
};

/* A zeroed struct is an empty list. */
struct vs_snapshot_list {
    struct vs_snapshot snapshots[VS_SNAPSHOTS_MOST];
    unsigned count;
    uint64_t bytes;
    uint64_t every; /* instructions from one to the next */
    bool none;      /* a single one is too large */
    void *zstd;
};

void vs_snapshot_list_fini(struct vs_snapshot_list *l);

/* Adds a snapshot; takes `state`, and settles the memory. The head's `emptied` and `pages` are
 * ignored. Returns 0; -VSE_NOMEM, with the list as it was, which is of no use any more. */
int vs_snapshot_list_add(struct vs_snapshot_list *l, const struct vs_snapshot_head *head,
                         struct vs_buf *state, struct vs_whole_memory *memory);

/* Packs the snapshots, behind each other, and appends them. Returns 0; -VSE_NOMEM. */
int vs_snapshot_list_pack(const struct vs_snapshot_list *l, struct vs_buf *to);

/* ---- using ----------------------------------------------------------------------------------- */

struct vs_packed_snapshot {
    struct vs_snapshot_head head;
    const uint8_t *threads; /* struct vs_snapshot_thread, not aligned */
    const uint8_t *cores, *pages, *end;
};

struct vs_packed_snapshots {
    struct vs_packed_snapshot snapshots[VS_SNAPSHOTS_MOST];
    unsigned count;
};

/* Finds the snapshots in packed bytes, which have to outlive *s: so many of them, of a run with so
 * many threads, whose cores take so many bytes. Returns 0; -VSE_CORRUPT. */
int vs_snapshots_parse(struct vs_packed_snapshots *s, const uint8_t *bytes, size_t size,
                       unsigned count, unsigned threads, size_t core);

/* The thread's state; that of a thread that has not begun is zero. */
struct vs_snapshot_thread vs_snapshot_thread(const struct vs_packed_snapshot *s, unsigned thread);

/* Takes a page that changed. Returns 0, or an error, which ends the walk. */
typedef int vs_snapshot_change(void *context, uint64_t number, const uint8_t *bytes);

/* Walks over the pages that changed; `bytes` is NULL if there is none any more. Returns 0;
 * -VSE_NOMEM; -VSE_CORRUPT; an error of `change`. */
int vs_snapshot_pages(const struct vs_packed_snapshot *s, vs_snapshot_change *change,
                      void *context);

#endif
