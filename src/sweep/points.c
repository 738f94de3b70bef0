/* SPDX-License-Identifier: MIT */
#include "sweep/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "technique/spec_list.h"

enum { CONFIG = 1024, SETUPS_MAX = 64 };

struct lister {
    struct vs_sweep_points *p;
    const struct vs_sweep_study *study;
    struct vs_technique_setup setups[SETUPS_MAX]; /* the runs', without repetition */
    size_t setup_count;
    bool *kept;        /* for each constraint: some point keeps it */
    uint64_t *nearest; /* the value that came nearest to its limit */
    bool *met;         /* it applied to some point */
    struct vs_diag *diag;
};

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 0;
    for (; *text; text++)
        h = vs_hash(h ^ (unsigned char)*text) ^ h >> 29;
    return h;
}

int64_t vs_sweep_points_find(const struct vs_sweep_points *p, const char *spec)
{
    uint64_t i = vs_map_value(&p->by_spec, hash_text(spec));
    while (i && strcmp(p->items[i - 1].spec, spec) != 0)
        i = p->next[i - 1];
    return (int64_t)i - 1;
}

/* ---- constraints ----------------------------------------------------------------------------- */

/* The most that any run needs. Returns 0; -VSE_NOMEM. */
static int largest_cost(const struct lister *l, const struct vs_technique_spec *spec,
                        uint64_t *storage, uint64_t *gates)
{
    *storage = *gates = 0;
    for (size_t i = 0; i < l->setup_count; i++) {
        struct vs_technique_spec settled = *spec;
        struct vs_cost_list list;
        vs_technique_settle(&settled, l->setups[i].timed);
        int e = vs_technique_cost(&settled, &l->setups[i], &list);
        if (e)
            return e;
        struct vs_cost cost = vs_cost_list_sum(&list);
        *storage = vs_cost_storage(cost) > *storage ? vs_cost_storage(cost) : *storage;
        *gates = vs_cost_gates(cost) > *gates ? vs_cost_gates(cost) : *gates;
    }
    return 0;
}

/* Whether the constraint says something about the technique; then of which value. */
static bool constrained(const struct vs_sweep_constraint *c, const struct vs_technique_spec *spec,
                        uint64_t storage, uint64_t gates, uint64_t *value)
{
    const struct vs_parameter *p = spec->technique->parameters;
    *value = !strcmp(c->name, "storage") ? storage : gates;
    if (!strcmp(c->name, "storage") || !strcmp(c->name, "gates"))
        return true;
    while (p && p->name && strcmp(p->name, c->name) != 0)
        p++;
    if (!p || !p->name)
        return false;
    *value = vs_parameter_get(p, spec->params);
    return true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether the point keeps all constraints goes to *keeps, and its gates, if anybody asks for them,
 * to *gates. Returns 0; -VSE_NOMEM. */
static int check_constraints(struct lister *l, const struct vs_technique_spec *spec, bool *keeps,
                             uint64_t *gates)
{
    uint64_t storage, value;
    *keeps = true;
    *gates = 0;
    if (!l->study->constraint_count && l->study->search != VS_SWEEP_GUIDED)
        return 0;
    int e = largest_cost(l, spec, &storage, gates);
    for (size_t i = 0; i < l->study->constraint_count && !e; i++) {
        const struct vs_sweep_constraint *c = &l->study->constraints[i];
        if (!constrained(c, spec, storage, *gates, &value))
            continue;
        if (!l->met[i] || distance(value, c->limit) < distance(l->nearest[i], c->limit))
            l->nearest[i] = value;
        l->met[i] = true;
        if (vs_sweep_holds(c, value))
            l->kept[i] = true;
        else
            *keeps = false;
    }
    return e;
}

/* A constraint that no point keeps, or constraints that none keeps together, leave nothing. */
static int check_kept(const struct lister *l)
{
    const struct vs_sweep_study *s = l->study;
    for (size_t i = 0; i < s->constraint_count; i++)
        if (l->met[i] && !l->kept[i])
            return vs_sweep_at(l->diag, -VSE_INVAL, s->constraints[i].study, s->constraints[i].line,
                               "no point has %s; the nearest has %llu", s->constraints[i].text,
                               (unsigned long long)l->nearest[i]);
    if (l->p->count || !l->p->excluded)
        return 0;
    return vs_sweep_at(l->diag, -VSE_INVAL, s->constraints[0].study, s->constraints[0].line,
                       "no point keeps all constraints at once");
}

/* ---- points ---------------------------------------------------------------------------------- */

bool vs_sweep_point_is_for(const struct vs_sweep_point *p, const struct vs_sweep_run *run)
{
    for (const struct vs_sweep_groups *g = p->groups; g; g = g->next)
        if (vs_sweep_run_in(run, g->name))
            return true;
    return !p->groups;
}

/* Lets a point be for the template's runs, too. Returns 0; -VSE_NOMEM. */
static int add_runs_of(struct lister *l, struct vs_sweep_point *p, uint32_t template)
{
    const char *group = l->study->templates[template].runs;
    struct vs_sweep_groups *g =
        group ? vs_arena_alloc(&l->p->arena, sizeof(*g), _Alignof(struct vs_sweep_groups)) : NULL;
    if (group && !g)
        return no_memory(l->diag);
    if (g)
        *g = (struct vs_sweep_groups){group, p->groups};
    p->groups = g;
    return 0;
}

/* An equal point is there already. */
static int add_double(struct lister *l, size_t point, uint32_t template)
{
    l->p->doubles++;
    return l->p->items[point].groups ? add_runs_of(l, &l->p->items[point], template) : 0;
}

static bool is_verified(const struct vs_sweep_study *study, const char *spec)
{
    return study->verify == VS_SWEEP_VERIFY_ALL ||
           (study->verify == VS_SWEEP_VERIFY_SAMPLE &&
            vs_hash(hash_text(spec)) >> 16 < (UINT64_MAX >> 16) / study->verify_every);
}

/* Takes over nothing. If `wrong` is not NULL, the point's parameters do not fit together. */
static int append(struct lister *l, const char *technique, const char *config, const char *spec,
                  const char *wrong, uint32_t template, uint64_t place)
{
    struct vs_sweep_points *p = l->p;
    struct vs_sweep_point point = {.template = template, .place = (uint32_t)place};
    void *items = p->items, *next = p->next;
    if (p->count >= VS_POINTS_MAX)
        return vs_diag_set(l->diag, -VSE_LIMIT, -1, -1, "there are more than %llu points",
                           (unsigned long long)VS_POINTS_MAX);
    int e = vs_array_room(&items, &p->capacity, p->count, 1, sizeof(*p->items));
    p->items = items;
    e = e ? e : vs_array_room(&next, &p->next_capacity, p->count, 1, sizeof(*p->next));
    p->next = next;
    point.technique = vs_arena_dup(&p->arena, technique, strlen(technique));
    point.config = vs_arena_dup(&p->arena, config, strlen(config));
    point.spec = vs_arena_dup(&p->arena, spec, strlen(spec));
    if (wrong)
        point.wrong = vs_arena_dup(&p->arena, wrong, strlen(wrong));
    e = e ? e : add_runs_of(l, &point, template);
    if (e || !point.technique || !point.config || !point.spec || (wrong && !point.wrong))
        return no_memory(l->diag);
    point.verified = is_verified(l->study, spec);
    uint64_t hash = hash_text(spec);
    p->items[p->count] = point;
    p->next[p->count] = (uint32_t)vs_map_value(&p->by_spec, hash);
    if (vs_map_set(&p->by_spec, hash, ++p->count))
        return no_memory(l->diag);
    return 0;
}

/* Adds a point unless it breaks a constraint or is there already. */
static int add_spec(struct lister *l, const struct vs_technique_spec *spec, const char *config,
                    uint32_t template, uint64_t place)
{
    char text[VS_TECHNIQUE_TEXT];
    uint64_t gates;
    bool keeps;
    if (vs_technique_text(spec, text, sizeof(text)) < 0)
        return vs_diag_set(l->diag, -VSE_INTERNAL, -1, -1, "%s: the parameters have no room",
                           spec->technique->name);
    int64_t equal = vs_sweep_points_find(l->p, text);
    if (equal >= 0)
        return add_double(l, (size_t)equal, template);
    if (check_constraints(l, spec, &keeps, &gates))
        return no_memory(l->diag);
    if (!keeps) {
        l->p->excluded++;
        return 0;
    }
    int e = append(l, spec->technique->name, config, text, NULL, template, place);
    if (!e)
        l->p->items[l->p->count - 1].gates = gates;
    return e;
}

static int add_group(struct lister *l, const struct vs_sweep_template *t, uint32_t template)
{
    struct vs_spec_list list = {0};
    int e = vs_spec_list_add_text(&list, t->text, l->diag);
    for (size_t i = 0; i < list.count && !e; i++)
        e = add_spec(l, &list.items[i].spec, list.items[i].config, template, i);
    vs_spec_list_fini(&list);
    return e;
}

static int add_grid(struct lister *l, const struct vs_sweep_template *t, uint32_t template)
{
    char config[CONFIG], text[CONFIG + 80];
    struct vs_technique_spec spec;
    struct vs_diag why = {0};
    uint64_t wrong = 0;
    int e = 0;
    for (uint64_t place = 0; place < t->of.points && !e; place++) {
        if (vs_template_config(&t->of, place, config, sizeof(config)))
            return vs_sweep_at(l->diag, -VSE_LIMIT, t->study, t->line, "a point is too long");
        snprintf(text, sizeof(text), "%s%s%s", t->of.technique, t->of.axis_count ? ":" : "",
                 t->of.axis_count ? config : "");
        if (vs_technique_parse(&spec, text, &why) == 0) {
            e = add_spec(l, &spec, config, template, place);
            continue;
        }
        wrong++;
        int64_t equal = vs_sweep_points_find(l->p, text);
        if (equal >= 0)
            e = add_double(l, (size_t)equal, template);
        else
            e = append(l, t->of.technique, config, text, why.text, template, place);
    }
    return !e && wrong == t->of.points ? vs_sweep_at(l->diag, -VSE_INVAL, t->study, t->line,
                                                     "no point fits together: %s", why.text)
                                       : e;
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool same_setup(const struct vs_technique_setup *a, const struct vs_technique_setup *b)
{
    return a->cores == b->cores && a->address_bits == b->address_bits && a->timed == b->timed &&
           a->alignment == b->alignment;
}

static void list_setups(struct lister *l, const struct vs_sweep_runs *runs)
{
    for (size_t i = 0; i < runs->count && l->setup_count < SETUPS_MAX; i++) {
        size_t k = 0;
        if (!runs->items[i].open)
            continue;
        while (k < l->setup_count && !same_setup(&l->setups[k], &runs->items[i].setup))
            k++;
        if (k == l->setup_count)
            l->setups[l->setup_count++] = runs->items[i].setup;
    }
    if (!l->setup_count)
        l->setups[l->setup_count++] = (struct vs_technique_setup){.cores = 1, .address_bits = 64};
}

/* Whether any run is there for the template's points. */
static bool has_run(const struct vs_sweep_template *t, const struct vs_sweep_runs *runs)
{
    for (size_t i = 0; i < runs->count && t->runs; i++)
        if (vs_sweep_run_in(&runs->items[i], t->runs))
            return true;
    return !t->runs;
}

int vs_sweep_points_list(struct vs_sweep_points *p, const struct vs_sweep_study *study,
                         const struct vs_sweep_runs *runs, struct vs_diag *diag)
{
    struct lister l = {.p = p,
                       .study = study,
                       .kept = calloc(study->constraint_count + 1, sizeof(bool)),
                       .met = calloc(study->constraint_count + 1, sizeof(bool)),
                       .nearest = calloc(study->constraint_count + 1, sizeof(uint64_t)),
                       .diag = diag};
    int e = l.kept && l.met && l.nearest ? 0 : no_memory(diag);
    *p = (struct vs_sweep_points){0};
    list_setups(&l, runs);
    for (size_t i = 0; i < study->template_count && !e; i++) {
        const struct vs_sweep_template *t = &study->templates[i];
        if (has_run(t, runs))
            e = t->group ? add_group(&l, t, (uint32_t)i) : add_grid(&l, t, (uint32_t)i);
    }
    if (!e)
        e = check_kept(&l);
    free(l.kept);
    free(l.met);
    free(l.nearest);
    return e;
}

void vs_sweep_points_fini(struct vs_sweep_points *p)
{
    free(p->items);
    free(p->next);
    vs_map_fini(&p->by_spec);
    vs_arena_fini(&p->arena);
    *p = (struct vs_sweep_points){0};
}
