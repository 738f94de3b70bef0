/* SPDX-License-Identifier: MIT */
#include "study/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/likely.h"
#include "vestige/error.h"

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS };

/* Both arrays have room for a whole word that starts at the last byte. */
struct vs_memory_page {
    uint64_t number;
    uint64_t era;
    uint8_t known[PAGE / 8 + 1]; /* bit per byte, lowest first */
    uint8_t bytes[PAGE + 8];
};

/* ---- pages ---------------------------------------------------------------------------------- */

void vs_memory_check_init(struct vs_memory_check *c, size_t max_pages)
{
    memset(c, 0, sizeof(*c));
    c->max_pages = max_pages ? max_pages : SIZE_MAX;
}

void vs_memory_check_fini(struct vs_memory_check *c)
{
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&c->pages, e));)
        free(e->pointer);
    vs_map_fini(&c->pages);
    memset(c->recent, 0, sizeof(c->recent));
}

/* Brings a page into the present era and puts it among the recent ones. */
static struct vs_memory_page *freshen(struct vs_memory_check *c, struct vs_memory_page *p)
{
    if (p->era != c->era) {
        memset(p->known, 0, sizeof(p->known));
        p->era = c->era;
    }
    c->recent[p->number % VS_MEMORY_RECENT] = p;
    return p;
}

static struct vs_memory_page *page_search(struct vs_memory_check *c, uint64_t number)
{
    struct vs_memory_page *p = vs_map_pointer(&c->pages, number);

    return p ? freshen(c, p) : NULL;
}

/* Returns NULL if nothing was ever known of the page. */
static inline struct vs_memory_page *page_find(struct vs_memory_check *c, uint64_t number)
{
    struct vs_memory_page *p = c->recent[number % VS_MEMORY_RECENT];

    return likely(p && p->number == number) ? p : page_search(c, number);
}

/* Returns 0; -VSE_NOMEM; -VSE_LIMIT. */
static int page_get(struct vs_memory_check *c, uint64_t number, struct vs_memory_page **page)
{
    struct vs_memory_page *p = page_find(c, number);

    if (!p) {
        if (c->pages.count == c->max_pages)
            return -VSE_LIMIT;
        p = calloc(1, sizeof(*p));
        if (!p || vs_map_set_pointer(&c->pages, number, p)) {
            free(p);
            return -VSE_NOMEM;
        }
        p->number = number;
        p->era = c->era;
        freshen(c, p);
    }
    *page = p;
    return 0;
}

/* ---- bytes in a page ------------------------------------------------------------------------ */

/* Which of the n (1 to 8) bytes from `at` on are known. */
static inline unsigned known_bits(const struct vs_memory_page *p, unsigned at, unsigned n)
{
    return vs_get16(p->known + at / 8) >> (at % 8) & (0xffu >> (8 - n));
}

/* Makes n bytes known or unknown. */
static void mark(struct vs_memory_page *p, unsigned at, unsigned n, bool known)
{
    for (unsigned step; n; at += step, n -= step) {
        uint8_t *bits = p->known + at / 8;

        if (at % 8 == 0 && n >= 8) {
            step = n / 8 * 8;
            memset(bits, known ? 0xff : 0, step / 8);
        } else {
            step = n < 8 - at % 8 ? n : 8 - at % 8;
            unsigned mask = 0xffu >> (8 - step) << (at % 8);
            *bits = (uint8_t)(known ? *bits | mask : *bits & ~mask);
        }
    }
}

/* 0xff in each byte whose bit is set. */
static uint64_t bytes_of_bits(unsigned bits)
{
    uint64_t m = bits * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);

    m = (m + UINT64_C(0x7f7f7f7f7f7f7f7f)) & UINT64_C(0x8080808080808080);
    return (m >> 7) * 0xff;
}

/* How many of `left` bytes at addr lie in its page. */
static unsigned in_page(uint64_t addr, unsigned left)
{
    unsigned room = PAGE - addr % PAGE;

    return left < room ? left : room;
}

/* ---- writing and forgetting ----------------------------------------------------------------- */

static int put_bytes(struct vs_memory_check *c, uint64_t addr, const uint8_t *bytes, unsigned size)
{
    struct vs_memory_page *p;

    for (unsigned n; size; addr += n, bytes += n, size -= n) {
        int e = page_get(c, addr >> PAGE_BITS, &p);

        if (e)
            return e;
        n = in_page(addr, size);
        memcpy(p->bytes + addr % PAGE, bytes, n);
        mark(p, addr % PAGE, n, true);
    }
    return 0;
}

static inline int put_value(struct vs_memory_check *c, const struct vs_batch *b,
                            const struct vs_event *e)
{
    unsigned at = e->addr % PAGE;
    struct vs_memory_page *p = c->recent[(e->addr >> PAGE_BITS) % VS_MEMORY_RECENT];

    if (likely(p && p->number == e->addr >> PAGE_BITS && e->size <= 8 && at + e->size <= PAGE)) {
        uint64_t keep = e->size < 8 ? ~UINT64_C(0) << (8 * e->size) : 0;
        uint8_t *bits = p->known + at / 8;

        vs_put64(p->bytes + at, (vs_get64(p->bytes + at) & keep) | e->value);
        vs_put16(bits, (uint16_t)(vs_get16(bits) | 0xffu >> (8 - e->size) << (at % 8)));
        return 0;
    }
    return put_bytes(c, e->addr, vs_event_bytes(b, e), e->size);
}

/* Forgets the bytes of [first, last] that lie in the page. */
static void forget_in_page(struct vs_memory_page *p, uint64_t first, uint64_t last)
{
    uint64_t start = p->number << PAGE_BITS, end = start + (PAGE - 1);
    uint64_t from = first > start ? first : start, to = last < end ? last : end;

    if (from <= to)
        mark(p, from % PAGE, (unsigned)(to - from + 1), false);
}

/* The range does not wrap. It may have 2^52 pages, far more than exist. */
static void forget_range(struct vs_memory_check *c, uint64_t first, uint64_t last)
{
    uint64_t number = first >> PAGE_BITS, end = (last >> PAGE_BITS) + 1;

    if (end - number < c->pages.capacity) {
        for (; number < end; number++) {
            struct vs_memory_page *p = page_find(c, number);

            if (p)
                forget_in_page(p, first, last);
        }
        return;
    }
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&c->pages, e));)
        forget_in_page(e->pointer, first, last);
}

static void forget(struct vs_memory_check *c, uint64_t addr, uint64_t length)
{
    uint64_t last = addr + length - 1;

    if (!length)
        return;
    if (last >= addr) {
        forget_range(c, addr, last);
    } else {
        forget_range(c, addr, UINT64_MAX);
        forget_range(c, 0, last);
    }
}

static void forget_all(struct vs_memory_check *c)
{
    c->era++;
    memset(c->recent, 0, sizeof(c->recent));
}

/* ---- loads ---------------------------------------------------------------------------------- */

static void keep_difference(struct vs_memory_check *c, const struct vs_event *e,
                            const uint8_t *bytes, uint64_t event, unsigned offset)
{
    struct vs_memory_difference *d = &c->first;

    *d = (struct vs_memory_difference){.event = event,
                                       .pc = e->pc,
                                       .addr = e->addr,
                                       .thread = e->thread,
                                       .size = e->size,
                                       .offset = (uint16_t)offset,
                                       .from = e->size > VS_MEMORY_SHOWN ? (uint16_t)offset : 0};
    unsigned left = e->size - (unsigned)d->from;
    d->shown = (uint16_t)(left < VS_MEMORY_SHOWN ? left : VS_MEMORY_SHOWN);
    for (unsigned i = 0; i < d->shown; i++) {
        uint64_t addr = e->addr + d->from + i;
        struct vs_memory_page *p = page_find(c, addr >> PAGE_BITS);

        d->got[i] = bytes[d->from + i];
        if (p && known_bits(p, addr % PAGE, 1)) {
            d->known |= UINT32_C(1) << i;
            d->expected[i] = p->bytes[addr % PAGE];
        }
    }
}

/* Handles any load, in words that do not leave a page. */
static int load_any(struct vs_memory_check *c, const struct vs_batch *b, const struct vs_event *e,
                    uint64_t event)
{
    const uint8_t *bytes = vs_event_bytes(b, e);
    unsigned known = 0, differs = e->size;

    for (unsigned done = 0, n; done < e->size; done += n) {
        uint64_t addr = e->addr + done, value = 0;
        unsigned at = addr % PAGE, left = e->size - done;
        struct vs_memory_page *p = page_find(c, addr >> PAGE_BITS);

        n = in_page(addr, left < 8 ? left : 8);
        if (!p)
            continue;
        memcpy(&value, bytes + done, n);
        unsigned bits = known_bits(p, at, n);
        uint64_t difference = (vs_get64(p->bytes + at) ^ value) & bytes_of_bits(bits);
        known += (unsigned)__builtin_popcount(bits);
        if (unlikely(difference) && differs == e->size)
            differs = done + (unsigned)__builtin_ctzll(difference) / 8;
    }
    c->loads++;
    c->compared += known != 0;
    c->bytes_compared += known;
    c->bytes_learnt += e->size - known;
    if (differs < e->size && c->differences++ == 0)
        keep_difference(c, e, bytes, event, differs);
    return known == e->size && differs == e->size ? 0 : put_bytes(c, e->addr, bytes, e->size);
}

/* The frequent case: a word in a recent page, known and equal. */
static inline bool load_equal(struct vs_memory_check *c, const struct vs_event *e)
{
    unsigned at = e->addr % PAGE;
    const struct vs_memory_page *p = c->recent[(e->addr >> PAGE_BITS) % VS_MEMORY_RECENT];

    if (!p || p->number != e->addr >> PAGE_BITS || e->size > 8 || at + e->size > PAGE)
        return false;
    if (known_bits(p, at, e->size) != 0xffu >> (8 - e->size) || (vs_get64(p->bytes + at) ^ e->value)
                                                                    << (64 - 8 * e->size))
        return false;
    c->loads++;
    c->compared++;
    c->bytes_compared += e->size;
    return true;
}

int vs_memory_check_batch(struct vs_memory_check *c, const struct vs_batch *batch)
{
    int error = 0;

    for (size_t i = 0; i < batch->count && !error; i++) {
        const struct vs_event *e = &batch->events[i];

        switch (e->kind) {
        case VS_LOAD:
            if (!likely(load_equal(c, e)))
                error = load_any(c, batch, e, batch->first + i);
            break;
        case VS_EXTERNAL:
            c->bytes_external += e->size;
            error = put_value(c, batch, e);
            break;
        case VS_STORE:
            error = put_value(c, batch, e);
            break;
        case VS_MAP:
            forget(c, e->addr, e->value);
            break;
        case VS_GAP:
            forget_all(c);
            break;
        default:
            break;
        }
    }
    return error;
}
