/* SPDX-License-Identifier: MIT */
#include "model/mtf.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/invariant.h"
#include "base/power.h"

int vs_mtf_init(struct vs_mtf *m, uint32_t size)
{
    *m = (struct vs_mtf){0};
    if (size < 2 || size > VS_MTF_MAX)
        return -VSE_INVAL;
    m->miss = size - 1;
    m->keys = calloc(m->miss, sizeof(*m->keys));
    m->order = calloc(m->miss, sizeof(*m->order));
    m->tags = calloc(m->miss, sizeof(*m->tags));
    if (m->keys && m->order && m->tags)
        return 0;
    vs_mtf_fini(m);
    return -VSE_NOMEM;
}

void vs_mtf_fini(struct vs_mtf *m)
{
    free(m->keys);
    free(m->order);
    free(m->tags);
    *m = (struct vs_mtf){0};
}

unsigned vs_mtf_index_bits(const struct vs_mtf *m)
{
    return vs_log2_ceil((uint64_t)m->miss + 1);
}

static uint8_t tag_of(struct vs_mtf_key key)
{
    return (uint8_t)(vs_hash(key.a ^ key.b << 3) >> 56);
}

static bool is_at(const struct vs_mtf *m, uint32_t index, struct vs_mtf_key key)
{
    const struct vs_mtf_key *k = &m->keys[m->order[index]];

    return k->a == key.a && k->b == key.b;
}

uint32_t vs_mtf_find(const struct vs_mtf *m, struct vs_mtf_key key)
{
    const uint8_t *end = m->tags + m->used, *p = m->tags;
    uint8_t tag;

    if (m->used && is_at(m, 0, key))
        return 0;
    tag = tag_of(key);
    while (p < end && (p = memchr(p, tag, (size_t)(end - p)))) {
        uint32_t index = (uint32_t)(p++ - m->tags);

        if (is_at(m, index, key))
            return index;
    }
    return m->miss;
}

/* Moves the numbers before an index back by one and puts `number` in front of them. */
static void put_front(struct vs_mtf *m, uint32_t index, uint16_t number, uint8_t tag)
{
    memmove(m->order + 1, m->order, index * sizeof(*m->order));
    memmove(m->tags + 1, m->tags, index * sizeof(*m->tags));
    m->order[0] = number;
    m->tags[0] = tag;
}

void vs_mtf_touch(struct vs_mtf *m, uint32_t index)
{
    invariant(index < m->used);
    if (index)
        put_front(m, index, m->order[index], m->tags[index]);
}

void vs_mtf_insert(struct vs_mtf *m, struct vs_mtf_key key)
{
    /* the key that is dropped makes room */
    uint16_t number = m->used < m->miss ? (uint16_t)m->used++ : m->order[m->used - 1];

    invariant(m->used <= m->miss);
    m->keys[number] = key;
    put_front(m, m->used - 1, number, tag_of(key));
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
    *key = m->keys[m->order[index]];
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
