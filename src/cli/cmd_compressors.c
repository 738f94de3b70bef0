/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "cli/cmd_bandwidth.h"
#include "cli/commands.h"

/* The baseline, and what each compressor makes of it. */
static const struct option_list techniques = {9,
                                              {"mlvNX_b", "mlvNX_gzip:unified", "mlvNX_gzip:split",
                                               "mlvNX_bzip2:unified", "mlvNX_bzip2:split",
                                               "mlvNX_xz:unified", "mlvNX_xz:split",
                                               "mlvNX_zstd:unified", "mlvNX_zstd:split"}};

static int run(struct cli *cli, int argc, char **argv)
{
    struct bandwidth_options o = BANDWIDTH_DEFAULTS;
    int status;
    if (!options_parse(cli, &command_compressors, &o, &argc, argv, &status))
        return status;
    o.techniques = techniques;
    return bandwidth_measure(cli, &o, argc, argv);
}

#define FIELD(member) offsetof(struct bandwidth_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "print a JSON object per run and compressor", .offset = FIELD(json)},
    {.name = "csv", .help = "print the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_compressors = {
    .name = "compressors",
    .summary = "measure what general compressors make of load values",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Encodes runs as mlvNX_b, which sends every loaded value, and packs the result\n"
        "with gzip -1, bzip2 -1, xz and zstd: as one stream (unified), and as two\n"
        "(split): Ti with dCC, and the values. The rows are those of 'vestige bandwidth',\n"
        "and the ratio is relative to mlvNX_b. For other levels, use 'vestige bandwidth\n"
        "-t mlvNX_xz:level=9'.",
    .example = "vestige compressors run.vest\n"
               "vestige compressors *.vest --csv",
    .exits = COMMAND_EXITS,
};
