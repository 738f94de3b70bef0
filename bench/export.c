/* SPDX-License-Identifier: MIT */
/* Exports: how many of a run's events a second are written in each format, into nothing. The peer
 * of the texts is `vestige dump --json`. The run is a simulated program's, with everything; for
 * ChampSim it is a native one's. Times are those of the whole command. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"

#define GROUP "export"

static double events_of(const char *vestige, const char *run, const char *scratch)
{
    const char *const argv[] = {vestige, "info", "--json", "--no-scan", run, NULL};
    char text[65536];

    command_run(argv, scratch);
    command_output(scratch, text, sizeof(text));
    return command_figure(text, "events");
}

static void measure(struct bench *b, const char *const argv[], const char *name, const char *metric,
                    double events, double target)
{
    double best = 1e9, once;

    for (unsigned i = 0; i < bench_repeats(b); i++)
        if ((once = command_run(argv, "/dev/null")) < best)
            best = once;
    bench_row(b, GROUP, name, metric, events / best / 1e6, "Mevent/s", 1, target);
}

static void formats(struct bench *b, const char *vestige, const char *run, const char *name,
                    const char *const *list, const char *scratch)
{
    const char *const dump[] = {vestige, "dump", "--json", run, NULL};
    double events = events_of(vestige, run, scratch);

    for (; *list; list++) {
        const char *const argv[] = {vestige, "export", "--to", *list, "--thread",
                                    "0",     "-o",     "-",    run,   NULL};

        measure(b, argv, name, *list, events, 20);
    }
    measure(b, dump, name, "dump --json", events, 0);
}

void bench_export(struct bench *b)
{
    static const char *const all[] = {"csv",   "lackey",   "din", "folded", "speedscope",
                                      "pprof", "perfetto", "vcd", NULL};
    static const char *const native[] = {"champsim", "lackey", NULL};
    char self[480], vestige[512], program[512], run[512], scratch[512];

    command_build(self, sizeof(self));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", self);
    snprintf(run, sizeof(run), "%s/bench-%d.vest", bench_folder(b), (int)getpid());
    snprintf(scratch, sizeof(scratch), "%s/bench-%d.out", bench_folder(b), (int)getpid());
    snprintf(program, sizeof(program), "%s/workloads/rv64/fft", self);
    {
        const char *const argv[] = {vestige, "record", "-q",    "-f", "--timed", "-o",
                                    run,     "--",     program, "-n", "15",      NULL};

        command_run(argv, scratch);
    }
    formats(b, vestige, run, "fft rv64", all, scratch);
    snprintf(program, sizeof(program), "%s/workloads/host/fft", self);
    {
        const char *const argv[] = {vestige, "record", "-q",    "-f", "--all", "-o",
                                    run,     "--",     program, "-n", "15",    NULL};

        command_run(argv, scratch);
    }
    formats(b, vestige, run, "fft native", native, scratch);
    unlink(run);
    unlink(scratch);
}
