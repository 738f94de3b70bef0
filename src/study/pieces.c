/* SPDX-License-Identifier: MIT */
#include "study/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int vs_pieces_init(struct vs_pieces *p, struct vs_reader *reader, uint64_t room)
{
    uint64_t events = vs_reader_info(reader)->events;
    size_t count = (size_t)((events + VS_PIECE_EVENTS - 1) / VS_PIECE_EVENTS);
    *p = (struct vs_pieces){
        .reader = reader, .events = events, .count = count, .room = room, .next = SIZE_MAX};
    p->all = calloc(count ? count : 1, sizeof(*p->all));
    p->table = calloc(VS_THREADS_MAX, sizeof(*p->table));
    if (!p->all || !p->table)
        return -VSE_NOMEM;
    for (size_t i = 0; i < count; i++) {
        uint64_t first = (uint64_t)i * VS_PIECE_EVENTS, left = events - first;
        p->all[i].first = first;
        p->all[i].count = left < VS_PIECE_EVENTS ? (size_t)left : VS_PIECE_EVENTS;
    }
    return 0;
}

static void drop(struct vs_pieces *p, struct vs_piece *piece)
{
    p->size -= piece->size;
    free(piece->events);
    free(piece->cycles);
    free(piece->offsets);
    free(piece->places);
    free(piece->wide);
    piece->events = NULL;
    piece->cycles = NULL;
    piece->offsets = piece->places = NULL;
    piece->wide = NULL;
    piece->wide_size = piece->size = 0;
}

void vs_pieces_fini(struct vs_pieces *p)
{
    for (size_t i = 0; p->all && i < p->count; i++) {
        drop(p, &p->all[i]);
        free(p->all[i].parts);
    }
    free(p->all);
    free(p->table);
    vs_changes_fini(&p->changes);
    p->all = NULL;
    p->table = NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A piece as the reader gives it, in global order. */
struct raw {
    struct vs_buf events, cycles, wide;
};

static void raw_fini(struct raw *raw)
{
    vs_buf_fini(&raw->events);
    vs_buf_fini(&raw->cycles);
    vs_buf_fini(&raw->wide);
}

/* Takes the batch's first n events. Their wide values are put behind those of earlier batches. */
static int take_raw(struct raw *raw, const struct vs_batch *b, size_t n)
{
    size_t first = raw->events.len, wide = raw->wide.len;
    int err = vs_buf_put(&raw->events, b->events, n * sizeof(*b->events));
    if (!err && b->cycles)
        err = vs_buf_put(&raw->cycles, b->cycles, n * sizeof(*b->cycles));
    if (err)
        return err;
    struct vs_event *e = (struct vs_event *)(raw->events.data + first);
    for (size_t i = 0; i < n && !err; i++)
        if (vs_event_is_wide(&e[i])) {
            err = vs_buf_put(&raw->wide, b->wide + e[i].value, e[i].size);
            e[i].value = wide;
            wide += e[i].size;
        }
    return err;
}

static void skip_batch(struct vs_batch *b, size_t n)
{
    b->events += n;
    b->cycles = b->cycles ? b->cycles + n : NULL;
    b->count -= n;
    b->first += n;
}

static int position_reader(struct vs_pieces *p, size_t number)
{
    if (p->next == number)
        return 0;
    p->rest.count = 0;
    p->next = SIZE_MAX;
    int err = vs_reader_select(p->reader, -1);
    return err ? err : vs_reader_seek_event(p->reader, (uint64_t)number * VS_PIECE_EVENTS);
}

static int read_raw(struct vs_pieces *p, size_t number, struct raw *raw)
{
    size_t left = p->all[number].count;
    int err = position_reader(p, number);
    while (!err && left) {
        if (!p->rest.count) {
            int n = vs_reader_next(p->reader, &p->rest);
            if (n < 0)
                return n == -VSE_END ? -VSE_CORRUPT : n;
        }
        size_t n = p->rest.count < left ? p->rest.count : left;
        err = take_raw(raw, &p->rest, n);
        skip_batch(&p->rest, n);
        left -= n;
    }
    p->next = err ? SIZE_MAX : number + 1;
    return err;
}

/* Does what a pass over the run is made for. */
static int learn(struct vs_changes *changes, struct vs_prior *prior, const struct raw *raw,
                 uint64_t first)
{
    const struct vs_batch b = {.events = (const struct vs_event *)raw->events.data,
                               .cycles =
                                   raw->cycles.len ? (const uint64_t *)raw->cycles.data : NULL,
                               .wide = raw->wide.data,
                               .wide_size = raw->wide.len,
                               .count = raw->events.len / sizeof(struct vs_event),
                               .first = first};
    int err = changes->known ? 0 : vs_changes_take(changes, &b);
    return err || !prior ? err : vs_prior_consume(prior, &b);
}

/* ---- core by core ---------------------------------------------------------------------------- */

static int by_core(const void *a, const void *b)
{
    const struct vs_piece_part *x = a, *y = b;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* Finds out for each core that has events how many it has and where they go. Leaves the table
 * zeroed. */
static int count_parts(struct vs_piece *piece, const struct vs_event *e, uint32_t *table)
{
    size_t n = 0;
    for (size_t i = 0; i < piece->count; i++)
        n += !table[e[i].thread]++;
    piece->parts = malloc(n * sizeof(*piece->parts));
    for (size_t i = 0; i < piece->count; i++) {
        uint32_t *count = &table[e[i].thread];
        if (*count && piece->parts)
            piece->parts[piece->part_count++] =
                (struct vs_piece_part){.core = e[i].thread, .count = *count};
        *count = 0;
    }
    if (!piece->parts)
        return -VSE_NOMEM;
    qsort(piece->parts, n, sizeof(*piece->parts), by_core);
    for (size_t i = 1; i < n; i++)
        piece->parts[i].at = piece->parts[i - 1].at + piece->parts[i - 1].count;
    piece->known = true;
    return 0;
}

static const struct vs_piece_part *find_part(const struct vs_piece *piece, unsigned core)
{
    const struct vs_piece_part wanted = {.core = core};
    return bsearch(&wanted, piece->parts, piece->part_count, sizeof(wanted), by_core);
}

/* Leaves the table zeroed. */
static int arrange(struct vs_piece *piece, struct raw *raw, uint32_t *table)
{
    const struct vs_event *from = (const struct vs_event *)raw->events.data;
    const uint64_t *cycles = raw->cycles.len ? (const uint64_t *)raw->cycles.data : NULL;
    size_t n = piece->count;
    piece->events = malloc(n * sizeof(*piece->events));
    piece->cycles = cycles ? malloc(n * sizeof(*piece->cycles)) : NULL;
    piece->offsets = malloc(n * sizeof(*piece->offsets));
    piece->places = malloc(n * sizeof(*piece->places));
    if (!piece->events || (cycles && !piece->cycles) || !piece->offsets || !piece->places)
        return -VSE_NOMEM;
    for (size_t i = 0; i < piece->part_count; i++)
        table[piece->parts[i].core] = piece->parts[i].at;
    for (size_t i = 0; i < n; i++) {
        uint32_t to = table[from[i].thread]++;
        piece->events[to] = from[i];
        if (cycles)
            piece->cycles[to] = cycles[i];
        piece->offsets[to] = (uint32_t)i;
        piece->places[i] = to;
    }
    for (size_t i = 0; i < piece->part_count; i++)
        table[piece->parts[i].core] = 0;
    piece->wide = raw->wide.data;
    piece->wide_size = raw->wide.len;
    raw->wide = (struct vs_buf){0};
    piece->size = n * (sizeof(*piece->events) + 2 * sizeof(*piece->offsets) +
                       (cycles ? sizeof(*cycles) : 0)) +
                  piece->wide_size;
    return 0;
}

/* Makes room by dropping pieces that no core is in, those used longest ago first. */
static void make_room(struct vs_pieces *p)
{
    while (p->size > p->room) {
        struct vs_piece *oldest = NULL;
        for (size_t i = 0; i < p->count; i++) {
            struct vs_piece *piece = &p->all[i];
            if (piece->events && !piece->users && (!oldest || piece->used < oldest->used))
                oldest = piece;
        }
        if (!oldest)
            return;
        drop(p, oldest);
    }
}

static int load(struct vs_pieces *p, size_t number, bool learns, struct vs_prior *prior)
{
    struct vs_piece *piece = &p->all[number];
    struct raw raw = {0};
    int err = read_raw(p, number, &raw);
    if (!err && learns)
        err = learn(&p->changes, prior, &raw, piece->first);
    if (!err && !piece->known)
        err = count_parts(piece, (const struct vs_event *)raw.events.data, p->table);
    if (!err)
        err = arrange(piece, &raw, p->table);
    raw_fini(&raw);
    if (err) {
        piece->size = 0;
        drop(p, piece);
        return err;
    }
    p->size += piece->size;
    piece->used = ++p->clock;
    piece->users++;
    make_room(p);
    piece->users--;
    return 0;
}

int vs_pieces_read(struct vs_pieces *p, struct vs_prior *prior)
{
    int err = p->changes.known ? 0 : vs_changes_init(&p->changes, p->reader);
    for (size_t i = 0; i < p->count && !err; i++)
        err = load(p, i, true, prior);
    p->whole = p->changes.known = !err;
    for (size_t i = 0; i < p->count; i++)
        p->whole = p->whole && p->all[i].events;
    return err;
}

int vs_pieces_get(struct vs_pieces *p, size_t number, const struct vs_piece **piece)
{
    struct vs_piece *it = &p->all[number];
    *piece = it;
    if (p->whole)
        return 0;
    int err = it->events ? 0 : load(p, number, false, NULL);
    if (!err) {
        it->users++;
        it->used = ++p->clock;
    }
    return err;
}

void vs_pieces_put(struct vs_pieces *p, const struct vs_piece *piece)
{
    if (piece && !p->whole && !--p->all[piece->first / VS_PIECE_EVENTS].users)
        make_room(p);
}

/* ---- cores ----------------------------------------------------------------------------------- */

int vs_pieces_feed_init(struct vs_pieces_feed *f, struct vs_pieces *pieces, unsigned cores)
{
    *f = (struct vs_pieces_feed){.pieces = pieces, .count = cores};
    f->cores = calloc(cores ? cores : 1, sizeof(*f->cores));
    return f->cores ? 0 : -VSE_NOMEM;
}

void vs_pieces_feed_fini(struct vs_pieces_feed *f)
{
    for (unsigned i = 0; f->cores && i < f->count; i++)
        vs_pieces_put(f->pieces, f->cores[i].piece);
    free(f->cores);
    f->cores = NULL;
}

static void fill_batch(struct vs_core_batch *b, const struct vs_piece *piece,
                       const struct vs_piece_part *part)
{
    b->batch = (struct vs_batch){.events = piece->events + part->at,
                                 .cycles = piece->cycles ? piece->cycles + part->at : NULL,
                                 .wide = piece->wide,
                                 .wide_size = piece->wide_size,
                                 .count = part->count,
                                 .first = piece->first};
    b->offsets = piece->offsets + part->at;
}

int vs_pieces_feed(void *context, unsigned core, struct vs_core_batch *batch)
{
    struct vs_pieces_feed *f = context;
    struct vs_pieces_core *c = &f->cores[core];
    vs_pieces_put(f->pieces, c->piece);
    c->piece = NULL;
    for (; c->next < f->pieces->count; c->next++) {
        const struct vs_piece *piece = &f->pieces->all[c->next];
        if (piece->known && !find_part(piece, core))
            continue;
        int err = vs_pieces_get(f->pieces, c->next, &piece);
        if (err)
            return err;
        const struct vs_piece_part *part = find_part(piece, core);
        if (part) {
            c->piece = piece;
            c->next++;
            fill_batch(batch, piece, part);
            return (int)part->count;
        }
        vs_pieces_put(f->pieces, piece);
    }
    return -VSE_END;
}

/* ---- in global order ------------------------------------------------------------------------- */

int vs_pieces_next(struct vs_pieces_cursor *c, struct vs_batch *batch, const struct vs_event **e)
{
    size_t number = (size_t)(c->next / VS_PIECE_EVENTS);
    if (c->next >= c->pieces->events)
        return -VSE_END;
    if (!c->piece || c->piece->first != c->next - c->next % VS_PIECE_EVENTS) {
        vs_pieces_put(c->pieces, c->piece);
        c->piece = NULL;
        int err = vs_pieces_get(c->pieces, number, &c->piece);
        if (err) {
            c->piece = NULL;
            return err;
        }
    }
    *batch = (struct vs_batch){.events = c->piece->events,
                               .cycles = c->piece->cycles,
                               .wide = c->piece->wide,
                               .wide_size = c->piece->wide_size,
                               .count = c->piece->count,
                               .first = c->piece->first};
    *e = &c->piece->events[c->piece->places[c->next++ - c->piece->first]];
    return 0;
}

void vs_pieces_cursor_fini(struct vs_pieces_cursor *c)
{
    if (c->pieces)
        vs_pieces_put(c->pieces, c->piece);
    c->piece = NULL;
}
