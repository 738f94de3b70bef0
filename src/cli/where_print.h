/* SPDX-License-Identifier: MIT */
/* Where an address of a run is, as text or as JSON. docs/commands.md and docs/json.md describe
 * both. */
#ifndef CLI_WHERE_PRINT_H
#define CLI_WHERE_PRINT_H

#include "front/json.h"
#include "front/out.h"
#include "study/where.h"

/* The last part of a path. */
const char *where_file_name(const char *path);

/* Prints "inner at file.c:20, inlined in outer at file.c:120"; of what is not known, nothing. A
 * routine without a name is "image+0x1234", with the link-time address at which its site is, and an
 * address in no image is the address. */
void where_text(struct out *o, const struct vs_where_place *place);

/* Prints an object. */
void where_json(struct json *j, const char *key, const struct vs_where_place *place);

/* For messages: writes " (" and the same as where_text, the instruction, and ")", or "" if no
 * routine is known there. Images are taken to be where the run's table has them, and an instruction
 * that changed while the program ran is left out. Returns `text`. */
enum { WHERE_TEXT_MAX = 1024 };
const char *where_in_run(const struct vs_reader *reader, uint64_t pc, char text[WHERE_TEXT_MAX]);

#endif
