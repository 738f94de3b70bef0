/* SPDX-License-Identifier: MIT */
/* Two programs play games against themselves: Othello on six by six squares and Connect Four on six
 * columns of six. Both have one search: alpha-beta with iterative deepening, a transposition table,
 * killer moves and a history of moves that cut. What belongs to a game (moves, playing one, the
 * end, the terms of the evaluation, the steps in each direction) is called through pointers.
 *
 * An entry of the table counts only at exactly the depth asked for, so the value of a search is
 * that of plain minimax to the same depth; -c computes that as well.
 */
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"
#include "tree_games.h"

static const struct wl_program program = {
    .name = "tree",
    .about = "game-tree search: alpha-beta over two games behind function pointers",
    .size = "moves to find",
    .size_default = 4,
    .size_min = 1,
    .size_max = 1000000,
    .threads_max = 1,
};

#define DEPTH_MAX   8
#define CHECK_DEPTH 4
#define TABLE_SIZE  2048
#define INFINITE    1000000

/* ---- search ---------------------------------------------------------------------------------- */

enum bound { EXACT, AT_LEAST, AT_MOST };

struct entry {
    struct position position;
    int32_t value;
    uint8_t depth, bound, move; /* depth 0: nothing here */
};

struct search {
    const struct game *game;
    uint64_t nodes;
    uint32_t history[64];
    uint8_t killers[DEPTH_MAX + 1][2];
    uint8_t best;              /* of the last search from the root */
    int values[DEPTH_MAX + 1]; /* by depth */
    struct entry table[TABLE_SIZE];
};

static int evaluate(const struct game *g, const struct position *p)
{
    int sum = 0;

    for (unsigned i = 0; i < g->terms_count; i++)
        sum += g->terms[i].weight * g->terms[i].value(p);
    return sum;
}

static struct entry *lookup(struct search *s, const struct position *p)
{
    return &s->table[wl_sum(wl_sum(0, p->own), p->other) % TABLE_SIZE];
}

static void order(const struct search *s, uint8_t *moves, unsigned n, unsigned first, int depth)
{
    uint32_t score[MOVES_MAX];

    for (unsigned i = 0; i < n; i++) {
        uint8_t m = moves[i];
        uint32_t v = m == first                                               ? UINT32_MAX
                     : m == s->killers[depth][0] || m == s->killers[depth][1] ? UINT32_MAX - 1
                                                                              : s->history[m];
        unsigned j = i;

        for (; j > 0 && score[j - 1] < v; j--) {
            score[j] = score[j - 1];
            moves[j] = moves[j - 1];
        }
        score[j] = v;
        moves[j] = m;
    }
}

static void note_cut(struct search *s, uint8_t move, int depth)
{
    if (s->killers[depth][0] != move) {
        s->killers[depth][1] = s->killers[depth][0];
        s->killers[depth][0] = move;
    }
    s->history[move] += (uint32_t)(depth * depth);
}

static int alpha_beta(struct search *s, const struct position *p, int depth, int alpha, int beta);

/* The best of the moves, which goes to *best, or the first that is too good. */
static int try_moves(struct search *s, const struct position *p, int depth, int alpha, int beta,
                     uint8_t *best)
{
    uint8_t moves[MOVES_MAX];
    unsigned n = s->game->moves(p, moves);
    int value = -INFINITE;

    order(s, moves, n, *best, depth);
    for (unsigned i = 0; i < n && value < beta; i++) {
        struct position next = s->game->play(p, moves[i]);
        int v = -alpha_beta(s, &next, depth - 1, -beta, -(alpha > value ? alpha : value));

        if (v > value) {
            value = v;
            *best = moves[i];
        }
    }
    if (value >= beta)
        note_cut(s, *best, depth);
    return value;
}

static int alpha_beta(struct search *s, const struct position *p, int depth, int alpha, int beta)
{
    struct entry *e = lookup(s, p);
    uint8_t best = PASS;
    int value;

    s->nodes++;
    if (s->game->over(p, depth, &value))
        return value;
    if (depth == 0)
        return evaluate(s->game, p);
    if (e->depth && e->position.own == p->own && e->position.other == p->other) {
        if (e->depth == depth && (e->bound == EXACT || (e->bound == AT_LEAST && e->value >= beta) ||
                                  (e->bound == AT_MOST && e->value <= alpha))) {
            s->best = e->move;
            return e->value;
        }
        best = e->move;
    }
    value = try_moves(s, p, depth, alpha, beta, &best);
    *e = (struct entry){.position = *p,
                        .value = value,
                        .depth = (uint8_t)depth,
                        .bound = value >= beta    ? AT_LEAST
                                 : value <= alpha ? AT_MOST
                                                  : EXACT,
                        .move = best};
    s->best = best;
    return value;
}

static unsigned find_move(struct search *s, const struct position *p)
{
    memset(s->history, 0, sizeof(s->history));
    memset(s->killers, PASS, sizeof(s->killers));
    for (int depth = 1; depth <= s->game->depth; depth++)
        s->values[depth] = alpha_beta(s, p, depth, -INFINITE, INFINITE);
    return s->best;
}

static int minimax(const struct game *g, const struct position *p, int depth)
{
    uint8_t moves[MOVES_MAX];
    int value, best = -INFINITE;
    unsigned n;

    if (g->over(p, depth, &value))
        return value;
    if (depth == 0)
        return evaluate(g, p);
    n = g->moves(p, moves);
    for (unsigned i = 0; i < n; i++) {
        struct position next = g->play(p, moves[i]);

        value = -minimax(g, &next, depth - 1);
        best = value > best ? value : best;
    }
    return best;
}

/* The rules once more, square by square and without bit tricks: the stones that a row from the
 * square in direction (dx, dy) encloses, and how many of one's own it passes. */
static unsigned naive_row(const struct position *p, int x, int y, int dx, int dy, unsigned *own)
{
    unsigned enclosed = 0;

    *own = 0;
    for (x += dx, y += dy; x >= 0 && x < SIDE && y >= 0 && y < SIDE; x += dx, y += dy) {
        unsigned square = (unsigned)(y * 8 + x);

        if (p->own >> square & 1) {
            if (enclosed)
                return enclosed;
            ++*own;
        } else if (*own == 0 && p->other >> square & 1) {
            enclosed++;
        } else {
            break;
        }
    }
    return 0;
}

static bool check_move(const struct game *g, const struct position *p, unsigned move)
{
    struct position next = g->play(p, move);
    unsigned turned = 0, row = 1, own, back;
    int x = (int)(move % 8), y = (int)(move / 8), value;

    if (move == PASS)
        return next.own == p->other && next.other == p->own;
    for (int i = 0; i < 9; i++)
        if (i != 4) {
            turned += naive_row(p, x, y, i % 3 - 1, i / 3 - 1, &own);
            naive_row(p, x, y, 1 - i % 3, 1 - i / 3, &back);
            row = own + 1 + back > row ? own + 1 + back : row;
        }
    if (g == &games[0])
        return turned > 0 && count(next.own) == count(p->other) - (int)turned &&
               count(next.other) == count(p->own) + (int)turned + 1;
    return g->over(&next, 0, &value) == (row >= 4 || (next.own | next.other) == BOARD);
}

/* To the full depth only if so asked: it takes long. */
static bool check(const struct search *s, const struct position *p, bool full)
{
    for (int depth = 1; depth <= (full ? s->game->depth : CHECK_DEPTH); depth++)
        if (minimax(s->game, p, depth) != s->values[depth])
            return false;
    return true;
}

/* ---- play ------------------------------------------------------------------------------------ */

static struct position opening(const struct game *g, struct wl_rng *rng)
{
    struct position p = g->start;
    uint8_t moves[MOVES_MAX];
    uint64_t plies = 2 + wl_below(rng, 5);

    for (uint64_t i = 0; i < plies; i++)
        p = g->play(&p, moves[wl_below(rng, g->moves(&p, moves))]);
    return p;
}

/* Both games are under way at once, a move here and a move there. */
int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct wl_rng rng = wl_rng(a.seed, 0);
    struct search *both = wl_alloc(2 * sizeof(*both));
    struct position positions[2];
    uint64_t sum = 0;
    bool passed = true;

    for (uint64_t n = 0; n < a.size; n++) {
        struct search *s = &both[n % 2];
        struct position *p = &positions[n % 2];
        unsigned move;
        int value;

        while (!s->game || s->game->over(p, 0, &value)) {
            if (s->game)
                memset(s->table, 0, sizeof(s->table));
            s->game = &games[n % 2];
            *p = opening(s->game, &rng);
        }
        move = find_move(s, p);
        sum = wl_sum(wl_sum(sum, move), (uint64_t)s->values[s->game->depth]);
        if (a.check)
            passed = passed && check(s, p, n % 16 == 1) && check_move(s->game, p, move);
        *p = s->game->play(p, move);
    }
    sum = wl_sum(wl_sum(sum, both[0].nodes), both[1].nodes);
    free(both);
    return wl_finish(&program, &a, sum, passed);
}
