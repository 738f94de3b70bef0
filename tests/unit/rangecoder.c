/* SPDX-License-Identifier: MIT */
/* The range coder, the probabilities that it codes with, and how they are mixed. */
#include "model/rangecoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/mixer.h"
#include "model/probability.h"
#include "rng.h"
#include "unittest.h"

/* ---- a plain coder: the whole number is kept, byte by byte ----------------------------------- */

enum { MOST = 4000 };

struct plain {
    uint8_t number[2 * MOST + 8]; /* the bytes before the last 4, and these, of low */
    size_t count;                 /* bytes before the last 4 */
    uint64_t range;
};

static void plain_start(struct plain *p)
{
    *p = (struct plain){.range = UINT32_MAX};
}

static void plain_put(struct plain *p, uint32_t one, bool bit)
{
    uint64_t lower = p->range * one / 65536;
    if (bit) {
        p->range = lower;
    } else { /* adds to the number, with all carries */
        uint64_t carry = lower;
        for (size_t i = p->count + 4; i-- > 0 && carry; carry >>= 8) {
            carry += p->number[i];
            p->number[i] = (uint8_t)carry;
        }
        p->range -= lower;
    }
    for (; p->range < 1 << 24; p->range *= 256)
        p->count++;
}

static bool bit_at(const uint8_t *bytes, size_t i)
{
    return bytes[i / 8] >> (7 - i % 8) & 1;
}

/* Whether whatever follows these bits lies in the interval [number, number + range). */
static bool lies_within(const struct plain *p, const uint8_t *bytes, size_t bits)
{
    struct plain lowest = *p, highest = *p;
    for (size_t i = 0; i < 8 * (p->count + 4); i++) {
        uint8_t mask = (uint8_t)(128 >> i % 8), *low = &lowest.number[i / 8];
        uint8_t *high = &highest.number[i / 8];
        bool set = i < bits && bit_at(bytes, i);
        *low = (uint8_t)(set ? *low | mask : *low & ~mask);
        *high = (uint8_t)(set || i >= bits ? *high | mask : *high & ~mask);
    }
    /* highest - number < range, and lowest >= number */
    int borrow = 0;
    uint64_t difference = 0;
    for (size_t i = p->count + 4; i-- > 0;) {
        int d = highest.number[i] - p->number[i] - borrow;
        borrow = d < 0;
        d &= 255;
        if (i >= p->count)
            difference |= (uint64_t)d << 8 * (p->count + 3 - i);
        else if (d)
            return false;
    }
    return !borrow && difference < p->range && memcmp(lowest.number, p->number, p->count + 4) >= 0;
}

/* ---- coding -----------------------------------------------------------------------------------
 */

struct bits {
    uint32_t one[MOST];
    bool bit[MOST];
    size_t count;
};

enum { EVEN = 1 << 15 }; /* the odds that have a function of their own */

/* Likely bits, unlikely ones, even ones, and runs that make carries. */
static void choose(struct bits *b, uint64_t seed)
{
    struct rng rng = rng_init(seed);
    b->count = rng_below(&rng, seed % 3 ? 60 : MOST);
    for (size_t i = 0; i < b->count; i++) {
        b->one[i] = seed % 4 == 0   ? 65535
                    : seed % 4 == 1 ? 1
                    : seed % 7 == 0 || rng_below(&rng, 4) == 0
                        ? EVEN
                        : 1 + (uint32_t)rng_below(&rng, 65535);
        b->bit[i] = seed % 5 == 0 ? rng_below(&rng, 2) : rng_below(&rng, 65536) < b->one[i];
    }
}

static size_t encode(const struct bits *b, uint8_t *bytes)
{
    struct vs_range_encoder e;
    vs_range_encoder_start(&e, bytes);
    for (size_t i = 0; i < b->count; i++)
        if (b->one[i] == EVEN)
            vs_range_encode_even(&e, b->bit[i]);
        else
            vs_range_encode(&e, b->one[i], b->bit[i]);
    return vs_range_encoder_end(&e);
}

/* Returns whether the bits come back and the code ends there. */
static bool decode(const struct bits *b, const uint8_t *bytes, size_t bits)
{
    struct vs_range_decoder d;
    vs_range_decoder_start(&d, bytes, (bits + 7) / 8);
    for (size_t i = 0; i < b->count; i++)
        if (vs_range_decode(&d, b->one[i]) != b->bit[i])
            return false;
    return vs_range_decoder_ends(&d, bits);
}

TEST(brings_back_what_was_coded)
{
    static struct bits b;
    static uint8_t bytes[2 * MOST + 8];
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct plain p;
        choose(&b, seed);
        size_t bits = encode(&b, bytes);
        CHECK(decode(&b, bytes, bits));
        plain_start(&p);
        for (size_t i = 0; i < b.count; i++)
            plain_put(&p, b.one[i], b.bit[i]);
        CHECK(lies_within(&p, bytes, bits));
        CHECK(!bits || !lies_within(&p, bytes, bits - 1));
    }
}

TEST(notices_each_flipped_bit)
{
    static struct bits b;
    static uint8_t bytes[2 * MOST + 8];
    for (uint64_t seed = 1; seed < 60; seed += 3) {
        choose(&b, seed);
        size_t bits = encode(&b, bytes);
        for (size_t i = 0; i < bits; i++) {
            bytes[i / 8] ^= (uint8_t)(128 >> i % 8);
            CHECK(!decode(&b, bytes, bits));
            bytes[i / 8] ^= (uint8_t)(128 >> i % 8);
        }
        CHECK(!decode(&b, bytes, bits + 1));
    }
}

TEST(takes_as_many_bits_as_the_entropy)
{
    static struct bits b;
    static uint8_t bytes[2 * MOST + 8];
    struct rng rng = rng_init(1);
    double entropy = 0;
    b.count = MOST;
    for (size_t i = 0; i < MOST; i++) {
        b.one[i] = 1 + (uint32_t)rng_below(&rng, 65535);
        b.bit[i] = rng_below(&rng, 65536) < b.one[i];
        entropy -= log2((b.bit[i] ? b.one[i] : 65536 - b.one[i]) / 65536.0);
    }
    double bits = (double)encode(&b, bytes);
    CHECK(bits >= entropy && bits < entropy + 4);
}

/* ---- probabilities ----------------------------------------------------------------------------
 */

TEST(averages_first_and_decays_later)
{
    static const unsigned shifts[] = {1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5};
    struct rng rng = rng_init(3);
    struct vs_probability p;
    uint32_t plain = 32768;
    vs_probability_init(&p);
    for (unsigned i = 0; i < 2000; i++) {
        bool bit = rng_below(&rng, 3);
        unsigned shift = i < 19 ? shifts[i] : 5;
        vs_probability_learn(&p, bit, 5);
        plain = bit ? plain + ((65535 - plain) >> shift) : plain - (plain >> shift);
        CHECK_EQ(p.one, plain);
        CHECK_EQ(vs_probability_of_one(&p), plain);
    }
}

TEST(is_never_certain)
{
    struct vs_probability p;
    vs_probability_init(&p);
    for (unsigned i = 0; i < 100000; i++)
        vs_probability_learn(&p, false, 1);
    CHECK(vs_probability_of_one(&p) >= 1);
    for (unsigned i = 0; i < 100000; i++)
        vs_probability_learn(&p, true, 1);
    CHECK(vs_probability_of_one(&p) <= 65535);
}

/* ---- mixing ------------------------------------------------------------------------------------
 */

TEST(follows_the_logarithms)
{
    for (uint32_t one = 1; one < 65536; one++) {
        double odds = 256 * log2(one / (65536.0 - one));
        CHECK(fabs(vs_mixer_odds(one) - odds) < 14);
    }
    for (int odds = -5000; odds <= 5000; odds++) {
        double p = 65536 / (1 + exp2(-odds / 256.0));
        uint32_t got = vs_mixer_probability(odds);
        CHECK(got >= VS_MIXER_LEAST && got <= 65536 - VS_MIXER_LEAST);
        CHECK(fabs(got - p) < 5 + 0.02 * (odds < 0 ? p : 65536 - p));
    }
}

/* The weights follow the input that knows, of the least and of the most inputs. */
static void learn_whom_to_believe(unsigned inputs)
{
    struct rng rng = rng_init(9);
    struct vs_mixer m;
    double cost = 0;
    vs_mixer_init(&m);
    for (unsigned i = 0; i < 40000; i++) {
        bool bit = rng_below(&rng, 2), right = rng_below(&rng, 64);
        int32_t odds[VS_MIXER_INPUTS];
        for (unsigned k = 0; k < inputs; k++)
            odds[k] = vs_mixer_odds(k == 1 ? (bit == right ? 64500 : 1036)
                                           : 1 + (uint32_t)rng_below(&rng, 65535));
        const struct vs_mixed x = vs_mixer_mix(&m, odds, inputs);
        vs_mixer_learn(&m, odds, inputs, x.one, bit);
        if (i >= 20000)
            cost -= log2((bit ? x.one : 65536 - x.one) / 65536.0);
    }
    CHECK(cost / 20000 < 0.14); /* the entropy is 0.116 */
    CHECK(m.weight[1] > 55000);
}

TEST(learns_whom_to_believe)
{
    learn_whom_to_believe(4);
    learn_whom_to_believe(VS_MIXER_INPUTS);
}

/* ---- a plain mixer, written from the text of mixer.h ----------------------------------------- */

static int64_t towards_zero(int64_t v, int64_t by)
{
    return v < 0 ? -(-v / by) : v / by;
}

static int64_t within(int64_t v, int64_t most)
{
    return v > most ? most : v < -most ? -most : v;
}

/* Two mixers with the same inputs, side by side with plain ones. */
TEST(mixes_as_the_text_says)
{
    struct rng rng = rng_init(4);
    struct vs_mixer mixers[2];
    int64_t plain[2][VS_MIXER_INPUTS];
    for (unsigned i = 0; i < 2; i++) {
        vs_mixer_init(&mixers[i]);
        for (unsigned k = 0; k < VS_MIXER_INPUTS; k++)
            plain[i][k] = 19660;
    }
    for (unsigned step = 0; step < 20000; step++) {
        const bool bit = rng_below(&rng, 8) == 0;
        int32_t odds[VS_MIXER_INPUTS];
        struct vs_mixed mixed[2];
        for (unsigned k = 0; k < VS_MIXER_INPUTS; k++)
            odds[k] = vs_mixer_odds(1 + (uint32_t)rng_below(&rng, 65535));
        for (unsigned i = 0; i < 2; i++) {
            int64_t sum = 0;
            for (unsigned k = 0; k < VS_MIXER_INPUTS; k++)
                sum += plain[i][k] * odds[k];
            mixed[i] = vs_mixer_mix(&mixers[i], odds, VS_MIXER_INPUTS);
            CHECK_EQ(mixed[i].odds, within(towards_zero(sum, 65536), 8191));
            CHECK_EQ(mixed[i].one, vs_mixer_probability(mixed[i].odds));
        }
        CHECK_EQ(vs_mixer_both(&mixed[0], &mixed[1]),
                 vs_mixer_probability((mixed[0].odds + mixed[1].odds) / 2));
        for (unsigned i = 0; i < 2; i++) {
            if (step % 3 < i) /* so that they come to differ */
                continue;
            const int64_t error = (bit ? 65536 : 0) - (int64_t)mixed[i].one;
            vs_mixer_learn(&mixers[i], odds, VS_MIXER_INPUTS, mixed[i].one, bit);
            for (unsigned k = 0; k < VS_MIXER_INPUTS; k++) {
                plain[i][k] = within(plain[i][k] + towards_zero(odds[k] * error, 32768), 524287);
                CHECK_EQ(mixers[i].weight[k], plain[i][k]);
            }
        }
    }
}
