/* SPDX-License-Identifier: MIT */
/* A technique whose settings are left open: "mcfTR_e:gshare=256..8192*2,ras=4|8|16,hash=*". Items
 * between commas are axes, and every combination of one setting of each axis is a point. An axis is
 *
 *   name=VALUES    values of a parameter between bars; LO..HI*F, LO..HI+S and LO..HI are ranges,
 *                  and * is every word that the parameter takes
 *   A|B            configurations
 *   *              all configurations of the technique
 *   (A,B|C)        settings that go together: each alternative is a list of them
 *
 * Every setting is one that the technique takes by itself; which of them fit together is known only
 * when a point is parsed. */
#ifndef SWEEP_TEMPLATE_H
#define SWEEP_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "vestige/error.h"

/* Strings in an arena. A zeroed struct is an empty list. */
struct vs_words {
    const char **items; /* to be freed by vs_words_fini; the strings are the arena's */
    size_t count, capacity;
};

/* Adds a copy of `size` bytes of text. Returns 0; -VSE_NOMEM. */
int vs_words_add(struct vs_words *w, struct vs_arena *arena, const char *text, size_t size);
void vs_words_fini(struct vs_words *w);

enum { VS_TEMPLATE_AXES = 24, VS_AXIS_MAX = 100000 };

/* The most points of a template, and of a study. */
#define VS_POINTS_MAX (UINT64_C(1) << 20)

struct vs_template {
    const char *technique;
    struct vs_words
        axes[VS_TEMPLATE_AXES]; /* the settings of each, as vs_technique_parse has them */
    size_t axis_count;
    uint64_t points; /* the product of the axes' lengths */
};

/* Expands "a|2..8*2" into a list; `words`, which may be NULL, is what * stands for. Returns 0, or
 * with diag: -VSE_INVAL (a range is wrong or empty); -VSE_LIMIT (too many values); -VSE_NOMEM. */
int vs_range_expand(struct vs_words *out, struct vs_arena *arena, const char *text, size_t size,
                    const char *const *words, struct vs_diag *diag);

/* Parses a template. fini is needed in any case. Returns 0, or with diag: -VSE_NOTFOUND (no such
 * technique, configuration, parameter); -VSE_INVAL (a value or range is wrong or empty);
 * -VSE_LIMIT (too many points or axes); -VSE_NOMEM. */
int vs_template_parse(struct vs_template *t, struct vs_arena *arena, const char *text,
                      struct vs_diag *diag);
void vs_template_fini(struct vs_template *t);

/* Writes what follows the technique's name in the spec of a point, or "default"; the last axis
 * changes first. Returns 0; -VSE_LIMIT (it does not fit). */
int vs_template_config(const struct vs_template *t, uint64_t point, char *out, size_t capacity);

#endif
