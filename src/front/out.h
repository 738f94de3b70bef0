/* SPDX-License-Identifier: MIT */
/* Buffered text output. Millions of lines a second go through it, so numbers are formatted by hand.
 *
 * The system's first error is kept in `error`, and everything after it is dropped, so callers may
 * print without checking and ask once (a long loop asks now and then, to stop early). */
#ifndef FRONT_OUT_H
#define FRONT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Small enough for any stack; it must not be copied. */
struct out {
    int fd;
    int error; /* errno of the first write that failed; 0 if none did */
    size_t used, size;
    char *buf; /* `own`, or a larger one */
    char own[2048];
};

void out_init(struct out *o, int fd);

/* Gives it a larger buffer, if there is memory. out_fini frees that, and does not flush. */
void out_enlarge(struct out *o);
void out_fini(struct out *o);

/* Hands everything to the system. Returns o->error. */
int out_flush(struct out *o);

/* Whether it goes to a regular file. Otherwise, a line of progress beside a pager or a listing
 * would spoil both. */
bool out_is_file(const struct out *o);

void out_mem(struct out *o, const char *s, size_t n);

/* This is inline so that the lengths of literals are constants. */
static inline void out_str(struct out *o, const char *s)
{
    out_mem(o, s, strlen(s));
}

void out_char(struct out *o, char c);
void out_pad(struct out *o, size_t n); /* n spaces */
void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints v in decimal, right-aligned in `width` characters (0: not aligned). */
void out_dec(struct out *o, uint64_t v, unsigned width);

/* Prints "0x" and exactly `digits` (1 to 16) digits; if `digits` is 0, as many as are needed. */
void out_hex(struct out *o, uint64_t v, unsigned digits);

/* Prints two digits per byte, in memory order. */
void out_bytes(struct out *o, const uint8_t *p, size_t n);

/* Prints two digits per byte, the last byte first: a little-endian number, without "0x". */
void out_bytes_reversed(struct out *o, const uint8_t *p, size_t n);

/* Prints text from outside: control characters and what is not UTF-8 come out as \xNN, so that it
 * stays on its line and cannot command the terminal. */
void out_safe(struct out *o, const char *s);

/* Prints a text for comma-separated values: in quotes, on one line. */
void out_csv_text(struct out *o, const char *s);

/* The length of the well-formed UTF-8 sequence that starts at s, 1 to 4; 0 if there is none. Reads
 * no further than a terminating zero. */
size_t utf8_length(const char *s);

/* Writes v in decimal, with a comma before every third digit from the right, into buf. Returns
 * buf. */
char *group_digits(char buf[32], uint64_t v);

/* Does the same, in the surrounding block's storage. */
#define DIGITS(v) group_digits((char[32]){0}, (v))

#endif
