/* SPDX-License-Identifier: MIT */
/* Replays of recorded programs: a position is the same whichever way one comes there. */
#include "replay/replay.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/copy_pool.h"
#include "gdb/replayed.h"
#include "isa/cpu_load.h"
#include "replay/history.h"
#include "runs.h"
#include "study/codeview.h"
#include "technique/registry.h"

/* ---- a recorded run -------------------------------------------------------------------------- */

static struct file record(const char *options, const char *program, const char *arguments)
{
    char vestige[PATH_MAX], path[PATH_MAX], command[3 * PATH_MAX];
    struct place place;
    unittest_built("bin/vestige", vestige);
    unittest_built(program, path);
    place_init(&place);
    snprintf(command, sizeof(command), "'%s' record --all %s -o run.vest -- '%s' %s >out 2>&1",
             vestige, options, path, arguments);
    CHECK_EQ(system(command), 0);
    struct file f = file_load("run.vest");
    place_fini(&place);
    return f;
}

/* A run as a stream, ready to be replayed any number of times. */
struct stream {
    struct vs_replay_config config;
    struct vs_reader *reader;
    struct vs_text code;
    struct vs_buf bits;
    struct vs_port_stream stream; /* they */
};

static void encode(struct stream *s)
{
    const struct vs_technique *t = s->config.spec.technique;
    struct vs_port_shape shape;
    struct vs_port_writer w;
    struct vs_batch batch;
    void *e;
    int64_t nbits;
    vs_technique_shape(&s->config.spec, &s->config.setup, &shape);
    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_buf, &s->bits), 0);
    CHECK_EQ(t->encoder->open(&e, &(struct vs_technique_context){.params = s->config.spec.params,
                                                                 .setup = &s->config.setup,
                                                                 .port = &w}),
             0);
    while (vs_reader_next(s->reader, &batch) > 0)
        CHECK_EQ(t->encoder->consume(e, &(struct vs_slice){.events = &batch}), 0);
    CHECK_EQ(vs_encoder_finish(t->encoder, e), 0);
    CHECK((nbits = vs_port_finish(&w)) > 0);
    s->stream = (struct vs_port_stream){s->bits.data, s->bits.len, (uint64_t)nbits};
    t->encoder->close(e);
    vs_port_writer_fini(&w);
}

static void stream_make(struct stream *s, const struct file *run, const char *technique)
{
    *s = (struct stream){.reader = file_open(run)};
    const struct vs_run_info *info = vs_reader_info(s->reader);
    s->config.setup = (struct vs_technique_setup){
        .cores = info->threads, .address_bits = 64, .timed = (info->features & VS_RUN_TIMED) != 0};
    CHECK_EQ(vs_technique_parse(&s->config.spec, technique, NULL), 0);
    vs_technique_settle(&s->config.spec, s->config.setup.timed);
    encode(s);
    CHECK_EQ(vs_codeview_add(&s->code, s->reader), 0);
    CHECK_EQ(vs_text_index(&s->code), 0);
    s->config.streams = &s->stream;
    s->config.code = &s->code;
    s->config.isa = vs_isa_find(vs_reader_meta(s->reader, "isa"));
}

static void stream_free(struct stream *s)
{
    vs_text_fini(&s->code);
    vs_buf_fini(&s->bits);
    vs_reader_close(s->reader);
}

static void replay_make(struct vs_replay *r, const struct stream *s)
{
    struct vs_diag diag = {0};
    if (vs_replay_init(r, &s->config, &diag))
        unittest_fail(__FILE__, __LINE__, "%s", diag.text);
}

/* ---- what a replay is at a position ---------------------------------------------------------- */

static uint64_t mix(uint64_t digest, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        digest = (digest ^ v) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    for (; size; p++, size--)
        digest = (digest ^ *p) * UINT64_C(0x9e3779b97f4a7c15);
    return digest;
}

static uint64_t digest_core(uint64_t digest, const struct vs_replay_core *c)
{
    const uint64_t rest[] = {c->cpu->pc, c->cpu->retired, c->since,     c->states,
                             c->started, c->ended,        c->called,    vs_replay_is_within(c),
                             c->cause,   c->cycle,        c->exceptions};
    uint8_t registers[1024];
    CHECK(c->cpu->ops->saved <= sizeof(registers));
    memset(registers, 0, sizeof(registers));
    c->cpu->ops->save(c->cpu, registers);
    digest = mix(digest, registers, sizeof(registers));
    if (vs_replay_is_within(c))
        digest = mix(digest, c->done.bytes, c->done.used);
    return mix(digest, rest, sizeof(rest));
}

/* In no order. */
static uint64_t digest_view(const struct vs_copy *view)
{
    uint64_t sum = 0;
    const struct vs_copy_page *p;
    for (struct vs_copy_walk w = {0}; (p = vs_copy_next(view, &w));)
        sum +=
            mix(mix(mix(1, &p->number, 8), p->known, sizeof(p->known)), p->bytes, sizeof(p->bytes));
    return sum;
}

static uint64_t digest_of(const struct vs_replay *r)
{
    uint64_t digest = mix(0, &r->position, sizeof(r->position));
    for (unsigned i = 0; i < r->count; i++)
        digest = digest_core(digest, &r->cores[i]);
    for (unsigned i = 0; i < r->view_count; i++) {
        uint64_t view = digest_view(&r->views[i]);
        digest = mix(digest, &view, sizeof(view));
    }
    return digest;
}

enum { SAMPLES = 150 };

/* Points of a run, in order, from replaying it once and pausing at each. */
struct samples {
    struct sample {
        uint64_t position, digest, retired;
        unsigned core; /* that has just retired so many */
        uint64_t pc;   /* of it */
    } at[SAMPLES];
    size_t count;
    uint64_t end; /* the last position */
};

static struct vs_replay_goal at_position(uint64_t position)
{
    return (struct vs_replay_goal){
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
}

static void run_to(struct vs_replay *r, uint64_t position)
{
    const struct vs_replay_goal goal = at_position(position);
    int stop = vs_replay_run(r, &goal);
    if (stop != VS_REPLAY_REACHED)
        unittest_fail(__FILE__, __LINE__, "stopped by %d at %llu, not %llu: %s", stop,
                      (unsigned long long)r->position, (unsigned long long)position, r->diag.text);
}

static uint64_t length_of(const struct stream *s)
{
    const struct vs_replay_goal goal = at_position(UINT64_MAX);
    struct vs_replay r;
    replay_make(&r, s);
    CHECK_EQ(vs_replay_run(&r, &goal), VS_REPLAY_OVER);
    uint64_t end = r.position;
    vs_replay_fini(&r);
    return end;
}

static void take_samples(struct samples *all, const struct stream *s)
{
    struct rng rng = rng_init(5);
    struct vs_replay r;
    uint64_t position = 0;
    *all = (struct samples){.end = length_of(s)};
    replay_make(&r, s);
    while (all->count < SAMPLES && position < all->end) {
        /* mostly spread, some next to each other */
        position += rng_below(&rng, 3) ? 1 + rng_below(&rng, 2 * all->end / SAMPLES)
                                       : 1 + rng_below(&rng, 3);
        if (position > all->end)
            break;
        run_to(&r, position);
        CHECK_EQ(r.position, position);
        const struct vs_cpu *cpu = r.cores[r.last].cpu;
        all->at[all->count++] =
            (struct sample){position, digest_of(&r), cpu->retired, r.last, cpu->pc};
    }
    CHECK(all->count > SAMPLES / 3);
    vs_replay_fini(&r);
}

static void check_at(const struct vs_replay *r, const struct sample *s, const char *how)
{
    if (r->position != s->position)
        unittest_fail(__FILE__, __LINE__, "%s: at %llu, not %llu", how,
                      (unsigned long long)r->position, (unsigned long long)s->position);
    if (digest_of(r) != s->digest)
        unittest_fail(__FILE__, __LINE__, "%s: other registers or memory at %llu", how,
                      (unsigned long long)s->position);
}

/* ---- stops ----------------------------------------------------------------------------------- */

enum { BREAKS = 4, WATCHES = 2, STOPS = 1 << 16 };

struct stops {
    uint64_t breaks[BREAKS];
    size_t break_count;
    struct vs_replay_watch watches[WATCHES];
    struct vs_history_stop *list; /* of a whole run, in order */
    size_t count;
};

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Addresses that the run comes by, and bytes that several of its cores use. */
static void choose_stops(struct stops *st, const struct stream *s, const struct samples *all)
{
    struct rng rng = rng_init(9);
    struct vs_batch b;
    size_t n = 0;
    *st = (struct stops){.list = malloc(STOPS * sizeof(*st->list))};
    CHECK(st->list);
    for (unsigned i = 0; i < BREAKS; i++)
        st->breaks[i] = all->at[rng_below(&rng, all->count)].pc;
    qsort(st->breaks, BREAKS, sizeof(st->breaks[0]), compare_addresses);
    for (unsigned i = 0; i < BREAKS; i++)
        if (!i || st->breaks[i] != st->breaks[i - 1])
            st->breaks[st->break_count++] = st->breaks[i];
    CHECK_EQ(vs_reader_seek_event(s->reader, 0), 0);
    while (n < WATCHES && vs_reader_next(s->reader, &b) > 0)
        for (size_t i = 0; i < b.count && n < WATCHES; i++) {
            const struct vs_event *e = &b.events[i];
            bool shared = e->kind == VS_STORE && e->flags & VS_MEM_ATOMIC;
            if (shared && e->thread && !rng_below(&rng, 3) &&
                (!n || st->watches[0].addr != e->addr)) {
                st->watches[n] = (struct vs_replay_watch){e->addr, e->size, n == 1, true, 0};
                n++;
            }
        }
    CHECK(n);
}

static void use_stops(struct vs_replay *r, const struct stops *st)
{
    vs_replay_break(r, st ? st->breaks : NULL, st ? st->break_count : 0);
    r->watches = st ? st->watches : NULL;
    r->watch_count = st ? WATCHES : 0;
}

/* In one go. */
static void list_stops(struct stops *st, const struct stream *s)
{
    struct vs_replay_goal goal = at_position(UINT64_MAX);
    struct vs_replay r;
    int stop;
    replay_make(&r, s);
    use_stops(&r, st);
    goal.fresh = true;
    while ((stop = vs_replay_run(&r, &goal)) != VS_REPLAY_OVER) {
        CHECK(stop == VS_REPLAY_BREAK || stop == VS_REPLAY_WATCH);
        CHECK(st->count < STOPS);
        goal.fresh = false;
        const struct vs_history h = {.replay = &r};
        vs_history_tell(&h, stop, &st->list[st->count++]);
        if (stop == VS_REPLAY_BREAK)
            CHECK(bsearch(&r.cores[r.last].cpu->pc, st->breaks, st->break_count,
                          sizeof(st->breaks[0]), compare_addresses));
    }
    CHECK(st->count > 20);
    vs_replay_fini(&r);
}

/* The last before a position, or NULL. */
static const struct vs_history_stop *last_before(const struct stops *st, uint64_t position)
{
    const struct vs_history_stop *last = NULL;
    for (size_t i = 0; i < st->count && st->list[i].position < position; i++)
        last = &st->list[i];
    return last;
}

/* ---- going about ----------------------------------------------------------------------------- */

static void history_make(struct vs_history *h, struct vs_replay *r, const struct stream *s,
                         uint64_t spacing, size_t most)
{
    replay_make(r, s);
    CHECK_EQ(vs_history_init(h, r, most), 0);
    if (spacing)
        h->spacing = spacing;
    h->page_worth = 0;
}

static void go_about_in(struct vs_history *h, const struct samples *all, const struct stops *st)
{
    struct rng rng = rng_init(h->spacing + h->most);
    struct vs_replay *r = h->replay;
    use_stops(r, st);
    for (unsigned i = 0; i < 120; i += unittest_every(8)) {
        const struct sample *to = &all->at[rng_below(&rng, all->count)];
        if (rng_below(&rng, 4) == 0) {
            struct vs_replay_goal goal = at_position(r->position + rng_below(&rng, 5000));
            CHECK(vs_history_run(h, &goal) >= 0); /* to anywhere, or a stop */
        }
        if (rng_below(&rng, 2)) {
            CHECK_EQ(vs_history_goto(h, to->position), VS_REPLAY_REACHED);
            check_at(r, to, "goto");
        } else {
            CHECK_EQ(vs_history_goto_core(h, to->core, to->retired), VS_REPLAY_REACHED);
            check_at(r, to, "goto core");
        }
    }
}

static void go_about(const struct stream *s, const struct samples *all, const struct stops *st,
                     uint64_t spacing, size_t most)
{
    struct vs_history h;
    struct vs_replay r;
    history_make(&h, &r, s, spacing, most);
    go_about_in(&h, all, st);
    CHECK(h.count <= VS_HISTORY_STATES);
    if (most == 1)
        CHECK_EQ(h.count, 1);
    vs_history_fini(&h);
    vs_replay_fini(&r);
}

static void check_history(const struct stream *s)
{
    struct samples all;
    struct stops st;
    take_samples(&all, s);
    choose_stops(&st, s, &all);
    go_about(s, &all, NULL, 0, SIZE_MAX);
    go_about(s, &all, NULL, 777, SIZE_MAX);
    go_about(s, &all, &st, 1000, SIZE_MAX);
    go_about(s, &all, &st, 64, 1);
    free(st.list);
}

static void with(const char *technique, const char *options, void (*check)(const struct stream *))
{
    struct file run = record(options, "workloads/rv64/racy", "-n 40 -p 4");
    struct stream s;
    stream_make(&s, &run, technique);
    check(&s);
    stream_free(&s);
    file_free(&run);
}

#define EACH(name, check)                                                                          \
    TEST(name##_in_mlvnx)                                                                          \
    {                                                                                              \
        with("mlvNX_b", "--cores 4", check);                                                       \
    }                                                                                              \
    TEST(name##_in_mlvcf)                                                                          \
    {                                                                                              \
        with("mlvCF_e:CS32", "--cores 4", check);                                                  \
    }                                                                                              \
    TEST(name##_in_mlvcf_with_time)                                                                \
    {                                                                                              \
        with("mlvCF_e:CS32", "--cores 4 --timed", check);                                          \
    }                                                                                              \
    TEST(name##_in_mlvcf_shared)                                                                   \
    {                                                                                              \
        with("mlvCF_e:shared", "--cores 4", check);                                                \
    }                                                                                              \
    TEST(name##_in_mlvfa)                                                                          \
    {                                                                                              \
        with("mlvFA", "--cores 4", check);                                                         \
    }                                                                                              \
    TEST(name##_in_mlvfa_dedicated)                                                                \
    {                                                                                              \
        with("mlvFA_dedicated", "--cores 4", check);                                               \
    }                                                                                              \
    TEST(name##_in_mc2rt)                                                                          \
    {                                                                                              \
        with("mc2RT", "--cores 4", check);                                                         \
    }                                                                                              \
    TEST(name##_in_mc2rt_with_time)                                                                \
    {                                                                                              \
        with("mc2RT", "--cores 4 --timed", check);                                                 \
    }                                                                                              \
    TEST(name##_in_mc2rt_implied)                                                                  \
    {                                                                                              \
        with("mc2RT:implied", "--cores 4", check);                                                 \
    }                                                                                              \
    TEST(name##_in_mlvcf_with_full_counters)                                                       \
    {                                                                                              \
        with("mlvCF_e:shared,fahcnt_bits=4,icnt_bits=4", "--cores 4", check);                      \
    }                                                                                              \
    TEST(name##_in_mc2rt_with_full_counters)                                                       \
    {                                                                                              \
        with("mc2RT:fahcnt_bits=5,icnt_bits=6", "--cores 4 --timed", check);                       \
    }

EACH(goes_anywhere, check_history)

/* ---- pages in a pool ------------------------------------------------------------------------- */

/* A scout and searches in threads share the pool's pages; there is room for few checkpoints. */
static void check_pooled(const struct stream *s, const char *folder)
{
    const size_t most = 8 << 20;
    struct vs_copy_pool pool;
    struct stream pooled = *s;
    struct samples all;
    struct vs_history h;
    struct vs_replay r;
    take_samples(&all, s);
    CHECK_EQ(vs_copy_pool_init(&pool, folder, NULL), 0);
    pooled.config.pool = &pool;
    history_make(&h, &r, &pooled, 500, most);
    h.threads = 2;
    h.pages = &pool.scratch;
    CHECK_EQ(vs_history_scout(&h), 0);
    go_about_in(&h, &all, NULL);
    CHECK_EQ(vs_history_goto(&h, all.end), VS_REPLAY_REACHED);
    CHECK(h.count > 1 && h.used <= most);
    vs_history_fini(&h);
    vs_replay_fini(&r);
    CHECK(pool.cells);
    vs_copy_pool_fini(&pool);
}

static void check_in_memory(const struct stream *s)
{
    check_pooled(s, NULL);
}

static void check_in_file(const struct stream *s)
{
    check_pooled(s, unittest_folder());
}

TEST(goes_anywhere_in_a_pool)
{
    with("mlvCF_e:CS32", "--cores 4", check_in_memory);
}

TEST(goes_anywhere_in_a_file)
{
    with("mc2RT", "--cores 4", check_in_file);
}

/* ---- back ------------------------------------------------------------------------------------ */

static void check_step_back(const struct stream *s)
{
    struct rng rng = rng_init(3);
    struct samples all;
    struct vs_history h;
    struct vs_replay r, straight;
    take_samples(&all, s);
    history_make(&h, &r, s, 500, SIZE_MAX);
    for (unsigned i = 0; i < 25; i++) {
        const struct sample *from = &all.at[rng_below(&rng, all.count)];
        unsigned core = (unsigned)rng_below(&rng, r.count);
        CHECK_EQ(vs_history_goto(&h, from->position), VS_REPLAY_REACHED);
        uint64_t retired = r.cores[core].cpu->retired;
        struct vs_history_stop told;
        int stop = vs_history_step_back(&h, core, &told);
        if (!retired) {
            CHECK_EQ(stop, VS_HISTORY_BEGINNING);
            CHECK_EQ(r.position, 0);
            continue;
        }
        CHECK_EQ(stop, VS_REPLAY_REACHED);
        CHECK_EQ(r.cores[core].cpu->retired, retired - 1);
        replay_make(&straight, s);
        run_to(&straight, r.position);
        CHECK_EQ(digest_of(&straight), digest_of(&r));
        /* one more is that instruction */
        run_to(&straight, r.position + 1);
        run_to(&r, r.position + 1);
        CHECK_EQ(r.last, core);
        CHECK_EQ(r.cores[core].cpu->retired, retired);
        CHECK_EQ(digest_of(&straight), digest_of(&r));
        vs_replay_fini(&straight);
    }
    CHECK_EQ(vs_history_goto(&h, 0), VS_REPLAY_REACHED);
    struct vs_history_stop told;
    CHECK_EQ(vs_history_step_back(&h, 0, &told), VS_HISTORY_BEGINNING);
    vs_history_fini(&h);
    vs_replay_fini(&r);
}

EACH(steps_back, check_step_back)

static void check_stop(const struct vs_history_stop *got, const struct vs_history_stop *should)
{
    if (got->kind != should->kind || got->position != should->position ||
        got->core != should->core || got->watch != should->watch)
        unittest_fail(__FILE__, __LINE__, "stop %d of core %u at %llu, not %d of core %u at %llu",
                      got->kind, got->core, (unsigned long long)got->position, should->kind,
                      should->core, (unsigned long long)should->position);
}

static void go_back(struct vs_history *h, const struct stops *st, uint64_t from)
{
    struct vs_replay *r = h->replay;
    struct vs_history_stop stop;
    const struct vs_history_stop *should = last_before(st, from);
    uint64_t before;
    int found;
    CHECK_EQ(vs_history_goto(h, from), VS_REPLAY_REACHED);
    before = digest_of(r);
    CHECK_EQ(vs_history_find_back(h, &stop), should != NULL);
    CHECK_EQ(digest_of(r), before);
    if (should)
        check_stop(&stop, should);
    found = vs_history_back(h, false, &stop);
    CHECK_EQ(found, should ? should->kind : VS_HISTORY_BEGINNING);
    if (found == VS_REPLAY_WATCH) /* just after the access */
        CHECK_EQ(r->cores[should->core].cpu->retired, should->retired);
    else
        CHECK_EQ(r->position, should ? should->position : 0);
    if (should)
        check_stop(&stop, should);
    if (found == VS_REPLAY_BREAK) {
        CHECK_EQ(r->last, should->core);
        CHECK(bsearch(&r->cores[r->last].cpu->pc, st->breaks, st->break_count,
                      sizeof(st->breaks[0]), compare_addresses));
    }
}

/* Finds out what is to be met, and makes a history that is searched in so many threads. */
static void prepare_search(const struct stream *s, struct samples *all, struct stops *st,
                           struct vs_history *h, struct vs_replay *r, unsigned threads)
{
    take_samples(all, s);
    choose_stops(st, s, all);
    list_stops(st, s);
    history_make(h, r, s, 3000, SIZE_MAX);
    h->threads = threads;
}

static void check_back_with(const struct stream *s, unsigned threads)
{
    struct rng rng = rng_init(8 + threads);
    struct samples all;
    struct stops st;
    struct vs_history h;
    struct vs_replay r;
    prepare_search(s, &all, &st, &h, &r, threads);
    use_stops(&r, &st);
    for (unsigned i = 0; i < 20; i++)
        go_back(&h, &st, rng_below(&rng, all.end + 1));
    for (unsigned i = 0; i < 20; i++)
        go_back(&h, &st, st.list[rng_below(&rng, st.count)].position + rng_below(&rng, 3));
    go_back(&h, &st, 0);
    go_back(&h, &st, all.end);
    vs_history_fini(&h);
    vs_replay_fini(&r);
    free(st.list);
}

static void check_back(const struct stream *s)
{
    check_back_with(s, 0);
}

EACH(finds_stops_backwards, check_back)

static void check_hunt(const struct stream *s)
{
    check_back_with(s, 3);
}

EACH(finds_stops_backwards_in_threads, check_hunt)

/* While another thread takes the checkpoints, and when it has taken them all. */
static void check_scout(const struct stream *s)
{
    struct samples all;
    struct stops st;
    struct vs_history h;
    struct vs_replay r;
    prepare_search(s, &all, &st, &h, &r, 3);
    CHECK_EQ(vs_history_scout(&h), 0);
    go_about_in(&h, &all, &st);
    go_back(&h, &st, all.end / 2);
    for (bool scouting = true; scouting; sched_yield()) {
        pthread_mutex_lock(&h.lock);
        scouting = h.scouting;
        pthread_mutex_unlock(&h.lock);
    }
    CHECK(h.count > all.end / 3000 / 8);
    CHECK(vs_replay_state_position(h.states[h.count - 1]) + 3000 > all.end);
    go_about_in(&h, &all, NULL);
    use_stops(&r, &st);
    go_back(&h, &st, all.end);
    vs_history_fini(&h);
    vs_replay_fini(&r);
    free(st.list);
}

EACH(goes_anywhere_with_a_scout, check_scout)

/* It is stopped in the midst, wherever it is. */
static void check_early_end(const struct stream *s)
{
    for (unsigned i = 0; i < 5; i++) {
        struct vs_history h;
        struct vs_replay r;
        history_make(&h, &r, s, 100, i % 2 ? SIZE_MAX : 1 << 20);
        h.threads = 1;
        CHECK_EQ(vs_history_scout(&h), 0);
        CHECK_EQ(vs_history_goto(&h, 1000 * i), VS_REPLAY_REACHED);
        vs_history_fini(&h);
        vs_replay_fini(&r);
    }
}

TEST(ends_before_its_scout)
{
    with("mc2RT", "--cores 4", check_early_end);
}

/* With and without threads, from many places: signals, and accesses to the stack. */
static void compare_searches(const struct stream *s)
{
    struct rng rng = rng_init(10);
    struct samples all;
    struct vs_history h;
    struct vs_replay r;
    unsigned signals = 0;
    take_samples(&all, s);
    history_make(&h, &r, s, 3000, SIZE_MAX);
    CHECK_EQ(vs_history_goto(&h, all.end), VS_REPLAY_REACHED);
    uint64_t sp = vs_cpu_get(r.cores[0].cpu, s->config.isa->abi->stack);
    const struct vs_replay_watch watch = {
        .addr = sp & ~UINT64_C(7), .size = 8, .reads = true, .writes = true};
    r.signals = UINT64_MAX;
    for (unsigned i = 0; i < 30; i++) {
        struct vs_history_stop alone, together;
        CHECK_EQ(vs_history_goto(&h, rng_below(&rng, all.end + 1)), VS_REPLAY_REACHED);
        r.watches = &watch;
        r.watch_count = i % 2;
        h.threads = 0;
        int found = vs_history_find_back(&h, &alone);
        h.threads = 3;
        CHECK_EQ(vs_history_find_back(&h, &together), found);
        if (found)
            check_stop(&together, &alone);
        signals += found && alone.kind == VS_REPLAY_SIGNAL;
        r.watch_count = 0;
    }
    CHECK(signals);
    vs_history_fini(&h);
    vs_replay_fini(&r);
}

static void search_signals(const char *technique, const char *isa, const char *options,
                           const char *program)
{
    struct vs_diag diag = {0};
    const struct vs_cpu_ops *cpu;
    char folder[PATH_MAX];
    unittest_built("lib/vestige", folder);
    if (vs_cpu_load(vs_isa_find(isa), folder, &cpu, NULL, &diag))
        unittest_fail(__FILE__, __LINE__, "%s", diag.text);
    struct file run = record(options, program, "");
    struct stream s;
    stream_make(&s, &run, technique);
    s.config.cpu = cpu;
    compare_searches(&s);
    stream_free(&s);
    file_free(&run);
}

TEST(finds_signals_backwards_in_threads_in_mlvcf)
{
    search_signals("mlvCF_e:CS32", "rv64", "--cores 2", "workloads/rv64/signals");
}

TEST(finds_signals_backwards_in_threads_in_mc2rt)
{
    search_signals("mc2RT", "rv64", "--cores 2", "workloads/rv64/signals");
}

/* Each thread translates the code anew, while others do. */
TEST(finds_signals_backwards_in_threads_in_a_native_run)
{
    search_signals("mc2RT", "x86-64", "", "workloads/host/signals");
}

/* A poll that says so ends the search, and leaves the replay where it was. */
static bool soon(void *context)
{
    return ++*(unsigned *)context > 3;
}

static void check_polled(const struct stream *s)
{
    struct vs_history h;
    struct vs_replay r;
    struct vs_history_stop stop;
    unsigned asked = 0;
    const struct vs_replay_watch nowhere = {.addr = 16, .size = 1, .reads = true, .writes = true};
    history_make(&h, &r, s, 300, SIZE_MAX);
    h.threads = 3;
    CHECK_EQ(vs_history_goto(&h, UINT64_MAX), VS_REPLAY_OVER);
    r.watches = &nowhere;
    r.watch_count = 1;
    CHECK_EQ(vs_history_find_back(&h, &stop), 0);
    uint64_t before = digest_of(&r);
    h.poll = soon;
    h.context = &asked;
    CHECK_EQ(vs_history_back(&h, 0, &stop), VS_HISTORY_POLLED);
    CHECK(asked > 3);
    CHECK_EQ(digest_of(&r), before);
    vs_history_fini(&h);
    vs_replay_fini(&r);
}

TEST(ends_a_search_in_threads_when_polled)
{
    with("mc2RT", "--cores 4", check_polled);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void check_memory(const struct stream *s)
{
    struct samples all;
    struct vs_history h;
    struct vs_replay r;
    take_samples(&all, s);
    history_make(&h, &r, s, 16, SIZE_MAX);
    CHECK_EQ(vs_history_goto(&h, all.end), VS_REPLAY_REACHED);
    CHECK(h.count < VS_HISTORY_STATES && h.count > VS_HISTORY_STATES / 4);
    vs_history_fini(&h);
    vs_replay_fini(&r);

    size_t most = 8 << 20;
    history_make(&h, &r, s, 16, most);
    CHECK_EQ(vs_history_goto(&h, all.end), VS_REPLAY_REACHED);
    CHECK(h.count > 1 && h.used <= most);
    size_t used = h.used;
    while (h.count) { /* what is counted is what they have */
        size_t size = vs_replay_state_size(h.states[--h.count]);
        used = size < used ? used - size : 0;
        vs_replay_drop(h.states[h.count]);
    }
    CHECK(used < vs_replay_made(&r) + (64 << 10));
    vs_history_fini(&h);
    vs_replay_fini(&r);
}

TEST(bounds_its_checkpoints_in_mlvcf)
{
    with("mlvCF_e:CS32", "--cores 4", check_memory);
}

TEST(bounds_its_checkpoints_in_mc2rt)
{
    with("mc2RT", "--cores 4", check_memory);
}

static void check_without_clone(const struct stream *s)
{
    const struct vs_replay_goal goal = at_position(1000);
    struct vs_replay_state *state;
    struct vs_history h;
    struct vs_replay r;
    replay_make(&r, s);
    CHECK_ERR(vs_replay_save(&r, &state), VSE_FEATURE);
    CHECK(!state);
    CHECK_ERR(vs_history_init(&h, &r, SIZE_MAX), VSE_FEATURE);
    vs_history_fini(&h);
    CHECK_EQ(vs_replay_run(&r, &goal), VS_REPLAY_REACHED);
    vs_replay_fini(&r);
}

TEST(saves_nothing_of_a_compressed_stream)
{
    with("mlvNX_gzip", "--cores 4", check_without_clone);
}

/* The search for a stop leaves the checkpoint alone that it starts from, though a new one would be
 * due on its way and memory is short. */
static void check_search(const struct stream *s)
{
    struct samples all;
    struct stops st;
    struct vs_history h;
    struct vs_replay r;
    struct vs_history_stop stop;
    struct vs_replay_goal goal = at_position(UINT64_MAX);
    size_t w = 0, b;
    take_samples(&all, s);
    choose_stops(&st, s, &all);
    list_stops(&st, s);
    /* a watch, and a break that follows it somewhere */
    while (w + 1 < st.count && (st.list[w].kind != VS_REPLAY_WATCH || st.list[w].position < 1000 ||
                                st.list[w + 1].kind != VS_REPLAY_BREAK ||
                                st.list[w + 1].position < st.list[w].position + 2))
        w++;
    CHECK((b = w + 1) < st.count);
    uint64_t first = st.list[w].position / 2, access = st.list[w].position + 1;
    history_make(&h, &r, s, first, SIZE_MAX);
    CHECK_EQ(vs_history_goto(&h, first), VS_REPLAY_REACHED);
    CHECK_EQ(h.count, 2);
    h.spacing = access - first;
    use_stops(&r, &st);
    do
        CHECK(vs_history_run(&h, &goal) <= VS_REPLAY_WATCH);
    while (r.position < st.list[b].position);
    CHECK_EQ(h.count, 2);
    h.most = 1;
    CHECK_EQ(vs_history_find_back(&h, &stop), 1);
    check_stop(&stop, &st.list[w]);
    CHECK_EQ(vs_history_back(&h, false, &stop), VS_REPLAY_WATCH);
    CHECK_EQ(r.cores[stop.core].cpu->retired, st.list[w].retired);
    vs_history_fini(&h);
    vs_replay_fini(&r);
    free(st.list);
}

TEST(searches_where_a_checkpoint_is_due)
{
    with("mlvCF_e:CS32", "--cores 4", check_search);
}

/* A debugger is told of the same accesses, from the side that it wants of the ISA. */
static void check_sides(const struct stream *s)
{
    enum { ACCESSES = 40 };
    struct samples all;
    struct stops st;
    struct vs_gdb_replayed *m = malloc(sizeof(*m));
    uint64_t found[2][ACCESSES];
    CHECK(m);
    take_samples(&all, s);
    choose_stops(&st, s, &all);
    for (unsigned after = 0; after < 2; after++) {
        struct vs_register_set registers = *s->config.isa->registers;
        struct vs_isa isa = *s->config.isa;
        struct stream same = *s;
        struct vs_gdb_stop stop;
        struct vs_replay r;
        registers.watch_after = after;
        isa.registers = &registers;
        same.config.isa = &isa;
        replay_make(&r, &same);
        CHECK_EQ(vs_gdb_replayed_init(m, &r, &(struct vs_gdb_replayed_options){.most = 1 << 24}),
                 0);
        const struct vs_gdb_machine_ops *ops = m->machine.ops;
        CHECK_EQ(ops->insert(m, VS_GDB_POINT_ACCESS, st.watches[0].addr & ~UINT64_C(4095), 4096),
                 0);
        for (unsigned i = 0; i < ACCESSES; i++) {
            CHECK_EQ(ops->resume(m, &(struct vs_gdb_resume){0}, &stop, NULL), 0);
            CHECK_EQ(stop.kind, VS_GDB_WATCH);
            found[after][i] = r.position - after;
            CHECK(!i || found[after][i] > found[after][i - 1]);
        }
        /* back past the one that was told last if it stands before that, else to it */
        for (unsigned i = ACCESSES - !after; i-- > 0;) {
            CHECK_EQ(ops->resume(m, &(struct vs_gdb_resume){.backwards = true}, &stop, NULL), 0);
            CHECK_EQ(stop.kind, VS_GDB_WATCH);
            CHECK_EQ(r.position, found[after][i] + !after);
        }
        vs_gdb_replayed_fini(m);
        vs_replay_fini(&r);
    }
    for (unsigned i = 0; i < ACCESSES; i++)
        CHECK_EQ(found[0][i], found[1][i]);
    free(st.list);
    free(m);
}

TEST(tells_accesses_before_or_after)
{
    with("mlvCF_e:CS32", "--cores 4", check_sides);
}

/* More than the registers that a core begins with. */
enum { FIRST_BITS = 12000 };

/* Where a stream is cut is a place as any other. */
static void check_cut(const struct stream *whole)
{
    struct rng rng = rng_init(4);
    for (unsigned i = 0; i < 12; i++) {
        const struct vs_replay_goal end = at_position(UINT64_MAX);
        struct stream s = *whole;
        struct vs_history h;
        struct vs_replay r;
        /* the first time before there are other threads than one */
        uint64_t nbits = s.stream.nbits;
        s.stream.nbits = i ? nbits / 4 + rng_below(&rng, nbits / 2) : FIRST_BITS;
        s.stream.size = (size_t)(s.stream.nbits + 7) / 8;
        s.config.streams = &s.stream;
        history_make(&h, &r, &s, 2000, SIZE_MAX);
        CHECK_EQ(vs_history_run(&h, &end), VS_REPLAY_CUT);
        uint64_t position = r.position;
        CHECK(position > (i ? 200 : 0));
        for (unsigned core = 0; core < r.count; core++) {
            uint64_t retired = r.cores[core].cpu->retired;
            struct vs_history_stop told;
            int stop = vs_history_step_back(&h, core, &told);
            CHECK_EQ(stop, retired ? VS_REPLAY_REACHED : VS_HISTORY_BEGINNING);
            CHECK_EQ(r.cores[core].cpu->retired, retired - (retired > 0));
            CHECK_EQ(vs_history_goto(&h, position), VS_REPLAY_REACHED);
            CHECK_EQ(r.position, position);
            CHECK_EQ(vs_history_run(&h, &end), VS_REPLAY_CUT);
            CHECK_EQ(r.position, position);
        }
        vs_history_fini(&h);
        vs_replay_fini(&r);
    }
}

EACH(goes_back_from_a_cut, check_cut)
