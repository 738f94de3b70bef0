/* SPDX-License-Identifier: MIT */
/* A profile by path of calls: which routines called each other, down to where instructions
 * retired. */
#ifndef STUDY_CALLERS_H
#define STUDY_CALLERS_H

#include "base/map.h"
#include "study/callstack.h"
#include "study/where.h"

/* How many paths are told apart at most. Instructions on further ones count for their callers. */
#define VS_CALLERS_PATHS_MAX (1u << 22)

/* A routine, or code that has none, within a path. The first one of the list is the root, which is
 * no routine. */
struct vs_caller {
    uint32_t parent; /* the path that it was called from */
    uint32_t routine;
    uint64_t instructions; /* that retired in the routine itself, called so */
};

/* A routine of all paths; the first one has no name. */
struct vs_caller_routine {
    const char *name;  /* NULL: it has none */
    const char *image; /* path; NULL: none */
};

/* Where a thread is. */
struct vs_caller_place {
    uint64_t pc; /* 0: not known */
    uint32_t path;
    uint32_t site; /* of `where`; 0: not known */
};

struct vs_callers {
    struct vs_where where;
    struct vs_callstack stack;
    struct vs_caller *paths;
    size_t path_count, path_capacity;
    struct vs_caller_routine *routines;
    size_t routine_count, routine_capacity;

    /* private */
    struct vs_map children; /* by parent and routine */
    uint32_t *by_site;      /* the routine of a site, plus 1; 0: not looked up */
    size_t site_capacity;
    struct vs_map by_start;     /* by a routine's image and beginning: its number plus 1 */
    struct vs_caller_place *at; /* by thread: where it is */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case; it may also follow without init if the struct
 * was zeroed. */
int vs_callers_init(struct vs_callers *c, const struct vs_reader *reader);
void vs_callers_fini(struct vs_callers *c);

/* Takes the run's next event, batch->events[i], and tells where its instructions retired, as far as
 * it has any; else where its thread was before. Returns 0; -VSE_NOMEM. */
int vs_callers_take(struct vs_callers *c, const struct vs_batch *batch, size_t i,
                    struct vs_caller_place *place);

/* Takes the run's next events. Returns 0; -VSE_NOMEM. */
int vs_callers_batch(struct vs_callers *c, const struct vs_batch *batch);

/* A routine on a path, which called itself so many times in a row. */
struct vs_caller_run {
    const struct vs_caller_routine *routine;
    uint64_t times;
};

/* Lists the routines on a path, the outermost first, in an array that grows as needed and is the
 * caller's. Returns how many there are; -VSE_NOMEM. */
int64_t vs_callers_path(const struct vs_callers *c, uint32_t path, struct vs_caller_run **runs,
                        size_t *capacity);

/* Lists the paths in which instructions retired: most of them first, then in the order in which
 * they were met. Returns how many are in *list, which is to be freed; -VSE_NOMEM. */
int64_t vs_callers_hottest(const struct vs_callers *c, uint32_t **list);

#endif
