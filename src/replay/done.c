/* SPDX-License-Identifier: MIT */
#include "replay/done.h"

#include <string.h>

#include "base/invariant.h"
#include "vestige/error.h"

bool vs_done_repeat(struct vs_replay_done *d, const struct vs_cpu *cpu, void *bytes, size_t size)
{
    if (!vs_done_fits(d, cpu))
        vs_done_clear(d); /* it was about one that is complete */
    if (d->asked == d->count)
        return false;
    invariant(size <= d->used - d->given);
    memcpy(bytes, d->bytes + d->given, size);
    d->given += (unsigned)size;
    d->asked++;
    return true;
}

int vs_done_keep(struct vs_replay_done *d, const struct vs_cpu *cpu, const void *bytes, size_t size)
{
    if (!vs_done_fits(d, cpu))
        vs_done_clear(d);
    if (size > sizeof(d->bytes) - d->used)
        return -VSE_LIMIT;
    memcpy(d->bytes + d->used, bytes, size);
    d->at = cpu->retired;
    d->iteration = cpu->iterations;
    d->given = d->used += (unsigned)size;
    d->asked = ++d->count;
    return 0;
}
