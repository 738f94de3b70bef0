/* SPDX-License-Identifier: MIT */
#include "technique/etrace_packet.h"

#include <string.h>

/* One description of the packets serves both directions: fields are put into `bits`, and are first
 * read if there is a reader. */
struct coder {
    const struct vs_etrace_layout *layout;
    struct vs_etrace_bits *bits;
    struct vs_port_reader *reader; /* NULL: the packet is written */
    unsigned left;                 /* bits of the packet that were not read yet */
    bool top;                      /* its last bit, of which all that follow are copies */
    bool last;                     /* the last bit of the field before */
    int error;
};

static uint64_t ones(unsigned n)
{
    return n ? UINT64_MAX >> (64 - n) : 0;
}

/* ---- bits ------------------------------------------------------------------------------------ */

static void append(struct vs_etrace_bits *b, enum vs_field f, uint64_t v, unsigned n)
{
    unsigned word = b->count / 64, at = b->count % 64;
    v &= ones(n);
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
        uint64_t used = b->count >= 64 * (word + 1) ? UINT64_MAX : ones(b->count - 64 * word);
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

/* ---- fields ---------------------------------------------------------------------------------- */

static uint64_t field(struct coder *c, enum vs_field f, uint64_t v, unsigned n)
{
    if (c->reader && !c->error) {
        unsigned there = n < c->left ? n : c->left;
        v = 0;
        if (there)
            c->error = vs_port_get(c->reader, f, there, &v);
        if (there < n && c->top)
            v |= ones(n) & ~ones(there);
        c->left -= there;
    }
    append(c->bits, f, v, n);
    if (n)
        c->last = v >> (n - 1) & 1;
    return v & ones(n);
}

/* A flag is coded as whether it differs from the bit before. */
static bool flag(struct coder *c, enum vs_field f, bool set)
{
    bool before = c->last;
    return field(c, f, before ^ set, 1) != before;
}

static void refuse(struct coder *c, enum vs_field f, const char *why)
{
    if (c->reader && !c->error)
        c->error = vs_port_refuse(c->reader, f, why);
}

/* A field that has one value. */
static void fixed(struct coder *c, enum vs_field f, uint64_t v, unsigned n, const char *why)
{
    if (field(c, f, v, n) != (v & ones(n)))
        refuse(c, f, why);
}

static void irets(struct coder *c, struct vs_etrace_packet *p)
{
    unsigned n = c->layout->irets_bits;
    p->irreport = flag(c, VS_FIELD_INDEX, p->irreport);
    if (p->irreport)
        p->irets = (uint8_t)field(c, VS_FIELD_INDEX, p->irets, n);
    else
        fixed(c, VS_FIELD_INDEX, c->last ? UINT64_MAX : 0, n, "returns that are not reported");
    if (p->irreport && !n)
        refuse(c, VS_FIELD_INDEX, "no return is implicit");
}

static void address(struct coder *c, struct vs_etrace_packet *p)
{
    p->has_address = true;
    p->address = field(c, VS_FIELD_TARGET, p->address, c->layout->address_bits);
    p->notify = flag(c, VS_FIELD_TARGET, p->notify);
    p->updiscon = flag(c, VS_FIELD_TARGET, p->updiscon);
    irets(c, p);
}

static unsigned map_width(unsigned branches)
{
    return branches == 0 || branches > 15 ? 31
           : branches > 7                 ? 15
           : branches > 3                 ? 7
           : branches > 1                 ? 3
                                          : 1;
}

static void map(struct coder *c, struct vs_etrace_packet *p, unsigned branches)
{
    p->map = (uint32_t)field(c, VS_FIELD_OUTCOME, p->map, map_width(branches));
    if (branches && p->map & ~ones(branches))
        refuse(c, VS_FIELD_OUTCOME, "outcomes of no branch");
}

static void count_packet(struct coder *c, struct vs_etrace_packet *p)
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

static void index_packet(struct coder *c, struct vs_etrace_packet *p)
{
    p->index = (uint32_t)field(c, VS_FIELD_INDEX, p->index, c->layout->index_bits);
    p->branches = (uint8_t)field(c, VS_FIELD_HEADER, p->branches, 5);
    if (p->branches)
        map(c, p, p->branches);
    irets(c, p);
}

static void map_packet(struct coder *c, struct vs_etrace_packet *p)
{
    unsigned branches = (unsigned)field(c, VS_FIELD_HEADER, p->has_address ? p->branches : 0, 5);
    map(c, p, branches);
    p->branches = (uint8_t)(branches ? branches : VS_ETRACE_MAP_MAX);
    if (branches)
        address(c, p);
}

static void support_packet(struct coder *c, struct vs_etrace_packet *p)
{
    p->enabled = field(c, VS_FIELD_SYNC, p->enabled, 1);
    fixed(c, VS_FIELD_SYNC, 0, 1, "an encoder_mode that does not exist");
    p->status = (uint8_t)field(c, VS_FIELD_SYNC, p->status, 2);
    p->options = (uint8_t)field(c, VS_FIELD_SYNC, p->options, 5);
    fixed(c, VS_FIELD_SYNC, 0, 6, "data are not traced");
}

static void sync_packet(struct coder *c, struct vs_etrace_packet *p)
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
    p->has_address = true;
    p->address = field(c, VS_FIELD_SYNC, p->address, c->layout->address_bits);
    if (trap && !p->interrupt) /* tval, of which a user's program knows nothing */
        fixed(c, VS_FIELD_SYNC, 0, 64, "a tval that is not traced");
}

static void packet(struct coder *c, struct vs_etrace_packet *p)
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
    struct coder c = {.layout = layout, .bits = bits};
    *bits = (struct vs_etrace_bits){0};
    packet(&c, &copy);
}

/* The bits after the last field, which are copies of its last bit. */
static void read_fill(struct coder *c)
{
    uint64_t fill = 0;
    bool top = bit_at(c->bits, c->bits->count - 1);
    if (c->left > 7)
        refuse(c, VS_FIELD_HEADER, "the packet is too long");
    if (c->error || !c->left)
        return;
    c->error = vs_port_get(c->reader, (enum vs_field)c->bits->part[c->bits->parts - 1].field,
                           c->left, &fill);
    if (fill != (top ? ones(c->left) : 0))
        refuse(c, VS_FIELD_HEADER, "the packet is not filled up with its last bit");
}

int vs_etrace_get(struct vs_port_reader *r, const struct vs_etrace_layout *layout, unsigned bytes,
                  struct vs_etrace_packet *p)
{
    struct vs_etrace_bits bits = {0};
    struct vs_bitr ahead = r->bits;
    uint64_t top = 0;
    while (vs_bitr_left(&r->bits) < 8 * (uint64_t)bytes && r->more &&
           r->more->get(r->more->context, &r->bits))
        ;
    ahead = r->bits;
    if (bytes && vs_bitr_left(&ahead) >= 8 * (uint64_t)bytes) {
        ahead.pos += 8 * (uint64_t)bytes - 1;
        vs_bitr_get(&ahead, 1, &top);
    }
    struct coder c = {.layout = layout, .bits = &bits, .reader = r, .left = 8 * bytes, .top = top};
    *p = (struct vs_etrace_packet){0};
    if (!bytes)
        return vs_port_refuse(r, VS_FIELD_HEADER, "a packet of no bytes");
    packet(&c, p);
    read_fill(&c);
    if (!c.error && vs_etrace_size(&bits) != bytes)
        refuse(&c, VS_FIELD_HEADER, "the packet could be shorter");
    return c.error;
}
