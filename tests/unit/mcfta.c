/* SPDX-License-Identifier: MIT */
/* mcfTA's packets, taken apart by hand, and lost: a decoder finds its feet at the next reset. */
#include "technique/mcfta.h"

#include "port/store.h"
#include "replay/walk.h"
#include "runs.h"
#include "study/verify.h"

enum { CORES = 3 };

struct trail {
    struct vs_step *steps;
    size_t count, capacity;
};

struct fixture {
    struct place place;
    struct file file;
    struct vs_reader *reader;
    struct vs_verify v;
    struct vs_technique_spec spec;
    struct vs_port_shape shape;
    struct vs_port_store store;
    struct trail whole[CORES]; /* the steps of the undamaged stream */
};

static int keep(void *context, const struct vs_step *steps, size_t count)
{
    struct trail *trails = context;
    for (size_t i = 0; i < count; i++) {
        struct trail *t = &trails[steps[i].core];
        if (t->count == t->capacity) {
            t->capacity = t->capacity ? 2 * t->capacity : 1024;
            t->steps = realloc(t->steps, t->capacity * sizeof(*t->steps));
            CHECK(t->steps);
        }
        t->steps[t->count++] = steps[i];
    }
    return 0;
}

static void trails_fini(struct trail *trails)
{
    for (unsigned i = 0; i < CORES; i++)
        free(trails[i].steps);
}

/* Walks a stream to its end, past whatever cannot be read. Returns how often it had to look for a
 * synchronisation point. */
static unsigned walk(struct fixture *f, const struct vs_port_stream *stream, struct trail *trails)
{
    const struct vs_flow_decoder_ops *ops = f->spec.technique->flow_decoder;
    struct vs_port_reader port;
    struct vs_flow_point point;
    struct vs_walk w;
    void *decoder;
    unsigned found = 0;
    CHECK_EQ(vs_port_reader_init(&port, &f->shape, stream), 0);
    CHECK_EQ(ops->open(&decoder, f->spec.params, &f->v.setup, &port), 0);
    const struct vs_walk_config config = {.isa = f->v.isa,
                                          .code = &f->v.code,
                                          .ops = ops,
                                          .decoder = decoder,
                                          .port = &port,
                                          .cores = CORES,
                                          .sink = keep,
                                          .context = trails};
    CHECK_EQ(vs_walk_init(&w, &config), 0);
    while (vs_walk_all(&w) < 0) {
        found++;
        CHECK(w.diag.error == -VSE_CORRUPT || w.diag.error == -VSE_TRUNCATED);
        if (vs_walk_resume(&w, &point) < 0)
            break;
        CHECK(point.core < CORES && point.pc);
    }
    vs_walk_fini(&w);
    ops->close(decoder);
    vs_port_reader_fini(&port);
    return found;
}

static void fixture_init(struct fixture *f, const char *spec, bool timed)
{
    const struct gen_options o = {.seed = 5,
                                  .events = 60000,
                                  .threads = CORES,
                                  .profile = GEN_MIXED,
                                  .timed = timed,
                                  .wide = GEN_NEVER};
    *f = (struct fixture){0};
    place_init(&f->place);
    CHECK_EQ(gen_record("run.vest", &o, NULL, NULL), 0);
    f->file = file_load("run.vest");
    f->reader = file_open(&f->file);
    CHECK_EQ(vs_verify_init(&f->v, f->reader, NULL), 0);
    CHECK_EQ(vs_technique_parse(&f->spec, spec, NULL), 0);
    vs_technique_settle(&f->spec, timed);
    vs_technique_shape(&f->spec, &f->v.setup, &f->shape);
    CHECK(f->shape.packets && !f->shape.per_core);
    CHECK(vs_verify_encode(&f->v, &f->spec, &f->store, NULL, NULL, NULL) > 0);
    CHECK_EQ(walk(f, f->store.streams, f->whole), 0);
}

static void fixture_fini(struct fixture *f)
{
    trails_fini(f->whole);
    vs_port_store_fini(&f->store);
    vs_verify_fini(&f->v);
    vs_reader_close(f->reader);
    file_free(&f->file);
    place_fini(&f->place);
}

/* ---- packets, taken apart by the text of mcfta.h ----------------------------------------------
 */

struct packet {
    unsigned core, kind; /* the ones before the 0, at most 3 */
    uint64_t from, to;   /* bits */
};

static uint64_t take(struct vs_bitr *r, unsigned n)
{
    uint64_t v = 0;
    CHECK_EQ(vs_bitr_get(r, n, &v), 0);
    return v;
}

static uint64_t take_chunks(struct vs_bitr *r, unsigned first, unsigned other)
{
    uint64_t v = take(r, first);
    for (unsigned at = first; take(r, 1); at += other)
        v |= take(r, other) << at;
    return v;
}

static struct packet take_packet(const struct fixture *f, struct vs_bitr *r)
{
    const struct vs_mcfta_params *p = (const struct vs_mcfta_params *)f->spec.params;
    struct packet k = {.from = r->pos, .core = (unsigned)take(r, 2)};
    bool timed = f->v.setup.timed, points = timed && p->time == VS_MCFTA_POINTS;
    unsigned length_bits = 0, ones = 0;
    uint64_t length;
    while (k.kind < 3 && take(r, 1))
        k.kind++;
    if (k.kind == 3) {
        CHECK_EQ(take(r, 64), VS_MCFTA_MARK);
        take(r, 64);
        take_chunks(r, 16, 8);
        if (timed)
            take_chunks(r, 16, 8);
        k.to = r->pos;
        return k;
    }
    if (k.kind) {
        while (take(r, 1))
            ones++;
        take(r, 10 + 5 * ones);
    }
    while (8 * p->size >> length_bits)
        length_bits++;
    length = take(r, length_bits);
    if (timed && !points)
        take_chunks(r, (unsigned)p->dcc, (unsigned)p->dcc_next);
    CHECK(length <= vs_bitr_left(r));
    r->pos += length;
    if (k.kind)
        take_chunks(r, 4, 2);
    if (k.kind == 1) {
        if (points)
            take_chunks(r, (unsigned)p->dcc, (unsigned)p->dcc_next);
        take(r, 1);
        take_chunks(r, 3, 5);
    }
    k.to = r->pos;
    return k;
}

/* The stream without some of its bits, in the fixture's other store. */
static struct vs_port_stream without(const struct vs_port_stream *s, const struct packet *k,
                                     uint8_t *bytes)
{
    struct vs_bitr r;
    struct vs_bitw w;
    uint64_t bit;
    vs_bitw_init(&w, bytes, s->size + 8);
    CHECK_EQ(vs_bitr_init(&r, s->data, s->size, s->nbits), 0);
    while (vs_bitr_get(&r, 1, &bit) == 0)
        if (r.pos <= k->from || r.pos > k->to)
            vs_bitw_put(&w, bit, 1);
    CHECK(vs_bitw_finish(&w) > 0);
    return (struct vs_port_stream){bytes, s->size, s->nbits - (k->to - k->from)};
}

static bool same_step(const struct vs_step *a, const struct vs_step *b)
{
    return a->pc == b->pc && a->target == b->target && a->icount == b->icount &&
           a->kind == b->kind && a->flags == b->flags && a->time == b->time;
}

/* How many of the last steps are the same. */
static size_t same_end(const struct trail *a, const struct trail *b)
{
    size_t n = 0;
    while (n < a->count && n < b->count &&
           same_step(&a->steps[a->count - 1 - n], &b->steps[b->count - 1 - n]))
        n++;
    return n;
}

static void lose(struct fixture *f, const struct packet *k)
{
    struct trail found[CORES] = {{0}};
    uint8_t *bytes = malloc(f->store.streams->size + 8);
    size_t lost = 0, all = 0;
    struct vs_port_stream s = without(f->store.streams, k, bytes);
    CHECK_EQ(walk(f, &s, found), 1);
    for (unsigned i = 0; i < CORES; i++) {
        size_t end = same_end(&f->whole[i], &found[i]);
        CHECK(end > 0); /* it has found its feet, and is right from there on */
        all += f->whole[i].count;
        lost += f->whole[i].count > found[i].count ? f->whole[i].count - found[i].count : 0;
    }
    CHECK(lost < all / 4);
    trails_fini(found);
    free(bytes);
}

static void lose_packets(const char *spec, bool timed)
{
    struct fixture f;
    struct vs_bitr r;
    unsigned packets[4] = {0}, lost = 0;
    fixture_init(&f, spec, timed);
    const struct vs_port_stream *s = f.store.streams;
    CHECK_EQ(vs_bitr_init(&r, s->data, s->size, s->nbits), 0);
    while (vs_bitr_left(&r)) {
        struct packet k = take_packet(&f, &r);
        bool middle = k.from > s->nbits / 4 && k.to < s->nbits / 2;
        if (k.kind == VS_MCFTA_FULL && middle && packets[k.kind] % 7 == 0) {
            lose(&f, &k);
            lost++;
        }
        packets[k.kind]++;
    }
    CHECK(lost > 3 && packets[VS_MCFTA_SYNC] > 10 && packets[VS_MCFTA_ELSEWHERE] >= 2 * CORES);
    fixture_fini(&f);
}

TEST(goes_on_at_the_next_reset)
{
    lose_packets("mcfTA:size=64,reset=2", false);
    lose_packets("mcfTA:size=64,reset=3,mix=64,time=packet", true);
    lose_packets("mcfTA:size=64,reset=3,mix=64,views=7,sets=16", false);
    lose_packets("mcfTA:size=128,reset=2", true);
}

TEST(goes_on_with_shared_predictors)
{
    lose_packets("mcfTA:size=64,reset=2,predictors=shared", false);
}

TEST(cannot_go_on_without_resets)
{
    struct fixture f;
    struct vs_bitr r;
    struct packet k = {0};
    struct trail found[CORES] = {{0}};
    fixture_init(&f, "mcfTA:size=64", false);
    const struct vs_port_stream *s = f.store.streams;
    uint8_t *bytes = malloc(s->size + 8);
    CHECK_EQ(vs_bitr_init(&r, s->data, s->size, s->nbits), 0);
    while (k.kind != VS_MCFTA_FULL || k.from < s->nbits / 2)
        k = take_packet(&f, &r);
    struct vs_port_stream damaged = without(s, &k, bytes);
    CHECK_EQ(walk(&f, &damaged, found), 1);
    CHECK(found[k.core].count < f.whole[k.core].count);
    trails_fini(found);
    free(bytes);
    fixture_fini(&f);
}

/* ---- what no encoder writes -------------------------------------------------------------------
 */

TEST(notices_each_bit_of_a_short_stream)
{
    struct fixture f;
    fixture_init(&f, "mcfTA:size=64,latency=40,reset=50", true);
    for (uint64_t bit = 0; bit < 3000; bit++) {
        struct vs_verify_result result = {0};
        vs_port_store_flip(&f.store, bit);
        CHECK_EQ(vs_verify_decode(&f.v, &f.spec, f.store.streams, &result, NULL), 0);
        if (result.outcome == VS_VERIFY_SAME)
            unittest_fail(__FILE__, __LINE__, "bit %d is not noticed", (int)bit);
        vs_port_store_flip(&f.store, bit);
    }
    fixture_fini(&f);
}
