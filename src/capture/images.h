/* SPDX-License-Identifier: MIT */
/* The images that a program maps, and the places in them that a recording cares about. */
#ifndef CAPTURE_IMAGES_H
#define CAPTURE_IMAGES_H

#include "base/arena.h"
#include "base/buf.h"
#include "capture/relay.h"
#include "capture/wire.h"
#include "symbol/symbol.h"

/* A place that the user named: a routine, or an address as "0x...". */
struct vs_place {
    const char *name;
    enum wire_range_kind kind;
    uint64_t found; /* how many were found */
    bool chooser;   /* one of them only chooses among implementations that have other names */
};

struct vs_images {
    struct vs_relay *relay;
    struct vs_place *places;
    size_t place_count;
    const char *main_path; /* only code of this image is wanted; NULL = of all */
    struct vs_mapped_image *list;
    size_t count, capacity;
    struct vs_arena memory;
};

/* A zeroed struct with the caller's relay, places and main_path is ready for use. */
void vs_images_fini(struct vs_images *m);

/* Notes a mapping of code from a file. Returns the image's number at the consumer; -VSE_NOMEM; an
 * error of the consumer; -VSE_NOTFOUND if it is no image. */
int64_t vs_images_map(struct vs_images *m, const char *path, uint64_t start, uint64_t length,
                      uint64_t offset);

/* The program was replaced by another. */
void vs_images_forget(struct vs_images *m);

/* What the image mapped last holds of the places, once for each image. Appends struct wire_range to
 * the buffer. Returns 0; -VSE_NOMEM. */
int vs_images_ranges(struct vs_images *m, struct vs_buf *out);

#endif
