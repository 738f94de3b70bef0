/* SPDX-License-Identifier: MIT */
/* Blocks of a made-up log pass through four stages: generate, tokenise, compress, aggregate.
 *
 * Bounded queues with condition variables lie between the stages. Generate (worker 0) and aggregate
 * have one worker each, tokenise and compress THREADS each. Blocks overtake one another in the
 * middle; aggregate puts them back in order by their numbers before it merges the dictionaries of
 * the blocks, so the result does not know how they were scheduled. Blocks go back to generate
 * through one more queue, which bounds memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "wl.h"
#include "pipeline_codec.h"

#define VOCABULARY 600
#define QUEUE      8
#define ALL_WORDS                                                                                  \
    4096 /* slots of the merged dictionary; the generator knows fewer than 1000 words */

struct block {
    uint64_t number;
    size_t n_text, n_tokens, n_packed;
    unsigned n_words;
    struct word words[WORDS_MAX];
    uint8_t text[TEXT_MAX], tokens[TOKENS_MAX], packed[PACKED_MAX];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled, drained;
    struct block **ring;
    unsigned capacity, first, n;
    unsigned writers; /* the last one to leave ends the queue */
};

struct known_word {
    uint8_t text[WORD_MAX];
    unsigned length, order;
    uint64_t count;
};

struct totals {
    struct known_word words[ALL_WORDS];
    unsigned n_words;
    uint64_t text, tokens, packed, sum;
    bool passed;
};

struct shared {
    struct wl_args args;
    char vocabulary[VOCABULARY][16];
    struct queue unused, raw, tokenised, compressed;
    unsigned n_blocks; /* in circulation */
    struct totals totals;
};

/* ---- queues ---------------------------------------------------------------------------------- */

static void queue_init(struct queue *q, unsigned capacity, unsigned writers)
{
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, NULL);
    pthread_cond_init(&q->drained, NULL);
    q->ring = wl_alloc(capacity * sizeof(struct block *));
    q->capacity = capacity;
    q->writers = writers;
}

static void queue_fini(struct queue *q)
{
    free(q->ring);
    pthread_cond_destroy(&q->drained);
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
}

static void put(struct queue *q, struct block *b)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == q->capacity)
        pthread_cond_wait(&q->drained, &q->lock);
    q->ring[(q->first + q->n++) % q->capacity] = b;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

/* NULL at the end of the queue. */
static struct block *take(struct queue *q)
{
    struct block *b = NULL;

    pthread_mutex_lock(&q->lock);
    while (q->n == 0 && q->writers > 0)
        pthread_cond_wait(&q->filled, &q->lock);
    if (q->n > 0) {
        b = q->ring[q->first];
        q->first = (q->first + 1) % q->capacity;
        q->n--;
        pthread_cond_signal(&q->drained);
    }
    pthread_mutex_unlock(&q->lock);
    return b;
}

static void leave(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (--q->writers == 0)
        pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

/* ---- the log --------------------------------------------------------------------------------- */

static void make_vocabulary(struct shared *s)
{
    struct wl_rng rng = wl_rng(s->args.seed, UINT64_MAX);

    for (unsigned k = 0; k < VOCABULARY; k++) {
        char *w = s->vocabulary[k];
        unsigned n = 0;

        for (uint64_t syllables = 1 + wl_below(&rng, 4); syllables > 0; syllables--) {
            w[n++] = "bcdfghklmnprstvz"[wl_below(&rng, 16)];
            w[n++] = "aeiou"[wl_below(&rng, 5)];
            if (wl_below(&rng, 3) == 0)
                w[n++] = "nrstl"[wl_below(&rng, 5)];
        }
    }
}

/* Rarely used words stand at the end of the vocabulary. */
static const char *some_word(const struct shared *s, struct wl_rng *rng)
{
    double u = wl_uniform(rng);

    return s->vocabulary[(unsigned)(u * u * u * VOCABULARY)];
}

static int one_line(const struct shared *s, struct wl_rng *rng, uint64_t time, char *out, size_t n)
{
    const char *a = some_word(s, rng), *b = some_word(s, rng), *c = some_word(s, rng);
    const char *d = some_word(s, rng);
    unsigned v = (unsigned)wl_below(rng, 100000);
    char stamp[16];

    snprintf(stamp, sizeof(stamp), "%02u:%02u:%02u", (unsigned)(time / 3600 % 24),
             (unsigned)(time / 60 % 60), (unsigned)(time % 60));
    switch (wl_below(rng, 6)) {
    case 0:
        return snprintf(out, n, "%s warning: %s/%s is %u %% full\n", stamp, a, b, v % 101);
    case 1:
        return snprintf(out, n, "%s %s[%u]: %s=%u, %s=%u\n", stamp, a, v % 4096, b, v, c, v / 7);
    case 2:
        return snprintf(out, n, "%s from 10.%u.%u.%u: %s %s\n", stamp, v % 4, v % 64, v % 251, b,
                        c);
    case 3:
        return snprintf(out, n, "  %s %s %s %s %s.\n", a, b, c, b, d);
    case 4:
        return snprintf(out, n, "%s error %u in %s: %s (%s)\n", stamp, v % 40, a, b, c);
    default:
        return snprintf(out, n, "%s %s %s %s\n", stamp, a, a, b);
    }
}

/* Block number k is the same whoever asks. */
static size_t make_text(const struct shared *s, uint64_t number, uint8_t *text)
{
    struct wl_rng rng = wl_rng(s->args.seed, number);
    uint64_t time = number * 97;
    size_t n = 0, most = TEXT_MAX / 2 + wl_below(&rng, TEXT_MAX / 2);
    char line[160];

    for (;;) {
        size_t length = (size_t)one_line(s, &rng, time += wl_below(&rng, 4), line, sizeof(line));

        if (n + length > most)
            return n;
        memcpy(text + n, line, length);
        n += length;
    }
}

/* ---- the stages ------------------------------------------------------------------------------ */

static void generate_stage(struct shared *s)
{
    for (uint64_t k = 0; k < s->args.size; k++) {
        struct block *b = take(&s->unused);

        b->number = k;
        b->n_text = make_text(s, k, b->text);
        put(&s->raw, b);
    }
    leave(&s->raw);
}

static void tokenise_stage(struct shared *s)
{
    struct dictionary *d = wl_alloc(sizeof(*d));
    struct block *b;

    while ((b = take(&s->raw))) {
        b->n_tokens = tokenise(d, b->text, b->n_text, b->words, &b->n_words, b->tokens);
        put(&s->tokenised, b);
    }
    leave(&s->tokenised);
    free(d);
}

static void compress_stage(struct shared *s)
{
    struct matcher *m = wl_alloc(sizeof(*m));
    struct block *b;

    while ((b = take(&s->tokenised))) {
        b->n_packed = compress(m, b->tokens, b->n_tokens, b->packed);
        put(&s->compressed, b);
    }
    leave(&s->compressed);
    free(m);
}

static void merge_word(struct totals *t, const uint8_t *text, unsigned length, unsigned count)
{
    uint32_t h = hash_word(text, length);
    struct known_word *w;

    while ((w = &t->words[h % ALL_WORDS])->length &&
           (w->length != length || memcmp(w->text, text, length) != 0))
        h++;
    if (w->length == 0) {
        memcpy(w->text, text, length);
        w->length = length;
        w->order = t->n_words++;
    }
    w->count += count;
}

/* With -c: back from the packed block to the text. */
static bool block_is_right(const struct shared *s, const struct block *b)
{
    uint8_t text[TEXT_MAX], back[2 * TEXT_MAX];
    size_t n = make_text(s, b->number, text);

    return expands_to(b->packed, b->n_packed, b->tokens, b->n_tokens) &&
           detokenise(b->tokens, b->n_tokens, back) == n && memcmp(text, back, n) == 0;
}

static void account(struct shared *s, struct block *b)
{
    struct totals *t = &s->totals;

    for (unsigned k = 0; k < b->n_words; k++)
        merge_word(t, b->text + b->words[k].at, b->words[k].length, b->words[k].count);
    t->text += b->n_text;
    t->tokens += b->n_tokens;
    t->packed += b->n_packed;
    t->sum = wl_sum_bytes(t->sum, b->packed, b->n_packed);
    if (s->args.check && !block_is_right(s, b))
        t->passed = false;
}

/* The blocks in circulation have consecutive numbers, so as many places keep them apart. */
static void aggregate_stage(struct shared *s)
{
    struct block **waiting = wl_alloc(s->n_blocks * sizeof(struct block *)), *b;
    uint64_t next = 0;

    while ((b = take(&s->compressed))) {
        waiting[b->number % s->n_blocks] = b;
        while ((b = waiting[next % s->n_blocks])) {
            waiting[next++ % s->n_blocks] = NULL;
            account(s, b);
            put(&s->unused, b);
        }
    }
    if (next != s->args.size)
        s->totals.passed = false;
    free(waiting);
}

static void worker(unsigned id, void *arg)
{
    struct shared *s = arg;

    if (id == 0)
        generate_stage(s);
    else if (id == 1)
        aggregate_stage(s);
    else if (id < 2 + s->args.threads)
        tokenise_stage(s);
    else
        compress_stage(s);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* With -c: counts the words of the log once more, without a dictionary per block. */
static bool counts_are_right(const struct shared *s)
{
    struct totals *again = wl_alloc(sizeof(*again));
    uint8_t text[TEXT_MAX];
    bool same;

    for (uint64_t k = 0; k < s->args.size; k++) {
        size_t n = make_text(s, k, text), at = 0, end;

        again->text += n;
        for (; at < n; at = end) {
            for (end = at; end < n && is_letter(text[end]);)
                end++;
            if (end > at)
                merge_word(again, text + at, (unsigned)(end - at), 1);
            for (; end < n && !is_letter(text[end]);)
                end++;
        }
    }
    same = again->text == s->totals.text;
    for (unsigned k = 0; k < ALL_WORDS; k++) {
        const struct known_word *w = &again->words[k];
        uint32_t h = hash_word(w->text, w->length);

        while (w->length && s->totals.words[h % ALL_WORDS].length &&
               (s->totals.words[h % ALL_WORDS].length != w->length ||
                memcmp(s->totals.words[h % ALL_WORDS].text, w->text, w->length) != 0))
            h++;
        same = same && (!w->length || s->totals.words[h % ALL_WORDS].count == w->count);
    }
    free(again);
    return same;
}

static uint64_t checksum(const struct totals *t)
{
    uint64_t sum = t->sum;

    sum = wl_sum(wl_sum(wl_sum(sum, t->text), t->tokens), t->packed);
    for (unsigned k = 0; k < ALL_WORDS; k++)
        if (t->words[k].length)
            sum = wl_sum(wl_sum(wl_sum(sum, t->words[k].order), t->words[k].count), k);
    return sum;
}

static const struct wl_program program = {
    .name = "pipeline",
    .about = "Generates, tokenises, compresses and counts a log in stages with bounded queues;\n"
             "the two stages in the middle have THREADS workers each, the others one.",
    .size = "blocks of the log",
    .size_default = 10,
    .size_min = 1,
    .size_max = 10000000,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args args = wl_args(&program, argc, argv);
    struct shared *s = wl_alloc(sizeof(*s));
    struct block *blocks;
    uint64_t sum;
    bool passed;

    s->args = args;
    s->n_blocks = 4 * args.threads + QUEUE;
    s->totals.passed = true;
    make_vocabulary(s);
    queue_init(&s->unused, s->n_blocks, 1);
    queue_init(&s->raw, QUEUE, 1);
    queue_init(&s->tokenised, QUEUE, args.threads);
    queue_init(&s->compressed, QUEUE, args.threads);
    blocks = wl_alloc(s->n_blocks * sizeof(*blocks));
    for (unsigned k = 0; k < s->n_blocks; k++)
        put(&s->unused, &blocks[k]);
    wl_run(2 + 2 * args.threads, worker, s);
    sum = checksum(&s->totals);
    passed = s->totals.passed && (!args.check || counts_are_right(s));
    free(blocks);
    queue_fini(&s->compressed);
    queue_fini(&s->tokenised);
    queue_fini(&s->raw);
    queue_fini(&s->unused);
    free(s);
    return wl_finish(&program, &args, sum, passed);
}
