/* SPDX-License-Identifier: MIT */
/* Proof of a data-address technique: what a run recorded against what the decoder makes of the
 * stream. The run's instructions drive the decoder in place of a debugger. Every address is
 * compared, as are every message's cycle with the access's, and the messages' order with the
 * accesses'. There are two walks:
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

/* Must come before the decoder is opened, as it sets the port's witness. isa is the run's, or NULL
 * if that is not known. */
void vs_verify_address_init(struct vs_verify_address *v, const struct vs_address_decoder_ops *ops,
                            struct vs_port_reader *port, const struct vs_isa *isa, unsigned cores);
/* Then says which decoder it is to drive. */
static inline void vs_verify_address_drive(struct vs_verify_address *v, void *decoder)
{
    v->decoder = decoder;
}

/* Returns 0; -VSE_CORRUPT (something differs, or the decoder says so), -VSE_TRUNCATED, -VSE_END, or
 * what else the decoder returns; v->c.diag has the event's core, pc and number. */
int vs_verify_address_batch(struct vs_verify_address *v, const struct vs_batch *batch);

/* Must come after the last batch. Returns as vs_verify_address_batch; -VSE_NOTFOUND (nothing was
 * compared); -VSE_CORRUPT (the stream goes on). */
int vs_verify_address_end(struct vs_verify_address *v);

/* Walks the whole run, including the end. Returns as vs_verify_address_end and the feed;
 * -VSE_NOMEM. */
int vs_verify_address_by_turns(struct vs_verify_address *v, vs_core_feed *feed, void *context);

/* Compares a stream with the run, by turns. If the technique follows the code, v must come from
 * vs_verify_init or vs_verify_init_code. Returns as vs_verify_decode. */
int vs_verify_decode_address(const struct vs_verify *v, const struct vs_technique_spec *spec,
                             const struct vs_port_stream *streams, struct vs_verify_result *result,
                             struct vs_diag *diag);

#endif
