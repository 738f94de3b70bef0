/* SPDX-License-Identifier: MIT */
#include "base/infile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unittest.h"

/* A file that holds these bytes, and has no name any more. */
static int file_of(const void *bytes, size_t size)
{
    char path[] = "/tmp/infile-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(write(fd, bytes, size), (ssize_t)size);
    CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void check_line(struct vs_infile *f, const char *wanted)
{
    struct vs_diag d = {0};
    CHECK_EQ(vs_infile_line(f, &d), (int64_t)strlen(wanted));
    CHECK_STR((const char *)f->text.data, wanted);
}

TEST(reads_lines_with_and_without_an_end)
{
    static const char text[] = "first\n\n third\nlast";
    struct vs_infile f;
    vs_infile_init(&f, file_of(text, sizeof(text) - 1));
    check_line(&f, "first");
    check_line(&f, "");
    check_line(&f, " third");
    check_line(&f, "last");
    CHECK_EQ(f.line, 4);
    CHECK_ERR(vs_infile_line(&f, NULL), VSE_END);
    CHECK_EQ(f.line, 4);
    vs_infile_close(&f);
    vs_infile_close(&f);
}

TEST(joins_lines_across_buffers)
{
    enum { SIZE = 3 * VS_INFILE_BUFFER + 7 };
    char *text = malloc(SIZE + 1);
    struct vs_infile f;
    CHECK(text);
    memset(text, 'x', SIZE);
    text[VS_INFILE_BUFFER - 1] = '\n'; /* the end is the last byte of a buffer */
    text[SIZE] = '\n';
    vs_infile_init(&f, file_of(text, SIZE + 1));
    CHECK_EQ(vs_infile_line(&f, NULL), VS_INFILE_BUFFER - 1);
    CHECK_EQ(vs_infile_line(&f, NULL), SIZE - VS_INFILE_BUFFER);
    CHECK_ERR(vs_infile_line(&f, NULL), VSE_END);
    vs_infile_close(&f);
    free(text);
}

TEST(refuses_lines_that_are_too_long)
{
    enum { SIZE = VS_INFILE_LINE_MAX + 1 };
    char *text = malloc(SIZE);
    struct vs_infile f;
    struct vs_diag d;
    CHECK(text);
    memset(text, 'x', SIZE);
    vs_infile_init(&f, file_of(text, SIZE - 1));
    CHECK_EQ(vs_infile_line(&f, NULL), SIZE - 1);
    vs_infile_close(&f);
    vs_infile_init(&f, file_of(text, SIZE));
    CHECK_ERR(vs_infile_line(&f, &d), VSE_LIMIT);
    CHECK_STR(d.text, "line 1 is too long");
    vs_infile_close(&f);
    free(text);
}

TEST(reads_bytes_as_far_as_there_are_any)
{
    struct vs_infile f;
    char bytes[8] = "";
    vs_infile_init(&f, file_of("abcdefg", 7));
    CHECK_EQ(vs_infile_peek(&f, NULL), 'a');
    CHECK_EQ(vs_infile_bytes(&f, bytes, 3, NULL), 3);
    CHECK_MEM(bytes, "abc", 3);
    CHECK_EQ(vs_infile_peek(&f, NULL), 'd');
    CHECK_EQ(vs_infile_bytes(&f, bytes, 8, NULL), 4);
    CHECK_MEM(bytes, "defg", 4);
    CHECK_EQ(vs_infile_bytes(&f, bytes, 8, NULL), 0);
    CHECK_ERR(vs_infile_peek(&f, NULL), VSE_END);
    vs_infile_close(&f);
}

TEST(tells_an_error_from_an_end)
{
    struct vs_infile f;
    struct vs_diag d;
    char byte;
    CHECK_ERR(vs_infile_open(&f, "/nothing/here", &d), VSE_IO);
    CHECK_HAS(d.text, "open /nothing/here: No such file");
    vs_infile_close(&f);
    CHECK_EQ(vs_infile_open(&f, "/", NULL), 0); /* a directory, which cannot be read */
    CHECK_ERR(vs_infile_line(&f, &d), VSE_IO);
    CHECK_STR(d.text, "cannot read it: Is a directory");
    CHECK_ERR(vs_infile_bytes(&f, &byte, 1, &d), VSE_IO);
    CHECK_ERR(vs_infile_peek(&f, &d), VSE_IO);
    vs_infile_close(&f);
}
