/* SPDX-License-Identifier: MIT */
/* A port's streams in memory. */
#ifndef PORT_STORE_H
#define PORT_STORE_H

#include "base/buf.h"
#include "port/stream.h"

struct vs_port_store {
    struct vs_port_stream *streams; /* as many as the shape has; each sink call updates them */
    unsigned count;
    struct vs_buf *bytes; /* private: what the streams point to */
};

/* Makes empty streams. Returns 0; -VSE_INVAL; -VSE_NOMEM. A store that was zeroed before needs fini
 * in any case. */
int vs_port_store_init(struct vs_port_store *s, const struct vs_port_shape *shape);
void vs_port_store_fini(struct vs_port_store *s);

/* A vs_port_sink whose context is the store. Returns 0; -VSE_NOMEM. */
int vs_port_to_store(void *store, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* Returns the bits of `count` streams together. */
uint64_t vs_port_streams_bits(const struct vs_port_stream *streams, unsigned count);

/* Makes a store with the same bits as `streams`. Returns as vs_port_store_init, with the same need
 * of fini. */
int vs_port_store_copy(struct vs_port_store *s, const struct vs_port_shape *shape,
                       const struct vs_port_stream *streams);

/* Flips a bit, numbered as if all streams lay one after the other. */
void vs_port_store_flip(struct vs_port_store *s, uint64_t bit);

/* Returns the stream in which such a bit lies, and sets *at to the bit's number within it. */
unsigned vs_port_stream_of(const struct vs_port_stream *streams, unsigned count, uint64_t bit,
                           uint64_t *at);

#endif
