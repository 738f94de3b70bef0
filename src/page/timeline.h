/* SPDX-License-Identifier: MIT */
/* What threads did when. Time is cycles in a timed run, and else the instructions that all threads
 * have retired. It is divided into bins, in which things are counted for each thread; the first
 * ones of what is rare are listed by themselves. */
#ifndef PAGE_TIMELINE_H
#define PAGE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/run.h"

enum page_channel {
    PAGE_INSTRUCTIONS,
    PAGE_ACCESSES, /* loads and stores */
    PAGE_MISPREDICTED,
    PAGE_MISSES,    /* of the cache, whoever supplied the line */
    PAGE_COHERENCE, /* lines that came from another core, and those that others lost */
    PAGE_SYSCALLS,
    PAGE_SIGNALS,
    PAGE_CHANNELS
};

enum page_mark_kind {
    PAGE_MARK_SYSCALL, /* number: the system call's */
    PAGE_MARK_SIGNAL,  /* number: the cause; UINT32_MAX: not known */
    PAGE_MARK_START,
    PAGE_MARK_EXIT,
    PAGE_MARK_GAP,
    PAGE_MARK_KINDS
};

enum {
    PAGE_LANES_MAX = 256,  /* threads from there on share the last lane */
    PAGE_CELLS = 1 << 15,  /* lanes times bins, about */
    PAGE_MARKS_MAX = 1500, /* of each kind */
    PAGE_WAITS_EACH = 512, /* of each lane */
    PAGE_WAITS_MAX = 1 << 13
};

struct page_mark {
    uint64_t time;
    uint32_t number;
    uint16_t lane;
    uint8_t kind;
};

/* A stretch in which a thread retired nothing, long enough to be seen. */
struct page_wait {
    uint64_t from, to;
    uint32_t syscall; /* in which it was; UINT32_MAX: in none */
    uint16_t lane;
};

struct page_timeline {
    unsigned lanes;
    size_t bins;
    uint64_t first, span; /* time 0 of the page is `first` */
    bool timed;
    uint64_t now;                   /* of the event that was taken last, from 0 up */
    size_t bin;                     /* that it is in */
    uint64_t *cells[PAGE_CHANNELS]; /* [lane * bins + bin] */
    struct page_mark *marks;
    size_t mark_count, mark_capacity;
    uint64_t mark_kinds[PAGE_MARK_KINDS]; /* how many there were */
    struct page_wait *waits;
    size_t wait_count, wait_capacity;

    /* private */
    uint64_t end_of_bin;
    uint64_t retired;
    uint64_t shortest;             /* wait that is listed */
    struct page_lane_state *state; /* by thread, as far as it has a lane of its own */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case; it may also follow without init if the struct
 * was zeroed. */
int page_timeline_init(struct page_timeline *t, const struct vs_run_info *info);
void page_timeline_fini(struct page_timeline *t);

/* Takes the run's next event, in a batch of one: moves on to its time, and counts what it is.
 * Returns 0; -VSE_NOMEM. */
int page_timeline_take(struct page_timeline *t, const struct vs_batch *one);

/* Counts something else that came with that event. */
static inline void page_timeline_count(struct page_timeline *t, unsigned thread,
                                       enum page_channel channel, unsigned n)
{
    size_t lane = thread < t->lanes ? thread : t->lanes - 1;
    t->cells[channel][lane * t->bins + t->bin] += n;
}

#endif
