/* SPDX-License-Identifier: MIT */
#include "technique/etrace_packet.h"

#include "technique/etrace_plain.h"

struct coder {
    struct vs_etrace_coder base;
    const struct vs_etrace_layout *layout;
};

/* ---- fields ---------------------------------------------------------------------------------- */

VS_ETRACE_DESCRIBES uint64_t field(struct coder *c, enum vs_field f, uint64_t v, unsigned n)
{
    return vs_etrace_field(&c->base, f, v, n);
}

VS_ETRACE_DESCRIBES void refuse(struct coder *c, enum vs_field f, const char *why)
{
    vs_etrace_refuse(&c->base, f, why);
}

/* A flag is coded as whether it differs from the bit before. */
VS_ETRACE_DESCRIBES bool flag(struct coder *c, enum vs_field f, bool set)
{
    bool before = c->base.last;
    return field(c, f, before ^ set, 1) != before;
}

/* A field that has one value. */
VS_ETRACE_DESCRIBES void fixed(struct coder *c, enum vs_field f, uint64_t v, unsigned n,
                               const char *why)
{
    if (field(c, f, v, n) != (v & vs_etrace_ones(n)))
        refuse(c, f, why);
}

VS_ETRACE_DESCRIBES void irets(struct coder *c, struct vs_etrace_packet *p)
{
    unsigned n = c->layout->irets_bits;
    p->irreport = flag(c, VS_FIELD_INDEX, p->irreport);
    if (p->irreport)
        p->irets = (uint8_t)field(c, VS_FIELD_INDEX, p->irets, n);
    else
        fixed(c, VS_FIELD_INDEX, c->base.last ? UINT64_MAX : 0, n, "returns that are not reported");
    if (p->irreport && !n)
        refuse(c, VS_FIELD_INDEX, "no return is implicit");
}

VS_ETRACE_DESCRIBES void address(struct coder *c, struct vs_etrace_packet *p)
{
    p->has_address = true;
    p->address = field(c, VS_FIELD_TARGET, p->address, c->layout->address_bits);
    p->notify = flag(c, VS_FIELD_TARGET, p->notify);
    p->updiscon = flag(c, VS_FIELD_TARGET, p->updiscon);
    irets(c, p);
}

VS_ETRACE_DESCRIBES unsigned map_width(unsigned branches)
{
    return branches == 0 || branches > 15 ? 31
           : branches > 7                 ? 15
           : branches > 3                 ? 7
           : branches > 1                 ? 3
                                          : 1;
}

VS_ETRACE_DESCRIBES void map(struct coder *c, struct vs_etrace_packet *p, unsigned branches)
{
    p->map = (uint32_t)field(c, VS_FIELD_OUTCOME, p->map, map_width(branches));
    if (branches && p->map & ~vs_etrace_ones(branches))
        refuse(c, VS_FIELD_OUTCOME, "outcomes of no branch");
}

VS_ETRACE_DESCRIBES void count_packet(struct coder *c, struct vs_etrace_packet *p)
{
    unsigned format = !p->has_address ? 0 : p->wrong ? 3 : 2;
    p->count = (uint32_t)field(c, VS_FIELD_BCNT, p->count, 32);
    format = (unsigned)field(c, VS_FIELD_HEADER, format, 2);
    if (format == 1)
        refuse(c, VS_FIELD_HEADER, "a branch_fmt that does not exist");
    p->wrong = format == 3;
    if (format >= 2)
        address(c, p);
}

VS_ETRACE_DESCRIBES void index_packet(struct coder *c, struct vs_etrace_packet *p)
{
    p->index = (uint32_t)field(c, VS_FIELD_INDEX, p->index, c->layout->index_bits);
    p->branches = (uint8_t)field(c, VS_FIELD_HEADER, p->branches, 5);
    if (p->branches)
        map(c, p, p->branches);
    irets(c, p);
}

VS_ETRACE_DESCRIBES void map_packet(struct coder *c, struct vs_etrace_packet *p)
{
    unsigned branches = (unsigned)field(c, VS_FIELD_HEADER, p->has_address ? p->branches : 0, 5);
    map(c, p, branches);
    p->branches = (uint8_t)(branches ? branches : VS_ETRACE_MAP_MAX);
    if (branches)
        address(c, p);
}

VS_ETRACE_DESCRIBES void support_packet(struct coder *c, struct vs_etrace_packet *p)
{
    p->enabled = field(c, VS_FIELD_SYNC, p->enabled, 1);
    fixed(c, VS_FIELD_SYNC, 0, 1, "an encoder_mode that does not exist");
    p->status = (uint8_t)field(c, VS_FIELD_SYNC, p->status, 2);
    p->options = (uint8_t)field(c, VS_FIELD_SYNC, p->options, 5);
    fixed(c, VS_FIELD_SYNC, 0, 6, "data are not traced");
}

VS_ETRACE_DESCRIBES void sync_packet(struct coder *c, struct vs_etrace_packet *p)
{
    bool trap = p->subformat == VS_ETRACE_TRAP;
    p->branch = field(c, VS_FIELD_OUTCOME, p->branch, 1);
    p->privilege = (uint8_t)field(c, VS_FIELD_SYNC, p->privilege, c->layout->privilege_bits);
    fixed(c, VS_FIELD_SYNC, 0, c->layout->context_bits, "a context that is not traced");
    if (trap) {
        p->cause = (uint32_t)field(c, VS_FIELD_SYNC, p->cause, c->layout->cause_bits);
        p->interrupt = field(c, VS_FIELD_SYNC, p->interrupt, 1);
        p->thaddr = field(c, VS_FIELD_SYNC, p->thaddr, 1);
    }
    p->has_address = !(trap && p->thaddr && c->layout->implicit_trap);
    if (p->has_address)
        p->address = field(c, VS_FIELD_SYNC, p->address, c->layout->address_bits);
    if (trap && !p->interrupt) /* tval, of which a user's program knows nothing */
        fixed(c, VS_FIELD_SYNC, 0, 64, "a tval that is not traced");
}

VS_ETRACE_DESCRIBES void packet(struct coder *c, struct vs_etrace_packet *p)
{
    const struct vs_etrace_layout *l = c->layout;
    p->format = (uint8_t)field(c, VS_FIELD_HEADER, p->format, 2);
    switch (p->format) {
    case 0:
        p->subformat = (uint8_t)field(c, VS_FIELD_HEADER, p->subformat, l->subformat_bits);
        if (!l->subformat_bits)
            p->subformat = l->indexes ? VS_ETRACE_INDEX : VS_ETRACE_COUNT;
        if (p->subformat == VS_ETRACE_INDEX)
            index_packet(c, p);
        else
            count_packet(c, p);
        break;
    case 1:
        map_packet(c, p);
        break;
    case 2:
        address(c, p);
        break;
    default:
        p->subformat = (uint8_t)field(c, VS_FIELD_HEADER, p->subformat, 2);
        if (p->subformat == VS_ETRACE_SUPPORT)
            support_packet(c, p);
        else if (p->subformat == VS_ETRACE_CONTEXT)
            refuse(c, VS_FIELD_HEADER, "contexts are not traced");
        else
            sync_packet(c, p);
    }
}

/* ---- packets --------------------------------------------------------------------------------- */

void vs_etrace_pack(const struct vs_etrace_layout *layout, const struct vs_etrace_packet *p,
                    struct vs_etrace_bits *bits)
{
    struct vs_etrace_packet copy = *p;
    struct coder c = {vs_etrace_writing(bits), layout};
    packet(&c, &copy);
}

void vs_etrace_count_plain(struct vs_port_counts *counts, const struct vs_etrace_tally *t)
{
    counts->frame += VS_ETRACE_PLAIN_HEAD * t->packets;
    counts->bits[VS_FIELD_HEADER] += VS_ETRACE_PLAIN_HEAD * t->packets + t->before - t->map;
    counts->bits[VS_FIELD_OUTCOME] += t->map;
    counts->bits[VS_FIELD_TARGET] += 8 * t->bytes - t->before - t->beyond;
    counts->bits[VS_FIELD_INDEX] += t->beyond;
}

bool vs_etrace_put_plain(struct vs_port_writer *w, const struct vs_etrace_layout *layout,
                         unsigned head, unsigned branches, uint32_t map, uint64_t address)
{
    struct vs_etrace_tally tally = {0};
    struct vs_etrace_plain p;
    if (!vs_etrace_pack_plain(layout, head, branches, map, address, &p))
        return false;
    vs_port_put_bits(w, p.bits, vs_etrace_plain_first(&p));
    if (unlikely(p.bytes > 7))
        vs_port_put_bits(w, p.above, vs_etrace_plain_second(&p));
    vs_etrace_tally(&tally, layout, &p);
    vs_etrace_count_plain(&w->core->counts, &tally);
    return true;
}

int vs_etrace_get(struct vs_port_reader *r, const struct vs_etrace_layout *layout, unsigned bytes,
                  struct vs_etrace_packet *p)
{
    struct vs_etrace_bits bits;
    struct coder c = {vs_etrace_reading(&bits, r, bytes), layout};
    *p = (struct vs_etrace_packet){0};
    packet(&c, p);
    return vs_etrace_read(&c.base);
}
