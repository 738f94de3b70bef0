/* SPDX-License-Identifier: MIT */
#include "study/pace.h"

#include "rng.h"
#include "unittest.h"

enum { CORES = 3, STEPS = 20000, PERIOD = 100 };

/* An encoder that notes what it is given and asked. */
struct noting {
    const struct vs_step *next; /* step that it has to get */
    size_t steps, slices;
    uint64_t since[CORES], longest;
    size_t syncs[CORES];
    unsigned last; /* core of the last step */
    bool discontinuity;
};

static int take(void *encoder, const struct vs_slice *slice)
{
    struct noting *n = encoder;
    CHECK(slice->steps == n->next || !slice->step_count);
    for (size_t i = 0; i < slice->step_count; i++) {
        const struct vs_step *s = n->next++;
        n->since[s->core] += s->icount;
        n->last = s->core;
        n->discontinuity = s->kind == VS_STEP_DISCONTINUITY;
    }
    n->steps += slice->step_count;
    n->slices++;
    return 0;
}

static int note_sync(void *encoder, unsigned core)
{
    struct noting *n = encoder;
    CHECK(n->since[core] >= PERIOD);
    n->longest = n->since[core] > n->longest ? n->since[core] : n->longest;
    n->since[core] = 0;
    n->syncs[core]++;
    return 0;
}

static int sync_behind_a_branch(void *encoder, unsigned core)
{
    const struct noting *n = encoder;
    CHECK(core == n->last && !n->discontinuity);
    return note_sync(encoder, core);
}

static int refuse_sync(void *encoder, unsigned core)
{
    (void)encoder, (void)core;
    return -VSE_NOMEM;
}

static void make_steps(struct vs_step *steps)
{
    struct rng rng = rng_init(5);
    for (size_t i = 0; i < STEPS; i++)
        steps[i] = (struct vs_step){.core = (uint16_t)rng_below(&rng, CORES),
                                    .kind = (uint8_t)rng_below(&rng, 4),
                                    .icount = (uint32_t)rng_below(&rng, 20)};
}

TEST(asks_behind_the_step_that_completes_a_period)
{
    const struct vs_encoder_ops ops = {
        .needs = VS_NEEDS_STEPS, .consume = take, .sync = sync_behind_a_branch};
    static struct vs_step steps[STEPS];
    struct noting n = {.next = steps};
    struct vs_pace p;
    make_steps(steps);
    CHECK_EQ(vs_pace_init(&p, PERIOD, CORES, &ops), 0);
    for (size_t at = 0; at < STEPS; at += 1000)
        CHECK_EQ(vs_pace_consume(&p, &ops, &n, &(struct vs_slice){steps + at, 1000, NULL}), 0);
    CHECK_EQ(n.steps, STEPS);
    for (unsigned i = 0; i < CORES; i++)
        CHECK(n.syncs[i] > 400 && n.since[i] < 2 * PERIOD);
    CHECK(n.longest < 2 * PERIOD);
    steps[0].core = CORES;
    CHECK_ERR(vs_pace_consume(&p, &ops, &n, &(struct vs_slice){steps, 1, NULL}), VSE_INVAL);
    vs_pace_fini(&p);
}

TEST(asks_after_a_slice_of_events)
{
    const struct vs_encoder_ops ops = {
        .needs = VS_NEEDS_EVENTS, .consume = take, .sync = note_sync};
    const struct vs_event events[] = {{.thread = 0, .icount = 60}, {.thread = 2, .icount = 150}};
    const struct vs_batch batch = {.events = events, .count = 2};
    struct noting n = {.since = {PERIOD, PERIOD, PERIOD}};
    struct vs_pace p;
    CHECK_EQ(vs_pace_init(&p, PERIOD, CORES, &ops), 0);
    CHECK_EQ(vs_pace_consume(&p, &ops, &n, &(struct vs_slice){NULL, 0, &batch}), 0);
    CHECK(n.syncs[0] == 0 && n.syncs[1] == 0 && n.syncs[2] == 1);
    n.since[2] = PERIOD;
    CHECK_EQ(vs_pace_consume(&p, &ops, &n, &(struct vs_slice){NULL, 0, &batch}), 0);
    CHECK(n.syncs[0] == 1 && n.syncs[1] == 0 && n.syncs[2] == 2);
    vs_pace_fini(&p);
}

TEST(asks_nobody_without_a_period_or_points)
{
    const struct vs_encoder_ops asked = {
        .needs = VS_NEEDS_STEPS, .consume = take, .sync = refuse_sync};
    const struct vs_encoder_ops without = {.needs = VS_NEEDS_STEPS, .consume = take};
    static struct vs_step steps[STEPS];
    const struct vs_slice slice = {steps, STEPS, NULL};
    struct noting n = {.next = steps};
    struct vs_pace p;
    make_steps(steps);
    CHECK_EQ(vs_pace_init(&p, 0, CORES, &asked), 0);
    CHECK_EQ(vs_pace_consume(&p, &asked, &n, &slice), 0);
    vs_pace_fini(&p);
    n.next = steps;
    CHECK_EQ(vs_pace_init(&p, PERIOD, CORES, &without), 0);
    CHECK_EQ(vs_pace_consume(&p, &without, &n, &slice), 0);
    vs_pace_fini(&p);
    CHECK_EQ(n.slices, 2); /* in one piece */
    n.next = steps;
    CHECK_EQ(vs_pace_init(&p, PERIOD, CORES, &asked), 0);
    CHECK_ERR(vs_pace_consume(&p, &asked, &n, &slice), VSE_NOMEM);
    vs_pace_fini(&p);
}
