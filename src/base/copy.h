/* SPDX-License-Identifier: MIT */
/* A sparse copy of memory, in pages, that knows which of its bytes it was ever given. Addresses
 * wrap around at 2^64. Copies may share pages: a copy that writes to a shared page gets its own.
 * They share whole groups of neighbouring pages, too, so that a clone costs little. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/likely.h"
#include "base/map.h"
#include "vestige/error.h"

#define VS_COPY_BITS   12
#define VS_COPY_PAGE   (UINT64_C(1) << VS_COPY_BITS)
#define VS_COPY_RECENT 64
#define VS_COPY_GROUP  64 /* pages */

struct vs_copy_page {
    uint64_t number;
    uint64_t since;                      /* for the owner's use */
    _Atomic uint64_t refs;               /* how many groups have the page */
    uint8_t known[VS_COPY_PAGE / 8 + 8]; /* a bit per byte; the last 8 bytes stay 0 */
    uint8_t bytes[VS_COPY_PAGE];         /* 0 where unknown */
};

struct vs_copy_group {
    _Atomic uint64_t refs;                     /* how many copies have the group */
    struct vs_copy_page *pages[VS_COPY_GROUP]; /* by their number's low bits; NULL: there is none */
};

struct vs_copy_recent {
    uint64_t number;
    struct vs_copy_page *page;
};

struct vs_copy_pool;

/* A zeroed struct is not a valid copy; call vs_copy_init. */
struct vs_copy {
    struct vs_copy_recent recent[VS_COPY_RECENT]; /* its own pages, by their number's low bits */
    struct vs_copy_recent shared[VS_COPY_RECENT]; /* the same for pages that it shares */
    struct vs_map groups;                         /* by the high bits of their pages' numbers */
    size_t count;                                 /* pages */
    size_t made;                                  /* bytes it has allocated for groups and pages */
    bool noted;                                   /* there is something in `recent` or `shared` */
    struct vs_copy_pool *pool;                    /* where its pages come from; NULL: malloc */
};

void vs_copy_init(struct vs_copy *c);
/* Leaves an empty copy with the same pool. */
void vs_copy_fini(struct vs_copy *c);

/* Gives an empty copy a pool (base/copy_pool.h), which all that share pages with it have too. */
void vs_copy_use(struct vs_copy *c, struct vs_copy_pool *pool);

/* Makes `to`, which need not be initialised, a copy with the same content that shares its pages
 * with `from`. Copies that share pages may be used by several threads, each by one at a time;
 * several may clone a copy at once that nothing but clone was done with. Returns 0; -VSE_NOMEM. */
int vs_copy_clone(struct vs_copy *to, struct vs_copy *from);

/* Returns the bytes of memory that nobody else has: those that vs_copy_fini frees. */
size_t vs_copy_alone(const struct vs_copy *c);

/* Returns those of them that are neither pages nor groups of pages. */
static inline size_t vs_copy_table(const struct vs_copy *c)
{
    return c->groups.capacity * sizeof(*c->groups.entries);
}

/* The page with that number (an address >> VS_COPY_BITS), or NULL. Changes nothing, so that several
 * threads may look at once. */
const struct vs_copy_page *vs_copy_look(const struct vs_copy *c, uint64_t number);

/* Where a walk over a copy's pages is; zeroed at first. Pages that are there may be written on the
 * way, but none added. */
struct vs_copy_walk {
    const struct vs_map_entry *entry;
    unsigned next;
};

/* Returns the next page, in no particular order; NULL after the last. */
struct vs_copy_page *vs_copy_next(const struct vs_copy *c, struct vs_copy_walk *walk);

const struct vs_copy_page *vs_copy_find_other(struct vs_copy *c, uint64_t number);

/* The same, but also remembers the page, so that it is found faster the next time. */
static inline const struct vs_copy_page *vs_copy_find(struct vs_copy *c, uint64_t number)
{
    const struct vs_copy_recent *r = &c->recent[number % VS_COPY_RECENT];
    if (likely(r->number == number))
        return r->page;
    r = &c->shared[number % VS_COPY_RECENT];
    return r->number == number ? r->page : vs_copy_find_other(c, number);
}

/* The page with that number, for writing. It is made if there is none; *made says whether it was.
 * NULL: no memory, which cannot happen if the copy has the page to itself. */
struct vs_copy_page *vs_copy_make(struct vs_copy *c, uint64_t number, bool *made);

/* Returns 0; -VSE_NOMEM, with a part of the bytes written. */
int vs_copy_write_other(struct vs_copy *c, uint64_t addr, const uint8_t *bytes, size_t size);

/* Makes the bytes unknown. Returns 0; -VSE_NOMEM, with a part of them forgotten. */
int vs_copy_forget(struct vs_copy *c, uint64_t addr, uint64_t size);

/* Gets the bytes, with 0 in place of unknown ones. Returns how many are known. */
size_t vs_copy_peek(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size);

/* Returns 0; -VSE_NOTFOUND (a byte is unknown). */
int vs_copy_read_other(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size);

/* Marks bytes of a page as known. */
void vs_copy_know(struct vs_copy_page *page, size_t offset, size_t size);

/* The bits of the known bitmap for up to 8 bytes at an offset of the page. */
static inline unsigned vs_copy_known_bits(const struct vs_copy_page *page, size_t offset)
{
    uint16_t bits;
    memcpy(&bits, page->known + offset / 8, sizeof(bits));
    return (unsigned)bits >> offset % 8 & 0xff;
}

static inline bool vs_copy_is_small(uint64_t addr, size_t size)
{
    return size <= 8 && (addr & (VS_COPY_PAGE - 1)) <= VS_COPY_PAGE - 8;
}

/* Copies bytes; the usual sizes take no call. */
static inline void vs_copy_bytes(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else if (size == 16)
        memcpy(to, from, 16);
    else if (size == 32)
        memcpy(to, from, 32);
    else
        for (size_t i = 0; i < size; i++)
            to[i] = from[i];
}

/* The most bytes that are accessed in line: 8 bytes of the bitmap have a bit for each of them. */
#define VS_COPY_INLINE 32

static inline bool vs_copy_is_inline(uint64_t addr, size_t size)
{
    return size <= VS_COPY_INLINE && (addr & (VS_COPY_PAGE - 1)) + size <= VS_COPY_PAGE;
}

/* Returns 0; -VSE_NOMEM. */
static inline int vs_copy_write(struct vs_copy *c, uint64_t addr, const uint8_t *bytes, size_t size)
{
    const struct vs_copy_recent *r = &c->recent[(addr >> VS_COPY_BITS) % VS_COPY_RECENT];
    if (unlikely(r->number != addr >> VS_COPY_BITS || !vs_copy_is_inline(addr, size)))
        return vs_copy_write_other(c, addr, bytes, size);
    size_t offset = addr & (VS_COPY_PAGE - 1);
    uint64_t bits;
    memcpy(&bits, r->page->known + offset / 8, sizeof(bits));
    bits |= ((UINT64_C(1) << size) - 1) << offset % 8;
    memcpy(r->page->known + offset / 8, &bits, sizeof(bits));
    vs_copy_bytes(r->page->bytes + offset, bytes, size);
    return 0;
}

/* Returns 0; -VSE_NOTFOUND (a byte is unknown). */
static inline int vs_copy_read(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size)
{
    const struct vs_copy_page *page = vs_copy_find(c, addr >> VS_COPY_BITS);
    if (unlikely(!page || !vs_copy_is_inline(addr, size)))
        return vs_copy_read_other(c, addr, bytes, size);
    size_t offset = addr & (VS_COPY_PAGE - 1);
    uint64_t bits, all = (UINT64_C(1) << size) - 1;
    memcpy(&bits, page->known + offset / 8, sizeof(bits));
    if (unlikely((bits >> offset % 8 & all) != all))
        return -VSE_NOTFOUND;
    vs_copy_bytes(bytes, page->bytes + offset, size);
    return 0;
}

#endif
