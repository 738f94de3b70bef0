/* SPDX-License-Identifier: MIT */
/* Growing arrays of plain structs, kept by their owner as pointer, count and capacity. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Makes room for `extra` elements after the first `count`. May move the array. At
 * first *array is NULL and *capacity is 0. Free the array with free(). Returns 0; -VSE_NOMEM, with
 * nothing changed. */
int vs_array_room(void **array, size_t *capacity, size_t count, size_t extra, size_t element);

#endif
