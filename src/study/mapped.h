/* SPDX-License-Identifier: MIT */
/* Which image lies at an address, as VS_MAP events tell it. */
#ifndef STUDY_MAPPED_H
#define STUDY_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

/* How many ranges are followed at most. Beyond that, what is mapped is not known. */
#define VS_MAPPED_MAX 4096

/* The addresses [first, last] at which an image is or was. */
struct vs_mapped_range {
    uint64_t first, last;
    uint64_t image;
    bool gone;
};

/* A zeroed struct has nothing mapped. */
struct vs_mapped {
    struct vs_mapped_range *ranges; /* in the order of the events */
    size_t count, capacity;
};

/* What a VS_MAP event does to images. */
struct vs_mapped_change {
    uint64_t first, last;
    uint64_t image; /* that lies there now, or VS_NO_IMAGE */
};

/* Returns whether the event maps an image or unmaps something; other events leave images alone. */
bool vs_mapped_change(const struct vs_event *e, struct vs_mapped_change *c);

/* Whether the change takes addresses from an image other than the one that it maps. */
bool vs_mapped_replaces(const struct vs_mapped *m, const struct vs_mapped_change *c);

/* Makes the change. Parts of an image before and behind what is taken from it stay. Returns 0;
 * -VSE_NOMEM. */
int vs_mapped_apply(struct vs_mapped *m, const struct vs_mapped_change *c);

/* The image at an address now, or VS_NO_IMAGE. */
uint64_t vs_mapped_image(const struct vs_mapped *m, uint64_t address);

void vs_mapped_fini(struct vs_mapped *m);

#endif
