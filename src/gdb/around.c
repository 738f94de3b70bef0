/* SPDX-License-Identifier: MIT */
#include "gdb/around.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { NEAR = 1 << 16, FARTHER = 16 }; /* instructions to look at first; and how many times more */

/* ---- leaving and coming back ----------------------------------------------------------------- */

/* What the debugger set, which must not stop what is executed again. */
struct aside {
    struct vs_history *h;
    struct vs_replay_state *here;
    const struct vs_replay_watch *watches;
    size_t watch_count;
};

static int step_aside(struct aside *a, struct vs_history *h)
{
    struct vs_replay *r = h->replay;
    *a = (struct aside){h, NULL, r->watches, r->watch_count};
    int err = vs_replay_save(r, &a->here);
    if (!err)
        r->watch_count = 0;
    return err;
}

/* Returns `err`, or why it could not come back. */
static int come_back(struct aside *a, int err)
{
    struct vs_replay *r = a->h->replay;
    r->hook = (struct vs_replay_hook){0};
    r->watches = a->watches;
    r->watch_count = a->watch_count;
    int back = a->here ? vs_replay_restore(r, a->here) : 0;
    vs_replay_drop(a->here);
    return err < 0 ? err : back;
}

/* Goes on to a position, whatever is on the way. Returns as vs_history_run. */
static int run_to(struct vs_history *h, uint64_t position)
{
    const struct vs_replay_goal goal = {
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    int stop;
    do
        stop = vs_history_run(h, &goal);
    while (stop == VS_REPLAY_BREAK);
    return stop;
}

/* ---- what happens ---------------------------------------------------------------------------- */

/* Takes happenings: the last `most` of them, or the first. */
struct taker {
    struct vs_replay *r;
    struct vs_gdb_happening *items; /* `most` of them; a ring if the last are wanted */
    size_t most, count;
    bool last;
    unsigned core; /* or VS_GDB_ANYONE */
};

static struct vs_gdb_happening *take(struct taker *k, unsigned core)
{
    if ((k->core != VS_GDB_ANYONE && k->core != core) || (!k->last && k->count >= k->most))
        return NULL;
    return &k->items[k->count++ % k->most];
}

/* A call has returned, and has been counted. */
static void take_call(void *context, unsigned core)
{
    struct taker *k = context;
    struct vs_gdb_happening *x = take(k, core);
    if (!x)
        return;
    *x = (struct vs_gdb_happening){.core = core,
                                   .retired = k->r->cores[core].cpu->retired - 1,
                                   .position = k->r->position - 1};
    vs_gdb_call_text(k->r, core, x->text);
}

static struct vs_gdb_happening *newest(struct taker *k)
{
    return k->count ? &k->items[(k->count - 1) % k->most] : NULL;
}

static void end_turn(struct taker *k)
{
    struct vs_gdb_happening *x = newest(k);
    if (x && x->retired_end == UINT64_MAX)
        x->retired_end = k->r->cores[x->core].cpu->retired;
}

static void begin_turn(struct taker *k, unsigned core, bool begun)
{
    struct vs_gdb_happening *x = take(k, core);
    if (x)
        *x = (struct vs_gdb_happening){.core = core,
                                       .retired = k->r->cores[core].cpu->retired,
                                       .retired_end = UINT64_MAX,
                                       .position = k->r->position,
                                       .begun = begun};
}

static void take_turn(void *context, unsigned core)
{
    end_turn(context);
    begin_turn(context, core, false);
}

static void listen(struct taker *k, enum vs_gdb_around_kind kind)
{
    k->r->hook = (struct vs_replay_hook){.call = kind == VS_GDB_CALLS ? take_call : NULL,
                                         .turn = kind == VS_GDB_TURNS ? take_turn : NULL,
                                         .context = k};
    if (kind == VS_GDB_TURNS)
        begin_turn(k, k->r->last, k->r->position);
}

/* ---- before and after ------------------------------------------------------------------------ */

/* Looks further and further back, until there is enough. */
static int look_back(struct vs_history *h, enum vs_gdb_around_kind kind, struct taker *k)
{
    uint64_t here = h->replay->position;
    for (uint64_t far = NEAR;; far *= FARTHER) {
        uint64_t from = far < here ? here - far : 0;
        k->count = 0;
        int err = vs_history_goto(h, from);
        if (err < 0)
            return err;
        listen(k, kind);
        err = run_to(h, here);
        if (kind == VS_GDB_TURNS)
            end_turn(k);
        h->replay->hook = (struct vs_replay_hook){0};
        /* the first turn may have begun earlier */
        bool enough = k->count >= k->most + (kind == VS_GDB_TURNS);
        if (err < 0 || !from || enough || far > UINT64_MAX / FARTHER)
            return err;
    }
}

static int look_ahead(struct vs_history *h, enum vs_gdb_around_kind kind, struct taker *k,
                      bool *more)
{
    uint64_t here = h->replay->position;
    int stop = VS_REPLAY_REACHED;
    listen(k, kind);
    while (stop == VS_REPLAY_REACHED && k->count < k->most &&
           h->replay->position - here < VS_GDB_AROUND_AHEAD)
        stop = run_to(h, h->replay->position + NEAR);
    if (kind == VS_GDB_TURNS)
        end_turn(k);
    *more = stop == VS_REPLAY_REACHED && k->count < k->most;
    return stop;
}

/* Puts a ring's items in order. */
static int straighten(struct taker *k)
{
    size_t first = k->count % k->most;
    if (k->count <= k->most || !first)
        return 0;
    struct vs_gdb_happening *items = malloc(k->most * sizeof(*items));
    if (!items)
        return -VSE_NOMEM;
    memcpy(items, k->items + first, (k->most - first) * sizeof(*items));
    memcpy(items + k->most - first, k->items, first * sizeof(*items));
    free(k->items);
    k->items = items;
    return 0;
}

int vs_gdb_around_find(struct vs_history *h, enum vs_gdb_around_kind kind, unsigned core,
                       size_t most, struct vs_gdb_around *around)
{
    struct taker back = {.r = h->replay, .most = most, .last = true, .core = core}, on = back;
    struct aside aside;
    *around = (struct vs_gdb_around){0};
    on.last = false;
    back.items = calloc(most, sizeof(*back.items));
    on.items = calloc(most, sizeof(*on.items));
    int err = back.items && on.items ? step_aside(&aside, h) : -VSE_NOMEM;
    if (!err) {
        err = look_back(h, kind, &back);
        if (err >= 0)
            err = vs_replay_restore(h->replay, aside.here);
        if (err >= 0)
            err = look_ahead(h, kind, &on, &around->more);
        err = come_back(&aside, err);
    }
    if (err >= 0)
        err = straighten(&back);
    around->before = back.items;
    around->before_count = back.count < most ? back.count : most;
    around->after = on.items;
    around->after_count = on.count;
    return err < 0 ? err : 0;
}

void vs_gdb_around_fini(struct vs_gdb_around *around)
{
    free(around->before);
    free(around->after);
    *around = (struct vs_gdb_around){0};
}

/* ---- output ---------------------------------------------------------------------------------- */

/* A call that ends at a position may be met before or after the replay stands there, so it is met
 * again, and known by its core's count. */
enum { OVERLAP = 64 };

struct writer {
    struct vs_gdb_output *o;
    const struct vs_replay *r;
    uint64_t *had; /* of each core: what it has retired with its last call that is there */
    int error;
};

static void take_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes,
                        size_t size, size_t known)
{
    struct writer *w = context;
    struct vs_gdb_output *o = w->o;
    uint64_t retired = w->r->cores[core].cpu->retired;
    void *items = o->items;
    (void)known;
    if (retired <= w->had[core] || w->error)
        return;
    w->error = vs_array_room(&items, &o->capacity, o->count, 1, sizeof(*o->items));
    o->items = items;
    size_t at = o->bytes.len;
    if (!w->error)
        w->error = vs_buf_put(&o->bytes, bytes, size);
    if (!w->error)
        o->items[o->count++] = (struct vs_gdb_written){fd, retired, core, at, size};
}

static int take_until(struct writer *w, struct vs_history *h, uint64_t here)
{
    struct vs_replay *r = h->replay;
    uint64_t until = w->o->until;
    int err = vs_history_goto(h, until > OVERLAP ? until - OVERLAP : 0);
    if (err < 0)
        return err;
    r->config.output = take_output;
    r->config.context = w;
    err = run_to(h, here);
    r->config.output = NULL;
    return err < 0 ? err : w->error;
}

int vs_gdb_output_update(struct vs_gdb_output *o, struct vs_history *h)
{
    struct vs_replay *r = h->replay;
    uint64_t here = r->position;
    struct writer w = {.o = o, .r = r, .had = calloc(r->count, sizeof(*w.had))};
    struct aside aside;
    int err = w.had ? step_aside(&aside, h) : -VSE_NOMEM;
    if (!err) {
        for (size_t i = 0; i < o->count; i++)
            w.had[o->items[i].core] = o->items[i].retired;
        err = come_back(&aside, here + 1 > o->until ? take_until(&w, h, here) : 0);
    }
    if (err >= 0 && here > o->until)
        o->until = here;
    free(w.had);
    return err < 0 ? err : 0;
}

void vs_gdb_output_fini(struct vs_gdb_output *o)
{
    free(o->items);
    vs_buf_fini(&o->bytes);
    *o = (struct vs_gdb_output){0};
}
