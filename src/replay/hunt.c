/* SPDX-License-Identifier: MIT */
#include "replay/hunt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/workers.h"

/* Code that other replays decode never counts as what a checkpoint had. */
#define OWN_VERSIONS (UINT64_C(1) << 63)

struct hunter {
    struct vs_hunt *hunt;
    struct vs_history *history; /* the caller's, or `own` */
    struct vs_history own;
    struct vs_replay replay;
    struct vs_job job;
    size_t at; /* the part that it searches */
};

struct result {
    int found; /* as vs_history_scan */
    struct vs_history_stop stop;
};

struct vs_hunt {
    struct vs_workers *workers;
    struct hunter caller;
    struct hunter *others;
    unsigned count; /* of the others */
    bool (*poll)(void *context);
    void *context;

    /* The search that goes on. */
    const struct vs_hunt_part *parts;
    struct result *results; /* by part */
    size_t part_count;
    _Atomic size_t next;  /* the first part that nobody has taken */
    _Atomic size_t found; /* the first that has a stop, as far as is known; UINT_MAX: none */
    _Atomic bool polled;  /* the caller's poll said so */
};

/* ---- one thread ------------------------------------------------------------------------------ */

/* Serves as the histories' poll: what comes before a part with a stop need not be searched. */
static bool is_done(void *context)
{
    const struct hunter *me = context;
    struct vs_hunt *hunt = me->hunt;
    if (me == &hunt->caller && hunt->poll && hunt->poll(hunt->context))
        atomic_store(&hunt->polled, true);
    return atomic_load(&hunt->polled) || atomic_load(&hunt->found) < me->at;
}

static void note_found(struct vs_hunt *hunt, size_t at)
{
    size_t found = atomic_load(&hunt->found);
    while (at < found && !atomic_compare_exchange_weak(&hunt->found, &found, at))
        ;
}

/* Searches part after part until there is nothing left that counts. */
static void search_parts(void *arg)
{
    struct hunter *me = arg;
    struct vs_hunt *hunt = me->hunt;
    while ((me->at = atomic_fetch_add(&hunt->next, 1)) < hunt->part_count && !is_done(me)) {
        struct result *r = &hunt->results[me->at];
        r->found = vs_history_scan(me->history, &hunt->parts[me->at], NULL, &r->stop);
        if (r->found && r->found != VS_HISTORY_POLLED)
            note_found(hunt, me->at);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

void vs_hunt_close(struct vs_hunt *hunt)
{
    if (!hunt)
        return;
    vs_workers_close(hunt->workers);
    for (unsigned i = 0; i < hunt->count; i++)
        vs_replay_fini(&hunt->others[i].replay);
    free(hunt->others);
    free(hunt);
}

static int add_hunter(struct vs_hunt *hunt, const struct vs_history *h)
{
    struct hunter *me = &hunt->others[hunt->count++];
    struct vs_replay_config config = h->replay->config;
    config.output = NULL;
    me->hunt = hunt;
    me->history = &me->own;
    me->own = (struct vs_history){
        .replay = &me->replay, .searching = true, .poll = is_done, .context = me};
    me->own.pages = h->pages;
    me->own.stream = h->stream;
    me->job = (struct vs_job){.run = search_parts, .arg = me};
    int err = vs_replay_init(&me->replay, &config, NULL);
    me->replay.versions = OWN_VERSIONS;
    return err;
}

int vs_hunt_open(struct vs_hunt **to, struct vs_history *h)
{
    struct vs_hunt *hunt = *to = calloc(1, sizeof(*hunt));
    if (!hunt)
        return -VSE_NOMEM;
    hunt->caller = (struct hunter){.hunt = hunt, .history = h};
    hunt->others = calloc(h->threads, sizeof(*hunt->others));
    int err = hunt->others ? vs_workers_open(&hunt->workers, h->threads) : -VSE_NOMEM;
    for (unsigned i = 0; i < h->threads && !err; i++)
        err = add_hunter(hunt, h);
    if (err) {
        vs_hunt_close(hunt);
        *to = NULL;
    }
    return err;
}

/* Makes the replay stop where the other does, and know the mappings that checkpoints count. */
static int prepare(struct vs_replay *r, const struct vs_replay *like)
{
    int err =
        vs_array_room((void **)&r->maps, &r->map_capacity, 0, like->map_known, sizeof(*r->maps));
    if (err)
        return err;
    if (like->map_known)
        memcpy(r->maps, like->maps, like->map_known * sizeof(*r->maps));
    r->map_known = like->map_known;
    r->watches = like->watches;
    r->watch_count = like->watch_count;
    r->signals = like->signals;
    vs_replay_break(r, like->decoded->breaks, like->decoded->break_count);
    return 0;
}

/* Lets all search. The others' addresses to stop at are the caller's, and do not stay valid. */
static int search_all(struct vs_hunt *hunt)
{
    struct vs_history *h = hunt->caller.history;
    unsigned started = 0;
    int err = 0;
    for (; started < hunt->count && !err; started += !err)
        err = prepare(&hunt->others[started].replay, h->replay);
    for (unsigned i = 0; i < started; i++)
        vs_workers_submit(hunt->workers, &hunt->others[i].job);
    hunt->poll = h->poll;
    hunt->context = h->context;
    h->poll = is_done;
    h->context = &hunt->caller;
    search_parts(&hunt->caller);
    h->poll = hunt->poll;
    h->context = hunt->context;
    for (unsigned i = 0; i < started; i++) {
        vs_workers_wait(hunt->workers, &hunt->others[i].job);
        vs_replay_break(&hunt->others[i].replay, NULL, 0);
    }
    return err;
}

int vs_hunt_run(struct vs_hunt *hunt, const struct vs_hunt_part *parts, size_t count, size_t *which,
                struct vs_history_stop *stop)
{
    hunt->parts = parts;
    hunt->part_count = count;
    hunt->results = calloc(count, sizeof(*hunt->results));
    if (!hunt->results)
        return -VSE_NOMEM;
    atomic_store(&hunt->next, 0);
    atomic_store(&hunt->found, SIZE_MAX);
    atomic_store(&hunt->polled, false);
    int found = search_all(hunt);
    size_t at = atomic_load(&hunt->found);
    if (!found && atomic_load(&hunt->polled))
        found = VS_HISTORY_POLLED;
    if (!found && at != SIZE_MAX) {
        *which = at;
        *stop = hunt->results[at].stop;
        found = hunt->results[at].found;
        if (found < 0) /* in the caller's replay, too, which then says why */
            found = vs_history_scan(hunt->caller.history, &parts[at], NULL, stop);
    }
    free(hunt->results);
    hunt->results = NULL;
    return found;
}
