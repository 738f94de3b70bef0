/* SPDX-License-Identifier: MIT */
/* Recording only the last instructions: one run after another begins, and at most two are written
 * at a time. When the program is over, the older of them is the one that counts. */
#ifndef ENGINE_RENEWAL_H
#define ENGINE_RENEWAL_H

#include <stdint.h>

#include "vestige/error.h"

struct vs_consumer;

struct vs_renewal {
    uint64_t every; /* instructions from the beginning of one run to that of the next */
    void *context;
    /* Another run begins, beside the only one that there is. Returns its consumer; NULL, with
     * diag. */
    const struct vs_consumer *(*begin)(void *context, struct vs_diag *diag);
    /* The older of two runs is given up, and nobody uses its consumer any more. */
    void (*drop)(void *context);
};

#endif
