/* SPDX-License-Identifier: MIT */
/* What is common to the techniques that cut control flow into streams (BASE, NEXS, DMTF, SDC-LSP,
 * HWLZ): the stream detector in front of a coder, and the debugger's side of both.
 *
 * A stream (SA, SL) goes from where control arrived to the next taken conditional or taken indirect
 * branch, inclusive. Direct jumps and calls do not end it, nor do branches that are not taken,
 * conditional indirect ones, which some ISAs have, included.
 *
 *   record          [SA] SL
 *   discontinuity   [SA] 0 iCnt target
 *
 * SA is there if an indirect branch ended the stream before: in all other cases the debugger knows
 * it. SL has 8 bits:
 *
 *   1 to 254   the stream has so many instructions; its last is the branch that ends it
 *   255        254 instructions passed and none of them ended the stream, which goes on
 *   0          a discontinuity: iCnt instructions passed, 0 to 254, also in 8 bits, and none of
 *              them ended the stream; then control went to `target`, an address in full
 *
 * The sources say that exceptions end a stream and that long ones are cut, but not how a debugger
 * tells either from a branch that ends one. Here the length says it, whatever the last instruction
 * is: a taken branch of the same length has another code. What is left of a stream that was cut has
 * the descriptor (SA of the whole stream, SL of the rest). The debugger knows that a stream was
 * cut, so the same descriptor may mean the beginning of one stream and the rest of another; and the
 * detector need not know where in the code the cut was.
 *
 * A record of a stream that was cut is due when its 255th instruction retires; here it leaves with
 * the step that comes next, and at its time. Messages that stand for several streams carry the last
 * one's time and leave the port when it is known that no other stream belongs to them. */
#ifndef TECHNIQUE_STREAMS_H
#define TECHNIQUE_STREAMS_H

#include "model/lastvalue.h"
#include "model/runcount.h"
#include "technique/technique.h"

enum {
    VS_STREAM_BITS = 8, /* for SL and iCnt */
    VS_STREAM_BREAK = 0,
    VS_STREAM_MOST = 254,
    VS_STREAM_CUT = 255,
};

struct vs_stream {
    uint64_t start;
    uint64_t previous; /* where the stream before started; only if `sent` */
    uint32_t length;   /* SL's code */
    bool sent;         /* a record of it has SA */
};

/* ---- coders ---------------------------------------------------------------------------------- */

struct vs_stream_coder;

/* Where a core's messages go. */
struct vs_stream_out {
    const struct vs_stream_coder *coder;
    struct vs_port_writer *port;
    struct vs_port_writer *values; /* where records go: the port, unless heads are apart */
    unsigned address_bits;
    unsigned core;
    uint64_t time; /* of the step under way */
};

/* Where messages come from. */
struct vs_stream_in {
    const struct vs_stream_coder *coder;
    struct vs_port_reader *port;
    struct vs_port_reader *values;
    unsigned address_bits;
    /* If `sent`, where the stream before the next one began; else where the next one begins. */
    uint64_t start;
    bool sent;
};

/* How streams are coded. A state is one core's, in the encoder or in the decoder. */
struct vs_stream_coder {
    size_t size; /* of a state, which is zeroed before init */
    /* Returns 0; -VSE_NOMEM. fini follows in any case. */
    int (*init)(void *state, const void *params, unsigned address_bits);
    void (*fini)(void *state); /* NULL: there is nothing to free */

    /* Codes a stream, whose length is not BREAK. Returns whether no table knew it. */
    bool (*put)(void *state, struct vs_stream_out *out, const struct vs_stream *s);
    /* Writes what is pending. NULL: nothing ever is. */
    void (*flush)(void *state, struct vs_stream_out *out);
    /* Writes what is pending, then begins a message with all that comes before iCnt. s->length is
     * BREAK. */
    void (*put_break)(void *state, struct vs_stream_out *out, const struct vs_stream *s);
    /* Puts SA in a record. */
    void (*put_start)(void *state, struct vs_stream_out *out, const struct vs_stream *s);

    /* Reads a message up to its first stream, or its record up to SL, and how many more streams it
     * may stand for, if any. s->sent is in->sent. Returns 0; 1 (it completes no stream); or
     * -VSE_TRUNCATED, -VSE_CORRUPT with the reader's diag. */
    int (*get)(void *state, struct vs_stream_in *in, struct vs_stream *s, uint64_t *more);
    /* Gets the next of these; 1 if there is none after all. NULL: there never are any. */
    int (*next)(void *state, struct vs_stream_in *in, struct vs_stream *s);
    int (*get_start)(void *state, struct vs_stream_in *in, uint64_t *start);
};

/* Put and get [SA] SL in a message under way. */
void vs_stream_put_record(void *state, struct vs_stream_out *out, const struct vs_stream *s);
int vs_stream_get_record(void *state, struct vs_stream_in *in, struct vs_stream *s);

/* Put and get SA in full, as put_start and get_start do. */
void vs_stream_put_whole(void *state, struct vs_stream_out *out, const struct vs_stream *s);
int vs_stream_get_whole(void *state, struct vs_stream_in *in, uint64_t *start);

/* Put and get SA after a bit that tells whether it lacks its upper bits, because they are those in
 * `upper`; then keep them there. get returns as vs_port_get. */
void vs_stream_put_split(struct vs_lastvalue *upper, struct vs_stream_out *out,
                         const struct vs_stream *s);
int vs_stream_get_split(struct vs_lastvalue *upper, struct vs_stream_in *in, uint64_t *start);

/* Streams about which a header bit tells all. Each has a message, or, if they are counted, those in
 * a row share one. */
struct vs_stream_runs {
    bool counted;
    struct vs_runcount count;
    uint64_t time; /* of the run's last stream */
};

static inline void vs_stream_runs_write(const struct vs_stream_runs *r, struct vs_stream_out *out,
                                        unsigned header, struct vs_run_record record)
{
    vs_port_begin(out->port, out->core, r->time);
    vs_port_put(out->port, VS_FIELD_HEADER, header, 1);
    vs_port_put(out->port, VS_FIELD_RUN, record.value, record.bits);
    vs_port_end(out->port);
}

/* Puts one of these streams. */
static inline void vs_stream_runs_put(struct vs_stream_runs *r, struct vs_stream_out *out,
                                      unsigned header)
{
    struct vs_run_record record;
    if (r->counted) {
        if (vs_runcount_add(&r->count, &record))
            vs_stream_runs_write(r, out, header, record);
        r->time = out->time;
        return;
    }
    vs_port_begin(out->port, out->core, out->time);
    vs_port_put(out->port, VS_FIELD_HEADER, header, 1);
    vs_port_end(out->port);
}

/* To be called before any other message. */
static inline void vs_stream_runs_flush(struct vs_stream_runs *r, struct vs_stream_out *out,
                                        unsigned header)
{
    struct vs_run_record record;
    if (r->counted && vs_runcount_end(&r->count, &record))
        vs_stream_runs_write(r, out, header, record);
}

/* For the decoder, after the header bit; `more` is as in vs_stream_coder.get. Returns as
 * vs_port_get. */
int vs_stream_runs_get(struct vs_stream_runs *r, struct vs_stream_in *in, uint64_t *more);
/* To be called at any other message. */
void vs_stream_runs_end(struct vs_stream_runs *r);

/* BASE's coder, whose messages are records. */
const struct vs_stream_coder *vs_stream_base(void); /* base_nexs.c */

/* ---- machines -------------------------------------------------------------------------------- */

/* These are as the functions of vs_encoder_ops and vs_flow_decoder_ops, whose open they complete.
 * The counts call a branch reported if it ended a stream that no table knew. Ti and dCC go to the
 * heads and the rest to the values (the context's port). The two are the same port except for
 * coders that put nothing but records into messages. */
int vs_stream_encoder_open(void **encoder, const struct vs_stream_coder *coder,
                           const struct vs_technique_context *context,
                           struct vs_port_writer *heads);
int vs_stream_consume(void *encoder, const struct vs_slice *slice);
int vs_stream_finish(void *encoder);
void vs_stream_counts(const void *encoder, void *counts);
void vs_stream_encoder_close(void *encoder);

int vs_stream_decoder_open(void **decoder, const struct vs_stream_coder *coder, const void *params,
                           const struct vs_technique_setup *setup, struct vs_port_reader *heads,
                           struct vs_port_reader *values);
int vs_stream_head(void *decoder, struct vs_flow_head *head);
int vs_stream_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                     struct vs_flow_answer *answer);
int vs_stream_discontinuity(void *decoder, unsigned core, uint64_t *target);
void vs_stream_decoder_close(void *decoder);

/* Defines name_encoder and name_decoder, the machines around name_coder. */
#define VS_STREAM_MACHINES(name)                                                                   \
    static int name##_open(void **e, const struct vs_technique_context *context)                   \
    {                                                                                              \
        return vs_stream_encoder_open(e, &name##_coder, context, context->port);                   \
    }                                                                                              \
    static int name##_open_decoder(void **d, const void *params,                                   \
                                   const struct vs_technique_setup *setup,                         \
                                   struct vs_port_reader *port)                                    \
    {                                                                                              \
        return vs_stream_decoder_open(d, &name##_coder, params, setup, port, port);                \
    }                                                                                              \
    static const struct vs_encoder_ops name##_encoder = {.needs = VS_NEEDS_STEPS,                  \
                                                         .open = name##_open,                      \
                                                         .consume = vs_stream_consume,             \
                                                         .finish = vs_stream_finish,               \
                                                         .counts = vs_stream_counts,               \
                                                         .rows = vs_flow_count_rows,               \
                                                         .close = vs_stream_encoder_close};        \
    static const struct vs_flow_decoder_ops name##_decoder = {.open = name##_open_decoder,         \
                                                              .head = vs_stream_head,              \
                                                              .branch = vs_stream_branch,          \
                                                              .discontinuity =                     \
                                                                  vs_stream_discontinuity,         \
                                                              .close = vs_stream_decoder_close}

/* The coder of a file that has struct state, fini, put, put_record and get; the rest follows. */
#define VS_STREAM_CODER(start, puts_start, gets_start, ...)                                        \
    {                                                                                              \
        .size = sizeof(struct state), .init = start, .fini = fini, .put = put,                     \
        .put_break = put_record, .put_start = puts_start, .get = get, .get_start = gets_start,     \
        __VA_ARGS__                                                                                \
    }

/* Defines name_cost in a file that has cost_of, which learns the sizes from a state of
 * name_coder. */
#define VS_STREAM_COST(name)                                                                       \
    static int name##_cost(const void *params, const struct vs_technique_setup *setup,             \
                           struct vs_cost_list *list)                                              \
    {                                                                                              \
        struct state t = {0};                                                                      \
        int err = name##_coder.init(&t, params, setup->address_bits);                              \
        if (!err)                                                                                  \
            cost_of(&t, setup, list);                                                              \
        name##_coder.fini(&t);                                                                     \
        return err;                                                                                \
    }

/* Adds the detector's registers: SA and the length. */
void vs_stream_cost(const struct vs_technique_setup *setup, struct vs_cost_list *list);

#endif
