/* SPDX-License-Identifier: MIT */
#include "cli/specs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/bandwidth.h"

/* Without -t: the baselines, and what is good at its cost. */
static const struct {
    const char *name, *config;
} dozen[] = {
    {"mcfNX_b", NULL}, {"mcfTR_b", NULL}, {"mcfTR_e", NULL}, {"bTMBP", NULL},
    {"rSDC", NULL},    {"mlvNX_b", NULL}, {"mlvCF_b", NULL}, {"mlvCF_e", NULL},
    {"mc2RT", NULL},   {"daNX", NULL},    {"ADAC", NULL},    {"daFilter", "adac"},
};

static const struct {
    const char *name;
    unsigned kinds;
} groups[] = {{"all", VS_TECHNIQUE_FLOW | VS_TECHNIQUE_DATA | VS_TECHNIQUE_ADDRESS},
              {"control-flow", VS_TECHNIQUE_FLOW},
              {"load-values", VS_TECHNIQUE_DATA},
              {"data-addresses", VS_TECHNIQUE_ADDRESS}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void specs_free(struct specs *specs)
{
    free(specs->items);
    *specs = (struct specs){0};
}

static bool equal(const struct vs_technique_spec *a, const struct vs_technique_spec *b)
{
    return a->technique == b->technique && !memcmp(a->params, b->params, sizeof(a->params));
}

static int add(struct cli *cli, struct specs *specs, const char *config, bool grouped,
               const struct vs_technique_spec *spec)
{
    void *items = specs->items;
    int e = vs_array_room(&items, &specs->capacity, specs->count, 1, sizeof(*specs->items));
    specs->items = items;
    if (e) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    specs->items[specs->count++] = (struct spec){config, grouped, *spec};
    return CLI_DONE;
}

int specs_add(struct cli *cli, struct specs *specs, const char *config,
              const struct vs_technique_spec *spec)
{
    return add(cli, specs, config, false, spec);
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

/* A technique's defaults, and its configurations. */
static int add_technique(struct cli *cli, struct specs *specs, const struct vs_technique *t)
{
    struct vs_technique_spec defaults, spec;
    struct vs_diag diag = {0};
    if (vs_technique_defaults(&defaults, t) < 0)
        return refuse(cli, t->name, &diag);
    int status = add(cli, specs, "default", true, &defaults);
    for (const struct vs_technique_config *c = t->configs; c && c->name && status == CLI_DONE;
         c++) {
        if (config_spec(&spec, t, c->name, &diag) < 0)
            return refuse(cli, c->name, &diag);
        if (!equal(&spec, &defaults))
            status = add(cli, specs, c->name, true, &spec);
    }
    return status;
}

static int add_group(struct cli *cli, struct specs *specs, unsigned kinds)
{
    int status = CLI_DONE;
    for (size_t i = 0; vs_techniques[i] && status == CLI_DONE; i++)
        if (vs_techniques[i]->serves & kinds)
            status = add_technique(cli, specs, vs_techniques[i]);
    return status;
}

static int add_dozen(struct cli *cli, struct specs *specs)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < COUNT(dozen) && status == CLI_DONE; i++) {
        const char *config = dozen[i].config ? dozen[i].config : "default";
        struct vs_technique_spec spec;
        char text[64];
        snprintf(text, sizeof(text), "%s%s%s", dozen[i].name, dozen[i].config ? ":" : "",
                 dozen[i].config ? dozen[i].config : "");
        status = specs_parse_one(cli, &spec, text);
        if (status == CLI_DONE)
            status = add(cli, specs, config, true, &spec);
    }
    return status;
}

int specs_parse_one(struct cli *cli, struct vs_technique_spec *spec, const char *text)
{
    struct vs_diag diag = {0};
    return vs_technique_parse(spec, text, &diag) < 0 ? refuse(cli, text, &diag) : CLI_DONE;
}

static int add_text(struct cli *cli, struct specs *specs, const char *text)
{
    const char *colon = strchr(text, ':');
    struct vs_technique_spec spec;
    for (size_t i = 0; i < COUNT(groups); i++)
        if (!strcmp(text, groups[i].name))
            return add_group(cli, specs, groups[i].kinds);
    int status = specs_parse_one(cli, &spec, text);
    if (status == CLI_DONE)
        status = specs_add(cli, specs, colon && colon[1] ? colon + 1 : "default", &spec);
    return status;
}

int specs_parse(struct cli *cli, struct specs *specs, const struct option_list *list)
{
    int status = CLI_DONE;
    *specs = (struct specs){0};
    if (!list->count)
        return add_dozen(cli, specs);
    for (size_t i = 0; i < list->count && status == CLI_DONE; i++)
        status = add_text(cli, specs, list->items[i]);
    return status;
}

int specs_lack(struct cli *cli, const struct spec *spec, const char *path,
               const struct vs_run_info *info, bool *lacks)
{
    const struct vs_technique *t = spec->spec.technique;
    struct vs_diag why = {0};
    int e = vs_bandwidth_lacks(t, info, &why);
    *lacks = e;
    if (!e || (spec->grouped && e == -VSE_FEATURE))
        return CLI_DONE;
    cli_error(cli, spec->grouped ? "%s: %s is left out: %s" : "%s: %s cannot encode it: %s", path,
              t->name, why.text);
    return spec->grouped ? CLI_DONE : CLI_USAGE;
}

int specs_fit_nothing(struct cli *cli, const char *path)
{
    cli_error(cli, "%s: it was recorded without what these techniques report", path);
    return CLI_USAGE;
}

/* ---- what is offered ------------------------------------------------------------------------- */

/* Counts down to the word that is asked for. */
struct offer {
    unsigned left;
    char *word;
};

/* Whether "HEAD", "HEAD:ITEM" or "HEAD:ITEM=VALUE" is the one. */
static bool offers(struct offer *o, const char *head, const char *item, const char *value)
{
    if (o->left--)
        return false;
    snprintf(o->word, OPTION_WORD, "%s%s%s%s%s", head, item ? ":" : "", item ? item : "",
             value ? "=" : "", value ? value : "");
    return true;
}

/* A number is left to the user, a word is not. */
static bool offers_parameter(struct offer *o, const struct vs_technique *t,
                             const struct vs_parameter *p)
{
    if (!p->words)
        return offers(o, t->name, p->name, "");
    for (const char *const *w = p->words; *w; w++)
        if (offers(o, t->name, p->name, *w))
            return true;
    return false;
}

static bool offers_technique(struct offer *o, const struct vs_technique *t)
{
    if (offers(o, t->name, NULL, NULL))
        return true;
    for (const struct vs_technique_config *c = t->configs; c && c->name; c++)
        if (offers(o, t->name, c->name, NULL))
            return true;
    for (const struct vs_parameter *p = t->parameters; p && p->name; p++)
        if (offers_parameter(o, t, p))
            return true;
    return false;
}

bool specs_offer_one(unsigned number, char word[OPTION_WORD])
{
    struct offer o = {number, word};
    for (size_t i = 0; vs_techniques[i]; i++)
        if (offers_technique(&o, vs_techniques[i]))
            return true;
    return false;
}

bool specs_offer(unsigned number, char word[OPTION_WORD])
{
    if (number >= COUNT(groups))
        return specs_offer_one(number - COUNT(groups), word);
    snprintf(word, OPTION_WORD, "%s", groups[number].name);
    return true;
}
