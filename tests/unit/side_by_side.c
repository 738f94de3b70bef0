/* SPDX-License-Identifier: MIT */
/* Two of anything work side by side in one process: machines, writers, readers, encoders and
 * decoders of every technique, replays, debuggers' sessions.
 *
 * Something is done with two programs: first alone; then in turns, where one goes on for a piece
 * while the other stands in the middle of its work; then at the same time. The results are the same
 * each time. make check does the last under ThreadSanitizer, too (tests/threads). */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "gdb/replayed.h"
#include "gdb/stub.h"
#include "gdbtalk.h"
#include "isa/set.h"
#include "port/store.h"
#include "replay/walk.h"
#include "runs.h"
#include "study/codeview.h"
#include "study/verify_address.h"
#include "study/verify_data.h"
#include "target/machine.h"

enum { SIDES = 2, PIECE = 512 };

/* ---- taking turns ---------------------------------------------------------------------------- */

struct turns {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned whose;
    bool done[SIDES];
};

/* One of the two, and what it works on. */
struct side {
    struct turns *turns; /* NULL: it need not wait */
    unsigned number;
    const struct subject *of;
    const struct vs_technique *technique; /* of codecs */
    void (*work)(struct side *s);
    uint32_t digest; /* of all that came out */
};

static void wait_for_turn(struct side *s)
{
    struct turns *t = s->turns;
    while (t->whose != s->number && !t->done[!s->number])
        pthread_cond_wait(&t->changed, &t->lock);
}

static void give_turn(struct side *s)
{
    s->turns->whose = !s->number;
    pthread_cond_broadcast(&s->turns->changed);
}

/* In the middle of the work: the other goes on. */
static void pause_here(struct side *s)
{
    if (!s->turns)
        return;
    pthread_mutex_lock(&s->turns->lock);
    give_turn(s);
    wait_for_turn(s);
    pthread_mutex_unlock(&s->turns->lock);
}

static void *work(void *arg)
{
    struct side *s = arg;
    if (s->turns) {
        pthread_mutex_lock(&s->turns->lock);
        wait_for_turn(s);
        pthread_mutex_unlock(&s->turns->lock);
    }
    s->work(s);
    if (s->turns) {
        pthread_mutex_lock(&s->turns->lock);
        s->turns->done[s->number] = true;
        give_turn(s);
        pthread_mutex_unlock(&s->turns->lock);
    }
    return NULL;
}

static void work_together(struct side sides[SIDES], struct turns *turns)
{
    pthread_t threads[SIDES];
    for (unsigned i = 0; i < SIDES; i++) {
        sides[i].turns = turns;
        sides[i].digest = 0;
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &sides[i]), 0);
    }
    for (unsigned i = 0; i < SIDES; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void digest(struct side *s, const void *bytes, size_t size)
{
    s->digest = vs_crc32c(s->digest, bytes, size);
}

/* ---- two programs ---------------------------------------------------------------------------- */

struct subject {
    char program[PATH_MAX];
    const char *size;
    struct file file; /* the recorded run */
    struct vs_reader *reader;
    struct run run; /* its events */
    struct vs_text text;
    struct vs_technique_setup setup;
    struct vs_technique_spec spec; /* of a stream to be replayed */
    struct vs_port_store bits;
};

struct recording {
    struct side *side;
    struct vs_consumer writer;
};

static int put_and_pause(void *context, const struct vs_batch *batch)
{
    struct recording *r = context;
    digest(r->side, batch->events, batch->count * sizeof(*batch->events));
    digest(r->side, batch->cycles, batch->count * sizeof(*batch->cycles));
    digest(r->side, batch->wide, batch->wide_size);
    pause_here(r->side);
    return r->writer.put(r->writer.context, batch);
}

static int64_t put_image(void *context, const struct vs_image *image)
{
    const struct vs_consumer *w = &((struct recording *)context)->writer;
    return w->image(w->context, image);
}

static int64_t put_block(void *context, const struct vs_block *block)
{
    const struct vs_consumer *w = &((struct recording *)context)->writer;
    return w->block(w->context, block);
}

static void name_file(const struct side *s, char name[16])
{
    snprintf(name, 16, "%u.vest", s->number);
}

/* A machine that runs the program, and a writer with threads of its own. */
static void simulate(struct side *s)
{
    const struct vs_writer_options to = {
        .features = VS_RUN_LOADS | VS_RUN_STORES | VS_RUN_TIMED, .workers = 2, .overwrite = true};
    struct vs_machine_options o = {.loads = true, .stores = true};
    struct vs_machine_result *result = calloc(1, sizeof(*result));
    char path[PATH_MAX], name[16], word[3][8] = {"-n", "", "-p"}, two[] = "2";
    char *argv[] = {path, word[0], word[1], word[2], two, NULL}, *envp[] = {NULL};
    struct vs_diag diag = {0};
    struct vs_writer *w;
    bool theirs;
    CHECK(result);
    snprintf(path, sizeof(path), "%s", s->of->program);
    snprintf(word[1], sizeof(word[1]), "%s", s->of->size);
    name_file(s, name);
    CHECK_EQ(vs_writer_open(&w, name, &to, NULL), 0);
    CHECK_EQ(vs_writer_meta(w, "isa", "rv64"), 0);
    struct recording r = {.side = s, .writer = vs_consumer_writer(w)};
    const struct vs_consumer c = {
        .context = &r, .put = put_and_pause, .image = put_image, .block = put_block};
    CHECK_EQ(vs_target_config_init(&o.config, vs_target_presets[0]), 0);
    o.config.cores = 2;
    o.config.timed = true;
    o.process = (struct vs_process_options){.path = path, .argv = argv, .envp = envp};
    o.consumer = &c;
    if (vs_machine_run(&o, result, &diag, &theirs))
        unittest_fail(__FILE__, __LINE__, "%s: %s", path, diag.text);
    CHECK_EQ(result->status, 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    struct file f = file_load(name);
    digest(s, f.data, f.size);
    digest(s, &result->stats, sizeof(result->stats));
    file_free(&f);
    free(result);
}

static void subject_init(struct subject *u, struct side *s)
{
    char name[16];
    int err;
    name_file(s, name);
    u->file = file_load(name);
    u->reader = file_open(&u->file);
    const struct vs_run_info *info = vs_reader_info(u->reader);
    u->setup = (struct vs_technique_setup){
        .cores = info->threads, .address_bits = 64, .timed = true, .alignment = 2};
    u->run = run_read(u->reader, &err);
    CHECK_EQ(err, 0);
    struct vs_batch all = run_batch(&u->run, 0, u->run.count);
    CHECK_EQ(vs_codeview_add(&u->text, u->reader), 0);
    CHECK_EQ(vs_codeview_take(&u->text, u->reader, &all), 0);
    CHECK_EQ(vs_text_index(&u->text), 0);
}

static void subject_fini(struct subject *u)
{
    vs_port_store_fini(&u->bits);
    vs_text_fini(&u->text);
    run_free(&u->run);
    vs_reader_close(u->reader);
    file_free(&u->file);
}

struct pair {
    struct place place;
    struct subject subjects[SIDES];
    struct side sides[SIDES];
    struct turns turns;
};

/* Does it alone, in turns and at the same time, and compares. */
static void compare(struct pair *p, void (*what)(struct side *), const struct vs_technique *t)
{
    uint32_t alone[SIDES];
    for (unsigned i = 0; i < SIDES; i++) {
        p->sides[i] =
            (struct side){.number = i, .of = &p->subjects[i], .technique = t, .work = what};
        what(&p->sides[i]);
        alone[i] = p->sides[i].digest;
    }
    CHECK(alone[0] != alone[1]);
    for (unsigned how = 0; how < 2; how++) {
        p->turns.whose = 0;
        p->turns.done[0] = p->turns.done[1] = false;
        work_together(p->sides, how == 0 ? &p->turns : NULL);
        for (unsigned i = 0; i < SIDES; i++)
            if (p->sides[i].digest != alone[i])
                unittest_fail(__FILE__, __LINE__, "%s%sside %u differs from what it is alone, %s",
                              t ? t->name : "", t ? ": " : "", i,
                              how == 0 ? "in turns" : "at the same time");
    }
}

/* What the programs print is not of interest, what a check does is. */
static void hide_output(void)
{
    FILE *ours = fdopen(dup(STDOUT_FILENO), "w");
    int null = open("/dev/null", O_WRONLY);
    CHECK(ours && null >= 0);
    CHECK_EQ(dup2(null, STDOUT_FILENO), STDOUT_FILENO);
    close(null);
    stdout = ours;
}

static struct pair *pair_new(bool recorded)
{
    struct pair *p = calloc(1, sizeof(*p));
    CHECK(p);
    hide_output();
    unittest_built("workloads/rv64/fft", p->subjects[0].program);
    unittest_built("workloads/rv64/racy", p->subjects[1].program);
    p->subjects[0].size = "2";
    p->subjects[1].size = "5";
    place_init(&p->place);
    pthread_mutex_init(&p->turns.lock, NULL);
    pthread_cond_init(&p->turns.changed, NULL);
    for (unsigned i = 0; recorded && i < SIDES; i++) {
        struct side s = {.number = i, .of = &p->subjects[i]};
        simulate(&s);
        subject_init(&p->subjects[i], &s);
    }
    return p;
}

static void pair_free(struct pair *p)
{
    for (unsigned i = 0; i < SIDES; i++)
        if (p->subjects[i].reader)
            subject_fini(&p->subjects[i]);
    pthread_cond_destroy(&p->turns.changed);
    pthread_mutex_destroy(&p->turns.lock);
    place_fini(&p->place);
    free(p);
}

TEST(machines_run_and_writers_write)
{
    struct pair *p = pair_new(false);
    compare(p, simulate, NULL);
    pair_free(p);
}

/* ---- readers --------------------------------------------------------------------------------- */

static void read_all(struct side *s)
{
    struct vs_reader *r = file_open(&s->of->file);
    for (int thread = (int)s->of->setup.cores - 1; thread >= -1; thread--) {
        struct vs_batch b;
        CHECK_EQ(vs_reader_select(r, thread), 0);
        CHECK_EQ(vs_reader_seek_event(r, 0), 0);
        while (vs_reader_next(r, &b) > 0) {
            digest(s, b.events, b.count * sizeof(*b.events));
            digest(s, b.cycles, b.count * sizeof(*b.cycles));
            digest(s, b.wide, b.wide_size);
            pause_here(s);
        }
    }
    vs_reader_close(r);
}

TEST(readers_read)
{
    struct pair *p = pair_new(true);
    compare(p, read_all, NULL);
    pair_free(p);
}

/* ---- encoders and decoders ------------------------------------------------------------------- */

/* The next piece of the run, after a pause. */
static bool next_piece(struct side *s, size_t *at, struct vs_batch *b)
{
    size_t left = s->of->run.count - *at;
    *b = run_batch(&s->of->run, *at, left < PIECE ? left : PIECE);
    *at += b->count;
    pause_here(s);
    return b->count;
}

/* All that a technique may need, whether it does or not. */
static void encode(struct side *s, const struct vs_technique_spec *spec,
                   const struct vs_port_shape *shape, struct vs_port_store *bits)
{
    const struct vs_encoder_ops *ops = spec->technique->encoder;
    const struct vs_address_code code = vs_code_of_text(&s->of->text, vs_isa_find("rv64"));
    struct vs_technique_context context = {
        .params = spec->params, .setup = &s->of->setup, .code = &code};
    struct vs_stepper stepper = {0};
    struct vs_port_writer w;
    struct vs_prior *prior;
    struct vs_batch b;
    size_t at = 0;
    void *e;
    CHECK_EQ(vs_port_store_init(bits, shape), 0);
    CHECK_EQ(vs_port_writer_init(&w, shape, vs_port_to_store, bits), 0);
    CHECK_EQ(vs_prior_open(&prior), 0);
    while (next_piece(s, &at, &b))
        CHECK_EQ(vs_prior_consume(prior, &b), 0);
    context.port = &w;
    context.prior = prior;
    CHECK_EQ(ops->open(&e, &context), 0);
    for (at = 0; next_piece(s, &at, &b);) {
        CHECK_EQ(vs_stepper_take(&stepper, &b), 0);
        const struct vs_slice slice = {stepper.steps, stepper.count, &b};
        CHECK_EQ(ops->consume(e, &slice), 0);
    }
    CHECK_EQ(vs_stepper_end(&stepper, s->of->run.cycles[s->of->run.count - 1]), 0);
    const struct vs_slice ends = {stepper.steps, stepper.count, &(struct vs_batch){0}};
    CHECK_EQ(ops->consume(e, &ends), 0);
    CHECK_EQ(vs_encoder_finish(ops, e), 0);
    ops->close(e);
    vs_stepper_fini(&stepper);
    vs_prior_close(prior);
    CHECK(vs_port_finish(&w) > 0);
    vs_port_writer_fini(&w);
}

static int take_steps(void *context, const struct vs_step *steps, size_t count)
{
    struct side *s = context;
    for (size_t i = 0; i < count; i++) {
        digest(s, &steps[i].pc, sizeof(steps[i].pc));
        digest(s, &steps[i].target, sizeof(steps[i].target));
        digest(s, &steps[i].icount, sizeof(steps[i].icount));
    }
    pause_here(s);
    return 0;
}

static void decode_flow(struct side *s, const struct vs_technique_spec *spec,
                        struct vs_port_reader *r)
{
    const struct vs_flow_decoder_ops *ops = spec->technique->flow_decoder;
    struct vs_walk_config config = {.isa = vs_isa_find("rv64"),
                                    .code = &s->of->text,
                                    .ops = ops,
                                    .port = r,
                                    .cores = s->of->setup.cores,
                                    .sink = take_steps,
                                    .context = s};
    struct vs_walk walk;
    CHECK_EQ(ops->open(&config.decoder, spec->params, &s->of->setup, r), 0);
    CHECK_EQ(vs_walk_init(&walk, &config), 0);
    if (vs_walk_all(&walk))
        unittest_fail(__FILE__, __LINE__, "%s: %s", spec->technique->name, walk.diag.text);
    vs_walk_fini(&walk);
    ops->close(config.decoder);
}

static void decode_data(struct side *s, const struct vs_technique_spec *spec,
                        struct vs_port_reader *r)
{
    const struct vs_data_decoder_ops *ops = spec->technique->data_decoder;
    struct vs_verify_data *v = malloc(sizeof(*v));
    struct vs_batch b;
    size_t at = 0;
    void *d;
    CHECK(v);
    CHECK_EQ(vs_verify_data_init(v, ops, r, s->of->setup.cores), 0);
    CHECK_EQ(ops->open(&d, spec->params, &s->of->setup, r), 0);
    vs_verify_data_drive(v, d);
    while (next_piece(s, &at, &b)) {
        if (vs_verify_data_batch(v, &b))
            unittest_fail(__FILE__, __LINE__, "%s: %s", spec->technique->name, v->c.diag.text);
        if (b.cycles)
            v->end = (struct vs_standing){.cycle = b.cycles[b.count - 1], .timed = true};
    }
    CHECK_EQ(vs_verify_data_end(v), 0);
    digest(s, &v->loads, sizeof(v->loads));
    vs_verify_data_fini(v);
    ops->close(d);
    free(v);
}

static void decode_addresses(struct side *s, const struct vs_technique_spec *spec,
                             struct vs_port_reader *r)
{
    const struct vs_address_decoder_ops *ops = spec->technique->address_decoder;
    const struct vs_isa *isa = vs_isa_find("rv64");
    const struct vs_address_code code = vs_code_of_text(&s->of->text, isa);
    struct vs_verify_address v;
    struct vs_batch b;
    size_t at = 0;
    void *d;
    vs_verify_address_init(&v, ops, r, isa, s->of->setup.cores);
    CHECK_EQ(ops->open(&d, spec->params, &s->of->setup, &code, r), 0);
    vs_verify_address_drive(&v, d);
    while (next_piece(s, &at, &b))
        if (vs_verify_address_batch(&v, &b))
            unittest_fail(__FILE__, __LINE__, "%s: %s", spec->technique->name, v.c.diag.text);
    CHECK_EQ(vs_verify_address_end(&v), 0);
    digest(s, &v.loads, sizeof(v.loads));
    ops->close(d);
}

/* The stream of the whole run, and back from it. */
static void code_run(struct side *s)
{
    struct vs_technique_spec spec;
    struct vs_port_shape shape;
    struct vs_port_reader r;
    struct vs_port_store bits = {0};
    CHECK_EQ(vs_technique_defaults(&spec, s->technique), 0);
    vs_technique_settle(&spec, s->of->setup.timed);
    vs_technique_shape(&spec, &s->of->setup, &shape);
    encode(s, &spec, &shape, &bits);
    for (unsigned i = 0; i < bits.count; i++)
        digest(s, bits.streams[i].data, bits.streams[i].size);
    CHECK_EQ(vs_port_reader_init(&r, &shape, bits.streams), 0);
    if (s->technique->flow_decoder)
        decode_flow(s, &spec, &r);
    else if (s->technique->data_decoder)
        decode_data(s, &spec, &r);
    else
        decode_addresses(s, &spec, &r);
    vs_port_reader_fini(&r);
    vs_port_store_fini(&bits);
}

static void code_with(enum vs_technique_kind kind)
{
    struct pair *p = pair_new(true);
    unsigned every = unittest_every(4), met = 0;
    for (size_t i = 0; vs_techniques[i]; i++)
        if (vs_techniques[i]->serves & kind && ++met % every == 0)
            compare(p, code_run, vs_techniques[i]);
    pair_free(p);
}

TEST(control_flow_is_coded)
{
    code_with(VS_TECHNIQUE_FLOW);
}

TEST(load_values_are_coded)
{
    code_with(VS_TECHNIQUE_DATA);
}

TEST(data_addresses_are_coded)
{
    code_with(VS_TECHNIQUE_ADDRESS);
}

/* ---- replays --------------------------------------------------------------------------------- */

static void stream_for_replay(struct subject *u, unsigned number)
{
    struct side s = {.number = number, .of = u};
    struct vs_port_shape shape;
    CHECK_EQ(vs_technique_parse(&u->spec, number ? "mlvCF_e" : "mc2RT", NULL), 0);
    vs_technique_settle(&u->spec, u->setup.timed);
    vs_technique_shape(&u->spec, &u->setup, &shape);
    encode(&s, &u->spec, &shape, &u->bits);
}

static void open_replay(const struct side *s, struct vs_replay *r)
{
    const struct subject *u = s->of;
    const struct vs_replay_config config = {.isa = vs_isa_find("rv64"),
                                            .spec = u->spec,
                                            .setup = u->setup,
                                            .streams = u->bits.streams,
                                            .code = &u->text};
    struct vs_diag diag = {0};
    if (vs_replay_init(r, &config, &diag))
        unittest_fail(__FILE__, __LINE__, "%s", diag.text);
}

static void run_to(struct side *s, struct vs_replay *r, uint64_t position)
{
    const struct vs_replay_goal goal = {.position = position, .retired = UINT64_MAX};
    CHECK(vs_replay_run(r, &goal) >= 0);
    for (unsigned i = 0; i < r->count; i++) {
        for (unsigned k = 0; k < 32; k++) {
            uint64_t x = vs_cpu_get(r->cores[i].cpu, k);
            digest(s, &x, sizeof(x));
        }
        digest(s, &r->cores[i].cpu->pc, sizeof(r->cores[i].cpu->pc));
    }
    pause_here(s);
}

/* To the end, back to the middle, and to the end again. */
static void replay(struct side *s)
{
    struct vs_replay_state *middle;
    struct vs_replay r;
    open_replay(s, &r);
    for (uint64_t at = 1000; at <= 10000; at += 1000)
        run_to(s, &r, at);
    CHECK_EQ(vs_replay_save(&r, &middle), 0);
    while (!r.over)
        run_to(s, &r, r.position + 3000);
    digest(s, &r.position, sizeof(r.position));
    CHECK_EQ(vs_replay_restore(&r, middle), 0);
    while (!r.over)
        run_to(s, &r, r.position + 4000);
    vs_replay_drop(middle);
    vs_replay_fini(&r);
}

/* What a debugger asks, forwards and backwards. */
static void debug(struct side *s)
{
    static const char *const packets[] = {"?",       "g",       "qfThreadInfo",
                                          "vCont;s", "vCont;s", "g",
                                          "bs",      "g",       "qRcmd,706f736974696f6e",
                                          "vCont;c", "bs",      "bs",
                                          "g",       "bc",      "vCont;c",
                                          "?",       "D"};
    struct vs_gdb_replayed *m = malloc(sizeof(*m));
    struct vs_gdb_writer w = {0};
    struct vs_gdb_stub stub;
    struct vs_replay r;
    CHECK(m);
    open_replay(s, &r);
    CHECK_EQ(vs_gdb_replayed_init(m, &r, &(struct vs_gdb_replayed_options){.most = 1 << 24}), 0);
    vs_gdb_stub_init(&stub, &m->machine, &w, NULL, NULL);
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
        vs_gdb_stub_packet(&stub, packets[i]);
        pause_here(s);
    }
    CHECK_EQ(w.error, 0);
    CHECK(w.out.len > 500);
    digest(s, w.out.data, w.out.len);
    vs_gdb_writer_fini(&w);
    vs_gdb_replayed_fini(m);
    vs_replay_fini(&r);
    free(m);
}

static void compare_replays(void (*what)(struct side *))
{
    struct pair *p = pair_new(true);
    for (unsigned i = 0; i < SIDES; i++)
        stream_for_replay(&p->subjects[i], i);
    compare(p, what, NULL);
    pair_free(p);
}

TEST(replays_replay)
{
    compare_replays(replay);
}

TEST(debuggers_ask)
{
    compare_replays(debug);
}
