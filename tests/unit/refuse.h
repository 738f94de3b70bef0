/* SPDX-License-Identifier: MIT */
/* Files that a reader must refuse: a small valid one to start from, and verdicts on what became of
 * it. */
#ifndef REFUSE_H
#define REFUSE_H

#include "forge.h"
#include "runs.h"
#include "trace/index.h"
#include "trace/predict.h"
#include "trace/tables.h"
#include "vestige/run.h"

/* ---- the run ---- */

struct fixture {
    struct run run;
    struct file file;
    struct forge forge;
};

/* Several chunks of each kind, a few KB. */
static inline struct file write_small(const struct run *r, uint32_t chunk_events)
{
    struct vs_writer *w = run_open_writer(
        "a.vest", r, &(struct vs_writer_options){.chunk_events = chunk_events, .level = 19});
    uint8_t code[4] = {1, 2, 3, 4};
    struct file f;

    for (size_t part = 0; part < 3; part++) {
        CHECK_EQ(vs_writer_meta(w, part ? "again" : "key", "value"), 0);
        if (part == 0)
            run_put_tables(w, r);
        code[0]++;
        CHECK(vs_writer_block(w, &(struct vs_block){0x4000, code, 4, 1}) >= 0);
        run_put(w, r, r->count * part / 3, r->count * (part + 1) / 3, 1000);
        CHECK_EQ(vs_writer_flush(w), 0);
    }
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    f = file_load("a.vest");
    CHECK_EQ(unlink("a.vest"), 0);
    return f;
}

static inline void setup_run(struct fixture *x, struct gen_options g, uint32_t chunk_events)
{
    struct place p;

    place_init(&p);
    x->run = run_generate(&g);
    x->file = write_small(&x->run, chunk_events);
    forge_load(&x->forge, x->file.data, x->file.size);
    place_fini(&p);
}

static inline void setup(struct fixture *x)
{
    setup_run(x,
              (struct gen_options){.seed = 3,
                                   .threads = 3,
                                   .events = 240,
                                   .memory = true,
                                   .timed = true,
                                   .syscalls = 60,
                                   .wide = 20},
              60);
}

static inline void teardown(struct fixture *x)
{
    forge_free(&x->forge);
    file_free(&x->file);
    run_free(&x->run);
}

/* ---- verdicts ---- */

struct verdict {
    int err; /* of opening, reading or checking, whichever failed first; 0: none did */
    bool opened;
    struct vs_diag diag;
    struct run events; /* read without error */
};

static inline bool is_data_error(int err)
{
    return err <= -VSE_FORMAT && err >= -VSE_LIMIT;
}

static inline void check_diag(const struct vs_diag *d, int err)
{
    CHECK_EQ(d->error, err);
    CHECK(d->text[0] && !strchr(d->text, '\n') && strlen(d->text) < sizeof(d->text));
}

/* Opens, reads all, checks. Every error must be one of the data's and say something. */
static inline struct verdict judge(const uint8_t *data, size_t size, enum vs_open_mode mode)
{
    struct verdict v = {0};
    struct vs_check_result result;
    struct vs_reader *r;
    int read_err, check_err;

    v.err = vs_reader_open_memory(&r, data, size, mode, &v.diag);
    v.opened = v.err == 0;
    if (v.opened) {
        v.events = run_read(r, &read_err);
        v.err = read_err;
        v.diag = *vs_reader_diag(r);
        check_err = vs_reader_check(r, &result, NULL, NULL);
        CHECK(read_err == 0 || check_err < 0);
        if (read_err == 0) {
            v.err = check_err;
            v.diag = *vs_reader_diag(r);
        }
        vs_reader_close(r);
    }
    if (v.err) {
        CHECK(is_data_error(v.err));
        check_diag(&v.diag, v.err);
    }
    return v;
}

/* The file must be refused with this error, at this chunk (or none: -1). Salvaging it must at least
 * not go wrong. */
static inline void check_refused(const uint8_t *data, size_t size, int error, int64_t chunk)
{
    struct file exact = file_copy(data, size);
    struct verdict v = judge(exact.data, exact.size, VS_OPEN_DEFAULT);

    CHECK_ERR(v.err, error);
    CHECK_EQ(v.diag.chunk, chunk);
    CHECK(v.diag.offset >= 0);
    run_free(&v.events);
    v = judge(exact.data, exact.size, VS_OPEN_SALVAGE);
    run_free(&v.events);
    file_free(&exact);
}

static inline void check_forged(struct fixture *x, int error, int64_t chunk)
{
    struct vs_buf out = {0};

    forge_build(&x->forge, &out);
    check_refused(out.data, out.len, error, chunk);
    vs_buf_fini(&out);
    teardown(x);
}

/* A column of the n-th events chunk. */
static inline struct vs_buf *column(struct fixture *x, size_t n, unsigned id)
{
    size_t i = forge_find(&x->forge, VS_CHUNK_EVENTS, n);

    CHECK(x->forge.chunks[i].cols.col[id].len > 0);
    return &x->forge.chunks[i].cols.col[id];
}

static inline int64_t events_chunk(const struct fixture *x, size_t n)
{
    return (int64_t)forge_find(&x->forge, VS_CHUNK_EVENTS, n);
}

static inline size_t count_chunks(const struct fixture *x, unsigned type)
{
    size_t n = 0;

    for (size_t i = 0; i < x->forge.count; i++)
        n += x->forge.chunks[i].type == type;
    return n;
}

#endif
