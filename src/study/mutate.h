/* SPDX-License-Identifier: MIT */
/* Proof of the proof: a stream's bits are flipped, one at a time, and every stream that results is
 * decoded and compared with the run. If the flipped bit was consumed to reproduce the run, this is
 * noticed: the decoder refuses the stream, or something differs.
 *
 * A flip that is not noticed is without effect only if one of these is shown:
 *   unread    All that it changes is what the stream tells of bytes that no core reads before they
 *             are overwritten or the run ends. Modules send granules and lines whole, and so send
 *             such bytes too; with a book of words, one bit can tell several of them.
 *   recoded   A general compressor's stream still yields the same bytes, which have several
 *             encodings. */
#ifndef STUDY_MUTATE_H
#define STUDY_MUTATE_H

#include "base/progress.h"
#include "base/workers.h"
#include "port/field.h"
#include "study/verify.h"

struct vs_mutate {
    uint64_t flips; /* if the stream has no more bits than that, each of them is flipped */
    uint64_t seed;
};

struct vs_mutate_counts {
    uint64_t flips;
    uint64_t noticed;
    uint64_t unread;  /* without effect: in bytes that no core ever reads */
    uint64_t recoded; /* without effect: the compressor's other encoding of the same bytes */
    uint64_t missed;  /* it had an effect and was not noticed */
};

/* The last of the fields counts bits that no decoder has read. */
struct vs_mutation {
    struct vs_mutate_counts fields[VS_FIELD_END + 1], all;
    uint64_t missed; /* the first bit missed, if there is one, in its stream */
    unsigned stream; /* the stream with that bit */
    bool per_core;   /* there is a stream for each core */
};

/* The threads that compare, each with a reader of its own; the calling thread's is the last. */
struct vs_crew {
    struct vs_workers *workers;
    struct vs_reader **readers;
    unsigned threads;
};

/* Flips bits of a stream that is equal to the run. `v` is as for vs_verify_stream. Returns 0;
 * -VSE_NOMEM; as vs_verify_stream; -VSE_INVAL if the stream is not equal. */
int vs_mutate(const struct vs_verify *v, const struct vs_crew *crew,
              const struct vs_technique_spec *spec, const struct vs_port_stream *streams,
              const struct vs_mutate *m, struct vs_mutation *result, struct vs_diag *diag);

/* The share of the flips with an effect that were noticed; 1 if no flip had an effect. */
double vs_mutate_share(const struct vs_mutate_counts *c);

#endif
