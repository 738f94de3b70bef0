/* SPDX-License-Identifier: MIT */
/* The fields that packets consist of. Each function that takes one takes it from the front of a
 * text and moves *p past it, or returns false and leaves *p alone. */
#ifndef GDB_FIELDS_H
#define GDB_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the value of a hexadecimal digit, or -1 if c is none. */
int vs_gdb_digit(char c);

bool vs_gdb_take_char(const char **p, char c);

/* A number of up to 64 bits, in hexadecimal. */
bool vs_gdb_take_number(const char **p, uint64_t *number);

/* Two numbers and a comma between them. */
bool vs_gdb_take_pair(const char **p, uint64_t *first, uint64_t *second);

enum { VS_GDB_ALL_THREADS = -1, VS_GDB_ANY_THREAD = -2 };

/* The id of one of `threads` threads. They are numbered from 0 here and from 1 in packets, where 0
 * means any thread and -1 all of them. */
bool vs_gdb_take_thread(const char **p, unsigned threads, int64_t *thread);

/* Decodes the whole text, which must consist of pairs of hexadecimal digits. Returns the number of
 * bytes; -VSE_CORRUPT (it has other characters, or an odd number of them); -VSE_LIMIT (there are
 * more bytes than capacity). */
int64_t vs_gdb_unhex(const char *text, uint8_t *bytes, size_t capacity);

#endif
