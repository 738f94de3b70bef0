/* SPDX-License-Identifier: MIT */
/* The stream descriptor cache: streams (start address, length), set-associative.
 *
 *   set = (address >> 4 xor length) mod sets        stream index = set * ways + way
 *
 * Index 0 means "not here", so way 0 of set 0 is never used. Empty ways are filled first, from the
 * lowest up; once the set is full the policy chooses. */
#ifndef MODEL_SDC_H
#define MODEL_SDC_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_SDC_MAX_WAYS    16
#define VS_SDC_MAX_ENTRIES (1u << 20)

enum vs_sdc_policy {
    VS_SDC_PLRU, /* a bit per way, set when used; all others are cleared when the last gets set */
    VS_SDC_LRU,
    VS_SDC_FIFO,
    VS_SDC_RANDOM, /* a 16-bit linear feedback shift register, stepped at each replacement */
};

struct vs_sdc_entry {
    uint64_t address;
    uint32_t length;
    bool valid;
    uint8_t rank; /* plru: 1 = recently used; lru: 0 = most recent; fifo: 0 = newest */
};

struct vs_sdc {
    struct vs_sdc_entry *entries; /* by stream index */
    uint32_t sets, ways;
    enum vs_sdc_policy policy;
    uint16_t random;
};

/* sets: a power of two. ways: 1 to VS_SDC_MAX_WAYS; sets * ways from 2 to VS_SDC_MAX_ENTRIES.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_sdc_init(struct vs_sdc *c, uint32_t sets, uint32_t ways, enum vs_sdc_policy policy);
void vs_sdc_fini(struct vs_sdc *c);

static inline uint32_t vs_sdc_set(const struct vs_sdc *c, uint64_t address, uint32_t length)
{
    return (uint32_t)(address >> 4 ^ length) & (c->sets - 1);
}

/* Bits of a stream index. */
unsigned vs_sdc_index_bits(const struct vs_sdc *c);

/* The stream's index, or 0 if it is not here. Changes nothing. */
uint32_t vs_sdc_find(const struct vs_sdc *c, uint64_t address, uint32_t length);

/* Notes the use of a valid entry. */
void vs_sdc_touch(struct vs_sdc *c, uint32_t index);

/* Enters a stream that is not here, and notes its use. Returns its index; 0 if its set has no
 * usable way (set 0 of a direct-mapped cache). */
uint32_t vs_sdc_insert(struct vs_sdc *c, uint64_t address, uint32_t length);

/* Finds the stream, then touches or inserts it. Returns what vs_sdc_find did. */
uint32_t vs_sdc_step(struct vs_sdc *c, uint64_t address, uint32_t length);

/* The stream at an index. Returns 0; -VSE_NOTFOUND (nothing is there; index 0; no such index). */
int vs_sdc_get(const struct vs_sdc *c, uint32_t index, uint64_t *address, uint32_t *length);

/* The cost if each entry stores that many bits of the address and of the length. The valid bit and
 * the policy's state are added; comparators are part of the 1.5 gates per bit, as published. */
struct vs_cost vs_sdc_cost(const struct vs_sdc *c, unsigned address_bits, unsigned length_bits);

#endif
