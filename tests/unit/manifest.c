/* SPDX-License-Identifier: MIT */
#include "front/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/json_read.h"
#include "unittest.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The tokens as letters, with the texts of keys, strings and numbers in brackets. */
static void read_all(const char *text, size_t size, char *out, size_t capacity)
{
    static const char letters[] = "B{[.kstTFNE";
    struct json_reader r;
    enum json_token token;
    size_t n = 0;

    json_reader_init(&r, text, size);
    do {
        token = json_next(&r);
        n += (size_t)snprintf(out + n, capacity - n, "%c", letters[token]);
        if (token == JSON_KEY || token == JSON_STRING || token == JSON_NUMBER)
            n += (size_t)snprintf(out + n, capacity - n, "(%s)", (const char *)r.text.data);
        CHECK(n + 2 < capacity);
    } while (token != JSON_BAD && token != JSON_END);
    CHECK(token != JSON_BAD || (r.why && *r.why));
    json_reader_fini(&r);
}

#define CHECK_TOKENS(text, wanted)                                                                 \
    do {                                                                                           \
        char got[512];                                                                             \
        read_all(text, strlen(text), got, sizeof(got));                                            \
        CHECK_STR(got, wanted);                                                                    \
    } while (0)

TEST(reads_every_kind_of_value)
{
    CHECK_TOKENS("7", "t(7)E");
    CHECK_TOKENS(" -1.5e+3 ", "t(-1.5e+3)E");
    CHECK_TOKENS("\"\"", "s()E");
    CHECK_TOKENS("[true,false,null]", "[TFN.E");
    CHECK_TOKENS("{}", "{.E");
    CHECK_TOKENS("[]", "[.E");
    CHECK_TOKENS("{\"a\":[{\"b\":1},[]],\n\"c\":\"d\"}", "{k(a)[{k(b)t(1).[..k(c)s(d).E");
}

TEST(reads_escapes)
{
    CHECK_TOKENS("\"a\\\"\\\\\\/\\n\\t\"", "s(a\"\\/\n\t)E");
    CHECK_TOKENS("\"\\u0041\\u00e9\\u20AC\"", "s(A\xc3\xa9\xe2\x82\xac)E");
    CHECK_TOKENS("\"\\ud83d\\ude00\"", "s(\xf0\x9f\x98\x80)E");
    CHECK_TOKENS("\"\xc3\xa9\"", "s(\xc3\xa9)E");
}

TEST(refuses_what_is_no_json)
{
    static const char *const bad[] = {
        "",
        " ",
        "x",
        "{",
        "[",
        "{]",
        "[}",
        "[1 2]",
        "[,1]",
        "[1,]",
        "{1:2}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "tru",
        "nul",
        "-",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\ud800\\n\"",
        "\"\\udc00\"",
        "\"\n\"",
        "1 2",
        "{}{}",
    };
    char got[512];

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        read_all(bad[i], strlen(bad[i]), got, sizeof(got));
        CHECK_EQ(got[strlen(got) - 1], 'B');
    }
    read_all("\0", 1, got, sizeof(got));
    CHECK_STR(got, "B");
    read_all("7\0", 2, got, sizeof(got));
    CHECK_STR(got, "t(7)B");
}

TEST(bounds_levels)
{
    char deep[64], got[512];

    memset(deep, '[', sizeof(deep));
    read_all(deep, 33, got, sizeof(got));
    CHECK_EQ(strlen(got), 33);
    CHECK_EQ(got[32], 'B');
    memset(deep + 32, ']', 32);
    read_all(deep, 64, got, sizeof(got));
    CHECK_EQ(got[strlen(got) - 1], 'E');
}

TEST(skips_values)
{
    static const char text[] = "{\"a\":[[{\"x\":{}}],1,\"]\"],\"b\":2}";
    struct json_reader r;

    json_reader_init(&r, text, strlen(text));
    CHECK_EQ(json_next(&r), JSON_OBJECT);
    CHECK_EQ(json_next(&r), JSON_KEY);
    CHECK(json_skip(&r, json_next(&r)));
    CHECK_EQ(json_next(&r), JSON_KEY);
    CHECK_STR((const char *)r.text.data, "b");
    CHECK(json_skip(&r, json_next(&r)));
    CHECK_EQ(json_next(&r), JSON_CLOSE);
    CHECK_EQ(json_next(&r), JSON_END);
    json_reader_fini(&r);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void make_folder(char path[32])
{
    strcpy(path, "/tmp/manifest-XXXXXX");
    CHECK(mkdtemp(path));
}

static void touch(const char *folder, const char *name)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    CHECK(f);
    CHECK_EQ(fclose(f), 0);
}

static struct manifest two(void)
{
    struct manifest m = {0};

    CHECK_EQ(manifest_grow(&m, 2), 0);
    m.list[0].pid = 100;
    m.list[0].file = strdup("1.vest");
    m.list[0].command = strdup("a 'b\n\"' \xff");
    m.list[1].parent = 1;
    m.list[1].pid = 101;
    m.list[1].exit = 137;
    m.list[1].exit_known = true;
    m.list[1].incomplete = strdup("killed before it began");
    return m;
}

TEST(reads_what_it_writes)
{
    struct manifest m = two(), again;
    struct vs_diag d = {0};
    char folder[32];

    make_folder(folder);
    CHECK_EQ(manifest_there(folder, &d), 0);
    CHECK_EQ(manifest_write(&m, folder, &d), 0);
    CHECK_EQ(manifest_there(folder, &d), 1);
    CHECK_EQ(manifest_write(&m, folder, &d), 0);
    CHECK_EQ(manifest_read(&again, folder, &d), 0);
    CHECK_EQ(again.count, 2);
    CHECK_EQ(again.list[0].parent, 0);
    CHECK_EQ(again.list[0].pid, 100);
    CHECK_STR(again.list[0].file, "1.vest");
    CHECK_STR(again.list[0].command, "a 'b\n\"' \xef\xbf\xbd");
    CHECK_EQ(again.list[1].process, 2);
    CHECK_EQ(again.list[1].parent, 1);
    CHECK(!again.list[1].file);
    CHECK_EQ(manifest_clear(folder, &d), 0);
    CHECK_EQ(rmdir(folder), 0);
    manifest_fini(&again);
    manifest_fini(&m);
}

TEST(finds_runs_by_their_names)
{
    static const char *const names[] = {
        "1.vest",  "10.vest", "2.vest.partial",         "3.vest",     "3.vest.partial", "04.vest",
        "5.vest2", "-6.vest", "7.vest.partial.partial", "99999.vest", "0.vest",         "x.vest"};
    struct vs_diag d = {0};
    struct manifest m;
    char folder[32], path[128];

    make_folder(folder);
    CHECK_ERR(manifest_read(&m, folder, &d), VSE_NOTFOUND);
    manifest_fini(&m);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        touch(folder, names[i]);
    CHECK_EQ(manifest_read(&m, folder, &d), 0);
    CHECK_EQ(m.count, 10);
    CHECK_STR(m.list[0].file, "1.vest");
    CHECK_STR(m.list[1].file, "2.vest.partial");
    CHECK_STR(m.list[2].file, "3.vest");
    for (size_t i = 3; i < 9; i++)
        CHECK(!m.list[i].file);
    CHECK_STR(m.list[9].file, "10.vest");
    manifest_fini(&m);
    /* Only these are ours to remove. */
    CHECK_EQ(manifest_clear(folder, &d), 0);
    CHECK_EQ(manifest_there(folder, &d), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        CHECK_EQ(unlink(path) == 0, i >= 5);
    }
    CHECK_EQ(rmdir(folder), 0);
}

TEST(says_which_folder_cannot_be_read)
{
    struct vs_diag d = {0};
    struct manifest m;

    CHECK_ERR(manifest_read(&m, "/nowhere/none", &d), VSE_IO);
    CHECK_HAS(d.text, "/nowhere/none");
    manifest_fini(&m);
}

TEST(refuses_every_part_and_survives_every_change)
{
    static const char text[] =
        "{\"version\":1,\"processes\":[{\"process\":1,\"pid\":5,\"file\":"
        "\"1.vest\",\"command\":\"a\\u00e9\"},{\"process\":2,\"parent\":1}]}";
    char changed[sizeof(text)];
    struct vs_diag d = {0};
    struct manifest m;

    CHECK_EQ(manifest_parse(&m, text, sizeof(text) - 1, &d), 0);
    manifest_fini(&m);
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        CHECK_ERR(manifest_parse(&m, text, n, &d), VSE_CORRUPT);
        CHECK_HAS(d.text, "manifest.json, line 1: ");
        manifest_fini(&m);
    }
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(changed, text, sizeof(text));
            changed[i] = (char)(changed[i] ^ 1 << bit);
            int e = manifest_parse(&m, changed, sizeof(text) - 1, &d);
            CHECK(e == 0 || e == -VSE_CORRUPT);
            manifest_fini(&m);
        }
}
