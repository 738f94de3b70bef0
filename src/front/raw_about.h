/* SPDX-License-Identifier: MIT */
/* What a decoder has to know about plain streams: the file FILE.json beside them, which raw_files.h
 * writes and docs/standards.md describes. */
#ifndef FRONT_RAW_ABOUT_H
#define FRONT_RAW_ABOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vestige/event.h"
#include "vestige/error.h"

enum { RAW_CORES_MAX = 65536, RAW_RANGES_MAX = 1 << 24, RAW_IMAGES_MAX = 65536 };

struct raw_about_core {
    char *file; /* a name in the description's folder */
    uint64_t bytes, tid;
};

struct raw_about_range {
    uint64_t address, offset, size;
};

struct raw_about_image {
    char *path;
    uint8_t build_id[64];
    uint32_t build_id_size;
    uint64_t base, start, length;
};

struct raw_about {
    char *technique; /* a spec */
    char *isa;
    uint64_t address_bits;
    bool timed;
    struct raw_about_core *cores;
    size_t core_count, core_capacity;
    struct raw_about_image *images;
    size_t image_count, image_capacity;
    char *code; /* a name in the same folder; NULL: none */
    bool changes;
    struct raw_about_range *ranges;
    size_t range_count, range_capacity;
};

/* Parses a description. Nothing in it is trusted. raw_about_fini is needed in any case. Returns 0;
 * -VSE_CORRUPT; -VSE_NOMEM. */
int raw_about_parse(struct raw_about *a, const char *bytes, size_t size, struct vs_diag *diag);
void raw_about_fini(struct raw_about *a);

#endif
