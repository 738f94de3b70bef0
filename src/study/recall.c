/* SPDX-License-Identifier: MIT */
#include "study/recall.h"

#include <string.h>

#include "vestige/error.h"

void vs_recall_init(struct vs_recall *r, struct vs_pieces *pieces, const struct vs_prior *prior)
{
    *r = (struct vs_recall){.cursor = {.pieces = pieces}};
    vs_seen_init(&r->seen, prior);
    vs_copy_init(&r->touched);
}

void vs_recall_fini(struct vs_recall *r)
{
    vs_pieces_cursor_fini(&r->cursor);
    vs_seen_fini(&r->seen);
    vs_copy_fini(&r->touched);
}

/* Forgets whole pages. */
static int forget_mapping(struct vs_recall *r, uint64_t addr, uint64_t size)
{
    if (!size)
        return 0;
    uint64_t first = addr >> VS_COPY_BITS, last = (addr + (size - 1)) >> VS_COPY_BITS;
    last = last < first ? UINT64_MAX >> VS_COPY_BITS : last;
    struct vs_copy_page *page;
    for (struct vs_copy_walk w = {0}; (page = vs_copy_next(&r->touched, &w));)
        if (page->number - first <= last - first)
            memset(page->known, 0, sizeof(page->known));
    return vs_seen_map(&r->seen, addr, size);
}

static int take(struct vs_recall *r, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *bytes = vs_event_bytes(b, e);
    int err;
    switch (e->kind) {
    case VS_LOAD:
        err = vs_seen_load(&r->seen, e->addr, bytes, e->size);
        return err < 0 ? err : vs_copy_write(&r->touched, e->addr, bytes, e->size);
    case VS_STORE:
    case VS_EXTERNAL:
        err = vs_seen_write(&r->seen, e->addr, bytes, e->size);
        return err ? err : vs_copy_write(&r->touched, e->addr, bytes, e->size);
    case VS_MAP:
        return forget_mapping(r, e->addr, e->value);
    case VS_GAP:
        vs_copy_fini(&r->touched);
        vs_copy_init(&r->touched);
        return vs_seen_gap(&r->seen);
    default:
        return 0;
    }
}

int vs_recall_go(struct vs_recall *r, uint64_t number)
{
    struct vs_batch b;
    const struct vs_event *e;
    int err = 0;
    while (!err && r->cursor.next <= number) {
        err = vs_pieces_next(&r->cursor, &b, &e);
        if (!err && (r->cursor.next <= number || e->kind == VS_LOAD))
            err = take(r, &b, e);
        else if (!err) {
            r->cursor.next--; /* what the event writes is not there yet */
            break;
        }
    }
    return err == -VSE_END ? 0 : err;
}

bool vs_recall_knows(const struct vs_recall *r, uint64_t addr, uint8_t *byte)
{
    const struct vs_copy_page *page = vs_copy_look(&r->touched, addr >> VS_COPY_BITS);
    size_t i = addr & (VS_COPY_PAGE - 1);
    if ((!page || !(page->known[i / 8] >> i % 8 & 1)) && !vs_seen_foretells(&r->seen, addr))
        return false;
    page = vs_copy_look(&r->seen.copy, addr >> VS_COPY_BITS);
    *byte = page ? page->bytes[i] : 0;
    return page;
}
