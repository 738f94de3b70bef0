/* SPDX-License-Identifier: MIT */
/* The games of tree: Othello on six by six squares and Connect Four on six columns of six. Boards
 * are sets of bits; what belongs to a game is called through pointers. */
#ifndef TREE_GAMES_H
#define TREE_GAMES_H

#include <stdbool.h>
#include <stdint.h>

#define SIDE      6 /* squares; a row takes eight bits, so that steps over the edge show */
#define BOARD     UINT64_C(0x3f3f3f3f3f3f)
#define CORNERS   UINT64_C(0x210000000021)
#define PASS      63 /* no square of the board */
#define MOVES_MAX 36
#define WIN       100000

/* As the side to move sees it. */
struct position {
    uint64_t own, other;
};

struct term {
    int (*value)(const struct position *p);
    int weight;
};

struct game {
    struct position start;
    int depth;                                                     /* to search */
    bool (*over)(const struct position *p, int depth, int *value); /* depth left: sooner is more */
    unsigned (*moves)(const struct position *p, uint8_t *list); /* none only if the game is over */
    struct position (*play)(const struct position *p, unsigned move);
    const struct term *terms;
    unsigned terms_count;
};

/* ---- steps ----------------------------------------------------------------------------------- */

#define STEP(name, moved)                                                                          \
    static uint64_t name(uint64_t b)                                                               \
    {                                                                                              \
        return BOARD & (moved);                                                                    \
    }

STEP(east, b << 1)
STEP(west, b >> 1)
STEP(north, b << 8)
STEP(south, b >> 8)
STEP(north_east, b << 9)
STEP(north_west, b << 7)
STEP(south_east, b >> 7)
STEP(south_west, b >> 9)

typedef uint64_t step_fn(uint64_t b);

/* The second four are the opposites of the first. */
static step_fn *const steps[8] = {east, north, north_east, north_west,
                                  west, south, south_west, south_east};

static int count(uint64_t b)
{
    int n = 0;

    for (; b; b &= b - 1)
        n++;
    return n;
}

static unsigned lowest(uint64_t b)
{
    return (unsigned)__builtin_ctzll(b);
}

/* ---- Othello --------------------------------------------------------------------------------- */

static uint64_t othello_targets(uint64_t own, uint64_t other)
{
    uint64_t empty = BOARD & ~(own | other), targets = 0;

    for (unsigned d = 0; d < 8; d++) {
        uint64_t run = steps[d](own) & other;

        while (run) {
            run = steps[d](run);
            targets |= run & empty;
            run &= other;
        }
    }
    return targets;
}

static unsigned othello_moves(const struct position *p, uint8_t *list)
{
    unsigned n = 0;

    for (uint64_t b = othello_targets(p->own, p->other); b; b &= b - 1)
        list[n++] = (uint8_t)lowest(b);
    if (n == 0)
        list[n++] = PASS;
    return n;
}

static struct position othello_play(const struct position *p, unsigned move)
{
    uint64_t stone = UINT64_C(1) << move, turned = 0;

    if (move == PASS)
        return (struct position){p->other, p->own};
    for (unsigned d = 0; d < 8; d++) {
        uint64_t line = 0, at = steps[d](stone);

        for (; at & p->other; at = steps[d](at))
            line |= at;
        if (at & p->own)
            turned |= line;
    }
    return (struct position){p->other & ~turned, p->own | stone | turned};
}

static bool othello_over(const struct position *p, int depth, int *value)
{
    int difference;

    if (othello_targets(p->own, p->other) || othello_targets(p->other, p->own))
        return false;
    difference = count(p->own) - count(p->other);
    *value = difference * 100 + (difference > 0 ? WIN + depth : difference < 0 ? -WIN - depth : 0);
    return true;
}

static int othello_mobility(const struct position *p)
{
    return count(othello_targets(p->own, p->other)) - count(othello_targets(p->other, p->own));
}

static int othello_corners(const struct position *p)
{
    return count(p->own & CORNERS) - count(p->other & CORNERS);
}

/* Stones next to empty squares are targets: the fewer the better. */
static int othello_frontier(const struct position *p)
{
    uint64_t near = 0;

    for (unsigned d = 0; d < 8; d++)
        near |= steps[d](BOARD & ~(p->own | p->other));
    return count(p->other & near) - count(p->own & near);
}

static int othello_squares(const struct position *p)
{
    static const int8_t worth[3][3] = {{0, -6, 4}, {-6, -9, -1}, {4, -1, 1}};
    int sum = 0;

    for (uint64_t b = p->own | p->other; b; b &= b - 1) {
        unsigned square = lowest(b), x = square % 8, y = square / 8;
        int w = worth[y < 3 ? y : SIDE - 1 - y][x < 3 ? x : SIDE - 1 - x];

        sum += p->own >> square & 1 ? w : -w;
    }
    return sum;
}

static const struct term othello_terms[] = {
    {othello_mobility, 8}, {othello_corners, 60}, {othello_frontier, 3}, {othello_squares, 2}};

/* ---- Connect Four ---------------------------------------------------------------------------- */

static unsigned four_moves(const struct position *p, uint8_t *list)
{
    static const uint8_t order[SIDE] = {2, 3, 1, 4, 0, 5};
    uint64_t taken = p->own | p->other;
    unsigned n = 0;

    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned y = 0; y < SIDE; y++)
            if (!(taken >> (y * 8 + order[i]) & 1)) {
                list[n++] = (uint8_t)(y * 8 + order[i]);
                break;
            }
    return n;
}

static struct position four_play(const struct position *p, unsigned move)
{
    return (struct position){p->other, p->own | UINT64_C(1) << move};
}

/* Only the last to move, the other side, can have made a row. */
static bool four_over(const struct position *p, int depth, int *value)
{
    for (unsigned d = 0; d < 4; d++) {
        uint64_t b = p->other & steps[d](p->other);

        if (b & steps[d](steps[d](b))) {
            *value = -WIN - depth;
            return true;
        }
    }
    *value = 0;
    return (p->own | p->other) == BOARD;
}

/* Empty squares that complete a row of which three or, counted less, two are there already. */
static int four_chances(uint64_t own, uint64_t other)
{
    uint64_t empty = BOARD & ~(own | other), three = 0, two = 0;

    for (unsigned d = 0; d < 8; d++) {
        uint64_t one = steps[d](own), run = steps[d](one & own);

        two |= run & empty;
        three |= steps[d](run & own) & empty;
        three |= run & steps[(d + 4) % 8](own) & empty;
    }
    return 6 * count(three) + count(two);
}

static int four_threats(const struct position *p)
{
    return four_chances(p->own, p->other) - four_chances(p->other, p->own);
}

static int four_centre(const struct position *p)
{
    static const uint8_t worth[SIDE] = {0, 2, 3, 3, 2, 0};
    int sum = 0;

    for (uint64_t b = p->own; b; b &= b - 1)
        sum += worth[lowest(b) % 8];
    for (uint64_t b = p->other; b; b &= b - 1)
        sum -= worth[lowest(b) % 8];
    return sum;
}

static const struct term four_terms[] = {{four_threats, 5}, {four_centre, 4}};

static const struct game games[] = {
    {{UINT64_C(0x08040000), UINT64_C(0x04080000)},
     4,
     othello_over,
     othello_moves,
     othello_play,
     othello_terms,
     4},
    {{0, 0}, 6, four_over, four_moves, four_play, four_terms, 2},
};

#endif
