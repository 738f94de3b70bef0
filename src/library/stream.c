/* SPDX-License-Identifier: MIT */
#include "vestige/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "isa/set.h"
#include "library/catalog.h"
#include "library/encode.h"
#include "library/program.h"
#include "library/sized.h"
#include "replay/walk.h"
#include "study/decoders.h"
#include "study/prove.h"
#include "study/stream_file.h"

static int refuse_options(struct vs_diag *diag, int err)
{
    return vs_diag_set(diag, err, -1, -1, "%s",
                       err == -VSE_FEATURE ? "an option is set that this library does not know"
                                           : "an argument is missing, or options without a size");
}

/* What an error says that did not say it itself. */
static int tell(struct vs_diag *diag, int err, const struct vs_diag *own)
{
    return err ? vs_diag_set(diag, err, own->offset, own->chunk, "%s",
                             own->text[0] ? own->text : vs_errstr(err))
               : 0;
}

/* ---- encoding -------------------------------------------------------------------------------- */

int vs_encode_prepare(struct vs_bandwidth *b, const struct vs_reader *reader,
                      const struct vs_technique *const *table, const char *text,
                      struct vs_technique_spec *spec, struct vs_diag *diag)
{
    int err = vs_technique_parse_in(table, spec, text, diag);
    if (!err)
        err = vs_bandwidth_lacks(spec->technique, vs_reader_info(reader), diag);
    if (err)
        return err;
    err = vs_bandwidth_init(b, reader, NULL, diag);
    if (err)
        vs_bandwidth_fini(b);
    else
        vs_technique_settle(spec, b->setup.timed);
    return err;
}

static int encode(struct vs_bandwidth *b, struct vs_reader *reader,
                  const struct vs_technique_spec *spec, struct vs_vport_writer *w,
                  struct vs_diag *diag)
{
    struct vs_diag own = {.offset = -1, .chunk = -1};
    int64_t row = vs_bandwidth_add(b, spec, vs_vport_append, w, &own);
    int err = row < 0 ? (int)row : vs_bandwidth_run(b, reader, NULL, &own);
    const struct vs_diag *wrote = vs_vport_writer_diag(w);
    if (!err)
        return vs_vport_seal(w, diag);
    tell(diag, err, wrote->error ? wrote : &own);
    vs_vport_abort(w);
    return err;
}

int vs_encode(struct vs_reader *reader, const char *text, const char *path,
              const struct vs_encode_options *options, struct vs_encoded *result,
              struct vs_diag *diag)
{
    struct vs_encode_options o;
    struct vs_encoded own = {0};
    struct vs_technique_spec spec;
    struct vs_vport_writer *w;
    struct vs_bandwidth b;
    int err = reader && text && path ? vs_sized_take(&o, sizeof(o), options) : -VSE_INVAL;
    if (!err && result)
        err = vs_sized_give(result, &own, sizeof(own));
    if (err)
        return refuse_options(diag, err);
    err = vs_encode_prepare(&b, reader, vs_catalog_table(o.catalog), text, &spec, diag);
    if (err)
        return err;
    err = vs_stream_create(&w, path, o.overwrite, reader, &spec, &b.setup, diag);
    if (!err)
        err = encode(&b, reader, &spec, w, diag);
    if (!err) {
        own.bits = b.rows[0].bits;
        own.messages = b.rows[0].counts.messages;
    }
    vs_bandwidth_fini(&b);
    return err || !result ? err : vs_sized_give(result, &own, sizeof(own));
}

/* ---- decoding -------------------------------------------------------------------------------- */

enum { STEPS = 512 };

struct sink {
    vs_decode_sink *sink;
    void *context;
};

static int hand_on(void *context, const struct vs_step *steps, size_t count)
{
    const struct sink *to = context;
    struct vs_decoded list[STEPS];
    size_t n;
    int err = 0;
    for (; count && !err; steps += n, count -= n) {
        n = count < STEPS ? count : STEPS;
        for (size_t i = 0; i < n; i++)
            list[i] = (struct vs_decoded){.pc = steps[i].pc,
                                          .target = steps[i].target,
                                          .cycle = steps[i].time,
                                          .instructions = steps[i].icount,
                                          .core = steps[i].core,
                                          .flags = steps[i].flags,
                                          .size = steps[i].size};
        err = to->sink(to->context, list, n);
    }
    return err < 0 ? err : 0;
}

/* What decoding needs beside the stream. */
struct decoding {
    struct vs_vport *port;
    struct vs_program program;
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
};

static int walk(struct decoding *d, const struct vs_walk_config *given, void **decoder,
                struct vs_decode_result *result, struct vs_diag *diag)
{
    struct vs_walk_config config = *given;
    const struct vs_flow_decoder_ops *ops = config.ops;
    struct vs_walk w;
    int err = ops->open(decoder, d->spec.params, &d->setup, config.port);
    if (err)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    config.decoder = *decoder;
    err = vs_walk_init(&w, &config);
    if (!err)
        err = vs_walk_all(&w);
    result->steps = w.steps;
    result->branches = w.branches;
    result->instructions = w.instructions;
    result->messages = config.port->messages;
    tell(diag, err, &w.diag);
    vs_walk_fini(&w);
    return err;
}

static int decode(struct decoding *d, const struct vs_decode_options *o, struct sink *sink,
                  struct vs_decode_result *result, struct vs_diag *diag)
{
    const struct vs_isa *isa = vs_isa_find(d->port->about.isa);
    const struct vs_flow_decoder_ops *ops = d->spec.technique->flow_decoder;
    struct vs_port_reader reader;
    struct vs_port_shape shape;
    void *decoder = NULL;
    if (!isa || !ops)
        return vs_diag_set(
            diag, -VSE_FEATURE, -1, -1, "%s%.60s%s", isa ? d->spec.technique->name : "code of '",
            isa ? "" : d->port->about.isa, isa ? " has no control flow" : "' cannot be followed");
    const struct vs_program_source source = {o->code, o->images, o->image_count, NULL};
    int err = vs_program_open(&d->program, &source, &d->port->about, diag);
    if (err)
        return err;
    vs_technique_shape(&d->spec, &d->setup, &shape);
    err = vs_port_reader_init(&reader, &shape, d->port->streams);
    const struct vs_walk_config config = {.isa = isa,
                                          .code = &d->program.image.text,
                                          .ops = ops,
                                          .port = &reader,
                                          .cores = d->setup.cores,
                                          .limit = o->limit,
                                          .sink = sink->sink ? hand_on : NULL,
                                          .context = sink};
    if (err)
        vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    else
        err = walk(d, &config, &decoder, result, diag);
    ops->close(decoder);
    vs_port_reader_fini(&reader);
    return err;
}

int vs_decode(const char *path, const struct vs_decode_options *options, vs_decode_sink *sink,
              void *context, struct vs_decode_result *result, struct vs_diag *diag)
{
    struct vs_decode_options o;
    struct vs_decode_result own = {0};
    struct decoding d = {0};
    struct sink to = {sink, context};
    int err = path ? vs_sized_take(&o, sizeof(o), options) : -VSE_INVAL;
    if (!err && result)
        err = vs_sized_give(result, &own, sizeof(own));
    if (err)
        return refuse_options(diag, err);
    err = vs_vport_open(&d.port, path, diag);
    if (err)
        return err;
    err = vs_stream_spec(vs_catalog_table(o.catalog), &d.port->about, &d.spec, &d.setup, diag);
    if (!err)
        err = decode(&d, &o, &to, &own, diag);
    if (!err && d.port->truncated)
        err = tell(diag, -VSE_TRUNCATED, &d.port->missing);
    vs_program_fini(&d.program);
    vs_vport_close(d.port);
    if (result)
        vs_sized_give(result, &own, sizeof(own));
    return err;
}

/* ---- proving --------------------------------------------------------------------------------- */

static int parse_all(const struct vs_catalog *catalog, const char *const *specs, size_t count,
                     const struct vs_reader *reader, struct vs_proof *proofs, struct vs_diag *diag)
{
    int err = 0;
    for (size_t i = 0; i < count && !err; i++) {
        err = specs[i] ? vs_technique_parse_in(vs_catalog_table(catalog), &proofs[i].spec, specs[i],
                                               diag)
                       : refuse_options(diag, -VSE_INVAL);
        if (!err)
            err = vs_bandwidth_lacks(proofs[i].spec.technique, vs_reader_info(reader), diag);
    }
    return err;
}

static int prove(struct vs_reader *reader, const char *path, struct vs_proof *proofs, size_t count,
                 struct vs_diag *diag)
{
    const struct vs_proof_source source = {.path = path};
    struct vs_diag own = {.offset = -1, .chunk = -1};
    unsigned serves = 0, needs = 0;
    struct vs_verify v;
    for (size_t i = 0; i < count; i++) {
        serves |= proofs[i].spec.technique->serves;
        needs |= vs_technique_needs(&proofs[i].spec);
    }
    int err = vs_verify_prepare(&v, reader, serves, needs, &own);
    if (!err)
        err = vs_prove(&v, &source, NULL, proofs, count, NULL, &own);
    vs_verify_fini(&v);
    for (size_t i = 0; i < count && !err; i++)
        if ((err = proofs[i].error))
            own = proofs[i].diag;
    return tell(diag, err, &own);
}

static int give_proofs(const struct vs_proof *proofs, size_t count, struct vs_proved *results)
{
    size_t stride = results->size;
    int err = 0;
    for (size_t i = 0; i < count && !err; i++) {
        const struct vs_verify_result *r = &proofs[i].result;
        void *to = (char *)results + i * stride;
        struct vs_proved own = {.same = !proofs[i].skipped && r->outcome == VS_VERIFY_SAME,
                                .compared = r->compared,
                                .bits = r->bits};
        if (!own.same)
            snprintf(own.why, sizeof(own.why), "%s",
                     proofs[i].skipped ? proofs[i].skipped : r->diag.text);
        *(size_t *)to = stride;
        err = vs_sized_give(to, &own, sizeof(own));
    }
    return err;
}

int vs_prove_run(const char *path, const struct vs_catalog *catalog, const char *const *specs,
                 size_t count, struct vs_proved *results, struct vs_diag *diag)
{
    struct vs_reader *reader;
    if (!path || !count || !specs || !results || results->size < sizeof(size_t))
        return refuse_options(diag, -VSE_INVAL);
    int err = vs_run_open(&reader, path, VS_OPEN_DEFAULT, diag);
    if (err)
        return err;
    struct vs_proof *proofs = calloc(count, sizeof(*proofs));
    if (!proofs)
        err = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (!err)
        err = parse_all(catalog, specs, count, reader, proofs, diag);
    if (!err)
        err = prove(reader, path, proofs, count, diag);
    if (!err)
        err = give_proofs(proofs, count, results);
    free(proofs);
    vs_reader_close(reader);
    return err;
}
