/* SPDX-License-Identifier: MIT */
#include "rerun/snapshots.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/bytes.h"

/* A page in packed form: its number, and how many bytes follow. */
#define PAGE_HEAD 12
#define LEVEL     1

/* ---- collecting ------------------------------------------------------------------------------ */

static void drop(struct vs_snapshot *s)
{
    for (uint64_t i = 0; i < s->head.pages; i++)
        free(s->pages[i].packed);
    free(s->pages);
    vs_buf_fini(&s->state);
    *s = (struct vs_snapshot){0};
}

void vs_snapshot_list_fini(struct vs_snapshot_list *l)
{
    for (unsigned i = 0; i < l->count; i++)
        drop(&l->snapshots[i]);
    ZSTD_freeCCtx(l->zstd);
    *l = (struct vs_snapshot_list){0};
}

static int pack_page(struct vs_snapshot_list *l, struct vs_snapshot_page *page,
                     const uint8_t *bytes)
{
    uint8_t packed[ZSTD_COMPRESSBOUND(VS_PAGE_SIZE)];
    size_t size = ZSTD_compressCCtx(l->zstd, packed, sizeof(packed), bytes, VS_PAGE_SIZE, LEVEL);
    if (ZSTD_isError(size))
        return -VSE_NOMEM;
    page->packed = malloc(size);
    if (!page->packed)
        return -VSE_NOMEM;
    memcpy(page->packed, packed, size);
    page->size = (uint32_t)size;
    return 0;
}

static int pack_pages(struct vs_snapshot_list *l, struct vs_snapshot *s,
                      const struct vs_whole_memory *memory)
{
    s->pages = calloc(memory->change_count + 1, sizeof(*s->pages));
    if (!s->pages)
        return -VSE_NOMEM;
    for (size_t i = 0; i < memory->change_count; i++) {
        struct vs_snapshot_page *page = &s->pages[s->head.pages++];
        const struct vs_whole_page *now = vs_map_pointer(&memory->pages, memory->changes[i]);
        page->number = memory->changes[i];
        int err = now ? pack_page(l, page, now->bytes) : 0;
        if (err)
            return err;
        s->bytes += sizeof(*page) + page->size;
    }
    return 0;
}

/* Makes `b` what changed since the snapshot before `a`, which is then empty. */
static int merge(struct vs_snapshot *a, struct vs_snapshot *b)
{
    struct vs_snapshot_page *pages = calloc(a->head.pages + b->head.pages + 1, sizeof(*pages));
    uint64_t i = 0, k = 0, n = 0;
    if (!pages)
        return -VSE_NOMEM;
    while (!b->head.emptied && i < a->head.pages) {
        if (k < b->head.pages && b->pages[k].number <= a->pages[i].number) {
            if (b->pages[k].number == a->pages[i].number)
                free(a->pages[i++].packed);
            pages[n++] = b->pages[k++];
        } else {
            pages[n++] = a->pages[i++];
        }
    }
    for (; i < a->head.pages; i++)
        free(a->pages[i].packed);
    while (k < b->head.pages)
        pages[n++] = b->pages[k++];
    free(b->pages);
    b->pages = pages;
    b->head.pages = n;
    b->head.emptied |= a->head.emptied;
    b->bytes = b->state.len;
    for (i = 0; i < n; i++)
        b->bytes += sizeof(pages[i]) + pages[i].size;
    a->head.pages = 0;
    drop(a);
    return 0;
}

/* Drops every other one. */
static int halve(struct vs_snapshot_list *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < l->count; i++) {
        struct vs_snapshot *s = &l->snapshots[i];
        if (i % 2 == 0 && i + 1 < l->count) {
            int err = merge(s, s + 1);
            if (err)
                return err;
            continue;
        }
        l->snapshots[n++] = *s;
        if (n - 1 != i)
            *s = (struct vs_snapshot){0};
    }
    l->count = n;
    l->every *= 2;
    l->bytes = 0;
    for (unsigned i = 0; i < n; i++)
        l->bytes += l->snapshots[i].bytes;
    return 0;
}

static int bound(struct vs_snapshot_list *l)
{
    int err = 0;
    while (!err && (l->count == VS_SNAPSHOTS_MOST || l->bytes > VS_SNAPSHOTS_BYTES)) {
        l->none = l->count == 1;
        if (l->none) {
            drop(&l->snapshots[0]);
            l->count = 0;
            l->bytes = 0;
            return 0;
        }
        err = halve(l);
    }
    return err;
}

int vs_snapshot_list_add(struct vs_snapshot_list *l, const struct vs_snapshot_head *head,
                         struct vs_buf *state, struct vs_whole_memory *memory)
{
    struct vs_snapshot s = {.head = *head, .state = *state};
    *state = (struct vs_buf){0};
    s.head.emptied = memory->emptied;
    s.head.pages = 0;
    s.bytes = s.state.len;
    if (!l->zstd)
        l->zstd = ZSTD_createCCtx();
    int err = l->zstd ? vs_whole_changes(memory) : -VSE_NOMEM;
    if (!err)
        err = pack_pages(l, &s, memory);
    if (err) {
        drop(&s);
        return err;
    }
    vs_whole_settle(memory);
    l->snapshots[l->count++] = s;
    l->bytes += s.bytes;
    return bound(l);
}

static int pack_one(const struct vs_snapshot *s, struct vs_buf *to)
{
    int err = vs_buf_put(to, &s->head, sizeof(s->head));
    if (!err)
        err = vs_buf_put(to, s->state.data, s->state.len);
    for (uint64_t i = 0; i < s->head.pages && !err; i++) {
        uint8_t head[PAGE_HEAD];
        vs_put64(head, s->pages[i].number);
        vs_put32(head + 8, s->pages[i].size);
        err = vs_buf_put(to, head, sizeof(head));
        if (!err)
            err = vs_buf_put(to, s->pages[i].packed, s->pages[i].size);
    }
    return err;
}

int vs_snapshot_list_pack(const struct vs_snapshot_list *l, struct vs_buf *to)
{
    int err = 0;
    for (unsigned i = 0; i < l->count && !err; i++)
        err = pack_one(&l->snapshots[i], to);
    return err;
}

/* ---- using ----------------------------------------------------------------------------------- */

struct vs_snapshot_thread vs_snapshot_thread(const struct vs_packed_snapshot *s, unsigned thread)
{
    struct vs_snapshot_thread t = {0};
    if (thread < s->head.threads)
        memcpy(&t, s->threads + thread * sizeof(t), sizeof(t));
    return t;
}

/* Moves *at over the pages of a snapshot. */
static bool pass_pages(const uint8_t **at, const uint8_t *end, uint64_t pages)
{
    for (; pages; pages--) {
        if (end - *at < PAGE_HEAD || vs_get32(*at + 8) > (size_t)(end - *at) - PAGE_HEAD)
            return false;
        *at += PAGE_HEAD + vs_get32(*at + 8);
    }
    return true;
}

static bool parse_one(struct vs_packed_snapshot *s, const uint8_t **at, const uint8_t *end,
                      unsigned threads, size_t core)
{
    size_t live = 0;
    if ((size_t)(end - *at) < sizeof(s->head))
        return false;
    memcpy(&s->head, *at, sizeof(s->head));
    *at += sizeof(s->head);
    if (s->head.threads > threads || s->head.emptied > 1 ||
        s->head.threads > (size_t)(end - *at) / sizeof(struct vs_snapshot_thread))
        return false;
    s->threads = *at;
    *at += s->head.threads * sizeof(struct vs_snapshot_thread);
    for (unsigned i = 0; i < s->head.threads; i++) {
        uint64_t lives = vs_snapshot_thread(s, i).live;
        if (lives > VS_SNAPSHOT_STALE)
            return false;
        live += lives != 0;
    }
    if (live > (size_t)(end - *at) / core)
        return false;
    s->cores = *at;
    s->pages = *at += live * core;
    if (!pass_pages(at, end, s->head.pages))
        return false;
    s->end = *at;
    return true;
}

int vs_snapshots_parse(struct vs_packed_snapshots *s, const uint8_t *bytes, size_t size,
                       unsigned count, unsigned threads, size_t core)
{
    *s = (struct vs_packed_snapshots){0};
    if (!count)
        return size ? -VSE_CORRUPT : 0;
    if (count > VS_SNAPSHOTS_MOST)
        return -VSE_CORRUPT;
    const uint8_t *at = bytes, *end = bytes + size;
    for (; s->count < count; s->count++) {
        struct vs_packed_snapshot *one = &s->snapshots[s->count];
        if (!parse_one(one, &at, end, threads, core) ||
            (s->count &&
             (one->head.input <= one[-1].head.input || one->head.events < one[-1].head.events)))
            return -VSE_CORRUPT;
    }
    return at == end ? 0 : -VSE_CORRUPT;
}

int vs_snapshot_pages(const struct vs_packed_snapshot *s, vs_snapshot_change *change, void *context)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    uint8_t bytes[VS_PAGE_SIZE];
    int err = zstd ? 0 : -VSE_NOMEM;
    for (const uint8_t *at = s->pages; at < s->end && !err;) {
        uint64_t number = vs_get64(at);
        uint32_t size = vs_get32(at + 8);
        at += PAGE_HEAD;
        if (size && ZSTD_decompressDCtx(zstd, bytes, sizeof(bytes), at, size) != sizeof(bytes))
            err = -VSE_CORRUPT;
        else
            err = change(context, number, size ? bytes : NULL);
        at += size;
    }
    ZSTD_freeDCtx(zstd);
    return err;
}
