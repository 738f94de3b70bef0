/* SPDX-License-Identifier: MIT */
/* The language of interp and its compiler: one pass over the text, recursive descent, straight to
 * bytecode. */
#ifndef INTERP_COMPILER_H
#define INTERP_COMPILER_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"

/* ---- bytecode -------------------------------------------------------------------------------- */

#define OPERATIONS(X)                                                                              \
    X(push)                                                                                        \
    X(load)                                                                                        \
    X(store)                                                                                       \
    X(drop)                                                                                        \
    X(get)                                                                                         \
    X(put)                                                                                         \
    X(jump)                                                                                        \
    X(jump_if_zero)                                                                                \
    X(call)                                                                                        \
    X(ret)                                                                                         \
    X(negate)                                                                                      \
    X(invert)                                                                                      \
    X(is_zero)                                                                                     \
    X(bit_or)                                                                                      \
    X(bit_xor)                                                                                     \
    X(bit_and)                                                                                     \
    X(eq)                                                                                          \
    X(ne)                                                                                          \
    X(lt)                                                                                          \
    X(le)                                                                                          \
    X(shl)                                                                                         \
    X(shr)                                                                                         \
    X(add)                                                                                         \
    X(sub)                                                                                         \
    X(mul)                                                                                         \
    X(div)                                                                                         \
    X(mod)                                                                                         \
    X(alloc)                                                                                       \
    X(mark)                                                                                        \
    X(release)                                                                                     \
    X(emit)                                                                                        \
    X(halt)

#define NAME_OP(name) OP_##name,
enum op { OPERATIONS(NAME_OP) };

#define CODE_MAX  4096
#define NAMES_MAX 32
#define NAME_SIZE 12

struct function {
    char name[NAME_SIZE];
    int32_t entry, parameters, locals;
};

struct compiler {
    const char *at;        /* after the token */
    char token[NAME_SIZE]; /* empty at the end */
    int32_t code[CODE_MAX];
    int32_t length;
    struct function functions[NAMES_MAX];
    unsigned functions_used;
    char locals[NAMES_MAX][NAME_SIZE];
};

__attribute__((noreturn)) static void stop(const char *why, const char *where)
{
    fprintf(stderr, "interp: %s: %.20s\n", why, where);
    exit(1);
}

/* ---- compiler -------------------------------------------------------------------------------- */

static void advance(struct compiler *c)
{
    size_t n = 0;

    while (*c->at == ' ')
        c->at++;
    if (isalnum((unsigned char)*c->at))
        while (isalnum((unsigned char)c->at[n]))
            n++;
    else if (*c->at)
        n = strchr("<>", c->at[0]) && c->at[1] == c->at[0]                  ? 2
            : c->at[1] == '=' && strchr("<>=!", c->at[0]) /* <= >= == != */ ? 2
                                                                            : 1;
    if (n >= NAME_SIZE)
        stop("name too long", c->at);
    memcpy(c->token, c->at, n);
    c->token[n] = 0;
    c->at += n;
}

static bool is(const struct compiler *c, const char *token)
{
    return strcmp(c->token, token) == 0;
}

static bool accept(struct compiler *c, const char *token)
{
    if (!is(c, token))
        return false;
    advance(c);
    return true;
}

static void expect(struct compiler *c, const char *token)
{
    if (!accept(c, token))
        stop(token, c->at);
}

static void name(struct compiler *c, char *out)
{
    if (!isalpha((unsigned char)c->token[0]))
        stop("no name", c->at);
    memcpy(out, c->token, NAME_SIZE);
    advance(c);
}

static int32_t put(struct compiler *c, int32_t word)
{
    if (c->length == CODE_MAX)
        stop("too much code", c->at);
    c->code[c->length] = word;
    return c->length++;
}

static int32_t put2(struct compiler *c, enum op op, int32_t operand)
{
    put(c, (int32_t)op);
    return put(c, operand);
}

static struct function *current(struct compiler *c)
{
    return &c->functions[c->functions_used - 1];
}

static int32_t local(struct compiler *c, const char *n, bool declare)
{
    struct function *f = current(c);

    for (int32_t i = 0; i < f->locals; i++)
        if (strcmp(c->locals[i], n) == 0)
            return i;
    if (!declare || f->locals == NAMES_MAX)
        stop("no such variable", n);
    memcpy(c->locals[f->locals], n, NAME_SIZE);
    return f->locals++;
}

static void expression(struct compiler *c, int level);

static void call(struct compiler *c, const char *callee)
{
    static const struct {
        const char *name;
        enum op op;
    } built_in[] = {
        {"new", OP_alloc}, {"mark", OP_mark}, {"release", OP_release}, {"emit", OP_emit}};
    int32_t arguments = 0;

    while (!accept(c, ")")) {
        expression(c, 0);
        arguments++;
        if (!is(c, ")"))
            expect(c, ",");
    }
    for (unsigned i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
        if (strcmp(callee, built_in[i].name) == 0) {
            put(c, (int32_t)built_in[i].op);
            return;
        }
    for (unsigned i = 0; i < c->functions_used; i++)
        if (strcmp(callee, c->functions[i].name) == 0 && c->functions[i].parameters == arguments) {
            put2(c, OP_call, (int32_t)i);
            return;
        }
    stop("no such function", callee);
}

static void primary(struct compiler *c)
{
    char n[NAME_SIZE];

    if (accept(c, "(")) {
        expression(c, 0);
        expect(c, ")");
    } else if (isdigit((unsigned char)c->token[0])) {
        put2(c, OP_push, (int32_t)strtol(c->token, NULL, 10));
        advance(c);
    } else {
        name(c, n);
        if (accept(c, "("))
            call(c, n);
        else
            put2(c, OP_load, local(c, n, false));
    }
    while (accept(c, "[")) {
        expression(c, 0);
        expect(c, "]");
        put(c, OP_get);
    }
}

static void unary(struct compiler *c)
{
    static const char *const tokens[] = {"-", "~", "!"};

    for (int i = 0; i < 3; i++)
        if (accept(c, tokens[i])) {
            unary(c);
            put(c, OP_negate + i);
            return;
        }
    primary(c);
}

/* Precedence climbing: operators of this level or a tighter one. */
static void expression(struct compiler *c, int level)
{
    static const struct {
        const char *token;
        int level;
        enum op op;
    } binary[] = {{"|", 0, OP_bit_or}, {"^", 1, OP_bit_xor}, {"&", 2, OP_bit_and},
                  {"==", 3, OP_eq},    {"!=", 3, OP_ne},     {"<", 4, OP_lt},
                  {"<=", 4, OP_le},    {"<<", 5, OP_shl},    {">>", 5, OP_shr},
                  {"+", 6, OP_add},    {"-", 6, OP_sub},     {"*", 7, OP_mul},
                  {"/", 7, OP_div},    {"%", 7, OP_mod}};
    unsigned i = 0;

    unary(c);
    while (i < sizeof(binary) / sizeof(binary[0])) {
        if (binary[i].level >= level && accept(c, binary[i].token)) {
            expression(c, binary[i].level + 1);
            put(c, (int32_t)binary[i].op);
            i = 0;
        } else {
            i++;
        }
    }
}

static void block(struct compiler *c);

static void conditional(struct compiler *c, bool loop)
{
    int32_t start = c->length, skip, end;

    expect(c, "(");
    expression(c, 0);
    expect(c, ")");
    skip = put2(c, OP_jump_if_zero, 0);
    block(c);
    if (loop)
        put2(c, OP_jump, start);
    if (!loop && accept(c, "else")) {
        end = put2(c, OP_jump, 0);
        c->code[skip] = c->length;
        block(c);
        c->code[end] = c->length;
    } else {
        c->code[skip] = c->length;
    }
}

/* x = e, x[i] = e or an expression for its effect. What turns out to be a target was compiled as a
 * value: its last operation is taken back. */
static void assignment(struct compiler *c, bool declare)
{
    char n[NAME_SIZE];
    int32_t start = c->length, variable;

    if (declare) {
        memcpy(n, c->token, NAME_SIZE);
        local(c, n, true);
    }
    primary(c);
    if (!accept(c, "=")) {
        put(c, OP_drop);
    } else if (c->length == start + 2 && c->code[start] == OP_load) {
        variable = c->code[start + 1];
        c->length = start;
        expression(c, 0);
        put2(c, OP_store, variable);
    } else if (c->code[c->length - 1] == OP_get) {
        c->length--;
        expression(c, 0);
        put(c, OP_put);
    } else {
        stop("cannot assign", c->at);
    }
    expect(c, ";");
}

static void block(struct compiler *c)
{
    expect(c, "{");
    while (!accept(c, "}")) {
        if (accept(c, "if")) {
            conditional(c, false);
        } else if (accept(c, "while")) {
            conditional(c, true);
        } else if (accept(c, "return")) {
            expression(c, 0);
            put(c, OP_ret);
            expect(c, ";");
        } else {
            assignment(c, accept(c, "var"));
        }
    }
}

static void function(struct compiler *c)
{
    struct function *f = &c->functions[c->functions_used++];
    char n[NAME_SIZE];

    if (c->functions_used == NAMES_MAX)
        stop("too many functions", c->at);
    name(c, f->name);
    f->entry = c->length;
    expect(c, "(");
    do {
        name(c, n);
        f->parameters = local(c, n, true) + 1;
    } while (accept(c, ","));
    expect(c, ")");
    block(c);
    put2(c, OP_push, 0);
    put(c, OP_ret);
}

static inline struct compiler *compile(const char *text)
{
    struct compiler *c = wl_alloc(sizeof(*c));

    put(c, OP_halt);
    c->at = text;
    advance(c);
    while (accept(c, "fn"))
        function(c);
    if (c->token[0])
        stop("no function", c->at);
    return c;
}

#endif
