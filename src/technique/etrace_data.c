/* SPDX-License-Identifier: MIT */
#include "technique/etrace_data.h"

#include "base/power.h"

enum { TE_DATA = 3 << 5 }; /* what the reference flow has above the length */

struct vs_etrace_data_layout vs_etrace_data_layout(uint64_t data_bytes, enum vs_field field,
                                                   unsigned bits)
{
    unsigned size_bits = vs_log2_ceil(vs_log2_ceil(data_bytes + 1));
    return (struct vs_etrace_data_layout){.field = field,
                                          .bits = bits,
                                          .size_bits = size_bits ? size_bits : 1,
                                          .size_max = vs_log2_ceil(data_bytes)};
}

unsigned vs_etrace_data_size(const struct vs_etrace_data_layout *layout, uint64_t bytes)
{
    unsigned size = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;
    return size < layout->size_max ? size : layout->size_max;
}

/* ---- packets --------------------------------------------------------------------------------- */

VS_ETRACE_DESCRIBES void packet(struct vs_etrace_coder *c,
                                const struct vs_etrace_data_layout *layout,
                                struct vs_etrace_data_packet *p)
{
    uint64_t format =
        vs_etrace_field(c, VS_FIELD_HEADER, (unsigned)p->store << 1 | (unsigned)p->unaligned, 2);
    p->store = format >> 1;
    p->unaligned = format & 1;
    p->size = (uint8_t)vs_etrace_field(c, VS_FIELD_HEADER, p->size, layout->size_bits);
    if (p->size > layout->size_max)
        vs_etrace_refuse(c, VS_FIELD_HEADER, "a transfer that is too wide");
    p->differs = vs_etrace_field(c, VS_FIELD_HEADER, p->differs, 1);
    p->content = vs_etrace_field(c, layout->field, p->content, layout->bits);
}

void vs_etrace_data_pack(const struct vs_etrace_data_layout *layout,
                         const struct vs_etrace_data_packet *p, struct vs_etrace_bits *bits)
{
    struct vs_etrace_data_packet copy = *p;
    struct vs_etrace_coder c = vs_etrace_writing(bits);
    packet(&c, layout, &copy);
}

void vs_etrace_data_choose(const struct vs_etrace_data_layout *layout,
                           enum vs_etrace_data_mode mode, uint64_t differs,
                           struct vs_etrace_data_packet *p, struct vs_etrace_bits *bits)
{
    struct vs_etrace_data_packet other = *p;
    struct vs_etrace_bits whole;
    vs_etrace_data_pack(layout, p, bits);
    if (mode == VS_ETRACE_DATA_FULL)
        return;
    other.differs = true;
    other.content = differs & vs_etrace_ones(layout->bits);
    whole = *bits;
    vs_etrace_data_pack(layout, &other, bits);
    if (mode == VS_ETRACE_DATA_SHORTER && vs_etrace_size(&whole) < vs_etrace_size(bits))
        *bits = whole;
    else
        *p = other;
}

void vs_etrace_data_put(struct vs_port_writer *w, const struct vs_etrace_bits *bits)
{
    unsigned bytes = vs_etrace_size(bits);
    vs_port_put_frame(w, VS_FIELD_HEADER, bytes | TE_DATA, 8);
    vs_etrace_put(w, bits, bytes);
}

int vs_etrace_data_head(struct vs_port_reader *r, unsigned *bytes)
{
    uint64_t head;
    int err = vs_port_get(r, VS_FIELD_HEADER, 8, &head);
    if (err)
        return err;
    if ((head & ~(uint64_t)VS_ETRACE_BYTES_MAX) != TE_DATA)
        return vs_port_refuse(r, VS_FIELD_HEADER, "no packet begins like that");
    *bytes = head & VS_ETRACE_BYTES_MAX;
    return 0;
}

int vs_etrace_data_get(struct vs_port_reader *r, const struct vs_etrace_data_layout *layout,
                       unsigned bytes, struct vs_etrace_data_packet *p)
{
    struct vs_etrace_bits bits;
    struct vs_etrace_coder c = vs_etrace_reading(&bits, r, bytes);
    *p = (struct vs_etrace_data_packet){0};
    packet(&c, layout, p);
    return vs_etrace_read(&c);
}
