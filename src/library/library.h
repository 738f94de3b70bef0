/* SPDX-License-Identifier: MIT */
/* The library layer: what include/vestige offers beyond runs, made of the layers before.
 *
 *   sized    structs that begin with their size
 *   catalog  the techniques, with those of plugins
 *   measure  what techniques take of a run
 *
 * Nothing here is included by other layers: programs include <vestige/vestige.h>. */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#endif
