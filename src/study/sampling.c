/* SPDX-License-Identifier: MIT */
#include "study/sampling.h"

#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/random.h"

/* ---- windows --------------------------------------------------------------------------------- */

int vs_sampling_init(struct vs_sampling *s, const struct vs_sampling_plan *plan,
                     const struct vs_run_info *info, struct vs_diag *diag)
{
    uint64_t state = plan->seed, end = 0;
    uint64_t offset = vs_random(&state) % (plan->period - plan->length + 1);
    uint64_t total = info->instructions;
    *s = (struct vs_sampling){.plan = *plan, .total = total, .threads = info->threads};
    if (total < plan->length || total - plan->length < offset)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "it has only %llu instructions, before the first window's end at %llu",
                           (unsigned long long)total, (unsigned long long)(offset + plan->length));
    uint64_t count = (total - plan->length - offset) / plan->period + 1;
    if (count > VS_SAMPLING_MOST)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "%llu windows are too many; choose a longer period",
                           (unsigned long long)count);
    s->windows = calloc(count, sizeof(*s->windows));
    s->off = calloc(info->threads + 1u, sizeof(*s->off));
    s->skipped = calloc(info->threads + 1u, sizeof(*s->skipped));
    if (!s->windows || !s->off || !s->skipped)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    for (s->count = 0; s->count < count; s->count++) {
        uint64_t start = offset + s->count * plan->period;
        uint64_t warm = start - end < plan->warm ? start - end : plan->warm;
        s->windows[s->count] = (struct vs_window){start - warm, warm + plan->length};
        end = start + plan->length;
    }
    return 0;
}

void vs_sampling_fini(struct vs_sampling *s)
{
    free(s->windows);
    free(s->off);
    free(s->skipped);
    free(s->events);
    free(s->cycles);
    *s = (struct vs_sampling){0};
}

struct vs_selection vs_sampling_selection(const struct vs_sampling *s)
{
    return (struct vs_selection){.windows = s->windows, .window_count = s->count};
}

/* ---- reading --------------------------------------------------------------------------------- */

enum place { BETWEEN, WARMING, COUNTED };

void vs_sampling_rewind(struct vs_sampling *s)
{
    s->window = s->next = 0;
    s->at = s->passed = s->counting = 0;
    s->counted = false;
    s->in = (struct vs_batch){0};
    for (unsigned i = 0; i < s->threads; i++) {
        s->off[i] = true;
        s->skipped[i] = 0;
    }
}

/* Where the instruction is before which so many were read. A selection has only those of windows,
 * one window after the other. */
static enum place place_of(struct vs_sampling *s, uint64_t insn)
{
    for (; s->window < s->count; s->window++) {
        const struct vs_window *w = &s->windows[s->window];
        uint64_t from = s->selected ? s->passed : w->start;
        if (insn < from)
            return BETWEEN;
        if (insn - from < w->length)
            return insn - from < w->length - s->plan.length ? WARMING : COUNTED;
        s->passed += w->length;
        for (unsigned i = 0; i < s->threads && !s->selected; i++)
            s->off[i] = true;
    }
    return BETWEEN;
}

/* Where the thread goes on after the event, if that tells. */
static bool goes_on_at(const struct vs_event *e, uint64_t *pc)
{
    *pc = e->flags & VS_BR_TAKEN ? e->addr : e->pc + e->size;
    return e->kind == VS_BRANCH;
}

static bool is_structure(const struct vs_event *e)
{
    return e->kind == VS_THREAD_START || e->kind == VS_THREAD_EXIT || e->kind == VS_MAP ||
           e->kind == VS_CODE;
}

/* Leaves out an event of a thread that is in a gap, or puts the gap's end in its place. Returns
 * whether anything is there. */
static bool pass_over(struct vs_sampling *s, enum place place, struct vs_event *e)
{
    unsigned t = e->thread;
    uint64_t pc;
    s->skipped[t] += e->icount;
    e->icount = 0;
    if (e->kind == VS_THREAD_START)
        s->off[t] = place == BETWEEN;
    if (is_structure(e) || place == BETWEEN || !goes_on_at(e, &pc))
        return is_structure(e);
    *e = (struct vs_event){.kind = VS_GAP, .thread = (uint16_t)t, .pc = pc, .addr = s->skipped[t]};
    s->off[t] = false;
    s->skipped[t] = 0;
    return true;
}

static int make_room(struct vs_sampling *s, size_t count)
{
    if (count <= s->capacity)
        return 0;
    free(s->events);
    free(s->cycles);
    s->events = calloc(count, sizeof(*s->events));
    s->cycles = calloc(count, sizeof(*s->cycles));
    s->capacity = s->events && s->cycles ? count : 0;
    return s->capacity ? 0 : -VSE_NOMEM;
}

/* Takes events of the batch that is read, as long as they are at the same place. */
static int take(struct vs_sampling *s, struct vs_batch *batch)
{
    size_t first = s->next, kept = 0;
    int err = make_room(s, s->in.count);
    if (err)
        return err;
    for (; s->next < s->in.count; s->next++) {
        struct vs_event e = s->in.events[s->next];
        uint64_t last = s->at + e.icount;
        if (e.thread >= s->threads)
            return -VSE_CORRUPT;
        /* A gap comes before what it leads to. It is the sample's, and not the run's. */
        bool gap = e.kind == VS_GAP && s->selected;
        enum place place = place_of(s, last && !gap ? last - 1 : last);
        bool counted = place == COUNTED && !gap && (s->selected || !s->off[e.thread]);
        if (kept && (counted != s->counted || s->window != s->of))
            break;
        s->counted = counted;
        s->of = s->window;
        s->at = last;
        bool leaves = !s->selected && (s->off[e.thread] || place == BETWEEN);
        if (leaves)
            s->off[e.thread] = true;
        if (leaves && !pass_over(s, place, &e))
            continue;
        s->counting += counted ? e.icount : 0;
        if (s->in.cycles)
            s->cycles[kept] = s->in.cycles[s->next];
        s->events[kept++] = e;
    }
    *batch = s->in;
    batch->events = s->events;
    batch->cycles = s->in.cycles ? s->cycles : NULL;
    batch->count = kept;
    batch->first = s->in.first + first;
    return (int)kept;
}

int vs_sampling_next(struct vs_sampling *s, struct vs_reader *reader, struct vs_batch *batch)
{
    int n = 0;
    while (!n) {
        if (s->next == s->in.count) {
            s->next = s->in.count = 0;
            n = vs_reader_next(reader, &s->in);
        }
        n = n < 0 ? n : take(s, batch);
    }
    return n;
}

/* ---- what they say --------------------------------------------------------------------------- */

void vs_sample_add(struct vs_sample_sums *s, uint64_t x, uint64_t y)
{
    s->windows++;
    s->x += x;
    s->y += y;
    s->xx += (double)x * (double)x;
    s->xy += (double)x * (double)y;
    s->yy += (double)y * (double)y;
}

/* The 97.5 % quantile of Student's t. Beyond the table, Fisher's expansion is exact to 4 digits. */
static double student(uint64_t freedom)
{
    static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    const double z = 1.959964, v = (double)freedom;
    if (freedom <= sizeof(table) / sizeof(table[0]))
        return table[freedom - 1];
    return z + (z * z * z + z) / (4 * v) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * v * v);
}

struct vs_estimate vs_sample_estimate(const struct vs_sample_sums *s, uint64_t total)
{
    struct vs_estimate e = {
        .windows = s->windows, .instructions = s->x, .rate = NAN, .error = INFINITY};
    double n = (double)s->windows;
    if (!s->x)
        return e;
    e.rate = (double)s->y / (double)s->x;
    if (s->windows < 2)
        return e;
    double squares = s->yy - 2 * e.rate * s->xy + e.rate * e.rate * s->xx;
    double variance = squares > 0 ? squares / (n - 1) : 0, mean = (double)s->x / n;
    double left = total > s->x ? 1 - (double)s->x / (double)total : 0;
    e.error = student(s->windows - 1) * sqrt(left * variance / n) / mean;
    return e;
}
