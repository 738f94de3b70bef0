/* SPDX-License-Identifier: MIT */
#include "port/vport.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "port/framing.h"
#include "port/vport_layout.h"
#include "runs.h"

static const struct vs_vport_pair params[] = {{"gshare", "512"}, {"ras", ""}, {"bcnt", "4,2"}};
static const struct vs_vport_pair facts[] = {{"run", "a.vest"}};
static const struct vs_image images[] = {
    {"/bin/prog", "", (const uint8_t *)"\1\0\3", 3, 0x400000, 0x400000, 0x3000},
    {"/lib/libc.so", "/usr/lib/debug/libc", NULL, 0, UINT64_MAX, 0x7f0000000000, 1},
};
static const struct vs_vport_about about = {
    .technique = "mcfTR_e",
    .isa = "x86-64",
    .address_bits = 64,
    .cores = 4,
    .timed = true,
    .params = params,
    .param_count = 3,
    .facts = facts,
    .fact_count = 1,
    .images = images,
    .image_count = 2,
};

static uint8_t stream_byte(size_t i)
{
    return (uint8_t)(i * 37 + i / 256);
}

/* A stream of so many bits, appended in pieces of that many bytes. */
static int write_stream(const char *path, const struct vs_vport_about *a, uint64_t nbits,
                        size_t piece)
{
    size_t size = (size_t)(nbits + 7) / 8;
    uint8_t *bytes = malloc(size + 1);
    struct vs_vport_writer *w;
    struct vs_diag d;
    int err;

    CHECK(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = stream_byte(i);
    if (nbits % 8)
        bytes[size - 1] &= (uint8_t)((1 << nbits % 8) - 1);
    CHECK_EQ(vs_vport_create(&w, path, a, true, &d), 0);
    for (size_t i = 0; i < size; i += piece)
        CHECK_EQ(vs_vport_append(w, 0, bytes + i,
                                 size - i <= piece ? nbits - 8 * (uint64_t)i : 8 * piece),
                 0);
    err = vs_vport_seal(w, &d);
    free(bytes);
    return err;
}

static struct file make(uint64_t nbits)
{
    struct place p;
    struct file f;

    place_init(&p);
    CHECK_EQ(write_stream("a.vport", &about, nbits, 1000), 0);
    f = file_load("a.vport");
    place_fini(&p);
    return f;
}

static void check_stream(const struct vs_vport *v, uint64_t nbits)
{
    CHECK_EQ(v->nbits, nbits);
    CHECK_EQ(v->streams->nbits, nbits);
    CHECK_EQ(v->streams->size, (nbits + 7) / 8);
    for (size_t i = 0; i < nbits / 8; i++)
        CHECK_EQ(v->streams->data[i], stream_byte(i));
}

TEST(tells_what_it_was_told)
{
    struct file f = make(12345);
    struct vs_diag d;
    struct vs_vport *v;

    CHECK_EQ(vs_vport_open_memory(&v, f.data, f.size, &d), 0);
    CHECK_STR(v->about.technique, "mcfTR_e");
    CHECK_STR(v->about.isa, "x86-64");
    CHECK_EQ(v->about.address_bits, 64);
    CHECK_EQ(v->about.cores, 4);
    CHECK(v->about.timed);
    CHECK_EQ(v->about.param_count, 3);
    CHECK_STR(vs_vport_param(&v->about, "gshare"), "512");
    CHECK_STR(vs_vport_param(&v->about, "ras"), "");
    CHECK_STR(vs_vport_param(&v->about, "bcnt"), "4,2");
    CHECK(!vs_vport_param(&v->about, "run"));
    CHECK_STR(vs_vport_fact(&v->about, "run"), "a.vest");
    CHECK_EQ(v->about.image_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct vs_image *m = &v->about.images[i];

        CHECK_STR(m->path, images[i].path);
        CHECK_STR(m->symbols, images[i].symbols);
        CHECK_EQ(m->build_id_size, images[i].build_id_size);
        CHECK_MEM(m->build_id, images[i].build_id_size ? images[i].build_id : (const uint8_t *)"",
                  m->build_id_size);
        CHECK_EQ(m->base, images[i].base);
        CHECK_EQ(m->start, images[i].start);
        CHECK_EQ(m->length, images[i].length);
    }
    CHECK(!v->truncated);
    CHECK_EQ(v->verified, 12345);
    check_stream(v, 12345);
    vs_vport_close(v);
    file_free(&f);
}

/* Around the size of a block, to the bit. */
TEST(keeps_the_exact_length)
{
    static const uint64_t sizes[] = {0,      1,       7,       8,       9,       64,
                                     524280, 524281,  524287,  524288,  524289,  524296,
                                     524297, 1048575, 1048576, 1048577, 3000001, 5242880};
    static const size_t pieces[] = {1, 65535, 65536, 65537, 1 << 20};
    struct place p;

    place_init(&p);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t k = 0; k < sizeof(pieces) / sizeof(*pieces); k++) {
            struct vs_vport *v;
            struct vs_diag d;

            CHECK_EQ(write_stream("a.vport", &about, sizes[i], pieces[k]), 0);
            CHECK_EQ(vs_vport_open(&v, "a.vport", &d), 0);
            CHECK(!v->truncated);
            check_stream(v, sizes[i]);
            vs_vport_close(v);
        }
    place_fini(&p);
}

TEST(carries_a_stream)
{
    static const struct vs_port_shape shape = {.cores = 4, .timed = true, .cycles = {4, 2}};
    struct vs_vport_writer *file;
    struct vs_port_writer w;
    struct vs_port_reader r;
    struct place p;
    struct vs_vport *v;
    uint64_t value, cycle;
    int64_t bits;
    unsigned core;

    place_init(&p);
    CHECK_EQ(vs_vport_create(&file, "a.vport", &about, false, NULL), 0);
    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_vport_append, file), 0);
    for (unsigned i = 0; i < 100000; i++) {
        vs_port_begin(&w, i % 4, 7 * i);
        vs_port_put(&w, VS_FIELD_VALUE, i, 17);
        vs_port_end(&w);
    }
    bits = vs_port_finish(&w);
    CHECK(bits > 2000000);
    CHECK_EQ(vs_vport_seal(file, NULL), 0);
    vs_port_writer_fini(&w);
    CHECK_EQ(vs_vport_open(&v, "a.vport", NULL), 0);
    CHECK_EQ(vs_port_reader_init(&r, &shape, v->streams), 0);
    for (unsigned i = 0; i < 100000; i++) {
        CHECK_EQ(vs_port_next(&r, &core, &cycle), 0);
        CHECK_EQ(vs_port_get(&r, VS_FIELD_VALUE, 17, &value), 0);
        CHECK(core == i % 4 && cycle == 7 * i && value == i);
    }
    CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_END);
    vs_port_reader_fini(&r);
    vs_vport_close(v);
    place_fini(&p);
}

TEST(opens_a_cut_file_as_far_as_it_goes)
{
    static const uint64_t sizes[] = {0, 13, 803, 524288 + 77};

    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        struct file f = make(sizes[k]);
        size_t front = f.size - VS_VPORT_END - (sizes[k] ? VS_VPORT_BLOCK_HEADER : 0) -
                       (sizes[k] > 524288 ? VS_VPORT_BLOCK_HEADER : 0) - (sizes[k] + 7) / 8;
        uint64_t most = 0;

        for (size_t cut = 0; cut < f.size; cut++) {
            struct file part;
            struct vs_vport *v;
            struct vs_diag d = {0};
            int err;

            if (cut > front + 300 && cut < f.size - 300 && cut % 997) /* the large file's middle */
                continue;
            part = file_copy(f.data, cut);
            err = vs_vport_open_memory(&v, part.data, part.size, &d);
            if (cut < front) {
                CHECK_ERR(err, VSE_TRUNCATED);
                CHECK(!v && d.error == err && d.offset >= 0);
                CHECK_HAS(d.text, "cut off");
            } else {
                CHECK_EQ(err, 0);
                CHECK(v->truncated);
                CHECK_EQ(v->missing.error, -VSE_TRUNCATED);
                CHECK_EQ(v->missing.offset, cut);
                CHECK_HAS(v->missing.text, "the file is cut");
                CHECK(v->nbits >= most && v->nbits <= sizes[k] && v->verified <= v->nbits);
                CHECK(v->nbits % 8 == 0 || v->nbits == sizes[k]);
                check_stream(v, v->nbits);
                most = v->nbits;
            }
            vs_vport_close(v);
            file_free(&part);
        }
        CHECK_EQ(most, sizes[k]); /* without its end record */
        file_free(&f);
    }
}

static bool is_data_error(int err)
{
    return err <= -VSE_FORMAT && err >= -VSE_LIMIT;
}

TEST(notices_every_changed_byte)
{
    struct file f = make(997);
    struct rng rng = rng_init(1);

    for (size_t i = 0; i < f.size; i++)
        for (int round = 0; round < 9; round++) {
            uint8_t was = f.data[i];
            struct vs_vport *v;
            struct vs_diag d = {0};
            int err;

            f.data[i] ^= (uint8_t)(round < 8 ? 1u << round : 1 + rng_below(&rng, 255));
            err = vs_vport_open_memory(&v, f.data, f.size, &d);
            CHECK(is_data_error(err) && !v);
            CHECK(d.error == err && d.offset >= 0 && d.text[0]);
            CHECK(d.offset <= (int64_t)i);
            f.data[i] = was;
        }
    file_free(&f);
}

/* Changed and cut at once, anywhere: any result but a crash. */
TEST(survives_damage)
{
    struct file f = make(9997);
    struct rng rng = rng_init(2);

    for (int round = 0; round < 20000; round++) {
        struct file g =
            file_copy(f.data, f.size - rng_below(&rng, 3) * rng_below(&rng, f.size / 2));
        struct vs_vport *v;
        struct vs_diag d = {0};
        int err;

        for (uint64_t n = g.size ? rng_below(&rng, 4) : 0; n; n--)
            g.data[rng_below(&rng, rng_below(&rng, 2) && g.size > 200 ? 200 : g.size)] ^=
                (uint8_t)rng_next(&rng);
        err = vs_vport_open_memory(&v, g.data, g.size, &d);
        CHECK(err == 0 || (is_data_error(err) && d.text[0]));
        vs_vport_close(v);
        file_free(&g);
    }
    file_free(&f);
}

/* ---- descriptions with right checksums ---- */

static void put_front(struct vs_buf *out, const void *description, size_t size, uint32_t features)
{
    struct vs_vport_header h = {features, (uint32_t)size, vs_crc32c(0, description, size)};
    uint8_t bytes[VS_VPORT_HEADER];

    vs_vport_header_pack(bytes, &h);
    CHECK_EQ(vs_buf_put(out, bytes, sizeof(bytes)), 0);
    CHECK_EQ(vs_buf_put(out, description, size), 0);
}

static void put_end(struct vs_buf *out, uint64_t nbits, uint32_t blocks)
{
    uint8_t bytes[VS_VPORT_END];

    vs_vport_end_pack(bytes, &(struct vs_vport_end){nbits, out->len + sizeof(bytes), blocks});
    CHECK_EQ(vs_buf_put(out, bytes, sizeof(bytes)), 0);
}

static void put_block_of(struct vs_buf *out, int stream, uint32_t number, uint32_t bits,
                         const uint8_t *data)
{
    struct vs_vport_block b = {number, bits, vs_crc32c(0, data, (bits + 7) / 8),
                               (uint32_t)(stream < 0 ? 0 : stream)};
    uint8_t bytes[VS_VPORT_BLOCK_HEADER_MAX];

    vs_vport_block_pack(bytes, &b, stream >= 0);
    CHECK_EQ(vs_buf_put(out, bytes, vs_vport_block_header(stream >= 0)), 0);
    CHECK_EQ(vs_buf_put(out, data, (bits + 7) / 8), 0);
}

static void put_block(struct vs_buf *out, uint32_t number, uint32_t bits, const uint8_t *data)
{
    put_block_of(out, -1, number, bits, data);
}

static void check_opens(struct vs_buf *file, int error, const char *text)
{
    struct vs_vport *v;
    struct vs_diag d = {0};

    CHECK_EQ(vs_vport_open_memory(&v, file->data, file->len, &d), error);
    if (error)
        CHECK_HAS(d.text, text);
    vs_vport_close(v);
    vs_buf_fini(file);
}

/* technique "t", ISA "i", 64 bits, 1 core, then what is given. */
static void check_about(const char *rest, size_t size, int error, const char *text)
{
    struct vs_buf file = {0}, d = {0};

    CHECK_EQ(vs_buf_put(&d, "\1t\1i\x40\1", 6), 0);
    CHECK_EQ(vs_buf_put(&d, rest, size), 0);
    put_front(&file, d.data, d.len, 0);
    put_end(&file, 0, 0);
    check_opens(&file, error, text);
    vs_buf_fini(&d);
}

TEST(refuses_descriptions)
{
    struct vs_buf file = {0};

    check_about("\0\0\0", 3, 0, "");
    check_about("\0\0\1\0\0\0\0\0\0", 9, 0, "");
    check_about("\0\0\0\0", 4, -VSE_CORRUPT, "more bytes than it needs");
    check_about("\0\0", 2, -VSE_CORRUPT, "not a number");
    check_about("\1\1a\0\0\0", 6, 0, "");
    check_about("\2\1a\0\1a\0\0\0", 9, -VSE_CORRUPT, "twice");
    check_about("\1\0\0\0\0", 5, -VSE_CORRUPT, "without a name");
    check_about("\1\2a\0\0\0\0", 7, -VSE_CORRUPT, "zero byte");
    check_about("\1\5a\0\0\0", 6, -VSE_CORRUPT, "past the end");
    check_about("\x63\0\0", 3, -VSE_CORRUPT, "a list goes past the end");
    check_about("\x81\x08\0\0", 4, -VSE_LIMIT, "over its limit");
    check_about("\0\0\x81\x80\x04\0", 6, -VSE_LIMIT, "over its limit");
    check_about("\0\0\1\0\0\x41\0\0\0\0", 10, -VSE_LIMIT, "over its limit");
    check_about("\x80\0\0\0", 4, -VSE_CORRUPT, "not a number");
    put_front(&file, "\0\1i\x40\1\0\0\0", 8, 0);
    check_opens(&file, -VSE_CORRUPT, "no technique");
    put_front(&file, "\1t\0\x40\1\0\0\0", 8, 0);
    check_opens(&file, -VSE_CORRUPT, "no instruction set");
    put_front(&file, "\1t\1i\x21\1\0\0\0", 9, 0);
    check_opens(&file, -VSE_CORRUPT, "neither 32 nor 64");
    put_front(&file, "\1t\1i\x20\0\0\0\0", 9, 0);
    check_opens(&file, -VSE_CORRUPT, "cores");
    put_front(&file, "\1t\1i\x20\1\0\0\0", 9, 4);
    check_opens(&file, -VSE_FEATURE, "features 0x4");
    put_front(&file, "", 0, 0);
    check_opens(&file, -VSE_CORRUPT, "not a number");
}

TEST(refuses_other_files_and_versions)
{
    struct file f = make(10);
    struct vs_buf file = {0};

    CHECK_EQ(vs_buf_put(&file, f.data, f.size), 0);
    file.data[1] = 'X';
    check_opens(&file, -VSE_FORMAT, "not a .vport file");
    CHECK_EQ(vs_buf_put(&file, f.data, f.size), 0);
    vs_put16(file.data + 10, VS_VPORT_VERSION + 1);
    vs_put32(file.data + 28, vs_crc32c(0, file.data, 28));
    check_opens(&file, -VSE_VERSION, "format version");
    CHECK_EQ(vs_buf_put(&file, f.data, f.size), 0);
    vs_put32(file.data + 16, VS_VPORT_ABOUT_MAX + 1);
    vs_put32(file.data + 28, vs_crc32c(0, file.data, 28));
    check_opens(&file, -VSE_LIMIT, "over the limit");
    CHECK_EQ(vs_buf_put(&file, f.data, f.size), 0);
    file.data[24] = 1;
    vs_put32(file.data + 28, vs_crc32c(0, file.data, 28));
    check_opens(&file, -VSE_CORRUPT, "reserved");
    CHECK_EQ(vs_buf_put(&file, f.data, f.size), 0);
    CHECK_EQ(vs_buf_put(&file, "more", 4), 0);
    check_opens(&file, -VSE_CORRUPT, "4 bytes follow");
    file_free(&f);
}

TEST(refuses_blocks_that_do_not_fit)
{
    static const uint8_t data[VS_VPORT_BLOCK] = {1, 0x20};
    static const char front[] = "\1t\1i\x40\1\0\0\0";
    struct vs_buf file = {0};

    put_front(&file, front, 9, 0);
    put_block(&file, 0, 14, data);
    put_end(&file, 14, 1);
    check_opens(&file, 0, "");
    put_front(&file, front, 9, 0);
    put_block(&file, 0, 13, data); /* bit 13 is set */
    put_end(&file, 13, 1);
    check_opens(&file, -VSE_CORRUPT, "not zero");
    put_front(&file, front, 9, 0);
    put_block(&file, 1, 16, data);
    check_opens(&file, -VSE_CORRUPT, "says it is number 1");
    put_front(&file, front, 9, 0);
    put_block(&file, 0, 0, data);
    check_opens(&file, -VSE_CORRUPT, "block of 0 bits");
    put_front(&file, front, 9, 0);
    put_block(&file, 0, 16, data);
    put_block(&file, 1, 16, data);
    check_opens(&file, -VSE_CORRUPT, "not full");
    put_front(&file, front, 9, 0);
    put_block(&file, 0, 8 * VS_VPORT_BLOCK, data);
    put_block(&file, 1, 16, data);
    put_end(&file, 8 * VS_VPORT_BLOCK + 16, 2);
    check_opens(&file, 0, "");
    put_front(&file, front, 9, 0);
    put_block(&file, 0, 16, data);
    put_end(&file, 15, 1);
    check_opens(&file, -VSE_CORRUPT, "not of this file");
    put_front(&file, front, 9, 0);
    put_block(&file, 0, 16, data);
    put_end(&file, 16, 2);
    check_opens(&file, -VSE_CORRUPT, "not of this file");
}

/* ---- writing ---- */

TEST(refuses_to_write_nonsense)
{
    struct vs_vport_about a = about;
    struct vs_vport_pair twice[2] = {{"a", "1"}, {"a", "2"}};
    struct vs_vport_writer *w;
    struct place p;
    struct vs_diag d;

    place_init(&p);
    a.technique = "";
    CHECK_ERR(vs_vport_create(&w, "a.vport", &a, false, &d), VSE_INVAL);
    CHECK_HAS(d.text, "technique");
    a = about;
    a.cores = 0;
    CHECK_ERR(vs_vport_create(&w, "a.vport", &a, false, &d), VSE_INVAL);
    a = about;
    a.address_bits = 48;
    CHECK_ERR(vs_vport_create(&w, "a.vport", &a, false, &d), VSE_INVAL);
    a = about;
    a.params = twice;
    a.param_count = 2;
    CHECK_ERR(vs_vport_create(&w, "a.vport", &a, false, &d), VSE_INVAL);
    a.param_count = VS_VPORT_PAIRS_MAX + 1;
    CHECK_ERR(vs_vport_create(&w, "a.vport", &a, false, &d), VSE_LIMIT);
    CHECK(!w && !exists("a.vport") && !exists("a.vport.partial"));
    place_fini(&p);
}

/* ---- a stream per core ---- */

/* Of core i so many bits, of which each piece of 1000 bytes is appended by turns; core 2 has none.
 */
static struct file make_per_core(const uint64_t nbits[4])
{
    struct vs_vport_about a = about;
    struct vs_vport_writer *w;
    struct place p;
    bool more = true;

    a.per_core = true;
    place_init(&p);
    CHECK_EQ(vs_vport_create(&w, "a.vport", &a, true, NULL), 0);
    for (uint64_t at = 0; more; at += 8000) {
        more = false;
        for (unsigned i = 0; i < 4; i++) {
            uint64_t n = nbits[i] > at ? nbits[i] - at : 0;
            uint8_t bytes[1000];

            n = n < 8000 ? n : 8000;
            for (size_t k = 0; k < (n + 7) / 8; k++)
                bytes[k] = (uint8_t)(stream_byte((size_t)(at / 8) + k) ^ i);
            if (n % 8)
                bytes[n / 8] &= (uint8_t)((1 << n % 8) - 1);
            CHECK_EQ(vs_vport_append(w, i, bytes, n), 0);
            more = more || n;
        }
    }
    CHECK_EQ(vs_vport_seal(w, NULL), 0);
    struct file f = file_load("a.vport");
    place_fini(&p);
    return f;
}

static uint64_t check_streams(const struct vs_vport *v, const uint64_t most[4])
{
    uint64_t sum = 0;

    CHECK(v->about.per_core);
    for (unsigned i = 0; i < 4; i++) {
        const struct vs_port_stream *s = &v->streams[i];

        CHECK(s->nbits <= most[i] && s->size == (s->nbits + 7) / 8);
        for (size_t k = 0; k < s->nbits / 8; k++)
            CHECK_EQ(s->data[k], stream_byte(k) ^ i);
        sum += s->nbits;
    }
    CHECK_EQ(v->nbits, sum);
    return sum;
}

TEST(holds_a_stream_per_core)
{
    static const uint64_t nbits[4] = {70001, 13, 0, 8000};
    struct file f = make_per_core(nbits);
    struct vs_vport *v;
    uint64_t most = 0;

    CHECK_EQ(vs_vport_open_memory(&v, f.data, f.size, NULL), 0);
    CHECK_EQ(check_streams(v, nbits), 78014);
    CHECK(!v->truncated && v->verified == v->nbits);
    vs_vport_close(v);
    for (size_t cut = f.size - 400; cut < f.size; cut++) {
        CHECK_EQ(vs_vport_open_memory(&v, f.data, cut, NULL), 0);
        CHECK(v->truncated && v->nbits >= most && v->verified <= v->nbits);
        most = check_streams(v, nbits);
        vs_vport_close(v);
    }
    for (size_t at = 0; at < f.size; at += 7) { /* whatever is damaged is noticed */
        struct vs_diag d = {0};

        f.data[at] ^= 0x10;
        CHECK(vs_vport_open_memory(&v, f.data, f.size, &d) < 0 && !v && d.text[0]);
        f.data[at] ^= 0x10;
    }
    file_free(&f);
}

TEST(refuses_blocks_of_streams_that_do_not_fit)
{
    static const uint8_t data[VS_VPORT_BLOCK] = {1, 0x20};
    static const char front[] = "\1t\1i\x40\2\0\0\0";
    struct vs_buf file = {0};

    put_front(&file, front, 9, VS_VPORT_PER_CORE);
    put_block_of(&file, 1, 0, 16, data); /* less than a full one may be followed by others */
    put_block_of(&file, 0, 1, 14, data);
    put_block_of(&file, 1, 2, 16, data);
    put_end(&file, 46, 3);
    check_opens(&file, 0, "");
    put_front(&file, front, 9, VS_VPORT_PER_CORE);
    put_block_of(&file, 2, 0, 16, data);
    check_opens(&file, -VSE_CORRUPT, "block of stream 2, and there are 2");
    put_front(&file, front, 9, VS_VPORT_PER_CORE);
    put_block_of(&file, 1, 0, 14, data);
    put_block_of(&file, 0, 1, 14, data);
    put_block_of(&file, 1, 2, 16, data);
    check_opens(&file, -VSE_CORRUPT, "stream 1, which has ended");
    put_front(&file, front, 9, VS_VPORT_PER_CORE);
    put_block(&file, 0, 16, data); /* as in a file of one stream */
    put_end(&file, 16, 1);
    check_opens(&file, -VSE_CHECKSUM, "block header");
}

TEST(names_the_file_only_when_sealed)
{
    struct vs_vport_writer *w;
    struct place p;
    struct vs_diag d;

    place_init(&p);
    CHECK_EQ(vs_vport_create(&w, "a.vport", &about, false, &d), 0);
    CHECK_EQ(vs_vport_append(w, 0, (const uint8_t *)"\x0f", 4), 0);
    CHECK(!exists("a.vport"));
    CHECK_ERR(vs_vport_append(w, 0, (const uint8_t *)"\x0f", 8), VSE_INVAL); /* within a byte */
    CHECK_ERR(vs_vport_seal(w, &d), VSE_INVAL);
    CHECK(!exists("a.vport") && !exists("a.vport.partial"));
    CHECK_EQ(vs_vport_create(&w, "a.vport", &about, false, &d), 0);
    CHECK_ERR(vs_vport_append(w, 0, (const uint8_t *)"\x0f", 3), VSE_INVAL); /* bit 3 is set */
    CHECK_ERR(vs_vport_append(w, 1, (const uint8_t *)"\x0f", 8), VSE_INVAL); /* there is one */
    CHECK_ERR(vs_vport_seal(w, &d), VSE_INVAL);
    CHECK_EQ(vs_vport_create(&w, "a.vport", &about, false, &d), 0);
    vs_vport_abort(w);
    vs_vport_abort(NULL);
    CHECK(!exists("a.vport") && !exists("a.vport.partial"));
    CHECK_EQ(write_stream("a.vport", &about, 4, 1), 0);
    CHECK_ERR(vs_vport_create(&w, "a.vport", &about, false, &d), VSE_EXISTS);
    place_fini(&p);
}

TEST(says_why_a_file_does_not_open)
{
    struct vs_vport *v;
    struct vs_diag d;
    struct place p;

    place_init(&p);
    CHECK_ERR(vs_vport_open(&v, "none.vport", &d), VSE_IO);
    CHECK_ERR(vs_vport_open(&v, ".", &d), VSE_INVAL);
    CHECK(!v);
    CHECK_ERR(vs_vport_open_memory(&v, "", 0, NULL), VSE_TRUNCATED);
    vs_vport_close(NULL);
    place_fini(&p);
}
