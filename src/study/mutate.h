/* SPDX-License-Identifier: MIT */
/* Proof of the proof: bits of a stream are flipped, one at a time, and every stream that so comes
 * about is decoded and compared with the run. A bit that was consumed to reproduce the run is
 * missed there: the decoder refuses the stream, or something differs.
 *
 * Bits of which that is not so are without effect only if that is shown:
 *   unread    of the run itself. A module sends granules and lines whole; a byte of them that no
 *             core reads before it is overwritten, or until the end, is nobody's
 *   recoded   by a general compressor, of which the same bytes come out: they have several
 *             encodings */
#ifndef STUDY_MUTATE_H
#define STUDY_MUTATE_H

#include "base/progress.h"
#include "base/workers.h"
#include "port/field.h"
#include "study/verify.h"

struct vs_mutate {
    uint64_t flips; /* as many as there are bits, or more: each of them */
    uint64_t seed;
};

struct vs_mutate_counts {
    uint64_t flips;
    uint64_t noticed;
    uint64_t unread;  /* without effect: a byte that no core ever reads */
    uint64_t recoded; /* the same: the compressor's other encoding of the same bytes */
    uint64_t missed;  /* and should not have been */
};

/* The last of the fields: bits that no decoder has read. */
struct vs_mutation {
    struct vs_mutate_counts fields[VS_FIELD_END + 1], all;
    uint64_t missed; /* if there is one: the first bit, of its stream */
    unsigned stream; /* that one */
    bool per_core;   /* there is one for each core */
};

/* Threads that compare, each with a reader of its own, the caller's the last. */
struct vs_crew {
    struct vs_workers *workers;
    struct vs_reader **readers;
    unsigned threads;
};

/* A stream that is equal to the run. `v` as for vs_verify_stream. Returns 0; -VSE_NOMEM; as
 * vs_verify_stream; -VSE_INVAL if it is not equal. */
int vs_mutate(const struct vs_verify *v, const struct vs_crew *crew,
              const struct vs_technique_spec *spec, const struct vs_port_stream *streams,
              const struct vs_mutate *m, struct vs_mutation *result, struct vs_diag *diag);

/* The share of the flips with an effect that were noticed: 1 if there are none. */
double vs_mutate_share(const struct vs_mutate_counts *c);

#endif
