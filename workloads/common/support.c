/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wl.h"

void *wl_alloc(size_t bytes)
{
    size_t rounded = (bytes + 63) & ~(size_t)63;
    void *p = rounded >= bytes ? aligned_alloc(64, rounded ? rounded : 64) : NULL;

    if (!p) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memset(p, 0, rounded ? rounded : 64);
}

struct worker {
    void (*body)(unsigned id, void *arg);
    void *arg;
    unsigned id;
    pthread_t thread;
};

static void *start(void *arg)
{
    struct worker *w = arg;

    w->body(w->id, w->arg);
    return NULL;
}

void wl_run(unsigned threads, void (*body)(unsigned id, void *arg), void *arg)
{
    struct worker *w = wl_alloc(threads * sizeof(*w));

    for (unsigned i = 1; i < threads; i++) {
        w[i] = (struct worker){.body = body, .arg = arg, .id = i};
        if (pthread_create(&w[i].thread, NULL, start, &w[i]) != 0) {
            fprintf(stderr, "cannot start thread %u\n", i);
            exit(1);
        }
    }
    body(0, arg);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(w[i].thread, NULL);
    free(w);
}

void wl_share(size_t n, unsigned threads, unsigned id, size_t *first, size_t *end)
{
    size_t each = n / threads, rest = n % threads;

    *first = id * each + (id < rest ? id : rest);
    *end = *first + each + (id < rest);
}

/* splitmix64 */
uint64_t wl_random(struct wl_rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct wl_rng wl_rng(uint64_t seed, uint64_t stream)
{
    struct wl_rng r = {seed};

    r.state = wl_random(&r) ^ stream * UINT64_C(0xd1342543de82ef95);
    return r;
}

uint64_t wl_below(struct wl_rng *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)wl_random(r) * n) >> 64);
}

double wl_uniform(struct wl_rng *r)
{
    return (double)(wl_random(r) >> 11) * 0x1p-53;
}

uint64_t wl_sum(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9fb21c651e98df25);
    return sum ^ sum >> 32;
}

uint64_t wl_sum_double(uint64_t sum, double value)
{
    uint64_t bits;

    value = value == 0 ? 0 : value;
    memcpy(&bits, &value, 8);
    return wl_sum(sum, bits);
}

uint64_t wl_sum_bytes(uint64_t sum, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
    return wl_sum(sum, n);
}
