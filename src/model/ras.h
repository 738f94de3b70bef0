/* SPDX-License-Identifier: MIT */
/* The return address stack. Circular: a push on a full stack overwrites the oldest entry. A stack
 * of no entries keeps nothing and predicts nothing. */
#ifndef MODEL_RAS_H
#define MODEL_RAS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_RAS_MAX (1u << 16)

struct vs_ras {
    uint64_t *entries;
    uint32_t size;
    uint32_t next;  /* where the next push goes */
    uint32_t depth; /* entries that may be popped */
};

/* size: 0 to VS_RAS_MAX, any number. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_ras_init(struct vs_ras *r, uint32_t size);
void vs_ras_fini(struct vs_ras *r);

/* The cost with addresses of that many bits. */
struct vs_cost vs_ras_cost(const struct vs_ras *r, unsigned address_bits);

static inline void vs_ras_push(struct vs_ras *r, uint64_t address)
{
    if (!r->size)
        return;
    r->entries[r->next] = address;
    r->next = r->next + 1 == r->size ? 0 : r->next + 1;
    r->depth += r->depth < r->size;
}

static inline void vs_ras_clear(struct vs_ras *r)
{
    r->depth = 0;
}

/* Pops the prediction. Returns whether there is one; if not, *address is 0, which then does not
 * predict address 0. */
static inline bool vs_ras_pop(struct vs_ras *r, uint64_t *address)
{
    *address = 0;
    if (!r->depth)
        return false;
    r->depth--;
    r->next = (r->next ? r->next : r->size) - 1;
    *address = r->entries[r->next];
    return true;
}

#endif
