/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "vestige/error.h"

int vs_array_room(void **array, size_t *capacity, size_t count, size_t extra, size_t element)
{
    size_t want = *capacity < 32 ? 64 : *capacity * 2;
    void *more;

    invariant(element);
    if (extra <= *capacity && count <= *capacity - extra)
        return 0;
    if (extra > SIZE_MAX / 2 - count)
        return -VSE_NOMEM;
    if (want < count + extra)
        want = count + extra;
    if (want > SIZE_MAX / element)
        return -VSE_NOMEM;
    more = realloc(*array, want * element);
    if (!more)
        return -VSE_NOMEM;
    *array = more;
    *capacity = want;
    return 0;
}
