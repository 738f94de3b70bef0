/* SPDX-License-Identifier: MIT */
/* What sort sorts, and by what. Comparators whose last resort is the id leave no ties. */
#ifndef SORT_RECORDS_H
#define SORT_RECORDS_H

#include <stdint.h>
#include <string.h>

typedef int compare_fn(const void *a, const void *b);

/* Every record begins with its place in the input. */
struct number {
    uint32_t id;
    int32_t key;
};

struct point {
    uint32_t id;
    uint32_t colour;
    double x, y;
};

struct person {
    uint32_t id;
    uint16_t year;
    uint8_t month, day;
    char name[24];
};

struct word {
    uint32_t id;
    uint32_t length;
    const char *text;
};

/* ---- comparators ----------------------------------------------------------------------------- */

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_id(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return ORDER(*x, *y);
}

static int number_value(const void *a, const void *b)
{
    const struct number *x = a, *y = b;

    return ORDER(x->key, y->key);
}

static int number_down(const void *a, const void *b)
{
    int c = number_value(b, a);

    return c ? c : by_id(a, b);
}

static int number_digits(const void *a, const void *b)
{
    const struct number *x = a, *y = b;
    uint32_t m = (uint32_t)x->key, n = (uint32_t)y->key;
    int bits = 0;

    for (; m; m &= m - 1)
        bits++;
    for (; n; n &= n - 1)
        bits--;
    return bits;
}

static int point_distance(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    double d = p->x * p->x + p->y * p->y, e = q->x * q->x + q->y * q->y;

    return d < e ? -1 : d > e ? 1 : by_id(a, b);
}

static int point_colour(const void *a, const void *b)
{
    const struct point *p = a, *q = b;

    return ORDER(p->colour, q->colour);
}

static int point_rows(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    int c = ORDER((int)(p->y * 8), (int)(q->y * 8));

    return c ? c : ORDER(p->x, q->x);
}

static int person_name(const void *a, const void *b)
{
    const struct person *p = a, *q = b;
    int c = strcmp(p->name, q->name);

    return c ? c : by_id(a, b);
}

static int person_birth(const void *a, const void *b)
{
    const struct person *p = a, *q = b;

    if (p->year != q->year)
        return ORDER(p->year, q->year);
    if (p->month != q->month)
        return ORDER(p->month, q->month);
    return ORDER(p->day, q->day);
}

static int person_season(const void *a, const void *b)
{
    const struct person *p = a, *q = b;
    int c = ORDER(p->month / 3, q->month / 3);

    return c ? c : person_name(a, b);
}

static int word_text(const void *a, const void *b)
{
    const struct word *p = a, *q = b;

    return strcmp(p->text, q->text);
}

/* From the last letter to the first. */
static int word_rhyme(const void *a, const void *b)
{
    const struct word *p = a, *q = b;
    uint32_t i = p->length, j = q->length;

    while (i && j)
        if (p->text[--i] != q->text[--j])
            return ORDER(p->text[i], q->text[j]);
    return i ? 1 : j ? -1 : by_id(a, b);
}

static int word_length(const void *a, const void *b)
{
    const struct word *p = a, *q = b;
    int c = ORDER(p->length, q->length);

    return c ? c : word_text(a, b);
}

#endif
