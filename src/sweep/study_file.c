/* SPDX-License-Identifier: MIT */
#include "sweep/study_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "technique/spec_list.h"

int vs_sweep_at(struct vs_diag *diag, int error, const char *study, unsigned line,
                const char *format, ...)
{
    char text[sizeof(diag->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    size_t length = strlen(study), most = 80;
    const char *end = length > most ? study + length - most : study;
    if (!line)
        return vs_diag_set(diag, error, -1, -1, "%s: %s", end, text);
    return vs_diag_set(diag, error, -1, -1, "%s:%u: %s", end, line, text);
}

/* ---- parsing --------------------------------------------------------------------------------- */

enum section { NO_SECTION, SWEEP, RUNS, RECORD, TECHNIQUES, VARIABLES };

struct parser {
    struct vs_sweep_study *study;
    const char *name; /* in the arena */
    bool lines;
    unsigned line;
    enum section section;
    const char *group;             /* of [runs] or [techniques], or NULL */
    struct vs_sweep_source common; /* what [record] says */
    size_t source;                 /* of [record NAME]: its number plus one; 0: it is [record] */
    struct vs_diag *diag;
};

#define FAIL(p, ...)                                                                               \
    vs_sweep_at((p)->diag, -VSE_INVAL, (p)->name, (p)->lines ? (p)->line : 0, __VA_ARGS__)

static int no_memory(struct parser *p)
{
    return vs_sweep_at(p->diag, -VSE_NOMEM, p->name, p->lines ? p->line : 0, "out of memory");
}

static unsigned line_of(const struct parser *p)
{
    return p->lines ? p->line : 0;
}

/* Sets *to to a copy. */
static int keep(struct parser *p, const char **to, const char *text)
{
    *to = vs_arena_dup(&p->study->arena, text, strlen(text));
    return *to ? 0 : no_memory(p);
}

/* Splits at blanks and commas, and adds the words. */
static int add_words(struct parser *p, struct vs_words *to, const char *text)
{
    for (;;) {
        text += strspn(text, " \t,");
        size_t n = strcspn(text, " \t,");
        if (!n)
            return to->count ? 0 : FAIL(p, "there is no value");
        if (vs_words_add(to, &p->study->arena, text, n))
            return no_memory(p);
        text += n;
    }
}

static int keep_words(struct parser *p, struct vs_words *to, const char *text)
{
    to->count = 0;
    return add_words(p, to, text);
}

static int keep_number(struct parser *p, uint64_t *to, const char *text)
{
    const char *wrong = vs_number(text, text + strlen(text), to);
    return wrong ? FAIL(p, "'%.60s' %s", text, wrong) : 0;
}

/* ---- [sweep] --------------------------------------------------------------------------------- */

bool vs_sweep_limit(const char *text, uint64_t *limit)
{
    size_t n = strlen(text);
    static const char letters[] = "kmg";
    const char *letter = n ? strchr(letters, text[n - 1]) : NULL;
    uint64_t factor = 1;
    if (letter && text[n - 1]) {
        n--;
        for (const char *c = letters; c <= letter; c++)
            factor *= 1000;
    }
    return !vs_number(text, text + n, limit) && !__builtin_mul_overflow(*limit, factor, limit);
}

bool vs_sweep_holds(const struct vs_sweep_constraint *c, uint64_t value)
{
    switch (c->relation) {
    case VS_SWEEP_AT_MOST:
        return value <= c->limit;
    case VS_SWEEP_AT_LEAST:
        return value >= c->limit;
    case VS_SWEEP_BELOW:
        return value < c->limit;
    case VS_SWEEP_ABOVE:
        return value > c->limit;
    case VS_SWEEP_EQUAL:
        break;
    }
    return value == c->limit;
}

/* Whether any technique has such a parameter. */
static bool is_parameter(const char *name)
{
    for (size_t i = 0; vs_techniques[i]; i++)
        for (const struct vs_parameter *q = vs_techniques[i]->parameters; q && q->name; q++)
            if (!strcmp(q->name, name))
                return true;
    return false;
}

static int take_constraint(struct parser *p, const char *value)
{
    static const struct {
        const char *sign;
        enum vs_sweep_relation relation;
    } signs[] = {{"<=", VS_SWEEP_AT_MOST},
                 {">=", VS_SWEEP_AT_LEAST},
                 {"<", VS_SWEEP_BELOW},
                 {">", VS_SWEEP_ABOVE},
                 {"=", VS_SWEEP_EQUAL}};
    struct vs_sweep_study *s = p->study;
    struct vs_sweep_constraint c = {.study = p->name, .line = line_of(p)};
    size_t n = strcspn(value, "<>= \t"), i = 0;
    const char *sign = value + n + strspn(value + n, " \t");
    char name[64];
    while (i < 5 && strncmp(sign, signs[i].sign, strlen(signs[i].sign)) != 0)
        i++;
    if (i == 5 || !n || n >= sizeof(name))
        return FAIL(p, "'%.60s' is no constraint, as storage<=16Ki, gates<=20k or gshare>=512",
                    value);
    snprintf(name, sizeof(name), "%.*s", (int)n, value);
    const char *limit = sign + strlen(signs[i].sign);
    limit += strspn(limit, " \t");
    c.relation = signs[i].relation;
    if (!vs_sweep_limit(limit, &c.limit))
        return FAIL(p, "'%.60s' is not a number; Ki is 1024, and k is 1000", limit);
    if (strcmp(name, "storage") != 0 && strcmp(name, "gates") != 0 && !is_parameter(name))
        return FAIL(p, "no technique has a parameter '%s'; storage and gates may be limited, too",
                    name);
    int e = keep(p, &c.text, value);
    e = e ? e : keep(p, &c.name, name);
    void *items = s->constraints;
    if (!e && vs_array_room(&items, &s->constraint_capacity, s->constraint_count, 1, sizeof(c)))
        e = no_memory(p);
    s->constraints = items;
    if (!e)
        s->constraints[s->constraint_count++] = c;
    return e;
}

static bool is_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
            return false;
    return *text;
}

/* Each is COLUMN, or NAME=COLUMN. A second line of a file adds to the first. */
static int take_columns(struct parser *p, const char *value)
{
    struct vs_words *columns = &p->study->columns;
    char name[64];
    if (p->study->columns_study != p->name)
        columns->count = 0;
    p->study->columns_study = p->name;
    p->study->columns_line = line_of(p);
    int e = add_words(p, columns, value);
    for (size_t i = 0; i < columns->count && !e; i++) {
        const char *equals = strchr(columns->items[i], '=');
        size_t n = equals ? (size_t)(equals - columns->items[i]) : 0;
        snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : 0, columns->items[i]);
        if (equals && !is_name(name))
            e = FAIL(p, "'%.60s' is no name: up to 63 letters, digits and _", columns->items[i]);
    }
    return e;
}

static int take_minimise(struct parser *p, const char *value)
{
    p->study->minimise_study = p->name;
    p->study->minimise_line = line_of(p);
    int e = keep_words(p, &p->study->minimise, value);
    return !e && p->study->minimise.count != 2 ? FAIL(p, "give two figures to minimise") : e;
}

static int take_group(struct parser *p, const char *value)
{
    return keep(p, &p->study->group, value);
}

static int take_window(struct parser *p, const char *value)
{
    int e = keep_number(p, &p->study->window, value);
    return !e && !p->study->window ? FAIL(p, "a window has at least 1 cycle or instruction") : e;
}

static int take_buffer(struct parser *p, const char *value)
{
    return keep(p, &p->study->buffer, value);
}

/* all, none, or sample and one point in how many. */
static int take_verify(struct parser *p, const char *value)
{
    struct vs_sweep_study *s = p->study;
    s->verify = VS_SWEEP_VERIFY_NONE;
    if (!strcmp(value, "none"))
        return 0;
    s->verify = VS_SWEEP_VERIFY_ALL;
    if (!strcmp(value, "all"))
        return 0;
    s->verify = VS_SWEEP_VERIFY_SAMPLE;
    if (!strcmp(value, "sample"))
        return 0;
    if (strncmp(value, "sample ", 7) != 0)
        return FAIL(p, "'%.60s' is not all, none, sample, or sample N for one point in N", value);
    int e = keep_number(p, &s->verify_every, value + 7 + strspn(value + 7, " "));
    return !e && !s->verify_every ? FAIL(p, "a sample is one point in 1 or more") : e;
}

static int take_search(struct parser *p, const char *value)
{
    static const char *const names[] = {"grid", "random", "guided"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(value, names[i])) {
            p->study->search = i;
            return 0;
        }
    return FAIL(p, "'%.60s' is not grid, random or guided", value);
}

static int take_budget(struct parser *p, const char *value)
{
    int e = keep_number(p, &p->study->budget, value);
    return !e && !p->study->budget ? FAIL(p, "a budget is at least 1 evaluation") : e;
}

static int take_seed(struct parser *p, const char *value)
{
    return keep_number(p, &p->study->seed, value);
}

static int take_batch(struct parser *p, const char *value)
{
    int e = keep_number(p, &p->study->batch, value);
    return !e && (!p->study->batch || p->study->batch > 1024)
               ? FAIL(p, "a batch has 1 to 1024 points")
               : e;
}

static int take_sums(struct parser *p, const char *value)
{
    p->study->sums = !strcmp(value, "yes");
    return p->study->sums || !strcmp(value, "no") ? 0 : FAIL(p, "'%.60s' is not yes or no", value);
}

static int take_order(struct parser *p, const char *value)
{
    p->study->by_run = !strcmp(value, "runs");
    return p->study->by_run || !strcmp(value, "points")
               ? 0
               : FAIL(p, "'%.60s' is not points or runs", value);
}

/* NAME=VALUES. What was said of the same name before no longer counts. */
static int take_only(struct parser *p, const char *value)
{
    struct vs_sweep_study *s = p->study;
    size_t n = strcspn(value, "= \t"), i = 0;
    const char *equals = value + n + strspn(value + n, " \t");
    const char *name = vs_arena_dup(&s->arena, value, n);
    if (!name)
        return no_memory(p);
    if (!n || *equals != '=' || !equals[1 + strspn(equals + 1, " \t")])
        return FAIL(p, "'%.60s' is not NAME=VALUES, as in threads=1|4", value);
    while (i < s->only_count && strcmp(s->only[i].name, name) != 0)
        i++;
    if (i == VS_SWEEP_VARIABLES)
        return FAIL(p, "more than %d variables", VS_SWEEP_VARIABLES);
    s->only_count += i == s->only_count;
    s->only[i] = (struct vs_sweep_only){.name = name, .study = p->name, .line = line_of(p)};
    return keep(p, &s->only[i].values, equals + 1 + strspn(equals + 1, " \t"));
}

static const struct setting {
    const char *name;
    int (*take)(struct parser *p, const char *value);
} settings[] = {
    {"columns", take_columns},       {"minimise", take_minimise}, {"group", take_group},
    {"window", take_window},         {"buffer", take_buffer},     {"verify", take_verify},
    {"search", take_search},         {"budget", take_budget},     {"seed", take_seed},
    {"constraint", take_constraint}, {"batch", take_batch},       {"sums", take_sums},
    {"order", take_order},           {"only", take_only},
};

static int take_setting(struct parser *p, const char *key, const char *value)
{
    char list[140] = "";
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (!strcmp(settings[i].name, key))
            return settings[i].take(p, value);
        vs_list_word(list, sizeof(list), settings[i].name);
    }
    return FAIL(p, "no key '%.40s' in [sweep]; there are: %s", key, list);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int add_source(struct parser *p, const struct vs_sweep_source *from)
{
    struct vs_sweep_study *s = p->study;
    struct vs_sweep_source *to;
    void *items = s->sources;
    if (vs_array_room(&items, &s->source_capacity, s->source_count, 1, sizeof(*to)))
        return no_memory(p);
    s->sources = items;
    to = &s->sources[s->source_count++];
    *to = *from;
    to->study = p->name;
    to->line = line_of(p);
    to->groups = (struct vs_words){0};
    for (size_t i = 0; i < from->groups.count; i++)
        if (vs_words_add(&to->groups, &s->arena, from->groups.items[i],
                         strlen(from->groups.items[i])))
            return no_memory(p);
    return 0;
}

static int take_run(struct parser *p, const char *key, const char *value)
{
    struct vs_sweep_source source = {.literal = !strcmp(key, "path")};
    if (strcmp(key, "file") != 0 && !source.literal)
        return FAIL(p, "no key '%.40s' in [runs]; there is: file", key);
    int e = keep(p, &source.file, value);
    if (!e)
        e = add_source(p, &source);
    if (!e && p->group &&
        vs_words_add(&p->study->sources[p->study->source_count - 1].groups, &p->study->arena,
                     p->group, strlen(p->group)))
        e = no_memory(p);
    return e;
}

/* Sets or adds a variable. */
static int take_variable(struct parser *p, struct vs_sweep_variable *list, size_t *count,
                         const char *key, const char *value)
{
    struct vs_sweep_variable *v = list;
    if (!is_name(key))
        return FAIL(p, "'%.40s' is no name: letters, digits and _", key);
    while (v < list + *count && strcmp(v->name, key) != 0)
        v++;
    if (v == list + VS_SWEEP_VARIABLES)
        return FAIL(p, "more than %d variables", VS_SWEEP_VARIABLES);
    int e = keep(p, &v->name, key);
    e = e ? e : keep(p, &v->value, value);
    v->line = p->line;
    if (!e && v == list + *count)
        ++*count;
    return e;
}

static int take_record(struct parser *p, const char *key, const char *value)
{
    struct vs_sweep_source *s = p->source ? &p->study->sources[p->source - 1] : &p->common;
    if (!strcmp(key, "command"))
        return keep(p, &s->command, value);
    if (!strcmp(key, "options"))
        return keep(p, &s->options, value);
    if (!strcmp(key, "as"))
        return keep(p, &s->as, value);
    if (!strcmp(key, "group"))
        return keep_words(p, &s->groups, value);
    return take_variable(p, s->variables, &s->variable_count, key, value);
}

/* ---- techniques ------------------------------------------------------------------------------ */

static bool is_group(const char *text)
{
    const char *name;
    for (unsigned i = 0; (name = vs_spec_group(i)); i++)
        if (!strcmp(name, text))
            return true;
    return false;
}

static int take_template(struct parser *p, const char *text)
{
    struct vs_sweep_study *s = p->study;
    struct vs_diag why = {0};
    void *items = s->templates;
    if (vs_array_room(&items, &s->template_capacity, s->template_count, 1, sizeof(*s->templates)))
        return no_memory(p);
    s->templates = items;
    struct vs_sweep_template *t = &s->templates[s->template_count++];
    *t = (struct vs_sweep_template){
        .study = p->name, .line = line_of(p), .group = is_group(text), .runs = p->group};
    int e = keep(p, &t->text, text);
    if (e || t->group)
        return e;
    e = vs_template_parse(&t->of, &s->arena, text, &why);
    return e ? vs_sweep_at(p->diag, e == -VSE_NOMEM ? e : -VSE_INVAL, p->name, line_of(p), "%s",
                           why.text)
             : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int begin_record(struct parser *p, const char *name)
{
    struct vs_sweep_source *common = &p->common;
    p->section = RECORD;
    p->source = 0;
    if (!*name)
        return 0;
    int e = keep(p, &common->name, name);
    e = e ? e : add_source(p, common);
    p->source = p->study->source_count;
    return e;
}

/* The section's head, without its brackets. */
static int begin_section(struct parser *p, char *head)
{
    static const char *const names[] = {"", "sweep", "runs", "record", "techniques", "variables"};
    char *rest = head + strcspn(head, " \t");
    char *name = rest + strspn(rest, " \t");
    *rest = 0;
    p->section = NO_SECTION;
    for (unsigned i = 1; i < 6; i++)
        if (!strcmp(head, names[i]))
            p->section = i;
    if (p->section == NO_SECTION)
        return FAIL(p, "no section [%.40s]; there are: sweep, runs, record, techniques, variables",
                    head);
    if (p->section == RECORD)
        return begin_record(p, name);
    if (*name && p->section != RUNS && p->section != TECHNIQUES)
        return FAIL(p, "[%s] takes no name", head);
    p->group = NULL;
    return *name ? keep(p, &p->group, name) : 0;
}

static int take_pair(struct parser *p, char *line)
{
    char *equals = strchr(line, '='), *end = equals;
    if (p->section == NO_SECTION)
        return FAIL(p, "'%.40s' stands before the first section", line);
    if (p->section == TECHNIQUES)
        return take_template(p, line);
    if (!equals)
        return FAIL(p, "'%.40s' is not 'key = value'", line);
    while (end > line && strchr(" \t", end[-1]))
        end--;
    *end = 0;
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    if (!*line || !*value)
        return FAIL(p, *line ? "%.40s has no value" : "there is no key%.0s", line);
    switch (p->section) {
    case SWEEP:
        return take_setting(p, line, value);
    case RUNS:
        return take_run(p, line, value);
    case RECORD:
        return take_record(p, line, value);
    default:
        return take_variable(p, p->study->variables, &p->study->variable_count, line, value);
    }
}

static int take_line(struct parser *p, char *line)
{
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1]))
        line[--n] = 0;
    line += strspn(line, " \t");
    n = strlen(line);
    for (const char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t')
            return FAIL(p, "there is a control character");
    if (!*line || *line == '#')
        return 0;
    if (*line != '[')
        return take_pair(p, line);
    if (line[n - 1] != ']')
        return FAIL(p, "the section's name has no ]");
    line[n - 1] = 0;
    return begin_section(p, line + 1);
}

int vs_sweep_study_parse(struct vs_sweep_study *s, const char *name, bool lines, const char *text,
                         size_t size, struct vs_diag *diag)
{
    struct parser p = {.study = s, .lines = lines, .diag = diag};
    const char *end = text + size;
    char *line = malloc(VS_SWEEP_LINE);
    int e = 0;
    p.name = vs_arena_dup(&s->arena, name, strlen(name));
    if (!line || !p.name)
        e = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    else if (size > VS_SWEEP_SIZE)
        e = vs_sweep_at(diag, -VSE_LIMIT, name, 0, "is too large for a study");
    while (!e && text < end) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((feed ? feed : end) - text);
        p.line++;
        if (n >= VS_SWEEP_LINE)
            e = vs_sweep_at(diag, -VSE_LIMIT, name, line_of(&p), "the line is too long");
        else if (memchr(text, 0, n))
            e = FAIL(&p, "there is a control character");
        if (e)
            break;
        memcpy(line, text, n);
        line[n] = 0;
        e = take_line(&p, line);
        text += n + 1;
    }
    free(line);
    vs_words_fini(&p.common.groups);
    return e;
}

void vs_sweep_study_init(struct vs_sweep_study *s)
{
    *s = (struct vs_sweep_study){.verify_every = 16, .batch = 256, .seed = 1, .sums = true};
}

int vs_sweep_study_check(const struct vs_sweep_study *s, const char *name, struct vs_diag *diag)
{
    for (size_t i = 0; i < s->source_count; i++)
        if (!s->sources[i].file && !s->sources[i].command)
            return vs_sweep_at(diag, -VSE_INVAL, s->sources[i].study, s->sources[i].line,
                               "[record %.60s] has no command", s->sources[i].name);
    if (!s->source_count)
        return vs_sweep_at(diag, -VSE_INVAL, name, 0,
                           "there is no run: name some in [runs] or "
                           "[record NAME]");
    if (!s->template_count)
        return vs_sweep_at(diag, -VSE_INVAL, name, 0,
                           "there is no technique: name some in "
                           "[techniques]");
    if (s->search != VS_SWEEP_GRID && !s->budget)
        return vs_sweep_at(diag, -VSE_INVAL, name, 0, "a search needs a budget of evaluations");
    for (size_t i = 0; i < s->template_count && s->search != VS_SWEEP_GRID; i++)
        if (s->templates[i].runs)
            return vs_sweep_at(diag, -VSE_INVAL, s->templates[i].study, s->templates[i].line,
                               "a search tries each technique on all runs, not on those of '%.60s'",
                               s->templates[i].runs);
    return 0;
}

void vs_sweep_study_fini(struct vs_sweep_study *s)
{
    for (size_t i = 0; i < s->template_count; i++)
        vs_template_fini(&s->templates[i].of);
    for (size_t i = 0; i < s->source_count; i++)
        vs_words_fini(&s->sources[i].groups);
    vs_words_fini(&s->columns);
    vs_words_fini(&s->minimise);
    free(s->constraints);
    free(s->sources);
    free(s->templates);
    vs_arena_fini(&s->arena);
    *s = (struct vs_sweep_study){0};
}
