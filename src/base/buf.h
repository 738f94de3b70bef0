/* SPDX-License-Identifier: MIT */
/* A byte buffer that grows. A zeroed struct is an empty buffer. Growing moves the bytes: keep
 * offsets, not pointers. After an error the buffer is as it was. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vs_buf {
    uint8_t *data;
    size_t len, cap;
};

/* The part of vs_buf_reserve that allocates. 0 or -VSE_NOMEM. */
int vs_buf_grow(struct vs_buf *b, size_t extra);

/* Makes room for `extra` bytes at data + len; len stays. 0 or -VSE_NOMEM. */
static inline int vs_buf_reserve(struct vs_buf *b, size_t extra)
{
    return extra <= b->cap - b->len ? 0 : vs_buf_grow(b, extra);
}

/* Appends `size` bytes, which must not lie in the buffer itself. 0 or -VSE_NOMEM. */
static inline int vs_buf_put(struct vs_buf *b, const void *bytes, size_t size)
{
    int rc = vs_buf_reserve(b, size);
    if (rc || !size)
        return rc;
    memcpy(b->data + b->len, bytes, size);
    b->len += size;
    return 0;
}

/* Frees the bytes; the buffer is empty again and may be used again. */
void vs_buf_fini(struct vs_buf *b);

#endif
