/* SPDX-License-Identifier: MIT */
/* The program's code, for commands that have a port stream and no run: from ELF files, or from the
 * blocks of a run. Events are never looked at. */
#ifndef CLI_CODE_OPEN_H
#define CLI_CODE_OPEN_H

#include "front/options.h"
#include "replay/image_code.h"

struct code {
    struct vs_image_code image; /* its text is indexed; of a run there is nothing loaded */
    struct vs_reader *reader;   /* NULL: it is from files */
};

/* From the run at `path`, of that instruction set. Returns CLI_DONE, or the status after a message;
 * code_free is needed in any case. */
int code_from_run(struct cli *cli, struct code *c, const char *path, const char *isa);

/* From ELF files (replay/image_code.h). An empty list: the images that the stream names. As
 * code_from_run. */
int code_from_images(struct cli *cli, struct code *c, const struct option_list *files,
                     const struct vs_vport_about *about);

void code_free(struct code *c);

#endif
