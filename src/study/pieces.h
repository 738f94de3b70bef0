/* SPDX-License-Identifier: MIT */
/* A run cut into pieces of VS_PIECE_EVENTS events, which lie in memory core by core. They feed
 * walks that follow a stream's order, in which each core may be somewhere else in the run, whatever
 * the number of cores. A piece is read when the first core comes to it; it stays while a core is in
 * it, and longer while there is room.
 *
 * A run that fits is read once and stays; any number of threads may then share the pieces. */
#ifndef STUDY_PIECES_H
#define STUDY_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/changes.h"
#include "study/core_walk.h"
#include "technique/seen.h"
#include "vestige/run.h"

#define VS_PIECE_EVENTS 16384
#define VS_PIECES_ROOM  (UINT64_C(256) << 20) /* bytes, for callers that have no better idea */

/* Where a core's events lie in a piece. */
struct vs_piece_part {
    uint32_t core, at, count;
};

struct vs_piece {
    uint64_t first; /* global number of its first event */
    size_t count;
    struct vs_piece_part *parts; /* by core, ascending; they stay when the events are dropped */
    size_t part_count;
    bool known; /* the parts are known */

    struct vs_event *events; /* by core, and each core's in order; NULL if they are not in memory */
    uint64_t *cycles;        /* NULL in an untimed run */
    uint32_t *offsets;       /* each event's number, minus the first */
    uint32_t *places;        /* the inverse: where the event with that offset lies */
    uint8_t *wide;
    size_t wide_size, size; /* size: the whole piece's, in bytes */
    unsigned users;
    uint64_t used; /* when it was last used, by the pieces' clock */
};

struct vs_pieces {
    struct vs_reader *reader; /* the caller's; its position is lost */
    struct vs_piece *all;
    size_t count;
    uint64_t events, size, room, clock;
    bool whole; /* every piece is in memory and stays, so that nothing changes any more */
    struct vs_changes changes; /* of code; known after vs_pieces_read */

    /* private */
    struct vs_batch rest; /* what the reader gave beyond the last piece */
    size_t next;          /* the piece that begins there */
    uint32_t *table;      /* a zero for every core that there can be */
};

/* Reads nothing yet. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_pieces_init(struct vs_pieces *p, struct vs_reader *reader, uint64_t room);
void vs_pieces_fini(struct vs_pieces *p);

/* Reads the whole run, and keeps it if there is room: it is then `whole`. The prior, which may be
 * NULL, learns from it. Returns 0; -VSE_NOMEM; as vs_reader_next. */
int vs_pieces_read(struct vs_pieces *p, struct vs_prior *prior);

/* Gives the piece of that number, which stays in memory until vs_pieces_put. Returns as
 * vs_pieces_read. */
int vs_pieces_get(struct vs_pieces *p, size_t number, const struct vs_piece **piece);
void vs_pieces_put(struct vs_pieces *p, const struct vs_piece *piece);

/* ---- cores ---- */

/* A vs_core_feed; the context is a struct vs_pieces_feed. */
struct vs_pieces_feed {
    struct vs_pieces *pieces;
    struct vs_pieces_core {
        const struct vs_piece *piece; /* or NULL */
        size_t next;                  /* piece */
    } * cores;
    unsigned count;
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_pieces_feed_init(struct vs_pieces_feed *f, struct vs_pieces *pieces, unsigned cores);
void vs_pieces_feed_fini(struct vs_pieces_feed *f);
int vs_pieces_feed(void *context, unsigned core, struct vs_core_batch *batch);

/* ---- in global order ---- */

struct vs_pieces_cursor {
    struct vs_pieces *pieces;
    const struct vs_piece *piece; /* or NULL */
    uint64_t next;                /* number of the next event */
};

/* Gives the next event, *e, which is one of batch->events, its piece's batch. What was given before
 * becomes invalid. Returns 0; -VSE_END; as vs_pieces_read. vs_pieces_cursor_fini is needed at the
 * end. */
int vs_pieces_next(struct vs_pieces_cursor *c, struct vs_batch *batch, const struct vs_event **e);
void vs_pieces_cursor_fini(struct vs_pieces_cursor *c);

#endif
