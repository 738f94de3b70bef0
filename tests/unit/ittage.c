/* SPDX-License-Identifier: MIT */
#include "model/ittage.h"

#include <string.h>

#include "model/region.h"
#include "rng.h"
#include "unittest.h"

/* ---- a plain predictor, written from the text of ittage.h ------------------------------------ */

struct plain {
    unsigned tables, entries, log, tag_bits;
    struct plain_entry {
        bool valid, useful;
        unsigned tag, confidence;
        uint64_t target;
    } e[VS_ITTAGE_TABLES_MAX][64];
};

static unsigned fold(uint64_t history, unsigned length, unsigned width)
{
    unsigned folded = 0;
    for (unsigned k = 0; k < length; k++)
        folded ^= (unsigned)(history >> k & 1) << k % width;
    return folded;
}

/* Fills in each table's entry, and returns the tables that match, the longest first. */
static unsigned places(struct plain *p, uint64_t pc, uint64_t history, struct plain_entry **at,
                       unsigned *tags, int *found)
{
    static const unsigned lengths[VS_ITTAGE_TABLES_MAX] = {0, 4, 8, 16, 32, 64};
    unsigned x = (unsigned)((pc >> 1 ^ pc >> 12) & 0xffff), t = p->tag_bits, count = 0;
    for (int i = (int)p->tables - 1; i >= 0; i--) {
        unsigned n = lengths[i];
        at[i] = &p->e[i][(x ^ x >> p->log ^ fold(history, n, p->log)) % p->entries];
        tags[i] = (unsigned)((pc ^ pc >> 9 ^ fold(history, n, t) ^ fold(history, n, t - 1) << 1) &
                             ((1u << t) - 1));
        if (at[i]->valid && at[i]->tag == tags[i])
            found[count++] = i;
    }
    return count;
}

/* Tells the prediction, if there is one, and learns. */
static bool plain_step(struct plain *p, uint64_t pc, uint64_t history, uint64_t target,
                       uint64_t *prediction)
{
    struct plain_entry *at[VS_ITTAGE_TABLES_MAX], *first = NULL, *second = NULL;
    unsigned tags[VS_ITTAGE_TABLES_MAX];
    int found[VS_ITTAGE_TABLES_MAX], from = 0;
    unsigned count = places(p, pc, history, at, tags, found);
    if (count) {
        first = at[found[0]];
        second = count > 1 ? at[found[1]] : NULL;
        *prediction =
            second && !first->confidence && second->confidence ? second->target : first->target;
        from = found[0] + 1;
        bool right = first->target == target;
        if (second && second->target != first->target)
            first->useful = right;
        if (right && first->confidence < 3)
            first->confidence++;
        else if (!right && first->confidence)
            first->confidence--;
        else if (!right)
            first->target = target;
    }
    if (count && *prediction == target)
        return true;
    for (int i = from; i < (int)p->tables; i++)
        if (!at[i]->useful) {
            *at[i] = (struct plain_entry){.valid = true, .tag = tags[i], .target = target};
            return count;
        }
    for (int i = from; i < (int)p->tables; i++)
        at[i]->useful = false;
    return count;
}

/* ---- both side by side ------------------------------------------------------------------------
 */

static void compare(const struct vs_ittage_config *c, uint64_t seed)
{
    struct rng rng = rng_init(seed);
    struct vs_ittage t;
    struct plain p = {.tables = c->tables, .entries = c->entries, .tag_bits = c->tag_bits};
    uint64_t history = 0;
    unsigned right = 0;
    while (2u << p.log <= c->entries)
        p.log++;
    CHECK_EQ(vs_ittage_init(&t, c), 0);
    for (unsigned i = 0; i < 30000; i++) {
        struct vs_ittage_lookup l;
        uint64_t pc = 0x1000 + rng_below(&rng, 20) * 10, prediction = 0;
        uint64_t target = rng_below(&rng, 8) ? 0x9000 + (history & 7) * 16 : rng_below(&rng, 99);
        vs_ittage_look(&t, pc, history, &l);
        vs_ittage_learn(&t, &l, target);
        CHECK_EQ(l.any, plain_step(&p, pc, history, target, &prediction));
        CHECK(!l.any || l.prediction == prediction);
        right += l.any && prediction == target;
        history = history << 3 ^ rng_below(&rng, 8);
    }
    CHECK(c->entries < 16 || right > 500);
    vs_ittage_fini(&t);
}

TEST(does_as_the_text_says)
{
    static const struct vs_ittage_config configs[] = {
        {16, 3, 8}, {2, 1, 4}, {64, 6, 15}, {32, 4, 9}};
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
        compare(&configs[i], i);
}

TEST(may_have_no_entries)
{
    const struct vs_ittage_config none = {0}, wrong = {3, 2, 8}, deep = {4, 7, 8};
    struct vs_ittage t;
    struct vs_ittage_lookup l;
    CHECK_EQ(vs_ittage_init(&t, &none), 0);
    vs_ittage_look(&t, 4, 5, &l);
    CHECK(!l.any && !l.second);
    vs_ittage_learn(&t, &l, 9);
    vs_ittage_clear(&t);
    vs_ittage_look(&t, 4, 5, &l);
    CHECK(!l.any);
    CHECK_EQ(vs_cost_storage(vs_ittage_cost(&t, 64)), 0);
    CHECK_ERR(vs_ittage_init(&t, &wrong), VSE_INVAL);
    CHECK_ERR(vs_ittage_init(&t, &deep), VSE_INVAL);
    vs_ittage_fini(&t);
}

TEST(names_regions_in_turn)
{
    struct vs_region r;
    vs_region_init(&r, 64, 20);
    CHECK_EQ(vs_region_name_bits(&r), 22);
    uint64_t first = vs_region_name(&r, 0x7f1234567890);
    CHECK_EQ(vs_region_address(&r, first), 0x7f1234567890);
    CHECK_EQ(vs_region_name(&r, 0x7f1234567890), first);
    CHECK(vs_region_name(&r, 0x7f1234567892) != first);
    uint64_t zero = vs_region_name(&r, 0x12345); /* a register that was never set has 0 */
    CHECK_EQ(vs_region_address(&r, zero), 0x12345);
    for (uint64_t i = 2; i <= 4; i++)
        CHECK_EQ(vs_region_address(&r, vs_region_name(&r, i << 20 | 5)), i << 20 | 5);
    CHECK_EQ(vs_region_address(&r, first), 0x7f1234567890);
    vs_region_name(&r, UINT64_C(5) << 20); /* takes the first register again */
    CHECK_EQ(vs_region_address(&r, first), UINT64_C(5) << 20 | 0x67890);
    vs_region_init(&r, 64, 64);
    CHECK_EQ(vs_region_name(&r, UINT64_MAX), UINT64_MAX);
    CHECK_EQ(vs_region_address(&r, UINT64_MAX), UINT64_MAX);
    CHECK_EQ(vs_cost_storage(vs_region_cost(&r)), 0);
}
