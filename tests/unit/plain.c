/* SPDX-License-Identifier: MIT */
/* The library's reader against the second one of tests/plain, on generated runs and on events that
 * no program would make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/gen.h"
#include "plain/plain.h"
#include "unit/unittest.h"

#define FACTS_MAX 16

/* The library's reader follows the other one, event by event. */
struct follower {
    struct vs_reader *reader;
    struct vs_batch batch;
    size_t at; /* in the batch */
    bool timed;
    uint64_t events, kinds[VS_KIND_END];
    struct vs_thread_info threads[GEN_THREADS_MAX];
    char facts[FACTS_MAX][2][256];
    uint32_t fact_count;
};

/* ---- files -------------------------------------------------------------------------------- */

struct place {
    char directory[256], path[280];
};

static void make_place(struct place *place)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(place->directory, sizeof place->directory, "%s/vestige-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(place->directory));
    snprintf(place->path, sizeof place->path, "%s/run.vest", place->directory);
}

/* Takes the file into memory and removes it. */
static uint8_t *load(const struct place *place, size_t *size)
{
    FILE *f = fopen(place->path, "rb");
    CHECK(f);
    CHECK(fseek(f, 0, SEEK_END) == 0);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size);
    CHECK(data);
    CHECK_EQ(fread(data, 1, *size, f), *size);
    fclose(f);
    CHECK_EQ(unlink(place->path), 0);
    CHECK_EQ(rmdir(place->directory), 0);
    return data;
}

static uint8_t *generate(const struct gen_options *options, const struct vs_writer_options *writer,
                         size_t *size)
{
    struct place place;
    make_place(&place);
    CHECK_EQ(gen_record(place.path, options, writer, NULL), 0);
    return load(&place, size);
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* Facts are compared at the end, when it is known which of them were replaced. */
static void follow_fact(void *context, struct plain_string key, struct plain_string value)
{
    struct follower *f = context;
    CHECK(key.size < sizeof f->facts[0][0] && value.size < sizeof f->facts[0][1]);
    uint32_t i = 0;
    while (i < f->fact_count &&
           (strlen(f->facts[i][0]) != key.size || memcmp(f->facts[i][0], key.data, key.size) != 0))
        i++;
    CHECK(i < FACTS_MAX);
    if (i == f->fact_count)
        f->fact_count++;
    snprintf(f->facts[i][0], sizeof f->facts[i][0], "%.*s", (int)key.size, key.data);
    snprintf(f->facts[i][1], sizeof f->facts[i][1], "%.*s", (int)value.size, value.data);
}

static void compare_string(struct plain_string s, const char *expected)
{
    CHECK_EQ(s.size, strlen(expected));
    CHECK_MEM(s.data, expected, s.size);
}

static void follow_image(void *context, uint64_t id, const struct plain_image *image)
{
    struct follower *f = context;
    struct vs_image expected;
    CHECK_EQ(vs_reader_image(f->reader, id, &expected), 0);
    compare_string(image->path, expected.path);
    compare_string(image->symbols, expected.symbols);
    CHECK_EQ(image->build_id.size, expected.build_id_size);
    CHECK_MEM(image->build_id.data, expected.build_id, expected.build_id_size);
    CHECK_EQ(image->base, expected.base);
    CHECK_EQ(image->start, expected.start);
    CHECK_EQ(image->length, expected.length);
}

static void follow_block(void *context, uint64_t id, const struct plain_block *block)
{
    struct follower *f = context;
    struct vs_block expected;
    CHECK_EQ(vs_reader_block(f->reader, id, &expected), 0);
    CHECK_EQ(block->addr, expected.addr);
    CHECK_EQ(block->insns, expected.insns);
    CHECK_EQ(block->bytes.size, expected.size);
    CHECK_MEM(block->bytes.data, expected.bytes, expected.size);
}

static void follow_event(void *context, uint64_t number, const struct vs_event *e,
                         const uint8_t *bytes, uint64_t cycle)
{
    struct follower *f = context;
    if (f->at == f->batch.count) {
        CHECK(vs_reader_next(f->reader, &f->batch) > 0);
        f->at = 0;
    }
    const struct vs_event *expected = &f->batch.events[f->at];
    CHECK_EQ(number, f->batch.first + f->at);
    CHECK_EQ(number, f->events);
    CHECK_EQ(e->kind, expected->kind);
    CHECK_EQ(e->flags, expected->flags);
    CHECK_EQ(e->thread, expected->thread);
    CHECK_EQ(e->size, expected->size);
    CHECK_EQ(e->icount, expected->icount);
    CHECK_EQ(e->pc, expected->pc);
    CHECK_EQ(e->addr, expected->addr);
    /* A branch's size is that of its instruction. */
    bool wide = vs_event_is_wide(e);
    CHECK_EQ(e->value, wide ? 0 : expected->value);
    CHECK_MEM(bytes, wide ? vs_event_bytes(&f->batch, expected) : (const uint8_t *)&expected->value,
              wide ? e->size : 8);
    CHECK_EQ(cycle, f->timed ? f->batch.cycles[f->at] : 0);
    f->at++;
    f->events++;
    f->kinds[e->kind]++;
    f->threads[e->thread].events++;
    f->threads[e->thread].instructions += e->icount;
}

static void compare_totals(const struct follower *f, const struct plain_totals *totals)
{
    const struct vs_run_info *info = vs_reader_info(f->reader);
    CHECK_EQ(totals->features, info->features);
    CHECK_EQ(totals->chunks, info->chunks);
    CHECK_EQ(totals->event_chunks, info->event_chunks);
    CHECK_EQ(totals->images, info->images);
    CHECK_EQ(totals->blocks, info->blocks);
    CHECK_EQ(totals->sites, info->sites);
    CHECK_EQ(totals->threads, info->threads);
    CHECK_EQ(totals->events, info->events);
    CHECK_EQ(f->events, info->events);
    uint64_t instructions = 0;
    for (unsigned t = 0; t < info->threads; t++) {
        struct vs_thread_info thread;
        CHECK_EQ(vs_reader_thread(f->reader, t, &thread), 0);
        CHECK_EQ(f->threads[t].events, thread.events);
        CHECK_EQ(f->threads[t].instructions, thread.instructions);
        instructions += thread.instructions;
    }
    CHECK_EQ(instructions, info->instructions);
}

static void compare_facts(const struct follower *f)
{
    CHECK_EQ(f->fact_count, vs_reader_info(f->reader)->metas);
    for (uint32_t i = 0; i < f->fact_count; i++) {
        const char *key, *value;
        CHECK_EQ(vs_reader_meta_at(f->reader, i, &key, &value), 0);
        CHECK_STR(f->facts[i][0], key);
        CHECK_STR(f->facts[i][1], value);
    }
}

/* Reads with both and frees the file. Returns the number of events that were compared; what they
 * were stays in f. */
static uint64_t compare(uint8_t *data, size_t size, struct follower *f, struct plain_totals *totals)
{
    const char *why;
    *f = (struct follower){.fact_count = 0};
    const struct plain_sink sink = {f, follow_fact, follow_image, follow_block, follow_event};
    CHECK_EQ(vs_reader_open_memory(&f->reader, data, size, VS_OPEN_STRICT, NULL), 0);
    f->timed = vs_reader_info(f->reader)->features & VS_RUN_TIMED;
    if (plain_read(data, size, &sink, totals, &why) != 0)
        unittest_fail(__FILE__, __LINE__, "after event %ju: %s", (uintmax_t)f->events, why);
    CHECK_EQ(f->at, f->batch.count);
    CHECK_ERR(vs_reader_next(f->reader, &f->batch), VSE_END);
    compare_totals(f, totals);
    compare_facts(f);
    vs_reader_close(f->reader);
    free(data);
    return f->events;
}

static struct plain_totals compare_generated(const struct gen_options *options,
                                             const struct vs_writer_options *writer)
{
    struct follower f;
    struct plain_totals totals;
    size_t size;
    uint8_t *data = generate(options, writer, &size);
    uint64_t events = compare(data, size, &f, &totals);
    CHECK(events + GEN_SLACK >= options->events && events <= options->events + GEN_SLACK);
    if (options->memory)
        CHECK(f.kinds[VS_LOAD] > 0 && f.kinds[VS_STORE] > 0);
    else
        CHECK_EQ(f.kinds[VS_LOAD] + f.kinds[VS_STORE], 0);
    return totals;
}

/* ---- generated runs ----------------------------------------------------------------------- */

TEST(agrees_on_every_profile)
{
    for (unsigned profile = 0; profile < GEN_PROFILE_END; profile++)
        for (unsigned i = 0; i < 8; i++) {
            const struct gen_options options = {.seed = 100 + i,
                                                .events = 20000,
                                                .threads = 1 + 5 * (i % 4),
                                                .profile = (enum gen_profile)profile,
                                                .memory = i % 2 == 0,
                                                .timed = i / 2 % 2 == 0};
            compare_generated(&options, NULL);
        }
}

TEST(agrees_on_every_number_of_threads)
{
    for (unsigned threads = 1; threads <= 16; threads++) {
        const struct gen_options options = {.seed = 200 + threads,
                                            .events = 5000,
                                            .threads = threads,
                                            .memory = true,
                                            .timed = threads % 2};
        compare_generated(&options, NULL);
    }
}

TEST(agrees_on_small_chunks)
{
    static const uint32_t chunk_events[] = {1, 7, 64, 1000};
    for (unsigned i = 0; i < 4; i++) {
        const struct gen_options options = {
            .seed = 300 + i, .events = chunk_events[i] * 100, .memory = true, .timed = i % 2};
        const struct vs_writer_options writer = {.chunk_events = chunk_events[i]};
        CHECK(compare_generated(&options, &writer).event_chunks >= 90);
    }
}

TEST(agrees_on_chunks_of_few_bytes)
{
    const struct gen_options options = {.seed = 400, .events = 50000, .memory = true};
    const struct vs_writer_options writer = {.chunk_bytes = 4096};
    CHECK(compare_generated(&options, &writer).event_chunks > 10);
}

TEST(agrees_on_literals)
{
    static const uint32_t max_sites[] = {1, 2, 16, 40};
    for (unsigned i = 0; i < 8; i++) {
        const struct gen_options options = {.seed = 500 + i,
                                            .events = 10000,
                                            .profile = (enum gen_profile)(i % GEN_PROFILE_END),
                                            .memory = i < 4,
                                            .timed = i % 2};
        const struct vs_writer_options writer = {
            .max_sites = max_sites[i % 4], .chunk_events = 3000, .level = 1 + (int)i};
        struct plain_totals totals = compare_generated(&options, &writer);
        CHECK(totals.literals > 0);
        CHECK(totals.sites < max_sites[i % 4]);
    }
}

TEST(agrees_on_a_long_run_with_default_chunks)
{
    const struct gen_options options = {.seed = 600, .events = 300000, .memory = true};
    compare_generated(&options, NULL);
}

/* ---- events that no program would make ---------------------------------------------------- */

struct soup {
    uint64_t state, cycle;
    uint32_t features;
    unsigned threads; /* so far */
    uint8_t wide[VS_SIZE_MAX];
};

static uint64_t draw(struct soup *s, uint64_t below)
{
    s->state = s->state * 6364136223846793005 + 1442695040888963407;
    return (s->state >> 33) % below;
}

/* Few enough to come again; some at both ends of the addresses. */
static uint64_t draw_addr(struct soup *s)
{
    static const uint64_t starts[] = {0, 0x1000, 0x8000, 0x7fffffff0000, UINT64_MAX - 40};
    return starts[draw(s, 5)] + draw(s, 64) * (draw(s, 8) ? 4 : 1);
}

static uint64_t draw_value(struct soup *s)
{
    if (draw(s, 3) == 0)
        return draw(s, 4);
    return s->state ^ s->state << 32;
}

static uint16_t draw_size(struct soup *s)
{
    static const uint16_t sizes[] = {9, 16, 33, 256, 2048, 2049, 5000, VS_SIZE_MAX};
    return draw(s, 12) ? (uint16_t)(1 + draw(s, 8)) : sizes[draw(s, draw(s, 8) ? 4 : 8)];
}

static uint8_t draw_kind(struct soup *s)
{
    uint64_t kind = draw(s, 24);
    return (uint8_t)(kind < VS_KIND_END ? kind : 1 + kind % 3);
}

/* Anything at all: the rules of event.h decide whether it is one. */
static struct vs_event draw_event(struct soup *s)
{
    struct vs_event e = {.pc = draw_addr(s), .kind = draw_kind(s), .flags = (uint8_t)draw(s, 32)};
    e.thread = (uint16_t)draw(s, s->threads < 24 ? s->threads + 1 : 24);
    e.addr = draw(s, 4) ? draw_addr(s) : draw_value(s);
    e.value = draw(s, 2) ? draw_value(s) : 0;
    e.icount = (uint16_t)(draw(s, 32) ? draw(s, 3) : 65535);
    bool plain = e.kind >= VS_THREAD_EXIT && e.kind < VS_TURN;
    e.size =
        plain || (e.kind == VS_BRANCH && draw(s, 2)) ? 4 * (e.kind == VS_BRANCH) : draw_size(s);
    if (plain && draw(s, 2))
        e.pc = 0;
    if (e.kind == VS_CODE)
        e.value = draw(s, 24); /* there are at least 20 blocks and images */
    if (e.kind == VS_MAP)
        e.pc = draw(s, 2) ? VS_NO_IMAGE : draw(s, 24);
    if ((e.kind >= VS_EXTERNAL && draw(s, 2)) || e.kind == VS_COUNT)
        e.flags = 0;
    return e;
}

static bool allowed(const struct soup *s, const struct vs_event *e)
{
    if ((e->kind <= VS_STORE && s->features & VS_RUN_SHORT) ||
        (e->kind >= VS_TURN && !(s->features & VS_RUN_INPUTS)) ||
        (e->kind == VS_CONTENT && e->flags & VS_CONTENT_ANEW && !(s->features & VS_RUN_PARTS)) ||
        (e->kind == VS_CONTENT && e->flags & VS_CONTENT_DIGESTS &&
         !(s->features & VS_RUN_DIGESTS)) ||
        (e->kind == VS_LOAD && !(s->features & VS_RUN_LOADS)) ||
        (e->kind == VS_STORE && !(s->features & VS_RUN_STORES)) ||
        (e->kind == VS_CODE && e->value >= 20) ||
        (e->kind == VS_MAP && e->pc >= 20 && e->pc != VS_NO_IMAGE))
        return false;
    return vs_event_check(e, sizeof s->wide, NULL) == 0;
}

static void put_soup(struct soup *s, struct vs_writer *w, uint64_t count)
{
    unsigned run = 0;
    struct vs_event last = {.thread = 0};
    while (count > 0) {
        struct vs_event e = draw_event(s);
        if (run > 0)
            e.thread = last.thread;
        if (e.size > 8)
            e.value = 0;
        else if (e.size > 0 && e.size < 8)
            e.value &= ((uint64_t)1 << 8 * e.size) - 1;
        if (!allowed(s, &e))
            continue;
        for (unsigned i = 0; i < 8; i++)
            s->wide[draw(s, draw(s, 2) ? 64 : sizeof s->wide)] = (uint8_t)draw(s, 256);
        s->cycle += draw(s, 4) ? 0 : draw(s, 300);
        const struct vs_batch batch = {.events = &e,
                                       .cycles = s->features & VS_RUN_TIMED ? &s->cycle : NULL,
                                       .wide = s->wide,
                                       .wide_size = sizeof s->wide,
                                       .count = 1};
        CHECK_EQ(vs_writer_put(w, &batch), 0);
        s->threads += e.thread == s->threads;
        run = run > 0 ? run - 1 : (unsigned)draw(s, 20);
        last = e;
        count--;
    }
}

static void put_tables(struct soup *s, struct vs_writer *w)
{
    uint8_t bytes[300];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)draw(s, 256);
    for (unsigned i = 0; i < 20; i++) {
        uint32_t size = (uint32_t)(1 + draw(s, sizeof bytes));
        const struct vs_block block = {draw_addr(s), bytes, size, 1 + (uint32_t)draw(s, size)};
        CHECK(vs_writer_block(w, &block) >= 0);
        const struct vs_image image = {"/a/path",
                                       i % 2 ? "/symbols" : "",
                                       bytes,
                                       (uint32_t)draw(s, 65),
                                       draw_value(s) * 7,
                                       draw_addr(s),
                                       draw(s, 16)};
        CHECK(vs_writer_image(w, &image) >= 0);
    }
}

static struct plain_totals compare_soup(uint64_t seed, uint64_t count,
                                        const struct vs_writer_options *options)
{
    struct soup *s = calloc(1, sizeof *s);
    CHECK(s);
    *s = (struct soup){.state = seed, .features = options->features};
    struct place place;
    struct vs_writer *w;
    make_place(&place);
    CHECK_EQ(vs_writer_open(&w, place.path, options, NULL), 0);
    CHECK_EQ(vs_writer_meta(w, "engine", "soup"), 0);
    CHECK_EQ(vs_writer_meta(w, "other", ""), 0);
    for (unsigned part = 0; part < 3; part++) {
        put_tables(s, w);
        put_soup(s, w, count / 3);
        CHECK_EQ(vs_writer_meta(w, "engine", part ? "and again" : "another"), 0);
    }
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    free(s);
    struct follower f;
    struct plain_totals totals;
    size_t size;
    uint8_t *data = load(&place, &size);
    CHECK_EQ(compare(data, size, &f, &totals), count / 3 * 3);
    CHECK_STR(f.facts[0][1], "and again");
    CHECK_EQ(f.fact_count, 2);
    return totals;
}

TEST(agrees_on_soup)
{
    for (uint32_t features = 0; features <= VS_RUN_KNOWN; features++)
        for (unsigned i = 0; i < 4; i++) {
            const struct vs_writer_options options = {
                .features = features, .chunk_events = i % 2 ? 500 : 0, .max_sites = i / 2 ? 40 : 0};
            /* The few kinds of a short run have room in the table. */
            CHECK_EQ(compare_soup(700 + features * 4 + i, 6000, &options).literals > 0,
                     i / 2 && !(features & VS_RUN_SHORT));
        }
}

TEST(agrees_on_a_run_without_events)
{
    const struct vs_writer_options options = {.features = 0};
    CHECK_EQ(compare_soup(1, 0, &options).event_chunks, 0);
}

TEST(agrees_on_a_run_of_nothing)
{
    struct place place;
    struct vs_writer *w;
    struct follower f;
    struct plain_totals totals;
    size_t size;
    make_place(&place);
    CHECK_EQ(vs_writer_open(&w, place.path, NULL, NULL), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    uint8_t *data = load(&place, &size);
    CHECK_EQ(compare(data, size, &f, &totals), 0);
    CHECK_EQ(totals.chunks, 1);
}

/* ---- damage ------------------------------------------------------------------------------- */

static void ignore_fact(void *context, struct plain_string key, struct plain_string value)
{
    (void)context, (void)key, (void)value;
}

static void ignore_image(void *context, uint64_t id, const struct plain_image *image)
{
    (void)context, (void)id, (void)image;
}

static void ignore_block(void *context, uint64_t id, const struct plain_block *block)
{
    (void)context, (void)id, (void)block;
}

static void ignore_event(void *context, uint64_t number, const struct vs_event *event,
                         const uint8_t *bytes, uint64_t cycle)
{
    (void)context, (void)number, (void)event, (void)bytes, (void)cycle;
}

TEST(refuses_every_cut_and_changed_byte)
{
    const struct plain_sink sink = {NULL, ignore_fact, ignore_image, ignore_block, ignore_event};
    const struct gen_options options = {.seed = 800, .events = 200, .memory = true};
    struct plain_totals totals;
    const char *why;
    size_t size;
    uint8_t *data = generate(&options, NULL, &size);
    CHECK_EQ(plain_read(data, size, &sink, &totals, &why), 0);
    for (size_t i = 0; i < size; i++) {
        data[i] ^= (uint8_t)(1 << i % 8);
        CHECK_EQ(plain_read(data, size, &sink, &totals, &why), -1);
        data[i] ^= (uint8_t)(1 << i % 8);
        CHECK_EQ(plain_read(data, i, &sink, &totals, &why), -1);
    }
    free(data);
}
