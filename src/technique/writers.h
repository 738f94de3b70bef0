/* SPDX-License-Identifier: MIT */
/* Which core stored last to code. The debugger gets written code from the stores of the cores that
 * it replays. It has each core's in their order, but those of several cores only as far as messages
 * order them. So where a core stores to a line that another core stored to last, the stream first
 * tells the other's place, if code is ever executed there. */
#ifndef TECHNIQUE_WRITERS_H
#define TECHNIQUE_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* The pages from which a program executes code at some time. A zeroed struct has none. */
struct vs_code_pages {
    struct vs_map numbers; /* the keys */
    uint64_t filter[512];  /* a bit for each page, by the last bits of its number */
};

#define VS_CODE_PAGE_BITS 12

/* Adds the pages of a block of code. Returns 0; -VSE_NOMEM. */
int vs_code_pages_add(struct vs_code_pages *p, uint64_t addr, uint64_t size);
void vs_code_pages_fini(struct vs_code_pages *p);

/* Returns whether the address may lie in one of the pages. */
static inline bool vs_code_pages_may_have(const struct vs_code_pages *p, uint64_t addr)
{
    uint64_t number = addr >> VS_CODE_PAGE_BITS;
    return p->filter[number / 64 % 512] >> number % 64 & 1;
}

#define VS_WRITERS_NOBODY UINT32_MAX

/* A zeroed struct has no code, and so no writers. */
struct vs_writers {
    const struct vs_code_pages *code; /* the owner's; NULL: none */
    struct vs_map lines;              /* by number: the core that stored there last, plus 1 */
};

void vs_writers_fini(struct vs_writers *w);

/* Returns whether a store may concern code; only then vs_writers_take has to be called. */
static inline bool vs_writers_concern(const struct vs_writers *w, uint64_t addr, size_t size)
{
    return w->code && (vs_code_pages_may_have(w->code, addr) ||
                       vs_code_pages_may_have(w->code, addr + size - 1));
}

/* Takes that part of a core's store that lies in its first line; *addr and *size become the rest's.
 * *other is the core whose place has to be told before the store, or VS_WRITERS_NOBODY. Returns 0;
 * -VSE_NOMEM. */
int vs_writers_take(struct vs_writers *w, unsigned core, uint64_t *addr, size_t *size,
                    unsigned *other);

#endif
