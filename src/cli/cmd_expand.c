/* SPDX-License-Identifier: MIT */
#include "base/diag.h"
#include "cli/commands.h"
#include "cli/rewriting.h"
#include "front/region.h"

struct expand_options {
    struct rewriting_options w; /* first */
    struct region_options region;
};

/* The fact that says how the run was recorded says what is left of it. */
static int put_facts(void *context, struct vs_writer *writer)
{
    const struct region *r = context;
    struct vs_buf words = {0};
    if (!r->any)
        return 0;
    int err = vs_buf_put(&words, "--all", sizeof("--all") - 1);
    if (!err)
        err = region_words(r, &words);
    if (!err)
        err = vs_writer_meta(writer, "config", (const char *)words.data);
    vs_buf_fini(&words);
    return err;
}

static int expand(struct cli *cli, const struct expand_options *o, struct region *region,
                  const char *input)
{
    struct rewriting w = {.cli = cli,
                          .o = &o->w,
                          .input = input,
                          .label = "executing",
                          .facts = put_facts,
                          .context = region};
    int status = region_open(region, cli, &w.reader, input);
    if (status != CLI_DONE)
        return status;
    w.features = vs_reader_info(w.reader)->features;
    status = cli_missing(cli, input, vs_reader_info(w.reader));
    if (status == CLI_DONE)
        status = rewrite_run(&w);
    vs_reader_close(w.reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct expand_options o = {0};
    struct region region;
    int status;
    if (!options_parse(cli, &command_expand, &o, &argc, argv, &status))
        return status;
    if (!o.w.output) {
        cli_error(cli, "-o says where the run goes; see 'vestige expand --help'");
        return CLI_USAGE;
    }
    status = region_init(&region, cli, &o.region);
    if (status == CLI_DONE && !cli_may_write(cli, o.w.output, argv[0]))
        status = CLI_USAGE;
    if (status == CLI_DONE)
        status = expand(cli, &o, &region, argv[0]);
    region_fini(&region);
    return status;
}

static const struct cli_option options[] = {
    REGION_OPTIONS(offsetof(struct expand_options, region)),
    REWRITING_OPTIONS,
};

const struct command command_expand = {
    .name = "expand",
    .summary = "write all events of a run that has only its inputs",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Executes a run that was recorded with --inputs again, and writes everything that\n"
        "it does to another run, which needs neither the program's files nor Valgrind's\n"
        "CPU any more. Other commands read the shorter run as it is, and execute it again\n"
        "each time.\n"
        "With options that choose instructions, it writes what 'vestige record' writes\n"
        "with the same options: these instructions, and gaps in the place of others.",
    .example = "vestige record --inputs -o short.vest -- sort words.txt\n"
               "vestige expand short.vest -o whole.vest\n"
               "vestige expand --routine sort short.vest -o sort.vest",
    .exits = "0  the run was written\n"
             "1  the run is damaged, or cannot be executed again as it was\n"
             "2  bad usage, or the system refused something",
};
