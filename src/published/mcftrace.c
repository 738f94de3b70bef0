/* SPDX-License-Identifier: MIT */
#include "published/mcftrace.h"

#include <limits.h>

#include "base/bytes.h"
#include "base/diag.h"

enum { BINARY = 18 };

/* The numbers are those in binary descriptors. */
enum branch_class {
    UNCONDITIONAL_INDIRECT = 0,
    UNCONDITIONAL_DIRECT = 1,
    TAKEN = 2,
    NOT_TAKEN = 3,
    CLASSES,
    UNKNOWN = CLASSES, /* conditional and indirect */
};

struct mcftrace {
    struct mtrace m;
    uint64_t counts[CLASSES];
};

static inline enum branch_class class_of(unsigned flags)
{
    if (!(flags & VS_BR_COND))
        return flags & VS_BR_INDIRECT ? UNCONDITIONAL_INDIRECT : UNCONDITIONAL_DIRECT;
    if (flags & VS_BR_INDIRECT)
        return UNKNOWN;
    return flags & VS_BR_TAKEN ? TAKEN : NOT_TAKEN;
}

static int no_class(struct mtrace *m, const struct vs_event *e)
{
    return vs_diag_set(&m->diag, -VSE_LIMIT, -1, -1,
                       "the branch at 0x%llx is conditional and indirect; descriptors have no such "
                       "class",
                       (unsigned long long)e->pc);
}

static int put_text(struct mtrace *m, const struct vs_event *e, enum branch_class class)
{
    static const struct {
        char text[12];
        size_t length;
    } names[CLASSES] = {{", U, I, T", 9}, {", U, D, T", 9}, {", C, D, T", 9}, {", C, D, NT", 10}};
    int error = mtrace_room(m, e, 64 + MTRACE_TAIL);
    if (unlikely(error))
        return error;
    uint8_t *p = text_small(m->out.at, e->thread);
    p = text_address(p, e->pc);
    p = text_address(p, e->addr);
    p = text_put(p, names[class].text, names[class].length);
    return mtrace_tail(m, p, e->pc);
}

static inline int put_binary(struct mtrace *m, const struct vs_event *e, enum branch_class class)
{
    int error = mtrace_room(m, e, BINARY);
    if (unlikely(error))
        return error;
    uint8_t *p = m->out.at;
    p[0] = (uint8_t)e->thread;
    vs_put64(p + 1, e->pc);
    vs_put64(p + 9, e->addr);
    p[17] = (uint8_t) class;
    m->out.at = p + BINARY;
    return 0;
}

static int put(struct mtrace *m, const struct vs_batch *b)
{
    struct mcftrace *t = (struct mcftrace *)m;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        int taken = mtrace_take(m, e, e->kind == VS_BRANCH);
        if (unlikely(taken < 0))
            return taken;
        if (!taken)
            continue;
        enum branch_class class = class_of(e->flags);
        if (unlikely(class == UNKNOWN))
            return no_class(m, e);
        int error = m->o->ascii ? put_text(m, e, class) : put_binary(m, e, class);
        if (unlikely(error))
            return error;
        t->counts[class]++;
    }
    return 0;
}

static const char *layout(const struct mtrace_options *o)
{
    (void)o;
    return "ThreadID, Instruction Address, Target Address, Type&Outcome";
}

static void statistics(const struct mtrace *m, struct out *out)
{
    const struct mcftrace *t = (const struct mcftrace *)m;
    uint64_t total = 0;
    for (int i = 0; i < CLASSES; i++)
        total += t->counts[i];
    out_printf(out, "mcfTrace: Traced %llu instructions\n", (unsigned long long)m->traced);
    out_printf(out, "mcfTrace: Skipped %llu instructions\n", (unsigned long long)m->skipped);
    out_printf(out, "mcfTrace: Recorded %llu control transfer instructions.\n",
               (unsigned long long)total);
    mtrace_share(out, t->counts[UNCONDITIONAL_DIRECT], total, "Unconditional Direct");
    mtrace_share(out, t->counts[TAKEN], total, "Conditional Direct Taken");
    mtrace_share(out, t->counts[NOT_TAKEN], total, "Conditional Direct Not Taken");
    mtrace_share(out, t->counts[UNCONDITIONAL_INDIRECT], total, "Unconditional Indirect");
    out_printf(out, "mcfTrace: Instrumentation Time: %.2f ms\n", m->milliseconds);
    out_printf(out, "mcfTrace: Number of Threads: %u\n", m->threads);
}

static const struct mtrace_tool tool = {
    .name = "mcfTrace",
    .layout = layout,
    .put = put,
    .statistics = statistics,
};

int mcftrace_run(struct cli *cli, const struct mtrace_options *o)
{
    struct mcftrace t = {.m.tool = &tool};
    return mtrace_run(&t.m, cli, o);
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct mtrace_options o;
    int status;
    if (!mtrace_parse(cli, &command_mcftrace, &o, argc, argv, &status))
        return status;
    return mcftrace_run(cli, &o);
}

static const struct cli_option options[] = {MTRACE_OPTIONS, {0}};

const struct command command_mcftrace = {
    .name = "mcfTrace",
    .summary = "write control transfers of a program or run as descriptors",
    .run = run,
    .options = options,
    .one_dash = true,
    .tool = true,
    .takes_program = true,
    .operands = MTRACE_OPERANDS,
    .operands_max = INT_MAX,
    .description =
        "Writes a descriptor of every control transfer: thread, address, target, and\n"
        "whether it is conditional, direct and taken. The program is run and recorded, or\n"
        "-i names a recorded run. Counts go to a file of statistics. mcfTrace is also a\n"
        "program of its own.",
    .example = "vestige mcfTrace -a -i run.vest\n"
               "mcfTrace -s 3000000 -l 1000000 -c gzip -o trace -- ./program 16",
    .exits = MTRACE_EXITS,
    .environment = MTRACE_ENVIRONMENT,
};
