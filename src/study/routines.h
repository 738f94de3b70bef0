/* SPDX-License-Identifier: MIT */
/* A profile by routine and by image.
 *
 * A routine is what the resolver names. Where it knows no name, routines are told apart by where
 * the run was seen to enter them: code belongs to the nearest entry before it in its image.
 */
#ifndef STUDY_ROUTINES_H
#define STUDY_ROUTINES_H

#include "base/arena.h"
#include "study/profile.h"
#include "vestige/run.h"

/* Knows the names in an image's file.
 *
 * name() gives the name of the routine that holds a link-time address of the file `path`, in at
 * most `capacity` bytes with the final zero, and the routine's first (link-time) address. It
 * returns 0; -VSE_NOMEM; another negative value if there is no name.
 */
struct vs_resolver {
    void *context;
    int (*name)(void *context, const char *path, uint64_t link_address, char *out, size_t capacity,
                uint64_t *start);
};

#define VS_NAME_MAX 1024 /* with the final zero; a longer name is cut by the resolver */

struct vs_routine_count {
    const char *name; /* NULL if it has none */
    int64_t image;    /* its image's id, or -1 if it is in none; of several images of one file, the
                       * first */
    uint64_t start;   /* run-time address */
    uint64_t instructions;
};

struct vs_routines {
    struct vs_routine_count *rows; /* most instructions first, then by start */
    size_t count;
    uint64_t *images; /* instructions by image */
    size_t image_count;
    uint64_t elsewhere; /* instructions in no image */
    uint64_t unknown;   /* instructions whose place is not known */

    /* private */
    size_t capacity;
    struct vs_arena names;
};

/* The images are the run's, by id. Code belongs to the image that was mapped where it lies when it
 * ran. Images that no VS_MAP event names are taken to be there all the time; if two of them
 * overlap, the one that starts later counts. `resolver` may be NULL. Returns 0; -VSE_NOMEM.
 * vs_routines_fini is needed in any case. */
int vs_routines_init(struct vs_routines *r, const struct vs_profile *profile,
                     const struct vs_image *images, size_t image_count,
                     const struct vs_resolver *resolver);

void vs_routines_fini(struct vs_routines *r);

#endif
