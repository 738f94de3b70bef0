/* SPDX-License-Identifier: MIT */
/* What the commands share that write a run anew with more or fewer events: expand and shrink. */
#ifndef CLI_REWRITING_H
#define CLI_REWRITING_H

#include "front/cli.h"
#include "front/options.h"
#include "trace/consumer.h"

struct rewriting_options {
    const char *output;
    bool overwrite, json;
};

struct rewriting {
    struct cli *cli;
    const struct rewriting_options *o;
    const char *input, *label; /* label: of the progress line */
    struct vs_reader *reader;  /* at its first event; the caller's */
    uint32_t features;         /* of the run that is written */
    /* Takes a batch that was read, and hands on what is to be written; NULL: all of it. Returns 0,
     * or an error. */
    int (*put)(void *context, struct vs_writer *writer, const struct vs_batch *batch);
    /* Notes further facts of the run, once those of the run that is read are there; NULL: none.
     * Returns 0, or an error. */
    int (*facts)(void *context, struct vs_writer *writer);
    void *context;
};

/* Writes the run, and prints what came of it. Returns the status, after a message if it is not
 * CLI_DONE. */
int rewrite_run(const struct rewriting *w);

#define REWRITING_OPTIONS                                                                          \
    {.name = "output",                                                                             \
     .letter = 'o',                                                                                \
     .argument = "FILE",                                                                           \
     .help = "write the run to FILE",                                                              \
     .type = OPTION_STRING,                                                                        \
     .offset = offsetof(struct rewriting_options, output)},                                        \
        {.name = "force",                                                                          \
         .letter = 'f',                                                                            \
         .help = "replace FILE if it exists",                                                      \
         .offset = offsetof(struct rewriting_options, overwrite)},                                 \
        {.name = "json",                                                                           \
         .help = "print what was written as a JSON object",                                        \
         .offset = offsetof(struct rewriting_options, json)},                                      \
    {                                                                                              \
        0                                                                                          \
    }

#endif
