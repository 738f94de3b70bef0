/* SPDX-License-Identifier: MIT */
/* The software debugger: how fast a program runs again from its port stream, how long a step back
 * takes anywhere in a long run, and what memory its checkpoints take. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "bench.h"
#include "command.h"
#include "isa/cpu_load.h"
#include "study/codeview.h"
#include "replay/history.h"
#include "study/bandwidth.h"

enum { STEPS = 101 };

#define MEMORY (UINT64_C(256) << 20)

struct stream {
    struct vs_replay_config config;
    struct vs_text code;
    struct vs_reader *reader;
    struct vs_buf bits;
    struct vs_port_stream stream; /* of these */
    uint64_t instructions;
};

static void must(int64_t e, const char *what)
{
    if (e < 0)
        bench_fail("%s: %s", what, vs_errstr((int)e));
}

/* The CPU of native programs is beside the program, not beside this one. */
static void load_cpu(struct stream *s)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];

    command_build(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/lib/vestige", folder);
    must(vs_cpu_load(s->config.isa, path, &s->config.cpu, NULL, NULL), "CPU");
}

static void open_stream(struct stream *s, const char *run, const char *technique)
{
    struct vs_technique_spec spec;
    struct vs_bandwidth b;
    int64_t row;

    *s = (struct stream){0};
    must(vs_reader_open(&s->reader, run, VS_OPEN_DEFAULT, NULL), run);
    must(vs_codeview_add(&s->code, s->reader), "code");
    must(vs_text_index(&s->code), "code");
    must(vs_technique_parse(&spec, technique, NULL), technique);
    must(vs_bandwidth_init(&b, s->reader, NULL, NULL), "encode");
    must(row = vs_bandwidth_add(&b, &spec, vs_port_to_buf, &s->bits, NULL), "encode");
    must(vs_bandwidth_run(&b, s->reader, NULL, NULL), "encode");
    s->stream = (struct vs_port_stream){s->bits.data, s->bits.len, b.rows[row].bits};
    s->config = (struct vs_replay_config){.spec = b.rows[row].spec,
                                          .setup = b.setup,
                                          .isa = vs_isa_find(vs_reader_meta(s->reader, "isa")),
                                          .streams = &s->stream,
                                          .code = &s->code};
    load_cpu(s);
    s->instructions = b.instructions;
    vs_bandwidth_fini(&b);
}

static void close_stream(struct stream *s)
{
    vs_text_fini(&s->code);
    vs_reader_close(s->reader);
    vs_buf_fini(&s->bits);
}

static const struct vs_replay_goal everything = {
    .position = UINT64_MAX, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};

static double replay_once(const struct stream *s, uint64_t *messages)
{
    struct vs_replay r;
    double start;

    must(vs_replay_init(&r, &s->config, NULL), "replay");
    start = bench_now();
    if (vs_replay_run(&r, &everything) != VS_REPLAY_OVER || r.position != s->instructions)
        bench_fail("replay: %s", r.diag.text);
    start = bench_now() - start;
    *messages = r.reader.messages;
    vs_replay_fini(&r);
    return start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Milliseconds of steps back from places all over the run. */
static double step_back(struct vs_history *h, uint64_t instructions, double *worst)
{
    double took[STEPS];

    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t seed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t at = 1 + (seed >> 20) % (instructions - 1);

        must(vs_history_goto(h, at), "goto");
        for (unsigned k = 0; k < VS_HISTORY_NEAR; k++) { /* as if one had come from elsewhere */
            vs_replay_drop(h->near[k]);
            h->near[k] = NULL;
        }
        struct vs_history_stop stop;
        double start = bench_now();
        must(vs_history_step_back(h, h->replay->last, &stop), "step back");
        took[i] = 1e3 * (bench_now() - start);
        if (h->replay->position >= at)
            bench_fail("a step back went forward");
    }
    qsort(took, STEPS, sizeof(took[0]), compare);
    *worst = took[STEPS - 1];
    return took[STEPS / 2];
}

static void go_back(struct bench *b, const char *name, const struct stream *s)
{
    struct vs_replay r;
    struct vs_history h;
    double start, worst;

    must(vs_replay_init(&r, &s->config, NULL), "replay");
    must(vs_history_init(&h, &r, MEMORY), "history");
    start = bench_now();
    if (vs_history_run(&h, &everything) != VS_REPLAY_OVER)
        bench_fail("replay: %s", r.diag.text);
    bench_row(b, "replay", name, "with checkpoints",
              1e-6 * (double)s->instructions / (bench_now() - start), "Minsn/s", 1, 0);
    bench_row(b, "replay", name, "checkpoints", (double)h.count, "", 0, 0);
    bench_row(b, "replay", name, "memory of checkpoints, of 256", (double)h.used / (1 << 20), "MiB",
              -1, 0);
    double median = step_back(&h, s->instructions, &worst);
    bench_row(b, "replay", name, "step back, median", median, "ms", -1, 50);
    bench_row(b, "replay", name, "step back, worst", worst, "ms", -1, 0);
    vs_history_fini(&h);
    vs_replay_fini(&r);
}

/* Returns the nanoseconds for each message. */
static double one(struct bench *b, const char *run, const char *name, const char *technique,
                  double target, bool back)
{
    struct stream s;
    char row[64];
    double best = 1e9, once;
    uint64_t messages = 0;

    open_stream(&s, run, technique);
    snprintf(row, sizeof(row), "%s, %s", name, technique);
    for (unsigned i = 0; i < bench_repeats(b); i++)
        if ((once = replay_once(&s, &messages)) < best)
            best = once;
    bench_row(b, "replay", row, "instructions", 1e-6 * (double)s.instructions, "M", 0, 0);
    bench_row(b, "replay", row, "speed", 1e-6 * (double)s.instructions / best, "Minsn/s", 1,
              target);
    double each = 1e9 * best / (double)(messages ? messages : 1);
    bench_row(b, "replay", row, "a message", each, "ns", -1, 0);
    if (back)
        go_back(b, row, &s);
    close_stream(&s);
    return each;
}

/* The same programs natively and on RV64, long enough that translating them does not matter. */
static void measure_both(struct bench *b, const char *vestige, const char *build, const char *run)
{
    static const char *const techniques[] = {"mlvCF_e:CS32", "mc2RT"};
    static const struct {
        const char *folder, *name;
    } kinds[] = {{"host", "native"}, {"rv64", "RV64"}};
    static const struct {
        const char *name;
        double size;
    } programs[] = {{"sort", 900}, {"interp", 200}, {"lpc", 600}};
    char program[PATH_MAX + 64], size[32], name[64];
    const char *argv[] = {vestige, "record", "--all", "-f", "-o", run,
                          "--",    program,  "-n",    size, NULL};
    double each[2][2];

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        snprintf(size, sizeof(size), "%.0f", programs[i].size * bench_scale(b) + 8);
        for (size_t k = 0; k < 2; k++) {
            bool native = k == 0;
            snprintf(program, sizeof(program), "%s/workloads/%s/%s", build, kinds[k].folder,
                     programs[i].name);
            snprintf(name, sizeof(name), "%s, %s", programs[i].name, kinds[k].name);
            command_run(argv, "/dev/null");
            for (size_t t = 0; t < 2; t++)
                each[t][k] = one(b, run, name, techniques[t], native ? 50 : 0, native && i == 0);
        }
        for (size_t t = 0; t < 2; t++) {
            snprintf(name, sizeof(name), "%s, native / RV64, %s", programs[i].name, techniques[t]);
            bench_row(b, "replay", name, "a message", each[t][0] / each[t][1], "x", -1, 1.5);
        }
    }
}

void bench_replay(struct bench *b)
{
    char self[PATH_MAX], vestige[PATH_MAX + 16], program[PATH_MAX + 64], run[PATH_MAX];
    const char *serial[] = {vestige, "record", "-f", "-o", run,  "--cores", "1",
                            "--",    program,  "-n", "18", NULL, NULL};
    const char *parallel[] = {vestige, "record", "-f", "-o", run,  "--cores", "4",
                              "--",    program,  "-n", "15", "-p", "4",       NULL};

    command_build(self, sizeof(self));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", self);
    snprintf(run, sizeof(run), "%s/replay.vest", bench_folder(b));
    snprintf(program, sizeof(program), "%s/workloads/rv64/fft", self);
    command_run(serial, "/dev/null");
    one(b, run, "fft, 1 core", "mlvCF_e:CS32", 20, true);
    one(b, run, "fft, 1 core", "mc2RT", 0, false);
    command_run(parallel, "/dev/null");
    one(b, run, "fft, 4 cores", "mlvCF_e:CS32", 0, true);
    one(b, run, "fft, 4 cores", "mc2RT", 0, true);
    measure_both(b, vestige, self, run);
    unlink(run);
}
