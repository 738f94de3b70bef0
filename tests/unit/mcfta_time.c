/* SPDX-License-Identifier: MIT */
/* The cycles of points, coded and decoded, without the rest of mcfTA. */
#include "technique/mcfta_time.h"

#include <stdlib.h>

#include "rng.h"
#include "technique/mcfta_model.h"
#include "technique/registry.h"

#include "unittest.h"

enum { POINTS = 20000, CORES = 2, CODE_MAX = POINTS * 64 };

/* Either side; nothing is known of the code, so that an instruction takes a cycle. */
struct side {
    struct vs_mcfta_time time;
    struct vs_mcfta_model model;
    struct vs_mcfta_coder coder;
};

static void side_init(struct side *s)
{
    const struct vs_technique_setup setup = {
        .cores = CORES, .address_bits = 64, .timed = true, .alignment = 2};
    struct vs_technique_spec spec;
    CHECK_EQ(vs_technique_parse(&spec, "mcfTA", NULL), 0);
    vs_technique_settle(&spec, true);
    const struct vs_mcfta_params *params = (const struct vs_mcfta_params *)spec.params;
    CHECK(vs_mcfta_has_points(params, &setup));
    CHECK_EQ(vs_mcfta_time_init(&s->time, params, CORES), 0);
    CHECK_EQ(vs_mcfta_model_init(&s->model, params, &setup), 0);
}

static void side_fini(struct side *s)
{
    vs_mcfta_time_fini(&s->time);
    vs_mcfta_model_fini(&s->model);
}

/* A branch, and what its core did before it. */
struct told {
    unsigned core, instructions;
    uint64_t pc, cycle;
};

/* Cycles that never go back, as expected, or by a latency, or by anything more. */
static struct told random_told(struct rng *rng, const struct side *s)
{
    static const unsigned usual[] = {12, 24, 112, 111, 224, 7};
    struct told t = {.core = (unsigned)rng_below(rng, CORES),
                     .instructions = 1 + (unsigned)rng_below(rng, 200),
                     .pc = 0x10000 + 2 * rng_below(rng, 600)};
    uint64_t last = s->time.clocks[t.core].cycle;
    uint64_t expected = vs_timing_now(&s->time.timing, t.core) + t.instructions;
    switch (rng_below(rng, 8)) {
    case 0:
        t.cycle = expected + (rng_any(rng) >> 12);
        break;
    case 1:
        t.cycle = last + rng_below(rng, expected - last + 1);
        break;
    case 2:
    case 3:
        t.cycle = expected + usual[rng_below(rng, sizeof(usual) / sizeof(usual[0]))];
        break;
    default:
        t.cycle = expected;
    }
    if (t.cycle >= VS_MCFTA_CYCLES)
        t.cycle = expected;
    return t;
}

TEST(decodes_what_was_encoded)
{
    static struct told told[POINTS];
    static struct side sides[2];
    struct side *e = &sides[0], *d = &sides[1];
    struct rng rng = rng_init(3);
    uint8_t *code = malloc(CODE_MAX);
    size_t count = 0, negative = 0;
    CHECK(code);
    side_init(e);
    side_init(d);
    vs_range_encoder_start(&e->coder.out, code);
    for (; count < POINTS; count++) {
        struct told t = told[count] = random_told(&rng, e);
        if (t.cycle >= VS_MCFTA_CYCLES)
            break; /* the core has come to the end of time */
        size_t before = e->coder.out.count;
        vs_mcfta_time_pass(&e->time, t.core, 0, t.pc, t.instructions);
        negative += t.cycle < vs_timing_now(&e->time.timing, t.core);
        CHECK_EQ(vs_mcfta_encode_point(&e->time, &e->model, &e->coder, t.core, t.pc, t.cycle), 0);
        CHECK(e->coder.out.count - before <= VS_MCFTA_SLACK_POINTS - VS_MCFTA_SLACK);
        CHECK_EQ(e->time.clocks[t.core].cycle, t.cycle);
    }
    CHECK(count > POINTS / 10 && negative > count / 20);
    size_t bits = vs_range_encoder_end(&e->coder.out);
    vs_range_decoder_start(&d->coder.in, code, (bits + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        uint64_t cycle;
        vs_mcfta_time_pass(&d->time, told[i].core, 0, told[i].pc, told[i].instructions);
        CHECK_EQ(
            vs_mcfta_decode_point(&d->time, &d->model, &d->coder, told[i].core, told[i].pc, &cycle),
            0);
        CHECK_EQ(cycle, told[i].cycle);
    }
    CHECK(vs_range_decoder_ends(&d->coder.in, bits));
    side_fini(e);
    side_fini(d);
    free(code);
}

TEST(takes_nothing_for_what_is_expected)
{
    static struct side e;
    static uint8_t code[4096];
    side_init(&e);
    vs_range_encoder_start(&e.coder.out, code);
    for (unsigned i = 0; i < POINTS; i++) {
        vs_mcfta_time_pass(&e.time, 0, 0, 0x10000, 9);
        CHECK_EQ(
            vs_mcfta_encode_point(&e.time, &e.model, &e.coder, 0, 0x10020, 9 * (uint64_t)(i + 1)),
            0);
    }
    /* the least that a probability of this rate can be is 31 / 65536 */
    CHECK(e.coder.out.count * 8 < POINTS / 1000 + 64);
    side_fini(&e);
}

TEST(puts_surprises_as_the_header_says)
{
    /* The first surprise of a core, with all probabilities at one half: one bit each. */
    static const struct {
        int64_t r;
        unsigned bits;
    } cases[] = {
        {0, 1},
        {1, 1 + 1 + 1 + 5},         /* not 0, not recent, sign, class 1 */
        {12, 1 + 1 + 1 + 5 + 3},    /* class 4 */
        {-12, 1 + 1 + 1 + 5 + 3},   /* the same */
        {4095, 1 + 1 + 1 + 5 + 11}, /* class 12 */
        {(INT64_C(1) << 30) - 1, 1 + 1 + 1 + 5 + 29},
        {INT64_C(1) << 30, 1 + 1 + 1 + 5 + 64}, /* class 31 */
        {INT64_C(1) << 60, 1 + 1 + 1 + 5 + 64},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct side e;
        uint8_t code[64];
        side_init(&e);
        vs_range_encoder_start(&e.coder.out, code);
        vs_mcfta_time_pass(&e.time, 0, 0, 0x10000, 100);
        CHECK_EQ(vs_mcfta_encode_point(&e.time, &e.model, &e.coder, 0, 0x10020,
                                       (uint64_t)(100 + cases[i].r)),
                 0);
        size_t bits = vs_range_encoder_end(&e.coder.out);
        /* the interval is not quite 2^32 wide: the end may take a bit more, or none of the last */
        CHECK(bits + 1 >= cases[i].bits && bits <= cases[i].bits + 2);
        side_fini(&e);
    }
}

TEST(refuses_cycles_that_go_back)
{
    static struct side e;
    uint8_t code[256];
    side_init(&e);
    vs_range_encoder_start(&e.coder.out, code);
    vs_mcfta_time_pass(&e.time, 1, 0, 0x10000, 5);
    CHECK_EQ(vs_mcfta_encode_point(&e.time, &e.model, &e.coder, 1, 0x10000, 40), 0);
    CHECK_EQ(vs_mcfta_encode_point(&e.time, &e.model, &e.coder, 1, 0x10000, 39), -VSE_INVAL);
    CHECK_EQ(vs_mcfta_encode_point(&e.time, &e.model, &e.coder, 1, 0x10000, VS_MCFTA_CYCLES),
             -VSE_INVAL);
    CHECK_EQ(vs_mcfta_encode_point(&e.time, &e.model, &e.coder, 1, 0x10000, 40), 0);
    side_fini(&e);
}

TEST(decodes_anything_or_refuses)
{
    struct rng rng = rng_init(8);
    unsigned refused = 0, taken = 0;
    for (unsigned round = 0; round < 300; round++) {
        static struct side d;
        uint8_t code[512];
        uint64_t cycle, last = 0;
        for (size_t i = 0; i < sizeof(code); i++)
            code[i] = (uint8_t)rng_next(&rng);
        side_init(&d);
        vs_range_decoder_start(&d.coder.in, code, sizeof(code));
        for (unsigned i = 0; i < 200; i++) {
            vs_mcfta_time_pass(&d.time, 0, 0, 0x10000, 3);
            int err = vs_mcfta_decode_point(&d.time, &d.model, &d.coder, 0,
                                            0x10000 + 2 * rng_below(&rng, 50), &cycle);
            CHECK(!err || err == -VSE_CORRUPT);
            refused += err < 0;
            if (err)
                break;
            CHECK(cycle >= last && cycle < VS_MCFTA_CYCLES);
            last = cycle;
            taken++;
        }
        side_fini(&d);
    }
    CHECK(refused > 50 && taken > 300);
}
