/* SPDX-License-Identifier: MIT */
/* All of a program's memory, while it is executed again. Everything is known: what is not said to
 * hold something else is zero. Rights do not matter, since an access that failed is not made. */
#ifndef RERUN_WHOLE_MEMORY_H
#define RERUN_WHOLE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "base/map.h"
#include "isa/cpu_memory.h"
#include "vestige/error.h"
#include "vestige/event.h"

#define VS_WHOLE_RECENT 4096 /* a power of 2 */

struct vs_whole_page {
    bool code; /* instructions were fetched from it */
    _Alignas(64) uint8_t bytes[VS_PAGE_SIZE];
};

struct vs_whole_recent {
    uint64_t number;
    struct vs_whole_page *page; /* NULL: the entry is free */
};

/* A zeroed struct is an empty memory. */
struct vs_whole_memory {
    size_t limit;        /* pages that there may be; 0: any number */
    struct vs_map pages; /* by address / VS_PAGE_SIZE */
    struct vs_whole_recent recent[VS_WHOLE_RECENT];
};

void vs_whole_fini(struct vs_whole_memory *m);

/* Finds a page, and makes one of zeros if there is none. Returns NULL without memory, or at the
 * limit. */
struct vs_whole_page *vs_whole_page_other(struct vs_whole_memory *m, uint64_t number);

static inline struct vs_whole_page *vs_whole_page(struct vs_whole_memory *m, uint64_t number)
{
    const struct vs_whole_recent *r = &m->recent[number % VS_WHOLE_RECENT];
    return likely(r->number == number && r->page) ? r->page : vs_whole_page_other(m, number);
}

/* Return 0; -VSE_NOMEM. put sets *code if a page of code was written to. */
int vs_whole_get(struct vs_whole_memory *m, uint64_t addr, void *bytes, size_t size);
int vs_whole_put(struct vs_whole_memory *m, uint64_t addr, const void *bytes, size_t size,
                 bool *code);

/* Makes memory zero. */
void vs_whole_clear(struct vs_whole_memory *m, uint64_t addr, uint64_t size);

/* Does what a VS_CONTENT event with this payload says. Returns 0; -VSE_NOMEM; -VSE_CORRUPT (the
 * payload makes no sense); with diag also -VSE_CHECKSUM (a file is not what it was) and as
 * vs_file_part. */
int vs_whole_content(struct vs_whole_memory *m, const struct vs_event *e, const uint8_t *payload,
                     struct vs_diag *diag);

#endif
