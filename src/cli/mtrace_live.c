/* SPDX-License-Identifier: MIT */
#include "cli/mtrace.h"

int mtrace_live(struct cli *cli, const struct mtrace_options *o, const struct vs_consumer *c)
{
    (void)c;
    cli_error(cli, "%s: this build has no engine to record programs with; convert a run with -i",
              o->program[0]);
    return CLI_USAGE;
}
