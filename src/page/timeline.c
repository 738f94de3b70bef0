/* SPDX-License-Identifier: MIT */
#include "page/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"

struct page_lane_state {
    uint64_t last; /* time of its last event */
    unsigned waits;
    bool begun;
};

/* Where bin number `bin` ends; `span` and `bins` may be large together. */
static uint64_t bin_end(const struct page_timeline *t, size_t bin)
{
    uint64_t whole = t->span / t->bins, rest = t->span % t->bins;
    return whole * (bin + 1) + rest * (bin + 1) / t->bins;
}

int page_timeline_init(struct page_timeline *t, const struct vs_run_info *info)
{
    *t = (struct page_timeline){.timed = info->features & VS_RUN_TIMED};
    t->lanes = info->threads < PAGE_LANES_MAX ? info->threads : PAGE_LANES_MAX;
    t->lanes = t->lanes ? t->lanes : 1;
    t->first = t->timed ? info->cycle_first : 0;
    t->span = t->timed ? info->cycle_last - info->cycle_first + 1 : info->instructions;
    t->span = t->span ? t->span : 1;
    t->bins = PAGE_CELLS / t->lanes;
    t->bins = t->bins > 2048 ? 2048 : t->bins;
    t->bins = t->bins > t->span ? (size_t)t->span : t->bins;
    t->end_of_bin = bin_end(t, 0);
    t->shortest = t->span / 1024 + 1;
    t->state = calloc(t->lanes, sizeof(*t->state));
    for (unsigned i = 0; i < PAGE_CHANNELS; i++)
        if (!(t->cells[i] = calloc(t->lanes * t->bins, sizeof(**t->cells))))
            return -VSE_NOMEM;
    return t->state ? 0 : -VSE_NOMEM;
}

void page_timeline_fini(struct page_timeline *t)
{
    for (unsigned i = 0; i < PAGE_CHANNELS; i++)
        free(t->cells[i]);
    free(t->marks);
    free(t->waits);
    free(t->state);
    *t = (struct page_timeline){0};
}

/* ---- what is rare ---------------------------------------------------------------------------- */

static uint32_t cause_of(const struct vs_batch *one)
{
    const struct vs_event *e = one->events;
    const uint8_t *p = vs_event_bytes(one, e), *bytes;
    size_t size = e->size;
    unsigned number, width;
    uint64_t cause = UINT32_MAX;
    while (vs_regs_next(&p, &size, &number, &width, &bytes) > 0)
        if (number == VS_REG_CAUSE && width == 8)
            memcpy(&cause, bytes, 8);
    return cause < UINT32_MAX ? (uint32_t)cause : UINT32_MAX;
}

static int mark(struct page_timeline *t, unsigned lane, enum page_mark_kind kind, uint32_t number)
{
    if (t->mark_kinds[kind]++ >= PAGE_MARKS_MAX)
        return 0;
    if (vs_array_room((void **)&t->marks, &t->mark_capacity, t->mark_count, 1, sizeof(*t->marks)))
        return -VSE_NOMEM;
    t->marks[t->mark_count++] = (struct page_mark){
        .time = t->now, .number = number, .lane = (uint16_t)lane, .kind = (uint8_t)kind};
    return 0;
}

static int mark_event(struct page_timeline *t, unsigned lane, const struct vs_batch *one)
{
    const struct vs_event *e = one->events;
    switch (e->kind) {
    case VS_SYSCALL:
        page_timeline_count(t, lane, PAGE_SYSCALLS, 1);
        return mark(t, lane, PAGE_MARK_SYSCALL,
                    e->addr < UINT32_MAX ? (uint32_t)e->addr : UINT32_MAX);
    case VS_EXCEPTION:
        page_timeline_count(t, lane, PAGE_SIGNALS, 1);
        return mark(t, lane, PAGE_MARK_SIGNAL, cause_of(one));
    case VS_THREAD_START:
        return mark(t, lane, PAGE_MARK_START, 0);
    case VS_THREAD_EXIT:
        return mark(t, lane, PAGE_MARK_EXIT, 0);
    case VS_GAP:
        return mark(t, lane, PAGE_MARK_GAP, 0);
    default:
        return 0;
    }
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Whatever passed since the thread's last event, beyond what it retired itself, was others' time,
 * or in a timed run its own stalls. */
static int find_wait(struct page_timeline *t, unsigned lane, const struct vs_event *e)
{
    struct page_lane_state *s = &t->state[lane];
    uint64_t passed = t->now - s->last;
    bool waited = s->begun && passed > t->shortest && passed - t->shortest > e->icount;
    if (waited && s->waits < PAGE_WAITS_EACH && t->wait_count < PAGE_WAITS_MAX) {
        if (vs_array_room((void **)&t->waits, &t->wait_capacity, t->wait_count, 1,
                          sizeof(*t->waits)))
            return -VSE_NOMEM;
        t->waits[t->wait_count++] = (struct page_wait){
            .from = s->last,
            .to = t->now - e->icount,
            .syscall =
                e->kind == VS_SYSCALL && e->addr < UINT32_MAX ? (uint32_t)e->addr : UINT32_MAX,
            .lane = (uint16_t)lane};
        s->waits++;
    }
    s->last = t->now;
    s->begun = e->kind != VS_THREAD_EXIT;
    return 0;
}

/* Whether the event is something that a thread does, and not merely something that comes true. */
static bool is_of_thread(const struct vs_event *e)
{
    const uint32_t without = 1u << VS_EXTERNAL | 1u << VS_MAP | 1u << VS_CODE | 1u << VS_CONTENT;
    return e->icount || !(without >> e->kind & 1);
}

int page_timeline_take(struct page_timeline *t, const struct vs_batch *one)
{
    const struct vs_event *e = one->events;
    unsigned lane = e->thread < t->lanes ? e->thread : t->lanes - 1;
    int err = 0;
    t->retired += e->icount;
    t->now = t->timed && one->cycles ? *one->cycles - t->first : t->retired;
    while (unlikely(t->now >= t->end_of_bin && t->bin + 1 < t->bins))
        t->end_of_bin = bin_end(t, ++t->bin);
    page_timeline_count(t, lane, PAGE_INSTRUCTIONS, e->icount);
    if (e->kind == VS_LOAD || e->kind == VS_STORE)
        page_timeline_count(t, lane, PAGE_ACCESSES, 1);
    else if (e->kind != VS_BRANCH)
        err = mark_event(t, lane, one);
    if (!err && e->thread == lane && is_of_thread(e))
        err = find_wait(t, lane, e);
    return err;
}
