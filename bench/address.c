/* SPDX-License-Identifier: MIT */
/* Data-address trace modules, as data.c measures those of load values. gzip and zstd, which pack
 * the same addresses whole, are the peers. Filtering follows the code of the run, which is not
 * here: vestige verify measures that. */
#include <stdio.h>

#include "base/buf.h"
#include "bench.h"
#include "events.h"
#include "study/verify_address.h"
#include "technique/address.h"

/* Seconds to encode all of it; the best of several. */
static double encode(const struct bench *b, const struct events *s,
                     const struct vs_technique_spec *spec, struct vs_buf *out, uint64_t *nbits)
{
    const struct vs_encoder_ops *ops = spec->technique->encoder;
    const struct vs_batch batch = events_batch(s);
    double best = 1e9;

    for (unsigned i = 0; i < bench_repeats(b); i++) {
        struct vs_port_shape shape;
        struct vs_port_writer port;
        void *encoder;
        double start, took;
        int64_t bits;

        out->len = 0;
        vs_technique_shape(spec, &s->setup, &shape);
        events_must(vs_port_writer_init(&port, &shape, vs_port_to_buf, out), "port");
        events_must(ops->open(&encoder, &(struct vs_technique_context){.params = spec->params,
                                                                       .setup = &s->setup,
                                                                       .port = &port}),
                    "encoder");
        start = bench_now();
        events_must(ops->consume(encoder, &(struct vs_slice){.events = &batch}), "encode");
        events_must(vs_encoder_finish(ops, encoder), "encode");
        events_must(bits = vs_port_finish(&port), "port");
        if ((took = bench_now() - start) < best)
            best = took;
        *nbits = (uint64_t)bits;
        ops->close(encoder);
        vs_port_writer_fini(&port);
    }
    return best;
}

static double decode(const struct bench *b, const struct events *s,
                     const struct vs_technique_spec *spec, const struct vs_buf *bits,
                     uint64_t nbits)
{
    const struct vs_address_decoder_ops *ops = spec->technique->address_decoder;
    const struct vs_batch batch = events_batch(s);
    const struct vs_port_stream stream = {bits->data, bits->len, nbits};
    double best = 1e9;

    for (unsigned i = 0; i < bench_repeats(b); i++) {
        struct vs_verify_address v;
        struct vs_port_reader port;
        struct vs_port_shape shape;
        void *decoder;
        double start, took;

        vs_technique_shape(spec, &s->setup, &shape);
        events_must(vs_port_reader_init(&port, &shape, &stream), "port");
        vs_verify_address_init(&v, ops, &port, NULL, s->setup.cores);
        events_must(ops->open(&decoder, spec->params, &s->setup, NULL, &port), "decoder");
        vs_verify_address_drive(&v, decoder);
        start = bench_now();
        if (vs_verify_address_batch(&v, &batch) < 0 || vs_verify_address_end(&v) < 0)
            bench_fail("%s: %s", spec->technique->name, v.c.diag.text);
        if ((took = bench_now() - start) < best)
            best = took;
        ops->close(decoder);
        vs_port_reader_fini(&port);
    }
    return best;
}

static void one(struct bench *b, const char *name, const struct events *s)
{
    static const struct {
        const char *spec;
        double encode;
    } rows[] = {
        {"daNX", 0}, {"ADAC:16x4", 0}, {"ADAC:128x4", 30}, {"daRaw_gzip", 0}, {"daRaw_zstd", 0}};
    struct vs_buf bits = {0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_technique_spec spec;
        char metric[48];
        uint64_t nbits;

        events_must(vs_technique_parse(&spec, rows[i].spec, NULL), rows[i].spec);
        vs_technique_settle(&spec, false);
        snprintf(metric, sizeof(metric), "%s encode", rows[i].spec);
        bench_row(b, "address", name, metric,
                  1e-6 * (double)s->accesses / encode(b, s, &spec, &bits, &nbits), "Maddress/s", 1,
                  rows[i].encode);
        snprintf(metric, sizeof(metric), "%s decode", rows[i].spec);
        bench_row(b, "address", name, metric,
                  1e-6 * (double)s->accesses / decode(b, s, &spec, &bits, nbits), "Maddress/s", 1,
                  0);
    }
    vs_buf_fini(&bits);
}

void bench_address(struct bench *b)
{
    static const struct events_program programs[] = {
        {"fft", "16", "1"}, {"sort", "300", NULL}, {"tree", "100", NULL}, {"radix", "100000", "8"}};

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct events s;
        char row[64];

        events_name(&programs[i], row, sizeof(row));
        events_record(&s, b, &programs[i]);
        one(b, row, &s);
        events_free(&s);
    }
}
