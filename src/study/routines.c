/* SPDX-License-Identifier: MIT */
#include "study/routines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

/* An image among those sorted by start. */
struct span {
    uint64_t start, last;
    int64_t id;
    size_t reach; /* among the spans up to this one, the one that ends last */
};

/* A place, with the image that it was in. */
struct item {
    struct vs_profile_place place;
    int64_t image;
    uint32_t epoch;
};

/* The state of a walk over the places in ascending order. */
struct walk {
    struct vs_routines *result;
    const struct vs_image *images;
    size_t image_count;
    const struct vs_resolver *resolver;
    struct span *spans;
    size_t span_count;
    int64_t *same;  /* for each image, the first one that is the same file in the same place */
    int64_t image;  /* the last place's */
    uint64_t entry; /* the last entry in it, or where it starts */
    char name[VS_NAME_MAX];
};

/* ---- images --------------------------------------------------------------------------------- */

static int by_span(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* Sorts the images that are there all the time. Images of no bytes are left out; one that would
 * pass the end of memory ends there. */
static int sort_images(struct walk *w, const struct vs_profile *profile)
{
    size_t count = w->image_count;
    bool *named = calloc(count ? count : 1, sizeof(*named));
    w->spans = malloc((count ? count : 1) * sizeof(*w->spans));
    if (!named || !w->spans) {
        free(named);
        return -VSE_NOMEM;
    }
    for (size_t i = 0; i < profile->mapped.count; i++)
        if (profile->mapped.ranges[i].image < count)
            named[profile->mapped.ranges[i].image] = true;
    for (size_t i = 0; i < count; i++) {
        uint64_t start = w->images[i].start, length = w->images[i].length;

        if (length && !named[i])
            w->spans[w->span_count++] = (struct span){
                .start = start,
                .last = length - 1 > UINT64_MAX - start ? UINT64_MAX : start + (length - 1),
                .id = (int64_t)i};
    }
    free(named);
    if (w->span_count)
        qsort(w->spans, w->span_count, sizeof(*w->spans), by_span);
    for (size_t i = 0; i < w->span_count; i++) {
        size_t before = i ? w->spans[i - 1].reach : 0;
        w->spans[i].reach = w->spans[before].last > w->spans[i].last ? before : i;
    }
    return 0;
}

static int by_file(const void *a, const void *b, void *images)
{
    const struct vs_image *x = (const struct vs_image *)images + *(const int64_t *)a;
    const struct vs_image *y = (const struct vs_image *)images + *(const int64_t *)b;
    int order = strcmp(x->path, y->path);

    if (order)
        return order;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    if (x->build_id_size != y->build_id_size)
        return x->build_id_size < y->build_id_size ? -1 : 1;
    return x->build_id_size ? memcmp(x->build_id, y->build_id, x->build_id_size) : 0;
}

/* A program that replaced another maps the same libraries anew. */
static int find_same(struct walk *w)
{
    size_t n = w->image_count;
    int64_t *order = malloc((n ? n : 1) * sizeof(*order));
    void *images = (void *)(uintptr_t)w->images;

    w->same = malloc((n ? n : 1) * sizeof(*w->same));
    if (!order || !w->same) {
        free(order);
        return -VSE_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = w->same[i] = (int64_t)i;
    if (n)
        qsort_r(order, n, sizeof(*order), by_file, images);
    for (size_t i = 0, k; i < n; i = k) {
        int64_t first = order[i];

        for (k = i + 1; k < n && by_file(&order[i], &order[k], images) == 0; k++)
            first = order[k] < first ? order[k] : first;
        for (size_t j = i; j < k; j++)
            w->same[order[j]] = first;
    }
    free(order);
    return 0;
}

/* The id of the image that holds an address, or -1. */
static int64_t image_at(const struct walk *w, uint64_t addr)
{
    size_t after = VS_FIRST_AFTER(w->spans, w->span_count, start, addr);

    if (!after)
        return -1;
    const struct span *s = &w->spans[after - 1];
    if (addr > s->last)
        s = &w->spans[s->reach];
    return addr <= s->last ? s->id : -1;
}

/* ---- routines ------------------------------------------------------------------------------- */

/* Finds the place's routine: the named one, else the last entry's. Returns 1 if it has a name,
 * which w->name then holds; 0 if it has none; -VSE_NOMEM. */
static int resolve(struct walk *w, uint64_t pc, uint64_t *start)
{
    *start = w->entry;
    if (w->image < 0 || !w->resolver)
        return 0;
    const struct vs_image *image = &w->images[w->image];
    const char *path = image->symbols && image->symbols[0] ? image->symbols : image->path;
    uint64_t link;
    int err = w->resolver->name(w->resolver->context, path, pc - image->base, w->name,
                                sizeof(w->name), &link);
    if (err < 0)
        return err == -VSE_NOMEM ? err : 0;
    w->name[sizeof(w->name) - 1] = 0;
    *start = link + image->base;
    return 1;
}

static int add_row(struct walk *w, const struct vs_profile_place *place)
{
    struct vs_routines *r = w->result;
    struct vs_routine_count *last = r->count ? &r->rows[r->count - 1] : NULL;
    int64_t image = w->image < 0 ? -1 : w->same[w->image];
    uint64_t start;
    int named = resolve(w, place->pc, &start);

    if (named < 0)
        return named;
    if (last && last->image == image && last->start == start && !last->name == !named) {
        last->instructions += place->instructions;
        return 0;
    }
    struct vs_routine_count row = {
        .image = image, .start = start, .instructions = place->instructions};
    if (named && !(row.name = vs_arena_dup(&r->names, w->name, strlen(w->name))))
        return -VSE_NOMEM;
    if (vs_array_room((void **)&r->rows, &r->capacity, r->count, 1, sizeof(*r->rows)))
        return -VSE_NOMEM;
    r->rows[r->count++] = row;
    return 0;
}

static int add_place(struct walk *w, const struct vs_profile_place *place, int64_t image)
{
    struct vs_routines *r = w->result;

    if (image != w->image || !w->entry) {
        w->image = image;
        w->entry = image >= 0 ? w->images[image].start : place->pc;
    }
    if (place->entry)
        w->entry = place->pc;
    if (!place->instructions)
        return 0;
    if (image >= 0)
        r->images[image] += place->instructions;
    else
        r->elsewhere += place->instructions;
    return add_row(w, place);
}

static int by_place(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return x->place.pc < y->place.pc ? -1 : x->place.pc > y->place.pc;
}

static struct item make_item(const struct walk *w, const struct vs_profile_place *place,
                             uint64_t image, uint32_t epoch)
{
    return (struct item){.place = *place,
                         .image = image < w->image_count ? (int64_t)image : image_at(w, place->pc),
                         .epoch = epoch};
}

/* Images that were at the same place one after the other are walked one after the other. */
static int walk_places(struct walk *w, const struct vs_profile *profile)
{
    struct item *items = malloc((profile->places.count + profile->old_count + 1) * sizeof(*items));
    size_t count = 0;
    int error = items ? 0 : -VSE_NOMEM;

    for (size_t i = 0; !error && i < profile->old_count; i++)
        items[count++] =
            make_item(w, &profile->old[i].place, profile->old[i].image, profile->old[i].epoch);
    for (const struct vs_map_entry *e = NULL; !error && (e = vs_map_next(&profile->places, e));) {
        struct vs_profile_place place = vs_profile_place(e);

        if (place.instructions || place.entry)
            items[count++] =
                make_item(w, &place, vs_mapped_image(&profile->mapped, place.pc), profile->epochs);
    }
    if (count)
        qsort(items, count, sizeof(*items), by_place);
    for (size_t i = 0; !error && i < count; i++) {
        if (i && items[i].epoch != items[i - 1].epoch)
            w->entry = 0;
        error = add_place(w, &items[i].place, items[i].image);
    }
    free(items);
    return error;
}

/* ---- the result ----------------------------------------------------------------------------- */

static int by_routine(const void *a, const void *b)
{
    const struct vs_routine_count *x = a, *y = b;

    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->name != NULL) - (y->name != NULL);
}

static int by_instructions(const void *a, const void *b)
{
    const struct vs_routine_count *x = a, *y = b;

    if (x->instructions != y->instructions)
        return x->instructions > y->instructions ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return by_routine(a, b);
}

/* A routine may have other code within it, and thus more than one row. */
static void merge_rows(struct vs_routines *r)
{
    size_t n = 0;

    if (!r->count)
        return;
    qsort(r->rows, r->count, sizeof(*r->rows), by_routine);
    for (size_t i = 1; i < r->count; i++) {
        if (by_routine(&r->rows[n], &r->rows[i]) == 0)
            r->rows[n].instructions += r->rows[i].instructions;
        else
            r->rows[++n] = r->rows[i];
    }
    r->count = n + 1;
    qsort(r->rows, r->count, sizeof(*r->rows), by_instructions);
}

int vs_routines_init(struct vs_routines *r, const struct vs_profile *profile,
                     const struct vs_image *images, size_t image_count,
                     const struct vs_resolver *resolver)
{
    struct walk w = {.result = r,
                     .images = images,
                     .image_count = image_count,
                     .resolver = resolver,
                     .image = -1};

    *r = (struct vs_routines){.image_count = image_count, .unknown = profile->unknown};
    r->images = calloc(image_count ? image_count : 1, sizeof(*r->images));
    int error = r->images ? sort_images(&w, profile) : -VSE_NOMEM;
    if (!error)
        error = find_same(&w);
    if (!error)
        error = walk_places(&w, profile);
    free(w.same);
    free(w.spans);
    merge_rows(r);
    return error;
}

void vs_routines_fini(struct vs_routines *r)
{
    free(r->rows);
    free(r->images);
    vs_arena_fini(&r->names);
    *r = (struct vs_routines){0};
}
