/* SPDX-License-Identifier: MIT */
/* What commands that run a program share: signals, its exit status, messages. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "capture/valgrind.h"
#include "cli/cli.h"

/* From now on SIGINT, SIGTERM and SIGHUP are noted instead of ending us, and a file that grows
 * beyond the limit is an error, until released. */
const struct vs_interrupt *recording_catch_signals(void);
void recording_release_signals(void);

/* The exit status that tells a program's, as a shell does. */
int recording_status(int wait_status);

/* Says on standard error what is amiss with a recording that was made: it was interrupted, children
 * were left out, what Valgrind had to say. */
void recording_notes(const struct vs_valgrind_result *result);

/* Says why a program could not be recorded. Returns the exit status. */
int recording_refused(struct cli *cli, const char *program, int error, const struct vs_diag *diag);

#endif
