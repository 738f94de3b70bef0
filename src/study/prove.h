/* SPDX-License-Identifier: MIT */
/* Many techniques proved on one run: encoded together in one pass, then decoded and compared in
 * parallel. At most VS_PROVE_GROUP streams are in memory at a time. */
#ifndef STUDY_PROVE_H
#define STUDY_PROVE_H

#include "base/progress.h"
#include "rerun/selection.h"
#include "study/mutate.h"

#define VS_PROVE_GROUP 8

struct vs_proof {
    struct vs_technique_spec spec;
    const char *skipped; /* why it cannot be decoded (nothing else is set then), or NULL */
    int error;           /* why the comparison could not be made, with diag; else 0 */
    struct vs_diag diag;
    struct vs_verify_result result;
    struct vs_mutation mutation; /* if it was asked for and the outcome is VS_VERIFY_SAME */
};

/* The run as several threads open it: all of it or, if `what` is not NULL, a part. */
struct vs_proof_source {
    const char *path;
    const struct vs_selection *what;
};

/* Decodes a stream and compares it, as vs_verify_stream does; result, error and diag go into the
 * proof. If mutate is not NULL and the stream is equal to the run, mutates it too. */
void vs_prove_stream(struct vs_verify *v, const struct vs_proof_source *source,
                     const struct vs_port_stream *streams, const struct vs_mutate *mutate,
                     struct vs_proof *proof);

/* Fills in everything but the specs. mutate may be NULL; progress counts techniques. Returns 0; as
 * vs_bandwidth_run and vs_run_open_selected. */
int vs_prove(struct vs_verify *v, const struct vs_proof_source *source,
             const struct vs_mutate *mutate, struct vs_proof *proofs, size_t count,
             struct vs_progress *progress, struct vs_diag *diag);

#endif
