/* SPDX-License-Identifier: MIT */
#include "capture/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "capture/wire.h"
#include "engine/place_find.h"

struct vs_mapped_image {
    const char *path;
    uint64_t base;
    uint64_t start, length; /* its code's */
    int64_t number;
    bool main;
    bool told;  /* its places were told */
    bool there; /* it is mapped now */
};

static void fini_list(struct vs_images *m)
{
    free(m->list);
    m->list = NULL;
    m->count = m->capacity = 0;
}

void vs_images_fini(struct vs_images *m)
{
    fini_list(m);
    vs_arena_fini(&m->memory);
}

void vs_images_forget(struct vs_images *m)
{
    vs_images_fini(m);
}

static int64_t announce(struct vs_images *m, const struct vs_symbols *s, const char *path,
                        struct vs_mapped_image *mapped)
{
    struct vs_image image = {.path = path,
                             .symbols = "",
                             .base = mapped->base,
                             .start = mapped->start,
                             .length = mapped->length};
    size_t size;

    image.build_id = vs_symbols_build_id(s, &size);
    image.build_id_size = (uint32_t)size;
    return vs_relay_image(m->relay, &image);
}

static struct vs_mapped_image *find(struct vs_images *m, const char *path, uint64_t base)
{
    for (size_t i = m->count; i-- > 0;)
        if (m->list[i].base == base && !strcmp(m->list[i].path, path))
            return &m->list[i];
    return NULL;
}

/* A file that has gone since it was mapped, or never had a name, is as usual as one that is no
 * image, and is not noted. */
static void note_unread(struct vs_images *m, const char *path, const struct vs_diag *diag)
{
    if (!*m->unread && diag->error == -VSE_IO && access(path, F_OK) == 0)
        snprintf(m->unread, sizeof(m->unread), "%s: %s", diag->text, path);
}

int64_t vs_images_map(struct vs_images *m, const char *path, uint64_t start, uint64_t length,
                      uint64_t offset, bool main)
{
    struct vs_mapped_image image = {.start = start, .length = length, .main = main}, *known;
    struct vs_symbols *s;
    struct vs_diag diag = {0};
    int64_t e;

    e = vs_symbols_open(&s, path, &diag);
    if (e < 0) {
        note_unread(m, path, &diag);
        return e == -VSE_NOMEM ? e : -VSE_NOTFOUND;
    }
    e = vs_symbols_base(s, start, offset, length, &image.base);
    if (e == 0 && (known = find(m, path, image.base)) != NULL) {
        m->last = (size_t)(known - m->list);
        e = known->number;
    } else if (e == 0) {
        image.path = vs_arena_dup(&m->memory, path, strlen(path));
        if (!image.path ||
            vs_array_room((void **)&m->list, &m->capacity, m->count, 1, sizeof(*m->list)) < 0)
            e = -VSE_NOMEM;
        else if ((e = image.number = announce(m, s, path, &image)) >= 0) {
            m->last = m->count++;
            m->list[m->last] = image;
        }
    }
    if (e >= 0)
        m->list[m->last].there = true;
    vs_symbols_close(s);
    return e;
}

bool vs_images_have(const struct vs_images *m, uint64_t addr)
{
    bool found = !m->count;

    for (size_t i = 0; i < m->count && !found; i++)
        found = m->list[i].there && addr - m->list[i].start < m->list[i].length;
    return found;
}

void vs_images_replaced(struct vs_images *m, uint64_t start, uint64_t length)
{
    for (size_t i = 0; i < m->count; i++) {
        struct vs_mapped_image *image = &m->list[i];

        if (start < image->start + image->length && image->start - start < length)
            image->told = image->there = false;
        else if (start >= image->start && start - image->start < image->length)
            image->told = image->there = false;
    }
}

static int put_range(struct vs_buf *out, uint64_t start, uint64_t size, enum vs_place_kind kind)
{
    static const enum wire_range_kind kinds[] = {[VS_PLACE_WANTED] = WIRE_RANGE_WANTED,
                                                 [VS_PLACE_FROM] = WIRE_RANGE_FROM,
                                                 [VS_PLACE_TO] = WIRE_RANGE_TO};
    struct wire_range range = {start, start + size, kinds[kind]};

    return vs_buf_put(out, &range, sizeof(range));
}

/* An address needs no image, but is told with the first one, and stays. */
static int put_address(struct vs_images *m, struct vs_place *p, struct vs_buf *out)
{
    if (m->count != 1)
        return 0;
    p->found++;
    return put_range(out, vs_place_address(p), 0, p->kind);
}

struct put_to {
    struct vs_buf *out;
    uint64_t base;
};

static int put_found(void *context, const struct vs_place *p, uint64_t start, uint64_t size)
{
    const struct put_to *to = context;

    return put_range(to->out, start + to->base, size, p->kind);
}

static int put_place(struct vs_images *m, const struct vs_mapped_image *image,
                     const struct vs_symbols *s, struct vs_place *p, struct vs_buf *out)
{
    struct put_to to = {out, image->base};

    if (vs_place_is_address(p))
        return put_address(m, p, out);
    if (p->kind == VS_PLACE_WANTED && m->main_only && !image->main)
        return 0;
    return vs_place_find(p, s, put_found, &to);
}

/* Whether all code of an image is wanted, and must be told. */
static bool wants_all(const struct vs_images *m, const struct vs_mapped_image *image)
{
    for (size_t i = 0; i < m->place_count; i++)
        if (m->places[i].kind == VS_PLACE_WANTED)
            return false;
    return m->main_only && image->main;
}

int vs_images_ranges(struct vs_images *m, struct vs_buf *out)
{
    struct vs_mapped_image *image = m->count ? &m->list[m->last] : NULL;
    struct vs_symbols *s;
    int e = 0;

    if (!image || image->told)
        return 0;
    image->told = true;
    if (wants_all(m, image) && put_range(out, image->start, image->length, VS_PLACE_WANTED) < 0)
        return -VSE_NOMEM;
    if (!m->place_count)
        return 0;
    e = vs_symbols_open(&s, image->path, NULL);
    if (e < 0)
        return e == -VSE_NOMEM ? e : 0;
    for (size_t i = 0; e == 0 && i < m->place_count; i++)
        e = put_place(m, image, s, &m->places[i], out);
    vs_symbols_close(s);
    return e;
}
