/* SPDX-License-Identifier: MIT */
/* A move-to-front table. Its last index is reserved to mean "not here": a table of size M keeps
 * M - 1 keys. A key is two numbers (a stream's address and length; an index and 0). */
#ifndef MODEL_MTF_H
#define MODEL_MTF_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_MTF_MAX (1u << 16)

struct vs_mtf_key {
    uint64_t a, b;
};

/* Keys stay where they are. What moves are their numbers, and a byte of each key that rules out
 * most others. */
struct vs_mtf {
    struct vs_mtf_key *keys;
    uint16_t *order; /* numbers of keys, the most recent first */
    uint8_t *tags;   /* in the same order */
    uint32_t used;
    uint32_t miss; /* the reserved index: the number of keys that fit */
};

/* size: 2 to VS_MTF_MAX, the reserved index included. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_mtf_init(struct vs_mtf *m, uint32_t size);
void vs_mtf_fini(struct vs_mtf *m);

/* Bits of an index. */
unsigned vs_mtf_index_bits(const struct vs_mtf *m);

/* The index of a key, or m->miss. Changes nothing. */
uint32_t vs_mtf_find(const struct vs_mtf *m, struct vs_mtf_key key);

/* Moves the key at an index below m->used to the front. */
void vs_mtf_touch(struct vs_mtf *m, uint32_t index);

/* Puts a key that is not in the table at the front; the last one is dropped if there is no room. */
void vs_mtf_insert(struct vs_mtf *m, struct vs_mtf_key key);

/* Finds the key, then touches or inserts it. Returns what vs_mtf_find did. */
uint32_t vs_mtf_step(struct vs_mtf *m, struct vs_mtf_key key);

/* The key at an index. Returns 0; -VSE_NOTFOUND (no key there, as with m->miss). */
int vs_mtf_get(const struct vs_mtf *m, uint32_t index, struct vs_mtf_key *key);

/* Two ways to build it. As a CAM of the keys with a stack of CAM indices in order of use: each of
 * the stack's entries is a register with comparator and tri-state buffer. Or as such a stack of the
 * keys themselves, for short keys. */
struct vs_cost vs_mtf_cost_cam(const struct vs_mtf *m, unsigned key_bits);
struct vs_cost vs_mtf_cost_stack(const struct vs_mtf *m, unsigned key_bits);

#endif
