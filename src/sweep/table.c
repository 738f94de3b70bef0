/* SPDX-License-Identifier: MIT */
#include "sweep/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "sweep/measures.h"
#include "sweep/rebuild.h"

enum kind {
    KIND,
    RUN,
    NAME,
    LABEL,
    TECHNIQUE,
    CONFIG,
    SPEC,
    STATUS,
    REASON,
    REBUILD,
    MEASURE,
    QUOTIENT
};

static const struct {
    const char *name;
    enum kind kind;
} texts[] = {{"kind", KIND},           {"run", RUN},       {"name", NAME},
             {"technique", TECHNIQUE}, {"config", CONFIG}, {"spec", SPEC},
             {"status", STATUS},       {"reason", REASON}, {"rebuild", REBUILD}};

/* In millionths. */
static const struct {
    const char *name, *part, *whole;
} quotients[] = {{"bpi_millionths", "bits", "instructions"},
                 {"bpc_millionths", "bits", "cycles"},
                 {"mpi_millionths", "messages", "instructions"}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const usual[] = {
    "kind",   "run",  "technique",      "config",   "status",       "cores", "instructions",
    "cycles", "bits", "bpi_millionths", "messages", "storage_bits", "gates"};
static const char *const with_windows[] = {"windows", "peak_bits"};
static const char *const with_buffer[] = {"buffer_largest", "dropped_bits", "dropped_messages",
                                          "stalled"};
static const char *const last[] = {"reason", "rebuild"};

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The number of a measure, which is added if it is not there. */
static int need(struct vs_sweep_table *t, const char *name)
{
    for (size_t i = 0; i < t->measure_count; i++)
        if (!strcmp(t->measures[i], name))
            return (int)i;
    t->measures[t->measure_count] = name;
    return (int)t->measure_count++;
}

/* Fills in a column but for its name. Returns false if there is nothing of that name. */
static bool find_column(struct vs_sweep_table *t, const struct vs_sweep_study *study,
                        const char *name, struct vs_sweep_column *c)
{
    *c = (struct vs_sweep_column){.of = name, .text = true, .index = -1};
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!strcmp(texts[i].name, name)) {
            c->kind = texts[i].kind;
            return true;
        }
    for (size_t i = 0; i < study->source_count; i++)
        for (size_t k = 0; k < study->sources[i].variable_count; k++)
            if (!strcmp(study->sources[i].variables[k].name, name)) {
                c->kind = LABEL;
                return true;
            }
    c->text = false;
    for (size_t i = 0; i < COUNT(quotients); i++)
        if (!strcmp(quotients[i].name, name)) {
            c->kind = QUOTIENT;
            c->index = need(t, quotients[i].part);
            c->over = need(t, quotients[i].whole);
            return true;
        }
    if (!vs_measure_exists(name))
        return false;
    c->kind = MEASURE;
    c->index = need(t, name);
    return true;
}

static int add_column(struct vs_sweep_table *t, const struct vs_sweep_study *study,
                      const char *name, const char *where, unsigned line, struct vs_diag *diag)
{
    const char *equals = strchr(name, '='), *of = equals ? equals + 1 : name;
    const char *copy = vs_arena_dup(&t->arena, of, strlen(of));
    const char *shown =
        vs_arena_dup(&t->arena, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!copy || !shown)
        return no_memory(diag);
    if (!find_column(t, study, copy, &t->columns[t->count]))
        return vs_sweep_at(diag, -VSE_INVAL, where, line,
                           "nothing is called '%.60s'; docs/sweeps.md lists the columns", of);
    t->columns[t->count++].name = shown;
    return 0;
}

/* The column of that name, which is added if it is not there. */
static int objective(struct vs_sweep_table *t, const struct vs_sweep_study *study, size_t which,
                     const char *name, struct vs_diag *diag)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->columns[i].of, name) != 0)
        i++;
    t->objectives[which] = (int)i;
    int e = i == t->count
                ? add_column(t, study, name, study->minimise_study, study->minimise_line, diag)
                : 0;
    if (!e && t->columns[i].text)
        e = vs_sweep_at(diag, -VSE_INVAL, study->minimise_study, study->minimise_line,
                        "'%.60s' is no number", name);
    return e;
}

static int add_list(struct vs_sweep_table *t, const struct vs_sweep_study *study,
                    const char *const *names, size_t count, struct vs_diag *diag)
{
    int e = 0;
    for (size_t i = 0; i < count && !e; i++)
        e = add_column(t, study, names[i], study->columns_study, study->columns_line, diag);
    return e;
}

/* Whether two columns, NAME or NAME=COLUMN, have one name. */
static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && !strncasecmp(a, b, n);
}

/* The study's columns, each of which may be NAME=COLUMN. Those of a database, of which the first is
 * `point`, are told apart by their letters alone, large or small. */
static int add_chosen(struct vs_sweep_table *t, const struct vs_sweep_study *study,
                      struct vs_diag *diag)
{
    const struct vs_words *names = &study->columns;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i];
        bool twice = same_name(name, "point");
        for (size_t k = 0; k < i; k++)
            twice |= same_name(name, names->items[k]);
        if (twice)
            return vs_sweep_at(diag, -VSE_INVAL, study->columns_study, study->columns_line,
                               "there are two columns '%.*s'", (int)strcspn(name, "="), name);
    }
    return add_list(t, study, names->items, names->count, diag);
}

static int add_usual(struct vs_sweep_table *t, const struct vs_sweep_study *study,
                     struct vs_diag *diag)
{
    int e = add_list(t, study, usual, COUNT(usual), diag);
    if (!e && study->window)
        e = add_list(t, study, with_windows, COUNT(with_windows), diag);
    if (!e && study->buffer)
        e = add_list(t, study, with_buffer, COUNT(with_buffer), diag);
    if (!e && study->verify != VS_SWEEP_VERIFY_NONE)
        e = add_list(t, study, (const char *const[]){"compared"}, 1, diag);
    return e ? e : add_list(t, study, last, COUNT(last), diag);
}

int vs_sweep_table_init(struct vs_sweep_table *t, const struct vs_sweep_study *study, size_t *shown,
                        struct vs_diag *diag)
{
    size_t most = study->columns.count + COUNT(usual) + COUNT(with_windows) + COUNT(with_buffer) +
                  COUNT(last) + 3;
    *t = (struct vs_sweep_table){.columns = calloc(most, sizeof(*t->columns)),
                                 .measures = calloc(2 * most, sizeof(*t->measures))};
    if (!t->columns || !t->measures)
        return no_memory(diag);
    int e = study->columns.count ? add_chosen(t, study, diag) : add_usual(t, study, diag);
    *shown = t->count;
    for (size_t i = 0; i < 2 && !e; i++)
        e = objective(t, study, i,
                      study->minimise.count ? study->minimise.items[i]
                      : i                   ? "gates"
                                            : "bpi_millionths",
                      diag);
    if (!e && t->objectives[0] == t->objectives[1])
        e = vs_sweep_at(diag, -VSE_INVAL, study->minimise_study, study->minimise_line,
                        "both are '%.60s'", t->columns[t->objectives[0]].name);
    return e;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static size_t find_group(const struct vs_sweep_table *t, const char *name)
{
    size_t i = 0;
    while (i < t->groups.count && strcmp(t->groups.items[i], name) != 0)
        i++;
    return i;
}

int vs_sweep_table_bind(struct vs_sweep_table *t, const struct vs_sweep *sweep,
                        struct vs_diag *diag)
{
    const struct vs_sweep_runs *runs = &sweep->runs;
    const char *wanted = sweep->study->group;
    int e = vs_words_add(&t->groups, &t->arena, "all", 3);
    t->sweep = sweep;
    for (size_t i = 0; i < runs->count; i++)
        for (size_t k = 0; k < runs->items[i].groups.count && !e; k++) {
            const char *name = runs->items[i].groups.items[k];
            if (find_group(t, name) == t->groups.count)
                e = vs_words_add(&t->groups, &t->arena, name, strlen(name));
        }
    t->members = e ? NULL : calloc(t->groups.count, sizeof(*t->members));
    for (size_t g = 0; t->members && g < t->groups.count && !e; g++) {
        t->members[g] = calloc(runs->count + 1, sizeof(**t->members));
        e = t->members[g] ? 0 : -VSE_NOMEM;
        for (size_t i = 0; i < runs->count && !e; i++)
            t->members[g][i] = !g || vs_sweep_run_in(&runs->items[i], t->groups.items[g]);
    }
    if (e || !t->members)
        return no_memory(diag);
    t->frontier_group = wanted ? find_group(t, wanted) : 0;
    return t->frontier_group < t->groups.count
               ? 0
               : vs_diag_set(diag, -VSE_INVAL, -1, -1, "group: no run is in '%.60s'", wanted);
}

void vs_sweep_table_fini(struct vs_sweep_table *t)
{
    for (size_t i = 0; t->members && i < t->groups.count; i++)
        free(t->members[i]);
    free(t->members);
    free(t->columns);
    free(t->measures);
    vs_words_fini(&t->groups);
    vs_arena_fini(&t->arena);
    *t = (struct vs_sweep_table){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint8_t state_of(const struct vs_sweep_table *t, size_t point, size_t run)
{
    return t->sweep->state[vs_sweep_unit_of(t->sweep, point, run)];
}

static bool has_row(uint8_t state)
{
    return state == VS_UNIT_DONE || state == VS_UNIT_FAILED;
}

/* Whether all runs of the group were measured, or failed. */
static bool is_complete(const struct vs_sweep_table *t, size_t point, size_t group)
{
    for (size_t i = 0; i < t->sweep->runs.count; i++)
        if (t->members[group][i] && !has_row(state_of(t, point, i)))
            return false;
    return true;
}

static bool row_is_there(const struct vs_sweep_table *t, const struct vs_sweep_row *row)
{
    if (row->kind == VS_ROW_RUN)
        return has_row(state_of(t, row->point, row->of));
    return t->sweep->study->sums && t->sweep->runs.count > 1 && is_complete(t, row->point, row->of);
}

/* Moves on to the next row that there might be, all points of a run after each other. */
static bool step_by_run(const struct vs_sweep_table *t, struct vs_sweep_row *row)
{
    if (row->kind == VS_ROW_RUN) {
        if (++row->point == t->sweep->points.count)
            *row = (struct vs_sweep_row){0, VS_ROW_RUN, row->of + 1};
        if (row->of == t->sweep->runs.count)
            *row = (struct vs_sweep_row){0, VS_ROW_SUM, 0};
    } else if (row->kind == VS_ROW_SUM) {
        row->kind = VS_ROW_MEAN;
    } else if (++row->of < t->groups.count) {
        row->kind = VS_ROW_SUM;
    } else {
        *row = (struct vs_sweep_row){row->point + 1, VS_ROW_SUM, 0};
    }
    return row->point < t->sweep->points.count;
}

/* Likewise, all rows of a point after each other. */
static bool step_by_point(const struct vs_sweep_table *t, struct vs_sweep_row *row)
{
    if (row->kind == VS_ROW_RUN) {
        if (++row->of == t->sweep->runs.count)
            *row = (struct vs_sweep_row){row->point, VS_ROW_SUM, 0};
    } else if (row->kind == VS_ROW_SUM) {
        row->kind = VS_ROW_MEAN;
    } else if (row->kind == VS_ROW_MEAN) {
        row->kind = VS_ROW_SUM;
        if (++row->of == t->groups.count)
            *row = (struct vs_sweep_row){row->point + 1, VS_ROW_RUN, 0};
    }
    return row->point < t->sweep->points.count;
}

bool vs_sweep_table_next(const struct vs_sweep_table *t, struct vs_sweep_row *row, bool by_run,
                         bool first)
{
    bool (*step)(const struct vs_sweep_table *, struct vs_sweep_row *) =
        by_run ? step_by_run : step_by_point;
    bool more = first ? t->sweep->points.count && t->sweep->runs.count : step(t, row);
    while (more && !row_is_there(t, row))
        more = step(t, row);
    return more;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t quotient(uint64_t part, uint64_t whole)
{
    __extension__ typedef unsigned __int128 wide;
    if (part == VS_MEASURE_UNKNOWN || whole == VS_MEASURE_UNKNOWN || !whole)
        return VS_MEASURE_UNKNOWN;
    wide v = ((wide)part * 1000000 + whole / 2) / whole;
    return v < VS_MEASURE_UNKNOWN ? (uint64_t)v : VS_MEASURE_UNKNOWN;
}

/* A measure, or a quotient of two, of one run. */
static uint64_t of_run(const struct vs_sweep_table *t, const struct vs_sweep_column *c,
                       size_t point, size_t run)
{
    size_t unit = vs_sweep_unit_of(t->sweep, point, run);
    if (t->sweep->state[unit] != VS_UNIT_DONE)
        return VS_MEASURE_UNKNOWN;
    uint64_t v = vs_sweep_value(t->sweep, unit, (size_t)c->index);
    return c->kind == QUOTIENT ? quotient(v, vs_sweep_value(t->sweep, unit, (size_t)c->over)) : v;
}

static uint64_t sum_of(const struct vs_sweep_table *t, size_t measure, size_t point, size_t group)
{
    bool largest = vs_measure_sum(t->measures[measure]) == VS_MEASURE_LARGEST;
    uint64_t sum = 0;
    for (size_t i = 0; i < t->sweep->runs.count; i++) {
        size_t unit = vs_sweep_unit_of(t->sweep, point, i);
        if (!t->members[group][i])
            continue;
        if (t->sweep->state[unit] != VS_UNIT_DONE)
            return VS_MEASURE_UNKNOWN;
        uint64_t v = vs_sweep_value(t->sweep, unit, measure);
        if (v == VS_MEASURE_UNKNOWN)
            return v;
        sum = !largest ? sum + v : v > sum ? v : sum;
    }
    return sum;
}

/* The mean of the runs' numbers, each of which counts as much; of a size, the largest. */
static uint64_t mean_of(const struct vs_sweep_table *t, const struct vs_sweep_column *c,
                        size_t point, size_t group)
{
    uint64_t sum = 0, count = 0;
    if (c->kind == MEASURE && vs_measure_sum(t->measures[c->index]) == VS_MEASURE_LARGEST)
        return sum_of(t, (size_t)c->index, point, group);
    for (size_t i = 0; i < t->sweep->runs.count; i++) {
        if (!t->members[group][i])
            continue;
        uint64_t v = of_run(t, c, point, i);
        if (v == VS_MEASURE_UNKNOWN)
            return v;
        sum += v;
        count++;
    }
    return count ? (sum + count / 2) / count : VS_MEASURE_UNKNOWN;
}

static uint64_t number_of(const struct vs_sweep_table *t, const struct vs_sweep_row *row,
                          const struct vs_sweep_column *c)
{
    if (row->kind == VS_ROW_RUN)
        return of_run(t, c, row->point, row->of);
    if (row->kind == VS_ROW_MEAN)
        return mean_of(t, c, row->point, row->of);
    uint64_t sum = sum_of(t, (size_t)c->index, row->point, row->of);
    return c->kind == QUOTIENT ? quotient(sum, sum_of(t, (size_t)c->over, row->point, row->of))
                               : sum;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The label of a run's variable; NULL if it has none of that name. */
static const char *label_of(const struct vs_sweep_run *run, const char *name)
{
    for (size_t i = 0; i < run->source->variable_count; i++)
        if (!strcmp(run->source->variables[i].name, name))
            return run->labels[i];
    return NULL;
}

/* What all runs of a row have in common; NULL: nothing. */
static const char *common(const struct vs_sweep_table *t, const struct vs_sweep_row *row,
                          const char *name, bool label)
{
    const char *found = NULL;
    for (size_t i = 0; i < t->sweep->runs.count; i++) {
        const struct vs_sweep_run *run = &t->sweep->runs.items[i];
        if (row->kind == VS_ROW_RUN ? i != row->of : !t->members[row->of][i])
            continue;
        const char *value = label ? label_of(run, name) : run->source->name;
        if (!value || (found && strcmp(found, value) != 0))
            return NULL;
        found = value;
    }
    return found;
}

/* Runs of a sum that failed. */
static size_t failures(const struct vs_sweep_table *t, const struct vs_sweep_row *row,
                       size_t *count)
{
    size_t failed = 0;
    *count = 0;
    for (size_t i = 0; i < t->sweep->runs.count; i++)
        if (t->members[row->of][i]) {
            ++*count;
            failed += state_of(t, row->point, i) == VS_UNIT_FAILED;
        }
    return failed;
}

static const char *reason_of(const struct vs_sweep_table *t, const struct vs_sweep_row *row,
                             char text[VS_CELL_TEXT])
{
    size_t count;
    if (row->kind == VS_ROW_RUN)
        return t->sweep->wrong[vs_sweep_unit_of(t->sweep, row->point, row->of)];
    size_t failed = failures(t, row, &count);
    if (!failed)
        return NULL;
    snprintf(text, VS_CELL_TEXT, "%zu of %zu runs failed", failed, count);
    return text;
}

static const char *status_of(const struct vs_sweep_table *t, const struct vs_sweep_row *row)
{
    size_t count;
    bool failed = row->kind == VS_ROW_RUN ? state_of(t, row->point, row->of) == VS_UNIT_FAILED
                                          : failures(t, row, &count) != 0;
    return failed ? "failed" : "done";
}

static const char *text_of(const struct vs_sweep_table *t, const struct vs_sweep_row *row,
                           const struct vs_sweep_column *c, char text[VS_CELL_TEXT])
{
    static const char *const kinds[] = {"run", "sum", "mean"};
    const struct vs_sweep_point *point = &t->sweep->points.items[row->point];
    switch ((enum kind)c->kind) {
    case KIND:
        return kinds[row->kind];
    case RUN:
        return row->kind == VS_ROW_RUN ? t->sweep->runs.items[row->of].name
                                       : t->groups.items[row->of];
    case NAME:
        return common(t, row, NULL, false);
    case LABEL:
        return common(t, row, c->of, true);
    case TECHNIQUE:
        return point->technique;
    case CONFIG:
        return point->config;
    case SPEC:
        return point->spec;
    case STATUS:
        return status_of(t, row);
    case REASON:
        return reason_of(t, row, text);
    default:
        vs_rebuild_line(t->sweep, point, row->kind == VS_ROW_RUN ? (int64_t)row->of : -1,
                        row->kind == VS_ROW_RUN ? NULL : t->members[row->of], text, VS_CELL_TEXT);
        return text;
    }
}

struct vs_sweep_cell vs_sweep_table_cell(const struct vs_sweep_table *t,
                                         const struct vs_sweep_row *row, size_t column,
                                         char text[VS_CELL_TEXT])
{
    const struct vs_sweep_column *c = &t->columns[column];
    struct vs_sweep_cell cell = {0};
    if (c->text) {
        cell.text = text_of(t, row, c, text);
        cell.known = cell.text;
    } else {
        cell.number = number_of(t, row, c);
        cell.known = cell.number != VS_MEASURE_UNKNOWN;
    }
    return cell;
}

/* ---- the frontier ---------------------------------------------------------------------------- */

bool vs_sweep_table_is_complete(const struct vs_sweep_table *t, size_t point,
                                struct vs_sweep_row *row)
{
    *row = (struct vs_sweep_row){point, VS_ROW_SUM, t->frontier_group};
    return is_complete(t, point, t->frontier_group);
}

bool vs_sweep_table_objectives(const struct vs_sweep_table *t, size_t point,
                               struct vs_sweep_row *row, uint64_t *x, uint64_t *y)
{
    if (!vs_sweep_table_is_complete(t, point, row))
        return false;
    *x = number_of(t, row, &t->columns[t->objectives[0]]);
    *y = number_of(t, row, &t->columns[t->objectives[1]]);
    return *x != VS_MEASURE_UNKNOWN && *y != VS_MEASURE_UNKNOWN;
}

struct candidate {
    uint64_t x, y;
    size_t point;
};

static int by_numbers(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return p->point < q->point ? -1 : p->point > q->point;
}

int64_t vs_sweep_frontier(const struct vs_sweep_table *t, size_t **points)
{
    size_t count = 0, kept = 0;
    struct candidate *list = calloc(t->sweep->points.count + 1, sizeof(*list));
    struct vs_sweep_row row;
    *points = calloc(t->sweep->points.count + 1, sizeof(**points));
    if (!list || !*points) {
        free(list);
        return -VSE_NOMEM;
    }
    for (size_t i = 0; i < t->sweep->points.count; i++) {
        list[count].point = i;
        count += vs_sweep_table_objectives(t, i, &row, &list[count].x, &list[count].y);
    }
    qsort(list, count, sizeof(*list), by_numbers);
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (list[i].y < lowest) {
            lowest = list[i].y;
            (*points)[kept++] = list[i].point;
        }
    free(list);
    return (int64_t)kept;
}
