/* SPDX-License-Identifier: MIT */
/* The images that a program maps, and the places in them that a recording cares about. */
#ifndef CAPTURE_IMAGES_H
#define CAPTURE_IMAGES_H

#include "base/arena.h"
#include "base/buf.h"
#include "engine/place.h"
#include "symbol/symbol.h"
#include "trace/relay.h"

struct vs_images {
    struct vs_relay *relay;
    struct vs_place *places;
    size_t place_count;
    bool main_only; /* only code of the program's own image is wanted */
    struct vs_mapped_image *list;
    size_t count, capacity;
    size_t last;      /* the one mapped last, if there are any */
    char unread[512]; /* which existing one could not be read, and why; or "" */
    struct vs_arena memory;
};

/* A zeroed struct with the caller's relay, places and main_only is ready for use. */
void vs_images_fini(struct vs_images *m);

/* Notes a mapping of code from a file; `main` says that it is the program's own. Returns the
 * consumer's number for the image; -VSE_NOMEM; the consumer's error; -VSE_NOTFOUND (it is no image,
 * or could not be read). */
int64_t vs_images_map(struct vs_images *m, const char *path, uint64_t start, uint64_t length,
                      uint64_t offset, bool main);

/* Notes that something else, or nothing, is mapped there now; if an image comes back, its places
 * are told again. */
void vs_images_replaced(struct vs_images *m, uint64_t start, uint64_t length);

/* Returns whether an image is mapped at that address, or no image is known at all. */
bool vs_images_have(const struct vs_images *m, uint64_t addr);

/* Forgets all images, as the program was replaced by another. */
void vs_images_forget(struct vs_images *m);

/* Tells which of the places the image mapped last holds, once for each time that it is mapped. With
 * main_only, what is wanted are the wanted places in the program's own image, or all of that image
 * if there are none. Appends struct wire_range to the buffer. Returns 0; -VSE_NOMEM. */
int vs_images_ranges(struct vs_images *m, struct vs_buf *out);

#endif
