/* SPDX-License-Identifier: MIT */
/* A run that `vestige record` makes: its file, from the first fact to the seal. Several can be made
 * at the same time. */
#ifndef CLI_RECORDED_H
#define CLI_RECORDED_H

#include "cli/engines.h"
#include "front/recording.h"

struct record_options {
    const char *engine;
    const char *output, *stats;
    uint64_t digests, skip, length, last, max_mb;
    bool main_only, control_only, loads, all, inputs, whole, marks, paused, follow, overwrite, json;
    struct option_list routines, from, to;
    const char *windows, *trigger, *as;
    struct engine_options own;
    struct recording_shows shows;
};

/* What is recorded, and by whom: the same for all runs of a recording. */
struct record_plan {
    const struct record_options *o;
    const struct engine_row *row; /* of the engine */
    void *settings;               /* of the engine */
    uint32_t features;            /* VS_RUN_* */
};

struct recorded {
    const struct record_plan *plan;
    const char *path; /* the run's */
    struct vs_writer *writer;
    struct vs_before before; /* the writer */
    struct vs_consumer consumer;
    uint64_t safe; /* instructions in the chunks that have ended, if there are only inputs */
    _Atomic uint64_t bytes; /* in the file so far; the writer is busy in another thread */
    const char *incomplete; /* why the run is not whole, or NULL */
    char why[ENGINE_TEXT];  /* room for that */
};

/* Starts the file. Returns 0; an error of vs_writer_open, with diag. */
int recorded_open(struct recorded *r, const struct record_plan *plan, const char *path,
                  struct vs_diag *diag);

/* Notes what is known before the program runs; the command may be NULL, and be noted later. Return
 * 0; an error, with vs_writer_diag. */
int recorded_facts(struct recorded *r, const char *command);
int recorded_command(struct recorded *r, const char *command);

/* A command line, so that a shell would understand it, from words that a NULL ends, or that fill
 * `size` bytes, each ended by a zero byte. It is cut where a fact must end. Return a text to free;
 * NULL if there is no memory. */
char *recorded_words(char *const *words);
char *recorded_bytes(const char *words, size_t size);

/* Whether the file is as large as the user wants it. */
bool recorded_full(const struct recorded *r);

/* Notes how the program ended. */
void recorded_ending(struct recorded *r, const struct vs_engine_result *result);

/* Ends the file. *bytes gets its size. Returns 0; an error, with diag, after which the file has
 * another name, and *events are in it. */
int recorded_seal(struct recorded *r, uint64_t *bytes, uint64_t *events, struct vs_diag *diag);

/* What is left of a run that could not be made, to be added to the message; "" if nothing is. */
const char *recorded_saved(const char *path, uint64_t events, char *text, size_t capacity);

#endif
