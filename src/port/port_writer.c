/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "model/cost.h"
#include "port/stream.h"

enum { PIECE = 1 << 16 }; /* bytes handed to the sink at once */

unsigned vs_port_core_bits(unsigned cores)
{
    return vs_log2_ceil(cores);
}

int vs_port_to_buf(void *buf, const uint8_t *bytes, size_t size)
{
    return vs_buf_put(buf, bytes, size);
}

int vs_port_writer_init(struct vs_port_writer *w, const struct vs_port_shape *shape,
                        vs_port_sink *sink, void *context)
{
    uint8_t *piece;

    memset(w, 0, sizeof(*w));
    if (!shape->cores || shape->cores > VS_PORT_CORES_MAX ||
        (shape->timed && !vs_chunks_valid(shape->cycles)))
        return -VSE_INVAL;
    w->shape = *shape;
    w->core_bits = vs_port_core_bits(shape->cores);
    w->sink = sink;
    w->context = context;
    w->cores = calloc(shape->cores, sizeof(*w->cores));
    piece = malloc(PIECE);
    if (!w->cores || !piece) {
        free(piece);
        vs_port_writer_fini(w);
        return -VSE_NOMEM;
    }
    w->core = w->cores;
    vs_bitw_init(&w->bits, piece, PIECE);
    return 0;
}

void vs_port_writer_fini(struct vs_port_writer *w)
{
    free(w->bits.data);
    free(w->cores);
    memset(w, 0, sizeof(*w));
}

static void give(struct vs_port_writer *w, size_t size)
{
    if (w->sink && !w->error && size)
        w->error = w->sink(w->context, w->bits.data, size);
}

void vs_port_flush(struct vs_port_writer *w)
{
    invariant(w->bits.len <= w->bits.cap);
    give(w, w->bits.len); /* up to 63 bits stay pending */
    w->flushed += w->bits.len;
    w->bits.len = 0;
}

int64_t vs_port_finish(struct vs_port_writer *w)
{
    struct vs_port_counts sum;
    int64_t size;

    vs_port_room(w);
    size = vs_bitw_finish(&w->bits);
    if (size < 0)
        return size;
    give(w, (size_t)size);
    vs_port_totals(w, &sum);
    invariant(vs_port_counts_bits(&sum) == vs_port_bits(w)); /* each bit is some field's */
    return w->error ? w->error : (int64_t)vs_port_bits(w);
}

void vs_port_totals(const struct vs_port_writer *w, struct vs_port_counts *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (unsigned i = 0; i < w->shape.cores; i++)
        vs_port_counts_add(sum, &w->cores[i].counts);
}

void vs_port_put_cycles(struct vs_port_writer *w)
{
    if (w->time < w->core->cycle && !w->error)
        w->error = -VSE_INVAL;
    vs_port_put_chunks(w, VS_FIELD_CYCLES, w->shape.cycles, w->time - w->core->cycle);
    w->core->cycle = w->time;
}

void vs_port_tell(struct vs_port_writer *w)
{
    invariant(w->start <= vs_port_bits(w));
    uint64_t bits = vs_port_bits(w) - w->start;
    int err =
        w->windows ? vs_windows_add(w->windows, (unsigned)(w->core - w->cores), w->time, bits) : 0;
    if (err && !w->error)
        w->error = err;
    if (w->drain)
        vs_drain_add(w->drain, w->time, bits);
}

void vs_port_put_bytes(struct vs_port_writer *w, enum vs_field f, const uint8_t *bytes, size_t size)
{
    for (; size >= 8; bytes += 8, size -= 8)
        vs_port_put(w, f, vs_get64(bytes), 64);
    for (; size; bytes++, size--)
        vs_port_put(w, f, *bytes, 8);
}
