/* SPDX-License-Identifier: MIT */
/* Proof of a replay: what it computes from the stream alone is compared with the run.
 *
 * Each core has a second simulator here, which gets its loads and registers from the run's events,
 * and whose every access must be the recorded one. Whenever the replay has taken a message, all
 * registers of both are compared, and so is what else the message says: its cycle, its place in the
 * order of all messages, outside writes and, in granules and lines, the bytes that the run knows
 * then or later (study/recall.h). At the end, memory is compared: what the replay knows must be
 * right, and it must know all but what something other than the program's instructions wrote. What
 * the program wrote to files is compared with what memory had then, as all of the run's events
 * tell. */
#ifndef STUDY_VERIFY_REPLAY_H
#define STUDY_VERIFY_REPLAY_H

#include <stdint.h>

#include "base/progress.h"
#include "replay/replay.h"

struct vs_verify_replay {
    uint64_t registers;    /* how often all of a core's registers were compared */
    uint64_t accesses;     /* loads, stores and values from outside */
    uint64_t memory_bytes; /* at the end */
    uint64_t output_bytes; /* what the program wrote to files, as far as both know it */
    struct vs_diag diag;   /* about the first difference, or the run's; without error if it was the
                            * replay that failed */
};

/* Replays everything from where r stands, which must be the beginning; r's hook and output are
 * used. `path` is the run's. progress, which may be NULL, counts the stream's bits. Returns
 * VS_REPLAY_OVER or VS_REPLAY_CUT if everything was equal; else an error, which v->diag or r->diag
 * explains. */
int vs_verify_replay(struct vs_replay *r, const char *path, struct vs_verify_replay *v,
                     struct vs_progress *progress);

#endif
