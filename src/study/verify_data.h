/* SPDX-License-Identifier: MIT */
/* Proof of a data technique: what a run recorded against what the decoder makes of the stream.
 *
 * The recorded addresses, sizes and stored values drive the decoder in place of an instruction-set
 * simulator, and every loaded byte, value from outside, register, and place where registers change
 * is compared. Two walks:
 *
 *   in global order   vs_verify_data_batch as the batches come
 *   by turns          vs_verify_data_by_turns: cores run as the decoder says, each on its own
 *                     events. Nothing but the stream orders them.
 */
#ifndef STUDY_VERIFY_DATA_H
#define STUDY_VERIFY_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "study/core_walk.h"
#include "study/verify.h"
#include "technique/data.h"
#include "vestige/event.h"

struct vs_verify_data {
    const struct vs_data_decoder_ops *ops;
    void *decoder;
    const struct vs_port_reader *port;
    unsigned cores;
    uint64_t loads, load_bytes, stores, nondets, states; /* compared, or stored */
    uint64_t ends;                                       /* of cores */
    uint64_t *since;        /* by core: instructions after its last registers */
    bool by_turns, differs; /* differs: what the diag tells of is a difference */
    struct vs_diag diag;    /* of the first difference: its chunk is the number of the event */
    uint8_t bytes[VS_SIZE_MAX];
};

/* Returns 0; -VSE_NOMEM. */
int vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                        void *decoder, const struct vs_port_reader *port, unsigned cores);
void vs_verify_data_fini(struct vs_verify_data *v);

/* Returns 0; -VSE_CORRUPT (a difference, or the decoder says so), -VSE_TRUNCATED, -VSE_END, as the
 * decoder; v->diag has core, pc and number of the event. */
int vs_verify_data_batch(struct vs_verify_data *v, const struct vs_batch *batch);

/* After the last batch: the cores end. As vs_verify_data_batch, and -VSE_NOTFOUND if nothing was
 * compared, or -VSE_CORRUPT if the stream goes on. */
int vs_verify_data_end(struct vs_verify_data *v);

/* The whole run, with the end. As vs_verify_data_end, and the feed. */
int vs_verify_data_by_turns(struct vs_verify_data *v, vs_core_feed *feed, void *context);

/* A stream against the run at `path`, whose reader is v's: by turns if it has no more cores than
 * VS_VERIFY_TURNS (study/core_walk.h), each of which takes a reader of its own.
 * v is one of vs_verify_init or vs_verify_init_data. As vs_verify_decode. */
int vs_verify_decode_data(const struct vs_verify *v, const char *path,
                          const struct vs_technique_spec *spec, const uint8_t *data, size_t size,
                          uint64_t nbits, struct vs_verify_result *result, struct vs_diag *diag);

#endif
