/* SPDX-License-Identifier: MIT */
/* Threads by the ids and names that the system knows them by, as far as calls tell. This is for the
 * files behind replay/replay.h. */
#ifndef REPLAY_THREADS_H
#define REPLAY_THREADS_H

#include "replay/replay.h"

/* The core begins, with a stack that its creator's call may have told. */
void vs_replay_thread_begins(struct vs_replay *r, unsigned core);

/* The core's call made a thread, which may have begun already. Marks it if that is so. */
void vs_replay_thread_made(struct vs_replay *r, unsigned core, struct vs_call_thread *made);

/* The core's call returned. */
void vs_replay_thread_called(struct vs_replay *r, unsigned core);

#endif
