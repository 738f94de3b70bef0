/* SPDX-License-Identifier: MIT */
#include "base/scratch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "unittest.h"

#define MIB ((size_t)1 << 20)

static void check_bytes(const char *folder)
{
    struct vs_scratch s;
    CHECK_EQ(vs_scratch_open(&s, folder, NULL), 0);
    uint8_t *data = s.data;
    CHECK_EQ(vs_scratch_reach(&s, 1), 0);
    CHECK_EQ(data[0], 0);
    data[0] = 1;
    CHECK_EQ(vs_scratch_reach(&s, 40 * MIB), 0);
    CHECK_EQ(data[40 * MIB - 1], 0);
    data[40 * MIB - 1] = 2;
    vs_scratch_rest(&s);
    CHECK(s.data == data);
    CHECK_EQ(data[0], 1);
    CHECK_EQ(data[40 * MIB - 1], 2);
    memset(data + 2 * MIB, 3, 2 * MIB);
    vs_scratch_free(&s, 2 * MIB + 1, 4 * MIB - 1); /* not the pages at both ends */
    CHECK_EQ(data[2 * MIB], 3);
    CHECK_EQ(data[4 * MIB - 1], 3);
    CHECK_EQ(data[3 * MIB], folder ? 3 : 0);
    CHECK_ERR(vs_scratch_reach(&s, s.room + 1), VSE_NOMEM);
    vs_scratch_close(&s);
}

TEST(keeps_bytes_in_memory)
{
    check_bytes(NULL);
}

TEST(keeps_bytes_in_a_file)
{
    check_bytes(unittest_folder());
}

TEST(refuses_a_folder_that_is_not_there)
{
    struct vs_scratch s;
    struct vs_diag diag;
    CHECK_ERR(vs_scratch_open(&s, "/nonexistent", &diag), VSE_IO);
    CHECK_STR(diag.text, "cannot make a file in /nonexistent: No such file or directory");
}

TEST(notices_that_a_file_cannot_grow)
{
    const struct rlimit limit = {20 * MIB, 20 * MIB};
    struct vs_scratch s;
    CHECK_EQ(vs_scratch_open(&s, unittest_folder(), NULL), 0);
    CHECK_EQ(vs_scratch_reach(&s, 1), 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_ERR(vs_scratch_reach(&s, 30 * MIB), VSE_IO);
    CHECK_EQ(s.error, EFBIG);
    s.data[0] = 1; /* what was there before can be used */
    vs_scratch_close(&s);
}
