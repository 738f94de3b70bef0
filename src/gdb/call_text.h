/* SPDX-License-Identifier: MIT */
/* A system call as people write it: write(1, "done\n", 5) = 5. */
#ifndef GDB_CALL_TEXT_H
#define GDB_CALL_TEXT_H

#include "replay/replay.h"

#define VS_GDB_CALL_TEXT 240 /* bytes, with the NUL */

/* Writes the core's call, which has just returned. Strings are shown as far as memory is known. */
void vs_gdb_call_text(struct vs_replay *r, unsigned core, char text[VS_GDB_CALL_TEXT]);

/* Appends bytes to a text of that capacity, as in a C string. */
void vs_gdb_escape(char *text, size_t capacity, const uint8_t *bytes, size_t size);

#endif
