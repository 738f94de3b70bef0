/* SPDX-License-Identifier: MIT */
#include "study/run_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { PIECE = 4096, NO_PIECE = -1 };

/* A thread of one run. */
struct side_thread {
    uint64_t count, since, instructions, digest;
    uint64_t *digests; /* of pieces that are whole; the last one of the thread is in `digest` */
    size_t digest_count, capacity;
    int64_t kept_piece; /* or NO_PIECE */
    struct vs_diff_event *kept;
    size_t kept_count;
};

struct vs_diff_side {
    struct vs_reader *reader;
    struct vs_where *where;
    bool values;
    struct side_thread *threads;
    size_t count;
    uint64_t *images; /* by number: a digest of the path */
};

/* ---- events ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * VS_HASH_FACTOR;
    return digest ^ digest >> 29;
}

static uint64_t mix_bytes(uint64_t digest, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        digest = mix(digest, bytes[i]);
    return mix(digest, size);
}

static bool is_compared(const struct vs_event *e)
{
    const uint32_t without =
        1u << VS_MAP | 1u << VS_CODE | 1u << VS_COUNT | 1u << VS_TURN | 1u << VS_CONTENT;

    return !(without >> e->kind & 1);
}

/* What an address of code is compared as. Returns its site; -VSE_NOMEM. */
static int64_t key_of(struct vs_diff_side *s, uint64_t pc, uint64_t *key)
{
    int64_t site = vs_where_site(s->where, pc);
    const struct vs_where_site *w = site > 0 ? &s->where->sites[site - 1] : NULL;

    *key = pc;
    if (w && w->image < s->where->image_count)
        *key = mix(s->images[w->image], pc - s->where->images[w->image].base);
    return site;
}

/* Whether the event's addr is one of code. */
static bool goes_somewhere(const struct vs_event *e)
{
    const uint32_t with = 1u << VS_BRANCH | 1u << VS_EXCEPTION | 1u << VS_EXCEPTION_RET;

    return with >> e->kind & 1;
}

/* What is a value, and no deed: all that lies in `value`, and what the system calls a thread. A
 * payload of registers differs in size if it differs in what it has. */
static void leave_values_out(struct vs_diff_event *e)
{
    e->value_key = 0;
    if (e->kind == VS_THREAD_START)
        e->addr_key = 0;
    if (e->kind != VS_BRANCH && e->kind != VS_LOAD && e->kind != VS_STORE)
        e->size_key = 0;
}

static int make_event(struct vs_diff_side *s, const struct vs_batch *b, size_t i,
                      const struct side_thread *t, struct vs_diff_event *made)
{
    const struct vs_event *e = &b->events[i];
    int64_t target = 0;

    *made = (struct vs_diff_event){.number = b->first + i,
                                   .instructions = t->instructions,
                                   .pc = e->pc,
                                   .addr = e->addr,
                                   .addr_key = e->addr,
                                   .value = e->value,
                                   .icount = t->since,
                                   .size = e->size,
                                   .kind = e->kind,
                                   .flags = e->flags};
    if (vs_event_is_wide(e))
        made->value = mix_bytes(0, vs_event_bytes(b, e), e->size);
    made->value_key = made->value;
    made->size_key = made->size;
    if (!s->values)
        leave_values_out(made);
    made->site = e->pc ? key_of(s, e->pc, &made->pc_key) : 0;
    if (goes_somewhere(e) && e->addr)
        target = key_of(s, e->addr, &made->addr_key);
    return made->site < 0 ? (int)made->site : target < 0 ? (int)target : 0;
}

static bool same_event(const struct vs_diff_event *a, const struct vs_diff_event *b)
{
    return a->pc_key == b->pc_key && a->addr_key == b->addr_key && a->value_key == b->value_key &&
           a->icount == b->icount && a->size_key == b->size_key && a->kind == b->kind &&
           a->flags == b->flags;
}

static uint64_t digest_event(uint64_t digest, const struct vs_diff_event *e)
{
    digest = mix(mix(mix(digest, e->pc_key), e->addr_key), e->value_key);
    return mix(digest,
               e->icount << 32 | (uint64_t)e->size_key << 16 | (uint64_t)e->kind << 8 | e->flags);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int take_event(struct side_thread *t, const struct vs_diff_event *e)
{
    uint64_t number = t->count++;

    if (t->kept) {
        if ((int64_t)(number / PIECE) == t->kept_piece)
            t->kept[t->kept_count++] = *e;
        return 0;
    }
    t->digest = digest_event(t->digest, e);
    if (t->count % PIECE)
        return 0;
    if (vs_array_room((void **)&t->digests, &t->capacity, t->digest_count, 1, sizeof(t->digest)))
        return -VSE_NOMEM;
    t->digests[t->digest_count++] = t->digest;
    t->digest = 0;
    return 0;
}

static int take_batch(struct vs_diff_side *s, const struct vs_batch *b)
{
    struct vs_diff_event made;
    int e = 0;

    for (size_t i = 0; i < b->count && !e; i++) {
        const struct vs_event *event = &b->events[i];
        struct side_thread *t = &s->threads[event->thread];

        t->since += event->icount;
        t->instructions += event->icount;
        if (event->kind == VS_MAP)
            e = vs_where_map(s->where, event);
        if (e || !is_compared(event))
            continue;
        e = make_event(s, b, i, t, &made);
        t->since = 0;
        if (!e)
            e = take_event(t, &made);
    }
    return e;
}

static int read_side(struct vs_diff_side *s)
{
    struct vs_batch batch;
    int e = vs_reader_info(s->reader)->events ? vs_reader_seek_event(s->reader, 0) : -VSE_END;

    for (size_t i = 0; i < s->count; i++)
        s->threads[i].count = s->threads[i].since = s->threads[i].instructions = 0;
    if (!e)
        e = vs_where_of_run(s->where, s->reader);
    while (!e && (e = vs_reader_next(s->reader, &batch)) > 0)
        e = take_batch(s, &batch);
    return e == -VSE_END ? 0 : e;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The digest of a piece; a piece that a thread does not have has none. */
static bool digest_at(const struct side_thread *t, size_t piece, uint64_t *digest)
{
    bool whole = piece < t->digest_count, part = piece == t->digest_count && t->count % PIECE;

    *digest = whole ? t->digests[piece] : t->digest;
    return whole || part;
}

/* The first piece in which a thread differs, or NO_PIECE. */
static int64_t first_piece(const struct side_thread *a, const struct side_thread *b)
{
    for (size_t i = 0;; i++) {
        uint64_t x, y;
        bool has_x = digest_at(a, i, &x), has_y = digest_at(b, i, &y);

        if (!has_x && !has_y)
            return NO_PIECE;
        if (has_x != has_y || x != y)
            return (int64_t)i;
    }
}

static int choose_pieces(struct vs_diff *d, bool *any)
{
    *any = false;
    for (size_t i = 0; i < d->count; i++) {
        struct side_thread *a = &d->sides[0]->threads[i], *b = &d->sides[1]->threads[i];
        int64_t piece = first_piece(a, b);

        d->threads[i].counts[0] = a->count;
        d->threads[i].counts[1] = b->count;
        a->kept_piece = b->kept_piece = piece;
        if (piece == NO_PIECE) {
            d->compared += a->count;
            continue;
        }
        *any = true;
        a->kept = malloc(PIECE * sizeof(*a->kept));
        b->kept = malloc(PIECE * sizeof(*b->kept));
        if (!a->kept || !b->kept)
            return -VSE_NOMEM;
    }
    return 0;
}

static void find_difference(struct vs_diff *d, size_t thread)
{
    struct side_thread *t[2] = {&d->sides[0]->threads[thread], &d->sides[1]->threads[thread]};
    struct vs_diff_thread *found = &d->threads[thread];
    size_t i = 0;

    if (!t[0]->kept)
        return;
    while (i < t[0]->kept_count && i < t[1]->kept_count &&
           same_event(&t[0]->kept[i], &t[1]->kept[i]))
        i++;
    found->differs = true;
    found->position = (uint64_t)t[0]->kept_piece * PIECE + i;
    d->compared += found->position;
    for (unsigned k = 0; k < 2; k++) {
        found->has[k] = i < t[k]->kept_count;
        if (found->has[k])
            found->events[k] = t[k]->kept[i];
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void side_close(struct vs_diff_side *s)
{
    for (size_t i = 0; s && s->threads && i < s->count; i++) {
        free(s->threads[i].digests);
        free(s->threads[i].kept);
    }
    if (s) {
        free(s->threads);
        free(s->images);
    }
    free(s);
}

static int side_open(struct vs_diff *d, unsigned k, struct vs_reader *reader)
{
    uint32_t images = vs_reader_info(reader)->images;
    struct vs_diff_side *s = d->sides[k] = calloc(1, sizeof(*s));
    struct vs_image image;

    if (!s)
        return -VSE_NOMEM;
    *s = (struct vs_diff_side){.reader = reader,
                               .where = &d->where[k],
                               .values = d->values,
                               .count = d->count,
                               .threads = calloc(d->count + 1, sizeof(*s->threads)),
                               .images = calloc(images + 1, sizeof(*s->images))};
    if (!s->threads || !s->images)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < images && vs_reader_image(reader, i, &image) == 0; i++)
        s->images[i] = mix_bytes(1, (const uint8_t *)image.path, strlen(image.path));
    return 0;
}

static int read_both(struct vs_diff *d, unsigned *failed)
{
    int e = 0;

    for (unsigned k = 0; k < 2 && !e; k++) {
        vs_where_fini(&d->where[k]);
        *failed = k;
        e = read_side(d->sides[k]);
    }
    return e;
}

int vs_diff_init(struct vs_diff *d, struct vs_reader *a, struct vs_reader *b, bool values,
                 unsigned *failed)
{
    size_t x = vs_reader_info(a)->threads, y = vs_reader_info(b)->threads;
    bool any;
    int e;

    *failed = 0;
    *d = (struct vs_diff){.count = x > y ? x : y, .values = values};
    d->threads = calloc(d->count + 1, sizeof(*d->threads));
    e = d->threads ? side_open(d, 0, a) : -VSE_NOMEM;
    if (!e)
        e = side_open(d, 1, b);
    if (!e)
        e = read_both(d, failed);
    if (!e)
        e = choose_pieces(d, &any);
    if (!e && any)
        e = read_both(d, failed);
    for (size_t i = 0; i < d->count && !e; i++)
        find_difference(d, i);
    return e;
}

void vs_diff_fini(struct vs_diff *d)
{
    for (unsigned k = 0; k < 2; k++) {
        side_close(d->sides[k]);
        vs_where_fini(&d->where[k]);
    }
    free(d->threads);
    *d = (struct vs_diff){0};
}
