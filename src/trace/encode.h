/* SPDX-License-Identifier: MIT */
/* Events to the columns of events chunks. */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "trace/index.h"
#include "trace/predict.h"
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

/* Events per block: three passes over them stay in the caches. */
#define VS_ENCODE_BLOCK 1024

/* An event whose address or value is still to be encoded. Pointers, valid within a block. */
struct vs_encoding {
    const struct vs_event *event;
    struct vs_site_state *site;
    struct vs_lane *lane;
};

struct vs_encoder {
    struct vs_tables *tables; /* the caller's; the encoder adds sites */
    struct vs_sites *sites;   /* of the tables */
    struct vs_columns *cols;  /* the caller's, of the current chunk */
    uint32_t features, max_sites, chunk_events, chunk_bytes, shadow_bits;
    struct vs_predict predict;
    struct vs_encoder_thread **threads; /* each by itself: lanes must not move */
    uint32_t thread_count;              /* no event had a higher number */
    size_t thread_capacity;
    struct vs_encoder_runs runs;
    struct vs_site literal; /* the chunk's last */
    uint32_t run_thread;    /* current run of the order */
    uint64_t run_length;
    /* Bytes in the columns, which decide where a chunk ends. Those of addresses and values are
     * known late, and wait until a block is full: where a chunk ends must not depend on how the
     * caller divides events into batches. */
    uint64_t bytes, bytes_waiting;
    uint64_t events, first;
    uint64_t cycle_first, cycle; /* of the chunk; of the last event in the run */
    uint64_t insns;              /* of all threads, in all chunks */
    struct vs_encoding pending[VS_ENCODE_BLOCK];
    uint8_t scratch[VS_SIZE_MAX + 1];
};

/* The limits are those of struct vs_writer_options, already checked. */
void vs_encoder_init(struct vs_encoder *c, struct vs_tables *tables, uint32_t features,
                     uint32_t max_sites, uint32_t chunk_events, uint32_t chunk_bytes);
void vs_encoder_fini(struct vs_encoder *c);

/* Starts a chunk, into empty columns that stay the caller's. Returns 0; -VSE_NOMEM. */
int vs_encoder_begin(struct vs_encoder *c, struct vs_columns *cols);

/* Takes events from *pos on. Returns 0 when the batch is used up, 1 when the chunk is full;
 * -VSE_INVAL with *pos at the offending event, which was not taken, and *why set (static storage);
 * -VSE_NOMEM, after which the encoder is of no use. */
int vs_encoder_put(struct vs_encoder *c, const struct vs_batch *batch, size_t *pos,
                   const char **why);

/* Ends the chunk, which has at least one event: completes the columns, fills the summary and a
 * buffer of struct vs_chunk_thread. Returns 0; -VSE_NOMEM. */
int vs_encoder_end(struct vs_encoder *c, struct vs_summary *summary, struct vs_buf *threads);

#endif
