/* SPDX-License-Identifier: MIT */
#include "library/program.h"

#include <string.h>

#include "base/diag.h"
#include "isa/set.h"
#include "study/codeview.h"
#include "target/config.h"
#include "target/linux_abi.h"

void vs_program_fini(struct vs_program *p)
{
    vs_image_code_fini(&p->image);
    vs_reader_close(p->reader);
    *p = (struct vs_program){0};
}

/* Says it about a file, unless something else was said. */
static int explain(struct vs_diag *diag, int err, const char *path, const char *what)
{
    return err ? vs_diag_set(diag, err, -1, -1, "%.100s: %s", path, *what ? what : vs_errstr(err))
               : 0;
}

static int add_run(struct vs_program *p, const char *path, const char *isa, struct vs_diag *diag)
{
    int err = vs_run_open(&p->reader, path, VS_OPEN_DEFAULT, diag);
    if (err)
        return explain(diag, err, path, diag ? diag->text : "");
    const char *have = vs_reader_meta(p->reader, "isa");
    if (!have || strcmp(have, isa) != 0)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1,
                           "%.100s: has code of %.20s, the stream is of '%.20s'", path,
                           have ? have : "an unknown instruction set", isa);
    err = vs_codeview_add(&p->image.text, p->reader);
    if (!err)
        err = vs_codeview_changes(&p->image.text, p->reader);
    return explain(diag, err, path, "");
}

static bool is_added(const struct vs_program *p, size_t index)
{
    const struct vs_loaded *l = &p->image.loaded;
    return l->images && l->images[index].read;
}

/* Adds the files that the stream names, other than those in whose place there is one already. Only
 * the first, the program, is needed, and not even that if the code is from elsewhere, too. */
static int add_images(struct vs_program *p, const struct vs_vport_about *about, bool needed,
                      struct vs_diag *diag)
{
    for (size_t i = 0; i < about->image_count; i++) {
        struct vs_diag why = {.offset = -1, .chunk = -1};
        const char *path = about->images[i].path;
        if (is_added(p, i) || path[0] != '/')
            continue;
        int err = vs_image_code_add(&p->image, about, i, &why);
        if (err && (needed || err == -VSE_NOMEM))
            return explain(diag, err, path, why.text);
        needed = false;
    }
    return 0;
}

static int add_files(struct vs_program *p, const struct vs_program_source *source,
                     const struct vs_vport_about *about, struct vs_diag *diag)
{
    for (size_t i = 0; i < source->image_count; i++) {
        struct vs_diag why = {.offset = -1, .chunk = -1};
        int err = vs_image_code_add_file(&p->image, source->images[i], about, &why);
        if (err)
            return explain(diag, err, source->images[i], why.text);
    }
    return add_images(p, about, !source->also && !source->image_count, diag);
}

/* Code that is in no file. */
static int finish(struct vs_program *p, const char *name)
{
    const struct vs_isa *isa = vs_isa_find(name);
    const struct vs_abi_signals *signals = vs_isa_find(VS_TARGET_ISA)->abi->signals;
    const struct vs_block trampoline = {.addr = VS_LINUX_TRAMPOLINE,
                                        .bytes = signals->back,
                                        .size = signals->back_size,
                                        .insns = signals->back_insns};
    return vs_image_code_finish(&p->image, !strcmp(name, VS_TARGET_ISA) ? &trampoline
                                           : isa && isa->abi            ? isa->abi->fixed
                                                                        : NULL);
}

int vs_program_open(struct vs_program *p, const struct vs_program_source *source,
                    const struct vs_vport_about *about, struct vs_diag *diag)
{
    *p = (struct vs_program){0};
    if (source->run && source->image_count)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "the code comes from a run or from files, not from both");
    const char *run = source->run ? source->run : source->also;
    int err = run ? add_run(p, run, about->isa, diag) : 0;
    if (err || source->run)
        return err ? err : explain(diag, vs_text_index(&p->image.text), run, "");
    err = add_files(p, source, about, diag);
    if (!err && !p->image.piece_count && !run)
        err = vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                          "the stream names no file with code; name a run, or files");
    return err ? err : explain(diag, finish(p, about->isa), "code", "");
}
