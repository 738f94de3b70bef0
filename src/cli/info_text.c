/* SPDX-License-Identifier: MIT */
#include "cli/info_print.h"

#include <stdio.h>
#include <string.h>

#include "front/core_facts.h"
#include "isa/isa.h"

enum { SHOWN_THREADS = 16 };

static const char *const class_names[VS_BRANCH_CLASSES] = {
    [VS_CLASS_COND_TAKEN] = "conditional direct, taken",
    [VS_CLASS_COND_NOT_TAKEN] = "conditional direct, not taken",
    [VS_CLASS_DIRECT] = "unconditional direct",
    [VS_CLASS_INDIRECT] = "unconditional indirect",
    [VS_CLASS_COND_INDIRECT] = "conditional indirect",
};

static void heading(struct out *o, const char *text)
{
    out_printf(o, "\n%s\n", text);
}

static void fact(struct out *o, const char *name, const char *value)
{
    out_printf(o, "  %-20s ", name);
    out_safe(o, value);
    out_char(o, '\n');
}

static void number_fact(struct out *o, const char *name, uint64_t value)
{
    char digits[32];
    fact(o, name, group_digits(digits, value));
}

static void count_row(struct out *o, const char *name, uint64_t count)
{
    char digits[32];
    out_printf(o, "  %-30s %18s\n", name, group_digits(digits, count));
}

static void share_row(struct out *o, const char *name, uint64_t count, uint64_t total)
{
    char digits[32];
    out_printf(o, "  %-30s %18s %7.2f %%\n", name, group_digits(digits, count),
               100 * info_ratio(count, total));
}

static void text_file(struct out *o, const struct info_report *r)
{
    const struct vs_run_info *info = r->info;
    char line[160], a[32], b[32];

    size_t n = (size_t)snprintf(line, sizeof(line), "version %u;", info->version);
    for (const struct info_feature *f = info_features; f->bit; f++)
        if (info->features & f->bit)
            n += (size_t)snprintf(line + n, sizeof(line) - n, " %s", f->name);
    if (!info->features)
        snprintf(line + n, sizeof(line) - n, " control flow only");
    fact(o, "format", line);
    snprintf(line, sizeof(line), "%s bytes in %s chunks", group_digits(a, info->file_size),
             group_digits(b, info->chunks));
    fact(o, "size", line);
    if (info->sealed || !info->missing.error)
        snprintf(line, sizeof(line), "%s", info->sealed ? "yes" : "not looked at");
    else
        snprintf(line, sizeof(line), "no; the first %s bytes are readable",
                 group_digits(a, info->readable));
    fact(o, "sealed", line);
    if (info->missing.error && !info->sealed)
        fact(o, "missing", info->missing.text);
}

static void text_totals(struct out *o, const struct info_report *r)
{
    const struct vs_run_info *info = r->info;
    char line[120], a[32], b[32];

    number_fact(o, "instructions", info->instructions);
    number_fact(o, "events", info->events);
    if (info->events) {
        snprintf(line, sizeof(line), "%.3f", info_ratio(info->file_size, info->events));
        fact(o, "bytes/event", line);
    }
    if (info->instructions) {
        snprintf(line, sizeof(line), "%.3f", 8 * info_ratio(info->file_size, info->instructions));
        fact(o, "bits/instruction", line);
    }
    if (info_timed(r)) {
        snprintf(line, sizeof(line), "%s, from %s", group_digits(a, info_cycles(r)),
                 group_digits(b, info->cycle_first));
        fact(o, "cycles", line);
        snprintf(line, sizeof(line), "%.3f", info_ratio(info->instructions, info_cycles(r)));
        fact(o, "instructions/cycle", line);
    }
    snprintf(line, sizeof(line), "%s, %s bytes of code", group_digits(a, info->blocks),
             group_digits(b, r->code_bytes));
    fact(o, "blocks", line);
}

static void text_meta(struct out *o, const struct info_report *r)
{
    const char *key, *value;
    if (r->info->metas)
        heading(o, "Recorded");
    for (uint32_t i = 0; vs_reader_meta_at(r->reader, i, &key, &value) == 0; i++) {
        if (core_fact_is(key))
            continue; /* has a table */
        out_str(o, "  ");
        out_safe(o, key);
        out_pad(o, strlen(key) < 20 ? 21 - strlen(key) : 1);
        out_safe(o, value);
        out_char(o, '\n');
    }
}

static void text_images(struct out *o, const struct info_report *r)
{
    struct vs_image image;
    if (r->info->images)
        heading(o, "Images");
    for (uint64_t i = 0; vs_reader_image(r->reader, i, &image) == 0; i++) {
        out_str(o, "  ");
        out_hex(o, image.start, 16);
        out_char(o, '-');
        out_hex(o, image.start + image.length, 16);
        out_str(o, "  ");
        out_safe(o, image.path);
        out_char(o, '\n');
    }
}

static void text_threads(struct out *o, const struct info_report *r)
{
    uint32_t threads = r->info->threads;
    uint32_t shown = r->all_threads || threads <= SHOWN_THREADS ? threads : SHOWN_THREADS;
    struct vs_thread_info t;
    char a[32], b[32];

    heading(o, "Threads");
    out_printf(o, "  %-10s %18s %18s\n", "", "instructions", "events");
    for (uint32_t i = 0; i < shown && vs_reader_thread(r->reader, i, &t) == 0; i++)
        out_printf(o, "  t%-9u %18s %18s\n", i, group_digits(a, t.instructions),
                   group_digits(b, t.events));
    if (shown < threads)
        out_printf(o, "  ... and %s more (--all)\n", DIGITS(threads - shown));
}

static void text_branches(struct out *o, const struct vs_event_counts *s)
{
    struct vs_count_named rows[32];
    uint64_t total = s->kinds[VS_BRANCH];

    heading(o, "Branches by class");
    for (unsigned c = 0; c < VS_BRANCH_CLASSES; c++)
        if (c != VS_CLASS_COND_INDIRECT || vs_event_counts_branch_class(s, c))
            share_row(o, class_names[c], vs_event_counts_branch_class(s, c), total);
    heading(o, "Branches by kind");
    unsigned n = vs_event_counts_branch_kinds(s, rows);
    for (unsigned i = 0; i < n; i++)
        share_row(o, rows[i].name, rows[i].count, total);
}

static void text_operands(struct out *o, const struct vs_event_counts *s, bool stores)
{
    uint64_t total = s->kinds[stores ? VS_STORE : VS_LOAD];
    heading(o, stores ? "Stores by operand size" : "Loads by operand size");
    for (unsigned c = 0; c < VS_SIZE_CLASSES; c++)
        share_row(o, vs_event_counts_size_name(c), vs_event_counts_operands(s, stores, c), total);
    share_row(o, "of all: repeated iterations", vs_event_counts_flagged(s, stores, VS_MEM_REPEAT),
              total);
    share_row(o, "of all: atomic", vs_event_counts_flagged(s, stores, VS_MEM_ATOMIC), total);
    count_row(o, "bytes", s->operand_bytes[stores]);
}

static void more_numbers(struct out *o, const struct vs_count_tally *t, unsigned shown)
{
    if (shown < t->counts.count)
        out_printf(o, "  ... and %s%s more numbers\n", t->untold ? "over " : "",
                   DIGITS(t->counts.count - shown));
}

static void text_number(struct out *o, const struct vs_count_number *n, const char *name,
                        uint64_t total)
{
    char row[64];
    int used = snprintf(row, sizeof(row), "%llu", (unsigned long long)n->number);
    if (name)
        snprintf(row + used, sizeof(row) - (size_t)used, " %s", name);
    share_row(o, row, n->count, total);
}

static void text_syscalls(struct out *o, const struct info_report *r)
{
    const struct vs_event_counts *s = r->stats;
    struct vs_count_number top[INFO_TOP];
    unsigned n = vs_event_counts_top(&s->syscalls, top, INFO_TOP);
    if (n)
        heading(o, "System calls");
    for (unsigned i = 0; i < n; i++)
        text_number(o, &top[i], vs_isa_call_name(vs_isa_find(r->isa), top[i].number),
                    s->kinds[VS_SYSCALL]);
    more_numbers(o, &s->syscalls, n);
}

static void text_causes(struct out *o, const struct vs_event_counts *s)
{
    struct vs_count_number top[INFO_TOP];
    unsigned n = vs_event_counts_top(&s->causes, top, INFO_TOP);
    if (s->kinds[VS_EXCEPTION])
        heading(o, "Signals and exceptions");
    for (unsigned i = 0; i < n; i++) {
        char name[32];
        text_number(o, &top[i], info_signal(name, top[i].number), s->kinds[VS_EXCEPTION]);
    }
    if (s->causeless)
        share_row(o, "without a cause", s->causeless, s->kinds[VS_EXCEPTION]);
    more_numbers(o, &s->causes, n);
}

/* Names differ in length by far, so these rows have them last. */
static void place_row(struct out *o, uint64_t count, uint64_t total)
{
    char digits[32];
    out_printf(o, "  %18s %7.2f %%  ", group_digits(digits, count), 100 * info_ratio(count, total));
}

static void text_by_image(struct out *o, const struct info_report *r)
{
    const struct vs_routines *c = r->routines;
    uint64_t total = r->info->instructions;
    struct vs_image image;

    heading(o, "Instructions by image");
    for (uint64_t i = 0; vs_reader_image(r->reader, i, &image) == 0; i++) {
        if (!c->images[i])
            continue;
        place_row(o, c->images[i], total);
        out_safe(o, image.path);
        out_char(o, '\n');
    }
    if (c->elsewhere) {
        place_row(o, c->elsewhere, total);
        out_str(o, "(outside all images)\n");
    }
    if (c->unknown) {
        place_row(o, c->unknown, total);
        out_str(o, "(where is not known)\n");
    }
}

/* "main  (program)"; without a name "program+0x1234", the address that the file has for it. */
static void text_routine(struct out *o, const struct info_report *r,
                         const struct vs_routine_count *row)
{
    struct vs_image image;
    bool placed = row->image >= 0 && vs_reader_image(r->reader, (uint64_t)row->image, &image) == 0;

    if (!placed) {
        out_hex(o, row->start, 0);
    } else if (!row->name) {
        out_safe(o, info_file_name(image.path));
        out_char(o, '+');
        out_hex(o, row->start - image.base, 0);
    } else {
        out_safe(o, row->name);
        out_str(o, "  (");
        out_safe(o, info_file_name(image.path));
        out_char(o, ')');
    }
    out_char(o, '\n');
}

static void text_routines(struct out *o, const struct info_report *r)
{
    const struct vs_routines *c = r->routines;

    if (!r->info->instructions)
        return;
    text_by_image(o, r);
    heading(o, "Hottest routines");
    for (size_t i = 0; i < c->count && i < INFO_TOP; i++) {
        place_row(o, c->rows[i].instructions, r->info->instructions);
        text_routine(o, r, &c->rows[i]);
    }
    if (c->count > INFO_TOP)
        out_printf(o, "  ... and %s more\n", DIGITS(c->count - INFO_TOP));
}

static void text_repeats(struct out *o, const struct info_report *r)
{
    if (!r->profile->iterations)
        return;
    heading(o, "Repeated (string) instructions");
    count_row(o, "further iterations", r->profile->iterations);
    count_row(o, "instructions with them", info_iterated(r));
}

static void text_stats(struct out *o, const struct info_report *r)
{
    const struct vs_event_counts *s = r->stats;
    const struct vs_run_info *info = r->info;

    heading(o, "Events by kind");
    for (unsigned k = 1; k < VS_KIND_END; k++)
        share_row(o, vs_kind_name(k), s->kinds[k], info->events);
    text_branches(o, s);
    if (info->features & VS_RUN_LOADS || s->kinds[VS_LOAD])
        text_operands(o, s, false);
    if (info->features & VS_RUN_STORES || s->kinds[VS_STORE])
        text_operands(o, s, true);
    text_repeats(o, r);
    text_syscalls(o, r);
    text_causes(o, s);
    heading(o, "From outside");
    count_row(o, "external writes", s->kinds[VS_EXTERNAL]);
    count_row(o, "external bytes", s->external_bytes);
    count_row(o, "exceptions", s->kinds[VS_EXCEPTION]);
    count_row(o, "gaps", s->kinds[VS_GAP]);
    count_row(o, "instructions in gaps", s->gap_instructions);
    text_routines(o, r);
}

/* What the simulated platform counted. */
static void text_cores(struct out *o, const struct info_report *r)
{
    struct vs_machine_core cores[VS_CORES_MAX];
    uint64_t cycles;
    unsigned count = core_facts_of_run(r->reader, cores, &cycles);

    if (!count)
        return;
    heading(o, "Cores (of the whole simulation)");
    core_facts_text(o, &(struct core_facts){cores, count}, cycles);
}

void info_text(struct out *o, const struct info_report *r)
{
    out_safe(o, r->path);
    out_char(o, '\n');
    text_totals(o, r);
    text_file(o, r);
    text_meta(o, r);
    text_images(o, r);
    text_threads(o, r);
    text_cores(o, r);
    if (r->stats)
        text_stats(o, r);
}
