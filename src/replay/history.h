/* SPDX-License-Identifier: MIT */
/* Going anywhere in a replay, backwards too: checkpoints are kept on the way, and a point is
 * reached by running on from the last one before it. They are as far apart as memory and their
 * number allow: when one of them runs out, every second is dropped. Some more are kept near where
 * one was lately, so that the next step back is short. */
#ifndef REPLAY_HISTORY_H
#define REPLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/replay.h"

#define VS_HISTORY_STATES  256
#define VS_HISTORY_NEAR    8
#define VS_HISTORY_SPACING (UINT64_C(1) << 16) /* instructions, at first */

struct vs_history {
    struct vs_replay *replay;
    struct vs_replay_state *states[VS_HISTORY_STATES]; /* by position; the first is at 0 */
    size_t count;
    struct vs_replay_state *near[VS_HISTORY_NEAR]; /* in a ring */
    unsigned next_near;
    uint64_t spacing;
    size_t most; /* bytes that checkpoints may take */
    size_t used; /* that they took when it was counted last */
    unsigned uncounted;
    bool searching; /* checkpoints are in use: none is added, and none dropped */

    /* The caller's: asked every now and then whether to stop. May be NULL. */
    bool (*poll)(void *context);
    void *context;
};

/* Why it stopped. VS_HISTORY_x beside those of enum vs_replay_stop. */
enum {
    VS_HISTORY_BEGINNING = 16, /* nothing is before */
    VS_HISTORY_POLLED,         /* the poll said so */
};

/* A stop on the way. */
struct vs_history_stop {
    int kind;            /* VS_REPLAY_BREAK, VS_REPLAY_WATCH or VS_REPLAY_SIGNAL */
    uint64_t position;   /* of the break or signal; of an access: before it */
    uint64_t retired;    /* by the core, when the access is done */
    uint64_t exceptions; /* of the core, the signal included */
    unsigned core;
    const struct vs_replay_watch *watch;
};

/* The replay stands at 0. `most` bytes are for checkpoints. Returns 0; -VSE_NOMEM; -VSE_FEATURE. */
int vs_history_init(struct vs_history *h, struct vs_replay *replay, size_t most);
void vs_history_fini(struct vs_history *h);

/* As vs_replay_run, and VS_HISTORY_POLLED. */
int vs_history_run(struct vs_history *h, const struct vs_replay_goal *goal);

/* To a position, whatever is on the way, or as far as there is. As vs_history_run; where the poll
 * stops it, it stands there. */
int vs_history_goto(struct vs_history *h, uint64_t position);

/* To where the core has just retired so many instructions. As vs_history_goto. */
int vs_history_goto_core(struct vs_history *h, unsigned core, uint64_t retired);

/* What vs_history_run has stopped at, which returned VS_REPLAY_BREAK, VS_REPLAY_WATCH or
 * VS_REPLAY_SIGNAL. */
void vs_history_tell(const struct vs_history *h, int kind, struct vs_history_stop *stop);

/* To just before the core's last instruction: VS_REPLAY_REACHED. But if there is a watched access
 * on the way, to just after the last of them: VS_REPLAY_WATCH, and it is told. VS_HISTORY_BEGINNING
 * if the core has done nothing, and it stands at 0 then; VS_HISTORY_POLLED, and it stands where it
 * stood; or an error. */
int vs_history_step_back(struct vs_history *h, unsigned core, struct vs_history_stop *stop);

/* What does not count on the way back, since it was told before. */
enum {
    VS_HISTORY_ACCESS_TOLD = 1, /* an access by the last instruction */
    VS_HISTORY_SIGNAL_TOLD = 2, /* a signal that came where it stands */
};

/* Back to the last stop before here, which is also told: at the break, just after the access, or
 * where the handler is entered. It stands at 0 and returns VS_HISTORY_BEGINNING if there is none.
 * Else VS_REPLAY_BREAK, VS_REPLAY_WATCH, VS_REPLAY_SIGNAL, VS_HISTORY_POLLED (it stands where it
 * stood), or an error. */
int vs_history_back(struct vs_history *h, unsigned told, struct vs_history_stop *stop);

/* Finds the last stop before here, and stays here. Returns 1 if there is one; 0;
 * VS_HISTORY_POLLED; an error. */
int vs_history_find_back(struct vs_history *h, struct vs_history_stop *stop);

#endif
