/* SPDX-License-Identifier: MIT */
#include "isa/rv64/softfloat.h"

#include "isa/rv64/rv64.h"

typedef unsigned __int128 u128;

const struct vs_fp_format vs_fp32 = {.fraction = 23, .exponent = 8};
const struct vs_fp_format vs_fp64 = {.fraction = 52, .exponent = 11};

/* ---- taking apart --------------------------------------------------------------------------- */

enum kind { ZERO, FINITE, INFINITE, QUIET, SIGNALLING };

/* A finite number other than zero is sig / 2^63 * 2^exp, with the top bit of sig set. */
struct number {
    enum kind kind;
    bool negative;
    int exp;
    uint64_t sig;
};

static uint64_t ones(unsigned bits)
{
    return (UINT64_C(1) << bits) - 1;
}

static int bias(const struct vs_fp_format *f)
{
    return (1 << (f->exponent - 1)) - 1;
}

static unsigned sign_bit(const struct vs_fp_format *f)
{
    return f->fraction + f->exponent;
}

static uint64_t pack(const struct vs_fp_format *f, bool negative, uint64_t exponent,
                     uint64_t fraction)
{
    return (uint64_t)negative << sign_bit(f) | exponent << f->fraction | fraction;
}

static uint64_t pack_zero(const struct vs_fp_format *f, bool negative)
{
    return pack(f, negative, 0, 0);
}

static uint64_t pack_infinity(const struct vs_fp_format *f, bool negative)
{
    return pack(f, negative, ones(f->exponent), 0);
}

static uint64_t pack_nan(const struct vs_fp_format *f)
{
    return pack(f, false, ones(f->exponent), UINT64_C(1) << (f->fraction - 1));
}

static struct number unpack(const struct vs_fp_format *f, uint64_t bits)
{
    uint64_t fraction = bits & ones(f->fraction);
    uint64_t exponent = bits >> f->fraction & ones(f->exponent);
    struct number n = {.kind = FINITE, .negative = bits >> sign_bit(f) & 1};
    if (exponent == ones(f->exponent)) {
        n.kind = !fraction ? INFINITE : fraction >> (f->fraction - 1) & 1 ? QUIET : SIGNALLING;
    } else if (exponent) {
        n.exp = (int)exponent - bias(f);
        n.sig = (fraction | UINT64_C(1) << f->fraction) << (63 - f->fraction);
    } else if (fraction) {
        int zeros = __builtin_clzll(fraction);
        n.exp = 1 - bias(f) + 63 - (int)f->fraction - zeros;
        n.sig = fraction << zeros;
    } else {
        n.kind = ZERO;
    }
    return n;
}

static bool is_nan(const struct number *n)
{
    return n->kind >= QUIET;
}

static uint64_t invalid(const struct vs_fp_format *f, unsigned *flags)
{
    *flags |= VS_FP_NV;
    return pack_nan(f);
}

static void note_signalling(const struct number *n, unsigned *flags)
{
    if (n->kind == SIGNALLING)
        *flags |= VS_FP_NV;
}

/* ---- rounding ------------------------------------------------------------------------------- */

/* Returns whether to round up in magnitude; `rest` is the `width` bits below the last place. */
static bool rounds_up(bool negative, bool odd, uint64_t rest, unsigned width, unsigned rm)
{
    uint64_t half = UINT64_C(1) << (width - 1);
    switch (rm) {
    case VS_RV64_RNE:
        return rest > half || (rest == half && odd);
    case VS_RV64_RDN:
        return negative && rest;
    case VS_RV64_RUP:
        return !negative && rest;
    case VS_RV64_RMM:
        return rest >= half;
    default:
        return false;
    }
}

/* Shifts right; the last bit remembers whether anything but zeros fell off. */
static uint64_t shift_jam(uint64_t v, unsigned by)
{
    if (by >= 64)
        return v != 0;
    return by ? v >> by | ((v & ones(by)) != 0) : v;
}

static u128 shift_jam128(u128 v, unsigned by)
{
    if (by >= 128)
        return v != 0;
    return by ? v >> by | ((v & (((u128)1 << by) - 1)) != 0) : v;
}

static uint64_t overflow(const struct vs_fp_format *f, bool negative, unsigned rm, unsigned *flags)
{
    *flags |= VS_FP_OF | VS_FP_NX;
    if (rm == VS_RV64_RTZ || (rm == VS_RV64_RDN && !negative) || (rm == VS_RV64_RUP && negative))
        return pack(f, negative, ones(f->exponent) - 1, ones(f->fraction));
    return pack_infinity(f, negative);
}

/* Rounds and packs the number sig / 2^63 * 2^exp, where sig's last bit stands for all bits below
 * it. */
static uint64_t round_pack(const struct vs_fp_format *f, bool negative, int exp, uint64_t sig,
                           unsigned rm, unsigned *flags)
{
    const unsigned width = 63 - f->fraction;
    const int least = 1 - bias(f);
    bool tiny = exp < least;
    if (tiny) {
        /* A number that rounds to the smallest normal one is not tiny. */
        if (exp == least - 1) {
            uint64_t kept = sig >> width;
            bool up = rounds_up(negative, kept & 1, sig & ones(width), width, rm);
            tiny = kept + up <= ones(f->fraction + 1);
        }
        sig = shift_jam(sig, (unsigned)(least - exp));
        exp = least;
    }
    uint64_t rest = sig & ones(width), kept = sig >> width;
    kept += rounds_up(negative, kept & 1, rest, width, rm);
    if (kept > ones(f->fraction + 1)) {
        kept >>= 1;
        exp++;
    }
    if (exp > bias(f))
        return overflow(f, negative, rm, flags);
    if (rest)
        *flags |= tiny ? VS_FP_NX | VS_FP_UF : VS_FP_NX;
    if (kept <= ones(f->fraction))
        return pack(f, negative, 0, kept);
    return pack(f, negative, (uint64_t)(exp + bias(f)), kept & ones(f->fraction));
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

/* The number sig / 2^126 * 2^exp, where sig's top bit is at most bit 126. */
struct wide {
    bool negative;
    int exp;
    u128 sig;
};

static uint64_t add_wide(const struct vs_fp_format *f, struct wide a, struct wide b, unsigned rm,
                         unsigned *flags)
{
    if (a.exp < b.exp || (a.exp == b.exp && a.sig < b.sig)) {
        struct wide swap = a;
        a = b;
        b = swap;
    }
    b.sig = shift_jam128(b.sig, (unsigned)(a.exp - b.exp));
    u128 sum = a.sig;
    bool negative = a.negative;
    if (a.negative == b.negative) {
        sum += b.sig;
    } else if (sum >= b.sig) {
        sum -= b.sig;
    } else {
        sum = b.sig - sum;
        negative = b.negative;
    }
    if (!sum)
        return pack_zero(f, rm == VS_RV64_RDN);
    uint64_t high = (uint64_t)(sum >> 64);
    int zeros = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)sum);
    sum <<= zeros;
    return round_pack(f, negative, a.exp + 1 - zeros, (uint64_t)(sum >> 64) | ((uint64_t)sum != 0),
                      rm, flags);
}

static uint64_t fma_finite(const struct vs_fp_format *f, const struct number *a,
                           const struct number *b, const struct number *c, unsigned rm,
                           unsigned *flags)
{
    bool negative = a->negative != b->negative;
    if (a->kind == ZERO || b->kind == ZERO) {
        if (c->kind == ZERO)
            return pack_zero(f, negative == c->negative ? negative : rm == VS_RV64_RDN);
        return round_pack(f, c->negative, c->exp, c->sig, rm, flags);
    }
    /* Significands have at most 53 bits, so the product's lower bits are zero, and the shift that
     * makes room for a carry loses nothing. */
    struct wide product = {negative, a->exp + b->exp + 1, (u128)a->sig * b->sig >> 1};
    struct wide addend = {c->negative, c->exp, (u128)c->sig << 63};
    if (c->kind == ZERO)
        addend = (struct wide){negative, product.exp, 0};
    return add_wide(f, product, addend, rm, flags);
}

static uint64_t fma_numbers(const struct vs_fp_format *f, const struct number *a,
                            const struct number *b, const struct number *c, unsigned rm,
                            unsigned *flags)
{
    bool negative = a->negative != b->negative;
    note_signalling(a, flags);
    note_signalling(b, flags);
    note_signalling(c, flags);
    if ((a->kind == INFINITE && b->kind == ZERO) || (a->kind == ZERO && b->kind == INFINITE))
        return invalid(f, flags);
    if (is_nan(a) || is_nan(b) || is_nan(c))
        return pack_nan(f);
    if (a->kind == INFINITE || b->kind == INFINITE) {
        if (c->kind == INFINITE && c->negative != negative)
            return invalid(f, flags);
        return pack_infinity(f, negative);
    }
    if (c->kind == INFINITE)
        return pack_infinity(f, c->negative);
    return fma_finite(f, a, b, c, rm, flags);
}

uint64_t vs_fp_fma(const struct vs_fp_format *f, uint64_t a, uint64_t b, uint64_t c, unsigned rm,
                   unsigned *flags)
{
    struct number na = unpack(f, a), nb = unpack(f, b), nc = unpack(f, c);
    return fma_numbers(f, &na, &nb, &nc, rm, flags);
}

/* A sum is a * 1 + b; a product is a * b + 0, where the zero has the product's sign. */
uint64_t vs_fp_add(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags)
{
    const struct number one = {.kind = FINITE, .sig = UINT64_C(1) << 63};
    struct number na = unpack(f, a), nb = unpack(f, b);
    return fma_numbers(f, &na, &one, &nb, rm, flags);
}

uint64_t vs_fp_sub(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags)
{
    return vs_fp_add(f, a, b ^ UINT64_C(1) << sign_bit(f), rm, flags);
}

uint64_t vs_fp_mul(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags)
{
    struct number na = unpack(f, a), nb = unpack(f, b);
    const struct number zero = {.kind = ZERO, .negative = na.negative != nb.negative};
    return fma_numbers(f, &na, &nb, &zero, rm, flags);
}

uint64_t vs_fp_div(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned rm,
                   unsigned *flags)
{
    struct number na = unpack(f, a), nb = unpack(f, b);
    bool negative = na.negative != nb.negative;
    note_signalling(&na, flags);
    note_signalling(&nb, flags);
    if (is_nan(&na) || is_nan(&nb))
        return pack_nan(f);
    if (na.kind == nb.kind && na.kind != FINITE)
        return invalid(f, flags);
    if (na.kind == INFINITE)
        return pack_infinity(f, negative);
    if (na.kind == ZERO || nb.kind == INFINITE)
        return pack_zero(f, negative);
    if (nb.kind == ZERO) {
        *flags |= VS_FP_DZ;
        return pack_infinity(f, negative);
    }
    u128 dividend = (u128)na.sig << 63;
    uint64_t quotient = (uint64_t)(dividend / nb.sig);
    bool rest = dividend % nb.sig;
    int exp = na.exp - nb.exp;
    if (!(quotient >> 63)) {
        /* The bit that comes in may be wrong, but `rest` stands in for it and all bits below. */
        quotient <<= 1;
        exp--;
    }
    return round_pack(f, negative, exp, quotient | rest, rm, flags);
}

/* Returns the largest number whose square is not above v. */
static uint64_t square_root(u128 v)
{
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = root | UINT64_C(1) << bit;
        if ((u128)next * next <= v)
            root = next;
    }
    return root;
}

uint64_t vs_fp_sqrt(const struct vs_fp_format *f, uint64_t a, unsigned rm, unsigned *flags)
{
    struct number n = unpack(f, a);
    note_signalling(&n, flags);
    if (is_nan(&n))
        return pack_nan(f);
    if (n.kind == ZERO)
        return pack_zero(f, n.negative);
    if (n.negative)
        return invalid(f, flags);
    if (n.kind == INFINITE)
        return pack_infinity(f, false);
    unsigned odd = (unsigned)n.exp & 1;
    u128 square = (u128)n.sig << (63 + odd);
    uint64_t root = square_root(square);
    bool rest = (u128)root * root != square;
    return round_pack(f, false, (n.exp - (int)odd) / 2, root | rest, rm, flags);
}

/* ---- comparison ----------------------------------------------------------------------------- */

/* Maps numbers to integers in the same order; both zeros become 0. */
static int64_t ordered(const struct vs_fp_format *f, uint64_t bits)
{
    int64_t magnitude = (int64_t)(bits & ones(sign_bit(f)));
    return bits >> sign_bit(f) & 1 ? -magnitude : magnitude;
}

static bool unordered(const struct vs_fp_format *f, uint64_t a, uint64_t b, bool signals,
                      unsigned *flags)
{
    struct number na = unpack(f, a), nb = unpack(f, b);
    bool nan = is_nan(&na) || is_nan(&nb);
    if (signals && nan)
        *flags |= VS_FP_NV;
    note_signalling(&na, flags);
    note_signalling(&nb, flags);
    return nan;
}

bool vs_fp_eq(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags)
{
    return !unordered(f, a, b, false, flags) && ordered(f, a) == ordered(f, b);
}

bool vs_fp_lt(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags)
{
    return !unordered(f, a, b, true, flags) && ordered(f, a) < ordered(f, b);
}

bool vs_fp_le(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags)
{
    return !unordered(f, a, b, true, flags) && ordered(f, a) <= ordered(f, b);
}

/* Returns the one of a and b that is not a NaN, or the smaller or larger; -0 is less than +0. */
static uint64_t extreme(const struct vs_fp_format *f, uint64_t a, uint64_t b, bool largest,
                        unsigned *flags)
{
    const uint64_t mask = UINT64_C(2) * ones(sign_bit(f)) + 1;
    struct number na = unpack(f, a), nb = unpack(f, b);
    note_signalling(&na, flags);
    note_signalling(&nb, flags);
    if (is_nan(&na) && is_nan(&nb))
        return pack_nan(f);
    if (is_nan(&na))
        return b & mask;
    if (is_nan(&nb))
        return a & mask;
    int64_t oa = ordered(f, a), ob = ordered(f, b);
    bool less = oa == ob ? na.negative && !nb.negative : oa < ob;
    return (less != largest ? a : b) & mask;
}

uint64_t vs_fp_min(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags)
{
    return extreme(f, a, b, false, flags);
}

uint64_t vs_fp_max(const struct vs_fp_format *f, uint64_t a, uint64_t b, unsigned *flags)
{
    return extreme(f, a, b, true, flags);
}

uint64_t vs_fp_class(const struct vs_fp_format *f, uint64_t a)
{
    struct number n = unpack(f, a);
    bool subnormal = n.kind == FINITE && !(a >> f->fraction & ones(f->exponent));
    switch (n.kind) {
    case SIGNALLING:
        return 1 << 8;
    case QUIET:
        return 1 << 9;
    case INFINITE:
        return n.negative ? 1 << 0 : 1 << 7;
    case ZERO:
        return n.negative ? 1 << 3 : 1 << 4;
    case FINITE:
        break;
    }
    if (subnormal)
        return n.negative ? 1 << 2 : 1 << 5;
    return n.negative ? 1 << 1 : 1 << 6;
}

/* ---- conversion ----------------------------------------------------------------------------- */

uint64_t vs_fp_convert(const struct vs_fp_format *from, const struct vs_fp_format *to, uint64_t a,
                       unsigned rm, unsigned *flags)
{
    struct number n = unpack(from, a);
    note_signalling(&n, flags);
    if (is_nan(&n))
        return pack_nan(to);
    if (n.kind == INFINITE)
        return pack_infinity(to, n.negative);
    if (n.kind == ZERO)
        return pack_zero(to, n.negative);
    return round_pack(to, n.negative, n.exp, n.sig, rm, flags);
}

static uint64_t saturated(unsigned width, bool is_signed, bool negative, unsigned *flags)
{
    *flags |= VS_FP_NV;
    if (!is_signed)
        return negative ? 0 : UINT64_MAX;
    uint64_t least = UINT64_C(0) - (UINT64_C(1) << (width - 1));
    return negative ? least : ~least;
}

uint64_t vs_fp_to_int(const struct vs_fp_format *f, uint64_t a, unsigned width, bool is_signed,
                      unsigned rm, unsigned *flags)
{
    struct number n = unpack(f, a);
    if (is_nan(&n))
        return saturated(width, is_signed, false, flags);
    if (n.kind == ZERO)
        return 0;
    if (n.kind == INFINITE || n.exp > 63)
        return saturated(width, is_signed, n.negative, flags);
    /* The integer is in the upper half, the fraction in the lower. */
    u128 fixed = shift_jam128((u128)n.sig << 64, (unsigned)(63 - n.exp));
    uint64_t magnitude = (uint64_t)(fixed >> 64), rest = (uint64_t)fixed;
    bool up = rounds_up(n.negative, magnitude & 1, rest, 64, rm);
    if (up && magnitude == UINT64_MAX)
        return saturated(width, is_signed, n.negative, flags);
    magnitude += up;
    uint64_t most = is_signed     ? ones(width - 1) + n.negative
                    : n.negative  ? 0
                    : width == 64 ? UINT64_MAX
                                  : ones(width);
    if (magnitude > most)
        return saturated(width, is_signed, n.negative, flags);
    if (rest)
        *flags |= VS_FP_NX;
    uint64_t value = n.negative ? UINT64_C(0) - magnitude : magnitude;
    return width == 32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

uint64_t vs_fp_from_int(const struct vs_fp_format *f, uint64_t a, bool is_signed, unsigned rm,
                        unsigned *flags)
{
    bool negative = is_signed && a >> 63;
    uint64_t magnitude = negative ? UINT64_C(0) - a : a;
    if (!magnitude)
        return pack_zero(f, false);
    int zeros = __builtin_clzll(magnitude);
    return round_pack(f, negative, 63 - zeros, magnitude << zeros, rm, flags);
}
