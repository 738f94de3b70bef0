/* SPDX-License-Identifier: MIT */
#include "model/tage.h"

#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "unittest.h"

/* ---- a plain predictor, written from the text of tage.h -------------------------------------- */

enum { STEPS = 30000 };

struct plain {
    struct vs_tage_config c;
    unsigned log, base_log, lengths[VS_TAGE_TABLES_MAX];
    struct {
        unsigned tag;
        int counter, useful;
    } entries[VS_TAGE_TABLES_MAX][512];
    int base[1024], choice, tick;
    unsigned halved; /* how often useful bits were, */
    unsigned parted; /* and a provider's became 0 in the step that still took it for useful */
    unsigned lfsr;
    bool history[2 * STEPS]; /* the oldest first */
    size_t bits;
};

struct said {
    unsigned index[VS_TAGE_TABLES_MAX], tag[VS_TAGE_TABLES_MAX], base;
    int provider, alternative;
    bool longest, other, prediction;
};

static unsigned log_of(unsigned n)
{
    return n > 1 ? 1 + log_of(n / 2) : 0;
}

static struct plain *plain_new(const struct vs_tage *t, const struct vs_tage_config *c)
{
    struct plain *p = calloc(1, sizeof(*p));
    p->c = *c;
    p->log = log_of(c->entries);
    p->base_log = log_of(c->base);
    p->lfsr = 1;
    for (unsigned i = 0; i < c->tables; i++) {
        p->lengths[i] = t->length[i];
        for (unsigned k = 0; k < c->entries; k++)
            p->entries[i][k].counter = -1;
    }
    for (unsigned k = 0; k < c->base; k++)
        p->base[k] = -1;
    return p;
}

/* The newest `length` bits, folded: bit k of the history goes to bit k mod width. */
static unsigned fold(const struct plain *p, unsigned length, unsigned width)
{
    unsigned folded = 0;
    for (unsigned k = 0; k < length && k < p->bits; k++)
        folded ^= (unsigned)p->history[p->bits - 1 - k] << k % width;
    return folded;
}

static bool weak(int counter)
{
    return counter == 0 || counter == -1;
}

static int *counter_at(struct plain *p, const struct said *s, int table)
{
    return table < 0 ? &p->base[s->base] : &p->entries[table][s->index[table]].counter;
}

static struct said ask(struct plain *p, uint64_t pc)
{
    struct said s = {.provider = -1, .alternative = -1};
    unsigned x = (unsigned)((pc >> 1 ^ pc >> 12) & 0xffff), t = p->c.tag_bits;
    s.base = (unsigned)((pc >> 1 ^ pc >> (1 + p->base_log)) % p->c.base);
    for (unsigned i = 0; i < p->c.tables; i++) {
        unsigned length = p->lengths[i];
        s.index[i] = (x ^ x >> p->log ^ fold(p, length, p->log)) % p->c.entries;
        s.tag[i] = (unsigned)((pc ^ pc >> 9 ^ fold(p, length, t) ^ fold(p, length, t - 1) << 1) &
                              ((1u << t) - 1));
        if (p->entries[i][s.index[i]].tag != s.tag[i])
            continue;
        s.alternative = s.provider;
        s.provider = (int)i;
    }
    int counter = *counter_at(p, &s, s.provider);
    s.longest = counter >= 0;
    s.other = s.provider < 0 ? s.longest : *counter_at(p, &s, s.alternative) >= 0;
    bool fresh =
        s.provider >= 0 && weak(counter) && !p->entries[s.provider][s.index[s.provider]].useful;
    s.prediction = fresh && p->choice >= 0 ? s.other : s.longest;
    return s;
}

static void move(int *counter, bool up, int least, int most)
{
    if (up && *counter < most)
        ++*counter;
    if (!up && *counter > least)
        --*counter;
}

static void plain_allocate(struct plain *p, const struct said *s, bool taken)
{
    unsigned i = (unsigned)(s->provider + 1);
    if (i >= p->c.tables)
        return;
    p->lfsr = p->lfsr >> 1 ^ (p->lfsr & 1 ? 0xb400 : 0);
    if (p->lfsr & 1 && i + 1 < p->c.tables)
        i++;
    for (; i < p->c.tables; i++) {
        if (p->entries[i][s->index[i]].useful) {
            p->tick++;
            continue;
        }
        p->entries[i][s->index[i]].tag = s->tag[i];
        p->entries[i][s->index[i]].counter = taken ? 0 : -1;
        p->tick -= p->tick > 0;
        break;
    }
    if (p->tick < 255)
        return;
    p->tick = 0;
    p->halved++;
    for (unsigned table = 0; table < p->c.tables; table++)
        for (unsigned k = 0; k < p->c.entries; k++)
            p->entries[table][k].useful /= 2;
}

static void tell(struct plain *p, const struct said *s, bool taken)
{
    if (s->provider < 0) {
        if (s->prediction != taken)
            plain_allocate(p, s, taken);
        move(&p->base[s->base], taken, -2, 1);
        return;
    }
    int *useful = &p->entries[s->provider][s->index[s->provider]].useful;
    int *counter = counter_at(p, s, s->provider);
    const bool was_useful = *useful;
    bool fresh = weak(*counter) && !was_useful, differ = s->longest != s->other;
    if (fresh && differ)
        move(&p->choice, s->other == taken, -8, 7);
    if (s->prediction != taken && !(fresh && s->longest == taken))
        plain_allocate(p, s, taken);
    move(counter, taken, -4, 3);
    p->parted += was_useful && !*useful;
    if (!was_useful) {
        bool base = s->alternative < 0;
        move(counter_at(p, s, s->alternative), taken, base ? -2 : -4, base ? 1 : 3);
    }
    if (differ)
        move(useful, s->longest == taken, 0, 3);
}

/* ---- both side by side ------------------------------------------------------------------------
 */

static void same(const struct vs_tage *t, const struct vs_tage_lookup *l, const struct said *s)
{
    for (unsigned i = 0; i < t->tables; i++) {
        CHECK_EQ(l->index.table[i], s->index[i]);
        CHECK_EQ(l->tag.table[i], s->tag[i]);
    }
    CHECK_EQ(l->base, s->base);
    CHECK_EQ(l->provider, s->provider);
    CHECK_EQ(l->alternative, s->alternative);
    CHECK_EQ(l->longest, s->longest);
    CHECK_EQ(l->other, s->other);
    CHECK_EQ(l->prediction, s->prediction);
}

/* A branch is a mixture of a bias, of an earlier outcome, and of chance. */
static bool outcome(const struct plain *p, struct rng *rng, uint64_t pc)
{
    size_t back = 1 + pc % 61;
    switch (pc / 2 % 4) {
    case 0:
        return rng_below(rng, 16) != 0;
    case 1:
        return rng_below(rng, 2);
    default:
        return back <= p->bits && p->history[p->bits - back];
    }
}

/* Returns how often the useful bits were halved under a provider that they had kept useful. */
static unsigned compare(const struct vs_tage_config *c, uint64_t seed)
{
    struct vs_tage t;
    struct rng rng = rng_init(seed);
    CHECK_EQ(vs_tage_init(&t, c), 0);
    struct plain *p = plain_new(&t, c);
    for (unsigned i = 0; i < STEPS; i++) {
        struct vs_tage_lookup l;
        uint64_t pc = 0x10000 + rng_below(&rng, 200) * 6;
        struct said s = ask(p, pc);
        vs_tage_look(&t, pc, &l);
        same(&t, &l, &s);
        bool taken = outcome(p, &rng, pc);
        vs_tage_learn(&t, &l, taken);
        tell(p, &s, taken);
        for (unsigned k = rng_below(&rng, 20) ? 1 : 2; k; k--) {
            vs_tage_push(&t, taken, 1);
            p->history[p->bits++] = taken;
        }
    }
    unsigned parted = p->parted;
    free(p);
    vs_tage_fini(&t);
    return parted;
}

TEST(does_as_the_text_says)
{
    static const struct vs_tage_config configs[] = {
        {256, 64, 8, 8, 3, 120}, {2, 2, 1, 4, 1, 1},        {1024, 512, 16, 15, 1, 1000},
        {16, 8, 3, 5, 7, 7},     {64, 128, 11, 11, 5, 300}, {64, 2, 12, 4, 2, 60},
    };
    unsigned parted = 0;
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
        parted += compare(&configs[i], i);
    CHECK(parted);
}

TEST(chooses_geometric_lengths)
{
    const struct vs_tage_config c = {256, 64, 5, 8, 4, 64};
    struct vs_tage t;
    CHECK_EQ(vs_tage_init(&t, &c), 0);
    for (unsigned i = 0; i < 5; i++)
        CHECK_EQ(t.length[i], 4u << i);
    vs_tage_fini(&t);
}

TEST(starts_again_after_clear)
{
    const struct vs_tage_config c = {64, 16, 4, 7, 2, 40};
    struct vs_tage a, b;
    struct rng rng = rng_init(5);
    CHECK_EQ(vs_tage_init(&a, &c), 0);
    CHECK_EQ(vs_tage_init(&b, &c), 0);
    for (unsigned i = 0; i < 4000; i++) {
        struct vs_tage_lookup l, m;
        uint64_t pc = rng_below(&rng, 50) * 4;
        bool taken = rng_below(&rng, 3);
        if (i == 2000)
            vs_tage_clear(&a);
        vs_tage_look(&a, pc, &l);
        vs_tage_learn(&a, &l, taken);
        vs_tage_push(&a, taken, 1);
        if (i < 2000)
            continue;
        vs_tage_look(&b, pc, &m);
        CHECK_EQ(l.prediction, m.prediction);
        CHECK_EQ(l.provider, m.provider);
        vs_tage_learn(&b, &m, taken);
        vs_tage_push(&b, taken, 1);
    }
    vs_tage_fini(&a);
    vs_tage_fini(&b);
}

TEST(costs_what_it_keeps)
{
    const struct vs_tage_config c = {256, 64, 8, 8, 3, 120};
    struct vs_tage t;
    CHECK_EQ(vs_tage_init(&t, &c), 0);
    struct vs_cost cost = vs_tage_cost(&t);
    CHECK_EQ(cost.sram, 8 * 64 * (8 + 3 + 2) + 256 * 2);
    CHECK_EQ(cost.registers, 120 + 8 * (6 + 8 + 7) + 4 + 8 + 16);
    vs_tage_fini(&t);
}

TEST(refuses_what_it_cannot_be)
{
    static const struct vs_tage_config wrong[] = {
        {0, 64, 8, 8, 3, 120},    {256, 63, 8, 8, 3, 120}, {256, 64, 0, 8, 3, 120},
        {256, 64, 17, 8, 3, 120}, {256, 64, 8, 3, 3, 120}, {256, 64, 8, 16, 3, 120},
        {256, 64, 8, 8, 0, 120},  {256, 64, 8, 8, 9, 8},   {256, 64, 8, 8, 3, 1001},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct vs_tage t;
        CHECK_ERR(vs_tage_init(&t, &wrong[i]), VSE_INVAL);
        vs_tage_fini(&t);
    }
}
