/* SPDX-License-Identifier: MIT */
/* Names of routines and source lines, from the files that a run's images were mapped from. Each
 * file is read when something in it is first asked for. One that is no longer what was mapped (its
 * build id differs) tells nothing. */
#ifndef STUDY_ROUTINE_NAMES_H
#define STUDY_ROUTINE_NAMES_H

#include "study/routines.h"
#include "symbol/lines.h"

struct vs_routine_names {
    const struct vs_image *images; /* the caller's */
    size_t count;

    /* private: by image; of images of one file, the first one's */
    struct vs_image_names *files;
};

/* The images are the run's, and must outlive the names. Returns 0; -VSE_NOMEM.
 * vs_routine_names_fini is needed in any case. */
int vs_routine_names_init(struct vs_routine_names *n, const struct vs_image *images, size_t count);
void vs_routine_names_fini(struct vs_routine_names *n);

/* The resolver gives readable names. */
struct vs_resolver vs_routine_names_resolver(struct vs_routine_names *n);

/* Where the code at an image's link-time address comes from, as vs_lines_at, whose strings stay
 * valid until fini. Returns as that; 0 also for a file whose symbols cannot be read; as
 * vs_lines_open. */
int vs_routine_names_source(struct vs_routine_names *n, uint64_t image, uint64_t link_address,
                            struct vs_source *chain, size_t capacity);

/* Returns whether there is debug information for an image; as vs_lines_open. */
int vs_routine_names_sourced(struct vs_routine_names *n, uint64_t image);

#endif
