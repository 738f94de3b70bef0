/* SPDX-License-Identifier: MIT */
#include "study/routine_names.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

int vs_routine_names_init(struct vs_routine_names *n, const struct vs_image *images, size_t count)
{
    *n = (struct vs_routine_names){.images = images, .count = count};
    n->symbols = calloc(count ? count : 1, sizeof(struct vs_symbols *));
    n->tried = calloc(count ? count : 1, sizeof(*n->tried));
    return n->symbols && n->tried ? 0 : -VSE_NOMEM;
}

void vs_routine_names_fini(struct vs_routine_names *n)
{
    for (size_t i = 0; n->symbols && i < n->count; i++)
        vs_symbols_close(n->symbols[i]);
    free(n->symbols);
    free(n->tried);
}

static bool same_file(const struct vs_symbols *s, const struct vs_image *image)
{
    size_t size;
    const uint8_t *id = vs_symbols_build_id(s, &size);

    return size == image->build_id_size && (size == 0 || !memcmp(id, image->build_id, size));
}

/* A file that cannot be read, or is another one by now, has no names. Returns 0; -VSE_NOMEM. */
static int load(struct vs_routine_names *n, size_t i, const char *path)
{
    int err = n->tried[i] ? 0 : vs_symbols_open(&n->symbols[i], path, NULL);

    if (err == -VSE_NOMEM)
        return err;
    if (err == 0 && !n->tried[i] && !same_file(n->symbols[i], &n->images[i])) {
        vs_symbols_close(n->symbols[i]);
        n->symbols[i] = NULL;
    }
    n->tried[i] = true;
    return 0;
}

static int name(void *context, const char *path, uint64_t link_address, char *out, size_t capacity,
                uint64_t *start)
{
    struct vs_routine_names *n = context;
    const struct vs_symbols *s = NULL;
    const struct vs_routine *r;
    int err;

    for (size_t i = 0; !s && i < n->count; i++)
        if (!strcmp(*n->images[i].symbols ? n->images[i].symbols : n->images[i].path, path)) {
            if ((err = load(n, i, path)) < 0)
                return err;
            s = n->symbols[i];
        }
    r = s ? vs_symbols_at(s, link_address) : NULL;
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
