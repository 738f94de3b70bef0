/* SPDX-License-Identifier: MIT */
#include "study/entropy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/likely.h"
#include "vestige/error.h"

const uint8_t vs_entropy_masks[VS_ENTROPY_MASKS] = {0, 4, 8, 12};

/* ---- counting words ------------------------------------------------------------------------- */

struct slot {
    uint32_t word, count;
    uint32_t stamp; /* the table's when the slot was filled; with any other, the slot is empty */
};

/* How often each word occurs, with open addressing. It is not a struct vs_map, since it is emptied
 * after every block of words, by a new stamp, and is summed up in the order in which the words
 * came. */
struct vs_entropy_table {
    struct slot *slots;
    uint32_t *used; /* slots in the order in which they were filled */
    uint32_t count; /* of them */
    uint32_t stamp;
    unsigned bits, bits_max; /* 2^bits slots are in use */
};

enum { TABLES = VS_ENTROPY_BLOCKS + 2 };

/* Gives slots for so many distinct words, so that at most half of them are filled. */
static unsigned bits_for(uint32_t words)
{
    unsigned bits = 1;

    while (UINT32_C(1) << bits < 2 * words)
        bits++;
    return bits;
}

/* The table has to be emptied before its first use. */
static int table_init(struct vs_entropy_table *t, uint32_t words)
{
    t->bits_max = bits_for(words);
    t->slots = calloc((size_t)1 << t->bits_max, sizeof(*t->slots));
    t->used = calloc(words, sizeof(*t->used));
    return t->slots && t->used ? 0 : -VSE_NOMEM;
}

/* A table that was made for larger blocks uses only its first slots, which stay in the caches. */
static void table_empty(struct vs_entropy_table *t, uint32_t words)
{
    t->bits = bits_for(words);
    t->count = 0;
    if (unlikely(++t->stamp == 0)) {
        memset(t->slots, 0, ((size_t)1 << t->bits_max) * sizeof(*t->slots));
        t->stamp = 1;
    }
}

static inline void table_count(struct vs_entropy_table *t, uint32_t word, uint32_t times)
{
    uint32_t i = word * UINT32_C(0x9e3779b1) >> (32 - t->bits);

    for (;; i = (i + 1) & ((UINT32_C(1) << t->bits) - 1)) {
        struct slot *s = &t->slots[i];

        if (s->stamp != t->stamp) {
            *s = (struct slot){word, times, t->stamp};
            t->used[t->count++] = i;
            return;
        }
        if (s->word == word) {
            s->count += times;
            return;
        }
    }
}

/* Counts all words of `from` without so many of their low bits. */
static void table_merge(struct vs_entropy_table *into, const struct vs_entropy_table *from,
                        unsigned drop)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct slot *s = &from->slots[from->used[i]];

        table_count(into, s->word >> drop, s->count);
    }
}

/* ---- entropy -------------------------------------------------------------------------------- */

/* libm is not among the library's dependencies, and this is the same on every machine. For m near 1
 * the logarithm is 2 artanh((m - 1) / (m + 1)); 12 terms of that series are all that a double
 * holds. */
static double log2_of(uint32_t n)
{
    static const double ln2 = 0.693147180559945309417;
    int exponent = 31 - __builtin_clz(n);
    double m = (double)n / (double)(UINT32_C(1) << exponent), sum = 0;

    if (m > 1.41421356237309504880) {
        m /= 2;
        exponent++;
    }
    double z = (m - 1) / (m + 1);
    for (int i = 12; i-- > 0;)
        sum = sum * z * z + 1.0 / (2 * i + 1);
    return exponent + 2 * z * sum / ln2;
}

/* H = log2 N - (sum of n log2 n) / N, where n are the counts. */
static double entropy_of(const struct vs_entropy *e, const struct vs_entropy_table *t,
                         uint32_t words)
{
    double sum = 0;

    if (t->count == 1)
        return 0;
    for (uint32_t i = 0; i < t->count; i++)
        sum += e->weights[t->slots[t->used[i]].count];
    double h = (e->weights[words] - sum) / words;
    return h > 0 ? h : 0;
}

static void row_add(struct vs_entropy_row *row, uint32_t words, uint32_t distinct, double h,
                    unsigned mask)
{
    row->min = row->blocks && row->min < h ? row->min : h;
    row->max = row->blocks && row->max > h ? row->max : h;
    row->sum += h;
    row->blocks++;
    row->words += words;
    row->distinct += distinct;
    row->bits += 32.0 * distinct + (words - distinct) * (h + mask);
}

/* Each mask drops bits from what the one before it left. */
static void study_block(struct vs_entropy *e, unsigned size, uint32_t words)
{
    const struct vs_entropy_table *t = &e->tables[size];

    for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++) {
        if (m) {
            struct vs_entropy_table *masked = &e->tables[VS_ENTROPY_BLOCKS + m % 2];

            table_empty(masked, words);
            table_merge(masked, t, (unsigned)(vs_entropy_masks[m] - vs_entropy_masks[m - 1]));
            t = masked;
        }
        row_add(&e->figures.rows[size][m], words, t->count, entropy_of(e, t, words),
                vs_entropy_masks[m]);
    }
}

/* What a block of this size holds goes to the next larger one. */
static void pass_on(struct vs_entropy *e, unsigned size)
{
    if (size + 1 < VS_ENTROPY_BLOCKS) {
        table_merge(&e->tables[size + 1], &e->tables[size], 0);
        e->filled[size + 1] += e->filled[size];
    }
    e->filled[size] = 0;
    table_empty(&e->tables[size], e->figures.block_words[size]);
}

static void end_blocks(struct vs_entropy *e)
{
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS && e->filled[i] == e->figures.block_words[i]; i++) {
        study_block(e, i, e->filled[i]);
        pass_on(e, i);
    }
}

void vs_entropy_finish(struct vs_entropy *e)
{
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++) {
        if (e->filled[i] && !e->figures.rows[i][0].blocks) {
            e->figures.cut[i] = true;
            study_block(e, i, e->filled[i]);
        }
        pass_on(e, i);
    }
}

/* ---- loads ---------------------------------------------------------------------------------- */

static inline void take_word(struct vs_entropy *e, uint32_t word)
{
    e->figures.lengths[word ? 32 - __builtin_clz(word) : 0]++;
    table_count(&e->tables[0], word, 1);
    if (unlikely(++e->filled[0] == e->figures.block_words[0]))
        end_blocks(e);
}

static void take_wide(struct vs_entropy *e, const uint8_t *bytes, unsigned size)
{
    for (; size >= 4; bytes += 4, size -= 4)
        take_word(e, vs_get32(bytes));
    if (size) {
        uint8_t rest[4] = {0};

        memcpy(rest, bytes, size);
        take_word(e, vs_get32(rest));
    }
}

void vs_entropy_consume(struct vs_entropy *e, const struct vs_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct vs_event *v = &batch->events[i];

        if (v->kind != VS_LOAD)
            continue;
        e->figures.loads++;
        e->figures.bytes += v->size;
        e->figures.words += (v->size + 3u) / 4;
        if (unlikely(v->size > 8)) {
            take_wide(e, vs_event_bytes(batch, v), v->size);
            continue;
        }
        take_word(e, (uint32_t)v->value);
        if (v->size > 4)
            take_word(e, (uint32_t)(v->value >> 32));
    }
}

/* ---- making --------------------------------------------------------------------------------- */

static bool sizes_valid(const uint32_t *words)
{
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        if (!words[i] || words[i] > VS_ENTROPY_WORDS_MAX || (i && words[i] % words[i - 1]))
            return false;
    return true;
}

int vs_entropy_init(struct vs_entropy *e, const uint32_t block_words[VS_ENTROPY_BLOCKS])
{
    const uint32_t largest = block_words[VS_ENTROPY_BLOCKS - 1];
    int error = 0;

    memset(e, 0, sizeof(*e));
    if (!sizes_valid(block_words))
        return -VSE_INVAL;
    memcpy(e->figures.block_words, block_words, sizeof(e->figures.block_words));
    e->tables = calloc(TABLES, sizeof(*e->tables));
    e->weights = calloc((size_t)largest + 1, sizeof(*e->weights));
    if (!e->tables || !e->weights)
        error = -VSE_NOMEM;
    for (unsigned i = 0; i < TABLES && !error; i++) {
        uint32_t words = i < VS_ENTROPY_BLOCKS ? block_words[i] : largest;

        error = table_init(&e->tables[i], words);
        if (!error)
            table_empty(&e->tables[i], words);
    }
    for (uint32_t n = 1; n <= largest && !error; n++)
        e->weights[n] = n * log2_of(n);
    if (error)
        vs_entropy_fini(e);
    return error;
}

void vs_entropy_fini(struct vs_entropy *e)
{
    for (unsigned i = 0; i < TABLES && e->tables; i++) {
        free(e->tables[i].slots);
        free(e->tables[i].used);
    }
    free(e->tables);
    free(e->weights);
    e->tables = NULL;
    e->weights = NULL;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void rows_add(struct vs_entropy_row *sum, const struct vs_entropy_row *row)
{
    if (!row->blocks)
        return;
    sum->min = sum->blocks && sum->min < row->min ? sum->min : row->min;
    sum->max = sum->blocks && sum->max > row->max ? sum->max : row->max;
    sum->blocks += row->blocks;
    sum->words += row->words;
    sum->distinct += row->distinct;
    sum->sum += row->sum;
    sum->bits += row->bits;
}

void vs_entropy_figures_add(struct vs_entropy_figures *sum, const struct vs_entropy_figures *f)
{
    sum->loads += f->loads;
    sum->bytes += f->bytes;
    sum->words += f->words;
    for (unsigned i = 0; i <= 32; i++)
        sum->lengths[i] += f->lengths[i];
    memcpy(sum->block_words, f->block_words, sizeof(sum->block_words));
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        for (unsigned m = 0; m < VS_ENTROPY_MASKS && !f->cut[i]; m++)
            rows_add(&sum->rows[i][m], &f->rows[i][m]);
}

double vs_entropy_mean(const struct vs_entropy_row *row)
{
    return row->blocks ? row->sum / (double)row->blocks : NAN;
}

double vs_entropy_distinct(const struct vs_entropy_row *row)
{
    return row->blocks ? (double)row->distinct / (double)row->blocks : NAN;
}

double vs_entropy_ratio(const struct vs_entropy_row *row)
{
    return row->blocks ? 32.0 * (double)row->words / row->bits : NAN;
}

double vs_entropy_ratio_of_means(const struct vs_entropy_row *row, unsigned mask_bits)
{
    if (!row->blocks)
        return NAN;
    double words = (double)row->words / (double)row->blocks, distinct = vs_entropy_distinct(row);
    return 32 * words / (32 * distinct + (words - distinct) * (vs_entropy_mean(row) + mask_bits));
}

uint64_t vs_entropy_small(const struct vs_entropy_figures *f, unsigned bits)
{
    uint64_t n = 0;

    for (unsigned i = 0; i <= bits; i++)
        n += f->lengths[i];
    return n;
}

double vs_entropy_small_ratio(const struct vs_entropy_figures *f, unsigned bits)
{
    double words = (double)f->words, small = (double)vs_entropy_small(f, bits);

    return f->words ? 32 * words / (words + bits * small + 32 * (words - small)) : NAN;
}
