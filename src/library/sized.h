/* SPDX-License-Identifier: MIT */
/* Structs of the public interface that begin with a size_t, their size as the caller knows it: it
 * may be less than ours, or more. */
#ifndef LIBRARY_SIZED_H
#define LIBRARY_SIZED_H

#include <stddef.h>

/* Copies a caller's struct to ours, of `size` bytes, which has zeros where theirs ends. NULL is a
 * struct of zeros. Returns 0; -VSE_INVAL (it is too small for its size); -VSE_FEATURE (it sets
 * something that comes after ours). */
int vs_sized_take(void *own, size_t size, const void *theirs);

/* Copies ours to a caller's struct as far as that goes; what it has beyond is zeroed, and its size
 * stays. Returns 0; -VSE_INVAL (it is too small for its size, or NULL). */
int vs_sized_give(void *theirs, const void *own, size_t size);

#endif
