/* SPDX-License-Identifier: MIT */
#include "trace/index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/varint.h"

void vs_index_fini(struct vs_index *x)
{
    free(x->entries);
    free(x->summaries);
    free(x->threads);
    free(x->totals);
    *x = (struct vs_index){0};
}

uint64_t vs_index_end(const struct vs_index *x)
{
    return x->end ? x->end : VS_HEADER_SIZE;
}

static int grow_totals(struct vs_index *x, size_t count)
{
    struct vs_chunk_thread *more;

    if (count <= x->total_count)
        return 0;
    more = realloc(x->totals, count * sizeof(*more));
    if (!more)
        return -VSE_NOMEM;
    memset(more + x->total_count, 0, (count - x->total_count) * sizeof(*more));
    x->totals = more;
    x->total_count = count;
    return 0;
}

/* Checks that a chunk goes on exactly where the chunks before it stopped. */
static int follows(const struct vs_index *x, const struct vs_summary *s,
                   const struct vs_chunk_thread *threads)
{
    if (s->first != x->events)
        return -VSE_CORRUPT;
    if (x->summary_count) {
        const struct vs_summary *last = &x->summaries[x->summary_count - 1];

        if (s->cycle_first < last->cycle_last || s->sites < last->sites ||
            s->blocks < last->blocks || s->images < last->images)
            return -VSE_CORRUPT;
    }
    for (uint32_t i = 0, next = (uint32_t)x->total_count; i < s->threads; i++) {
        const struct vs_chunk_thread *t = &threads[i];
        bool known = t->thread < x->total_count;

        if (t->before != (known ? x->totals[t->thread].insns : 0))
            return -VSE_CORRUPT;
        if (!known && t->thread != next++)
            return -VSE_CORRUPT;
    }
    return 0;
}

static int add_summary(struct vs_index *x, const struct vs_summary *s,
                       const struct vs_chunk_thread *threads)
{
    int err = follows(x, s, threads);

    if (err < 0)
        return err;
    if (s->threads > VS_MAX_PARTS - x->thread_count)
        return -VSE_LIMIT;
    invariant(s->threads);
    if (vs_array_room((void **)&x->summaries, &x->summary_capacity, x->summary_count, 1,
                      sizeof(*s)) < 0 ||
        vs_array_room((void **)&x->threads, &x->thread_capacity, x->thread_count, s->threads,
                      sizeof(*threads)) < 0 ||
        grow_totals(x, (size_t)threads[s->threads - 1].thread + 1) < 0)
        return -VSE_NOMEM;
    x->summaries[x->summary_count] = *s;
    x->summaries[x->summary_count++].thread_at = x->thread_count;
    memcpy(x->threads + x->thread_count, threads, s->threads * sizeof(*threads));
    x->thread_count += s->threads;
    for (uint32_t i = 0; i < s->threads; i++) {
        struct vs_chunk_thread *total = &x->totals[threads[i].thread];

        total->thread = threads[i].thread;
        total->events += threads[i].events;
        total->insns += threads[i].insns;
    }
    x->events += s->events;
    return 0;
}

int vs_index_add(struct vs_index *x, unsigned type, uint64_t size, const struct vs_summary *summary,
                 const struct vs_chunk_thread *threads)
{
    struct vs_index_entry e = {.type = (uint8_t)type, .size = size, .summary = x->summary_count};

    if (x->entry_count >= VS_MAX_CHUNKS)
        return -VSE_LIMIT;
    if (vs_array_room((void **)&x->entries, &x->entry_capacity, x->entry_count, 1, sizeof(e)) < 0)
        return -VSE_NOMEM;
    if (type == VS_CHUNK_EVENTS) {
        int err = add_summary(x, summary, threads);

        if (err < 0)
            return err;
    }
    e.offset = vs_index_end(x);
    x->end = e.offset + VS_CHUNK_HEADER + size;
    x->entries[x->entry_count++] = e;
    return 0;
}

int vs_summary_pack(struct vs_buf *col, const struct vs_summary *s,
                    const struct vs_chunk_thread *threads)
{
    uint32_t next = 0;
    uint8_t *p;

    if (vs_buf_reserve(col, (9 + 4 * (size_t)s->threads) * VS_VARINT_MAX) < 0)
        return -VSE_NOMEM;
    p = col->data + col->len;
    p = vs_varint_put(p, s->first);
    p = vs_varint_put(p, s->events);
    p = vs_varint_put(p, s->sites);
    p = vs_varint_put(p, s->blocks);
    p = vs_varint_put(p, s->images);
    p = vs_varint_put(p, s->shadow_bits);
    p = vs_varint_put(p, s->cycle_first);
    p = vs_varint_put(p, s->cycle_last - s->cycle_first);
    p = vs_varint_put(p, s->threads);
    for (uint32_t i = 0; i < s->threads; i++) {
        p = vs_varint_put(p, threads[i].thread - next);
        p = vs_varint_put(p, threads[i].events);
        p = vs_varint_put(p, threads[i].insns);
        p = vs_varint_put(p, threads[i].before);
        next = threads[i].thread + 1;
    }
    col->len = (size_t)(p - col->data);
    return 0;
}

static int get_numbers(struct vs_column *col, uint64_t *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int err = vs_varint_get(&col->p, col->end, &out[i]);

        if (err < 0)
            return err;
    }
    return 0;
}

int vs_summary_unpack(struct vs_column *col, struct vs_summary *s, struct vs_buf *threads)
{
    /* first, events, sites, blocks, images, shadow_bits, first cycle, cycles, threads */
    uint64_t n[9], events = 0, next = 0;
    int err = get_numbers(col, n, 9);

    if (err < 0)
        return err;
    if (n[0] > INT64_MAX || n[1] == 0 || n[2] == 0 || n[5] > 32 || n[6] > INT64_MAX ||
        n[7] > INT64_MAX - n[6] || n[8] == 0)
        return -VSE_CORRUPT;
    if (n[1] > VS_MAX_CHUNK_EVENTS || n[2] > VS_MAX_SITES || n[3] > VS_MAX_BLOCKS ||
        n[4] > VS_MAX_IMAGES || n[8] > VS_THREADS_MAX)
        return -VSE_LIMIT;
    *s = (struct vs_summary){.first = n[0],
                             .events = n[1],
                             .sites = (uint32_t)n[2],
                             .blocks = (uint32_t)n[3],
                             .images = (uint32_t)n[4],
                             .shadow_bits = (uint32_t)n[5],
                             .cycle_first = n[6],
                             .cycle_last = n[6] + n[7],
                             .threads = (uint32_t)n[8]};
    /* a thread takes at least four bytes: do not allocate for more threads than can be there */
    if (n[8] > (uint64_t)(col->end - col->p) / 4)
        return -VSE_TRUNCATED;
    threads->len = 0;
    if (vs_buf_reserve(threads, n[8] * sizeof(struct vs_chunk_thread)) < 0)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < s->threads; i++) {
        struct vs_chunk_thread t;
        uint64_t v[4];

        if ((err = get_numbers(col, v, 4)) < 0)
            return err;
        if (v[0] > VS_THREADS_MAX || next + v[0] >= VS_THREADS_MAX || v[1] == 0 ||
            v[1] > s->events || v[2] > v[1] * 0xffff || v[3] > INT64_MAX)
            return -VSE_CORRUPT;
        t = (struct vs_chunk_thread){(uint32_t)(next + v[0]), v[1], v[2], v[3]};
        memcpy(threads->data + threads->len, &t, sizeof(t));
        threads->len += sizeof(t);
        next = t.thread + 1;
        events += t.events;
    }
    return events == s->events ? 0 : -VSE_CORRUPT;
}

int vs_index_pack(const struct vs_index *x, struct vs_buf *col)
{
    for (size_t i = 0; i < x->entry_count; i++) {
        const struct vs_index_entry *e = &x->entries[i];
        const struct vs_summary *s;
        uint8_t *p;

        if (vs_buf_reserve(col, 1 + VS_VARINT_MAX) < 0)
            return -VSE_NOMEM;
        p = col->data + col->len;
        *p++ = e->type;
        p = vs_varint_put(p, e->size);
        col->len = (size_t)(p - col->data);
        if (e->type != VS_CHUNK_EVENTS)
            continue;
        s = &x->summaries[e->summary];
        if (vs_summary_pack(col, s, x->threads + s->thread_at) < 0)
            return -VSE_NOMEM;
    }
    return 0;
}

static int unpack_entry(struct vs_index *x, struct vs_column *col, struct vs_buf *threads)
{
    struct vs_summary s;
    unsigned type = *col->p++;
    uint64_t size;
    int err = vs_varint_get(&col->p, col->end, &size);

    if (err < 0)
        return err;
    if (type == 0 || type >= VS_CHUNK_INDEX || size > VS_MAX_PAYLOAD)
        return -VSE_CORRUPT;
    if (type == VS_CHUNK_EVENTS && (err = vs_summary_unpack(col, &s, threads)) < 0)
        return err;
    return vs_index_add(x, type, size, &s, (const struct vs_chunk_thread *)(void *)threads->data);
}

int vs_index_unpack(struct vs_index *x, struct vs_column col, uint64_t end)
{
    struct vs_buf threads = {0};
    int err = 0;

    while (col.p < col.end && err == 0) {
        err = unpack_entry(x, &col, &threads);
        if (err == 0 && x->end > end)
            err = -VSE_CORRUPT;
    }
    vs_buf_fini(&threads);
    if (err == 0 && vs_index_end(x) != end)
        err = -VSE_CORRUPT;
    return err;
}

const struct vs_chunk_thread *vs_index_part(const struct vs_index *x, size_t summary,
                                            unsigned thread)
{
    const struct vs_summary *s = &x->summaries[summary];
    const struct vs_chunk_thread *list = x->threads + s->thread_at;
    size_t lo = 0, hi = s->threads;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (list[mid].thread < thread)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->threads && list[lo].thread == thread ? &list[lo] : NULL;
}

int64_t vs_index_find_event(const struct vs_index *x, uint64_t n)
{
    size_t lo = 0, hi = x->summary_count;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (x->summaries[mid].first + x->summaries[mid].events <= n)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->summary_count ? (int64_t)lo : -VSE_NOTFOUND;
}

/* The search is linear: a thread is in some chunks and not in others, so there is nothing to
 * bisect. */
int64_t vs_index_find_insn(const struct vs_index *x, unsigned thread, uint64_t n)
{
    for (size_t i = 0; i < x->summary_count; i++) {
        const struct vs_chunk_thread *t = vs_index_part(x, i, thread);

        if (t && t->before + t->insns >= n)
            return (int64_t)i;
    }
    return -VSE_NOTFOUND;
}

int64_t vs_index_find_cycle(const struct vs_index *x, uint64_t n)
{
    size_t lo = 0, hi = x->summary_count;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (x->summaries[mid].cycle_last < n)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->summary_count ? (int64_t)lo : -VSE_NOTFOUND;
}
