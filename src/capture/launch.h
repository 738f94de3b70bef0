/* SPDX-License-Identifier: MIT */
/* Starts Valgrind, and holds the memory and the descriptors shared with the tool in it. */
#ifndef CAPTURE_LAUNCH_H
#define CAPTURE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/valgrind.h"
#include "capture/wire.h"

struct vs_launch {
    pid_t pid;
    int socket; /* to the tool, which sends struct wire_note and gets struct wire_reply */
    const uint8_t *memory; /* WIRE_RING_SIZE bytes */
    int log;               /* what Valgrind says is written to this file */
    bool over;             /* the program ended; status is valid */
    int status;
};

/* Returns as an engine's `check`. */
int vs_launch_check(const struct vs_engine_request *o, struct vs_diag *diag);

/* Returns 0; -VSE_NOTFOUND; -VSE_INVAL; -VSE_NOMEM; -VSE_IO. */
int vs_launch_start(struct vs_launch *l, const struct vs_engine_request *o, struct vs_diag *diag);

/* Whether the program has ended; it does not wait. */
bool vs_launch_over(struct vs_launch *l);

/* Waits for the program's end. */
void vs_launch_wait(struct vs_launch *l);

/* Stops the program and then ourselves, as the terminal's Ctrl-Z does, and returns when we, and the
 * program, have been continued. This is needed because Valgrind swallows the signals that would
 * stop the program, after it has run the program's handlers for them. Does nothing if the program
 * ignores SIGTSTP. */
void vs_launch_stop(const struct vs_launch *l);

/* Frees what is shared; kills the program if it still runs. */
void vs_launch_close(struct vs_launch *l);

#endif
