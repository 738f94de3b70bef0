/* SPDX-License-Identifier: MIT */
/* Cores and the moments at which it is their turn. Which core is first is hard to predict, for the
 * host as for anyone else, so that looking at all of them costs less than branches that keep them
 * sorted. */
#ifndef TARGET_LINE_H
#define TARGET_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "target/config.h"

/* Moments are ordered by cycle, then by core. */
struct vs_moment {
    uint64_t cycle;
    unsigned core;
};

static inline bool vs_is_before(struct vs_moment a, struct vs_moment b)
{
    return a.cycle < b.cycle || (a.cycle == b.cycle && a.core < b.core);
}

#define VS_NOT_IN_LINE UINT64_MAX

struct vs_line {
    uint64_t cycles[VS_CORES_MAX + 1]; /* by core, or VS_NOT_IN_LINE */
    unsigned count;
};

/* Returns the first moment; its cycle is VS_NOT_IN_LINE if the line is empty. Of equal cycles the
 * lower core's is earlier, which a strict comparison finds. */
static inline struct vs_moment vs_line_first(const struct vs_line *l)
{
    uint64_t first = l->cycles[0], core = 0;
    for (uint64_t i = 1; i < l->count; i++) {
        uint64_t at = l->cycles[i];
        bool is_first = at < first;
        first = is_first ? at : first;
        core = is_first ? i : core;
    }
    return (struct vs_moment){first, (unsigned)core};
}

/* Does the same and sets *next to the moment after it. */
static inline struct vs_moment vs_line_two(const struct vs_line *l, struct vs_moment *next)
{
    uint64_t first = l->cycles[0], core = 0, second = VS_NOT_IN_LINE, second_core = UINT32_MAX;
    for (uint64_t i = 1; i < l->count; i++) {
        uint64_t at = l->cycles[i];
        bool is_first = at < first, is_second = is_first | (at < second);
        uint64_t rest = is_first ? first : at, rest_core = is_first ? core : i;
        second = is_second ? rest : second;
        second_core = is_second ? rest_core : second_core;
        first = is_first ? at : first;
        core = is_first ? i : core;
    }
    *next = (struct vs_moment){second, (unsigned)second_core};
    return (struct vs_moment){first, (unsigned)core};
}

#endif
