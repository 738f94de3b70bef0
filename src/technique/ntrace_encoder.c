/* SPDX-License-Identifier: MIT */
/* The encoder of RISC-V N-Trace. */
#include "port/row.h"
#include "technique/flow_common.h"
#include "technique/ntrace.h"
#include "technique/ntrace_plain.h"

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
    struct vs_flow_encoder base;
    struct vs_ntrace_config config;
    bool rows; /* most messages are plain ones, and none waits */
    struct core cores[];
};

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    for (unsigned i = 0; e && i < e->base.cores; i++)
        vs_ras_fini(&e->cores[i].ras);
    if (e)
        vs_flow_encoder_fini(&e->base);
    free(e);
}

static int encoder_open(void **out, const struct vs_technique_context *context)
{
    unsigned cores = context->setup->cores;
    int err = vs_machine_new(out, sizeof(struct encoder), cores, sizeof(struct core));
    struct encoder *e = *out;
    if (err)
        return err;
    e->config = vs_ntrace_config(context->params, context->setup);
    e->rows = vs_ntrace_is_plain(&e->config.layout) && !e->config.params.all_jumps &&
              !e->config.params.repeat_history && !e->config.params.repeat_branch;
    err = vs_flow_encoder_init(&e->base, context);
    for (unsigned i = 0; i < cores && !err; i++) {
        e->cores[i].hist = 1;
        err = vs_ras_init(&e->cores[i].ras, (uint32_t)e->config.params.depth);
    }
    return vs_machine_opened(out, err, encoder_close);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Sends a message that is not as most are. A sync message's time is absolute. */
static void put_any(struct encoder *e, const struct core *c, const struct vs_ntrace_message *m)
{
    struct vs_ntrace_message copy = *m;
    struct vs_ntrace_bytes bytes;
    copy.time = m->number == VS_NTRACE_SYNC ? e->base.time : e->base.time - c->time;
    vs_ntrace_pack(&e->config.layout, &copy, &bytes);
    vs_ntrace_put(e->base.port, &bytes);
}

/* Sends a message as it is, but for the time. */
static void put_message(struct encoder *e, struct core *c, const struct vs_ntrace_message *m)
{
    vs_port_begin_packet(e->base.port, e->base.core, e->base.time);
    if (unlikely(!vs_ntrace_put_plain(e->base.port, &e->config.layout, m)))
        put_any(e, c, m);
    vs_port_end(e->base.port);
    c->time = e->base.time;
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

static void put_all_waiting(struct encoder *e, struct core *c)
{
    if (c->copies)
        put_message(e, c,
                    &(struct vs_ntrace_message){.number = VS_NTRACE_REPEAT, .icnt = c->copies});
    c->copies = 0;
    put_pattern(e, c);
}

/* Sends what waits. Whatever comes next is not a repetition, unless it says so. */
static inline void put_waiting(struct encoder *e, struct core *c)
{
    if (unlikely(c->copies || c->width))
        put_all_waiting(e, c);
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
static inline void put_branch(struct encoder *e, struct core *c, const struct vs_ntrace_message *m,
                              uint64_t target)
{
    bool same = e->config.params.repeat_branch && !c->width && m->number == c->last.number &&
                m->code == c->last.code && m->icnt == c->last.icnt && m->hist == c->last.hist &&
                (m->number == VS_NTRACE_DIRECT || target == c->last_address);
    if (same && c->copies < vs_ntrace_repeat_most()) {
        c->copies++;
        return;
    }
    put_waiting(e, c);
    put_message(e, c, m);
    if (e->config.params.repeat_branch) {
        c->last = *m;
        c->last_address = target;
    }
}

static void put_direct(struct encoder *e, struct core *c)
{
    put_branch(e, c, &(struct vs_ntrace_message){.number = VS_NTRACE_DIRECT, .icnt = c->icnt}, 0);
    clear_history(c);
}

static inline void put_indirect(struct encoder *e, struct core *c, uint64_t target, unsigned type)
{
    struct vs_ntrace_message m = {.number = c->bits ? VS_NTRACE_HISTORY : VS_NTRACE_INDIRECT,
                                  .code = (uint8_t)type,
                                  .icnt = c->icnt,
                                  .address =
                                      ((target ^ c->address) & e->config.mask) >> e->config.shift,
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
                                          .address = (pc & e->config.mask) >> e->config.shift});
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

static inline void add_outcome(struct encoder *e, struct core *c, bool taken)
{
    c->hist = c->hist << 1 | taken;
    c->bits++;
    if (e->config.params.repeat_history) {
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
    switch (e->config.params.implicit_return) {
    case VS_NTRACE_COUNTED:
        any = c->calls;
        c->calls -= any;
        return any;
    case VS_NTRACE_PARTIAL:
        mask = (UINT64_C(1) << (e->config.params.partial + e->config.shift)) - 1;
        /* fall through */
    case VS_NTRACE_STACKED:
        return vs_ras_pop(&c->ras, &predicted) && !((predicted ^ target) & mask);
    default:
        return false;
    }
}

static void push_call(const struct encoder *e, struct core *c, uint64_t back)
{
    if (e->config.params.implicit_return == VS_NTRACE_COUNTED)
        c->calls += c->calls < e->config.params.depth;
    else
        vs_ras_push(&c->ras, back);
}

/* `inferable`: the instruction before tells where it goes. */
static inline void indirect(struct encoder *e, struct core *c, const struct vs_step *s,
                            bool inferable)
{
    bool is_return = vs_step_returns(s->flags);
    bool told =
        !(is_return && is_implicit(e, c, s->target)) && !(inferable && e->config.params.sijump);
    if (told)
        put_indirect(e, c, s->target, VS_NTRACE_JUMP);
    e->base.counts.returns += is_return;
    e->base.counts.indirect += !is_return;
    e->base.counts.returns_reported += is_return && told;
    e->base.counts.indirect_reported += !is_return && told;
    if (vs_step_calls(s->flags))
        push_call(e, c, s->pc + s->size);
}

static void discontinuity(struct encoder *e, struct core *c, const struct vs_step *s)
{
    bool ends = s->target == VS_STEP_NOWHERE;
    e->base.counts.discontinuities++;
    e->base.counts.syncs += ends || !c->alive;
    if (ends) {
        bool history = e->config.params.mode == VS_NTRACE_HTM;
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
    uint64_t full = (UINT64_C(1) << e->config.params.icnt_bits) - 1;
    for (; c->icnt > full; c->icnt -= full)
        put_other(e, c,
                  &(struct vs_ntrace_message){
                      .number = VS_NTRACE_FULL, .code = VS_NTRACE_FULL_ICNT, .icnt = full});
}

static inline void add_count(struct encoder *e, struct core *c, uint64_t bytes)
{
    c->icnt += bytes >> e->config.shift;
    if (unlikely(c->icnt >> e->config.params.icnt_bits))
        count_on(e, c);
}

/* How many instructions come until a direct jump or call is through, at most so many; *jumps is
 * whether there is one. */
static uint64_t until_jump(struct encoder *e, uint64_t most, bool *jumps)
{
    struct vs_passage_core *now = &e->base.passage.cores[e->base.core];
    struct vs_stretches *stretches = &e->base.passage.stretches;
    struct vs_stretch_place place = now->place;
    const struct vs_stretch *r;
    if (now->begun && (r = vs_stretches_at(stretches, e->base.core, &place, 1)))
        place.pc = r->next;
    r = vs_stretches_at(stretches, e->base.core, &place, most);
    *jumps = r && r->branch && !(r->flags & (VS_BR_COND | VS_BR_INDIRECT));
    return r ? r->count : most;
}

/* Direct jumps and calls are as branches that are taken. */
static void pass_jumps(struct encoder *e, struct core *c, const struct vs_step *s,
                       struct vs_passed *passed)
{
    for (uint64_t left = s->icount; left;) {
        bool jumps;
        uint64_t part = until_jump(e, left, &jumps);
        left -= part;
        while (part) {
            vs_passage_take(&e->base.passage, s->core, &part, passed);
            add_count(e, c, passed->bytes);
        }
        if (jumps && e->config.params.mode == VS_NTRACE_HTM)
            add_outcome(e, c, true);
        else if (jumps)
            put_direct(e, c);
    }
}

static inline void pass(struct encoder *e, struct core *c, const struct vs_step *s,
                        struct vs_passed *passed)
{
    uint64_t bytes = 0;
    if (unlikely(e->config.params.all_jumps)) {
        pass_jumps(e, c, s, passed);
        return;
    }
    for (uint64_t left = s->icount; left; bytes += passed->bytes)
        vs_passage_take(&e->base.passage, s->core, &left, passed);
    add_count(e, c, bytes);
}

static inline void conditional(struct encoder *e, struct core *c, const struct vs_step *s)
{
    bool taken = vs_step_taken(s), history = e->config.params.mode == VS_NTRACE_HTM;
    e->base.counts.conditional++;
    e->base.counts.conditional_reported += history || taken;
    if (likely(history))
        add_outcome(e, c, taken);
    else if (taken)
        put_direct(e, c);
}

static void take_any(struct vs_flow_encoder *base, const struct vs_step *s)
{
    struct encoder *e = (struct encoder *)base;
    struct core *c = &e->cores[s->core];
    struct vs_passed passed = {0};
    pass(e, c, s, &passed);
    switch (s->kind) {
    case VS_STEP_CONDITIONAL:
        conditional(e, c, s);
        break;
    case VS_STEP_INDIRECT:
        indirect(e, c, s, passed.inferable);
        break;
    case VS_STEP_CALL:
        push_call(e, c, s->pc + s->size);
        break;
    default:
        discontinuity(e, c, s);
        vs_passage_go(&base->passage, s->core, s->target);
        return;
    }
    vs_passage_branch(&base->passage, s->core, vs_step_next(s));
}

static inline void take_step(struct vs_flow_encoder *base, const struct vs_step *s)
{
    struct encoder *e = (struct encoder *)base;
    struct core *c = &e->cores[s->core];
    const struct vs_way *way = e->config.params.all_jumps ? NULL : vs_flow_pass_branch(base, s);
    if (unlikely(!way)) {
        take_any(base, s);
        return;
    }
    add_count(e, c, way->bytes);
    if (s->kind == VS_STEP_CONDITIONAL)
        conditional(e, c, s);
    else
        indirect(e, c, s, way->inferable);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What a core has to tell in a row of branches. */
struct telling {
    struct vs_port_row row;
    struct vs_ntrace_tally tally;
    uint64_t icnt, hist, address; /* as in the core */
    unsigned bits;
    uint64_t time; /* of the last message */
};

/* Sends a message. */
static inline void tell(struct encoder *e, struct core *c, struct telling *t,
                        const struct vs_ntrace_message *m, uint64_t time)
{
    struct vs_ntrace_plain p;
    t->time = time;
    if (likely(vs_ntrace_pack_plain(m, &p))) {
        vs_port_row_put(&t->row, p.bits, 8 * (p.bytes - p.beyond));
        if (unlikely(p.beyond))
            vs_port_row_put(&t->row, p.above, 8 * p.beyond);
        vs_port_row_end_packet(&t->row, 8 * p.bytes, time);
        vs_ntrace_tally(&t->tally, &p);
        return;
    }
    vs_port_row_end(&t->row);
    e->base.time = time;
    put_message(e, c, m);
    t->row = vs_port_row(e->base.port, e->base.core);
}

static inline void tell_indirect(struct encoder *e, struct core *c, struct telling *t,
                                 const struct vs_step *s)
{
    uint64_t differs = (s->target ^ t->address) & e->config.mask;
    tell(e, c, t,
         &(struct vs_ntrace_message){.number = t->bits ? VS_NTRACE_HISTORY : VS_NTRACE_INDIRECT,
                                     .code = VS_NTRACE_JUMP,
                                     .icnt = t->icnt,
                                     .address = differs >> e->config.shift,
                                     .hist = t->bits ? t->hist : 0},
         s->time);
    t->address = s->target;
    t->icnt = 0;
    t->hist = 1;
    t->bits = 0;
}

static inline void tell_direct(struct encoder *e, struct core *c, struct telling *t, uint64_t time)
{
    tell(e, c, t, &(struct vs_ntrace_message){.number = VS_NTRACE_DIRECT, .icnt = t->icnt}, time);
    t->icnt = 0;
}

static inline void tell_outcome(struct encoder *e, struct core *c, struct telling *t, bool taken,
                                uint64_t time)
{
    t->hist = t->hist << 1 | taken;
    if (likely(++t->bits < VS_NTRACE_HIST_BITS))
        return;
    tell(e, c, t,
         &(struct vs_ntrace_message){
             .number = VS_NTRACE_FULL, .code = VS_NTRACE_FULL_HIST, .hist = t->hist},
         time);
    t->hist = 1;
    t->bits = 0;
}

/* Does what take_step does for a row of a core's branches and calls. Returns where it ends. */
static const struct vs_step *take_row(struct vs_flow_encoder *base, const struct vs_step *s,
                                      const struct vs_step *end)
{
    struct encoder *e = (struct encoder *)base;
    const unsigned core = s->core;
    struct core *c = &e->cores[core];
    struct vs_passage_core *at = &base->passage.cores[core];
    const bool history = e->config.params.mode == VS_NTRACE_HTM, sijump = e->config.params.sijump;
    const struct vs_step *first = s;
    struct vs_flow_counts n = {0};
    if (!e->rows || at->begun || at->plain)
        return s;
    base->core = core;
    struct telling t = {.row = vs_port_row(base->port, core),
                        .icnt = c->icnt,
                        .hist = c->hist,
                        .bits = c->bits,
                        .address = c->address,
                        .time = c->time};
    for (; s < end && s->core == core && s->kind <= VS_STEP_CALL; s++) {
        const struct vs_way *w =
            vs_stretches_way(&base->passage.stretches, core, &at->place, s->icount);
        if (unlikely(!w || w->system_call || w->repeat))
            break;
        uint64_t icnt = t.icnt + (w->bytes >> e->config.shift);
        if (unlikely(icnt >> e->config.params.icnt_bits))
            break;
        t.icnt = icnt;
        n.instructions += s->icount;
        at->place.executed += s->icount;
        at->place.pc = vs_step_next(s);
        if (s->kind == VS_STEP_CONDITIONAL) {
            const bool taken = vs_step_taken(s);
            n.conditional++;
            if (likely(history))
                tell_outcome(e, c, &t, taken, s->time);
            else if (taken)
                tell_direct(e, c, &t, s->time);
            n.conditional_reported += history || taken;
            continue;
        }
        if (s->kind == VS_STEP_INDIRECT) {
            const bool is_return = vs_step_returns(s->flags);
            const bool told =
                !(is_return && is_implicit(e, c, s->target)) && !(w->inferable && sijump);
            if (told)
                tell_indirect(e, c, &t, s);
            n.returns += is_return;
            n.indirect += !is_return;
            n.returns_reported += is_return && told;
            n.indirect_reported += !is_return && told;
        }
        if (s->kind == VS_STEP_CALL || vs_step_calls(s->flags))
            push_call(e, c, s->pc + s->size);
    }
    vs_port_row_end(&t.row);
    if (s == first)
        return s;
    vs_ntrace_count_plain(&base->port->core->counts, &t.tally);
    vs_flow_counts_add(&base->counts, &n);
    base->time = s[-1].time;
    at->repeated = 0;
    c->icnt = t.icnt;
    c->hist = t.hist;
    c->bits = t.bits;
    c->address = t.address;
    c->time = t.time;
    return s;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    return vs_flow_each(encoder, slice, take_row, take_step);
}

static int encoder_sync(void *encoder, unsigned core)
{
    struct encoder *e = encoder;
    struct core *c = &e->cores[core];
    if (core >= e->base.cores || !c->alive)
        return 0;
    e->base.core = core;
    e->base.time = c->time > e->base.time ? c->time : e->base.time;
    e->base.counts.syncs++;
    put_sync(e, c, e->base.passage.cores[core].place.pc, VS_NTRACE_PERIODIC);
    return 0;
}

const struct vs_encoder_ops vs_ntrace_encoder_ops =
    VS_FLOW_ENCODER(encoder_open, encoder_consume, encoder_sync, encoder_close);
