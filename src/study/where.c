/* SPDX-License-Identifier: MIT */
#include "study/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/symbol.h"

enum { CHAIN_MAX = 32 }; /* inlined routines within each other that are told */

/* ---- images ---------------------------------------------------------------------------------- */

static int init(struct vs_where *w, size_t count)
{
    *w = (struct vs_where){.image_count = count};
    w->images = calloc(count ? count : 1, sizeof(*w->images));
    w->named = calloc(count ? count : 1, sizeof(*w->named));
    return w->images && w->named ? 0 : -VSE_NOMEM;
}

int vs_where_of_run(struct vs_where *w, const struct vs_reader *reader)
{
    int e = init(w, vs_reader_info(reader)->images);

    for (size_t i = 0; !e && i < w->image_count; i++)
        e = vs_reader_image(reader, i, &w->images[i]);
    return e ? e : vs_routine_names_init(&w->names, w->images, w->image_count);
}

int vs_where_of_images(struct vs_where *w, const struct vs_image *images, size_t count)
{
    int e = init(w, count);

    if (!e && count)
        memcpy(w->images, images, count * sizeof(*images));
    return e ? e : vs_routine_names_init(&w->names, w->images, count);
}

void vs_where_fini(struct vs_where *w)
{
    vs_routine_names_fini(&w->names);
    vs_mapped_fini(&w->mapped);
    vs_map_fini(&w->by_pc);
    vs_arena_fini(&w->memory);
    free(w->sites);
    free(w->named);
    free(w->images);
    *w = (struct vs_where){0};
}

/* What lies in the change's addresses from now on are other sites, except for those of its image.
 */
static void forget_sites(struct vs_where *w, const struct vs_mapped_change *c)
{
    for (size_t i = 0; i < w->site_count; i++) {
        const struct vs_where_site *site = &w->sites[i];

        if (c->first <= site->pc && site->pc <= c->last && site->image != c->image &&
            vs_map_value(&w->by_pc, site->pc) == i + 1)
            vs_map_remove(&w->by_pc, site->pc);
    }
}

int vs_where_map(struct vs_where *w, const struct vs_event *e)
{
    struct vs_mapped_change change;

    if (!vs_mapped_change(e, &change))
        return 0;
    if (vs_mapped_replaces(&w->mapped, &change) ||
        (change.image != VS_NO_IMAGE && vs_mapped_image(&w->mapped, change.first) != change.image))
        forget_sites(w, &change);
    if (change.image < w->image_count)
        w->named[change.image] = true;
    return vs_mapped_apply(&w->mapped, &change);
}

/* An image that is there without an event that says so. */
static uint64_t silent_image(const struct vs_where *w, uint64_t pc)
{
    uint64_t found = VS_NO_IMAGE;

    for (size_t i = 0; i < w->image_count; i++)
        if (!w->named[i] && pc - w->images[i].start < w->images[i].length &&
            (found == VS_NO_IMAGE || w->images[i].start >= w->images[found].start))
            found = i;
    return found;
}

/* ---- sites ----------------------------------------------------------------------------------- */

int64_t vs_where_site(struct vs_where *w, uint64_t pc)
{
    struct vs_map_entry *known = vs_map_find(&w->by_pc, pc);
    struct vs_where_site site = {.pc = pc};

    if (known)
        return (int64_t)known->value;
    if (w->site_count == VS_WHERE_SITES_MAX)
        return 0;
    site.image = vs_mapped_image(&w->mapped, pc);
    if (site.image == VS_NO_IMAGE)
        site.image = silent_image(w, pc);
    if (vs_array_room((void **)&w->sites, &w->site_capacity, w->site_count, 1, sizeof(site)) ||
        vs_map_set(&w->by_pc, pc, w->site_count + 1))
        return -VSE_NOMEM;
    w->sites[w->site_count++] = site;
    return (int64_t)w->site_count;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *keep(struct vs_where *w, const char *name)
{
    return vs_arena_dup(&w->memory, name, strlen(name));
}

/* Names the routine around a site. Returns 0; -VSE_NOMEM. */
static int name_routine(struct vs_where *w, const struct vs_where_site *site,
                        struct vs_where_place *place, struct vs_where_frame *frame)
{
    const struct vs_image *image = &w->images[site->image];
    const struct vs_resolver resolver = vs_routine_names_resolver(&w->names);
    const char *path = image->symbols && *image->symbols ? image->symbols : image->path;
    char name[VS_NAME_MAX];
    int e =
        resolver.name(resolver.context, path, place->address, name, sizeof(name), &place->start);

    if (e < 0)
        return e == -VSE_NOMEM ? e : 0;
    frame->routine = keep(w, name);
    place->offset = place->address - place->start;
    return frame->routine ? 0 : -VSE_NOMEM;
}

static int take_source(struct vs_where *w, const struct vs_source *s, struct vs_where_frame *f)
{
    char name[VS_NAME_MAX];

    f->file = s->file;
    f->folder = s->folder;
    f->line = s->line;
    if (!s->inlined)
        return 0;
    vs_symbol_demangle(s->inlined, name, sizeof(name));
    f->routine = keep(w, name);
    return f->routine ? 0 : -VSE_NOMEM;
}

static int name_site(struct vs_where *w, const struct vs_where_site *site,
                     struct vs_where_place *place)
{
    struct vs_where_frame frames[CHAIN_MAX + 1] = {{0}};
    struct vs_source chain[CHAIN_MAX + 1];
    bool placed = site->image < w->image_count;
    int n = 0, e = 0;

    *place = (struct vs_where_place){.address = site->pc, .start = site->pc, .frame_count = 1};
    if (placed) {
        place->path = w->images[site->image].path;
        place->start = place->address = site->pc - w->images[site->image].base;
        n = vs_routine_names_source(&w->names, site->image, place->address, chain, CHAIN_MAX + 1);
    }
    if (n < 0)
        return n;
    for (int i = 0; i < n && !e; i++)
        e = take_source(w, &chain[i], &frames[i]);
    if (n > 0)
        place->frame_count = (size_t)n;
    if (!e && placed && !frames[place->frame_count - 1].routine)
        e = name_routine(w, site, place, &frames[place->frame_count - 1]);
    if (!e && !(place->frames = vs_arena_alloc(&w->memory, place->frame_count * sizeof(*frames),
                                               _Alignof(struct vs_where_frame))))
        e = -VSE_NOMEM;
    if (!e)
        memcpy((void *)(uintptr_t)place->frames, frames, place->frame_count * sizeof(*frames));
    return e;
}

int vs_where_name(struct vs_where *w, uint64_t number, const struct vs_where_place **place)
{
    struct vs_where_site *site = &w->sites[number - 1];

    if (!site->place) {
        struct vs_where_place *made =
            vs_arena_alloc(&w->memory, sizeof(*made), _Alignof(struct vs_where_place));
        int e = made ? name_site(w, site, made) : -VSE_NOMEM;

        if (e)
            return e;
        site->place = made;
    }
    *place = site->place;
    return 0;
}

int vs_where_sourced(struct vs_where *w, uint64_t image)
{
    return vs_routine_names_sourced(&w->names, image);
}

/* Whether an earlier image is of the same file. */
static bool is_again(const struct vs_where *w, size_t image)
{
    for (size_t i = 0; i < image; i++)
        if (!strcmp(w->images[i].path, w->images[image].path))
            return true;
    return false;
}

void vs_where_undebugged(struct vs_where *w, char *names, size_t capacity)
{
    size_t used = 0;

    *names = 0;
    for (size_t i = 0; i < w->image_count; i++) {
        const char *slash = strrchr(w->images[i].path, '/');
        const char *name = slash ? slash + 1 : w->images[i].path;
        int n;

        if (is_again(w, i) || vs_where_sourced(w, i))
            continue;
        n = snprintf(names + used, capacity - used, "%s%s", used ? ", " : "", name);
        if (n < 0 || (size_t)n >= capacity - used) {
            names[used] = 0;
            return;
        }
        used += (size_t)n;
    }
}
