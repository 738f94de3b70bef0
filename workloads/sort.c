/* SPDX-License-Identifier: MIT */
/* Sorting behind comparators: qsort of the C library and three sorts of our own (introsort, heap
 * sort, merge sort) put records of four types in order, each type by several comparators, in inputs
 * from random to nearly sorted.
 *
 * Records that compare equal may come out of qsort in any order, which differs between C libraries;
 * so it gets only comparators that break ties. Merge sort is stable, which -c verifies along with
 * the order and that every record is still there.
 */
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"
#include "sort_records.h"

static const struct wl_program program = {
    .name = "sort",
    .about = "qsort, introsort, heap sort and merge sort with comparator callbacks",
    .size = "records of each type",
    .size_default = 50,
    .size_min = 1,
    .size_max = 2000000,
    .threads_max = 1,
};

/* ---- sorts ----------------------------------------------------------------------------------- */

#define RECORD_MAX 32

static void swap(char *a, char *b, size_t size)
{
    char t[RECORD_MAX];

    memcpy(t, a, size);
    memcpy(a, b, size);
    memcpy(b, t, size);
}

static void insertion_sort(char *base, size_t n, size_t size, compare_fn *compare)
{
    char t[RECORD_MAX];

    for (size_t i = 1; i < n; i++) {
        size_t j = i;

        memcpy(t, base + i * size, size);
        for (; j > 0 && compare(base + (j - 1) * size, t) > 0; j--)
            memcpy(base + j * size, base + (j - 1) * size, size);
        memcpy(base + j * size, t, size);
    }
}

static void sift(char *base, size_t at, size_t n, size_t size, compare_fn *compare)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + at * size, base + child * size) >= 0)
            return;
        swap(base + at * size, base + child * size, size);
    }
}

static void heap_sort(void *records, size_t n, size_t size, compare_fn *compare)
{
    char *base = records;

    for (size_t i = n / 2; i-- > 0;)
        sift(base, i, n, size, compare);
    while (n-- > 1) {
        swap(base, base + n * size, size);
        sift(base, 0, n, size, compare);
    }
}

/* The median of the first, middle and last record, to the front. */
static void choose_pivot(char *base, size_t n, size_t size, compare_fn *compare)
{
    char *first = base, *middle = base + n / 2 * size, *last = base + (n - 1) * size;

    if (compare(middle, last) > 0)
        swap(middle, last, size);
    if (compare(first, middle) < 0)
        swap(first, middle, size);
    if (compare(first, last) > 0)
        swap(first, last, size);
}

/* Returns where the first record belongs: none before it is greater, none after it less. */
static size_t partition(char *base, size_t n, size_t size, compare_fn *compare)
{
    size_t i = 0, j = n;

    for (;;) {
        do
            i++;
        while (i < n && compare(base + i * size, base) < 0);
        do
            j--;
        while (compare(base + j * size, base) > 0);
        if (i >= j)
            break;
        swap(base + i * size, base + j * size, size);
    }
    swap(base, base + j * size, size);
    return j;
}

static void intro_part(char *base, size_t n, size_t size, compare_fn *compare, int depth)
{
    while (n > 12) {
        size_t at;

        if (depth-- == 0) {
            heap_sort(base, n, size, compare);
            return;
        }
        choose_pivot(base, n, size, compare);
        at = partition(base, n, size, compare);
        intro_part(base + (at + 1) * size, n - at - 1, size, compare, depth);
        n = at;
    }
    insertion_sort(base, n, size, compare);
}

static void intro_sort(void *records, size_t n, size_t size, compare_fn *compare)
{
    int depth = 0;

    for (size_t i = n; i > 1; i /= 2)
        depth += 2;
    intro_part(records, n, size, compare, depth);
}

/* Top down, the left half merged back from a copy. */
static void merge_part(char *base, size_t n, size_t size, compare_fn *compare, char *spare)
{
    char *left = spare, *left_end = spare + n / 2 * size;
    char *right = base + n / 2 * size, *end = base + n * size, *out = base;

    if (n <= 6) {
        insertion_sort(base, n, size, compare);
        return;
    }
    merge_part(base, n / 2, size, compare, spare);
    merge_part(right, n - n / 2, size, compare, spare);
    if (compare(right - size, right) <= 0)
        return;
    memcpy(spare, base, (size_t)(left_end - left));
    for (; left < left_end && right < end; out += size) {
        char **from = compare(left, right) <= 0 ? &left : &right;

        memcpy(out, *from, size);
        *from += size;
    }
    memcpy(out, left, (size_t)(left_end - left));
}

static void merge_sort(void *records, size_t n, size_t size, compare_fn *compare)
{
    char *spare = wl_alloc((n / 2 + 1) * size);

    merge_part(records, n, size, compare, spare);
    free(spare);
}

/* ---- input ----------------------------------------------------------------------------------- */

struct input {
    size_t n;
    struct number *numbers;
    struct point *points;
    struct person *people;
    struct word *words;
    char (*letters)[12];
};

/* One of four shapes: random, few different, nearly sorted, up and down.
 * Below 2^20. */
static uint64_t shaped(struct wl_rng *rng, unsigned shape, size_t i, size_t n)
{
    uint64_t place = (uint64_t)i * 1000000 / n;

    switch (shape) {
    case 0:
        return wl_below(rng, 1 << 20);
    case 1:
        return wl_below(rng, 24) * 40000;
    case 2:
        return wl_below(rng, 16) ? place : wl_below(rng, 1000000);
    default:
        return (i % 64 < 32 ? i % 64 : 63 - i % 64) * 16384 + wl_below(rng, 1024);
    }
}

static void spell(struct wl_rng *rng, char *out, size_t max)
{
    static const char syllables[16][3] = {"ka", "lo", "mi", "ra", "te", "su", "no", "vi",
                                          "an", "el", "or", "is", "du", "pe", "ge", "ba"};
    size_t n = 1 + wl_below(rng, max / 2);

    for (size_t i = 0; i < n; i++)
        memcpy(out + 2 * i, syllables[wl_below(rng, wl_below(rng, 15) + 2)], 3);
}

static void fill(struct input *in, struct wl_rng *rng, unsigned turn)
{
    for (size_t i = 0; i < in->n; i++) {
        uint64_t v = shaped(rng, turn % 4, i, in->n), w = shaped(rng, (turn + 1) % 4, i, in->n);
        struct person *person = &in->people[i];
        uint32_t id = (uint32_t)i;

        in->numbers[i] = (struct number){id, (int32_t)v - (1 << 19)};
        in->points[i] = (struct point){id, (uint32_t)(w % 16), (double)v * 0x1p-20 - 0.5,
                                       (double)w * 0x1p-20 - 0.5};
        memset(person, 0, sizeof(*person));
        person->id = id;
        person->year = (uint16_t)(1900 + v % 128);
        person->month = (uint8_t)(1 + w % 12);
        person->day = (uint8_t)(1 + w / 12 % 28);
        spell(rng, person->name, 14);
        spell(rng, in->letters[i], 10);
        in->words[i] = (struct word){id, (uint32_t)strlen(in->letters[i]), in->letters[i]};
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct job {
    compare_fn *compare;
    bool total; /* no two records compare equal */
};

struct kind {
    const void *records;
    size_t size;
    const struct job *jobs; /* JOBS of them */
};

#define JOBS 3
static const struct job number_jobs[JOBS] = {
    {number_value, false}, {number_down, true}, {number_digits, false}};
static const struct job point_jobs[JOBS] = {
    {point_distance, true}, {point_colour, false}, {point_rows, false}};
static const struct job person_jobs[JOBS] = {
    {person_name, true}, {person_birth, false}, {person_season, true}};
static const struct job word_jobs[JOBS] = {
    {word_text, false}, {word_rhyme, true}, {word_length, false}};

static const struct {
    void (*sort)(void *records, size_t n, size_t size, compare_fn *compare);
    bool stable, any; /* any: also with records that compare equal */
} sorts[] = {{qsort, false, false},
             {intro_sort, false, true},
             {heap_sort, false, true},
             {merge_sort, true, true}};

static uint32_t id_of(const char *record)
{
    uint32_t id;

    memcpy(&id, record, sizeof(id));
    return id;
}

/* In order, stable if so claimed, and a permutation: every id once, with the rest of its record. */
static bool check(const struct kind *k, const char *sorted, size_t n, compare_fn *compare,
                  bool stable)
{
    const char *original = k->records;
    bool *seen = wl_alloc(n), good = true;

    for (size_t i = 0; i < n && good; i++) {
        const char *record = sorted + i * k->size;
        uint32_t id = id_of(record);
        int c = i ? compare(record - k->size, record) : -1;

        good = id < n && !seen[id] && memcmp(original + id * k->size, record, k->size) == 0;
        good = good && (c < 0 || (c == 0 && (!stable || id_of(record - k->size) < id)));
        if (good)
            seen[id] = true;
    }
    free(seen);
    return good;
}

static uint64_t sort_all(const struct kind *k, size_t n, char *work, bool verify, bool *passed)
{
    uint64_t sum = n;

    for (unsigned j = 0; j < JOBS; j++)
        for (unsigned s = 0; s < sizeof(sorts) / sizeof(sorts[0]); s++) {
            const struct job *job = &k->jobs[j];

            if (!job->total && !sorts[s].any)
                continue;
            memcpy(work, k->records, n * k->size);
            sorts[s].sort(work, n, k->size, job->compare);
            for (size_t i = 0; i < n; i++)
                sum = wl_sum(sum, id_of(work + i * k->size));
            if (verify)
                *passed &= check(k, work, n, job->compare, sorts[s].stable);
        }
    return sum;
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct wl_rng rng = wl_rng(a.seed, 0);
    struct input in = {a.size,
                       wl_alloc(a.size * sizeof(*in.numbers)),
                       wl_alloc(a.size * sizeof(*in.points)),
                       wl_alloc(a.size * sizeof(*in.people)),
                       wl_alloc(a.size * sizeof(*in.words)),
                       wl_alloc(a.size * sizeof(*in.letters))};
    const struct kind kinds[] = {{in.numbers, sizeof(*in.numbers), number_jobs},
                                 {in.points, sizeof(*in.points), point_jobs},
                                 {in.people, sizeof(*in.people), person_jobs},
                                 {in.words, sizeof(*in.words), word_jobs}};
    char *work = wl_alloc(a.size * RECORD_MAX);
    uint64_t sum = 0;
    bool passed = true;

    for (unsigned turn = 0; turn < 4; turn++) {
        fill(&in, &rng, turn);
        for (unsigned k = 0; k < 4; k++)
            sum = wl_sum(sum, sort_all(&kinds[k], a.size, work, a.check, &passed));
    }
    free(in.numbers);
    free(in.points);
    free(in.people);
    free(in.words);
    free(in.letters);
    free(work);
    return wl_finish(&program, &a, sum, passed);
}
