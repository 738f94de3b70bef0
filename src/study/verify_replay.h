/* SPDX-License-Identifier: MIT */
/* Proof of a replay: what it computes from the stream alone against the run.
 *
 * Each core has a second simulator here, which gets its loads and registers from the run's events,
 * and whose every access must be the recorded one. Whenever the replay took a message, all
 * registers of both are compared, and what the message says beside: its cycle, its place in the
 * order of all, outside writes, and of granules and lines the bytes that the run knows then or
 * later (study/recall.h); at the end, all bytes of memory that they know. */
#ifndef STUDY_VERIFY_REPLAY_H
#define STUDY_VERIFY_REPLAY_H

#include <stdint.h>

#include "base/progress.h"
#include "replay/replay.h"

struct vs_verify_replay {
    uint64_t registers;    /* times that all registers of a core were compared */
    uint64_t accesses;     /* loads, stores and values from outside */
    uint64_t memory_bytes; /* at the end */
    struct vs_diag diag; /* of the first difference, or of the run: no error if the replay failed */
};

/* Replays everything from where r stands, which is the beginning; its hook is used. `path` is
 * the run's. progress, which may be NULL, counts bits of the stream. Returns VS_REPLAY_OVER or
 * VS_REPLAY_CUT if all was equal; an error: v->diag, or r->diag. */
int vs_verify_replay(struct vs_replay *r, const char *path, struct vs_verify_replay *v,
                     struct vs_progress *progress);

#endif
