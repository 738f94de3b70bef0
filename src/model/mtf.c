/* SPDX-License-Identifier: MIT */
#include "model/mtf.h"

#include <stdlib.h>
#include <string.h>

int vs_mtf_init(struct vs_mtf *m, uint32_t size)
{
    *m = (struct vs_mtf){0};
    if (size < 2 || size > VS_MTF_MAX)
        return -VSE_INVAL;
    m->miss = size - 1;
    m->keys = calloc(m->miss, sizeof(*m->keys));
    return m->keys ? 0 : -VSE_NOMEM;
}

void vs_mtf_fini(struct vs_mtf *m)
{
    free(m->keys);
    *m = (struct vs_mtf){0};
}

unsigned vs_mtf_index_bits(const struct vs_mtf *m)
{
    return vs_log2_ceil((uint64_t)m->miss + 1);
}

uint32_t vs_mtf_find(const struct vs_mtf *m, struct vs_mtf_key key)
{
    for (uint32_t i = 0; i < m->used; i++)
        if (m->keys[i].a == key.a && m->keys[i].b == key.b)
            return i;
    return m->miss;
}

void vs_mtf_touch(struct vs_mtf *m, uint32_t index)
{
    struct vs_mtf_key key = m->keys[index];

    if (!index)
        return;
    memmove(m->keys + 1, m->keys, index * sizeof(key));
    m->keys[0] = key;
}

void vs_mtf_insert(struct vs_mtf *m, struct vs_mtf_key key)
{
    m->used += m->used < m->miss;
    memmove(m->keys + 1, m->keys, (m->used - 1) * sizeof(key));
    m->keys[0] = key;
}

uint32_t vs_mtf_step(struct vs_mtf *m, struct vs_mtf_key key)
{
    uint32_t i = vs_mtf_find(m, key);

    if (i == m->miss)
        vs_mtf_insert(m, key);
    else
        vs_mtf_touch(m, i);
    return i;
}

int vs_mtf_get(const struct vs_mtf *m, uint32_t index, struct vs_mtf_key *key)
{
    if (index >= m->used)
        return -VSE_NOTFOUND;
    *key = m->keys[index];
    return 0;
}

struct vs_cost vs_mtf_cost_stack(const struct vs_mtf *m, unsigned key_bits)
{
    uint64_t bits = (uint64_t)m->miss * key_bits;

    return (struct vs_cost){.registers = bits, .comparators = bits, .tristate = bits};
}

struct vs_cost vs_mtf_cost_cam(const struct vs_mtf *m, unsigned key_bits)
{
    struct vs_cost c = vs_mtf_cost_stack(m, vs_mtf_index_bits(m));

    c.cam = (uint64_t)m->miss * key_bits;
    return c;
}
