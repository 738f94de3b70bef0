/* SPDX-License-Identifier: MIT */
#include "model/loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/power.h"

enum { TAG_BITS = 10, LENGTH_BITS = 10, SURE = 3, AGE_MAX = 7, SHORT = 3 };
enum { LENGTH_MASK = (1 << LENGTH_BITS) - 1 };

int vs_loop_init(struct vs_loop *p, uint32_t entries)
{
    *p = (struct vs_loop){0};
    if (entries > VS_LOOP_MAX || (entries && !vs_is_power_of_two(entries)))
        return -VSE_INVAL;
    if (!entries)
        return 0;
    p->ways = entries < VS_LOOP_WAYS ? entries : VS_LOOP_WAYS;
    p->sets = entries / p->ways;
    p->log = vs_log2_ceil(p->sets);
    p->entries = calloc(entries, sizeof(*p->entries));
    return p->entries ? 0 : -VSE_NOMEM;
}

void vs_loop_fini(struct vs_loop *p)
{
    free(p->entries);
    *p = (struct vs_loop){0};
}

void vs_loop_clear(struct vs_loop *p)
{
    if (p->entries)
        memset(p->entries, 0, (size_t)p->sets * p->ways * sizeof(*p->entries));
    p->next = 0;
}

struct vs_cost vs_loop_cost(const struct vs_loop *p)
{
    uint64_t entries = (uint64_t)p->sets * p->ways;
    if (!entries)
        return (struct vs_cost){0};
    return (struct vs_cost){
        .sram = entries * (TAG_BITS + 2 * LENGTH_BITS + 1 + 2 + 3), /* direction, confidence, age */
        .registers = vs_log2_ceil(p->ways),                         /* the way that is tried next */
        .comparators = p->ways * TAG_BITS + LENGTH_BITS,
    };
}

void vs_loop_look(const struct vs_loop *p, uint64_t pc, struct vs_loop_lookup *l)
{
    *l = (struct vs_loop_lookup){.way = -1};
    if (!p->entries)
        return;
    l->set = (uint32_t)(pc >> 1 ^ pc >> (1 + p->log)) & (p->sets - 1);
    l->tag = (uint16_t)(pc >> 1 ^ pc >> 7) & ((1 << TAG_BITS) - 1);
    const struct vs_loop_entry *ways = &p->entries[l->set * p->ways];
    for (unsigned i = 0; i < p->ways; i++) {
        if (ways[i].tag != l->tag || !ways[i].age)
            continue;
        l->way = (int8_t)i;
        l->sure = ways[i].confidence == SURE;
        l->prediction = ways[i].body != (ways[i].done + 1 == ways[i].length);
        return;
    }
}

static void forget_length(struct vs_loop_entry *e)
{
    e->length = 0;
    e->confidence = 0;
}

static void leave_loop(struct vs_loop_entry *e)
{
    if (e->done && e->done < SHORT) {
        *e = (struct vs_loop_entry){0};
        return;
    }
    if (!e->length)
        e->length = e->done;
    else if (e->done == e->length)
        e->confidence += e->confidence < SURE;
    else
        forget_length(e);
    e->done = 0;
}

static void learn_hit(struct vs_loop_entry *e, const struct vs_loop_lookup *l, bool taken,
                      bool other)
{
    if (l->sure && l->prediction != taken) {
        *e = (struct vs_loop_entry){0};
        return;
    }
    if (l->sure && other != taken)
        e->age += e->age < AGE_MAX;
    e->done = (e->done + 1) & LENGTH_MASK;
    if (e->length && e->done > e->length)
        forget_length(e);
    if (taken != e->body)
        leave_loop(e);
}

static void allocate(struct vs_loop *p, const struct vs_loop_lookup *l, bool taken)
{
    struct vs_loop_entry *e = &p->entries[l->set * p->ways + p->next];
    p->next = (uint8_t)((p->next + 1u) % p->ways);
    if (e->age)
        e->age--;
    else
        *e = (struct vs_loop_entry){.tag = l->tag, .age = AGE_MAX, .body = !taken};
}

void vs_loop_learn(struct vs_loop *p, const struct vs_loop_lookup *l, bool taken, bool other)
{
    if (l->way >= 0)
        learn_hit(&p->entries[l->set * p->ways + (unsigned)l->way], l, taken, other);
    else if (p->entries && other != taken)
        allocate(p, l, taken);
}
