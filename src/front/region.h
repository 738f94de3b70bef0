/* SPDX-License-Identifier: MIT */
/* Options that read a part of a run, with the meaning that they have when recording. */
#ifndef FRONT_REGION_H
#define FRONT_REGION_H

#include <pthread.h>

#include "base/buf.h"
#include "front/cli.h"
#include "front/options.h"
#include "rerun/run_open.h"

struct region_options {
    uint64_t skip, length;
    const char *windows;
    struct option_list from, to, routines;
    const char *places; /* what --from and --to are called, if it is not that */
    bool main_only;
};

/* Rows for a command whose struct has a struct region_options at `base`. */
#define REGION_OPTIONS(base) REGION_WINDOWS(base), REGION_PLACES(base, "from", "to")

/* Those that begin and end at places, under other names for a command to which --from and --to mean
 * something else. It has to say so in `places`. */
#define REGION_PLACES(base, begin, end)                                                            \
    {.name = begin,                                                                                \
     .argument = "WHERE",                                                                          \
     .help = "begin where a routine or address (0x...) is reached",                                \
     .type = OPTION_LIST,                                                                          \
     .offset = (base) + offsetof(struct region_options, from)},                                    \
    {                                                                                              \
        .name = end, .argument = "WHERE",                                                          \
        .help = "end where it is reached, until --" begin " is\nreached again",                    \
        .type = OPTION_LIST, .offset = (base) + offsetof(struct region_options, to)                \
    }

/* The others. */
#define REGION_WINDOWS(base)                                                                       \
    {.name = "skip",                                                                               \
     .argument = "N",                                                                              \
     .help = "leave out the first N instructions of all threads",                                  \
     .type = OPTION_U64,                                                                           \
     .offset = (base) + offsetof(struct region_options, skip)},                                    \
        {.name = "length",                                                                         \
         .argument = "N",                                                                          \
         .help = "read N instructions",                                                            \
         .type = OPTION_U64,                                                                       \
         .offset = (base) + offsetof(struct region_options, length),                               \
         .min = 1},                                                                                \
        {.name = "windows",                                                                        \
         .argument = "FILE",                                                                       \
         .help = "read several stretches: lines START LENGTH, in\n"                                \
                 "instructions of all threads",                                                    \
         .type = OPTION_STRING,                                                                    \
         .offset = (base) + offsetof(struct region_options, windows)},                             \
        {.name = "routine",                                                                        \
         .argument = "NAME",                                                                       \
         .help = "read only code of this routine; may be repeated",                                \
         .type = OPTION_LIST,                                                                      \
         .offset = (base) + offsetof(struct region_options, routines)},                            \
    {                                                                                              \
        .name = "no-shared-libs", .help = "read only code of the program's own file",              \
        .offset = (base) + offsetof(struct region_options, main_only)                              \
    }

enum { REGION_WINDOWS_MAX = 4096, REGION_PLACES_MAX = 3 * OPTION_LIST_MAX };

struct region {
    const struct region_options *o;
    bool any; /* it is not the whole run */
    struct vs_selection selection;
    struct vs_window *windows; /* room for REGION_WINDOWS_MAX */
    struct vs_place places[REGION_PLACES_MAX];
    size_t place_count;
    pthread_mutex_t lock; /* of what was found of the places */
};

/* Prepares to read what the options say; both must outlive the region. Needs region_fini in any
 * case. Returns CLI_DONE, or the status after a message. */
int region_init(struct region *r, struct cli *cli, const struct region_options *o);
void region_fini(struct region *r);

/* What is to be read; NULL: everything. */
static inline const struct vs_selection *region_selection(const struct region *r)
{
    return r->any ? &r->selection : NULL;
}

/* Opens the part of a run, or all of it, as cli_open does. A name that is nowhere is an error. */
int region_open(struct region *r, struct cli *cli, struct vs_reader **reader, const char *path);

/* Appends the options as they would be written, ended by a zero byte; nothing if all is read.
 * Returns 0; -VSE_NOMEM. */
int region_words(const struct region *r, struct vs_buf *to);

/* ---- what recording has, too ----------------------------------------------------------------- */

/* Adds places with these names, for which there must be room. */
void region_add_places(struct vs_place *places, size_t *count, const struct option_list *names,
                       enum vs_place_kind kind);

/* Whether addresses are such, and are not where only names may be. Returns CLI_DONE, or the status
 * after a message. */
int region_check_places(struct cli *cli, const struct vs_place *places, size_t count);

/* Reads windows from a file; there is room for REGION_WINDOWS_MAX. Returns likewise. */
int region_read_windows(struct cli *cli, const char *path, struct vs_window *windows,
                        size_t *count);

#endif
