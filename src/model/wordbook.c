/* SPDX-License-Identifier: MIT */
#include "model/wordbook.h"

#include "base/power.h"

const struct vs_word_code vs_word_codes[VS_WORD_FORMS] = {
    [VS_WORD_ZERO] = {0x0, 2, 0, false},  [VS_WORD_ITSELF] = {0x2, 2, 32, false},
    [VS_WORD_SAME] = {0x1, 2, 0, true},   [VS_WORD_HALF] = {0x3, 4, 16, true},
    [VS_WORD_SMALL] = {0xb, 4, 8, false}, [VS_WORD_BYTE] = {0x7, 4, 8, true},
    [VS_WORD_NEXT] = {0xf, 4, 0, false},
};

bool vs_wordbook_init(struct vs_wordbook *b, uint64_t size)
{
    *b = (struct vs_wordbook){.size = (uint32_t)size, .index_bits = (uint8_t)vs_log2_ceil(size)};
    return !size || (vs_is_power_of_two(size) && size >= 2 && size <= VS_WORDBOOK_MAX);
}

/* Finds the first entry that is alike above some bits. */
static bool find(const struct vs_wordbook *b, uint32_t word, unsigned bits, uint32_t *index)
{
    for (*index = 0; *index < b->size; ++*index)
        if (!((b->words[*index] ^ word) >> bits))
            return true;
    *index = 0;
    return false;
}

enum vs_word_form vs_wordbook_find(const struct vs_wordbook *b, uint32_t word, uint32_t *index)
{
    *index = 0;
    if (!word)
        return VS_WORD_ZERO;
    if (b->count == 3 && word == b->before[2] + 1)
        return VS_WORD_NEXT;
    if (find(b, word, 0, index))
        return VS_WORD_SAME;
    if (!(word >> 8))
        return VS_WORD_SMALL;
    if (find(b, word, 8, index))
        return VS_WORD_BYTE;
    return find(b, word, 16, index) ? VS_WORD_HALF : VS_WORD_ITSELF;
}

uint32_t vs_wordbook_word(const struct vs_wordbook *b, enum vs_word_form form, uint32_t index,
                          uint32_t rest)
{
    switch (form) {
    case VS_WORD_NEXT:
        return b->before[2] + 1;
    case VS_WORD_SAME:
        return b->words[index];
    case VS_WORD_HALF:
    case VS_WORD_BYTE:
        return b->words[index] >> vs_word_codes[form].rest_bits << vs_word_codes[form].rest_bits |
               rest;
    default:
        return rest;
    }
}

void vs_wordbook_note(struct vs_wordbook *b, enum vs_word_form form, uint32_t word)
{
    b->before[2] = b->before[1];
    b->before[1] = b->before[0];
    b->before[0] = word;
    b->count += b->count < 3;
    if (form == VS_WORD_ITSELF || form == VS_WORD_HALF || form == VS_WORD_BYTE) {
        b->words[b->next] = word;
        b->next = (b->next + 1) & (b->size - 1);
    }
}
