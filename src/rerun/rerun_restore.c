/* SPDX-License-Identifier: MIT */
/* Snapshots of a run that is executed again: taking them, and going on from one. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "rerun/rerun_state.h"

/* The number of the next input. */
static uint64_t input_number(const struct vs_rerun *r)
{
    return r->in.first + r->at;
}

static int save_threads(const struct vs_rerun *r, unsigned count, struct vs_buf *to)
{
    _Alignas(64) uint8_t copy[VS_CPU_SAVED_MAX] = {0};
    int err = 0;
    for (unsigned i = 0; i < count && !err; i++) {
        const struct vs_rerun_thread *t = &r->threads[i];
        const struct vs_snapshot_thread s = {t->goal, t->last, t->held, t->events,
                                             !t->cpu    ? VS_SNAPSHOT_NONE
                                             : t->stale ? VS_SNAPSHOT_STALE
                                                        : VS_SNAPSHOT_LIVE};
        err = vs_buf_put(to, &s, sizeof(s));
    }
    for (unsigned i = 0; i < count && !err; i++) {
        if (!r->threads[i].cpu)
            continue;
        r->ops->save(r->threads[i].cpu, copy);
        err = vs_buf_put(to, copy, r->ops->saved);
    }
    return err;
}

void vs_rerun_track(struct vs_rerun *r)
{
    vs_rerun_forget(r);
    r->memory.tracked = true;
}

int vs_rerun_save(struct vs_rerun *r, struct vs_snapshot_list *to)
{
    unsigned threads = 0;
    struct vs_buf state = {0};
    invariant(!r->begun && r->at >= r->outside_end && r->memory.tracked);
    for (unsigned i = 0; i < r->thread_count; i++)
        if (r->threads[i].events)
            threads = i + 1;
    const struct vs_snapshot_head head = {.input = input_number(r),
                                          .events = vs_rerun_events(r),
                                          .instructions = r->executed,
                                          .threads = threads};
    int err = save_threads(r, threads, &state);
    if (!err)
        err = vs_snapshot_list_add(to, &head, &state, &r->memory);
    vs_buf_fini(&state);
    return err;
}

static int restore_page(void *context, uint64_t number, const uint8_t *bytes)
{
    struct vs_rerun *r = context;
    bool code;
    int err = vs_whole_set(&r->memory, number, bytes, &code);
    if (code)
        vs_rerun_memory_changed(r, number * VS_PAGE_SIZE, VS_PAGE_SIZE);
    return err;
}

static int restore_thread(struct vs_rerun *r, unsigned i, const struct vs_snapshot_thread *s,
                          const uint8_t *core)
{
    _Alignas(64) uint8_t copy[VS_CPU_SAVED_MAX];
    struct vs_rerun_thread *t = &r->threads[i];
    struct vs_cpu *cpu = t->cpu;
    if (!s->live) {
        free(cpu);
        cpu = NULL;
    } else if (!cpu && !(cpu = vs_cpu_new(r->ops, 1, r->code, &r->seen))) {
        return -VSE_NOMEM;
    }
    *t = (struct vs_rerun_thread){.cpu = cpu,
                                  .goal = s->goal,
                                  .last = s->last,
                                  .events = s->events,
                                  .held = s->held,
                                  .stale = s->live == VS_SNAPSHOT_STALE};
    if (!cpu)
        return 0;
    cpu->id = i;
    memcpy(copy, core, r->ops->saved);
    r->ops->restore(cpu, copy);
    return 0;
}

static int restore_threads(struct vs_rerun *r, const struct vs_packed_snapshot *s)
{
    const uint8_t *core = s->cores;
    int err = 0;
    for (unsigned i = 0; i < r->thread_count && !err; i++) {
        const struct vs_snapshot_thread t = vs_snapshot_thread(s, i);
        err = restore_thread(r, i, &t, core);
        core += t.live ? r->ops->saved : 0;
    }
    return err;
}

/* The first snapshot that is not yet in memory, if the run stands at one of those up to `last`;
 * otherwise everything is forgotten. */
static unsigned first_to_restore(struct vs_rerun *r, const struct vs_packed_snapshots *s,
                                 unsigned last)
{
    if (!r->begun && !r->failed)
        for (unsigned i = 0; i <= last; i++)
            if (s->snapshots[i].head.input == input_number(r))
                return i + 1;
    vs_rerun_forget(r);
    return 0;
}

int vs_rerun_restore(struct vs_rerun *r, const struct vs_packed_snapshots *s, unsigned number,
                     struct vs_diag *diag)
{
    const struct vs_packed_snapshot *to = &s->snapshots[number];
    int err = 0;
    for (unsigned i = first_to_restore(r, s, number); i <= number && !err; i++) {
        if (s->snapshots[i].head.emptied) {
            vs_whole_clear(&r->memory, 0, UINT64_MAX);
            vs_rerun_memory_changed(r, 0, UINT64_MAX);
        }
        err = vs_snapshot_pages(&s->snapshots[i], restore_page, r);
    }
    if (!err)
        err = restore_threads(r, to);
    r->executed = to->head.instructions;
    r->digested.at = r->digested.before = 0;
    if (!err)
        err = vs_rerun_seek_input(r, to->head.input, diag);
    if (err)
        r->failed = err;
    return err;
}
