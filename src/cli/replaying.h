/* SPDX-License-Identifier: MIT */
/* A port stream that is replayed, for the commands that replay one. */
#ifndef CLI_REPLAYING_H
#define CLI_REPLAYING_H

#include "base/copy_pool.h"
#include "cli/code_open.h"
#include "cli/encoding.h"
#include "cli/vport_open.h"
#include "replay/replay.h"

struct replaying_options {
    const struct option_list *images;
    const char *code;      /* a run; if NULL, the code is from the images */
    const char *technique; /* for a run, what encodes it; NULL: mc2RT */
    bool at_once;          /* a run is encoded without a pass beforehand; the user is not told */
    bool pooled;           /* pages of memory are in a pool, for checkpoints */
    const char *folder;    /* the pool, and a run's stream, are in files there; NULL: in memory */
    vs_replay_output *output;
    void *context;
};

struct replaying {
    struct vs_vport *port;     /* NULL if it is a run, */
    struct encoding *encoding; /* and NULL if it is a stream */
    const struct vs_vport_about *about;
    struct code code;
    struct vs_copy_pool pool; /* if pages are in one */
    struct vs_replay replay;
    bool pooled;     /* there is the pool */
    bool ready;      /* the replay is ready */
    bool incomplete; /* the run lacks something, as the user was told */
};

/* Opens the stream and its code; the replay stands at position 0. A recorded run is encoded
 * while it is replayed. Returns CLI_DONE, or the status after a message. replaying_close is
 * needed in any case. */
int replaying_open(struct cli *cli, struct replaying *r, const char *path,
                   const struct replaying_options *o);
void replaying_close(struct replaying *r);

/* Whether the file can be debugged: it must be a stream of load values, or a run, of an ISA that
 * can be executed here, and the decoder must be able to go back. The path of its program goes to
 * `program`, which is "" if the file names none. Returns CLI_DONE, or the status after a message.
 */
int replaying_look(struct cli *cli, const char *path, const struct replaying_options *o,
                   const struct vs_isa **isa, char *program, size_t capacity);

/* Says that the technique's streams can only be read forwards. Returns CLI_USAGE. */
int replaying_one_way(struct cli *cli, const char *path, const struct vs_technique *t);

/* Says that the stream ended before the program did. Returns CLI_BAD_DATA. */
int replaying_cut(struct cli *cli, const char *path, const struct replaying *r);

/* The rows of --code and --image. */
#define REPLAYING_OPTIONS(images_at, code_at)                                                      \
    {.name = "code",                                                                               \
     .argument = "RUN",                                                                            \
     .help = "take the code from this run, with its changes",                                      \
     .type = OPTION_STRING,                                                                        \
     .offset = (code_at)},                                                                         \
    {                                                                                              \
        .name = "image", .argument = "ELF",                                                        \
        .help = "take the code from this file; may be repeated", .type = OPTION_LIST,              \
        .offset = (images_at)                                                                      \
    }

#endif
