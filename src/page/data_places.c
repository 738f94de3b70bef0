/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "page/data.h"
#include "page/flame.h"

enum {
    ROUTINES = 160,
    LINES = 240,
    SITES = 6000, /* those whose lines are looked up */
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* A table's numbers: for each metric those of all rows, and then of what is in none of them. */
static void put_values(struct json *j, const struct page_run *run, const uint64_t *values,
                       size_t count)
{
    json_array(j, "values");
    for (unsigned m = 0; m < page_metrics(run); m++) {
        json_array(j, NULL);
        for (size_t i = 0; i < count; i++)
            json_u64(j, NULL, values[m * count + i]);
        json_end(j);
    }
    json_end(j);
}

/* "name", or "(code without a name)"; and the image's file. */
static void put_routine(struct json *j, const struct vs_caller_routine *r)
{
    const char *slash = r->image ? strrchr(r->image, '/') : NULL;
    json_array(j, NULL);
    page_text(j, NULL, r->name ? r->name : "");
    page_text(j, NULL, slash ? slash + 1 : r->image ? r->image : "");
    json_end(j);
}

static int put_routines(struct json *j, const struct page_run *run)
{
    const struct vs_callers *c = &run->places.callers;
    struct page_groups groups = {0};
    struct page_top top = {0};
    int e = page_groups_init(&groups, run, c->routine_count);
    for (size_t i = 0; i < run->places.count && !e; i++)
        groups.of[i] = c->paths[run->places.list[i].path].routine;
    if (!e)
        e = page_top_init(&top, &groups, run, ROUTINES);
    if (!e) {
        json_object(j, "routines");
        json_array(j, "names");
        for (size_t i = 0; i < top.count; i++)
            put_routine(j, &c->routines[top.groups[i]]);
        json_end(j);
        put_values(j, run, top.values, top.count + 1);
        json_end(j);
    }
    page_top_fini(&top);
    page_groups_fini(&groups);
    return e;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static uint64_t mix_text(uint64_t h, const char *s)
{
    for (; s && *s; s++)
        h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
    return h * VS_HASH_FACTOR + 1;
}

struct lines {
    struct vs_where *where;
    const struct vs_where_place **places; /* of each line, the one that was met first */
    size_t count;
    struct vs_map numbers; /* by a hash of what a line is: its number, plus 1 */
};

/* The number of a site's line, which is a source line or, without one, a routine. Returns it;
 * -VSE_NOMEM; PAGE_NO_GROUP. */
static int64_t line_of(struct lines *l, uint32_t site)
{
    const struct vs_where_place *place;
    int e = site ? vs_where_name(l->where, site, &place) : 0;
    if (e == -VSE_NOMEM)
        return e;
    if (e || !site)
        return PAGE_NO_GROUP;
    const struct vs_where_frame *f = &place->frames[0];
    uint64_t key =
        f->file ? mix_text(mix_text(f->line, f->file), f->folder)
                : mix_text(mix_text(0, place->path), place->frames[place->frame_count - 1].routine);
    uint64_t known = vs_map_value(&l->numbers, key);
    if (known)
        return (int64_t)known - 1;
    if (vs_map_set(&l->numbers, key, l->count + 1))
        return -VSE_NOMEM;
    l->places[l->count] = place;
    return (int64_t)l->count++;
}

static void put_line(struct json *j, const struct vs_where_place *p)
{
    const struct vs_where_frame *f = &p->frames[0];
    const struct vs_where_frame *named = f->file ? f : &p->frames[p->frame_count - 1];
    const char *slash = p->path ? strrchr(p->path, '/') : NULL;
    json_array(j, NULL);
    page_text(j, NULL, f->file ? f->file : "");
    json_u64(j, NULL, f->file ? f->line : 0);
    page_text(j, NULL, named->routine ? named->routine : "");
    page_text(j, NULL, slash ? slash + 1 : p->path ? p->path : "");
    json_end(j);
}

static int group_by_site(struct page_groups *groups, const struct page_run *run)
{
    int e = page_groups_init(groups, run, run->places.callers.where.site_count + 1);
    for (size_t i = 0; i < run->places.count && !e; i++)
        groups->of[i] = run->places.list[i].site;
    return e;
}

/* Names the sites that matter, and puts the places of each line into a group. */
static int group_by_line(struct page_groups *groups, struct lines *l, const struct page_run *run)
{
    struct page_groups sites = {0};
    struct page_top top = {0};
    uint32_t *line = NULL;
    int e = group_by_site(&sites, run);
    if (!e)
        e = page_top_init(&top, &sites, run, SITES);
    if (!e) {
        line = malloc(sites.count * sizeof(*line));
        l->places = malloc((top.count + 1) * sizeof(*l->places));
        e = line && l->places ? 0 : -VSE_NOMEM;
    }
    if (!e)
        memset(line, 0xff, sites.count * sizeof(*line));
    for (size_t i = 0; i < top.count && !e; i++) {
        int64_t number = line_of(l, top.groups[i]);
        if (number < 0)
            e = (int)number;
        else
            line[top.groups[i]] = (uint32_t)number;
    }
    if (!e)
        e = page_groups_init(groups, run, l->count);
    for (size_t i = 0; i < run->places.count && !e; i++)
        groups->of[i] = line[run->places.list[i].site];
    free(line);
    page_top_fini(&top);
    page_groups_fini(&sites);
    return e;
}

static int put_lines(struct json *j, struct page_run *run)
{
    struct lines l = {.where = &run->places.callers.where};
    struct page_groups groups = {0};
    struct page_top top = {0};
    int e = group_by_line(&groups, &l, run);
    if (!e)
        e = page_top_init(&top, &groups, run, LINES);
    if (!e) {
        json_object(j, "lines");
        json_array(j, "names");
        for (size_t i = 0; i < top.count; i++)
            put_line(j, l.places[top.groups[i]]);
        json_end(j);
        put_values(j, run, top.values, top.count + 1);
        json_end(j);
    }
    page_top_fini(&top);
    page_groups_fini(&groups);
    vs_map_fini(&l.numbers);
    free(l.places);
    return e;
}

/* ---- the tree of calls ----------------------------------------------------------------------- */

/* Names are listed once, and nodes have their numbers; the number of names stands for what was
 * summed up. */
static int put_names(struct json *j, const struct page_run *run, const struct page_flame *f)
{
    const struct vs_callers *c = &run->places.callers;
    uint32_t *number = calloc(c->routine_count, sizeof(*number)), names = 0;
    if (!number)
        return -VSE_NOMEM;
    json_array(j, "names");
    for (size_t i = 0; i < f->count; i++) {
        uint32_t r = f->nodes[i].routine;
        if (r == PAGE_FLAME_REST || number[r])
            continue;
        number[r] = ++names;
        put_routine(j, &c->routines[r]);
    }
    json_end(j);
    json_array(j, "routines");
    for (size_t i = 0; i < f->count; i++) {
        uint32_t r = f->nodes[i].routine;
        json_u64(j, NULL, r == PAGE_FLAME_REST ? names : number[r] - 1);
    }
    json_end(j);
    free(number);
    return 0;
}

static int put_flame(struct json *j, const struct page_run *run)
{
    struct page_flame f = {0};
    int e = page_flame_init(&f, run);
    if (!e) {
        json_object(j, "flame");
        json_array(j, "parents");
        for (size_t i = 0; i < f.count; i++)
            json_u64(j, NULL, f.nodes[i].parent);
        json_end(j);
        e = put_names(j, run, &f);
        put_values(j, run, f.values, f.count);
        json_end(j);
    }
    page_flame_fini(&f);
    return e;
}

int page_put_places(struct json *j, struct page_run *run)
{
    int e = put_routines(j, run);
    if (!e)
        e = put_lines(j, run);
    return e ? e : put_flame(j, run);
}
