/* SPDX-License-Identifier: MIT */
#include "technique/copy.h"

#include <stdlib.h>

enum { BUCKETS_FIRST = 256 };

void vs_copy_init(struct vs_copy *c)
{
    *c = (struct vs_copy){.count = 0};
    for (size_t i = 0; i < VS_COPY_RECENT; i++)
        c->recent[i].number = UINT64_MAX; /* no page's */
}

void vs_copy_fini(struct vs_copy *c)
{
    for (size_t i = 0; i < c->bucket_count; i++)
        while (c->buckets[i]) {
            struct vs_copy_page *page = c->buckets[i];
            c->buckets[i] = page->next;
            free(page);
        }
    free(c->buckets);
    vs_copy_init(c);
}

static size_t bucket_of(const struct vs_copy *c, uint64_t number)
{
    return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (c->bucket_count - 1);
}

static void note_recent(struct vs_copy *c, struct vs_copy_page *page)
{
    c->recent[page->number % VS_COPY_RECENT] = (struct vs_copy_recent){page->number, page};
}

struct vs_copy_page *vs_copy_look(const struct vs_copy *c, uint64_t number)
{
    struct vs_copy_page *page = c->bucket_count ? c->buckets[bucket_of(c, number)] : NULL;
    while (page && page->number != number)
        page = page->next;
    return page;
}

struct vs_copy_page *vs_copy_find_other(struct vs_copy *c, uint64_t number)
{
    struct vs_copy_page *page = vs_copy_look(c, number);
    if (page)
        note_recent(c, page);
    return page;
}

static bool grow(struct vs_copy *c)
{
    struct vs_copy old = *c;
    c->bucket_count = old.bucket_count ? 2 * old.bucket_count : BUCKETS_FIRST;
    c->buckets = calloc(c->bucket_count, sizeof(struct vs_copy_page *));
    if (!c->buckets) {
        c->bucket_count = old.bucket_count;
        c->buckets = old.buckets;
        return false;
    }
    for (size_t i = 0; i < old.bucket_count; i++)
        while (old.buckets[i]) {
            struct vs_copy_page *page = old.buckets[i], **first;
            old.buckets[i] = page->next;
            first = &c->buckets[bucket_of(c, page->number)];
            page->next = *first;
            *first = page;
        }
    free(old.buckets);
    return true;
}

struct vs_copy_page *vs_copy_make(struct vs_copy *c, uint64_t number, bool *made)
{
    struct vs_copy_page *page = vs_copy_find(c, number);
    *made = !page;
    if (page)
        return page;
    if (c->count == c->bucket_count && !grow(c))
        return NULL;
    page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    struct vs_copy_page **first = &c->buckets[bucket_of(c, number)];
    page->number = number;
    page->next = *first;
    *first = page;
    c->count++;
    note_recent(c, page);
    return page;
}

void vs_copy_know(struct vs_copy_page *page, size_t offset, size_t size)
{
    for (; size && offset % 8; offset++, size--)
        page->known[offset / 8] |= (uint8_t)(1 << offset % 8);
    memset(page->known + offset / 8, 0xff, size / 8);
    offset += size / 8 * 8;
    if (size % 8)
        page->known[offset / 8] |= (uint8_t)((1 << size % 8) - 1);
}

/* The part of an access that lies in the page of its first byte. */
static size_t part_in_page(uint64_t addr, size_t size)
{
    size_t rest = VS_COPY_PAGE - (addr & (VS_COPY_PAGE - 1));
    return size < rest ? size : rest;
}

int vs_copy_write_other(struct vs_copy *c, uint64_t addr, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        bool made;
        struct vs_copy_page *page = vs_copy_make(c, addr >> VS_COPY_BITS, &made);
        if (!page)
            return -VSE_NOMEM;
        memcpy(page->bytes + offset, bytes, n);
        vs_copy_know(page, offset, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    return 0;
}

static size_t count_known(const struct vs_copy_page *page, size_t offset, size_t size)
{
    size_t known = 0;
    for (; size >= 8; offset += 8, size -= 8)
        known += (size_t)__builtin_popcount(vs_copy_known_bits(page, offset));
    for (; size; offset++, size--)
        known += page->known[offset / 8] >> offset % 8 & 1;
    return known;
}

size_t vs_copy_peek(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size)
{
    size_t known = 0;
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        const struct vs_copy_page *page = vs_copy_find(c, addr >> VS_COPY_BITS);
        if (page) {
            memcpy(bytes, page->bytes + offset, n);
            known += count_known(page, offset, n);
        } else {
            memset(bytes, 0, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    return known;
}

int vs_copy_read_other(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size)
{
    return vs_copy_peek(c, addr, bytes, size) == size ? 0 : -VSE_NOTFOUND;
}
