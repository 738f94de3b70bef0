/* SPDX-License-Identifier: MIT */
/* Runs whose writer did not get to their end. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "forge.h"
#include "runs.h"
#include "vestige/run.h"

static struct run generate(uint64_t seed)
{
    return run_generate(&(struct gen_options){
        .seed = seed, .threads = 3, .events = 8000, .memory = true, .timed = true});
}

/* Opens what a writer left, in both modes that read it; returns how many events it has. */
static size_t check_prefix(const char *path, const struct run *run)
{
    size_t count = 0;

    for (int mode = VS_OPEN_DEFAULT; mode <= VS_OPEN_SALVAGE; mode++) {
        struct vs_reader *r;
        struct run got;
        int err;

        CHECK_EQ(vs_reader_open(&r, path, (enum vs_open_mode)mode, NULL), 0);
        CHECK(!vs_reader_info(r)->sealed && vs_reader_info(r)->missing.error < 0);
        CHECK(vs_reader_info(r)->missing.text[0]);
        got = run_read(r, &err);
        CHECK_EQ(err, 0);
        CHECK_EQ(got.count, vs_reader_info(r)->events);
        run_check_part(&got, run, 0);
        CHECK_ERR(vs_reader_check(r, &(struct vs_check_result){0}, NULL, NULL),
                  -vs_reader_info(r)->missing.error);
        CHECK(mode == VS_OPEN_DEFAULT || got.count == count);
        count = got.count;
        run_free(&got);
        vs_reader_close(r);
    }
    return count;
}

static void check_strict_refuses(const char *path)
{
    struct vs_reader *r;
    struct vs_diag d = {0};
    int err = vs_reader_open(&r, path, VS_OPEN_STRICT, &d);

    CHECK(err < 0 && !r);
    CHECK_EQ(d.error, err);
    CHECK(d.text[0] && d.offset > 0);
}

/* ---- processes that end without sealing ---- */

static void write_and_exit(const struct run *run, size_t flushed, size_t more)
{
    struct vs_writer *w =
        run_open_writer("a.vest", run, &(struct vs_writer_options){.chunk_events = 300});

    run_put_tables(w, run);
    run_put(w, run, 0, flushed, 100);
    CHECK_EQ(vs_writer_flush(w), 0);
    run_put(w, run, flushed, flushed + more, 100);
    _exit(0);
}

static void check_child(pid_t pid, int status)
{
    int got;

    CHECK_EQ(waitpid(pid, &got, 0), pid);
    CHECK_EQ(got, status);
}

TEST(reads_what_was_flushed_before_an_exit)
{
    struct run run = generate(1);
    struct place p;
    pid_t pid;

    place_init(&p);
    pid = fork();
    if (pid == 0)
        write_and_exit(&run, 2500, 250);
    check_child(pid, 0);
    CHECK(!exists("a.vest") && exists("a.vest.partial"));
    CHECK_EQ(check_prefix("a.vest.partial", &run), 2500);
    check_strict_refuses("a.vest.partial");
    run_free(&run);
    place_fini(&p);
}

static void write_forever(const struct run *run)
{
    struct vs_writer *w = run_open_writer(
        "a.vest", run, &(struct vs_writer_options){.chunk_events = 64, .workers = 2});
    struct timespec pause = {.tv_nsec = 1000000};

    run_put_tables(w, run);
    for (size_t i = 0; i + 64 < run->count; i += 64) {
        run_put(w, run, i, i + 64, 100);
        nanosleep(&pause, NULL);
    }
    pause.tv_sec = 100;
    nanosleep(&pause, NULL);
    _exit(1);
}

static void wait_for_bytes(const char *path, off_t bytes)
{
    struct timespec pause = {.tv_nsec = 1000000};
    struct stat st = {0};

    while (stat(path, &st) != 0 || st.st_size < bytes)
        nanosleep(&pause, NULL);
}

TEST(reads_what_was_written_before_a_kill)
{
    struct run run = generate(2);
    struct place p;

    place_init(&p);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();

        if (pid == 0)
            write_forever(&run);
        wait_for_bytes("a.vest.partial", 5000 + 3000 * i);
        CHECK_EQ(kill(pid, SIGKILL), 0);
        check_child(pid, SIGKILL);
        CHECK(!exists("a.vest"));
        CHECK(check_prefix("a.vest.partial", &run) > 0);
        CHECK_EQ(unlink("a.vest.partial"), 0);
    }
    run_free(&run);
    place_fini(&p);
}

TEST(spares_what_a_dead_writer_left_unless_told)
{
    struct run run = generate(3), got;
    struct place p;
    struct vs_reader *r;
    struct vs_writer *w;
    struct vs_diag diag;
    pid_t pid;
    int err;

    place_init(&p);
    pid = fork();
    if (pid == 0)
        write_and_exit(&run, 2000, 0);
    check_child(pid, 0);
    CHECK(exists("a.vest.partial"));
    CHECK_EQ(vs_writer_open(&w, "a.vest", NULL, &diag), -VSE_EXISTS);
    CHECK_STR(diag.text, "a.vest.partial has 2000 events of a run that was cut off");
    CHECK_EQ(check_prefix("a.vest.partial", &run), 2000);
    run_write("a.vest", &run, &(struct vs_writer_options){.overwrite = true}, 500);
    CHECK(exists("a.vest") && !exists("a.vest.partial"));
    CHECK_EQ(vs_reader_open(&r, "a.vest", VS_OPEN_STRICT, NULL), 0);
    got = run_read(r, &err);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    run_free(&run);
    place_fini(&p);
}

/* ---- a run that is given up ---- */

TEST(keeps_what_was_written)
{
    struct run run = generate(5);
    struct place p;
    struct vs_writer *w;

    place_init(&p);
    w = run_open_writer("a.vest", &run, NULL);
    run_put_tables(w, &run);
    run_put(w, &run, 0, 3000, 100);
    CHECK_EQ(vs_writer_keep(w), 3000);
    CHECK(!exists("a.vest"));
    CHECK_EQ(check_prefix("a.vest.partial", &run), 3000);
    w = run_open_writer("b.vest", &run, NULL);
    run_put_tables(w, &run);
    CHECK_EQ(vs_writer_keep(w), 0);
    CHECK(!exists("b.vest") && !exists("b.vest.partial"));
    run_free(&run);
    place_fini(&p);
}

/* ---- a run that is still being written ---- */

TEST(reads_a_run_that_is_being_written)
{
    struct run run = generate(4);
    struct place p;
    struct vs_writer *w;

    place_init(&p);
    w = run_open_writer("a.vest", &run, NULL);
    run_put_tables(w, &run);
    CHECK_EQ(vs_writer_flush(w), 0);
    CHECK_EQ(check_prefix("a.vest.partial", &run), 0);
    for (size_t i = 0; i < 5000; i += 1000) {
        run_put(w, &run, i, i + 1000, 100);
        CHECK_EQ(check_prefix("a.vest.partial", &run), i);
        CHECK_EQ(vs_writer_flush(w), 0);
        CHECK_EQ(check_prefix("a.vest.partial", &run), i + 1000);
    }
    vs_writer_abort(w);
    run_free(&run);
    place_fini(&p);
}

/* ---- what is missing is said ---- */

/* The end of chunk i in a file that forge_load took apart. */
static size_t end_of(const struct forge *f, size_t i)
{
    return f->chunks[i].at + VS_CHUNK_HEADER + f->chunks[i].size;
}

static void check_missing(const struct file *f, size_t size, int error, uint64_t offset,
                          uint64_t readable)
{
    struct file cut = file_copy(f->data, size);
    struct vs_reader *r = file_open(&cut);
    const struct vs_run_info *info = vs_reader_info(r);

    CHECK(!info->sealed && info->file_size == size);
    CHECK_ERR(info->missing.error, error);
    CHECK_EQ(info->missing.offset, offset);
    CHECK_EQ(info->readable, readable);
    CHECK(info->missing.text[0] && !strchr(info->missing.text, '\n'));
    vs_reader_close(r);
    file_free(&cut);
}

TEST(says_where_a_cut_file_stops)
{
    struct run run = generate(5);
    struct place p;
    struct forge f;
    struct file file;

    place_init(&p);
    file = run_file(&run, &(struct vs_writer_options){.chunk_events = 2000}, 500);
    forge_load(&f, file.data, file.size);
    CHECK(f.count > 3);
    for (size_t i = 0; i < f.count; i++) {
        size_t at = f.chunks[i].at, end = end_of(&f, i);

        check_missing(&file, at, VSE_TRUNCATED, at, at);
        check_missing(&file, at + 1, VSE_TRUNCATED, at, at);
        check_missing(&file, at + VS_CHUNK_HEADER, VSE_TRUNCATED, at, at);
        check_missing(&file, end - 1, VSE_TRUNCATED, at, at);
    }
    check_missing(&file, f.index_at, VSE_TRUNCATED, f.index_at, f.index_at);
    check_missing(&file, file.size - VS_TRAILER_SIZE, VSE_TRUNCATED, file.size - VS_TRAILER_SIZE,
                  f.index_at);
    forge_free(&f);
    file_free(&file);
    run_free(&run);
    place_fini(&p);
}

/* A damaged chunk ends what is salvaged, even if more follow. */
TEST(stops_before_a_damaged_chunk)
{
    struct run run = generate(6), got;
    struct place p;
    struct forge f;
    struct file file;
    struct vs_reader *r;
    size_t bad;
    int err;

    place_init(&p);
    file = run_file(&run, &(struct vs_writer_options){.chunk_events = 1000}, 500);
    forge_load(&f, file.data, file.size);
    bad = forge_find(&f, VS_CHUNK_EVENTS, 3);
    file.data[f.chunks[bad].at + 50] ^= 4;
    CHECK_EQ(vs_reader_open_memory(&r, file.data, file.size, VS_OPEN_SALVAGE, NULL), 0);
    CHECK_ERR(vs_reader_info(r)->missing.error, VSE_CHECKSUM);
    CHECK_EQ(vs_reader_info(r)->missing.chunk, bad);
    CHECK_EQ(vs_reader_info(r)->missing.offset, f.chunks[bad].at);
    CHECK_EQ(vs_reader_info(r)->readable, f.chunks[bad].at);
    got = run_read(r, &err);
    CHECK_EQ(err, 0);
    CHECK_EQ(got.count, 3000);
    run_check_part(&got, &run, 0);
    CHECK_EQ(vs_reader_seek_event(r, 2999), 0);
    CHECK_ERR(vs_reader_seek_event(r, 3000), VSE_NOTFOUND);
    vs_reader_close(r);
    run_free(&got);
    forge_free(&f);
    file_free(&file);
    run_free(&run);
    place_fini(&p);
}

TEST(salvages_when_only_the_index_is_damaged)
{
    struct run run = generate(7), got;
    struct place p;
    struct forge f;
    struct file file;
    struct vs_reader *r;
    int err;

    place_init(&p);
    file = run_file(&run, &(struct vs_writer_options){.chunk_events = 1000}, 500);
    forge_load(&f, file.data, file.size);
    file.data[f.index_at + VS_CHUNK_HEADER + 3] ^= 4;
    CHECK_ERR(vs_reader_open_memory(&r, file.data, file.size, VS_OPEN_DEFAULT, NULL), VSE_CHECKSUM);
    CHECK_EQ(vs_reader_open_memory(&r, file.data, file.size, VS_OPEN_SALVAGE, NULL), 0);
    CHECK(!vs_reader_info(r)->sealed);
    got = run_read(r, &err);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    forge_free(&f);
    file_free(&file);
    run_free(&run);
    place_fini(&p);
}
