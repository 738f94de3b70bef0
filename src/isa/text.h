/* SPDX-License-Identifier: MIT */
/* A program's code, and how it changes. Version v of the code has the first v changes applied; a
 * change applies to a core once the core has retired as many instructions as it had when the change
 * came.
 *
 * First every block of the program is added; its bytes are there from the start, except where an
 * earlier block has others. Then come changes, and what cores retire between them; last comes the
 * index. */
#ifndef ISA_TEXT_H
#define ISA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "isa/codemap.h"
#include "vestige/event.h"

/* A core executes that version once it has retired `count` instructions. */
struct vs_text_view {
    uint64_t count;
    uint32_t version;
};

struct vs_text_core {
    uint64_t count; /* retired so far */
    uint32_t version;
    struct vs_text_view *views; /* by count */
    size_t view_count, view_capacity;
};

struct vs_text_place {
    uint64_t page;
    uint32_t change;
};

/* A zeroed struct is code without any block. */
struct vs_text {
    struct vs_codemap base;
    struct vs_block *changes;
    size_t change_count, change_capacity;
    struct vs_text_core *cores;
    size_t core_count, core_capacity;
    struct vs_text_place *places; /* where changes lie, by page and number */
    size_t place_count, place_capacity;
};

/* The block's bytes must outlive the code.
 * Returns 0; -VSE_NOMEM; -VSE_LIMIT (code is scattered over more memory than a codemap holds). */
int vs_text_add(struct vs_text *c, const struct vs_block *block);

/* Code changes, for everything that cores do from now on. Returns as vs_text_add; -VSE_LIMIT also
 * if there are too many changes. */
int vs_text_change(struct vs_text *c, const struct vs_block *block);

/* The core does something after the last change, so it executes the latest version. Returns 0;
 * -VSE_NOMEM. */
int vs_text_meet(struct vs_text *c, unsigned core);

/* The core does something and retires so many instructions. Returns 0; -VSE_NOMEM. */
static inline int vs_text_retire(struct vs_text *c, unsigned core, uint64_t instructions)
{
    int err = 0;
    if (unlikely(core >= c->core_count || c->cores[core].version != c->change_count))
        err = vs_text_meet(c, core);
    if (!err)
        c->cores[core].count += instructions;
    return err;
}

/* To be called after the last of these and before any fetch. Returns 0; -VSE_NOMEM. */
int vs_text_index(struct vs_text *c);

/* Copies the bytes of a version from addr on, at most `capacity`. Returns how many are known. */
size_t vs_text_fetch(const struct vs_text *c, uint32_t version, uint64_t addr, uint8_t *bytes,
                     size_t capacity);

/* Sets *first and *last so that all versions from one to the other have the same bytes as `version`
 * in [addr, addr + size). */
void vs_text_extent(const struct vs_text *c, uint32_t version, uint64_t addr, uint64_t size,
                    uint32_t *first, uint32_t *last);

void vs_text_fini(struct vs_text *c);

#endif
