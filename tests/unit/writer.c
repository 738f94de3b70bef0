/* SPDX-License-Identifier: MIT */
/* What a writer refuses, and what stands afterwards. */
#include <signal.h>
#include <sys/resource.h>

#include "runs.h"
#include "vestige/run.h"

static struct vs_event load(unsigned thread, uint64_t value)
{
    return (struct vs_event){.kind = VS_LOAD,
                             .pc = 0x1000,
                             .addr = 0x2000,
                             .size = 4,
                             .value = value,
                             .icount = 1,
                             .thread = (uint16_t)thread};
}

static struct vs_writer *open_writer(uint32_t features)
{
    struct run none = {.features = features};

    return run_open_writer("a.vest", &none, NULL);
}

static int put(struct vs_writer *w, const struct vs_event *e, const uint64_t *cycles, size_t count)
{
    return vs_writer_put(w, &(struct vs_batch){.events = e, .cycles = cycles, .count = count});
}

/* Seals and reads back; the events must be these. */
static void check_sealed(struct vs_writer *w, const struct vs_event *e, const uint64_t *cycles,
                         size_t count)
{
    struct run want = {.features = cycles ? VS_RUN_TIMED : 0}, got;
    struct vs_reader *r;
    int err;

    run_append(&want, &(struct vs_batch){.events = e, .cycles = cycles, .count = count});
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    CHECK_EQ(vs_reader_open(&r, "a.vest", VS_OPEN_STRICT, NULL), 0);
    got = run_read(r, &err);
    CHECK_EQ(err, 0);
    run_check_same(&got, &want);
    CHECK_EQ(vs_reader_check(r, &(struct vs_check_result){0}, NULL, NULL), 0);
    vs_reader_close(r);
    run_free(&want);
    run_free(&got);
}

static void check_refusal(struct vs_writer *w, const char *number, const char *why)
{
    const struct vs_diag *d = vs_writer_diag(w);

    CHECK_ERR(d->error, VSE_INVAL);
    CHECK_HAS(d->text, number);
    CHECK_HAS(d->text, why);
}

/* ---- invalid events ---- */

TEST(keeps_the_events_before_an_invalid_one)
{
    struct vs_event e[] = {load(0, 1), load(0, 2), load(0, 3), load(0, 4), load(0, 5)};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    e[3].size = 0;
    CHECK_ERR(put(w, e, NULL, 5), VSE_INVAL);
    check_refusal(w, "event 3 ", "size");
    CHECK_EQ(put(w, e + 4, NULL, 1), 0);
    e[3] = e[4];
    check_sealed(w, e, NULL, 4);
    place_fini(&p);
}

TEST(numbers_an_invalid_event_over_all_chunks)
{
    struct vs_event e[10], bad = {.kind = 77};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    for (unsigned i = 0; i < 10; i++)
        e[i] = load(0, i);
    CHECK_EQ(vs_writer_open(
                 &w, "a.vest",
                 &(struct vs_writer_options){.features = VS_RUN_LOADS, .chunk_events = 3}, NULL),
             0);
    CHECK_EQ(put(w, e, NULL, 10), 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 10 (0 of its batch)", "kind");
    check_sealed(w, e, NULL, 10);
    place_fini(&p);
}

/* An event is checked even if it looks like the one that is expected next. */
static void check_refused_after(struct vs_event good, struct vs_event bad, uint32_t max_sites)
{
    struct vs_event e[] = {good, good, good, good};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    CHECK_EQ(vs_writer_open(&w, "a.vest",
                            &(struct vs_writer_options){.features = VS_RUN_LOADS | VS_RUN_STORES,
                                                        .max_sites = max_sites},
                            NULL),
             0);
    CHECK_EQ(put(w, e, NULL, 3), 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    CHECK_EQ(put(w, e, NULL, 1), 0);
    check_sealed(w, e, NULL, 4);
    place_fini(&p);
}

TEST(checks_expected_loads)
{
    struct vs_event good = load(0, 1), bad = good;

    bad.value = UINT64_C(1) << 32;
    check_refused_after(good, bad, 0);
    check_refused_after(good, bad, 1);
}

TEST(checks_expected_branches)
{
    struct vs_event good = {.kind = VS_BRANCH, .pc = 4, .size = 4, .addr = 8, .flags = VS_BR_TAKEN};
    struct vs_event bad = good;

    bad.flags = 0;
    check_refused_after(good, bad, 0);
    bad = good;
    bad.value = 1;
    check_refused_after(good, bad, 0);
}

TEST(checks_expected_not_taken_indirect_branches)
{
    struct vs_event good = {
        .kind = VS_BRANCH, .pc = 4, .size = 4, .flags = VS_BR_COND | VS_BR_INDIRECT};
    struct vs_event bad = good;

    bad.addr = 8;
    check_refused_after(good, bad, 0);
}

TEST(checks_expected_external_writes)
{
    struct vs_event good = {.kind = VS_EXTERNAL, .addr = 4, .size = 4}, bad = good;

    bad.size = 0;
    check_refused_after(good, bad, 0);
    check_refused_after(good, bad, 1);
}

TEST(checks_expected_thread_exits)
{
    struct vs_event good = {.kind = VS_THREAD_EXIT}, bad = good;

    bad.addr = 1;
    check_refused_after(good, bad, 0);
    check_refused_after(good, bad, 1);
}

TEST(checks_expected_counts)
{
    struct vs_event good = {.kind = VS_COUNT}, bad = good;

    bad.addr = 1;
    check_refused_after(good, bad, 0);
    check_refused_after(good, bad, 1);
}

TEST(refuses_an_empty_event_among_literals)
{
    check_refused_after(load(0, 1), (struct vs_event){0}, 1);
    check_refused_after(load(0, 1), (struct vs_event){0}, 0);
}

TEST(refuses_wide_values_outside_the_batch)
{
    struct vs_event e = load(0, 0);
    uint8_t wide[32] = {0};
    struct vs_batch b = {.events = &e, .count = 1, .wide = wide, .wide_size = 32};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    e.size = 16;
    for (int i = 0; i < 5; i++) { /* soon it is the expected site */
        e.value = 16;
        CHECK_EQ(vs_writer_put(w, &b), 0);
        e.value = 17;
        CHECK_ERR(vs_writer_put(w, &b), VSE_INVAL);
        check_refusal(w, "event", "wide");
    }
    vs_writer_abort(w);
    place_fini(&p);
}

/* ---- what the run as a whole does not allow ---- */

TEST(refuses_memory_events_a_run_does_not_have)
{
    struct vs_event l = load(0, 1), s = load(0, 1);
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    s.kind = VS_STORE;
    w = open_writer(VS_RUN_STORES);
    CHECK_ERR(put(w, &l, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "VS_RUN_LOADS");
    CHECK_EQ(put(w, &s, NULL, 1), 0);
    vs_writer_abort(w);
    w = open_writer(VS_RUN_LOADS);
    CHECK_ERR(put(w, &s, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "VS_RUN_STORES");
    CHECK_EQ(put(w, &l, NULL, 1), 0);
    vs_writer_abort(w);
    place_fini(&p);
}

TEST(refuses_inputs_a_run_does_not_have_and_what_follows_from_them)
{
    struct vs_event l = load(0, 1), turn = {.kind = VS_TURN, .size = 8};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    CHECK_ERR(put(w, &turn, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "VS_RUN_INPUTS");
    vs_writer_abort(w);
    w = open_writer(VS_RUN_LOADS | VS_RUN_INPUTS | VS_RUN_SHORT);
    CHECK_ERR(put(w, &l, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "VS_RUN_SHORT");
    CHECK_EQ(put(w, &turn, NULL, 1), 0);
    vs_writer_abort(w);
    place_fini(&p);
}

TEST(refuses_thread_numbers_that_skip)
{
    struct vs_event e[] = {load(0, 0), load(1, 0), load(0, 0), load(2, 0)}, bad;
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    bad = load(1, 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "thread");
    CHECK_EQ(put(w, e, NULL, 3), 0);
    bad = load(3, 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    bad = load(65535, 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    bad = load(2, 0); /* refused for another reason: it did not appear */
    bad.kind = 0;
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    bad = load(3, 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    CHECK_EQ(put(w, e + 3, NULL, 1), 0);
    check_sealed(w, e, NULL, 4);
    place_fini(&p);
}

TEST(refuses_cycles_missing_or_unwanted)
{
    struct vs_event e[] = {load(0, 1)};
    uint64_t cycle = 5;
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS | VS_RUN_TIMED);
    CHECK_ERR(put(w, e, NULL, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "cycle");
    CHECK_EQ(put(w, e, NULL, 0), 0);
    CHECK_EQ(put(w, e, &cycle, 1), 0);
    vs_writer_abort(w);
    w = open_writer(VS_RUN_LOADS);
    CHECK_ERR(put(w, e, &cycle, 1), VSE_INVAL);
    check_refusal(w, "event 0 ", "cycle");
    CHECK_EQ(put(w, e, NULL, 1), 0);
    vs_writer_abort(w);
    place_fini(&p);
}

TEST(refuses_cycles_that_decrease)
{
    struct vs_event e[] = {load(0, 1), load(1, 2), load(0, 3), load(0, 4)};
    const uint64_t cycles[] = {10, 20, 20, UINT64_C(1) << 62}, low = 19, high = UINT64_MAX;
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS | VS_RUN_TIMED);
    CHECK_EQ(put(w, e, cycles, 2), 0);
    CHECK_ERR(put(w, e + 2, &low, 1), VSE_INVAL);
    check_refusal(w, "event 2 ", "cycle");
    CHECK_ERR(put(w, e + 2, &high, 1), VSE_INVAL);
    CHECK_EQ(vs_writer_flush(w), 0); /* also over the end of a chunk */
    CHECK_ERR(put(w, e + 2, &low, 1), VSE_INVAL);
    CHECK_EQ(put(w, e + 2, cycles + 2, 2), 0);
    check_sealed(w, e, cycles, 4);
    place_fini(&p);
}

/* The cycle of a refused event must leave no trace, at the start of a chunk least of all. */
static void check_cycle_after_refusal(uint64_t refused, uint64_t taken)
{
    struct vs_event e[] = {load(0, 1), load(0, 2)}, bad = load(0, 1);
    const uint64_t cycles[] = {taken, taken + 3};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS | VS_RUN_TIMED);
    bad.size = 0;
    CHECK_ERR(put(w, &bad, &refused, 1), VSE_INVAL);
    CHECK_EQ(put(w, e, cycles, 2), 0);
    check_sealed(w, e, cycles, 2);
    place_fini(&p);
}

TEST(forgets_the_cycle_of_a_refused_event)
{
    check_cycle_after_refusal(100, 200);
    check_cycle_after_refusal(200, 100);
}

/* A thread that entered a chunk with a refused event enters it again later. */
TEST(forgets_the_thread_of_a_refused_event)
{
    struct vs_event e[] = {load(0, 1), load(0, 2), load(1, 3), load(1, 4)}, bad = load(1, 1);
    const uint64_t cycles[] = {10, 20, 30, 40};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS | VS_RUN_TIMED);
    CHECK_EQ(put(w, e, cycles, 1), 0);
    CHECK_EQ(vs_writer_flush(w), 0);
    bad.size = 0;
    CHECK_ERR(put(w, &bad, &cycles[3], 1), VSE_INVAL);
    CHECK_EQ(put(w, e + 1, cycles + 1, 3), 0);
    check_sealed(w, e, cycles, 4);
    place_fini(&p);
}

TEST(seals_when_every_event_was_refused)
{
    struct vs_event bad = {0};
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    w = open_writer(0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    CHECK_EQ(vs_writer_meta(w, "a", "b"), 0);
    CHECK_EQ(vs_writer_flush(w), 0);
    CHECK_ERR(put(w, &bad, NULL, 1), VSE_INVAL);
    check_sealed(w, NULL, NULL, 0);
    place_fini(&p);
}

/* ---- tables ---- */

TEST(refuses_bad_facts_images_and_blocks)
{
    char *text = calloc(1, (1 << 20) + 2);
    uint8_t code[4] = {0};
    struct vs_writer *w;
    struct place p;

    memset(text, 'x', (1 << 20) + 1);
    place_init(&p);
    w = open_writer(0);
    CHECK_ERR(vs_writer_meta(w, "", "v"), VSE_INVAL);
    CHECK_ERR(vs_writer_meta(w, text, "v"), VSE_INVAL);
    CHECK_ERR(vs_writer_meta(w, "k", text), VSE_INVAL);
    CHECK_ERR(vs_writer_image(w, &(struct vs_image){.path = "a", .build_id_size = 65}), VSE_INVAL);
    CHECK_ERR(vs_writer_block(w, &(struct vs_block){0, code, 4, 5}), VSE_INVAL);
    CHECK_EQ(vs_writer_image(w, &(struct vs_image){.path = "a"}), 0);
    CHECK_EQ(vs_writer_block(w, &(struct vs_block){0, code, 4, 4}), 0);
    check_sealed(w, NULL, NULL, 0);
    free(text);
    place_fini(&p);
}

/* ---- options and files ---- */

TEST(refuses_options_out_of_range)
{
    static const struct vs_writer_options bad[] = {
        {.level = -1},
        {.level = 20},
        {.workers = 100000},
        {.chunk_events = (1u << 22) + 1},
        {.chunk_bytes = UINT32_MAX},
        {.max_sites = (1u << 22) + 1},
        {.features = VS_RUN_KNOWN + 1},
        {.features = UINT32_C(1) << 31},
    };
    struct place p;

    place_init(&p);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct vs_writer *w = (struct vs_writer *)1;
        struct vs_diag d = {0};

        CHECK_ERR(vs_writer_open(&w, "a.vest", &bad[i], &d), VSE_INVAL);
        CHECK(!w && d.text[0]);
        CHECK(!exists("a.vest") && !exists("a.vest.partial"));
    }
    CHECK_ERR(vs_writer_open(&(struct vs_writer *){0}, NULL, NULL, NULL), VSE_INVAL);
    CHECK_ERR(vs_writer_open(&(struct vs_writer *){0}, "", NULL, NULL), VSE_INVAL);
    place_fini(&p);
}

TEST(replaces_a_file_only_when_asked)
{
    struct vs_event e[] = {load(0, 1)};
    struct vs_writer *w;
    struct vs_diag d = {0};
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    check_sealed(w, NULL, NULL, 0);
    CHECK_ERR(vs_writer_open(&w, "a.vest", NULL, &d), VSE_EXISTS);
    CHECK_HAS(d.text, "a.vest");
    CHECK_EQ(vs_writer_open(
                 &w, "a.vest",
                 &(struct vs_writer_options){.features = VS_RUN_LOADS, .overwrite = true}, NULL),
             0);
    CHECK_EQ(put(w, e, NULL, 1), 0);
    check_sealed(w, e, NULL, 1);
    place_fini(&p);
}

TEST(does_not_seal_over_a_file_that_appeared)
{
    struct vs_writer *w;
    struct vs_diag d = {0};
    struct place p;
    struct stat st;
    FILE *f;

    place_init(&p);
    w = open_writer(0);
    f = fopen("a.vest", "w");
    CHECK(f && fputs("mine", f) >= 0 && fclose(f) == 0);
    CHECK_ERR(vs_writer_seal(w, &d), VSE_EXISTS);
    CHECK(d.text[0]);
    CHECK_EQ(stat("a.vest", &st), 0);
    CHECK_EQ(st.st_size, 4);
    CHECK(exists("a.vest.partial"));
    place_fini(&p);
}

/* Permissions are nothing to root. The folder that the case is in lets others in. */
static void become_nobody(void)
{
    enum { NOBODY = 65534 };

    CHECK_EQ(chmod(".", 0755), 0);
    if (geteuid() == 0)
        CHECK_EQ(seteuid(NOBODY), 0);
}

TEST(reports_a_folder_it_cannot_write)
{
    struct vs_writer *w = (struct vs_writer *)1;
    struct vs_diag d = {0};
    struct place p;

    place_init(&p);
    CHECK_ERR(vs_writer_open(&w, "none/a.vest", NULL, &d), VSE_IO);
    CHECK(!w);
    CHECK_HAS(d.text, "none/a.vest");
    CHECK_EQ(mkdir("a.vest", 0700), 0);
    CHECK_ERR(vs_writer_open(&w, "a.vest", NULL, &d), VSE_INVAL);
    CHECK_EQ(mkdir("shut", 0555), 0);
    become_nobody();
    CHECK_ERR(vs_writer_open(&w, "shut/a.vest", NULL, &d), VSE_IO);
    CHECK_HAS(d.text, "shut/a.vest");
    CHECK_EQ(seteuid(getuid()), 0);
    place_fini(&p);
}

TEST(leaves_nothing_when_aborted)
{
    struct run run = run_generate(&(struct gen_options){.seed = 1, .events = 5000});
    struct vs_writer *w;
    struct place p;

    place_init(&p);
    vs_writer_abort(NULL);
    w = run_open_writer("a.vest", &run, &(struct vs_writer_options){.chunk_events = 100});
    run_put_tables(w, &run);
    run_put(w, &run, 0, run.count, 1000);
    CHECK(exists("a.vest.partial"));
    vs_writer_abort(w);
    CHECK(!exists("a.vest") && !exists("a.vest.partial"));
    run_free(&run);
    place_fini(&p);
}

TEST(refuses_a_second_writer_of_the_same_file)
{
    struct vs_event e[] = {load(0, 1)};
    struct vs_writer *w, *second;
    struct vs_diag d = {0};
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    CHECK_EQ(put(w, e, NULL, 1), 0);
    CHECK_ERR(vs_writer_open(&second, "a.vest", NULL, &d), VSE_EXISTS);
    CHECK(!second && d.text[0]);
    CHECK_ERR(vs_writer_open(&second, "a.vest", &(struct vs_writer_options){.overwrite = true}, &d),
              VSE_EXISTS);
    check_sealed(w, e, NULL, 1);
    place_fini(&p);
}

/* ---- a full disk ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void check_full_disk(struct vs_writer_options o, rlim_t bytes)
{
    struct run run =
        run_generate(&(struct gen_options){.seed = 2, .events = 20000, .memory = true});
    struct vs_writer *w;
    struct vs_diag d = {0};
    struct place p;
    int err = 0;

    place_init(&p);
    limit_files(bytes);
    o.chunk_events = 500;
    w = run_open_writer("a.vest", &run, &o);
    run_put_tables(w, &run);
    for (size_t i = 0; i + 100 <= run.count && err == 0; i += 100) {
        struct vs_batch b = run_batch(&run, i, 100);

        err = vs_writer_put(w, &b);
    }
    if (err == 0)
        err = vs_writer_flush(w);
    CHECK_ERR(err, VSE_IO);
    CHECK_HAS(vs_writer_diag(w)->text, "a.vest.partial");
    CHECK_ERR(vs_writer_flush(w), VSE_IO); /* sticky */
    CHECK_ERR(vs_writer_put(w, &(struct vs_batch){0}), VSE_IO);
    CHECK_ERR(vs_writer_meta(w, "a", "b"), VSE_IO);
    CHECK_ERR(vs_writer_seal(w, &d), VSE_IO);
    CHECK_HAS(d.text, "a.vest.partial");
    CHECK(!exists("a.vest") && exists("a.vest.partial"));
    run_free(&run);
    place_fini(&p);
}

TEST(reports_a_full_disk)
{
    check_full_disk((struct vs_writer_options){0}, 8000);
    check_full_disk((struct vs_writer_options){.workers = 3}, 8000);
    check_full_disk((struct vs_writer_options){.inline_work = true}, 100);
}

/* Everything fits but the end. */
TEST(reports_a_disk_that_is_full_at_the_end)
{
    struct vs_event e[] = {load(0, 1)};
    struct vs_writer *w;
    struct vs_writer_stats stats;
    struct vs_diag d = {0};
    struct place p;

    place_init(&p);
    w = open_writer(VS_RUN_LOADS);
    CHECK_EQ(put(w, e, NULL, 1), 0);
    CHECK_EQ(vs_writer_flush(w), 0);
    vs_writer_stats(w, &stats);
    limit_files(stats.bytes + 10);
    CHECK_ERR(vs_writer_seal(w, &d), VSE_IO);
    CHECK(d.text[0] && !exists("a.vest") && exists("a.vest.partial"));
    place_fini(&p);
}

/* ---- several at once ---- */

static void check_file(const char *path, const struct run *run)
{
    struct vs_reader *r;
    struct run got;
    int err;

    CHECK_EQ(vs_reader_open(&r, path, VS_OPEN_STRICT, NULL), 0);
    got = run_read(r, &err);
    run_check_same(&got, run);
    run_free(&got);
    vs_reader_close(r);
}

TEST(writes_two_runs_side_by_side)
{
    struct run a = run_generate(&(struct gen_options){.seed = 3, .events = 4000, .memory = true});
    struct run b = run_generate(&(struct gen_options){.seed = 4, .events = 4000, .timed = true});
    struct vs_writer *v, *w;
    struct place p;

    place_init(&p);
    v = run_open_writer("a.vest", &a, &(struct vs_writer_options){.chunk_events = 300});
    w = run_open_writer("b.vest", &b, &(struct vs_writer_options){.chunk_events = 200});
    run_put_tables(v, &a);
    run_put_tables(w, &b);
    for (size_t i = 0; i < 4000; i += 150) {
        run_put(v, &a, i < a.count ? i : a.count, i + 150 < a.count ? i + 150 : a.count, 60);
        run_put(w, &b, i < b.count ? i : b.count, i + 150 < b.count ? i + 150 : b.count, 70);
    }
    run_put(v, &a, 4050 < a.count ? 4050 : a.count, a.count, 50);
    run_put(w, &b, 4050 < b.count ? 4050 : b.count, b.count, 50);
    CHECK_EQ(vs_writer_seal(v, NULL), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    check_file("a.vest", &a);
    check_file("b.vest", &b);
    run_free(&a);
    run_free(&b);
    place_fini(&p);
}

TEST(reads_two_runs_side_by_side)
{
    struct run a = run_generate(&(struct gen_options){.seed = 5, .events = 9000, .memory = true});
    struct run b = run_generate(&(struct gen_options){.seed = 6, .events = 9000, .memory = true});
    struct run c = {.features = a.features}, d = {.features = b.features};
    struct vs_reader *r, *s, *other;
    struct vs_batch batch;
    struct place p;
    int more = 1;

    place_init(&p);
    run_write("a.vest", &a, &(struct vs_writer_options){.chunk_events = 700}, 100);
    run_write("b.vest", &b, &(struct vs_writer_options){.chunk_events = 900}, 100);
    CHECK_EQ(vs_reader_open(&r, "a.vest", VS_OPEN_DEFAULT, NULL), 0);
    CHECK_EQ(vs_reader_open(&s, "b.vest", VS_OPEN_DEFAULT, NULL), 0);
    CHECK_EQ(vs_reader_open(&other, "a.vest", VS_OPEN_SALVAGE, NULL), 0);
    while (more) {
        more = 0;
        if (vs_reader_next(r, &batch) > 0 && ++more)
            run_append(&c, &batch);
        CHECK_EQ(vs_reader_seek_event(other, 8000), 0);
        if (vs_reader_next(s, &batch) > 0 && ++more)
            run_append(&d, &batch);
    }
    run_check_same(&c, &a);
    run_check_same(&d, &b);
    vs_reader_close(r);
    vs_reader_close(s);
    vs_reader_close(other);
    run_free(&a);
    run_free(&b);
    run_free(&c);
    run_free(&d);
    place_fini(&p);
}
