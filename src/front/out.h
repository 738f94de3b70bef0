/* SPDX-License-Identifier: MIT */
/* Buffered text output. Millions of lines a second go through it, so numbers are formatted by hand.
 *
 * The first error of the system is kept in `error`; everything after it is dropped, so callers may
 * print without looking and ask once (a long loop asks now and then, to stop early). */
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

/* Gives it a larger buffer, if there is memory; to be freed with out_fini, which does not flush. */
void out_enlarge(struct out *o);
void out_fini(struct out *o);

/* Hands everything to the system. Returns o->error. */
int out_flush(struct out *o);

/* Whether it goes to a file. A line of progress beside a pager or a listing would spoil both. */
bool out_is_file(const struct out *o);

void out_mem(struct out *o, const char *s, size_t n);

/* Here, so that the lengths of literals are constants. */
static inline void out_str(struct out *o, const char *s)
{
    out_mem(o, s, strlen(s));
}

void out_char(struct out *o, char c);
void out_pad(struct out *o, size_t n); /* n spaces */
void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Decimal, right-aligned in width (0: as it comes). */
void out_dec(struct out *o, uint64_t v, unsigned width);

/* "0x" and exactly `digits` (1 to 16) digits; with 0 as many as are needed. */
void out_hex(struct out *o, uint64_t v, unsigned digits);

/* Two digits per byte, in the order of memory. */
void out_bytes(struct out *o, const uint8_t *p, size_t n);

/* Two digits per byte, the last byte first: a little-endian number, without "0x". */
void out_bytes_reversed(struct out *o, const uint8_t *p, size_t n);

/* Text from outside: control characters and what is not UTF-8 come out as \xNN, so that it stays on
 * its line and cannot command the terminal. */
void out_safe(struct out *o, const char *s);

/* A text of comma-separated values: in quotes, on one line. */
void out_csv_text(struct out *o, const char *s);

/* Length of the well-formed UTF-8 sequence that starts at s, 1 to 4; 0 if there is none. Reads no
 * further than a terminating zero. */
size_t utf8_length(const char *s);

/* Decimal with a comma before every third digit from the right, into buf. Returns buf. */
char *group_digits(char buf[32], uint64_t v);

/* The same, in storage of the block around it. */
#define DIGITS(v) group_digits((char[32]){0}, (v))

#endif
