/* SPDX-License-Identifier: MIT */
#include "study/told.h"

#include <stdlib.h>

#include "base/array.h"
#include "study/pieces.h"

/* ---- what is told ---------------------------------------------------------------------------- */

void vs_told_note(void *told, uint64_t number, uint64_t addr, uint8_t byte)
{
    struct vs_told *t = told;
    struct vs_told_span *s = t->count ? &t->spans[t->count - 1] : NULL;
    if (t->error || (t->error = vs_buf_put(&t->bytes, &byte, 1)))
        return;
    if (s && s->number == number && s->addr + s->size == addr) {
        s->size++;
        return;
    }
    t->error = vs_array_room((void **)&t->spans, &t->capacity, t->count, 1, sizeof(*t->spans));
    if (!t->error)
        t->spans[t->count++] = (struct vs_told_span){number, addr, 1};
}

void vs_told_fini(struct vs_told *t)
{
    vs_buf_fini(&t->bytes);
    free(t->spans);
}

/* ---- what is told otherwise ------------------------------------------------------------------ */

static void note_changed(struct vs_retold *r, uint64_t number, uint64_t addr)
{
    r->error = vs_array_room((void **)&r->changed, &r->capacity, r->count, 1, sizeof(*r->changed));
    if (!r->error)
        r->changed[r->count++] = (struct vs_retold_byte){number, addr};
}

void vs_retold_note(void *retold, uint64_t number, uint64_t addr, uint8_t byte)
{
    struct vs_retold *r = retold;
    const struct vs_told_span *s = r->span < r->told->count ? &r->told->spans[r->span] : NULL;
    if (r->others || r->error)
        return;
    if (!s || s->number != number || s->addr + r->offset != addr) {
        r->others = true;
        return;
    }
    if (r->told->bytes.data[r->done++] != byte)
        note_changed(r, number, addr);
    if (++r->offset == s->size) {
        r->span++;
        r->offset = 0;
    }
}

void vs_retold_fini(struct vs_retold *r)
{
    free(r->changed);
}

/* ---- whether anybody reads that -------------------------------------------------------------- */

enum use { UNTOUCHED, READ, REPLACED };

/* What an event does with the byte. */
static enum use use_of(const struct vs_event *e, uint64_t addr)
{
    switch (e->kind) {
    case VS_LOAD:
        return addr - e->addr < e->size ? READ : UNTOUCHED;
    case VS_STORE:
    case VS_EXTERNAL:
        return addr - e->addr < e->size ? REPLACED : UNTOUCHED;
    case VS_MAP: { /* whole pages, whose content is sent anew */
        uint64_t page = addr >> VS_COPY_BITS << VS_COPY_BITS;
        return page - (e->addr >> VS_COPY_BITS << VS_COPY_BITS) < e->value ? REPLACED : UNTOUCHED;
    }
    case VS_GAP:
        return REPLACED;
    default:
        return UNTOUCHED;
    }
}

/* Drops the changed bytes that the event replaces. Returns whether it reads one. */
static bool reads_changed(struct vs_retold *r, uint64_t number, const struct vs_event *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct vs_retold_byte *b = &r->changed[i];
        enum use use = b->number <= number ? use_of(e, b->addr) : UNTOUCHED;
        if (use == READ)
            return true;
        if (use == UNTOUCHED)
            r->changed[kept++] = *b;
    }
    r->count = kept;
    return false;
}

static uint64_t first_changed(const struct vs_retold *r)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < r->count; i++)
        first = r->changed[i].number < first ? r->changed[i].number : first;
    return first;
}

/* The run's events tell, one by one. */
int vs_retold_unread(const struct vs_verify *v, struct vs_retold *r, bool *unread)
{
    struct vs_pieces own, *pieces;
    struct vs_batch b;
    const struct vs_event *e;
    bool read = false;
    *unread = !r->error && !r->others && r->count && r->span == r->told->count;
    if (!*unread)
        return r->error;
    int err = vs_verify_pieces(v, &own, &pieces);
    struct vs_pieces_cursor cursor = {.pieces = pieces, .next = first_changed(r)};
    while (!err && !read && r->count && !(err = vs_pieces_next(&cursor, &b, &e)))
        read = reads_changed(r, cursor.next - 1, e);
    vs_pieces_cursor_fini(&cursor);
    vs_pieces_fini(&own);
    *unread = !read;
    return err == -VSE_END ? 0 : err;
}
