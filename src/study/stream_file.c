/* SPDX-License-Identifier: MIT */
#include "study/stream_file.h"

#include <stdlib.h>

#include "base/diag.h"
#include "isa/noted.h"
#include "isa/set.h"

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(struct vs_diag *diag, const char *what, const char *why)
{
    return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "%s%s%s", what, *why ? ": " : "", why);
}

static int find_spec(const struct vs_technique *const *table, const struct vs_vport_about *about,
                     struct vs_technique_spec *spec, struct vs_diag *diag)
{
    const struct vs_technique *t = vs_technique_find_in(table, about->technique);
    struct vs_diag why = {0};
    if (!t || vs_technique_unnamed(spec, t) < 0)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                           "no technique '%.60s' is known; a newer vestige or a plugin may have it",
                           about->technique);
    for (size_t i = 0; i < about->param_count; i++)
        if (vs_technique_set(spec, about->params[i].name, about->params[i].value, &why) < 0)
            return refuse(diag, "bad parameter", why.text);
    if (vs_technique_check(spec, &why) < 0)
        return refuse(diag, "bad parameters", why.text);
    vs_technique_settle(spec, about->timed);
    const char *undecodable = vs_technique_undecodable(spec);
    return undecodable ? refuse(diag, undecodable, "") : 0;
}

int vs_stream_spec(const struct vs_technique *const *table, const struct vs_vport_about *about,
                   struct vs_technique_spec *spec, struct vs_technique_setup *setup,
                   struct vs_diag *diag)
{
    const struct vs_isa *isa = vs_isa_find(about->isa);
    struct vs_port_shape shape;
    *setup = (struct vs_technique_setup){.cores = about->cores,
                                         .address_bits = about->address_bits,
                                         .timed = about->timed,
                                         .alignment = isa ? isa->alignment : 0};
    int err = find_spec(table, about, spec, diag);
    if (err)
        return err;
    vs_technique_shape(spec, setup, &shape);
    if (shape.per_core == about->per_core)
        return 0;
    return refuse(diag,
                  shape.per_core ? "it lacks streams: each core has one"
                                 : "it has more streams than the technique",
                  "");
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { TEXT = VS_PARAMETER_TEXT };

static size_t parameter_count(const struct vs_technique *t)
{
    size_t n = 0;
    while (t->parameters[n].name)
        n++;
    return n;
}

size_t vs_stream_facts(const struct vs_reader *run, struct vs_vport_pair facts[VS_STREAM_FACTS])
{
    static const char *const keys[VS_STREAM_FACTS] = {VS_NOTED_FACT, "valgrind", "processor",
                                                      "offered"};
    size_t count = 0;
    for (size_t i = 0; i < VS_STREAM_FACTS; i++) {
        const char *value = vs_reader_meta(run, keys[i]);
        if (value)
            facts[count++] = (struct vs_vport_pair){keys[i], value};
    }
    return count;
}

int vs_stream_create(struct vs_vport_writer **w, const char *path, bool overwrite,
                     const struct vs_reader *run, const struct vs_technique_spec *spec,
                     const struct vs_technique_setup *setup, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(run);
    const char *isa = vs_reader_meta(run, "isa");
    size_t count = parameter_count(spec->technique);
    struct vs_vport_pair *params = calloc(count + 1, sizeof(*params));
    char(*values)[TEXT] = calloc(count + 1, sizeof(*values));
    struct vs_vport_pair facts[VS_STREAM_FACTS];
    struct vs_image *images = calloc(info->images + 1u, sizeof(*images));
    struct vs_port_shape shape;
    int err = -VSE_NOMEM;
    vs_technique_shape(spec, setup, &shape);
    for (size_t i = 0; params && values && i < count; i++) {
        const struct vs_parameter *p = &spec->technique->parameters[i];
        vs_parameter_text(p, spec->params, values[i]);
        params[i] = (struct vs_vport_pair){p->name, values[i]};
    }
    if (params && values && images) {
        struct vs_vport_about about = {.technique = spec->technique->name,
                                       .isa = isa && *isa ? isa : "unknown",
                                       .address_bits = setup->address_bits,
                                       .cores = setup->cores,
                                       .timed = setup->timed,
                                       .per_core = shape.per_core,
                                       .params = params,
                                       .param_count = count,
                                       .facts = facts,
                                       .fact_count = vs_stream_facts(run, facts),
                                       .images = images,
                                       .image_count = info->images};
        for (uint32_t i = 0; i < info->images; i++)
            vs_reader_image(run, i, &images[i]);
        err = vs_vport_create(w, path, &about, overwrite, diag);
    } else {
        vs_diag_set(diag, err, -1, -1, "out of memory");
    }
    free(images);
    free(values);
    free(params);
    return err;
}
