/* SPDX-License-Identifier: MIT */
/* Files that must be refused with a named error. All are made in memory from one small run. */
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
static struct file write_small(const struct run *r, uint32_t chunk_events)
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

static void setup_run(struct fixture *x, struct gen_options g, uint32_t chunk_events)
{
    struct place p;

    place_init(&p);
    x->run = run_generate(&g);
    x->file = write_small(&x->run, chunk_events);
    forge_load(&x->forge, x->file.data, x->file.size);
    place_fini(&p);
}

static void setup(struct fixture *x)
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

static void teardown(struct fixture *x)
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

static bool is_data_error(int err)
{
    return err <= -VSE_FORMAT && err >= -VSE_LIMIT;
}

static void check_diag(const struct vs_diag *d, int err)
{
    CHECK_EQ(d->error, err);
    CHECK(d->text[0] && !strchr(d->text, '\n') && strlen(d->text) < sizeof(d->text));
}

/* Opens, reads all, checks. Every error must be one of the data's and say something. */
static struct verdict judge(const uint8_t *data, size_t size, enum vs_open_mode mode)
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
static void check_refused(const uint8_t *data, size_t size, int error, int64_t chunk)
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

static void check_forged(struct fixture *x, int error, int64_t chunk)
{
    struct vs_buf out = {0};

    forge_build(&x->forge, &out);
    check_refused(out.data, out.len, error, chunk);
    vs_buf_fini(&out);
    teardown(x);
}

/* A column of the n-th events chunk. */
static struct vs_buf *column(struct fixture *x, size_t n, unsigned id)
{
    size_t i = forge_find(&x->forge, VS_CHUNK_EVENTS, n);

    CHECK(x->forge.chunks[i].cols.col[id].len > 0);
    return &x->forge.chunks[i].cols.col[id];
}

static int64_t events_chunk(const struct fixture *x, size_t n)
{
    return (int64_t)forge_find(&x->forge, VS_CHUNK_EVENTS, n);
}

static size_t count_chunks(const struct fixture *x, unsigned type)
{
    size_t n = 0;

    for (size_t i = 0; i < x->forge.count; i++)
        n += x->forge.chunks[i].type == type;
    return n;
}

TEST(accepts_what_it_starts_from)
{
    struct fixture x;
    struct vs_buf out = {0};
    struct verdict v;

    setup(&x);
    CHECK(x.file.size < 8192);
    CHECK(count_chunks(&x, VS_CHUNK_META) >= 2);
    CHECK(count_chunks(&x, VS_CHUNK_STATIC) >= 3);
    CHECK(count_chunks(&x, VS_CHUNK_EVENTS) >= 4);
    forge_build(&x.forge, &out);
    v = judge(out.data, out.len, VS_OPEN_DEFAULT);
    CHECK_EQ(v.err, 0);
    run_check_same(&v.events, &x.run);
    run_free(&v.events);
    vs_buf_fini(&out);
    teardown(&x);
}

/* ---- damage that checksums find ---- */

/* Changed bytes must not pass a check, and must not change an event unnoticed. */
TEST(detects_a_flipped_bit_in_every_byte)
{
    struct fixture x;

    setup(&x);
    for (size_t i = 0; i < x.file.size; i++) {
        struct verdict v;

        x.file.data[i] ^= (uint8_t)(1 << i % 8);
        v = judge(x.file.data, x.file.size, VS_OPEN_DEFAULT);
        x.file.data[i] ^= (uint8_t)(1 << i % 8);
        if (v.err == 0)
            unittest_fail(__FILE__, __LINE__, "byte %zu is not checked", i);
        run_check_part(&v.events, &x.run, 0);
        run_free(&v.events);
    }
    teardown(&x);
}

static uint64_t events_before(const struct fixture *x, size_t size)
{
    uint64_t events = 0;

    for (size_t i = 0; i < x->forge.count; i++) {
        const struct forge_chunk *c = &x->forge.chunks[i];

        if (c->type == VS_CHUNK_EVENTS && c->at + VS_CHUNK_HEADER + c->size <= size)
            events += forge_number(&c->cols.col[VS_COL_SUMMARY], 1);
    }
    return events;
}

/* A file cut at `size` yields exactly its complete chunks and says that something is missing. */
static void check_cut(const struct fixture *x, size_t size)
{
    struct file cut = file_copy(x->file.data, size);
    struct vs_reader *r;
    struct vs_diag d = {0};
    struct run got;
    int err = vs_reader_open_memory(&r, cut.data, size, VS_OPEN_DEFAULT, &d);

    if (size < VS_HEADER_SIZE) {
        CHECK_ERR(err, VSE_TRUNCATED);
        check_diag(&d, err);
    } else {
        CHECK_EQ(err, 0);
        CHECK(!vs_reader_info(r)->sealed);
        CHECK_ERR(vs_reader_info(r)->missing.error, VSE_TRUNCATED);
        check_diag(&vs_reader_info(r)->missing, -VSE_TRUNCATED);
        got = run_read(r, &err);
        CHECK_EQ(err, 0);
        CHECK_EQ(got.count, events_before(x, size));
        run_check_part(&got, &x->run, 0);
        run_free(&got);
        vs_reader_close(r);
        CHECK_ERR(vs_reader_open_memory(&r, cut.data, size, VS_OPEN_STRICT, &d), VSE_TRUNCATED);
    }
    file_free(&cut);
}

TEST(salvages_a_file_cut_at_every_length)
{
    struct fixture x;

    setup(&x);
    for (size_t size = 0; size < x.file.size; size++)
        check_cut(&x, size);
    teardown(&x);
}

TEST(refuses_bytes_after_the_end)
{
    struct fixture x;
    struct vs_buf out = {0};

    setup(&x);
    forge_set(&out, x.file.data, x.file.size);
    CHECK_EQ(vs_buf_put(&out, "x", 1), 0);
    check_refused(out.data, out.len, VSE_CORRUPT, -1);
    CHECK_EQ(vs_buf_put(&out, x.file.data, x.file.size), 0); /* a second run */
    check_refused(out.data, out.len, VSE_CORRUPT, -1);
    vs_buf_fini(&out);
    teardown(&x);
}

TEST(refuses_other_files)
{
    static const char text[] = "This is not a recorded run, but it is long enough to be one.\n";
    uint8_t zeros[4096] = {0};

    check_refused((const uint8_t *)text, sizeof(text), VSE_FORMAT, -1);
    check_refused(zeros, sizeof(zeros), VSE_FORMAT, -1);
    check_refused(zeros, 0, VSE_TRUNCATED, -1);
    check_refused(zeros, 31, VSE_TRUNCATED, -1);
}

/* ---- fixed structures that lie, with right checksums ---- */

static void check_header(unsigned offset, uint16_t value, int error)
{
    struct fixture x;

    setup(&x);
    vs_put16(x.file.data + offset, value);
    forge_reseal(x.file.data);
    check_refused(x.file.data, x.file.size, error, -1);
    teardown(&x);
}

TEST(refuses_other_versions_and_features)
{
    check_header(8, VS_RUN_VERSION_OLDEST - 1, VSE_VERSION);
    check_header(10, VS_RUN_VERSION + 1, VSE_VERSION);
    check_header(10, 65535, VSE_VERSION);
    check_header(12, VS_RUN_KNOWN + 1, VSE_FEATURE);
    check_header(14, 0x8000, VSE_FEATURE);
}

/* A run of loads and stores that says it has none. */
TEST(refuses_events_that_the_features_exclude)
{
    static const uint32_t without[] = {VS_RUN_LOADS, VS_RUN_STORES, VS_RUN_TIMED,
                                       VS_RUN_LOADS | VS_RUN_STORES};

    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        struct fixture x;

        setup(&x);
        x.forge.features &= ~without[i];
        check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    }
}

/* Changes the header of a chunk of the unchanged file. */
static void check_chunk_header(unsigned type, unsigned offset, uint64_t value, unsigned bytes,
                               int error)
{
    struct fixture x;
    size_t i;

    setup(&x);
    i = forge_find(&x.forge, type, 1);
    memcpy(x.file.data + x.forge.chunks[i].at + offset, &value, bytes);
    forge_reseal(x.file.data + x.forge.chunks[i].at);
    check_refused(x.file.data, x.file.size, error, (int64_t)i);
    teardown(&x);
}

TEST(refuses_chunk_headers_that_lie)
{
    for (unsigned type = VS_CHUNK_META; type <= VS_CHUNK_EVENTS; type++) {
        check_chunk_header(type, 4, 0, 1, VSE_CORRUPT);
        check_chunk_header(type, 4, VS_CHUNK_TYPE_END, 1, VSE_CORRUPT);
        check_chunk_header(type, 4, VS_CHUNK_INDEX, 1, VSE_CORRUPT);
        check_chunk_header(type, 4, type % 3 + 1, 1, VSE_CORRUPT);
        check_chunk_header(type, 8, 0, 4, VSE_CORRUPT);
        check_chunk_header(type, 8, UINT32_MAX, 4, VSE_CORRUPT);
        check_chunk_header(type, 12, 0x12345678, 4, VSE_CHECKSUM);
        check_chunk_header(type, 16, 1 << 20, 8, VSE_TRUNCATED);
        check_chunk_header(type, 16, VS_MAX_PAYLOAD, 8, VSE_TRUNCATED);
        check_chunk_header(type, 16, VS_MAX_PAYLOAD + 1u, 8, VSE_LIMIT);
        check_chunk_header(type, 16, UINT64_MAX, 8, VSE_LIMIT);
        check_chunk_header(type, 16, UINT64_MAX - 31, 8, VSE_LIMIT);
        check_chunk_header(type, 16, 0, 8, VSE_CORRUPT);
        check_chunk_header(type, 5, 1, 1, VSE_CORRUPT);
        check_chunk_header(type, 24, 1 << 24, 4, VSE_CORRUPT);
    }
}

static void check_trailer(uint64_t index_at, uint64_t file_size, int error, int64_t chunk)
{
    struct fixture x;

    setup(&x);
    if (index_at == 1)
        index_at = x.forge.chunks[1].at;
    vs_trailer_pack(x.file.data + x.file.size - VS_TRAILER_SIZE, index_at,
                    file_size ? file_size : x.file.size);
    check_refused(x.file.data, x.file.size, error, chunk);
    teardown(&x);
}

TEST(refuses_trailers_that_lie)
{
    check_trailer(0, 0, VSE_CORRUPT, -1);
    check_trailer(UINT64_MAX, 0, VSE_CORRUPT, -1);
    check_trailer(1u << 30, 0, VSE_CORRUPT, -1);
    check_trailer(1, 0, VSE_CORRUPT, 1);        /* a chunk, but not the index */
    check_trailer(64, 12345, VSE_CHECKSUM, -1); /* no trailer of this file */
}

/* Salvaging finds the index by itself, and that the trailer has another place for it. */
TEST(salvages_with_a_trailer_that_lies)
{
    struct fixture x;
    struct vs_reader *r;

    setup(&x);
    vs_trailer_pack(x.file.data + x.file.size - VS_TRAILER_SIZE, 64, x.file.size);
    CHECK_EQ(vs_reader_open_memory(&r, x.file.data, x.file.size, VS_OPEN_SALVAGE, NULL), 0);
    CHECK(!vs_reader_info(r)->sealed);
    CHECK_ERR(vs_reader_info(r)->missing.error, VSE_CHECKSUM);
    CHECK_EQ(vs_reader_info(r)->events, x.run.count);
    vs_reader_close(r);
    teardown(&x);
}

/* ---- the index ---- */

TEST(refuses_a_second_index)
{
    struct fixture x;
    struct vs_buf out = {0}, payload = {0};
    uint8_t trailer[VS_TRAILER_SIZE];
    struct vs_chunk h;

    setup(&x);
    forge_build(&x.forge, &out); /* after the first, and pointed to by the trailer */
    CHECK_EQ(vs_chunk_parse(out.data + x.forge.index_at, &h, (uint32_t)x.forge.count, 0, NULL), 0);
    forge_set(&payload, out.data + x.forge.index_at + VS_CHUNK_HEADER, h.size);
    out.len -= VS_TRAILER_SIZE;
    uint64_t at = out.len;
    forge_put_chunk(&out, VS_CHUNK_INDEX, x.forge.count + 1, &payload);
    vs_trailer_pack(trailer, at, out.len + sizeof(trailer));
    CHECK_EQ(vs_buf_put(&out, trailer, sizeof(trailer)), 0);
    check_refused(out.data, out.len, VSE_CORRUPT, (int64_t)x.forge.count + 1);
    vs_trailer_pack(out.data + out.len - sizeof(trailer), x.forge.index_at, out.len);
    check_refused(out.data, out.len, VSE_CORRUPT, (int64_t)x.forge.count); /* the first one is */
    vs_buf_fini(&out);
    vs_buf_fini(&payload);
    teardown(&x);
}

TEST(refuses_an_index_among_the_chunks)
{
    struct fixture x;
    size_t n;

    setup(&x);
    n = x.forge.count + 1;
    forge_set(&forge_insert(&x.forge, 2, VS_CHUNK_INDEX)->cols.col[VS_COL_INDEX], "\1\1", 2);
    check_forged(&x, VSE_CORRUPT, (int64_t)n);
}

/* The true index column of the file. */
static void true_index(struct fixture *x)
{
    struct vs_buf out = {0};

    forge_build(&x->forge, &out);
    for (size_t i = 0; i < x->forge.count; i++)
        forge_index_entry(&x->forge.index, &x->forge.chunks[i]);
    vs_buf_fini(&out);
}

TEST(refuses_an_index_without_the_last_chunk)
{
    struct fixture x;

    setup(&x);
    x.forge.count--;
    true_index(&x);
    x.forge.count++;
    check_forged(&x, VSE_CORRUPT, (int64_t)x.forge.count);
}

TEST(refuses_an_index_with_a_chunk_more)
{
    struct fixture x;

    setup(&x);
    true_index(&x);
    CHECK_EQ(vs_buf_put(&x.forge.index, "\1\5", 2), 0);
    check_forged(&x, VSE_CORRUPT, (int64_t)x.forge.count);
}

TEST(refuses_an_index_of_nothing)
{
    struct fixture x;

    setup(&x);
    forge_set(&x.forge.index, "\1\x80", 2);
    check_forged(&x, VSE_TRUNCATED, (int64_t)x.forge.count);
}

/* Two chunks' sizes are exchanged between them: all offsets after them stay right. */
TEST(refuses_an_index_with_wrong_offsets)
{
    struct fixture x;
    struct vs_buf out = {0};
    size_t i;

    setup(&x);
    forge_build(&x.forge, &out);
    i = forge_find(&x.forge, VS_CHUNK_STATIC, 1);
    x.forge.chunks[i].size -= 1;
    x.forge.chunks[i + 1].size += 1;
    for (size_t k = 0; k < x.forge.count; k++)
        forge_index_entry(&x.forge.index, &x.forge.chunks[k]);
    vs_buf_fini(&out);
    check_forged(&x, VSE_CORRUPT, (int64_t)i);
}

TEST(refuses_an_index_that_takes_one_kind_for_another)
{
    struct fixture x;
    struct vs_buf out = {0};
    size_t i;

    setup(&x);
    forge_build(&x.forge, &out);
    i = forge_find(&x.forge, VS_CHUNK_META, 1);
    x.forge.chunks[i].type = VS_CHUNK_STATIC;
    for (size_t k = 0; k < x.forge.count; k++)
        forge_index_entry(&x.forge.index, &x.forge.chunks[k]);
    x.forge.chunks[i].type = VS_CHUNK_META;
    vs_buf_fini(&out);
    check_forged(&x, VSE_CORRUPT, (int64_t)i);
}

/* The index has another summary than the last events chunk, itself a valid one. */
static void check_index_lie(unsigned field, int64_t change)
{
    struct fixture x;
    struct vs_buf *summary;
    size_t last;

    setup(&x);
    last = count_chunks(&x, VS_CHUNK_EVENTS) - 1;
    summary = column(&x, last, VS_COL_SUMMARY);
    forge_set_number(summary, field, forge_number(summary, field) + (uint64_t)change);
    true_index(&x);
    forge_set_number(summary, field, forge_number(summary, field) - (uint64_t)change);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, last));
}

TEST(refuses_an_index_that_contradicts_a_chunk)
{
    check_index_lie(5, 1);  /* shadow bits */
    check_index_lie(6, 1);  /* first cycle */
    check_index_lie(7, 1);  /* last cycle */
    check_index_lie(11, 1); /* instructions of a thread */
    check_index_lie(11, -1);
}

/* ---- tables ---- */

TEST(refuses_bad_facts)
{
    struct fixture x;
    size_t i;

    for (int kind = 0; kind < 3; kind++) {
        static const char *const bytes[] = {"\3k\0y\1v", "\0\1v", "\1k\7va"};
        static const size_t sizes[] = {6, 3, 5};

        setup(&x);
        i = forge_find(&x.forge, VS_CHUNK_META, 1);
        forge_set(&x.forge.chunks[i].cols.col[VS_COL_META], bytes[kind], sizes[kind]);
        check_forged(&x, kind == 2 ? VSE_TRUNCATED : VSE_CORRUPT, (int64_t)i);
    }
}

TEST(refuses_too_many_facts)
{
    struct fixture x;
    struct vs_buf *col;

    setup(&x);
    col = &x.forge.chunks[forge_find(&x.forge, VS_CHUNK_META, 0)].cols.col[VS_COL_META];
    col->len = 0;
    for (unsigned i = 0; i <= VS_MAX_FACTS; i++) {
        uint8_t fact[] = {2, (uint8_t)(1 + i % 200), (uint8_t)(1 + i / 200), 0};

        CHECK_EQ(vs_buf_put(col, fact, sizeof(fact)), 0);
    }
    check_forged(&x, VSE_LIMIT, (int64_t)forge_find(&x.forge, VS_CHUNK_META, 0));
}

static void check_static(unsigned id, const void *bytes, size_t n, int error)
{
    struct fixture x;
    size_t i;

    setup(&x);
    i = forge_find(&x.forge, VS_CHUNK_STATIC, 1);
    forge_set(&x.forge.chunks[i].cols.col[id], bytes, n);
    check_forged(&x, error, (int64_t)i);
}

TEST(refuses_bad_static_tables)
{
    check_static(VS_COL_IMAGES, "\2p", 2, VSE_TRUNCATED);
    check_static(VS_COL_IMAGES, "\1\0\0\0\1\1\1", 7, VSE_CORRUPT);
    check_static(VS_COL_BLOCKS, "\0\0\0", 3, VSE_CORRUPT);
    check_static(VS_COL_BLOCKS, "\0\x7f\1", 3, VSE_TRUNCATED);
    check_static(VS_COL_CODE, "12345", 5, VSE_CORRUPT);
    check_static(VS_COL_SITES, "\xff\0", 2, VSE_CORRUPT);
    check_static(VS_COL_SITES, "\2", 1, VSE_TRUNCATED);
}

/* The sites that an events chunk refers to come after it. */
TEST(refuses_static_tables_that_come_too_late)
{
    struct fixture x;
    size_t s, e;

    setup(&x);
    s = forge_find(&x.forge, VS_CHUNK_STATIC, 1);
    for (e = s; x.forge.chunks[e].type != VS_CHUNK_EVENTS; e++)
        ;
    forge_swap(&x.forge, s, e);
    check_forged(&x, VSE_CORRUPT, (int64_t)s);
}

/* A file of one event that refers to a block or image, without that column. */
static void check_reference(struct vs_event e, unsigned id, unsigned also)
{
    const struct vs_block block = {.bytes = (const uint8_t *)"c", .size = 1, .insns = 1};
    const struct vs_batch b = {.events = &e, .count = 1};
    struct fixture x = {0};
    struct vs_writer *w;
    struct place p;
    size_t i;

    place_init(&p);
    w = run_open_writer("a.vest", &x.run, NULL);
    CHECK_EQ(vs_writer_block(w, &block), 0);
    CHECK_EQ(vs_writer_image(w, &(struct vs_image){.path = "image"}), 0);
    CHECK_EQ(vs_writer_put(w, &b), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    x.file = file_load("a.vest");
    forge_load(&x.forge, x.file.data, x.file.size);
    place_fini(&p);
    i = forge_find(&x.forge, VS_CHUNK_STATIC, 0);
    x.forge.chunks[i].cols.col[id].len = x.forge.chunks[i].cols.col[also].len = 0;
    check_forged(&x, VSE_CORRUPT, (int64_t)forge_find(&x.forge, VS_CHUNK_EVENTS, 0));
}

TEST(refuses_references_to_blocks_and_images_that_are_not_there)
{
    check_reference((struct vs_event){.kind = VS_CODE}, VS_COL_BLOCKS, VS_COL_CODE);
    check_reference((struct vs_event){.kind = VS_MAP}, VS_COL_IMAGES, VS_COL_IMAGES);
}

/* ---- events ---- */

/* The n-th number of a column of varints in the first events chunk becomes another. */
static void check_number(unsigned id, size_t n, uint64_t to, int error)
{
    struct fixture x;

    setup(&x);
    forge_set_number(column(&x, 0, id), n, to);
    check_forged(&x, error, events_chunk(&x, 0));
}

TEST(refuses_sites_out_of_range)
{
    check_number(VS_COL_SITE, 0, 1u << 20, VSE_CORRUPT);
    check_number(VS_COL_SITE, 0, (1u << 20) + 1, VSE_CORRUPT);
    check_number(VS_COL_SITE, 0, UINT64_MAX, VSE_CORRUPT);
    check_number(VS_COL_SITE, 0, UINT64_MAX - 1, VSE_CORRUPT);
}

/* Two chunks of jumps, each one that follows the last: predictions alone lead through them. */
static void setup_jumps(struct fixture *x)
{
    struct place p;

    *x = (struct fixture){0};
    for (unsigned i = 0; i < 200; i++) {
        struct vs_event e = {
            .kind = VS_BRANCH, .flags = VS_BR_TAKEN, .size = 4, .pc = 4 * i, .addr = 4 * i + 4};

        run_append(&x->run, &(struct vs_batch){.events = &e, .count = 1});
    }
    place_init(&p);
    x->file = run_file(&x->run, &(struct vs_writer_options){.chunk_events = 100}, 200);
    forge_load(&x->forge, x->file.data, x->file.size);
    place_fini(&p);
}

/* More sites are in the table by the end than the chunk may use. */
TEST(refuses_sites_added_after_the_chunk)
{
    for (uint64_t sites = 1; sites <= 100; sites += 33) {
        struct fixture x;

        setup_jumps(&x);
        forge_set_number(column(&x, 0, VS_COL_SUMMARY), 2, sites);
        check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    }
}

TEST(refuses_sites_that_run_out)
{
    struct fixture x;

    setup(&x);
    column(&x, 0, VS_COL_SITE)->len = 0;
    check_forged(&x, VSE_TRUNCATED, events_chunk(&x, 0));
}

TEST(refuses_a_wrong_order_of_threads)
{
    check_number(VS_COL_ORDER, 0, 99, VSE_CORRUPT);         /* not in the summary */
    check_number(VS_COL_ORDER, 0, UINT64_MAX, VSE_CORRUPT); /* no thread at all */
    check_number(VS_COL_ORDER, 1, 0, VSE_CORRUPT);          /* an empty run */
    check_number(VS_COL_ORDER, 1, 61, VSE_CORRUPT);         /* longer than the chunk */
    check_number(VS_COL_ORDER, 1, UINT64_MAX, VSE_CORRUPT);
}

TEST(refuses_an_order_that_runs_out)
{
    struct fixture x;
    struct vs_buf *order;

    setup(&x);
    order = column(&x, 0, VS_COL_ORDER);
    CHECK(order->len > 2);
    order->len -= 2;
    check_forged(&x, VSE_TRUNCATED, events_chunk(&x, 0));
}

/* Something is appended to each column that events consume. */
TEST(refuses_columns_that_are_left_over)
{
    static const uint8_t ids[] = {VS_COL_ORDER, VS_COL_SITE,  VS_COL_TARGET_HOW, VS_COL_TARGET,
                                  VS_COL_HOW,   VS_COL_ADDR,  VS_COL_VALUE,      VS_COL_WIDE,
                                  VS_COL_OTHER, VS_COL_CYCLE, VS_COL_LITERAL};

    for (size_t i = 0; i < sizeof(ids); i++) {
        struct fixture x;
        int64_t n;

        setup(&x);
        n = events_chunk(&x, 0);
        forge_must(vs_buf_put(&x.forge.chunks[n].cols.col[ids[i]], "\0", 1) == 0);
        check_forged(&x, VSE_CORRUPT, n);
    }
}

/* Bytes follow the summary in a chunk; the index has it without them. */
TEST(refuses_a_summary_with_something_after_it)
{
    struct fixture x;
    struct vs_buf *summary, out = {0};

    setup(&x);
    summary = column(&x, 0, VS_COL_SUMMARY);
    CHECK_EQ(vs_buf_put(summary, "\0", 1), 0);
    forge_build(&x.forge, &out);
    summary->len--;
    for (size_t i = 0; i < x.forge.count; i++)
        forge_index_entry(&x.forge.index, &x.forge.chunks[i]);
    summary->len++;
    vs_buf_fini(&out);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

/* Each column is cut to so many bytes less, or to nothing. Fewer wrong outcomes are another run. */
static void check_cut_columns(size_t less)
{
    for (unsigned id = VS_COL_ORDER; id < VS_COL_END; id++) {
        struct fixture x;
        struct vs_buf *col, out = {0};
        struct verdict v;

        setup(&x);
        col = &x.forge.chunks[events_chunk(&x, 0)].cols.col[id];
        if (col->len && id != VS_COL_OUTCOME_GAP) {
            col->len -= less < col->len ? less : col->len;
            forge_build(&x.forge, &out);
            v = judge(out.data, out.len, VS_OPEN_DEFAULT);
            CHECK(v.err == -VSE_TRUNCATED || v.err == -VSE_CORRUPT);
            CHECK_EQ(v.diag.chunk, events_chunk(&x, 0));
            run_free(&v.events);
            vs_buf_fini(&out);
        }
        teardown(&x);
    }
}

TEST(refuses_columns_that_are_cut)
{
    check_cut_columns(1);
}

TEST(refuses_columns_that_are_missing)
{
    check_cut_columns(SIZE_MAX);
}

static void check_byte(unsigned id, uint8_t value, int error)
{
    struct fixture x;

    setup(&x);
    column(&x, 0, id)->data[0] = value;
    check_forged(&x, error, events_chunk(&x, 0));
}

TEST(refuses_codes_out_of_range)
{
    check_byte(VS_COL_TARGET_HOW, 9, VSE_CORRUPT);
    check_byte(VS_COL_TARGET_HOW, 255, VSE_CORRUPT);
    for (unsigned how = 0; how < 16; how++) {
        if (how > VS_HOW_SECOND)
            check_byte(VS_COL_HOW, (uint8_t)how, VSE_CORRUPT);
        if (how > VS_HOW_LOADED)
            check_byte(VS_COL_HOW, (uint8_t)(how << 4), VSE_CORRUPT);
    }
}

TEST(refuses_other_events_that_break_the_rules)
{
    check_number(VS_COL_OTHER, 2, 65536, VSE_CORRUPT); /* size */
    check_number(VS_COL_OTHER, 3, 65536, VSE_CORRUPT); /* icount */
    check_number(VS_COL_OTHER, 2, UINT64_MAX, VSE_CORRUPT);
}

/* ---- summaries ---- */

TEST(refuses_shadow_memory_out_of_range)
{
    check_number(VS_COL_SUMMARY, 5, 0, VSE_CORRUPT);
    check_number(VS_COL_SUMMARY, 5, VS_SHADOW_MIN - 1, VSE_CORRUPT);
    check_number(VS_COL_SUMMARY, 5, VS_SHADOW_MAX + 1, VSE_CORRUPT);
    check_number(VS_COL_SUMMARY, 5, 32, VSE_CORRUPT);
}

TEST(refuses_shadow_memory_in_a_run_without_loads)
{
    struct fixture x;

    setup_run(&x, (struct gen_options){.seed = 5, .threads = 2, .events = 100}, 50);
    forge_set_number(column(&x, 0, VS_COL_SUMMARY), 5, VS_SHADOW_MIN);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

/* Found with the index, which repeats the summaries. */
static void check_summary(size_t chunk, unsigned field, int64_t change, int error)
{
    struct fixture x;
    struct vs_buf *summary;

    setup(&x);
    summary = column(&x, chunk, VS_COL_SUMMARY);
    forge_set_number(summary, field, forge_number(summary, field) + (uint64_t)change);
    check_forged(&x, error, (int64_t)x.forge.count);
}

TEST(refuses_summaries_that_do_not_follow)
{
    check_summary(0, 0, 1, VSE_CORRUPT); /* first event */
    check_summary(1, 0, -1, VSE_CORRUPT);
    check_summary(0, 1, 1, VSE_CORRUPT); /* events */
    check_summary(0, 1, 1 << 30, VSE_LIMIT);
    check_summary(0, 2, 1 << 30, VSE_LIMIT); /* sites */
    check_summary(1, 2, -1000000, VSE_LIMIT);
    check_summary(1, 6, -1000, VSE_CORRUPT); /* first cycle */
    check_summary(0, 7, 1000000, VSE_CORRUPT);
    check_summary(0, 8, 1 << 20, VSE_LIMIT); /* threads */
    check_summary(0, 8, -1, VSE_CORRUPT);
    check_summary(0, 9, 1, VSE_CORRUPT);  /* first thread */
    check_summary(1, 12, 1, VSE_CORRUPT); /* instructions before */
}

/* What only the events can refute. */
TEST(refuses_summaries_that_events_refute)
{
    static const struct {
        unsigned field;
        int64_t change;
    } lies[] = {{7, 1}, {11, 1}, {11, -1}, {2, 1000}, {3, 1000}, {4, 1}};

    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct fixture x;
        struct vs_buf *summary;
        size_t last;

        setup(&x);
        last = count_chunks(&x, VS_CHUNK_EVENTS) - 1;
        summary = column(&x, last, VS_COL_SUMMARY);
        forge_set_number(summary, lies[i].field,
                         forge_number(summary, lies[i].field) + (uint64_t)lies[i].change);
        check_forged(&x, VSE_CORRUPT, events_chunk(&x, last));
    }
}

/* ---- cycles ---- */

/* Two threads, whose events are at cycles 10 and 20. */
static void setup_cycles(struct fixture *x, uint64_t first, uint64_t second)
{
    struct vs_event e[] = {{.kind = VS_COUNT, .icount = 1},
                           {.kind = VS_COUNT, .icount = 1, .thread = 1}};
    const uint64_t cycles[] = {10, 20};
    struct vs_buf *col;
    struct place p;

    *x = (struct fixture){.run = {.features = VS_RUN_TIMED}};
    place_init(&p);
    run_append(&x->run, &(struct vs_batch){.events = e, .cycles = cycles, .count = 2});
    x->file = run_file(&x->run, NULL, 2);
    forge_load(&x->forge, x->file.data, x->file.size);
    col = column(x, 0, VS_COL_CYCLE);
    CHECK_MEM(col->data, "\0\x0a", 2);
    forge_set_number(col, 0, first);
    forge_set_number(col, 1, second);
    place_fini(&p);
}

TEST(refuses_cycles_that_decrease)
{
    struct fixture x;

    setup_cycles(&x, 10, 0);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

TEST(refuses_cycles_past_the_last)
{
    struct fixture x;

    setup_cycles(&x, 0, 11);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    setup_cycles(&x, 0, UINT64_MAX);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    setup_cycles(&x, 0, 9); /* or short of it */
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

/* ---- bombs ---- */

/* A column that decompresses to `really` zero bytes and claims `claim`. */
static void set_bomb(struct forge_chunk *c, unsigned id, uint64_t claim, size_t really)
{
    size_t bound = ZSTD_compressBound(really), n;
    uint8_t *zeros = calloc(1, really), *z = malloc(bound);
    uint8_t dir[32] = {1, (uint8_t)id, VS_CODEC_ZSTD}, *p = dir + 3;

    n = ZSTD_compress(z, bound, zeros, really, 1);
    CHECK(!ZSTD_isError(n));
    p = vs_varint_put(p, claim);
    p = vs_varint_put(p, n);
    forge_set(&c->payload, dir, (size_t)(p - dir));
    CHECK_EQ(vs_buf_put(&c->payload, z, n), 0);
    free(zeros);
    free(z);
}

static void check_bomb(unsigned type, unsigned id, uint64_t claim, size_t really, int error)
{
    struct fixture x;
    size_t i;

    setup(&x);
    i = forge_find(&x.forge, type, 1);
    set_bomb(&x.forge.chunks[i], id, claim, really);
    check_forged(&x, error, (int64_t)i);
}

TEST(refuses_bombs)
{
    check_bomb(VS_CHUNK_META, VS_COL_META, 100, 4 << 20, VSE_CORRUPT);
    check_bomb(VS_CHUNK_META, VS_COL_META, (uint64_t)VS_MAX_COLUMN + 1, 4 << 20, VSE_LIMIT);
    check_bomb(VS_CHUNK_META, VS_COL_META, UINT64_MAX, 4 << 20, VSE_LIMIT);
    check_bomb(VS_CHUNK_STATIC, VS_COL_SITES, 100, 4 << 20, VSE_CORRUPT);
    check_bomb(VS_CHUNK_STATIC, VS_COL_SITES, 4 << 20, 4 << 20, VSE_CORRUPT);
    check_bomb(VS_CHUNK_EVENTS, VS_COL_SUMMARY, 100, 4 << 20, VSE_CORRUPT);
    check_bomb(VS_CHUNK_EVENTS, VS_COL_VALUE, (uint64_t)VS_MAX_COLUMN + 1, 1 << 20, VSE_LIMIT);
}

/* An index of more chunks than the file has room for, from a few bytes. */
TEST(refuses_a_bomb_of_index_entries)
{
    struct fixture x;

    setup(&x);
    for (unsigned i = 0; i < 2000000; i++)
        CHECK_EQ(vs_buf_put(&x.forge.index, "\1\0", 2), 0);
    check_forged(&x, VSE_CORRUPT, (int64_t)x.forge.count);
}

/* ---- anything ---- */

static void mutate(struct forge *f, struct rng *rng)
{
    for (unsigned n = 1 + (unsigned)rng_below(rng, 3); n;) {
        struct forge_chunk *c = &f->chunks[rng_below(rng, f->count)];
        struct vs_buf *col = &c->cols.col[1 + rng_below(rng, VS_COL_END - 1)];
        size_t at;

        if (!col->len)
            continue;
        n--;
        at = rng_below(rng, col->len);
        switch (rng_below(rng, 5)) {
        case 0:
            col->data[at] ^= (uint8_t)(1 << rng_below(rng, 8));
            break;
        case 1:
            col->data[at] = (uint8_t)rng_next(rng);
            break;
        case 2:
            col->data[at] = rng_below(rng, 2) ? 0 : 0xff;
            break;
        case 3:
            memmove(col->data + at, col->data + at + 1, col->len - at - 1);
            col->len--;
            break;
        default:
            forge_must(vs_buf_put(col, "\x01", 1) == 0);
            memmove(col->data + at + 1, col->data + at, col->len - at - 1);
        }
    }
}

/* Any content under right checksums is refused by name or is a valid run. */
TEST(survives_mutated_columns)
{
    struct fixture x;
    struct rng rng = rng_init(2026);
    unsigned refused = 0;

    setup(&x);
    for (unsigned i = 0; i < 3000; i++) {
        struct forge f;
        struct vs_buf out = {0};
        struct verdict v;

        forge_load(&f, x.file.data, x.file.size);
        mutate(&f, &rng);
        forge_build(&f, &out);
        v = judge(out.data, out.len, i % 4 ? VS_OPEN_DEFAULT : VS_OPEN_SALVAGE);
        refused += v.err != 0;
        run_free(&v.events);
        vs_buf_fini(&out);
        forge_free(&f);
    }
    CHECK(refused > 1000 && refused < 3000);
    teardown(&x);
}
