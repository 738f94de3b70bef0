/* SPDX-License-Identifier: MIT */
/* Techniques with their parameters, as users write them. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "technique/technique.h"

enum { WORD = 64 }; /* the longest name or value, with its NUL */

/* Takes the next word off *text, up to one of `ends` or the end. Returns false if it is too long.
 */
static bool take_word(const char **text, const char *ends, char word[WORD])
{
    size_t n = strcspn(*text, ends);
    if (n >= WORD)
        return false;
    memcpy(word, *text, n);
    word[n] = 0;
    *text += n;
    return true;
}

int vs_technique_set(struct vs_technique_spec *s, const char *name, const char *value,
                     struct vs_diag *diag)
{
    return vs_parameter_set(s->technique->parameters, s->params, name, value, diag);
}

/* Sets each "name=value" of a list separated by spaces. */
static int set_all(struct vs_technique_spec *s, const char *text, struct vs_diag *diag)
{
    char name[WORD], value[WORD];
    int err = 0;
    while (!err && *(text += strspn(text, " "))) {
        if (!take_word(&text, "=", name) || *text++ != '=' || !take_word(&text, " ", value))
            return vs_diag_set(diag, -VSE_INTERNAL, -1, -1, "bad table of %s", s->technique->name);
        err = vs_technique_set(s, name, value, diag);
    }
    return err;
}

int vs_technique_defaults(struct vs_technique_spec *s, const struct vs_technique *t)
{
    *s = (struct vs_technique_spec){.technique = t};
    return t->params_size > sizeof(s->params) ? -VSE_INTERNAL : set_all(s, t->defaults, NULL);
}

int vs_technique_unnamed(struct vs_technique_spec *s, const struct vs_technique *t)
{
    int err = vs_technique_defaults(s, t);
    return err || !t->unnamed ? err : set_all(s, t->unnamed, NULL);
}

static int no_technique(const struct vs_technique *const *table, const char *name,
                        struct vs_diag *diag)
{
    char list[140] = "";
    for (table = table ? table : vs_techniques; *table; table++)
        vs_list_word(list, sizeof(list), (*table)->name);
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "no technique '%s'; there are: %s", name, list);
}

static int apply_config(struct vs_technique_spec *s, const char *name, struct vs_diag *diag)
{
    char list[100] = "";
    for (const struct vs_technique_config *c = s->technique->configs; c && c->name; c++) {
        if (!strcmp(c->name, name))
            return set_all(s, c->values, diag);
        vs_list_word(list, sizeof(list), c->name);
    }
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "%s has no configuration '%s'; there are: %s",
                       s->technique->name, name, *list ? list : "none");
}

static int apply_item(struct vs_technique_spec *s, const char **text, struct vs_diag *diag)
{
    char name[WORD], value[WORD];
    if (!take_word(text, "=,", name))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no name is as long as '%.60s'", *text);
    if (**text != '=')
        return apply_config(s, name, diag);
    ++*text;
    if (!take_word(text, ",", value))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no value of %s is as long as '%.60s'", name,
                           *text);
    return vs_technique_set(s, name, value, diag);
}

int vs_technique_items(struct vs_technique_spec *s, const char *text, struct vs_diag *diag)
{
    int err = apply_item(s, &text, diag);
    while (!err && *text == ',') {
        text++;
        err = apply_item(s, &text, diag);
    }
    return err;
}

int vs_technique_parse(struct vs_technique_spec *s, const char *text, struct vs_diag *diag)
{
    return vs_technique_parse_in(vs_techniques, s, text, diag);
}

int vs_technique_parse_in(const struct vs_technique *const *table, struct vs_technique_spec *s,
                          const char *text, struct vs_diag *diag)
{
    const struct vs_technique *t;
    char name[WORD];
    int err;
    if (!take_word(&text, ":", name))
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "no technique '%.60s...'", text);
    if (!(t = vs_technique_find_in(table, name)))
        return no_technique(table, name, diag);
    if ((err = vs_technique_defaults(s, t)) < 0)
        return vs_diag_set(diag, err, -1, -1, "bad table of %s", t->name);
    if (*text == ':')
        err = vs_technique_items(s, text + 1, diag);
    return err ? err : vs_technique_check(s, diag);
}

int vs_technique_check(const struct vs_technique_spec *s, struct vs_diag *diag)
{
    return s->technique->check ? s->technique->check(s->params, diag) : 0;
}

void vs_technique_settle(struct vs_technique_spec *s, bool timed)
{
    if (s->technique->settle)
        s->technique->settle(s->params, timed);
}

int vs_technique_text(const struct vs_technique_spec *s, char *out, size_t capacity)
{
    char value[VS_PARAMETER_TEXT];
    int used = snprintf(out, capacity, "%s", s->technique->name);
    for (const struct vs_parameter *p = s->technique->parameters; p->name; p++) {
        if (used < 0 || (size_t)used >= capacity)
            return -VSE_LIMIT;
        vs_parameter_text(p, s->params, value);
        used += snprintf(out + used, capacity - (size_t)used, "%c%s=%s",
                         p == s->technique->parameters ? ':' : ',', p->name, value);
    }
    return used < 0 || (size_t)used >= capacity ? -VSE_LIMIT : used;
}

void vs_technique_shape(const struct vs_technique_spec *s, const struct vs_technique_setup *setup,
                        struct vs_port_shape *shape)
{
    const struct vs_technique *t = s->technique;
    *shape = (struct vs_port_shape){
        .cores = setup->cores, .timed = setup->timed, .packets = t->packets != NULL};
    if (setup->timed && t->cycles)
        shape->cycles = t->cycles(s->params);
    if (t->framing)
        t->framing(s->params, shape);
}

unsigned vs_technique_needs(const struct vs_technique_spec *s)
{
    const struct vs_technique *t = s->technique;
    return t->encoder->needs | (t->needs ? t->needs(s->params) : 0);
}

const char *vs_technique_undecodable(const struct vs_technique_spec *s)
{
    return s->technique->undecodable ? s->technique->undecodable(s->params) : NULL;
}

bool vs_technique_ordered(const struct vs_technique_spec *s)
{
    return s->technique->ordered && s->technique->ordered(s->params);
}

uint64_t vs_technique_cache_bits(const struct vs_technique_spec *s,
                                 const struct vs_technique_setup *setup)
{
    return s->technique->cache_bits ? s->technique->cache_bits(s->params, setup) : 0;
}

int vs_technique_cost(const struct vs_technique_spec *s, const struct vs_technique_setup *setup,
                      struct vs_cost_list *list)
{
    list->count = 0;
    return s->technique->cost(s->params, setup, list);
}
