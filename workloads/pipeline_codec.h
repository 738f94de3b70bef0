/* SPDX-License-Identifier: MIT */
/* What the pipeline does to a block: words become numbers of a dictionary, then repeated strings
 * become references, then a Huffman code. And back, for the check. Every function works on its own
 * arguments alone.
 *
 * Tokens: 01 length letters, a new word, which gets the next number; 02 and a number in groups of 7
 * bits; a byte from 80, and from c0 a second, the number of a word seen before; any other byte,
 * itself.
 */
#ifndef PIPELINE_CODEC_H
#define PIPELINE_CODEC_H

#include <string.h>

#include "wl.h"

#define TEXT_MAX   1024
#define TOKENS_MAX (3 * TEXT_MAX)
#define PACKED_MAX (2 * TOKENS_MAX)
#define WORDS_MAX  (TEXT_MAX / 2)
#define WORD_MAX   32
#define SLOTS      1024 /* of the dictionary, a power of two above WORDS_MAX */

/* ---- words ----------------------------------------------------------------------------------- */

struct word {
    uint16_t at, length, count; /* its first place in the text */
};

struct dictionary {
    uint16_t slot[SLOTS]; /* number of the word + 1 */
};

static inline bool is_letter(uint8_t c)
{
    return (uint8_t)((c | 32) - 'a') < 26;
}

static inline bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

static inline uint32_t hash_word(const uint8_t *s, size_t n)
{
    uint32_t h = 0;

    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 0x01000193;
    return h ^ h >> 15;
}

/* The number of the word, *n_words if it is new. */
static uint16_t look_up(struct dictionary *d, const uint8_t *text, struct word *words,
                        unsigned *n_words, size_t at, size_t length)
{
    uint32_t h = hash_word(text + at, length);

    for (;; h++) {
        uint16_t k = d->slot[h % SLOTS];

        if (k == 0) {
            words[*n_words] = (struct word){(uint16_t)at, (uint16_t)length, 1};
            d->slot[h % SLOTS] = (uint16_t)(*n_words + 1);
            return (uint16_t)(*n_words)++;
        }
        if (words[k - 1].length == length &&
            memcmp(text + words[k - 1].at, text + at, length) == 0) {
            words[k - 1].count++;
            return (uint16_t)(k - 1);
        }
    }
}

static size_t put_word(uint8_t *out, unsigned k, bool is_new, const uint8_t *word, size_t length)
{
    if (is_new) {
        out[0] = 1;
        out[1] = (uint8_t)length;
        memcpy(out + 2, word, length);
        return 2 + length;
    }
    if (k < 64) {
        out[0] = (uint8_t)(0x80 | k);
        return 1;
    }
    out[0] = (uint8_t)(0xc0 | (k & 63));
    out[1] = (uint8_t)(k >> 6);
    return 2;
}

static size_t put_number(uint8_t *out, uint64_t v)
{
    size_t n = 0;

    out[n++] = 2;
    for (; v >= 128; v >>= 7)
        out[n++] = (uint8_t)(v | 128);
    out[n++] = (uint8_t)v;
    return n;
}

/* Digits that a number does not give back, such as 007, are a word. Returns the bytes of out. */
static size_t tokenise(struct dictionary *d, const uint8_t *text, size_t n, struct word *words,
                       unsigned *n_words, uint8_t *out)
{
    size_t at = 0, end, used = 0;

    memset(d, 0, sizeof(*d));
    *n_words = 0;
    for (; at < n; at = end) {
        uint64_t value = 0;
        unsigned before = *n_words, k;

        end = at;
        if (is_letter(text[at])) {
            while (end < n && end - at < WORD_MAX && is_letter(text[end]))
                end++;
        } else if (is_digit(text[at])) {
            for (; end < n && end - at < 18 && is_digit(text[end]); end++)
                value = 10 * value + (uint64_t)(text[end] - '0');
            if (text[at] != '0' || end - at == 1) {
                used += put_number(out + used, value);
                continue;
            }
        } else {
            out[used++] = text[end++];
            continue;
        }
        k = look_up(d, text, words, n_words, at, end - at);
        used += put_word(out + used, k, k == before, text + at, end - at);
    }
    return used;
}

/* ---- repeated strings ------------------------------------------------------------------------ */

#define MATCH_MIN     3
#define MATCH_MAX     34
#define SYMBOLS       (256 + MATCH_MAX - MATCH_MIN + 1)
#define DISTANCE_BITS 12
#define HASHES        512

struct matcher {
    uint16_t head[HASHES], older[TOKENS_MAX]; /* place + 1 */
    uint16_t symbol[TOKENS_MAX], distance[TOKENS_MAX];
    unsigned n;
};

static inline unsigned hash_3(const uint8_t *p)
{
    return (((unsigned)p[0] << 16 | (unsigned)p[1] << 8 | p[2]) * 0x9e3779b1u) >> 23;
}

/* The longest match at a place, 0 if there is none, and the distance to it. */
static unsigned longest(const struct matcher *m, const uint8_t *in, size_t n, size_t at,
                        unsigned *distance)
{
    unsigned best = MATCH_MIN - 1, tries = 24, most;

    if (at + MATCH_MIN > n)
        return 0;
    most = n - at < MATCH_MAX ? (unsigned)(n - at) : MATCH_MAX;
    for (unsigned p = m->head[hash_3(in + at)]; p && tries > 0; p = m->older[p - 1], tries--) {
        const uint8_t *s = in + p - 1;
        unsigned k = 0;

        while (k < most && s[k] == in[at + k])
            k++;
        if (k > best) {
            best = k;
            *distance = (unsigned)(at - (p - 1));
        }
    }
    return best >= MATCH_MIN ? best : 0;
}

static void remember(struct matcher *m, const uint8_t *in, size_t n, size_t at)
{
    if (at + MATCH_MIN <= n) {
        uint16_t *head = &m->head[hash_3(in + at)];

        m->older[at] = *head;
        *head = (uint16_t)(at + 1);
    }
}

/* Takes a match unless the next place has a longer one. */
static void find_matches(struct matcher *m, const uint8_t *in, size_t n)
{
    memset(m->head, 0, sizeof(m->head));
    m->n = 0;
    for (size_t at = 0; at < n;) {
        unsigned distance = 0, later = 0, length = longest(m, in, n, at, &distance);

        remember(m, in, n, at);
        if (length && longest(m, in, n, at + 1, &later) > length)
            length = 0;
        m->symbol[m->n] = (uint16_t)(length ? 256 + length - MATCH_MIN : in[at]);
        m->distance[m->n++] = (uint16_t)distance;
        at++;
        for (unsigned k = 1; k < length; k++)
            remember(m, in, n, at++);
    }
}

/* ---- Huffman code ---------------------------------------------------------------------------- */

#define CODE_MAX 24 /* fewer than TOKENS_MAX symbols make no longer codes */

struct heap {
    uint32_t key[SYMBOLS]; /* weight and node: no two are equal */
    unsigned n;
};

static void heap_put(struct heap *h, uint32_t key)
{
    unsigned i = h->n++;

    for (; i > 0 && h->key[(i - 1) / 2] > key; i = (i - 1) / 2)
        h->key[i] = h->key[(i - 1) / 2];
    h->key[i] = key;
}

static uint32_t heap_take(struct heap *h)
{
    uint32_t top = h->key[0], key = h->key[--h->n];
    unsigned i = 0, child;

    for (; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->key[child + 1] < h->key[child])
            child++;
        if (h->key[child] >= key)
            break;
        h->key[i] = h->key[child];
    }
    h->key[i] = key;
    return top;
}

/* Lengths of the codes of the symbols that occur. */
static void code_lengths(const uint32_t *weight, uint8_t *length)
{
    struct heap h = {.n = 0};
    uint16_t parent[2 * SYMBOLS] = {0};
    unsigned node = SYMBOLS, depth[2 * SYMBOLS] = {0};

    for (unsigned s = 0; s < SYMBOLS; s++)
        if (weight[s])
            heap_put(&h, weight[s] << 10 | s);
    if (h.n == 1)
        heap_put(&h, 1 << 10 | (h.key[0] % 1024 == 0));
    while (h.n > 1) {
        uint32_t a = heap_take(&h), b = heap_take(&h);

        parent[a % 1024] = parent[b % 1024] = (uint16_t)node;
        heap_put(&h, ((a >> 10) + (b >> 10)) << 10 | node++);
    }
    for (unsigned k = node - 1; k-- > 0;)
        depth[k] = parent[k] ? depth[parent[k]] + 1 : 0;
    for (unsigned s = 0; s < SYMBOLS; s++)
        length[s] = (uint8_t)depth[s];
}

/* The codes of one length are consecutive, in the order of the symbols. */
static void assign_codes(const uint8_t *length, uint32_t *code)
{
    uint32_t next[CODE_MAX + 1] = {0}, of_length[CODE_MAX + 1] = {0};

    for (unsigned s = 0; s < SYMBOLS; s++)
        of_length[length[s]]++;
    for (unsigned l = 2; l <= CODE_MAX; l++)
        next[l] = (next[l - 1] + of_length[l - 1]) << 1;
    for (unsigned s = 0; s < SYMBOLS; s++)
        if (length[s])
            code[s] = next[length[s]]++;
}

struct bits {
    uint8_t *at;
    uint64_t held;
    unsigned n;
};

static void put_bits(struct bits *b, uint32_t value, unsigned n)
{
    b->held = b->held << n | value;
    for (b->n += n; b->n >= 8; b->n -= 8)
        *b->at++ = (uint8_t)(b->held >> (b->n - 8));
}

static void put_lengths(struct bits *b, const uint8_t *length)
{
    for (unsigned s = 0, run; s < SYMBOLS; s += run) {
        for (run = 1; length[s] == 0 && run < 64 && s + run < SYMBOLS && length[s + run] == 0;)
            run++;
        put_bits(b, length[s], 5);
        if (length[s] == 0)
            put_bits(b, run - 1, 6);
    }
}

/* Returns the bytes of out. */
static size_t compress(struct matcher *m, const uint8_t *in, size_t n, uint8_t *out)
{
    struct bits b = {.at = out};
    uint32_t weight[SYMBOLS] = {0}, code[SYMBOLS] = {0};
    uint8_t length[SYMBOLS];

    find_matches(m, in, n);
    for (unsigned i = 0; i < m->n; i++)
        weight[m->symbol[i]]++;
    code_lengths(weight, length);
    assign_codes(length, code);
    put_lengths(&b, length);
    for (unsigned i = 0; i < m->n; i++) {
        put_bits(&b, code[m->symbol[i]], length[m->symbol[i]]);
        if (m->symbol[i] >= 256)
            put_bits(&b, m->distance[i], DISTANCE_BITS);
    }
    put_bits(&b, 0, 7);
    return (size_t)(b.at - out);
}

/* ---- the way back ---------------------------------------------------------------------------- */

struct reader {
    const uint8_t *in;
    size_t n, bit;
};

static uint32_t get_bits(struct reader *r, unsigned n)
{
    uint32_t v = 0;

    for (; n > 0; n--, r->bit++)
        v = v << 1 | (r->bit / 8 < r->n ? r->in[r->bit / 8] >> (7 - r->bit % 8) & 1u : 0);
    return v;
}

/* SYMBOLS if the bits are no code. */
static unsigned get_symbol(struct reader *r, const uint8_t *length, const uint32_t *code)
{
    uint32_t v = 0;

    for (unsigned l = 1; l <= CODE_MAX; l++) {
        v = v << 1 | get_bits(r, 1);
        for (unsigned s = 0; s < SYMBOLS; s++)
            if (length[s] == l && code[s] == v)
                return s;
    }
    return SYMBOLS;
}

/* Whether the n bytes at in stand for the n_expected bytes expected. */
static bool expands_to(const uint8_t *in, size_t n, const uint8_t *expected, size_t n_expected)
{
    struct reader r = {in, n, 0};
    uint8_t length[SYMBOLS] = {0};
    uint32_t code[SYMBOLS] = {0};
    size_t at = 0;

    for (unsigned s = 0; s < SYMBOLS; s++) {
        length[s] = (uint8_t)get_bits(&r, 5);
        if (length[s] > CODE_MAX)
            return false;
        if (length[s] == 0)
            s += get_bits(&r, 6);
    }
    assign_codes(length, code);
    while (at < n_expected) {
        unsigned s = get_symbol(&r, length, code);
        size_t many = s < 256 ? 1 : s - 256 + MATCH_MIN;
        size_t back = s < 256 ? 0 : get_bits(&r, DISTANCE_BITS);

        if (s == SYMBOLS || back > at || (s >= 256 && back == 0) || at + many > n_expected)
            return false;
        /* What lies before has been found equal, so a reference may be followed in expected. */
        for (; many > 0; many--, at++)
            if (expected[at] != (s < 256 ? s : expected[at - back]))
                return false;
    }
    return (r.bit + 7) / 8 == n;
}

static size_t get_number(const uint8_t *in, uint64_t *value)
{
    size_t n = 0;

    *value = 0;
    do
        *value |= (uint64_t)(in[n] & 127) << 7 * n;
    while (in[n++] & 128);
    return n;
}

/* Turns tokens of our own making into text; returns its bytes. */
static size_t detokenise(const uint8_t *in, size_t n, uint8_t *text)
{
    struct word words[WORDS_MAX];
    unsigned n_words = 0;
    size_t used = 0;

    for (size_t at = 0; at < n;) {
        uint8_t c = in[at++];
        struct word w = {.length = 0};
        uint64_t v;

        if (c == 1) {
            w = (struct word){(uint16_t)used, in[at], 1};
            words[n_words++] = w;
            memcpy(text + used, in + at + 1, w.length);
            at += 1 + (size_t)w.length;
        } else if (c == 2) {
            uint8_t digits[20];

            at += get_number(in + at, &v);
            do
                digits[w.length++] = (uint8_t)('0' + v % 10);
            while (v /= 10);
            for (unsigned k = 0; k < w.length; k++)
                text[used + k] = digits[w.length - 1 - k];
        } else if (c >= 0x80) {
            w = words[(c & 63) | (c >= 0xc0 ? (unsigned)in[at++] << 6 : 0)];
            memcpy(text + used, text + w.at, w.length);
        } else {
            text[used] = c;
            w.length = 1;
        }
        used += w.length;
    }
    return used;
}

#endif
