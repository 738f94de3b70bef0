/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "published/mtrace_in.h"
#include "published/traptor_tools.h"
#include "isa/set.h"
#include "isa/codemap.h"
#include "rerun/run_open.h"

enum { BINARY = 18, INPUT_BINARY = 18, EVENTS = 4096 };

struct mcftraptor {
    struct mtrace m;
    struct traptor t;
};

struct mcftraptor_options {
    struct mtrace_options m; /* first */
    unsigned gshare, ras, ibtb;
    bool shared, untagged;
};

/* ---- descriptors ----------------------------------------------------------------------------- */

static uint8_t *text_count(uint8_t *p, uint32_t v)
{
    return p + sprintf((char *)p, ", %u", v);
}

static int put_text(struct mtrace *m, const struct vs_event *e, const struct traptor_message *d)
{
    int error = mtrace_room(m, e, 96 + MTRACE_TAIL);
    if (unlikely(error))
        return error;
    uint8_t *p = text_small(m->out.at, e->thread);
    p = text_count(p, d->bcnt);
    if (d->kind == TRAPTOR_EXCEPTION)
        p = text_count(p, d->icnt);
    if (d->kind == TRAPTOR_TARGET)
        p = text_put(p, ", T", 3);
    if (d->kind != TRAPTOR_OUTCOME)
        p = text_address(p, d->target);
    return mtrace_tail(m, p, e->pc);
}

static int put_binary(struct mtrace *m, const struct vs_event *e, const struct traptor_message *d)
{
    int error = mtrace_room(m, e, BINARY);
    if (unlikely(error))
        return error;
    uint8_t *p = m->out.at;
    *p++ = (uint8_t)e->thread;
    vs_put32(p, d->bcnt);
    p[4] = (uint8_t)d->kind;
    p += 5;
    if (d->kind == TRAPTOR_TARGET) {
        *p++ = 1;
    } else if (d->kind == TRAPTOR_EXCEPTION) {
        vs_put32(p, d->icnt);
        p += 4;
    }
    if (d->kind != TRAPTOR_OUTCOME) {
        vs_put64(p, d->target);
        p += 8;
    }
    m->out.at = p;
    return 0;
}

static int put_event(struct mcftraptor *t, const struct vs_event *e)
{
    struct mtrace *m = &t->m;
    struct traptor_message d =
        e->kind == VS_BRANCH ? traptor_branch(&t->t, e->thread, e->pc, e->addr, e->flags, e->size)
                             : traptor_exception(&t->t, e->thread, e->addr);
    if (d.kind == TRAPTOR_NOTHING)
        return 0;
    return m->o->ascii ? put_text(m, e, &d) : put_binary(m, e, &d);
}

static int put(struct mtrace *m, const struct vs_batch *b)
{
    struct mcftraptor *t = (struct mcftraptor *)m;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        bool traced = mtrace_step(m, e);
        if (unlikely(!traced) && m->beyond)
            return -VSE_END;
        int error = unlikely(e->kind > VS_STORE) ? mtrace_other(m, e) : 0;
        if (!error && traced && (error = traptor_count(&t->t, e->thread, e->icount)))
            vs_diag_set(&m->diag, error, -1, -1, "out of memory");
        if (unlikely(error))
            return error;
        if ((e->kind != VS_BRANCH && e->kind != VS_EXCEPTION) || !traced ||
            !mtrace_filter_pass(&m->filter, e->pc))
            continue;
        error = put_event(t, e);
        if (unlikely(error))
            return error;
    }
    return 0;
}

/* ---- reading descriptors of mcfTrace --------------------------------------------------------- */

struct input {
    struct mtrace_in in;
    struct vs_reader *run;
    struct vs_codemap code;
    const struct vs_isa *isa;
    struct vs_event events[EVENTS];
    size_t count;
};

static int flush(struct mtrace_in *base)
{
    struct input *in = (struct input *)base;
    const struct vs_batch batch = {
        .events = in->events, .count = in->count, .first = base->number - in->count};
    int e = in->count ? mtrace_feed(base->m, &batch) : 0;
    in->count = 0;
    return e;
}

/* Completes a transfer from the code, since its class says neither whether it is a call nor how
 * long it is. */
static int complete(struct input *in, struct vs_event *e, unsigned class)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    struct vs_insn insn;
    size_t size = vs_codemap_fetch(&in->code, e->pc, bytes, sizeof(bytes));
    if (!size || in->isa->decode(bytes, size, e->pc, &insn) < 0 || insn.kind != VS_INSN_BRANCH)
        return mtrace_in_refuse(&in->in,
                                "the code has no branch there; is it another program's run?");
    bool conditional = class >= 2, indirect = class == 0;
    if (!!(insn.branch & VS_BR_COND) != conditional || !!(insn.branch & VS_BR_INDIRECT) != indirect)
        return mtrace_in_refuse(&in->in, "the code has another kind of branch there");
    e->flags = (uint8_t)(insn.branch | (class == 3 ? 0 : VS_BR_TAKEN));
    e->size = insn.length;
    return 0;
}

static int take(struct mtrace_in *base, uint64_t thread, uint64_t pc, uint64_t target,
                unsigned class)
{
    struct input *in = (struct input *)base;
    struct vs_event e = {.kind = VS_BRANCH, .pc = pc, .addr = target, .thread = (uint16_t)thread};
    int error;
    if (class > 3 || thread >= VS_THREADS_MAX)
        return mtrace_in_refuse(base, class > 3 ? "it has no such class" : "it has no such thread");
    if (thread >= base->m->threads)
        base->m->threads = (uint32_t)thread + 1;
    if ((error = complete(in, &e, class)) < 0)
        return error;
    in->events[in->count++] = e;
    return in->count == EVENTS ? flush(base) : 0;
}

static int take_binary(struct mtrace_in *in, const uint8_t *b)
{
    return take(in, b[0], vs_get64(b + 1), vs_get64(b + 9), b[17]);
}

/* The class of "0, 0x..., 0x..., C, D, NT"; 4 if it is none. */
static unsigned class_of(char conditional, char direct, const char *taken)
{
    if (conditional == 'U')
        return direct == 'I' ? 0 : direct == 'D' ? 1 : 4;
    if (conditional != 'C' || direct != 'D')
        return 4;
    return !strcmp(taken, "T") ? 2 : !strcmp(taken, "NT") ? 3 : 4;
}

static int take_text(struct mtrace_in *in, const char *line)
{
    unsigned long long thread, pc, target;
    char conditional, direct, taken[3];
    if (sscanf(line, "%llu, 0x%llx, 0x%llx, %c, %c, %2[NT]", &thread, &pc, &target, &conditional,
               &direct, taken) != 6)
        return mtrace_in_refuse(in, "it is none of mcfTrace's");
    return take(in, thread, pc, target, class_of(conditional, direct, taken));
}

static const struct mtrace_in_ops descriptors = {take_text, INPUT_BINARY, take_binary, flush};

static int load_code(struct input *in, const char *path)
{
    struct vs_diag *diag = &in->in.m->diag;
    struct vs_block block;
    struct vs_diag why = {.offset = -1, .chunk = -1};
    int e = vs_run_open(&in->run, path, VS_OPEN_DEFAULT, &why);
    if (e)
        return vs_diag_set(diag, e, why.offset, why.chunk, "the code, %s: %s", path, why.text);
    in->isa = vs_isa_find(vs_reader_meta(in->run, "isa"));
    if (!in->isa)
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1, "the code of %s is of no known kind", path);
    for (uint32_t i = 0; !e && i < vs_reader_info(in->run)->blocks; i++)
        if (!(e = vs_reader_block(in->run, i, &block)))
            e = vs_codemap_add(&in->code, &block);
    return e ? vs_diag_set(diag, e, -1, -1, "%s", vs_errstr(e)) : 0;
}

static int read_descriptors(struct mtrace *m)
{
    struct input *in = calloc(1, sizeof(*in));
    if (!in)
        return vs_diag_set(&m->diag, -VSE_NOMEM, -1, -1, "out of memory");
    in->in.m = m;
    int e = load_code(in, m->o->code);
    if (!e)
        e = mtrace_in_read(&in->in, &descriptors);
    vs_codemap_fini(&in->code);
    vs_reader_close(in->run);
    free(in);
    return e;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static const char *layout(const struct mtrace_options *o)
{
    (void)o;
    return "\n\tMispredicted outcomes for direct conditional branches: Thread ID, bCnt\n"
           "\tMispredicted targets for indirect unconditional branches: Thread ID, bCnt, T, "
           "Target Address\n"
           "\tExceptions: Thread ID, 0, iCnt, Target Address";
}

static void statistics(const struct mtrace *m, struct out *out)
{
    const struct mcftraptor *t = (const struct mcftraptor *)m;
    out_printf(out, "mcfTRaptor: Instrumentation Time %.2f ms\n", m->milliseconds);
    out_printf(out, "mcfTRaptor: Traced %llu instructions\n", (unsigned long long)m->traced);
    out_printf(out, "mcfTRaptor: Skipped %llu instructions\n", (unsigned long long)m->skipped);
    traptor_statistics(&t->t, out, "mcfTRaptor");
    traptor_structures(&t->t, out);
    out_printf(out, "mcfTRaptor: Number of Threads: %u\n", m->threads);
}

static const struct mtrace_tool tool = {
    .name = "mcfTRaptor",
    .layout = layout,
    .put = put,
    .statistics = statistics,
    .read = read_descriptors,
};

static int run(struct cli *cli, int argc, char **argv)
{
    struct mcftraptor_options o = {.gshare = 5, .ras = 3, .ibtb = 3};
    struct mcftraptor t = {.m.tool = &tool};
    int status;
    if (!mtrace_parse(cli, &command_mcftraptor, &o.m, argc, argv, &status))
        return status;
    o.m.descriptors = o.m.code != NULL;
    if (!mtrace_in_fits(cli, &o.m, "-code: is for descriptors, which -i names"))
        return CLI_USAGE;
    t.t.config = (struct traptor_config){.gshare = traptor_entries(traptor_gshare_name(o.gshare)),
                                         .ras = traptor_entries(traptor_ras_name(o.ras)),
                                         .ibtb = traptor_entries(traptor_ibtb_name(o.ibtb)),
                                         .shared = o.shared,
                                         .untagged = o.untagged};
    t.m.whose = o.shared ? "Shared TRaptor " : "Private TRaptor ";
    status = traptor_init(&t.t) ? cli_report(cli, tool.name, -VSE_NOMEM, NULL)
                                : mtrace_run(&t.m, cli, &o.m);
    traptor_fini(&t.t);
    return status;
}

#define FIELD(member) offsetof(struct mcftraptor_options, member)
#define ENTRIES(title, text, names, count, member)                                                 \
    {                                                                                              \
        .name = title, .argument = "N", .help = text, .type = OPTION_ENUM,                         \
        .offset = FIELD(member), .number_name = names, .first = 0, .end = count                    \
    }

static const struct cli_option options[] = {
    MTRACE_OPTIONS,
    ENTRIES("gshare", "entries of gshare (4096):", traptor_gshare_name, TRAPTOR_GSHARES, gshare),
    ENTRIES("RAS", "entries of the return address stack (32):", traptor_ras_name, TRAPTOR_RASES,
            ras),
    ENTRIES("iBTB", "entries of the target buffer, 2 ways (64):", traptor_ibtb_name, TRAPTOR_IBTBS,
            ibtb),
    {.name = "TRaptorShare",
     .help = "use one set of predictors for all threads",
     .offset = FIELD(shared)},
    {.name = "untagged",
     .help = "use no tags in the target buffer: it hits if either\n"
             "way has the target, as in the original; no decoder\n"
             "could know which",
     .offset = FIELD(untagged)},
    {.name = "code",
     .argument = "RUN",
     .help = "-i is a file of mcfTrace's descriptors, and this run\n"
             "has their code",
     .type = OPTION_STRING,
     .offset = FIELD(m.code)},
    {0},
};

const struct command command_mcftraptor = {
    .name = "mcfTRaptor",
    .summary = "write mispredictions of a program or run as descriptors",
    .run = run,
    .options = options,
    .one_dash = true,
    .tool = true,
    .takes_program = true,
    .operands = MTRACE_OPERANDS,
    .operands_max = INT_MAX,
    .description =
        "Predicts outcomes and targets with gshare, a return address stack and a target\n"
        "buffer, and writes a descriptor of every misprediction and exception. The\n"
        "program is run and recorded, or -i names a recorded run, or with -code a file of\n"
        "mcfTrace's descriptors. Rates go to a file of statistics. mcfTRaptor is also a\n"
        "program of its own.",
    .example = "mcfTRaptor -a -gshare 4096 -RAS 32 -iBTB 64 -- ./program 16\n"
               "vestige mcfTRaptor -a -o t -i run.vest\n"
               "mcfTRaptor -a -o t -i trace.bin -code run.vest",
    .exits = MTRACE_EXITS,
    .environment = MTRACE_ENVIRONMENT,
};
