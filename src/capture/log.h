/* SPDX-License-Identifier: MIT */
/* What Valgrind writes to its log: notes for the user, and why it cannot go on. */
#ifndef CAPTURE_LOG_H
#define CAPTURE_LOG_H

#include <stddef.h>

struct vs_valgrind_log {
    char said[2048];  /* the start, in lines, without process numbers, empty lines, and what it says
                       * about unknown instructions */
    char tail[16384]; /* the end, as it is */
};

/* Reads the file. What cannot be read is left "". */
void vs_valgrind_log_read(struct vs_valgrind_log *log, int fd);

/* Gives, in one line, the reason why Valgrind ended itself: what it says was impossible, not
 * implemented, or not as it must be; else its last words; "" if it said nothing. */
void vs_valgrind_log_failure(const struct vs_valgrind_log *log, char *reason, size_t capacity);

/* Gives the instruction that Valgrind did not know, for a program that SIGILL ended. Gives "" if
 * Valgrind knew it, or if it is no instruction, so that the signal was the program's own. */
void vs_valgrind_log_instruction(const struct vs_valgrind_log *log, char *reason, size_t capacity);

/* Returns the signal of which Valgrind says that it ended this process; 0 if it says of none. */
int vs_valgrind_log_signal(const struct vs_valgrind_log *log, int process);

#endif
