/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include <errno.h>
#include <string.h>

#include "unittest.h"

TEST(stores_what_it_is_given)
{
    struct vs_diag d;
    CHECK_ERR(vs_diag_set(&d, -VSE_CORRUPT, 1234, 5, "bad kind %d", 7), VSE_CORRUPT);
    CHECK_EQ(d.error, -VSE_CORRUPT);
    CHECK_EQ(d.offset, 1234);
    CHECK_EQ(d.chunk, 5);
    CHECK_STR(d.text, "bad kind 7");
}

TEST(accepts_no_diag)
{
    CHECK_ERR(vs_diag_set(NULL, -VSE_LIMIT, 0, 0, "x"), VSE_LIMIT);
    CHECK_ERR(vs_diag_io(NULL, "open", "file"), VSE_IO);
}

TEST(cuts_long_text)
{
    struct vs_diag d;
    char longer[sizeof(d.text) + 100];
    memset(longer, 'a', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    vs_diag_set(&d, -VSE_INVAL, -1, -1, "%s", longer);
    CHECK_EQ(strlen(d.text), sizeof(d.text) - 1);
}

TEST(replaces_control_characters)
{
    struct vs_diag d;
    vs_diag_set(&d, -VSE_INVAL, -1, -1, "%s", "a\nb\rc\x1b[2J\x7f\t\x01 z");
    CHECK_STR(d.text, "a?b?c?[2J??? z");
    vs_diag_set(&d, -VSE_INVAL, -1, -1, "%s", "a\xc2\x85z\xc2\x9b");
    CHECK_STR(d.text, "a??z??");
}

TEST(keeps_other_utf8)
{
    struct vs_diag d;
    vs_diag_set(&d, -VSE_INVAL, -1, -1, "%s", "\xc3\xa9\xc2\xa0\xe2\x82\xac\xc2");
    CHECK_STR(d.text, "\xc3\xa9\xc2\xa0\xe2\x82\xac\xc2");
}

TEST(wraps_its_own_text)
{
    struct vs_diag d;
    vs_diag_set(&d, -VSE_CORRUPT, 10, 2, "inner");
    vs_diag_set(&d, d.error, d.offset, 3, "outer: %s", d.text);
    CHECK_STR(d.text, "outer: inner");
    CHECK_EQ(d.offset, 10);
    CHECK_EQ(d.chunk, 3);
}

TEST(tells_the_reason_of_errno)
{
    struct vs_diag d;
    errno = ENOENT;
    CHECK_ERR(vs_diag_io(&d, "open", "some/file"), VSE_IO);
    CHECK_STR(d.text, "open some/file: No such file or directory");
    CHECK_EQ(d.error, -VSE_IO);
    CHECK_EQ(d.offset, -1);
    CHECK_EQ(d.chunk, -1);
}

TEST(keeps_the_reason_after_a_long_path)
{
    struct vs_diag d;
    char path[1000];
    memset(path, 'p', sizeof(path));
    strcpy(path + sizeof(path) - 9, "/the.end");
    errno = EACCES;
    vs_diag_io(&d, "open", path);
    CHECK_EQ(strncmp(d.text, "open ...ppp", 11), 0);
    CHECK_HAS(d.text, "p/the.end: Permission denied");
    CHECK_EQ(strlen(d.text), sizeof(d.text) - 1);
}

TEST(lists_words_as_far_as_there_is_room)
{
    char list[24] = "";

    vs_list_word(list, sizeof(list), "one");
    CHECK_STR(list, "one");
    vs_list_word(list, sizeof(list), "two");
    vs_list_word(list, sizeof(list), "three");
    CHECK_STR(list, "one, two, three");
    vs_list_word(list, sizeof(list), "four");
    CHECK_STR(list, "one, two, three, ...");
    vs_list_word(list, sizeof(list), "x");
    CHECK_STR(list, "one, two, three, ...");
}
