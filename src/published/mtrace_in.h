/* SPDX-License-Identifier: MIT */
/* Another tool's descriptors as a tool's input (mtrace_tool.read). */
#ifndef PUBLISHED_MTRACE_IN_H
#define PUBLISHED_MTRACE_IN_H

#include "published/mtrace.h"
#include "front/textin.h"

enum { MTRACE_IN_HEAD_MAX = 32 };

/* This comes first in a reader's own struct. */
struct mtrace_in {
    struct mtrace *m;
    struct textin file;
    uint64_t number; /* the number of the descriptor under way, from 1 up */
};

/* All return 0; an error, with m->diag. */
struct mtrace_in_ops {
    int (*text)(struct mtrace_in *in, const char *line);
    size_t head; /* how many bytes of a descriptor `binary` gets; it may read more */
    int (*binary)(struct mtrace_in *in, const uint8_t *head);
    int (*flush)(struct mtrace_in *in); /* called after the last descriptor */
};

/* Says what is wrong with the descriptor. Returns -VSE_CORRUPT. */
int mtrace_in_refuse(struct mtrace_in *in, const char *what);

/* Reads the file that -i names. Returns 0; as the functions of textin.h; the error of an op. */
int mtrace_in_read(struct mtrace_in *in, const struct mtrace_in_ops *ops);

/* Whether the other options allow o->descriptors to be set. If not, it says why; `alone` is the
 * message if -i is missing. */
bool mtrace_in_fits(struct cli *cli, const struct mtrace_options *o, const char *alone);

#endif
