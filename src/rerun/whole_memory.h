/* SPDX-License-Identifier: MIT */
/* All of a program's memory, while it is executed again. Everything is known: what is not said to
 * hold something else is zero. Rights do not matter, since an access that failed is not made. */
#ifndef RERUN_WHOLE_MEMORY_H
#define RERUN_WHOLE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/likely.h"
#include "base/map.h"
#include "isa/cpu_memory.h"
#include "vestige/error.h"
#include "vestige/event.h"

#define VS_WHOLE_RECENT 4096 /* a power of 2 */

struct vs_whole_page {
    bool code;    /* instructions were fetched from it */
    bool changed; /* it is among the memory's changes */
    bool noted;   /* whoever writes to it has to look at the two above */
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
    /* If `tracked` is set, which is to be done before there are pages: what changed since
     * vs_whole_settle. */
    bool tracked;
    bool emptied;      /* everything was removed meanwhile */
    uint64_t *changes; /* numbers of pages that were written to or removed; some more than once */
    size_t change_count, change_room;
    bool lost; /* there was no memory for a number */
};

void vs_whole_fini(struct vs_whole_memory *m);

/* Sorts the changes, so that each is there once, and returns 0; -VSE_NOMEM: some are lost. */
int vs_whole_changes(struct vs_whole_memory *m);
/* Begins anew with no changes. */
void vs_whole_settle(struct vs_whole_memory *m);

/* Makes a page hold these VS_PAGE_SIZE bytes; NULL removes it. Says in *code whether code was
 * fetched from it. Returns 0; -VSE_NOMEM. */
int vs_whole_set(struct vs_whole_memory *m, uint64_t number, const uint8_t *bytes, bool *code);

/* Finds a page, and makes one of zeros if there is none. Returns NULL without memory, or at the
 * limit. */
struct vs_whole_page *vs_whole_page_other(struct vs_whole_memory *m, uint64_t number);

static inline struct vs_whole_page *vs_whole_page(struct vs_whole_memory *m, uint64_t number)
{
    const struct vs_whole_recent *r = &m->recent[number % VS_WHOLE_RECENT];
    return likely(r->number == number && r->page) ? r->page : vs_whole_page_other(m, number);
}

/* Return 0; -VSE_NOMEM. put sets *code if a page of code was written to. The second of each is for
 * what is not within one page, and not a number. */
int vs_whole_get_any(struct vs_whole_memory *m, uint64_t addr, void *bytes, size_t size);
int vs_whole_put_any(struct vs_whole_memory *m, uint64_t addr, const void *bytes, size_t size,
                     bool *code);

/* Copies 1, 2, 4 or 8 bytes, and returns whether the size is one of these. */
static inline bool vs_whole_copy(void *to, const void *from, size_t size)
{
    switch (size) {
    case 1:
        memcpy(to, from, 1);
        return true;
    case 2:
        memcpy(to, from, 2);
        return true;
    case 4:
        memcpy(to, from, 4);
        return true;
    case 8:
        memcpy(to, from, 8);
        return true;
    default:
        return false;
    }
}

/* A number of at most 8 bytes. */
static inline uint64_t vs_whole_number(const void *bytes, size_t size)
{
    uint64_t number = 0;
    switch (size) {
    case 1:
        return *(const uint8_t *)bytes;
    case 2: {
        uint16_t half;
        memcpy(&half, bytes, sizeof(half));
        return half;
    }
    case 4: {
        uint32_t word;
        memcpy(&word, bytes, sizeof(word));
        return word;
    }
    default:
        memcpy(&number, bytes, size);
        return number;
    case 8:
        memcpy(&number, bytes, sizeof(number));
        return number;
    }
}

static inline int vs_whole_get(struct vs_whole_memory *m, uint64_t addr, void *bytes, size_t size)
{
    const struct vs_whole_recent *r = &m->recent[addr / VS_PAGE_SIZE % VS_WHOLE_RECENT];
    size_t at = addr % VS_PAGE_SIZE;
    if (likely(r->number == addr / VS_PAGE_SIZE && r->page && at <= VS_PAGE_SIZE - size) &&
        vs_whole_copy(bytes, r->page->bytes + at, size))
        return 0;
    return vs_whole_get_any(m, addr, bytes, size);
}

static inline int vs_whole_put(struct vs_whole_memory *m, uint64_t addr, const void *bytes,
                               size_t size, bool *code)
{
    const struct vs_whole_recent *r = &m->recent[addr / VS_PAGE_SIZE % VS_WHOLE_RECENT];
    size_t at = addr % VS_PAGE_SIZE;
    if (likely(r->number == addr / VS_PAGE_SIZE && r->page && !r->page->noted &&
               at <= VS_PAGE_SIZE - size) &&
        vs_whole_copy(r->page->bytes + at, bytes, size))
        return 0;
    return vs_whole_put_any(m, addr, bytes, size, code);
}

/* Makes memory zero. */
void vs_whole_clear(struct vs_whole_memory *m, uint64_t addr, uint64_t size);

/* Does what a VS_CONTENT event with this payload says, if it says what changes. Returns 0;
 * -VSE_NOMEM; -VSE_CORRUPT (the payload makes no sense); with diag also -VSE_CHECKSUM (a file is
 * not what it was) and as vs_file_part. */
int vs_whole_content(struct vs_whole_memory *m, const struct vs_event *e, const uint8_t *payload,
                     struct vs_diag *diag);

#endif
