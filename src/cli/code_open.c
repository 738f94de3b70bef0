/* SPDX-License-Identifier: MIT */
#include "cli/code_open.h"

#include <string.h>

#include "study/codeview.h"
#include "target/config.h"
#include "target/linux_abi.h"

void code_free(struct code *c)
{
    vs_image_code_fini(&c->image);
    vs_reader_close(c->reader);
    *c = (struct code){0};
}

int code_from_run(struct cli *cli, struct code *c, const char *path, const char *isa)
{
    *c = (struct code){0};
    int status = cli_open(cli, &c->reader, path, false);
    if (status != CLI_DONE)
        return status;
    const char *have = vs_reader_meta(c->reader, "isa");
    if (!have && cli_missing(cli, path, vs_reader_info(c->reader)) != CLI_DONE)
        return CLI_BAD_DATA;
    if (!have || strcmp(have, isa)) {
        cli_error(cli,
                  "%s: has code of %s, the stream is of '%s'; give the run that it was made of",
                  path, have ? have : "an unknown instruction set", isa);
        return CLI_BAD_DATA;
    }
    int e = vs_codeview_add(&c->image.text, c->reader);
    if (!e)
        e = vs_text_index(&c->image.text);
    return e ? cli_report(cli, path, e, NULL) : CLI_DONE;
}

static int add_file(struct cli *cli, struct code *c, const char *path,
                    const struct vs_vport_about *about)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_image_code_add(&c->image, path, about, &diag);
    if (!e)
        return CLI_DONE;
    int status = cli_report(cli, path, e, diag.text[0] ? &diag : NULL);
    return e == -VSE_NOTFOUND ? CLI_BAD_DATA : status;
}

int code_from_images(struct cli *cli, struct code *c, const struct option_list *files,
                     const struct vs_vport_about *about)
{
    int status = CLI_DONE;
    *c = (struct code){0};
    for (size_t i = 0; i < files->count && status == CLI_DONE; i++)
        status = add_file(cli, c, files->items[i], about);
    for (size_t i = 0; i < about->image_count && !files->count && status == CLI_DONE; i++)
        if (about->images[i].path[0] == '/')
            status = add_file(cli, c, about->images[i].path, about);
    if (status == CLI_DONE && !c->image.piece_count) {
        cli_error(cli, "the stream names no image with code; --code or --image does");
        status = CLI_USAGE;
    }
    if (status != CLI_DONE)
        return status;
    const struct vs_abi_signals *signals = vs_isa_find(VS_TARGET_ISA)->abi->signals;
    const struct vs_block trampoline = {.addr = VS_LINUX_TRAMPOLINE, /* the simulated platform's */
                                        .bytes = signals->back,
                                        .size = signals->back_size,
                                        .insns = signals->back_insns};
    int e = vs_image_code_finish(&c->image, strcmp(about->isa, VS_TARGET_ISA) ? NULL : &trampoline);
    return e ? cli_report(cli, "code", e, NULL) : CLI_DONE;
}
