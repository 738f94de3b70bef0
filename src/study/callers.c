/* SPDX-License-Identifier: MIT */
#include "study/callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"

/* A routine's key has its image's number above its address. */
enum { IMAGE_SHIFT = 48, NO_IMAGE = 0xffff };

int vs_callers_init(struct vs_callers *c, const struct vs_reader *reader)
{
    int e;

    *c = (struct vs_callers){.path_count = 1, .routine_count = 1};
    e = vs_where_of_run(&c->where, reader);
    c->at = calloc(VS_THREADS_MAX, sizeof(*c->at));
    if (e || !c->at ||
        vs_array_room((void **)&c->paths, &c->path_capacity, 0, 1, sizeof(*c->paths)) ||
        vs_array_room((void **)&c->routines, &c->routine_capacity, 0, 1, sizeof(*c->routines)))
        return -VSE_NOMEM;
    c->paths[0] = (struct vs_caller){0};
    c->routines[0] = (struct vs_caller_routine){0};
    return 0;
}

void vs_callers_fini(struct vs_callers *c)
{
    vs_where_fini(&c->where);
    vs_callstack_fini(&c->stack);
    vs_map_fini(&c->children);
    vs_map_fini(&c->by_start);
    free(c->paths);
    free(c->routines);
    free(c->by_site);
    free(c->at);
    *c = (struct vs_callers){0};
}

/* ---- routines -------------------------------------------------------------------------------- */

/* Adds a routine that begins at a site, or code without a name. Returns its number; -VSE_NOMEM. */
static int64_t add_routine(struct vs_callers *c, const struct vs_where_place *place)
{
    const char *name = place->frames[place->frame_count - 1].routine;

    if (!name && !place->path)
        return 0;
    if (vs_array_room((void **)&c->routines, &c->routine_capacity, c->routine_count, 1,
                      sizeof(*c->routines)))
        return -VSE_NOMEM;
    c->routines[c->routine_count] = (struct vs_caller_routine){name, place->path};
    return (int64_t)c->routine_count++;
}

/* Routines are told apart by image and beginning. Code without a name is one routine for each
 * image. Returns the routine's number; -VSE_NOMEM. */
static int64_t name_site(struct vs_callers *c, uint64_t number)
{
    const struct vs_where_place *place;
    uint64_t image = c->where.sites[number - 1].image, start, key;
    int64_t routine = vs_where_name(&c->where, number, &place);
    bool exact;

    if (routine < 0)
        return routine;
    image = image < NO_IMAGE ? image : NO_IMAGE;
    start = place->frames[place->frame_count - 1].routine ? place->start : 0;
    exact = start < UINT64_C(1) << IMAGE_SHIFT;
    key = image << IMAGE_SHIFT | start;
    if (exact && vs_map_find(&c->by_start, key))
        return (int64_t)vs_map_value(&c->by_start, key) - 1;
    routine = add_routine(c, place);
    if (exact && routine >= 0 && vs_map_set(&c->by_start, key, (uint64_t)routine + 1))
        return -VSE_NOMEM;
    return routine;
}

/* The routine of a site. Returns its number; -VSE_NOMEM. */
static int64_t routine_of(struct vs_callers *c, int64_t site)
{
    int64_t routine;

    if (site <= 0)
        return site;
    if (unlikely((size_t)site >= c->site_capacity)) {
        size_t before = c->site_capacity;

        if (vs_array_room((void **)&c->by_site, &c->site_capacity, before,
                          (size_t)site + 1 - before, sizeof(*c->by_site)))
            return -VSE_NOMEM;
        memset(c->by_site + before, 0, (c->site_capacity - before) * sizeof(*c->by_site));
    }
    if (likely(c->by_site[site]))
        return c->by_site[site] - 1;
    routine = name_site(c, (uint64_t)site);
    if (routine >= 0)
        c->by_site[site] = (uint32_t)routine + 1;
    return routine;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The path of a routine that was called on another path. Returns its number; -VSE_NOMEM. */
static int64_t path_of(struct vs_callers *c, uint32_t parent, uint32_t routine)
{
    uint64_t key = (uint64_t)parent << 32 | routine;
    const struct vs_map_entry *known = vs_map_find(&c->children, key);

    if (likely(known))
        return (int64_t)known->value;
    if (c->path_count == VS_CALLERS_PATHS_MAX)
        return parent;
    if (vs_array_room((void **)&c->paths, &c->path_capacity, c->path_count, 1, sizeof(*c->paths)) ||
        vs_map_set(&c->children, key, c->path_count))
        return -VSE_NOMEM;
    c->paths[c->path_count] = (struct vs_caller){.parent = parent, .routine = routine};
    return (int64_t)c->path_count++;
}

/* The path of whoever made the latest call. A call's note is the path that it was made on, plus 1.
 * Returns its number; -VSE_NOMEM. */
static int64_t path_to(struct vs_callers *c, unsigned thread)
{
    struct vs_calls *calls = vs_callstack_calls(&c->stack, thread);
    size_t depth = calls ? calls->depth : 0, known = depth;
    int64_t path = 0;

    while (known && !calls->calls[known - 1].note)
        known--;
    if (known)
        path = calls->calls[known - 1].note - 1;
    for (; known < depth && path >= 0; known++) {
        int64_t routine = routine_of(c, vs_where_site(&c->where, calls->calls[known].site));

        path = routine < 0 ? routine
               : calls->calls[known].kind == VS_CALL_HANDLER
                   ? path
                   : path_of(c, (uint32_t)path, (uint32_t)routine);
        if (path >= 0)
            calls->calls[known].note = (uint32_t)path + 1;
    }
    return path;
}

/* Whether the event tells where the instructions before it are. */
static bool has_place(const struct vs_event *e)
{
    const uint32_t with = 1u << VS_BRANCH | 1u << VS_LOAD | 1u << VS_STORE | 1u << VS_SYSCALL |
                          1u << VS_NONDET | 1u << VS_EXCEPTION | 1u << VS_EXCEPTION_RET;

    return with >> e->kind & 1;
}

static int count(struct vs_callers *c, const struct vs_event *e)
{
    struct vs_caller_place *at = &c->at[e->thread];
    uint64_t pc = has_place(e) ? e->pc : at->pc;
    int64_t site = pc ? vs_where_site(&c->where, pc) : 0, routine = routine_of(c, site), path;

    at->pc = pc;
    if (routine < 0)
        return (int)routine;
    path = path_to(c, e->thread);
    if (path >= 0)
        path = path_of(c, (uint32_t)path, (uint32_t)routine);
    if (path < 0)
        return (int)path;
    at->site = (uint32_t)site;
    at->path = (uint32_t)path;
    c->paths[path].instructions += e->icount;
    return 0;
}

int vs_callers_take(struct vs_callers *c, const struct vs_batch *batch, size_t i,
                    struct vs_caller_place *place)
{
    const struct vs_event *event = &batch->events[i];
    int e = event->icount ? count(c, event) : 0;

    *place = c->at[event->thread];
    if (!e && event->kind == VS_MAP)
        e = vs_where_map(&c->where, event);
    return e ? e : vs_callstack_take(&c->stack, batch, i);
}

int vs_callers_batch(struct vs_callers *c, const struct vs_batch *batch)
{
    struct vs_caller_place place;
    int e = 0;

    for (size_t i = 0; i < batch->count && !e; i++)
        e = vs_callers_take(c, batch, i, &place);
    return e;
}

static int by_instructions(const void *a, const void *b, void *paths)
{
    const struct vs_caller *list = paths;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (list[x].instructions != list[y].instructions)
        return list[x].instructions > list[y].instructions ? -1 : 1;
    return (x > y) - (x < y);
}

int64_t vs_callers_hottest(const struct vs_callers *c, uint32_t **list)
{
    size_t n = 0;

    *list = malloc(c->path_count * sizeof(**list));
    if (!*list)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < c->path_count; i++)
        if (c->paths[i].instructions)
            (*list)[n++] = i;
    if (n)
        qsort_r(*list, n, sizeof(**list), by_instructions, c->paths);
    return (int64_t)n;
}

int64_t vs_callers_path(const struct vs_callers *c, uint32_t path, struct vs_caller_run **runs,
                        size_t *capacity)
{
    size_t depth = 0, count = 0, at;
    void *array = *runs;
    int e;

    for (uint32_t p = path; p; p = c->paths[p].parent)
        depth++;
    e = vs_array_room(&array, capacity, 0, depth + 1, sizeof(**runs));
    *runs = array;
    if (e)
        return e;
    at = depth;
    for (uint32_t p = path; p; p = c->paths[p].parent)
        (*runs)[--at] = (struct vs_caller_run){&c->routines[c->paths[p].routine], 1};
    for (size_t i = 1; i < depth; i++) {
        if ((*runs)[i].routine == (*runs)[count].routine)
            (*runs)[count].times++;
        else
            (*runs)[++count] = (*runs)[i];
    }
    return (int64_t)(depth ? count + 1 : 0);
}
