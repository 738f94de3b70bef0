/* SPDX-License-Identifier: MIT */
#include "port/account.h"

uint64_t vs_port_counts_bits(const struct vs_port_counts *c)
{
    uint64_t sum = 0;

    for (unsigned f = 0; f < VS_FIELD_END; f++)
        sum += c->bits[f];
    return sum;
}

uint64_t vs_port_counts_payload(const struct vs_port_counts *c)
{
    return vs_port_counts_bits(c) - c->frame;
}

void vs_port_counts_add(struct vs_port_counts *sum, const struct vs_port_counts *c)
{
    for (unsigned f = 0; f < VS_FIELD_END; f++)
        sum->bits[f] += c->bits[f];
    sum->frame += c->frame;
    sum->messages += c->messages;
}

uint64_t vs_lengths_chunks_bits(const struct vs_lengths *l, struct vs_chunks c)
{
    uint64_t sum = 0;

    for (unsigned n = 0; n <= 64; n++)
        sum += l->count[n] * vs_chunks_length_size(c, n);
    return sum;
}

uint64_t vs_lengths_unary_bits(const struct vs_lengths *l, struct vs_unary u)
{
    uint64_t sum = 0;

    for (unsigned n = 0; n <= 64; n++) {
        if (l->count[n] && n > vs_unary_most(u))
            return UINT64_MAX;
        sum += l->count[n] * vs_unary_length_size(u, n);
    }
    return sum;
}

uint64_t vs_lengths_best_chunks(const struct vs_lengths *l, unsigned most, struct vs_chunks *best)
{
    uint64_t least = UINT64_MAX;

    for (unsigned first = 1; first <= most; first++)
        for (unsigned other = 1; other <= most; other++) {
            struct vs_chunks c = {(uint8_t)first, (uint8_t)other};
            uint64_t bits = vs_lengths_chunks_bits(l, c);

            if (bits < least) {
                least = bits;
                *best = c;
            }
        }
    return least;
}

uint64_t vs_lengths_best_unary(const struct vs_lengths *l, unsigned most, struct vs_unary *best)
{
    uint64_t least = UINT64_MAX;

    for (unsigned size = 1; size <= most; size++)
        for (unsigned step = 1; step <= most; step++) {
            struct vs_unary u = {(uint8_t)size, (uint8_t)step, 0};
            uint64_t bits = vs_lengths_unary_bits(l, u);

            if (bits < least) {
                least = bits;
                *best = u;
            }
        }
    return least;
}
