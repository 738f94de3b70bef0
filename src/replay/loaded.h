/* SPDX-License-Identifier: MIT */
/* What the program's files say about memory before anything has written it: the bytes of their
 * segments, and zeros after those. */
#ifndef REPLAY_LOADED_H
#define REPLAY_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [addr, addr + size), which does not wrap. Its first `stored` bytes are `bytes`, which must
 * outlive the list; the others are zero. */
struct vs_loaded_part {
    uint64_t addr, size;
    const uint8_t *bytes;
    uint64_t stored;
    bool writable;
};

/* A zeroed struct is empty. */
struct vs_loaded {
    struct vs_loaded_part *parts;
    size_t count, capacity;
};

/* Returns 0; -VSE_NOMEM. */
int vs_loaded_add(struct vs_loaded *l, const struct vs_loaded_part *part);

/* Returns the first part added that the address lies in, or NULL. */
const struct vs_loaded_part *vs_loaded_find(const struct vs_loaded *l, uint64_t addr);

static inline uint8_t vs_loaded_byte(const struct vs_loaded_part *part, uint64_t addr)
{
    return addr - part->addr < part->stored ? part->bytes[addr - part->addr] : 0;
}

void vs_loaded_fini(struct vs_loaded *l);

#endif
