/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/info_print.h"
#include "front/core_facts.h"
#include "isa/isa.h"

static const struct info_report *report_of(const void *row)
{
    return row;
}

static const struct vs_event_counts *counts_of(const void *row)
{
    return report_of(row)->stats;
}

double info_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

bool info_timed(const struct info_report *r)
{
    return (r->info.features & VS_RUN_TIMED) && r->info.events;
}

uint64_t info_cycles(const struct info_report *r)
{
    return r->info.cycle_last - r->info.cycle_first + 1;
}

bool info_sourced(const struct info_report *r, uint64_t image)
{
    return r->where && vs_where_sourced(r->where, image) > 0;
}

int info_source(const struct info_report *r, const struct vs_routine_count *routine,
                struct vs_source *source)
{
    enum { CHAIN = 16 };
    struct vs_source chain[CHAIN];
    uint64_t image = (uint64_t)routine->image;
    int n;
    if (!r->source || !r->where || routine->image < 0)
        return 0;
    n = vs_routine_names_source(&r->where->names, image,
                                routine->start - r->where->images[image].base, chain, CHAIN);
    if (n <= 0)
        return n;
    *source = chain[n - 1];
    return source->file != NULL;
}

/* ---- counts by name -------------------------------------------------------------------------- */

static struct info_count count_of(const char *name, uint64_t count, uint64_t total)
{
    struct info_count c = {.count = count, .total = total};
    snprintf(c.name, sizeof(c.name), "%s", name);
    snprintf(c.field, sizeof(c.field), "%s", name);
    for (char *p = c.field; *p; p++)
        if (*p == '-')
            *p = '_';
    return c;
}

bool info_kind_at(const void *row, size_t i, void *element)
{
    unsigned kind = (unsigned)i + 1;
    if (kind >= VS_KIND_END)
        return false;
    *(struct info_count *)element =
        count_of(vs_kind_name(kind), counts_of(row)->kinds[kind], report_of(row)->info.events);
    return true;
}

bool info_class_at(const void *row, size_t i, void *element)
{
    static const char *const names[VS_BRANCH_CLASSES][2] = {
        [VS_CLASS_COND_TAKEN] = {"conditional direct, taken", "conditional_direct_taken"},
        [VS_CLASS_COND_NOT_TAKEN] = {"conditional direct, not taken",
                                     "conditional_direct_not_taken"},
        [VS_CLASS_DIRECT] = {"unconditional direct", "unconditional_direct"},
        [VS_CLASS_INDIRECT] = {"unconditional indirect", "unconditional_indirect"},
        [VS_CLASS_COND_INDIRECT] = {"conditional indirect", "conditional_indirect"},
    };
    struct info_count *c = element;
    if (i >= VS_BRANCH_CLASSES)
        return false;
    *c =
        count_of(names[i][0], vs_event_counts_branch_class(counts_of(row), (enum vs_branch_class)i),
                 counts_of(row)->kinds[VS_BRANCH]);
    snprintf(c->field, sizeof(c->field), "%s", names[i][1]);
    return true;
}

bool info_branch_at(const void *row, size_t i, void *element)
{
    struct vs_count_named rows[32];
    if (i >= vs_event_counts_branch_kinds(counts_of(row), rows))
        return false;
    *(struct info_count *)element =
        count_of(rows[i].name, rows[i].count, counts_of(row)->kinds[VS_BRANCH]);
    return true;
}

static bool size_at(const struct vs_event_counts *s, size_t i, struct info_count *c, bool stores)
{
    unsigned size = (unsigned)i;
    if (i >= VS_SIZE_CLASSES)
        return false;
    *c = count_of(vs_event_counts_size_name(size), vs_event_counts_operands(s, stores, size),
                  s->kinds[stores ? VS_STORE : VS_LOAD]);
    return true;
}

bool info_load_size_at(const void *row, size_t i, void *element)
{
    return size_at(counts_of(row), i, element, false);
}

bool info_store_size_at(const void *row, size_t i, void *element)
{
    return size_at(counts_of(row), i, element, true);
}

static const char *field_name(const void *element)
{
    return ((const struct info_count *)element)->field;
}

static struct cell count_name(const void *row)
{
    return cell_word(((const struct info_count *)row)->name);
}

static struct cell count_share(const void *row)
{
    const struct info_count *c = row;
    return cell_real(info_ratio(c->count, c->total));
}

const struct report_column info_count_columns[] = {
    {.json = "", .text = "count", REPORT_AT(info_count, count), .width = 18},
    {.text = "name", .get = count_name, .width = -30},
    {.text = "share", .get = count_share, .width = 7, .places = 2, .percent = true},
    {0},
};

#define COUNTS(list, function)                                                                     \
    static const struct report_rows list = {                                                       \
        .size = sizeof(struct info_count), .at = function, .name = field_name}

COUNTS(kind_rows, info_kind_at);
COUNTS(class_rows, info_class_at);
COUNTS(branch_rows, info_branch_at);
COUNTS(load_size_rows, info_load_size_at);
COUNTS(store_size_rows, info_store_size_at);

/* ---- counts by number ------------------------------------------------------------------------ */

static bool number_at(const struct vs_count_tally *t, size_t i, struct info_count *c,
                      uint64_t total)
{
    struct vs_count_number top[INFO_TOP];
    if (i >= vs_event_counts_top(t, top, INFO_TOP))
        return false;
    *c = (struct info_count){.number = top[i].number, .count = top[i].count, .total = total};
    return true;
}

/* In text, a count is called by its number, and by its name if it has one. */
static void name_number(struct info_count *c)
{
    snprintf(c->name, sizeof(c->name), "%llu%s%s", (unsigned long long)c->number,
             *c->field ? " " : "", c->field);
}

bool info_syscall_at(const void *row, size_t i, void *element)
{
    struct info_count *c = element;
    if (!number_at(&counts_of(row)->syscalls, i, c, counts_of(row)->kinds[VS_SYSCALL]))
        return false;
    const char *name = vs_isa_call_name(vs_isa_find(report_of(row)->isa), c->number);
    snprintf(c->field, sizeof(c->field), "%s", name ? name : "");
    name_number(c);
    return true;
}

bool info_cause_at(const void *row, size_t i, void *element)
{
    struct info_count *c = element;
    if (!number_at(&counts_of(row)->causes, i, c, counts_of(row)->kinds[VS_EXCEPTION]))
        return false;
    const char *name = vs_signal_name(c->number);
    snprintf(c->field, sizeof(c->field), "%s%s", name ? "SIG" : "", name ? name : "");
    name_number(c);
    return true;
}

static struct cell number_name(const void *row)
{
    const struct info_count *c = row;
    return cell_word(*c->field ? c->field : NULL);
}

static const struct report_column number_columns[] = {
    REPORT_COUNT(info_count, number),
    {.json = "name", .get = number_name},
    REPORT_COUNT(info_count, count),
    {0},
};

static const struct report_rows syscall_rows = {.size = sizeof(struct info_count),
                                                .at = info_syscall_at};
static const struct report_rows cause_rows = {.size = sizeof(struct info_count),
                                              .at = info_cause_at};

/* ---- the file -------------------------------------------------------------------------------- */

bool info_feature_at(const void *row, size_t i, void *element)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } features[] = {{VS_RUN_TIMED, "timed"},   {VS_RUN_LOADS, "loads"},
                    {VS_RUN_STORES, "stores"}, {VS_RUN_INPUTS, "inputs"},
                    {VS_RUN_PARTS, "parts"},   {VS_RUN_DIGESTS, "digests"}};
    for (size_t k = 0; k < sizeof(features) / sizeof(features[0]); k++)
        if (report_of(row)->info.features & features[k].bit && !i--) {
            *(const char **)element = features[k].name;
            return true;
        }
    return false;
}

static const struct report_rows feature_rows = {.size = sizeof(const char *),
                                                .at = info_feature_at};
static const struct report_column feature_columns[] = {{.json = "", .kind = CELL_WORD}, {0}};

static bool is_missing(const void *row)
{
    return !report_of(row)->info.sealed && report_of(row)->info.missing.error;
}

static bool has_chunk(const void *row)
{
    return report_of(row)->info.missing.chunk >= 0;
}

static bool has_offset(const void *row)
{
    return report_of(row)->info.missing.offset >= 0;
}

static struct cell missing_error(const void *row)
{
    return cell_word(vs_errname(report_of(row)->info.missing.error));
}

static struct cell missing_text(const void *row)
{
    return cell_text(report_of(row)->info.missing.text);
}

static const struct report_column missing_columns[] = {
    {.json = "error", .get = missing_error},
    {.json = "chunk", REPORT_AT(info_report, info.missing.chunk), .when = has_chunk},
    {.json = "offset", REPORT_AT(info_report, info.missing.offset), .when = has_offset},
    {.json = "text", .get = missing_text},
    {0},
};

/* ---- totals ---------------------------------------------------------------------------------- */

static struct cell bytes_per_event(const void *row)
{
    return cell_ratio(report_of(row)->info.file_size, report_of(row)->info.events);
}

static struct cell bits_per_instruction(const void *row)
{
    return cell_ratio(8 * report_of(row)->info.file_size, report_of(row)->info.instructions);
}

static bool is_timed(const void *row)
{
    return info_timed(row);
}

static struct cell cycles(const void *row)
{
    return cell_count(info_cycles(row));
}

static struct cell per_cycle(const void *row)
{
    return cell_ratio(report_of(row)->info.instructions, info_cycles(row));
}

static const struct report_column cycle_columns[] = {
    {.json = "first", REPORT_AT(info_report, info.cycle_first)},
    {.json = "last", REPORT_AT(info_report, info.cycle_last)},
    {.json = "count", .get = cycles},
    {0},
};

static const struct report_column block_columns[] = {
    {.json = "count", REPORT_AT(info_report, info.blocks)},
    REPORT_COUNT(info_report, code_bytes),
    {0},
};

/* ---- facts, images, threads, cores ----------------------------------------------------------- */

struct fact_row {
    const char *key, *value;
};

static bool fact_at(const void *row, size_t i, void *element)
{
    struct fact_row *f = element;
    return vs_reader_meta_at(report_of(row)->reader, (uint32_t)i, &f->key, &f->value) == 0;
}

static const char *fact_key(const void *element)
{
    return ((const struct fact_row *)element)->key;
}

static const struct report_rows fact_rows = {
    .size = sizeof(struct fact_row), .at = fact_at, .name = fact_key};

static const struct report_column fact_columns[] = {
    {.json = "", .kind = CELL_TEXT, REPORT_IN(fact_row, value)},
    {0},
};

struct image_row {
    struct vs_image image;
    const uint64_t *instructions; /* NULL if they were not counted */
    bool debug_info;
};

static bool image_at(const void *row, size_t i, void *element)
{
    const struct info_report *r = row;
    struct image_row *m = element;
    if (vs_reader_image(r->reader, i, &m->image) != 0)
        return false;
    m->instructions = r->routines ? &r->routines->images[i] : NULL;
    m->debug_info = info_sourced(r, i);
    return true;
}

static struct cell image_instructions(const void *row)
{
    return cell_count(*((const struct image_row *)row)->instructions);
}

static bool image_counted(const void *row)
{
    return ((const struct image_row *)row)->instructions;
}

static const struct report_rows image_rows = {.size = sizeof(struct image_row), .at = image_at};

static const struct report_column image_columns[] = {
    {.json = "path", .kind = CELL_TEXT, REPORT_IN(image_row, image.path)},
    {.json = "start", .kind = CELL_HEX, REPORT_IN(image_row, image.start)},
    {.json = "length", REPORT_AT(image_row, image.length)},
    {.json = "debug_info", .kind = CELL_BOOL, REPORT_IN(image_row, debug_info)},
    {.json = "instructions", .get = image_instructions, .known = image_counted},
    {0},
};

bool info_thread_at(const void *row, size_t i, void *element)
{
    struct info_thread *t = element;
    t->thread = i;
    return i < report_of(row)->info.threads &&
           vs_reader_thread(report_of(row)->reader, (unsigned)i, &t->counts) == 0;
}

static const struct report_rows thread_rows = {.size = sizeof(struct info_thread),
                                               .at = info_thread_at};

const struct report_column info_thread_columns[] = {
    {.json = "thread", REPORT_AT(info_thread, thread), .width = -9, .plain = true},
    {.json = "instructions", REPORT_AT(info_thread, counts.instructions), .width = 18},
    {.json = "events", REPORT_AT(info_thread, counts.events), .width = 18},
    {0},
};

/* ---- events ---------------------------------------------------------------------------------- */

/* Counts the events of a kind. */
static struct cell kind_count(const void *row, const void *by)
{
    return cell_count(counts_of(row)->kinds[*(const enum vs_kind *)by]);
}

#define KIND(kind)                                                                                 \
    .get_by = kind_count, .by = &(const enum vs_kind)                                              \
    {                                                                                              \
        kind                                                                                       \
    }

static struct cell load_bytes(const void *row)
{
    return cell_count(counts_of(row)->operand_bytes[false]);
}

static struct cell store_bytes(const void *row)
{
    return cell_count(counts_of(row)->operand_bytes[true]);
}

static struct cell flagged_loads(const void *row, const void *by)
{
    return cell_count(vs_event_counts_flagged(counts_of(row), false, *(const unsigned *)by));
}

static struct cell flagged_stores(const void *row, const void *by)
{
    return cell_count(vs_event_counts_flagged(counts_of(row), true, *(const unsigned *)by));
}

static const unsigned repeated = VS_MEM_REPEAT, atomic = VS_MEM_ATOMIC;

static const struct report_column load_columns[] = {
    {.json = "count", KIND(VS_LOAD)},
    {.json = "bytes", .get = load_bytes},
    {.json = "repeated", .get_by = flagged_loads, .by = &repeated},
    {.json = "atomic", .get_by = flagged_loads, .by = &atomic},
    {.json = "sizes", .rows = &load_size_rows, .group = info_count_columns},
    {0},
};

static const struct report_column store_columns[] = {
    {.json = "count", KIND(VS_STORE)},
    {.json = "bytes", .get = store_bytes},
    {.json = "repeated", .get_by = flagged_stores, .by = &repeated},
    {.json = "atomic", .get_by = flagged_stores, .by = &atomic},
    {.json = "sizes", .rows = &store_size_rows, .group = info_count_columns},
    {0},
};

static const struct report_column branch_columns[] = {
    {.json = "count", KIND(VS_BRANCH)},
    {.json = "classes", .rows = &class_rows, .group = info_count_columns},
    {.json = "kinds", .rows = &branch_rows, .group = info_count_columns},
    {0},
};

static struct cell iterations(const void *row)
{
    return cell_count(report_of(row)->profile->iterations);
}

static struct cell distinct_calls(const void *row)
{
    return cell_count(counts_of(row)->syscalls.counts.count);
}

static const struct report_column syscall_columns[] = {
    {.json = "count", KIND(VS_SYSCALL)},
    {.json = "distinct", .get = distinct_calls},
    {.json = "top", .rows = &syscall_rows, .group = number_columns},
    {0},
};

static struct cell external_bytes(const void *row)
{
    return cell_count(counts_of(row)->external_bytes);
}

static const struct report_column external_columns[] = {
    {.json = "count", KIND(VS_EXTERNAL)},
    {.json = "bytes", .get = external_bytes},
    {0},
};

static struct cell gap_instructions(const void *row)
{
    return cell_count(counts_of(row)->gap_instructions);
}

static const struct report_column gap_columns[] = {
    {.json = "count", KIND(VS_GAP)},
    {.json = "instructions", .get = gap_instructions},
    {0},
};

struct routine_row {
    const struct vs_routine_count *routine;
    const char *image; /* NULL if it is in none */
    bool asked;        /* for the source */
    struct vs_source source;
};

static bool routine_at(const void *row, size_t i, void *element)
{
    const struct info_report *r = row;
    struct routine_row *t = element;
    struct vs_image image;
    if (i >= r->routines->count || i >= INFO_TOP)
        return false;
    t->routine = &r->routines->rows[i];
    bool placed = t->routine->image >= 0 &&
                  vs_reader_image(r->reader, (uint64_t)t->routine->image, &image) == 0;
    t->image = placed ? image.path : NULL;
    t->asked = r->source;
    t->source = (struct vs_source){0};
    info_source(r, t->routine, &t->source);
    return true;
}

static const struct vs_routine_count *routine_of(const void *row)
{
    return ((const struct routine_row *)row)->routine;
}

static struct cell routine_name(const void *row)
{
    return cell_text(routine_of(row)->name);
}

static struct cell routine_start(const void *row)
{
    return (struct cell){.kind = CELL_HEX, .count = routine_of(row)->start};
}

static struct cell routine_instructions(const void *row)
{
    return cell_count(routine_of(row)->instructions);
}

static bool source_asked(const void *row)
{
    return ((const struct routine_row *)row)->asked;
}

static bool line_known(const void *row)
{
    return ((const struct routine_row *)row)->source.line;
}

static const struct report_rows routine_rows = {.size = sizeof(struct routine_row),
                                                .at = routine_at};

static const struct report_column routine_columns[] = {
    {.json = "name", .get = routine_name},
    REPORT_TEXT(routine_row, image),
    {.json = "start", .get = routine_start},
    {.json = "file", .kind = CELL_TEXT, REPORT_IN(routine_row, source.file), .when = source_asked},
    {.json = "folder",
     .kind = CELL_TEXT,
     REPORT_IN(routine_row, source.folder),
     .when = source_asked},
    {.json = "line",
     REPORT_AT(routine_row, source.line),
     .when = source_asked,
     .known = line_known},
    {.json = "instructions", .get = routine_instructions},
    {0},
};

struct path_row {
    const struct info_path *path;
    uint64_t instructions;
};

static bool path_at(const void *row, size_t i, void *element)
{
    const struct info_report *r = row;
    if (i >= r->path_count || i >= INFO_TOP)
        return false;
    *(struct path_row *)element =
        (struct path_row){&r->hottest[i], r->callers->paths[r->paths[i]].instructions};
    return true;
}

/* A routine on a path. */
struct run_row {
    struct vs_caller_routine routine;
    uint64_t times;
};

static bool run_at(const void *row, size_t i, void *element)
{
    const struct info_path *p = ((const struct path_row *)row)->path;
    if (i >= p->count)
        return false;
    *(struct run_row *)element = (struct run_row){*p->runs[i].routine, p->runs[i].times};
    return true;
}

static const struct report_rows path_rows = {.size = sizeof(struct path_row), .at = path_at};
static const struct report_rows run_rows = {.size = sizeof(struct run_row), .at = run_at};

static const struct report_column run_columns[] = {
    {.json = "name", .kind = CELL_TEXT, REPORT_IN(run_row, routine.name)},
    {.json = "image", .kind = CELL_TEXT, REPORT_IN(run_row, routine.image)},
    {.json = "times", REPORT_AT(run_row, times)},
    {0},
};

static const struct report_column path_columns[] = {
    {.json = "instructions", REPORT_AT(path_row, instructions)},
    {.json = "routines", .rows = &run_rows, .group = run_columns},
    {0},
};

static bool has_callers(const void *row)
{
    return report_of(row)->callers;
}

static struct cell outside_images(const void *row)
{
    return cell_count(report_of(row)->routines->elsewhere);
}

static struct cell unplaced(const void *row)
{
    return cell_count(report_of(row)->routines->unknown);
}

static const struct report_column counts_columns[] = {
    {.json = "kinds", .rows = &kind_rows, .group = info_count_columns},
    {.json = "branches", .group = branch_columns},
    {.json = "loads", .group = load_columns},
    {.json = "stores", .group = store_columns},
    {.json = "iterations", .get = iterations},
    {.json = "syscalls", .group = syscall_columns},
    {.json = "external", .group = external_columns},
    {.json = "exceptions", KIND(VS_EXCEPTION)},
    {.json = "causes", .rows = &cause_rows, .group = number_columns},
    {.json = "gaps", .group = gap_columns},
    {.json = "routines", .rows = &routine_rows, .group = routine_columns},
    {.json = "paths", .rows = &path_rows, .group = path_columns, .when = has_callers},
    {.json = "outside_images", .get = outside_images},
    {.json = "unplaced", .get = unplaced},
    {0},
};

/* ---- all ------------------------------------------------------------------------------------- */

static bool was_counted(const void *row)
{
    return counts_of(row);
}

const struct report_column info_columns[] = {
    {.json = "file", .kind = CELL_TEXT, REPORT_IN(info_report, path)},
    {.json = "version", REPORT_AT(info_report, info.version), .plain = true},
    {.json = "features", .rows = &feature_rows, .group = feature_columns},
    {.json = "size", REPORT_AT(info_report, info.file_size)},
    {.json = "readable", REPORT_AT(info_report, info.readable)},
    {.json = "chunks", REPORT_AT(info_report, info.chunks)},
    {.json = "event_chunks", REPORT_AT(info_report, info.event_chunks)},
    {.json = "sealed", .kind = CELL_BOOL, REPORT_IN(info_report, info.sealed)},
    {.json = "missing", .group = missing_columns, .known = is_missing},
    {.json = "instructions", REPORT_AT(info_report, info.instructions)},
    {.json = "events", REPORT_AT(info_report, info.events)},
    {.json = "bytes_per_event", .get = bytes_per_event, .places = 3},
    {.json = "bits_per_instruction", .get = bits_per_instruction, .places = 3},
    {.json = "cycles", .group = cycle_columns, .known = is_timed},
    {.json = "ipc", .get = per_cycle, .known = is_timed, .places = 3},
    {.json = "blocks", .group = block_columns},
    {.json = "meta", .rows = &fact_rows, .group = fact_columns},
    {.json = "images", .rows = &image_rows, .group = image_columns},
    {.json = "threads", .rows = &thread_rows, .group = info_thread_columns},
    {.json = "cores",
     .rows = &core_fact_rows,
     .group = core_fact_columns,
     REPORT_IN(info_report, cores)},
    {.json = "counts", .group = counts_columns, .known = was_counted},
    {0},
};
