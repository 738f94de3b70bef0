/* SPDX-License-Identifier: MIT */
/* Proof of a data-address technique: what a run recorded against what the decoder makes of the
 * stream. The run's instructions drive the decoder in place of a debugger, and every address is
 * compared; the cycle of every message with that of the access, and their order with the accesses'.
 * Two walks:
 *
 *   in global order   vs_verify_address_batch as the batches come
 *   by turns          vs_verify_address_by_turns: cores run as the decoder says, each on its own
 *                     events. Nothing but the stream orders them.
 */
#ifndef STUDY_VERIFY_ADDRESS_H
#define STUDY_VERIFY_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#include "study/comparison.h"
#include "technique/address.h"
#include "vestige/event.h"

struct vs_verify_address {
    const struct vs_address_decoder_ops *ops;
    void *decoder;
    struct vs_comparison c;
    const struct vs_isa *isa;
    uint64_t loads, stores; /* compared */
};

/* Before the decoder is opened: the port gets its witness. isa may be NULL: that of the run, if it
 * is known. */
void vs_verify_address_init(struct vs_verify_address *v, const struct vs_address_decoder_ops *ops,
                            struct vs_port_reader *port, const struct vs_isa *isa, unsigned cores);
/* Then what it is to drive. */
static inline void vs_verify_address_drive(struct vs_verify_address *v, void *decoder)
{
    v->decoder = decoder;
}

/* Returns 0; -VSE_CORRUPT (a difference, or the decoder says so), -VSE_TRUNCATED, -VSE_END, as the
 * decoder; v->c.diag has core, pc and number of the event. */
int vs_verify_address_batch(struct vs_verify_address *v, const struct vs_batch *batch);

/* After the last batch. As vs_verify_address_batch, and -VSE_NOTFOUND if nothing was compared, or
 * -VSE_CORRUPT if the stream goes on. */
int vs_verify_address_end(struct vs_verify_address *v);

/* The whole run, with the end. As vs_verify_address_end, the feed, and -VSE_NOMEM. */
int vs_verify_address_by_turns(struct vs_verify_address *v, vs_core_feed *feed, void *context);

/* A stream against the run, by turns. Of a technique that follows the code, v is one of
 * vs_verify_init or vs_verify_init_code. As vs_verify_decode. */
int vs_verify_decode_address(const struct vs_verify *v, const struct vs_technique_spec *spec,
                             const struct vs_port_stream *streams, struct vs_verify_result *result,
                             struct vs_diag *diag);

#endif
