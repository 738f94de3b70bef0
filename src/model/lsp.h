/* SPDX-License-Identifier: MIT */
/* The last stream predictor: the last time that stream index i came, entries[i] came after it.
 * Index 0 means "not in the stream cache" and is never predicted; all entries are 0 at first. */
#ifndef MODEL_LSP_H
#define MODEL_LSP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_LSP_MAX (1u << 20)

struct vs_lsp {
    uint32_t *entries;
    uint32_t count;
    uint32_t previous; /* the last index */
};

/* entries: 2 to VS_LSP_MAX. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_lsp_init(struct vs_lsp *p, uint32_t entries);
void vs_lsp_fini(struct vs_lsp *p);

struct vs_cost vs_lsp_cost(const struct vs_lsp *p);

/* The predicted index, or 0. Changes nothing. */
static inline uint32_t vs_lsp_predict(const struct vs_lsp *p)
{
    return p->entries[p->previous];
}

/* Learns the index that came, which is below count. Returns whether it was predicted. */
static inline bool vs_lsp_update(struct vs_lsp *p, uint32_t index)
{
    bool right = index && p->entries[p->previous] == index;

    p->entries[p->previous] = index;
    p->previous = index;
    return right;
}

#endif
