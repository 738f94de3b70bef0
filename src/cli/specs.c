/* SPDX-License-Identifier: MIT */
#include "cli/specs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/bandwidth.h"

enum { DOZEN = 12 };

void specs_free(struct specs *specs)
{
    free(specs->items);
    *specs = (struct specs){0};
}

bool specs_equal(const struct vs_technique_spec *a, const struct vs_technique_spec *b)
{
    return a->technique == b->technique && !memcmp(a->params, b->params, sizeof(a->params));
}

static int add(struct cli *cli, struct specs *specs, const char *config,
               const struct vs_technique_spec *spec)
{
    void *items = specs->items;
    int e = vs_array_room(&items, &specs->capacity, specs->count, 1, sizeof(*specs->items));
    specs->items = items;
    if (e) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    specs->items[specs->count++] = (struct spec){config, *spec};
    return CLI_DONE;
}

static int refuse(struct cli *cli, const char *text, const struct vs_diag *diag)
{
    cli_error(cli, "-t %s: %s; see 'vestige techniques'", text, diag->text);
    return CLI_USAGE;
}

/* A named configuration over the defaults. */
static int config_spec(struct vs_technique_spec *spec, const struct vs_technique *t,
                       const char *name, struct vs_diag *diag)
{
    char text[VS_TECHNIQUE_TEXT];
    int n = snprintf(text, sizeof(text), "%s:%s", t->name, name);
    return n < 0 || (size_t)n >= sizeof(text) ? -VSE_LIMIT : vs_technique_parse(spec, text, diag);
}

/* A technique's defaults, and its configurations while there are fewer than `most` rows, leaving
 * room for `reserve`. */
static int add_technique(struct cli *cli, struct specs *specs, const struct vs_technique *t,
                         size_t most, size_t reserve)
{
    struct vs_technique_spec defaults, spec;
    struct vs_diag diag = {0};
    if (vs_technique_defaults(&defaults, t) < 0)
        return refuse(cli, t->name, &diag);
    int status = add(cli, specs, "default", &defaults);
    for (const struct vs_technique_config *c = t->configs; c && c->name && status == CLI_DONE;
         c++) {
        if (specs->count + reserve >= most)
            break;
        if (config_spec(&spec, t, c->name, &diag) < 0)
            return refuse(cli, c->name, &diag);
        if (!specs_equal(&spec, &defaults))
            status = add(cli, specs, c->name, &spec);
    }
    return status;
}

static int add_all(struct cli *cli, struct specs *specs, size_t most)
{
    size_t left = 0;
    int status = CLI_DONE;
    for (size_t i = 0; vs_techniques[i]; i++)
        left += vs_bandwidth_knows(vs_techniques[i]);
    for (size_t i = 0; vs_techniques[i] && status == CLI_DONE; i++)
        if (vs_bandwidth_knows(vs_techniques[i]))
            status = add_technique(cli, specs, vs_techniques[i], most, --left);
    return status;
}

int specs_parse_one(struct cli *cli, struct vs_technique_spec *spec, const char *text)
{
    struct vs_diag diag = {0};
    if (vs_technique_parse(spec, text, &diag) < 0)
        return refuse(cli, text, &diag);
    if (vs_bandwidth_knows(spec->technique))
        return CLI_DONE;
    cli_error(cli, "-t %s: techniques of its kind cannot be measured", text);
    return CLI_USAGE;
}

int specs_parse(struct cli *cli, struct specs *specs, const struct option_list *list)
{
    int status = CLI_DONE;
    *specs = (struct specs){0};
    if (!list->count)
        return add_all(cli, specs, DOZEN);
    for (size_t i = 0; i < list->count && status == CLI_DONE; i++) {
        const char *text = list->items[i], *colon = strchr(text, ':');
        struct vs_technique_spec spec;
        if (!strcmp(text, "all")) {
            status = add_all(cli, specs, SIZE_MAX);
        } else {
            status = specs_parse_one(cli, &spec, text);
            if (status == CLI_DONE)
                status = add(cli, specs, colon && colon[1] ? colon + 1 : "default", &spec);
        }
    }
    return status;
}
