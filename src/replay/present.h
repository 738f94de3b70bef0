/* SPDX-License-Identifier: MIT */
/* Which of the program's files are in memory. The stream names them in the order in which they
 * came, but does not say when that was: some were there at the beginning, calls brought others and
 * took them away, and exec began anew with others. Several may have had the same place.
 *
 * Images are the files' indices in the stream's list. A program is what was executed between two
 * execs; each has images that follow each other in the list. Functions return 0; -VSE_NOMEM, where
 * nothing else is said. */
#ifndef REPLAY_PRESENT_H
#define REPLAY_PRESENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/loaded.h"

struct vs_present {
    uint8_t *images;    /* by index: what is known about it */
    unsigned *programs; /* the first image of each */
    unsigned image_count, program_count, program_capacity;
};

/* Programs are numbered from 0 on, and there are at most so many. */
int vs_present_init(struct vs_present *p, size_t images, unsigned programs);
int vs_present_clone(struct vs_present *to, const struct vs_present *from);
void vs_present_fini(struct vs_present *p);

/* Returns whether the program may have the image in memory now. What belongs to no image of the
 * stream is always there. */
bool vs_present_has(const struct vs_present *p, unsigned program, unsigned image);

/* Returns whether a call of the program brought the image, which is there now. */
bool vs_present_came_already(const struct vs_present *p, unsigned program, unsigned image);

/* Returns the part of a file that lies at an address, or NULL. `executes`: an instruction there is
 * executed, so that the file is known to be there. */
const struct vs_loaded_part *vs_present_find(struct vs_present *p, const struct vs_loaded *l,
                                             unsigned program, uint64_t addr, bool executes);

/* A call made memory of the program executable, with the file of that name, or "" if that is not
 * known. Returns the image that it brought, if it brought one, or VS_PRESENT_NONE. */
unsigned vs_present_came(struct vs_present *p, const struct vs_loaded *l, unsigned program,
                         uint64_t addr, uint64_t size, const char *name);
#define VS_PRESENT_NONE UINT32_MAX

/* A call took memory away. Returns whether an image was there. */
bool vs_present_went(struct vs_present *p, const struct vs_loaded *l, unsigned program,
                     uint64_t addr, uint64_t size);

/* The last program executed another one, which has images of its own from now on. */
void vs_present_exec(struct vs_present *p);

/* Returns whether a program that is executed may begin at that address. */
bool vs_present_begins(const struct vs_loaded *l, uint64_t pc);

#endif
