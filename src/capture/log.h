/* SPDX-License-Identifier: MIT */
/* What Valgrind writes to its log: notes for the user, and why it cannot go on. */
#ifndef CAPTURE_LOG_H
#define CAPTURE_LOG_H

#include <stddef.h>

struct vs_valgrind_log {
    char said[2048];  /* the start, in lines, without process numbers, empty lines, and what it says
                       * of  unknown instructions */
    char tail[16384]; /* the end, as it is */
};

/* Reads the file. What cannot be read is "". */
void vs_valgrind_log_read(struct vs_valgrind_log *log, int fd);

/* The reason in one line, of a Valgrind that ended itself: what it says was impossible, not
 * implemented, or not so as it must be; else its last words. "" if it said nothing. */
void vs_valgrind_log_failure(const struct vs_valgrind_log *log, char *reason, size_t capacity);

/* Which instruction Valgrind did not know, of a program that SIGILL ended; "" if it knew it, or it
 * is none, so that the signal was the program's own. */
void vs_valgrind_log_instruction(const struct vs_valgrind_log *log, char *reason, size_t capacity);

#endif
