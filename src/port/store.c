/* SPDX-License-Identifier: MIT */
#include "port/store.h"

#include <stdlib.h>

#include "base/invariant.h"

int vs_port_store_init(struct vs_port_store *s, const struct vs_port_shape *shape)
{
    int err = vs_port_shape_check(shape);

    *s = (struct vs_port_store){0};
    if (err)
        return err;
    s->streams = calloc(vs_port_streams(shape), sizeof(*s->streams));
    s->bytes = calloc(vs_port_streams(shape), sizeof(*s->bytes));
    if (!s->streams || !s->bytes)
        return -VSE_NOMEM;
    s->count = vs_port_streams(shape);
    return 0;
}

void vs_port_store_fini(struct vs_port_store *s)
{
    for (unsigned i = 0; i < s->count; i++)
        vs_buf_fini(&s->bytes[i]);
    free(s->streams);
    free(s->bytes);
    *s = (struct vs_port_store){0};
}

int vs_port_to_store(void *store, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    struct vs_port_store *s = store;
    struct vs_port_stream *to = &s->streams[stream];
    int err;

    invariant(stream < s->count && to->nbits % 8 == 0);
    err = vs_buf_put(&s->bytes[stream], bytes, (size_t)((nbits + 7) / 8));
    *to = (struct vs_port_stream){s->bytes[stream].data, s->bytes[stream].len,
                                  to->nbits + (err ? 0 : nbits)};
    return err;
}

uint64_t vs_port_streams_bits(const struct vs_port_stream *streams, unsigned count)
{
    uint64_t nbits = 0;

    for (unsigned i = 0; i < count; i++)
        nbits += streams[i].nbits;
    return nbits;
}

int vs_port_store_copy(struct vs_port_store *s, const struct vs_port_shape *shape,
                       const struct vs_port_stream *streams)
{
    int err = vs_port_store_init(s, shape);

    for (unsigned i = 0; i < s->count && !err; i++)
        err = vs_port_to_store(s, i, streams[i].data, streams[i].nbits);
    return err;
}

unsigned vs_port_stream_of(const struct vs_port_stream *streams, unsigned count, uint64_t bit,
                           uint64_t *at)
{
    unsigned i = 0;

    while (i + 1 < count && bit >= streams[i].nbits)
        bit -= streams[i++].nbits;
    *at = bit;
    return i;
}

void vs_port_store_flip(struct vs_port_store *s, uint64_t bit)
{
    uint64_t at;
    unsigned stream = vs_port_stream_of(s->streams, s->count, bit, &at);

    invariant(at < s->streams[stream].nbits);
    s->bytes[stream].data[at / 8] ^= (uint8_t)(1 << at % 8);
}
