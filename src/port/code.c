/* SPDX-License-Identifier: MIT */
#include "port/code.h"

/* ---- chunks -------------------------------------------------------------------------------- */

static int get_chunks(struct vs_bitr *r, struct vs_chunks c, uint64_t *v)
{
    uint64_t value = 0, chunk, more;
    unsigned n = c.first, shift = 0;
    int err;

    for (;;) {
        if ((err = vs_bitr_get(r, n, &chunk)) < 0 || (err = vs_bitr_get(r, 1, &more)) < 0)
            return err;
        if (shift && !chunk && !more)
            return -VSE_CORRUPT; /* the chunk adds nothing */
        if (chunk && (shift >= 64 || (shift && chunk >> (64 - shift))))
            return -VSE_CORRUPT;
        value |= shift < 64 ? chunk << shift : 0;
        if (!more)
            break;
        shift += n;
        if (shift >= 64)
            return -VSE_CORRUPT;
        n = c.other;
    }
    *v = value;
    return 0;
}

int vs_chunks_get(struct vs_bitr *r, struct vs_chunks c, uint64_t *v)
{
    uint64_t start = r->pos;
    int err = get_chunks(r, c, v);

    if (err)
        r->pos = start;
    return err;
}

/* ---- unary prefix -------------------------------------------------------------------------- */

int vs_ones_get(struct vs_bitr *r, unsigned most, unsigned *k)
{
    uint64_t start = r->pos, one;

    for (unsigned n = 0;; n++) {
        if (vs_bitr_get(r, 1, &one) < 0) {
            r->pos = start;
            return -VSE_END;
        }
        if (!one) {
            *k = n;
            return 0;
        }
        if (n == most) {
            r->pos = start;
            return -VSE_CORRUPT;
        }
    }
}

int vs_unary_get(struct vs_bitr *r, struct vs_unary u, uint64_t *v)
{
    uint64_t start = r->pos, value = 0;
    unsigned k;
    int err = vs_ones_get(r, vs_unary_ones(u, vs_unary_most(u)), &k);

    if (!err)
        err = vs_bitr_get(r, vs_unary_width(u, k), &value);
    if (!err && vs_unary_ones(u, vs_bit_length(value)) != k)
        err = -VSE_CORRUPT;
    if (err)
        r->pos = start;
    else
        *v = value;
    return err;
}

/* ---- differences --------------------------------------------------------------------------- */

static bool is_difference(struct vs_difference d, unsigned width)
{
    uint64_t half = UINT64_C(1) << (width - 1);

    return d.negative ? d.magnitude >= 1 && d.magnitude <= half : d.magnitude < half;
}

int vs_chunks_difference_get(struct vs_bitr *r, struct vs_chunks c, unsigned width,
                             struct vs_difference *d)
{
    uint64_t start = r->pos, negative = 0, magnitude = 0;
    int err = vs_bitr_get(r, 1, &negative);

    if (!err)
        err = vs_chunks_get(r, c, &magnitude);
    if (!err && !is_difference((struct vs_difference){magnitude, negative}, width))
        err = -VSE_CORRUPT;
    if (err)
        r->pos = start;
    else
        *d = (struct vs_difference){magnitude, negative};
    return err;
}

static struct vs_unary of_width(struct vs_unary u, unsigned width)
{
    u.most = (uint8_t)width;
    return u;
}

unsigned vs_unary_address_size(struct vs_unary u, uint64_t from, uint64_t to, unsigned width)
{
    struct vs_difference d = vs_difference(from, to, width);
    unsigned k, n;

    u = of_width(u, width);
    k = vs_unary_ones(u, vs_bit_length(d.magnitude));
    n = vs_unary_width(u, k);
    return k + 1 + n + (n < width);
}

unsigned vs_unary_address_put(struct vs_bitw *w, struct vs_unary u, uint64_t from, uint64_t to,
                              unsigned width)
{
    struct vs_difference d = vs_difference(from, to, width);
    unsigned k, n;

    u = of_width(u, width);
    k = vs_unary_ones(u, vs_bit_length(d.magnitude));
    n = vs_unary_width(u, k);
    vs_ones_put(w, k);
    if (n < width)
        vs_bitw_put(w, d.negative, 1);
    vs_bitw_put(w, n < width ? d.magnitude : to, n);
    return k + 1 + n + (n < width);
}

static int get_address(struct vs_bitr *r, struct vs_unary u, uint64_t from, unsigned width,
                       uint64_t *to)
{
    uint64_t negative, value;
    struct vs_difference d;
    unsigned k, n;
    int err = vs_ones_get(r, vs_unary_ones(u, width), &k);

    if (err)
        return err;
    n = vs_unary_width(u, k);
    if (n == width) {
        if ((err = vs_bitr_get(r, n, &value)) < 0)
            return err;
        d = vs_difference(from, value, width);
        *to = value;
    } else {
        if ((err = vs_bitr_get(r, 1, &negative)) < 0 || (err = vs_bitr_get(r, n, &value)) < 0)
            return err;
        d = (struct vs_difference){value, negative};
        if (!is_difference(d, width))
            return -VSE_CORRUPT;
        *to = vs_difference_apply(from, d, width);
    }
    return vs_unary_ones(u, vs_bit_length(d.magnitude)) == k ? 0 : -VSE_CORRUPT;
}

int vs_unary_address_get(struct vs_bitr *r, struct vs_unary u, uint64_t from, unsigned width,
                         uint64_t *to)
{
    uint64_t start = r->pos, address;
    int err = get_address(r, of_width(u, width), from, width, &address);

    if (err)
        r->pos = start;
    else
        *to = address;
    return err;
}
