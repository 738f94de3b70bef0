/* SPDX-License-Identifier: MIT */
/* A technique that is not in the table, frames its own packets, in a stream per core, and has
 * synchronisation points: encoded, decoded, damaged, and found again. */
#include "toy_technique.h"

#include "base/bytes.h"
#include "port/store.h"
#include "port/vport.h"
#include "replay/walk.h"
#include "runs.h"
#include "study/bandwidth.h"
#include "study/prove.h"

enum { CORES = 4, PERIOD = 500 };

/* Steps of one core. */
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
    struct trail run[CORES];
    uint64_t syncs;
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

static void read_trails(struct fixture *f)
{
    struct vs_stepper stepper = {0};
    struct vs_batch batch;
    CHECK_EQ(vs_reader_seek_event(f->reader, 0), 0);
    while (vs_reader_next(f->reader, &batch) > 0) {
        CHECK_EQ(vs_stepper_take(&stepper, &batch), 0);
        CHECK_EQ(keep(f->run, stepper.steps, stepper.count), 0);
    }
    CHECK_EQ(vs_stepper_end(&stepper, f->v.end), 0);
    CHECK_EQ(keep(f->run, stepper.steps, stepper.count), 0);
    vs_stepper_fini(&stepper);
}

static void encode(struct fixture *f, uint64_t period)
{
    const struct vs_bandwidth_options options = {.window = 1000, .sync = period};
    struct vs_window_summary s;
    struct vs_bandwidth b;
    CHECK_EQ(vs_bandwidth_init(&b, f->reader, &options, NULL), 0);
    CHECK_EQ(vs_bandwidth_add(&b, &f->spec, vs_port_to_store, &f->store, NULL), 0);
    CHECK_EQ(vs_bandwidth_run(&b, f->reader, NULL, NULL), 0);
    const struct vs_bandwidth_row *row = &b.rows[0];
    CHECK_EQ(row->bits, vs_port_streams_bits(f->store.streams, f->store.count));
    CHECK_EQ(row->bits, vs_port_counts_bits(&row->counts));
    CHECK_EQ(row->counts.frame, 64 * row->counts.messages);               /* the sums */
    CHECK(row->counts.messages < f->v.steps * 2 / 3);                     /* packets have several */
    CHECK(row->counts.bits[VS_FIELD_TARGET] < 64 * row->counts.messages); /* some are full */
    CHECK_EQ(vs_port_counts_payload(&row->counts), row->bits - row->counts.frame);
    vs_windows_summary(&row->windows, VS_WINDOW_ALL, b.end, &s);
    CHECK_EQ(s.bits, row->bits);
    f->syncs = vs_counts_get(&row->encoded, "syncs");
    vs_bandwidth_fini(&b);
}

static void fixture_init(struct fixture *f, bool timed, uint64_t period)
{
    const struct gen_options o = {.seed = 11,
                                  .events = 60000,
                                  .threads = CORES,
                                  .profile = GEN_MIXED,
                                  .timed = timed,
                                  .wide = GEN_NEVER,
                                  .signals = 300,
                                  .gaps = 3000,
                                  .syscalls = 200};
    *f = (struct fixture){0};
    place_init(&f->place);
    CHECK_EQ(gen_record("run.vest", &o, NULL, NULL), 0);
    f->file = file_load("run.vest");
    f->reader = file_open(&f->file);
    CHECK_EQ(vs_verify_init(&f->v, f->reader, NULL), 0);
    CHECK_EQ(vs_technique_defaults(&f->spec, &toy_technique), 0);
    vs_technique_shape(&f->spec, &f->v.setup, &f->shape);
    CHECK(f->shape.packets && f->shape.per_core);
    CHECK_EQ(vs_port_store_init(&f->store, &f->shape), 0);
    read_trails(f);
    encode(f, period);
}

static void fixture_fini(struct fixture *f)
{
    trails_fini(f->run);
    vs_port_store_fini(&f->store);
    vs_verify_fini(&f->v);
    vs_reader_close(f->reader);
    file_free(&f->file);
    place_fini(&f->place);
}

/* ---- whole streams ---- */

static void check_same(struct fixture *f, const struct vs_port_stream *streams)
{
    struct vs_verify_result r = {0};
    CHECK_EQ(vs_verify_decode(&f->v, &f->spec, streams, &r, NULL), 0);
    if (r.outcome != VS_VERIFY_SAME)
        unittest_fail(__FILE__, __LINE__, "%s", r.diag.text);
    CHECK_EQ(r.compared, f->v.steps);
}

TEST(decodes_what_it_encodes)
{
    for (unsigned timed = 0; timed < 2; timed++) {
        struct vs_verify_result r;
        struct fixture f;
        fixture_init(&f, timed, 0);
        CHECK_EQ(f.syncs, 0);
        check_same(&f, f.store.streams);
        CHECK_EQ(vs_verify_flow(&f.v, &f.spec, &r, NULL), 0);
        CHECK_EQ(r.outcome, VS_VERIFY_SAME);
        CHECK_EQ(r.bits, vs_port_streams_bits(f.store.streams, f.store.count));
        fixture_fini(&f);
    }
}

TEST(decodes_past_synchronisation_points)
{
    struct fixture f;
    fixture_init(&f, true, PERIOD);
    CHECK(f.syncs > f.v.instructions / PERIOD / 2 && f.syncs <= f.v.instructions / PERIOD);
    check_same(&f, f.store.streams);
    fixture_fini(&f);
}

TEST(is_proved_and_mutated_without_a_table)
{
    const struct vs_mutate mutate = {.flips = 300, .seed = 3};
    struct vs_proof proof = {0};
    struct vs_diag diag = {0};
    struct fixture f;
    fixture_init(&f, true, 0);
    proof.spec = f.spec;
    CHECK_EQ(vs_prove(&f.v, &(struct vs_proof_source){"run.vest", NULL}, &mutate, &proof, 1, NULL,
                      &diag),
             0);
    CHECK_EQ(proof.error, 0);
    CHECK_EQ(proof.result.outcome, VS_VERIFY_SAME);
    CHECK_EQ(proof.mutation.all.flips, 300);
    CHECK_EQ(proof.mutation.all.noticed, 300);              /* every packet has a sum */
    CHECK_EQ(proof.mutation.fields[VS_FIELD_END].flips, 0); /* all bits are read */
    CHECK(proof.mutation.fields[VS_FIELD_OUTCOME].flips > 0);
    fixture_fini(&f);
}

TEST(lies_in_a_file)
{
    struct vs_vport_writer *w;
    struct vs_vport *v;
    struct fixture f;
    fixture_init(&f, false, PERIOD);
    const struct vs_vport_about about = {.technique = "toy",
                                         .isa = "x86-64",
                                         .address_bits = 64,
                                         .cores = CORES,
                                         .per_core = f.shape.per_core};
    CHECK_EQ(vs_vport_create(&w, "toy.vport", &about, false, NULL), 0);
    vs_port_store_fini(&f.store);
    struct vs_bandwidth b;
    CHECK_EQ(vs_bandwidth_init(&b, f.reader, NULL, NULL), 0);
    CHECK_EQ(vs_bandwidth_add(&b, &f.spec, vs_vport_append, w, NULL), 0);
    CHECK_EQ(vs_bandwidth_run(&b, f.reader, NULL, NULL), 0);
    CHECK_EQ(vs_vport_seal(w, NULL), 0);
    CHECK_EQ(vs_vport_open(&v, "toy.vport", NULL), 0);
    CHECK_EQ(v->nbits, b.rows[0].bits);
    check_same(&f, v->streams);
    vs_bandwidth_fini(&b);
    vs_vport_close(v);
    fixture_fini(&f);
}

TEST(says_in_which_stream_it_is_cut)
{
    struct vs_verify_result r = {0};
    struct fixture f;
    fixture_init(&f, false, 0);
    f.store.streams[2].nbits -= 8;
    CHECK_EQ(vs_verify_decode(&f.v, &f.spec, f.store.streams, &r, NULL), 0);
    CHECK_EQ(r.outcome, VS_VERIFY_UNREADABLE);
    CHECK_EQ(r.diag.error, -VSE_TRUNCATED);
    CHECK_HAS(r.diag.text, "stream 2, bit ");
    fixture_fini(&f);
}

/* ---- damage ---- */

struct walking {
    struct vs_port_reader port;
    void *decoder;
    struct vs_walk w;
    struct trail found[CORES];
};

static void walk_open(struct walking *k, struct fixture *f)
{
    *k = (struct walking){0};
    CHECK_EQ(vs_port_reader_init(&k->port, &f->shape, f->store.streams), 0);
    CHECK_EQ(toy_technique.flow_decoder->open(&k->decoder, f->spec.params, &f->v.setup, &k->port),
             0);
    const struct vs_walk_config config = {.isa = f->v.isa,
                                          .code = &f->v.code,
                                          .ops = toy_technique.flow_decoder,
                                          .decoder = k->decoder,
                                          .port = &k->port,
                                          .cores = CORES,
                                          .limit = 2 * f->v.instructions,
                                          .sink = keep,
                                          .context = k->found};
    CHECK_EQ(vs_walk_init(&k->w, &config), 0);
}

static void walk_close(struct walking *k)
{
    vs_walk_fini(&k->w);
    toy_technique.flow_decoder->close(k->decoder);
    vs_port_reader_fini(&k->port);
    trails_fini(k->found);
}

static bool same_step(const struct vs_step *a, const struct vs_step *b)
{
    return a->pc == b->pc && a->target == b->target && a->icount == b->icount &&
           a->kind == b->kind && a->flags == b->flags && a->size == b->size;
}

/* The last steps of both that are the same. */
static size_t same_end(const struct trail *a, const struct trail *b)
{
    size_t n = 0;
    while (n < a->count && n < b->count &&
           same_step(&a->steps[a->count - 1 - n], &b->steps[b->count - 1 - n]))
        n++;
    return n;
}

static size_t same_front(const struct trail *a, const struct trail *b)
{
    size_t n = 0;
    while (n < a->count && n < b->count && same_step(&a->steps[n], &b->steps[n]))
        n++;
    return n;
}

static bool is_gap(const struct vs_step *s)
{
    return s->kind == VS_STEP_DISCONTINUITY && s->target == VS_STEP_NOWHERE;
}

/* Instructions of the run's steps from one to another. */
static uint64_t instructions(const struct trail *t, size_t from, size_t to)
{
    uint64_t n = 0;
    for (; from < to; from++)
        n += t->steps[from].icount;
    return n;
}

static void check_all(const struct trail *run, const struct trail *found)
{
    CHECK_EQ(found->count, run->count);
    CHECK_EQ(same_front(run, found), run->count);
}

/* What was walked, a gap, where it goes on, and the rest. */
static void check_gap(const struct trail *run, const struct trail *found, uint64_t pc)
{
    size_t front = same_front(run, found), end = same_end(run, found);
    CHECK(end > 0 && front < run->count - end && front + end < found->count);
    CHECK(found->count - front - end <= 2); /* one if the core was in a gap of the run */
    const struct vs_step *on = &found->steps[found->count - end - 1];
    CHECK(on->kind == VS_STEP_DISCONTINUITY && on->icount == 0 && on->target == pc);
    if (found->count - front - end == 2)
        CHECK(is_gap(&found->steps[front]));
    /* a period, a packet's run of outcomes, and stretches without branches */
    CHECK(instructions(run, front, run->count - end) < 3 * PERIOD);
}

static void check_damage(struct fixture *f, unsigned hit, uint64_t bit)
{
    struct vs_flow_point point;
    struct walking k;
    char where[32];
    uint64_t before = vs_port_streams_bits(f->store.streams, hit);
    snprintf(where, sizeof(where), "stream %u, bit", hit);
    vs_port_store_flip(&f->store, before + bit);
    walk_open(&k, f);
    CHECK_ERR(vs_walk_all(&k.w), VSE_CORRUPT);
    CHECK_HAS(k.w.diag.text, where);
    CHECK_EQ(vs_walk_resume(&k.w, &point), 0);
    CHECK(point.stream == hit && point.core == hit && point.pc);
    CHECK(point.bit + 64 * (TOY_WORDS + 1) > bit);
    CHECK_EQ(vs_walk_all(&k.w), 0);
    for (unsigned c = 0; c < CORES; c++) /* the others have noticed nothing */
        if (c == hit)
            check_gap(&f->run[c], &k.found[c], point.pc);
        else
            check_all(&f->run[c], &k.found[c]);
    walk_close(&k);
    vs_port_store_flip(&f->store, before + bit);
}

TEST(loses_no_more_than_the_stretch_to_the_next_point)
{
    struct fixture f;
    fixture_init(&f, true, PERIOD);
    for (unsigned i = 1; i < 20; i++)
        check_damage(&f, i % CORES, f.store.streams[i % CORES].nbits * i / 24);
    fixture_fini(&f);
}

TEST(begins_in_the_middle)
{
    struct fixture f;
    struct walking k;
    fixture_init(&f, false, PERIOD);
    walk_open(&k, &f);
    for (unsigned i = 0; i < CORES; i++) {
        struct vs_flow_point point;
        uint64_t middle = f.store.streams[i].nbits / 2;
        CHECK_EQ(vs_walk_sync(&k.w, i, middle, &point), 0);
        CHECK(point.stream == i && point.bit >= middle);
        CHECK(point.bit < middle + f.store.streams[i].nbits / 4);
    }
    CHECK_EQ(vs_walk_all(&k.w), 0);
    for (unsigned i = 0; i < CORES; i++) { /* it has begun, and has all that follows */
        CHECK_EQ(same_end(&f.run[i], &k.found[i]), k.found[i].count - 1);
        CHECK(k.found[i].count > f.run[i].count / 5 && k.found[i].count < f.run[i].count * 4 / 5);
    }
    walk_close(&k);
    fixture_fini(&f);
}

TEST(goes_on_with_the_others_if_no_point_follows)
{
    struct fixture f;
    struct walking k;
    struct vs_flow_point point;
    fixture_init(&f, false, 0);
    vs_port_store_flip(&f.store, f.store.streams[0].nbits / 3);
    walk_open(&k, &f);
    CHECK_ERR(vs_walk_all(&k.w), VSE_CORRUPT);
    CHECK_ERR(vs_walk_resume(&k.w, &point), VSE_END);
    CHECK_EQ(vs_walk_all(&k.w), 0);
    CHECK(is_gap(&k.found[0].steps[k.found[0].count - 1]));
    CHECK(k.found[0].count < f.run[0].count / 2);
    for (unsigned i = 1; i < CORES; i++)
        check_all(&f.run[i], &k.found[i]);
    walk_close(&k);
    fixture_fini(&f);
}

/* Flips a bit of a word in the first packet with a synchronisation point, and mends its sum. */
static void forge(struct fixture *f, unsigned word, unsigned bit)
{
    struct vs_flow_point point;
    struct walking k;
    walk_open(&k, f);
    CHECK_EQ(toy_technique.flow_decoder->sync(k.decoder, 1, 0, &point), 0);
    walk_close(&k);
    uint8_t *packet = &f->store.bytes[1].data[point.bit / 8], *sum = packet + 8 * TOY_WORDS;
    uint64_t was = vs_get64(packet + 8 * word), is = was ^ UINT64_C(1) << bit;
    vs_put64(packet + 8 * word, is);
    vs_put64(sum, vs_get64(sum) + is - was);
}

/* A packet that says what is not so is as wrong as one that is damaged. */
static void check_forged(unsigned word, unsigned bit, const char *why)
{
    struct fixture f;
    struct walking k;
    fixture_init(&f, false, PERIOD);
    forge(&f, word, bit);
    walk_open(&k, &f);
    CHECK_ERR(vs_walk_all(&k.w), VSE_CORRUPT);
    CHECK_HAS(k.w.diag.text, "stream 1, bit");
    CHECK_HAS(k.w.diag.text, why);
    walk_close(&k);
    fixture_fini(&f);
}

TEST(compares_where_points_say_that_a_core_is)
{
    check_forged(PLACE, 2, "a synchronisation point is elsewhere");
}

TEST(refuses_outcomes_without_branches)
{
    check_forged(OUTCOMES, 0, "there are fewer branches");
}

TEST(refuses_kinds_of_packets_that_there_are_not)
{
    check_forged(KIND, 0, "the packet is damaged");
}
