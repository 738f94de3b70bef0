/* SPDX-License-Identifier: MIT */
/* How compressible the values are that a run loads: their zero-order entropy, that of their high
 * bits alone, and how many are small.
 *
 * Words. What is studied is a sequence of 32-bit words, in the order of the loads. An operand of 1
 * to 3 bytes is one word, zero-extended; a larger one is cut into words, the lowest address first,
 * and what is left at its end is zero-extended. An operand of 10 bytes is three words.
 *
 * Blocks. The sequence is cut into blocks of a fixed number of words, each studied by itself: its
 * entropy is H = -sum p log2 p over its distinct words, and its code takes 32 bits for a word that
 * occurs first in the block and H bits for one that repeats. With the low M bits masked off, words
 * are told apart by the other 32 - M bits; a repeat takes H + M bits, and a first one still takes
 * 32. What remains after the last full block is left out of that block size's figures, as a short
 * block has a low entropy; if there is no full block, the figures are those of the short one.
 *
 * Small words. A word fits in S bits if it is less than 2^S, unsigned. The code has a bit that says
 * whether it does, and then S bits or 32.
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
    uint64_t blocks, words; /* that the figures are about; a block that is not full counts as one */
    uint64_t distinct;      /* distinct words in each block, summed */
    double min, max, sum;   /* of the blocks' entropies, in bits per word */
    double bits;            /* that the code takes */
};

struct vs_entropy_figures {
    uint64_t loads, bytes; /* operands, and their bytes */
    uint64_t words;
    uint64_t lengths[33]; /* words by number of significant bits; [0] counts the zeros */
    uint32_t block_words[VS_ENTROPY_BLOCKS];
    bool cut[VS_ENTROPY_BLOCKS]; /* no block of this size was full: the figures are those of the
                                  * short one */
    struct vs_entropy_row rows[VS_ENTROPY_BLOCKS][VS_ENTROPY_MASKS];
};

struct vs_entropy_table;

struct vs_entropy {
    struct vs_entropy_figures figures; /* after vs_entropy_finish */

    /* private */
    struct vs_entropy_table *tables; /* one for each size of blocks, then two for masked words */
    uint32_t filled[VS_ENTROPY_BLOCKS];
    double *weights; /* n log2 n */
};

/* block_words are the sizes of blocks, each a multiple of the one before. Returns 0; -VSE_INVAL (a
 * size is 0, over VS_ENTROPY_WORDS_MAX or no multiple); -VSE_NOMEM. vs_entropy_fini is needed only
 * after 0. */
int vs_entropy_init(struct vs_entropy *e, const uint32_t block_words[VS_ENTROPY_BLOCKS]);

/* Takes the next events, of which only loads count. They must keep the rules of vs_event_check. */
void vs_entropy_consume(struct vs_entropy *e, const struct vs_batch *batch);

/* Completes the figures; no more events may follow. */
void vs_entropy_finish(struct vs_entropy *e);

/* The figures stay. */
void vs_entropy_fini(struct vs_entropy *e);

/* Adds a run's figures to a sum over runs, which starts out zeroed and has the same sizes of
 * blocks. Only full blocks are added to rows, so a row may stay without any. */
void vs_entropy_figures_add(struct vs_entropy_figures *sum, const struct vs_entropy_figures *f);

/* A block's mean entropy and mean number of distinct words; the raw bits divided by the code's,
 * over all blocks together; and that ratio for a block that has the mean entropy and the mean
 * number of distinct words. Return NAN if there is nothing to divide by. */
double vs_entropy_mean(const struct vs_entropy_row *row);
double vs_entropy_distinct(const struct vs_entropy_row *row);
double vs_entropy_ratio(const struct vs_entropy_row *row);
double vs_entropy_ratio_of_means(const struct vs_entropy_row *row, unsigned mask_bits);

/* How many words fit in so many bits (0 to 32), and the ratio of the code that exploits it. */
uint64_t vs_entropy_small(const struct vs_entropy_figures *f, unsigned bits);
double vs_entropy_small_ratio(const struct vs_entropy_figures *f, unsigned bits);

#endif
