/* SPDX-License-Identifier: MIT */
/* Telling a recorder in another process to go on or to pause. */
#ifndef CLI_WISHING_H
#define CLI_WISHING_H

#include "front/cli.h"

/* Sends the signal to the recorder with this process ID, or to that of the program with it, if the
 * recording can be paused. Returns an exit status. */
int wish(struct cli *cli, const char *process, int signal);

#endif
