/* SPDX-License-Identifier: MIT */
/* Messages of RISC-V N-Trace, byte for byte as other encoders write them. */
#include "technique/ntrace_message.h"

#include <stdio.h>
#include <string.h>

#include "port/framing.h"
#include "unittest.h"

static unsigned parse(const char *hex, uint8_t *bytes)
{
    unsigned n = 0, value;
    int used;
    for (; sscanf(hex, "%x%n", &value, &used) == 1; hex += used)
        bytes[n++] = (uint8_t)value;
    return n;
}

static int get(const struct vs_ntrace_layout *layout, const uint8_t *bytes, unsigned size,
               struct vs_ntrace_message *m)
{
    const struct vs_port_shape shape = {.cores = 1, .packets = true, .per_core = true};
    const struct vs_port_stream stream = {bytes, size, 8 * (uint64_t)size};
    struct vs_port_reader r;
    CHECK_EQ(vs_port_reader_init(&r, &shape, &stream), 0);
    CHECK_EQ(vs_port_next_packet(&r), 0);
    int err = vs_ntrace_get(&r, layout, m);
    if (!err)
        CHECK_EQ(vs_port_left(&r, 0), 0);
    vs_port_reader_fini(&r);
    return err;
}

/* A message that is put in one go has the same bytes, of the same fields. */
static void check_plain(const struct vs_ntrace_layout *layout, const struct vs_ntrace_message *m,
                        const struct vs_ntrace_bytes *bytes)
{
    const struct vs_port_shape shape = {.cores = 1, .packets = true, .per_core = true};
    struct vs_port_writer w;
    struct vs_buf buf = {0};
    uint64_t counts[VS_FIELD_END] = {0};
    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_buf, &buf), 0);
    vs_port_begin_packet(&w, 0, 0);
    bool plain = vs_ntrace_put_plain(&w, layout, m);
    vs_port_end(&w);
    for (unsigned i = 0; i < bytes->parts; i++)
        counts[bytes->part[i].field] += bytes->part[i].bits;
    if (plain)
        CHECK_MEM(w.cores[0].counts.bits, counts, sizeof(counts));
    CHECK_EQ(vs_port_finish(&w), plain ? 8 * bytes->count : 0);
    if (plain)
        CHECK_MEM(buf.data, bytes->bytes, bytes->count);
    bool often = m->number == VS_NTRACE_DIRECT || m->number == VS_NTRACE_HISTORY ||
                 m->number == VS_NTRACE_INDIRECT;
    CHECK(plain || !often || layout->timed || layout->extended || m->address >> 36 ||
          m->icnt >> 4 || m->hist >> 42);
    vs_port_writer_fini(&w);
    vs_buf_fini(&buf);
}

static void check_layout(const struct vs_ntrace_layout *layout, const struct vs_ntrace_message *m,
                         const char *hex)
{
    uint8_t expected[VS_NTRACE_BYTES_MAX];
    unsigned size = parse(hex, expected), parts = 0;
    struct vs_ntrace_bytes bytes;
    struct vs_ntrace_message got;
    vs_ntrace_pack(layout, m, &bytes);
    CHECK_EQ(bytes.count, size);
    CHECK_MEM(bytes.bytes, expected, size);
    for (unsigned i = 0; i < bytes.parts; i++)
        parts += bytes.part[i].bits;
    CHECK_EQ(parts, 8 * size);
    check_plain(layout, m, &bytes);
    CHECK_EQ(get(layout, expected, size, &got), 0);
    CHECK(!memcmp(&got, m, sizeof(got)));
}

static void check(const struct vs_ntrace_message *m, bool timed, const char *hex)
{
    check_layout(&(struct vs_ntrace_layout){.timed = timed, .address_bits = 63}, m, hex);
}

TEST(tells_branches)
{
    check(&(struct vs_ntrace_message){.number = VS_NTRACE_DIRECT, .icnt = 3}, false, "0c 0f");
    check(&(struct vs_ntrace_message){.number = VS_NTRACE_INDIRECT, .icnt = 5}, false, "10 51 03");
    check(
        &(struct vs_ntrace_message){
            .number = VS_NTRACE_HISTORY, .icnt = 0x7d, .address = 7, .hist = 0xffe},
        false, "70 d0 1d 1d f8 ff");
}

TEST(starts_and_ends)
{
    check(&(struct vs_ntrace_message){.number = VS_NTRACE_SYNC,
                                      .code = VS_NTRACE_EXIT_RESET,
                                      .address = 0x80000000 / 2},
          false, "24 05 00 00 00 00 00 07");
    check(
        &(struct vs_ntrace_message){
            .number = VS_NTRACE_CORRELATION, .history = true, .icnt = 4, .hist = 3},
        false, "84 40 11 0f");
}

TEST(tells_histories_that_are_full)
{
    check(&(struct vs_ntrace_message){.number = VS_NTRACE_FULL,
                                      .code = VS_NTRACE_FULL_HIST,
                                      .hist = 0xffffffff},
          false, "6c c4 fc fc fc fc ff");
    check(
        &(struct vs_ntrace_message){
            .number = VS_NTRACE_FULL, .code = VS_NTRACE_REPEATED, .hist = 0xd5555555, .repeat = 10},
        false, "6c 48 54 54 54 54 d5 2b");
}

/* By the rules: a timestamp is one more field of as many bits as it needs. */
TEST(ends_with_a_timestamp)
{
    check(&(struct vs_ntrace_message){.number = VS_NTRACE_DIRECT, .icnt = 3, .time = 64}, true,
          "0c 0d 00 07");
}

/* By the rules: the last bit that is sent of an address stands for all above it. */
TEST(extends_addresses)
{
    static const struct vs_ntrace_layout rv64 = {.extended = true, .address_bits = 63},
                                         x86 = {.extended = true, .address_bits = 64};
    struct vs_ntrace_message m = {.number = VS_NTRACE_INDIRECT, .icnt = 5, .address = 7};
    check_layout(&rv64, &m, "10 51 1f");
    m.address = 0;
    check_layout(&rv64, &m, "10 51 03");
    m.address = 0x20;
    check_layout(&rv64, &m, "10 51 80 03");
    m.address = UINT64_MAX >> 1;
    check_layout(&rv64, &m, "10 51 ff");
    m.address = UINT64_C(1) << 62;
    check_layout(&rv64, &m, "10 51 00 00 00 00 00 00 00 00 00 00 f3");
    m.address = UINT64_MAX - 0x20;
    check_layout(&x86, &m, "10 51 7c ff");
    m.address = UINT64_C(1) << 63;
    check_layout(&x86, &m, "10 51 00 00 00 00 00 00 00 00 00 00 e3");
    uint8_t bytes[VS_NTRACE_BYTES_MAX];
    unsigned size = parse("10 51 1c 03", bytes); /* a zero on top of a zero */
    CHECK_ERR(get(&rv64, bytes, size, &m), VSE_CORRUPT);
}

TEST(refuses_what_no_encoder_writes)
{
    static const char *const bad[] = {
        "0c 0c 03",    /* a zero on top */
        "0c 0e",       /* the reserved end */
        "0c 0d 03",    /* a field too many */
        "08 03",       /* Ownership, which is not sent */
        "10 53",       /* a field too few */
        "6c 3b",       /* rCode 14 */
        "84 c0 11 0f", /* cdf 3 */
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t bytes[VS_NTRACE_BYTES_MAX];
        struct vs_ntrace_message m;
        unsigned size = parse(bad[i], bytes);

        CHECK_ERR(get(&(struct vs_ntrace_layout){.address_bits = 63}, bytes, size, &m),
                  VSE_CORRUPT);
    }
}
