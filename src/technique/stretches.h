/* SPDX-License-Identifier: MIT */
/* The code between a core's steps, for encoders of control flow that report more of it than steps
 * have: direct jumps, or where a core was when it went elsewhere. A cache keeps what was decoded.
 */
#ifndef TECHNIQUE_STRETCHES_H
#define TECHNIQUE_STRETCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "technique/address.h"

/* Straight code. It ends with a branch, with a repeated instruction, with a system call, or
 * anywhere. */
struct vs_stretch {
    uint64_t pc;      /* of the first instruction */
    uint64_t last_pc; /* of the last */
    uint64_t next;    /* the address after it */
    uint64_t target;  /* of a direct branch, or of an indirect one that is inferable */
    uint32_t version;
    uint16_t count;     /* instructions; 0: nothing is decoded here */
    bool branch;        /* the last instruction is one, */
    uint8_t flags;      /* with these VS_BR_* */
    bool repeat;        /* it is a repeated one */
    bool system_call;   /* it asks the operating system */
    uint8_t prefetches; /* instructions that are prefetches */
    uint8_t before;     /* bytes of the instruction before the last; 0: there is none here */
    bool inferable; /* the branch is indirect, and the instruction before it tells where it goes */
};

/* Whether it ends with a direct jump, which is no step. */
static inline bool vs_stretch_jumps(const struct vs_stretch *s)
{
    return s->branch && !(s->flags & (VS_BR_COND | VS_BR_INDIRECT | VS_BR_CALL));
}

/* What a core executes from a place on, in so many instructions: stretches, each of which leads to
 * the next by itself. */
struct vs_way {
    uint64_t pc;     /* of the first instruction */
    uint64_t last;   /* of the last */
    uint64_t next;   /* the address after it, or where a direct jump goes */
    uint64_t target; /* of the last, if it is a branch whose target is known or inferable */
    uint32_t version;
    uint32_t bytes;
    uint16_t count; /* instructions; 0: there is no way */
    uint16_t jumps; /* direct jumps among them */
    uint16_t prefetches;
    bool branch;      /* the last instruction is a branch, */
    bool jump;        /* a direct jump */
    bool repeat;      /* it is a repeated one */
    bool system_call; /* it asks the operating system */
    bool inferable;   /* it is an indirect branch, and the instruction before tells where it goes */
    bool alone;       /* it is one, and the only instruction */
};

struct vs_stretches {
    const struct vs_address_code *code;
    struct vs_stretch *table; /* by the address of the first instruction */
    struct vs_stretch part;   /* the last one that was cut short */
    struct vs_way *ways;      /* by the address of the first instruction */
};

/* Tells where an indirect branch at pc goes, after the instruction at `before`, if that alone says
 * so. */
bool vs_stretches_infer(const struct vs_stretches *s, uint32_t version, uint64_t before,
                        uint64_t pc, uint64_t *target);

/* Where a core is. A zeroed struct is one that has executed nothing. */
struct vs_stretch_place {
    uint64_t pc, executed; /* instructions so far */
    uint64_t until;        /* the core sees that version before so many; 0: it is not known */
    uint32_t version;
};

/* The code must outlive it. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_stretches_init(struct vs_stretches *s, const struct vs_address_code *code);
void vs_stretches_fini(struct vs_stretches *s);

enum { VS_STRETCHES = 1 << 14, VS_WAYS = 1 << 13 }; /* the tables' sizes */

/* Does what vs_stretches_at does, whatever there is to do. */
const struct vs_stretch *vs_stretches_find(struct vs_stretches *s, unsigned core,
                                           struct vs_stretch_place *place, uint64_t most);

/* Returns the code at a core's place, at most `most` instructions of it, at least 1 if `most` is
 * not 0; NULL if none is known there. It stays until the next call. */
static inline const struct vs_stretch *vs_stretches_at(struct vs_stretches *s, unsigned core,
                                                       struct vs_stretch_place *place,
                                                       uint64_t most)
{
    const struct vs_stretch *r = &s->table[(place->pc ^ place->pc >> 14) % VS_STRETCHES];
    if (likely(r->pc == place->pc && r->version == place->version && r->count && r->count <= most &&
               place->executed < place->until && r->count <= place->until - place->executed))
        return r;
    return vs_stretches_find(s, core, place, most);
}

/* Does what vs_stretches_way does, whatever there is to do. */
const struct vs_way *vs_stretches_find_way(struct vs_stretches *s, unsigned core,
                                           struct vs_stretch_place *place, uint64_t count);

/* Returns the way of `count` instructions from a core's place on, where the place stays; NULL if no
 * code is known there, if it changes on the way, or if anything but the last instruction may lead
 * elsewhere. It stays until the next call. */
static inline const struct vs_way *vs_stretches_way(struct vs_stretches *s, unsigned core,
                                                    struct vs_stretch_place *place, uint64_t count)
{
    const struct vs_way *w = &s->ways[(place->pc ^ place->pc >> 13) % VS_WAYS];
    if (likely(w->pc == place->pc && w->count == count && w->version == place->version && count &&
               place->executed < place->until && count <= place->until - place->executed))
        return w;
    return vs_stretches_find_way(s, core, place, count);
}

#endif
