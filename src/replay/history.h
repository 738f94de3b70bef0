/* SPDX-License-Identifier: MIT */
/* Goes anywhere in a replay, backwards too. Checkpoints are kept on the way, and a point is reached
 * by running on from the last one before it. They are as close as they can be without slowing the
 * replay down. When they take too much memory, or there are too many, every second one is dropped,
 * so they are only as far apart as they have to be. Some more are kept near points that were
 * visited lately, so that the next step back is short. */
#ifndef REPLAY_HISTORY_H
#define REPLAY_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scratch.h"
#include "replay/replay.h"

#define VS_HISTORY_STATES  1024
#define VS_HISTORY_NEAR    8
#define VS_HISTORY_SPACING (UINT64_C(1) << 18) /* instructions, at first */

/* Copying a page takes less than a tenth of the time of so many instructions. */
#define VS_HISTORY_PAGE_WORTH 4096

struct vs_hunt;
struct vs_scout;

struct vs_history {
    struct vs_replay *replay;

    pthread_mutex_t lock; /* for what follows, up to `scouting`, while there is a scout */
    struct vs_replay_state *states[VS_HISTORY_STATES]; /* by position; the first is at 0 */
    size_t count;
    struct vs_replay_state *near[VS_HISTORY_NEAR]; /* in a ring */
    unsigned next_near;
    uint64_t spacing;
    uint64_t page_worth;        /* instructions between checkpoints for each page copied; 0: any */
    size_t most;                /* bytes that checkpoints may take, and replays and the stream with
                                 * them, wherever they are */
    size_t used;                /* bytes that checkpoints take, */
    size_t heap;                /* and those of them that are in no page */
    size_t made;                /* what the replay had allocated when it was last asked */
    struct vs_replay_map *maps; /* those that the scout has met */
    size_t map_count, map_capacity;
    bool scouting; /* the scout takes checkpoints */
    bool leads;    /* the last one is the caller's, not the scout's */

    struct vs_scout *scout;
    bool searching; /* checkpoints are in use: none is added, and none dropped */

    unsigned threads;     /* that search backwards beside the caller's; the caller may set it before
                           * the first search. At first, one for each further processor */
    struct vs_hunt *hunt; /* they; NULL: there are none yet */

    /* Set by the caller after init and before anything else: where pages are, and a stream that
     * grows. If they are in files, memory holds only what is in use. Each may be NULL. */
    struct vs_scratch *pages, *stream;
    size_t heap_most; /* if they are: bytes that checkpoints may take in memory; 0: any */

    /* Set by the caller: is asked every now and then whether to stop. May be NULL. */
    bool (*poll)(void *context);
    void *context;
};

/* Why it stopped, beside the values of enum vs_replay_stop. */
enum {
    VS_HISTORY_BEGINNING = 16, /* there is nothing before */
    VS_HISTORY_POLLED,         /* the poll said so */
};

/* A stop on the way. */
struct vs_history_stop {
    int kind;            /* VS_REPLAY_BREAK, VS_REPLAY_WATCH or VS_REPLAY_SIGNAL */
    uint64_t position;   /* of the break or the signal; just before an access */
    uint64_t retired;    /* the core's instructions once the access is done */
    uint64_t exceptions; /* the core's, including the signal */
    unsigned core;
    const struct vs_replay_watch *watch;
};

/* The replay must stand at 0. Checkpoints, other replays that are made for this, and the stream may
 * take `most` bytes with it; if the stream and replays need nearly as much, checkpoints still get a
 * quarter. Returns 0; -VSE_NOMEM; -VSE_FEATURE. */
int vs_history_init(struct vs_history *h, struct vs_replay *replay, size_t most);
void vs_history_fini(struct vs_history *h);

/* Begins to take checkpoints of the whole run in a thread of its own, if there is a processor for
 * it; the caller then takes some only where it is ahead. To be called after init, before anything
 * else. Returns 0; -VSE_NOMEM. */
int vs_history_scout(struct vs_history *h);

/* Does and returns what vs_replay_run does; may also return VS_HISTORY_POLLED. */
int vs_history_run(struct vs_history *h, const struct vs_replay_goal *goal);

/* Goes to a position, or as far as the replay goes, whatever is on the way. Returns what
 * vs_history_run does; if the poll stops it, it stays where it then is. */
int vs_history_goto(struct vs_history *h, uint64_t position);

/* Goes to where the core has just retired so many instructions. Otherwise like vs_history_goto. */
int vs_history_goto_core(struct vs_history *h, unsigned core, uint64_t retired);

/* Tells what vs_history_run has stopped at; kind is what it returned: VS_REPLAY_BREAK,
 * VS_REPLAY_WATCH or VS_REPLAY_SIGNAL. */
void vs_history_tell(const struct vs_history *h, int kind, struct vs_history_stop *stop);

/* Goes back to just before the core's last instruction; or, if watched accesses are on the way, to
 * just after the last of them, which is told. Returns VS_REPLAY_REACHED; VS_REPLAY_WATCH (an
 * access); VS_HISTORY_BEGINNING (the core has done nothing, and the replay stands at 0);
 * VS_HISTORY_POLLED (it stands where it stood); an error. */
int vs_history_step_back(struct vs_history *h, unsigned core, struct vs_history_stop *stop);

/* Stops that do not count on the way back, since they were told before. */
enum {
    VS_HISTORY_ACCESS_TOLD = 1, /* an access by the last instruction */
    VS_HISTORY_SIGNAL_TOLD = 2, /* a signal that came where the replay stands */
};

/* Goes back to the last stop before here, which is also told: at the break, just after the access,
 * or where the handler is entered. Returns VS_REPLAY_BREAK; VS_REPLAY_WATCH; VS_REPLAY_SIGNAL;
 * VS_HISTORY_BEGINNING (there is none, and the replay stands at 0); VS_HISTORY_POLLED (it stands
 * where it stood); an error. */
int vs_history_back(struct vs_history *h, unsigned told, struct vs_history_stop *stop);

/* Finds the last stop before here, but stays here. Returns 1 if there is one; 0 if not;
 * VS_HISTORY_POLLED; an error. */
int vs_history_find_back(struct vs_history *h, struct vs_history_stop *stop);

#endif
