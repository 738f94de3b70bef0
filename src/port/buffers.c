/* SPDX-License-Identifier: MIT */
#include "port/buffers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUARTERS   1, 2, 4, 8, 16, 32
#define SMALL      (1 << 12)
#define LARGE      (1 << 16)
#define TIMES_6(x) x, x, x, x, x, x

const uint32_t vs_buffers_quarters[VS_BUFFERS_WIDTHS] = {QUARTERS};
const uint64_t vs_buffers_sizes[VS_BUFFERS_SIZES] = {0, SMALL, LARGE};

/* By buffer with a limit, in quarters of a bit. These are small enough for 32 bits, of which
 * compilers make vectors. */
static const int32_t rates[VS_BUFFERS_LIMITED] = {QUARTERS, QUARTERS};
static const int32_t limits[VS_BUFFERS_LIMITED] = {TIMES_6(4 * SMALL), TIMES_6(4 * LARGE)};

int vs_buffers_init(struct vs_buffers *b, const struct vs_buffers_plan *plan)
{
    *b = (struct vs_buffers){.plan = *plan, .next = plan->window};
    if (!plan->window || !plan->count)
        return -VSE_INVAL;
    b->windows = calloc(plan->count, sizeof(*b->windows));
    return b->windows ? 0 : -VSE_NOMEM;
}

void vs_buffers_fini(struct vs_buffers *b)
{
    free(b->windows);
    *b = (struct vs_buffers){0};
}

static void note_levels(struct vs_buffers *b)
{
    struct vs_buffers_window *w = &b->windows[b->at];

    for (unsigned i = 0; i < VS_BUFFERS_WIDTHS; i++) {
        uint64_t level = b->level[i];

        b->largest[i] = level > b->largest[i] ? level : b->largest[i];
        w->largest[i] = level > w->largest[i] ? level : w->largest[i];
    }
}

static void drain(struct vs_buffers *b, uint64_t cycle)
{
    uint64_t passed = cycle - b->now;
    /* so many empty any buffer with a limit */
    int32_t few = passed < 4 * LARGE ? (int32_t)passed : 4 * LARGE;

    b->now = cycle;
    for (unsigned i = 0; i < VS_BUFFERS_LIMITED; i++) {
        int32_t level = b->limited[i] - few * rates[i];

        b->limited[i] = level > 0 ? level : 0;
    }
    for (unsigned i = 0; i < VS_BUFFERS_WIDTHS; i++) {
        uint64_t left = b->level[i] >> i; /* the rate is 2^i */

        b->level[i] = left < passed ? 0 : b->level[i] - (passed << i);
    }
}

/* Levels only fall between messages, so that a window's largest one is where it begins or after a
 * message. */
static void advance(struct vs_buffers *b, uint64_t cycle)
{
    while (b->at + 1 < b->plan.count && cycle >= b->next) {
        drain(b, b->next);
        b->at++;
        b->next += b->plan.window;
        note_levels(b);
    }
    if (cycle > b->now)
        drain(b, cycle);
}

/* Buffers with a limit do not take what does not fit. */
static void fill(struct vs_buffers *b, uint64_t bits)
{
    /* more fits into none of them */
    int32_t more = bits <= LARGE ? 4 * (int32_t)bits : 4 * LARGE + 1;
    int32_t before[VS_BUFFERS_LIMITED], lost = 0;

    for (unsigned i = 0; i < VS_BUFFERS_WIDTHS; i++)
        b->level[i] += 4 * bits;
    memcpy(before, b->limited, sizeof(before));
    for (unsigned i = 0; i < VS_BUFFERS_LIMITED; i++) {
        int32_t level = before[i] + more;
        bool over = level > limits[i];

        b->limited[i] = over ? before[i] : level;
        lost |= over;
    }
    for (unsigned i = 0; lost && i < VS_BUFFERS_LIMITED; i++)
        if (before[i] + more > limits[i]) {
            b->dropped_bits[i] += bits;
            b->dropped_messages[i]++;
        }
}

void vs_buffers_add(struct vs_buffers *b, uint64_t cycle, uint64_t bits)
{
    advance(b, cycle);
    fill(b, bits);
    note_levels(b);
}

void vs_buffers_end(struct vs_buffers *b, uint64_t cycle)
{
    advance(b, cycle);
}

uint64_t vs_buffers_largest(const struct vs_buffers *b, unsigned width)
{
    return (b->largest[width] + 3) / 4;
}

uint64_t vs_buffers_largest_in(const struct vs_buffers *b, unsigned width, size_t window)
{
    return (b->windows[window].largest[width] + 3) / 4;
}
