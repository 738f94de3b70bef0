/* SPDX-License-Identifier: MIT */
#include "export/bits.h"

#include <stdlib.h>

/* Adds a technique, unless the run lacks what it needs and it was not asked for. */
static int add(struct vs_bits *m, struct vs_exporting *x, const struct vs_technique_spec *spec,
               bool asked, vs_port_sink *sink, void *context)
{
    int e = vs_bandwidth_lacks(spec->technique, vs_reader_info(x->reader), x->diag);
    int64_t row;

    if (e)
        return asked ? e : 0;
    row = vs_bandwidth_add(&m->b, spec, m->b.count ? NULL : sink, context, x->diag);
    return row < 0 ? (int)row : 0;
}

int vs_bits_open(struct vs_bits *m, struct vs_exporting *x, const char *const *usual,
                 uint64_t windows, vs_port_sink *sink, void *context)
{
    const struct vs_run_info *info = vs_reader_info(x->reader);
    uint64_t length = info->features & VS_RUN_TIMED ? info->cycle_last + 1 : info->instructions;
    uint64_t most = VS_WINDOWS_MAX / (info->threads + 1); /* windows that there can be */
    struct vs_bandwidth_options options = {.window =
                                               length / (windows < most ? windows : most) + 1};
    struct vs_technique_spec spec;
    int64_t e = vs_bandwidth_init(&m->b, x->reader, &options, x->diag);

    m->begun = true;
    for (size_t i = 0; i < x->options->spec_count && e >= 0; i++)
        e = add(m, x, &x->options->specs[i], true, sink, context);
    for (; !x->options->spec_count && *usual && e >= 0; usual++)
        if ((e = vs_technique_parse(&spec, *usual, x->diag)) >= 0)
            e = add(m, x, &spec, false, sink, context);
    return e < 0 ? (int)e : 0;
}

int vs_bits_measure(struct vs_bits *m, struct vs_exporting *x, const struct vs_watcher *watcher)
{
    m->b.options.watcher = watcher;
    return vs_bandwidth_run(&m->b, x->reader, NULL, x->diag);
}

void vs_bits_fini(struct vs_bits *m)
{
    if (m->begun)
        vs_bandwidth_fini(&m->b);
    m->begun = false;
}
