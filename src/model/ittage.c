/* SPDX-License-Identifier: MIT */
#include "model/ittage.h"

#include <stdlib.h>
#include <string.h>

#include "base/power.h"

enum { CONFIDENCE_MAX = 3, FIRST_LENGTH = 4 };

static bool is_valid(const struct vs_ittage_config *c)
{
    return !c->entries ||
           (c->entries >= 2 && c->entries <= VS_ITTAGE_ENTRIES_MAX &&
            vs_is_power_of_two(c->entries) && c->tables >= 1 && c->tables <= VS_ITTAGE_TABLES_MAX &&
            c->tag_bits >= VS_ITTAGE_TAG_MIN && c->tag_bits <= VS_ITTAGE_TAG_MAX);
}

int vs_ittage_init(struct vs_ittage *t, const struct vs_ittage_config *c)
{
    *t = (struct vs_ittage){0};
    if (!is_valid(c))
        return -VSE_INVAL;
    if (!c->entries)
        return 0;
    t->tables = c->tables;
    t->log = vs_log2_ceil(c->entries);
    t->tag_bits = c->tag_bits;
    t->entries = calloc((size_t)t->tables << t->log, sizeof(*t->entries));
    return t->entries ? 0 : -VSE_NOMEM;
}

void vs_ittage_fini(struct vs_ittage *t)
{
    free(t->entries);
    *t = (struct vs_ittage){0};
}

void vs_ittage_clear(struct vs_ittage *t)
{
    if (t->entries)
        memset(t->entries, 0, ((size_t)t->tables << t->log) * sizeof(*t->entries));
}

struct vs_cost vs_ittage_cost(const struct vs_ittage *t, unsigned target_bits)
{
    uint64_t entries = (uint64_t)t->tables << t->log;
    if (!t->entries)
        return (struct vs_cost){0};
    return (struct vs_cost){
        .sram = entries * (target_bits + t->tag_bits + 2 + 1 + 1), /* confidence, useful, valid */
        .comparators = t->tables * t->tag_bits,
    };
}

/* ---- predicting ------------------------------------------------------------------------------ */

static uint64_t newest(uint64_t history, unsigned table)
{
    if (!table)
        return 0;
    unsigned length = (unsigned)FIRST_LENGTH << (table - 1);
    return length < 64 ? history & ((UINT64_C(1) << length) - 1) : history;
}

static unsigned fold(uint64_t history, unsigned width)
{
    uint64_t folded = 0;
    for (; history; history >>= width)
        folded ^= history;
    return (unsigned)(folded & ((UINT64_C(1) << width) - 1));
}

static struct vs_ittage_entry *entry_of(const struct vs_ittage *t, const struct vs_ittage_lookup *l,
                                        int table)
{
    return &t->entries[((size_t)table << t->log) + l->index[table]];
}

static void predict(const struct vs_ittage *t, struct vs_ittage_lookup *l)
{
    const struct vs_ittage_entry *e = entry_of(t, l, l->provider), *other = NULL;
    if (l->alternative >= 0)
        other = entry_of(t, l, l->alternative);
    if (other && !e->confidence && other->confidence) {
        const struct vs_ittage_entry *swap = e;
        e = other;
        other = swap;
    }
    l->any = true;
    l->prediction = e->target;
    l->confidence = e->confidence;
    l->second = other && other->target != e->target;
    l->other = other ? other->target : 0;
}

void vs_ittage_look(const struct vs_ittage *t, uint64_t pc, uint64_t history,
                    struct vs_ittage_lookup *l)
{
    uint16_t x = (uint16_t)(pc >> 1 ^ pc >> 12), y = (uint16_t)(pc ^ pc >> 9);
    *l = (struct vs_ittage_lookup){.provider = -1, .alternative = -1};
    if (!t->entries)
        return;
    for (unsigned i = 0; i < t->tables; i++) {
        uint64_t seen = newest(history, i);
        l->index[i] = (uint16_t)((x ^ x >> t->log ^ fold(seen, t->log)) & ((1u << t->log) - 1));
        l->tag[i] = (uint16_t)((y ^ fold(seen, t->tag_bits) ^ fold(seen, t->tag_bits - 1) << 1) &
                               ((1u << t->tag_bits) - 1));
        const struct vs_ittage_entry *e = entry_of(t, l, (int)i);
        if (!e->valid || e->tag != l->tag[i])
            continue;
        l->alternative = l->provider;
        l->provider = (int)i;
    }
    if (l->provider >= 0)
        predict(t, l);
}

/* ---- learning -------------------------------------------------------------------------------- */

static void learn_provider(const struct vs_ittage *t, const struct vs_ittage_lookup *l,
                           uint64_t target)
{
    struct vs_ittage_entry *e = entry_of(t, l, l->provider);
    bool right = e->target == target;
    if (l->second)
        e->useful = right;
    if (right)
        e->confidence += e->confidence < CONFIDENCE_MAX;
    else if (e->confidence)
        e->confidence--;
    else
        e->target = target;
}

static void allocate(const struct vs_ittage *t, const struct vs_ittage_lookup *l, uint64_t target)
{
    for (int i = l->provider + 1; i < (int)t->tables; i++) {
        struct vs_ittage_entry *e = entry_of(t, l, i);
        if (e->useful)
            continue;
        *e = (struct vs_ittage_entry){.target = target, .tag = l->tag[i], .valid = true};
        return;
    }
    for (int i = l->provider + 1; i < (int)t->tables; i++)
        entry_of(t, l, i)->useful = false;
}

void vs_ittage_learn(struct vs_ittage *t, const struct vs_ittage_lookup *l, uint64_t target)
{
    if (!t->entries)
        return;
    if (l->provider >= 0)
        learn_provider(t, l, target);
    if (!l->any || l->prediction != target)
        allocate(t, l, target);
}
