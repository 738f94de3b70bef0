/* SPDX-License-Identifier: MIT */
#include "trace/layout.h"

#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "unittest.h"

static void reseal(uint8_t *p)
{
    vs_put32(p + 28, vs_crc32c(0, p, 28));
}

static void check_place(const struct vs_diag *d, int error, int64_t offset, int64_t chunk)
{
    CHECK_ERR(d->error, error);
    CHECK_EQ(d->offset, offset);
    CHECK_EQ(d->chunk, chunk);
    CHECK(d->text[0] && !strchr(d->text, '\n'));
}

TEST(packs_a_header_both_ways)
{
    uint8_t h[VS_HEADER_SIZE];

    for (uint32_t features = 0; features <= VS_RUN_KNOWN; features++) {
        uint32_t version = 0, got = ~features;

        vs_header_pack(h, features);
        CHECK_EQ(vs_header_parse(h, &version, &got, NULL), 0);
        CHECK_EQ(version, VS_RUN_VERSION);
        CHECK_EQ(got, features);
    }
    CHECK_MEM(h, "\x89VEST\r\n\x1a", 8);
}

TEST(detects_each_changed_bit_of_a_header)
{
    uint8_t h[VS_HEADER_SIZE];
    uint32_t version, features;

    for (unsigned i = 0; i < 8 * VS_HEADER_SIZE; i++) {
        struct vs_diag d = {0};

        vs_header_pack(h, VS_RUN_TIMED);
        h[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK_ERR(vs_header_parse(h, &version, &features, &d), i < 64 ? VSE_FORMAT : VSE_CHECKSUM);
        check_place(&d, i < 64 ? VSE_FORMAT : VSE_CHECKSUM, 0, -1);
    }
}

TEST(refuses_versions_it_does_not_read)
{
    uint8_t h[VS_HEADER_SIZE];
    uint32_t version, features;
    struct vs_diag d = {0};

    vs_header_pack(h, 0);
    vs_put16(h + 8, VS_RUN_VERSION_OLDEST - 1);
    reseal(h);
    CHECK_ERR(vs_header_parse(h, &version, &features, &d), VSE_VERSION);
    check_place(&d, VSE_VERSION, 8, -1);

    vs_header_pack(h, 0);
    vs_put16(h + 8, VS_RUN_VERSION + 1);
    vs_put16(h + 10, VS_RUN_VERSION + 1);
    reseal(h);
    CHECK_ERR(vs_header_parse(h, &version, &features, &d), VSE_VERSION);
    CHECK_HAS(d.text, "reads");
}

/* A newer file may say that a reader of this version understands it. */
TEST(reads_a_newer_version_that_allows_it)
{
    uint8_t h[VS_HEADER_SIZE];
    uint32_t version, features;

    vs_header_pack(h, VS_RUN_LOADS);
    vs_put16(h + 8, VS_RUN_VERSION + 1);
    reseal(h);
    CHECK_EQ(vs_header_parse(h, &version, &features, NULL), 0);
    CHECK_EQ(version, VS_RUN_VERSION + 1);
    CHECK_EQ(features, VS_RUN_LOADS);
}

TEST(refuses_each_unknown_feature)
{
    uint8_t h[VS_HEADER_SIZE];
    uint32_t version, features;

    for (unsigned bit = 0; bit < 32; bit++) {
        struct vs_diag d = {0};
        uint32_t feature = UINT32_C(1) << bit;

        if (feature & VS_RUN_KNOWN)
            continue;
        vs_header_pack(h, feature | VS_RUN_TIMED);
        CHECK_ERR(vs_header_parse(h, &version, &features, &d), VSE_FEATURE);
        check_place(&d, VSE_FEATURE, 12, -1);
    }
}

TEST(packs_a_chunk_header_both_ways)
{
    for (unsigned type = 1; type < VS_CHUNK_TYPE_END; type++) {
        struct vs_chunk c = {(uint8_t)type, 0xfffffffe, 0xdeadbeef, VS_MAX_PAYLOAD}, got;
        uint8_t h[VS_CHUNK_HEADER];

        vs_chunk_pack(h, &c);
        CHECK_EQ(vs_chunk_parse(h, &got, c.number, 5, NULL), 0);
        CHECK(got.type == c.type && got.number == c.number && got.crc == c.crc);
        CHECK_EQ(got.size, c.size);
    }
}

TEST(detects_each_changed_bit_of_a_chunk_header)
{
    struct vs_chunk c = {VS_CHUNK_EVENTS, 3, 0x12345678, 100}, got;
    uint8_t h[VS_CHUNK_HEADER];

    for (unsigned i = 0; i < 8 * VS_CHUNK_HEADER; i++) {
        struct vs_diag d = {0};

        vs_chunk_pack(h, &c);
        h[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK_ERR(vs_chunk_parse(h, &got, 3, 777, &d), VSE_CHECKSUM);
        check_place(&d, VSE_CHECKSUM, 777, 3);
    }
}

static void check_chunk(struct vs_chunk c, uint32_t number, int error)
{
    uint8_t h[VS_CHUNK_HEADER];
    struct vs_chunk got;
    struct vs_diag d = {0};

    vs_chunk_pack(h, &c);
    CHECK_ERR(vs_chunk_parse(h, &got, number, 999, &d), error);
    check_place(&d, error, 999, number);
}

TEST(refuses_chunk_headers_that_lie)
{
    check_chunk((struct vs_chunk){0, 0, 0, 1}, 0, VSE_CORRUPT);
    check_chunk((struct vs_chunk){VS_CHUNK_TYPE_END, 0, 0, 1}, 0, VSE_CORRUPT);
    check_chunk((struct vs_chunk){255, 0, 0, 1}, 0, VSE_CORRUPT);
    check_chunk((struct vs_chunk){VS_CHUNK_META, 1, 0, 1}, 0, VSE_CORRUPT);
    check_chunk((struct vs_chunk){VS_CHUNK_META, 0, 0, 1}, 1, VSE_CORRUPT);
    check_chunk((struct vs_chunk){VS_CHUNK_META, 0, 0, VS_MAX_PAYLOAD + 1u}, 0, VSE_LIMIT);
    check_chunk((struct vs_chunk){VS_CHUNK_META, 0, 0, UINT64_MAX}, 0, VSE_LIMIT);
    check_chunk((struct vs_chunk){VS_CHUNK_INDEX, 0, 0, INT64_MAX}, 0, VSE_LIMIT);
}

TEST(packs_a_trailer_both_ways)
{
    uint8_t t[VS_TRAILER_SIZE];
    uint64_t offset = 0;

    vs_trailer_pack(t, 0x123456789a, 0x1234567fff);
    CHECK_EQ(vs_trailer_parse(t, 0x1234567fff, &offset), 0);
    CHECK_EQ(offset, 0x123456789a);
    CHECK_ERR(vs_trailer_parse(t, 0x1234567ffe, &offset), VSE_FORMAT);
}

TEST(detects_each_changed_bit_of_a_trailer)
{
    uint8_t t[VS_TRAILER_SIZE];
    uint64_t offset;

    for (unsigned i = 0; i < 8 * VS_TRAILER_SIZE; i++) {
        vs_trailer_pack(t, 32, 4096);
        t[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK_ERR(vs_trailer_parse(t, 4096, &offset), VSE_FORMAT);
    }
}

TEST(names_chunk_types)
{
    CHECK_STR(vs_chunk_name(VS_CHUNK_META), "meta");
    CHECK_STR(vs_chunk_name(VS_CHUNK_STATIC), "static");
    CHECK_STR(vs_chunk_name(VS_CHUNK_EVENTS), "events");
    CHECK_STR(vs_chunk_name(VS_CHUNK_INDEX), "index");
    CHECK_STR(vs_chunk_name(0), "?");
    CHECK_STR(vs_chunk_name(VS_CHUNK_TYPE_END), "?");
}
