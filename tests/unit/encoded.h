/* SPDX-License-Identifier: MIT */
/* Events as a port stream, for tests that replay them. */
#ifndef ENCODED_H
#define ENCODED_H

#include "base/buf.h"
#include "port/stream.h"
#include "technique/technique.h"
#include "unittest.h"

/* Sets the spec to what the text says, and encodes the events of a run without time. The stream's
 * bytes are those of `bits`, which was empty before. */
static inline struct vs_port_stream encode_events(struct vs_technique_spec *spec, const char *text,
                                                  const struct vs_technique_setup *setup,
                                                  const struct vs_batch *events,
                                                  struct vs_buf *bits)
{
    struct vs_port_shape shape;
    struct vs_port_writer w;
    void *e;
    CHECK_EQ(vs_technique_parse(spec, text, NULL), 0);
    vs_technique_settle(spec, false);
    vs_technique_shape(spec, setup, &shape);
    const struct vs_encoder_ops *ops = spec->technique->encoder;
    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_buf, bits), 0);
    CHECK_EQ(
        ops->open(
            &e, &(struct vs_technique_context){.params = spec->params, .setup = setup, .port = &w}),
        0);
    CHECK_EQ(ops->consume(e, &(struct vs_slice){.events = events}), 0);
    CHECK_EQ(vs_encoder_finish(ops, e), 0);
    int64_t nbits = vs_port_finish(&w);
    CHECK(nbits >= 0);
    ops->close(e);
    vs_port_writer_fini(&w);
    return (struct vs_port_stream){bits->data, bits->len, (uint64_t)nbits};
}

#endif
