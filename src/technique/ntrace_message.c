/* SPDX-License-Identifier: MIT */
#include "technique/ntrace_message.h"

#include <string.h>

#include "technique/ntrace_plain.h"

enum { MDO = 6, MSEO_MORE = 0, MSEO_FIELD = 1, MSEO_MESSAGE = 3 };

/* One description of the messages serves both directions: fields are put into `out`, and are first
 * taken from `in` if there is one. It is compiled twice, once for each direction. */
#define DESCRIBES static inline __attribute__((always_inline))

struct coder {
    const struct vs_ntrace_layout *layout;
    struct vs_ntrace_bytes *out;
    const struct vs_ntrace_bytes *in; /* NULL: the message is written */
    unsigned byte, bit;               /* of `in`: where the next field begins */
    unsigned used;                    /* bits of the last byte of `out` */
    unsigned whole;                   /* bytes of `out` that belong to a field */
    bool bad;
};

/* ---- writing --------------------------------------------------------------------------------- */

DESCRIBES void add_byte(struct coder *c, uint64_t data)
{
    struct vs_ntrace_bytes *o = c->out;
    if (o->count == VS_NTRACE_BYTES_MAX) {
        c->bad = true;
        o->count--;
    }
    o->bytes[o->count++] = (uint8_t)(data << 2);
}

/* The bytes since the last such end belong to field f. */
DESCRIBES void end_part(struct coder *c, enum vs_field f)
{
    struct vs_ntrace_bytes *o = c->out;
    if (o->count == c->whole)
        return;
    o->part[o->parts++] = (struct vs_port_part){(uint8_t)f, (uint8_t)(8 * (o->count - c->whole))};
    c->whole = o->count;
}

/* A field with a width begins a byte or follows another one, and does not reach beyond. */
DESCRIBES void put_fixed(struct coder *c, uint64_t v, unsigned n)
{
    if (c->used == MDO) {
        add_byte(c, 0);
        c->used = 0;
    }
    c->out->bytes[c->out->count - 1] |= (uint8_t)(v << (c->used + 2));
    c->used += n;
}

/* Puts n bits or more, up to the end of a byte. They begin in the last byte if it has room. `fill`
 * is what comes on top of v. */
DESCRIBES void put_variable(struct coder *c, uint64_t v, unsigned n, uint64_t fill)
{
    unsigned room = MDO - c->used;
    if (room) {
        c->out->bytes[c->out->count - 1] |= (uint8_t)((v & ((1u << room) - 1)) << (c->used + 2));
        v = v >> room | fill << (64 - room);
        n -= n < room ? n : room;
    }
    for (; n; n -= n < MDO ? n : MDO) {
        add_byte(c, v & ((1u << MDO) - 1));
        v = v >> MDO | fill << (64 - MDO);
    }
}

DESCRIBES void end_with(struct coder *c, unsigned mseo)
{
    c->out->bytes[c->out->count - 1] |= (uint8_t)mseo;
    c->used = MDO;
}

/* ---- reading --------------------------------------------------------------------------------- */

static uint64_t take_bits(struct coder *c, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) {
        if (c->bit == MDO) {
            c->bit = 0;
            c->byte++;
        }
        if (c->byte >= c->in->count) {
            c->bad = true;
            return 0;
        }
        v |= (uint64_t)(c->in->bytes[c->byte] >> (2 + c->bit++) & 1) << i;
    }
    return v;
}

/* *bits is how many there were. */
static uint64_t take_variable(struct coder *c, unsigned *bits)
{
    uint64_t v = 0;
    unsigned n = 0;
    if (c->bit == MDO) {
        c->bit = 0;
        c->byte++;
    }
    for (;; c->byte++, c->bit = 0) {
        if (c->byte >= c->in->count) {
            c->bad = true;
            return 0;
        }
        uint64_t some = c->in->bytes[c->byte] >> (2 + c->bit);
        v |= n < 64 ? some << n : 0;
        n += MDO - c->bit;
        if (c->in->bytes[c->byte] & 3)
            break;
    }
    c->bit = MDO;
    *bits = n;
    return v;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* A byte that such fields fill is theirs; else it is that of the field after them. */
DESCRIBES uint64_t fixed(struct coder *c, enum vs_field f, uint64_t v, unsigned n)
{
    if (c->in)
        v = take_bits(c, n);
    put_fixed(c, v, n);
    if (c->used == MDO)
        end_part(c, f);
    return v;
}

DESCRIBES uint64_t variable(struct coder *c, enum vs_field f, uint64_t v)
{
    unsigned n;
    if (c->in)
        v = take_variable(c, &n);
    n = v ? 64 - (unsigned)__builtin_clzll(v) : 0;
    if (!n && c->used == MDO)
        n = 1;
    put_variable(c, v, n, 0);
    end_part(c, f);
    end_with(c, MSEO_FIELD);
    return v;
}

/* An address, which begins a byte. */
DESCRIBES uint64_t address(struct coder *c, enum vs_field f, uint64_t v)
{
    unsigned n = 64, unused = 64 - c->layout->address_bits;
    if (!c->layout->extended)
        return variable(c, f, v);
    if (c->in)
        v = take_variable(c, &n);
    if (n < 64 && n && v >> (n - 1))
        v |= UINT64_MAX << n;
    v = v << unused >> unused;
    uint64_t sign = v << unused >> 63 ? UINT64_MAX : 0;
    uint64_t wide = sign ? v | ~(UINT64_MAX >> unused) : v, differs = wide ^ sign;
    put_variable(c, wide, differs ? 65 - (unsigned)__builtin_clzll(differs) : 1, sign);
    end_part(c, f);
    end_with(c, MSEO_FIELD);
    return v;
}

DESCRIBES void message(struct coder *c, struct vs_ntrace_message *m)
{
    m->number = (uint8_t)fixed(c, VS_FIELD_HEADER, m->number, MDO);
    switch (m->number) {
    case VS_NTRACE_DIRECT:
        m->icnt = variable(c, VS_FIELD_ICNT, m->icnt);
        break;
    case VS_NTRACE_INDIRECT:
    case VS_NTRACE_HISTORY:
        m->code = (uint8_t)fixed(c, VS_FIELD_HEADER, m->code, 2);
        m->icnt = variable(c, VS_FIELD_ICNT, m->icnt);
        m->address = address(c, VS_FIELD_TARGET, m->address);
        if (m->number == VS_NTRACE_HISTORY)
            m->hist = variable(c, VS_FIELD_OUTCOME, m->hist);
        break;
    case VS_NTRACE_SYNC:
        m->code = (uint8_t)fixed(c, VS_FIELD_HEADER, m->code, 4);
        m->icnt = variable(c, VS_FIELD_ICNT, m->icnt);
        m->address = address(c, VS_FIELD_SYNC, m->address);
        break;
    case VS_NTRACE_FULL:
        m->code = (uint8_t)fixed(c, VS_FIELD_HEADER, m->code, 4);
        if (m->code == VS_NTRACE_FULL_ICNT)
            m->icnt = variable(c, VS_FIELD_ICNT, m->icnt);
        else
            m->hist = variable(c, VS_FIELD_OUTCOME, m->hist);
        if (m->code == VS_NTRACE_REPEATED)
            m->repeat = variable(c, VS_FIELD_RUN, m->repeat);
        c->bad |= m->code > VS_NTRACE_REPEATED;
        break;
    case VS_NTRACE_REPEAT:
        m->icnt = variable(c, VS_FIELD_RUN, m->icnt);
        break;
    case VS_NTRACE_CORRELATION: {
        m->code = (uint8_t)fixed(c, VS_FIELD_HEADER, m->code, 4);
        uint64_t cdf = fixed(c, VS_FIELD_HEADER, m->history, 2);
        m->history = cdf;
        c->bad |= cdf > 1;
        m->icnt = variable(c, VS_FIELD_ICNT, m->icnt);
        if (m->history)
            m->hist = variable(c, VS_FIELD_OUTCOME, m->hist);
        break;
    }
    default:
        c->bad = true;
        return;
    }
    if (c->layout->timed)
        m->time = variable(c, VS_FIELD_CYCLES, m->time);
    end_with(c, MSEO_MESSAGE);
}

/* ---- messages -------------------------------------------------------------------------------- */

void vs_ntrace_pack(const struct vs_ntrace_layout *layout, const struct vs_ntrace_message *m,
                    struct vs_ntrace_bytes *out)
{
    struct vs_ntrace_message copy = *m;
    struct coder c = {.layout = layout, .out = out, .used = MDO};
    out->count = out->parts = 0;
    message(&c, &copy);
}

void vs_ntrace_put(struct vs_port_writer *w, const struct vs_ntrace_bytes *b)
{
    vs_port_put_parts(w, b->words, 8 * b->count, b->part, b->parts);
}

void vs_ntrace_count_plain(struct vs_port_counts *counts, const struct vs_ntrace_tally *t)
{
    counts->bits[VS_FIELD_HEADER] += 8 * t->messages;
    counts->bits[VS_FIELD_ICNT] += 8 * t->icnt;
    counts->bits[VS_FIELD_TARGET] += 8 * t->target;
    counts->bits[VS_FIELD_OUTCOME] += 8 * t->hist;
}

bool vs_ntrace_put_plain(struct vs_port_writer *w, const struct vs_ntrace_layout *layout,
                         const struct vs_ntrace_message *m)
{
    const bool full = m->number == VS_NTRACE_FULL && m->code == VS_NTRACE_FULL_HIST;
    const bool branch = m->number == VS_NTRACE_DIRECT || m->number == VS_NTRACE_INDIRECT ||
                        m->number == VS_NTRACE_HISTORY;
    struct vs_ntrace_tally tally = {0};
    struct vs_ntrace_plain p;
    if (!vs_ntrace_is_plain(layout) || !(full || branch) || (m->icnt | m->hist) >> 42 ||
        !vs_ntrace_pack_plain(m, &p))
        return false;
    vs_port_put_bits(w, p.bits, 8 * (p.bytes - p.beyond));
    vs_port_put_bits(w, p.above, 8 * p.beyond);
    vs_ntrace_tally(&tally, &p);
    vs_ntrace_count_plain(&w->core->counts, &tally);
    return true;
}

/* Reads the bytes of a message; which field each belongs to is known only afterwards. */
static int read_bytes(struct vs_port_reader *r, struct vs_ntrace_bytes *in)
{
    uint64_t byte = 0;
    int err = 0;
    in->count = 0;
    while (!err && (byte & 3) != MSEO_MESSAGE) {
        if (in->count == VS_NTRACE_BYTES_MAX)
            return vs_port_refuse(r, VS_FIELD_HEADER, "a message that does not end");
        err = vs_port_get(r, VS_FIELD_HEADER, 8, &byte);
        if (!err && (byte & 3) == 2)
            return vs_port_refuse(r, VS_FIELD_HEADER, "a byte that ends nothing");
        if (!err)
            in->bytes[in->count++] = (uint8_t)byte;
    }
    return err;
}

static void note_fields(const struct vs_port_reader *r, uint64_t from,
                        const struct vs_ntrace_bytes *b)
{
    uint8_t *fields = r->witness ? r->witness->fields : NULL;
    for (unsigned i = 0, at = 0; fields && i < b->parts; at += b->part[i++].bits)
        for (unsigned bit = 0; bit < b->part[i].bits; bit++)
            fields[r->before + from + at + bit] = (uint8_t)(b->part[i].field + 1);
}

int vs_ntrace_get(struct vs_port_reader *r, const struct vs_ntrace_layout *layout,
                  struct vs_ntrace_message *m)
{
    struct vs_ntrace_bytes in, out = {0};
    uint64_t from = r->bits.pos;
    int err = read_bytes(r, &in);
    if (err)
        return err;
    struct coder c = {.layout = layout, .out = &out, .in = &in, .used = MDO};
    *m = (struct vs_ntrace_message){0};
    message(&c, m);
    if (c.bad || out.count != in.count || memcmp(in.bytes, out.bytes, in.count) != 0)
        return vs_port_refuse(r, VS_FIELD_HEADER, "no message is like that");
    note_fields(r, from, &out);
    return 0;
}
