/* SPDX-License-Identifier: MIT */
/* Reading an ELF file with libelf. The file may be hostile. */
#ifndef SYMBOL_ELF_H
#define SYMBOL_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

#define VS_BUILD_ID_MAX 64

struct vs_elf {
    int fd;
    Elf *elf;
};

/* Addresses [start, end). */
struct vs_range {
    uint64_t start, end;
};

/* A part of the file that is loaded; nothing wraps. */
struct vs_segment {
    uint64_t offset, size, address;
    uint64_t memory; /* bytes that it takes in memory; those that the file lacks are 0 */
    bool code, writable;
};

/* Returns 0; -VSE_IO; -VSE_INVAL (not a regular file); -VSE_FORMAT (neither an executable nor a
 * shared library); -VSE_CORRUPT; -VSE_NOMEM. */
int vs_elf_open(struct vs_elf *e, const char *path, struct vs_diag *diag);
void vs_elf_close(struct vs_elf *e);

/* Copies the build id. Returns its size, 0 if there is none or it is too long; -VSE_IO; -VSE_NOMEM.
 */
int64_t vs_elf_build_id(const struct vs_elf *e, uint8_t id[VS_BUILD_ID_MAX], struct vs_diag *diag);

/* Returns where a program begins, before it is moved; 0 if the file does not say. */
uint64_t vs_elf_entry(const struct vs_elf *e);

/* The segments that code is loaded from. Returns how many are in *list, which the caller frees;
 * -VSE_CORRUPT; -VSE_IO; -VSE_NOMEM. */
int64_t vs_elf_segments(const struct vs_elf *e, struct vs_segment **list, struct vs_diag *diag);

/* Everything that is loaded, in the order of the file's headers. Returns as vs_elf_segments. */
int64_t vs_elf_loaded(const struct vs_elf *e, struct vs_segment **list, struct vs_diag *diag);

/* Where code lies: sections, or segments if there are none; sorted by start, none empty. Returns
 * as vs_elf_segments. */
int64_t vs_elf_code(const struct vs_elf *e, struct vs_range **list, struct vs_diag *diag);

/* What loading the file takes, and a debugger asks for. Addresses are link-time ones; 0: there is
 * no such thing. */
struct vs_elf_layout {
    uint64_t entry;
    uint64_t headers, header_count; /* the program headers, as they lie in memory */
    uint64_t dynamic;               /* its dynamic section */
    uint64_t start, end;            /* everything that is loaded */
    bool tls;                       /* it has variables of threads */
    bool program;                   /* it is started by itself: not a library */
    char loader[256];               /* the dynamic loader that it asks for, or "" */
};

/* Returns 0; -VSE_CORRUPT; -VSE_IO; -VSE_NOMEM. */
int vs_elf_layout(const struct vs_elf *e, struct vs_elf_layout *layout, struct vs_diag *diag);

/* Calls take for each symbol that is defined and has a name in the tables of that type, SHT_SYMTAB
 * or SHT_DYNSYM. If take returns an error, stops and returns it. What cannot be read is left out,
 * except for lack of memory: -VSE_NOMEM. */
typedef int vs_elf_take(void *context, const GElf_Sym *sym, const char *name);
int vs_elf_symbols(const struct vs_elf *e, unsigned type, vs_elf_take *take, void *context);

/* Calls take for each stub of a procedure linkage table, with the name of what it calls. Returns as
 * vs_elf_symbols. */
int vs_elf_stubs(const struct vs_elf *e, vs_elf_take *take, void *context);

/* Opens the separate debug file of an image. Returns 0; -VSE_NOTFOUND; -VSE_NOMEM. */
int vs_elf_open_debug(struct vs_elf *debug, const struct vs_elf *image, const char *image_path);

#endif
