/* SPDX-License-Identifier: MIT */
#include "technique/losses.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "vestige/error.h"

static struct vs_loss *find(const struct vs_losses *l, uint64_t line)
{
    uint64_t number = vs_map_value(&l->indices, line);
    return number ? &l->list[number - 1] : NULL;
}

static struct vs_loss *add(struct vs_losses *l, uint64_t line, unsigned core)
{
    if (vs_array_room((void **)&l->list, &l->capacity, l->count, 1, sizeof(*l->list)) ||
        vs_map_set(&l->indices, line, l->count + 1))
        return NULL;
    l->list[l->count] = (struct vs_loss){.core = core};
    return &l->list[l->count++];
}

int vs_losses_note(struct vs_losses *l, uint64_t line, unsigned core, uint64_t time)
{
    struct vs_loss *loss = find(l, line);
    if (!loss && !(loss = add(l, line, core)))
        return -VSE_NOMEM;
    invariant(loss->time <= time);
    if (loss->core != core) {
        loss->before = loss->time;
        loss->core = core;
    }
    loss->time = time;
    return 0;
}

uint64_t vs_losses_of_others(const struct vs_losses *l, uint64_t line, unsigned core)
{
    const struct vs_loss *loss = find(l, line);
    if (!loss)
        return 0;
    return loss->core == core ? loss->before : loss->time;
}

void vs_losses_fini(struct vs_losses *l)
{
    free(l->list);
    vs_map_fini(&l->indices);
}
