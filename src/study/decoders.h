/* SPDX-License-Identifier: MIT */
/* The one place that knows which decoders a technique has: a stream is decoded and compared for
 * every kind that its technique serves. */
#ifndef STUDY_DECODERS_H
#define STUDY_DECODERS_H

#include "study/verify.h"

/* Prepares a run for techniques that together serve these kinds, and whose encoders have these
 * needs (enum vs_technique_need). Control flow takes a pass over the run, as does code that is
 * followed; what is compared event by event takes one more. Returns as vs_verify_init,
 * vs_verify_init_code, vs_verify_init_data and vs_verify_read. vs_verify_fini is needed in any
 * case. */
int vs_verify_prepare(struct vs_verify *v, struct vs_reader *reader, unsigned serves,
                      unsigned needs, struct vs_diag *diag);

/* Compares a stream with the run that v was prepared for. Returns as vs_verify_decode. If the
 * technique serves several kinds, the result's outcome is the first that is not VS_VERIFY_SAME, and
 * `compared` is their sum. */
int vs_verify_stream(struct vs_verify *v, const struct vs_technique_spec *spec,
                     const struct vs_port_stream *streams, struct vs_verify_result *result,
                     struct vs_diag *diag);

#endif
