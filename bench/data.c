/* SPDX-License-Identifier: MIT */
/* Load-value trace modules: how fast encoders take the accesses of a run, and decoders give the
 * loads back. One thread, on runs of the simulator whose events lie in memory; decoding is in the
 * run's order, and includes the comparison of every load. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "bench.h"
#include "events.h"
#include "study/verify_data.h"
#include "technique/data.h"

/* A run, and what its memory held before. */
struct loaded {
    struct events events;
    struct vs_prior *prior;
};

/* Seconds to encode all of it; the best of several. out may be NULL: bits are only counted. */
static double encode(const struct bench *b, const struct loaded *s,
                     const struct vs_technique_spec *spec, struct vs_buf *out, uint64_t *nbits)
{
    const struct vs_encoder_ops *ops = spec->technique->encoder;
    const struct vs_batch batch = events_batch(&s->events);
    double best = 1e9;

    for (unsigned i = 0; i < (out ? 1 : bench_repeats(b)); i++) {
        struct vs_port_shape shape;
        struct vs_port_writer port;
        void *encoder;
        double start;
        int64_t bits;

        vs_technique_shape(spec, &s->events.setup, &shape);
        events_must(vs_port_writer_init(&port, &shape, out ? vs_port_to_buf : NULL, out), "port");
        events_must(ops->open(&encoder, &(struct vs_technique_context){.params = spec->params,
                                                                       .setup = &s->events.setup,
                                                                       .port = &port,
                                                                       .prior = s->prior}),
                    "encoder");
        start = bench_now();
        events_must(ops->consume(encoder, &(struct vs_slice){.events = &batch}), "encode");
        events_must(vs_encoder_finish(ops, encoder), "encode");
        if (bench_now() - start < best)
            best = bench_now() - start;
        events_must(bits = vs_port_finish(&port), "port");
        if (nbits)
            *nbits = (uint64_t)bits;
        ops->close(encoder);
        vs_port_writer_fini(&port);
    }
    return best;
}

static double decode_once(const struct loaded *s, const struct vs_technique_spec *spec,
                          const struct vs_buf *bits, uint64_t nbits)
{
    const struct vs_data_decoder_ops *ops = spec->technique->data_decoder;
    const struct vs_batch batch = events_batch(&s->events);
    const struct vs_port_stream stream = {bits->data, bits->len, nbits};
    struct vs_verify_data *v = malloc(sizeof(*v));
    struct vs_port_reader port;
    struct vs_port_shape shape;
    void *decoder;
    double start;

    vs_technique_shape(spec, &s->events.setup, &shape);
    events_must(v ? 0 : -VSE_NOMEM, "memory");
    events_must(vs_port_reader_init(&port, &shape, &stream), "port");
    events_must(vs_verify_data_init(v, ops, &port, s->events.setup.cores), "decoder");
    events_must(ops->open(&decoder, spec->params, &s->events.setup, &port), "decoder");
    vs_verify_data_drive(v, decoder);
    start = bench_now();
    if (vs_verify_data_batch(v, &batch) < 0 || vs_verify_data_end(v) < 0)
        bench_fail("%s: %s", spec->technique->name, v->c.diag.text);
    start = bench_now() - start;
    vs_verify_data_fini(v);
    ops->close(decoder);
    vs_port_reader_fini(&port);
    free(v);
    return start;
}

static double decode(const struct bench *b, const struct loaded *s,
                     const struct vs_technique_spec *spec)
{
    struct vs_buf bits = {0};
    uint64_t nbits;
    double best = 1e9, once;

    encode(b, s, spec, &bits, &nbits);
    for (unsigned i = 0; i < bench_repeats(b); i++)
        if ((once = decode_once(s, spec, &bits, nbits)) < best)
            best = once;
    vs_buf_fini(&bits);
    return best;
}

static void one(struct bench *b, const char *name, const struct loaded *s)
{
    static const struct {
        const char *spec;
        double encode, decode;
        unsigned cores; /* that the targets speak of */
    } rows[] = {
        {"mlvNX_b", 0, 0, 1}, {"mlvCF_e:L", 40, 25, 1},   {"mlvFA", 0, 0, 1},
        {"mc2RT", 15, 15, 8}, {"mc2RT:implied", 0, 0, 8}, {"mc2RT_k", 10.5, 10.5, 8},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_technique_spec spec;
        char metric[48];
        bool aimed = rows[i].cores == 1 ? s->events.setup.cores == 1
                                        : s->events.setup.cores >= rows[i].cores;

        events_must(vs_technique_parse(&spec, rows[i].spec, NULL), rows[i].spec);
        vs_technique_settle(&spec, false);
        snprintf(metric, sizeof(metric), "%s encode", rows[i].spec);
        bench_row(b, "data", name, metric,
                  1e-6 * (double)s->events.accesses / encode(b, s, &spec, NULL, NULL), "Maccess/s",
                  1, aimed ? rows[i].encode : 0);
        snprintf(metric, sizeof(metric), "%s decode", rows[i].spec);
        bench_row(b, "data", name, metric, 1e-6 * (double)s->events.accesses / decode(b, s, &spec),
                  "Maccess/s", 1, aimed ? rows[i].decode : 0);
    }
}

void bench_data(struct bench *b)
{
    static const struct events_program programs[] = {
        {"fft", "16", "1"}, {"sort", "300", NULL}, {"tree", "100", NULL},
        {"fft", "16", "8"}, {"ocean", "6", "8"},   {"radix", "100000", "8"}};

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct loaded s;
        struct vs_batch all;
        char row[64];

        events_name(&programs[i], row, sizeof(row));
        events_record(&s.events, b, &programs[i]);
        all = events_batch(&s.events);
        events_must(vs_prior_open(&s.prior), "prior");
        events_must(vs_prior_consume(s.prior, &all), "prior");
        one(b, row, &s);
        vs_prior_close(s.prior);
        events_free(&s.events);
    }
}
