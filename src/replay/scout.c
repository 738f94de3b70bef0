/* SPDX-License-Identifier: MIT */
#include "replay/scout.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/workers.h"

/* Code that it decodes never counts as what another replay has; see also hunt.c. */
#define OWN_VERSIONS (UINT64_C(1) << 62)

struct vs_scout {
    struct vs_history *history;
    struct vs_replay replay;
    struct vs_workers *workers;
    struct vs_job job;
    size_t made; /* what the replay had allocated at its last checkpoint */
    _Atomic bool stopped;
};

/* Runs to the end, or as far as the replay goes. What is wrong there, the user's replay will say.
 */
static void go_ahead(void *arg)
{
    struct vs_scout *s = arg;
    struct vs_replay_goal goal = {.core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    int stop = VS_REPLAY_REACHED;
    while (stop == VS_REPLAY_REACHED && !atomic_load(&s->stopped)) {
        goal.position = s->replay.position + vs_history_next_due(s->history);
        stop = vs_replay_run(&s->replay, &goal);
        if (stop == VS_REPLAY_REACHED || stop == VS_REPLAY_OVER)
            vs_history_offer(s->history, &s->replay, &s->made);
    }
    vs_history_scouted(s->history);
}

int vs_scout_open(struct vs_scout **to, struct vs_history *h)
{
    struct vs_scout *s = *to = calloc(1, sizeof(*s));
    if (!s)
        return -VSE_NOMEM;
    struct vs_replay_config config = h->replay->config;
    config.output = NULL;
    s->history = h;
    s->job = (struct vs_job){.run = go_ahead, .arg = s};
    int err = vs_replay_init(&s->replay, &config, NULL);
    s->replay.versions = OWN_VERSIONS;
    if (!err)
        err = vs_replay_restore(&s->replay, h->states[0]);
    if (!err)
        err = vs_workers_open(&s->workers, 1);
    if (err) {
        vs_scout_close(s);
        *to = NULL;
        return err;
    }
    vs_workers_submit(s->workers, &s->job);
    return 0;
}

void vs_scout_close(struct vs_scout *s)
{
    if (!s)
        return;
    atomic_store(&s->stopped, true);
    vs_workers_close(s->workers);
    vs_replay_fini(&s->replay);
    free(s);
}
