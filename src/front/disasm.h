/* SPDX-License-Identifier: MIT */
/* A run's instructions as text. An instruction is formatted once and then remembered, until a block
 * replaces its bytes. */
#ifndef FRONT_DISASM_H
#define FRONT_DISASM_H

#include "base/map.h"
#include "isa/set.h"
#include "isa/codemap.h"

/* A zeroed struct formats nothing. */
struct disasm {
    const struct vs_isa *isa; /* the code's; the owner sets it. NULL: every text is empty */
    struct vs_codemap code;
    struct vs_block *blocks; /* by number */
    size_t block_count, block_capacity;
    struct vs_arena bytes; /* the blocks' */
    struct vs_map texts;   /* by pc: a byte with the length, and the text */
    struct vs_arena text_memory;
    size_t text_bytes;
};

/* Takes a copy of a block, which lies in memory from the start where no earlier block covers it.
 * Returns its number, from 0 up; -VSE_NOMEM; -VSE_LIMIT. */
int64_t disasm_block(struct disasm *d, const struct vs_block *block);

/* Takes a VS_CODE event: the block's bytes are in place from now on. Does nothing if no block has
 * that number. */
void disasm_replace(struct disasm *d, uint64_t number);

/* Gives the instruction at pc, which has *length bytes and no final zero; "" if its code is not
 * known. It is valid until the next call. Returns NULL if there is no memory. */
const char *disasm_text(struct disasm *d, uint64_t pc, size_t *length);

void disasm_fini(struct disasm *d);

#endif
