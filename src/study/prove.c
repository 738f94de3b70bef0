/* SPDX-License-Identifier: MIT */
#include "study/prove.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "base/workers.h"
#include "port/store.h"
#include "study/bandwidth.h"
#include "study/decoders.h"
#include "rerun/run_open.h"

struct stream {
    struct vs_job job;
    const struct prover *prover;
    struct vs_proof *proof;
    struct vs_port_store store;
};

struct prover {
    struct vs_verify *v;
    struct vs_crew crew;
    const struct vs_mutate *mutate; /* or NULL */
    struct stream streams[VS_PROVE_GROUP];
    size_t count;
};

static void compare(struct vs_verify *v, const struct vs_port_stream *streams,
                    struct vs_proof *proof)
{
    proof->error = vs_verify_stream(v, &proof->spec, streams, &proof->result, &proof->diag);
}

static void compare_stream(void *arg)
{
    struct stream *s = arg;
    struct vs_verify v = *s->prover->v; /* all that is shared is only read */
    invariant(s->job.worker <= s->prover->crew.threads);
    v.reader = s->prover->crew.readers[s->job.worker];
    compare(&v, s->store.streams, s->proof);
}

static int encode_group(struct prover *p, struct vs_diag *diag)
{
    struct vs_bandwidth b;
    struct vs_port_shape shape;
    int err = vs_bandwidth_init(&b, p->v->reader, NULL, diag);
    for (size_t i = 0; i < p->count && !err; i++) {
        struct vs_port_store *store = &p->streams[i].store;
        int64_t row =
            vs_bandwidth_add(&b, &p->streams[i].proof->spec, vs_port_to_store, store, diag);
        if (row >= 0)
            vs_technique_shape(&b.rows[row].spec, &b.setup, &shape);
        err = row < 0 ? (int)row : vs_port_store_init(store, &shape);
        if (row >= 0 && err)
            vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    }
    if (!err)
        err = vs_bandwidth_run(&b, p->v->reader, NULL, diag);
    for (size_t i = 0; i < p->count && !err; i++) {
        struct vs_verify_result *r = &p->streams[i].proof->result;
        r->bits = b.rows[i].bits;
        r->counts = b.rows[i].counts;
        r->encoded = b.rows[i].encoded;
    }
    vs_bandwidth_fini(&b);
    return err;
}

static void mutate_stream(struct prover *p, const struct vs_port_stream *streams,
                          struct vs_proof *proof)
{
    if (p->mutate && !proof->error && proof->result.outcome == VS_VERIFY_SAME)
        proof->error = vs_mutate(p->v, &p->crew, &proof->spec, streams, p->mutate, &proof->mutation,
                                 &proof->diag);
}

static void compare_group(struct prover *p, struct vs_progress *progress, size_t *done)
{
    for (size_t i = 0; i < p->count; i++) {
        struct stream *s = &p->streams[i];
        s->job = (struct vs_job){.run = compare_stream, .arg = s};
        vs_workers_submit(p->crew.workers, &s->job);
    }
    for (size_t i = 0; i < p->count; i++) {
        struct stream *s = &p->streams[i];
        vs_workers_help(p->crew.workers, &s->job);
        mutate_stream(p, s->store.streams, s->proof);
        vs_progress_update(progress, ++*done);
    }
}

/* Takes the next group of proofs that can be made. Returns how many were looked at. */
static size_t take_group(struct prover *p, struct vs_proof *proofs, size_t count, size_t *done)
{
    size_t i = 0;
    p->count = 0;
    for (; i < count && p->count < VS_PROVE_GROUP; i++) {
        proofs[i].skipped = vs_technique_undecodable(&proofs[i].spec);
        if (proofs[i].skipped)
            ++*done;
        else
            p->streams[p->count++] = (struct stream){.prover = p, .proof = &proofs[i]};
    }
    return i;
}

static int prover_init(struct prover *p, struct vs_verify *v, const struct vs_proof_source *source,
                       const struct vs_mutate *mutate, struct vs_diag *diag)
{
    struct vs_crew *crew = &p->crew;
    *p = (struct prover){.v = v, .mutate = mutate, .crew.threads = vs_workers_beside()};
    crew->readers = calloc(crew->threads + 1, sizeof(struct vs_reader *));
    int err = crew->readers ? vs_workers_open(&crew->workers, crew->threads) : -VSE_NOMEM;
    if (err)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    for (unsigned i = 0; i <= crew->threads && !err; i++)
        err = vs_run_open_selected(&crew->readers[i], source->path, VS_OPEN_DEFAULT, source->what,
                                   NULL, NULL, diag);
    return err;
}

static void prover_fini(struct prover *p)
{
    vs_workers_close(p->crew.workers);
    for (unsigned i = 0; p->crew.readers && i <= p->crew.threads; i++)
        vs_reader_close(p->crew.readers[i]);
    free(p->crew.readers);
}

void vs_prove_stream(struct vs_verify *v, const struct vs_proof_source *source,
                     const struct vs_port_stream *streams, const struct vs_mutate *mutate,
                     struct vs_proof *proof)
{
    struct prover p;
    compare(v, streams, proof);
    if (!mutate)
        return;
    int err = prover_init(&p, v, source, mutate, &proof->diag);
    if (err)
        proof->error = err;
    mutate_stream(&p, streams, proof);
    prover_fini(&p);
}

int vs_prove(struct vs_verify *v, const struct vs_proof_source *source,
             const struct vs_mutate *mutate, struct vs_proof *proofs, size_t count,
             struct vs_progress *progress, struct vs_diag *diag)
{
    struct prover p;
    size_t done = 0;
    int err = prover_init(&p, v, source, mutate, diag);
    for (size_t at = 0; at < count && !err;) {
        at += take_group(&p, proofs + at, count - at, &done);
        if (p.count && !(err = encode_group(&p, diag)))
            compare_group(&p, progress, &done);
        for (size_t i = 0; i < p.count; i++)
            vs_port_store_fini(&p.streams[i].store);
    }
    prover_fini(&p);
    return err;
}
