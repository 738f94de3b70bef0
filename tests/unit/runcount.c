/* SPDX-License-Identifier: MIT */
#include "model/runcount.h"

#include <stdlib.h>

#include "model/lastvalue.h"
#include "rng.h"
#include "unittest.h"

static const struct vs_runcount_config wide = {.start = 2, .least = 0, .most = 8};

/* A run of n events. Returns the bits of its fields. */
static uint64_t run(struct vs_runcount *r, uint64_t n)
{
    struct vs_run_record record;
    uint64_t bits = 0;

    for (uint64_t i = 0; i < n; i++)
        if (vs_runcount_add(r, &record)) {
            CHECK_EQ(record.value, (UINT64_C(1) << record.bits) - 1);
            bits += record.bits;
        }
    if (vs_runcount_end(r, &record))
        bits += record.bits;
    return bits;
}

TEST(grows_after_long_runs)
{
    struct vs_runcount r;

    CHECK_EQ(vs_runcount_init(&r, &wide), 0);
    CHECK_EQ(run(&r, 5), 4); /* 4 and 1 */
    CHECK_EQ(r.monitor, 11);
    CHECK_EQ(run(&r, 5), 4);
    CHECK_EQ(r.monitor, 14);
    CHECK_EQ(r.bits, 2);
    CHECK_EQ(run(&r, 5), 2 + 3); /* the second record has the new width already */
    CHECK_EQ(r.bits, 3);
    CHECK_EQ(r.monitor, 8);
    CHECK_EQ(run(&r, 8), 3); /* full, but not more */
    CHECK_EQ(r.monitor, 8);
}

TEST(shrinks_after_short_runs)
{
    struct vs_runcount r;

    CHECK_EQ(vs_runcount_init(&r, &wide), 0);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(run(&r, 3), 2);
    CHECK_EQ(r.monitor, 1);
    CHECK_EQ(run(&r, 3), 2);
    CHECK_EQ(r.bits, 1);
    CHECK_EQ(r.monitor, 8);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(run(&r, 1), 1);
    CHECK_EQ(r.bits, 0);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(run(&r, 1), 0);
    CHECK_EQ(r.bits, 0);
}

TEST(takes_half_as_the_threshold)
{
    struct vs_runcount r;

    CHECK_EQ(vs_runcount_init(&r, &(struct vs_runcount_config){3, 1, 8, true}), 0);
    run(&r, 4);
    CHECK_EQ(r.monitor, 8);
    run(&r, 3);
    CHECK_EQ(r.monitor, 7);
}

TEST(stays_within_its_limits)
{
    struct vs_runcount r;

    CHECK_EQ(vs_runcount_init(&r, &(struct vs_runcount_config){3, 3, 3, false}), 0);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(run(&r, 1), 3);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(run(&r, 80), 30);
    CHECK_ERR(vs_runcount_init(&r, &(struct vs_runcount_config){3, 4, 5, false}), VSE_INVAL);
    CHECK_ERR(vs_runcount_init(&r, &(struct vs_runcount_config){6, 4, 5, false}), VSE_INVAL);
    CHECK_ERR(vs_runcount_init(&r, &(struct vs_runcount_config){3, 3, 33, false}), VSE_INVAL);
}

/* Records as the technique would write them: 0 is the end of a run, else 1 + value. */
enum { EVENTS = 200000 };

TEST(is_followed_by_a_decoder)
{
    struct rng rng = rng_init(5);
    struct vs_run_record *records = malloc(EVENTS * sizeof(*records)), ended;
    bool *is_run = calloc(EVENTS, sizeof(*is_run));
    uint64_t *runs = malloc(EVENTS * sizeof(*runs));
    size_t count = 0, written = 0, at = 0;
    struct vs_runcount a, b;

    for (int half = 0; half < 2; half++) {
        struct vs_runcount_config c = {2, 0, 10, half};

        count = written = at = 0;
        CHECK_EQ(vs_runcount_init(&a, &c), 0);
        CHECK_EQ(vs_runcount_init(&b, &c), 0);
        while (written < EVENTS - 20000) {
            uint64_t n = runs[count++] =
                rng_below(&rng, 4) ? rng_below(&rng, 9) : rng_any(&rng) % 5000;

            for (uint64_t i = 0; i < n; i++)
                if (vs_runcount_add(&a, &records[written])) {
                    is_run[written++] = true;
                }
            if (vs_runcount_end(&a, &records[written]))
                is_run[written++] = true;
            is_run[written++] = false;
        }
        for (size_t i = 0; i < count; i++) {
            uint64_t n = 0;

            for (; is_run[at]; at++) {
                CHECK_EQ(vs_runcount_width(&b), records[at].bits);
                n += vs_runcount_read(&b, records[at].value);
            }
            CHECK_EQ(vs_runcount_end(&b, &ended), n != 0);
            CHECK_EQ(n, runs[i]);
            at++;
        }
        CHECK_EQ(at, written);
        CHECK_EQ(a.bits, b.bits);
        CHECK_EQ(a.monitor, b.monitor);
    }
    free(records);
    free(is_run);
    free(runs);
}

TEST(refuses_a_run_after_one_that_ended)
{
    struct vs_runcount r;

    CHECK_EQ(vs_runcount_init(&r, &wide), 0);
    CHECK_EQ(vs_runcount_width(&r), 2);
    CHECK_EQ(vs_runcount_read(&r, 1), 2);
    CHECK_ERR(vs_runcount_width(&r), VSE_CORRUPT);
}

TEST(costs_registers)
{
    struct vs_runcount r;

    CHECK_EQ(vs_runcount_init(&r, &wide), 0);
    /* the count less one, whether there is a run, monitor, width, and whether it was exceeded */
    CHECK_EQ(vs_runcount_cost(&r).registers, 8 + 1 + 4 + 4 + 1);
}

/* ---- the last-value register ---- */

TEST(splits_and_joins_addresses)
{
    struct rng rng = rng_init(6);

    for (unsigned bits = 0; bits <= 64; bits++) {
        struct vs_lastvalue v;

        vs_lastvalue_init(&v, 64, bits);
        CHECK_EQ(vs_cost_storage(vs_lastvalue_cost(&v)), bits);
        for (int i = 0; i < 50; i++) {
            uint64_t address = rng_any(&rng);
            bool same = vs_lastvalue_match(&v, address);

            CHECK_EQ(vs_lastvalue_update(&v, address), same);
            CHECK_EQ(vs_lastvalue_join(&v, vs_lastvalue_lower(&v, address)), address);
            CHECK(vs_lastvalue_match(&v, address));
        }
    }
}

TEST(compares_upper_bits_only)
{
    struct vs_lastvalue v;

    vs_lastvalue_init(&v, 32, 12);
    CHECK(vs_lastvalue_match(&v, 0xfffff));
    CHECK(!vs_lastvalue_update(&v, 0x12345678));
    CHECK(vs_lastvalue_match(&v, 0x123fffff));
    CHECK(!vs_lastvalue_match(&v, 0x12400000));
    CHECK_EQ(vs_lastvalue_lower(&v, 0x12345678), 0x45678);
}

/* ---- sums of costs ---- */

TEST(weighs_gates)
{
    struct vs_cost c = {.sram = 1, .cam = 10, .registers = 100, .comparators = 1000, .tristate = 7};
    struct vs_cost sum = {0};

    CHECK_EQ(vs_cost_half_gates(c), 3 + 60 + 500 + 5000 + 7);
    CHECK_EQ(vs_cost_gates(c), 2785);
    CHECK_EQ(vs_cost_storage(c), 111);
    vs_cost_add(&sum, c, 3);
    CHECK_EQ(vs_cost_half_gates(sum), 3 * 5570);
    CHECK_EQ(vs_cost_gates((struct vs_cost){.tristate = 1}), 1);
}
