/* SPDX-License-Identifier: MIT */
#include "technique/parts.h"

#include <stdlib.h>
#include <string.h>

static void close_part(struct vs_part *part)
{
    part->kind->close(part);
    free(part);
}

void vs_parts_fini(struct vs_parts *p)
{
    for (struct vs_part *part = p->first, *next; part; part = next) {
        next = part->next;
        close_part(part);
    }
    *p = (struct vs_parts){0};
}

static struct vs_part *find(const struct vs_parts *p, const struct vs_part_kind *kind,
                            const void *key)
{
    struct vs_part *part = p->first;
    while (part && (part->kind != kind || memcmp(part->key, key, kind->key_size) != 0))
        part = part->next;
    return part;
}

int vs_parts_get(struct vs_parts *p, const struct vs_part_kind *kind, const void *key,
                 const struct vs_technique_setup *setup, void **out)
{
    struct vs_part *part = find(p, kind, key);
    *out = part;
    if (part)
        return 0;
    part = calloc(1, kind->size + kind->key_size);
    if (!part)
        return -VSE_NOMEM;
    void *kept = (char *)part + kind->size;
    memcpy(kept, key, kind->key_size);
    *part = (struct vs_part){.kind = kind, .parts = p, .key = kept, .slice = p->slice};
    int err = kind->open(part, kept, setup);
    if (err) {
        close_part(part);
        return err;
    }
    part->next = p->first;
    *out = p->first = part;
    return 0;
}

int vs_part_take(struct vs_part *part, const struct vs_slice *slice)
{
    if (part->slice == part->parts->slice)
        return part->error;
    part->slice = part->parts->slice;
    if (!part->error)
        part->error = part->kind->take(part, slice);
    return part->error;
}
