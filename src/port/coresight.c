/* SPDX-License-Identifier: MIT */
#include "port/coresight.h"

#include <string.h>

enum { AUXILIARY = 15, NOBODY = 1 }; /* source 0's number, as a byte */

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_even(unsigned i)
{
    return i % 2 == 0;
}

static void put_frame(struct vs_coresight_out *o, struct vs_port_writer *w, unsigned core,
                      uint64_t time)
{
    vs_port_begin_packet(w, core, time);
    for (unsigned i = 0; i < AUXILIARY; i++) {
        enum vs_field f = o->fields[i];
        if (f == VS_FIELD_END) {
            vs_port_put_frame(w, VS_FIELD_HEADER, o->bytes[i], 8);
        } else if (is_even(i)) {
            vs_port_put_frame(w, VS_FIELD_HEADER, 0, 1);
            vs_port_put(w, f, o->bytes[i] >> 1, 7);
        } else {
            vs_port_put(w, f, o->bytes[i], 8);
        }
    }
    for (unsigned i = 0; i < AUXILIARY; i += 2) {
        unsigned bit = o->bytes[AUXILIARY] >> i / 2 & 1;
        if (o->fields[i] == VS_FIELD_END)
            vs_port_put_frame(w, VS_FIELD_HEADER, bit, 1);
        else
            vs_port_put(w, o->fields[i], bit, 1);
    }
    vs_port_end(w);
    memset(o->bytes, 0, sizeof(o->bytes));
    o->at = 0;
}

static void put_number(struct vs_coresight_out *o, unsigned number)
{
    o->fields[o->at] = VS_FIELD_END;
    o->bytes[o->at++] = (uint8_t)(number << 1 | 1);
}

void vs_coresight_put(struct vs_coresight_out *o, struct vs_port_writer *w, unsigned core,
                      uint64_t time, enum vs_field f, uint8_t byte)
{
    if (!o->begun)
        put_number(o, vs_coresight_source(core));
    o->begun = true;
    o->fields[o->at] = (uint8_t)f;
    o->bytes[o->at] = byte;
    if (is_even(o->at)) {
        o->bytes[o->at] &= 0xFE;
        o->bytes[AUXILIARY] |= (uint8_t)((byte & 1) << o->at / 2);
    }
    if (++o->at == AUXILIARY)
        put_frame(o, w, core, time);
}

void vs_coresight_finish(struct vs_coresight_out *o, struct vs_port_writer *w, unsigned core,
                         uint64_t time)
{
    if (!o->at)
        return;
    if (!is_even(o->at)) { /* the last data byte becomes the odd one, after source 0's number */
        unsigned last = o->at - 1, bit = 1u << last / 2;
        o->fields[o->at] = o->fields[last];
        o->bytes[o->at++] = (uint8_t)(o->bytes[last] | (o->bytes[AUXILIARY] & bit ? 1 : 0));
        o->fields[last] = VS_FIELD_END;
        o->bytes[last] = NOBODY;
        o->bytes[AUXILIARY] |= (uint8_t)bit;
    } else {
        put_number(o, 0);
    }
    while (o->at < AUXILIARY)
        o->fields[o->at++] = VS_FIELD_END;
    put_frame(o, w, core, time);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(struct vs_port_reader *r, const char *why)
{
    return vs_port_refuse(r, VS_FIELD_HEADER, why);
}

/* Takes a source's number, at an even byte. */
static int take_number(struct vs_coresight_in *i, struct vs_port_reader *r, unsigned core,
                       uint8_t byte)
{
    if (byte == NOBODY && i->begun && !i->ended) {
        i->ended = true;
        return 0;
    }
    if (i->begun || byte != (vs_coresight_source(core) << 1 | 1))
        return refuse(r, "the frame has another source");
    i->begun = true;
    return 0;
}

int vs_coresight_get(struct vs_coresight_in *i, struct vs_port_reader *r, unsigned core)
{
    uint8_t frame[VS_CORESIGHT_FRAME];
    int err = vs_port_next_packet(r);
    bool null = i->ended; /* the data under way are source 0's */
    i->count = i->at = 0;
    if (!err)
        err = vs_port_get_bytes(r, VS_FIELD_HEADER, frame, sizeof(frame));
    if (!err && null)
        err = refuse(r, "a frame follows the last one");
    for (unsigned k = 0; k < AUXILIARY && !err; k++) {
        bool extra = frame[AUXILIARY] >> k / 2 & 1;
        bool even = is_even(k), number = even && frame[k] & 1;
        uint8_t byte = even && !number ? (uint8_t)(frame[k] | extra) : frame[k];
        if (number) {
            err = take_number(i, r, core, byte);
            null = i->ended && !extra;
            if (!err && extra && !i->ended)
                err = refuse(r, "data come before their source");
        } else if (null) {
            err = byte ? refuse(r, "source 0 has data") : 0;
        } else if (!i->begun) {
            err = refuse(r, "data come before their source");
        } else {
            i->data[i->count++] = byte;
            null = i->ended;
        }
    }
    if (err)
        i->count = 0; /* nothing of a damaged frame is data */
    return err;
}

void vs_coresight_seek(struct vs_coresight_in *i)
{
    *i = (struct vs_coresight_in){.begun = true};
}
