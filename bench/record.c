/* SPDX-License-Identifier: MIT */
/* Recording native programs: the workloads at `small`, one thread, against Valgrind doing nothing
 * and against Lackey printing addresses. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"

enum { LACKEY_PROGRAMS = 3, REPEATS_MAX = 5 };

/* What `vestige record --json` says. */
struct recorded {
    double seconds, more;
    double instructions, bytes;
};

struct totals {
    double none, control, all, inputs, again, more, instructions;
    double control_bytes, all_bytes, inputs_bytes, descriptor_bytes;
};

struct place {
    char vestige[PATH_MAX + 32], mlstrace[PATH_MAX + 32], workloads[PATH_MAX + 32];
    char run[PATH_MAX], out[PATH_MAX];
};

/* The best of several recordings. */
static struct recorded record(const struct bench *b, const struct place *p, const char *program,
                              const char *size, const char *what)
{
    const char *argv[] = {p->vestige, "record", "--json", "-f", "-o", p->run,
                          what,       "--",     program,  "-n", size, NULL};
    struct recorded best = {.seconds = 1e9};
    unsigned repeats = bench_repeats(b) < REPEATS_MAX ? bench_repeats(b) : REPEATS_MAX;

    for (unsigned i = 0; i < repeats; i++) {
        double seconds = command_run(argv, p->out);
        char text[4096];

        command_output(p->out, text, sizeof(text));
        if (seconds < best.seconds)
            best = (struct recorded){.seconds = seconds,
                                     .more = command_figure(text, "seconds_more"),
                                     .instructions = command_figure(text, "instructions"),
                                     .bytes = command_figure(text, "bytes")};
    }
    return best;
}

static double none(const struct bench *b, const struct place *p, const char *program,
                   const char *size)
{
    const char *argv[] = {"valgrind", "-q", "--tool=none", program, "-n", size, NULL};
    /* A program that repairs its own faults needs registers that are up to date. */
    const char *exact[] = {"valgrind", "-q", "--tool=none", "--px-default=allregs-at-mem-access",
                           program,    "-n", size,          NULL};
    unsigned repeats = bench_repeats(b) < REPEATS_MAX ? bench_repeats(b) : REPEATS_MAX;
    double best = 1e9;

    for (unsigned i = 0; i < repeats; i++) {
        double seconds = command_try(argv, p->out);

        if (seconds < 0)
            seconds = command_run(exact, p->out);
        if (seconds < best)
            best = seconds;
    }
    return best;
}

static double lackey(const char *program, const char *size)
{
    const char *argv[] = {
        "valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null", program, "-n", size,
        NULL};

    return command_run(argv, "/dev/null");
}

/* The run that was recorded last, which has only its inputs, executed again with all of its events
 * made. */
static double execute(const struct place *p)
{
    const char *argv[] = {p->vestige, "check", "-q", "--inputs", p->run, NULL};

    return command_run(argv, p->out);
}

/* Loads and stores as descriptors, compressed. */
static double descriptors(const struct place *p)
{
    char name[PATH_MAX + 8], path[PATH_MAX + 32];
    const char *argv[] = {p->mlstrace, "-store", "-c", "zstd", "-o", name, "-i", p->run, NULL};
    double size;

    snprintf(name, sizeof(name), "%s.mls", p->run);
    command_run(argv, p->out);
    snprintf(path, sizeof(path), "%s.bin.zst", name);
    size = command_size(path);
    unlink(path);
    snprintf(path, sizeof(path), "%s.Statistics", name);
    unlink(path);
    return size;
}

static void one(struct bench *b, const struct place *p, const char *name, const char *size,
                bool with_lackey, struct totals *t)
{
    char program[PATH_MAX + 96];
    struct recorded control, all, inputs;
    double base, other, bytes, again;

    snprintf(program, sizeof(program), "%s/%s", p->workloads, name);
    base = none(b, p, program, size);
    control = record(b, p, program, size, "--control-only");
    all = record(b, p, program, size, "--all");
    bytes = descriptors(p);
    inputs = record(b, p, program, size, "--inputs");
    again = execute(p);
    bench_row(b, "record", name, "control flow / none", control.seconds / base, "x", -1, 0);
    bench_row(b, "record", name, "all / none", all.seconds / base, "x", -1, 0);
    bench_row(b, "record", name, "inputs / none", inputs.seconds / base, "x", -1, 0);
    bench_row(b, "record", name, "inputs, size", 8 * inputs.bytes / inputs.instructions, "bit/insn",
              -1, 0);
    bench_row(b, "record", name, "inputs, executed again", 1e-6 * inputs.instructions / again,
              "Minsn/s", 1, 0);
    bench_row(b, "record", name, "control flow, size", 8 * control.bytes / control.instructions,
              "bit/insn", -1, 0);
    bench_row(b, "record", name, "all, size", 8 * all.bytes / all.instructions, "bit/insn", -1, 0);
    bench_row(b, "record", name, "mlsTrace, zstd -3, size", 8 * bytes / all.instructions,
              "bit/insn", 0, 0);
    if (with_lackey) {
        other = lackey(program, size);
        bench_row(b, "record", name, "lackey / all", other / all.seconds, "x", 1, 30);
    }
    t->none += base;
    t->control += control.seconds;
    t->all += all.seconds;
    t->inputs += inputs.seconds;
    t->again += again;
    t->inputs_bytes += inputs.bytes;
    t->more += all.more;
    t->instructions += all.instructions;
    t->control_bytes += control.bytes;
    t->all_bytes += all.bytes;
    t->descriptor_bytes += bytes;
}

static void suite(struct bench *b, const struct totals *t)
{
    double n = t->instructions;

    bench_row(b, "record", "suite", "control flow / none", t->control / t->none, "x", -1, 1.6);
    bench_row(b, "record", "suite", "all / none", t->all / t->none, "x", -1, 5);
    bench_row(b, "record", "suite", "inputs / none", t->inputs / t->none, "x", -1, 1.4);
    bench_row(b, "record", "suite", "inputs, size", 8 * t->inputs_bytes / n, "bit/insn", -1, 0.01);
    bench_row(b, "record", "suite", "inputs, executed again", 1e-6 * n / t->again, "Minsn/s", 1,
              100);
    bench_row(b, "record", "suite", "end of program to sealed", t->more / t->all, "of time", -1,
              0.1);
    bench_row(b, "record", "suite", "control flow, speed", 1e-6 * n / t->control, "Minsn/s", 1, 0);
    bench_row(b, "record", "suite", "all, speed", 1e-6 * n / t->all, "Minsn/s", 1, 0);
    bench_row(b, "record", "suite", "control flow, size", 8 * t->control_bytes / n, "bit/insn", -1,
              0.4);
    bench_row(b, "record", "suite", "all, size", 8 * t->all_bytes / n, "bit/insn", -1, 2);
    bench_row(b, "record", "suite", "mlsTrace, zstd -3, size", 8 * t->descriptor_bytes / n,
              "bit/insn", 0, 0);
}

static void find_place(const struct bench *b, struct place *p)
{
    char self[PATH_MAX];

    command_build(self, sizeof(self));
    snprintf(p->vestige, sizeof(p->vestige), "%s/bin/vestige", self);
    snprintf(p->mlstrace, sizeof(p->mlstrace), "%s/bin/mlsTrace", self);
    snprintf(p->workloads, sizeof(p->workloads), "%s/workloads/host", self);
    snprintf(p->run, sizeof(p->run), "%s/record.vest", bench_folder(b));
    snprintf(p->out, sizeof(p->out), "%s/record.out", bench_folder(b));
}

void bench_record(struct bench *b)
{
    FILE *f = fopen("workloads/catalog", "re");
    char line[256], name[64], size[32];
    struct totals totals = {0};
    struct place place;
    unsigned n = 0;

    if (!f)
        bench_fail("workloads/catalog: %s; run it in the project's folder", strerror(errno));
    find_place(b, &place);
    while (fgets(line, sizeof(line), f)) {
        if (line[0] == '#' || sscanf(line, "%63s %*s %*s %*s %31s", name, size) != 2)
            continue;
        one(b, &place, name, size, n < LACKEY_PROGRAMS, &totals);
        n++;
    }
    fclose(f);
    unlink(place.run);
    unlink(place.out);
    suite(b, &totals);
}
