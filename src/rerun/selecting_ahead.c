/* SPDX-License-Identifier: MIT */
/* Goes to a window by way of snapshots. */
#include <stdlib.h>

#include "rerun/rerun_state.h"

/* Instructions that are worth it. */
#define FAR (UINT64_C(1) << 20)

/* What a thread had before the snapshot was restored. */
struct kept {
    uint64_t goal, since, events;
};

/* The last snapshot that is before the next window, and far enough from here; -1: none. */
static int find_snapshot(const struct vs_selecting *s)
{
    const struct vs_packed_snapshots *p = s->snapshots;
    uint64_t start = s->what->windows[s->window].start;
    unsigned i = p->count;
    while (i && p->snapshots[i - 1].head.instructions > start)
        i--;
    return i && p->snapshots[i - 1].head.instructions >= s->count + FAR ? (int)i - 1 : -1;
}

/* Reads inputs on from here. Returns 0; -VSE_END at `end`; an error. */
static int next_input(struct vs_rerun *r, uint64_t end)
{
    if (r->in.first + r->at == end)
        return -VSE_END;
    if (r->at < r->in.count)
        return 0;
    r->at = r->in.count = 0;
    int n = vs_reader_next(r->inputs, &r->in);
    if (n < 0 && n != -VSE_END)
        r->diag = *vs_reader_diag(r->inputs);
    return n < 0 ? n : 0;
}

/* Chooses a snapshot that no thread ends before, since its registers at its end have to be known.
 * Returns its number; -1: none; another error. */
static int choose(struct vs_rerun *r, int last)
{
    const struct vs_packed_snapshot *s = r->selecting->snapshots->snapshots;
    uint64_t here = r->in.first + r->at;
    int err;
    while (!(err = next_input(r, s[last].head.input)) && r->in.events[r->at].kind != VS_THREAD_EXIT)
        r->at++;
    if (err && err != -VSE_END)
        return err - 1;
    uint64_t limit = r->in.first + r->at;
    while (last >= 0 && s[last].head.input > limit)
        last--;
    if (last >= 0 && s[last].head.instructions < r->selecting->count + FAR)
        last = -1;
    err = vs_rerun_seek_input(r, here, &r->diag);
    return err ? err - 1 : last;
}

/* Delivers what is an event even where nothing is selected. */
static int pass_over(struct vs_rerun *r, uint64_t end)
{
    struct vs_selecting *s = r->selecting;
    int err;
    for (; !(err = next_input(r, end)); r->at++) {
        const struct vs_event *e = &r->in.events[r->at];
        if (e->kind != VS_THREAD_START && e->kind != VS_MAP && e->kind != VS_CODE)
            continue;
        vs_rerun_append(r, e, vs_event_bytes(&r->in, e), r->threads[e->thread].goal);
        err = vs_selecting_after(r, e);
        if (err)
            return err;
    }
    s->passed = true;
    return err == -VSE_END ? 0 : err;
}

static int go_on_at(struct vs_rerun *r, unsigned number, struct kept *kept)
{
    struct vs_selecting *s = r->selecting;
    uint64_t here = r->in.first + r->at;
    int err = pass_over(r, s->snapshots->snapshots[number].head.input);
    if (!err) /* where memory is that of before */
        err = vs_rerun_seek_input(r, here, &r->diag);
    for (unsigned i = 0; i < r->thread_count; i++) {
        const struct vs_rerun_thread *t = &r->threads[i];
        kept[i] = (struct kept){t->goal, t->goal - t->last, t->events};
    }
    if (!err)
        err = vs_rerun_restore(r, s->snapshots, number, &r->diag);
    if (err)
        return err;
    s->count = s->snapshots->snapshots[number].head.instructions;
    for (unsigned i = 0; i < r->thread_count; i++) {
        struct vs_rerun_thread *t = &r->threads[i];
        uint64_t done = t->goal - kept[i].goal;
        s->threads[i].skipped += done;
        s->threads[i].left_out += done;
        t->last = t->goal - kept[i].since;
        t->events = kept[i].events;
    }
    return 0;
}

int vs_selecting_hasten(struct vs_rerun *r)
{
    struct vs_selecting *s = r->selecting;
    if (!s->snapshots || s->open || s->done || s->passed)
        return 0;
    int number = find_snapshot(s);
    if (number >= 0)
        number = choose(r, number);
    if (number < -1)
        return number + 1;
    s->passed = true;
    if (number < 0)
        return 0;
    struct kept *kept = calloc(r->thread_count + 1u, sizeof(*kept));
    int err = kept ? go_on_at(r, (unsigned)number, kept) : -VSE_NOMEM;
    free(kept);
    return err;
}
