/* SPDX-License-Identifier: MIT */
/* What the kernel puts on the stack for a signal handler, as far as it follows from what the
 * program did: the registers that the signal found, and where the handler returns to. With these, a
 * debugger finds the way back through handlers. This is for the files behind replay/replay.h. */
#ifndef REPLAY_SIGNAL_FRAMES_H
#define REPLAY_SIGNAL_FRAMES_H

#include "replay/replay.h"

/* The core's call returned: notes where a handler is to return to, if the call set one. */
void vs_replay_frame_called(struct vs_replay *r, unsigned core);

/* The core has entered a handler; r->before has its registers before that. Makes known what lies in
 * the frame. Returns 0; -VSE_NOMEM. */
int vs_replay_frame_fill(struct vs_replay *r, unsigned core);

#endif
