/* SPDX-License-Identifier: MIT */
#include "technique/ntrace_message.h"

enum { MDO = 6, MSEO_MORE = 0, MSEO_FIELD = 1, MSEO_MESSAGE = 3 };

/* One description of the messages serves both directions: fields are put into `out`, and are first
 * taken from `in` if there is one. */
struct coder {
    struct vs_ntrace_bytes *out;
    const struct vs_ntrace_bytes *in; /* NULL: the message is written */
    unsigned byte, bit;               /* of `in`: where the next field begins */
    unsigned used;                    /* bits of the last byte of `out` */
    bool bad;
};

/* ---- writing --------------------------------------------------------------------------------- */

static void add_byte(struct coder *c, enum vs_field f)
{
    struct vs_ntrace_bytes *o = c->out;
    if (o->count == VS_NTRACE_BYTES_MAX) {
        c->bad = true;
        o->count--;
    }
    o->bytes[o->count] = 0;
    o->fields[o->count++] = (uint8_t)f;
    c->used = 0;
}

static void put_bits(struct coder *c, enum vs_field f, uint64_t v, unsigned n)
{
    while (n) {
        if (c->used == MDO)
            add_byte(c, f);
        unsigned room = MDO - c->used, some = n < room ? n : room;
        uint8_t *byte = &c->out->bytes[c->out->count - 1];
        *byte = (uint8_t)(*byte | (v & ((1u << some) - 1)) << (c->used + 2));
        c->out->fields[c->out->count - 1] = (uint8_t)f;
        c->used += some;
        v = some < 64 ? v >> some : 0;
        n -= some;
    }
}

static void end_with(struct coder *c, unsigned mseo)
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

static uint64_t take_variable(struct coder *c)
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
        c->bad |= n < 64 ? some && n && some >> (64 - n) : some != 0;
        v |= n < 64 ? some << n : 0;
        n += MDO - c->bit;
        if (c->in->bytes[c->byte] & 3)
            break;
    }
    c->bit = MDO;
    return v;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static uint64_t fixed(struct coder *c, enum vs_field f, uint64_t v, unsigned n)
{
    if (c->in)
        v = take_bits(c, n);
    put_bits(c, f, v, n);
    return v;
}

static uint64_t variable(struct coder *c, enum vs_field f, uint64_t v)
{
    if (c->in)
        v = take_variable(c);
    unsigned n = v ? 64 - (unsigned)__builtin_clzll(v) : 0;
    if (!n && c->used == MDO)
        n = 1;
    put_bits(c, f, v, n);
    c->out->fields[c->out->count - 1] = (uint8_t)f;
    end_with(c, MSEO_FIELD);
    return v;
}

static void message(struct coder *c, struct vs_ntrace_message *m, bool timed)
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
        m->address = variable(c, VS_FIELD_TARGET, m->address);
        if (m->number == VS_NTRACE_HISTORY)
            m->hist = variable(c, VS_FIELD_OUTCOME, m->hist);
        break;
    case VS_NTRACE_SYNC:
        m->code = (uint8_t)fixed(c, VS_FIELD_HEADER, m->code, 4);
        m->icnt = variable(c, VS_FIELD_ICNT, m->icnt);
        m->address = variable(c, VS_FIELD_SYNC, m->address);
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
    if (timed)
        m->time = variable(c, VS_FIELD_CYCLES, m->time);
    end_with(c, MSEO_MESSAGE);
}

/* ---- messages -------------------------------------------------------------------------------- */

void vs_ntrace_pack(const struct vs_ntrace_message *m, bool timed, struct vs_ntrace_bytes *out)
{
    struct vs_ntrace_message copy = *m;
    struct coder c = {.out = out, .used = MDO};
    out->count = 0;
    message(&c, &copy, timed);
}

void vs_ntrace_put(struct vs_port_writer *w, const struct vs_ntrace_bytes *b)
{
    for (unsigned i = 0; i < b->count; i++)
        vs_port_put(w, (enum vs_field)b->fields[i], b->bytes[i], 8);
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
    for (unsigned i = 0; fields && i < 8 * b->count; i++)
        fields[r->before + from + i] = (uint8_t)(b->fields[i / 8] + 1);
}

int vs_ntrace_get(struct vs_port_reader *r, bool timed, struct vs_ntrace_message *m)
{
    struct vs_ntrace_bytes in, out = {0};
    uint64_t from = r->bits.pos;
    int err = read_bytes(r, &in);
    if (err)
        return err;
    struct coder c = {.out = &out, .in = &in, .used = MDO};
    *m = (struct vs_ntrace_message){0};
    message(&c, m, timed);
    bool same = !c.bad && out.count == in.count;
    for (unsigned i = 0; same && i < in.count; i++)
        same = in.bytes[i] == out.bytes[i];
    if (!same)
        return vs_port_refuse(r, VS_FIELD_HEADER, "no message is like that");
    note_fields(r, from, &out);
    return 0;
}
