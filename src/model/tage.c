/* SPDX-License-Identifier: MIT */
#include "model/tage.h"

#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "base/power.h"

enum {
    COUNTER_MAX = 3,
    COUNTER_MIN = -4,
    BASE_MAX = 1,
    BASE_MIN = -2,
    CHOICE_MAX = 7,
    CHOICE_MIN = -8,
    USEFUL_MAX = 3,
    USEFUL_BITS = 2,
    LFSR_START = 1,
};

/* ---- opening --------------------------------------------------------------------------------- */

static bool is_valid(const struct vs_tage_config *c)
{
    return c->base >= 2 && vs_is_power_of_two(c->base) && c->base <= VS_TAGE_BASE_MAX &&
           c->entries >= 2 && vs_is_power_of_two(c->entries) && c->entries <= VS_TAGE_ENTRIES_MAX &&
           c->tables >= 1 && c->tables <= VS_TAGE_TABLES_MAX && c->tag_bits >= VS_TAGE_TAG_MIN &&
           c->tag_bits <= VS_TAGE_TAG_MAX && c->history_min >= 1 &&
           c->history_min <= c->history_max && c->history_max <= VS_TAGE_HISTORY_MAX;
}

/* The n-th root of a ratio, in steps that need no library and are the same on every machine. */
static double root(double ratio, unsigned n)
{
    double low = 1, high = ratio;
    for (unsigned step = 0; step < 64; step++) {
        double middle = (low + high) / 2, power = 1;
        for (unsigned i = 0; i < n; i++)
            power *= middle;
        if (power < ratio)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static void choose_lengths(struct vs_tage *t, const struct vs_tage_config *c)
{
    double length = c->history_min;
    double factor =
        c->tables > 1 ? root((double)c->history_max / c->history_min, c->tables - 1) : 1;
    for (unsigned i = 0; i < c->tables; i++, length *= factor)
        t->length[i] = (uint16_t)(length + 0.5);
}

static void shape_fold(struct vs_tage_fold *f, const struct vs_tage *t, unsigned width)
{
    *f = (struct vs_tage_fold){0};
    for (unsigned i = 0; i < t->tables; i++) {
        f->mask[i] = (uint16_t)((1u << width) - 1);
        f->top[i] = (uint16_t)(1u << (width - 1));
        f->out[i] = (uint16_t)(1u << t->length[i] % width);
    }
}

int vs_tage_init(struct vs_tage *t, const struct vs_tage_config *c)
{
    memset(t, 0, sizeof(*t));
    if (!is_valid(c))
        return -VSE_INVAL;
    t->tables = c->tables;
    t->log = vs_log2_ceil(c->entries);
    t->base_log = vs_log2_ceil(c->base);
    t->base_mask = c->base - 1;
    t->tag_bits = c->tag_bits;
    choose_lengths(t, c);
    shape_fold(&t->index, t, t->log);
    shape_fold(&t->tag, t, t->tag_bits);
    shape_fold(&t->tag_less, t, t->tag_bits - 1);
    t->entries = malloc(((size_t)t->tables << t->log) * sizeof(*t->entries));
    t->base = malloc(c->base);
    if (!t->entries || !t->base)
        return -VSE_NOMEM;
    vs_tage_clear(t);
    return 0;
}

void vs_tage_fini(struct vs_tage *t)
{
    free(t->entries);
    free(t->base);
    t->entries = NULL;
    t->base = NULL;
}

void vs_tage_clear(struct vs_tage *t)
{
    for (size_t i = 0; i < (size_t)t->tables << t->log; i++)
        t->entries[i] = (struct vs_tage_entry){.counter = -1};
    memset(t->base, -1, (size_t)t->base_mask + 1);
    memset(t->ring, 0, sizeof(t->ring));
    t->index.value = t->tag.value = t->tag_less.value = (vs_tage_lanes){0};
    t->choice = 0;
    t->tick = 0;
    t->lfsr = LFSR_START;
    t->head = 0;
    t->recent = 0;
}

struct vs_cost vs_tage_cost(const struct vs_tage *t)
{
    uint64_t tables = t->tables, longest = t->length[t->tables - 1];
    return (struct vs_cost){
        .sram =
            (tables << t->log) * (t->tag_bits + 3 + USEFUL_BITS) + 2 * ((uint64_t)t->base_mask + 1),
        /* the history, its folds, choice, tick, LFSR */
        .registers =
            (longest < 64 ? 64 : longest) + tables * (t->log + 2 * t->tag_bits - 1) + 4 + 8 + 16,
        .comparators = tables * t->tag_bits,
    };
}

/* ---- predicting ------------------------------------------------------------------------------ */

static const struct vs_tage_entry *entry_of(const struct vs_tage *t, const struct vs_tage_lookup *l,
                                            int table)
{
    return &t->entries[((size_t)table << t->log) + l->index[table]];
}

static int counter_of(const struct vs_tage *t, const struct vs_tage_lookup *l, int table)
{
    return table < 0 ? t->base[l->base] : entry_of(t, l, table)->counter;
}

static bool is_weak(int counter)
{
    return counter == -1 || counter == 0;
}

/* The tables whose tags match, as bits. */
static unsigned matches(const struct vs_tage *t, const struct vs_tage_lookup *l)
{
    unsigned found = 0;
    const struct vs_tage_entry *table = t->entries;
    for (unsigned i = 0; i < t->tables; i++, table += (size_t)1 << t->log)
        found |= (unsigned)(table[l->index[i]].tag == l->tag[i]) << i;
    return found;
}

static int highest(unsigned bits)
{
    return bits ? 31 - __builtin_clz(bits) : -1;
}

void vs_tage_look(const struct vs_tage *t, uint64_t pc, struct vs_tage_lookup *l)
{
    uint16_t x = (uint16_t)(pc >> 1 ^ pc >> 12), y = (uint16_t)(pc ^ pc >> 9);
    x ^= (uint16_t)(x >> t->log);
    l->index = (t->index.value ^ x) & t->index.mask;
    l->tag = (t->tag.value ^ t->tag_less.value << 1 ^ y) & t->tag.mask;
    l->base = (uint32_t)(pc >> 1 ^ pc >> (1 + t->base_log)) & t->base_mask;
    unsigned found = matches(t, l);
    l->provider = highest(found);
    l->alternative = found ? highest(found ^ 1u << l->provider) : -1;
    l->counter = counter_of(t, l, l->provider);
    l->useful = found ? entry_of(t, l, l->provider)->useful : 0;
    l->longest = l->counter >= 0;
    l->other = found ? counter_of(t, l, l->alternative) >= 0 : l->longest;
    l->prediction =
        found && is_weak(l->counter) && !l->useful && t->choice >= 0 ? l->other : l->longest;
}

/* ---- learning -------------------------------------------------------------------------------- */

static int8_t count(int counter, bool up, int least, int most)
{
    return (int8_t)(counter + (up & (counter < most)) - (!up & (counter > least)));
}

static void count_outcome(struct vs_tage *t, const struct vs_tage_lookup *l, int table, bool taken)
{
    int8_t *counter = table < 0 ? &t->base[l->base]
                                : &t->entries[((size_t)table << t->log) + l->index[table]].counter;
    *counter = table < 0 ? count(*counter, taken, BASE_MIN, BASE_MAX)
                         : count(*counter, taken, COUNTER_MIN, COUNTER_MAX);
}

static void halve_useful(struct vs_tage *t)
{
    for (size_t i = 0; i < (size_t)t->tables << t->log; i++)
        t->entries[i].useful >>= 1;
}

static void step_lfsr(struct vs_tage *t)
{
    t->lfsr = (uint16_t)(t->lfsr >> 1 ^ (t->lfsr & 1 ? 0xb400 : 0));
}

static __attribute__((noinline)) void allocate(struct vs_tage *t, const struct vs_tage_lookup *l,
                                               bool taken)
{
    unsigned first = (unsigned)(l->provider + 1), useful = 0;
    bool allocated = false;
    if (first >= t->tables)
        return;
    step_lfsr(t);
    if (t->lfsr & 1 && first + 1 < t->tables)
        first++;
    for (unsigned i = first; i < t->tables && !allocated; i++) {
        struct vs_tage_entry *e = &t->entries[((size_t)i << t->log) + l->index[i]];
        allocated = !e->useful;
        useful += !allocated;
        if (allocated)
            *e = (struct vs_tage_entry){.tag = l->tag[i], .counter = taken ? 0 : -1};
    }
    unsigned tick = t->tick + useful;
    tick -= allocated && tick;
    t->tick = (uint8_t)tick;
    if (tick >= UINT8_MAX) {
        t->tick = 0;
        halve_useful(t);
    }
}

void vs_tage_learn(struct vs_tage *t, const struct vs_tage_lookup *l, bool taken)
{
    if (l->provider < 0) {
        if (l->prediction != taken)
            allocate(t, l, taken);
        count_outcome(t, l, -1, taken);
        return;
    }
    bool fresh = is_weak(l->counter) && !l->useful;
    if (fresh && l->longest != l->other)
        t->choice = count(t->choice, l->other == taken, CHOICE_MIN, CHOICE_MAX);
    if (unlikely(l->prediction != taken) && !(fresh && l->longest == taken))
        allocate(t, l, taken);
    struct vs_tage_entry *e = &t->entries[((size_t)l->provider << t->log) + l->index[l->provider]];
    e->counter = count(l->counter, taken, COUNTER_MIN, COUNTER_MAX);
    if (!l->useful)
        count_outcome(t, l, l->alternative, taken);
    if (l->longest != l->other)
        e->useful = (uint8_t)count(e->useful, l->longest == taken, 0, USEFUL_MAX);
}

/* A fold rotates by one; the new bit enters at bit 0, and the oldest one leaves where it is. */
static inline void push_fold(struct vs_tage_fold *f, const vs_tage_lanes *old, uint16_t bit)
{
    vs_tage_lanes carry = (vs_tage_lanes)((f->value & f->top) != 0) & 1;
    f->value = ((f->value << 1 ^ carry ^ bit) ^ (*old & f->out)) & f->mask;
}

void vs_tage_push(struct vs_tage *t, bool bit)
{
    vs_tage_lanes old = {0};
    for (unsigned i = 0; i < t->tables; i++)
        old[i] = (uint16_t)-t->ring[(t->head + t->length[i] - 1) % VS_TAGE_RING];
    push_fold(&t->index, &old, bit);
    push_fold(&t->tag, &old, bit);
    push_fold(&t->tag_less, &old, bit);
    t->head = (t->head - 1) % VS_TAGE_RING;
    t->ring[t->head] = bit;
    t->recent = t->recent << 1 | bit;
}
