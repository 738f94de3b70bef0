/* SPDX-License-Identifier: MIT */
#include "cli/vport_open.h"

#include <stdlib.h>

#include "isa/noted.h"
#include "isa/set.h"

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(struct cli *cli, const char *path, const char *what, const struct vs_diag *diag)
{
    cli_error(cli, "%s: %s%s%s", path, what, diag ? ": " : "", diag ? diag->text : "");
    return CLI_BAD_DATA;
}

/* The parameters come from a file, so all of them are checked as a user's are. */
static int find_spec(struct cli *cli, const char *path, const struct vs_vport_about *about,
                     struct vs_technique_spec *spec)
{
    const struct vs_technique *t = vs_technique_find(about->technique);
    struct vs_diag diag = {0};
    if (!t || vs_technique_unnamed(spec, t) < 0) {
        cli_error(cli, "%s: no technique '%s' is known; a newer vestige may have it", path,
                  about->technique);
        return CLI_BAD_DATA;
    }
    for (size_t i = 0; i < about->param_count; i++)
        if (vs_technique_set(spec, about->params[i].name, about->params[i].value, &diag) < 0)
            return refuse(cli, path, "bad parameter", &diag);
    if (vs_technique_check(spec, &diag) < 0)
        return refuse(cli, path, "bad parameters", &diag);
    vs_technique_settle(spec, about->timed);
    const char *why = vs_technique_undecodable(spec);
    return why ? refuse(cli, path, why, NULL) : CLI_DONE;
}

int vport_open(struct cli *cli, struct vs_vport **port, const char *path,
               struct vs_technique_spec *spec, struct vs_technique_setup *setup)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_vport_open(port, path, &diag);
    if (e)
        return cli_report(cli, path, e, &diag);
    const struct vs_vport_about *about = &(*port)->about;
    const struct vs_isa *isa = vs_isa_find(about->isa);
    *setup = (struct vs_technique_setup){.cores = about->cores,
                                         .address_bits = about->address_bits,
                                         .timed = about->timed,
                                         .alignment = isa ? isa->alignment : 0};
    int status = find_spec(cli, path, about, spec);
    struct vs_port_shape shape = {0};
    if (status == CLI_DONE)
        vs_technique_shape(spec, setup, &shape);
    if (status == CLI_DONE && shape.per_core != about->per_core)
        status = refuse(cli, path,
                        shape.per_core ? "it lacks streams: each core has one"
                                       : "it has more streams than the technique",
                        NULL);
    if (status != CLI_DONE) {
        vs_vport_close(*port);
        *port = NULL;
    }
    return status;
}

int vport_missing(struct cli *cli, const struct vs_vport *port, const char *path)
{
    if (!port->truncated)
        return CLI_DONE;
    cli_error(cli, "%s: incomplete: %s", path, port->missing.text);
    return CLI_BAD_DATA;
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

static int create(struct cli *cli, struct vs_vport_writer **w, const char *path, bool overwrite,
                  struct vs_vport_about *about)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_vport_create(w, path, about, overwrite, &diag);
    return e ? cli_report_output(cli, path, e, &diag) : CLI_DONE;
}

size_t vport_facts(const struct vs_reader *run, struct vs_vport_pair facts[VPORT_FACTS])
{
    static const char *const keys[VPORT_FACTS] = {VS_NOTED_FACT, "valgrind", "processor",
                                                  "offered"};
    size_t count = 0;
    for (size_t i = 0; i < VPORT_FACTS; i++) {
        const char *value = vs_reader_meta(run, keys[i]);
        if (value)
            facts[count++] = (struct vs_vport_pair){keys[i], value};
    }
    return count;
}

int vport_create(struct cli *cli, struct vs_vport_writer **w, const char *path, bool overwrite,
                 const struct vs_reader *run, const struct vs_technique_spec *spec,
                 const struct vs_technique_setup *setup)
{
    const struct vs_run_info *info = vs_reader_info(run);
    const char *isa = vs_reader_meta(run, "isa");
    size_t count = parameter_count(spec->technique);
    struct vs_vport_pair *params = calloc(count + 1, sizeof(*params));
    char(*values)[TEXT] = calloc(count + 1, sizeof(*values));
    struct vs_vport_pair facts[VPORT_FACTS];
    struct vs_image *images = calloc(info->images + 1u, sizeof(*images));
    struct vs_port_shape shape;
    int status;
    vs_technique_shape(spec, setup, &shape);
    for (size_t i = 0; params && values && i < count; i++) {
        const struct vs_parameter *p = &spec->technique->parameters[i];
        vs_parameter_text(p, spec->params, values[i]);
        params[i] = (struct vs_vport_pair){p->name, values[i]};
    }
    if (!params || !values || !images) {
        cli_error(cli, "out of memory");
        status = CLI_USAGE;
    } else {
        struct vs_vport_about about = {.technique = spec->technique->name,
                                       .isa = isa && *isa ? isa : "unknown",
                                       .address_bits = setup->address_bits,
                                       .cores = setup->cores,
                                       .timed = setup->timed,
                                       .per_core = shape.per_core,
                                       .params = params,
                                       .param_count = count,
                                       .facts = facts,
                                       .fact_count = vport_facts(run, facts),
                                       .images = images,
                                       .image_count = info->images};
        for (uint32_t i = 0; i < info->images; i++)
            vs_reader_image(run, i, &images[i]);
        status = create(cli, w, path, overwrite, &about);
    }
    free(images);
    free(values);
    free(params);
    return status;
}
