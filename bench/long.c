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

struct place {
    char vestige[PATH_MAX + 32], objects[PATH_MAX + 32];
    char run[PATH_MAX], out[PATH_MAX], text[PATH_MAX];
};

struct program {
    const char *name;
    double kilobytes; /* of text that it works on, or its argument */
    const char *argv[6];
    bool with_all; /* also recorded with everything, which takes long */
};

/* {} is the text's file; {n} is the amount. */
static const struct program programs[] = {
    {"xz", 2000, {"xz", "-k", "-c", "{}"}, true},
    {"gzip", 1200, {"gzip", "-9", "-c", "{}"}, false},
    {"bzip2", 3000, {"bzip2", "-k", "-c", "{}"}, false},
    {"sort", 20000, {"sort", "-S", "512M", "{}"}, false},
    {"python3",
     9000,
     {"/usr/bin/python3", "-S", "-E", "-c", "print(sum(i * i % 7 for i in range({n}000)))"},
     false},
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

/* Runs the program after `before`, a few times; returns the least seconds. */
static double run_after(const struct bench *b, const struct place *p, const struct program *g,
                        const char *const *before, unsigned repeats)
{
    const char *argv[24];
    char room[256];
    double amount = g->kilobytes * bench_scale(b), best = 1e9;
    unsigned n = 0;
    while (*before)
        argv[n++] = *before++;
    for (unsigned i = 0; i < 6 && g->argv[i]; i++)
        argv[n++] = fill(g->argv[i], p, amount < 1 ? 1 : amount, room, sizeof(room));
    argv[n] = NULL;
    if (repeats > bench_repeats(b))
        repeats = bench_repeats(b);
    for (unsigned i = 0; i < repeats; i++) {
        double seconds = command_run(argv, p->out);
        if (seconds < best)
            best = seconds;
    }
    return best;
}

static double record(const struct bench *b, const struct place *p, const struct program *g,
                     const char *what, unsigned repeats)
{
    const char *before[] = {p->vestige, "record", "-q", "-f", "-o", p->run, what, "--", NULL};
    return run_after(b, p, g, before, repeats);
}

/* ---- executing again ------------------------------------------------------------------------- */

/* A thread's share of a run: from one place up to another. */
struct share {
    const struct place *p;
    const struct vs_survey *survey;
    unsigned number; /* of CORES, or 0 of 1 */
    unsigned of;
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
    do
        n = vs_rerun_next(r, &batch, &diag);
    while (n > 0 && batch.first + batch.count < end);
    if (n < 0 && n != -VSE_END)
        bench_fail("%s: %s", s->p->run, diag.text);
    vs_rerun_close(r);
    vs_reader_close(inputs);
    return NULL;
}

static double make_events(const struct place *p, const struct vs_survey *survey, unsigned threads)
{
    struct share shares[CORES];
    double start = bench_now();
    for (unsigned i = 0; i < threads; i++) {
        shares[i] = (struct share){.p = p, .survey = survey, .number = i, .of = threads};
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
    double start, counted, one, two;
    if (vs_reader_open(&inputs, p->run, VS_OPEN_DEFAULT, &diag) ||
        vs_rerun_open(&r, inputs, p->objects, &diag))
        bench_fail("%s: %s", p->run, diag.text);
    start = bench_now();
    if (vs_survey_take(&survey, r, inputs, NULL, NULL, NULL, &diag))
        bench_fail("%s: %s", p->run, diag.text);
    counted = bench_now() - start;
    *instructions = (double)vs_reader_info(inputs)->instructions;
    one = make_events(p, &survey, 1);
    two = survey.snapshots.count < CORES ? one : make_events(p, &survey, CORES);
    bench_row(b, "long", g->name, "instructions", 1e-6 * *instructions, "M", 0, 0);
    bench_row(b, "long", g->name, "surveyed", 1e-6 * *instructions / counted, "Minsn/s", 1, 0);
    bench_row(b, "long", g->name, "events made, one core", 1e-6 * *instructions / one, "Minsn/s", 1,
              100);
    bench_row(b, "long", g->name, "two cores / one", one / two, "x", 1, 1.8);
    vs_survey_fini(&survey);
    vs_rerun_close(r);
    vs_reader_close(inputs);
}

/* ---------------------------------------------------------------------------------------------- */

static void one(struct bench *b, const struct place *p, const struct program *g)
{
    /* A name may stand for a script that executes the program. */
    const char *none[] = {"valgrind", "-q", "--tool=none", "--trace-children=yes", NULL};
    double base, light, instructions;
    write_text(p->text, (size_t)(1000 * g->kilobytes * bench_scale(b)) + 1);
    base = run_after(b, p, g, none, REPEATS);
    if (g->with_all) {
        bench_row(b, "long", g->name, "control flow / none",
                  record(b, p, g, "--control-only", 1) / base, "x", -1, 2.2);
        bench_row(b, "long", g->name, "all / none", record(b, p, g, "--all", 1) / base, "x", -1, 6);
    }
    light = record(b, p, g, "--inputs", REPEATS);
    execute(b, p, g, &instructions);
    bench_row(b, "long", g->name, "inputs / none", light / base, "x", -1, 1.4);
    bench_row(b, "long", g->name, "inputs, size", 8 * command_size(p->run) / instructions,
              "bit/insn", -1, 0.01);
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
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        one(b, &p, &programs[i]);
    unlink(p.run);
    unlink(p.out);
    unlink(p.text);
}
