/* SPDX-License-Identifier: MIT */
#include "technique/etrace_bits.h"

static void append(struct vs_etrace_bits *b, enum vs_field f, uint64_t v, unsigned n)
{
    unsigned word = b->count / 64, at = b->count % 64;
    v &= vs_etrace_ones(n);
    b->words[word] |= v << at;
    if (at + n > 64)
        b->words[word + 1] |= v >> (64 - at);
    b->count += n;
    b->part[b->parts].field = (uint8_t)f;
    b->part[b->parts++].width = (uint8_t)n;
}

static bool bit_at(const struct vs_etrace_bits *b, unsigned i)
{
    return b->words[i / 64] >> i % 64 & 1;
}

unsigned vs_etrace_size(const struct vs_etrace_bits *b)
{
    uint64_t same = bit_at(b, b->count - 1) ? UINT64_MAX : 0;
    for (unsigned word = (b->count - 1) / 64 + 1; word-- > 0;) {
        uint64_t used =
            b->count >= 64 * (word + 1) ? UINT64_MAX : vs_etrace_ones(b->count - 64 * word);
        uint64_t other = (b->words[word] ^ same) & used;
        if (other)
            return (64 * word + 63 - (unsigned)__builtin_clzll(other) + 2 + 7) / 8;
    }
    return 1;
}

void vs_etrace_put(struct vs_port_writer *w, const struct vs_etrace_bits *b)
{
    unsigned at = 0, end = 8 * vs_etrace_size(b);
    uint64_t fill = bit_at(b, b->count - 1) ? UINT64_MAX : 0;
    for (unsigned i = 0; i < b->parts && at < end; i++) {
        unsigned n = b->part[i].width, word = at / 64, shift = at % 64;
        if (!n)
            continue;
        n = n < end - at ? n : end - at;
        uint64_t v = b->words[word] >> shift;
        if (shift + n > 64)
            v |= b->words[word + 1] << (64 - shift);
        vs_port_put(w, (enum vs_field)b->part[i].field, v, n);
        at += n;
    }
    if (at < end)
        vs_port_put(w, (enum vs_field)b->part[b->parts - 1].field, fill, end - at);
}

uint64_t vs_etrace_field(struct vs_etrace_coder *c, enum vs_field f, uint64_t v, unsigned n)
{
    if (c->reader && !c->error) {
        unsigned there = n < c->left ? n : c->left;
        v = 0;
        if (there)
            c->error = vs_port_get(c->reader, f, there, &v);
        if (there < n && c->top)
            v |= vs_etrace_ones(n) & ~vs_etrace_ones(there);
        c->left -= there;
    }
    append(c->bits, f, v, n);
    if (n)
        c->last = v >> (n - 1) & 1;
    return v & vs_etrace_ones(n);
}

void vs_etrace_refuse(struct vs_etrace_coder *c, enum vs_field f, const char *why)
{
    if (c->reader && !c->error)
        c->error = vs_port_refuse(c->reader, f, why);
}

struct vs_etrace_coder vs_etrace_writing(struct vs_etrace_bits *bits)
{
    *bits = (struct vs_etrace_bits){0};
    return (struct vs_etrace_coder){.bits = bits};
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
    *bits = (struct vs_etrace_bits){0};
    struct vs_etrace_coder c = {
        .bits = bits, .reader = r, .bytes = bytes, .left = 8 * bytes, .top = top};
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
