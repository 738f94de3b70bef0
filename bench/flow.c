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
#include "flow.h"
#include "study/codeview.h"

static void must(int64_t e, const char *what)
{
    if (e < 0)
        bench_fail("%s: %s", what, vs_errstr((int)e));
}

static void add_steps(struct bench_steps *s, const struct vs_stepper *from)
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

static void load_steps(struct bench_steps *s, struct vs_reader *reader)
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

void bench_flow_path(const struct bench *b, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/flow.vest", bench_folder(b));
}

void bench_flow_open(struct bench *b, struct bench_flow_run *run, const char *kind,
                     const char *name, const char *size)
{
    char build[PATH_MAX], vestige[PATH_MAX + 16], program[PATH_MAX + 64], path[PATH_MAX];
    const char *argv[] = {vestige, "record", "-f", "--control-only", "-o", path, "--", program,
                          "-n",    size,     NULL};

    command_build(build, sizeof(build));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", build);
    snprintf(program, sizeof(program), "%s/workloads/%s/%s", build, kind, name);
    bench_flow_path(b, path, sizeof(path));
    command_run(argv, "/dev/null");
    *run = (struct bench_flow_run){0};
    must(vs_reader_open(&run->reader, path, VS_OPEN_DEFAULT, NULL), path);
    load_steps(&run->steps, run->reader);
    must(vs_verify_init(&run->verify, run->reader, NULL), "verify");
}

void bench_flow_close(struct bench *b, struct bench_flow_run *run)
{
    char path[PATH_MAX];

    vs_verify_fini(&run->verify);
    vs_reader_close(run->reader);
    free(run->steps.list);
    bench_flow_path(b, path, sizeof(path));
    unlink(path);
}

double bench_flow_encode(const struct bench *b, const struct vs_verify *v,
                         const struct vs_technique_spec *spec, const struct vs_slice *slice)
{
    const struct vs_address_code code = vs_code_of_text(&v->code, v->isa);
    const struct vs_encoder_ops *ops = spec->technique->encoder;
    double best = 1e9;

    for (unsigned i = 0; i < bench_repeats(b); i++) {
        struct vs_port_shape shape;
        struct vs_port_writer port;
        void *encoder;
        double start;

        vs_technique_shape(spec, &v->setup, &shape);
        must(vs_port_writer_init(&port, &shape, NULL, NULL), "port");
        must(ops->open(&encoder, &(struct vs_technique_context){.params = spec->params,
                                                                .setup = &v->setup,
                                                                .port = &port,
                                                                .code = &code}),
             "encoder");
        start = bench_now();
        must(ops->consume(encoder, slice), "encode");
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

static void one(struct bench *b, const char *name, const struct bench_steps *s, struct vs_verify *v)
{
    const struct vs_slice slice = {.steps = s->list, .step_count = s->count};
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
                      bench_flow_encode(b, v, &spec, &slice),
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

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct bench_flow_run run;

        bench_flow_open(b, &run, "rv64", programs[i].name, programs[i].size);
        one(b, programs[i].name, &run.steps, &run.verify);
        bench_flow_close(b, &run);
    }
}
