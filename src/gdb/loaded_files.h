/* SPDX-License-Identifier: MIT */
/* The files of a replayed program, for a debugger: which of them are loaded where the replay
 * stands. The stream lists them, and replay/present.h knows when they come and go; this adds what
 * the files themselves say. */
#ifndef GDB_LOADED_FILES_H
#define GDB_LOADED_FILES_H

#include "gdb/gdb_machine.h"
#include "replay/replay.h"
#include "symbol/elf.h"
#include "vestige/event.h"

struct vs_gdb_file {
    const struct vs_image *image;
    const char *path;
    struct vs_elf_layout layout; /* zero if the file cannot be read */
    bool readable;
    bool changed; /* it is another file by now: what it says is not true of the run */
    bool told;    /* the debugger knows it as a library */
};

struct vs_gdb_files {
    struct vs_gdb_file *list; /* as in the stream */
    size_t count;
    struct vs_gdb_library *libraries; /* for a struct vs_gdb_process; room for all */
};

/* Reads what the files say. A file in `given` takes the place of the image with the same build id
 * or the same name. The images and paths must outlive it. Files that cannot be read are no error.
 * Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_gdb_files_init(struct vs_gdb_files *f, const struct vs_image *images, size_t count,
                      const char *const *given, size_t given_count);
void vs_gdb_files_fini(struct vs_gdb_files *f);

/* Returns the executable of the program that now runs, or NULL if that is not known. */
const struct vs_gdb_file *vs_gdb_files_program(const struct vs_gdb_files *f,
                                               const struct vs_replay *r);

/* Returns where a program may begin that the first one becomes: the address for the file with index
 * i, or 0. */
uint64_t vs_gdb_files_start(const struct vs_gdb_files *f, size_t i);

/* Tells what is loaded where the replay stands. */
void vs_gdb_files_now(const struct vs_gdb_files *f, const struct vs_replay *r,
                      struct vs_gdb_process *process);

/* The debugger was told what is loaded. Finds a library that it knew and that is not there any
 * more, and lets it know that one no longer. Returns NULL if there is none; the debugger then knows
 * those that are loaded. */
const struct vs_image *vs_gdb_files_gone(struct vs_gdb_files *f, const struct vs_replay *r);

/* The debugger has forgotten all libraries. */
void vs_gdb_files_untell(struct vs_gdb_files *f);

/* Returns the loader's number for the file whose dynamic section lies there, by which it finds the
 * file's variables of threads; 0 if it has none. After files were unloaded, the number may be
 * another's. */
unsigned vs_gdb_files_module(const struct vs_gdb_files *f, const struct vs_replay *r,
                             uint64_t dynamic);

#endif
