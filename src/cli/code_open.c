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

/* Adds the run's blocks, before any other code. */
static int add_run(struct cli *cli, struct code *c, const char *path, const char *isa)
{
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
        e = vs_codeview_changes(&c->image.text, c->reader);
    return e ? cli_report(cli, path, e, NULL) : CLI_DONE;
}

int code_from_run(struct cli *cli, struct code *c, const char *path, const char *isa)
{
    *c = (struct code){0};
    int status = add_run(cli, c, path, isa);
    int e = status == CLI_DONE ? vs_text_index(&c->image.text) : 0;
    return e ? cli_report(cli, path, e, NULL) : status;
}

int code_report(struct cli *cli, const char *path, int e, const struct vs_diag *diag)
{
    int status = cli_report(cli, path, e, diag->text[0] ? diag : NULL);
    return e == -VSE_NOTFOUND ? CLI_BAD_DATA : status;
}

static int add_files(struct cli *cli, struct code *c, const struct option_list *files,
                     const struct vs_vport_about *about)
{
    int e = 0, status = CLI_DONE;
    for (size_t i = 0; i < files->count && !e; i++) {
        struct vs_diag diag = {.offset = -1, .chunk = -1};
        if ((e = vs_image_code_add_file(&c->image, files->items[i], about, &diag)))
            status = code_report(cli, files->items[i], e, &diag);
    }
    return status;
}

static bool is_added(const struct code *c, size_t index)
{
    const struct vs_loaded *l = &c->image.loaded;
    return l->images && l->images[index].read;
}

/* Adds the files that the stream names, other than those in whose place there is one already. The
 * first is the program itself. */
static int add_images(struct cli *cli, struct code *c, const struct vs_vport_about *about,
                      bool needed)
{
    for (size_t i = 0; i < about->image_count; i++) {
        struct vs_diag diag = {.offset = -1, .chunk = -1};
        const char *path = about->images[i].path;
        if (is_added(c, i))
            continue;
        int e = path[0] == '/' ? vs_image_code_add(&c->image, about, i, &diag) : 0;
        int status = e ? code_report(cli, path, e, &diag) : CLI_DONE;
        if (e && (needed || e == -VSE_NOMEM))
            return status;
        needed &= path[0] != '/';
    }
    return CLI_DONE;
}

int code_from_images(struct cli *cli, struct code *c, const struct option_list *files,
                     const struct vs_vport_about *about, const char *run)
{
    *c = (struct code){0};
    int status = run ? add_run(cli, c, run, about->isa) : CLI_DONE;
    if (status == CLI_DONE)
        status = add_files(cli, c, files, about);
    if (status == CLI_DONE)
        status = add_images(cli, c, about, !run && !files->count);
    if (status == CLI_DONE && !c->image.piece_count && !run) {
        cli_error(cli, "the stream names no image with code; --code or --image does");
        status = CLI_USAGE;
    }
    if (status != CLI_DONE)
        return status;
    const struct vs_isa *isa = vs_isa_find(about->isa);
    const struct vs_abi_signals *signals = vs_isa_find(VS_TARGET_ISA)->abi->signals;
    const struct vs_block trampoline = {.addr = VS_LINUX_TRAMPOLINE, /* the simulated platform's */
                                        .bytes = signals->back,
                                        .size = signals->back_size,
                                        .insns = signals->back_insns};
    int e = vs_image_code_finish(&c->image, !strcmp(about->isa, VS_TARGET_ISA) ? &trampoline
                                            : isa && isa->abi                  ? isa->abi->fixed
                                                                               : NULL);
    return e ? cli_report(cli, "code", e, NULL) : CLI_DONE;
}
