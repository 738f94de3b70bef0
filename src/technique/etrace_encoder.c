/* SPDX-License-Identifier: MIT */
/* The encoder of RISC-V Efficient Trace. The standard decides for each instruction that retires, by
 * what came before it and what comes after. Here steps come instead; what an instruction's packet
 * depends on is awaited, but only for instructions that have one. */
#include "port/row.h"
#include "technique/etrace.h"
#include "technique/etrace_plain.h"
#include "technique/flow_common.h"

/* What is to be said about the instruction that a core comes to, once it has retired. */
enum wanted {
    NOTHING,
    TARGET, /* its address: the jump before is not inferable */
    PILE,   /* its address: as many returns as can be counted were implicit */
    RESYNC, /* F3.0 */
    START,  /* F3.0: the core starts */
    TRAP,   /* F3.1; or F3.0 if the trap has been told */
};

struct core {
    struct vs_etrace_tables tables;
    uint32_t calls; /* the call counter */

    /* branches since the last packet */
    uint32_t map;
    unsigned branches;
    uint64_t right; /* predicted right, if there were more than the map holds */
    bool missed;    /* some in the map was mispredicted */
    bool wrong;     /* the one after `right` was */

    unsigned irets;   /* implicit returns since the last branch or packet */
    uint64_t address; /* the last in a packet */
    uint64_t packets; /* since the last sync packet */

    uint64_t last;  /* the instruction that retired last */
    bool told;      /* its packet says that it was reached */
    bool silent;    /* it is an implicit return */
    bool via;       /* the last packet has an address, and a jump led there, whatever follows */
    bool addressed; /* the last packet has an address and is no sync packet */

    enum wanted wanted;
    uint64_t target;     /* of the instruction that it is wanted of */
    unsigned since;      /* implicit returns before the jump to it */
    bool mispredicted;   /* the jump is a return */
    bool jumped;         /* a jump leads to it that is not inferable */
    bool held;           /* a TARGET or PILE before the wanted one waits for what follows it */
    enum wanted held_as; /* TARGET or PILE */
    uint64_t held_at;
    unsigned held_since;
    bool held_mispredicted;
    bool reported; /* the trap that the core comes from */
    bool alive;
    uint64_t left;          /* when the core went to where START or TRAP is wanted */
    uint64_t from;          /* where it was after its last branch, implicit return or packet, */
    uint64_t from_executed; /* and how many instructions it had executed by then */
    bool from_told;         /* a packet says that it was there */
};

struct encoder {
    struct vs_flow_encoder base;
    struct vs_etrace_config config;
    uint64_t due; /* packets after which the core synchronises */
    bool begun;   /* the step begins with an instruction that was counted before */
    bool rows;    /* most steps have nothing to tell but outcomes and targets */
    struct core cores[];
};

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    for (unsigned i = 0; e && i < e->base.cores; i++)
        vs_etrace_tables_fini(&e->cores[i].tables);
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
    e->config = vs_etrace_config(context->params, context->setup);
    e->due = e->config.params.resync ? e->config.params.resync : UINT64_MAX;
    e->rows = !e->config.params.bpred && !e->config.params.jtc && !e->config.params.resync;
    err = vs_flow_encoder_init(&e->base, context);
    for (unsigned i = 0; i < cores && !err; i++)
        err = vs_etrace_tables_init(&e->cores[i].tables, &e->config);
    return vs_machine_opened(out, err, encoder_close);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* A packet is sent, or has just been. */
static inline void begin(struct encoder *e)
{
    vs_port_begin_packet(e->base.port, e->base.core, e->base.time);
}

static inline void end(struct encoder *e, struct core *c)
{
    vs_port_end(e->base.port);
    c->packets++;
    c->map = 0;
    c->branches = c->irets = 0;
    c->right = 0;
    c->missed = c->wrong = c->via = c->addressed = false;
}

/* `stamp` is the cycle that the packet carries, or NULL. */
static void put_bits(struct encoder *e, struct core *c, const struct vs_etrace_bits *bits,
                     const uint64_t *stamp)
{
    unsigned size = vs_etrace_size(bits);
    bool stamped = stamp && e->config.timed;
    begin(e);
    vs_port_put_frame(e->base.port, VS_FIELD_HEADER,
                      size | e->config.kind | (stamped ? VS_ETRACE_EXTEND : 0), 8);
    if (stamped)
        vs_port_put(e->base.port, VS_FIELD_CYCLES, *stamp, VS_ETRACE_TIME_BITS);
    vs_etrace_put(e->base.port, bits, size);
    end(e, c);
}

static void put_packet(struct encoder *e, struct core *c, const struct vs_etrace_packet *p,
                       const uint64_t *stamp)
{
    struct vs_etrace_bits bits;
    vs_etrace_pack(&e->config.layout, p, &bits);
    put_bits(e, c, &bits, stamp);
}

static void put_sync(struct encoder *e, struct core *c, unsigned subformat, bool thaddr,
                     uint64_t address, bool taken, const uint64_t *stamp)
{
    put_packet(e, c,
               &(struct vs_etrace_packet){.format = 3,
                                          .subformat = (uint8_t)subformat,
                                          .branch = !taken,
                                          .interrupt = true,
                                          .thaddr = thaddr,
                                          .address = address >> e->config.shift & e->config.mask},
               stamp);
    vs_etrace_tables_clear(&c->tables);
    c->calls = 0;
    c->address = address;
    c->packets = 0;
    c->told = true;
}

static void put_support(struct encoder *e, struct core *c, bool enabled, uint8_t status)
{
    put_packet(e, c,
               &(struct vs_etrace_packet){.format = 3,
                                          .subformat = VS_ETRACE_SUPPORT,
                                          .enabled = enabled,
                                          .status = status,
                                          .options = e->config.options},
               enabled ? NULL : &e->base.time);
}

/* Tells of branches that fill the map, or of one that was mispredicted after many. */
static void put_branches(struct encoder *e, struct core *c)
{
    struct vs_etrace_packet p = {.format = 1, .map = c->map};
    if (c->right)
        p = (struct vs_etrace_packet){.subformat = VS_ETRACE_COUNT,
                                      .count = (uint32_t)(c->right - VS_ETRACE_MAP_MAX)};
    put_packet(e, c, &p, NULL);
    c->told = true;
}

/* Looks a jump's target up. Returns whether `bits` have become the packet with its index. */
static bool try_index(struct encoder *e, struct core *c, uint64_t address,
                      const struct vs_etrace_packet *p, struct vs_etrace_bits *bits)
{
    struct vs_etrace_bits other;
    if (!vs_jtc_put(&c->tables.jtc, address) || c->right || p->updiscon)
        return false;
    vs_etrace_pack(&e->config.layout,
                   &(struct vs_etrace_packet){.subformat = VS_ETRACE_INDEX,
                                              .branches = p->branches,
                                              .map = p->map,
                                              .index = vs_jtc_index(&c->tables.jtc, address),
                                              .irreport = p->irreport,
                                              .irets = p->irets},
                   &other);
    if (vs_etrace_size(&other) > vs_etrace_size(bits))
        return false;
    *bits = other;
    return true;
}

enum flag { NO_FLAG, NOTIFY, UPDISCON };

static void put_full_address(struct encoder *e, struct core *c, uint64_t address, enum wanted why,
                             enum flag flag, bool irreport, unsigned irets, uint64_t sent)
{
    struct vs_etrace_bits bits;
    struct vs_etrace_packet p = {.format = c->branches ? 1 : 2,
                                 .has_address = true,
                                 .branches = (uint8_t)c->branches,
                                 .map = c->map,
                                 .notify = flag == NOTIFY,
                                 .updiscon = flag == UPDISCON,
                                 .irreport = irreport,
                                 .irets = (uint8_t)irets,
                                 .address = sent};
    if (c->right) {
        p.format = 0;
        p.subformat = VS_ETRACE_COUNT;
        p.count = (uint32_t)(c->right - VS_ETRACE_MAP_MAX);
        p.wrong = c->wrong;
    }
    vs_etrace_pack(&e->config.layout, &p, &bits);
    if (why == TARGET && e->config.params.jtc)
        try_index(e, c, address, &p, &bits);
    put_bits(e, c, &bits, NULL);
}

/* Tells that the core came to an address, with the branches before, and its own if it is one. */
static void put_address(struct encoder *e, struct core *c, uint64_t address, enum wanted why,
                        enum flag flag, bool irreport, unsigned irets)
{
    uint64_t sent = vs_etrace_encode_address(&e->config, c->address, address);
    bool plain = !flag && !irreport && !c->right && !e->config.params.jtc;
    begin(e);
    if (likely(plain) && vs_etrace_put_plain(e->base.port, &e->config.layout, e->config.kind,
                                             c->branches, c->map, sent))
        end(e, c);
    else
        put_full_address(e, c, address, why, flag, irreport, irets, sent);
    c->address = address;
    c->told = c->addressed = true;
    c->via = why == TARGET && flag != UPDISCON;
}

static bool is_due(const struct encoder *e, const struct core *c)
{
    return c->packets >= e->due;
}

/* How often the core came to an address since its last branch, implicit return or packet, the last
 * time not included. It may have gone round and round without a branch. */
static uint64_t passes_of(struct encoder *e, const struct core *c, uint64_t address)
{
    const struct vs_passage_core *now = &e->base.passage.cores[e->base.core];
    struct vs_stretch_place place = {.pc = c->from, .executed = c->from_executed};
    uint64_t since = now->place.executed - c->from_executed, passes = 0;
    for (uint64_t left = since; left;) {
        const struct vs_stretch *r =
            vs_stretches_at(&e->base.passage.stretches, e->base.core, &place, left);
        if (!r)
            break;
        passes += address >= r->pc && address <= r->last_pc;
        passes -= left == since && address == r->pc && c->from_told;
        bool jumps = r->branch && (!(r->flags & VS_BR_INDIRECT) || r->inferable);
        place.pc = jumps ? r->target : r->next;
        place.executed += r->count;
        left -= r->count;
    }
    return passes ? passes - 1 : 0;
}

/* Tells where the core was last: an F3 follows. `is_last`: `silent` is about that instruction. */
static void put_place(struct encoder *e, struct core *c, uint64_t address, bool is_last)
{
    unsigned irets = c->irets - (is_last && c->silent);
    uint64_t passes = is_last && c->silent ? 0 : passes_of(e, c, address);
    for (; passes; passes--, irets = 0)
        put_address(e, c, address, NOTHING, NOTIFY, irets, irets);
    put_address(e, c, address, NOTHING, NO_FLAG, irets, irets);
}

static void put_held(struct encoder *e, struct core *c, bool trap)
{
    unsigned irets = c->irets;
    c->held = false;
    put_address(e, c, c->held_at, c->held_as, c->held_as == TARGET && trap ? UPDISCON : NO_FLAG,
                c->held_mispredicted || c->held_as == PILE,
                c->held_as == PILE ? VS_ETRACE_IRETS_MAX : c->held_since);
    c->irets = irets;
}

/* ---- branches -------------------------------------------------------------------------------- */

/* With a predictor: branches that were predicted right, and are more than the map holds, are only
 * counted. Returns whether the outcome goes into the map. */
static bool predict(struct encoder *e, struct core *c, uint64_t pc, bool taken)
{
    bool missed = vs_bht_update(&c->tables.bht, pc, taken) != taken;
    if (c->right) {
        c->right += !missed;
        c->wrong = missed;
        e->base.counts.conditional_reported += missed;
        return false;
    }
    c->missed |= missed;
    if (c->branches < VS_ETRACE_MAP_MAX - 1 || c->missed)
        return true;
    c->right = VS_ETRACE_MAP_MAX;
    e->base.counts.conditional_reported -= c->branches;
    c->branches = 0;
    c->map = 0;
    return false;
}

/* Adds an outcome to those of the next packet. */
static inline void add_outcome(struct encoder *e, struct core *c, uint64_t pc, bool taken)
{
    c->irets = 0;
    if (unlikely(e->config.params.bpred) && !predict(e, c, pc, taken))
        return;
    c->map |= (uint32_t)!taken << c->branches++;
    e->base.counts.conditional_reported++;
}

/* Whether the branches since the last packet cannot wait. */
static bool is_full(const struct core *c)
{
    return c->branches == VS_ETRACE_MAP_MAX || c->wrong;
}

/* The count of branches that were predicted right has 32 bits. */
static bool counts_no_more(const struct core *c)
{
    return c->right == VS_ETRACE_MAP_MAX + (uint64_t)UINT32_MAX;
}

/* ---- what is wanted -------------------------------------------------------------------------- */

/* The wanted instruction has retired, and may be a branch that is taken. */
static void give_sync(struct encoder *e, struct core *c, bool taken)
{
    bool trap = c->wanted == TRAP && !c->reported;
    if (trap && e->config.params.tvec && c->target != e->config.params.tvec) {
        put_sync(e, c, VS_ETRACE_TRAP, false, 0, false, NULL);
        trap = false;
    }
    put_sync(e, c, trap ? VS_ETRACE_TRAP : VS_ETRACE_SYNC, trap, c->target, taken,
             c->wanted == RESYNC ? NULL : &c->left);
    c->reported = false;
}

/* The wanted instruction has retired, and its packet waits for what follows it. */
static void hold(struct core *c)
{
    c->held = true;
    c->held_as = c->wanted;
    c->held_at = c->target;
    c->held_since = c->since;
    c->held_mispredicted = c->mispredicted;
    c->irets = 0; /* the instruction may be an implicit return, which is after the packet */
}

static bool wants_address(const struct core *c)
{
    return c->wanted == TARGET || c->wanted == PILE;
}

/* The wanted instruction is no branch, and others follow it, or a trap. */
static void give_wanted(struct encoder *e, struct core *c, bool trap)
{
    bool jump = c->wanted == TARGET;
    if (wants_address(c)) {
        put_address(e, c, c->target, c->wanted, jump && trap ? UPDISCON : NO_FLAG,
                    c->mispredicted || !jump, jump ? c->since : VS_ETRACE_IRETS_MAX);
    } else {
        give_sync(e, c, false);
    }
    c->wanted = NOTHING;
}

/* The wanted instruction is the step's own, and a branch, a call or a system call. */
static void retire_wanted(struct encoder *e, struct core *c, const struct vs_step *s)
{
    bool conditional = s->kind == VS_STEP_CONDITIONAL;
    if (wants_address(c)) {
        hold(c);
        if (conditional)
            add_outcome(e, c, s->pc, vs_step_taken(s));
    } else {
        give_sync(e, c, conditional && vs_step_taken(s));
    }
    c->wanted = NOTHING;
}

static void want(struct core *c, enum wanted wanted, uint64_t target)
{
    c->wanted = wanted;
    c->target = target;
    c->mispredicted = c->jumped = false;
    c->since = 0;
}

/* Sends F3.0 as soon as possible: for the instruction at pc, which comes next. */
static void want_resync(struct encoder *e, struct core *c, uint64_t pc)
{
    if (!c->told)
        put_place(e, c, c->last, true);
    want(c, RESYNC, pc);
}

/* Gives a target, as most are: the instruction there is no branch, and nothing but the branches
 * before the jump has to be told beside it. Returns whether it is so. */
static inline bool give_target(struct encoder *e, struct core *c)
{
    if (c->wanted != TARGET || c->mispredicted || c->right || e->config.params.jtc)
        return false;
    begin(e);
    if (!vs_etrace_put_plain(e->base.port, &e->config.layout, e->config.kind, c->branches, c->map,
                             vs_etrace_encode_address(&e->config, c->address, c->target)))
        return false;
    end(e, c);
    c->address = c->target;
    c->addressed = c->via = true;
    c->wanted = NOTHING;
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The step's instructions retire, so many of them. Returns whether the wanted instruction was its
 * own. */
static inline bool retire(struct encoder *e, struct core *c, const struct vs_step *s,
                          uint64_t count)
{
    if (unlikely(c->held))
        put_held(e, c, false);
    c->silent = c->told = false;
    c->last = s->pc;
    if (likely(!c->wanted))
        return false;
    bool own = count == 1 && !e->begun;
    if (unlikely(own))
        retire_wanted(e, c, s);
    else if (!give_target(e, c))
        give_wanted(e, c, false);
    c->told = own && !c->held;
    c->from_told = true;
    return own;
}

/* The core goes on from here, and what it does is told from here on. */
static inline void go_on(const struct encoder *e, struct core *c, uint64_t pc)
{
    c->from = pc;
    c->from_executed = e->base.passage.cores[e->base.core].place.executed;
    c->from_told = false;
}

/* Tells a branch's outcome, now or later. */
static inline void branch(struct encoder *e, struct core *c, const struct vs_step *s)
{
    add_outcome(e, c, s->pc, vs_step_taken(s));
    if (unlikely(is_due(e, c) || counts_no_more(c))) {
        put_address(e, c, s->pc, NOTHING, NO_FLAG, false, 0);
        want(c, RESYNC, vs_step_next(s));
    } else if (is_full(c)) {
        put_branches(e, c);
    }
}

static inline void conditional(struct encoder *e, struct core *c, const struct vs_step *s,
                               uint64_t count)
{
    bool own = retire(e, c, s, count);
    e->base.counts.conditional++;
    go_on(e, c, vs_step_next(s));
    if (likely(!own))
        branch(e, c, s);
}

/* Returns whether a return need not be reported. If there are implicit ones before one that has to
 * be, or it was predicted wrong, their number is reported too. */
static bool is_implicit(const struct encoder *e, struct core *c, uint64_t target, bool *tell)
{
    uint64_t predicted;
    bool any;
    if (e->config.params.implicit_return == VS_ETRACE_COUNTED) {
        any = c->calls;
        c->calls -= any;
        *tell = !any && c->irets;
        return any;
    }
    any = vs_ras_pop(&c->tables.ras, &predicted);
    *tell = any ? predicted != target : c->irets;
    return any && predicted == target;
}

static void push_call(const struct encoder *e, struct core *c, uint64_t back)
{
    if (e->config.params.implicit_return == VS_ETRACE_COUNTED)
        c->calls += c->calls < e->config.params.depth;
    else
        vs_ras_push(&c->tables.ras, back);
}

static void implicit_return(const struct encoder *e, struct core *c, uint64_t target)
{
    c->silent = true;
    go_on(e, c, target);
    if (++c->irets == VS_ETRACE_IRETS_MAX)
        want(c, PILE, target);
}

/* A jump's target has to be reported, or a sync packet is due and will do so. */
static void report(struct encoder *e, struct core *c, uint64_t target, bool tell)
{
    unsigned irets = c->irets;
    if (unlikely(is_due(e, c) && !c->held)) {
        want_resync(e, c, target);
        return;
    }
    want(c, TARGET, target);
    c->mispredicted = tell;
    c->since = tell ? irets : 0;
}

/* `inferable`: the instruction before tells where it goes. */
static inline void indirect(struct encoder *e, struct core *c, const struct vs_step *s,
                            uint64_t count, bool inferable)
{
    bool is_return = vs_step_returns(s->flags), tell = false;
    bool resync = c->wanted == RESYNC;
    bool own = retire(e, c, s, count);
    /* a decoder may have begun with this instruction, and not know the one before */
    inferable = inferable && e->config.params.sijump && !(own && resync);
    if (is_return && e->config.params.implicit_return && is_implicit(e, c, s->target, &tell)) {
        implicit_return(e, c, s->target);
    } else if (!inferable) {
        report(e, c, s->target, tell);
        c->jumped = true;
        go_on(e, c, s->target);
        e->base.counts.returns_reported += is_return;
        e->base.counts.indirect_reported += !is_return;
    }
    e->base.counts.returns += is_return;
    e->base.counts.indirect += !is_return;
    if (vs_step_calls(s->flags))
        push_call(e, c, s->pc + s->size);
}

static void call(struct encoder *e, struct core *c, const struct vs_step *s, uint64_t count)
{
    retire(e, c, s, count);
    push_call(e, c, s->pc + s->size);
}

/* An instruction that asks the system goes on behind itself, but only the trace says so. */
static void system_call(struct encoder *e, struct core *c, const struct vs_step *s, uint64_t count)
{
    retire(e, c, s, count);
    report(e, c, s->target, false);
    go_on(e, c, s->target);
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

/* Before the core goes elsewhere, some instructions have retired, the last of them at c->last. */
static void leave_after(struct encoder *e, struct core *c, uint64_t count, bool trap)
{
    bool own = count == 1 && !e->begun;
    if (c->held)
        put_held(e, c, false);
    c->silent = c->told = false;
    if (c->wanted) {
        give_wanted(e, c, own && trap);
        c->told = own;
        c->from_told = true;
    }
    if (!c->told)
        put_place(e, c, c->last, false);
}

/* None has. Where the core came to, nothing retired. */
static void leave_at_once(struct encoder *e, struct core *c, bool trap)
{
    /* an implicit return's target is told too: what follows is not always where a trap led to */
    bool unseen = c->wanted >= START || (c->wanted && c->jumped) || c->silent;
    if (c->held)
        put_held(e, c, trap);
    if (!c->told && c->wanted < START)
        put_place(e, c, c->last, true);
    if (unseen) {
        put_sync(e, c, VS_ETRACE_TRAP, false, c->from, false, c->wanted >= START ? &c->left : NULL);
        c->reported |= c->wanted != TRAP;
    }
    c->wanted = NOTHING;
}

static void discontinuity(struct encoder *e, struct core *c, const struct vs_step *s,
                          uint64_t count)
{
    bool trap = s->target != VS_STEP_NOWHERE;
    e->base.counts.discontinuities++;
    e->base.counts.syncs += !c->alive || !trap;
    if (count)
        leave_after(e, c, count, trap);
    else if (c->alive)
        leave_at_once(e, c, trap);
    if (!trap) {
        put_support(e, c, false,
                    c->addressed && !c->via ? VS_ETRACE_ENDED_REP : VS_ETRACE_ENDED_NTR);
    } else if (!c->alive) {
        c->reported = false;
        put_support(e, c, true, 0);
    }
    want(c, !trap ? NOTHING : c->alive ? TRAP : START, s->target);
    go_on(e, c, s->target);
    c->left = s->time;
    c->alive = trap;
}

/* ---- the encoder ----------------------------------------------------------------------------- */

/* Passes the step's instructions; those that ask the system may be steps themselves. Returns how
 * many the last step has. */
static inline uint64_t pass(struct encoder *e, struct core *c, const struct vs_step *s,
                            struct vs_passed *passed)
{
    uint64_t left = s->icount, before = left;
    while (left) {
        e->begun = e->base.passage.cores[s->core].begun;
        vs_passage_take(&e->base.passage, s->core, &left, passed);
        if (likely(!passed->system) || e->config.params.ecall != VS_ETRACE_ECALL_JUMP)
            continue;
        system_call(
            e, c,
            &(struct vs_step){.pc = passed->last, .target = passed->next, .kind = VS_STEP_CALL},
            before - left);
        before = left;
    }
    return before;
}

static void take_any(struct vs_flow_encoder *base, const struct vs_step *s)
{
    struct encoder *e = (struct encoder *)base;
    struct core *c = &e->cores[s->core];
    struct vs_passed passed = {0};
    uint64_t count = pass(e, c, s, &passed);
    switch (s->kind) {
    case VS_STEP_CONDITIONAL:
        conditional(e, c, s, count);
        break;
    case VS_STEP_INDIRECT:
        indirect(e, c, s, count, passed.inferable);
        break;
    case VS_STEP_CALL:
        call(e, c, s, count);
        break;
    default:
        if (count)
            c->last = passed.last;
        discontinuity(e, c, s, count);
        vs_passage_go(&base->passage, s->core, s->target);
        return;
    }
    vs_passage_branch(&base->passage, s->core, vs_step_next(s));
}

/* Most steps are branches, and on the way there is nothing to be told. */
static inline void take_step(struct vs_flow_encoder *base, const struct vs_step *s)
{
    struct encoder *e = (struct encoder *)base;
    const struct vs_way *way = vs_flow_pass_branch(base, s);
    if (unlikely(!way)) {
        take_any(base, s);
        return;
    }
    e->begun = false;
    if (s->kind == VS_STEP_CONDITIONAL)
        conditional(e, &e->cores[s->core], s, s->icount);
    else
        indirect(e, &e->cores[s->core], s, s->icount, way->inferable);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What a core has to tell in a row of branches: outcomes, and targets that are not inferable. */
struct telling {
    struct vs_port_row row;
    struct vs_etrace_tally tally;
    uint32_t map;
    unsigned branches;
    uint64_t address; /* the last in a packet */
    uint64_t target;  /* that the next packet has, */
    bool wanted;      /* if there is one */
    bool any;         /* there was an outcome */
};

static bool tells_in_rows(const struct encoder *e, const struct core *c)
{
    const struct vs_passage_core *way = &e->base.passage.cores[c - e->cores];
    return e->rows && c->alive && !c->held && !way->begun && !way->plain &&
           (!c->wanted || (c->wanted == TARGET && !c->mispredicted));
}

/* Makes a target's packet. Returns whether it is as most are. */
static inline bool pack_target(const struct encoder *e, const struct telling *t,
                               struct vs_etrace_plain *p)
{
    return vs_etrace_pack_plain(&e->config.layout, e->config.kind, t->branches, t->map,
                                vs_etrace_encode_address(&e->config, t->address, t->target), p);
}

static inline void tell_target(const struct encoder *e, struct telling *t,
                               const struct vs_etrace_plain *p, uint64_t time)
{
    vs_port_row_put(&t->row, p->bits, vs_etrace_plain_first(p));
    if (unlikely(p->bytes > 7))
        vs_port_row_put(&t->row, p->above, vs_etrace_plain_second(p));
    vs_port_row_end_packet(&t->row, VS_ETRACE_PLAIN_HEAD + 8 * p->bytes, time);
    vs_etrace_tally(&t->tally, &e->config.layout, p);
    t->address = t->target;
    t->map = 0;
    t->branches = 0;
    t->wanted = false;
}

/* The core has told of a row of steps, the last of which is this one. */
static void end_row(struct encoder *e, struct core *c, const struct telling *t,
                    const struct vs_step *last)
{
    vs_port_row_end(&t->row);
    vs_etrace_count_plain(&e->base.port->core->counts, &t->tally);
    e->base.core = last->core;
    e->base.time = last->time;
    e->begun = false;
    if (t->tally.packets) {
        c->packets += t->tally.packets;
        c->addressed = c->via = true;
    }
    if (t->tally.packets || t->any)
        c->irets = 0;
    c->map = t->map;
    c->branches = t->branches;
    c->address = t->address;
    c->last = last->pc;
    c->told = c->silent = false;
    c->wanted = NOTHING;
    if (t->wanted) {
        want(c, TARGET, t->target);
        c->jumped = true;
    }
    if (c->branches == VS_ETRACE_MAP_MAX)
        put_branches(e, c);
}

/* Does what take_step does for a row of a core's branches and calls, as far as there are just
 * outcomes and targets to be told. Returns where it ends. */
static const struct vs_step *take_row(struct vs_flow_encoder *base, const struct vs_step *s,
                                      const struct vs_step *end)
{
    struct encoder *e = (struct encoder *)base;
    const unsigned core = s->core;
    struct core *c = &e->cores[core];
    struct vs_passage_core *at = &base->passage.cores[core];
    const bool implicit = e->config.params.implicit_return, sijump = e->config.params.sijump;
    const struct vs_step *first = s, *from = NULL;
    bool from_told = c->from_told;
    uint64_t executed = at->place.executed, before = executed, from_executed = 0;
    uint64_t conditional = 0, jumps = 0, returns = 0;
    if (!tells_in_rows(e, c))
        return s;
    struct telling t = {.row = vs_port_row(base->port, core),
                        .map = c->map,
                        .branches = c->branches,
                        .address = c->address,
                        .target = c->target,
                        .wanted = c->wanted};
    for (; s < end && s->core == core && t.branches < VS_ETRACE_MAP_MAX; s++) {
        const bool is_return = vs_step_returns(s->flags);
        struct vs_etrace_plain packet;
        if (unlikely(s->kind > VS_STEP_CALL || (is_return && implicit)))
            break;
        const struct vs_way *w =
            vs_stretches_way(&base->passage.stretches, core, &at->place, s->icount);
        if (unlikely(!w || w->system_call || w->repeat || (w->inferable && sijump)))
            break;
        if (t.wanted) {
            if (unlikely(s->icount == 1 || !pack_target(e, &t, &packet)))
                break;
            tell_target(e, &t, &packet, s->time);
            from_told = true;
        }
        executed += s->icount;
        at->place.executed = executed;
        at->place.pc = vs_step_next(s);
        if (implicit && vs_step_calls(s->flags))
            push_call(e, c, s->pc + s->size);
        if (unlikely(s->kind == VS_STEP_CALL))
            continue;
        if (s->kind == VS_STEP_INDIRECT) {
            t.wanted = true;
            t.target = s->target;
            returns += is_return;
            jumps += !is_return;
        } else {
            t.map |= (uint32_t)!vs_step_taken(s) << t.branches++;
            t.any = true;
            conditional++;
        }
        from = s;
        from_executed = executed;
        from_told = false;
    }
    if (s == first)
        return s;
    at->repeated = 0;
    c->from_told = from_told;
    if (from) {
        c->from = vs_step_next(from);
        c->from_executed = from_executed;
    }
    base->counts.instructions += executed - before;
    base->counts.conditional += conditional;
    base->counts.conditional_reported += conditional;
    base->counts.returns += returns;
    base->counts.returns_reported += returns;
    base->counts.indirect += jumps;
    base->counts.indirect_reported += jumps;
    end_row(e, c, &t, &s[-1]);
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
    if (core >= e->base.cores || !c->alive || c->wanted >= RESYNC)
        return 0;
    bool jumped = c->wanted && c->jumped;
    e->base.core = core;
    e->base.counts.syncs++;
    if (c->held)
        put_held(e, c, true);
    want_resync(e, c, c->wanted ? c->target : e->base.passage.cores[core].place.pc);
    c->jumped = jumped;
    return 0;
}

const struct vs_encoder_ops vs_etrace_encoder_ops =
    VS_FLOW_ENCODER(encoder_open, encoder_consume, encoder_sync, encoder_close);
