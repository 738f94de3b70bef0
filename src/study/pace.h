/* SPDX-License-Identifier: MIT */
/* When encoders are asked for synchronisation points: each core gets one after a branch or call,
 * once it has executed so many instructions since its last point. A point is thus where a step
 * leads, and never within an instruction that goes on after an exception. An encoder that sees
 * events is asked after each slice, as slices of events are not cut. */
#ifndef STUDY_PACE_H
#define STUDY_PACE_H

#include "technique/technique.h"

struct vs_pace {
    uint64_t period; /* instructions; 0: never */
    unsigned cores;
    uint64_t *since; /* by core: instructions since its last point; NULL if never asked */
};

/* For an encoder, which may have no such points. Returns 0; -VSE_NOMEM. fini is needed in any case;
 * it may also follow without init if the struct was zeroed. */
int vs_pace_init(struct vs_pace *p, uint64_t period, unsigned cores,
                 const struct vs_encoder_ops *ops);
void vs_pace_fini(struct vs_pace *p);

/* Hands a slice to the encoder, in parts if need be. Returns as the encoder's consume and sync;
 * -VSE_INVAL (a step's core does not exist). */
int vs_pace_consume(struct vs_pace *p, const struct vs_encoder_ops *ops, void *encoder,
                    const struct vs_slice *slice);

#endif
