/* SPDX-License-Identifier: MIT */
/* Packets of RISC-V Efficient Trace, byte for byte as other encoders write them. RV64: addresses of
 * 63 bits, two bits of privilege, no time, no implicit returns. */
#include "technique/etrace_packet.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "port/framing.h"
#include "unittest.h"

static const struct vs_etrace_layout rv64 = {
    .address_bits = 63, .privilege_bits = 2, .cause_bits = 6};

static unsigned parse(const char *hex, uint8_t *bytes)
{
    unsigned n = 0, value;
    int used;
    for (; sscanf(hex, "%x%n", &value, &used) == 1; hex += used)
        bytes[n++] = (uint8_t)value;
    return n;
}

/* Writes the packet, compares its bytes, and reads them again. */
static void check_layout(const struct vs_etrace_layout *layout, const struct vs_etrace_packet *p,
                         const char *hex)
{
    const struct vs_port_shape shape = {.cores = 1, .packets = true, .per_core = true};
    uint8_t expected[VS_ETRACE_BYTES_MAX];
    unsigned size = parse(hex, expected);
    struct vs_etrace_bits bits;
    struct vs_port_writer w;
    struct vs_buf out = {0};
    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_buf, &out), 0);
    vs_etrace_pack(layout, p, &bits);
    CHECK_EQ(vs_etrace_size(&bits), size);
    vs_port_begin_packet(&w, 0, 0);
    vs_etrace_put(&w, &bits, size);
    vs_port_end(&w);
    CHECK_EQ(vs_port_finish(&w), 8 * size);
    CHECK_EQ(out.len, size);
    CHECK_MEM(out.data, expected, size);
    const struct vs_port_stream stream = {expected, size, 8 * (uint64_t)size};
    struct vs_port_reader r;
    struct vs_etrace_packet got;
    CHECK_EQ(vs_port_reader_init(&r, &shape, &stream), 0);
    CHECK_EQ(vs_port_next_packet(&r), 0);
    CHECK_EQ(vs_etrace_get(&r, layout, size, &got), 0);
    CHECK_EQ(got.format, p->format);
    CHECK_EQ(got.map, p->map);
    CHECK_EQ(got.address, p->address & UINT64_MAX >> (64 - layout->address_bits));
    CHECK_EQ(got.updiscon, p->updiscon);
    CHECK_EQ(got.irets, p->irets);
    CHECK_EQ(vs_port_left(&r, 0), 0);
    vs_port_reader_fini(&r);
    vs_port_writer_fini(&w);
    vs_buf_fini(&out);
}

static void check(const struct vs_etrace_packet *p, const char *hex)
{
    check_layout(&rv64, p, hex);
}

TEST(synchronises)
{
    struct vs_etrace_layout context = rv64;
    context.context_bits = 32;
    check(
        &(struct vs_etrace_packet){
            .format = 3, .branch = true, .privilege = 3, .address = 0x80000000 / 2},
        "73 00 00 00 20");
    check_layout(&context,
                 &(struct vs_etrace_packet){
                     .format = 3, .branch = true, .privilege = 3, .address = 0x20010522 / 2},
                 "73 00 00 00 80 48 41 00 08");
}

/* The same packet with addresses that are not shifted, as the specification prints it. */
TEST(synchronises_as_printed)
{
    const struct vs_etrace_layout printed = {
        .address_bits = 64, .privilege_bits = 2, .context_bits = 32};
    check_layout(&printed,
                 &(struct vs_etrace_packet){
                     .format = 3, .branch = true, .privilege = 3, .address = 0x20010522},
                 "73 00 00 00 00 91 82 00 10");
}

static struct vs_etrace_packet address(int64_t delta)
{
    return (struct vs_etrace_packet){
        .format = 2, .has_address = true, .address = (uint64_t)(delta / 2) & UINT64_MAX >> 1};
}

TEST(tells_addresses)
{
    struct vs_etrace_packet p = address(0x10);
    check(&p, "22");
    p.updiscon = true;
    check(&p, "22 00 00 00 00 00 00 00 fc");
    p = address(0);
    check(&p, "02");
    p = address(-0x10c);
    check(&p, "ea fd");
}

TEST(tells_branches)
{
    struct vs_etrace_packet p = address(0x148);
    p.format = 1;
    p.branches = 3;
    p.map = 3; /* not taken, not taken, taken */
    check(&p, "8d 91 02");
    p = address(0xab0);
    p.format = 1;
    p.branches = 1;
    check(&p, "05 58 05");
    check(&(struct vs_etrace_packet){.format = 1}, "01");
    check(&(struct vs_etrace_packet){.format = 1, .map = 0x7fffffff}, "81");
}

TEST(starts_and_ends)
{
    check(&(struct vs_etrace_packet){.format = 3, .subformat = VS_ETRACE_SUPPORT, .enabled = true},
          "1f");
    check(
        &(struct vs_etrace_packet){
            .format = 3, .subformat = VS_ETRACE_SUPPORT, .enabled = true, .options = 4},
        "1f 04");
    check(&(struct vs_etrace_packet){.format = 3,
                                     .subformat = VS_ETRACE_SUPPORT,
                                     .status = VS_ETRACE_ENDED_REP},
          "4f");
}

/* By the rules: a count of 40 - 31 and no address; an index of five bits, with two branches. */
TEST(counts_predictions_and_indexes_targets)
{
    struct vs_etrace_layout both = rv64;
    both.subformat_bits = 1;
    both.index_bits = 5;
    check_layout(&both, &(struct vs_etrace_packet){.subformat = VS_ETRACE_COUNT, .count = 9}, "48");
    check_layout(&both,
                 &(struct vs_etrace_packet){
                     .subformat = VS_ETRACE_INDEX, .index = 19, .branches = 2, .map = 2},
                 "9c 42");
}

/* irets are as many bits as there are, and cost nothing if nothing is reported. */
TEST(reports_implicit_returns)
{
    struct vs_etrace_layout returns = rv64;
    struct vs_etrace_packet p = address(0x10);
    returns.irets_bits = 8;
    check_layout(&returns, &p, "22");
    p.irreport = true;
    p.irets = 5;
    check_layout(&returns, &p, "22 00 00 00 00 00 00 00 58");
}

TEST(refuses_what_is_longer_than_it_need_be)
{
    static const char *const bad[] = {"22 00", "02 00 00", "8d 91 02 00", "01 00"};
    const struct vs_port_shape shape = {.cores = 1, .packets = true, .per_core = true};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t bytes[VS_ETRACE_BYTES_MAX];
        unsigned size = parse(bad[i], bytes);
        const struct vs_port_stream stream = {bytes, size, 8 * (uint64_t)size};
        struct vs_port_reader r;
        struct vs_etrace_packet got;
        CHECK_EQ(vs_port_reader_init(&r, &shape, &stream), 0);
        CHECK_EQ(vs_port_next_packet(&r), 0);
        CHECK_ERR(vs_etrace_get(&r, &rv64, size, &got), VSE_CORRUPT);
        vs_port_reader_fini(&r);
    }
}

/* Both ways of writing the same packet, with the bits of each field. */
static bool put_both_ways(const struct vs_etrace_layout *layout, const struct vs_etrace_packet *p)
{
    enum { HEAD = 2 << 5 };
    const struct vs_port_shape shape = {.cores = 1, .packets = true, .per_core = true};
    struct vs_port_writer w[2];
    struct vs_port_counts sum[2];
    struct vs_buf out[2] = {{0}};
    struct vs_etrace_bits bits;
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(vs_port_writer_init(&w[i], &shape, vs_port_to_buf, &out[i]), 0);
        vs_port_begin_packet(&w[i], 0, 0);
    }
    vs_etrace_pack(layout, p, &bits);
    unsigned size = vs_etrace_size(&bits);
    vs_port_put_frame(&w[0], VS_FIELD_HEADER, HEAD | size, 8);
    vs_etrace_put(&w[0], &bits, size);
    bool put = vs_etrace_put_plain(&w[1], layout, HEAD, p->branches, p->map, p->address);
    for (unsigned i = 0; i < 2; i++) {
        vs_port_end(&w[i]);
        vs_port_totals(&w[i], &sum[i]);
        CHECK_EQ(vs_port_finish(&w[i]), i && !put ? 0 : 8 + 8 * size);
    }
    if (put) {
        CHECK(!memcmp(&sum[0], &sum[1], sizeof(sum[0])));
        CHECK_MEM(out[1].data, out[0].data, out[0].len);
    }
    for (unsigned i = 0; i < 2; i++) {
        vs_port_writer_fini(&w[i]);
        vs_buf_fini(&out[i]);
    }
    return put;
}

TEST(writes_plain_packets_in_one_go)
{
    static const unsigned widths[] = {31, 63, 64}, irets[] = {0, 8};
    for (unsigned branches = 0; branches <= VS_ETRACE_MAP_MAX; branches++)
        for (unsigned k = 0; k < 6; k++)
            for (unsigned bit = 0; bit < widths[k % 3]; bit++)
                for (unsigned sign = 0; sign < 2; sign++) {
                    const struct vs_etrace_layout layout = {.address_bits = widths[k % 3],
                                                            .irets_bits = irets[k / 3]};
                    uint64_t mask = UINT64_MAX >> (64 - layout.address_bits);
                    uint64_t high = UINT64_C(0x9e3779b97f4a7c15) >> (63 - bit);
                    uint32_t map = (uint32_t)(0xa5a5a5a5u & vs_etrace_ones(branches));
                    CHECK(put_both_ways(&layout,
                                        &(struct vs_etrace_packet){
                                            .format = branches ? 1 : 2,
                                            .has_address = true,
                                            .branches = (uint8_t)branches,
                                            .map = map,
                                            .address = (sign ? ~high : high) & mask}) ||
                          bit == 0 || bit + 1 == layout.address_bits);
                }
    /* the address is nothing but its sign, which may go on into the map */
    for (unsigned branches = 0; branches <= VS_ETRACE_MAP_MAX; branches++)
        for (unsigned sign = 0; sign < 4; sign++) {
            uint32_t map = sign & 2 ? (uint32_t)vs_etrace_ones(branches) : 0;
            bool put = put_both_ways(
                &rv64, &(struct vs_etrace_packet){.format = branches ? 1 : 2,
                                                  .has_address = true,
                                                  .branches = (uint8_t)branches,
                                                  .map = map,
                                                  .address = sign & 1 ? UINT64_MAX >> 1 : 0});
            CHECK(put || branches > 1);
            CHECK(!put || branches < 4 || sign);
        }
}
