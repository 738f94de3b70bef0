/* SPDX-License-Identifier: MIT */
/* The program's code, for who has a port stream and no run: from ELF files, or from the blocks of a
 * run. Events are never looked at. */
#ifndef CLI_CODE_FILES_H
#define CLI_CODE_FILES_H

#include "front/options.h"
#include "port/vport.h"
#include "replay/loaded.h"
#include "isa/text.h"

struct code {
    struct vs_text code;      /* indexed */
    struct vs_loaded loaded;  /* all that the files say of memory, code included; not of a run */
    struct vs_reader *reader; /* NULL: it is from files */
    uint8_t **pieces;         /* bytes of the files */
    size_t piece_count, piece_capacity;
};

/* From the run at `path`, of that instruction set. Returns CLI_DONE, or the status after a message;
 * code_free is needed in any case. */
int code_from_run(struct cli *cli, struct code *c, const char *path, const char *isa);

/* From ELF files; where each lay is what the stream says of the image with its build id or, if it
 * has none, its name. An empty list: the images that the stream names. As code_from_run. */
int code_from_images(struct cli *cli, struct code *c, const struct option_list *files,
                     const struct vs_vport_about *about);

void code_free(struct code *c);

#endif
