/* SPDX-License-Identifier: MIT */
/* What is mapped where the replay stands, as far as the program's files and its calls tell. What
 * the system mapped by itself and the program never asked for is not known: stacks of native
 * programs, above all. */
#ifndef GDB_MAPPINGS_H
#define GDB_MAPPINGS_H

#include "replay/replay.h"

struct vs_gdb_mapping {
    uint64_t addr, size;
    unsigned rights; /* PROT_x */
    unsigned image;  /* the file's index in the stream's list, or VS_PRESENT_NONE */
};

struct vs_gdb_mappings {
    struct vs_gdb_mapping *list; /* by address; they do not overlap */
    size_t count, capacity;
};

/* Finds them. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_gdb_mappings_init(struct vs_gdb_mappings *m, const struct vs_replay *r);
void vs_gdb_mappings_fini(struct vs_gdb_mappings *m);

#endif
