/* SPDX-License-Identifier: MIT */
#include "page/data.h"

#include <stdio.h>
#include <string.h>

#include "isa/isa.h"
#include "study/where.h"

enum { LISTED = 200, TOP = 24 };

void page_text(struct json *j, const char *key, const char *text)
{
    char cut[PAGE_TEXT_MAX + 8];
    size_t n = strnlen(text, PAGE_TEXT_MAX + 1);
    if (n <= PAGE_TEXT_MAX) {
        json_str(j, key, text);
        return;
    }
    /* not within a character: it goes on with bytes 10xxxxxx */
    for (n = PAGE_TEXT_MAX; n > PAGE_TEXT_MAX - 4 && (text[n] & 0xc0) == 0x80;)
        n--;
    memcpy(cut, text, n);
    memcpy(cut + n, "\xe2\x80\xa6", 4);
    json_str(j, key, cut);
}

static void put_count(struct json *j, const char *name, uint64_t count)
{
    json_array(j, NULL);
    page_text(j, NULL, name);
    json_u64(j, NULL, count);
    json_end(j);
}

static void put_facts(struct json *j, const struct page_run *run)
{
    const char *key, *value;
    json_array(j, "facts");
    for (uint32_t i = 0; i < LISTED && !vs_reader_meta_at(run->reader, i, &key, &value); i++) {
        json_array(j, NULL);
        page_text(j, NULL, key);
        page_text(j, NULL, value);
        json_end(j);
    }
    json_end(j);
}

static void put_threads(struct json *j, const struct page_run *run, const struct vs_run_info *info)
{
    struct vs_thread_info thread;
    json_array(j, "threads");
    for (unsigned i = 0; i < info->threads && i < PAGE_LANES_MAX; i++) {
        if (vs_reader_thread(run->reader, i, &thread))
            continue;
        json_array(j, NULL);
        json_u64(j, NULL, i);
        json_u64(j, NULL, thread.instructions);
        json_u64(j, NULL, thread.events);
        json_end(j);
    }
    json_end(j);
    json_u64(j, "thread_count", info->threads);
}

static void put_images(struct json *j, struct page_run *run, const struct vs_run_info *info)
{
    struct vs_image image;
    json_array(j, "images");
    for (uint32_t i = 0; i < info->images && i < LISTED; i++) {
        if (vs_reader_image(run->reader, i, &image))
            continue;
        json_object(j, NULL);
        page_text(j, "path", image.path);
        json_hex(j, "start", image.start);
        json_u64(j, "length", image.length);
        json_bool(j, "lines", vs_where_sourced(&run->places.callers.where, i) > 0);
        json_end(j);
    }
    json_end(j);
    json_u64(j, "image_count", info->images);
}

static void put_kinds(struct json *j, const struct vs_event_counts *s)
{
    json_array(j, "kinds");
    for (unsigned kind = 1; kind < VS_KIND_END; kind++)
        if (s->kinds[kind])
            put_count(j, vs_kind_name(kind), s->kinds[kind]);
    json_end(j);
}

static void put_branches(struct json *j, const struct vs_event_counts *s)
{
    struct vs_count_named rows[32];
    unsigned n = vs_event_counts_branch_kinds(s, rows);
    json_array(j, "branches");
    for (unsigned i = 0; i < n; i++)
        if (rows[i].count)
            put_count(j, rows[i].name, rows[i].count);
    json_end(j);
}

static void put_sizes(struct json *j, const struct vs_event_counts *s, bool stores)
{
    json_array(j, stores ? "store_sizes" : "load_sizes");
    for (unsigned i = 0; i < VS_SIZE_CLASSES; i++)
        put_count(j, vs_event_counts_size_name(i), vs_event_counts_operands(s, stores, i));
    json_end(j);
}

static void put_tally(struct json *j, const char *key, const struct page_run *run, bool calls)
{
    const struct vs_count_tally *t = calls ? &run->counts.syscalls : &run->counts.causes;
    struct vs_count_number top[TOP];
    unsigned n = vs_event_counts_top(t, top, TOP);
    json_array(j, key);
    for (unsigned i = 0; i < n; i++) {
        const char *name =
            calls ? vs_isa_call_name(run->isa, top[i].number) : vs_signal_name(top[i].number);
        char text[64];
        if (name)
            snprintf(text, sizeof(text), "%s%s", calls ? "" : "SIG", name);
        else
            snprintf(text, sizeof(text), "%llu", (unsigned long long)top[i].number);
        put_count(j, text, top[i].count);
    }
    json_end(j);
}

void page_put_run(struct json *j, struct page_run *run)
{
    const struct vs_run_info *info = vs_reader_info(run->reader);
    page_text(j, "path", run->path);
    page_text(j, "isa", run->isa ? run->isa->title : "not known");
    json_bool(j, "timed", info->features & VS_RUN_TIMED);
    json_bool(j, "loads", info->features & VS_RUN_LOADS);
    json_bool(j, "stores", info->features & VS_RUN_STORES);
    json_bool(j, "sealed", info->sealed);
    json_u64(j, "instructions", run->study.instructions);
    json_u64(j, "cycles", run->study.cycles);
    json_u64(j, "events", info->events);
    json_u64(j, "bytes", info->file_size);
    json_u64(j, "skipped", run->counts.gap_instructions);
    put_facts(j, run);
    put_threads(j, run, info);
    put_images(j, run, info);
    put_kinds(j, &run->counts);
    put_branches(j, &run->counts);
    put_sizes(j, &run->counts, false);
    put_sizes(j, &run->counts, true);
    put_tally(j, "syscalls", run, true);
    put_tally(j, "signals", run, false);
}
