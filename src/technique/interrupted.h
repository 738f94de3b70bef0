/* SPDX-License-Identifier: MIT */
/* What a core left when it went elsewhere. If it comes back to a repeated instruction that had
 * begun, it goes on with that instruction, which is already counted. */
#ifndef TECHNIQUE_INTERRUPTED_H
#define TECHNIQUE_INTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>

enum { VS_INTERRUPTED_MAX = 16 };

/* A zeroed struct has left nothing. */
struct vs_interrupted {
    unsigned depth;
    /* `begun` is a repeated instruction that was counted, `next` what the core would have executed.
     * 0: there is no such place. Overwritten when deeper: handlers may never return. */
    struct {
        uint64_t begun, next;
    } places[VS_INTERRUPTED_MAX];
};

static inline void vs_interrupted_leave(struct vs_interrupted *s, uint64_t begun, uint64_t next)
{
    s->places[s->depth % VS_INTERRUPTED_MAX].begun = begun;
    s->places[s->depth++ % VS_INTERRUPTED_MAX].next = next;
}

/* Returns whether the core comes back to what it left; if so, it forgets what it left since, and
 * *begun is whether it goes on with a repeated instruction. */
static inline bool vs_interrupted_return(struct vs_interrupted *s, uint64_t target, bool *begun)
{
    for (unsigned i = s->depth; i > 0 && i + VS_INTERRUPTED_MAX > s->depth; i--) {
        unsigned k = (i - 1) % VS_INTERRUPTED_MAX;
        if (s->places[k].begun != target && s->places[k].next != target)
            continue;
        *begun = s->places[k].begun == target;
        s->depth = i - 1;
        return true;
    }
    return false;
}

#endif
