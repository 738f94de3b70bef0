/* SPDX-License-Identifier: MIT */
#include "cli/specs.h"

#include <stdio.h>

#include "study/bandwidth.h"

static int refuse(struct cli *cli, const char *text, int error, const struct vs_diag *diag)
{
    if (error == -VSE_NOMEM)
        cli_error(cli, "out of memory");
    else
        cli_error(cli, "-t %s: %s; see 'vestige techniques'", text, diag->text);
    return CLI_USAGE;
}

int specs_add(struct cli *cli, struct vs_spec_list *specs, const char *config,
              const struct vs_technique_spec *spec)
{
    int e = vs_spec_list_add(specs, config, spec);
    return e ? refuse(cli, config, e, NULL) : CLI_DONE;
}

int specs_parse_one(struct cli *cli, struct vs_technique_spec *spec, const char *text)
{
    struct vs_diag diag = {0};
    int e = vs_technique_parse_in(cli->techniques, spec, text, &diag);
    return e < 0 ? refuse(cli, text, e, &diag) : CLI_DONE;
}

int specs_parse(struct cli *cli, struct vs_spec_list *specs, const struct option_list *list)
{
    struct vs_diag diag = {0};
    size_t at = 0;
    *specs = (struct vs_spec_list){.table = cli->techniques};
    int e = list->count ? 0 : vs_spec_list_add_usual(specs, &diag);
    while (!e && at < list->count)
        e = vs_spec_list_add_text(specs, list->items[at++], &diag);
    return e ? refuse(cli, at ? list->items[at - 1] : "", e, &diag) : CLI_DONE;
}

int specs_lack(struct cli *cli, const struct vs_spec_item *spec, const char *path,
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

/* Whether "HEAD", "HEAD:ITEM" or "HEAD:ITEM=VALUE" is the word asked for. */
static bool offers(struct offer *o, const char *head, const char *item, const char *value)
{
    if (o->left--)
        return false;
    snprintf(o->word, OPTION_WORD, "%s%s%s%s%s", head, item ? ":" : "", item ? item : "",
             value ? "=" : "", value ? value : "");
    return true;
}

/* A number is left to the user; a word is not. */
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
    unsigned groups = 0;
    while (vs_spec_group(groups))
        groups++;
    if (number >= groups)
        return specs_offer_one(number - groups, word);
    snprintf(word, OPTION_WORD, "%s", vs_spec_group(number));
    return true;
}
