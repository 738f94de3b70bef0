/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/diag.h"
#include "published/cfiat_tools.h"
#include "published/mtrace_in.h"

enum {
    HEAD = 6,        /* bytes of a descriptor before the value */
    INPUT_HEAD = 19, /* likewise in mlsTrace's descriptors with -store */
    EVENTS = 4096,
    WIDE = 1 << 20, /* bytes of wide values that are gathered before events are handed on */
};

struct mlvcfiat {
    struct mtrace m;
    struct cfiat t;
};

struct mlvcfiat_options {
    struct mtrace_options m; /* first */
    struct cfiat_flags cache;
    bool shared;
};

/* ---- descriptors ----------------------------------------------------------------------------- */

static int put_text(struct mtrace *m, const struct vs_batch *b, const struct vs_event *e,
                    uint32_t hits)
{
    int error = mtrace_room(m, e, 32 + 2 * (size_t)e->size + MTRACE_TAIL);
    if (unlikely(error))
        return error;
    uint8_t *p = text_small(m->out.at, e->thread);
    p += sprintf((char *)p, ", %u", hits);
    return mtrace_tail(m, operand_text(p, b, e), e->pc);
}

static uint8_t *binary_head(uint8_t *p, const struct vs_event *e, uint32_t hits, unsigned size)
{
    *p++ = (uint8_t)e->thread;
    vs_put32(p, hits);
    p[4] = (uint8_t)size;
    return p + 5;
}

/* An operand in pieces counts as so many loads, and only the first has hits before it. */
static int put_wide(struct mtrace *m, const struct vs_batch *b, const struct vs_event *e,
                    uint32_t hits)
{
    const uint8_t *bytes = vs_event_bytes(b, e);
    for (unsigned from = 0, size; from < e->size; from += size) {
        size = operand_piece(e->size, from);
        int error = mtrace_room(m, e, HEAD + size);
        if (unlikely(error))
            return error;
        uint8_t *p = binary_head(m->out.at, e, from ? 0 : hits, size);
        m->out.at = operand_reverse(p, bytes + from, size);
    }
    return 0;
}

static int put_binary(struct mtrace *m, const struct vs_batch *b, const struct vs_event *e,
                      uint32_t hits)
{
    if (unlikely(!operand_is_narrow(e->size)))
        return put_wide(m, b, e, hits);
    int error = mtrace_room(m, e, HEAD + e->size);
    if (unlikely(error))
        return error;
    m->out.at = operand_binary(binary_head(m->out.at, e, hits, e->size), e);
    return 0;
}

static inline int put_operand(struct mlvcfiat *t, const struct vs_batch *b,
                              const struct vs_event *e)
{
    struct mtrace *m = &t->m;
    uint32_t hits;
    int error = cfiat_know(&t->t, e->thread);
    if (unlikely(error))
        return vs_diag_set(&m->diag, error, -1, -1, "out of memory");
    if (e->kind == VS_STORE) {
        cfiat_store(&t->t, e->thread, e->addr, e->size);
        return 0;
    }
    if (likely(!cfiat_load(&t->t, e->thread, e->addr, e->size, &hits)))
        return 0;
    return m->o->ascii ? put_text(m, b, e, hits) : put_binary(m, b, e, hits);
}

static int put(struct mtrace *m, const struct vs_batch *b)
{
    struct mlvcfiat *t = (struct mlvcfiat *)m;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        int taken = mtrace_take(m, e, e->kind == VS_LOAD || e->kind == VS_STORE);
        if (unlikely(taken < 0))
            return taken;
        if (!taken)
            continue;
        int error = put_operand(t, b, e);
        if (unlikely(error))
            return error;
    }
    return 0;
}

/* ---- reading descriptors of mlsTrace --------------------------------------------------------- */

struct input {
    struct mtrace_in in;
    struct vs_event events[EVENTS];
    size_t count;
    struct vs_buf wide;
};

static int flush(struct mtrace_in *base)
{
    struct input *in = (struct input *)base;
    const struct vs_batch batch = {.events = in->events,
                                   .count = in->count,
                                   .wide = in->wide.data,
                                   .wide_size = in->wide.len,
                                   .first = base->number - in->count};
    int e = in->count ? mtrace_feed(base->m, &batch) : 0;
    in->count = 0;
    in->wide.len = 0;
    return e;
}

/* Adds the event, and returns where its value has to be filled in, from the least significant byte
 * up; NULL after an error. */
static uint8_t *add(struct input *in, const struct vs_event *event)
{
    struct vs_event *e = &in->events[in->count];
    *e = *event;
    if (e->size <= 8) {
        in->count++;
        return (uint8_t *)&e->value;
    }
    if (vs_buf_reserve(&in->wide, e->size)) {
        vs_diag_set(&in->in.m->diag, -VSE_NOMEM, -1, -1, "out of memory");
        return NULL;
    }
    e->value = in->wide.len;
    in->wide.len += e->size;
    in->count++;
    return in->wide.data + e->value;
}

static int added(struct input *in)
{
    return in->count == EVENTS || in->wide.len > WIDE ? flush(&in->in) : 0;
}

static int take_binary(struct mtrace_in *base, const uint8_t *head)
{
    struct input *in = (struct input *)base;
    uint8_t value[255], *p;
    struct vs_event e = {.kind = head[1] ? VS_STORE : VS_LOAD,
                         .thread = head[0],
                         .pc = vs_get64(head + 2),
                         .addr = vs_get64(head + 10),
                         .size = head[18]};
    if (head[1] > 1 || !e.size)
        return mtrace_in_refuse(base, "it is none of mlsTrace's; was it made with -store?");
    int error = textin_bytes(&base->file, value, e.size, &base->m->diag);
    if (error)
        return error == -VSE_IO ? error : mtrace_in_refuse(base, "it is cut");
    if (!(p = add(in, &e)))
        return -VSE_NOMEM;
    operand_reverse(p, value, e.size);
    return added(in);
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

static int take_text(struct mtrace_in *base, const char *line)
{
    struct input *in = (struct input *)base;
    unsigned long long thread, pc, addr;
    unsigned size;
    int at = 0;
    char kind;
    uint8_t *p;
    if (sscanf(line, "%llu, %c, 0x%llx, 0x%llx, %u, 0x%n", &thread, &kind, &pc, &addr, &size,
               &at) != 5 ||
        !at || (kind != 'L' && kind != 'S'))
        return mtrace_in_refuse(base, "it is none of mlsTrace's; was it made with -store?");
    if (thread >= VS_THREADS_MAX || !size || size > VS_SIZE_MAX)
        return mtrace_in_refuse(base, size - 1u < VS_SIZE_MAX ? "it has no such thread"
                                                              : "it has no such size");
    const char *value = line + at;
    size_t digits = 0;
    while (isxdigit((unsigned char)value[digits]))
        digits++;
    if (digits != 2 * (size_t)size)
        return mtrace_in_refuse(base, "its value has another size");
    struct vs_event e = {.kind = kind == 'S' ? VS_STORE : VS_LOAD,
                         .thread = (uint16_t)thread,
                         .pc = pc,
                         .addr = addr,
                         .size = (uint16_t)size};
    if (!(p = add(in, &e)))
        return -VSE_NOMEM;
    for (; size; size--, value += 2)
        p[size - 1] = (uint8_t)(digit(value[0]) << 4 | digit(value[1]));
    return added(in);
}

static const struct mtrace_in_ops descriptors = {take_text, INPUT_HEAD, take_binary, flush};

static int read_descriptors(struct mtrace *m)
{
    struct input *in = calloc(1, sizeof(*in));
    if (!in)
        return vs_diag_set(&m->diag, -VSE_NOMEM, -1, -1, "out of memory");
    in->in.m = m;
    int e = mtrace_in_read(&in->in, &descriptors);
    vs_buf_fini(&in->wide);
    free(in);
    return e;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static const char *layout(const struct mtrace_options *o)
{
    return o->ascii ? "ThreadID, fahCnt, Load Value" : "ThreadID, fahCnt, Operand Size, Load Value";
}

static void statistics(const struct mtrace *m, struct out *out)
{
    out_printf(out, "Instrumentation Time (ms): %f\n", m->milliseconds);
    out_printf(out, "Instructions Traced: %llu\n", (unsigned long long)m->traced);
    out_printf(out, "Skipped Instructions: %llu\n\n", (unsigned long long)m->skipped);
    cfiat_statistics(&((const struct mlvcfiat *)m)->t, out);
}

static const struct mtrace_tool tool = {
    .name = "mlvCFiat",
    .operands = true,
    .layout = layout,
    .put = put,
    .statistics = statistics,
    .read = read_descriptors,
};

static int run(struct cli *cli, int argc, char **argv)
{
    struct mlvcfiat_options o = {.cache = CFIAT_DEFAULTS};
    struct mlvcfiat t = {.m.tool = &tool};
    int status;
    if (!mtrace_parse(cli, &command_mlvcfiat, &o.m, argc, argv, &status))
        return status;
    if (!mtrace_in_fits(cli, &o.m, "-descriptors: is for a file, which -i names"))
        return CLI_USAGE;
    o.m.store = true; /* stores fill the caches */
    status = cfiat_make(&t.t, cli, &o.cache, o.shared);
    if (status == CLI_DONE)
        status = mtrace_run(&t.m, cli, &o.m);
    cfiat_fini(&t.t);
    return status;
}

#define FIELD(member) offsetof(struct mlvcfiat_options, member)

static const struct cli_option options[] = {
    MTRACE_OPTIONS,
    CFIAT_OPTIONS(FIELD(cache)),
    {.name = "cshare", .help = "use one cache for all threads", .offset = FIELD(shared)},
    {.name = "descriptors",
     .help = "-i is a file that mlsTrace wrote with -store",
     .offset = FIELD(m.descriptors)},
    {0},
};

const struct command command_mlvcfiat = {
    .name = "mlvCFiat",
    .summary = "write first-access misses of a program or run as descriptors",
    .run = run,
    .options = options,
    .one_dash = true,
    .tool = true,
    .takes_program = true,
    .operands = MTRACE_OPERANDS,
    .operands_max = INT_MAX,
    .description =
        "Follows loads and stores in a data cache with first-access flags, and writes a\n"
        "descriptor of every load that was not in the cache, or whose flags were not all\n"
        "set: thread, loads since the thread's last descriptor, size, value. The program\n"
        "is run and recorded, or -i names a recorded run, or with -descriptors a file of\n"
        "mlsTrace's descriptors. Rates go to a file of statistics. mlvCFiat is also a\n"
        "program of its own.",
    .example = "mlvCFiat -a -cs 64 -cls 32 -ca 4 -- ./program 16\n"
               "vestige mlvCFiat -a -cshare -o t -i run.vest\n"
               "mlvCFiat -a -o t -i trace.bin -descriptors",
    .exits = MTRACE_EXITS,
    .environment = MTRACE_ENVIRONMENT,
};
