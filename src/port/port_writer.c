/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/power.h"
#include "port/stream.h"

/* Bytes handed to the sink at once. */
enum { PIECE = 1 << 16, PIECE_OF_MANY = 1 << 12 };

unsigned vs_port_core_bits(unsigned cores)
{
    return vs_log2_ceil(cores);
}

int vs_port_shape_check(const struct vs_port_shape *shape)
{
    bool framed =
        shape->packets || (!shape->per_core && (!shape->timed || vs_chunks_valid(shape->cycles)));

    return framed && shape->cores && shape->cores <= VS_PORT_CORES_MAX ? 0 : -VSE_INVAL;
}

int vs_port_to_buf(void *buf, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    return stream ? -VSE_INVAL : vs_buf_put(buf, bytes, (size_t)((nbits + 7) / 8));
}

static int open_out(struct vs_bitw *bits, size_t size)
{
    uint8_t *piece = malloc(size);

    vs_bitw_init(bits, piece, piece ? size : 0);
    return piece ? 0 : -VSE_NOMEM;
}

int vs_port_writer_init(struct vs_port_writer *w, const struct vs_port_shape *shape,
                        vs_port_sink *sink, void *context)
{
    int err = vs_port_shape_check(shape);

    memset(w, 0, sizeof(*w));
    if (err)
        return err;
    w->shape = *shape;
    w->core_bits = vs_port_core_bits(shape->cores);
    w->sink = sink;
    w->context = context;
    w->cores = calloc(shape->cores + 1, sizeof(*w->cores));
    if (shape->per_core)
        w->outs = calloc(shape->cores, sizeof(*w->outs));
    err = w->cores && (w->outs || !shape->per_core) ? 0 : -VSE_NOMEM;
    if (!err)
        err = open_out(&w->bits, shape->per_core ? PIECE_OF_MANY : PIECE);
    w->core = w->cores;
    if (err)
        vs_port_writer_fini(w);
    return err;
}

void vs_port_writer_fini(struct vs_port_writer *w)
{
    for (unsigned i = 0; w->outs && i < w->shape.cores; i++)
        if (i != w->stream)
            free(w->outs[i].bits.data);
    free(w->bits.data);
    free(w->outs);
    free(w->cores);
    memset(w, 0, sizeof(*w));
}

void vs_port_enter(struct vs_port_writer *w, unsigned stream)
{
    struct vs_port_out *out = &w->outs[stream];
    int err;

    if (stream == w->stream)
        return;
    if (!out->bits.data && (err = open_out(&out->bits, PIECE_OF_MANY)) < 0) {
        if (!w->error)
            w->error = err; /* from here on no bit is kept, in whatever stream */
        return;
    }
    w->outs[w->stream] = (struct vs_port_out){w->bits, w->flushed};
    w->bits = out->bits;
    w->flushed = out->flushed;
    w->stream = stream;
}

static void give(struct vs_port_writer *w, uint64_t nbits)
{
    if (w->sink && !w->error && nbits)
        w->error = w->sink(w->context, w->stream, w->bits.data, nbits);
}

void vs_port_flush(struct vs_port_writer *w)
{
    invariant(w->bits.len <= w->bits.cap);
    give(w, 8 * (uint64_t)w->bits.len); /* up to 63 bits stay pending */
    w->flushed += w->bits.len;
    w->bits.len = 0;
}

static void finish_stream(struct vs_port_writer *w)
{
    int64_t size;

    vs_port_room(w);
    size = vs_bitw_finish(&w->bits);
    invariant(size >= 0);
    give(w, vs_bitw_bits(&w->bits));
}

int64_t vs_port_finish(struct vs_port_writer *w)
{
    struct vs_port_counts sum;
    unsigned first = w->stream;
    uint64_t bits = 0;

    finish_stream(w);
    for (unsigned i = 0; w->outs && i < w->shape.cores && !w->error; i++)
        if (w->outs[i].bits.data && i != first) {
            vs_port_enter(w, i);
            finish_stream(w);
        }
    for (unsigned i = 0; i < vs_port_streams(&w->shape); i++)
        bits += vs_port_stream_bits(w, i);
    vs_port_totals(w, &sum);
    invariant(w->error || vs_port_counts_bits(&sum) == bits); /* each bit belongs to a field */
    return w->error ? w->error : (int64_t)bits;
}

uint64_t vs_port_stream_bits(const struct vs_port_writer *w, unsigned stream)
{
    return stream == w->stream ? vs_port_bits(w)
                               : 8 * w->outs[stream].flushed + vs_bitw_bits(&w->outs[stream].bits);
}

void vs_port_totals(const struct vs_port_writer *w, struct vs_port_counts *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (unsigned i = 0; i <= w->shape.cores; i++)
        vs_port_counts_add(sum, &w->cores[i].counts);
}

void vs_port_put_bytes(struct vs_port_writer *w, enum vs_field f, const uint8_t *bytes, size_t size)
{
    for (; size >= 8; bytes += 8, size -= 8)
        vs_port_put(w, f, vs_get64(bytes), 64);
    for (; size; bytes++, size--)
        vs_port_put(w, f, *bytes, 8);
}
