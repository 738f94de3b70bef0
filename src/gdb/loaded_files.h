/* SPDX-License-Identifier: MIT */
/* The files of a replayed program: which of them are loaded where the replay stands.
 *
 * A stream names all files with code, in the order in which they were mapped, but not when that
 * was. The program and its loader are there from the beginning; the others come and go with calls
 * that map and unmap memory. A program that another one becomes by an exec begins with files of its
 * own. */
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
    unsigned program; /* how many execs came before the program that it belongs to */
};

struct vs_gdb_files {
    struct vs_gdb_file *list;
    size_t count;
    unsigned programs;
    struct vs_gdb_library *libraries; /* for a struct vs_gdb_process; room for all */
};

/* Reads what the files say. A file in `given` takes the place of the image with the same build id
 * or the same name. The images and paths must outlive it. Files that cannot be read are no error.
 * Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_gdb_files_init(struct vs_gdb_files *f, const struct vs_image *images, size_t count,
                      const char *const *given, size_t given_count);
void vs_gdb_files_fini(struct vs_gdb_files *f);

/* Returns how many execs the replay has passed. */
unsigned vs_gdb_files_execs(const struct vs_replay *r);

/* Returns the executable after so many execs, or NULL if that is not known. */
const struct vs_gdb_file *vs_gdb_files_program(const struct vs_gdb_files *f, unsigned execs);

/* Returns where that program begins, in its loader if it has one; 0 if that is not known. */
uint64_t vs_gdb_files_start(const struct vs_gdb_files *f, unsigned execs);

/* Tells what is loaded where the replay stands. */
void vs_gdb_files_now(const struct vs_gdb_files *f, const struct vs_replay *r,
                      struct vs_gdb_process *process);

/* Returns the loader's number for the file whose dynamic section lies there, by which it finds the
 * file's variables of threads; 0 if it has none. */
unsigned vs_gdb_files_module(const struct vs_gdb_files *f, const struct vs_replay *r,
                             uint64_t dynamic);

#endif
