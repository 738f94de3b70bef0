/* SPDX-License-Identifier: MIT */
/* E-Trace's data packets: as the standard writes them, and what no encoder sends. */
#include "unit/addressrun.h"

/* Bytes, as the standard writes them. */
static void check_bytes(const struct stream *s, const char *hex)
{
    uint8_t expected[256];
    unsigned n = 0, value;
    int used;
    for (; sscanf(hex, "%x%n", &value, &used) == 1; hex += used)
        expected[n++] = (uint8_t)value;
    CHECK_EQ(s->nbits, 8 * n);
    CHECK_MEM(s->bits.data, expected, n);
}

static void touch_bytes(struct run *r, uint64_t addr, unsigned size, bool store)
{
    touch(r, 0, 0x100, addr, store);
    r->events[r->count - 1].size = (uint16_t)size;
}

/* format, 2 bits; size, 2 bits; diff; address, 64 bits */
TEST(sends_data_packets)
{
    static struct run r = {.cores = 1};
    struct stream s;
    touch_bytes(&r, 0x1000, 4, false);
    touch_bytes(&r, 0x1004, 4, true);
    touch_bytes(&r, 0x1000, 4, false);
    touch_bytes(&r, 0x2003, 8, false);
    touch_bytes(&r, 0x2008, 8, true);
    touch_bytes(&r, 0x2010, 16, false); /* by its first 8 bytes */
    touch_bytes(&r, UINT64_MAX, 1, false);
    r.events[r.count++] = (struct vs_event){.kind = VS_GAP, .pc = 0x100};
    touch_bytes(&r, 0x1000, 4, false);
    touch_bytes(&r, 0x1002, 3, true);
    encode(&s, "etrace_da", &r, 64);
    check_bytes(&s, "63 08 80 00 "  /* 0 2 0, 0x400 */
                    "61 3a "        /* 2 2 1, 0x401 - 0x400 */
                    "61 f8 "        /* 0 2 1, 0x400 - 0x401 */
                    "63 6d 00 04 "  /* 1 3 0, 0x2003 */
                    "63 de 7f fc "  /* 2 3 1, 0x401 - 0x2003 */
                    "61 3c "        /* 0 3 1, 0x402 - 0x401 */
                    "61 e0 "        /* 0 0 0, ~0 */
                    "63 08 80 00 "  /* 0 2 0, 0x400 */
                    "63 26 00 01"); /* 2 1 0, 0x801 */
    CHECK_EQ(s.fields.frame, 8 * 9);
    CHECK_EQ(s.counts.loads_sent, 6);
    CHECK_EQ(s.counts.stores_sent, 3);
    check_decodes(&s, &r);
    stream_free(&s);
}

/* The difference between an address that is shifted and one that is not is long. */
TEST(sends_the_shorter_data_packet)
{
    static struct run r = {.cores = 1};
    struct stream s;
    touch_bytes(&r, 0x7fff0001, 4, false);
    touch_bytes(&r, 0x10, 4, false);
    encode(&s, "etrace_da", &r, 64);
    check_bytes(&s, "65 29 00 e0 ff 0f 65 78 00 20 00 f0");
    check_decodes(&s, &r);
    stream_free(&s);
    encode(&s, "etrace_da:shorter", &r, 64);
    check_bytes(&s, "65 29 00 e0 ff 0f 62 88 00");
    check_decodes(&s, &r);
    stream_free(&s);
    encode(&s, "etrace_da:full,data_bytes=64", &r, 32); /* size has 3 bits */
    check_bytes(&s, "65 49 00 c0 ff 1f 62 08 01");
    check_decodes(&s, &r);
    stream_free(&s);
}

TEST(refuses_data_packets)
{
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "begins like that", {0x41, 8}, {8, 8});
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "of no bytes", {0x60, 8}, {8, 8});
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "could be shorter", {0x62, 8}, {8, 16});
    CHECK_REFUSED("etrace_da", 1, VSE_TRUNCATED, "address", {0x62, 8}, {8, 8});
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "another access", {0x61, 8}, {0x0a, 8}); /* store */
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "another access", {0x61, 8},
                  {0x0c, 8}); /* 8 bytes */
    CHECK_REFUSED("etrace_da:data_bytes=4", 1, VSE_CORRUPT, "too wide", {0x61, 8}, {0x0c, 8});
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "from no address", {0x61, 8}, {0x38, 8});
    /* 4 is a multiple of the size; 2^63 times the size is none of its addresses */
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "sent otherwise", {0x62, 8}, {0x89, 16});
    CHECK_REFUSED("etrace_da", 1, VSE_CORRUPT, "sent otherwise", {0x69, 8}, {8, 64}, {0xf0, 8});
    /* a difference where none is sent, and a whole address where one is */
    CHECK_REFUSED("etrace_da:full", 2, VSE_CORRUPT, "sent otherwise", {0x61, 8}, {0x28, 8},
                  {0x61, 8}, {0x18, 8});
    CHECK_REFUSED("etrace_da", 2, VSE_CORRUPT, "sent otherwise", {0x61, 8}, {0x28, 8}, {0x61, 8},
                  {0x28, 8});
    CHECK_REFUSED("etrace_da:shorter", 2, VSE_CORRUPT, "sent otherwise", {0x65, 8},
                  {0x0fffe00029, 40}, {0x65, 8}, {0xf000200078, 40});
}
