/* SPDX-License-Identifier: MIT */
#include "study/changes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/likely.h"

int vs_changes_take(struct vs_changes *c, const struct vs_batch *b)
{
    int err = 0;
    for (size_t i = 0; i < b->count && !err; i++) {
        if (likely(b->events[i].kind != VS_CODE))
            continue;
        err = vs_array_room((void **)&c->all, &c->capacity, c->count, 1, sizeof(*c->all));
        if (!err)
            c->all[c->count++] =
                (struct vs_change){.number = b->first + i, .cycle = b->cycles ? b->cycles[i] : 0};
    }
    return err;
}

void vs_changes_fini(struct vs_changes *c)
{
    free(c->all);
    *c = (struct vs_changes){0};
}
