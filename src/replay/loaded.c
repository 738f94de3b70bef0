/* SPDX-License-Identifier: MIT */
#include "replay/loaded.h"

#include <stdlib.h>

#include "base/array.h"
#include "vestige/error.h"

int vs_loaded_add(struct vs_loaded *l, const struct vs_loaded_part *part)
{
    int err =
        vs_array_room((void **)&l->parts, &l->capacity, l->count, 1, sizeof(struct vs_loaded_part));
    if (!err)
        l->parts[l->count++] = *part;
    return err;
}

int vs_loaded_name(struct vs_loaded *l, size_t images)
{
    l->images = calloc(images + 1, sizeof(*l->images));
    l->image_count = l->images ? images : 0;
    return l->images ? 0 : -VSE_NOMEM;
}

void vs_loaded_fini(struct vs_loaded *l)
{
    free(l->parts);
    free(l->images);
    *l = (struct vs_loaded){0};
}
