/* SPDX-License-Identifier: MIT */
/* Elementary functions from additions and multiplications alone, so that every machine rounds them
 * alike. A few units in the last place of accuracy, which is all that the programs need. */
#include <string.h>

#include "wl.h"

/* sin and cos for |x| <= pi/4, by their series. */
static double sin_core(double x)
{
    double y = x * x, s = -1.0 / 1307674368000.0;

    s = s * y + 1.0 / 6227020800.0;
    s = s * y - 1.0 / 39916800.0;
    s = s * y + 1.0 / 362880.0;
    s = s * y - 1.0 / 5040.0;
    s = s * y + 1.0 / 120.0;
    s = s * y - 1.0 / 6.0;
    return x + x * y * s;
}

static double cos_core(double x)
{
    double y = x * x, c = 1.0 / 20922789888000.0;

    c = c * y - 1.0 / 87178291200.0;
    c = c * y + 1.0 / 479001600.0;
    c = c * y - 1.0 / 3628800.0;
    c = c * y + 1.0 / 40320.0;
    c = c * y - 1.0 / 720.0;
    c = c * y + 1.0 / 24.0;
    return 1.0 - 0.5 * y + y * y * c;
}

/* x minus the nearest multiple of pi/2, whose number modulo 4 goes to *quadrant. pi/2 in two parts,
 * the first short enough for exact products. */
static double reduce(double x, unsigned *quadrant)
{
    double n = x * (2.0 / WL_PI);
    long long k = (long long)(n < 0 ? n - 0.5 : n + 0.5);

    *quadrant = (unsigned)((unsigned long long)k & 3);
    x -= (double)k * 1.57079632673412561417e+00;
    return x - (double)k * 6.07710050650619224932e-11;
}

static double by_quadrant(double r, unsigned quadrant)
{
    double v = quadrant & 1 ? cos_core(r) : sin_core(r);

    return quadrant & 2 ? -v : v;
}

double wl_sin(double x)
{
    unsigned q;
    double r = reduce(x, &q);

    return by_quadrant(r, q);
}

double wl_cos(double x)
{
    unsigned q;
    double r = reduce(x, &q);

    return by_quadrant(r, (q + 1) & 3);
}

#define LN2 6.93147180559945309417e-01

/* 2^k for k within the range of normal numbers. */
static double power_of_two(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double d;

    memcpy(&d, &bits, 8);
    return d;
}

double wl_exp(double x)
{
    double n = x / LN2, r, s = 1.0;
    int k;

    if (x < -700)
        return 0;
    if (x > 700)
        x = 700, n = x / LN2;
    k = (int)(n < 0 ? n - 0.5 : n + 0.5);
    r = x - (double)k * LN2;
    for (int i = 14; i > 0; i--)
        s = 1.0 + s * r / i;
    return s * power_of_two(k);
}

/* x = m * 2^k with m near 1; log m by the series of the inverse hyperbolic tangent. */
double wl_log(double x)
{
    double m, t, y, s = 0;
    uint64_t bits;
    int k;

    memcpy(&bits, &x, 8);
    k = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1023) << 52;
    memcpy(&m, &bits, 8);
    if (m > 1.41421356237309504880) {
        m *= 0.5;
        k++;
    }
    t = (m - 1) / (m + 1);
    y = t * t;
    for (int i = 23; i > 0; i -= 2)
        s = s * y + 1.0 / i;
    return 2 * t * s + (double)k * LN2;
}
