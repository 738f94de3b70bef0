/* SPDX-License-Identifier: MIT */
#include "cli/info_print.h"

#include <stdio.h>

#include "front/core_facts.h"
#include "isa/isa.h"

static const char *const class_names[VS_BRANCH_CLASSES] = {
    [VS_CLASS_COND_TAKEN] = "conditional_direct_taken",
    [VS_CLASS_COND_NOT_TAKEN] = "conditional_direct_not_taken",
    [VS_CLASS_DIRECT] = "unconditional_direct",
    [VS_CLASS_INDIRECT] = "unconditional_indirect",
    [VS_CLASS_COND_INDIRECT] = "conditional_indirect",
};

static void json_missing(struct json *j, const struct vs_run_info *info)
{
    const struct vs_diag *d = &info->missing;
    if (info->sealed || !d->error) {
        json_null(j, "missing");
        return;
    }
    json_object(j, "missing");
    json_str(j, "error", vs_errname(d->error));
    if (d->chunk >= 0)
        json_u64(j, "chunk", (uint64_t)d->chunk);
    if (d->offset >= 0)
        json_u64(j, "offset", (uint64_t)d->offset);
    json_str(j, "text", d->text);
    json_end(j);
}

static void json_file(struct json *j, const struct info_report *r)
{
    const struct vs_run_info *info = r->info;
    json_str(j, "file", r->path);
    json_u64(j, "version", info->version);
    json_array(j, "features");
    for (const struct info_feature *f = info_features; f->bit; f++)
        if (info->features & f->bit)
            json_str(j, NULL, f->name);
    json_end(j);
    json_u64(j, "size", info->file_size);
    json_u64(j, "readable", info->readable);
    json_u64(j, "chunks", info->chunks);
    json_u64(j, "event_chunks", info->event_chunks);
    json_bool(j, "sealed", info->sealed);
    json_missing(j, info);
}

static void json_ratio(struct json *j, const char *key, uint64_t a, uint64_t b)
{
    if (b)
        json_double(j, key, info_ratio(a, b), 6);
    else
        json_null(j, key);
}

static void json_totals(struct json *j, const struct info_report *r)
{
    const struct vs_run_info *info = r->info;
    json_u64(j, "instructions", info->instructions);
    json_u64(j, "events", info->events);
    json_ratio(j, "bytes_per_event", info->file_size, info->events);
    json_ratio(j, "bits_per_instruction", 8 * info->file_size, info->instructions);
    if (info_timed(r)) {
        json_object(j, "cycles");
        json_u64(j, "first", info->cycle_first);
        json_u64(j, "last", info->cycle_last);
        json_u64(j, "count", info_cycles(r));
        json_end(j);
        json_ratio(j, "ipc", info->instructions, info_cycles(r));
    } else {
        json_null(j, "cycles");
        json_null(j, "ipc");
    }
    json_object(j, "blocks");
    json_u64(j, "count", info->blocks);
    json_u64(j, "code_bytes", r->code_bytes);
    json_end(j);
}

static void json_tables(struct json *j, const struct info_report *r)
{
    const char *key, *value;
    struct vs_image image;
    struct vs_thread_info t;

    json_object(j, "meta");
    for (uint32_t i = 0; vs_reader_meta_at(r->reader, i, &key, &value) == 0; i++)
        json_str(j, key, value);
    json_end(j);
    json_array(j, "images");
    for (uint64_t i = 0; vs_reader_image(r->reader, i, &image) == 0; i++) {
        json_object(j, NULL);
        json_str(j, "path", image.path);
        json_hex(j, "start", image.start);
        json_u64(j, "length", image.length);
        if (r->routines)
            json_u64(j, "instructions", r->routines->images[i]);
        else
            json_null(j, "instructions");
        json_end(j);
    }
    json_end(j);
    json_array(j, "threads");
    for (uint32_t i = 0; i < r->info->threads && vs_reader_thread(r->reader, i, &t) == 0; i++) {
        json_object(j, NULL);
        json_u64(j, "thread", i);
        json_u64(j, "instructions", t.instructions);
        json_u64(j, "events", t.events);
        json_end(j);
    }
    json_end(j);
}

/* Names have dashes; field names have underscores, so that jq takes them unquoted. */
static const char *field_name(char buf[32], const char *name)
{
    snprintf(buf, 32, "%s", name);
    for (char *c = buf; *c; c++)
        if (*c == '-')
            *c = '_';
    return buf;
}

static void json_operands(struct json *j, const struct vs_event_counts *s, bool stores)
{
    json_object(j, stores ? "stores" : "loads");
    json_u64(j, "count", s->kinds[stores ? VS_STORE : VS_LOAD]);
    json_u64(j, "bytes", s->operand_bytes[stores]);
    json_u64(j, "repeated", vs_event_counts_flagged(s, stores, VS_MEM_REPEAT));
    json_u64(j, "atomic", vs_event_counts_flagged(s, stores, VS_MEM_ATOMIC));
    json_object(j, "sizes");
    for (unsigned c = 0; c < VS_SIZE_CLASSES; c++)
        json_u64(j, vs_event_counts_size_name(c), vs_event_counts_operands(s, stores, c));
    json_end(j);
    json_end(j);
}

static void json_branches(struct json *j, const struct vs_event_counts *s)
{
    struct vs_count_named rows[32];
    char name[32];
    unsigned n = vs_event_counts_branch_kinds(s, rows);

    json_object(j, "branches");
    json_u64(j, "count", s->kinds[VS_BRANCH]);
    json_object(j, "classes");
    for (unsigned c = 0; c < VS_BRANCH_CLASSES; c++)
        json_u64(j, class_names[c], vs_event_counts_branch_class(s, c));
    json_end(j);
    json_object(j, "kinds");
    for (unsigned i = 0; i < n; i++)
        json_u64(j, field_name(name, rows[i].name), rows[i].count);
    json_end(j);
    json_end(j);
}

static void json_number(struct json *j, const struct vs_count_number *n, const char *name)
{
    json_object(j, NULL);
    json_u64(j, "number", n->number);
    if (name)
        json_str(j, "name", name);
    else
        json_null(j, "name");
    json_u64(j, "count", n->count);
    json_end(j);
}

static void json_syscalls(struct json *j, const struct info_report *r)
{
    const struct vs_event_counts *s = r->stats;
    struct vs_count_number top[INFO_TOP];
    unsigned n = vs_event_counts_top(&s->syscalls, top, INFO_TOP);

    json_object(j, "syscalls");
    json_u64(j, "count", s->kinds[VS_SYSCALL]);
    json_u64(j, "distinct", s->syscalls.counts.count);
    json_array(j, "top");
    for (unsigned i = 0; i < n; i++)
        json_number(j, &top[i], vs_isa_call_name(vs_isa_find(r->isa), top[i].number));
    json_end(j);
    json_end(j);
}

static void json_causes(struct json *j, const struct vs_event_counts *s)
{
    struct vs_count_number top[INFO_TOP];
    unsigned n = vs_event_counts_top(&s->causes, top, INFO_TOP);

    json_u64(j, "exceptions", s->kinds[VS_EXCEPTION]);
    json_array(j, "causes");
    for (unsigned i = 0; i < n; i++) {
        char name[32];
        json_number(j, &top[i], info_signal(name, top[i].number));
    }
    json_end(j);
}

static void json_routines(struct json *j, const struct info_report *r)
{
    json_array(j, "routines");
    for (size_t i = 0; i < r->routines->count && i < INFO_TOP; i++) {
        const struct vs_routine_count *row = &r->routines->rows[i];
        struct vs_image image;
        json_object(j, NULL);
        if (row->name)
            json_str(j, "name", row->name);
        else
            json_null(j, "name");
        if (row->image >= 0 && vs_reader_image(r->reader, (uint64_t)row->image, &image) == 0)
            json_str(j, "image", image.path);
        else
            json_null(j, "image");
        json_hex(j, "start", row->start);
        json_u64(j, "instructions", row->instructions);
        json_end(j);
    }
    json_end(j);
    json_u64(j, "outside_images", r->routines->elsewhere);
    json_u64(j, "unplaced", r->routines->unknown);
}

static void json_stats(struct json *j, const struct info_report *r)
{
    const struct vs_event_counts *s = r->stats;
    char name[32];

    json_object(j, "counts");
    json_object(j, "kinds");
    for (unsigned k = 1; k < VS_KIND_END; k++)
        json_u64(j, field_name(name, vs_kind_name(k)), s->kinds[k]);
    json_end(j);
    json_branches(j, s);
    json_operands(j, s, false);
    json_operands(j, s, true);
    json_u64(j, "iterations", r->profile->iterations);
    json_syscalls(j, r);
    json_object(j, "external");
    json_u64(j, "count", s->kinds[VS_EXTERNAL]);
    json_u64(j, "bytes", s->external_bytes);
    json_end(j);
    json_causes(j, s);
    json_object(j, "gaps");
    json_u64(j, "count", s->kinds[VS_GAP]);
    json_u64(j, "instructions", s->gap_instructions);
    json_end(j);
    json_routines(j, r);
    json_end(j);
}

static void json_cores(struct json *j, const struct info_report *r)
{
    struct vs_machine_core cores[VS_CORES_MAX];
    uint64_t cycles;
    struct core_facts facts = {cores, core_facts_of_run(r->reader, cores, &cycles)};
    static const struct report_column columns[] = {
        {.json = "cores", .rows = &core_fact_rows, .group = core_fact_columns},
        {0},
    };

    report_json_fields(j, columns, &facts);
}

void info_json(struct out *o, const struct info_report *r)
{
    struct json j;
    json_init(&j, o, 2);
    json_object(&j, NULL);
    json_file(&j, r);
    json_totals(&j, r);
    json_tables(&j, r);
    json_cores(&j, r);
    if (r->stats)
        json_stats(&j, r);
    else
        json_null(&j, "counts");
    json_end(&j);
}
