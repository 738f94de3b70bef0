/* SPDX-License-Identifier: MIT */
/* What a command found out, as text, CSV and JSON from one list of columns.
 *
 * A row is any struct; a column says what it is called in each output and where its value comes
 * from. A list of columns prints a row as
 *   JSON      an object; groups are objects in it, columns with rows are arrays
 *   CSV       values on a line, groups and all; a column with rows is one value of many, or one
 *             column for each of them
 *   a table   the same on a line, under headings
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
    CELL_TEXT,    /* from outside: quoted in CSV, made safe in text */
    CELL_WORD,    /* ours */
    CELL_COUNT,
    CELL_REAL, /* not finite: unknown */
    CELL_HEX,  /* an address */
    CELL_BOOL,
};

struct cell {
    enum cell_kind kind;
    union {
        const char *text;
        uint64_t count; /* or an address, or whether */
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

/* The rows that belong to a row: elements of an array, or fields whose names are data. */
struct report_rows {
    size_t size; /* of an element, at most REPORT_ROW_MAX */

    /* Fills in the element number i, from 0 up. Returns false if there is none. */
    bool (*at)(const void *row, size_t i, void *element);

    /* Whether JSON and text have it; NULL: all of them. CSV always does. */
    bool (*shown)(const void *element);

    /* In JSON an object, in which the element is called so; NULL: an array. */
    const char *(*name)(const void *element);
};

enum { REPORT_ROW_MAX = 1024 };

/* The last of a list has no name. A column's value is what `get` or `get_by` says, or the row's
 * member at `offset`, of `kind` and `size`. */
struct report_column {
    /* Names; NULL: it is not in that output. JSON: "" is the only one of its list, and has no name:
     * the row is a value and no object. Text: the heading. */
    const char *json, *csv, *text;

    struct cell (*get)(const void *row);
    struct cell (*get_by)(const void *row, const void *by); /* the same, of what is given here: */
    const void *by;
    enum cell_kind kind;
    size_t offset, size;

    /* Columns of the member at `offset`, in JSON an object; or of its `rows`, whose elements they
     * describe. CSV has the elements in one value, with blanks between them and semicolons between
     * lists, or if `spread` each in its own column, called by `csv` and its name. */
    const struct report_column *group;
    const struct report_rows *rows;
    bool spread;

    bool (*when)(const void *row);     /* false: JSON and text leave it out */
    bool (*csv_when)(const void *row); /* false: CSV leaves it out, of all rows */
    bool (*known)(const void *row);    /* false: unknown */

    int json_places; /* decimals in JSON; 0: 6 */
    int csv_place;   /* CSV has the columns of lower places first: what came later stands last */

    int width;          /* in text: right-aligned in so many characters, negative: left-aligned */
    int places;         /* decimals in text */
    bool percent;       /* text has 100 times the value */
    bool plain;         /* text has no commas in it */
    const char *before; /* in a table: what stands before it; NULL: a blank, or nothing if first */
};

/* A member of the row, for the list: REPORT_AT(vs_walk, steps) after its names. */
#define REPORT_SIZE(type, member) sizeof(((struct type *)0)->member)
#define REPORT_IN(type, member)                                                                    \
    .offset = offsetof(struct type, member), .size = REPORT_SIZE(type, member)
#define REPORT_AT(type, member) .kind = CELL_COUNT, REPORT_IN(type, member)

/* Columns that only JSON has, under the name of the member. */
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

/* The row as a JSON value: an object, or the value of the one column without a name. */
void report_json(struct json *j, const char *key, const struct report_column *columns,
                 const void *row);

/* The object by itself, on a line. */
void report_json_line(struct out *o, const struct report_column *columns, const void *row);

/* Lines of CSV; `like` is any row. */
void report_csv_head(struct out *o, const struct report_column *columns, const void *like);
void report_csv(struct out *o, const struct report_column *columns, const void *row);

/* Lines of a table, indented by so many blanks; names and cells are without the line's end. */
void report_table_names(struct out *o, const struct report_column *columns, const void *like,
                        unsigned indent);
void report_table_cells(struct out *o, const struct report_column *columns, const void *row,
                        unsigned indent);
void report_table_head(struct out *o, const struct report_column *columns, const void *like,
                       unsigned indent);
void report_table_row(struct out *o, const struct report_column *columns, const void *row,
                      unsigned indent);

/* One value, as it stands in a table. */
void report_text(struct out *o, const struct report_column *column, const void *row);

/* Prints a text in which {name} stands for a column by its name in JSON, or its heading if it has
 * none there; {>name} for it in its width; {group.name} for one in a group; and {name:thing} for a
 * count of things: "1 thing", "2 things". */
void report_say(struct out *o, const struct report_column *columns, const void *row,
                const char *text);

#endif
