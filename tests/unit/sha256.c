/* SPDX-License-Identifier: MIT */
/* SHA-256 against the examples of its standard, however the data is cut. */
#include "base/sha256.h"

#include <string.h>

#include "unittest.h"

static void digest(char text[VS_SHA256_TEXT], const char *data, size_t size, size_t piece)
{
    struct vs_sha256 s;
    vs_sha256_init(&s);
    for (size_t at = 0; at < size; at += piece)
        vs_sha256_add(&s, data + at, size - at < piece ? size - at : piece);
    vs_sha256_end(&s, text);
}

TEST(gives_the_published_digests)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char text[VS_SHA256_TEXT];
    digest(text, "", 0, 1);
    CHECK_STR(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest(text, "abc", 3, 3);
    CHECK_STR(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest(text, two_blocks, strlen(two_blocks), 100);
    CHECK_STR(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(does_not_care_how_the_data_is_cut)
{
    static char data[1000];
    char whole[VS_SHA256_TEXT], text[VS_SHA256_TEXT];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(i * 7);
    for (size_t size = 0; size < sizeof(data); size += 37) {
        digest(whole, data, size, sizeof(data));
        for (size_t piece = 1; piece < 130; piece += 3) {
            digest(text, data, size, piece);
            CHECK_STR(text, whole);
        }
    }
}

TEST(tells_two_strings_from_one)
{
    char a[VS_SHA256_TEXT], b[VS_SHA256_TEXT];
    struct vs_sha256 s;
    vs_sha256_init(&s);
    vs_sha256_add_text(&s, "ab");
    vs_sha256_add_text(&s, "c");
    vs_sha256_end(&s, a);
    vs_sha256_init(&s);
    vs_sha256_add_text(&s, "a");
    vs_sha256_add_text(&s, "bc");
    vs_sha256_end(&s, b);
    CHECK(strcmp(a, b) != 0);
}

TEST(reports_a_file_that_is_not_there)
{
    char text[VS_SHA256_TEXT];
    CHECK_ERR(vs_sha256_file("/nonexistent", text, NULL), VSE_IO);
}
