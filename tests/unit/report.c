/* SPDX-License-Identifier: MIT */
/* One list of columns as JSON, CSV, a table and sentences. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "front/report.h"
#include "unittest.h"

struct part {
    const char *name;
    uint64_t count;
};

struct whole {
    const char *file;
    uint64_t bits;
    uint32_t instructions;
    bool timed;
    double rate;
    uint64_t start;
    struct part parts[3];
    size_t part_count;
};

static bool part_at(const void *row, size_t i, void *element)
{
    const struct whole *w = row;
    if (i < w->part_count)
        *(struct part *)element = w->parts[i];
    return i < w->part_count;
}

static bool part_shown(const void *element)
{
    return ((const struct part *)element)->count;
}

static const char *part_name(const void *element)
{
    return ((const struct part *)element)->name;
}

static struct cell bpi(const void *row)
{
    const struct whole *w = row;
    return cell_ratio(w->bits, w->instructions);
}

static struct cell times(const void *row, const void *by)
{
    return cell_count(((const struct whole *)row)->bits * *(const unsigned *)by);
}

static bool is_timed(const void *row)
{
    return ((const struct whole *)row)->timed;
}

static const unsigned three = 3;

static const struct report_rows named = {
    .size = sizeof(struct part), .at = part_at, .shown = part_shown, .name = part_name};
static const struct report_rows listed = {.size = sizeof(struct part), .at = part_at};

static const struct report_column part_columns[] = {
    {.json = "", REPORT_AT(part, count)},
    {0},
};

static const struct report_column group_columns[] = {
    {.json = "bpi", .csv = "bpi", .text = "bits/ins", .get = bpi, .width = 9, .places = 3},
    {.json = "rate", .csv = "rate", .kind = CELL_REAL, REPORT_IN(whole, rate), .json_places = 2},
    {0},
};

static const struct report_column columns[] = {
    {.json = "file", .csv = "file", .text = "file", .kind = CELL_TEXT, REPORT_IN(whole, file)},
    {.json = "bits", .csv = "bits", .text = "bits", REPORT_AT(whole, bits), .width = 7},
    {.json = "instructions", .csv = "late", REPORT_AT(whole, instructions), .csv_place = 1},
    {.json = "start", .kind = CELL_HEX, REPORT_IN(whole, start)},
    {.json = "timed", .kind = CELL_BOOL, REPORT_IN(whole, timed)},
    {.json = "cycles", .csv = "cycles", REPORT_AT(whole, bits), .known = is_timed},
    {.json = "only", REPORT_AT(whole, bits), .when = is_timed},
    {.csv = "never", REPORT_AT(whole, bits), .csv_when = is_timed},
    {.json = "group", .group = group_columns},
    {.json = "parts", .csv = "part_", .rows = &named, .group = part_columns, .spread = true},
    {.json = "list", .csv = "list", .rows = &listed, .group = part_columns},
    {.text = "thrice", .get_by = times, .by = &three, .width = -8},
    {0},
};

static const struct whole row = {.file = "a\"b",
                                 .bits = 1234,
                                 .instructions = 10,
                                 .rate = NAN,
                                 .start = 0xabc,
                                 .parts = {{"x", 5}, {"y", 0}, {"z", 7}},
                                 .part_count = 3};

/* What was printed since the pipe was made. */
static const char *printed(struct out *o, int from)
{
    static char text[4096];
    out_flush(o);
    close(o->fd);
    ssize_t n = read(from, text, sizeof(text) - 1);
    close(from);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static int pipe_to(struct out *o)
{
    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    out_init(o, fds[1]);
    return fds[0];
}

TEST(prints_an_object)
{
    struct out o;
    int from = pipe_to(&o);
    report_json_line(&o, columns, &row);
    CHECK_STR(printed(&o, from),
              "{\"file\":\"a\\\"b\",\"bits\":1234,\"instructions\":10,\"start\":\"0xabc\","
              "\"timed\":false,\"cycles\":null,\"group\":{\"bpi\":123.400000,\"rate\":null},"
              "\"parts\":{\"x\":5,\"z\":7},\"list\":[5,0,7]}\n");
}

TEST(prints_lines_of_values)
{
    struct out o;
    int from = pipe_to(&o);
    report_csv_head(&o, columns, &row);
    report_csv(&o, columns, &row);
    CHECK_STR(printed(&o, from), "file,bits,cycles,bpi,rate,part_x,part_y,part_z,list,late\n"
                                 "\"a\"\"b\",1234,,123.400000,,5,0,7,5 0 7,10\n");
}

TEST(prints_a_table)
{
    struct whole none = row;
    struct out o;
    int from = pipe_to(&o);
    none.instructions = 0;
    report_table_head(&o, columns, &row, 2);
    report_table_row(&o, columns, &row, 2);
    report_table_row(&o, columns, &none, 2);
    CHECK_STR(printed(&o, from), "  file    bits  bits/ins thrice  \n"
                                 "  a\"b   1,234   123.400 3,702   \n"
                                 "  a\"b   1,234         - 3,702   \n");
}

TEST(says_sentences)
{
    struct whole one = row;
    struct out o;
    int from = pipe_to(&o);
    one.bits = 1;
    report_say(&o, columns, &row,
               "{file}: {bits:bit}, {>bits} in {group.bpi}; {thrice} {cycles}\n");
    report_say(&o, columns, &one, "{bits:bit}");
    CHECK_STR(printed(&o, from), "a\"b: 1,234 bits,   1,234 in 123.400; 3,702 -\n1 bit");
}
