/* SPDX-License-Identifier: MIT */
/* How compressible the values are that a run loads: zero-order entropy, the same of their high bits
 * alone, and how many are small.
 *
 * Words. What is studied is a sequence of 32-bit words, in the order of the loads. An operand of 1
 * to 3 bytes is one word, zero-extended; a larger one is cut into words, the lowest address first,
 * and what is left at its end is zero-extended. An operand of 10 bytes is three words.
 *
 * Blocks. The sequence is cut into blocks of a fixed number of words, each studied by itself: its
 * entropy is H = -sum p log2 p over its distinct words, and its code takes 32 bits for a word that
 * occurs first in the block and H bits for one that repeats. With the low M bits masked off, words
 * are told apart by the other 32 - M, and a repeat takes H + M bits, a first one still 32.
 * What is left after the last full block is left out of the figures of that block size, as a short
 * block has a low entropy; if there is no full block, the figures are of what there is.
 *
 * Small words. A word fits in S bits if it is less than 2^S, unsigned. The code has a bit that says
 * whether, and then S bits or 32.
 *
 * Several sizes of blocks are studied in one pass: a word is counted in the smallest block, and a
 * block that is full passes its distinct words on to the next larger.
 */
#ifndef STUDY_ENTROPY_H
#define STUDY_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

enum {
    VS_ENTROPY_BLOCKS = 4, /* sizes of blocks */
    VS_ENTROPY_MASKS = 4,  /* numbers of bits masked off */
    VS_ENTROPY_SMALL_MIN = 4,
    VS_ENTROPY_SMALL_MAX = 12, /* bits of small words */
    VS_ENTROPY_WORDS_MAX = 1 << 20
};

/* 0, 4, 8, 12 */
extern const uint8_t vs_entropy_masks[VS_ENTROPY_MASKS];

/* Over the blocks of one size, with one mask. */
struct vs_entropy_row {
    uint64_t blocks, words; /* that the figures are of; a block that is not full counts as one */
    uint64_t distinct;      /* words of each block, summed */
    double min, max, sum;   /* of the blocks' entropies, in bits per word */
    double bits;            /* of the code */
};

struct vs_entropy_figures {
    uint64_t loads, bytes; /* operands, and bytes of them */
    uint64_t words;
    uint64_t lengths[33]; /* words by significant bits: [0] are the zeros */
    uint32_t block_words[VS_ENTROPY_BLOCKS];
    bool cut[VS_ENTROPY_BLOCKS]; /* no block of this size was full: the one there is */
    struct vs_entropy_row rows[VS_ENTROPY_BLOCKS][VS_ENTROPY_MASKS];
};

struct vs_entropy_table;

struct vs_entropy {
    struct vs_entropy_figures figures; /* after vs_entropy_finish */

    /* private */
    struct vs_entropy_table *tables; /* of each size of blocks, then two for masked words */
    uint32_t filled[VS_ENTROPY_BLOCKS];
    double *weights; /* n log2 n */
};

/* Blocks of so many words, each size a multiple of the one before.
 * Returns 0; -VSE_INVAL (a size is 0, over VS_ENTROPY_WORDS_MAX or no multiple); -VSE_NOMEM. Only
 * after 0 it needs vs_entropy_fini. */
int vs_entropy_init(struct vs_entropy *e, const uint32_t block_words[VS_ENTROPY_BLOCKS]);

/* The next events; only loads count. They keep the rules of vs_event_check. */
void vs_entropy_consume(struct vs_entropy *e, const struct vs_batch *batch);

/* No more events come. */
void vs_entropy_finish(struct vs_entropy *e);

/* The figures stay. */
void vs_entropy_fini(struct vs_entropy *e);

/* Adds a run's figures to a sum over runs, which is zeroed at first and has the same sizes of
 * blocks. Only full blocks are added to rows, so that a row may stay without any. */
void vs_entropy_figures_add(struct vs_entropy_figures *sum, const struct vs_entropy_figures *f);

/* NAN if there is nothing to divide by. The mean entropy and number of distinct words of a block;
 * raw bits over those of the code, all blocks together; and the ratio of a block that has the mean
 * entropy and mean number of distinct words. */
double vs_entropy_mean(const struct vs_entropy_row *row);
double vs_entropy_distinct(const struct vs_entropy_row *row);
double vs_entropy_ratio(const struct vs_entropy_row *row);
double vs_entropy_ratio_of_means(const struct vs_entropy_row *row, unsigned mask_bits);

/* Words that fit in so many bits (0 to 32), and the ratio of the code that exploits it. */
uint64_t vs_entropy_small(const struct vs_entropy_figures *f, unsigned bits);
double vs_entropy_small_ratio(const struct vs_entropy_figures *f, unsigned bits);

#endif
