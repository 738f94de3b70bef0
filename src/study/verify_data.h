/* SPDX-License-Identifier: MIT */
/* Proof of a data technique: what a run recorded against what the decoder makes of the stream.
 *
 * The recorded addresses, sizes and stored values drive the decoder in place of an instruction-set
 * simulator, and everything that a message says is compared: every loaded byte, value from outside,
 * register, and place where registers change; every message's cycle with that of the event which
 * takes it, and the messages' order with the events'; what is told of outside writes; and, in
 * granules and lines, each byte that the run knows then or later (study/recall.h). There are two
 * walks:
 *
 *   in global order   vs_verify_data_batch as the batches come
 *   by turns          vs_verify_data_by_turns: cores run as the decoder says, each on its own
 *                     events. Nothing but the stream orders them.
 *
 * The remaining bytes, of which no event of the run tells anything, are reported to `unknown`. */
#ifndef STUDY_VERIFY_DATA_H
#define STUDY_VERIFY_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "study/comparison.h"
#include "study/recall.h"
#include "technique/data.h"
#include "vestige/event.h"

struct vs_verify_data {
    const struct vs_data_decoder_ops *ops;
    void *decoder;
    struct vs_comparison c;
    uint64_t loads, load_bytes, stores, nondets, states; /* compared, or stored */
    uint64_t memory_bytes, unknown_bytes;                /* sent beyond what was asked for */
    uint64_t ends;     /* of cores that have ended; they end one after the other */
    uint64_t *since;   /* by core: instructions after its last registers */
    bool *live;        /* by core: it has begun, and not ended */
    size_t *changed;   /* by core, in a walk by turns: the entry of `changes` that is next */
    uint64_t *notices; /* by core: notices of outside writes since its last access or message */

    /* Set by the caller after init: */
    const struct vs_changes *changes; /* for a walk by turns: where code changes; NULL: nowhere */
    struct vs_recall *recall;         /* NULL: bytes that no load asked for are not compared */
    struct vs_standing end;     /* of the run; its cycle, if timed, is that at which cores end */
    vs_verify_unknown *unknown; /* NULL, or told of every byte that is not known */
    void *unknown_context;

    /* private */
    bool took; /* the event under way has taken a message */
    uint8_t bytes[VS_SIZE_MAX];
};

/* Must come before the decoder is opened, as it sets the port's witness. Returns 0; -VSE_NOMEM. */
int vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                        struct vs_port_reader *port, unsigned cores);
/* Then says which decoder it is to drive. */
static inline void vs_verify_data_drive(struct vs_verify_data *v, void *decoder)
{
    v->decoder = decoder;
}
void vs_verify_data_fini(struct vs_verify_data *v);

/* Returns 0; -VSE_CORRUPT (something differs, or the decoder says so), -VSE_TRUNCATED, -VSE_END, or
 * what else the decoder returns; v->c.diag has the event's core, pc and number. */
int vs_verify_data_batch(struct vs_verify_data *v, const struct vs_batch *batch);

/* Must come after the last batch: the cores end. Returns as vs_verify_data_batch; -VSE_NOTFOUND
 * (nothing was compared); -VSE_CORRUPT (the stream goes on). */
int vs_verify_data_end(struct vs_verify_data *v);

/* Walks the whole run, including the end. Returns as vs_verify_data_end and the feed. */
int vs_verify_data_by_turns(struct vs_verify_data *v, vs_core_feed *feed, void *context);

/* Compares a stream with the run, by turns. v must come from vs_verify_init or one of its variants.
 * Returns as vs_verify_decode. */
int vs_verify_decode_data(const struct vs_verify *v, const struct vs_technique_spec *spec,
                          const struct vs_port_stream *streams, struct vs_verify_result *result,
                          struct vs_diag *diag);

#endif
