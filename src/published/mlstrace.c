/* SPDX-License-Identifier: MIT */
#include "published/mlstrace.h"

#include <limits.h>

#include "base/bytes.h"
#include "published/mtrace_operands.h"

struct mlstrace {
    struct mtrace m;
    uint64_t counts[2][OPERAND_CLASSES]; /* loads, stores */
};

/* ---- text ------------------------------------------------------------------------------------ */

static int put_text(struct mtrace *m, const struct vs_batch *b, const struct vs_event *e)
{
    int error = mtrace_room(m, e, 80 + 2 * (size_t)e->size + MTRACE_TAIL);
    if (unlikely(error))
        return error;
    uint8_t *p = text_small(m->out.at, e->thread);
    if (m->o->store)
        p = text_put(p, e->kind == VS_STORE ? ", S" : ", L", 3);
    p = text_address(p, e->pc);
    p = text_address(p, e->addr);
    if (m->o->store)
        p = text_small(text_put(p, ", ", 2), e->size);
    return mtrace_tail(m, operand_text(p, b, e), e->pc);
}

/* ---- binary ---------------------------------------------------------------------------------- */

/* How many bytes a descriptor has before the value. */
static inline size_t head_size(const struct mtrace *m)
{
    return m->o->store ? 19 : 18;
}

static inline uint8_t *binary_head(uint8_t *p, const struct mtrace *m, const struct vs_event *e,
                                   uint64_t addr, unsigned size)
{
    *p++ = (uint8_t)e->thread;
    if (m->o->store)
        *p++ = e->kind == VS_STORE;
    vs_put64(p, e->pc);
    vs_put64(p + 8, addr);
    p[16] = (uint8_t)size;
    return p + 17;
}

/* Puts bytes [from, from + size) of a wide operand. */
static int put_piece(struct mtrace *m, const uint8_t *bytes, const struct vs_event *e,
                     unsigned from, unsigned size)
{
    int error = mtrace_room(m, e, head_size(m) + size);
    if (unlikely(error))
        return error;
    uint8_t *p = binary_head(m->out.at, m, e, e->addr + from, size);
    m->out.at = operand_reverse(p, bytes + from, size);
    return 0;
}

static int put_wide(struct mtrace *m, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *bytes = vs_event_bytes(b, e);
    int error = 0;
    for (unsigned from = 0, size; !error && from < e->size; from += size) {
        size = operand_piece(e->size, from);
        error = put_piece(m, bytes, e, from, size);
    }
    return error;
}

static inline int put_binary(struct mtrace *m, const struct vs_batch *b, const struct vs_event *e)
{
    if (unlikely(!operand_is_narrow(e->size)))
        return put_wide(m, b, e);
    int error = mtrace_room(m, e, head_size(m) + e->size);
    if (unlikely(error))
        return error;
    uint8_t *p = binary_head(m->out.at, m, e, e->addr, e->size);
    m->out.at = operand_binary(p, e);
    return 0;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static int put(struct mtrace *m, const struct vs_batch *b)
{
    struct mlstrace *t = (struct mlstrace *)m;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        int taken = mtrace_take(m, e, e->kind == VS_LOAD || (e->kind == VS_STORE && m->o->store));
        if (unlikely(taken < 0))
            return taken;
        if (!taken)
            continue;
        int error = m->o->ascii ? put_text(m, b, e) : put_binary(m, b, e);
        if (unlikely(error))
            return error;
        t->counts[e->kind == VS_STORE][operand_class(e->size)]++;
    }
    return 0;
}

static const char *layout(const struct mtrace_options *o)
{
    if (o->store)
        return "ThreadID, Load/Store, Instruction Address, Operand Address, Operand Size, Value";
    return o->ascii ? "ThreadID, Instruction Address, Operand Address, Value"
                    : "ThreadID, Instruction Address, Operand Address, Operand Size, Value";
}

static void statistics(const struct mtrace *m, struct out *out)
{
    const struct mlstrace *t = (const struct mlstrace *)m;
    out_printf(out, "Instrumentation Time: %.2f ms\n", m->milliseconds);
    out_printf(out, "Number of Threads: %u\n", m->threads);
    out_printf(out, "Traced %llu instructions\n", (unsigned long long)m->traced);
    out_printf(out, "Skipped %llu instructions\n", (unsigned long long)m->skipped);
    operand_statistics(out, "Load", t->counts[0]);
    if (m->o->store)
        operand_statistics(out, "Store", t->counts[1]);
}

static const struct mtrace_tool tool = {
    .name = "mlsTrace",
    .operands = true,
    .layout = layout,
    .put = put,
    .statistics = statistics,
};

int mlstrace_run(struct cli *cli, const struct mtrace_options *o)
{
    struct mlstrace t = {.m.tool = &tool};
    return mtrace_run(&t.m, cli, o);
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct mtrace_options o;
    int status;
    if (!mtrace_parse(cli, &command_mlstrace, &o, argc, argv, &status))
        return status;
    return mlstrace_run(cli, &o);
}

static const struct cli_option options[] = {
    MTRACE_OPTIONS,
    {.name = "store", .help = "trace stores as well as loads", .offset = MTRACE_FIELD(store)},
    {0},
};

const struct command command_mlstrace = {
    .name = "mlsTrace",
    .summary = "write loads and stores of a program or run as descriptors",
    .run = run,
    .options = options,
    .one_dash = true,
    .tool = true,
    .takes_program = true,
    .operands = MTRACE_OPERANDS,
    .operands_max = INT_MAX,
    .description =
        "Writes a descriptor of every operand in memory that is read, and with -store of\n"
        "every operand that is written: thread, address of the instruction, address of\n"
        "the operand, size and value. The program is run and recorded, or -i names a\n"
        "recorded run. Counts go to a file of statistics. mlsTrace is also a program of\n"
        "its own.",
    .example = "vestige mlsTrace -a -store -i run.vest\n"
               "mlsTrace -filter_no_shared_libs -c zstd -o trace -- ./program 16",
    .exits = MTRACE_EXITS,
    .environment = MTRACE_ENVIRONMENT,
};
