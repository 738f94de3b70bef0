/* SPDX-License-Identifier: MIT */
#include "replay/loaded.h"

#include <stdlib.h>

#include "base/array.h"

int vs_loaded_add(struct vs_loaded *l, const struct vs_loaded_part *part)
{
    int err =
        vs_array_room((void **)&l->parts, &l->capacity, l->count, 1, sizeof(struct vs_loaded_part));
    if (!err)
        l->parts[l->count++] = *part;
    return err;
}

const struct vs_loaded_part *vs_loaded_find(const struct vs_loaded *l, uint64_t addr)
{
    for (size_t i = 0; i < l->count; i++)
        if (addr - l->parts[i].addr < l->parts[i].size)
            return &l->parts[i];
    return NULL;
}

void vs_loaded_fini(struct vs_loaded *l)
{
    free(l->parts);
    *l = (struct vs_loaded){0};
}
