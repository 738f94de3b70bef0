/* SPDX-License-Identifier: MIT */
/* What the tools that read TmTrace's files share: lines of input and output, which begin with cycle
 * and core, statistics, and the names of files. */
#ifndef PUBLISHED_TMTOOL_H
#define PUBLISHED_TMTOOL_H

#include "base/progress.h"
#include "published/published.h"
#include "published/mtrace_out.h"
#include "front/textin.h"

struct tmtool_options {
    uint64_t max_mb; /* the trace's limit, in 10^6 bytes */
    const char *output;
};

#define TMTOOL_DEFAULTS                                                                            \
    {                                                                                              \
        .max_mb = 50000                                                                            \
    }

/* This comes first in a tool's own struct; the tool sets the first part. */
struct tmtool {
    const char *name;
    const char *prefix; /* of the files' names if there is no --o; the time follows it */
    const char *what;   /* what a line describes: "control transfer" */
    /* Takes a line that begins with a digit; the others are titles. Returns 0; -VSE_END (it has
     * enough); an error, with diag. */
    int (*take)(struct tmtool *t, const char *line);
    void (*statistics)(const struct tmtool *t, struct out *out);
    const struct tmtool_options *o;

    struct cli *cli;
    struct textin in;
    struct mtrace_out out;
    uint64_t lines; /* lines that `take` took */
    struct vs_progress progress;
    double milliseconds; /* set before the statistics */
    struct vs_diag diag;
};

/* Reads the input ("-" is standard input) and writes both files. Returns the exit status, after
 * messages. */
int tmtool_run(struct tmtool *t, struct cli *cli, const char *input);

/* ---- for a tool's take ----------------------------------------------------------------------- */

/* Says what is wrong with the line. Returns the error. */
int tmtool_refuse(struct tmtool *t, const char *what);

/* Makes room for a line at t->out.at. Returns 0; the error that take has to return. */
enum { TMTOOL_LINE = 128 };
int tmtool_room(struct tmtool *t);

/* ---- for its statistics ---------------------------------------------------------------------- */

/* Print rows about the sizes of binary records, whose time takes 8 bytes. `line` is what all other
 * fields take. */
void tmtool_sizes_title(struct out *out);
void tmtool_size_row(struct out *out, const char *name, uint64_t count, uint64_t line);

/* ---- rows of its command: fields are of a struct tmtool_options at `base` -------------------- */

#define TMTOOL_FIELD(base, member) ((base) + offsetof(struct tmtool_options, member))
#define TMTOOL_OPTIONS(base)                                                                       \
    {.name = "f",                                                                                  \
     .argument = "MB",                                                                             \
     .help = "stop before the trace gets larger than this many\nmillion bytes (50000)",            \
     .type = OPTION_U64,                                                                           \
     .offset = TMTOOL_FIELD(base, max_mb),                                                         \
     .min = 1,                                                                                     \
     .max = UINT64_MAX / 1000000},                                                                 \
    {                                                                                              \
        .name = "o", .argument = "NAME",                                                           \
        .help = "name the trace NAME.txt, and the statistics\n"                                    \
                "NAME.Statistics",                                                                 \
        .type = OPTION_STRING, .offset = TMTOOL_FIELD(base, output)                                \
    }

#define TMTOOL_EXITS(what)                                                                         \
    "0  done\n"                                                                                    \
    "1  the trace is damaged, or is none of " what "\n"                                            \
    "2  bad usage, or the system refused something"

#define TMTOOL_ENVIRONMENT "TZ  the time zone of names that are made without --o"

#endif
