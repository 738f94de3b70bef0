/* SPDX-License-Identifier: MIT */
#include "isa/rv64/softfloat.h"

#include <inttypes.h>
#include <string.h>
#include <xmmintrin.h>

#include "isa/rv64/rv64.h"
#include "rvstream.h"

enum { NX = VS_FP_NX, UF = VS_FP_UF, OF = VS_FP_OF, DZ = VS_FP_DZ, NV = VS_FP_NV };

#define INF64 UINT64_C(0x7ff0000000000000)
#define ONE64 UINT64_C(0x3ff0000000000000)
#define MAX64 UINT64_C(0x7fefffffffffffff)
#define MIN64 UINT64_C(0x0010000000000000) /* normal */
#define NEG64 (UINT64_C(1) << 63)
#define SNAN  UINT64_C(0x7ff0000000000001)
#define QNAN  UINT64_C(0x7fffffffffffffff)

/* ---- against the host ------------------------------------------------------------------------ */

/* The host's status word: all exceptions masked, one of its rounding modes, no flags yet. */
static const unsigned host_modes[] = {0x1f80, 0x7f80, 0x3f80, 0x5f80};

static unsigned host_flags(void)
{
    unsigned m = _mm_getcsr();
    return (m & 32 ? NX : 0) | (m & 16 ? UF : 0) | (m & 8 ? OF : 0) | (m & 4 ? DZ : 0) |
           (m & 1 ? NV : 0);
}

/* Volatile, so that each operation is done where it stands, in the mode that is set. */
static uint64_t host_double(unsigned op, uint64_t a, uint64_t b)
{
    volatile double x, y, r;
    double v;
    uint64_t bits;
    memcpy(&v, &a, 8);
    x = v;
    memcpy(&v, &b, 8);
    y = v;
    r = op == 0 ? x + y : op == 1 ? x - y : op == 2 ? x * y : x / y;
    v = r;
    memcpy(&bits, &v, 8);
    return v != v ? VS_FP64_NAN : bits;
}

static uint64_t host_single(unsigned op, uint64_t a, uint64_t b)
{
    volatile float x, y, r;
    float v;
    uint32_t bits = (uint32_t)a;
    memcpy(&v, &bits, 4);
    x = v;
    bits = (uint32_t)b;
    memcpy(&v, &bits, 4);
    y = v;
    r = op == 0 ? x + y : op == 1 ? x - y : op == 2 ? x * y : x / y;
    v = r;
    memcpy(&bits, &v, 4);
    return v != v ? VS_FP32_NAN : bits;
}

typedef uint64_t binary(const struct vs_fp_format *, uint64_t, uint64_t, unsigned, unsigned *);
static binary *const operations[] = {vs_fp_add, vs_fp_sub, vs_fp_mul, vs_fp_div};

static void agree(unsigned width, unsigned op, unsigned rm, uint64_t a, uint64_t b)
{
    const struct vs_fp_format *f = width == 64 ? &vs_fp64 : &vs_fp32;
    unsigned flags = 0;
    uint64_t got = operations[op](f, a, b, rm, &flags);
    _mm_setcsr(host_modes[rm]);
    uint64_t want = width == 64 ? host_double(op, a, b) : host_single(op, a, b);
    unsigned want_flags = host_flags();
    _mm_setcsr(host_modes[0]);
    if (got != want || flags != want_flags)
        unittest_fail(__FILE__, __LINE__,
                      "%u bits, operation %u, mode %u, %016" PRIx64 " %016" PRIx64 ": %016" PRIx64
                      " flags %u, host %016" PRIx64 " flags %u",
                      width, op, rm, a, b, got, flags, want, want_flags);
}

TEST(agrees_with_the_host_in_the_modes_it_has)
{
    struct rng r = rng_init(5);
    for (unsigned i = 0; i < 400000; i++) {
        uint64_t a = rv_operand(&r), b = rv_operand(&r);
        if (rng_below(&r, 4) == 0)
            b = a ^ rng_below(&r, 8) ^ rng_below(&r, 2) << 63 ^ rng_below(&r, 2) << 31;
        agree(i & 1 ? 32 : 64, i / 2 % 4, i / 8 % 4, a, b);
    }
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* 1 + half a unit in the last place, and its negative. */
TEST(rounds_ties_in_each_mode)
{
    const uint64_t half = UINT64_C(0x3ca0000000000000); /* 2^-53 */
    static const uint64_t up[] = {0, 0, 0, 1, 1}, down[] = {0, 0, 1, 0, 1};
    for (unsigned rm = VS_RV64_RNE; rm <= VS_RV64_RMM; rm++) {
        unsigned flags = 0;
        CHECK_EQ(vs_fp_add(&vs_fp64, ONE64, half, rm, &flags), ONE64 + up[rm]);
        CHECK_EQ(flags, NX);
        CHECK_EQ(vs_fp_add(&vs_fp64, ONE64 | NEG64, half | NEG64, rm, &flags),
                 (ONE64 | NEG64) + down[rm]);
    }
}

TEST(overflows_to_what_the_mode_says)
{
    static const bool infinite[] = {true, false, false, true, true};
    for (unsigned rm = VS_RV64_RNE; rm <= VS_RV64_RMM; rm++) {
        unsigned flags = 0;
        CHECK_EQ(vs_fp_mul(&vs_fp64, MAX64, MAX64, rm, &flags), infinite[rm] ? INF64 : MAX64);
        CHECK_EQ(flags, OF | NX);
    }
}

TEST(finds_tininess_after_rounding)
{
    unsigned flags = 0;
    /* The smallest normal number less 2^-1075 has 53 bits: it is tiny. Less 2^-1077 it has not, and
     * rounds up before its exponent matters. */
    const uint64_t half = UINT64_C(0x3fe0000000000000), eighth = UINT64_C(0x3fc0000000000000);
    CHECK_EQ(vs_fp_fma(&vs_fp64, NEG64 | 1, half, MIN64, VS_RV64_RNE, &flags), MIN64);
    CHECK_EQ(flags, NX | UF);
    flags = 0;
    CHECK_EQ(vs_fp_fma(&vs_fp64, NEG64 | 1, eighth, MIN64, VS_RV64_RNE, &flags), MIN64);
    CHECK_EQ(flags, NX);
    flags = 0;
    CHECK_EQ(vs_fp_mul(&vs_fp64, 1, ONE64, VS_RV64_RNE, &flags), 1);
    CHECK_EQ(flags, 0);
}

/* ---- special values -------------------------------------------------------------------------- */

TEST(gives_the_canonical_nan_and_signals_when_invalid)
{
    static const struct {
        uint64_t a, b, c;
        unsigned flags;
    } cases[] = {
        {INF64, 0, 0, NV},           {0, INF64, QNAN, NV}, {INF64, ONE64, INF64 | NEG64, NV},
        {QNAN, ONE64, ONE64, 0},     {ONE64, QNAN, 0, 0},  {ONE64, ONE64, QNAN, 0},
        {SNAN, ONE64, ONE64, NV},    {ONE64, SNAN, 0, NV}, {ONE64, ONE64, SNAN, NV},
        {SNAN | NEG64, QNAN, 0, NV}, {INF64, QNAN, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned flags = 0;
        CHECK_EQ(vs_fp_fma(&vs_fp64, cases[i].a, cases[i].b, cases[i].c, 0, &flags), VS_FP64_NAN);
        CHECK_EQ(flags, cases[i].flags);
    }
}

TEST(signs_zeros)
{
    unsigned flags = 0;
    for (unsigned rm = VS_RV64_RNE; rm <= VS_RV64_RMM; rm++) {
        uint64_t cancelled = rm == VS_RV64_RDN ? NEG64 : 0;
        CHECK_EQ(vs_fp_sub(&vs_fp64, ONE64, ONE64, rm, &flags), cancelled);
        CHECK_EQ(vs_fp_add(&vs_fp64, 0, NEG64, rm, &flags), cancelled);
        CHECK_EQ(vs_fp_add(&vs_fp64, NEG64, NEG64, rm, &flags), NEG64);
        CHECK_EQ(vs_fp_mul(&vs_fp64, NEG64, ONE64, rm, &flags), NEG64);
        CHECK_EQ(vs_fp_sqrt(&vs_fp64, NEG64, rm, &flags), NEG64);
    }
    CHECK_EQ(flags, 0);
}

TEST(picks_minimum_and_maximum)
{
    unsigned flags = 0;
    CHECK_EQ(vs_fp_min(&vs_fp64, 0, NEG64, &flags), NEG64);
    CHECK_EQ(vs_fp_max(&vs_fp64, NEG64, 0, &flags), 0);
    CHECK_EQ(vs_fp_min(&vs_fp64, QNAN, ONE64, &flags), ONE64);
    CHECK_EQ(vs_fp_max(&vs_fp64, QNAN, QNAN, &flags), VS_FP64_NAN);
    CHECK_EQ(flags, 0);
    CHECK_EQ(vs_fp_max(&vs_fp64, ONE64, SNAN, &flags), ONE64);
    CHECK_EQ(flags, NV);
}

TEST(compares)
{
    unsigned flags = 0;
    CHECK(vs_fp_eq(&vs_fp64, 0, NEG64, &flags) && vs_fp_le(&vs_fp64, 0, NEG64, &flags));
    CHECK(!vs_fp_lt(&vs_fp64, NEG64, 0, &flags) && vs_fp_lt(&vs_fp64, ONE64 | NEG64, 1, &flags));
    CHECK(!vs_fp_eq(&vs_fp64, QNAN, QNAN, &flags));
    CHECK_EQ(flags, 0);
    CHECK(!vs_fp_lt(&vs_fp64, QNAN, ONE64, &flags));
    CHECK_EQ(flags, NV);
    flags = 0;
    CHECK(!vs_fp_eq(&vs_fp64, SNAN, ONE64, &flags));
    CHECK_EQ(flags, NV);
}

TEST(classifies)
{
    static const uint64_t values[] = {INF64 | NEG64, ONE64 | NEG64, NEG64 | 1, NEG64, 0, 1,
                                      ONE64,         INF64,         SNAN,      QNAN};
    for (unsigned i = 0; i < 10; i++)
        CHECK_EQ(vs_fp_class(&vs_fp64, values[i]), 1 << i);
}

/* ---- conversion ------------------------------------------------------------------------------ */

static void converts(uint64_t a, unsigned width, bool is_signed, unsigned rm, uint64_t want,
                     unsigned want_flags)
{
    unsigned flags = 0;
    uint64_t got = vs_fp_to_int(&vs_fp64, a, width, is_signed, rm, &flags);
    if (got != want || flags != want_flags)
        unittest_fail(__FILE__, __LINE__, "%016" PRIx64 ": %016" PRIx64 " flags %u", a, got, flags);
}

TEST(converts_to_integers)
{
    const uint64_t two31 = UINT64_C(0x41e0000000000000), two63 = UINT64_C(0x43e0000000000000);
    const uint64_t half = UINT64_C(0x3fe0000000000000), three_halves = UINT64_C(0x3ff8000000000000);
    converts(two31, 32, true, VS_RV64_RTZ, INT32_MAX, NV);
    converts(two31 | NEG64, 32, true, VS_RV64_RTZ, UINT64_C(0xffffffff80000000), 0);
    converts(two31, 32, false, VS_RV64_RTZ, UINT64_C(0xffffffff80000000), 0);
    converts(two63, 64, true, VS_RV64_RTZ, INT64_MAX, NV);
    converts(two63 | NEG64, 64, true, VS_RV64_RTZ, UINT64_C(1) << 63, 0);
    converts(two63, 64, false, VS_RV64_RTZ, UINT64_C(1) << 63, 0);
    converts(ONE64 | NEG64, 64, false, VS_RV64_RTZ, 0, NV);
    converts(half | NEG64, 64, false, VS_RV64_RTZ, 0, NX);
    converts(half | NEG64, 64, false, VS_RV64_RDN, 0, NV);
    converts(half | NEG64, 32, false, VS_RV64_RMM, 0, NV);
    converts(half, 64, true, VS_RV64_RNE, 0, NX);
    converts(half, 64, true, VS_RV64_RMM, 1, NX);
    converts(three_halves, 64, true, VS_RV64_RNE, 2, NX);
    converts(three_halves | NEG64, 64, true, VS_RV64_RUP, UINT64_MAX, NX);
    converts(QNAN | NEG64, 32, true, VS_RV64_RNE, INT32_MAX, NV);
    converts(QNAN, 32, false, VS_RV64_RNE, UINT64_MAX, NV);
    converts(INF64 | NEG64, 64, true, VS_RV64_RNE, UINT64_C(1) << 63, NV);
    converts(1, 64, true, VS_RV64_RUP, 1, NX);
}

TEST(converts_from_integers)
{
    unsigned flags = 0;
    CHECK_EQ(vs_fp_from_int(&vs_fp64, UINT64_MAX, true, 0, &flags), ONE64 | NEG64);
    CHECK_EQ(vs_fp_from_int(&vs_fp64, 0, true, VS_RV64_RDN, &flags), 0);
    CHECK_EQ(flags, 0);
    CHECK_EQ(vs_fp_from_int(&vs_fp64, UINT64_MAX, false, VS_RV64_RNE, &flags),
             UINT64_C(0x43f0000000000000));
    CHECK_EQ(flags, NX);
    CHECK_EQ(vs_fp_from_int(&vs_fp64, UINT64_MAX, false, VS_RV64_RTZ, &flags),
             UINT64_C(0x43efffffffffffff));
}

TEST(converts_between_formats)
{
    unsigned flags = 0;
    CHECK_EQ(vs_fp_convert(&vs_fp64, &vs_fp32, SNAN, 0, &flags), VS_FP32_NAN);
    CHECK_EQ(flags, NV);
    flags = 0;
    CHECK_EQ(vs_fp_convert(&vs_fp64, &vs_fp32, MAX64, VS_RV64_RTZ, &flags), 0x7f7fffff);
    CHECK_EQ(flags, OF | NX);
    flags = 0;
    CHECK_EQ(vs_fp_convert(&vs_fp64, &vs_fp32, MIN64 | NEG64, VS_RV64_RDN, &flags), 0x80000001);
    CHECK_EQ(flags, UF | NX);
    flags = 0;
    CHECK_EQ(vs_fp_convert(&vs_fp32, &vs_fp64, 0x80000001, 0, &flags),
             UINT64_C(0xb6a0000000000000));
    CHECK_EQ(flags, 0);
}

TEST(takes_square_roots_that_square_back)
{
    struct rng r = rng_init(6);
    for (unsigned i = 0; i < 2000; i++) {
        /* 26 bits square exactly. */
        unsigned flags = 0;
        uint64_t root = (rv_near_double(&r) & INT64_MAX) >> 27 << 27;
        uint64_t square = vs_fp_mul(&vs_fp64, root, root, 0, &flags);
        CHECK_EQ(vs_fp_sqrt(&vs_fp64, square, i % 5, &flags), root);
        CHECK_EQ(flags, 0);
        CHECK_EQ(vs_fp_sqrt(&vs_fp64, square + 1, VS_RV64_RTZ, &flags), root);
        CHECK_EQ(vs_fp_sqrt(&vs_fp64, square + 1, VS_RV64_RUP, &flags), root + 1);
        CHECK_EQ(flags, NX);
    }
}
