/* SPDX-License-Identifier: MIT */
#include "study/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"

const char *vs_by_name(unsigned by)
{
    static const char *const names[VS_BY_END] = {"nothing", "routine", "line", "image", "thread"};

    return by < VS_BY_END ? names[by] : "?";
}

/* ---- the places of events -------------------------------------------------------------------- */

int vs_event_sites_init(struct vs_event_sites *s, enum vs_by by, const struct vs_reader *reader)
{
    *s = (struct vs_event_sites){.by = by};
    /* its untouched pages cost nothing */
    s->at = calloc(VS_THREADS_MAX, sizeof(*s->at));
    if (!s->at)
        return -VSE_NOMEM;
    return by == VS_BY_THREAD ? 0 : vs_where_of_run(&s->where, reader);
}

void vs_event_sites_fini(struct vs_event_sites *s)
{
    vs_where_fini(&s->where);
    free(s->at);
    free(s->instructions);
    *s = (struct vs_event_sites){0};
}

/* Whether the event tells where its thread is. */
static bool has_place(const struct vs_event *e)
{
    const uint32_t without = 1u << VS_EXTERNAL | 1u << VS_THREAD_EXIT | 1u << VS_MAP |
                             1u << VS_CODE | 1u << VS_COUNT | 1u << VS_TURN | 1u << VS_CONTENT;

    return !(without >> e->kind & 1);
}

static int count_at(struct vs_event_sites *s, uint32_t site, unsigned icount)
{
    if (unlikely(site >= s->count)) {
        size_t more = site + 1 - s->count;

        if (vs_array_room((void **)&s->instructions, &s->capacity, s->count, more,
                          sizeof(*s->instructions)))
            return -VSE_NOMEM;
        memset(s->instructions + s->count, 0, more * sizeof(*s->instructions));
        s->count += more;
    }
    s->instructions[site] += icount;
    return 0;
}

int64_t vs_event_sites_take(struct vs_event_sites *s, const struct vs_event *e)
{
    int64_t site = s->at[e->thread];
    int err = 0;

    if (s->by == VS_BY_THREAD)
        site = e->thread + 1;
    else if (has_place(e))
        site = vs_where_site(&s->where, e->pc);
    if (e->kind == VS_MAP && s->by != VS_BY_THREAD)
        err = vs_where_map(&s->where, e);
    if (site < 0 || err)
        return site < 0 ? site : err;
    s->at[e->thread] = (uint32_t)site;
    err = count_at(s, (uint32_t)site, e->icount);
    return err ? err : site;
}

/* ---- what is sent ---------------------------------------------------------------------------- */

static void charge(void *context, unsigned core, uint64_t bits)
{
    struct vs_attribution *a = context;
    struct vs_sent *s = &a->sent[a->at[core < a->cores ? core : a->core]];

    s->bits += bits;
    s->messages++;
}

int vs_attribution_init(struct vs_attribution *a, unsigned cores)
{
    *a = (struct vs_attribution){.cores = cores, .at = calloc(cores, sizeof(*a->at))};
    a->meter = (struct vs_port_meter){charge, a};
    return a->at ? vs_attribution_room(a, 1) : -VSE_NOMEM;
}

void vs_attribution_fini(struct vs_attribution *a)
{
    free(a->at);
    free(a->sent);
    *a = (struct vs_attribution){0};
}

int vs_attribution_room(struct vs_attribution *a, size_t count)
{
    size_t before = a->capacity;

    if (count <= before)
        return 0;
    if (vs_array_room((void **)&a->sent, &a->capacity, before, count - before, sizeof(*a->sent)))
        return -VSE_NOMEM;
    memset(a->sent + before, 0, (a->capacity - before) * sizeof(*a->sent));
    return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Describes a place as the table has it. Returns 0; -VSE_NOMEM. */
static int describe(struct vs_event_sites *s, uint32_t site, struct vs_share *share)
{
    const struct vs_where_place *place;
    const struct vs_where_frame *outer;
    int e;

    share->known = true;
    if (s->by == VS_BY_THREAD) {
        share->thread = site - 1;
        return 0;
    }
    e = vs_where_name(&s->where, site, &place);
    if (e)
        return e;
    outer = &place->frames[place->frame_count - 1];
    share->image = place->path;
    if (s->by == VS_BY_IMAGE)
        return 0;
    share->routine = outer->routine;
    if (s->by == VS_BY_LINE) {
        share->file = place->frames[0].file;
        share->folder = place->frames[0].folder;
        share->line = place->frames[0].line;
    }
    if (share->file) { /* a line is the same one wherever it was compiled into */
        share->routine = place->frames[0].routine;
        share->image = NULL;
    }
    return 0;
}

static int compare_texts(const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

/* By what makes a row; the routines that a line belongs to do not. */
static int by_place(const void *a, const void *b)
{
    const struct vs_share *x = a, *y = b;
    int c = (int)x->known - (int)y->known;

    if (!c)
        c = compare_texts(x->image, y->image);
    if (!c)
        c = compare_texts(x->file, y->file);
    if (!c)
        c = compare_texts(x->folder, y->folder);
    if (!c && x->file)
        return (x->line > y->line) - (x->line < y->line);
    if (!c)
        c = compare_texts(x->routine, y->routine);
    return c ? c : (x->thread > y->thread) - (x->thread < y->thread);
}

/* Rows of one place are in the order of their routines' names, so that the first is always the
 * same one. */
static int by_place_and_routine(const void *a, const void *b)
{
    const struct vs_share *x = a, *y = b;
    int c = by_place(a, b);

    return c ? c : compare_texts(x->routine, y->routine);
}

static int by_bits(const void *a, const void *b)
{
    const struct vs_share *x = a, *y = b;

    if (x->bits != y->bits)
        return x->bits > y->bits ? -1 : 1;
    return by_place(a, b);
}

static void add_share(struct vs_share *sum, const struct vs_share *share)
{
    sum->bits += share->bits;
    sum->messages += share->messages;
    sum->instructions += share->instructions;
}

static size_t merge(struct vs_share *list, size_t count)
{
    size_t n = 0;

    for (size_t i = 1; i < count; i++) {
        if (by_place(&list[n], &list[i]) == 0)
            add_share(&list[n], &list[i]);
        else
            list[++n] = list[i];
    }
    return count ? n + 1 : 0;
}

/* Lists every place by itself. Returns 0; -VSE_NOMEM. */
static int list_places(struct vs_shares *s, const struct vs_attribution *a,
                       struct vs_event_sites *sites)
{
    int e = 0;

    s->list = calloc(sites->count + 1, sizeof(*s->list));
    if (!s->list)
        return -VSE_NOMEM;
    for (uint32_t i = 0; !e && i < sites->count; i++) {
        struct vs_share share = {.instructions = sites->instructions[i]};

        if (i < a->capacity) {
            share.bits = a->sent[i].bits;
            share.messages = a->sent[i].messages;
        }
        if (!share.bits && !share.messages && !share.instructions)
            continue;
        e = i ? describe(sites, i, &share) : 0;
        s->list[s->count++] = share;
    }
    return e;
}

int vs_shares_init(struct vs_shares *s, const struct vs_attribution *a,
                   struct vs_event_sites *sites, size_t top)
{
    *s = (struct vs_shares){.by = sites->by};
    int e = list_places(s, a, sites);

    if (e)
        return e;
    if (s->count)
        qsort(s->list, s->count, sizeof(*s->list), by_place_and_routine);
    s->count = merge(s->list, s->count);
    if (s->count)
        qsort(s->list, s->count, sizeof(*s->list), by_bits);
    s->top = top && top < s->count ? top : s->count;
    for (size_t i = s->top; i < s->count; i++)
        add_share(&s->others, &s->list[i]);
    return 0;
}

void vs_shares_fini(struct vs_shares *s)
{
    free(s->list);
    *s = (struct vs_shares){0};
}
