/* SPDX-License-Identifier: MIT */
#include "published/mtrace_in.h"

#include "base/diag.h"

int mtrace_in_refuse(struct mtrace_in *in, const char *what)
{
    return vs_diag_set(&in->m->diag, -VSE_CORRUPT, -1, -1, "descriptor %llu: %s",
                       (unsigned long long)in->number, what);
}

static int read_text(struct mtrace_in *in, const struct mtrace_in_ops *ops)
{
    int64_t n;
    int e = 0;
    while (!e && (n = textin_line(&in->file, &in->m->diag)) >= 0) {
        in->number++;
        e = ops->text(in, in->file.text);
    }
    return e ? e : n == -VSE_END ? 0 : (int)n;
}

static int read_binary(struct mtrace_in *in, const struct mtrace_in_ops *ops)
{
    uint8_t head[MTRACE_IN_HEAD_MAX];
    int e;
    while (!(e = textin_bytes(&in->file, head, ops->head, &in->m->diag))) {
        in->number++;
        if ((e = ops->binary(in, head)))
            return e;
    }
    return e == -VSE_END ? 0 : e;
}

int mtrace_in_read(struct mtrace_in *in, const struct mtrace_in_ops *ops)
{
    struct vs_diag *diag = &in->m->diag;
    int e = textin_open(&in->file, in->m->o->input, diag);
    if (e)
        return e;
    e = textin_is_text(&in->file, diag);
    if (e >= 0)
        e = e ? read_text(in, ops) : read_binary(in, ops);
    if (!e)
        e = ops->flush(in);
    int closed = textin_close(&in->file, e != 0, diag);
    return e ? e : closed;
}

bool mtrace_in_fits(struct cli *cli, const struct mtrace_options *o, const char *alone)
{
    if (o->descriptors && !o->input)
        cli_error(cli, "%s", alone);
    else if (o->descriptors && (o->skip || o->length < UINT64_MAX))
        cli_error(cli, "-s and -l: descriptors do not tell how many instructions lie between them");
    else if (o->descriptors && o->disasm)
        cli_error(cli, "-d: is for programs and runs, not for descriptors");
    else
        return true;
    return false;
}
