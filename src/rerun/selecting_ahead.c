/* SPDX-License-Identifier: MIT */
/* Goes to a window by way of snapshots. */
#include <stdlib.h>

#include "rerun/rerun_state.h"

/* Instructions that are worth it. */
#define FAR (UINT64_C(1) << 20)

/* What a thread had before the snapshot was restored. */
struct kept {
    uint64_t retired, since, events;
};

/* Instructions before a snapshot, as windows count them. */
static uint64_t count_at(const struct vs_selecting *s, int number)
{
    return s->snapshots->snapshots[number].head.instructions + s->unsaid;
}

static bool is_ahead(const struct vs_selecting *s, int number)
{
    return number >= 0 && count_at(s, number) >= s->count + FAR;
}

/* The last snapshot that is before the next window, and far enough from here; -1: none. If it were
 * where the window begins, inputs right before it could already be in the window. */
static int find_snapshot(const struct vs_selecting *s)
{
    int i = (int)s->snapshots->count - 1;
    while (i >= 0 && count_at(s, i) >= s->what->windows[s->window].start)
        i--;
    return is_ahead(s, i) ? i : -1;
}

/* Reads inputs on from here. Returns 0; -VSE_END at `end`; an error. */
static int next_input(struct vs_rerun *r, uint64_t end)
{
    return r->in.first + r->at == end ? -VSE_END : vs_rerun_get_inputs(r);
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
    if (!is_ahead(r->selecting, last))
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

static uint64_t retired(const struct vs_rerun_thread *t)
{
    return t->cpu ? t->cpu->retired : t->goal;
}

/* The thread has come to a snapshot, and done nothing on the way that becomes an event. */
static void pass_thread(struct vs_selecting *s, struct vs_select_thread *own,
                        struct vs_rerun_thread *t, const struct kept *before)
{
    t->goal += own->unsaid;
    if (t->cpu)
        t->cpu->retired += own->unsaid;
    uint64_t done = retired(t) - before->retired;
    s->count += done;
    own->skipped += done;
    own->left_out += done;
    own->off |= done != 0;
    t->last = retired(t) - before->since;
    t->events = before->events;
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
        kept[i] = (struct kept){retired(t), retired(t) - t->last, t->events};
    }
    if (!err)
        err = vs_rerun_restore(r, s->snapshots, number, &r->diag);
    for (unsigned i = 0; i < r->thread_count && !err; i++)
        pass_thread(s, &s->threads[i], &r->threads[i], &kept[i]);
    return err;
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
