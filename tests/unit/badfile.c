/* SPDX-License-Identifier: MIT */
/* Bad goldens: damaged files, and files whose structures, index or tables lie with right checksums.
 */
#include "refuse.h"

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
