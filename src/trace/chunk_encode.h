/* SPDX-License-Identifier: MIT */
/* Turns events into the columns of events chunks: sites, control flow, order, cycles and what is
 * rare. Addresses and values become operands (chunk_operands.h), whose columns are made later. */
#ifndef TRACE_CHUNK_ENCODE_H
#define TRACE_CHUNK_ENCODE_H

#include "base/arena.h"
#include "trace/index.h"
#include "trace/chunk_operands.h"
#include "trace/predict.h"
#include "trace/recipe.h"
#include "trace/tables.h"

struct vs_encoder_thread {
    struct vs_lane lane;
    bool present;           /* in this chunk */
    uint64_t events, insns; /* in this chunk */
    uint64_t before;        /* instructions in earlier chunks */
    uint64_t returns[VS_RETURNS];
};

/* Lengths of the runs of right predictions; docs/format.md calls them gaps. */
struct vs_encoder_runs {
    uint64_t site, outcome, target;
};

/* Roughly what an operand takes in its columns. It takes at most 17 bytes, so the 2^22 events that
 * a chunk may have stay within the format's limits however wrong this estimate is. */
#define VS_OPERAND_BYTES 4

/* Recipes that the encoder knows (chunk_records.c). */
struct vs_encoder_recipes {
    struct vs_encoder_recipe **list;
    size_t count, capacity;
    struct vs_arena arena;
};

void vs_encoder_recipes_fini(struct vs_encoder_recipes *r);

struct vs_encoder {
    struct vs_tables *tables;           /* the caller's; the encoder adds sites */
    struct vs_sites *sites;             /* of the tables */
    struct vs_columns *cols;            /* the caller's, of the current chunk */
    struct vs_chunk_operands *operands; /* of the current call */
    uint32_t features, max_sites, chunk_events, chunk_bytes, shadow_bits;
    struct vs_flow flow;
    struct vs_encoder_thread **threads; /* allocated one by one, since lanes must not move */
    uint32_t thread_count;              /* no event had a higher number */
    size_t thread_capacity;
    struct vs_encoder_runs runs;
    struct vs_encoder_recipes recipes;
    uint64_t links; /* changes whenever another site follows a load or store than was expected */
    struct vs_site literal; /* the chunk's last literal */
    uint32_t run_thread;    /* current run of the order */
    uint64_t run_length;
    /* Bytes that the chunk may still take; it ends when none are left. What operands take is not
     * known here: each counts as VS_OPERAND_BYTES, and a wide value as its size. */
    int64_t room;
    uint64_t events, first;
    uint64_t cycle_first, cycle; /* of the chunk; of the last event in the run */
    uint64_t insns;              /* of all threads, in all chunks */
};

/* The limits are those of struct vs_writer_options and were checked before. */
void vs_encoder_init(struct vs_encoder *c, struct vs_tables *tables, uint32_t features,
                     uint32_t max_sites, uint32_t chunk_events, uint32_t chunk_bytes);
void vs_encoder_fini(struct vs_encoder *c);

/* Starts a chunk, into empty columns that stay the caller's. Returns 0; -VSE_NOMEM. */
int vs_encoder_begin(struct vs_encoder *c, struct vs_columns *cols);

/* Takes a recipe, which it copies. Returns its number, from 0 up; -VSE_INVAL; -VSE_LIMIT;
 * -VSE_NOMEM. */
int64_t vs_encoder_recipe(struct vs_encoder *c, const struct vs_recipe *recipe);

enum {
    VS_ENCODED_ALL = 0,
    VS_ENCODED_CHUNK = 1,
    VS_ENCODED_BLOCK = 2,
    VS_ENCODED_EVENTS = 3, /* only when records are put */
};

/* Takes events from *pos on; their operands go to a block of the caller's. Returns VS_ENCODED_ALL
 * when the batch is used up; _CHUNK when the chunk is full; _BLOCK when the block is full, and the
 * caller empties it or brings another one and calls again; -VSE_INVAL, with *pos at the offending
 * event, which was not taken, and *why set (static storage); -VSE_NOMEM, after which the encoder is
 * useless. Where a chunk ends does not depend on how events are divided into batches. */
int vs_encoder_put(struct vs_encoder *c, const struct vs_batch *batch, size_t *pos,
                   struct vs_chunk_operands *operands, const char **why);

/* Which of a thread's records is next, and where it is. */
struct vs_record_place {
    size_t record, at;
};

/* Takes records from *place on, as vs_encoder_put takes events; there are no cycles. Also returns
 * VS_ENCODED_EVENTS: the record at *place has to be put as events. */
int vs_encoder_put_records(struct vs_encoder *c, const struct vs_records *records,
                           struct vs_record_place *place, struct vs_chunk_operands *operands);

/* The length of a recipe's records. */
uint32_t vs_encoder_length(const struct vs_encoder *c, uint32_t recipe);

/* Makes events of one record, which is then their wide area. Returns how many. */
size_t vs_encoder_expand(const struct vs_encoder *c, uint32_t recipe, const uint8_t *record,
                         uint16_t thread, struct vs_event *events);

/* Ends the chunk, which has at least one event: completes the columns, except those of operands,
 * and fills the summary and a buffer of struct vs_chunk_thread. Returns 0; -VSE_NOMEM. */
int vs_encoder_end(struct vs_encoder *c, struct vs_summary *summary, struct vs_buf *threads);

#endif
