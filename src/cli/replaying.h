/* SPDX-License-Identifier: MIT */
/* A port stream that is replayed, for the commands that do. */
#ifndef CLI_REPLAYING_H
#define CLI_REPLAYING_H

#include "cli/code_open.h"
#include "cli/vport_open.h"
#include "replay/replay.h"

struct replaying_options {
    const struct option_list *images;
    const char *code; /* NULL: from the images */
    vs_replay_output *output;
    void *context;
};

struct replaying {
    struct vs_vport *port;
    struct code code;
    struct vs_replay replay;
    bool ready; /* the replay is */
};

/* Opens the stream and its code; it stands at position 0. A recorded run is encoded first, to a
 * file that is gone afterwards, and that is said. Returns CLI_DONE, or the status after a message;
 * replaying_close is needed in any case. */
int replaying_open(struct cli *cli, struct replaying *r, const char *path,
                   const struct replaying_options *o);
void replaying_close(struct replaying *r);

/* Whether it can be replayed: a stream of load values or a run, of RV64. The path of its program
 * goes to `program`, which is "" if it names none. Returns CLI_DONE, or the status after a message.
 */
int replaying_look(struct cli *cli, const char *path, char *program, size_t capacity);

/* The program that the stream names, or NULL. */
const struct vs_image *replaying_program(const struct replaying *r);

/* Says that the stream ended before the program did. Returns CLI_BAD_DATA. */
int replaying_cut(struct cli *cli, const char *path, const struct replaying *r);

/* The rows of --code and --image. */
#define REPLAYING_OPTIONS(images_at, code_at)                                                      \
    {.name = "code",                                                                               \
     .argument = "RUN",                                                                            \
     .help = "take the code from this run; its events are not read",                               \
     .type = OPTION_STRING,                                                                        \
     .offset = (code_at)},                                                                         \
    {                                                                                              \
        .name = "image", .argument = "ELF",                                                        \
        .help = "take the code from this file; may be repeated", .type = OPTION_LIST,              \
        .offset = (images_at)                                                                      \
    }

#endif
