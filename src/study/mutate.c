/* SPDX-License-Identifier: MIT */
#include "study/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/random.h"
#include "study/decoders.h"
#include "study/told.h"
#include "technique/packets.h"

enum verdict { NOTICED, UNREAD, RECODED, MISSED };

struct campaign {
    const struct vs_verify *v;
    const struct vs_crew *crew;
    const struct vs_technique_spec *spec;
    struct vs_port_shape shape;
    const struct vs_port_stream *streams;
    struct vs_told told; /* by the unchanged streams */
    uint64_t nbits;      /* in all streams; they are numbered one stream after the other */
    uint64_t *bits;      /* to be flipped */
    uint8_t *verdicts;
    size_t count, stride;
};

/* A job that flips every stride-th of the campaign's bits. */
struct shift {
    struct vs_job job;
    const struct campaign *c;
    size_t first;
    int error;
    struct vs_diag diag;
};

/* ---- which bits ------------------------------------------------------------------------------ */

static uint64_t scale(uint64_t total, uint64_t part, uint64_t of)
{
    return (uint64_t)((unsigned __int128)total * part / of);
}

/* Chooses one bit from each of as many equal parts as there are flips, so that they spread over the
 * whole stream and no bit comes twice. */
static void choose_bits(struct campaign *c, uint64_t seed)
{
    for (size_t i = 0; i < c->count; i++) {
        uint64_t from = scale(c->nbits, i, c->count), to = scale(c->nbits, i + 1, c->count);
        c->bits[i] = from + vs_random(&seed) % (to - from);
    }
}

/* ---- other encodings of the same bytes ------------------------------------------------------- */

struct unpacked {
    struct vs_buf bytes[VS_PACKETS_STREAMS];
    uint64_t bits[VS_PACKETS_STREAMS];
};

static int unpack(const struct campaign *c, const struct vs_port_stream *streams,
                  struct unpacked *u)
{
    const struct vs_technique_setup *setup = &c->v->setup;
    const struct vs_packets_plan plan = c->spec->technique->packets(c->spec->params, setup);
    struct vs_port_reader port;
    int err = vs_port_reader_init(&port, &c->shape, streams);
    if (!err)
        err = vs_packets_unpack(&plan, &port, u->bytes, u->bits);
    vs_port_reader_fini(&port);
    return err;
}

static bool same_bytes(const struct unpacked *a, const struct unpacked *b)
{
    bool same = true;
    for (unsigned i = 0; i < VS_PACKETS_STREAMS; i++)
        same = same && a->bits[i] == b->bits[i] && a->bytes[i].len == b->bytes[i].len &&
               (!a->bytes[i].len || !memcmp(a->bytes[i].data, b->bytes[i].data, a->bytes[i].len));
    return same;
}

static int is_recoded(const struct campaign *c, const struct vs_port_stream *flipped, bool *recoded)
{
    struct unpacked u[2] = {0};
    int err = unpack(c, c->streams, &u[0]);
    if (!err)
        err = unpack(c, flipped, &u[1]);
    *recoded = !err && same_bytes(&u[0], &u[1]);
    for (unsigned i = 0; i < VS_PACKETS_STREAMS; i++) {
        vs_buf_fini(&u[0].bytes[i]);
        vs_buf_fini(&u[1].bytes[i]);
    }
    return err == -VSE_NOMEM ? err : 0;
}

/* ---- one flip -------------------------------------------------------------------------------- */

static int judge(const struct campaign *c, struct vs_verify *v, struct vs_port_store *copy,
                 size_t i, struct vs_diag *diag)
{
    struct vs_retold retold = {.told = &c->told};
    const struct vs_verify_probe probe = {
        .unknown = vs_retold_note, .context = &retold, .brief = true};
    struct vs_verify_result result = {0};
    bool unread = false, recoded = false;
    v->probe = &probe;
    vs_port_store_flip(copy, c->bits[i]);
    int err = vs_verify_stream(v, c->spec, copy->streams, &result, diag);
    bool noticed = result.outcome != VS_VERIFY_SAME;
    if (!err && !noticed)
        err = vs_retold_unread(v, &retold, &unread);
    if (!err && !noticed && c->spec->technique->packets)
        err = is_recoded(c, copy->streams, &recoded);
    vs_port_store_flip(copy, c->bits[i]);
    vs_retold_fini(&retold);
    c->verdicts[i] = (uint8_t)(noticed ? NOTICED : unread ? UNREAD : recoded ? RECODED : MISSED);
    return err;
}

static void run_shift(void *arg)
{
    struct shift *s = arg;
    const struct campaign *c = s->c;
    struct vs_verify v = *c->v; /* all that is shared is only read */
    struct vs_port_store copy = {0};
    v.reader = c->crew->readers[s->job.worker];
    s->error = vs_port_store_copy(&copy, &c->shape, c->streams);
    for (size_t i = s->first; i < c->count && !s->error; i += c->stride)
        s->error = judge(c, &v, &copy, i, &s->diag);
    vs_port_store_fini(&copy);
}

static int run_shifts(struct campaign *c, struct vs_diag *diag)
{
    struct shift *shifts = calloc(c->stride, sizeof(*shifts));
    int err = shifts ? 0 : -VSE_NOMEM;
    for (size_t i = 0; shifts && i < c->stride; i++) {
        shifts[i] = (struct shift){.c = c, .first = i};
        shifts[i].job = (struct vs_job){.run = run_shift, .arg = &shifts[i]};
        vs_workers_submit(c->crew->workers, &shifts[i].job);
    }
    for (size_t i = 0; shifts && i < c->stride; i++) {
        vs_workers_help(c->crew->workers, &shifts[i].job);
        if (shifts[i].error && !err) {
            err = shifts[i].error;
            *diag = shifts[i].diag;
        }
    }
    free(shifts);
    return err && diag->error != err ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void count(struct vs_mutate_counts *c, enum verdict verdict)
{
    c->flips++;
    c->noticed += verdict == NOTICED;
    c->unread += verdict == UNREAD;
    c->recoded += verdict == RECODED;
    c->missed += verdict == MISSED;
}

static void sum_up(const struct campaign *c, const uint8_t *fields, struct vs_mutation *r)
{
    r->per_core = c->shape.per_core;
    for (size_t i = 0; i < c->count; i++) {
        uint8_t field = fields[c->bits[i]];
        if (c->verdicts[i] == MISSED && !r->all.missed)
            r->stream =
                vs_port_stream_of(c->streams, vs_port_streams(&c->shape), c->bits[i], &r->missed);
        count(&r->fields[field ? field - 1 : VS_FIELD_END], c->verdicts[i]);
        count(&r->all, c->verdicts[i]);
    }
}

/* Finds out as which field each bit of the unchanged streams is read, and what they tell. */
static int map_fields(struct campaign *c, uint8_t *fields, struct vs_diag *diag)
{
    const struct vs_verify_probe probe = {
        .fields = fields, .unknown = vs_told_note, .context = &c->told, .brief = true};
    struct vs_verify_result result = {0};
    struct vs_verify v = *c->v;
    v.probe = &probe;
    int err = vs_verify_stream(&v, c->spec, c->streams, &result, diag);
    if (!err && c->told.error)
        err = vs_diag_set(diag, c->told.error, -1, -1, "%s", vs_errstr(c->told.error));
    if (!err && result.outcome != VS_VERIFY_SAME)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "the stream is not the run's");
    return err;
}

int vs_mutate(const struct vs_verify *v, const struct vs_crew *crew,
              const struct vs_technique_spec *spec, const struct vs_port_stream *streams,
              const struct vs_mutate *m, struct vs_mutation *result, struct vs_diag *diag)
{
    struct vs_technique_spec settled = *spec;
    vs_technique_settle(&settled, v->setup.timed);
    struct campaign c = {.v = v, .crew = crew, .spec = &settled, .streams = streams};
    vs_technique_shape(&settled, &v->setup, &c.shape);
    c.nbits = vs_port_streams_bits(streams, vs_port_streams(&c.shape));
    c.count = (size_t)(m->flips < c.nbits ? m->flips : c.nbits);
    uint8_t *fields = calloc(c.nbits ? (size_t)c.nbits : 1, 1);
    size_t shifts = 8 * ((size_t)crew->threads + 1);
    c.bits = malloc((c.count + 1) * sizeof(*c.bits));
    c.verdicts = malloc(c.count + 1);
    c.stride = c.count < shifts ? c.count : shifts;
    *result = (struct vs_mutation){0};
    int err = fields && c.bits && c.verdicts
                  ? map_fields(&c, fields, diag)
                  : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "%s", vs_errstr(-VSE_NOMEM));
    if (!err && c.count) {
        choose_bits(&c, m->seed);
        err = run_shifts(&c, diag);
    }
    if (!err)
        sum_up(&c, fields, result);
    vs_told_fini(&c.told);
    free(fields);
    free(c.bits);
    free(c.verdicts);
    return err;
}

double vs_mutate_share(const struct vs_mutate_counts *c)
{
    uint64_t all = c->noticed + c->missed;
    return all ? (double)c->noticed / (double)all : 1;
}
