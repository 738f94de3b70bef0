/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "vestige/error.h"

enum { SMALLEST = 64 };

int vs_buf_grow(struct vs_buf *b, size_t extra)
{
    size_t need, cap;
    invariant(b->len <= b->cap && b->cap <= PTRDIFF_MAX);
    if (__builtin_add_overflow(b->len, extra, &need) || need > PTRDIFF_MAX)
        return -VSE_NOMEM;
    cap = b->cap + b->cap / 2; /* cannot wrap: cap is at most PTRDIFF_MAX */
    if (cap > PTRDIFF_MAX)
        cap = PTRDIFF_MAX;
    if (cap < need)
        cap = need;
    if (cap < SMALLEST)
        cap = SMALLEST;
    uint8_t *data = realloc(b->data, cap);
    if (!data)
        return -VSE_NOMEM;
    b->data = data;
    b->cap = cap;
    return 0;
}

void vs_buf_fini(struct vs_buf *b)
{
    free(b->data);
    *b = (struct vs_buf){0};
}
