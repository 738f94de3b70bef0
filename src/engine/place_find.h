/* SPDX-License-Identifier: MIT */
/* Finds the places that a user names in an image. */
#ifndef ENGINE_PLACE_FIND_H
#define ENGINE_PLACE_FIND_H

#include "engine/place.h"
#include "symbol/symbol.h"

/* Takes code that a place is, at link-time addresses. Returns 0, or an error. */
typedef int vs_place_put(void *context, const struct vs_place *place, uint64_t start,
                         uint64_t size);

/* Hands over all code in the image that the place, which is no address, is; counts it in
 * place->found, and notes in place->chooser if it only chooses. Returns 0, or an error of put. */
int vs_place_find(struct vs_place *place, const struct vs_symbols *symbols, vs_place_put *put,
                  void *context);

#endif
