/* SPDX-License-Identifier: MIT */
#include "model/lsp.h"

#include <stdlib.h>

#include "base/power.h"

int vs_lsp_init(struct vs_lsp *p, uint32_t entries)
{
    *p = (struct vs_lsp){0};
    if (entries < 2 || entries > VS_LSP_MAX)
        return -VSE_INVAL;
    p->entries = calloc(entries, sizeof(*p->entries));
    if (!p->entries)
        return -VSE_NOMEM;
    p->count = entries;
    return 0;
}

void vs_lsp_fini(struct vs_lsp *p)
{
    free(p->entries);
    *p = (struct vs_lsp){0};
}

struct vs_cost vs_lsp_cost(const struct vs_lsp *p)
{
    unsigned index = vs_log2_ceil(p->count);

    /* published as 903 bits for 128 entries: the previous index counts as one more entry */
    return (struct vs_cost){.sram = ((uint64_t)p->count + 1) * index};
}
