/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

#include "unittest.h"

static const uint8_t sample[] = {0xee, 0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88};

TEST(loads_little_endian_at_odd_addresses)
{
    CHECK_EQ(vs_get16(sample + 1), 0x8201);
    CHECK_EQ(vs_get32(sample + 1), 0x84038201u);
    CHECK_EQ(vs_get64(sample + 1), 0x8807860584038201u);
}

TEST(stores_little_endian_and_nothing_else)
{
    uint8_t bytes[10];
    memset(bytes, 0xee, sizeof(bytes));
    vs_put64(bytes + 1, 0x8807860584038201u);
    CHECK_MEM(bytes, sample, 9);
    CHECK_EQ(bytes[9], 0xee);
    memset(bytes, 0xee, sizeof(bytes));
    vs_put32(bytes + 1, 0x84038201u);
    CHECK_MEM(bytes, sample, 5);
    CHECK_EQ(bytes[5], 0xee);
    memset(bytes, 0xee, sizeof(bytes));
    vs_put16(bytes + 1, 0x8201);
    CHECK_MEM(bytes, sample, 3);
    CHECK_EQ(bytes[3], 0xee);
}
