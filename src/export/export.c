/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "export/format.h"

static const struct vs_export_format *const formats[] = {
    &vs_to_perfetto, &vs_to_folded, &vs_to_speedscope, &vs_to_pprof, &vs_to_champsim,
    &vs_to_lackey,   &vs_to_din,    &vs_to_csv,        &vs_to_vcd,
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct vs_export_format *vs_export_at(size_t number)
{
    return number < FORMATS ? formats[number] : NULL;
}

const struct vs_export_format *vs_export_find(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

const char *vs_export_name(const struct vs_export_format *format)
{
    return format->name;
}

const char *vs_export_summary(const struct vs_export_format *format)
{
    return format->summary;
}

/* Whether the format can hold the run. Returns 0; -VSE_INVAL. */
static int check(const struct vs_export_format *f, const struct vs_exporting *x)
{
    const char *isa = vs_reader_meta(x->reader, "isa");
    const struct vs_run_info *info = vs_reader_info(x->reader);

    if (f->isa && (!isa || strcmp(isa, f->isa) != 0))
        return vs_diag_set(x->diag, -VSE_INVAL, -1, -1,
                           "%s holds %s instructions only, and the run has %s", f->name, f->isa,
                           isa ? isa : "no instruction set");
    if (f->code && !isa)
        return vs_diag_set(x->diag, -VSE_INVAL, -1, -1,
                           "%s needs the instructions, and the run names no instruction set",
                           f->name);
    if (f->code && !x->isa)
        return vs_diag_set(x->diag, -VSE_INVAL, -1, -1,
                           "%s needs the instructions, and no instruction set %s is known", f->name,
                           isa);
    if (f->single && x->options->thread < 0 && info->threads > 1)
        return vs_diag_set(x->diag, -VSE_INVAL, -1, -1,
                           "%s holds one thread, and the run has %u; --thread chooses one", f->name,
                           info->threads);
    if (x->options->spec_count > f->modules)
        return vs_diag_set(x->diag, -VSE_INVAL, -1, -1, "%s shows the bits of %u techniques",
                           f->name, f->modules);
    return 0;
}

static int take_all(const struct vs_export_format *f, struct vs_exporting *x,
                    struct vs_progress *progress)
{
    struct vs_batch batch;
    int e = 0, got = -VSE_END;

    while (!e && (got = vs_reader_next(x->reader, &batch)) > 0) {
        vs_progress_update(progress, batch.first);
        e = f->take(x, &batch);
    }
    return !e && got != -VSE_END ? got : e;
}

static int write_all(const struct vs_export_format *f, struct vs_exporting *x,
                     struct vs_progress *progress)
{
    int e = f->begin ? f->begin(x) : 0;

    if (!e)
        e = f->read ? f->read(x, progress) : take_all(f, x, progress);
    /* The reader's -VSE_END is where the run ends; any other one is an error like the rest. */
    if (e && e != -VSE_END && vs_reader_diag(x->reader)->error == e && x->diag)
        *x->diag = *vs_reader_diag(x->reader);
    if (!e && f->end)
        e = f->end(x);
    return e ? e : vs_sink_flush(&x->sink);
}

int vs_export_run(const struct vs_export_format *format, struct vs_reader *reader,
                  const struct vs_export_options *options, struct vs_progress *progress,
                  struct vs_diag *diag)
{
    struct vs_exporting x = {.reader = reader,
                             .isa = vs_isa_find(vs_reader_meta(reader, "isa")),
                             .options = options,
                             .diag = diag};
    int e = check(format, &x);

    if (e)
        return e;
    e = vs_sink_init(&x.sink, options->write, options->context);
    x.state = calloc(1, format->state ? format->state : 1);
    if (!x.state)
        e = -VSE_NOMEM;
    if (!e)
        e = write_all(format, &x, progress);
    if (x.state && format->close)
        format->close(&x);
    free(x.state);
    vs_sink_fini(&x.sink);
    return e;
}
