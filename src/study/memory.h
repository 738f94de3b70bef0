/* SPDX-License-Identifier: MIT */
/* Whether memory in a recorded run behaves as memory does: a load returns, byte by byte, what the
 * last store or external write before it in global order put there, whoever did it. A byte that is
 * met for the first time has no expected value; it is learnt from the load.
 *
 * A VS_MAP, whether it maps or unmaps, makes its bytes unknown again; a VS_GAP makes all bytes
 * unknown. A load that differs is counted once, and then believed, so that one missing write is not
 * reported by every later load.
 *
 * The check takes about 4.6 KiB of memory for each page of 4 KiB that the run touches.
 */
#ifndef STUDY_MEMORY_H
#define STUDY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "vestige/event.h"

/* How many bytes of a difference are kept, and how many places the table of recent pages has. */
enum { VS_MEMORY_SHOWN = 32, VS_MEMORY_RECENT = 512 };

/* A load that returned something other than what was written. */
struct vs_memory_difference {
    uint64_t event; /* its number in the run */
    uint64_t pc, addr;
    uint16_t thread, size;
    uint16_t offset;      /* of the value's first byte that differs */
    uint16_t from, shown; /* the bytes below are [from, from + shown) of the value */
    uint32_t known;       /* a bit per byte below: there was an expected value */
    uint8_t expected[VS_MEMORY_SHOWN], got[VS_MEMORY_SHOWN];
};

struct vs_memory_page;

struct vs_memory_check {
    /* the result so far */
    uint64_t loads;                    /* all */
    uint64_t compared;                 /* loads of which at least one byte was known */
    uint64_t bytes_compared;           /* known before */
    uint64_t bytes_learnt;             /* seen first */
    uint64_t bytes_external;           /* written from outside */
    uint64_t differences;              /* loads that differ */
    struct vs_memory_difference first; /* if there are differences */

    /* private */
    struct vs_map pages; /* by number */
    size_t max_pages;
    uint64_t era; /* what a page knows from an earlier era is void */
    struct vs_memory_page *recent[VS_MEMORY_RECENT];
};

/* max_pages bounds how many pages of 4 KiB are kept; 0 means no bound. */
void vs_memory_check_init(struct vs_memory_check *c, size_t max_pages);

/* Takes the run's next events; batch->first must be right. The events must keep the rules of
 * vs_event_check. Returns 0; -VSE_NOMEM; -VSE_LIMIT (there would be more than max_pages). After an
 * error only fini may follow. */
int vs_memory_check_batch(struct vs_memory_check *c, const struct vs_batch *batch);

/* Frees the pages; the result stays. */
void vs_memory_check_fini(struct vs_memory_check *c);

#endif
