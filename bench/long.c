/* SPDX-License-Identifier: MIT */
/* Real programs that run long: what recording them costs, with everything and with nothing but
 * inputs, and how fast the inputs give back all events, on one core and on two. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "bench.h"
#include "command.h"
#include "rerun/rerun.h"

enum { CORES = 2, REPEATS = 3 };

#define CC1 "{cc1}"

struct place {
    char vestige[PATH_MAX + 32], objects[PATH_MAX + 32];
    char run[PATH_MAX], out[PATH_MAX], text[PATH_MAX];
};

struct program {
    const char *name;
    double amount; /* kilobytes of what it works on, or its argument */
    const char *argv[6];
    bool with_all; /* also recorded with everything, which takes long */
    bool code;     /* it works on the text of a C program */
    double part;   /* of the amount: how much of it is also read as a run of all events; or 0 */
};

/* What reads a run, with events from inputs as with those that are there. */
static const struct {
    const char *metric;
    const char *argv[4];
} readings[] = {
    {"info, inputs / all", {"info"}},
    {"check, inputs / all", {"check"}},
    {"check --memory --flow, inputs / all", {"check", "--memory", "--flow"}},
    {"bandwidth of control flow, inputs / all", {"bandwidth", "-t", "mcfTR_e"}},
    {"bandwidth of load values, inputs / all", {"bandwidth", "-t", "mlvCF_e"}},
};

/* {} is the file that it works on; {n} is the amount. */
static const struct program programs[] = {
    {.name = "xz",
     .amount = 2000,
     .argv = {"xz", "-k", "-c", "{}"},
     .with_all = true,
     .part = 0.05},
    {.name = "gzip", .amount = 1200, .argv = {"gzip", "-9", "-c", "{}"}},
    {.name = "bzip2", .amount = 3000, .argv = {"bzip2", "-k", "-c", "{}"}},
    {.name = "sort", .amount = 20000, .argv = {"sort", "-S", "512M", "{}"}},
    {.name = "sqlite3",
     .amount = 300,
     .argv = {"sqlite3", ":memory:",
              "create table t(a integer primary key, b text);"
              "with recursive n(i) as (select 1 union all select i + 1 from n where i < {n}000) "
              "insert into t select i, hex(i * 7919 % 65521) from n;"
              "create index s on t(b);"
              "select sum(x.a + y.a) from t x join t y on x.b = y.b "
              "where x.a % 101 = 0 and y.a < 5000"}},
    {.name = "cc1",
     .amount = 40,
     .argv = {CC1, "-quiet", "-O2", "-o", "/dev/null", "{}"},
     .code = true},
    {.name = "python3",
     .amount = 9000,
     .argv = {"/usr/bin/python3", "-S", "-E", "-c", "print(sum(i * i % 7 for i in range({n}000)))"},
     .part = 0.05},
};

/* ---- what they work on ----------------------------------------------------------------------- */

/* Words, some far more often than others, on lines of their own. */
static void write_text(const char *path, size_t size)
{
    FILE *f = fopen(path, "we");
    uint64_t state = 1;
    if (!f)
        bench_fail("%s: %s", path, strerror(errno));
    for (size_t at = 0; at < size;) {
        uint64_t r = vs_random(&state), word = r % 4000 * (r >> 32) % 4000;
        int n = fprintf(f, "%s%c", word % 3 ? "trace" : "on-chip", 'a' + (int)(word % 26));
        n += fprintf(f, "%llx%c", (unsigned long long)word, r >> 20 & 7 ? ' ' : '\n');
        at += (size_t)n;
    }
    if (fclose(f))
        bench_fail("%s: %s", path, strerror(errno));
}

/* Functions of a C program, each a little different. */
static void write_code(const char *path, size_t size)
{
    FILE *f = fopen(path, "we");
    uint64_t state = 1;
    if (!f)
        bench_fail("%s: %s", path, strerror(errno));
    for (unsigned i = 0; (size_t)ftell(f) < size; i++) {
        unsigned a = (unsigned)vs_random(&state) % 61 + 2, b = (unsigned)vs_random(&state) % 13 + 1;
        fprintf(f,
                "struct s%u { int n, v[%u]; };\n"
                "int f%u(struct s%u *s, int k)\n{\n    int sum = 0;\n"
                "    for (int i = 0; i < s->n && i < %u; i++) {\n"
                "        if (s->v[i] %% %u > k)\n            sum += s->v[i] * %u - (k << %u);\n"
                "        else if (s->v[i] != k)\n            s->v[i] ^= sum >> %u;\n    }\n"
                "    switch (sum & 7) {\n    case 1: return k - sum;\n"
                "    case 3: return s->v[%u];\n    case 5: s->n -= %u; break;\n    }\n"
                "    return sum;\n}\n",
                i, a, i, i, a, b + 1, b, b, b % 5 + 1, a / 2, b);
    }
    if (fclose(f))
        bench_fail("%s: %s", path, strerror(errno));
}

/* Where the compiler proper lies, which gcc starts. */
static const char *find_cc1(const struct place *p, char *path, size_t size)
{
    const char *const argv[] = {"gcc", "-print-prog-name=cc1", NULL};
    command_run(argv, p->out);
    command_output(p->out, path, size);
    path[strcspn(path, "\n")] = 0;
    return path;
}

/* Fills in an argument. */
static const char *fill(const char *word, const struct place *p, double amount, char *room,
                        size_t size)
{
    const char *n = strstr(word, "{n}");
    if (strcmp(word, "{}") == 0)
        return p->text;
    if (!n)
        return word;
    snprintf(room, size, "%.*s%.0f%s", (int)(n - word), word, amount, n + 3);
    return room;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* Runs the program after `before`. Returns the seconds. */
static double run_after(const struct bench *b, const struct place *p, const struct program *g,
                        const char *const *before)
{
    const char *argv[24];
    char room[1024], cc1[PATH_MAX];
    double amount = g->amount * bench_scale(b);
    unsigned n = 0;
    while (*before)
        argv[n++] = *before++;
    for (unsigned i = 0; i < 6 && g->argv[i]; i++)
        argv[n++] = strcmp(g->argv[i], CC1) == 0
                        ? find_cc1(p, cc1, sizeof(cc1))
                        : fill(g->argv[i], p, amount < 1 ? 1 : amount, room, sizeof(room));
    argv[n] = NULL;
    return command_run(argv, p->out);
}

static double run_none(const struct bench *b, const struct place *p, const struct program *g)
{
    /* A name may stand for a script that executes the program. */
    static const char *const none[] = {"valgrind", "-q", "--tool=none", "--trace-children=yes",
                                       NULL};
    return run_after(b, p, g, none);
}

static double record(const struct bench *b, const struct place *p, const struct program *g,
                     const char *what)
{
    const char *before[] = {p->vestige, "record", "-q", "-f", "-o", p->run, what, "--", NULL};
    return run_after(b, p, g, before);
}

/* Runs both a few times in turns, so that a change of the machine's speed meets both. Sets *base to
 * the least seconds of none; returns the least of recording inputs. */
static double in_turns(const struct bench *b, const struct place *p, const struct program *g,
                       double *base)
{
    double light = 1e9;
    *base = 1e9;
    for (unsigned i = 0; i < REPEATS && i < bench_repeats(b); i++) {
        double none = run_none(b, p, g), inputs = record(b, p, g, "--inputs");
        *base = none < *base ? none : *base;
        light = inputs < light ? inputs : light;
    }
    return light;
}

/* ---- executing again ------------------------------------------------------------------------- */

/* A thread's share of a run: from one place up to another. */
struct share {
    const struct place *p;
    const struct vs_survey *survey;
    unsigned number; /* of CORES, or 0 of 1 */
    unsigned of;
    bool flow; /* without loads and stores */
    pthread_t thread;
};

/* The number of the first event of a share. */
static uint64_t begins_at(const struct share *s, unsigned number, unsigned *snapshot)
{
    const struct vs_packed_snapshots *all = &s->survey->snapshots;
    *snapshot = all->count * number / s->of;
    if (number == s->of)
        return UINT64_MAX;
    return number ? all->snapshots[*snapshot].head.events : 0;
}

static void *make_share(void *arg)
{
    struct share *s = arg;
    unsigned from, to;
    uint64_t begin = begins_at(s, s->number, &from), end = begins_at(s, s->number + 1, &to);
    struct vs_reader *inputs;
    struct vs_diag diag = {0};
    struct vs_rerun *r;
    struct vs_batch batch;
    int n = 0;
    if (vs_reader_open(&inputs, s->p->run, VS_OPEN_DEFAULT, &diag) ||
        vs_rerun_open(&r, inputs, s->p->objects, &diag) ||
        (begin && vs_rerun_restore(r, &s->survey->snapshots, from, &diag)))
        bench_fail("%s: %s", s->p->run, diag.text);
    if (s->flow)
        vs_rerun_flow_only(r);
    do
        n = vs_rerun_next(r, &batch, &diag);
    while (n > 0 && batch.first + batch.count < end);
    if (n < 0 && n != -VSE_END)
        bench_fail("%s: %s", s->p->run, diag.text);
    vs_rerun_close(r);
    vs_reader_close(inputs);
    return NULL;
}

static double make_events(const struct place *p, const struct vs_survey *survey, unsigned threads,
                          bool flow)
{
    struct share shares[CORES];
    double start = bench_now();
    for (unsigned i = 0; i < threads; i++) {
        shares[i] =
            (struct share){.p = p, .survey = survey, .number = i, .of = threads, .flow = flow};
        if (pthread_create(&shares[i].thread, NULL, make_share, &shares[i]))
            bench_fail("no thread");
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(shares[i].thread, NULL);
    return bench_now() - start;
}

static void execute(struct bench *b, const struct place *p, const struct program *g,
                    double *instructions)
{
    struct vs_survey survey;
    struct vs_reader *inputs;
    struct vs_diag diag = {0};
    struct vs_rerun *r;
    double start, counted, one, two, flow;
    if (vs_reader_open(&inputs, p->run, VS_OPEN_DEFAULT, &diag) ||
        vs_rerun_open(&r, inputs, p->objects, &diag))
        bench_fail("%s: %s", p->run, diag.text);
    start = bench_now();
    if (vs_survey_take(&survey, r, inputs, NULL, NULL, NULL, &diag))
        bench_fail("%s: %s", p->run, diag.text);
    counted = bench_now() - start;
    vs_rerun_close(r); /* what it has translated would spare others doing so */
    *instructions = (double)vs_reader_info(inputs)->instructions;
    one = make_events(p, &survey, 1, false);
    two = survey.snapshots.count < CORES ? one : make_events(p, &survey, CORES, false);
    flow = make_events(p, &survey, 1, true);
    bench_row(b, "long", g->name, "instructions", 1e-6 * *instructions, "M", 0, 0);
    bench_row(b, "long", g->name, "surveyed", 1e-6 * *instructions / counted, "Minsn/s", 1, 0);
    bench_row(b, "long", g->name, "events made, one core", 1e-6 * *instructions / one, "Minsn/s", 1,
              100);
    bench_row(b, "long", g->name, "control flow made", 1e-6 * *instructions / flow, "Minsn/s", 1,
              200);
    bench_row(b, "long", g->name, "two cores / one", one / two, "x", 1, 1.8);
    vs_survey_fini(&survey);
    vs_reader_close(inputs);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The least seconds of reading the run at hand, after a first time that may leave a cache. */
static void read_run(const struct bench *b, const struct place *p, double *seconds)
{
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
        const char *argv[8] = {p->vestige};
        unsigned n = 1;
        for (unsigned k = 0; k < 4 && readings[i].argv[k]; k++)
            argv[n++] = readings[i].argv[k];
        argv[n++] = p->run;
        argv[n] = NULL;
        seconds[i] = 1e9;
        for (unsigned k = 0; k < REPEATS && k < bench_repeats(b); k++) {
            double s = command_run(argv, p->out);
            seconds[i] = s < seconds[i] ? s : seconds[i];
        }
    }
}

/* Reads a smaller run both ways. */
static void read_both(struct bench *b, const struct place *p, const struct program *g)
{
    const size_t count = sizeof(readings) / sizeof(readings[0]);
    double light[sizeof(readings) / sizeof(readings[0])], full[sizeof(light) / sizeof(light[0])];
    struct program part = *g;
    part.amount *= g->part;
    write_text(p->text, (size_t)(1000 * part.amount * bench_scale(b)) + 1);
    record(b, p, &part, "--all");
    read_run(b, p, full);
    record(b, p, &part, "--inputs");
    read_run(b, p, light);
    for (size_t i = 0; i < count; i++)
        bench_row(b, "long", g->name, readings[i].metric, light[i] / full[i], "x", -1, 1);
}

/* ---------------------------------------------------------------------------------------------- */

static void one(struct bench *b, const struct place *p, const struct program *g)
{
    double base, instructions;
    (g->code ? write_code : write_text)(p->text, (size_t)(1000 * g->amount * bench_scale(b)) + 1);
    double light = in_turns(b, p, g, &base);
    if (g->with_all) {
        bench_row(b, "long", g->name, "control flow / none",
                  record(b, p, g, "--control-only") / base, "x", -1, 2.2);
        bench_row(b, "long", g->name, "all / none", record(b, p, g, "--all") / base, "x", -1, 6);
        record(b, p, g, "--inputs");
    }
    execute(b, p, g, &instructions);
    bench_row(b, "long", g->name, "inputs / none", light / base, "x", -1, 1.4);
    bench_row(b, "long", g->name, "inputs, size", 8 * command_size(p->run) / instructions,
              "bit/insn", -1, 0.01);
    if (g->part > 0)
        read_both(b, p, g);
}

void bench_long(struct bench *b)
{
    char self[PATH_MAX];
    struct place p;
    command_build(self, sizeof(self));
    snprintf(p.vestige, sizeof(p.vestige), "%s/bin/vestige", self);
    snprintf(p.objects, sizeof(p.objects), "%s/lib/vestige", self);
    snprintf(p.run, sizeof(p.run), "%s/long.vest", bench_folder(b));
    snprintf(p.out, sizeof(p.out), "%s/long.out", bench_folder(b));
    snprintf(p.text, sizeof(p.text), "%s/long.txt", bench_folder(b));
    size_t measured = 0;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (!bench_wants(b, programs[i].name))
            continue;
        one(b, &p, &programs[i]);
        measured++;
    }
    if (!measured)
        bench_fail("--only: no such program; see the rows of docs/performance.md");
    unlink(p.run);
    unlink(p.out);
    unlink(p.text);
}
