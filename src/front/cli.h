/* SPDX-License-Identifier: MIT */
/* What the commands share: output, messages, exit statuses, and opening a run. */
#ifndef FRONT_CLI_H
#define FRONT_CLI_H

#include <stdbool.h>

#include "front/out.h"
#include "vestige/run.h"

enum cli_status {
    CLI_DONE = 0,
    CLI_BAD_DATA = 1, /* what was read is damaged, incomplete, or disagrees */
    CLI_USAGE = 2,    /* bad usage, or the system refused */
};

struct vs_plugins;
struct vs_technique;

struct cli {
    struct out out;             /* standard output */
    const char *command;        /* for messages; NULL until it is known */
    struct vs_plugins *plugins; /* what --plugin has loaded (cli/plugin.h); NULL: nothing */
    const struct vs_technique *const *techniques; /* with theirs; NULL: our own alone */
};

void cli_init(struct cli *cli);

/* Ends the output. Returns the exit status: the one given, or CLI_USAGE after a message if standard
 * output did not take everything. It is no failure if a reader went away early. */
int cli_finish(struct cli *cli, int status);

/* Prints one line on standard error, "vestige COMMAND: ...", after what was printed so far. */
void cli_error(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says why a call failed: file, chunk, offset, reason, and what to do. `diag` may be
 * NULL. Returns the exit status for the error. */
int cli_report(struct cli *cli, const char *path, int error, const struct vs_diag *diag);

/* Does the same, with more to say at the end of the line. */
int cli_report_more(struct cli *cli, const char *path, int error, const struct vs_diag *diag,
                    const char *more);

/* Does the same for a file that a command with the option -f was to write. */
int cli_report_output(struct cli *cli, const char *path, int error, const struct vs_diag *diag);

/* Refuses to write a file that is also read: returns false, after a message. */
bool cli_may_write(struct cli *cli, const char *output, const char *input);

/* Opens a run, with VS_OPEN_SALVAGE if `salvage`. Returns CLI_DONE, or the status after a message.
 */
int cli_open(struct cli *cli, struct vs_reader **r, const char *path, bool salvage);

/* The same for who wants neither loads nor stores, and reads from the beginning: they may be
 * missing, if that takes less time. */
int cli_open_flow(struct cli *cli, struct vs_reader **r, const char *path);

/* The same, but the reader delivers the events that the file has: if these are only inputs, no
 * others. */
int cli_open_file(struct cli *cli, struct vs_reader **r, const char *path, bool salvage);

/* Says what a run lacks, if anything. Returns CLI_DONE or CLI_BAD_DATA. */
int cli_missing(struct cli *cli, const char *path, const struct vs_run_info *info);

/* The worse of two exit statuses. */
int cli_worse(int a, int b);

#endif
