/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "port/stream.h"

int vs_port_reader_init(struct vs_port_reader *r, const struct vs_port_shape *shape,
                        const struct vs_port_stream *streams)
{
    int err = vs_port_shape_check(shape);
    unsigned count = vs_port_streams(shape);
    uint64_t before = 0;

    memset(r, 0, sizeof(*r));
    if (err)
        return err;
    r->shape = *shape;
    r->core_bits = vs_port_core_bits(shape->cores);
    if ((err = vs_bitr_init(&r->bits, streams->data, streams->size, streams->nbits)) < 0)
        return err;
    r->cycles = calloc(shape->cores, sizeof(*r->cycles));
    r->ins = shape->per_core ? calloc(count, sizeof(*r->ins)) : NULL;
    if (!r->cycles || (shape->per_core && !r->ins))
        err = -VSE_NOMEM;
    for (unsigned i = 0; r->ins && i < count && !err; i++) {
        r->ins[i].before = before;
        err = vs_bitr_init(&r->ins[i].bits, streams[i].data, streams[i].size, streams[i].nbits);
        before += streams[i].nbits;
    }
    if (err)
        vs_port_reader_fini(r);
    return err;
}

void vs_port_reader_fini(struct vs_port_reader *r)
{
    free(r->cycles);
    free(r->ins);
    r->cycles = NULL;
    r->ins = NULL;
}

int vs_port_reader_clone(struct vs_port_reader *to, const struct vs_port_reader *from)
{
    size_t cores = from->shape.cores;

    *to = *from;
    to->cycles = malloc(cores * sizeof(*to->cycles));
    to->ins = from->ins ? malloc(cores * sizeof(*to->ins)) : NULL;
    if (!to->cycles || (from->ins && !to->ins)) {
        vs_port_reader_fini(to);
        return -VSE_NOMEM;
    }
    memcpy(to->cycles, from->cycles, cores * sizeof(*to->cycles));
    if (to->ins)
        memcpy(to->ins, from->ins, cores * sizeof(*to->ins));
    return 0;
}

void vs_port_select(struct vs_port_reader *r, unsigned stream)
{
    const struct vs_port_in *in;

    if (stream == r->stream)
        return;
    invariant(stream < vs_port_streams(&r->shape));
    r->ins[r->stream] = (struct vs_port_in){r->bits, r->before, r->start};
    in = &r->ins[stream];
    r->bits = in->bits;
    r->before = in->before;
    r->start = in->start;
    r->stream = stream;
}

uint64_t vs_port_left(const struct vs_port_reader *r, unsigned stream)
{
    return vs_bitr_left(stream == r->stream ? &r->bits : &r->ins[stream].bits);
}

uint64_t vs_port_reader_bits(const struct vs_port_reader *r)
{
    unsigned last = vs_port_streams(&r->shape) - 1;

    return last == r->stream ? r->before + r->bits.nbits
                             : r->ins[last].before + r->ins[last].bits.nbits;
}

uint64_t vs_port_reader_done(const struct vs_port_reader *r)
{
    uint64_t left = 0;

    for (unsigned i = 0; i < vs_port_streams(&r->shape); i++)
        left += vs_port_left(r, i);
    return vs_port_reader_bits(r) - left;
}

const char *vs_port_where(const struct vs_port_reader *r, char out[VS_PORT_WHERE])
{
    if (r->shape.per_core)
        snprintf(out, VS_PORT_WHERE, "stream %u, bit %llu", r->stream,
                 (unsigned long long)r->bits.pos);
    else
        snprintf(out, VS_PORT_WHERE, "bit %llu", (unsigned long long)r->bits.pos);
    return out;
}

/* If the bits end inside a message, the stream is cut. */
static int fail(struct vs_port_reader *r, enum vs_field f, int err, const char *why)
{
    bool cut = err == -VSE_END;
    char where[VS_PORT_WHERE];

    return vs_diag_set(&r->diag, cut ? -VSE_TRUNCATED : err, (int64_t)(r->bits.pos / 8), -1,
                       "%s, %s of message %llu (from bit %llu, core %u): %s",
                       vs_port_where(r, where), vs_field_name(f), (unsigned long long)r->messages,
                       (unsigned long long)r->start, r->core, cut ? "the stream ends here" : why);
}

/* Notes that the bits from `from` on were read as that field. */
static void note_field(const struct vs_port_reader *r, enum vs_field f, uint64_t from)
{
    if (unlikely(r->witness && r->witness->fields))
        memset(r->witness->fields + r->before + from, (int)f + 1, (size_t)(r->bits.pos - from));
}

/* A field that the bits did not suffice for, because they end here as yet, is read again. */
static bool again(struct vs_port_reader *r, int err)
{
    return unlikely(err == -VSE_END) && r->more && r->more->get(r->more->context, &r->bits);
}

/* Returns whether so many bytes are left; waits for them if more may come. */
static bool has_bytes(struct vs_port_reader *r, uint64_t size)
{
    while (unlikely(size > vs_bitr_left(&r->bits) / 8))
        if (!again(r, -VSE_END))
            return false;
    return true;
}

static int checked(struct vs_port_reader *r, enum vs_field f, uint64_t from, int err)
{
    if (unlikely(err))
        return fail(r, f, err, "not a code that an encoder writes");
    note_field(r, f, from);
    return 0;
}

int vs_port_refuse(struct vs_port_reader *r, enum vs_field f, const char *why)
{
    return fail(r, f, -VSE_CORRUPT, why);
}

int vs_port_get(struct vs_port_reader *r, enum vs_field f, unsigned n, uint64_t *v)
{
    uint64_t from = r->bits.pos;
    int err;

    do
        err = vs_bitr_get(&r->bits, n, v);
    while (again(r, err));
    return checked(r, f, from, err);
}

int vs_port_get_chunks(struct vs_port_reader *r, enum vs_field f, struct vs_chunks c, uint64_t *v)
{
    uint64_t from = r->bits.pos;
    int err;

    do
        err = vs_chunks_get(&r->bits, c, v);
    while (again(r, err));
    return checked(r, f, from, err);
}

int vs_port_get_unary(struct vs_port_reader *r, enum vs_field f, struct vs_unary u, uint64_t *v)
{
    uint64_t from = r->bits.pos;
    int err;

    do
        err = vs_unary_get(&r->bits, u, v);
    while (again(r, err));
    return checked(r, f, from, err);
}

int vs_port_get_difference(struct vs_port_reader *r, enum vs_field f, struct vs_chunks c,
                           unsigned width, struct vs_difference *d)
{
    uint64_t at = r->bits.pos;
    int err;

    do
        err = vs_chunks_difference_get(&r->bits, c, width, d);
    while (again(r, err));
    return checked(r, f, at, err);
}

int vs_port_get_address(struct vs_port_reader *r, enum vs_field f, struct vs_unary u, uint64_t from,
                        unsigned width, uint64_t *to)
{
    uint64_t at = r->bits.pos;
    int err;

    do
        err = vs_unary_address_get(&r->bits, u, from, width, to);
    while (again(r, err));
    return checked(r, f, at, err);
}

int vs_port_skip_bytes(struct vs_port_reader *r, enum vs_field f, uint64_t size)
{
    uint64_t from = r->bits.pos;

    if (!has_bytes(r, size))
        return fail(r, f, -VSE_END, NULL);
    r->bits.pos += 8 * size;
    note_field(r, f, from);
    return 0;
}

int vs_port_get_bytes(struct vs_port_reader *r, enum vs_field f, uint8_t *bytes, size_t size)
{
    uint64_t v = 0, from = r->bits.pos;

    if (!has_bytes(r, size))
        return fail(r, f, -VSE_END, NULL);
    for (; size >= 8; bytes += 8, size -= 8) {
        vs_bitr_get(&r->bits, 64, &v);
        vs_put64(bytes, v);
    }
    for (; size; size--) {
        vs_bitr_get(&r->bits, 8, &v);
        *bytes++ = (uint8_t)v;
    }
    note_field(r, f, from);
    return 0;
}
