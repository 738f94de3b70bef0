/* SPDX-License-Identifier: MIT */
/* The code around an address of a run: its instructions, and its source if the file is there. */
#ifndef PAGE_CODE_H
#define PAGE_CODE_H

#include "front/json.h"
#include "isa/set.h"
#include "study/where.h"
#include "vestige/run.h"

/* Prints an array of [address, text] of the instructions of the run's code that lead to that one,
 * which is the last. The first block of code that has it is taken. Prints an empty array if there
 * is none, or if its ISA, which may be NULL, is not known. */
void page_put_code(struct json *j, const char *key, const struct vs_reader *reader,
                   const struct vs_isa *isa, uint64_t pc);

/* Prints an array of [number, text] of the source lines around that place, or an empty one: of
 * regular files of at most 4 MiB. */
void page_put_source(struct json *j, const char *key, const struct vs_where_frame *frame);

#endif
