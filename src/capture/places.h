/* SPDX-License-Identifier: MIT */
/* Whether the routines that a user names can be there at all, before the program runs. */
#ifndef CAPTURE_PLACES_H
#define CAPTURE_PLACES_H

#include "engine/place.h"
#include "vestige/error.h"

/* Looks in the program and in the libraries that the dynamic loader would map with it. What a
 * program loads or executes later cannot be known beforehand, so one that could do either may have
 * any name, and so may a script. Returns 0; -VSE_NOTFOUND (a name is nowhere; diag says which);
 * -VSE_NOMEM. */
int vs_places_check(const char *path, const struct vs_place *places, size_t count, bool main_only,
                    struct vs_diag *diag);

#endif
