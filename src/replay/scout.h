/* SPDX-License-Identifier: MIT */
/* Runs ahead of the user in a thread of its own and takes checkpoints of the whole run, so that any
 * point is near as soon as the run was replayed once, whatever the user does meanwhile. This is for
 * history.c. */
#ifndef REPLAY_SCOUT_H
#define REPLAY_SCOUT_H

#include "replay/history.h"

/* Starts from the history's first checkpoint. Returns 0; -VSE_NOMEM; as vs_replay_init. */
int vs_scout_open(struct vs_scout **scout, struct vs_history *h);
/* Stops it, wherever it is. NULL is fine. */
void vs_scout_close(struct vs_scout *scout);

/* In history.c, for the scout's thread: instructions after which a checkpoint may be due again;
 * adds one if one is due where the scout's replay is, given how much it had allocated at its last
 * one; and is told that no more come. */
uint64_t vs_history_next_due(struct vs_history *h);
void vs_history_offer(struct vs_history *h, struct vs_replay *r, size_t *made);
void vs_history_scouted(struct vs_history *h);

#endif
