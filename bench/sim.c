/* SPDX-License-Identifier: MIT */
/* The simulated platform: workloads at `small`, against qemu-riscv64 running the same program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"

enum { TIMED_PROGRAMS = 4, REPEATS_MAX = 3 };

struct place {
    char vestige[PATH_MAX + 32], workloads[PATH_MAX + 32], run[PATH_MAX], out[PATH_MAX];
};

/* Sums, in seconds and instructions. */
struct totals {
    double functional, qemu, timed, recorded;
    double instructions, timed_instructions, recorded_instructions;
};

/* The best of several runs of a command that prints a JSON object with instructions. */
static double best(const struct bench *b, const struct place *p, const char *const argv[],
                   double *instructions)
{
    unsigned repeats = bench_repeats(b) < REPEATS_MAX ? bench_repeats(b) : REPEATS_MAX;
    double least = 1e9;

    for (unsigned i = 0; i < repeats; i++) {
        double seconds = command_run(argv, p->out);

        if (seconds < least)
            least = seconds;
    }
    if (instructions) {
        char text[8192];

        command_output(p->out, text, sizeof(text));
        *instructions = strstr(text, "{") ? command_figure(strstr(text, "{"), "instructions") : 0;
    }
    return least;
}

static void functional(struct bench *b, const struct place *p, const char *name,
                       const char *program, const char *size, struct totals *t)
{
    const char *ours[] = {p->vestige, "simulate", "--json", "--", program, "-n", size, NULL};
    const char *theirs[] = {"qemu-riscv64", program, "-n", size, NULL};
    double n, seconds = best(b, p, ours, &n), qemu = best(b, p, theirs, NULL);

    bench_row(b, "sim", name, "functional", 1e-6 * n / seconds, "Minsn/s", 1, 0);
    bench_row(b, "sim", name, "functional / qemu, time", seconds / qemu, "x", -1, 0);
    t->functional += seconds;
    t->qemu += qemu;
    t->instructions += n;
}

static void timed(struct bench *b, const struct place *p, const char *name, const char *program,
                  const char *size, struct totals *t)
{
    const char *without[] = {p->vestige, "simulate", "--json", "--cores", "4", "--timed", "--",
                             program,    "-n",       size,     "-p",      "4", NULL};
    const char *with[] = {p->vestige, "record", "--json", "-f", "-o", p->run, "--cores", "4",
                          "--timed",  "--",     program,  "-n", size, "-p",   "4",       NULL};
    double n, m, seconds = best(b, p, without, &n), recorded = best(b, p, with, &m);

    bench_row(b, "sim", name, "timed, 4 cores", 1e-6 * n / seconds, "Minsn/s", 1, 0);
    bench_row(b, "sim", name, "timed, 4 cores, recorded", 1e-6 * m / recorded, "Minsn/s", 1, 0);
    t->timed += seconds;
    t->timed_instructions += n;
    t->recorded += recorded;
    t->recorded_instructions += m;
}

static void suite(struct bench *b, const struct totals *t)
{
    bench_row(b, "sim", "suite", "functional", 1e-6 * t->instructions / t->functional, "Minsn/s", 1,
              150);
    bench_row(b, "sim", "suite", "functional / qemu, time", t->functional / t->qemu, "x", -1, 0);
    bench_row(b, "sim", "suite", "timed, 4 cores", 1e-6 * t->timed_instructions / t->timed,
              "Minsn/s", 1, 0);
    bench_row(b, "sim", "suite", "timed, 4 cores, recorded",
              1e-6 * t->recorded_instructions / t->recorded, "Minsn/s", 1, 20);
}

void bench_sim(struct bench *b)
{
    FILE *f = fopen("workloads/catalog", "re");
    char line[256], name[64], size[32], self[PATH_MAX], program[PATH_MAX + 96];
    struct totals totals = {0};
    struct place p;
    unsigned n = 0;

    if (!f)
        bench_fail("workloads/catalog: %s; run it in the project's folder", strerror(errno));
    command_build(self, sizeof(self));
    snprintf(p.vestige, sizeof(p.vestige), "%s/bin/vestige", self);
    snprintf(p.workloads, sizeof(p.workloads), "%s/workloads/rv64", self);
    snprintf(p.run, sizeof(p.run), "%s/sim.vest", bench_folder(b));
    snprintf(p.out, sizeof(p.out), "%s/sim.out", bench_folder(b));
    while (fgets(line, sizeof(line), f)) {
        if (line[0] == '#' || sscanf(line, "%63s %*s %*s %*s %31s", name, size) != 2)
            continue;
        snprintf(program, sizeof(program), "%s/%s", p.workloads, name);
        functional(b, &p, name, program, size, &totals);
        if (n++ < TIMED_PROGRAMS)
            timed(b, &p, name, program, size, &totals);
    }
    fclose(f);
    unlink(p.run);
    unlink(p.out);
    suite(b, &totals);
}
