/* SPDX-License-Identifier: MIT */
#include "sweep/runs.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/diag.h"
#include "isa/set.h"
#include "rerun/run_open.h"
#include "study/bandwidth.h"

enum { RUNS_MAX = 100000, SUBSTITUTED = 1 << 15 };

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

/* ---- {name} ---------------------------------------------------------------------------------- */

/* What is chosen of a source's variables. */
struct choice {
    const struct vs_sweep_study *study;
    const struct vs_sweep_source *source;
    const char *labels[VS_SWEEP_VARIABLES], *texts[VS_SWEEP_VARIABLES];
    bool labelled; /* {name} stands for the label */
};

static const char *value_of(const struct choice *c, const char *name, size_t size)
{
    for (size_t i = 0; i < c->source->variable_count; i++)
        if (c->texts[i] && strlen(c->source->variables[i].name) == size &&
            !memcmp(c->source->variables[i].name, name, size))
            return c->labelled ? c->labels[i] : c->texts[i];
    for (size_t i = 0; i < c->study->variable_count; i++)
        if (strlen(c->study->variables[i].name) == size &&
            !memcmp(c->study->variables[i].name, name, size))
            return c->study->variables[i].value;
    return NULL;
}

/* Puts values in the place of names. Returns the arena's copy, or NULL with diag. */
static const char *substitute(struct vs_arena *arena, const struct choice *c, const char *text,
                              struct vs_diag *diag)
{
    const struct vs_sweep_source *s = c->source;
    char *out = malloc(SUBSTITUTED);
    size_t used = 0;
    const char *copy = NULL;
    while (out && *text && used < SUBSTITUTED - 1) {
        const char *close = *text == '{' ? strchr(text, '}') : NULL;
        const char *value = close ? value_of(c, text + 1, (size_t)(close - text - 1)) : NULL;
        if (close && !value) {
            vs_sweep_at(diag, -VSE_INVAL, s->study, s->line, "nothing has the name '%.*s'",
                        close - text < 60 ? (int)(close - text - 1) : 60, text + 1);
            free(out);
            return NULL;
        }
        if (value) {
            int n = snprintf(out + used, SUBSTITUTED - used, "%s", value);
            used = n < 0 || (size_t)n >= SUBSTITUTED - used ? SUBSTITUTED - 1 : used + (size_t)n;
            text = close + 1;
        } else {
            out[used++] = *text++;
        }
    }
    if (!out)
        no_memory(diag);
    else if (*text || used >= SUBSTITUTED - 1)
        vs_sweep_at(diag, -VSE_LIMIT, s->study, s->line, "is too long with its values in place");
    else if (!(copy = vs_arena_dup(arena, out, used)))
        no_memory(diag);
    free(out);
    return copy;
}

/* ---- the list -------------------------------------------------------------------------------- */

bool vs_sweep_group_exists(const struct vs_sweep_runs *r, const char *group)
{
    for (size_t i = 0; i < r->groups.count; i++)
        if (!strcmp(r->groups.items[i], group))
            return true;
    return false;
}

/* Lists the groups of a run. Returns 0, or with diag: -VSE_INVAL, -VSE_LIMIT, -VSE_NOMEM. */
static int list_groups(struct vs_sweep_runs *r, const struct choice *c, struct vs_words *groups,
                       struct vs_diag *diag)
{
    struct choice labelled = *c;
    labelled.labelled = true;
    for (size_t i = 0; i < c->source->groups.count; i++) {
        const char *group = substitute(&r->arena, &labelled, c->source->groups.items[i], diag);
        if (!group)
            return diag->error;
        if (vs_words_add(groups, &r->arena, group, strlen(group)) ||
            (!vs_sweep_group_exists(r, group) &&
             vs_words_add(&r->groups, &r->arena, group, strlen(group))))
            return no_memory(diag);
    }
    return 0;
}

/* Whether the study has a technique for a run of these groups. */
static bool has_technique(const struct vs_sweep_study *study, const struct vs_words *groups)
{
    for (size_t i = 0; i < study->template_count; i++) {
        if (!study->templates[i].runs)
            return true;
        for (size_t k = 0; k < groups->count; k++)
            if (!strcmp(groups->items[k], study->templates[i].runs))
                return true;
    }
    return false;
}

/* Adds a run unless no technique is for it. */
static int add_run(struct vs_sweep_runs *r, const struct choice *c, const struct vs_sweep_run *run,
                   struct vs_diag *diag)
{
    void *items = r->items;
    if (r->count >= RUNS_MAX)
        return vs_sweep_at(diag, -VSE_LIMIT, c->source->study, c->source->line,
                           "there are more than %d runs", RUNS_MAX);
    if (vs_array_room(&items, &r->capacity, r->count, 1, sizeof(*r->items)))
        return no_memory(diag);
    r->items = items;
    struct vs_sweep_run *to = &r->items[r->count];
    *to = *run;
    to->source = c->source;
    memcpy(to->labels, c->labels, sizeof(to->labels));
    int e = list_groups(r, c, &to->groups, diag);
    if (e || !has_technique(c->study, &to->groups))
        vs_words_fini(&to->groups);
    else
        r->count++;
    return e;
}

static int add_file(struct vs_sweep_runs *r, const struct choice *c, const char *path,
                    struct vs_diag *diag)
{
    struct vs_sweep_run run = {.path = vs_arena_dup(&r->arena, path, strlen(path))};
    run.name = run.path;
    return run.path ? add_run(r, c, &run, diag) : no_memory(diag);
}

static int add_pattern(struct vs_sweep_runs *r, const struct choice *c, struct vs_diag *diag)
{
    const struct vs_sweep_source *s = c->source;
    const char *pattern = s->literal ? s->file : substitute(&r->arena, c, s->file, diag);
    glob_t found = {0};
    int e = 0;
    if (!pattern)
        return diag->error;
    if (s->literal)
        return add_file(r, c, pattern, diag);
    int g = glob(pattern, GLOB_NOMAGIC, NULL, &found);
    if (g == GLOB_NOSPACE)
        e = no_memory(diag);
    else if (g)
        e = vs_sweep_at(diag, -VSE_NOTFOUND, s->study, s->line, "no file matches '%.100s'",
                        pattern);
    for (size_t i = 0; !e && i < found.gl_pathc; i++)
        e = add_file(r, c, found.gl_pathv[i], diag);
    globfree(&found);
    return e;
}

/* What the run of a choice has for the variable of that name; NULL: nothing. */
static const char *label_of(const struct choice *c, const char *name)
{
    if (!strcmp(name, "name"))
        return c->source->name;
    for (size_t i = 0; i < c->source->variable_count; i++)
        if (!strcmp(c->source->variables[i].name, name))
            return c->labels[i];
    return NULL;
}

static bool is_wanted(const struct vs_sweep_runs *r, const struct choice *c)
{
    bool wanted = true;
    for (size_t i = 0; i < c->study->only_count && wanted; i++) {
        const char *label = label_of(c, c->study->only[i].name);
        wanted = !label;
        for (size_t k = 0; k < r->only[i].count && !wanted; k++)
            wanted = !strcmp(r->only[i].items[k], label);
    }
    return wanted;
}

/* Adds the run of a choice of all variables, if it is wanted. */
static int add_recorded(struct vs_sweep_runs *r, const struct choice *c, struct vs_diag *diag)
{
    const struct vs_sweep_source *s = c->source;
    struct vs_sweep_run run = {0};
    char name[512];
    if (!is_wanted(r, c)) {
        int e = list_groups(r, c, &run.groups, diag);
        vs_words_fini(&run.groups);
        return e;
    }
    int used = snprintf(name, sizeof(name), "%s", s->name);
    for (size_t i = 0; i < s->variable_count && used >= 0 && used < (int)sizeof(name); i++)
        used += snprintf(name + used, sizeof(name) - (size_t)used, "-%s", c->labels[i]);
    if (used < 0 || used >= (int)sizeof(name))
        return vs_sweep_at(diag, -VSE_LIMIT, s->study, s->line, "the run's name is too long");
    run.name = vs_arena_dup(&r->arena, name, strlen(name));
    if (!run.name)
        return no_memory(diag);
    run.command = substitute(&r->arena, c, s->command, diag);
    if (run.command && s->options)
        run.options = substitute(&r->arena, c, s->options, diag);
    if (run.command && s->as)
        run.as = substitute(&r->arena, c, s->as, diag);
    if (!run.command || (s->options && !run.options) || (s->as && !run.as))
        return diag->error;
    return add_run(r, c, &run, diag);
}

/* Splits "label:text" if there is a colon; a value is its own label otherwise. */
static int choose(struct vs_sweep_runs *r, struct choice *c, size_t i, const char *value,
                  struct vs_diag *diag)
{
    const char *colon = strchr(value, ':');
    size_t n = colon ? (size_t)(colon - value) : strlen(value);
    c->labels[i] = vs_arena_dup(&r->arena, value, n);
    c->texts[i] = colon ? colon + 1 : c->labels[i];
    return c->labels[i] ? 0 : no_memory(diag);
}

/* Goes through all combinations: the last variable changes first. */
static int add_combinations(struct vs_sweep_runs *r, struct choice *c, struct vs_words *values,
                            struct vs_diag *diag)
{
    size_t n = c->source->variable_count, at[VS_SWEEP_VARIABLES] = {0};
    for (;;) {
        int e = 0;
        for (size_t i = 0; i < n && !e; i++)
            e = choose(r, c, i, values[i].items[at[i]], diag);
        if (!e)
            e = add_recorded(r, c, diag);
        size_t i = n;
        while (i && ++at[i - 1] == values[i - 1].count)
            at[--i] = 0;
        if (e || !i)
            return e;
    }
}

static int add_source(struct vs_sweep_runs *r, const struct vs_sweep_study *study,
                      const struct vs_sweep_source *s, struct vs_diag *diag)
{
    struct choice c = {.study = study, .source = s};
    struct vs_words values[VS_SWEEP_VARIABLES] = {0};
    struct vs_diag why = {0};
    int e = 0;
    if (s->file)
        return add_pattern(r, &c, diag);
    for (size_t i = 0; i < s->variable_count && !e; i++) {
        const struct vs_sweep_variable *v = &s->variables[i];
        const char *text = substitute(&r->arena, &c, v->value, diag);
        e = text ? 0 : diag->error;
        if (!e && vs_range_expand(&values[i], &r->arena, text, strlen(text), NULL, &why))
            e = vs_sweep_at(diag, why.error == -VSE_NOMEM ? why.error : -VSE_INVAL, s->study,
                            v->line, "%s", why.text);
    }
    if (!e)
        e = add_combinations(r, &c, values, diag);
    for (size_t i = 0; i < VS_SWEEP_VARIABLES; i++)
        vs_words_fini(&values[i]);
    return e;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct vs_sweep_run *const *)a)->name,
                  (*(const struct vs_sweep_run *const *)b)->name);
}

/* Names tell runs apart in the table. */
static int check_names(const struct vs_sweep_runs *r, struct vs_diag *diag)
{
    const struct vs_sweep_run **sorted = calloc(r->count + 1, sizeof(*sorted));
    int e = sorted ? 0 : no_memory(diag);
    for (size_t i = 0; sorted && i < r->count; i++)
        sorted[i] = &r->items[i];
    if (sorted)
        qsort(sorted, r->count, sizeof(*sorted), by_name);
    for (size_t i = 1; !e && i < r->count; i++)
        if (!by_name(&sorted[i - 1], &sorted[i]))
            e = vs_sweep_at(diag, -VSE_INVAL, sorted[i]->source->study, sorted[i]->source->line,
                            "the run '%.80s' is named twice", sorted[i]->name);
    free(sorted);
    return e;
}

/* Whether any recorded run has such a variable. */
static bool is_known(const struct vs_sweep_study *study, const char *name)
{
    for (size_t i = 0; i < study->source_count; i++) {
        const struct vs_sweep_source *s = &study->sources[i];
        if (s->file)
            continue;
        if (!strcmp(name, "name"))
            return true;
        for (size_t k = 0; k < s->variable_count; k++)
            if (!strcmp(s->variables[k].name, name))
                return true;
    }
    return false;
}

static int list_wanted(struct vs_sweep_runs *r, const struct vs_sweep_study *study,
                       struct vs_diag *diag)
{
    struct vs_diag why = {0};
    int e = 0;
    for (size_t i = 0; i < study->only_count && !e; i++) {
        const struct vs_sweep_only *o = &study->only[i];
        if (!is_known(study, o->name))
            e = vs_sweep_at(diag, -VSE_INVAL, o->study, o->line, "no recorded run has a '%.60s'",
                            o->name);
        else if (vs_range_expand(&r->only[i], &r->arena, o->values, strlen(o->values), NULL, &why))
            e = vs_sweep_at(diag, why.error == -VSE_NOMEM ? why.error : -VSE_INVAL, o->study,
                            o->line, "%s", why.text);
    }
    return e;
}

/* A group that no run has is a mistake, unless its runs are not wanted now; and some have to be. */
static int check_wanted(const struct vs_sweep_runs *runs, const struct vs_sweep_study *study,
                        struct vs_diag *diag)
{
    for (size_t i = 0; i < study->template_count; i++) {
        const struct vs_sweep_template *t = &study->templates[i];
        if (t->runs && !vs_sweep_group_exists(runs, t->runs))
            return vs_sweep_at(diag, -VSE_INVAL, t->study, t->line, "no run is in '%.60s'",
                               t->runs);
    }
    if (runs->count)
        return 0;
    const struct vs_sweep_only *o = study->only_count ? &study->only[study->only_count - 1] : NULL;
    return o ? vs_sweep_at(diag, -VSE_INVAL, o->study, o->line, "no run is left with %.60s=%.60s",
                           o->name, o->values)
             : vs_diag_set(diag, -VSE_INVAL, -1, -1, "no technique is for any run");
}

int vs_sweep_runs_list(struct vs_sweep_runs *r, const struct vs_sweep_study *study,
                       struct vs_diag *diag)
{
    *r = (struct vs_sweep_runs){0};
    int e = list_wanted(r, study, diag);
    for (size_t i = 0; i < study->source_count && !e; i++)
        e = add_source(r, study, &study->sources[i], diag);
    e = e ? e : check_wanted(r, study, diag);
    return e ? e : check_names(r, diag);
}

void vs_sweep_runs_fini(struct vs_sweep_runs *r)
{
    for (size_t i = 0; i < VS_SWEEP_VARIABLES; i++)
        vs_words_fini(&r->only[i]);
    vs_words_fini(&r->groups);
    for (size_t i = 0; i < r->count; i++)
        vs_words_fini(&r->items[i].groups);
    free(r->items);
    vs_arena_fini(&r->arena);
    *r = (struct vs_sweep_runs){0};
}

bool vs_sweep_run_in(const struct vs_sweep_run *run, const char *group)
{
    for (size_t i = 0; i < run->groups.count; i++)
        if (!strcmp(run->groups.items[i], group))
            return true;
    return false;
}

/* ---- what a run is --------------------------------------------------------------------------- */

static bool identify(const char *path, struct vs_sweep_identity *id)
{
    struct stat st;
    if (stat(path, &st) || S_ISDIR(st.st_mode))
        return false;
    *id = (struct vs_sweep_identity){.device = st.st_dev,
                                     .inode = st.st_ino,
                                     .size = st.st_size,
                                     .seconds = st.st_mtim.tv_sec,
                                     .nanoseconds = st.st_mtim.tv_nsec};
    return true;
}

bool vs_sweep_run_is_same(const struct vs_sweep_run *run)
{
    struct vs_sweep_identity now;
    return identify(run->path, &now) && now.device == run->identity.device &&
           now.inode == run->identity.inode && now.size == run->identity.size &&
           now.seconds == run->identity.seconds && now.nanoseconds == run->identity.nanoseconds;
}

int vs_sweep_run_look(struct vs_sweep_run *run, struct vs_diag *diag)
{
    const struct vs_sweep_source *s = run->source;
    struct vs_reader *reader;
    struct vs_bandwidth b;
    if (!identify(run->path, &run->identity))
        return vs_sweep_at(diag, -VSE_NOTFOUND, s->study, s->line, "there is no run '%.100s'",
                           run->path);
    run->open = false;
    int e = vs_sha256_file(run->path, run->hash, &run->why);
    if (e) {
        run->hash[0] = 0;
        return 0;
    }
    /* What is executed again is not executed here: its head tells enough. */
    e = vs_reader_open(&reader, run->path, VS_OPEN_DEFAULT, &run->why);
    if (e)
        return 0;
    run->info = *vs_reader_info(reader);
    e = vs_bandwidth_init(&b, reader, NULL, &run->why);
    run->setup = b.setup;
    run->open = !e;
    vs_bandwidth_fini(&b);
    vs_reader_close(reader);
    return 0;
}
