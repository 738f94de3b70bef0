/* SPDX-License-Identifier: MIT */
/* A parallel radix sort of 64-bit keys, least significant digit first, and the groups of equal keys
 * in the result.
 *
 * A pass sorts by one digit: every thread counts the digits in its share of the keys; a prefix sum
 * over digits and threads, itself shared out by digits, tells where each thread's keys of each
 * digit go; every thread moves its keys there. Keys go through a small buffer per digit, so that
 * memory is written a line at a time. Digits in which all keys agree cost no pass. The keys are
 * skewed: a few hot ones make up a third, and small ones are as frequent as large ones.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"

enum {
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    LINE = 8,     /* keys that a buffer holds: 64 bytes */
    CHUNK = 1024, /* keys of one stream of random numbers and of one partial checksum */
    HOT = 20,
    WIDTH = 44, /* bits of a key below the tag */
};

#define TAG (UINT64_C(0x5a) << 56) /* in every key */

struct worker {
    uint64_t line[DIGITS][LINE];
    size_t place[DIGITS]; /* first how many keys of the digit, then where the next one goes */
    size_t range;         /* keys of the digits whose places this worker computes */
    uint8_t held[DIGITS]; /* keys in line[digit] */
} __attribute__((aligned(64)));

struct groups {
    size_t distinct, longest;
    uint64_t commonest; /* the key of the longest group, the smallest if there are several */
};

struct sort {
    unsigned threads;
    size_t n, chunks;
    uint64_t seed;
    uint64_t hot[HOT];
    uint64_t *keys, *spare; /* of the input; an odd number of passes ends in spare */
    uint64_t *sorted;       /* worker 0 */
    uint64_t *sums;         /* of each chunk of the result */
    struct worker *worker;
    size_t total[DIGITS];         /* of all threads, each by the worker of the digit */
    _Atomic uint64_t ones, zeros; /* bits that are set, and clear, in some key */
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    struct groups groups; /* under lock */
};

/* ---- input ----------------------------------------------------------------------------------- */

static void choose_hot(struct sort *s)
{
    struct wl_rng r = wl_rng(s->seed, 0);

    for (unsigned i = 0; i < HOT; i++)
        s->hot[i] = wl_random(&r) >> (64 - WIDTH);
}

static uint64_t generate_key(const struct sort *s, struct wl_rng *r)
{
    uint64_t kind = wl_below(r, 12), key;

    if (kind < 4) { /* each in the list an eighth less hot than the one before */
        unsigned i = 0;

        for (uint64_t bits = wl_random(r); i < HOT - 1 && (bits & 7) != 0; bits >>= 3)
            i++;
        key = s->hot[i];
    } else if (kind < 9) { /* any number of bits as likely as any other */
        uint64_t narrower = wl_below(r, WIDTH);

        key = wl_random(r) >> (64 - WIDTH + narrower);
    } else {
        key = wl_random(r) >> (64 - WIDTH);
    }
    return TAG | key;
}

static void generate(const struct sort *s, size_t chunk, uint64_t *keys)
{
    struct wl_rng r = wl_rng(s->seed, chunk + 1);
    size_t end = (chunk + 1) * CHUNK < s->n ? (chunk + 1) * CHUNK : s->n;

    for (size_t i = chunk * CHUNK; i < end; i++)
        keys[i] = generate_key(s, &r);
}

/* ---- sort ------------------------------------------------------------------------------------ */

/* The bits in which keys differ. */
static uint64_t find_varying(struct sort *s, size_t first, size_t end)
{
    uint64_t ones = 0, zeros = 0;

    for (size_t i = first; i < end; i++) {
        ones |= s->keys[i];
        zeros |= ~s->keys[i];
    }
    atomic_fetch_or(&s->ones, ones);
    atomic_fetch_or(&s->zeros, zeros);
    pthread_barrier_wait(&s->barrier);
    return atomic_load(&s->ones) & atomic_load(&s->zeros);
}

static unsigned digit_of(uint64_t key, unsigned shift)
{
    return (unsigned)(key >> shift) & (DIGITS - 1);
}

static void count(struct worker *w, const uint64_t *keys, size_t first, size_t end, unsigned shift)
{
    memset(w->place, 0, sizeof(w->place));
    for (size_t i = first; i < end; i++)
        w->place[digit_of(keys[i], shift)]++;
}

/* Turns the counts of all workers into places, for the digits that are worker id's. */
static void prefix(struct sort *s, unsigned id)
{
    size_t first, end, base = 0;

    wl_share(DIGITS, s->threads, id, &first, &end);
    s->worker[id].range = 0;
    for (size_t d = first; d < end; d++) {
        size_t sum = 0;

        for (unsigned t = 0; t < s->threads; t++) {
            size_t n = s->worker[t].place[d];

            s->worker[t].place[d] = sum;
            sum += n;
        }
        s->total[d] = sum;
        s->worker[id].range += sum;
    }
    pthread_barrier_wait(&s->barrier);
    for (unsigned t = 0; t < id; t++)
        base += s->worker[t].range;
    for (size_t d = first; d < end; d++) {
        for (unsigned t = 0; t < s->threads && s->total[d] > 0; t++)
            s->worker[t].place[d] += base;
        base += s->total[d];
    }
}

static void permute(struct worker *w, uint64_t *to, const uint64_t *from, size_t first, size_t end,
                    unsigned shift)
{
    memset(w->held, 0, sizeof(w->held));
    for (size_t i = first; i < end; i++) {
        unsigned d = digit_of(from[i], shift);

        w->line[d][w->held[d]++] = from[i];
        if (w->held[d] == LINE) {
            memcpy(to + w->place[d], w->line[d], sizeof(w->line[d]));
            w->place[d] += LINE;
            w->held[d] = 0;
        }
    }
    for (unsigned d = 0; d < DIGITS; d++)
        for (unsigned i = 0; i < w->held[d]; i++)
            to[w->place[d]++] = w->line[d][i];
}

/* Returns where the sorted keys are. */
static uint64_t *sort_keys(struct sort *s, unsigned id, size_t first, size_t end)
{
    uint64_t *from = s->keys, *to = s->spare, *t, varying = find_varying(s, first, end);

    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (digit_of(varying, shift) == 0)
            continue;
        count(&s->worker[id], from, first, end, shift);
        pthread_barrier_wait(&s->barrier);
        prefix(s, id);
        pthread_barrier_wait(&s->barrier);
        permute(&s->worker[id], to, from, first, end, shift);
        pthread_barrier_wait(&s->barrier);
        t = from;
        from = to;
        to = t;
    }
    return from;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void note_group(struct groups *g, uint64_t key, size_t length)
{
    if (length > g->longest || (length == g->longest && key < g->commonest)) {
        g->longest = length;
        g->commonest = key;
    }
}

/* The groups that begin in [first, end); the last may go on behind it. */
static void find_groups(const uint64_t *keys, size_t n, size_t first, size_t end, struct groups *g)
{
    size_t i = first, start;

    while (i > 0 && i < end && keys[i] == keys[i - 1])
        i++;
    while (i < end) {
        start = i++;
        while (i < n && keys[i] == keys[start])
            i++;
        g->distinct++;
        note_group(g, keys[start], i - start);
    }
}

static void summarise(struct sort *s, const uint64_t *keys, unsigned id)
{
    struct groups own = {0};
    size_t first, end;

    wl_share(s->n, s->threads, id, &first, &end);
    find_groups(keys, s->n, first, end, &own);
    pthread_mutex_lock(&s->lock);
    s->groups.distinct += own.distinct;
    note_group(&s->groups, own.commonest, own.longest);
    pthread_mutex_unlock(&s->lock);
    wl_share(s->chunks, s->threads, id, &first, &end);
    for (size_t c = first; c < end; c++)
        for (size_t i = c * CHUNK; i < s->n && i < (c + 1) * CHUNK; i++)
            s->sums[c] = wl_sum(s->sums[c], keys[i]);
}

static void work(unsigned id, void *arg)
{
    struct sort *s = arg;
    size_t first, end;
    uint64_t *sorted;

    wl_share(s->chunks, s->threads, id, &first, &end);
    for (size_t c = first; c < end; c++)
        generate(s, c, s->keys);
    pthread_barrier_wait(&s->barrier);
    wl_share(s->n, s->threads, id, &first, &end);
    sorted = sort_keys(s, id, first, end);
    if (id == 0)
        s->sorted = sorted;
    summarise(s, sorted, id);
}

static uint64_t checksum(const struct sort *s)
{
    uint64_t sum = wl_sum(wl_sum(0, s->groups.distinct), s->groups.longest);

    sum = wl_sum(sum, s->groups.commonest);
    for (size_t c = 0; c < s->chunks; c++)
        sum = wl_sum(sum, s->sums[c]);
    return sum;
}

/* ---- check ----------------------------------------------------------------------------------- */

static int compare(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

/* Against the C library's sort of the same keys, and its groups counted one key at a time. */
static bool check(const struct sort *s)
{
    uint64_t *keys = wl_alloc(s->n * sizeof(*keys));
    struct groups g = {0};
    size_t length = 0;
    bool good;

    for (size_t c = 0; c < s->chunks; c++)
        generate(s, c, keys);
    qsort(keys, s->n, sizeof(*keys), compare);
    for (size_t i = 0; i < s->n; i++) {
        length = i > 0 && keys[i] == keys[i - 1] ? length + 1 : 1;
        g.distinct += length == 1;
        note_group(&g, keys[i], length);
    }
    good = memcmp(keys, s->sorted, s->n * sizeof(*keys)) == 0 && g.distinct == s->groups.distinct &&
           g.longest == s->groups.longest && g.commonest == s->groups.commonest;
    free(keys);
    return good;
}

/* ---- program --------------------------------------------------------------------------------- */

static const struct wl_program program = {
    .name = "radix",
    .about = "Radix sort of skewed 64-bit keys, and the groups of equal ones.",
    .size = "keys",
    .size_default = 12000,
    .size_min = 1,
    .size_max = 64 << 20,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct sort s = {.threads = a.threads, .n = a.size, .seed = a.seed};
    uint64_t sum;
    bool passed;

    s.chunks = (s.n + CHUNK - 1) / CHUNK;
    s.keys = wl_alloc(s.n * sizeof(*s.keys));
    s.spare = wl_alloc(s.n * sizeof(*s.spare));
    s.sums = wl_alloc(s.chunks * sizeof(*s.sums));
    s.worker = wl_alloc(a.threads * sizeof(*s.worker));
    choose_hot(&s);
    pthread_barrier_init(&s.barrier, NULL, a.threads);
    pthread_mutex_init(&s.lock, NULL);
    wl_run(a.threads, work, &s);
    sum = checksum(&s);
    passed = !a.check || check(&s);
    pthread_mutex_destroy(&s.lock);
    pthread_barrier_destroy(&s.barrier);
    free(s.keys);
    free(s.spare);
    free(s.sums);
    free(s.worker);
    return wl_finish(&program, &a, sum, passed);
}
