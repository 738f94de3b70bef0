/* SPDX-License-Identifier: MIT */
/* What commands that run a program share: signals, the program's exit status, messages. */
#ifndef FRONT_RECORDING_H
#define FRONT_RECORDING_H

#include <time.h>

#include "base/outfile.h"
#include "base/progress.h"
#include "engine/engine.h"
#include "front/cli.h"
#include "front/report.h"

/* Also catches what 'vestige resume' and 'vestige pause' send, to the end of the process. */
void recording_catch_wishes(void);

/* From now on, and until they are released, signals that would end us are noted for the program
 * instead. If `apart` is set, the program is another process, and signals that would stop us are
 * noted as well. Three signals of one kind within a second that ask for an end insist on it. */
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

/* Returns false, after a message, if both are asked for, as they exclude each other. */
bool recording_shows_check(struct cli *cli, const struct recording_shows *s);

/* Starts a line of progress while a program runs that has our standard streams. Unless it is asked
 * for, it is shown only if neither the program's input nor its output is a terminal, which the line
 * would disturb. */
void recording_progress(struct vs_progress *p, const struct recording_shows *s, const char *what);

/* Where the summary goes as JSON: standard output, which is then ours alone, and a file. */
struct recording_stats {
    const char *path; /* NULL: none */
    bool json;        /* it goes to standard output */
    bool overwrite;
    struct vs_outfile file;
    int fd; /* for something that is no regular file; -1: none */
};

/* Must come before the program runs: opens the file, and makes what the program prints go to
 * standard error, so that it does not mix with the object on standard output. Returns false after a
 * message. */
bool recording_stats_open(struct cli *cli, struct recording_stats *s);

/* Prints the summary wherever it goes. Returns CLI_DONE, or the status after a message. */
int recording_stats_print(struct cli *cli, struct recording_stats *s,
                          const struct report_column *columns, const void *row);

/* Ends without a summary; does nothing after one. */
void recording_stats_abort(struct recording_stats *s);

/* When the recording is made: now, or SOURCE_DATE_EPOCH if that is set, so that files can be made
 * again bit for bit. */
time_t recording_time(void);

/* The exit status that stands for a program's, as in a shell. */
int recording_status(int wait_status);

/* Prints a line "vestige: ..." on standard error, about a recording that was made. Its content may
 * come from outside, so control characters are escaped. */
void recording_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tells which signal ended a program, if one did. */
void recording_tell_signal(int wait_status);

/* Says why the program's end is missing, in static storage; NULL if it is not missing. */
const char *recording_incomplete(const struct vs_engine_result *result);

/* Tells that children were left out, what the engine had to say, which image was not read if
 * `unread` is not "", and why the recording is incomplete if `incomplete` is not NULL. */
void recording_notes(unsigned forks, const char *said, const char *unread, const char *incomplete);

/* Says why a program could not be recorded, and `more` at the end of the line. Returns the exit
 * status. */
int recording_refused(struct cli *cli, const char *program, int error, const struct vs_diag *diag,
                      const char *more);

/* The environment of a command that runs programs under Valgrind, for its row. */
#define RECORDING_ENVIRONMENT                                                                      \
    "PATH               where to look for PROGRAM and valgrind\n"                                  \
    "VESTIGE_VALGRIND   the folder of the tool for Valgrind, if it is not\n"                       \
    "                   lib/vestige/valgrind beside the folder of vestige"

#endif
