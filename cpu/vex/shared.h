/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translations that caches share, so that threads which execute the same program side by side
 * translate most of it once: LibVEX does one block at a time. While there is only one cache,
 * nothing is kept here. What is kept stays until there is no cache left, so that sites may lie
 * here. */
#ifndef SHARED_H
#define SHARED_H

#include "rewrite.h"

struct shared_block {
    uint64_t pc;
    const uint8_t *bytes; /* the program's code, and REQUEST_LENGTH bytes before it */
    const void *code;     /* not linked to anything */
    size_t size;          /* of it */
    uint32_t length, insns;
    bool single, repeats;
    bool tells;                      /* it calls helper_branch, with what this says: */
    const void *describe;            /* whose result is in its sites */
    const struct shared_block *next; /* in its bucket */
};

/* A cache is there, or no longer. */
void shared_enter(void);
void shared_leave(void);

/* Whether a block may be shared: others might want it, and there are no addresses to stop at. */
bool shared_wanted(const struct rewrite *r);

/* Returns the translation of the code at r->addr, which r->bytes has; NULL if there is none. */
const struct shared_block *shared_find(const struct rewrite *r, bool single);

/* Keeps a translation if there is memory. Its sites have to be from shared_site. */
void shared_add(const struct rewrite *r, bool single, const void *code, size_t size);

/* A site that stays until there is no cache left. Returns NULL without memory. */
struct site *shared_site(void *context);

#endif
