/* SPDX-License-Identifier: MIT */
/* Turns the columns of an events chunk back into events. Trusts nothing in them. */
#ifndef TRACE_CHUNK_DECODE_H
#define TRACE_CHUNK_DECODE_H

#include "trace/index.h"
#include "trace/predict.h"

struct vs_decoder_thread {
    struct vs_lane lane;
    struct vs_trail trail;
    bool present;           /* in this chunk */
    uint64_t events, insns; /* decoded so far */
    uint64_t returns[VS_RETURNS];
};

/* How many right predictions come before the next wrong one; UINT64_MAX if no wrong one is left. */
struct vs_decoder_left {
    uint64_t site, outcome, target;
};

#define VS_DECODE_MAX 1024 /* events per call: three passes over them stay in the caches */

/* An event whose address or value is still to be decoded. The pointers are valid during the call.
 */
struct vs_pending {
    struct vs_event *event;
    struct vs_site_state *site;
    struct vs_trail *trail;
    struct vs_shadow_line *line; /* where its value is expected */
};

struct vs_decoder {
    const struct vs_sites *sites; /* the caller's */
    uint32_t features;
    struct vs_column cols[VS_COL_END]; /* the part that is not consumed yet */
    struct vs_flow flow;
    struct vs_data data;
    struct vs_decoder_thread *threads;
    uint32_t thread_count;
    struct vs_decoder_left left;
    struct vs_site literal;
    uint32_t run_thread;
    uint64_t run_length; /* events that are left of the run */
    uint64_t cycle;      /* of the last event */
    struct vs_summary summary;
    struct vs_buf parts; /* struct vs_chunk_thread, as in the summary */
    uint64_t done;       /* events decoded */
    struct vs_pending pending[VS_DECODE_MAX];
};

void vs_decoder_init(struct vs_decoder *d, const struct vs_sites *sites, uint32_t features);
void vs_decoder_fini(struct vs_decoder *d);

/* Starts a chunk. The columns' memory must stay until its last event is decoded.
 * Returns 0; -VSE_NOMEM; -VSE_CORRUPT; -VSE_LIMIT; -VSE_TRUNCATED. */
int vs_decoder_begin(struct vs_decoder *d, const struct vs_column cols[VS_COL_END]);

/* Decodes up to `max` events, which is at most VS_DECODE_MAX. `cycles` has room for as many and may
 * be NULL in an untimed run. `wide` receives wide values and loses its old content; a call ends
 * early when it holds more than 1 MiB. After the last event it also checks that the columns are
 * used up and that the summary was true. Returns the number of events, 0 after the last;
 * -VSE_NOMEM; -VSE_CORRUPT; -VSE_TRUNCATED. */
int vs_decoder_next(struct vs_decoder *d, struct vs_event *events, uint64_t *cycles,
                    struct vs_buf *wide, unsigned max);

#endif
