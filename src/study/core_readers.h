/* SPDX-License-Identifier: MIT */
/* A run's events core by core: a reader for each. */
#ifndef STUDY_CORE_READERS_H
#define STUDY_CORE_READERS_H

#include "vestige/run.h"

/* A zeroed struct may be closed. */
struct vs_core_readers {
    struct vs_reader **of;
    unsigned count;
};

/* Returns 0; -VSE_NOMEM; as vs_reader_open. close is needed in any case. */
int vs_core_readers_open(struct vs_core_readers *r, const char *path, unsigned count,
                         struct vs_diag *diag);
void vs_core_readers_close(struct vs_core_readers *r);

/* The core's next events, until the next call for that core; the context is a struct
 * vs_core_readers. As vs_reader_next. */
int vs_core_readers_next(void *context, unsigned core, struct vs_batch *batch);

/* Up to so many cores a run is walked by turns. */
#define VS_VERIFY_TURNS 16

#endif
