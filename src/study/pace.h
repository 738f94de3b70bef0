/* SPDX-License-Identifier: MIT */
/* When encoders are asked for synchronisation points: each core after a branch or call, once it has
 * executed so many instructions since its last point. So a point is where a step leads, and never
 * within an instruction that goes on after an exception. An encoder that sees events is asked when
 * it has had a slice, as events are not cut. */
#ifndef STUDY_PACE_H
#define STUDY_PACE_H

#include "technique/technique.h"

struct vs_pace {
    uint64_t period; /* instructions; 0: never */
    unsigned cores;
    uint64_t *since; /* by core: its last point; NULL if nobody is ever asked */
};

/* For an encoder, which may have no such points. Returns 0; -VSE_NOMEM. fini is needed in any case,
 * of a struct that was zero before. */
int vs_pace_init(struct vs_pace *p, uint64_t period, unsigned cores,
                 const struct vs_encoder_ops *ops);
void vs_pace_fini(struct vs_pace *p);

/* Hands a slice to the encoder, in parts if need be. As consume. */
int vs_pace_consume(struct vs_pace *p, const struct vs_encoder_ops *ops, void *encoder,
                    const struct vs_slice *slice);

#endif
