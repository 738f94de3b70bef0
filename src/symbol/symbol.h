/* SPDX-License-Identifier: MIT */
/* The symbol layer: the routines of an ELF image, by address and by name. Its other headers:
 *
 *   elf     reads such a file
 *   lines   source lines and inlined routines, from debug information */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

/* The routines of one executable or shared library, in order of address. All addresses here are
 * link-time addresses: run-time ones minus the image's base. */
struct vs_symbols;

struct vs_routine {
    uint64_t start, size; /* size > 0; start + size does not wrap */
    const char *name;     /* as in the file, without a version ("@@GLIBC_2.14"), or "f@plt" */
    bool ifunc;           /* the code here only chooses the routine of that name, which lies
                           * elsewhere under another name */
};

/* Reads the file, and closes it again. Symbols come from .symtab; if it has none, from that of a
 * separate debug file (by build id, else .gnu_debuglink, below /usr/lib/debug or beside the image);
 * else from .dynsym. A file without symbols has no routines, which is not an error. On x86-64 the
 * stubs that call other images are routines too, named "memcpy@plt".
 *
 * A symbol without a size (assembly) extends to the next one, or to the end of its section. Symbols
 * at one address make one routine: its name is a global one rather than a local one, with the
 * fewest leading underscores, then the shortest; it can be found by all of them. Routines may
 * overlap.
 * Returns 0; -VSE_IO; -VSE_INVAL (not a regular file); -VSE_FORMAT (neither an executable nor a
 * shared library); -VSE_CORRUPT (its headers lie outside it); -VSE_NOMEM. */
int vs_symbols_open(struct vs_symbols **s, const char *path, struct vs_diag *diag);
void vs_symbols_close(struct vs_symbols *s);

size_t vs_symbols_count(const struct vs_symbols *s);

/* The routine with that number, below vs_symbols_count. Numbers are in order of start, and no two
 * have the same. Valid until s is closed. */
const struct vs_routine *vs_symbols_get(const struct vs_symbols *s, size_t number);

/* The number of a routine that another function of this header returned. */
size_t vs_symbols_number(const struct vs_symbols *s, const struct vs_routine *r);

/* The routine at an address; if there are several, the one that starts last. NULL: there is none.
 */
const struct vs_routine *vs_symbols_at(const struct vs_symbols *s, uint64_t address);

/* The first routine with that name after `after`, or the first of all if that is NULL; NULL: none.
 * One name may have several: overloads, local routines of several sources, parts. A name is
 *   - a symbol's: "memcpy", "_ZN2ns1fEi"; also that of a routine from which the compiler made a
 *     special or partial one: "f" finds "f.constprop.0", "f.cold";
 *   - the readable form of a C++ name, "ns::f(int)"; spaces do not matter;
 *   - that without parameters, "ns::f": all overloads. Arguments of a template are part of it. */
const struct vs_routine *vs_symbols_find(const struct vs_symbols *s, const char *name,
                                         const struct vs_routine *after);

/* The GNU build id, 0 to 64 bytes; *size is their number. Valid until s is closed. */
const uint8_t *vs_symbols_build_id(const struct vs_symbols *s, size_t *size);

/* The base, run-time address minus link-time address, of an image of which `length` bytes of code
 * from `offset` in its file were mapped at `start`.
 * Returns 0; -VSE_NOTFOUND if no executable segment of the file lies there. */
int vs_symbols_base(const struct vs_symbols *s, uint64_t start, uint64_t offset, uint64_t length,
                    uint64_t *base);

/* The readable form of a symbol's name, for people and for adding up what belongs together: C++
 * (and Rust, in C++'s manner) with parameters and without a return type; any other name as it is;
 * either without what the compiler appends for a special or partial copy (".constprop.0", ".cold").
 * Control characters become '?'. Cut to fit; capacity > 0. Returns its length. */
int vs_symbol_demangle(const char *name, char *out, size_t capacity);

#endif
