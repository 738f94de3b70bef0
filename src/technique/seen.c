/* SPDX-License-Identifier: MIT */
#include "technique/seen.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"

/* A page's bytes from one of its boundaries on, as far as they are known. */
struct patch {
    struct vs_copy_page *page; /* its `since` is the boundary */
    size_t before;             /* the index of an earlier patch of the same page, plus 1 */
};

struct vs_prior {
    struct vs_seen seen;   /* it knows the bytes since each page's boundary */
    struct vs_copy latest; /* by page: `since` is the index of its last patch, plus 1 */
    struct patch *patches;
    size_t count, capacity;
};

/* ---- pages ----------------------------------------------------------------------------------- */

static const struct vs_copy_page *find_patch(const struct vs_prior *p, uint64_t number,
                                             uint64_t since)
{
    const struct vs_copy_page *latest = vs_copy_look(&p->latest, number);
    size_t at = latest ? latest->since : 0;
    while (at && p->patches[at - 1].page->since != since)
        at = p->patches[at - 1].before;
    return at ? p->patches[at - 1].page : NULL;
}

static void apply_patch(struct vs_copy_page *page, const struct vs_copy_page *patch)
{
    for (size_t i = 0; i < VS_COPY_PAGE; i++)
        if (patch->known[i / 8] >> i % 8 & 1)
            page->bytes[i] = patch->bytes[i];
}

static void begin_page(struct vs_seen *s, struct vs_copy_page *page, uint64_t since)
{
    page->since = since;
    memset(page->known, 0, sizeof(page->known));
    const struct vs_copy_page *patch = s->prior ? find_patch(s->prior, page->number, since) : NULL;
    if (patch)
        apply_patch(page, patch);
}

static struct vs_copy_page *make_page(struct vs_seen *s, uint64_t number)
{
    bool made;
    struct vs_copy_page *page = vs_copy_make(&s->copy, number, &made);
    if (page && made)
        begin_page(s, page, s->gap);
    return page;
}

/* ---- seen ------------------------------------------------------------------------------------ */

void vs_seen_init(struct vs_seen *s, const struct vs_prior *prior)
{
    *s = (struct vs_seen){.prior = prior};
    vs_copy_init(&s->copy);
}

void vs_seen_fini(struct vs_seen *s)
{
    vs_copy_fini(&s->copy);
}

static size_t part_in_page(uint64_t addr, size_t size)
{
    size_t rest = VS_COPY_PAGE - (addr & (VS_COPY_PAGE - 1));
    return size < rest ? size : rest;
}

int vs_seen_write_other(struct vs_seen *s, uint64_t addr, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        struct vs_copy_page *page = make_page(s, addr >> VS_COPY_BITS);
        if (!page)
            return -VSE_NOMEM;
        vs_copy_bytes(page->bytes + offset, bytes, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    return 0;
}

int vs_seen_load_other(struct vs_seen *s, uint64_t addr, const uint8_t *bytes, size_t size)
{
    int same = 1;
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        struct vs_copy_page *page = make_page(s, addr >> VS_COPY_BITS);
        if (!page)
            return -VSE_NOMEM;
        if (memcmp(page->bytes + offset, bytes, n)) {
            memcpy(page->bytes + offset, bytes, n);
            same = 0;
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    return same;
}

void vs_seen_get(struct vs_seen *s, uint64_t addr, uint8_t *bytes, size_t size)
{
    while (size) {
        size_t n = part_in_page(addr, size);
        const struct vs_copy_page *page = vs_copy_find(&s->copy, addr >> VS_COPY_BITS);
        if (page)
            memcpy(bytes, page->bytes + (addr & (VS_COPY_PAGE - 1)), n);
        else
            memset(bytes, 0, n);
        addr += n;
        bytes += n;
        size -= n;
    }
}

const uint8_t *vs_seen_page(struct vs_seen *s, uint64_t addr)
{
    const struct vs_copy_recent *r = &s->copy.recent[(addr >> VS_COPY_BITS) % VS_COPY_RECENT];
    if (likely(r->number == addr >> VS_COPY_BITS))
        return r->page->bytes;
    const struct vs_copy_page *page = make_page(s, addr >> VS_COPY_BITS);
    return page ? page->bytes : NULL;
}

bool vs_seen_foretells(const struct vs_seen *s, uint64_t addr)
{
    uint64_t number = addr >> VS_COPY_BITS;
    const struct vs_copy_page *page = vs_copy_look(&s->copy, number);
    const struct vs_copy_page *patch =
        page && s->prior ? find_patch(s->prior, number, page->since) : NULL;
    size_t i = addr & (VS_COPY_PAGE - 1);
    return patch && patch->known[i / 8] >> i % 8 & 1;
}

static void renew_all(struct vs_seen *s, uint64_t first, uint64_t last)
{
    struct vs_copy_page *page;
    for (struct vs_copy_walk w = {0}; (page = vs_copy_next(&s->copy, &w));)
        if (page->number - first <= last - first)
            begin_page(s, page, s->boundaries);
}

int vs_seen_map(struct vs_seen *s, uint64_t addr, uint64_t size)
{
    s->boundaries++;
    if (!size)
        return 0;
    uint64_t first = addr >> VS_COPY_BITS, last = (addr + (size - 1)) >> VS_COPY_BITS;
    if (last < first || last - first >= s->copy.count) {
        renew_all(s, first, last < first ? UINT64_MAX : last);
        return 0;
    }
    for (uint64_t number = first; number <= last; number++) {
        bool made;
        if (!vs_copy_look(&s->copy, number))
            continue;
        struct vs_copy_page *page = vs_copy_make(&s->copy, number, &made);
        if (!page)
            return -VSE_NOMEM;
        begin_page(s, page, s->boundaries);
    }
    return 0;
}

int vs_seen_gap(struct vs_seen *s)
{
    s->gap = ++s->boundaries;
    renew_all(s, 0, UINT64_MAX);
    return 0;
}

/* ---- prior ----------------------------------------------------------------------------------- */

int vs_prior_open(struct vs_prior **prior)
{
    struct vs_prior *p = calloc(1, sizeof(*p));
    *prior = p;
    if (!p)
        return -VSE_NOMEM;
    vs_seen_init(&p->seen, NULL);
    vs_copy_init(&p->latest);
    return 0;
}

void vs_prior_close(struct vs_prior *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        free(p->patches[i].page);
    free(p->patches);
    vs_seen_fini(&p->seen);
    vs_copy_fini(&p->latest);
    free(p);
}

/* Returns the patch for a page's present boundary. */
static struct vs_copy_page *present_patch(struct vs_prior *p, const struct vs_copy_page *page)
{
    bool made;
    struct vs_copy_page *latest = vs_copy_make(&p->latest, page->number, &made);
    if (!latest)
        return NULL;
    invariant(latest->since <= p->count);
    if (latest->since && p->patches[latest->since - 1].page->since == page->since)
        return p->patches[latest->since - 1].page;
    struct vs_copy_page *patch = calloc(1, sizeof(*patch));
    if (!patch ||
        vs_array_room((void **)&p->patches, &p->capacity, p->count, 1, sizeof(*p->patches))) {
        free(patch);
        return NULL;
    }
    patch->number = page->number;
    patch->since = page->since;
    p->patches[p->count] = (struct patch){patch, latest->since};
    latest->since = ++p->count;
    return patch;
}

static int learn_part(struct vs_prior *p, struct vs_copy_page *page, size_t offset,
                      const uint8_t *bytes, size_t size)
{
    struct vs_copy_page *patch = NULL;
    for (size_t i = offset; i < offset + size; i++) {
        if (page->known[i / 8] >> i % 8 & 1)
            continue;
        if (!patch && !(patch = present_patch(p, page)))
            return -VSE_NOMEM;
        patch->bytes[i] = bytes[i - offset];
        vs_copy_know(patch, i, 1);
    }
    return 0;
}

static int visit(struct vs_prior *p, const struct vs_event *e, const uint8_t *bytes)
{
    uint64_t addr = e->addr;
    size_t size = e->size;
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        struct vs_copy_page *page = make_page(&p->seen, addr >> VS_COPY_BITS);
        if (!page || (e->kind == VS_LOAD && learn_part(p, page, offset, bytes, n)))
            return -VSE_NOMEM;
        vs_copy_know(page, offset, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    return 0;
}

/* Whether this is a small access to bytes that are known already. */
static bool is_known(struct vs_prior *p, const struct vs_event *e)
{
    const struct vs_copy_recent *r =
        &p->seen.copy.recent[(e->addr >> VS_COPY_BITS) % VS_COPY_RECENT];
    unsigned all = (1u << e->size % 32) - 1;
    return r->number == e->addr >> VS_COPY_BITS && vs_copy_is_small(e->addr, e->size) &&
           (vs_copy_known_bits(r->page, e->addr & (VS_COPY_PAGE - 1)) & all) == all;
}

int vs_prior_consume(struct vs_prior *p, const struct vs_batch *b)
{
    int err = 0;
    for (size_t i = 0; i < b->count && !err; i++) {
        const struct vs_event *e = &b->events[i];
        if (e->kind == VS_LOAD || e->kind == VS_STORE || e->kind == VS_EXTERNAL)
            err = is_known(p, e) ? 0 : visit(p, e, vs_event_bytes(b, e));
        else if (e->kind == VS_MAP)
            err = vs_seen_map(&p->seen, e->addr, e->value);
        else if (e->kind == VS_GAP)
            err = vs_seen_gap(&p->seen);
    }
    return err;
}
