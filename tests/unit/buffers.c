/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/buffers.h"
#include "port/drain.h"
#include "rng.h"
#include "unittest.h"

enum { WINDOW = 1000, WINDOWS = 50 };

/* The same buffers one by one. */
struct drains {
    struct vs_drain of[VS_BUFFERS_SIZES][VS_BUFFERS_WIDTHS];
};

static void drains_init(struct drains *d)
{
    for (unsigned s = 0; s < VS_BUFFERS_SIZES; s++)
        for (unsigned w = 0; w < VS_BUFFERS_WIDTHS; w++) {
            const struct vs_drain_config config = {
                .bits = vs_buffers_quarters[w], .cycles = 4, .capacity = vs_buffers_sizes[s]};
            CHECK_EQ(vs_drain_init(&d->of[s][w], &config), 0);
        }
}

static void drains_add(struct drains *d, uint64_t cycle, uint64_t bits)
{
    for (unsigned s = 0; s < VS_BUFFERS_SIZES; s++)
        for (unsigned w = 0; w < VS_BUFFERS_WIDTHS; w++)
            vs_drain_add(&d->of[s][w], cycle, bits);
}

static void check_same(const struct vs_buffers *b, const struct drains *d)
{
    for (unsigned w = 0; w < VS_BUFFERS_WIDTHS; w++)
        CHECK_EQ(vs_buffers_largest(b, w), d->of[0][w].largest);
    for (unsigned i = 0; i < VS_BUFFERS_LIMITED; i++) {
        const struct vs_drain *one = &d->of[1 + i / VS_BUFFERS_WIDTHS][i % VS_BUFFERS_WIDTHS];
        CHECK_EQ(b->dropped_bits[i], one->dropped_bits);
        CHECK_EQ(b->dropped_messages[i], one->dropped_messages);
    }
}

/* Messages come in bursts, some of them late, with pauses of all lengths. */
TEST(does_what_single_buffers_do)
{
    for (unsigned seed = 0; seed < 40; seed++) {
        struct rng r = rng_init(seed);
        struct vs_buffers b;
        struct drains d;
        uint64_t cycle = 0;

        drains_init(&d);
        CHECK_EQ(vs_buffers_init(&b, &(struct vs_buffers_plan){WINDOW, WINDOWS}), 0);
        for (unsigned i = 0; i < 3000; i++) {
            uint64_t pause = rng_below(&r, 50) ? rng_below(&r, 1 + seed) : rng_any(&r) >> 16;
            uint64_t bits = rng_below(&r, 100) ? rng_below(&r, 200) : rng_any(&r) >> 25;
            uint64_t late = rng_below(&r, 20) ? 0 : rng_below(&r, cycle + 1);

            cycle += pause;
            vs_buffers_add(&b, cycle - late, bits);
            drains_add(&d, cycle - late, bits);
        }
        check_same(&b, &d);
        vs_buffers_fini(&b);
    }
}

/* A window's largest level is where it begins, if no message comes in it. */
TEST(knows_levels_where_no_message_comes)
{
    struct vs_buffers b;
    unsigned one = 2; /* bit per cycle */

    CHECK_EQ(vs_buffers_quarters[one], 4);
    CHECK_EQ(vs_buffers_init(&b, &(struct vs_buffers_plan){WINDOW, 6}), 0);
    vs_buffers_add(&b, 10, 3500);
    vs_buffers_end(&b, 5999);
    CHECK_EQ(vs_buffers_largest_in(&b, one, 0), 3500);
    CHECK_EQ(vs_buffers_largest_in(&b, one, 1), 3500 - 990);
    CHECK_EQ(vs_buffers_largest_in(&b, one, 3), 3500 - 2990);
    CHECK_EQ(vs_buffers_largest_in(&b, one, 4), 0);
    CHECK_EQ(vs_buffers_largest_in(&b, 0, 5), 3500 - 4990 / 4);
    CHECK_EQ(vs_buffers_largest(&b, one), 3500);
    vs_buffers_fini(&b);
}

TEST(refuses_plans_without_windows)
{
    struct vs_buffers b;

    CHECK_EQ(vs_buffers_init(&b, &(struct vs_buffers_plan){0, 1}), -VSE_INVAL);
    vs_buffers_fini(&b);
    CHECK_EQ(vs_buffers_init(&b, &(struct vs_buffers_plan){1, 0}), -VSE_INVAL);
    vs_buffers_fini(&b);
}
