/* SPDX-License-Identifier: MIT */
#include "technique/spec_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"

static const struct {
    const char *name, *config;
} usual[] = {
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

void vs_spec_list_fini(struct vs_spec_list *list)
{
    free(list->items);
    *list = (struct vs_spec_list){0};
}

const char *vs_spec_group(unsigned number)
{
    return number < COUNT(groups) ? groups[number].name : NULL;
}

static bool equal(const struct vs_technique_spec *a, const struct vs_technique_spec *b)
{
    return a->technique == b->technique && !memcmp(a->params, b->params, sizeof(a->params));
}

static int add(struct vs_spec_list *list, const char *config, bool grouped,
               const struct vs_technique_spec *spec)
{
    void *items = list->items;
    int e = vs_array_room(&items, &list->capacity, list->count, 1, sizeof(*list->items));
    list->items = items;
    if (!e)
        list->items[list->count++] = (struct vs_spec_item){config, grouped, *spec};
    return e;
}

int vs_spec_list_add(struct vs_spec_list *list, const char *config,
                     const struct vs_technique_spec *spec)
{
    return add(list, config, false, spec);
}

/* Makes the spec of a named configuration over the defaults. */
static int config_spec(const struct vs_spec_list *list, struct vs_technique_spec *spec,
                       const char *technique, const char *config, struct vs_diag *diag)
{
    char text[VS_TECHNIQUE_TEXT];
    int n =
        snprintf(text, sizeof(text), "%s%s%s", technique, config ? ":" : "", config ? config : "");
    if (n < 0 || (size_t)n >= sizeof(text))
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "the name is too long");
    return vs_technique_parse_in(list->table, spec, text, diag);
}

/* Adds a technique's defaults, and its configurations. */
static int add_technique(struct vs_spec_list *list, const struct vs_technique *t,
                         struct vs_diag *diag)
{
    struct vs_technique_spec defaults, spec;
    int e = vs_technique_defaults(&defaults, t);
    if (e)
        return vs_diag_set(diag, e, -1, -1, "bad table of %s", t->name);
    e = add(list, "default", true, &defaults);
    for (const struct vs_technique_config *c = t->configs; c && c->name && !e; c++) {
        e = config_spec(list, &spec, t->name, c->name, diag);
        if (!e && !equal(&spec, &defaults))
            e = add(list, c->name, true, &spec);
    }
    return e;
}

static int add_group(struct vs_spec_list *list, unsigned kinds, struct vs_diag *diag)
{
    int e = 0;
    for (const struct vs_technique *const *t = list->table ? list->table : vs_techniques; *t && !e;
         t++)
        if ((*t)->serves & kinds)
            e = add_technique(list, *t, diag);
    return e;
}

int vs_spec_list_add_usual(struct vs_spec_list *list, struct vs_diag *diag)
{
    struct vs_technique_spec spec;
    int e = 0;
    for (size_t i = 0; i < COUNT(usual) && !e; i++) {
        e = config_spec(list, &spec, usual[i].name, usual[i].config, diag);
        if (!e)
            e = add(list, usual[i].config ? usual[i].config : "default", true, &spec);
    }
    return e;
}

int vs_spec_list_add_text(struct vs_spec_list *list, const char *text, struct vs_diag *diag)
{
    const char *colon = strchr(text, ':');
    struct vs_technique_spec spec;
    for (size_t i = 0; i < COUNT(groups); i++)
        if (!strcmp(text, groups[i].name))
            return add_group(list, groups[i].kinds, diag);
    int e = vs_technique_parse_in(list->table, &spec, text, diag);
    return e ? e : vs_spec_list_add(list, colon && colon[1] ? colon + 1 : "default", &spec);
}
