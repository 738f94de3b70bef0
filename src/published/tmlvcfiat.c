/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "published/cfiat_tools.h"
#include "published/tmtool.h"

struct tmlvcfiat_options {
    struct tmtool_options tool;
    struct cfiat_flags cache;
};

struct tmlvcfiat {
    struct tmtool tool; /* first */
    struct cfiat t;
    uint64_t counts[2][OPERAND_CLASSES]; /* loads, stores */
    uint64_t written;                    /* descriptors */
    uint64_t widest;                     /* all addresses, combined by OR */
};

/* One of TmTrace's lines. */
struct operand {
    uint64_t cycle, pc, addr;
    unsigned core, store, size;
};

static bool parse(const char *line, struct operand *x)
{
    int end = 0;
    return sscanf(line, "%" SCNu64 ", %u, %u, %" SCNx64 ", %" SCNx64 ", %u%n", &x->cycle, &x->core,
                  &x->store, &x->pc, &x->addr, &x->size, &end) == 6 &&
           !line[end];
}

static int put(struct tmlvcfiat *t, const struct operand *x, uint32_t hits)
{
    int e = tmtool_room(&t->tool);
    if (e)
        return e;
    t->tool.out.at += sprintf((char *)t->tool.out.at, "%" PRIu64 ", %u, %u, %" PRIu32 "\n",
                              x->cycle, x->core, x->size, hits);
    t->written++;
    return 0;
}

static int take(struct tmtool *tool, const char *line)
{
    struct tmlvcfiat *t = (struct tmlvcfiat *)tool;
    struct operand x;
    uint32_t hits;
    if (!parse(line, &x) || x.store > 1)
        return tmtool_refuse(tool, "not a read or write of TmTrace; was it made with --mld and "
                                   "--mst, and without --mTraceMax?");
    if (x.core >= VS_THREADS_MAX)
        return tmtool_refuse(tool, "there is no such core");
    if (!x.size || x.size > VS_SIZE_MAX)
        return tmtool_refuse(tool, "there is no operand of such a size");
    int e = cfiat_know(&t->t, x.core);
    if (e)
        return vs_diag_set(&tool->diag, e, -1, -1, "out of memory");
    t->counts[x.store][operand_class(x.size)]++;
    t->widest |= x.pc | x.addr;
    if (x.store)
        cfiat_store(&t->t, x.core, x.addr, x.size);
    else if (cfiat_load(&t->t, x.core, x.addr, x.size, &hits))
        return put(t, &x, hits);
    return 0;
}

/* Core, kind and size take 1 byte each, and a count takes 4. */
static void print_sizes(const struct tmlvcfiat *t, struct out *out)
{
    uint64_t address = t->widest >> 32 ? 8 : 4;
    tmtool_sizes_title(out);
    tmtool_size_row(out, "Input", t->tool.lines, (3 + 2 * address) * t->tool.lines);
    tmtool_size_row(out, "Output", t->written, 6 * t->written);
}

static void statistics(const struct tmtool *tool, struct out *out)
{
    const struct tmlvcfiat *t = (const struct tmlvcfiat *)tool;
    out_str(out, "; timed Memory Read and Write Stats\n");
    operand_statistics(out, "Load", t->counts[0]);
    operand_statistics(out, "Store", t->counts[1]);
    out_str(out, "; timed Load Value CFiat Stats\n");
    cfiat_statistics(&t->t, out);
    print_sizes(t, out);
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct tmlvcfiat_options o = {.tool = TMTOOL_DEFAULTS, .cache = CFIAT_DEFAULTS};
    struct tmlvcfiat t = {.tool = {.name = "tmlvCFiat",
                                   .prefix = "tmlvCFiat_out",
                                   .what = "read or write",
                                   .take = take,
                                   .statistics = statistics,
                                   .o = &o.tool}};
    int status;
    if (!options_parse(cli, &command_tmlvcfiat, &o, &argc, argv, &status))
        return status;
    status = cfiat_make(&t.t, cli, &o.cache, false);
    if (status == CLI_DONE)
        status = tmtool_run(&t.tool, cli, argv[0]);
    cfiat_fini(&t.t);
    return status;
}

#define FIELD(member) offsetof(struct tmlvcfiat_options, member)

static const struct cli_option options[] = {
    TMTOOL_OPTIONS(FIELD(tool)),
    CFIAT_OPTIONS(FIELD(cache)),
    {0},
};

const struct command command_tmlvcfiat = {
    .name = "tmlvCFiat",
    .summary = "find first-access misses in a timed trace of tmTrace",
    .run = run,
    .options = options,
    .tool = true,
    .operands = "TRACE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Takes the reads and writes that 'tmTrace --mld --mst' writes, compressed or not\n"
        "(- is standard input), follows them in a data cache with first-access flags for\n"
        "each core, and writes a line for each read that was not in the cache, or whose\n"
        "flags were not all set: cycle, core, operand size, reads since the last line.\n"
        "Rates go to a file of statistics. tmlvCFiat is also a program of its own.",
    .example = "tmTrace --mTrace trace.gz --mld --mst -- ./program\n"
               "vestige tmlvCFiat --cs 16 --cls 32 --ca 4 --cfg 4 --o t trace.gz",
    .exits = TMTOOL_EXITS("reads and writes"),
    .environment = TMTOOL_ENVIRONMENT,
};
