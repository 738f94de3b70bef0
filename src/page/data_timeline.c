/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "isa/isa.h"
#include "page/data.h"

static void put_cells(struct json *j, const char *key, const uint64_t *cells, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = cells[i];
    if (!any) {
        json_null(j, key);
        return;
    }
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_u64(j, NULL, cells[i]);
    json_end(j);
}

static void put_call(struct json *j, const struct page_run *run, uint32_t number)
{
    const char *name = vs_isa_call_name(run->isa, number);
    char text[32];
    snprintf(text, sizeof(text), "system call %u", number);
    json_str(j, NULL, name ? name : text);
}

static void put_signal(struct json *j, uint32_t number)
{
    const char *name = number == UINT32_MAX ? NULL : vs_signal_name(number);
    char text[32];
    snprintf(text, sizeof(text), name ? "SIG%s" : "exception", name);
    json_str(j, NULL, text);
}

static void put_marks(struct json *j, const struct page_run *run)
{
    const struct page_timeline *t = &run->timeline;
    json_array(j, "marks");
    for (size_t i = 0; i < t->mark_count; i++) {
        const struct page_mark *m = &t->marks[i];
        json_array(j, NULL);
        json_u64(j, NULL, m->time);
        json_u64(j, NULL, m->lane);
        json_u64(j, NULL, m->kind);
        if (m->kind == PAGE_MARK_SYSCALL)
            put_call(j, run, m->number);
        else if (m->kind == PAGE_MARK_SIGNAL)
            put_signal(j, m->number);
        json_end(j);
    }
    json_end(j);
    json_array(j, "mark_counts");
    for (unsigned i = 0; i < PAGE_MARK_KINDS; i++)
        json_u64(j, NULL, t->mark_kinds[i]);
    json_end(j);
}

static void put_waits(struct json *j, const struct page_run *run)
{
    const struct page_timeline *t = &run->timeline;
    json_array(j, "waits");
    for (size_t i = 0; i < t->wait_count; i++) {
        const struct page_wait *w = &t->waits[i];
        json_array(j, NULL);
        json_u64(j, NULL, w->lane);
        json_u64(j, NULL, w->from);
        json_u64(j, NULL, w->to);
        if (w->syscall != UINT32_MAX)
            put_call(j, run, w->syscall);
        json_end(j);
    }
    json_end(j);
}

void page_put_timeline(struct json *j, const struct page_run *run)
{
    static const char *const names[PAGE_CHANNELS] = {
        "instructions", "accesses", "mispredicted", "misses", "coherence", "syscalls", "signals"};
    const struct page_timeline *t = &run->timeline;
    json_object(j, "timeline");
    json_u64(j, "lanes", t->lanes);
    json_u64(j, "bins", t->bins);
    json_u64(j, "first", t->first);
    json_u64(j, "span", t->span);
    json_object(j, "channels");
    for (unsigned i = 0; i < PAGE_CHANNELS; i++)
        put_cells(j, names[i], t->cells[i], t->lanes * t->bins);
    json_end(j);
    put_marks(j, run);
    put_waits(j, run);
    json_end(j);
}
