/* SPDX-License-Identifier: MIT */
/* Routines' names, from the files that a run's images were mapped from. */
#ifndef STUDY_ROUTINE_NAMES_H
#define STUDY_ROUTINE_NAMES_H

#include "study/routines.h"

struct vs_routine_names {
    const struct vs_image *images; /* the caller's */
    size_t count;
    struct vs_symbols **symbols; /* by image; NULL: not opened, or not usable */
    bool *tried;
};

/* The images are the run's, and must outlive the names. Returns 0; -VSE_NOMEM.
 * vs_routine_names_fini is needed in any case. */
int vs_routine_names_init(struct vs_routine_names *n, const struct vs_image *images, size_t count);
void vs_routine_names_fini(struct vs_routine_names *n);

/* The resolver gives readable names. A file that is no longer the one that was mapped (its build id
 * differs) gives none. */
struct vs_resolver vs_routine_names_resolver(struct vs_routine_names *n);

#endif
