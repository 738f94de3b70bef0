/* SPDX-License-Identifier: MIT */
/* Instructions of a run as text. An instruction is formatted once and then remembered, until a
 * block replaces its bytes. */
#ifndef FRONT_DISASM_H
#define FRONT_DISASM_H

#include "base/map.h"
#include "isa/set.h"
#include "isa/codemap.h"

/* A zeroed struct formats nothing. */
struct disasm {
    const struct vs_isa *isa; /* of the code; the owner sets it. NULL: every text is empty */
    struct vs_codemap code;
    struct vs_block *blocks; /* by number */
    size_t block_count, block_capacity;
    struct vs_arena bytes; /* of the blocks */
    struct vs_map texts;   /* by pc: a byte with the length, and the text */
    struct vs_arena text_memory;
    size_t text_bytes;
};

/* Takes a copy of a block, which lies in memory from the start as far as no earlier one covers it.
 * Returns its number, from 0 up; -VSE_NOMEM; -VSE_LIMIT. */
int64_t disasm_block(struct disasm *d, const struct vs_block *block);

/* A VS_CODE event: the block's bytes are in place from now on. A number of no block does nothing.
 */
void disasm_replace(struct disasm *d, uint64_t number);

/* The instruction at pc, not terminated, *length bytes; "" if its code is not known. Valid until
 * the next call. NULL: no memory. */
const char *disasm_text(struct disasm *d, uint64_t pc, size_t *length);

void disasm_fini(struct disasm *d);

#endif
