/* SPDX-License-Identifier: MIT */
/* Runs for tests of the trace layer: generated, written to files, read back, compared. A failed
 * step fails the case. Cases that use files work in a folder of their own. */
#ifndef RUNS_H
#define RUNS_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/gen.h"
#include "rng.h"
#include "unittest.h"

/* ---- a folder to be in --------------------------------------------------------------------- */

struct place {
    char path[PATH_MAX];
};

static inline void place_init(struct place *p)
{
    snprintf(p->path, sizeof(p->path), "%s/vestige-unit-XXXXXX", unittest_folder());
    CHECK(mkdtemp(p->path));
    CHECK_EQ(chdir(p->path), 0);
}

static inline int place_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void place_fini(struct place *p)
{
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(nftw(p->path, place_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* ---- a file in memory, with nothing readable after it --------------------------------------- */

struct file {
    uint8_t *data;
    size_t size;
};

static inline struct file file_copy(const void *data, size_t size)
{
    struct file f = {malloc(size ? size : 1), size};

    CHECK(f.data);
    if (size)
        memcpy(f.data, data, size);
    return f;
}

static inline struct file file_load(const char *path)
{
    struct file f = {0};
    struct stat st;
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0);
    CHECK_EQ(fstat(fd, &st), 0);
    f.size = (size_t)st.st_size;
    f.data = malloc(f.size ? f.size : 1);
    CHECK(f.data);
    CHECK_EQ(read(fd, f.data, f.size), f.size);
    close(fd);
    return f;
}

static inline void file_free(struct file *f)
{
    free(f->data);
    *f = (struct file){0};
}

/* ---- a run in memory ------------------------------------------------------------------------ */

struct run {
    struct vs_event *events;
    uint64_t *cycles; /* NULL: untimed */
    uint8_t *wide;
    size_t count, wide_size;
    size_t capacity, wide_capacity;
    uint32_t features;
    struct gen *gen; /* its tables; NULL: none */
};

static inline void *run_room(void *p, size_t *capacity, size_t need, size_t element)
{
    if (need > *capacity) {
        *capacity = need * 2;
        p = realloc(p, *capacity * element);
        CHECK(p);
    }
    return p;
}

/* Appends a batch. Offsets of wide values become those in r->wide. */
static inline void run_append(struct run *r, const struct vs_batch *b)
{
    size_t capacity = r->capacity;

    if (!b->count)
        return;
    r->events = run_room(r->events, &r->capacity, r->count + b->count, sizeof(*r->events));
    r->wide = run_room(r->wide, &r->wide_capacity, r->wide_size + b->wide_size, 1);
    if (b->wide_size)
        memcpy(r->wide + r->wide_size, b->wide, b->wide_size);
    CHECK_EQ(b->cycles != NULL, (r->features & VS_RUN_TIMED) != 0);
    if (b->cycles) {
        r->cycles = run_room(r->cycles, &capacity, r->count + b->count, sizeof(*r->cycles));
        memcpy(r->cycles + r->count, b->cycles, b->count * sizeof(*r->cycles));
    }
    for (size_t i = 0; i < b->count; i++) {
        struct vs_event e = b->events[i];

        if (vs_event_is_wide(&e))
            e.value += r->wide_size;
        r->events[r->count++] = e;
    }
    r->wide_size += b->wide_size;
}

static inline struct run run_generate(const struct gen_options *options)
{
    struct run r = {.features = gen_features(options)};
    struct vs_batch batch;
    int n;

    CHECK_EQ(gen_open(&r.gen, options), 0);
    while ((n = gen_next(r.gen, &batch)) > 0)
        run_append(&r, &batch);
    CHECK_EQ(n, 0);
    return r;
}

static inline void run_free(struct run *r)
{
    free(r->events);
    free(r->cycles);
    free(r->wide);
    gen_close(r->gen);
    *r = (struct run){0};
}

static inline struct vs_batch run_batch(const struct run *r, size_t from, size_t count)
{
    return (struct vs_batch){.events = r->events + from,
                             .cycles = r->cycles ? r->cycles + from : NULL,
                             .wide = r->wide,
                             .wide_size = r->wide_size,
                             .count = count,
                             .first = from};
}

static inline void run_check_event(const struct run *a, size_t i, const struct run *b, size_t k)
{
    const struct vs_batch x = {.wide = a->wide}, y = {.wide = b->wide};
    struct vs_event e = a->events[i], f = b->events[k];

    if (vs_event_is_wide(&e) && vs_event_is_wide(&f) && e.size == f.size) {
        CHECK_MEM(vs_event_bytes(&x, &e), vs_event_bytes(&y, &f), e.size);
        e.value = f.value = 0;
    }
    if (memcmp(&e, &f, sizeof(e)) != 0)
        unittest_fail(__FILE__, __LINE__, "event %zu (kind %d) differs", k, f.kind);
    CHECK_EQ(a->cycles != NULL, b->cycles != NULL);
    if (a->cycles)
        CHECK_EQ(a->cycles[i], b->cycles[k]);
}

/* All of a's events are b's from number `from` on. */
static inline void run_check_part(const struct run *a, const struct run *b, size_t from)
{
    CHECK(from <= b->count && a->count <= b->count - from);
    for (size_t i = 0; i < a->count; i++)
        run_check_event(a, i, b, from + i);
}

static inline void run_check_same(const struct run *a, const struct run *b)
{
    CHECK_EQ(a->count, b->count);
    run_check_part(a, b, 0);
}

/* ---- writing and reading --------------------------------------------------------------------- */

static inline void run_put_tables(struct vs_writer *w, const struct run *r)
{
    struct vs_image image;
    struct vs_block block;

    for (uint64_t i = 0; r->gen && gen_image(r->gen, i, &image) == 0; i++)
        CHECK_EQ(vs_writer_image(w, &image), i);
    for (uint64_t i = 0; r->gen && gen_block(r->gen, i, &block) == 0; i++)
        CHECK_EQ(vs_writer_block(w, &block), i);
}

/* Puts events [from, to) in batches of random sizes up to `most`. */
static inline void run_put(struct vs_writer *w, const struct run *r, size_t from, size_t to,
                           size_t most)
{
    struct rng rng = rng_init(most);

    while (from < to) {
        size_t n = 1 + rng_below(&rng, most);
        struct vs_batch b = run_batch(r, from, n < to - from ? n : to - from);

        CHECK_EQ(vs_writer_put(w, &b), 0);
        from += b.count;
    }
}

static inline struct vs_writer *run_open_writer(const char *path, const struct run *r,
                                                const struct vs_writer_options *options)
{
    struct vs_writer_options o = options ? *options : (struct vs_writer_options){0};
    struct vs_writer *w;

    o.features = r->features;
    CHECK_EQ(vs_writer_open(&w, path, &o, NULL), 0);
    return w;
}

/* Writes a whole run, tables first, in batches of up to `most` events. */
static inline void run_write(const char *path, const struct run *r,
                             const struct vs_writer_options *options, size_t most)
{
    struct vs_writer *w = run_open_writer(path, r, options);

    CHECK_EQ(vs_writer_meta(w, "engine", "unit test"), 0);
    CHECK_EQ(vs_writer_meta(w, "empty", ""), 0);
    run_put_tables(w, r);
    run_put(w, r, 0, r->count, most);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
}

static inline struct file run_file(const struct run *r, const struct vs_writer_options *options,
                                   size_t most)
{
    struct vs_writer_options o = options ? *options : (struct vs_writer_options){0};
    struct file f;

    o.overwrite = true;
    run_write("run.vest", r, &o, most);
    f = file_load("run.vest");
    CHECK_EQ(unlink("run.vest"), 0);
    return f;
}

static inline struct vs_reader *file_open(const struct file *f)
{
    struct vs_reader *r;
    struct vs_diag diag = {0};

    if (vs_reader_open_memory(&r, f->data, f->size, VS_OPEN_DEFAULT, &diag) != 0)
        unittest_fail(__FILE__, __LINE__, "cannot open: %s", diag.text);
    return r;
}

/* Reads to the end or the first error, which *err gets; -VSE_END is none. */
static inline struct run run_read(struct vs_reader *reader, int *err)
{
    struct run r = {.features = vs_reader_info(reader)->features};
    struct vs_batch b;
    int n;

    while ((n = vs_reader_next(reader, &b)) > 0) {
        CHECK_EQ(n, b.count);
        run_append(&r, &b);
    }
    CHECK(n < 0);
    CHECK_EQ(vs_reader_next(reader, &b), n);
    *err = n == -VSE_END ? 0 : n;
    return r;
}

#endif
