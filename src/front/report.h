/* SPDX-License-Identifier: MIT */
/* What a command found out, as text, CSV and JSON from one list of columns.
 *
 * A row is any struct; a column says what it is called in each output and where its value comes
 * from. A list of columns prints a row as
 *   JSON      an object, in which groups are objects and columns with rows are arrays
 *   CSV       values on a line, including those of groups; a column with rows is one value for all
 *             of them, or a column for each
 *   a table   a line of values under headings
 *   sentences that name columns
 * so that a figure has one definition, whoever prints it. Counts are exact in all of them. */
#ifndef FRONT_REPORT_H
#define FRONT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/json.h"
#include "front/out.h"

enum cell_kind {
    CELL_UNKNOWN, /* null; nothing in CSV, "-" in text */
    CELL_TEXT,    /* from outside: it is quoted in CSV and made safe in text */
    CELL_WORD,    /* one of our own words */
    CELL_COUNT,
    CELL_REAL, /* if it is not finite, it is unknown */
    CELL_HEX,  /* an address */
    CELL_BOOL,
};

struct cell {
    enum cell_kind kind;
    union {
        const char *text;
        uint64_t count; /* or an address, or a truth value */
        double real;
    };
};

static inline struct cell cell_text(const char *text)
{
    return (struct cell){.kind = text ? CELL_TEXT : CELL_UNKNOWN, .text = text};
}

static inline struct cell cell_word(const char *text)
{
    return (struct cell){.kind = text ? CELL_WORD : CELL_UNKNOWN, .text = text};
}

static inline struct cell cell_count(uint64_t count)
{
    return (struct cell){.kind = CELL_COUNT, .count = count};
}

static inline struct cell cell_bool(bool value)
{
    return (struct cell){.kind = CELL_BOOL, .count = value};
}

struct cell cell_real(double value);

/* a / b; unknown if b is 0. */
struct cell cell_ratio(uint64_t a, uint64_t b);

/* Rows within a row: an array's elements, or fields whose names are data. */
struct report_rows {
    size_t size; /* an element's, at most REPORT_ROW_MAX */

    /* Fills in element number i, from 0 up. Returns false if there is none. */
    bool (*at)(const void *row, size_t i, void *element);

    /* Whether JSON and text have the element; NULL if they have all of them. CSV always does. */
    bool (*shown)(const void *element);

    /* The element's name if the rows are an object in JSON; NULL if they are an array. */
    const char *(*name)(const void *element);
};

enum { REPORT_ROW_MAX = 1024 };

/* A list ends with a column without a name. A column's value is what `get` or `get_by` says, or the
 * row's member at `offset`, of `kind` and `size`. */
struct report_column {
    /* The column's names; NULL if it is not in that output. In JSON, "" is for the only column of
     * its list, which has no name: the row is then a value and no object. In text, the name is the
     * heading. */
    const char *json, *csv, *text;

    struct cell (*get)(const void *row);
    struct cell (*get_by)(const void *row, const void *by); /* likewise, with what is given here: */
    const void *by;
    enum cell_kind kind;
    size_t offset, size;

    /* The columns of the member at `offset`, which is an object in JSON; or those of `rows`, whose
     * elements they describe. CSV has the elements in one value, with blanks between them and
     * semicolons between lists or, if `spread` is set, each in its own column, whose name is made
     * of `csv` and the element's name. */
    const struct report_column *group;
    const struct report_rows *rows;
    bool spread;

    bool (*when)(const void *row);     /* if false, JSON and text leave it out */
    bool (*csv_when)(const void *row); /* if false, CSV leaves it out of all rows */
    bool (*known)(const void *row);    /* if false, the value is unknown */

    int json_places; /* decimals in JSON; 0: 6 */
    int csv_place;   /* CSV has the columns of lower places first, so that columns added later stand
                      * last */

    int width;          /* in text: right-aligned in so many characters; left-aligned if negative */
    int places;         /* decimals in text */
    bool percent;       /* text shows 100 times the value */
    bool plain;         /* text has no commas in the number */
    const char *before; /* what precedes it in a table; NULL: a blank, or nothing if first */
};

/* Describes a member of the row, after the column's names: REPORT_AT(vs_walk, steps). */
#define REPORT_SIZE(type, member) sizeof(((struct type *)0)->member)
#define REPORT_IN(type, member)                                                                    \
    .offset = offsetof(struct type, member), .size = REPORT_SIZE(type, member)
#define REPORT_AT(type, member) .kind = CELL_COUNT, REPORT_IN(type, member)

/* Columns that only JSON has, under the member's name. */
#define REPORT_COUNT(type, member)                                                                 \
    {                                                                                              \
        .json = #member, REPORT_AT(type, member)                                                   \
    }
#define REPORT_TEXT(type, member)                                                                  \
    {                                                                                              \
        .json = #member, .kind = CELL_TEXT, REPORT_IN(type, member)                                \
    }
#define REPORT_WORD(type, member)                                                                  \
    {                                                                                              \
        .json = #member, .kind = CELL_WORD, REPORT_IN(type, member)                                \
    }

/* The value that a column has in a row. */
struct cell report_cell(const struct report_column *column, const void *row);

/* Prints the row as a JSON value: an object, or the value of the one column without a name. */
void report_json(struct json *j, const char *key, const struct report_column *columns,
                 const void *row);

/* Prints the object by itself, on a line. */
void report_json_line(struct out *o, const struct report_column *columns, const void *row);

/* Print lines of CSV; `like` is any row. */
void report_csv_head(struct out *o, const struct report_column *columns, const void *like);
void report_csv(struct out *o, const struct report_column *columns, const void *row);

/* Print lines of a table, indented by so many blanks; names and cells come without the line's
 * end. */
void report_table_names(struct out *o, const struct report_column *columns, const void *like,
                        unsigned indent);
void report_table_cells(struct out *o, const struct report_column *columns, const void *row,
                        unsigned indent);
void report_table_head(struct out *o, const struct report_column *columns, const void *like,
                       unsigned indent);
void report_table_row(struct out *o, const struct report_column *columns, const void *row,
                      unsigned indent);

/* Prints one value, as it stands in a table. */
void report_text(struct out *o, const struct report_column *column, const void *row);

/* Prints a text in which {name} stands for the column with that name in JSON, or with that heading
 * if it has none there; {>name} stands for it in its width, {group.name} for one in a group, and
 * {name:thing} for a count of things: "1 thing", "2 things". */
void report_say(struct out *o, const struct report_column *columns, const void *row,
                const char *text);

#endif
