/* SPDX-License-Identifier: MIT */
/* Words of 32 bits that were sent lately, as C-Pack's dictionary has them. A word is told as
 *
 *   00                   zero
 *   01 | 32 bits         itself
 *   10 | index           a word of the book
 *   1100 | index | 16    one of its upper halves, and the lower half
 *   1101 | 8             a small number
 *   1110 | index | 8     the upper three bytes of a word of the book, and the lowest one
 *   1111                 the third word before in the same message, plus 1: the next register's
 *                        number comes after two words of a value
 * The first bit is the lowest. A word that is not wholly known takes the place of the book's oldest
 * one. */
#ifndef MODEL_WORDBOOK_H
#define MODEL_WORDBOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"

enum { VS_WORDBOOK_MAX = 256 };

struct vs_wordbook {
    uint32_t words[VS_WORDBOOK_MAX];
    uint32_t size; /* a power of two, at least 2; 0: there is no book */
    uint32_t next; /* the oldest word */
    uint8_t index_bits;
    uint32_t before[3]; /* the words of the message, the last one first */
    uint8_t count;      /* how many of them there are */
};

/* How a word is told. */
enum vs_word_form {
    VS_WORD_ZERO,
    VS_WORD_ITSELF,
    VS_WORD_SAME,
    VS_WORD_HALF,
    VS_WORD_SMALL,
    VS_WORD_BYTE,
    VS_WORD_NEXT,
    VS_WORD_FORMS
};

/* Returns false if there can be no such book. */
bool vs_wordbook_init(struct vs_wordbook *b, uint64_t size);

/* A message begins. */
static inline void vs_wordbook_begin(struct vs_wordbook *b)
{
    b->count = 0;
}

/* Finds how to tell the next word, by which entry. */
enum vs_word_form vs_wordbook_find(const struct vs_wordbook *b, uint32_t word, uint32_t *index);

/* Returns the word that is told in that form, with `rest` for what is told of it by itself. */
uint32_t vs_wordbook_word(const struct vs_wordbook *b, enum vs_word_form form, uint32_t index,
                          uint32_t rest);

/* The word has been told. */
void vs_wordbook_note(struct vs_wordbook *b, enum vs_word_form form, uint32_t word);

/* The bits of a form, whose code is `prefix`, and of what is told of the word by itself. */
struct vs_word_code {
    uint8_t prefix, prefix_bits, rest_bits;
    bool index;
};
extern const struct vs_word_code vs_word_codes[VS_WORD_FORMS];

/* Every word is compared at once. */
static inline struct vs_cost vs_wordbook_cost(uint64_t size)
{
    return size ? (struct vs_cost){.cam = 32 * size, .registers = 3 * 32 + 2 + 8}
                : (struct vs_cost){0};
}

#endif
