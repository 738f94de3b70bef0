/* SPDX-License-Identifier: MIT */
/* What memory below the caches holds, as far as it was ever asked for: for checks that the caches
 * move data by their protocol. Lines that are not known are learnt from a callback. */
#ifndef TARGET_MIRROR_H
#define TARGET_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Copies the bytes that memory has now. 0 or a negative error, which is handed on. */
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
    struct vs_map numbers; /* of slots, plus one, by line */
};

void vs_mirror_init(struct vs_mirror *t, uint32_t line, vs_backing_fn *backing, void *context);
void vs_mirror_fini(struct vs_mirror *t);

/* The bytes of a line, for reading and writing, until the next call.
 * 0; -VSE_NOMEM; what the callback returned. */
int vs_mirror_get(struct vs_mirror *t, uint64_t line, uint8_t **bytes);

/* Memory was written behind the caches: lines that lie in the range are forgotten, and of those
 * that lie partly in it, those bytes are learnt anew. 0 or what the callback returned. */
int vs_mirror_outside(struct vs_mirror *t, uint64_t addr, uint64_t size);

#endif
