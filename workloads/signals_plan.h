/* SPDX-License-Identifier: MIT */
/* What signals does, turn by turn, and what must come of it, computed without signals or jumps. */
#ifndef SIGNALS_PLAN_H
#define SIGNALS_PLAN_H

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"

#define BLOCKS     512 /* of the sparse array; those with a number 7 modulo 8 stay closed */
#define SLOTS      32
#define NEST_DEPTH 5
#define TEXT_MAX   256
#define QUEUED     4

enum failure { NONE, SYNTAX, OVERFLOW, DIVISION, CLOSED };

/* ---- the plan -------------------------------------------------------------------------------- */

struct writer {
    struct wl_rng *rng;
    char text[TEXT_MAX];
    size_t length;
};

static void write_char(struct writer *w, char c)
{
    if (w->length + 1 < sizeof(w->text))
        w->text[w->length++] = c;
}

static void write_number(struct writer *w, uint64_t v)
{
    if (v >= 10)
        write_number(w, v / 10);
    write_char(w, (char)('0' + v % 10));
}

/* Operators on both sides of smaller expressions; seldom a letter, which nobody understands. */
static void write_expression(struct writer *w, unsigned depth)
{
    uint64_t dice = wl_below(w->rng, 8);
    bool brackets = depth > 0 && dice < 3;

    if (depth == 0 || dice == 7) {
        uint64_t v = wl_below(w->rng, wl_below(w->rng, 3) ? 10 : 100000);

        if (wl_below(w->rng, 100) == 0)
            write_char(w, 'x');
        write_number(w, v);
        return;
    }
    if (brackets)
        write_char(w, '(');
    write_expression(w, depth - 1);
    write_char(w, "+-*/%*+-"[wl_below(w->rng, 8)]);
    write_expression(w, depth - 1);
    if (brackets)
        write_char(w, ')');
}

/* What one turn does, from the seed. */
struct turn {
    struct writer expression;
    size_t block, slot, close;
    int nested; /* a signal, or 0 */
    bool queued;
};

static inline void plan(struct turn *t, struct wl_rng *rng, uint64_t number)
{
    memset(t, 0, sizeof(*t));
    t->expression.rng = rng;
    write_expression(&t->expression, 2 + (unsigned)wl_below(rng, 3));
    t->block = wl_below(rng, BLOCKS);
    t->slot = wl_below(rng, SLOTS);
    t->close = number % 4 ? BLOCKS : wl_below(rng, BLOCKS);
    t->nested = number % 16 != 3 ? 0 : number & 16 ? SIGUSR1 : SIGUSR2;
    t->queued = number % 32 == 9;
}

/* ---- the same without signals and jumps ------------------------------------------------------ */

struct model {
    uint64_t words[BLOCKS][SLOTS];
    bool open[BLOCKS];
    sig_atomic_t repaired, closed, divisions, nested, queued;
    uint64_t order, sum;
};

/* Values and failures returned: the first failure stays. */
struct outcome {
    enum failure why;
    int64_t value;
};

static struct outcome apply(char op, struct outcome a, struct outcome b)
{
    struct outcome r = a.why ? a : b;

    if (r.why)
        return r;
    if (op == '/' || op == '%') {
        if (b.value == 0 || (a.value == INT64_MIN && b.value == -1))
            return (struct outcome){DIVISION, 0};
        r.value = op == '/' ? a.value / b.value : a.value % b.value;
    } else if (op == '*'   ? __builtin_mul_overflow(a.value, b.value, &r.value)
               : op == '+' ? __builtin_add_overflow(a.value, b.value, &r.value)
                           : __builtin_sub_overflow(a.value, b.value, &r.value)) {
        return (struct outcome){OVERFLOW, 0};
    }
    return r;
}

/* Level 0: sums, 1: products, 2: values. */
static struct outcome model_parse(const char **at, int level)
{
    struct outcome v = {NONE, 0};

    if (level < 2) {
        v = model_parse(at, level + 1);
        while (!v.why && **at && strchr(level ? "*/%" : "+-", **at)) {
            char op = *(*at)++;

            v = apply(op, v, model_parse(at, level + 1));
        }
    } else if (**at == '(') {
        (*at)++;
        v = model_parse(at, 0);
        if (!v.why && *(*at)++ != ')')
            v.why = SYNTAX;
    } else if (!isdigit((unsigned char)**at)) {
        v.why = SYNTAX;
    } else {
        while (isdigit((unsigned char)**at))
            v.value = v.value * 10 + (*(*at)++ - '0');
    }
    return v;
}

static struct outcome model_calculate(const char *text)
{
    struct outcome v = model_parse(&text, 0);

    if (!v.why && *text)
        v.why = SYNTAX;
    if (v.why)
        v.value = 0;
    return v;
}

static void model_nested(struct model *m, bool first)
{
    m->order = m->order * 5 + (first ? 1 : 2);
    if (++m->nested % NEST_DEPTH)
        model_nested(m, !first);
    m->order = m->order * 5 + (first ? 3 : 4);
}

static void model_turn(struct model *m, const struct turn *t)
{
    struct outcome v = model_calculate(t->expression.text);
    bool closed = t->block % 8 == 7;
    uint64_t *word = &m->words[t->block][t->slot];

    m->divisions += v.why == DIVISION;
    m->closed += closed;
    m->repaired += !closed && !m->open[t->block];
    m->open[t->block] = !closed;
    *word += closed ? 0 : (uint64_t)v.value;
    m->sum = wl_sum(wl_sum(m->sum, v.why), (uint64_t)v.value);
    m->sum = wl_sum(wl_sum(m->sum, closed ? CLOSED : NONE), closed ? 0 : *word);
    if (t->close < BLOCKS)
        m->open[t->close] = false;
    if (t->nested)
        model_nested(m, t->nested == SIGUSR1);
    for (unsigned i = 0; t->queued && i < QUEUED; i++, m->queued++) {
        m->order += i == 0; /* was pending */
        m->order = m->order * 1000003 + ((uint64_t)v.value >> (8 * i) & 0xff);
    }
}

static inline uint64_t model_run(const struct wl_args *a)
{
    struct model *m = wl_alloc(sizeof(*m));
    struct wl_rng rng = wl_rng(a->seed, 0);
    struct turn t;
    uint64_t sum;

    for (uint64_t i = 0; i < a->size; i++) {
        plan(&t, &rng, i);
        model_turn(m, &t);
    }
    sum = wl_sum(wl_sum(m->sum, (uint64_t)m->repaired), (uint64_t)m->closed);
    sum = wl_sum(wl_sum(sum, (uint64_t)m->divisions), (uint64_t)m->nested);
    sum = wl_sum(wl_sum(sum, (uint64_t)m->queued), m->order);
    free(m);
    return sum;
}

#endif
