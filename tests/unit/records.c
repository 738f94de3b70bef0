/* SPDX-License-Identifier: MIT */
/* A file that was written from records is the same as if their events had been put one by one. */
#include "trace/recipe.h"

#include "runs.h"
#include "vestige/run.h"

enum { RECIPES = 40, STEPS_MAX = 12, LENGTH_MAX = 512, RECORDS = 3000, THREADS = 3 };

struct made {
    struct vs_recipe recipe;
    struct vs_recipe_step steps[STEPS_MAX];
};

/* A load or store, with what varies at the end of the record so far. */
static void make_access(struct rng *rng, struct made *m, struct vs_recipe_step *s, uint64_t pc)
{
    static const uint16_t sizes[] = {1, 2, 4, 8, 8, 16, 32};

    *s = (struct vs_recipe_step){.event = {.kind = rng_below(rng, 3) ? VS_LOAD : VS_STORE,
                                           .pc = pc,
                                           .size = sizes[rng_below(rng, 7)],
                                           .icount = (uint16_t)rng_below(rng, 3)}};
    if (rng_below(rng, 4)) {
        s->addr_mask = UINT64_MAX;
        s->addr_at = (uint16_t)m->recipe.length;
        s->event.addr = 16 * rng_below(rng, 4);
        m->recipe.length += 8;
    } else {
        s->event.addr = 0x5000 + 8 * rng_below(rng, 8);
    }
    s->value_at = (uint16_t)m->recipe.length;
    if (s->event.size > 8 || rng_below(rng, 3)) {
        s->value_mask = s->event.size < 8 ? (UINT64_C(1) << 8 * s->event.size) - 1 : UINT64_MAX;
        m->recipe.length += s->event.size < 8 ? 8 : s->event.size;
    } else {
        s->value_at = 0;
        s->event.value = rng_below(rng, 200);
    }
}

static void make_branch(struct rng *rng, struct made *m, struct vs_recipe_step *s, uint64_t pc)
{
    static const uint8_t flags[] = {
        VS_BR_TAKEN,
        VS_BR_COND,
        VS_BR_COND | VS_BR_TAKEN,
        VS_BR_CALL | VS_BR_TAKEN,
        VS_BR_INDIRECT | VS_BR_TAKEN,
        VS_BR_INDIRECT | VS_BR_CALL | VS_BR_TAKEN,
        VS_BR_INDIRECT | VS_BR_RETURN | VS_BR_TAKEN,
    };

    *s = (struct vs_recipe_step){.event = {.kind = VS_BRANCH,
                                           .pc = pc,
                                           .addr = 0x1000,
                                           .size = 2,
                                           .icount = 1,
                                           .flags = flags[rng_below(rng, 7)]}};
    if (s->event.flags & VS_BR_INDIRECT) {
        s->event.addr = 0;
        s->addr_mask = UINT64_MAX;
        s->addr_at = (uint16_t)m->recipe.length;
        m->recipe.length += 8;
    }
}

/* Some have the same instructions, so that the same sites follow each other differently. */
static void make_recipe(struct rng *rng, struct made *m, unsigned i)
{
    uint64_t pc = 0x1000 + 0x40 * (i / 2);
    unsigned n = (unsigned)rng_below(rng, STEPS_MAX - 1);

    *m = (struct made){.recipe = {.steps = m->steps, .length = 8}};
    for (; m->recipe.count < n; m->recipe.count++)
        make_access(rng, m, &m->steps[m->recipe.count], pc + m->recipe.count / 2);
    if (rng_below(rng, 4))
        make_branch(rng, m, &m->steps[m->recipe.count++], pc + 0x20);
    CHECK(m->recipe.length <= LENGTH_MAX);
}

/* What does not change is taken from the recipe, so that some of the words do not matter. */
static void fill(struct rng *rng, const struct made *m, uint8_t *record, uint64_t turn)
{
    for (uint32_t i = 0; i < m->recipe.length; i += 8) {
        uint64_t word = rng_below(rng, 3) ? 0x8000 + 8 * (turn % 100) : rng_below(rng, 1 << 20);

        memcpy(record + i, &word, 8);
    }
}

struct stream {
    struct made made[RECIPES];
    uint32_t recipes[RECORDS];
    uint8_t bytes[RECORDS * LENGTH_MAX];
    size_t size;
    struct vs_event events[RECORDS * STEPS_MAX];
};

static void start_threads(struct vs_writer *w)
{
    for (uint16_t i = 0; i < THREADS; i++) {
        struct vs_event e = {.kind = VS_COUNT, .icount = 1, .thread = i};

        CHECK_EQ(vs_writer_put(w, &(struct vs_batch){.events = &e, .count = 1}), 0);
    }
}

/* Puts records [from, to) of the stream, from byte `at` on. Returns where they end. */
static size_t put(struct vs_writer *w, struct stream *s, size_t from, size_t to, size_t at,
                  uint16_t thread, bool as_records)
{
    size_t count = 0, end = at;

    for (size_t i = from; i < to; i++) {
        const struct vs_recipe *r = &s->made[s->recipes[i]].recipe;

        for (uint32_t k = 0; k < r->count; k++)
            s->events[count++] = vs_recipe_event(&r->steps[k], s->bytes + end, end - at, thread);
        end += r->length;
    }
    if (as_records)
        CHECK_EQ(vs_writer_records(w, &(struct vs_records){s->bytes + at, end - at,
                                                           s->recipes + from, to - from, thread}),
                 0);
    else
        CHECK_EQ(vs_writer_put(w, &(struct vs_batch){.events = s->events,
                                                     .wide = s->bytes + at,
                                                     .wide_size = end - at,
                                                     .count = count}),
                 0);
    return end;
}

/* `mixed`: some of the records are put as events all the same. */
static void write_all(struct stream *s, const char *path, const struct vs_writer_options *o,
                      uint64_t seed, bool records, bool mixed)
{
    struct rng rng = rng_init(seed);
    struct vs_writer *w;
    size_t at = 0;

    CHECK_EQ(vs_writer_open(&w, path, o, NULL), 0);
    for (unsigned i = 0; records && i < RECIPES; i++)
        CHECK_EQ(vs_writer_recipe(w, &s->made[i].recipe), i);
    start_threads(w);
    for (size_t from = 0, to; from < RECORDS; from = to) {
        uint16_t thread = (uint16_t)rng_below(&rng, THREADS);
        bool events = rng_below(&rng, 4) == 0 && mixed;

        to = from + 1 + rng_below(&rng, 200);
        to = to < RECORDS ? to : RECORDS;
        at = put(w, s, from, to, at, thread, records && !events);
    }
    CHECK_EQ(at, s->size);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
}

static void check_same(const char *a, const char *b)
{
    struct file x = file_load(a), y = file_load(b);

    CHECK_EQ(x.size, y.size);
    CHECK(memcmp(x.data, y.data, x.size) == 0);
    file_free(&x);
    file_free(&y);
}

static struct stream *make_stream(uint64_t seed)
{
    struct stream *s = calloc(1, sizeof(*s));
    struct rng rng = rng_init(seed);
    unsigned now = 0;

    CHECK(s);
    for (unsigned i = 0; i < RECIPES; i++)
        make_recipe(&rng, &s->made[i], i);
    for (size_t i = 0; i < RECORDS; i++) {
        /* Mostly one after the other, as code runs. */
        now = rng_below(&rng, 8) ? (now + 1) % RECIPES : (unsigned)rng_below(&rng, RECIPES);
        s->recipes[i] = now;
        fill(&rng, &s->made[now], s->bytes + s->size, i);
        s->size += s->made[now].recipe.length;
    }
    return s;
}

static void compare(const struct vs_writer_options *o)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct stream *s = make_stream(seed);
        struct place p;

        place_init(&p);
        write_all(s, "events.vest", o, seed, false, false);
        write_all(s, "records.vest", o, seed, true, false);
        write_all(s, "mixed.vest", o, seed, true, true);
        check_same("events.vest", "records.vest");
        check_same("events.vest", "mixed.vest");
        place_fini(&p);
        free(s);
    }
}

TEST(writes_records_as_their_events)
{
    compare(&(struct vs_writer_options){.features = VS_RUN_LOADS | VS_RUN_STORES});
}

TEST(ends_chunks_within_records)
{
    compare(
        &(struct vs_writer_options){.features = VS_RUN_LOADS | VS_RUN_STORES, .chunk_events = 97});
    compare(&(struct vs_writer_options){
        .features = VS_RUN_LOADS | VS_RUN_STORES, .chunk_bytes = 1000, .inline_work = true});
}

TEST(writes_records_when_the_table_of_sites_is_full)
{
    compare(&(struct vs_writer_options){
        .features = VS_RUN_LOADS | VS_RUN_STORES, .max_sites = 50, .workers = 2});
}

/* The same stream without accesses. */
TEST(writes_records_of_branches)
{
    struct vs_writer_options o = {.chunk_events = 500};
    struct stream *s = make_stream(7);
    struct place p;

    for (unsigned i = 0; i < RECIPES; i++) {
        struct vs_recipe *r = &s->made[i].recipe;

        if (r->count && s->made[i].steps[r->count - 1].event.kind == VS_BRANCH)
            s->made[i].steps[0] = s->made[i].steps[r->count - 1];
        r->count = r->count && s->made[i].steps[0].event.kind == VS_BRANCH;
    }
    place_init(&p);
    write_all(s, "events.vest", &o, 3, false, false);
    write_all(s, "records.vest", &o, 3, true, true);
    check_same("events.vest", "records.vest");
    place_fini(&p);
    free(s);
}

TEST(refuses_what_breaks_the_rules)
{
    struct vs_recipe_step steps[2] = {
        {.event = {.kind = VS_LOAD, .pc = 1, .addr = 8, .size = 4, .icount = 1}},
        {.event = {.kind = VS_BRANCH, .pc = 2, .addr = 1, .size = 2, .icount = 1, .flags = 16}}};
    struct vs_recipe r = {steps, 2, 16};
    const uint8_t record[16] = {0};
    const uint32_t number = 0;
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    CHECK_EQ(
        vs_writer_open(&w, "a.vest", &(struct vs_writer_options){.features = VS_RUN_LOADS}, NULL),
        0);
    steps[0].addr_at = 9;
    CHECK_ERR(vs_writer_recipe(w, &r), VSE_INVAL);
    steps[0].addr_at = 8;
    steps[0].value_at = 16;
    CHECK_ERR(vs_writer_recipe(w, &r), VSE_INVAL);
    steps[0].value_at = 8;
    steps[0].event.kind = VS_NONDET;
    CHECK_ERR(vs_writer_recipe(w, &r), VSE_INVAL);
    steps[0].event.kind = VS_BRANCH;
    CHECK_ERR(vs_writer_recipe(w, &r), VSE_INVAL);
    steps[0].event.kind = VS_STORE; /* which the run does not have */
    r.length = 4;
    CHECK_ERR(vs_writer_recipe(w, &r), VSE_INVAL);
    r.length = 16;
    CHECK_EQ(vs_writer_recipe(w, &r), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_ERR(vs_writer_records(w, &(struct vs_records){record, 16, &number, 1, 0}), VSE_INVAL);
        CHECK_HAS(vs_writer_diag(w)->text, "a store in a run without VS_RUN_STORES");
    }
    vs_writer_abort(w);
    place_fini(&p);
}
