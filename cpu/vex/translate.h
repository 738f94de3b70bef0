/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block of code through LibVEX. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include "cache.h"

/* Translates the code at the core's pc, and adds the block to the core's cache. `single`: only one
 * instruction, to be executed by itself. Any number of threads may translate, for their own caches.
 * Returns 0; VS_STOP_FETCH_FAULT, with the address in cpu.fault; VS_STOP_ILLEGAL (LibVEX gives up);
 * -VSE_NOMEM; a negative error of the memory. */
int translate(struct core *c, struct cache *cache, bool single, struct block **block);

#endif
