/* SPDX-License-Identifier: MIT */
/* Searches a run backwards in several threads. This is for history.c. The parts between checkpoints
 * are searched side by side, the latest first, each thread with a replay of its own; the search is
 * over when a stop is found and no later part can have one. What it finds does not depend on the
 * threads. */
#ifndef REPLAY_HUNT_H
#define REPLAY_HUNT_H

#include "replay/history.h"

/* Where a part ends; a signal that comes just there may be in it. */
struct vs_hunt_end {
    uint64_t position;
    bool with_signal;
};

struct vs_hunt_part {
    struct vs_replay_state *from;
    struct vs_hunt_end end;
};

/* In history.c: runs over a part and finds the last stop in it, or runs only to the stop `until`.
 * Returns 1 if there is one; 0 if not; VS_HISTORY_POLLED; an error. */
int vs_history_scan(struct vs_history *h, const struct vs_hunt_part *part,
                    const struct vs_history_stop *until, struct vs_history_stop *last);

/* Makes threads for the history's replay. Returns 0; -VSE_NOMEM; as vs_replay_init. */
int vs_hunt_open(struct vs_hunt **hunt, struct vs_history *h);
/* NULL is fine. */
void vs_hunt_close(struct vs_hunt *hunt);

/* Finds the last stop in the parts, which are in order from the latest on, and sets *which to the
 * part that has it. Uses the history's replay, too, and leaves it anywhere. Returns as
 * vs_history_scan. */
int vs_hunt_run(struct vs_hunt *hunt, const struct vs_hunt_part *parts, size_t count, size_t *which,
                struct vs_history_stop *stop);

#endif
