/* SPDX-License-Identifier: MIT */
#include "model/wordbook.h"

#include "model/width.h"
#include "rng.h"
#include "unittest.h"

/* Tells a word and takes it into the book. */
static enum vs_word_form tell(struct vs_wordbook *b, uint32_t word, uint32_t *index)
{
    enum vs_word_form form = vs_wordbook_find(b, word, index);
    unsigned own = vs_word_codes[form].rest_bits;
    uint32_t rest = own < 32 ? word & ((1u << own) - 1) : word;
    CHECK_EQ(vs_wordbook_word(b, form, *index, rest), word);
    vs_wordbook_note(b, form, word);
    return form;
}

TEST(tells_each_word_in_the_shortest_form)
{
    static const struct {
        uint32_t word;
        enum vs_word_form form;
        uint32_t index;
    } rows[] = {{0, VS_WORD_ZERO, 0},          {0x12345678, VS_WORD_ITSELF, 0},
                {0x12345678, VS_WORD_SAME, 0}, {0x123456ff, VS_WORD_BYTE, 0},
                {0x1234ff00, VS_WORD_HALF, 0}, {0x1234ff01, VS_WORD_BYTE, 2},
                {0x7f, VS_WORD_SMALL, 0},      {0x123456ff, VS_WORD_SAME, 1},
                {0x1234ff02, VS_WORD_NEXT, 0}, {0x80, VS_WORD_NEXT, 0}};
    struct vs_wordbook b;
    uint32_t index;
    CHECK(vs_wordbook_init(&b, 4));
    vs_wordbook_begin(&b);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_EQ(tell(&b, rows[i].word, &index), rows[i].form);
        CHECK_EQ(index, rows[i].index);
    }
    vs_wordbook_begin(&b); /* what comes after nothing is no next word */
    CHECK_EQ(tell(&b, 0x12345679, &index), VS_WORD_BYTE);
}

TEST(replaces_the_oldest_word)
{
    struct vs_wordbook b;
    uint32_t index;
    CHECK(vs_wordbook_init(&b, 2));
    CHECK_EQ(tell(&b, 0x11110000, &index), VS_WORD_ITSELF);
    CHECK_EQ(tell(&b, 0x22220000, &index), VS_WORD_ITSELF);
    CHECK_EQ(tell(&b, 0x11110000, &index), VS_WORD_SAME);
    CHECK_EQ(tell(&b, 0x33330000, &index), VS_WORD_ITSELF);
    CHECK_EQ(tell(&b, 0x11110000, &index), VS_WORD_ITSELF);
    CHECK_EQ(b.next, 0);
}

TEST(gets_back_what_another_book_told)
{
    struct vs_wordbook from, to;
    struct rng rng = rng_init(11);
    CHECK(vs_wordbook_init(&from, 64) && vs_wordbook_init(&to, 64));
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t index, word = (uint32_t)rng_next(&rng) & (UINT32_MAX >> rng_below(&rng, 32));
        word = rng_below(&rng, 2) && i ? from.before[0] ^ (word & 0xffff) : word;
        enum vs_word_form form = vs_wordbook_find(&from, word, &index);
        unsigned own = vs_word_codes[form].rest_bits;
        uint32_t rest = own < 32 ? word & ((1u << own) - 1) : word;
        CHECK_EQ(vs_wordbook_word(&to, form, index, rest), word);
        vs_wordbook_note(&from, form, word);
        vs_wordbook_note(&to, form, word);
    }
}

TEST(refuses_books_of_other_sizes)
{
    struct vs_wordbook b;
    CHECK(vs_wordbook_init(&b, 0));
    CHECK(!vs_wordbook_init(&b, 1));
    CHECK(!vs_wordbook_init(&b, 48));
    CHECK(!vs_wordbook_init(&b, 2 * VS_WORDBOOK_MAX));
    CHECK_EQ(vs_wordbook_cost(0).cam, 0);
    CHECK_EQ(vs_wordbook_cost(64).cam, 2048);
}

TEST(is_as_wide_as_numbers_of_late)
{
    struct vs_width w = {0};
    CHECK_EQ(vs_width_bits(&w), 1);
    for (unsigned i = 0; i < 100; i++)
        vs_width_note(&w, 1000);
    CHECK_EQ(vs_width_bits(&w), 10);
    for (unsigned i = 0; i < 100; i++)
        vs_width_note(&w, UINT64_MAX);
    CHECK_EQ(vs_width_bits(&w), 64);
    for (unsigned i = 0; i < 200; i++)
        vs_width_note(&w, 0);
    CHECK_EQ(vs_width_bits(&w), 1);
}
