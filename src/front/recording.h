/* SPDX-License-Identifier: MIT */
/* What commands that run a program share: signals, its exit status, messages. */
#ifndef FRONT_RECORDING_H
#define FRONT_RECORDING_H

#include <time.h>

#include "base/outfile.h"
#include "base/progress.h"
#include "engine/engine.h"
#include "front/cli.h"
#include "front/report.h"

/* From now on signals that would end us are noted for the program instead, until released. `apart`:
 * the program is another process, so those that would stop us are noted as well. Three of a kind
 * that ask for an end within a second insist on it. */
struct vs_interrupt *recording_catch_signals(bool apart);
void recording_release_signals(void);

/* What a command that runs a program shows beside it. */
struct recording_shows {
    bool quiet;    /* nothing but errors */
    bool progress; /* a line of progress, whatever the program does with the terminal */
};

#define RECORDING_SHOWS(base)                                                                      \
    {.name = "quiet",                                                                              \
     .letter = 'q',                                                                                \
     .help = "print no summary and no progress line",                                              \
     .offset = (base) + offsetof(struct recording_shows, quiet)},                                  \
    {                                                                                              \
        .name = "progress",                                                                        \
        .help = "show a progress line on standard error, even if the\n"                            \
                "program uses the terminal",                                                       \
        .offset = (base) + offsetof(struct recording_shows, progress)                              \
    }

/* False after a message: they exclude each other. */
bool recording_shows_check(struct cli *cli, const struct recording_shows *s);

/* A line of progress while a program runs that has our standard streams: only if neither its input
 * nor its output is a terminal, which the line would disturb, unless it is asked for. */
void recording_progress(struct vs_progress *p, const struct recording_shows *s, const char *what);

/* Where the summary goes as JSON: standard output, which is then ours alone, and a file. */
struct recording_stats {
    const char *path; /* NULL: none */
    bool json;        /* to standard output */
    bool overwrite;
    struct vs_outfile file;
    int fd; /* of something that is no regular file; -1: none */
};

/* Before the program runs: opens the file, and has what the program prints go to standard error, so
 * that it does not mix with the object on standard output. False after a message. */
bool recording_stats_open(struct cli *cli, struct recording_stats *s);

/* Prints the summary wherever it goes. Returns CLI_DONE, or the status after a message. */
int recording_stats_print(struct cli *cli, struct recording_stats *s,
                          const struct report_column *columns, const void *row);

/* Without a summary; after one it does nothing. */
void recording_stats_abort(struct recording_stats *s);

/* When the recording is made: now, or SOURCE_DATE_EPOCH if that is set, so that files can be made
 * again bit for bit. */
time_t recording_time(void);

/* The exit status that tells a program's, as a shell does. */
int recording_status(int wait_status);

/* A line "vestige: ..." on standard error, about a recording that was made. What is in it may be
 * from outside: control characters are escaped. */
void recording_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tells which signal ended a program, if one did. */
void recording_tell_signal(int wait_status);

/* Why the end of the program is missing; NULL if it is not. Static storage. */
const char *recording_incomplete(const struct vs_engine_result *result);

/* Tells that children were left out, what Valgrind had to say (tidied), which image was not read if
 * that is not "", and why the recording is incomplete if that is not NULL. */
void recording_notes(unsigned forks, const char *said, const char *unread, const char *incomplete);

/* Says why a program could not be recorded, and `more` at the end of the line. Returns the exit
 * status. */
int recording_refused(struct cli *cli, const char *program, int error, const struct vs_diag *diag,
                      const char *more);

/* Of a command that runs programs under Valgrind, for its row. */
#define RECORDING_ENVIRONMENT                                                                      \
    "PATH               where to look for PROGRAM and valgrind\n"                                  \
    "VESTIGE_VALGRIND   the folder of the tool for Valgrind, if it is not\n"                       \
    "                   lib/vestige/valgrind beside the folder of vestige"

#endif
