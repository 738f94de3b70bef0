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
    const uint16_t ones = (uint16_t)((1u << width) - 1);
    *f = (struct vs_tage_fold){.width = width};
    f->ones += ones;
    for (unsigned i = 0; i < t->tables; i++)
        f->out.table[i] = (uint16_t)(1u << t->length[i] % width);
}

int vs_tage_init(struct vs_tage *t, const struct vs_tage_config *c)
{
    memset(t, 0, sizeof(*t));
    if (!is_valid(c))
        return -VSE_INVAL;
    t->tables = c->tables;
    t->groups = (c->tables + VS_TAGE_LANES - 1) / VS_TAGE_LANES;
    t->log = vs_log2_ceil(c->entries);
    t->base_log = vs_log2_ceil(c->base);
    t->base_mask = c->base - 1;
    t->tag_bits = c->tag_bits;
    choose_lengths(t, c);
    shape_fold(&t->index, t, t->log);
    shape_fold(&t->tag, t, t->tag_bits);
    shape_fold(&t->tag_less, t, t->tag_bits - 1);
    /* a group is looked up as a whole, whether or not all of its tables exist */
    t->entries = malloc(((size_t)t->groups * VS_TAGE_LANES << t->log) * sizeof(*t->entries));
    t->base = malloc(c->base);
    if (!t->entries || !t->base)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < t->groups * VS_TAGE_LANES; i++)
        t->table[i] = t->entries + ((size_t)i << t->log);
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
    for (size_t i = 0; i < (size_t)t->groups * VS_TAGE_LANES << t->log; i++)
        t->entries[i] = (struct vs_tage_entry){.counter = -1};
    memset(t->base, -1, (size_t)t->base_mask + 1);
    memset(t->history, 0, sizeof(t->history));
    t->index.value = t->tag.value = t->tag_less.value = (union vs_tage_row){0};
    t->choice = 0;
    t->tick = 0;
    t->lfsr = LFSR_START;
    t->head = VS_TAGE_ROOM - VS_TAGE_HISTORY_MAX - 1;
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
    return &t->table[table][l->index.table[table]];
}

static bool is_weak(int counter)
{
    return counter == -1 || counter == 0;
}

/* Those of 8 tables whose tags match, as bits. */
static inline unsigned matches(const struct vs_tage *t, const struct vs_tage_lookup *l, unsigned g)
{
    struct vs_tage_entry *const *e = &t->table[g * VS_TAGE_LANES];
    const uint16_t *at = &l->index.table[g * VS_TAGE_LANES];
    const vs_tage_lanes tags = {e[0][at[0]].tag, e[1][at[1]].tag, e[2][at[2]].tag, e[3][at[3]].tag,
                                e[4][at[4]].tag, e[5][at[5]].tag, e[6][at[6]].tag, e[7][at[7]].tag};
    static const vs_tage_lanes bits = {1, 2, 4, 8, 16, 32, 64, 128};
    const vs_tage_lanes found = (vs_tage_lanes)(tags == l->tag.group[g]) & bits;
    uint64_t halves[2];
    memcpy(halves, &found, sizeof(halves));
    /* the product's highest element is the sum of all four */
    return (unsigned)((halves[0] + halves[1]) * UINT64_C(0x0001000100010001) >> 48);
}

static int highest(unsigned bits)
{
    return bits ? 31 - __builtin_clz(bits) : -1;
}

/* Some of the tables match. */
static inline void ask_tables(const struct vs_tage *t, struct vs_tage_lookup *l, unsigned found)
{
    l->provider = highest(found);
    l->alternative = highest(found ^ 1u << l->provider);
    const struct vs_tage_entry *e = entry_of(t, l, l->provider);
    l->counter = e->counter;
    l->useful = e->useful;
    l->longest = e->counter >= 0;
    if (l->alternative >= 0)
        l->other = entry_of(t, l, l->alternative)->counter >= 0;
    bool fresh = is_weak(l->counter) && !l->useful;
    l->prediction = fresh && t->choice >= 0 ? l->other : l->longest;
}

void vs_tage_look(const struct vs_tage *t, uint64_t pc, struct vs_tage_lookup *l)
{
    uint16_t x = (uint16_t)(pc >> 1 ^ pc >> 12), y = (uint16_t)(pc ^ pc >> 9);
    unsigned found = 0;
    x ^= (uint16_t)(x >> t->log);
    for (unsigned g = 0; g < t->groups; g++) {
        l->index.group[g] = (t->index.value.group[g] ^ x) & t->index.ones;
        l->tag.group[g] =
            (t->tag.value.group[g] ^ t->tag_less.value.group[g] << 1 ^ y) & t->tag.ones;
        found |= matches(t, l, g) << g * VS_TAGE_LANES;
    }
    found &= (1u << t->tables) - 1;
    l->base = (uint32_t)(pc >> 1 ^ pc >> (1 + t->base_log)) & t->base_mask;
    l->provider = l->alternative = -1;
    l->counter = t->base[l->base];
    l->useful = 0;
    l->longest = l->other = l->prediction = l->counter >= 0;
    if (found)
        ask_tables(t, l, found);
}

/* ---- learning -------------------------------------------------------------------------------- */

static int8_t count(int counter, bool up, int least, int most)
{
    return (int8_t)(counter + (up & (counter < most)) - (!up & (counter > least)));
}

static void count_outcome(struct vs_tage *t, const struct vs_tage_lookup *l, int table, bool taken)
{
    int8_t *counter =
        table < 0 ? &t->base[l->base] : &t->table[table][l->index.table[table]].counter;
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
        struct vs_tage_entry *e = &t->table[i][l->index.table[i]];
        allocated = !e->useful;
        useful += !allocated;
        if (allocated)
            *e = (struct vs_tage_entry){.tag = l->tag.table[i], .counter = taken ? 0 : -1};
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
    struct vs_tage_entry *e = &t->table[l->provider][l->index.table[l->provider]];
    e->counter = count(l->counter, taken, COUNTER_MIN, COUNTER_MAX);
    if (!l->useful)
        count_outcome(t, l, l->alternative, taken);
    if (l->longest != l->other)
        e->useful = (uint8_t)count(e->useful, l->longest == taken, 0, USEFUL_MAX);
}

/* A group's part of a fold, and what rules it: taken out, so that it stays in registers. */
struct fold {
    vs_tage_lanes value, out, ones;
    int shift; /* the width less 1 */
};

static inline struct fold take_fold(const struct vs_tage_fold *f, unsigned g)
{
    return (struct fold){f->value.group[g], f->out.group[g], f->ones, (int)f->width - 1};
}

/* A fold rotates by one; the new bit enters at bit 0, and the oldest one leaves where it is. */
static inline void push_fold(struct fold *f, uint16_t bit, vs_tage_lanes old)
{
    f->value = ((f->value << 1 | f->value >> f->shift) ^ bit ^ (old & f->out)) & f->ones;
}

static inline void push_group(struct vs_tage *t, unsigned g, unsigned bits, unsigned count)
{
    const uint16_t *length = &t->length[g * VS_TAGE_LANES];
    struct fold index = take_fold(&t->index, g), tag = take_fold(&t->tag, g),
                less = take_fold(&t->tag_less, g);
    while (count-- > 0) {
        const uint16_t *newest = &t->history[t->head + count];
        const uint16_t bit = bits >> count & 1;
        const vs_tage_lanes old = {newest[length[0]], newest[length[1]], newest[length[2]],
                                   newest[length[3]], newest[length[4]], newest[length[5]],
                                   newest[length[6]], newest[length[7]]};
        push_fold(&index, bit, old);
        push_fold(&tag, bit, old);
        push_fold(&less, bit, old);
    }
    t->index.value.group[g] = index.value;
    t->tag.value.group[g] = tag.value;
    t->tag_less.value.group[g] = less.value;
}

/* Moves the history to the end of its room. */
static __attribute__((noinline)) void move_history(struct vs_tage *t)
{
    uint32_t end = VS_TAGE_ROOM - VS_TAGE_HISTORY_MAX;
    memmove(&t->history[end], &t->history[t->head], VS_TAGE_HISTORY_MAX * sizeof(*t->history));
    t->head = end;
}

void vs_tage_push(struct vs_tage *t, unsigned bits, unsigned count)
{
    if (unlikely(t->head < count))
        move_history(t);
    for (unsigned i = count; i-- > 0;)
        t->history[--t->head] = (uint16_t) - (bits >> i & 1);
    for (unsigned g = 0; g < t->groups; g++)
        push_group(t, g, bits, count);
    t->recent = t->recent << count | bits;
}
