/* SPDX-License-Identifier: MIT */
#include "cli/info_print.h"
#include "cli/where_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_THREADS = 16 };

static void heading(struct out *o, const char *text)
{
    out_printf(o, "\n%s\n", text);
}

static void say(struct out *o, const struct info_report *r, const char *text)
{
    report_say(o, info_columns, r, text);
}

static void count_row(struct out *o, const char *name, uint64_t count)
{
    struct info_count c = {.count = count};
    snprintf(c.name, sizeof(c.name), "%s", name);
    report_say(o, info_count_columns, &c, "  {>name} {>count}\n");
}

static void share_row(struct out *o, const struct info_count *c)
{
    report_say(o, info_count_columns, c, "  {>name} {>count} {>share} %\n");
}

/* Returns how many rows there are. */
static size_t share_rows(struct out *o, const struct info_report *r,
                         bool (*at)(const void *report, size_t i, void *element))
{
    struct info_count c;
    size_t i = 0;
    for (; at(r, i, &c); i++)
        share_row(o, &c);
    return i;
}

static void share(struct out *o, const char *name, uint64_t count, uint64_t total)
{
    struct info_count c = {.count = count, .total = total};
    snprintf(c.name, sizeof(c.name), "%s", name);
    share_row(o, &c);
}

static void text_file(struct out *o, const struct info_report *r)
{
    const char *feature;
    say(o, r, "  format               version {version};");
    for (size_t i = 0; info_feature_at(r, i, &feature); i++)
        out_printf(o, " %s", feature);
    out_str(o, r->info.features ? "\n" : " control flow only\n");
    say(o, r, "  size                 {size} bytes in {chunks} chunks\n");
    if (r->info.sealed || !r->info.missing.error)
        out_printf(o, "  sealed               %s\n", r->info.sealed ? "yes" : "not looked at");
    else
        say(o, r,
            "  sealed               no; the first {readable} bytes are readable\n"
            "  missing              {missing.text}\n");
}

static void text_totals(struct out *o, const struct info_report *r)
{
    say(o, r,
        "  instructions         {instructions}\n"
        "  events               {events}\n");
    if (r->info.events)
        say(o, r, "  bytes/event          {bytes_per_event}\n");
    if (r->info.instructions)
        say(o, r, "  bits/instruction     {bits_per_instruction}\n");
    if (info_timed(r))
        say(o, r,
            "  cycles               {cycles.count}, from {cycles.first}\n"
            "  instructions/cycle   {ipc}\n");
    say(o, r, "  blocks               {blocks.count}, {blocks.code_bytes} bytes of code\n");
}

static void text_meta(struct out *o, const struct info_report *r)
{
    const char *key, *value;
    if (r->info.metas)
        heading(o, "Recorded");
    for (uint32_t i = 0; vs_reader_meta_at(r->reader, i, &key, &value) == 0; i++) {
        if (core_fact_is(key))
            continue; /* it has a table of its own */
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
    if (r->info.images)
        heading(o, "Images");
    for (uint64_t i = 0; vs_reader_image(r->reader, i, &image) == 0; i++) {
        out_str(o, "  ");
        out_hex(o, image.start, 16);
        out_char(o, '-');
        out_hex(o, image.start + image.length, 16);
        out_str(o, "  ");
        out_safe(o, image.path);
        out_str(o, info_sourced(r, i) ? "\n" : "  (no debug information)\n");
    }
}

static void text_threads(struct out *o, const struct info_report *r)
{
    uint32_t threads = r->info.threads;
    uint32_t shown = r->all_threads || threads <= SHOWN_THREADS ? threads : SHOWN_THREADS;
    struct info_thread t;

    heading(o, "Threads");
    out_printf(o, "  %-10s %18s %18s\n", "", "instructions", "events");
    for (size_t i = 0; i < shown && info_thread_at(r, i, &t); i++)
        report_say(o, info_thread_columns, &t, "  t{>thread} {>instructions} {>events}\n");
    if (shown < threads)
        out_printf(o, "  ... and %s more (--all)\n", DIGITS(threads - shown));
}

static void text_branches(struct out *o, const struct info_report *r)
{
    struct info_count c;

    heading(o, "Branches by class");
    for (size_t i = 0; info_class_at(r, i, &c); i++)
        if (i != VS_CLASS_COND_INDIRECT || c.count)
            share_row(o, &c);
    heading(o, "Branches by kind");
    share_rows(o, r, info_branch_at);
}

static void text_operands(struct out *o, const struct info_report *r, bool stores)
{
    const struct vs_event_counts *s = r->stats;
    uint64_t total = s->kinds[stores ? VS_STORE : VS_LOAD];
    heading(o, stores ? "Stores by operand size" : "Loads by operand size");
    share_rows(o, r, stores ? info_store_size_at : info_load_size_at);
    share(o, "of all: repeated iterations", vs_event_counts_flagged(s, stores, VS_MEM_REPEAT),
          total);
    share(o, "of all: atomic", vs_event_counts_flagged(s, stores, VS_MEM_ATOMIC), total);
    count_row(o, "bytes", s->operand_bytes[stores]);
}

static void more_numbers(struct out *o, const struct vs_count_tally *t, size_t shown)
{
    if (shown < t->counts.count)
        out_printf(o, "  ... and %s%s more numbers\n", t->untold ? "over " : "",
                   DIGITS(t->counts.count - shown));
}

static void text_syscalls(struct out *o, const struct info_report *r)
{
    if (r->stats->syscalls.counts.count)
        heading(o, "System calls");
    more_numbers(o, &r->stats->syscalls, share_rows(o, r, info_syscall_at));
}

static void text_causes(struct out *o, const struct info_report *r)
{
    const struct vs_event_counts *s = r->stats;
    if (s->kinds[VS_EXCEPTION])
        heading(o, "Signals and exceptions");
    size_t n = share_rows(o, r, info_cause_at);
    if (s->causeless)
        share(o, "without a cause", s->causeless, s->kinds[VS_EXCEPTION]);
    more_numbers(o, &s->causes, n);
}

/* The names' lengths differ widely, so these rows have them last. */
static void place_row(struct out *o, uint64_t count, uint64_t total)
{
    const struct info_count c = {.count = count, .total = total};
    report_say(o, info_count_columns, &c, "  {>count} {>share} %  ");
}

static void text_by_image(struct out *o, const struct info_report *r)
{
    const struct vs_routines *c = r->routines;
    uint64_t total = r->info.instructions;
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

/* Prints "main  (program)"; if there is no name, "program+0x1234", with the address that the file
 * has for it. */
static void text_routine(struct out *o, const struct info_report *r,
                         const struct vs_routine_count *row)
{
    struct vs_source source;
    struct vs_image image;
    bool placed = row->image >= 0 && vs_reader_image(r->reader, (uint64_t)row->image, &image) == 0;

    if (!placed) {
        out_hex(o, row->start, 0);
    } else if (!row->name) {
        out_safe(o, where_file_name(image.path));
        out_char(o, '+');
        out_hex(o, row->start - image.base, 0);
    } else {
        out_safe(o, row->name);
        out_str(o, "  (");
        out_safe(o, where_file_name(image.path));
        out_char(o, ')');
    }
    if (info_source(r, row, &source) > 0) {
        out_str(o, "  ");
        out_safe(o, source.file);
        out_printf(o, ":%u", source.line);
    }
    out_char(o, '\n');
}

static void text_routines(struct out *o, const struct info_report *r)
{
    const struct vs_routines *c = r->routines;

    if (!r->info.instructions)
        return;
    text_by_image(o, r);
    heading(o, "Hottest routines");
    for (size_t i = 0; i < c->count && i < INFO_TOP; i++) {
        place_row(o, c->rows[i].instructions, r->info.instructions);
        text_routine(o, r, &c->rows[i]);
    }
    if (c->count > INFO_TOP)
        out_printf(o, "  ... and %s more\n", DIGITS(c->count - INFO_TOP));
}

/* ---- paths of calls -------------------------------------------------------------------------- */

static void text_caller(struct out *o, const struct vs_caller_routine *routine)
{
    if (routine->name) {
        out_safe(o, routine->name);
    } else {
        out_char(o, '(');
        out_safe(o, routine->image ? where_file_name(routine->image) : "outside all images");
        out_char(o, ')');
    }
}

static void text_path(struct out *o, const struct info_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        if (i)
            out_str(o, " > ");
        text_caller(o, path->runs[i].routine);
        if (path->runs[i].times > 1)
            out_printf(o, " x%s", DIGITS(path->runs[i].times));
    }
    if (!path->count)
        out_str(o, "(where is not known)");
}

static void text_callers(struct out *o, const struct info_report *r)
{
    heading(o, "Hottest paths of calls");
    for (size_t i = 0; i < r->path_count && i < INFO_TOP; i++) {
        place_row(o, r->callers->paths[r->paths[i]].instructions, r->info.instructions);
        text_path(o, &r->hottest[i]);
        out_char(o, '\n');
    }
    if (r->path_count > INFO_TOP)
        out_printf(o, "  ... and %s more\n", DIGITS(r->path_count - INFO_TOP));
}

int info_folded(struct out *o, const struct info_report *r)
{
    struct vs_caller_run *runs = NULL;
    size_t capacity = 0;
    int64_t count = 0;
    for (size_t k = 0; k < r->path_count && !o->error && count >= 0; k++) {
        count = vs_callers_path(r->callers, r->paths[k], &runs, &capacity);
        for (int64_t i = 0; i < count; i++)
            for (uint64_t t = 0; t < runs[i].times && !o->error; t++) {
                if (i || t)
                    out_char(o, ';');
                text_caller(o, runs[i].routine);
            }
        if (!count)
            out_str(o, "(where is not known)");
        if (count >= 0)
            out_printf(o, " %llu\n",
                       (unsigned long long)r->callers->paths[r->paths[k]].instructions);
    }
    free(runs);
    return count < 0 ? (int)count : 0;
}

static void text_repeats(struct out *o, const struct info_report *r)
{
    if (!r->profile->iterations)
        return;
    heading(o, "Repeated (string) instructions");
    count_row(o, "further iterations", r->profile->iterations);
    count_row(o, "instructions with them", r->info.instructions + r->profile->iterations);
}

static void text_stats(struct out *o, const struct info_report *r)
{
    const struct vs_event_counts *s = r->stats;

    heading(o, "Events by kind");
    share_rows(o, r, info_kind_at);
    text_branches(o, r);
    if (r->info.features & VS_RUN_LOADS || s->kinds[VS_LOAD])
        text_operands(o, r, false);
    if (r->info.features & VS_RUN_STORES || s->kinds[VS_STORE])
        text_operands(o, r, true);
    text_repeats(o, r);
    text_syscalls(o, r);
    text_causes(o, r);
    heading(o, "From outside");
    count_row(o, "external writes", s->kinds[VS_EXTERNAL]);
    count_row(o, "external bytes", s->external_bytes);
    count_row(o, "exceptions", s->kinds[VS_EXCEPTION]);
    count_row(o, "gaps", s->kinds[VS_GAP]);
    count_row(o, "instructions in gaps", s->gap_instructions);
    text_routines(o, r);
    if (r->callers)
        text_callers(o, r);
}

/* Prints what the simulated platform counted. */
static void text_cores(struct out *o, const struct info_report *r)
{
    if (!r->cores.count)
        return;
    heading(o, "Cores (of the whole simulation)");
    core_facts_text(o, &r->cores, r->core_cycles);
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
