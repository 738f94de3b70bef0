/* SPDX-License-Identifier: MIT */
/* Starts Valgrind, and holds the memory and the descriptors shared with the tool in it. The
 * children of the program, if they are followed, are under Valgrind already, and only need the
 * latter. */
#ifndef CAPTURE_LAUNCH_H
#define CAPTURE_LAUNCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/valgrind.h"
#include "capture/wire.h"

struct vs_launch {
    pid_t pid;   /* 0 until it is known */
    bool child;  /* the process is not our child, but the program's, directly or not */
    int process; /* a descriptor for the process; -1: none */
    int socket;  /* to the tool, which sends struct wire_note and gets struct wire_reply */
    const uint8_t *memory; /* WIRE_RING_SIZE bytes */
    int log;               /* what Valgrind says is written to this file */
    _Atomic bool over;     /* the program ended; status is valid. Others may ask, too */
    bool lost;             /* but it is not, as nobody said how */
    bool paused;           /* by vs_launch_pause */
    int status;
};

/* Returns as an engine's `check`. */
int vs_launch_check(const struct vs_engine_request *o, struct vs_diag *diag);

/* Returns 0; -VSE_NOTFOUND; -VSE_INVAL; -VSE_NOMEM; -VSE_IO. */
int vs_launch_start(struct vs_launch *l, const struct vs_engine_request *o, struct vs_diag *diag);

/* Prepares for a child that is about to be made. *theirs gets the descriptors for its tool, in the
 * order of the tool's option, which the caller closes. Returns 0; -VSE_IO. */
int vs_launch_child(struct vs_launch *l, int theirs[WIRE_DESCRIPTORS], struct vs_diag *diag);

/* Whose process the child is: this one, which is waiting for us to answer. */
void vs_launch_born(struct vs_launch *l, pid_t pid);

/* A child's tool is gone, and so is the child: takes over what the tool said of its end. */
void vs_launch_gone(struct vs_launch *l);

/* Tells the tool what is wanted. */
void vs_launch_wish(const struct vs_launch *l, enum wire_wish wish);

/* Sends the program a signal, unless it is over. */
void vs_launch_signal(const struct vs_launch *l, int signal);

/* Stop a child, unless somebody else has, and continue it again. */
void vs_launch_pause(struct vs_launch *l);
void vs_launch_continue(struct vs_launch *l);

/* Whether the program has ended; it does not wait. */
bool vs_launch_over(struct vs_launch *l);

/* Waits for the program's end. Does nothing for a child. */
void vs_launch_wait(struct vs_launch *l);

/* Stops the program and then ourselves, as the terminal's Ctrl-Z does, and returns when we, and the
 * program, have been continued. This is needed because Valgrind swallows the signals that would
 * stop the program, after it has run the program's handlers for them. Does nothing if the program
 * ignores SIGTSTP. If the program is over, only stops ourselves. */
void vs_launch_stop(const struct vs_launch *l);

/* Frees what is shared; kills the program if it still runs. */
void vs_launch_close(struct vs_launch *l);

#endif
