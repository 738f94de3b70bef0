/* SPDX-License-Identifier: MIT */
/* A small language: a one-pass compiler to bytecode and the stack machine that runs it.
 *
 * The machine dispatches with one computed jump at the end of every operation, so that indirect
 * jumps are as dense as in the interpreters that people use. The program it runs has calls,
 * recursion, arrays on a heap and data-dependent loops: a sieve, queens on a board with holes,
 * matrices, words counted in a hash table, a quicksort. Its random numbers are its own, computed in
 * bytecode; -c computes all of it natively.
 */
#include <stdlib.h>
#include <string.h>

#include "common/wl.h"
#include "interp.h"
#include "interp_compiler.h"

static const struct wl_program program = {
    .name = "interp",
    .about = "a bytecode interpreter running a compiled program: dense indirect jumps",
    .size = "rounds of the interpreted program",
    .size_default = 5,
    .size_min = 1,
    .size_max = 100000,
    .threads_max = 1,
};

/* ---- machine --------------------------------------------------------------------------------- */

#define STACK_WORDS 8192
#define DEPTH_MAX   256
#define FRAME_WORDS (NAMES_MAX + 16) /* variables and what an expression has in hand */

struct frame {
    const int32_t *pc;
    uint64_t *variables;
};

struct machine {
    const int32_t *code;
    const struct function *functions;
    uint64_t *heap;
    size_t heap_words, heap_used;
    uint64_t sum;
    uint64_t stack[STACK_WORDS];
    struct frame frames[DEPTH_MAX];
};

static uint64_t allocate(struct machine *m, uint64_t words)
{
    uint64_t at = m->heap_used;

    if (words > m->heap_words - at)
        stop("heap is full", "new");
    memset(m->heap + at, 0, words * sizeof(m->heap[0]));
    m->heap_used += words;
    return at;
}

#define LABEL(name) &&do_##name,
#define NEXT        goto *labels[*pc++]
#define BINARY(name, result)                                                                       \
    do_##name : b = *--sp;                                                                         \
    a = sp[-1];                                                                                    \
    sp[-1] = (result);                                                                             \
    NEXT

/* Calls functions[start] with the arguments that are on the stack, sp pointing after them. */
static uint64_t execute(struct machine *m, int32_t start, uint64_t *sp)
{
    static const void *const labels[] = {OPERATIONS(LABEL)};
    static const int32_t halt[] = {OP_halt};
    const int32_t *pc = halt;
    const struct function *f = &m->functions[start];
    uint64_t *variables = sp, *const heap = m->heap, a, b;
    struct frame *frame = m->frames;

    goto enter;
do_push:
    *sp++ = (uint64_t)*pc++;
    NEXT;
do_load:
    *sp++ = variables[*pc++];
    NEXT;
do_store:
    variables[*pc++] = *--sp;
    NEXT;
do_drop:
    sp--;
    NEXT;
do_get:
    sp--;
    a = sp[0] + sp[-1];
    if (a >= m->heap_used)
        stop("outside the heap", "get");
    sp[-1] = heap[a];
    NEXT;
do_put:
    sp -= 3;
    a = sp[0] + sp[1];
    if (a >= m->heap_used)
        stop("outside the heap", "put");
    heap[a] = sp[2];
    NEXT;
do_jump:
    pc = m->code + *pc;
    NEXT;
do_jump_if_zero:
    pc = *--sp ? pc + 1 : m->code + *pc;
    NEXT;
do_call:
    f = &m->functions[*pc++];
enter:
    if (frame == m->frames + DEPTH_MAX || sp + FRAME_WORDS > m->stack + STACK_WORDS)
        stop("too many calls", f->name);
    *frame++ = (struct frame){pc, variables};
    variables = sp - f->parameters;
    for (int32_t i = f->parameters; i < f->locals; i++)
        *sp++ = 0;
    pc = m->code + f->entry;
    NEXT;
do_ret:
    a = sp[-1];
    sp = variables;
    *sp++ = a;
    frame--;
    pc = frame->pc;
    variables = frame->variables;
    NEXT;
do_negate:
    sp[-1] = -sp[-1];
    NEXT;
do_invert:
    sp[-1] = ~sp[-1];
    NEXT;
do_is_zero:
    sp[-1] = !sp[-1];
    NEXT;
    BINARY(bit_or, a | b);
    BINARY(bit_xor, a ^ b);
    BINARY(bit_and, (a & b));
    BINARY(eq, a == b);
    BINARY(ne, a != b);
    BINARY(lt, (int64_t)a < (int64_t)b);
    BINARY(le, (int64_t)a <= (int64_t)b);
    BINARY(shl, a << (b & 63));
    BINARY(shr, a >> (b & 63));
    BINARY(add, a + b);
    BINARY(sub, a - b);
    BINARY(mul, a * b);
    BINARY(div, b ? a / b : 0);
    BINARY(mod, b ? a % b : 0);
do_alloc:
    sp[-1] = allocate(m, sp[-1]);
    NEXT;
do_mark:
    *sp++ = m->heap_used;
    NEXT;
do_release:
    if (sp[-1] > m->heap_used)
        stop("outside the heap", "release");
    m->heap_used = sp[-1];
    NEXT;
do_emit:
    m->sum = wl_sum(m->sum, sp[-1]);
    NEXT;
do_halt:
    return sp[-1];
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct wl_rng rng = wl_rng(a.seed, 0);
    struct compiler *c = compile(source);
    struct machine *m = wl_alloc(sizeof(*m));
    uint64_t seed = wl_random(&rng) | 1, rounds, sum;
    bool passed = true;

    m->code = c->code;
    m->functions = c->functions;
    m->heap_words = heap_words(a.size);
    m->heap = wl_alloc(m->heap_words * sizeof(m->heap[0]));
    m->stack[0] = a.size;
    m->stack[1] = seed;
    rounds = execute(m, (int32_t)c->functions_used - 1, m->stack + 2);
    sum = m->sum;
    if (a.check)
        passed = rounds == a.size && sum == native_main(a.size, seed);
    free(m->heap);
    free(m);
    free(c);
    return wl_finish(&program, &a, sum, passed);
}
