/* SPDX-License-Identifier: MIT */
/* Load-value trace modules: how fast encoders take the accesses of a run, and decoders give the
 * loads back. One thread, on runs of the simulator whose events lie in memory; decoding is in the
 * run's order, and includes the comparison of every load. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "bench.h"
#include "command.h"
#include "study/verify_data.h"
#include "technique/data.h"

/* A run in memory. */
struct events {
    struct vs_buf list, wide;
    uint64_t accesses;
    struct vs_technique_setup setup;
    struct vs_prior *prior;
};

static void must(int64_t e, const char *what)
{
    if (e < 0)
        bench_fail("%s: %s", what, vs_errstr((int)e));
}

static struct vs_batch batch_of(const struct events *s)
{
    return (struct vs_batch){.events = (const struct vs_event *)s->list.data,
                             .wide = s->wide.data,
                             .wide_size = s->wide.len,
                             .count = s->list.len / sizeof(struct vs_event)};
}

static void add_event(struct events *s, const struct vs_batch *b, const struct vs_event *event)
{
    struct vs_event e = *event;

    if (vs_event_is_wide(event)) {
        e.value = s->wide.len;
        must(vs_buf_put(&s->wide, vs_event_bytes(b, event), event->size), "memory");
    }
    s->accesses += e.kind == VS_LOAD || e.kind == VS_STORE;
    must(vs_buf_put(&s->list, &e, sizeof(e)), "memory");
}

static void load_events(struct events *s, const char *path)
{
    struct vs_reader *reader;
    struct vs_batch b;
    int64_t n;

    must(vs_reader_open(&reader, path, VS_OPEN_DEFAULT, NULL), path);
    s->setup = (struct vs_technique_setup){vs_reader_info(reader)->threads, 64, false};
    while ((n = vs_reader_next(reader, &b)) > 0)
        for (size_t i = 0; i < b.count; i++)
            add_event(s, &b, &b.events[i]);
    if (n != -VSE_END)
        must(n, "read");
    vs_reader_close(reader);
    b = batch_of(s);
    must(vs_prior_open(&s->prior), "prior");
    must(vs_prior_consume(s->prior, &b), "prior");
}

static void free_events(struct events *s)
{
    vs_prior_close(s->prior);
    vs_buf_fini(&s->list);
    vs_buf_fini(&s->wide);
}

/* Seconds to encode all of it; the best of several. out may be NULL: bits are only counted. */
static double encode(const struct bench *b, const struct events *s,
                     const struct vs_technique_spec *spec, struct vs_buf *out, uint64_t *nbits)
{
    const struct vs_data_encoder_ops *ops = spec->technique->data_encoder;
    const struct vs_batch batch = batch_of(s);
    double best = 1e9;

    for (unsigned i = 0; i < (out ? 1 : bench_repeats(b)); i++) {
        struct vs_port_shape shape;
        struct vs_port_writer port;
        void *encoder;
        double start;
        int64_t bits;

        vs_technique_shape(spec, &s->setup, &shape);
        must(vs_port_writer_init(&port, &shape, out ? vs_port_to_buf : NULL, out), "port");
        must(ops->open(&encoder, spec->params, &s->setup, s->prior, &port), "encoder");
        start = bench_now();
        must(ops->consume(encoder, &batch), "encode");
        must(ops->finish(encoder), "encode");
        if (bench_now() - start < best)
            best = bench_now() - start;
        must(bits = vs_port_finish(&port), "port");
        if (nbits)
            *nbits = (uint64_t)bits;
        ops->close(encoder);
        vs_port_writer_fini(&port);
    }
    return best;
}

static double decode_once(const struct events *s, const struct vs_technique_spec *spec,
                          const struct vs_buf *bits, uint64_t nbits)
{
    const struct vs_data_decoder_ops *ops = spec->technique->data_decoder;
    const struct vs_batch batch = batch_of(s);
    struct vs_verify_data *v = malloc(sizeof(*v));
    struct vs_port_reader port;
    struct vs_port_shape shape;
    void *decoder;
    double start;

    vs_technique_shape(spec, &s->setup, &shape);
    must(v ? 0 : -VSE_NOMEM, "memory");
    must(vs_port_reader_init(&port, &shape, bits->data, bits->len, nbits), "port");
    must(ops->open(&decoder, spec->params, &s->setup, &port), "decoder");
    must(vs_verify_data_init(v, ops, decoder, &port, s->setup.cores), "decoder");
    start = bench_now();
    if (vs_verify_data_batch(v, &batch) < 0 || vs_verify_data_end(v) < 0)
        bench_fail("%s: %s", spec->technique->name, v->diag.text);
    start = bench_now() - start;
    vs_verify_data_fini(v);
    ops->close(decoder);
    vs_port_reader_fini(&port);
    free(v);
    return start;
}

static double decode(const struct bench *b, const struct events *s,
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

static void one(struct bench *b, const char *name, const struct events *s)
{
    static const struct {
        const char *spec;
        double encode, decode;
        unsigned cores; /* that the targets speak of */
    } rows[] = {
        {"mlvNX_b", 0, 0, 1}, {"mlvCF_e:L", 40, 25, 1},   {"mlvFA", 0, 0, 1},
        {"mc2RT", 15, 15, 8}, {"mc2RT:implied", 0, 0, 8},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_technique_spec spec;
        char metric[48];
        bool aimed = rows[i].cores == 1 ? s->setup.cores == 1 : s->setup.cores >= rows[i].cores;

        must(vs_technique_parse(&spec, rows[i].spec, NULL), rows[i].spec);
        vs_technique_settle(&spec, false);
        snprintf(metric, sizeof(metric), "%s encode", rows[i].spec);
        bench_row(b, "data", name, metric,
                  1e-6 * (double)s->accesses / encode(b, s, &spec, NULL, NULL), "Maccess/s", 1,
                  aimed ? rows[i].encode : 0);
        snprintf(metric, sizeof(metric), "%s decode", rows[i].spec);
        bench_row(b, "data", name, metric, 1e-6 * (double)s->accesses / decode(b, s, &spec),
                  "Maccess/s", 1, aimed ? rows[i].decode : 0);
    }
}

void bench_data(struct bench *b)
{
    static const struct {
        const char *name, *size, *threads;
    } programs[] = {{"fft", "16", "1"}, {"sort", "300", NULL}, {"tree", "100", NULL},
                    {"fft", "16", "8"}, {"ocean", "6", "8"},   {"radix", "100000", "8"}};
    char self[PATH_MAX], vestige[PATH_MAX + 16], program[PATH_MAX + 64], run[PATH_MAX], row[64];

    command_build(self, sizeof(self));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", self);
    snprintf(run, sizeof(run), "%s/data.vest", bench_folder(b));
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const char *threads = programs[i].threads;
        const char *argv[] = {vestige,
                              "record",
                              "-f",
                              "-o",
                              run,
                              "--cores",
                              threads ? threads : "1",
                              "--",
                              program,
                              "-n",
                              programs[i].size,
                              threads ? "-p" : NULL,
                              threads,
                              NULL};
        struct events s = {0};

        snprintf(program, sizeof(program), "%s/workloads/rv64/%s", self, programs[i].name);
        snprintf(row, sizeof(row), "%s, %s core%s", programs[i].name, threads ? threads : "1",
                 threads && strcmp(threads, "1") ? "s" : "");
        command_run(argv, "/dev/null");
        load_events(&s, run);
        one(b, row, &s);
        free_events(&s);
    }
    unlink(run);
}
