/* SPDX-License-Identifier: MIT */
#include "rerun/whole_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/random.h"
#include "unittest.h"

#define BASE UINT64_C(0x7fff00000000)

static uint8_t byte_at(struct vs_whole_memory *m, uint64_t addr)
{
    uint8_t byte;
    CHECK_EQ(vs_whole_get(m, addr, &byte, 1), 0);
    return byte;
}

/* Writes, reads and clearing of any size and place, against an array. */
TEST(is_an_array_of_bytes)
{
    static uint8_t plain[8 * VS_PAGE_SIZE];
    static struct vs_whole_memory m;
    uint8_t bytes[3000];
    uint64_t state = 1;
    for (unsigned i = 0; i < 3000; i++) {
        size_t at = vs_random(&state) % (sizeof(plain) - sizeof(bytes));
        size_t size = vs_random(&state) % (i % 3 ? 40 : sizeof(bytes));
        bool code = false;
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)vs_random(&state);
        if (vs_random(&state) % 8 == 0) {
            memset(plain + at, 0, 4 * size < sizeof(plain) - at ? 4 * size : sizeof(plain) - at);
            vs_whole_clear(&m, BASE + at,
                           4 * size < sizeof(plain) - at ? 4 * size : sizeof(plain) - at);
        } else {
            memcpy(plain + at, bytes, size);
            CHECK_EQ(vs_whole_put(&m, BASE + at, bytes, size, &code), 0);
            CHECK(!code);
        }
        at = vs_random(&state) % (sizeof(plain) - sizeof(bytes));
        CHECK_EQ(vs_whole_get(&m, BASE + at, bytes, size), 0);
        CHECK_MEM(bytes, plain + at, size);
    }
    vs_whole_fini(&m);
}

TEST(clears_much_more_than_there_is)
{
    static struct vs_whole_memory m;
    bool code = false;
    CHECK_EQ(vs_whole_put(&m, 0x1000, "ab", 2, &code), 0);
    CHECK_EQ(vs_whole_put(&m, UINT64_C(1) << 46, "cd", 2, &code), 0);
    vs_whole_clear(&m, 0x10000, UINT64_C(1) << 45);
    CHECK_EQ(byte_at(&m, 0x1000), 'a');
    CHECK_EQ(byte_at(&m, UINT64_C(1) << 46), 'c');
    vs_whole_clear(&m, 0, UINT64_C(1) << 47);
    CHECK_EQ(byte_at(&m, 0x1001), 0);
    CHECK_EQ(byte_at(&m, UINT64_C(1) << 46), 0);
    vs_whole_fini(&m);
}

TEST(tells_when_code_is_written)
{
    static struct vs_whole_memory m;
    bool code = false;
    vs_whole_page(&m, BASE / VS_PAGE_SIZE + 1)->code = true;
    CHECK_EQ(vs_whole_put(&m, BASE + VS_PAGE_SIZE - 2, "ab", 2, &code), 0);
    CHECK(!code);
    CHECK_EQ(vs_whole_put(&m, BASE + VS_PAGE_SIZE - 1, "ab", 2, &code), 0);
    CHECK(code);
    vs_whole_fini(&m);
}

/* ---- content --------------------------------------------------------------------------------- */

static int content(struct vs_whole_memory *m, unsigned flags, uint64_t addr, const void *payload,
                   size_t size, struct vs_diag *diag)
{
    struct vs_event e = {
        .kind = VS_CONTENT, .flags = (uint8_t)flags, .addr = addr, .size = (uint16_t)size};
    return vs_whole_content(m, &e, payload, diag);
}

/* More pages than are listed at a time, and others around them. */
TEST(begins_anew)
{
    static struct vs_whole_memory m;
    const uint64_t length = UINT64_C(1) << 40;
    bool code = false;
    for (uint64_t i = 0; i < 3000; i++)
        CHECK_EQ(vs_whole_put(&m, BASE + 3 * i * VS_PAGE_SIZE, "x", 1, &code), 0);
    CHECK_EQ(vs_whole_put(&m, BASE + length, "y", 1, &code), 0);
    CHECK_EQ(vs_whole_put(&m, BASE - 1, "z", 1, &code), 0);
    CHECK_EQ(content(&m, VS_CONTENT_ANEW, BASE, &length, sizeof(length), NULL), 0);
    CHECK_EQ(m.pages.count, 2);
    CHECK_EQ(byte_at(&m, BASE + 3 * VS_PAGE_SIZE), 0);
    CHECK_EQ(byte_at(&m, BASE + length), 'y');
    CHECK_EQ(byte_at(&m, BASE - 1), 'z');
    vs_whole_fini(&m);
}

TEST(moves_content)
{
    static struct vs_whole_memory m;
    struct vs_content_moved moved = {BASE, UINT64_C(1) << 40};
    bool code = false;
    CHECK_EQ(vs_whole_put(&m, BASE + 2 * VS_PAGE_SIZE + 100, "xyz", 3, &code), 0);
    CHECK_EQ(content(&m, VS_CONTENT_MOVED, 0x5000, &moved, sizeof(moved), NULL), 0);
    CHECK_EQ(byte_at(&m, 0x5000 + 2 * VS_PAGE_SIZE + 102), 'z');
    CHECK_EQ(byte_at(&m, 0x5000), 0);
    moved.from++;
    CHECK_ERR(content(&m, VS_CONTENT_MOVED, 0x5000, &moved, sizeof(moved), NULL), VSE_CORRUPT);
    vs_whole_fini(&m);
}

TEST(ends_at_its_limit)
{
    static struct vs_whole_memory m = {.limit = 2};
    bool code = false;
    CHECK_EQ(vs_whole_put(&m, BASE, "a", 1, &code), 0);
    CHECK_EQ(vs_whole_put(&m, BASE + VS_PAGE_SIZE, "a", 1, &code), 0);
    CHECK_ERR(vs_whole_put(&m, BASE + 2 * VS_PAGE_SIZE, "a", 1, &code), VSE_NOMEM);
    CHECK_EQ(byte_at(&m, BASE), 'a');
    vs_whole_fini(&m);
}

TEST(takes_files_only_as_they_were)
{
    static struct vs_whole_memory m;
    char name[] = "/tmp/whole_memory.XXXXXX";
    int fd = mkstemp(name);
    uint8_t payload[sizeof(struct vs_content_file) + sizeof(name)];
    struct vs_content_file file = {.offset = 2, .length = 100, .crc = vs_crc32c(0, "cdef", 4)};
    size_t size = sizeof(file) + strlen(name);
    struct vs_diag diag = {0};
    CHECK(fd >= 0 && write(fd, "abcdef", 6) == 6);
    memcpy(payload, &file, sizeof(file));
    memcpy(payload + sizeof(file), name, strlen(name));
    CHECK_EQ(content(&m, VS_CONTENT_FILE, 0x4fff, payload, size, &diag), 0);
    CHECK_EQ(byte_at(&m, 0x4fff), 'c');
    CHECK_EQ(byte_at(&m, 0x5002), 'f');
    CHECK_EQ(byte_at(&m, 0x5003), 0);
    CHECK(pwrite(fd, "X", 1, 3) == 1);
    CHECK_ERR(content(&m, VS_CONTENT_FILE, 0x4fff, payload, size, &diag), VSE_CHECKSUM);
    CHECK_HAS(diag.text, "its bytes from 2 on differ");
    CHECK_EQ(close(fd), 0);
    CHECK_EQ(unlink(name), 0);
    CHECK_ERR(content(&m, VS_CONTENT_FILE, 0x4fff, payload, size, &diag), VSE_IO);
    CHECK_HAS(diag.text, "cannot be read");
    vs_whole_fini(&m);
}
