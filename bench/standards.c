/* SPDX-License-Identifier: MIT */
/* Trace standards: how fast their encoders take branches, and how fast streams are decoded, beside
 * decoders that are not ours. One thread, on runs of native programs whose events lie in memory.
 *
 * The peer of Intel PT is libipt (bench/pt-peer, if it was built), on the same stream and code:
 * instruction by instruction, and block by block, which is its faster way. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "bench.h"
#include "command.h"
#include "flow.h"
#include "replay/walk.h"

/* The run's events, without what their values are. */
struct kept_events {
    struct vs_event *list;
    size_t count, capacity;
    uint64_t branches;
};

static void must(int64_t e, const char *what)
{
    if (e < 0)
        bench_fail("%s: %s", what, vs_errstr((int)e));
}

/* Registers of a system call would say that it is made again; what they are does not matter. */
static void keep_events(struct kept_events *k, const struct vs_batch *batch)
{
    void *list = k->list;
    must(vs_array_room(&list, &k->capacity, k->count, batch->count, sizeof(*k->list)), "events");
    k->list = list;
    for (size_t i = 0; i < batch->count; i++) {
        struct vs_event *e = &k->list[k->count++];
        *e = batch->events[i];
        if (e->kind != VS_BRANCH)
            e->size = 0, e->value = 0;
        else
            k->branches += (e->flags & (VS_BR_COND | VS_BR_INDIRECT)) != 0;
    }
}

static void load_events(struct kept_events *k, struct vs_reader *reader)
{
    struct vs_batch batch;
    int64_t n;
    must(vs_reader_seek_event(reader, 0), "seek");
    while ((n = vs_reader_next(reader, &batch)) > 0)
        keep_events(k, &batch);
    if (n != -VSE_END)
        must(n, "read");
}

/* Seconds to decode the streams and to follow the code; the best of several. */
static double decode(const struct bench *b, struct vs_verify *v,
                     const struct vs_technique_spec *spec)
{
    struct vs_port_store bits = {0};
    double best = 1e9;
    must(vs_verify_encode(v, spec, &bits, NULL, NULL, NULL), "encode");
    for (unsigned i = 0; i < bench_repeats(b); i++) {
        struct vs_port_shape shape;
        struct vs_port_reader port;
        struct vs_walk w;
        void *decoder;
        vs_technique_shape(spec, &v->setup, &shape);
        must(vs_port_reader_init(&port, &shape, bits.streams), "port");
        must(spec->technique->flow_decoder->open(&decoder, spec->params, &v->setup, &port),
             "decoder");
        const struct vs_walk_config config = {.isa = v->isa,
                                              .code = &v->code,
                                              .ops = spec->technique->flow_decoder,
                                              .decoder = decoder,
                                              .port = &port,
                                              .cores = v->setup.cores};
        double start = bench_now();
        must(vs_walk_init(&w, &config), "walk");
        must(vs_walk_all(&w), "walk");
        if (bench_now() - start < best)
            best = bench_now() - start;
        if (w.instructions != v->instructions)
            bench_fail("%s: %" PRIu64 " instructions", spec->technique->name, w.instructions);
        vs_walk_fini(&w);
        spec->technique->flow_decoder->close(decoder);
        vs_port_reader_fini(&port);
    }
    vs_port_store_fini(&bits);
    return best;
}

/* Makes a file of code in which what lies close together is one range, and a text that says where
 * it lies, since libipt looks for code in a list. The description has a member in each line. */
static void write_dense(const char *about, const char *code, const char *dense, const char *ranges)
{
    enum { NEAR = 1 << 20 };
    FILE *in = fopen(about, "r"), *from = fopen(code, "rb"), *to = fopen(dense, "wb"),
         *out = fopen(ranges, "w");
    char line[512];
    uint64_t address = 0, offset = 0, size, begin = 0, end = 0, at = 0, start = 0;
    if (!in || !from || !to || !out)
        bench_fail("%s: cannot be read", about);
    while (fgets(line, sizeof(line), in)) {
        if (sscanf(line, " \"address\": \"%" SCNx64 "\"", &address) == 1 ||
            sscanf(line, " \"offset\": %" SCNu64, &offset) == 1 ||
            sscanf(line, " \"size\": %" SCNu64, &size) != 1)
            continue;
        if (at && address - end > NEAR) {
            fprintf(out, "%#" PRIx64 " %" PRIu64 " %" PRIu64 "\n", begin, start, end - begin);
            start = at;
        }
        if (start == at)
            begin = end = address;
        for (; end < address; end++, at++)
            fputc(0, to);
        for (; end < address + size; end++, at++)
            fputc(fgetc(from), to);
    }
    fprintf(out, "%#" PRIx64 " %" PRIu64 " %" PRIu64 "\n", begin, start, end - begin);
    if (fclose(in) || fclose(from) || fclose(to) || fclose(out))
        bench_fail("%s: cannot be written", dense);
}

/* Measures a standard that takes the run in this form. Returns millions of instructions decoded per
 * second. */
static double measure(struct bench *b, const char *program, const char *name, struct vs_verify *v,
                      uint64_t branches, const struct vs_slice *slice)
{
    struct vs_technique_spec spec;
    char metric[32];
    must(vs_technique_parse(&spec, name, NULL), name);
    vs_technique_settle(&spec, false);
    snprintf(metric, sizeof(metric), "%s encode", name);
    bench_row(b, "standards", program, metric,
              1e-6 * (double)branches / bench_flow_encode(b, v, &spec, slice), "Mbranch/s", 1, 80);
    double decoded = 1e-6 * (double)v->instructions / decode(b, v, &spec);
    snprintf(metric, sizeof(metric), "%s decode", name);
    bench_row(b, "standards", program, metric, decoded, "Minsn/s", 1, 0);
    return decoded;
}

static void measure_peer(struct bench *b, const char *name, double own)
{
    char build[PATH_MAX], run[PATH_MAX], vestige[PATH_MAX + 32], peer[PATH_MAX + 32],
        raw[PATH_MAX + 32], about[PATH_MAX + 40], code[PATH_MAX + 40], dense[PATH_MAX + 40],
        ranges[PATH_MAX + 40], out[PATH_MAX + 40], text[512];
    command_build(build, sizeof(build));
    bench_flow_path(b, run, sizeof(run));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", build);
    snprintf(peer, sizeof(peer), "%s/bench/pt-peer", build);
    snprintf(raw, sizeof(raw), "%s/stream", bench_folder(b));
    snprintf(about, sizeof(about), "%s.json", raw);
    snprintf(code, sizeof(code), "%s.code", raw);
    snprintf(dense, sizeof(dense), "%s.dense", raw);
    snprintf(ranges, sizeof(ranges), "%s.ranges", raw);
    snprintf(out, sizeof(out), "%s.out", raw);
    if (access(peer, X_OK) != 0)
        return;
    const char *encode[] = {vestige, "encode", "-f", run, "-t", "pt", "--raw", raw, NULL};
    const char *time[] = {peer, "--time", dense, ranges, raw, NULL};
    command_run(encode, out);
    write_dense(about, code, dense, ranges);
    command_run(time, out);
    command_output(out, text, sizeof(text));
    double count = 1e-6 * command_figure(text, "instructions");
    double each = count / command_figure(text, "each"),
           blocks = count / command_figure(text, "blocks");
    bench_row(b, "standards", name, "libipt, instructions", each, "Minsn/s", 0, 0);
    bench_row(b, "standards", name, "libipt, blocks", blocks, "Minsn/s", 0, 0);
    bench_row(b, "standards", name, "pt decode, to libipt's blocks", own / blocks, "x", 1, 1);
    unlink(raw);
    unlink(about);
    unlink(code);
    unlink(dense);
    unlink(ranges);
    unlink(out);
}

void bench_standards(struct bench *b)
{
    static const struct {
        const char *name, *size;
    } programs[] = {{"fft", "16"}, {"sort", "400"}, {"interp", "60"}};

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const char *name = programs[i].name;
        struct bench_flow_run run;
        struct kept_events k = {0};

        bench_flow_open(b, &run, "host", name, programs[i].size);
        load_events(&k, run.reader);
        const struct vs_batch batch = {.events = k.list, .count = k.count};
        const struct vs_slice events = {.events = &batch},
                              steps = {.steps = run.steps.list, .step_count = run.steps.count};
        double own = measure(b, name, "pt", &run.verify, k.branches, &events);
        measure(b, name, "etm4", &run.verify, run.steps.branches, &steps);
        measure(b, name, "etrace", &run.verify, run.steps.branches, &steps);
        measure(b, name, "ntrace", &run.verify, run.steps.branches, &steps);
        measure_peer(b, name, own);
        bench_flow_close(b, &run);
        free(k.list);
    }
}
