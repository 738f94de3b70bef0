/* SPDX-License-Identifier: MIT */
/* The streams of a port in memory. */
#ifndef PORT_STORE_H
#define PORT_STORE_H

#include "base/buf.h"
#include "port/stream.h"

struct vs_port_store {
    struct vs_port_stream *streams; /* as many as the shape has; up to date after a sink's call */
    unsigned count;
    struct vs_buf *bytes; /* private: what they point to */
};

/* Empty streams. Returns 0; -VSE_INVAL; -VSE_NOMEM. fini is needed in any case, of a struct that
 * was zero before. */
int vs_port_store_init(struct vs_port_store *s, const struct vs_port_shape *shape);
void vs_port_store_fini(struct vs_port_store *s);

/* A vs_port_sink whose context is the store. Returns 0; -VSE_NOMEM. */
int vs_port_to_store(void *store, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* The sum over streams, as many as the shape has. */
uint64_t vs_port_streams_bits(const struct vs_port_stream *streams, unsigned count);

/* Another with the same bits. As init. */
int vs_port_store_copy(struct vs_port_store *s, const struct vs_port_shape *shape,
                       const struct vs_port_stream *streams);

/* Flips the bit of that number, when all streams lie one after the other. */
void vs_port_store_flip(struct vs_port_store *s, uint64_t bit);

/* Whose bit that is: the stream; the bit's number within it goes to *at. */
unsigned vs_port_stream_of(const struct vs_port_stream *streams, unsigned count, uint64_t bit,
                           uint64_t *at);

#endif
