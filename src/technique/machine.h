/* SPDX-License-Identifier: MIT */
/* How the machines of techniques are opened. */
#ifndef TECHNIQUE_MACHINE_H
#define TECHNIQUE_MACHINE_H

#include <stddef.h>
#include <stdlib.h>

#include "vestige/error.h"

/* Allocates a zeroed machine of `size` bytes, which ends with an array of so many elements. Returns
 * 0; -VSE_NOMEM. */
static inline int vs_machine_new(void **machine, size_t size, size_t elements, size_t element)
{
    *machine = calloc(1, size + elements * element);
    return *machine ? 0 : -VSE_NOMEM;
}

/* Ends an open function: a machine whose parts could not all be opened is closed. Returns err. */
static inline int vs_machine_opened(void **machine, int err, void (*close)(void *machine))
{
    if (err) {
        close(*machine);
        *machine = NULL;
    }
    return err;
}

#endif
