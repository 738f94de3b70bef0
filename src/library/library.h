/* SPDX-License-Identifier: MIT */
/* The library layer: what include/vestige offers beyond runs, made of the layers before.
 *
 *   sized    structs that begin with their size
 *   catalog  the techniques, with those of plugins
 *   measure  what techniques take of a run
 *   program  the code and data of a stream's program
 *   encode   a run encoded with one technique
 *   stream   streams in files: written, decoded, proved
 *   playback a program run again, at any position
 *   code     instructions one by one, and names
 *
 * Nothing here is included by other layers: programs include <vestige/vestige.h>. */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#endif
