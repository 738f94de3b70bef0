/* SPDX-License-Identifier: MIT */
/* The elements of ETMv4 that a run has, as the architecture defines them from what was executed: a
 * line for each thread, as etm4_peer.c prints it from packets.
 *
 *   etm4_elements run.vest SPEC STREAM...
 *
 * The steps are those that Vestige decodes from the streams, which `vestige verify` compares with
 * the run; the elements are made here, from steps and code alone. */
#include <inttypes.h>
#include <string.h>

#include "flow_walk.h"
#include "technique/etm4.h"

struct etm4_elements {
    uint64_t pc, stack[VS_ETM4_STACK_MAX], depth;
    uint64_t atoms, atom_hash, addresses, address_hash, exceptions, exception_hash, time;
    bool alive;
};

struct etm4_list {
    const struct vs_verify *v;
    const struct vs_etm4_params *params;
    struct etm4_elements *cores;
};

static void atom(struct etm4_elements *c, bool taken)
{
    c->atoms++;
    c->atom_hash = flow_mix(c->atom_hash, taken);
}

static void address(struct etm4_elements *c, uint64_t address)
{
    c->addresses++;
    c->address_hash = flow_mix(c->address_hash, address);
}

static void exception(struct etm4_elements *c, unsigned type)
{
    c->exceptions++;
    c->exception_hash = flow_mix(c->exception_hash, type);
}

/* An array whose last element is the top. */
static void push(const struct etm4_list *l, struct etm4_elements *c, uint64_t to)
{
    uint64_t size = l->params->stack;
    if (size && c->depth == size)
        memmove(c->stack, c->stack + 1, --c->depth * sizeof(c->stack[0]));
    if (size)
        c->stack[c->depth++] = to;
}

/* Goes over the instructions before a discontinuity. Returns the number of an exception there. */
static unsigned pass(const struct etm4_list *l, struct etm4_elements *c, uint32_t count)
{
    struct vs_insn insn = {0};
    for (; count; count--, c->pc += insn.length) {
        uint8_t bytes[VS_ISA_LENGTH_MAX];
        size_t size = vs_text_fetch(&l->v->code, 0, c->pc, bytes, sizeof(bytes));
        if (!size || l->v->isa->decode(bytes, size, c->pc, &insn) < 0)
            fail("etm4_elements", "there is no code");
    }
    return insn.kind == VS_INSN_SYSCALL ? 2 : 14;
}

static void elsewhere(const struct etm4_list *l, struct etm4_elements *c, const struct vs_step *s)
{
    c->time = s->time;
    if (c->alive) {
        unsigned type = pass(l, c, s->icount);
        exception(c, s->target ? type : 1);
        address(c, c->pc);
    } else {
        c->depth = 0;
    }
    if (s->target)
        address(c, s->target);
    c->alive = s->target;
}

static int take(void *context, const struct vs_step *steps, size_t count)
{
    struct etm4_list *l = context;
    for (const struct vs_step *s = steps; s < steps + count; s++) {
        struct etm4_elements *c = &l->cores[s->core];
        bool indirect = s->kind == VS_STEP_INDIRECT, taken = vs_step_taken(s);
        if (s->kind == VS_STEP_DISCONTINUITY) {
            elsewhere(l, c, s);
        } else {
            atom(c, taken);
            if (taken && s->flags & VS_BR_CALL)
                push(l, c, s->pc + s->size);
            if (taken && l->params->broadcast)
                address(c, s->target);
            else if (taken && indirect && c->depth && c->stack[c->depth - 1] == s->target)
                c->depth--;
            else if (taken && indirect)
                address(c, s->target);
        }
        c->pc = vs_step_next(s);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct flow_walk w;
    flow_open(&w, argc, argv);
    struct etm4_list l = {.v = &w.v,
                          .params = (const struct vs_etm4_params *)w.spec.params,
                          .cores = calloc(w.v.setup.cores, sizeof(*l.cores))};
    if (!l.cores)
        fail(argv[1], "out of memory");
    flow_follow(&w, argv + 3, take, &l);
    for (const struct etm4_elements *c = l.cores; c < l.cores + w.v.setup.cores; c++)
        printf("%" PRIu64 " %016" PRIx64 " %" PRIu64 " %016" PRIx64 " %" PRIu64 " %016" PRIx64
               " %" PRIu64 "\n",
               c->atoms, c->atom_hash, c->exceptions, c->exception_hash, c->addresses,
               c->address_hash, c->time);
    free(l.cores);
    flow_close(&w);
    return 0;
}
