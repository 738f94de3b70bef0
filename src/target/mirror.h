/* SPDX-License-Identifier: MIT */
/* A copy of what memory below the caches holds, as far as it was ever asked for. It serves to check
 * that the caches move data as their protocol says. Unknown lines are learnt from a callback. */
#ifndef TARGET_MIRROR_H
#define TARGET_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Copies the bytes that memory has now. Returns 0 or a negative error, which is handed on. */
typedef int vs_backing_fn(void *context, uint64_t addr, void *bytes, size_t size);

struct vs_mirror_slot {
    uint64_t line;
    bool known;
};

struct vs_mirror {
    vs_backing_fn *backing;
    void *context;
    uint32_t line; /* bytes */
    struct vs_mirror_slot *slots;
    uint8_t *bytes; /* by slot */
    size_t slot_count, slot_capacity, byte_capacity;
    struct vs_map numbers; /* a slot's number plus one, by line */
};

void vs_mirror_init(struct vs_mirror *t, uint32_t line, vs_backing_fn *backing, void *context);
void vs_mirror_fini(struct vs_mirror *t);

/* Sets *bytes to a line's bytes, which may be read and written until the next call. Returns 0;
 * -VSE_NOMEM; what the callback returned. */
int vs_mirror_get(struct vs_mirror *t, uint64_t line, uint8_t **bytes);

/* Memory was written behind the caches: lines within the range are forgotten, and the bytes of
 * lines that lie partly in it are learnt anew. Returns 0, or what the callback returned. */
int vs_mirror_outside(struct vs_mirror *t, uint64_t addr, uint64_t size);

#endif
