/* SPDX-License-Identifier: MIT */
#include "replay/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/copy_pool.h"
#include "base/invariant.h"
#include "base/workers.h"
#include "replay/hunt.h"
#include "replay/scout.h"

enum {
    PIECE = 1 << 18,     /* instructions between two polls */
    BEHIND = 1 << 10,    /* how far before a point that was gone to a checkpoint is left */
    FAR_APART = 1 << 19, /* instructions after which a checkpoint is worth any number of pages */
    FAR = 4 * BEHIND,
    LEAD = 4, /* by how many checkpoints a replay must be ahead of the scout to take them */
};

#define SPACING_MOST (UINT64_C(1) << 40)

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Returns what the replay has allocated since it was last at a checkpoint. */
static size_t made_since(struct vs_replay *r, size_t before)
{
    size_t made = vs_replay_made(r);
    return made < before ? made : made - before;
}

/* What is in files is in memory only while it is in use: from one checkpoint to the next. */
static void rest(struct vs_history *h)
{
    if (h->pages)
        vs_scratch_rest(h->pages);
    if (h->stream)
        vs_scratch_rest(h->stream);
}

/* Goes to a checkpoint. */
static int restore(struct vs_history *h, struct vs_replay_state *s)
{
    rest(h);
    return vs_replay_restore(h->replay, s);
}

/* Counts the memory of a checkpoint that was just taken. */
static void count_state(struct vs_history *h, struct vs_replay *r, size_t *made,
                        struct vs_replay_state *s)
{
    h->used += vs_replay_state_size(s) + made_since(r, *made);
    h->heap += vs_replay_state_heap(s);
    *made = vs_replay_made(r);
}

static void drop(struct vs_history *h, struct vs_replay_state *s)
{
    if (!s)
        return;
    size_t size = vs_replay_state_size(s);
    h->used -= size < h->used ? size : h->used;
    h->heap -= vs_replay_state_heap(s);
    vs_replay_drop(s);
    rest(h); /* a checkpoint that goes looks at its pages */
}

/* Drops every second checkpoint, but never the first. */
static void thin(struct vs_history *h)
{
    size_t kept = 1;
    for (size_t i = 1; i < h->count; i++) {
        if (i % 2 == 0)
            h->states[kept++] = h->states[i];
        else
            drop(h, h->states[i]);
    }
    h->count = kept;
    if (h->spacing < SPACING_MOST)
        h->spacing *= 2;
    if (h->replay->config.pool)
        vs_copy_pool_trim(h->replay->config.pool);
}

/* Returns whether there are too many checkpoints, or they take too much memory. What replays take
 * is known from this one, which may be any: there are the caller's, the scout's and those that
 * search. They and the stream may take most of what is allowed, but not all. */
static bool is_full(const struct vs_history *h, struct vs_replay *r)
{
    size_t room = h->most - h->most / 16; /* the rest is lost between pieces of memory */
    size_t others = vs_port_reader_bits(&r->reader) / 8;
    if (h->stream && h->stream->reached > others) /* the encoder may be far ahead */
        others = h->stream->reached;
    others += (2 + (size_t)h->threads) * vs_replay_held(r);
    return h->count == VS_HISTORY_STATES || (h->heap_most && h->heap > h->heap_most) ||
           h->used > (others < room - room / 4 ? room - others : room / 4);
}

static uint64_t last_position(const struct vs_history *h)
{
    return h->count ? vs_replay_state_position(h->states[h->count - 1]) : 0;
}

/* Returns whether the last checkpoint is far enough away. The pages that were written since had to
 * be copied because of it, which must take little time beside the replay itself. */
static bool is_due(const struct vs_history *h, struct vs_replay *r, size_t made)
{
    uint64_t last = last_position(h), here = r->position, far = here - last;
    return here >= last + h->spacing &&
           (far >= FAR_APART || far >= made_since(r, made) / VS_COPY_PAGE * h->page_worth);
}

/* Adds a checkpoint of the replay if one is due, and if there is memory. The caller's replay may
 * overtake the scout's, and takes them then, until the scout is ahead again. */
static void add_state(struct vs_history *h, struct vs_replay *r, size_t *made)
{
    struct vs_replay_state *s;
    bool mine = r == h->replay;
    if (mine && h->scouting && !h->leads && r->position < last_position(h) + LEAD * h->spacing)
        return;
    if (!is_due(h, r, *made) || vs_replay_save(r, &s))
        return;
    h->leads = mine;
    invariant(h->count < VS_HISTORY_STATES);
    h->states[h->count++] = s;
    count_state(h, r, made, s);
    while (h->count > 1 && is_full(h, r))
        thin(h);
    rest(h);
}

static void keep(struct vs_history *h)
{
    if (h->searching)
        return;
    pthread_mutex_lock(&h->lock);
    add_state(h, h->replay, &h->made);
    pthread_mutex_unlock(&h->lock);
}

static void keep_near(struct vs_history *h)
{
    struct vs_replay_state *s;
    pthread_mutex_lock(&h->lock);
    drop(h, h->near[h->next_near]);
    h->near[h->next_near] = NULL;
    if (!is_full(h, h->replay) && !vs_replay_save(h->replay, &s)) {
        count_state(h, h->replay, &h->made, s);
        h->near[h->next_near] = s;
        h->next_near = (h->next_near + 1) % VS_HISTORY_NEAR;
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- the scout's ----------------------------------------------------------------------------- */

uint64_t vs_history_next_due(struct vs_history *h)
{
    pthread_mutex_lock(&h->lock);
    uint64_t next = h->spacing < PIECE ? h->spacing : PIECE;
    pthread_mutex_unlock(&h->lock);
    return next;
}

/* Notes the mappings that the scout has met since it was last asked. */
static int note_maps(struct vs_history *h, const struct vs_replay *r)
{
    size_t more = r->map_count - h->map_count;
    int err =
        vs_array_room((void **)&h->maps, &h->map_capacity, h->map_count, more, sizeof(*h->maps));
    if (err)
        return err;
    if (more)
        memcpy(h->maps + h->map_count, r->maps + h->map_count, more * sizeof(*h->maps));
    h->map_count += more;
    return 0;
}

void vs_history_offer(struct vs_history *h, struct vs_replay *r, size_t *made)
{
    pthread_mutex_lock(&h->lock);
    if (!note_maps(h, r))
        add_state(h, r, made);
    pthread_mutex_unlock(&h->lock);
}

void vs_history_scouted(struct vs_history *h)
{
    pthread_mutex_lock(&h->lock);
    h->scouting = false;
    pthread_mutex_unlock(&h->lock);
}

int vs_history_scout(struct vs_history *h)
{
    if (!h->threads)
        return 0;
    h->scouting = true;
    int err = vs_scout_open(&h->scout, h);
    if (err)
        h->scouting = false;
    return err;
}

/* The lock is held from here on until `leave`: checkpoints stay where they are, and the replay may
 * go to any of them. Returns 0; -VSE_NOMEM. */
static int enter(struct vs_history *h)
{
    struct vs_replay *r = h->replay;
    pthread_mutex_lock(&h->lock);
    if (r->map_known >= h->map_count)
        return 0;
    int err = vs_array_room((void **)&r->maps, &r->map_capacity, r->map_known,
                            h->map_count - r->map_known, sizeof(*r->maps));
    if (err)
        return err;
    memcpy(r->maps + r->map_known, h->maps + r->map_known,
           (h->map_count - r->map_known) * sizeof(*r->maps));
    r->map_known = h->map_count;
    return 0;
}

static void leave(struct vs_history *h)
{
    pthread_mutex_unlock(&h->lock);
}

/* ---- making ---------------------------------------------------------------------------------- */

int vs_history_init(struct vs_history *h, struct vs_replay *replay, size_t most)
{
    *h = (struct vs_history){.replay = replay,
                             .spacing = VS_HISTORY_SPACING,
                             .page_worth = VS_HISTORY_PAGE_WORTH,
                             .most = most,
                             .threads = vs_workers_beside()};
    pthread_mutex_init(&h->lock, NULL);
    int err = vs_replay_save(replay, &h->states[0]);
    h->count = !err;
    if (!err)
        count_state(h, replay, &h->made, h->states[0]);
    return err;
}

void vs_history_fini(struct vs_history *h)
{
    vs_scout_close(h->scout);
    vs_hunt_close(h->hunt);
    h->scout = NULL;
    h->hunt = NULL;
    free(h->maps);
    h->maps = NULL;
    for (size_t i = 0; i < h->count; i++)
        drop(h, h->states[i]);
    for (size_t i = 0; i < VS_HISTORY_NEAR; i++)
        drop(h, h->near[i]);
    h->count = 0;
    memset(h->near, 0, sizeof(h->near));
}

/* ---- forwards -------------------------------------------------------------------------------- */

static bool is_polled(const struct vs_history *h)
{
    return h->poll && h->poll(h->context);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns where to pause on the way to a position. */
static uint64_t next_pause(struct vs_history *h, uint64_t to)
{
    uint64_t here = h->replay->position, pause = here + PIECE;
    if (h->searching)
        return lesser(pause, to);
    pthread_mutex_lock(&h->lock);
    uint64_t last = last_position(h);
    if (here >= last) /* a checkpoint may be due every `spacing` from the last on */
        pause = lesser(pause, here + h->spacing - (here - last) % h->spacing);
    pthread_mutex_unlock(&h->lock);
    return lesser(pause, to);
}

static bool is_reached(const struct vs_replay *r, const struct vs_replay_goal *goal)
{
    return r->position >= goal->position ||
           (goal->core < r->count && r->cores[goal->core].cpu->retired >= goal->retired);
}

int vs_history_run(struct vs_history *h, const struct vs_replay_goal *goal)
{
    struct vs_replay_goal piece = *goal;
    for (;;) {
        piece.position = next_pause(h, goal->position);
        int stop = vs_replay_run(h->replay, &piece);
        if (stop == VS_REPLAY_REACHED || stop == VS_REPLAY_OVER)
            keep(h);
        if (stop != VS_REPLAY_REACHED || is_reached(h->replay, goal))
            return stop;
        if (is_polled(h))
            return VS_HISTORY_POLLED;
        piece.fresh = true; /* a break where it now stands was not reported */
    }
}

static bool is_stop(int stop)
{
    return stop == VS_REPLAY_BREAK || stop == VS_REPLAY_WATCH || stop == VS_REPLAY_SIGNAL;
}

/* Runs on, whatever stops it on the way, unless it is the poll. */
static int run_through(struct vs_history *h, const struct vs_replay_goal *goal)
{
    int stop;
    do
        stop = vs_history_run(h, goal);
    while (is_stop(stop));
    return stop;
}

static struct vs_replay_goal at_position(uint64_t position)
{
    return (struct vs_replay_goal){
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
}

/* ---- to any point ---------------------------------------------------------------------------- */

/* Returns how far a state is in terms of what is looked for: a position, or a core's
 * instructions. */
static uint64_t measure(const struct vs_replay_state *s, unsigned core)
{
    return core == VS_REPLAY_NONE ? vs_replay_state_position(s) : vs_replay_state_retired(s, core);
}

/* Returns the last checkpoint that is not beyond `to`; the first never is. */
static struct vs_replay_state *find_state(const struct vs_history *h, unsigned core, uint64_t to)
{
    invariant(h->count && !vs_replay_state_position(h->states[0]));
    struct vs_replay_state *best = h->states[0];
    for (size_t i = 1; i < h->count && measure(h->states[i], core) <= to; i++)
        best = h->states[i];
    for (size_t i = 0; i < VS_HISTORY_NEAR; i++) {
        struct vs_replay_state *s = h->near[i];
        if (s && measure(s, core) <= to &&
            vs_replay_state_position(s) > vs_replay_state_position(best))
            best = s;
    }
    return best;
}

static uint64_t here_of(const struct vs_replay *r, unsigned core)
{
    return core == VS_REPLAY_NONE ? r->position : r->cores[core].cpu->retired;
}

/* Goes to the last checkpoint that is not beyond `to`, unless it is shorter from here. */
static int approach(struct vs_history *h, unsigned core, uint64_t to)
{
    uint64_t here = here_of(h->replay, core);
    int err = enter(h);
    struct vs_replay_state *s = find_state(h, core, to);
    bool near = here <= to && h->replay->position >= vs_replay_state_position(s) &&
                (core == VS_REPLAY_NONE || here < to);
    if (!err && !near)
        err = restore(h, s);
    leave(h);
    return err;
}

int vs_history_goto(struct vs_history *h, uint64_t position)
{
    int err = approach(h, VS_REPLAY_NONE, position);
    if (err)
        return err;
    if (position - h->replay->position > FAR) {
        const struct vs_replay_goal before = at_position(position - BEHIND);
        int stop = run_through(h, &before);
        if (stop != VS_REPLAY_REACHED)
            return stop;
        keep_near(h);
    }
    const struct vs_replay_goal goal = at_position(position);
    return run_through(h, &goal);
}

int vs_history_goto_core(struct vs_history *h, unsigned core, uint64_t retired)
{
    struct vs_replay_goal goal = at_position(UINT64_MAX);
    if (!retired)
        return vs_history_goto(h, 0);
    int err = approach(h, core, retired - 1);
    if (err)
        return err;
    goal.core = core;
    goal.retired = retired;
    return run_through(h, &goal);
}

/* ---- stops on the way ------------------------------------------------------------------------ */

void vs_history_tell(const struct vs_history *h, int kind, struct vs_history_stop *stop)
{
    const struct vs_replay *r = h->replay;
    const struct vs_replay_core *c = &r->cores[r->last];
    bool access = kind == VS_REPLAY_WATCH;
    *stop = (struct vs_history_stop){
        .kind = kind,
        .position = r->position - (access && !vs_replay_is_within(c)),
        .retired = c->cpu->retired + (access && vs_replay_is_within(c)),
        .exceptions = c->exceptions,
        .core = r->last,
        .watch = access ? r->hit : NULL,
    };
}

static bool same_stop(const struct vs_history_stop *a, const struct vs_history_stop *b)
{
    return a->kind == b->kind && a->position == b->position && a->core == b->core &&
           a->exceptions == b->exceptions;
}

static bool is_before(const struct vs_history_stop *stop, struct vs_hunt_end end)
{
    return stop->position < end.position ||
           (end.with_signal && stop->kind == VS_REPLAY_SIGNAL && stop->position == end.position);
}

int vs_history_scan(struct vs_history *h, const struct vs_hunt_part *part,
                    const struct vs_history_stop *until, struct vs_history_stop *last)
{
    struct vs_replay_goal goal = at_position(part->end.position);
    int found = 0, err = restore(h, part->from);
    goal.fresh = true;
    while (!err) {
        bool searching = h->searching;
        h->searching = true;
        int stop = vs_history_run(h, &goal);
        h->searching = searching;
        if (stop < 0 || stop == VS_HISTORY_POLLED)
            return stop;
        if (!is_stop(stop))
            return found;
        goal.fresh = false;
        struct vs_history_stop here;
        vs_history_tell(h, stop, &here);
        if (!is_before(&here, part->end))
            return found;
        *last = here;
        found = 1;
        if (until && same_stop(&here, until))
            return 1;
    }
    return err;
}

/* The part of the run that ends there, from the last checkpoint before it. */
static struct vs_hunt_part part_before(const struct vs_history *h, struct vs_hunt_end end)
{
    return (struct vs_hunt_part){find_state(h, VS_REPLAY_NONE, end.position - 1), end};
}

/* Where that part begins. At a checkpoint, a core may already have entered a handler. */
static struct vs_hunt_end begin_of(const struct vs_hunt_part *part)
{
    return (struct vs_hunt_end){vs_replay_state_position(part->from), true};
}

static bool can_hunt(struct vs_history *h)
{
    return h->threads && (h->hunt || !vs_hunt_open(&h->hunt, h));
}

/* Searches on in several threads. Returns as vs_history_scan. */
static int hunt(struct vs_history *h, struct vs_hunt_end end, struct vs_history_stop *stop,
                struct vs_replay_state **from)
{
    struct vs_hunt_part parts[VS_HISTORY_STATES + VS_HISTORY_NEAR];
    size_t count = 0, which;
    for (; end.position; end = begin_of(&parts[count++]))
        parts[count] = part_before(h, end);
    int found = vs_hunt_run(h->hunt, parts, count, &which, stop);
    if (found == 1)
        *from = parts[which].from;
    return found;
}

/* Finds the last stop before `end`, backwards from checkpoint to checkpoint, and sets *from to the
 * one that leads to it. Most searches end in the last part, for which threads are not worth it.
 * Returns as vs_history_scan. */
static int search(struct vs_history *h, struct vs_hunt_end end, struct vs_history_stop *stop,
                  struct vs_replay_state **from)
{
    int found = 0;
    while (!found && end.position) {
        const struct vs_hunt_part part = part_before(h, end);
        found = vs_history_scan(h, &part, NULL, stop);
        *from = part.from;
        end = begin_of(&part);
        if (!found && end.position && is_polled(h)) /* a scan may be too short to ask */
            return VS_HISTORY_POLLED;
        if (!found && end.position && can_hunt(h))
            return hunt(h, end, stop, from);
    }
    return found;
}

/* Goes to just before the core's last instruction. */
static int undo(struct vs_history *h, unsigned core)
{
    struct vs_replay *r = h->replay;
    uint64_t retired = r->cores[core].cpu->retired;
    if (!retired) {
        int stop = vs_history_goto(h, 0);
        return stop < 0 ? stop : VS_HISTORY_BEGINNING;
    }
    if (r->count > 1) { /* others may have gone on since */
        int stop = vs_history_goto_core(h, core, retired);
        if (stop != VS_REPLAY_REACHED)
            return stop;
    }
    return vs_history_goto(h, r->position - 1);
}

/* Finds the last access between here and `end`. Returns as vs_history_scan. */
static int scan_accesses(struct vs_history *h, uint64_t end, struct vs_history_stop *last)
{
    const struct vs_replay_goal goal = at_position(end);
    int found = 0;
    for (;;) {
        int stop = vs_history_run(h, &goal);
        if (stop < 0 || stop == VS_HISTORY_POLLED)
            return stop;
        if (!is_stop(stop))
            return found;
        if (stop == VS_REPLAY_WATCH) {
            vs_history_tell(h, stop, last);
            found = 1;
        }
    }
}

/* Like vs_history_step_back, but a poll may leave it anywhere. */
static int step_back(struct vs_history *h, unsigned core, struct vs_history_stop *stop)
{
    uint64_t here = h->replay->position;
    struct vs_replay_state *before;
    int end = undo(h, core);
    if (end < 0 || end == VS_HISTORY_POLLED || !h->replay->watch_count)
        return end;
    int err = vs_replay_save(h->replay, &before);
    if (err)
        return err;
    int found = scan_accesses(h, here, stop);
    err = vs_replay_restore(h->replay, before);
    vs_replay_drop(before);
    if (err || found != 1)
        return err ? err : found ? found : end;
    err = vs_history_goto_core(h, stop->core, stop->retired);
    return err < 0 || err == VS_HISTORY_POLLED ? err : VS_REPLAY_WATCH;
}

/* After a poll, the replay goes back to where it began. Drops that checkpoint. */
static int settle(struct vs_history *h, struct vs_replay_state *began, int end)
{
    int err = end == VS_HISTORY_POLLED ? vs_replay_restore(h->replay, began) : 0;
    vs_replay_drop(began);
    return err ? err : end;
}

int vs_history_step_back(struct vs_history *h, unsigned core, struct vs_history_stop *stop)
{
    struct vs_replay_state *here;
    int err = vs_replay_save(h->replay, &here);
    return err ? err : settle(h, here, step_back(h, core, stop));
}

/* Like vs_history_back, but a poll may leave it anywhere. */
static int go_back(struct vs_history *h, unsigned told, struct vs_history_stop *stop)
{
    uint64_t here = h->replay->position;
    struct vs_replay_state *from;
    struct vs_hunt_end end = {here, !(told & VS_HISTORY_SIGNAL_TOLD)};
    if (told & VS_HISTORY_ACCESS_TOLD && here)
        end = (struct vs_hunt_end){here - 1, true};
    int err = enter(h), found = err ? err : search(h, end, stop, &from);
    int reached = found;
    bool watch = found == 1 && stop->kind == VS_REPLAY_WATCH;
    if (found == 1 && !watch) {
        const struct vs_history_stop until = *stop;
        const struct vs_hunt_part part = {from, {here, true}};
        found = vs_history_scan(h, &part, &until, stop);
        reached = found == 1 ? until.kind : found;
    }
    leave(h);
    if (found && !watch)
        return reached;
    reached = found ? vs_history_goto_core(h, stop->core, stop->retired) : vs_history_goto(h, 0);
    if (reached < 0 || reached == VS_HISTORY_POLLED)
        return reached;
    return found ? VS_REPLAY_WATCH : VS_HISTORY_BEGINNING;
}

int vs_history_back(struct vs_history *h, unsigned told, struct vs_history_stop *stop)
{
    struct vs_replay_state *here;
    int err = vs_replay_save(h->replay, &here);
    return err ? err : settle(h, here, go_back(h, told, stop));
}

int vs_history_find_back(struct vs_history *h, struct vs_history_stop *stop)
{
    struct vs_replay_state *now, *from;
    int err = vs_replay_save(h->replay, &now);
    if (err)
        return err;
    err = enter(h);
    int found =
        err ? err : search(h, (struct vs_hunt_end){h->replay->position, false}, stop, &from);
    leave(h);
    err = vs_replay_restore(h->replay, now);
    vs_replay_drop(now);
    return err ? err : found;
}
