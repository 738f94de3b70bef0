/* SPDX-License-Identifier: MIT */
/* Many techniques proved on one run: encoded together in one pass, then decoded and compared in
 * parallel. As many streams are in memory at a time as VS_PROVE_GROUP. */
#ifndef STUDY_PROVE_H
#define STUDY_PROVE_H

#include "base/progress.h"
#include "study/mutate.h"

#define VS_PROVE_GROUP 8

struct vs_proof {
    struct vs_technique_spec spec;
    const char *skipped; /* why it cannot be decoded; then nothing else is set. NULL: it can */
    int error;           /* the comparison could not be made: diag */
    struct vs_diag diag;
    struct vs_verify_result result;
    struct vs_mutation mutation; /* if it was asked for, and the outcome is the same */
};

/* Decodes a stream and compares it, as vs_verify_stream; the result is the proof's, as its error
 * and diag. If mutate is not NULL and it is equal, mutates it too. `path` is the run's, which is
 * read by several threads then. */
void vs_prove_stream(struct vs_verify *v, const char *path, const struct vs_port_stream *streams,
                     const struct vs_mutate *mutate, struct vs_proof *proof);

/* Fills in all but the specs. `path` is the run's, which is read by several threads; mutate may be
 * NULL; progress counts techniques. Returns 0; as vs_bandwidth_run and vs_reader_open. */
int vs_prove(struct vs_verify *v, const char *path, const struct vs_mutate *mutate,
             struct vs_proof *proofs, size_t count, struct vs_progress *progress,
             struct vs_diag *diag);

#endif
