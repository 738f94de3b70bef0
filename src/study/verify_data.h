/* SPDX-License-Identifier: MIT */
/* Proof of a data technique: what a run recorded against what the decoder makes of the stream.
 *
 * The recorded addresses, sizes and stored values drive the decoder in place of an instruction-set
 * simulator, and every loaded byte, value from outside and register is compared. Two walks:
 *
 *   in global order   vs_verify_data_batch as the batches come
 *   by turns          vs_verify_data_by_turns: all events of the run are in memory, and cores run
 *                     as the decoder says. Nothing but the stream orders them.
 */
#ifndef STUDY_VERIFY_DATA_H
#define STUDY_VERIFY_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "technique/data.h"
#include "vestige/event.h"

struct vs_verify_data {
    const struct vs_data_decoder_ops *ops;
    void *decoder;
    const struct vs_port_reader *port;
    unsigned cores;
    uint64_t loads, load_bytes, stores, nondets, states, state_bytes; /* compared, or stored */
    uint64_t ends;                                                    /* of cores */
    struct vs_diag diag; /* of the first difference: its chunk is the number of the event */
    uint8_t bytes[VS_SIZE_MAX];
};

void vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                         void *decoder, const struct vs_port_reader *port, unsigned cores);

/* Returns 0; -VSE_CORRUPT (a difference, or the decoder says so), -VSE_TRUNCATED, -VSE_END, as the
 * decoder; v->diag has core, pc and number of the event. */
int vs_verify_data_batch(struct vs_verify_data *v, const struct vs_batch *batch);

/* After the last batch: the cores end. As vs_verify_data_batch, and -VSE_NOTFOUND if nothing was
 * compared, or -VSE_CORRUPT if the stream goes on. */
int vs_verify_data_end(struct vs_verify_data *v);

/* The whole run at once, with the end. As vs_verify_data_end; -VSE_NOMEM. */
int vs_verify_data_by_turns(struct vs_verify_data *v, const struct vs_batch *run);

#endif
