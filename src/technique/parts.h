/* SPDX-License-Identifier: MIT */
/* What encoders of one run share. Encoders whose parameters differ still do much alike: which
 * outcomes gshare predicts wrongly follows from gshare's own parameters, whatever else there is.
 * Such a part of an encoder is a machine of its own, of a kind and a key. It takes each slice once,
 * for the first encoder that asks, and what comes out is there for all until the next slice. An
 * encoder makes of it the same bits as without parts. */
#ifndef TECHNIQUE_PARTS_H
#define TECHNIQUE_PARTS_H

#include "base/likely.h"
#include "technique/technique.h"

struct vs_part_kind {
    size_t size;     /* of the machine, whose first member is a struct vs_part */
    size_t key_size; /* keys are compared byte by byte */
    /* Opens a zeroed machine, whose key is there to stay; it may get others, which it then has to
     * ask for each slice. close follows in any case. Returns 0; -VSE_NOMEM; -VSE_INVAL. */
    int (*open)(void *part, const void *key, const struct vs_technique_setup *setup);
    /* Returns 0; -VSE_NOMEM; -VSE_INVAL (no such core). */
    int (*take)(void *part, const struct vs_slice *slice);
    void (*close)(void *part);
};

struct vs_part {
    const struct vs_part_kind *kind;
    struct vs_parts *parts;
    const void *key;
    struct vs_part *next;
    uint64_t slice; /* that it took last */
    int error;
};

/* A zeroed struct is ready. */
struct vs_parts {
    struct vs_part *first; /* whoever has others comes before them */
    uint64_t slice;        /* the number of the one under way */
};

void vs_parts_fini(struct vs_parts *p);

/* Gets the part of that kind and key; makes it if there is none, which has to be before the first
 * slice. It stays with the parts. Returns 0; as open. */
int vs_parts_get(struct vs_parts *p, const struct vs_part_kind *kind, const void *key,
                 const struct vs_technique_setup *setup, void **part);

/* Begins a slice. All who share the parts have to have consumed the one before. */
static inline void vs_parts_next(struct vs_parts *p)
{
    p->slice++;
}

/* Has a part take the slice under way, unless it has. Returns as its take. */
int vs_part_take(struct vs_part *part, const struct vs_slice *slice);

#endif
