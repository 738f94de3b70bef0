/* SPDX-License-Identifier: MIT */
/* The source lines of an ELF image, from its debug information (DWARF), which is in the image or in
 * its separate debug file. */
#ifndef SYMBOL_LINES_H
#define SYMBOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

struct vs_lines;

/* A place in the source. The strings are the file's, and valid until the lines are closed. */
struct vs_source {
    const char *file;   /* NULL: not known. Below the folder in which the compiler was run, it is
                         * relative to that folder */
    const char *folder; /* that folder, if `file` is relative to it; else NULL */
    unsigned line;      /* 0: not known */

    /* The symbol or name of the routine that was inlined here; NULL for the one around them all,
     * whose name is the symbol table's. */
    const char *inlined;
};

/* Opens what there is; an image without debug information has no lines, which is not an error.
 * Little is read before the first address is asked for, and of a compilation unit nothing before
 * one in it is. Addresses are link-time addresses. Returns 0; as vs_symbols_open. */
int vs_lines_open(struct vs_lines **l, const char *path, struct vs_diag *diag);
void vs_lines_close(struct vs_lines *l);

/* Whether there is debug information. */
bool vs_lines_known(const struct vs_lines *l);

/* Where an instruction comes from: the innermost inlined routine first, then where that was called
 * from, and so on; the last one is in the routine around them. Returns how many places there are,
 * at most `capacity`, beyond which the outermost are left out; 0 if nothing is known; -VSE_NOMEM;
 * -VSE_IO. */
int vs_lines_at(struct vs_lines *l, uint64_t address, struct vs_source *chain, size_t capacity);

#endif
