/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "published/mtrace.h"
#include "published/tmtool.h"
#include "published/traptor_tools.h"

enum { KINDS = 7 };

struct tmcftraptor_options {
    struct tmtool_options tool;
    unsigned gshare, ras, ibtb;
    bool untagged;
};

struct tmcftraptor {
    struct tmtool tool; /* first */
    struct traptor t;
    uint64_t kinds[KINDS]; /* by TmTrace's numbers */
    uint64_t written[3];   /* by traptor_kind */
    uint64_t widest;       /* all addresses, combined by OR */
};

/* One of TmTrace's lines. */
struct transfer {
    uint64_t cycle, pc, target, instructions;
    unsigned core, size, kind;
    char direct, conditional, taken;
};

/* ---- reading --------------------------------------------------------------------------------- */

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

/* The transfer's flags; -1 if the fields contradict each other. */
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
        return tmtool_refuse(&t->tool, "there is no such core");
    int e = traptor_count(&t->t, x->core, (unsigned)x->instructions);
    return e ? vs_diag_set(&t->tool.diag, e, -1, -1, "out of memory") : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int put(struct tmcftraptor *t, const struct transfer *x, const struct traptor_message *d)
{
    int e = tmtool_room(&t->tool);
    if (e)
        return e;
    char *p = (char *)t->tool.out.at;
    p += sprintf(p, "%" PRIu64 ", %u, %" PRIu32, x->cycle, x->core, d->bcnt);
    if (d->kind == TRAPTOR_TARGET)
        p += sprintf(p, ", T, 0x%08" PRIx64, d->target);
    *p++ = '\n';
    t->tool.out.at = (uint8_t *)p;
    t->written[d->kind]++;
    return 0;
}

static int take(struct tmtool *tool, const char *line)
{
    struct tmcftraptor *t = (struct tmcftraptor *)tool;
    struct transfer x;
    int flags, e;
    if (!parse(line, &x))
        return tmtool_refuse(&t->tool,
                             "not a control transfer of TmTrace; was it made with --mcf?");
    if ((flags = flags_of(&x)) < 0)
        return tmtool_refuse(&t->tool, "its fields contradict each other");
    if ((e = know_core(t, &x)) < 0)
        return e;
    t->kinds[x.kind]++;
    t->widest |= x.pc | x.target;
    struct traptor_message d =
        traptor_branch(&t->t, x.core, x.pc, x.target, (unsigned)flags, x.size);
    return d.kind == TRAPTOR_NOTHING ? 0 : put(t, &x, &d);
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* A thread or type takes 1 byte, and a count takes 4. */
static void print_sizes(const struct tmcftraptor *t, struct out *out)
{
    uint64_t address = t->widest >> 32 ? 8 : 4;
    uint64_t direct = t->written[TRAPTOR_OUTCOME], indirect = t->written[TRAPTOR_TARGET];
    uint64_t exceptions = t->written[TRAPTOR_EXCEPTION];
    uint64_t lines[3] = {5 * direct, (6 + address) * indirect, (9 + address) * exceptions};
    tmtool_sizes_title(out);
    tmtool_size_row(out, "Input", t->tool.lines, (23 + 2 * address) * t->tool.lines);
    tmtool_size_row(out, "OutputDirect", direct, lines[0]);
    tmtool_size_row(out, "OutputIndirect", indirect, lines[1]);
    tmtool_size_row(out, "OutputException", exceptions, lines[2]);
    tmtool_size_row(out, "Output", direct + indirect + exceptions, lines[0] + lines[1] + lines[2]);
}

static void statistics(const struct tmtool *tool, struct out *out)
{
    const struct tmcftraptor *t = (const struct tmcftraptor *)tool;
    static const char *const kinds[KINDS] = {NULL,      "call", "ret",   "syscall",
                                             "ibranch", "jump", "branch"};
    const uint64_t *classes = t->t.classes;
    out_str(out, "; timed Control Flow Stats\n");
    out_printf(out, "Recorded %" PRIu64 " control transfer instructions.\n", tool->lines);
    mtrace_share(out, classes[2], tool->lines, "Conditional Direct Taken");
    mtrace_share(out, classes[3], tool->lines, "Conditional Direct Not Taken");
    mtrace_share(out, classes[1], tool->lines, "Unconditional Direct");
    mtrace_share(out, classes[0], tool->lines, "Unconditional Indirect");
    out_str(out, "; timed Control Flow TRaptor Stats\n");
    traptor_statistics(&t->t, out, "tmcfTRaptor");
    traptor_structures(&t->t, out);
    out_str(out, "; branch stats\n\tTotal #\n");
    for (unsigned i = 1; i < KINDS; i++)
        out_printf(out, "\t%s instruction:\t%" PRIu64 "\n", kinds[i], t->kinds[i]);
    print_sizes(t, out);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(struct cli *cli, int argc, char **argv)
{
    struct tmcftraptor_options o = {.tool = TMTOOL_DEFAULTS, .gshare = 1, .ras = 1, .ibtb = 3};
    struct tmcftraptor t = {.tool = {.name = "tmcfTRaptor",
                                     .prefix = "tMcfTRaptor_out",
                                     .what = "control transfer",
                                     .take = take,
                                     .statistics = statistics,
                                     .o = &o.tool}};
    int status;
    if (!options_parse(cli, &command_tmcftraptor, &o, &argc, argv, &status))
        return status;
    t.t.config = (struct traptor_config){.gshare = traptor_entries(traptor_gshare_name(o.gshare)),
                                         .ras = traptor_entries(traptor_ras_name(o.ras)),
                                         .ibtb = traptor_entries(traptor_ibtb_name(o.ibtb)),
                                         .untagged = o.untagged};
    status = traptor_init(&t.t) ? cli_report(cli, t.tool.name, -VSE_NOMEM, NULL)
                                : tmtool_run(&t.tool, cli, argv[0]);
    traptor_fini(&t.t);
    return status;
}

#define FIELD(member) offsetof(struct tmcftraptor_options, member)
#define ENTRIES(title, text, names, count, member)                                                 \
    {                                                                                              \
        .name = title, .argument = "N", .help = text, .type = OPTION_ENUM,                         \
        .offset = FIELD(member), .number_name = names, .first = 0, .end = count                    \
    }

static const struct cli_option options[] = {
    TMTOOL_OPTIONS(FIELD(tool)),
    ENTRIES("gshare", "entries of gshare (256):", traptor_gshare_name, TRAPTOR_GSHARES, gshare),
    ENTRIES("ras", "entries of the return address stack (8):", traptor_ras_name, TRAPTOR_RASES,
            ras),
    ENTRIES("ibtb", "entries of the target buffer, 2 ways (64):", traptor_ibtb_name, TRAPTOR_IBTBS,
            ibtb),
    {.name = "untagged",
     .help = "use no tags in the target buffer: it hits if either\n"
             "way has the target, as in the original",
     .offset = FIELD(untagged)},
    {0},
};

const struct command command_tmcftraptor = {
    .name = "tmcfTRaptor",
    .summary = "find mispredictions in a timed trace of tmTrace",
    .run = run,
    .options = options,
    .tool = true,
    .operands = "TRACE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Reads the control transfers that 'tmTrace --mcf' writes, compressed or not (- is\n"
        "standard input), predicts their outcomes and targets, and writes a line for each\n"
        "misprediction: cycle, core, bCnt and, for a target, T and the address. Rates go\n"
        "to a file of statistics. tmcfTRaptor is also a program of its own.",
    .example = "tmTrace --mTrace trace.gz --mcf -- ./program\n"
               "vestige tmcfTRaptor --gshare 4096 --ras 32 --ibtb 64 --o t trace.gz",
    .exits = TMTOOL_EXITS("control transfers"),
    .environment = TMTOOL_ENVIRONMENT,
};
