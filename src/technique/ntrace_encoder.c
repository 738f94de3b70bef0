/* SPDX-License-Identifier: MIT */
/* The encoder of RISC-V N-Trace. */
#include <stdlib.h>

#include "base/likely.h"
#include "technique/ntrace.h"
#include "technique/passage.h"

/* Histories that repeat themselves are looked for with these periods: 31, or one with more
 * divisors, so that loops of up to seven branches are found. */
enum { WIDTHS = 3 };
static const unsigned widths[WIDTHS] = {28, 30, VS_NTRACE_HIST_BITS};

struct core {
    uint64_t icnt;    /* since the last message that has it */
    uint64_t hist;    /* outcomes since the last message that has them, below a stop bit */
    unsigned bits;    /* how many */
    uint64_t address; /* the last in a message */
    uint64_t time;    /* of the last message */
    uint32_t calls;
    struct vs_ras ras;
    bool alive, started;

    uint64_t pattern;  /* outcomes before hist that wait for their repetition, */
    unsigned width;    /* how many; 0: none */
    uint64_t repeated; /* and how often they have come; 1: it is not known whether they repeat */

    struct vs_ntrace_message last; /* that may be repeated; its number is 0 if not */
    uint64_t last_address;         /* its target */
    uint64_t copies;               /* how often it was */
};

struct encoder {
    struct vs_ntrace_params params;
    unsigned shift;
    uint64_t mask; /* of addresses */
    bool timed;
    struct vs_port_writer *port;
    struct vs_passage passage;
    struct core *cores;
    unsigned count;
    unsigned core;
    uint64_t time;
    struct vs_flow_counts counts;
};

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    for (unsigned i = 0; e->cores && i < e->count; i++)
        vs_ras_fini(&e->cores[i].ras);
    vs_passage_fini(&e->passage);
    free(e->cores);
    free(e);
}

static int encoder_open(void **out, const struct vs_technique_context *context)
{
    struct encoder *e = *out = NULL;
    if (!context->code)
        return -VSE_INVAL;
    if (!(e = calloc(1, sizeof(*e))))
        return -VSE_NOMEM;
    e->params = *(const struct vs_ntrace_params *)context->params;
    e->shift = vs_ntrace_shift(context->setup);
    e->mask = UINT64_MAX >> (64 - context->setup->address_bits);
    e->timed = context->setup->timed;
    e->port = context->port;
    e->count = context->setup->cores;
    e->cores = calloc(e->count, sizeof(*e->cores));
    int err = vs_passage_init(&e->passage, context->code, e->count);
    for (unsigned i = 0; e->cores && i < e->count && !err; i++) {
        e->cores[i].hist = 1;
        err = vs_ras_init(&e->cores[i].ras, (uint32_t)e->params.depth);
    }
    if (err || !e->cores) {
        encoder_close(e);
        return -VSE_NOMEM;
    }
    *out = e;
    return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Sends a message as it is. A sync message's time is absolute. */
static void put_message(struct encoder *e, struct core *c, const struct vs_ntrace_message *m)
{
    struct vs_ntrace_message copy = *m;
    struct vs_ntrace_bytes bytes;
    copy.time = m->number == VS_NTRACE_SYNC ? e->time : e->time - c->time;
    c->time = e->time;
    vs_ntrace_pack(&copy, e->timed, &bytes);
    vs_port_begin_packet(e->port, e->core, e->time);
    vs_ntrace_put(e->port, &bytes);
    vs_port_end(e->port);
}

/* Sends the message of the outcomes that wait for their repetition. */
static void put_pattern(struct encoder *e, struct core *c)
{
    if (!c->width)
        return;
    put_message(e, c,
                &(struct vs_ntrace_message){.number = VS_NTRACE_FULL,
                                            .code = c->repeated > 1 ? VS_NTRACE_REPEATED
                                                                    : VS_NTRACE_FULL_HIST,
                                            .hist = c->pattern | UINT64_C(1) << c->width,
                                            .repeat = c->repeated});
    c->width = 0;
    c->last.number = 0;
}

/* Sends what waits. Whatever comes next is not a repetition, unless it says so. */
static void put_waiting(struct encoder *e, struct core *c)
{
    if (c->copies)
        put_message(e, c,
                    &(struct vs_ntrace_message){.number = VS_NTRACE_REPEAT, .icnt = c->copies});
    c->copies = 0;
    put_pattern(e, c);
}

static void clear_history(struct core *c)
{
    c->icnt = 0;
    c->hist = 1;
    c->bits = 0;
}

/* Sends a message that is not repeated. */
static void put_other(struct encoder *e, struct core *c, const struct vs_ntrace_message *m)
{
    put_waiting(e, c);
    put_message(e, c, m);
    c->last.number = 0;
}

/* Sends a branch's message, or counts it if it is the last one again. */
static void put_branch(struct encoder *e, struct core *c, const struct vs_ntrace_message *m,
                       uint64_t target)
{
    bool same = e->params.repeat_branch && !c->width && m->number == c->last.number &&
                m->code == c->last.code && m->icnt == c->last.icnt && m->hist == c->last.hist &&
                (m->number == VS_NTRACE_DIRECT || target == c->last_address);
    if (same && c->copies < vs_ntrace_repeat_most()) {
        c->copies++;
        return;
    }
    put_waiting(e, c);
    put_message(e, c, m);
    c->last = *m;
    c->last_address = target;
}

static void put_direct(struct encoder *e, struct core *c)
{
    put_branch(e, c, &(struct vs_ntrace_message){.number = VS_NTRACE_DIRECT, .icnt = c->icnt}, 0);
    clear_history(c);
}

static void put_indirect(struct encoder *e, struct core *c, uint64_t target, unsigned type)
{
    struct vs_ntrace_message m = {.number = c->bits ? VS_NTRACE_HISTORY : VS_NTRACE_INDIRECT,
                                  .code = (uint8_t)type,
                                  .icnt = c->icnt,
                                  .address = ((target ^ c->address) & e->mask) >> e->shift,
                                  .hist = c->bits ? c->hist : 0};
    if (type == VS_NTRACE_TRAP)
        put_other(e, c, &m);
    else
        put_branch(e, c, &m, target);
    c->address = target;
    clear_history(c);
}

static void put_sync(struct encoder *e, struct core *c, uint64_t pc, unsigned code)
{
    put_waiting(e, c);
    if (c->bits) /* a sync message has no history */
        put_message(e, c,
                    &(struct vs_ntrace_message){
                        .number = VS_NTRACE_FULL, .code = VS_NTRACE_FULL_HIST, .hist = c->hist});
    put_other(e, c,
              &(struct vs_ntrace_message){.number = VS_NTRACE_SYNC,
                                          .code = (uint8_t)code,
                                          .icnt = c->icnt,
                                          .address = (pc & e->mask) >> e->shift});
    c->address = pc;
    clear_history(c);
    c->calls = 0;
    vs_ras_clear(&c->ras);
}

/* ---- histories ------------------------------------------------------------------------------- */

/* Looks whether the outcomes since those that wait repeat them, in whatever rhythm. */
static void find_repetition(struct core *c)
{
    uint64_t new = c->hist ^ UINT64_C(1) << c->bits;
    uint64_t all = c->pattern << c->bits | new; /* the oldest is the highest */
    for (unsigned i = 0; i < WIDTHS; i++) {
        uint64_t ones = (UINT64_C(1) << widths[i]) - 1;
        if (c->width + c->bits == 2 * widths[i] && (all >> widths[i] & ones) == (all & ones)) {
            c->pattern = all & ones;
            c->width = widths[i];
            c->repeated = 2;
            c->hist = 1;
            c->bits = 0;
            return;
        }
    }
}

/* With repetitions: outcomes wait until it is known whether they repeat. */
static void follow_history(struct encoder *e, struct core *c)
{
    uint64_t new = c->hist ^ UINT64_C(1) << c->bits;
    if (c->width && c->repeated == 1) {
        find_repetition(c);
    } else if (c->width && c->bits == c->width && new == c->pattern &&
               c->repeated < vs_ntrace_repeat_most()) {
        c->repeated++;
        c->hist = 1;
        c->bits = 0;
    } else if (c->width && c->bits == c->width) {
        put_waiting(e, c);
    }
    if (c->bits < VS_NTRACE_HIST_BITS)
        return;
    put_waiting(e, c);
    c->pattern = c->hist ^ UINT64_C(1) << c->bits;
    c->width = c->bits;
    c->repeated = 1;
    c->hist = 1;
    c->bits = 0;
}

static void add_outcome(struct encoder *e, struct core *c, bool taken)
{
    c->hist = c->hist << 1 | taken;
    c->bits++;
    if (e->params.repeat_history) {
        if (unlikely(c->width) || c->bits == VS_NTRACE_HIST_BITS)
            follow_history(e, c);
    } else if (unlikely(c->bits == VS_NTRACE_HIST_BITS)) {
        put_other(e, c,
                  &(struct vs_ntrace_message){
                      .number = VS_NTRACE_FULL, .code = VS_NTRACE_FULL_HIST, .hist = c->hist});
        c->hist = 1;
        c->bits = 0;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool is_implicit(const struct encoder *e, struct core *c, uint64_t target)
{
    uint64_t predicted, mask = UINT64_MAX;
    bool any;
    switch (e->params.implicit_return) {
    case VS_NTRACE_COUNTED:
        any = c->calls;
        c->calls -= any;
        return any;
    case VS_NTRACE_PARTIAL:
        mask = (UINT64_C(1) << (e->params.partial + e->shift)) - 1;
        /* fall through */
    case VS_NTRACE_STACKED:
        return vs_ras_pop(&c->ras, &predicted) && !((predicted ^ target) & mask);
    default:
        return false;
    }
}

static void push_call(const struct encoder *e, struct core *c, uint64_t back)
{
    if (e->params.implicit_return == VS_NTRACE_COUNTED)
        c->calls += c->calls < e->params.depth;
    else
        vs_ras_push(&c->ras, back);
}

static void indirect(struct encoder *e, struct core *c, const struct vs_step *s,
                     const struct vs_passed *passed)
{
    bool is_return = vs_step_returns(s->flags);
    bool told =
        !(is_return && is_implicit(e, c, s->target)) && !(passed->inferable && e->params.sijump);
    if (told)
        put_indirect(e, c, s->target, VS_NTRACE_JUMP);
    e->counts.returns += is_return;
    e->counts.indirect += !is_return;
    e->counts.returns_reported += is_return && told;
    e->counts.indirect_reported += !is_return && told;
    if (vs_step_calls(s->flags))
        push_call(e, c, s->pc + s->size);
}

static void discontinuity(struct encoder *e, struct core *c, const struct vs_step *s)
{
    bool ends = s->target == VS_STEP_NOWHERE;
    e->counts.discontinuities++;
    e->counts.syncs += ends || !c->alive;
    if (ends) {
        bool history = e->params.mode == VS_NTRACE_HTM;
        put_other(e, c,
                  &(struct vs_ntrace_message){.number = VS_NTRACE_CORRELATION,
                                              .code = VS_NTRACE_DISABLED,
                                              .history = history,
                                              .icnt = c->icnt,
                                              .hist = history ? c->hist : 0});
        clear_history(c);
    } else if (c->alive) {
        put_indirect(e, c, s->target, VS_NTRACE_TRAP);
    } else {
        put_sync(e, c, s->target, c->started ? VS_NTRACE_ENABLED : VS_NTRACE_EXIT_RESET);
        c->started = true;
    }
    c->alive = !ends;
}

/* The counter has a width. What it loses here, the decoder adds. */
static void count_on(struct encoder *e, struct core *c)
{
    uint64_t full = (UINT64_C(1) << e->params.icnt_bits) - 1;
    for (; c->icnt > full; c->icnt -= full)
        put_other(e, c,
                  &(struct vs_ntrace_message){
                      .number = VS_NTRACE_FULL, .code = VS_NTRACE_FULL_ICNT, .icnt = full});
}

static void pass(struct encoder *e, struct core *c, const struct vs_step *s,
                 struct vs_passed *passed)
{
    for (uint64_t left = s->icount; left;) {
        vs_passage_take(&e->passage, s->core, &left, passed);
        c->icnt += passed->bytes >> e->shift;
    }
    if (unlikely(c->icnt >> e->params.icnt_bits))
        count_on(e, c);
}

static void consume_step(struct encoder *e, const struct vs_step *s)
{
    struct core *c = &e->cores[s->core];
    struct vs_passed passed = {0};
    e->core = s->core;
    e->time = s->time;
    pass(e, c, s, &passed);
    switch (s->kind) {
    case VS_STEP_CONDITIONAL:
        e->counts.conditional++;
        e->counts.conditional_reported += e->params.mode == VS_NTRACE_HTM || vs_step_taken(s);
        if (e->params.mode == VS_NTRACE_HTM)
            add_outcome(e, c, vs_step_taken(s));
        else if (vs_step_taken(s))
            put_direct(e, c);
        break;
    case VS_STEP_INDIRECT:
        indirect(e, c, s, &passed);
        break;
    case VS_STEP_CALL:
        push_call(e, c, s->pc + s->size);
        break;
    default:
        discontinuity(e, c, s);
        vs_passage_go(&e->passage, s->core, s->target);
        return;
    }
    vs_passage_branch(&e->passage, s->core, vs_step_next(s));
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct encoder *e = encoder;
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end; s++) {
        if (unlikely(s->core >= e->count))
            return -VSE_INVAL;
        e->counts.instructions += s->icount;
        consume_step(e, s);
    }
    return 0;
}

static int encoder_sync(void *encoder, unsigned core)
{
    struct encoder *e = encoder;
    struct core *c = &e->cores[core];
    if (core >= e->count || !c->alive)
        return 0;
    e->core = core;
    e->time = c->time > e->time ? c->time : e->time;
    e->counts.syncs++;
    put_sync(e, c, e->passage.cores[core].place.pc, VS_NTRACE_PERIODIC);
    return 0;
}

static void encoder_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct encoder *)encoder)->counts;
}

const struct vs_encoder_ops vs_ntrace_encoder_ops = {.needs = VS_NEEDS_STEPS | VS_NEEDS_CODE,
                                                     .open = encoder_open,
                                                     .consume = encoder_consume,
                                                     .sync = encoder_sync,
                                                     .counts = encoder_counts,
                                                     .rows = vs_flow_count_rows,
                                                     .close = encoder_close};
