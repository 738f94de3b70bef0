/* SPDX-License-Identifier: MIT */
/* Load-value techniques: worked examples, runs that are encoded, decoded and compared, and streams
 * that are damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/pack.h"
#include "gen/gen.h"
#include "model/granules.h"
#include "study/verify_data.h"
#include "technique/data.h"
#include "technique/registry.h"
#include "unit/rng.h"
#include "unit/unittest.h"

/* ---- runs in memory ------------------------------------------------------------------------ */

struct run {
    struct vs_event *events;
    uint64_t *cycles;
    size_t count, capacity;
    struct vs_buf wide;
    unsigned cores;
    bool timed;
};

static void run_add(struct run *r, const struct vs_event *e, const uint8_t *bytes, uint64_t cycle)
{
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 1024;
        CHECK((r->events = realloc(r->events, r->capacity * sizeof *r->events)));
        CHECK((r->cycles = realloc(r->cycles, r->capacity * sizeof *r->cycles)));
    }
    struct vs_event *copy = &r->events[r->count];
    *copy = *e;
    if (vs_event_is_wide(e)) {
        copy->value = r->wide.len;
        CHECK_EQ(vs_buf_put(&r->wide, bytes, e->size), 0);
    }
    r->cycles[r->count++] = cycle;
    if (e->thread >= r->cores)
        r->cores = e->thread + 1u;
}

static struct vs_batch run_batch(const struct run *r)
{
    return (struct vs_batch){.events = r->events,
                             .cycles = r->timed ? r->cycles : NULL,
                             .wide = r->wide.data,
                             .wide_size = r->wide.len,
                             .count = r->count};
}

static void run_free(struct run *r)
{
    free(r->events);
    free(r->cycles);
    vs_buf_fini(&r->wide);
}

static void generate(struct run *r, const struct gen_options *options)
{
    struct gen *g;
    struct vs_batch b;
    *r = (struct run){.timed = options->timed};
    CHECK_EQ(gen_open(&g, options), 0);
    while (gen_next(g, &b) > 0)
        for (size_t i = 0; i < b.count; i++)
            run_add(r, &b.events[i], vs_event_bytes(&b, &b.events[i]), b.cycles ? b.cycles[i] : 0);
    gen_close(g);
}

/* Accesses of one core after the other; a memory gives the loads' values. */
struct script {
    struct run run;
    uint8_t memory[4096]; /* of addresses [BASE, BASE + 4096) */
};

#define BASE 0x7fff0000u

static struct script *script_new(void)
{
    struct script *s = calloc(1, sizeof *s);
    CHECK(s);
    for (size_t i = 0; i < sizeof s->memory; i++)
        s->memory[i] = (uint8_t)(i * 7 + i / 256);
    return s;
}

static void script_free(struct script *s)
{
    run_free(&s->run);
    free(s);
}

static void touch(struct script *s, unsigned kind, unsigned core, unsigned at, unsigned size)
{
    uint8_t bytes[256];
    struct vs_event e = {.kind = (uint8_t)kind,
                         .pc = 0x1000 + 4 * s->run.count,
                         .addr = BASE + at,
                         .thread = (uint16_t)core,
                         .size = (uint16_t)size,
                         .icount = kind != VS_EXTERNAL};
    for (unsigned i = 0; i < size && kind != VS_LOAD; i++)
        s->memory[at + i] = (uint8_t)(s->run.count * 31 + i + 1);
    memcpy(bytes, s->memory + at, size);
    if (size <= 8)
        memcpy(&e.value, bytes, size);
    run_add(&s->run, &e, bytes, 10 * s->run.count);
}

static void load(struct script *s, unsigned core, unsigned at, unsigned size)
{
    touch(s, VS_LOAD, core, at, size);
}

static void store(struct script *s, unsigned core, unsigned at, unsigned size)
{
    touch(s, VS_STORE, core, at, size);
}

/* ---- encoding and decoding ----------------------------------------------------------------- */

struct stream {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    struct vs_buf bits;
    uint64_t nbits;
    struct vs_data_counts counts;
    struct vs_port_counts fields;
};

/* From this row of the table on. */
static const struct vs_technique *const *next_data(const struct vs_technique *const *t)
{
    while (*t && (*t)->kind != VS_TECHNIQUE_DATA)
        t++;
    return t;
}

/* Parameters are separated by commas or spaces. */
static void parse(struct vs_technique_spec *spec, const char *name, const char *params)
{
    struct vs_diag diag = {0};
    char text[300];
    snprintf(text, sizeof text, "%s%s%s", name, *params ? ":" : "", params);
    for (char *p = text; *p; p++)
        *p = *p == ' ' ? ',' : *p;
    if (vs_technique_parse(spec, text, &diag))
        unittest_fail(__FILE__, __LINE__, "%s: %s", text, diag.text);
}

static void encode_split(struct stream *s, const char *name, const char *params,
                         const struct run *r, bool prior, size_t piece)
{
    struct vs_prior *p = NULL;
    struct vs_port_writer w;
    struct vs_batch b = run_batch(r);
    void *e;
    memset(s, 0, sizeof *s);
    parse(&s->spec, name, params);
    s->setup = (struct vs_technique_setup){r->cores, 64, r->timed};
    vs_technique_shape(&s->spec, &s->setup, &s->shape);
    if (prior) {
        CHECK_EQ(vs_prior_open(&p), 0);
        CHECK_EQ(vs_prior_consume(p, &b), 0);
    }
    CHECK_EQ(vs_port_writer_init(&w, &s->shape, vs_port_to_buf, &s->bits), 0);
    CHECK_EQ(s->spec.technique->data_encoder->open(&e, s->spec.params, &s->setup, p, &w), 0);
    for (size_t at = 0; at < r->count; at += piece) {
        struct vs_batch part = b;
        part.events += at;
        part.cycles = b.cycles ? b.cycles + at : NULL;
        part.count = r->count - at < piece ? r->count - at : piece;
        CHECK_EQ(s->spec.technique->data_encoder->consume(e, &part), 0);
    }
    CHECK_EQ(s->spec.technique->data_encoder->finish(e), 0);
    int64_t nbits = vs_port_finish(&w);
    CHECK(nbits >= 0);
    s->nbits = (uint64_t)nbits;
    vs_port_totals(&w, &s->fields);
    CHECK_EQ(vs_port_counts_bits(&s->fields), s->nbits);
    s->spec.technique->data_encoder->counts(e, &s->counts);
    s->spec.technique->data_encoder->close(e);
    vs_port_writer_fini(&w);
    vs_prior_close(p);
}

static void encode(struct stream *s, const char *name, const char *params, const struct run *r,
                   bool prior)
{
    encode_split(s, name, params, r, prior, r->count + 1);
}

static void stream_free(struct stream *s)
{
    vs_buf_fini(&s->bits);
}

/* The escape, few instructions, no registers. */
enum { END = 9 + 9 + 9 };

enum walk { IN_ORDER, BY_TURNS };

/* Events of one core at a time. */
struct feed {
    const struct run *run;
    size_t next[256];
};

static int feed_core(void *context, unsigned core, struct vs_batch *batch)
{
    struct feed *f = context;
    size_t i = f->next[core];
    while (i < f->run->count && f->run->events[i].thread != core)
        i++;
    f->next[core] = i + 1;
    if (i >= f->run->count)
        return -VSE_END;
    *batch = run_batch(f->run);
    batch->events += i;
    batch->count = 1;
    return 1;
}

/* The first nbits bits, against a run. */
static int verify(const struct stream *s, const struct run *r, uint64_t nbits, enum walk walk,
                  struct vs_verify_data *v)
{
    struct vs_port_reader reader;
    struct vs_batch b = run_batch(r);
    void *d;
    CHECK_EQ(vs_port_reader_init(&reader, &s->shape, s->bits.data, s->bits.len, nbits), 0);
    CHECK_EQ(s->spec.technique->data_decoder->open(&d, s->spec.params, &s->setup, &reader), 0);
    CHECK_EQ(vs_verify_data_init(v, s->spec.technique->data_decoder, d, &reader, s->setup.cores),
             0);
    int err;
    struct feed f = {r, {0}};
    if (walk == BY_TURNS)
        err = vs_verify_data_by_turns(v, feed_core, &f);
    else if (!(err = vs_verify_data_batch(v, &b)))
        err = vs_verify_data_end(v);
    vs_verify_data_fini(v);
    s->spec.technique->data_decoder->close(d);
    vs_port_reader_fini(&reader);
    return err;
}

static void check_replays(const struct stream *s, const struct run *r)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    CHECK(v);
    CHECK(!s->spec.technique->undecodable || !s->spec.technique->undecodable(s->spec.params));
    for (enum walk walk = IN_ORDER; walk <= BY_TURNS; walk++) {
        if (verify(s, r, s->nbits, walk, v))
            unittest_fail(__FILE__, __LINE__, "%s, walk %d: %s", s->spec.technique->name, walk,
                          v->diag.text);
        CHECK_EQ(v->loads, s->counts.loads);
        CHECK_EQ(v->stores, s->counts.stores);
        CHECK_EQ(v->nondets, s->counts.nondets);
        CHECK_EQ(v->states, s->counts.states);
    }
    free(v);
}

/* ---- worked examples ----------------------------------------------------------------------- */

#define SMALL "size=32 line=16 ways=2 policy=round-robin granule=4"

static void small_cache(struct vs_granules *g, uint32_t granule)
{
    const struct vs_cache_config config = {32, 16, 2, VS_CACHE_ROUND_ROBIN};
    CHECK_EQ(vs_granules_init(g, 1, &config, granule, true, NULL), 0);
}

/* An access that finds its line in a way, or is given that way. */
static void check_way(struct vs_granules *g, bool writes, unsigned at, unsigned size,
                      unsigned missed, unsigned way)
{
    unsigned got = writes ? vs_granules_write(g, 0, BASE + at, size, false)
                          : vs_granules_read(g, 0, BASE + at, size);
    CHECK_EQ(got, missed);
    CHECK_EQ(vs_cache_find(&g->caches[0].cache, (BASE + at) & ~15u), way);
}

enum { HIT = 0, MISS = VS_GRANULES_NO_LINE, CLEAR = VS_GRANULES_NO_FLAG };

TEST(follows_the_example_of_stores_and_loads)
{
    struct vs_granules g;
    small_cache(&g, 4);
    check_way(&g, true, 0x80, 8, MISS, 1);
    check_way(&g, true, 0x50, 4, MISS, 0);
    for (unsigned at = 0x54; at <= 0x5c; at += 4)
        check_way(&g, true, at, 4, HIT, 0);
    check_way(&g, true, 0x60, 4, MISS, 1);
    for (unsigned at = 0x64; at <= 0x6c; at += 4)
        check_way(&g, true, at, 4, HIT, 1);
    check_way(&g, true, 0x70, 4, MISS, 0);
    check_way(&g, false, 0x80, 8, MISS | CLEAR, 1);
    check_way(&g, false, 0x88, 8, CLEAR, 1);
    vs_granules_fini(&g);
}

/* What the two loads of that example send. */
TEST(sends_the_example_of_stores_and_loads)
{
    struct script *s = script_new();
    struct stream t;
    store(s, 0, 0x80, 8);
    for (unsigned at = 0x50; at <= 0x70; at += 4)
        store(s, 0, at, 4);
    load(s, 0, 0x80, 8);
    load(s, 0, 0x88, 8);
    encode(&t, "mlvCF_b", SMALL, &s->run, true);
    CHECK_EQ(t.fields.messages, 3);
    CHECK_EQ(t.counts.misses[3], 2);
    /* fahCnt 0 in one chunk and a bit, the value; and the end */
    CHECK_EQ(t.nbits, 2 * (9 + 64) + 9 + END);
    struct vs_bitr bits;
    uint64_t count, value;
    CHECK_EQ(vs_bitr_init(&bits, t.bits.data, t.bits.len, t.nbits), 0);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(vs_bitr_get(&bits, 9, &count), 0);
        CHECK_EQ(count, 0);
        CHECK_EQ(vs_bitr_get(&bits, 64, &value), 0);
        CHECK_EQ(value, s->run.events[s->run.count - 2 + i].value);
    }
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(follows_the_example_of_spanning_operands)
{
    struct vs_granules g;
    small_cache(&g, 4);
    check_way(&g, true, 0x80, 8, MISS, 1);
    check_way(&g, true, 0x78, 8, MISS, 0);
    check_way(&g, true, 0x70, 8, HIT, 0);
    check_way(&g, true, 0x68, 8, MISS, 1);
    check_way(&g, true, 0x60, 8, HIT, 1);
    for (unsigned at = 0x78; at >= 0x60; at -= 8)
        check_way(&g, false, at, 8, HIT, at < 0x70);
    check_way(&g, true, 0x40, 32, MISS, 0);
    CHECK_EQ(vs_cache_find(&g.caches[0].cache, BASE + 0x50), 1);
    check_way(&g, false, 0x40, 32, HIT, 0);
    check_way(&g, true, 0x20, 8, MISS, 0);
    check_way(&g, false, 0x40, 32, MISS | CLEAR, 1);
    CHECK_EQ(vs_cache_find(&g.caches[0].cache, BASE + 0x50), 0);
    vs_granules_fini(&g);
}

TEST(sends_one_message_for_a_spanning_operand)
{
    struct script *s = script_new();
    struct stream t;
    static const struct {
        unsigned at, size;
        bool writes;
    } accesses[] = {{0x80, 8, true},  {0x78, 8, true},  {0x70, 8, true},   {0x68, 8, true},
                    {0x60, 8, true},  {0x78, 8, false}, {0x70, 8, false},  {0x68, 8, false},
                    {0x60, 8, false}, {0x40, 32, true}, {0x40, 32, false}, {0x20, 8, true},
                    {0x40, 32, false}};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        touch(s, accesses[i].writes ? VS_STORE : VS_LOAD, 0, accesses[i].at, accesses[i].size);
    encode(&t, "mlvCF_b", SMALL, &s->run, true);
    CHECK_EQ(t.nbits, 9 + 8 * 32 + 9 + END); /* after five hits; then the end */
    CHECK_EQ(t.bits.data[0], 5);
    CHECK_EQ(t.counts.hits[3], 4);
    CHECK_EQ(t.counts.hits[5], 1);
    CHECK_EQ(t.counts.misses[5], 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(hits_both_lines_of_what_was_stored)
{
    struct script *s = script_new();
    struct stream t;
    store(s, 0, 0x10, 8);
    load(s, 0, 0x10, 8);
    encode(&t, "mlvCF_b", "size=8 line=4 ways=2 policy=round-robin granule=4", &s->run, true);
    CHECK_EQ(t.counts.hits[3], 1);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(follows_the_example_of_reads_only)
{
    struct script *s = script_new();
    struct stream t;
    struct vs_granules g;
    for (unsigned at = 0x3c; at <= 0x5c; at += 4)
        load(s, 0, at, 4);
    small_cache(&g, 16);
    for (unsigned at = 0x3c; at <= 0x5c; at += 4)
        CHECK_EQ(vs_granules_read(&g, 0, BASE + at, 4) != 0,
                 at == 0x3c || at == 0x40 || at == 0x50);
    vs_granules_fini(&g);
    encode(&t, "mlvCF_b", "size=32 line=16 ways=2 policy=round-robin granule=16", &s->run, true);
    CHECK_EQ(t.counts.misses[2], 3);
    CHECK_EQ(t.counts.hits[2], 6);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 3 * 128);
    CHECK_EQ(t.counts.unseen, 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* ---- small cases --------------------------------------------------------------------------- */

TEST(sends_every_operand_as_it_is)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0, 1);
    store(s, 1, 0, 8);
    load(s, 2, 0, 64);
    load(s, 2, 3, 8);
    encode(&t, "mlvNX_b", "", &s->run, false);
    CHECK_EQ(t.nbits, 3 * 2 + 8 * (1 + 64 + 8) + 3 * (2 + END));
    check_replays(&t, &s->run);
    stream_free(&t);
    s->run.timed = true;
    encode(&t, "mlvNX_b", "", &s->run, false);
    CHECK_EQ(t.nbits, 3 * (2 + 9) + 8 * (1 + 64 + 8) + 3 * (2 + 9 + END));
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* Registers begin as such values do. */
TEST(tells_registers_from_values_that_look_so)
{
    const struct vs_event exception = {
        .kind = VS_EXCEPTION, .pc = 0x5000, .addr = 0x6000, .size = 6, .icount = 3};
    struct script *s = script_new();
    memset(s->memory, VS_DATA_ESCAPE, 0x40);
    load(s, 0, 0, 1);
    load(s, 0, 0x20, 4);
    run_add(&s->run, &exception, NULL, 30);
    load(s, 0, 0x21, 8);
    run_add(&s->run, &exception, NULL, 50);
    run_add(&s->run, &exception, NULL, 60);
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream stream;
        encode(&stream, (*t)->name, "", &s->run, true);
        CHECK_EQ(stream.counts.states, 3);
        check_replays(&stream, &s->run);
        stream_free(&stream);
    }
    script_free(s);
}

TEST(sends_whole_granules_of_a_part)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x101, 1);
    load(s, 0, 0x102, 1);
    load(s, 0, 0x107, 2);
    encode(&t, "mlvCF_b", SMALL, &s->run, true);
    CHECK_EQ(t.nbits, 9 + 32 + 9 + 64 + 9 + END);
    CHECK_EQ(t.counts.unseen, 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    /* without a prior the second byte is not known when the first is sent */
    encode(&t, "mlvCF_b", SMALL, &s->run, false);
    CHECK_EQ(t.counts.unseen, 3);
    CHECK_EQ(t.nbits, 2 * (9 + 32) + 9 + 64 + 9 + END);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* As published a partial store flags the granule: the other bytes are then taken for known. */
TEST(does_not_replay_as_published)
{
    static const char *const names[] = {"mlvCF_b", "mlvCF_e", "mlvFA"};
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    store(s, 0, 0x100, 1);
    load(s, 0, 0x100, 4);
    for (unsigned i = 0; i < 3; i++) {
        encode(&t, names[i], "account=published", &s->run, true);
        CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 0);
        CHECK_HAS(t.spec.technique->undecodable(t.spec.params), "published");
        CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_CORRUPT);
        CHECK_HAS(v->diag.text, "event 1, core 0, pc 0x1004");
        stream_free(&t);
        encode(&t, names[i], "", &s->run, true);
        CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 32);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
    free(v);
}

TEST(counts_operands_as_published)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x101, 1);
    load(s, 0, 0x103, 2);
    encode(&t, "mlvCF_b", "account=published", &s->run, true);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 8 + 16);
    stream_free(&t);
    script_free(s);
}

TEST(notices_what_other_cores_write)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    load(s, 0, 0x100, 8);
    store(s, 1, 0x100, 4);
    load(s, 0, 0x104, 4); /* the line is gone, also where nobody wrote */
    load(s, 0, 0x100, 4);
    load(s, 1, 0x100, 4);
    encode(&t, "mlvCF_b", "caches=coherent", &s->run, true);
    CHECK_EQ(t.counts.misses[2], 2);
    CHECK_EQ(t.counts.hits[2], 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mlvCF_b", "caches=private", &s->run, true);
    CHECK(t.spec.technique->undecodable(t.spec.params));
    CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_CORRUPT);
    stream_free(&t);
    encode(&t, "mlvCF_b", "caches=shared", &s->run, true);
    CHECK_EQ(t.counts.misses[2], 0);
    CHECK_EQ(t.counts.orders, 6); /* the last two for the ends */
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
    free(v);
}

TEST(notices_what_is_written_from_outside)
{
    static const char *const names[] = {"mlvCF_e", "mlvFA", "mlvFA_dedicated", "mc2RT"};
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 4);
    load(s, 0, 0x100, 4);
    touch(s, VS_EXTERNAL, 1, 0x102, 1);
    load(s, 0, 0x100, 4);
    touch(s, VS_EXTERNAL, 0, 0x200, 200);
    load(s, 0, 0x200, 64);
    for (unsigned i = 0; i < 4; i++) {
        encode(&t, names[i], "", &s->run, true);
        CHECK_EQ(t.counts.hits[2], 1);
        CHECK_EQ(t.counts.misses[2], 2);
        CHECK_EQ(t.counts.unseen, 0);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

TEST(notices_new_mappings_and_changes_that_no_event_shows)
{
    static const char *const names[] = {"mlvCF_e", "mlvFA", "mlvFA_dedicated", "mc2RT"};
    struct script *s = script_new();
    struct stream t;
    const struct vs_event map = {
        .kind = VS_MAP, .addr = BASE, .value = 4096, .pc = VS_NO_IMAGE, .flags = VS_MAP_READ};
    load(s, 0, 0x100, 4);
    run_add(&s->run, &map, NULL, 10);
    memset(s->memory, 0x55, 128 + 0x100);
    load(s, 0, 0x100, 4);
    load(s, 0, 0x104, 4);
    load(s, 1, 0x104, 4);
    s->memory[0x104] ^= 1;
    load(s, 0, 0x104, 4);
    load(s, 1, 0x104, 4);
    for (unsigned i = 0; i < 4; i++) {
        encode(&t, names[i], "", &s->run, true);
        CHECK_EQ(t.counts.unseen, i != 2);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

TEST(sends_a_bit_for_what_the_module_has)
{
    struct script *s = script_new();
    struct stream t;
    s->memory[0x104] = 0;
    load(s, 0, 0x100, 4);
    load(s, 0, 0x100, 4);
    load(s, 0, 0x104, 1); /* a zero, as in a new line */
    load(s, 0, 0x105, 1);
    encode(&t, "mlvFA_dedicated", "size=64 line=64 ways=1", &s->run, false);
    CHECK_EQ(t.nbits, 1 + 32 + 1 + 1 + 1 + 8 + 1 + END);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(tells_every_transaction_in_order)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 8);  /* from memory: the line */
    load(s, 1, 0x108, 8);  /* from core 0, with T */
    store(s, 1, 0x100, 8); /* upgrade */
    store(s, 1, 0x100, 8); /* its own */
    load(s, 0, 0x100, 8);  /* from core 1, with T */
    store(s, 2, 0x200, 8); /* from memory */
    load(s, 2, 0x200, 8);  /* the line */
    encode(&t, "mc2RT", "CS32", &s->run, true);
    CHECK_EQ(t.counts.orders, 4);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 2 * 256);
    CHECK_EQ(t.fields.messages, 6 + 3);
    /* Ti, THCnt, kind: two lines, four of order, three ends */
    CHECK_EQ(t.nbits, 9 * (2 + 9) + 2 * (1 + 256) + 4 * 2 + 3 * (4 + 9 + 9));
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mc2RT", "CS32 rule=implied", &s->run, true);
    CHECK_EQ(t.counts.orders, 3);
    CHECK_EQ(t.counts.silent, 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mc2RT", "CS32 order=published", &s->run, true);
    CHECK_EQ(t.nbits, 2 * (2 + 9 + 256));
    CHECK(t.spec.technique->undecodable(t.spec.params));
    stream_free(&t);
    script_free(s);
}

#define TWO_LINES "size=64 line=32 ways=2 policy=lru rule=implied"

/* Core 1 had the line and lost it after core 0's last message: without the order, the debugger
 * would let core 0 write first. */
TEST(tells_the_order_of_a_line_that_another_core_lost)
{
    struct script *s = script_new();
    struct stream t;
    enum { P = 0x100, R = 0x200, W = 0x300, X = 0x400, S = 0x500, U = 0x600, Q = 0x700 };
    load(s, 0, P, 8);
    load(s, 0, R, 8);
    load(s, 1, W, 8);
    store(s, 1, X, 8); /* implied */
    load(s, 1, S, 8);
    load(s, 1, U, 8); /* in place of X */
    store(s, 0, X, 8);
    load(s, 0, Q, 8);
    load(s, 0, R, 8);
    encode(&t, "mc2RT", TWO_LINES, &s->run, true);
    CHECK_EQ(t.counts.silent, 1);
    CHECK_EQ(t.counts.orders, 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* Core 1 took a line from the set: without the order, another line would make way. */
TEST(tells_the_order_in_a_set_that_another_core_took_from)
{
    struct script *s = script_new();
    struct stream t;
    enum { P = 0x100, R = 0x200, X = 0x400 };
    load(s, 0, P, 8);
    load(s, 0, R, 8);
    store(s, 1, R, 8);
    store(s, 0, X, 8);
    load(s, 0, P, 8);
    encode(&t, "mc2RT", TWO_LINES, &s->run, true);
    CHECK_EQ(t.counts.silent, 0);
    CHECK_EQ(t.counts.orders, 2);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* Something outside wrote everything: without the order, the debugger would let core 1 write
 * before, and take the line away. */
TEST(tells_the_order_after_a_write_from_outside)
{
    const struct vs_event gap = {.kind = VS_GAP, .pc = 0x2000, .size = 4};
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 8);
    run_add(&s->run, &gap, NULL, 20);
    store(s, 1, 0x200, 8);
    load(s, 0, 0x200, 8);
    encode(&t, "mc2RT", TWO_LINES, &s->run, true);
    CHECK_EQ(t.counts.silent, 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* ---- parameters and cost ------------------------------------------------------------------- */

TEST(has_the_named_configurations)
{
    static const struct {
        const char *name;
        uint64_t size, line, policy;
    } configs[] = {{"S", 16384, 64, VS_CACHE_ROUND_ROBIN},
                   {"M", 32768, 64, VS_CACHE_ROUND_ROBIN},
                   {"L", 65536, 64, VS_CACHE_ROUND_ROBIN},
                   {"CS16", 16384, 32, VS_CACHE_LRU},
                   {"CS32", 32768, 32, VS_CACHE_LRU}};
    struct vs_technique_spec spec;
    const struct vs_data_params *p = (const void *)spec.params;
    for (size_t i = 0; i < 5; i++) {
        parse(&spec, "mlvCF_e", configs[i].name);
        CHECK_EQ(p->size, configs[i].size);
        CHECK_EQ(p->line, configs[i].line);
        CHECK_EQ(p->policy, configs[i].policy);
        CHECK_EQ(p->ways, 4);
        CHECK_EQ(p->granule, 4);
        CHECK_EQ(p->fahcnt, 2);
    }
}

TEST(refuses_what_does_not_fit)
{
    struct vs_technique_spec p;
    struct vs_diag diag;
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:XL", &diag), VSE_NOTFOUND);
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:size=1000", &diag), VSE_INVAL);
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:granule=64", &diag), VSE_INVAL);
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:size=32,line=4,granule=8", &diag), VSE_INVAL);
    CHECK_ERR(vs_technique_parse(&p, "mc2RT:granule=4", &diag), VSE_NOTFOUND);
}

TEST(costs_what_is_published)
{
    const struct vs_technique_setup setup = {1, 32, false};
    struct vs_technique_spec p;
    struct vs_cost_list cost;
    parse(&p, "mc2RT", "CS32");
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_STR(cost.items[0].name, "trace bits");
    CHECK_EQ(cost.items[0].cost.sram, 128 * 8);
    parse(&p, "mlvCF_e", "CS32");
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_EQ(cost.items[0].cost.sram, 32768 / 4);
    CHECK_EQ(cost.items[1].cost.registers, 32);
    double fraction = vs_data_cost_fraction(&p, &setup);
    CHECK(fraction > 1.0 / 32 && fraction < 1.01 / 32);
    parse(&p, "mlvFA_dedicated", "size=1K ways=2");
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_EQ(cost.items[0].cost.sram, 8192);
    CHECK_EQ(cost.items[1].cost.sram, 16 * (32 - 6 - 3 + 1));
    CHECK_EQ(cost.items[1].cost.comparators, 2 * 23);
}

/* ---- generated runs ------------------------------------------------------------------------ */

static const char *pick(struct rng *r, const char *const *list, unsigned count)
{
    return list[rng_below(r, count)];
}

static const struct {
    const struct vs_technique *technique;
    enum vs_pack_kind kind;
} compressors[] = {{&vs_technique_mlvnx_gzip, VS_PACK_GZIP},
                   {&vs_technique_mlvnx_bzip2, VS_PACK_BZIP2},
                   {&vs_technique_mlvnx_xz, VS_PACK_XZ},
                   {&vs_technique_mlvnx_zstd, VS_PACK_ZSTD}};

enum { COMPRESSORS = sizeof compressors / sizeof *compressors };

/* The same of a compressor, up to levels that do not take long. */
static void draw_compressor(struct rng *r, char *text, size_t size)
{
    snprintf(text, size, "%s,level=%u,dcc=%u,dcc_next=%u", rng_below(r, 2) ? "split" : "unified",
             1 + (unsigned)rng_below(r, 6), 1 + (unsigned)rng_below(r, 64),
             1 + (unsigned)rng_below(r, 64));
}

/* Parameters of any technique that can be decoded. */
static void draw_params(struct rng *r, const struct vs_technique *t, char *text, size_t size)
{
    static const char *const policies[] = {"lru", "round-robin", "fifo", "plru"};
    static const char *const caches[] = {"coherent", "coherent", "shared"};
    static const char *const rules[] = {"all", "implied"};
    unsigned line = 4u << rng_below(r, 6), ways = 1u << rng_below(r, 4);
    unsigned sets = 1u << rng_below(r, 6), granule = 1u << rng_below(r, 6);
    size_t n = 0;
    *text = 0;
    if (t == &vs_technique_mlvnx_b)
        return;
    for (unsigned i = 0; i < COMPRESSORS; i++)
        if (t == compressors[i].technique) {
            draw_compressor(r, text, size);
            return;
        }
    n += (size_t)snprintf(text, size, "line=%u,ways=%u,size=%u,policy=%s", line, ways,
                          line * ways * sets, pick(r, policies, 4));
    if (t != &vs_technique_mc2rt && t != &vs_technique_mlvfa_dedicated)
        n += (size_t)snprintf(text + n, size - n, ",granule=%u", granule < line ? granule : line);
    if (t == &vs_technique_mlvcf_b || t == &vs_technique_mlvcf_e)
        n += (size_t)snprintf(text + n, size - n, ",caches=%s", pick(r, caches, 3));
    if (t == &vs_technique_mc2rt)
        n += (size_t)snprintf(text + n, size - n, ",rule=%s", pick(r, rules, 2));
    if (t == &vs_technique_mc2rt || t == &vs_technique_mlvcf_e)
        snprintf(text + n, size - n, ",fahcnt=%u,fahcnt_next=%u", 1 + (unsigned)rng_below(r, 9),
                 1 + (unsigned)rng_below(r, 9));
}

static void check_run(struct rng *r, const struct run *run)
{
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream a, b;
        char text[200];
        draw_params(r, *t, text, sizeof text);
        bool prior = rng_below(r, 4);
        encode(&a, (*t)->name, text, run, prior);
        encode_split(&b, (*t)->name, text, run, prior, 1 + rng_below(r, 3000));
        CHECK_EQ(a.nbits, b.nbits);
        CHECK_MEM(a.bits.data, b.bits.data, a.bits.len);
        check_replays(&a, run);
        stream_free(&a);
        stream_free(&b);
    }
}

TEST(replays_generated_runs)
{
    struct rng r = {77};
    for (unsigned i = 0; i < 24; i++) {
        const struct gen_options options = {.seed = 900 + i,
                                            .events = 4000 + 3000 * (i % 4),
                                            .threads = 1 + i % 7,
                                            .profile = (enum gen_profile)(i % GEN_PROFILE_END),
                                            .memory = true,
                                            .timed = i % 2,
                                            .syscalls = i % 3 ? 100 : 0,
                                            .signals = i % 5 ? 0 : 100,
                                            .gaps = i % 4 ? 2000 : GEN_NEVER,
                                            .wide = i % 3 ? 0 : 40,
                                            .unaligned = i % 2 ? 50 : 0};
        struct run run;
        generate(&run, &options);
        check_run(&r, &run);
        run_free(&run);
    }
}

/* Memory changes unseen only in gaps, and the prior tells what was there first. */
TEST(sees_every_change_of_a_run_without_gaps)
{
    static const char *const names[] = {"mlvCF_e", "mlvFA", "mc2RT"};
    const struct gen_options options = {
        .seed = 5, .events = 40000, .threads = 4, .memory = true, .gaps = GEN_NEVER};
    struct run run;
    generate(&run, &options);
    for (unsigned i = 0; i < 3; i++) {
        struct stream s;
        encode(&s, names[i], "", &run, true);
        CHECK_EQ(s.counts.unseen, 0);
        CHECK(s.counts.loads > 1000 && s.counts.states > 0);
        check_replays(&s, &run);
        stream_free(&s);
    }
    run_free(&run);
}

TEST(replays_many_cores)
{
    const struct gen_options options = {
        .seed = 6, .events = 20000, .threads = 200, .memory = true, .timed = true};
    struct run run;
    struct stream s;
    generate(&run, &options);
    encode(&s, "mlvCF_e", "size=1K", &run, true);
    check_replays(&s, &run);
    stream_free(&s);
    run_free(&run);
}

/* ---- compressors --------------------------------------------------------------------------- */

/* What the packets of a stream hold, unpacked. Returns its bits, as the last packet says. */
static uint64_t unpacked(const struct stream *s, enum vs_pack_kind kind, unsigned streams,
                         unsigned which, struct vs_buf *out)
{
    const struct vs_chunks chunks = {8, 8};
    struct vs_port_reader r;
    struct vs_unpack *u;
    uint8_t *packet = malloc(4096);
    uint64_t stream = 0, size, lengths[2] = {0};
    int64_t n;
    out->len = 0;
    CHECK(packet);
    CHECK_EQ(vs_unpack_open(&u, kind), 0);
    CHECK_EQ(vs_port_reader_init(&r, &s->shape, s->bits.data, s->bits.len, s->nbits), 0);
    for (;;) {
        CHECK_EQ(vs_port_next_packet(&r), 0);
        CHECK_EQ(vs_port_get(&r, VS_FIELD_HEADER, streams - 1, &stream), 0);
        CHECK_EQ(vs_port_get_chunks(&r, VS_FIELD_HEADER, chunks, &size), 0);
        if (!size)
            break;
        CHECK(size <= 4096);
        CHECK_EQ(vs_port_get_bytes(&r, VS_FIELD_PACKED, packet, size), 0);
        if (stream != which)
            continue;
        vs_unpack_feed(u, packet, size);
        do {
            CHECK_EQ(vs_buf_reserve(out, 1 << 16), 0);
            n = vs_unpack_get(u, out->data + out->len, 1 << 16, NULL);
            out->len += n > 0 ? (size_t)n : 0;
        } while (n > 0);
    }
    CHECK_ERR(vs_unpack_get(u, packet, 1, NULL), VSE_END);
    for (unsigned i = 0; i < streams; i++)
        CHECK_EQ(vs_port_get_chunks(&r, VS_FIELD_HEADER, chunks, &lengths[i]), 0);
    CHECK_ERR(vs_port_next_packet(&r), VSE_END);
    vs_port_reader_fini(&r);
    vs_unpack_close(u);
    free(packet);
    return lengths[which];
}

static void medium_run(struct run *run, unsigned threads, bool timed)
{
    const struct gen_options options = {.seed = 41,
                                        .events = 30000,
                                        .threads = threads,
                                        .memory = true,
                                        .timed = timed,
                                        .syscalls = 100,
                                        .gaps = 2000,
                                        .wide = 40};
    generate(run, &options);
}

TEST(packs_the_stream_of_the_baseline)
{
    for (unsigned i = 0; i < 2 * COMPRESSORS; i++) {
        enum vs_pack_kind kind = compressors[i / 2].kind;
        const char *name = compressors[i / 2].technique->name;
        struct stream base, unified, split;
        struct vs_buf out = {0};
        struct run run;
        medium_run(&run, 3, i % 2);
        encode(&base, "mlvNX_b", "", &run, false);
        encode(&unified, name, "", &run, false);
        CHECK_EQ(unpacked(&unified, kind, 1, 0, &out), base.nbits);
        CHECK_EQ(out.len, base.bits.len);
        CHECK_MEM(out.data, base.bits.data, out.len);
        CHECK(unified.nbits < base.nbits && unified.fields.messages > 2);
        CHECK_EQ(unified.fields.bits[VS_FIELD_PACKED] + unified.fields.bits[VS_FIELD_HEADER],
                 unified.nbits);
        CHECK(unified.fields.bits[VS_FIELD_HEADER] < unified.nbits / 100);
        encode(&split, name, "split", &run, false);
        uint64_t heads = unpacked(&split, kind, 2, 0, &out);
        CHECK_EQ(heads, base.fields.bits[VS_FIELD_CORE] + base.fields.bits[VS_FIELD_CYCLES]);
        CHECK_EQ(heads + unpacked(&split, kind, 2, 1, &out), base.nbits);
        /* the counts are the baseline's, of messages whole */
        CHECK_MEM(&unified.counts, &base.counts, sizeof base.counts);
        CHECK_MEM(&split.counts, &base.counts, sizeof base.counts);
        CHECK(base.counts.state_bits);
        stream_free(&base);
        stream_free(&unified);
        stream_free(&split);
        vs_buf_fini(&out);
        run_free(&run);
    }
}

/* Neither Ti nor dCC has a bit. */
TEST(splits_off_nothing_of_one_core_without_time)
{
    struct run run;
    medium_run(&run, 1, false);
    for (unsigned i = 0; i < COMPRESSORS; i++) {
        struct stream split;
        struct vs_buf out = {0};
        encode(&split, compressors[i].technique->name, "split", &run, false);
        CHECK_EQ(unpacked(&split, compressors[i].kind, 2, 0, &out), 0);
        CHECK_EQ(out.len, 0);
        check_replays(&split, &run);
        stream_free(&split);
        vs_buf_fini(&out);
    }
    run_free(&run);
}

/* Longer than the windows of decoders, with operands as large as there are. */
TEST(replays_more_than_a_window)
{
    struct script *s = script_new();
    uint8_t *bytes = calloc(1, VS_SIZE_MAX);
    CHECK(bytes);
    for (unsigned i = 0; i < 60; i++) {
        const struct vs_event large = {
            .kind = VS_NONDET, .thread = i % 3, .size = VS_SIZE_MAX, .icount = 1};
        memset(bytes, (int)i, VS_SIZE_MAX / (1 + i % 4));
        run_add(&s->run, &large, bytes, 100000 * i);
        for (unsigned k = 0; k < 2000; k++)
            load(s, k % 3, 8 * (k % 100), 1 + k % 8);
    }
    for (size_t i = 0; i < s->run.count; i++)
        s->run.cycles[i] = 7 * i * i;
    for (unsigned i = 0; i < 4; i++) {
        struct stream t;
        s->run.timed = i & 1;
        encode(&t, "mlvNX_zstd", i & 2 ? "split" : "", &s->run, false);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    free(bytes);
    script_free(s);
}

/* Packets by hand. */
static int pack_to_buf(void *buf, const uint8_t *bytes, size_t size)
{
    return vs_buf_put(buf, bytes, size);
}

static void put_packet(struct vs_port_writer *w, unsigned streams, unsigned which,
                       const uint8_t *bytes, size_t size)
{
    vs_port_begin_packet(w, 0);
    vs_port_put(w, VS_FIELD_HEADER, which, streams - 1);
    vs_port_put_chunks(w, VS_FIELD_HEADER, (struct vs_chunks){8, 8}, size);
    vs_port_put_bytes(w, VS_FIELD_PACKED, bytes, size);
    vs_port_end(w);
}

struct forgery {
    const char *says;
    int err;
    unsigned after;    /* bits after the last packet */
    int length[2];     /* of the streams, too much */
    unsigned bytes[2]; /* the same of bytes */
    unsigned large;    /* size of a packet that is too large */
    bool open;         /* there is no last packet */
    bool again;        /* a packet after the stream's end */
    bool swapped;      /* a stream's packets are the other's */
};

static void forge(struct stream *s, const struct vs_buf plain[2], const uint64_t bits[2],
                  const struct forgery *f)
{
    struct vs_port_writer w;
    struct vs_buf packed = {0};
    static const uint8_t zeros[5000];
    s->bits.len = 0;
    CHECK_EQ(vs_port_writer_init(&w, &s->shape, vs_port_to_buf, &s->bits), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct vs_pack *p;
        packed.len = 0;
        CHECK_EQ(vs_pack_open(&p, VS_PACK_GZIP, 1, pack_to_buf, &packed), 0);
        CHECK_EQ(vs_pack_put(p, plain[i].data, plain[i].len), 0);
        CHECK_EQ(vs_pack_put(p, zeros, f->bytes[i]), 0);
        CHECK_EQ(vs_pack_finish(p), 0);
        vs_pack_close(p);
        if (f->large)
            put_packet(&w, 2, i, zeros, f->large);
        put_packet(&w, 2, f->swapped ? 1 - i : i, packed.data, packed.len);
        if (f->again)
            put_packet(&w, 2, i, packed.data, packed.len);
    }
    if (!f->open) {
        put_packet(&w, 2, 0, NULL, 0);
        for (unsigned i = 0; i < 2; i++)
            vs_port_put_chunks(&w, VS_FIELD_HEADER, (struct vs_chunks){8, 8},
                               bits[i] + (uint64_t)f->length[i]);
        vs_port_put(&w, VS_FIELD_HEADER, 0, f->after);
    }
    s->nbits = (uint64_t)vs_port_finish(&w);
    vs_port_writer_fini(&w);
    vs_buf_fini(&packed);
}

TEST(refuses_packets_that_do_not_fit)
{
    static const struct forgery forgeries[] = {
        {.says = ""},
        {.says = "last packet is missing", .err = -VSE_TRUNCATED, .open = true},
        {.says = "something follows the last packet", .err = -VSE_CORRUPT, .after = 1},
        {.says = "should have", .err = -VSE_CORRUPT, .length = {8, 0}},
        {.says = "should have", .err = -VSE_CORRUPT, .length = {0, -8}},
        {.says = "should have", .err = -VSE_CORRUPT, .bytes = {0, 1}},
        {.says = "values are left, and no message",
         .err = -VSE_CORRUPT,
         .bytes = {0, 9},
         .length = {0, 72}},
        {.says = "too long a packet", .err = -VSE_CORRUPT, .large = 4097},
        {.says = "not what a packer writes", .err = -VSE_CORRUPT, .large = 100},
        {.says = "something follows its end", .err = -VSE_CORRUPT, .again = true},
        {.says = "", .err = -VSE_CORRUPT, .swapped = true},
    };
    struct vs_verify_data *v = malloc(sizeof *v);
    struct vs_buf plain[2] = {{0}};
    struct stream s;
    struct run run;
    CHECK(v);
    const struct gen_options options = {
        .seed = 31, .events = 500, .threads = 3, .memory = true, .timed = true};
    generate(&run, &options);
    encode(&s, "mlvNX_gzip", "split", &run, false);
    uint64_t bits[2] = {unpacked(&s, VS_PACK_GZIP, 2, 0, &plain[0]),
                        unpacked(&s, VS_PACK_GZIP, 2, 1, &plain[1])};
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        const struct forgery *f = &forgeries[i];
        forge(&s, plain, bits, f);
        CHECK_EQ(verify(&s, &run, s.nbits, IN_ORDER, v), f->err);
        CHECK_HAS(v->diag.text, f->says);
        CHECK_EQ(verify(&s, &run, s.nbits, BY_TURNS, v), f->err);
        CHECK_HAS(v->diag.text, f->says);
    }
    stream_free(&s);
    run_free(&run);
    vs_buf_fini(&plain[0]);
    vs_buf_fini(&plain[1]);
    free(v);
}

TEST(sends_packets_at_the_time_of_what_fills_them)
{
    struct script *s = script_new();
    struct vs_windows windows;
    struct vs_port_writer w;
    struct vs_technique_spec spec;
    struct vs_port_shape shape;
    struct rng r = {3};
    void *e;
    for (unsigned i = 0; i < 4000; i++) {
        for (unsigned k = 0; k < 64; k++)
            s->memory[k] = (uint8_t)rng_next(&r);
        load(s, 0, 0, 64);
    }
    s->run.timed = true;
    const struct vs_technique_setup setup = {1, 64, true};
    const struct vs_batch batch = run_batch(&s->run);
    parse(&spec, "mlvNX_gzip", "");
    vs_technique_shape(&spec, &setup, &shape);
    CHECK_EQ(vs_windows_init(&windows, 1, 10000), 0);
    CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
    w.windows = &windows;
    CHECK_EQ(spec.technique->data_encoder->open(&e, spec.params, &setup, NULL, &w), 0);
    CHECK_EQ(spec.technique->data_encoder->consume(e, &batch), 0);
    CHECK_EQ(spec.technique->data_encoder->finish(e), 0);
    int64_t bits = vs_port_finish(&w);
    struct vs_window_summary summary;
    vs_windows_summary(&windows, VS_WINDOW_ALL, 40000, &summary);
    CHECK_EQ(summary.bits, bits);
    CHECK_EQ(windows.count, 4);
    CHECK_EQ(vs_windows_bits(&windows, 0, 0), 0); /* held back */
    for (unsigned i = 1; i < 4; i++)
        CHECK(vs_windows_bits(&windows, i, 0) > 0);
    spec.technique->data_encoder->close(e);
    vs_port_writer_fini(&w);
    vs_windows_fini(&windows);
    script_free(s);
}

/* ---- what must fail ------------------------------------------------------------------------ */

TEST(fails_if_nothing_is_compared)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    store(s, 0, 0x100, 4);
    for (const struct vs_technique *const *each = next_data(vs_techniques); *each;
         each = next_data(each + 1)) {
        encode(&t, (*each)->name, "", &s->run, true);
        CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_NOTFOUND);
        CHECK_ERR(verify(&t, &s->run, t.nbits, BY_TURNS, v), VSE_NOTFOUND);
        stream_free(&t);
    }
    script_free(s);
    free(v);
}

TEST(finds_the_first_difference)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    for (unsigned i = 0; i < 20; i++)
        load(s, i % 2, 0x100 + 4 * i, 4);
    for (const struct vs_technique *const *each = next_data(vs_techniques); *each;
         each = next_data(each + 1)) {
        encode(&t, (*each)->name, "", &s->run, true);
        s->run.events[13].value ^= 0x100;
        CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_CORRUPT);
        CHECK_HAS(v->diag.text, "event 13, core 1, pc 0x1034");
        CHECK_EQ(v->diag.chunk, 13);
        s->run.events[13].value ^= 0x100;
        stream_free(&t);
    }
    script_free(s);
    free(v);
}

static void small_run(struct run *run, bool timed)
{
    const struct gen_options options = {.seed = 31,
                                        .events = 500,
                                        .threads = 3,
                                        .memory = true,
                                        .timed = timed,
                                        .syscalls = 100,
                                        .gaps = 200};
    generate(run, &options);
}

TEST(stops_where_a_stream_is_cut)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct run run;
    CHECK(v);
    small_run(&run, true);
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream s;
        encode(&s, (*t)->name, "", &run, true);
        for (uint64_t n = 0; n < s.nbits; n += 1 + n / 50) {
            int err = verify(&s, &run, n, n & 1 ? IN_ORDER : BY_TURNS, v);
            CHECK(err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
            CHECK(v->diag.error == err && v->diag.text[0]);
            err = verify(&s, &run, n, IN_ORDER, v);
            CHECK(err == -VSE_END || err == -VSE_TRUNCATED);
        }
        stream_free(&s);
    }
    run_free(&run);
    free(v);
}

TEST(names_what_is_wrong_with_a_damaged_stream)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct rng r = {13};
    struct run run;
    CHECK(v);
    small_run(&run, false);
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream s;
        unsigned found = 0;
        encode(&s, (*t)->name, "", &run, true);
        for (unsigned i = 0; i < 300; i++) {
            uint64_t bit = rng_below(&r, s.nbits);
            s.bits.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int err = verify(&s, &run, s.nbits, i & 1 ? IN_ORDER : BY_TURNS, v);
            /* bytes that no load asks for may be anything */
            CHECK(err == 0 || err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
            CHECK(err == 0 || v->diag.text[0]);
            found += err != 0;
            s.bits.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        CHECK(found > 150);
        stream_free(&s);
    }
    run_free(&run);
    free(v);
}
