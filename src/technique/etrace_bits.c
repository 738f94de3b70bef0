/* SPDX-License-Identifier: MIT */
#include "technique/etrace_bits.h"

static bool bit_at(const struct vs_etrace_bits *b, unsigned i)
{
    return b->words[i / 64] >> i % 64 & 1;
}

unsigned vs_etrace_size(const struct vs_etrace_bits *b)
{
    uint64_t same = bit_at(b, b->count - 1) ? UINT64_MAX : 0;
    unsigned word = (b->count - 1) / 64, unused = 63 - (b->count - 1) % 64;
    uint64_t other = (b->words[word] ^ same) << unused >> unused;
    while (!other && word)
        other = b->words[--word] ^ same;
    return other ? (64 * word + 63 - (unsigned)__builtin_clzll(other) + 2 + 7) / 8 : 1;
}

void vs_etrace_put(struct vs_port_writer *w, const struct vs_etrace_bits *b, unsigned bytes)
{
    if (8 * bytes <= b->count) {
        vs_port_put_parts(w, b->words, 8 * bytes, b->part, b->parts);
        return;
    }
    struct vs_etrace_bits filled = *b;
    if (bit_at(b, b->count - 1)) {
        filled.words[b->count / 64] |= UINT64_MAX << b->count % 64;
        for (unsigned i = b->count / 64 + 1; i < 4; i++)
            filled.words[i] = UINT64_MAX;
    }
    vs_port_put_parts(w, filled.words, 8 * bytes, b->part, b->parts);
}

uint64_t vs_etrace_read_field(struct vs_etrace_coder *c, enum vs_field f, unsigned n)
{
    unsigned there = n < c->left ? n : c->left;
    uint64_t v = 0;
    if (there)
        c->error = vs_port_get(c->reader, f, there, &v);
    if (there < n && c->top)
        v |= vs_etrace_ones(n) & ~vs_etrace_ones(there);
    c->left -= there;
    return v;
}

void vs_etrace_refuse(struct vs_etrace_coder *c, enum vs_field f, const char *why)
{
    if (c->reader && !c->error)
        c->error = vs_port_refuse(c->reader, f, why);
}

struct vs_etrace_coder vs_etrace_reading(struct vs_etrace_bits *bits, struct vs_port_reader *r,
                                         unsigned bytes)
{
    uint64_t top = 0;
    while (vs_bitr_left(&r->bits) < 8 * (uint64_t)bytes && r->more &&
           r->more->get(r->more->context, &r->bits))
        ;
    struct vs_bitr ahead = r->bits;
    if (bytes && vs_bitr_left(&ahead) >= 8 * (uint64_t)bytes) {
        ahead.pos += 8 * (uint64_t)bytes - 1;
        vs_bitr_get(&ahead, 1, &top);
    }
    struct vs_etrace_coder c = vs_etrace_writing(bits);
    c.reader = r;
    c.bytes = bytes;
    c.left = 8 * bytes;
    c.top = top;
    if (!bytes)
        vs_etrace_refuse(&c, VS_FIELD_HEADER, "a packet of no bytes");
    return c;
}

/* The bits after the last field, which are copies of its last bit. */
static void read_fill(struct vs_etrace_coder *c)
{
    uint64_t fill = 0;
    bool top = bit_at(c->bits, c->bits->count - 1);
    if (c->left > 7)
        vs_etrace_refuse(c, VS_FIELD_HEADER, "the packet is too long");
    if (c->error || !c->left)
        return;
    c->error = vs_port_get(c->reader, (enum vs_field)c->bits->part[c->bits->parts - 1].field,
                           c->left, &fill);
    if (fill != (top ? vs_etrace_ones(c->left) : 0))
        vs_etrace_refuse(c, VS_FIELD_HEADER, "the packet is not filled up with its last bit");
}

int vs_etrace_read(struct vs_etrace_coder *c)
{
    read_fill(c);
    if (!c->error && vs_etrace_size(c->bits) != c->bytes)
        vs_etrace_refuse(c, VS_FIELD_HEADER, "the packet could be shorter");
    return c->error;
}
