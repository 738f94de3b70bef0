/* SPDX-License-Identifier: MIT */
/* The text that exports write, against printf's. */
#include "export/sink.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "rng.h"
#include "unittest.h"

/* What lies behind the end may change, but only so far. */
static void check(uint8_t text[], const uint8_t *end, size_t most, const char *wanted)
{
    size_t n = (size_t)(end - text);

    for (size_t i = n + most; i < 64; i++)
        CHECK_EQ(text[i], 0xee);
    text[n] = 0;
    CHECK_STR((const char *)text, wanted);
}

static void check_decimal(uint64_t v)
{
    uint8_t text[64];
    char wanted[64];

    snprintf(wanted, sizeof(wanted), "%" PRIu64, v);
    memset(text, 0xee, sizeof(text));
    check(text, vs_text_dec(text, v), 7, wanted);
    if (v > UINT32_MAX)
        return;
    memset(text, 0xee, sizeof(text));
    check(text, vs_text_small(text, (unsigned)v), 7, wanted);
}

static void check_hex(uint64_t v, unsigned least)
{
    uint8_t text[64];
    char wanted[64];

    snprintf(wanted, sizeof(wanted), "%0*" PRIx64, (int)least, v);
    memset(text, 0xee, sizeof(text));
    check(text, vs_text_hex(text, v, least), 15, wanted);
}

TEST(writes_decimal_numbers)
{
    uint64_t power = 1;

    for (unsigned digits = 1; digits <= 20; digits++, power *= 10)
        for (uint64_t i = 0; i < 3; i++) {
            check_decimal(power - 1 + i);
            check_decimal(power * 7 + i);
        }
    for (uint64_t v = 0; v < 20000; v++)
        check_decimal(v);
    check_decimal(UINT64_MAX);
}

TEST(writes_decimal_numbers_of_all_lengths)
{
    struct rng rng = rng_init(7);

    for (unsigned i = 0; i < 200000; i++)
        check_decimal(rng_any(&rng));
}

TEST(writes_hexadecimal_numbers)
{
    for (unsigned least = 1; least <= 16; least++) {
        check_hex(0, least);
        check_hex(UINT64_MAX, least);
        for (unsigned bit = 0; bit < 64; bit++) {
            check_hex(UINT64_C(1) << bit, least);
            check_hex((UINT64_C(1) << bit) - 1, least);
            check_hex(UINT64_C(0x0123456789abcdef) >> bit, least);
        }
    }
}

TEST(writes_pieces_as_long_as_they_are)
{
    struct vs_text_piece piece;
    uint8_t text[64];

    memset(text, 0xee, sizeof(text));
    vs_text_piece_make(&piece, ",%s,", "load");
    check(text, vs_text_piece(text, &piece), VS_TEXT_PIECE - 6, ",load,");
    vs_text_piece_make(&piece, "%s", "123456789012345678901234567890");
    check(text, vs_text_piece(text, &piece), 0, "123456789012345678901234");
}

static int append(void *context, const void *bytes, size_t size)
{
    struct vs_buf *all = context;

    return vs_buf_put(all, bytes, size);
}

TEST(hands_everything_over_in_order)
{
    struct vs_buf all = {0}, wanted = {0};
    struct vs_sink s;

    CHECK_EQ(vs_sink_init(&s, append, &all), 0);
    for (uint64_t i = 0; i < 100000; i++) {
        char line[64];
        int n = snprintf(line, sizeof(line), "%" PRIu64 "\n", i * i);
        uint8_t *p = vs_sink_room(&s, 64);

        CHECK(p);
        p = vs_text_dec(p, i * i);
        *p++ = '\n';
        s.at = p;
        CHECK_EQ(vs_buf_put(&wanted, line, (size_t)n), 0);
    }
    CHECK_EQ(vs_sink_flush(&s), 0);
    CHECK_EQ(all.len, wanted.len);
    CHECK_MEM(all.data, wanted.data, wanted.len);
    vs_sink_fini(&s);
    vs_buf_fini(&all);
    vs_buf_fini(&wanted);
}
