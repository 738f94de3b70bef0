/* SPDX-License-Identifier: MIT */
/* Control-flow trace modules: how fast encoders take branches, and decoders walk the code. One
 * thread, on runs of the simulator at `small`, whose steps lie in memory; decoding includes the
 * comparison with the run. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "bench.h"
#include "command.h"
#include "study/codeview.h"
#include "study/verify.h"
#include "technique/technique.h"

/* The run's steps. */
struct steps {
    struct vs_step *list;
    size_t count, capacity;
    uint64_t branches, streams, instructions;
};

static void must(int64_t e, const char *what)
{
    if (e < 0)
        bench_fail("%s: %s", what, vs_errstr((int)e));
}

static void add_steps(struct steps *s, const struct vs_stepper *from)
{
    must(vs_array_room((void **)&s->list, &s->capacity, s->count, from->count, sizeof(*s->list)),
         "steps");
    memcpy(s->list + s->count, from->steps, from->count * sizeof(*s->list));
    s->count += from->count;
    for (size_t i = 0; i < from->count; i++) {
        const struct vs_step *t = &from->steps[i];

        s->branches += t->kind == VS_STEP_CONDITIONAL || t->kind == VS_STEP_INDIRECT;
        s->streams +=
            t->kind == VS_STEP_INDIRECT || (t->kind == VS_STEP_CONDITIONAL && vs_step_taken(t));
    }
}

static void load_steps(struct steps *s, struct vs_reader *reader)
{
    struct vs_stepper stepper = {0};
    struct vs_batch batch;
    int64_t n;

    must(vs_reader_seek_event(reader, 0), "seek");
    while ((n = vs_reader_next(reader, &batch)) > 0) {
        must(vs_stepper_take(&stepper, &batch), "steps");
        add_steps(s, &stepper);
    }
    if (n != -VSE_END)
        must(n, "read");
    must(vs_stepper_end(&stepper, 0), "steps");
    add_steps(s, &stepper);
    s->instructions = vs_reader_info(reader)->instructions;
    vs_stepper_fini(&stepper);
}

/* Seconds to encode all steps, bits counted and thrown away; the best of several. */
static double encode(const struct bench *b, const struct steps *s, const struct vs_verify *v,
                     const struct vs_technique_spec *spec)
{
    const struct vs_technique_setup setup = {
        .cores = 1, .address_bits = 64, .alignment = v->isa->alignment};
    const struct vs_address_code code = vs_code_of_text(&v->code, v->isa);
    const struct vs_encoder_ops *ops = spec->technique->encoder;
    double best = 1e9;

    for (unsigned i = 0; i < bench_repeats(b); i++) {
        struct vs_port_shape shape;
        struct vs_port_writer port;
        void *encoder;
        double start;

        vs_technique_shape(spec, &setup, &shape);
        must(vs_port_writer_init(&port, &shape, NULL, NULL), "port");
        must(ops->open(&encoder,
                       &(struct vs_technique_context){
                           .params = spec->params, .setup = &setup, .port = &port, .code = &code}),
             "encoder");
        start = bench_now();
        must(ops->consume(encoder, &(struct vs_slice){.steps = s->list, .step_count = s->count}),
             "encode");
        must(vs_encoder_finish(ops, encoder), "encode");
        if (bench_now() - start < best)
            best = bench_now() - start;
        ops->close(encoder);
        vs_port_writer_fini(&port);
    }
    return best;
}

static double decode(const struct bench *b, struct vs_verify *v,
                     const struct vs_technique_spec *spec)
{
    struct vs_port_store bits = {0};
    int64_t n = vs_verify_encode(v, spec, &bits, NULL, NULL, NULL);
    double best = 1e9;

    must(n, "encode");
    for (unsigned i = 0; i < bench_repeats(b); i++) {
        struct vs_verify_result result = {0};
        double start = bench_now();

        must(vs_verify_decode(v, spec, bits.streams, &result, NULL), "decode");
        if (bench_now() - start < best)
            best = bench_now() - start;
        if (result.outcome != VS_VERIFY_SAME)
            bench_fail("%s: %s", spec->technique->name, result.diag.text);
    }
    vs_port_store_fini(&bits);
    return best;
}

static void one(struct bench *b, const char *name, const struct steps *s, struct vs_verify *v)
{
    static const struct {
        const char *spec;
        bool streams;
        double encode, decode;
    } rows[] = {
        {"mcfTR_e", false, 80, 40}, {"mcfNX_b", false, 0, 0},     {"etm4", false, 80, 40},
        {"eDMTF", true, 10, 0},     {"rSDC-LSP", true, 0, 0},     {"mcfTG", false, 40, 30},
        {"mcfTA", false, 40, 30},   {"mcfTA:64K", false, 20, 30},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_technique_spec spec;
        char metric[48];

        must(vs_technique_parse(&spec, rows[i].spec, NULL), rows[i].spec);
        vs_technique_settle(&spec, false);
        snprintf(metric, sizeof(metric), "%s encode", rows[i].spec);
        bench_row(b, "flow", name, metric,
                  1e-6 * (double)(rows[i].streams ? s->streams : s->branches) /
                      encode(b, s, v, &spec),
                  rows[i].streams ? "Mstream/s" : "Mbranch/s", 1, rows[i].encode);
        snprintf(metric, sizeof(metric), "%s decode", rows[i].spec);
        bench_row(b, "flow", name, metric, 1e-6 * (double)s->instructions / decode(b, v, &spec),
                  "Minsn/s", 1, rows[i].decode);
    }
}

void bench_flow(struct bench *b)
{
    static const struct {
        const char *name, *size;
    } programs[] = {{"fft", "18"}, {"sort", "900"}, {"interp", "200"}};
    char self[PATH_MAX], vestige[PATH_MAX + 16], program[PATH_MAX + 64], run[PATH_MAX];

    command_build(self, sizeof(self));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", self);
    snprintf(run, sizeof(run), "%s/flow.vest", bench_folder(b));
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const char *argv[] = {vestige, "record", "-f", "--control-only", "-o", run,
                              "--",    program,  "-n", programs[i].size, NULL};
        struct vs_reader *reader;
        struct vs_verify v;
        struct steps s = {0};

        snprintf(program, sizeof(program), "%s/workloads/rv64/%s", self, programs[i].name);
        command_run(argv, "/dev/null");
        must(vs_reader_open(&reader, run, VS_OPEN_DEFAULT, NULL), run);
        load_steps(&s, reader);
        must(vs_verify_init(&v, reader, NULL), "verify");
        one(b, programs[i].name, &s, &v);
        vs_verify_fini(&v);
        vs_reader_close(reader);
        free(s.list);
    }
    unlink(run);
}
