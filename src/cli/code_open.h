/* SPDX-License-Identifier: MIT */
/* The program's code, for commands that have a port stream and no run. It comes from ELF files, or
 * from a run's blocks; of its events, only changes of code are looked at. */
#ifndef CLI_CODE_OPEN_H
#define CLI_CODE_OPEN_H

#include "front/options.h"
#include "replay/image_code.h"

struct code {
    struct vs_image_code image; /* its text is indexed; nothing is loaded if it is from a run */
    struct vs_reader *reader;   /* NULL if it is from files */
};

/* Takes the code from the run at `path`, which must be of that instruction set. Returns CLI_DONE,
 * or the status after a message. code_free is needed in any case. */
int code_from_run(struct cli *cli, struct code *c, const char *path, const char *isa);

/* Takes the code from ELF files (replay/image_code.h), and for images that the stream names and
 * that none of them is, from their own files. If `run` is not NULL, that run's blocks are the code
 * of what the files do not have. Of the stream's images, only the first program has to be there,
 * and not even that if there is a run or a file in the list; a line says which others are missing
 * or have changed. Returns as code_from_run. */
int code_from_images(struct cli *cli, struct code *c, const struct option_list *files,
                     const struct vs_vport_about *about, const char *run);

/* Says why a file's code cannot be taken (replay/image_code.h). Returns the status. */
int code_report(struct cli *cli, const char *path, int e, const struct vs_diag *diag);

void code_free(struct code *c);

#endif
