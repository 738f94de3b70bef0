/* SPDX-License-Identifier: MIT */
/* Which instructions are traced, by address: those of the main image, of named routines, or all.
 *
 * Images come and go (VS_MAP), and another may take the place of one that went; only code of images
 * that are mapped passes. In a run that does not tell when images are mapped, all of them always
 * are. The main image is the first that is mapped, and so again after everything was unmapped:
 * another program then follows.
 */
#ifndef PUBLISHED_MTRACE_FILTER_H
#define PUBLISHED_MTRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "front/options.h"
#include "vestige/run.h"

/* Addresses [lo, hi). */
struct mtrace_range {
    uint64_t lo, hi;
};

/* Finds a file's routines of that name, as link-time addresses. Returns how many there are, of
 * which the first `capacity` are filled in; an error if the file cannot be read. */
typedef int64_t mtrace_find_routine(const char *path, const char *name, struct mtrace_range *ranges,
                                    size_t capacity);

/* An image; those parts of it that pass are in `parts`. */
struct mtrace_image {
    uint64_t start, end;
    size_t first, count;
    bool mapped;
};

struct mtrace_filter {
    uint64_t lo, span; /* in [lo, lo + span) the answer is `inside` */
    bool inside;

    bool off; /* everything passes */
    bool main_only;
    bool follows;                       /* the run tells of mappings */
    uint64_t main;                      /* the main image; VS_NO_IMAGE: the next that is mapped */
    const struct option_list *routines; /* NULL or empty: any */
    uint64_t found;                     /* a bit per routine: some image has it */
    mtrace_find_routine *find;
    unsigned images, unreadable;
    struct mtrace_image *list; /* the images */
    size_t list_capacity;
    struct mtrace_range *parts; /* of all images; they stay the same while images come and go */
    size_t part_count, part_capacity;
    struct mtrace_range *ranges; /* those that pass now, in order and apart from each other */
    size_t count, capacity;
};

_Static_assert(OPTION_LIST_MAX <= 64, "a bit per routine");

/* `find` is needed only with routines, which stay the caller's. */
void mtrace_filter_init(struct mtrace_filter *f, bool main_only, const struct option_list *routines,
                        mtrace_find_routine *find);

void mtrace_filter_fini(struct mtrace_filter *f);

/* Takes the run's next image. Returns 0; -VSE_NOMEM. */
int mtrace_filter_image(struct mtrace_filter *f, const struct vs_image *image);

/* Takes a VS_MAP event. Returns 0; -VSE_NOMEM. */
int mtrace_filter_map(struct mtrace_filter *f, const struct vs_event *e);

/* A routine that no image has so far; NULL if all were found. */
const char *mtrace_filter_missing(const struct mtrace_filter *f);

/* The part of mtrace_filter_pass that searches. */
bool mtrace_filter_search(struct mtrace_filter *f, uint64_t pc);

static inline bool mtrace_filter_pass(struct mtrace_filter *f, uint64_t pc)
{
    if (likely(pc - f->lo < f->span))
        return f->inside;
    return mtrace_filter_search(f, pc);
}

#endif
