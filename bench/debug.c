/* SPDX-License-Identifier: MIT */
/* A recorded native program under gdb, measured from gdb: how long its prompt takes, the first time
 * and the second, how fast the program runs forwards and backwards, and how long a step back takes.
 * gdb's own recording of the same program is the peer. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"

enum { OUTPUT = 1 << 16 };

/* Both scripts print "figure NAME VALUE". Times are medians of STEPS. */
#define COMMON                                                                                     \
    "import gdb, os, time\n"                                                                       \
    "STEPS = 21\n"                                                                                 \
    "def figure(name, value): print('figure \"%s\": %.9f' % (name, value), flush=True)\n"          \
    "def seconds(command):\n"                                                                      \
    "    start = time.monotonic()\n"                                                               \
    "    gdb.execute(command, to_string=True)\n"                                                   \
    "    return time.monotonic() - start\n"                                                        \
    "def median(command): return sorted(seconds(command) for i in range(STEPS))[STEPS // 2]\n"

/* What the process at the other end of gdb's pipe has taken at most, in MiB. */
#define MEMORY                                                                                     \
    "def memory():\n"                                                                              \
    "    for p in os.listdir('/proc'):\n"                                                          \
    "        try: facts = dict(l.split(':', 1) for l in open('/proc/%s/status' % p))\n"            \
    "        except (OSError, ValueError): continue\n"                                             \
    "        if int(facts['PPid']) == os.getpid() and 'VmHWM' in facts:\n"                         \
    "            return int(facts['VmHWM'].split()[0]) / 1024\n"                                   \
    "    return -1\n"

static const char ours[] =
    COMMON MEMORY "figure('prompt', time.monotonic() - float(os.environ['BENCH_START']))\n"
                  "if os.environ.get('BENCH_ALL'):\n"
                  "    gdb.execute('set confirm off')\n"
                  "    gdb.execute('tbreak main', to_string=True)\n"
                  "    gdb.execute('continue', to_string=True)\n"
                  "    gdb.execute('break main', to_string=True)\n"
                  "    figure('forwards', seconds('continue'))\n"
                  "    figure('step', 1e3 * median('reverse-stepi'))\n"
                  "    figure('backwards', seconds('reverse-continue'))\n"
                  "    figure('at main', gdb.selected_frame().name() == 'main')\n"
                  "    figure('memory', memory())\n";

/* gdb's recording knows no AVX, so the C library must not use it. */
static const char peer[] =
    COMMON "gdb.execute('set confirm off')\n"
           "gdb.execute('set record full insn-number-max unlimited')\n"
           "gdb.execute('set environment GLIBC_TUNABLES glibc.cpu.hwcaps=-AVX512VL,-AVX512BW,'\n"
           "            '-AVX512F,-AVX2,-AVX,-XSAVEC,-XSAVE')\n"
           "gdb.execute('set environment LD_BIND_NOW 1')\n"
           "gdb.execute('break main', to_string=True)\n"
           "gdb.execute('run', to_string=True)\n"
           "gdb.execute('record full')\n"
           "N = 20000\n"
           "figure('recorded', N / seconds('stepi %d' % N))\n"
           "figure('step', 1e3 * median('reverse-stepi'))\n"
           "try: figure('back', N / seconds('reverse-continue'))\n"
           "except gdb.error: pass\n" /* it cannot on every kernel */
           "gdb.execute('kill')\n";

static void write_script(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f))
        bench_fail("%s: cannot write it", path);
}

static void run_gdb(const char *const argv[], const char *out, char *text)
{
    char start[32];

    snprintf(start, sizeof(start), "%.6f", bench_now());
    setenv("BENCH_START", start, 1);
    command_run(argv, out);
    command_output(out, text, OUTPUT);
}

static void measure_peer(struct bench *b, const char *program, const char *size, const char *script,
                         const char *out, char *text)
{
    const char *argv[] = {"gdb",    "-nx",   "-q", "-batch", "-x", script,
                          "--args", program, "-n", size,     NULL};

    write_script(script, peer);
    command_run(argv, out);
    command_output(out, text, OUTPUT);
    bench_row(b, "debug", "gdb's record full", "forwards", 1e-6 * command_figure(text, "recorded"),
              "Minsn/s", 1, 0);
    if (strstr(text, "\"back\":"))
        bench_row(b, "debug", "gdb's record full", "backwards", 1e-6 * command_figure(text, "back"),
                  "Minsn/s", 1, 0);
    bench_row(b, "debug", "gdb's record full", "reverse-stepi", command_figure(text, "step"), "ms",
              -1, 0);
}

void bench_debug(struct bench *b)
{
    char self[PATH_MAX], vestige[PATH_MAX + 16], program[PATH_MAX + 64], run[PATH_MAX],
        script[PATH_MAX], out[PATH_MAX], cache[PATH_MAX], size[32], *text = malloc(OUTPUT);
    const char *record[] = {vestige, "record", "-f", "-o", run, "--json",
                            "--",    program,  "-n", size, NULL};
    const char *debug[] = {vestige, "debug", run, "--", "-nx", "-q", "-batch", "-x", script, NULL};

    if (!text)
        bench_fail("out of memory");
    command_build(self, sizeof(self));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", self);
    snprintf(program, sizeof(program), "%s/workloads/host/sort", self);
    snprintf(run, sizeof(run), "%s/debug.vest", bench_folder(b));
    snprintf(script, sizeof(script), "%s/debug.py", bench_folder(b));
    snprintf(out, sizeof(out), "%s/debug.out", bench_folder(b));
    snprintf(cache, sizeof(cache), "%s/cache", bench_folder(b));
    snprintf(size, sizeof(size), "%.0f", 900 * bench_scale(b) + 50);
    setenv("XDG_CACHE_HOME", cache, 1); /* what is kept for the next start is new */
    command_run(record, out);
    command_output(out, text, OUTPUT);
    double insns = 1e-6 * command_figure(text, "instructions");

    write_script(script, ours);
    bench_row(b, "debug", "vestige debug", "instructions", insns, "M", 0, 0);
    run_gdb(debug, out, text);
    bench_row(b, "debug", "vestige debug", "to the prompt", command_figure(text, "prompt"), "s", -1,
              2);
    setenv("BENCH_ALL", "1", 1);
    run_gdb(debug, out, text);
    bench_row(b, "debug", "vestige debug", "to the prompt, again", command_figure(text, "prompt"),
              "s", -1, 0.5);
    bench_row(b, "debug", "vestige debug", "forwards", insns / command_figure(text, "forwards"),
              "Minsn/s", 1, 50);
    bench_row(b, "debug", "vestige debug", "reverse-stepi at the end", command_figure(text, "step"),
              "ms", -1, 20);
    bench_row(b, "debug", "vestige debug", "reverse-continue over all",
              command_figure(text, "backwards"), "s", -1, 5);
    if (command_figure(text, "at main") != 1)
        bench_fail("reverse-continue did not come to main");
    bench_row(b, "debug", "vestige debug", "memory, of 512", command_figure(text, "memory"), "MiB",
              -1, 512);
    unsetenv("BENCH_ALL");
    measure_peer(b, program, size, script, out, text);
    unlink(run);
    unlink(script);
    unlink(out);
    free(text);
}
