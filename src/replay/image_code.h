/* SPDX-License-Identifier: MIT */
/* The program's code and data from its ELF files, for a debugger that has a port stream and no
 * run. */
#ifndef REPLAY_IMAGE_CODE_H
#define REPLAY_IMAGE_CODE_H

#include "isa/text.h"
#include "port/vport.h"
#include "replay/loaded.h"

/* A zeroed struct is ready for use. */
struct vs_image_code {
    struct vs_text text;     /* code; indexed by vs_image_code_finish */
    struct vs_loaded loaded; /* everything that the files say about memory, including code */
    uint8_t **pieces;        /* bytes of the files */
    size_t piece_count, piece_capacity;
};

/* Adds the file that the stream names as image `index`, unless it is another file by now.
 * Returns 0; -VSE_NOTFOUND (its build id differs); -VSE_IO; -VSE_INVAL (not a regular file);
 * -VSE_FORMAT (neither an executable nor a shared library); -VSE_CORRUPT; -VSE_TRUNCATED;
 * -VSE_LIMIT; -VSE_NOMEM. diag->text may stay as it was for the last two. */
int vs_image_code_add(struct vs_image_code *c, const struct vs_vport_about *about, size_t index,
                      struct vs_diag *diag);

/* Adds a file instead of what the stream names: as every image with the same build id or, if either
 * has none, the same name. Returns as vs_image_code_add; -VSE_NOTFOUND: it is none of the stream's
 * images. */
int vs_image_code_add_file(struct vs_image_code *c, const char *path,
                           const struct vs_vport_about *about, struct vs_diag *diag);

/* To be called after the last file: adds `more`, code that no file has, unless it is NULL, and
 * indexes all code. The bytes of `more` must outlive the code. Returns 0; -VSE_NOMEM;
 * -VSE_LIMIT. */
int vs_image_code_finish(struct vs_image_code *c, const struct vs_block *more);

void vs_image_code_fini(struct vs_image_code *c);

#endif
