/* SPDX-License-Identifier: MIT */
/* Proof of a data technique: what a run recorded against what the decoder makes of the stream.
 *
 * The recorded addresses, sizes and stored values drive the decoder in place of an instruction-set
 * simulator, and everything that a message says is compared: every loaded byte, value from outside,
 * register, and place where registers change; the cycle of every message with that of the event
 * which takes it, and their order with that of the events; what is told of outside writes; and of
 * granules and lines each byte that the run knows then or later (study/recall.h). Two walks:
 *
 *   in global order   vs_verify_data_batch as the batches come
 *   by turns          vs_verify_data_by_turns: cores run as the decoder says, each on its own
 *                     events. Nothing but the stream orders them.
 *
 * What is left is told to `unknown`: bytes of which no event of the run tells anything. */
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
    uint64_t memory_bytes, unknown_bytes;                /* sent beside what was asked for */
    uint64_t ends;     /* of cores, which end one after the other */
    uint64_t *since;   /* by core: instructions after its last registers */
    bool *live;        /* by core: it has begun, and not ended */
    size_t *changed;   /* by core, of a walk by turns: changes of code that it has passed */
    uint64_t *notices; /* by core: of outside writes, since its last access or message */

    /* The caller's, after init: */
    const struct vs_changes *changes; /* of a walk by turns: where code changes. NULL: nowhere */
    struct vs_recall *recall;         /* NULL: bytes that no load asked for are not compared */
    struct vs_standing end;     /* of the run; timed: its last cycle, which is that of the ends */
    vs_verify_unknown *unknown; /* NULL, or told of every byte that is not known */
    void *unknown_context;

    /* private */
    bool took; /* the event under way has taken one */
    uint8_t bytes[VS_SIZE_MAX];
};

/* Before the decoder is opened: the port gets its witness. Returns 0; -VSE_NOMEM. */
int vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                        struct vs_port_reader *port, unsigned cores);
/* Then what it is to drive. */
static inline void vs_verify_data_drive(struct vs_verify_data *v, void *decoder)
{
    v->decoder = decoder;
}
void vs_verify_data_fini(struct vs_verify_data *v);

/* Returns 0; -VSE_CORRUPT (a difference, or the decoder says so), -VSE_TRUNCATED, -VSE_END, as the
 * decoder; v->c.diag has core, pc and number of the event. */
int vs_verify_data_batch(struct vs_verify_data *v, const struct vs_batch *batch);

/* After the last batch: the cores end. As vs_verify_data_batch, and -VSE_NOTFOUND if nothing was
 * compared, or -VSE_CORRUPT if the stream goes on. */
int vs_verify_data_end(struct vs_verify_data *v);

/* The whole run, with the end. As vs_verify_data_end, and the feed. */
int vs_verify_data_by_turns(struct vs_verify_data *v, vs_core_feed *feed, void *context);

/* A stream against the run, by turns. v is one of vs_verify_init or vs_verify_init_data. As
 * vs_verify_decode. */
int vs_verify_decode_data(const struct vs_verify *v, const struct vs_technique_spec *spec,
                          const struct vs_port_stream *streams, struct vs_verify_result *result,
                          struct vs_diag *diag);

#endif
