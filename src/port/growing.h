/* SPDX-License-Identifier: MIT */
/* A stream in memory, or in a file without a name, that is read while it is being written, by
 * another thread. Its bytes stay where they are, so that readers and their copies can go on from
 * any bit. */
#ifndef PORT_GROWING_H
#define PORT_GROWING_H

#include <pthread.h>

#include "base/scratch.h"
#include "port/stream.h"

struct vs_port_growing {
    struct vs_port_stream stream; /* for vs_port_reader_init: no bits yet, but where they will be */
    struct vs_port_more more;     /* for readers */

    /* private */
    pthread_mutex_t lock; /* for all below */
    pthread_cond_t changed;
    struct vs_scratch scratch;
    uint64_t nbits;
    bool ended;
    struct vs_diag why; /* if an error ended it */
};

/* Makes an empty stream, in memory or in a file in `folder`. Returns as vs_scratch_open; fini is
 * needed after 0 only, when no thread uses it any more. */
int vs_port_growing_init(struct vs_port_growing *g, const char *folder, struct vs_diag *diag);
void vs_port_growing_fini(struct vs_port_growing *g);

/* A vs_port_sink whose context is the stream, for a port with one. Returns as vs_scratch_reach. */
int vs_port_to_growing(void *growing, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* No bits follow. `why` is NULL, or the error that ended it. */
void vs_port_growing_end(struct vs_port_growing *g, const struct vs_diag *why);

#endif
