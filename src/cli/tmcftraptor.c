/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/mtrace.h"
#include "cli/textin.h"
#include "cli/traptor.h"

enum { LINE_BYTES = 128, KINDS = 7 };

struct tmcftraptor_options {
    uint64_t max_mb;
    unsigned gshare, ras, ibtb;
    bool untagged;
    const char *output;
};

struct tmcftraptor {
    struct cli *cli;
    const struct tmcftraptor_options *o;
    struct traptor t;
    struct textin in;
    struct mtrace_out out;
    uint64_t kinds[KINDS]; /* by TmTrace's numbers */
    uint64_t lines;        /* of control transfers */
    uint64_t written[3];   /* by traptor_kind */
    uint64_t widest;       /* of all addresses */
    struct vs_progress progress;
    double milliseconds;
    struct vs_diag diag;
};

/* A line of TmTrace. */
struct transfer {
    uint64_t cycle, pc, target, instructions;
    unsigned core, size, kind;
    char direct, conditional, taken;
};

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(struct tmcftraptor *t, const char *what)
{
    return vs_diag_set(&t->diag, -VSE_CORRUPT, -1, -1, "line %llu: %s",
                       (unsigned long long)t->in.line, what);
}

static bool parse(const char *line, struct transfer *x)
{
    return sscanf(line, "%" SCNu64 ", %u, %" SCNx64 ", %" SCNx64 ", %u, %c, %c, %c, %u,%" SCNu64,
                  &x->cycle, &x->core, &x->pc, &x->target, &x->size, &x->direct, &x->conditional,
                  &x->taken, &x->kind, &x->instructions) == 10;
}

static bool is_one_of(char c, const char *letters)
{
    return c && strchr(letters, c);
}

/* Its flags, or -1 if the fields contradict each other. */
static int flags_of(const struct transfer *x)
{
    static const unsigned kinds[KINDS] = {[1] = VS_BR_CALL,
                                          [2] = VS_BR_RETURN | VS_BR_INDIRECT,
                                          [4] = VS_BR_INDIRECT,
                                          [6] = VS_BR_COND};
    unsigned flags = 0;
    if (!x->kind || x->kind >= KINDS || !is_one_of(x->direct, "DI") ||
        !is_one_of(x->conditional, "CU") || !is_one_of(x->taken, "TN"))
        return -1;
    flags |= x->direct == 'I' ? VS_BR_INDIRECT : 0;
    flags |= x->conditional == 'C' ? VS_BR_COND : 0;
    flags |= x->taken == 'T' ? VS_BR_TAKEN : 0;
    unsigned needed = kinds[x->kind] & (VS_BR_INDIRECT | VS_BR_COND);
    if ((flags & needed) != needed || !(flags & (VS_BR_TAKEN | VS_BR_COND)))
        return -1;
    return (int)(flags | kinds[x->kind]);
}

static int know_core(struct tmcftraptor *t, const struct transfer *x)
{
    if (x->core >= VS_THREADS_MAX)
        return refuse(t, "there is no such core");
    int e = traptor_count(&t->t, x->core, (unsigned)x->instructions);
    return e ? vs_diag_set(&t->diag, e, -1, -1, "out of memory") : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int put(struct tmcftraptor *t, const struct transfer *x, const struct traptor_message *d)
{
    int e;
    if (t->out.end - t->out.at < LINE_BYTES &&
        (e = mtrace_out_more(&t->out, LINE_BYTES, &t->diag)) < 0)
        return e;
    char *p = (char *)t->out.at;
    p += sprintf(p, "%" PRIu64 ", %u, %" PRIu32, x->cycle, x->core, d->bcnt);
    if (d->kind == TRAPTOR_TARGET)
        p += sprintf(p, ", T, 0x%08" PRIx64, d->target);
    *p++ = '\n';
    t->out.at = (uint8_t *)p;
    t->written[d->kind]++;
    return 0;
}

static int take_line(struct tmcftraptor *t, const char *line)
{
    struct transfer x;
    int flags, e;
    if (!parse(line, &x))
        return refuse(t, "not a control transfer of TmTrace; was it made with --mcf?");
    if ((flags = flags_of(&x)) < 0)
        return refuse(t, "its fields contradict each other");
    if ((e = know_core(t, &x)) < 0)
        return e;
    t->lines++;
    t->kinds[x.kind]++;
    t->widest |= x.pc | x.target;
    struct traptor_message d =
        traptor_branch(&t->t, x.core, x.pc, x.target, (unsigned)flags, x.size);
    return d.kind == TRAPTOR_NOTHING ? 0 : put(t, &x, &d);
}

/* Lines that do not begin with a digit are titles. */
static int take_all(struct tmcftraptor *t)
{
    int64_t n;
    int e = 0;
    while (!e && (n = textin_line(&t->in, &t->diag)) >= 0) {
        const char *line = t->in.text;
        if (*line >= '0' && *line <= '9')
            e = take_line(t, line);
        vs_progress_update(&t->progress, t->in.line);
    }
    if (!e && n == -VSE_END && !t->lines)
        return vs_diag_set(&t->diag, -VSE_CORRUPT, -1, -1, "it has no control transfer");
    return e ? e : n == -VSE_END ? 0 : (int)n;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Sizes of binary records: the time has 8 bytes, a thread or type 1, a count 4. */
static void size_row(struct out *out, const char *name, uint64_t count, uint64_t line)
{
    out_printf(out, "%s, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n", name, 8 * count, line,
               8 * count + line);
}

static void print_sizes(const struct tmcftraptor *t, struct out *out)
{
    uint64_t address = t->widest >> 32 ? 8 : 4;
    uint64_t direct = t->written[TRAPTOR_OUTCOME], indirect = t->written[TRAPTOR_TARGET];
    uint64_t exceptions = t->written[TRAPTOR_EXCEPTION];
    uint64_t lines[3] = {5 * direct, (6 + address) * indirect, (9 + address) * exceptions};
    out_str(out, "; File size in Binaries\n; Type, TotalSizeofTime, TotalSizeofLine, TotalSize\n");
    size_row(out, "Input", t->lines, (23 + 2 * address) * t->lines);
    size_row(out, "OutputDirect", direct, lines[0]);
    size_row(out, "OutputIndirect", indirect, lines[1]);
    size_row(out, "OutputException", exceptions, lines[2]);
    size_row(out, "Output", direct + indirect + exceptions, lines[0] + lines[1] + lines[2]);
}

static void statistics(const struct tmcftraptor *t, struct out *out)
{
    static const char *const kinds[KINDS] = {NULL,      "call", "ret",   "syscall",
                                             "ibranch", "jump", "branch"};
    const uint64_t *classes = t->t.classes;
    out_printf(out, "; tmcfTRaptor: Instrumentation Time %.0f ms\n", t->milliseconds);
    out_str(out, "; timed Control Flow Stats\n");
    out_printf(out, "Recorded %" PRIu64 " control transfer instructions.\n", t->lines);
    mtrace_share(out, classes[2], t->lines, "Conditional Direct Taken");
    mtrace_share(out, classes[3], t->lines, "Conditional Direct Not Taken");
    mtrace_share(out, classes[1], t->lines, "Unconditional Direct");
    mtrace_share(out, classes[0], t->lines, "Unconditional Indirect");
    out_str(out, "; timed Control Flow TRaptor Stats\n");
    traptor_statistics(&t->t, out, "tmcfTRaptor");
    traptor_structures(&t->t, out);
    out_str(out, "; branch stats\n\tTotal #\n");
    for (unsigned i = 1; i < KINDS; i++)
        out_printf(out, "\t%s instruction:\t%" PRIu64 "\n", kinds[i], t->kinds[i]);
    print_sizes(t, out);
}

static int write_statistics(const struct tmcftraptor *t, const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_outfile file;
    struct out out;
    int e = vs_outfile_open(&file, path, t->o->output != NULL, &diag);
    if (!e) {
        out_init(&out, file.fd);
        statistics(t, &out);
        errno = out_flush(&out);
        e = errno ? vs_diag_io(&diag, "write", path) : vs_outfile_commit(&file, &diag);
        vs_outfile_abort(&file);
    }
    return e ? cli_report(t->cli, path, e, &diag) : CLI_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int convert(struct tmcftraptor *t, const char *input, const char *path,
                   const char *statistics_path)
{
    double start = milliseconds();
    int e = textin_open(&t->in, input, &t->diag);
    if (e)
        return cli_report(t->cli, input, e, &t->diag);
    e = mtrace_out_open(&t->out, path, t->o->output != NULL, 0, t->o->max_mb * 1000000, &t->diag);
    if (e) {
        textin_close(&t->in, true, NULL);
        return cli_report(t->cli, path, e, &t->diag);
    }
    vs_progress_init(&t->progress, stderr, "reading", 0, "lines");
    e = take_all(t);
    vs_progress_finish(&t->progress);
    int closed = textin_close(&t->in, e != 0, &t->diag);
    bool full = e == -VSE_END; /* -f */
    e = full ? 0 : e ? e : closed;
    t->milliseconds = milliseconds() - start;
    if (e) {
        mtrace_out_abort(&t->out);
        return cli_report(t->cli, input, e, &t->diag);
    }
    if ((e = mtrace_out_commit(&t->out, &t->diag)) < 0)
        return cli_report(t->cli, path, e, &t->diag);
    out_printf(&t->cli->out, "tmcfTRaptor: Writing to text file: ");
    out_safe(&t->cli->out, path);
    out_printf(&t->cli->out, "\n");
    if (full)
        out_printf(&t->cli->out, "tmcfTRaptor: stopped at %llu million bytes (--f)\n",
                   (unsigned long long)t->o->max_mb);
    return write_statistics(t, statistics_path);
}

/* The common part of the names, to be freed. */
static char *base_name(const struct tmcftraptor_options *o)
{
    time_t now = time(NULL);
    struct tm tm;
    char *name;
    if (o->output)
        return strdup(o->output);
    localtime_r(&now, &tm);
    if (asprintf(&name, "tMcfTRaptor_out_%d_%d_%d_%d_%d_%d", tm.tm_year + 1900, tm.tm_mon + 1,
                 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec) < 0)
        return NULL;
    return name;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct tmcftraptor_options o = {.max_mb = 50000, .gshare = 1, .ras = 1, .ibtb = 3};
    struct tmcftraptor t = {.cli = cli, .o = &o, .diag = {.offset = -1, .chunk = -1}};
    char *base, *path = NULL, *statistics_path = NULL;
    int status;
    if (!options_parse(cli, &command_tmcftraptor, &o, &argc, argv, &status))
        return status;
    t.t.config = (struct traptor_config){.gshare = traptor_entries(traptor_gshare_name(o.gshare)),
                                         .ras = traptor_entries(traptor_ras_name(o.ras)),
                                         .ibtb = traptor_entries(traptor_ibtb_name(o.ibtb)),
                                         .untagged = o.untagged};
    base = base_name(&o);
    if (!base || asprintf(&path, "%s.txt", base) < 0 ||
        asprintf(&statistics_path, "%s.Statistics", base) < 0 || traptor_init(&t.t))
        status = cli_report(cli, "tmcfTRaptor", -VSE_NOMEM, NULL);
    else
        status = convert(&t, argv[0], path, statistics_path);
    traptor_fini(&t.t);
    free(statistics_path);
    free(path);
    free(base);
    return status;
}

#define FIELD(member) offsetof(struct tmcftraptor_options, member)
#define ENTRIES(title, text, names, count, member)                                                 \
    {                                                                                              \
        .name = title, .argument = "N", .help = text, .type = OPTION_ENUM,                         \
        .offset = FIELD(member), .number_name = names, .first = 0, .end = count                    \
    }

static const struct cli_option options[] = {
    {.name = "f",
     .argument = "MB",
     .help = "stop before the trace gets larger than this many\nmillion bytes (50000)",
     .type = OPTION_U64,
     .offset = FIELD(max_mb),
     .min = 1,
     .max = UINT64_MAX / 1000000},
    ENTRIES("gshare", "entries of gshare (256):", traptor_gshare_name, TRAPTOR_GSHARES, gshare),
    ENTRIES("ras", "of the return address stack (8):", traptor_ras_name, TRAPTOR_RASES, ras),
    ENTRIES("ibtb", "of the target buffer, 2 ways (64):", traptor_ibtb_name, TRAPTOR_IBTBS, ibtb),
    {.name = "untagged",
     .help =
         "no tags in the target buffer: a hit if either way\nhas the target, as in the original",
     .offset = FIELD(untagged)},
    {.name = "o",
     .argument = "NAME",
     .help = "name of the trace, to which .txt, and of the\nstatistics, to which .Statistics is "
             "added",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {0},
};

const struct command command_tmcftraptor = {
    .name = "tmcfTRaptor",
    .summary = "mispredictions of a timed trace of tmTrace, with cycles",
    .run = run,
    .options = options,
    .tool = true,
    .operands = "TRACE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Reads the control transfers that 'tmTrace --mcf' writes, compressed or not (- is\n"
        "standard input), predicts their outcomes and targets, and writes a line for each\n"
        "misprediction: cycle, core, bCnt and, of a target, T and the address. Rates go\n"
        "to a file of statistics. This is also a program of its own, tmcfTRaptor.",
    .example = "tmTrace --mTrace trace.gz --mcf -- ./program\n"
               "vestige tmcfTRaptor --gshare 4096 --ras 32 --ibtb 64 --o t trace.gz",
    .exits = "0  done\n"
             "1  the trace is damaged, or is none of control transfers\n"
             "2  bad usage, or the system refused something",
};
