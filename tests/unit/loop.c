/* SPDX-License-Identifier: MIT */
#include "model/loop.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

/* ---- a plain predictor, written from the text of loop.h -------------------------------------- */

struct plain {
    unsigned sets, ways, log, next;
    struct {
        unsigned tag, length, done, confidence, age;
        bool body;
    } entries[64][4];
};

static int find(const struct plain *p, uint64_t pc, unsigned *set, unsigned *tag)
{
    *set = (unsigned)((pc >> 1 ^ pc >> (1 + p->log)) % p->sets);
    *tag = (unsigned)((pc >> 1 ^ pc >> 7) % 1024);
    for (unsigned i = 0; i < p->ways; i++)
        if (p->entries[*set][i].age && p->entries[*set][i].tag == *tag)
            return (int)i;
    return -1;
}

/* Returns whether it predicts, and what. */
static bool plain_ask(const struct plain *p, uint64_t pc, bool *prediction)
{
    unsigned set, tag;
    int way = find(p, pc, &set, &tag);
    if (way < 0 || p->entries[set][way].confidence < 3)
        return false;
    bool last = p->entries[set][way].done + 1 == p->entries[set][way].length;
    *prediction = last ? !p->entries[set][way].body : p->entries[set][way].body;
    return true;
}

static void plain_tell(struct plain *p, uint64_t pc, bool taken, bool other)
{
    unsigned set, tag;
    int way = find(p, pc, &set, &tag);
    bool prediction = false, sure = plain_ask(p, pc, &prediction);
    if (way < 0) {
        if (taken == other)
            return;
        unsigned i = p->next;
        p->next = (p->next + 1) % p->ways;
        if (p->entries[set][i].age) {
            p->entries[set][i].age--;
            return;
        }
        memset(&p->entries[set][i], 0, sizeof(p->entries[set][i]));
        p->entries[set][i].tag = tag;
        p->entries[set][i].age = 7;
        p->entries[set][i].body = !taken;
        return;
    }
    if (sure && prediction != taken) {
        memset(&p->entries[set][way], 0, sizeof(p->entries[set][way]));
        return;
    }
    if (sure && other != taken && p->entries[set][way].age < 7)
        p->entries[set][way].age++;
    unsigned done = p->entries[set][way].done = (p->entries[set][way].done + 1) % 1024;
    unsigned *length = &p->entries[set][way].length;
    unsigned *confidence = &p->entries[set][way].confidence;
    if (*length && done > *length)
        *length = *confidence = 0;
    if (taken == p->entries[set][way].body)
        return;
    if (done == 1 || done == 2) {
        memset(&p->entries[set][way], 0, sizeof(p->entries[set][way]));
        return;
    }
    if (!*length)
        *length = done;
    else if (done == *length)
        *confidence += *confidence < 3;
    else
        *length = *confidence = 0;
    p->entries[set][way].done = 0;
}

/* ---- both side by side ------------------------------------------------------------------------
 */

/* Some branches are loops of a length that rarely changes. */
static void compare(unsigned entries, uint64_t seed)
{
    struct rng rng = rng_init(seed);
    struct vs_loop l;
    struct plain p = {.ways = entries < 4 ? entries : 4};
    unsigned lengths[40], done[40] = {0}, sure = 0;
    p.sets = entries / p.ways;
    while (2u << p.log <= p.sets)
        p.log++;
    for (unsigned i = 0; i < 40; i++)
        lengths[i] = 1 + (unsigned)rng_below(&rng, 30);
    CHECK_EQ(vs_loop_init(&l, entries), 0);
    for (unsigned i = 0; i < 60000; i++) {
        unsigned which = (unsigned)rng_below(&rng, 1 + rng_below(&rng, 40));
        uint64_t pc = 0x4000 + which * 74;
        bool taken = ++done[which] < lengths[which], other = rng_below(&rng, 4), prediction = false;
        struct vs_loop_lookup k;
        if (!taken)
            done[which] = 0;
        if (!rng_below(&rng, 20000))
            lengths[which] = 1 + (unsigned)rng_below(&rng, 30);
        vs_loop_look(&l, pc, &k);
        CHECK_EQ(k.sure, plain_ask(&p, pc, &prediction));
        CHECK(!k.sure || k.prediction == prediction);
        sure += k.sure;
        vs_loop_learn(&l, &k, taken, other);
        plain_tell(&p, pc, taken, other);
    }
    CHECK(entries < 64 || sure > 500);
    vs_loop_fini(&l);
}

TEST(does_as_the_text_says)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 16, 64, 256};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        compare(sizes[i], i);
}

TEST(predicts_the_end_of_a_loop)
{
    struct vs_loop l;
    CHECK_EQ(vs_loop_init(&l, 16), 0);
    for (unsigned round = 0; round < 10; round++)
        for (unsigned i = 1; i <= 100; i++) {
            struct vs_loop_lookup k;
            bool taken = i < 100;
            vs_loop_look(&l, 0x1234, &k);
            CHECK_EQ(k.sure, round >= 5); /* an entry, a length, and three that confirm it */
            CHECK(!k.sure || k.prediction == taken);
            vs_loop_learn(&l, &k, taken, true);
        }
    vs_loop_clear(&l);
    struct vs_loop_lookup k;
    vs_loop_look(&l, 0x1234, &k);
    CHECK(!k.sure && k.way < 0);
    vs_loop_fini(&l);
}

TEST(may_have_no_entries)
{
    struct vs_loop l;
    struct vs_loop_lookup k;
    CHECK_EQ(vs_loop_init(&l, 0), 0);
    vs_loop_look(&l, 1, &k);
    vs_loop_learn(&l, &k, true, false);
    vs_loop_clear(&l);
    CHECK(!k.sure);
    CHECK_EQ(vs_cost_storage(vs_loop_cost(&l)), 0);
    CHECK_ERR(vs_loop_init(&l, 12), VSE_INVAL);
    vs_loop_fini(&l);
}
