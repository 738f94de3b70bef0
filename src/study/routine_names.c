/* SPDX-License-Identifier: MIT */
#include "study/routine_names.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

struct vs_image_names {
    bool tried, tried_lines;
    struct vs_symbols *symbols; /* NULL: not opened, or not usable */
    struct vs_lines *lines;     /* likewise */
};

int vs_routine_names_init(struct vs_routine_names *n, const struct vs_image *images, size_t count)
{
    *n = (struct vs_routine_names){.images = images, .count = count};
    n->files = calloc(count ? count : 1, sizeof(*n->files));
    return n->files ? 0 : -VSE_NOMEM;
}

void vs_routine_names_fini(struct vs_routine_names *n)
{
    for (size_t i = 0; n->files && i < n->count; i++) {
        vs_symbols_close(n->files[i].symbols);
        vs_lines_close(n->files[i].lines);
    }
    free(n->files);
}

static bool same_file(const struct vs_symbols *s, const struct vs_image *image)
{
    size_t size;
    const uint8_t *id = vs_symbols_build_id(s, &size);

    return size == image->build_id_size && (size == 0 || !memcmp(id, image->build_id, size));
}

/* The file that tells about an image. */
static const char *file_of(const struct vs_image *image)
{
    return image->symbols && *image->symbols ? image->symbols : image->path;
}

/* A file that cannot be read, or is another one by now, has no names. Returns 0; -VSE_NOMEM. */
static int load(struct vs_routine_names *n, size_t i)
{
    struct vs_image_names *f = &n->files[i];
    int err = f->tried ? 0 : vs_symbols_open(&f->symbols, file_of(&n->images[i]), NULL);

    if (err == -VSE_NOMEM)
        return err;
    if (err == 0 && !f->tried && !same_file(f->symbols, &n->images[i])) {
        vs_symbols_close(f->symbols);
        f->symbols = NULL;
    }
    f->tried = true;
    return 0;
}

/* Finds what is known of a file: *found is NULL if nothing is. Returns 0; -VSE_NOMEM. */
static int find(struct vs_routine_names *n, const char *path, struct vs_image_names **found)
{
    int err = 0;

    *found = NULL;
    for (size_t i = 0; !*found && !err && i < n->count; i++)
        if (!strcmp(file_of(&n->images[i]), path)) {
            err = load(n, i);
            if (!err && n->files[i].symbols)
                *found = &n->files[i];
        }
    return err;
}

static int name(void *context, const char *path, uint64_t link_address, char *out, size_t capacity,
                uint64_t *start)
{
    struct vs_image_names *f;
    int err = find(context, path, &f);
    const struct vs_routine *r = !err && f ? vs_symbols_at(f->symbols, link_address) : NULL;

    if (err)
        return err;
    if (!r)
        return -VSE_NOTFOUND;
    *start = r->start;
    vs_symbol_demangle(r->name, out, capacity);
    return 0;
}

struct vs_resolver vs_routine_names_resolver(struct vs_routine_names *n)
{
    return (struct vs_resolver){.context = n, .name = name};
}

/* Finds the lines of an image; *lines is NULL if nothing is known. Returns 0; as vs_lines_open. */
static int find_lines(struct vs_routine_names *n, uint64_t image, struct vs_lines **lines)
{
    struct vs_image_names *f = NULL;
    const char *path = image < n->count ? file_of(&n->images[image]) : NULL;
    int err = path ? find(n, path, &f) : 0;

    *lines = NULL;
    if (err || !f)
        return err;
    if (!f->tried_lines)
        err = vs_lines_open(&f->lines, path, NULL);
    if (err) /* its symbols could be read a moment ago */
        return err;
    f->tried_lines = true;
    *lines = f->lines;
    return 0;
}

int vs_routine_names_source(struct vs_routine_names *n, uint64_t image, uint64_t link_address,
                            struct vs_source *chain, size_t capacity)
{
    struct vs_lines *lines;
    int err = find_lines(n, image, &lines);

    return err || !lines ? err : vs_lines_at(lines, link_address, chain, capacity);
}

int vs_routine_names_sourced(struct vs_routine_names *n, uint64_t image)
{
    struct vs_lines *lines;
    int err = find_lines(n, image, &lines);

    return err ? err : lines && vs_lines_known(lines);
}
