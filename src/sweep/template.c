/* SPDX-License-Identifier: MIT */
#include "sweep/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "technique/technique.h"

/* ---- lists ----------------------------------------------------------------------------------- */

int vs_words_add(struct vs_words *w, struct vs_arena *arena, const char *text, size_t size)
{
    void *items = w->items;
    int e = vs_array_room(&items, &w->capacity, w->count, 1, sizeof(*w->items));
    w->items = items;
    const char *copy = e ? NULL : vs_arena_dup(arena, text, size);
    if (!copy)
        return -VSE_NOMEM;
    w->items[w->count++] = copy;
    return 0;
}

void vs_words_fini(struct vs_words *w)
{
    free(w->items);
    *w = (struct vs_words){0};
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

/* How much of a text a message shows. */
static int shown(size_t size)
{
    return size < 60 ? (int)size : 60;
}

static const char *find(const char *text, const char *end, const char *what)
{
    return memmem(text, (size_t)(end - text), what, strlen(what));
}

static int add_value(struct vs_words *out, struct vs_arena *arena, const char *text, size_t size,
                     struct vs_diag *diag)
{
    if (out->count >= VS_AXIS_MAX)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "more than %d values", VS_AXIS_MAX);
    return vs_words_add(out, arena, text, size) ? no_memory(diag) : 0;
}

/* LO..HI, LO..HI*FACTOR or LO..HI+STEP; `dots` is where the dots are. */
static int expand_range(struct vs_words *out, struct vs_arena *arena, const char *text,
                        const char *dots, const char *end, struct vs_diag *diag)
{
    const char *high = dots + 2, *sign = high;
    char number[24];
    uint64_t lo, hi, by = 1;
    while (sign < end && *sign != '*' && *sign != '+')
        sign++;
    const char *wrong = vs_number(text, dots, &lo);
    wrong = wrong ? wrong : vs_number(high, sign, &hi);
    if (!wrong && sign < end)
        wrong = vs_number(sign + 1, end, &by);
    bool factor = !wrong && sign < end && *sign == '*';
    if (wrong || !by || (factor && (by < 2 || !lo)))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "'%.*s' is no range: LO..HI, LO..HI+STEP, or LO..HI*FACTOR with a LO "
                           "above 0 and a FACTOR above 1",
                           shown((size_t)(end - text)), text);
    if (lo > hi)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "the range '%.*s' is empty",
                           shown((size_t)(end - text)), text);
    for (uint64_t v = lo;;) {
        int n = snprintf(number, sizeof(number), "%llu", (unsigned long long)v);
        int e = add_value(out, arena, number, (size_t)n, diag);
        uint64_t next;
        if (e)
            return e;
        bool past =
            factor ? __builtin_mul_overflow(v, by, &next) : __builtin_add_overflow(v, by, &next);
        if (past || next > hi)
            return 0;
        v = next;
    }
}

static int expand_alternative(struct vs_words *out, struct vs_arena *arena, const char *text,
                              const char *end, const char *const *words, struct vs_diag *diag)
{
    const char *dots = find(text, end, "..");
    int e = 0;
    if (end == text)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "a value is empty");
    if (dots)
        return expand_range(out, arena, text, dots, end, diag);
    if (end - text > 1 || *text != '*')
        return add_value(out, arena, text, (size_t)(end - text), diag);
    if (!words)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "'*' stands for words of a parameter or, by itself, for all "
                           "configurations: give a range, LO..HI or LO..HI*FACTOR");
    for (; *words && !e; words++)
        e = add_value(out, arena, *words, strlen(*words), diag);
    return e;
}

int vs_range_expand(struct vs_words *out, struct vs_arena *arena, const char *text, size_t size,
                    const char *const *words, struct vs_diag *diag)
{
    const char *end = text + size;
    for (;;) {
        const char *bar = memchr(text, '|', (size_t)(end - text));
        int e = expand_alternative(out, arena, text, bar ? bar : end, words, diag);
        if (e || !bar)
            return e;
        text = bar + 1;
    }
}

/* ---- templates ------------------------------------------------------------------------------- */

static const struct vs_parameter *find_parameter(const struct vs_technique *t, const char *name,
                                                 size_t size)
{
    for (const struct vs_parameter *p = t->parameters; p && p->name; p++)
        if (strlen(p->name) == size && !memcmp(p->name, name, size))
            return p;
    return NULL;
}

/* name=VALUES: the settings are "name=value". */
static int expand_parameter(struct vs_words *axis, struct vs_arena *arena,
                            const struct vs_technique *t, const char *text, const char *equals,
                            const char *end, struct vs_diag *diag)
{
    size_t length = (size_t)(equals - text);
    const struct vs_parameter *p = find_parameter(t, text, length);
    struct vs_words values = {0};
    char setting[160];
    int e = vs_range_expand(&values, arena, equals + 1, (size_t)(end - equals - 1),
                            p ? p->words : NULL, diag);
    for (size_t i = 0; i < values.count && !e; i++) {
        int n = snprintf(setting, sizeof(setting), "%.*s=%s", shown(length), text, values.items[i]);
        e = n >= (int)sizeof(setting) ? vs_diag_set(diag, -VSE_INVAL, -1, -1,
                                                    "'%.60s...' is too "
                                                    "long",
                                                    setting)
                                      : add_value(axis, arena, setting, (size_t)n, diag);
    }
    vs_words_fini(&values);
    return e;
}

/* Every configuration that the technique has. */
static int expand_configs(struct vs_words *axis, struct vs_arena *arena,
                          const struct vs_technique *t, struct vs_diag *diag)
{
    int e = 0;
    for (const struct vs_technique_config *c = t->configs; c && c->name && !e; c++)
        e = add_value(axis, arena, c->name, strlen(c->name), diag);
    return e || axis->count
               ? e
               : vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s has no configurations", t->name);
}

/* Whether the technique takes the setting by itself. */
static int check_setting(const struct vs_technique *t, const char *setting, struct vs_diag *diag)
{
    struct vs_technique_spec spec;
    int e = vs_technique_defaults(&spec, t);
    return e ? vs_diag_set(diag, e, -1, -1, "bad table of %s", t->name)
             : vs_technique_items(&spec, setting, diag);
}

static int add_axis(struct vs_template *t, struct vs_arena *arena, const struct vs_technique *of,
                    const char *text, const char *end, struct vs_diag *diag)
{
    if (t->axis_count == VS_TEMPLATE_AXES)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "more than %d axes", VS_TEMPLATE_AXES);
    struct vs_words *axis = &t->axes[t->axis_count++];
    const char *equals = memchr(text, '=', (size_t)(end - text));
    int e;
    if (end - text >= 2 && *text == '(' && end[-1] == ')')
        e = vs_range_expand(axis, arena, text + 1, (size_t)(end - text - 2), NULL, diag);
    else if (equals)
        e = expand_parameter(axis, arena, of, text, equals, end, diag);
    else if (end - text == 1 && *text == '*')
        e = expand_configs(axis, arena, of, diag);
    else
        e = vs_range_expand(axis, arena, text, (size_t)(end - text), NULL, diag);
    for (size_t i = 0; i < axis->count && !e; i++)
        e = check_setting(of, axis->items[i], diag);
    if (!e && t->points > VS_POINTS_MAX / axis->count)
        e = vs_diag_set(diag, -VSE_LIMIT, -1, -1, "more than %llu points",
                        (unsigned long long)VS_POINTS_MAX);
    if (!e)
        t->points *= axis->count;
    return e;
}

/* Finds the comma that ends an axis, which is not within parentheses. */
static const char *axis_end(const char *text)
{
    bool within = false;
    for (; *text && (within || *text != ','); text++)
        within = *text == '(' || (within && *text != ')');
    return text;
}

int vs_template_parse(struct vs_template *t, struct vs_arena *arena, const char *text,
                      struct vs_diag *diag)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    struct vs_technique_spec spec;
    *t = (struct vs_template){.points = 1};
    if (!(t->technique = vs_arena_dup(arena, text, length)))
        return no_memory(diag);
    int e = vs_technique_parse(&spec, t->technique, diag);
    if (e || !colon)
        return e;
    for (text = colon + 1; !e; text++) {
        const char *end = axis_end(text);
        e = add_axis(t, arena, spec.technique, text, end, diag);
        text = end;
        if (!*end)
            break;
    }
    return e;
}

void vs_template_fini(struct vs_template *t)
{
    for (size_t i = 0; i < t->axis_count; i++)
        vs_words_fini(&t->axes[i]);
    t->axis_count = 0;
}

int vs_template_config(const struct vs_template *t, uint64_t point, char *out, size_t capacity)
{
    const char *settings[VS_TEMPLATE_AXES];
    size_t used = 0;
    if (!t->axis_count)
        return snprintf(out, capacity, "default") < (int)capacity ? 0 : -VSE_LIMIT;
    for (size_t i = t->axis_count; i--; point /= t->axes[i].count)
        settings[i] = t->axes[i].items[point % t->axes[i].count];
    for (size_t i = 0; i < t->axis_count; i++) {
        int n = snprintf(out + used, capacity - used, "%s%s", i ? "," : "", settings[i]);
        if (n < 0 || (size_t)n >= capacity - used)
            return -VSE_LIMIT;
        used += (size_t)n;
    }
    return 0;
}
