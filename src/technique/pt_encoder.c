/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/likely.h"
#include "isa/set.h"
#include "model/ras.h"
#include "technique/address.h"
#include "technique/pt.h"

struct pt_core {
    unsigned number;
    uint64_t tnt; /* outcomes that were not sent yet, the newest in bit 0 */
    unsigned tnt_count;
    unsigned tip_count;
    uint64_t tips[VS_PT_DEFERRED_MAX]; /* targets that wait for the outcomes */
    uint64_t instructions;             /* retired */
    uint64_t pc, known; /* where it was when it had retired `known`; only straight code since */
    uint64_t time;      /* of the newest outcome or target that was not sent yet */
    uint64_t last_ip, cycle;
    uint64_t due; /* the cycle of the next MTC; UINT64_MAX: there is none */
    uint64_t psb; /* bits in its stream when the last PSB began */
    bool alive;
    bool off; /* after a system call: it goes on at pc, which was not told yet */
    bool sync_due;
    struct vs_ras stack;
};

struct pt_encoder {
    struct vs_port_writer *port;
    const struct vs_address_code *code;
    struct vs_pt_params params;
    struct vs_technique_setup setup;
    unsigned full; /* outcomes of a TNT */
    uint64_t instructions, time;
    struct vs_flow_counts counts;
    struct pt_core cores[];
};

/* ---- packets --------------------------------------------------------------------------------- */

static inline void begin(struct pt_encoder *e, const struct pt_core *c, uint64_t time)
{
    vs_port_begin_packet(e->port, c->number, time);
}

static void put_ext(struct pt_encoder *e, enum vs_field f, unsigned second)
{
    vs_port_put(e->port, f, VS_PT_EXT | second << 8, 16);
}

static void put_simple(struct pt_encoder *e, const struct pt_core *c, unsigned second,
                       uint64_t time)
{
    begin(e, c, time);
    put_ext(e, VS_FIELD_SYNC, second);
    vs_port_end(e->port);
}

static inline void put_ip(struct pt_encoder *e, struct pt_core *c, unsigned opcode, uint64_t ip,
                          uint64_t time)
{
    unsigned code = vs_pt_ip_code(c->last_ip, ip), bits = 8 * (unsigned)vs_pt_ip_bytes(code);
    begin(e, c, time);
    if (likely(bits < 64)) {
        vs_port_put_two(e->port, VS_FIELD_HEADER, 8, VS_FIELD_TARGET, bits,
                        opcode | code << 5 | ip << 8);
    } else {
        vs_port_put(e->port, VS_FIELD_HEADER, opcode | code << 5, 8);
        vs_port_put(e->port, VS_FIELD_TARGET, ip, 64);
    }
    vs_port_end(e->port);
    c->last_ip = ip;
}

static void put_tsc(struct pt_encoder *e, struct pt_core *c, uint64_t time)
{
    begin(e, c, time);
    vs_port_put(e->port, VS_FIELD_CYCLES, VS_PT_TSC_BYTE, 8);
    vs_port_put(e->port, VS_FIELD_CYCLES, time, 56);
    vs_port_end(e->port);
    c->cycle = time;
    if (!e->params.mtc)
        return;
    begin(e, c, time);
    put_ext(e, VS_FIELD_CYCLES, VS_PT_EXT_TMA);
    vs_port_put(e->port, VS_FIELD_CYCLES, vs_pt_tma_payload(&e->params, time), 40);
    vs_port_end(e->port);
    c->due = vs_pt_mtc_next(&e->params, time);
}

static void put_cyc(struct pt_encoder *e, struct pt_core *c, uint64_t time)
{
    uint64_t rest = time - c->cycle;
    if (!rest)
        return;
    begin(e, c, time);
    vs_port_put(e->port, VS_FIELD_CYCLES, (rest & 31) << 3 | (uint64_t)(rest > 31) << 2 | 3, 8);
    for (rest >>= 5; rest; rest >>= 7)
        vs_port_put(e->port, VS_FIELD_CYCLES, (rest & 127) << 1 | (rest > 127), 8);
    vs_port_end(e->port);
    c->cycle = time;
}

/* Before a packet that has outcomes or targets. */
static void put_time(struct pt_encoder *e, struct pt_core *c, uint64_t time)
{
    if (e->setup.timed && e->params.time == VS_PT_CYC)
        put_cyc(e, c, time);
}

/* Before what is no branch. */
static void put_exact_time(struct pt_encoder *e, struct pt_core *c, uint64_t time)
{
    put_time(e, c, time);
    if (e->setup.timed && c->cycle != time)
        put_tsc(e, c, time);
}

static void put_mtc(struct pt_encoder *e, struct pt_core *c, uint64_t time)
{
    put_time(e, c, time);
    begin(e, c, time);
    vs_port_put(e->port, VS_FIELD_CYCLES, VS_PT_MTC_BYTE | vs_pt_mtc_payload(&e->params, time) << 8,
                16);
    vs_port_end(e->port);
    c->cycle = time;
    c->due = vs_pt_mtc_next(&e->params, time);
}

static inline void put_short(struct pt_encoder *e, const struct pt_core *c, uint64_t outcomes,
                             unsigned count)
{
    begin(e, c, c->time);
    /* a bit of the header is below the outcomes, the others above */
    vs_port_put_two(e->port, VS_FIELD_OUTCOME, count, VS_FIELD_HEADER, 8 - count,
                    (outcomes << 1) | UINT64_C(2) << count);
    vs_port_end(e->port);
}

static void put_long(struct pt_encoder *e, const struct pt_core *c)
{
    begin(e, c, c->time);
    put_ext(e, VS_FIELD_HEADER, VS_PT_EXT_TNT);
    vs_port_put_three(e->port, VS_FIELD_OUTCOME, c->tnt_count, VS_FIELD_HEADER, 48 - c->tnt_count,
                      VS_FIELD_HEADER, 0, c->tnt | UINT64_C(1) << c->tnt_count);
    vs_port_end(e->port);
}

/* Sends the outcomes, in the shortest way, and then the targets that wait for them. Only one packet
 * of outcomes may be before a target that waits. */
static void flush_all(struct pt_encoder *e, struct pt_core *c)
{
    put_time(e, c, c->time);
    if (c->tnt_count > vs_pt_long_least(&e->params, c->tip_count)) {
        put_long(e, c);
        c->tnt_count = 0;
    }
    while (c->tnt_count) {
        unsigned now = c->tnt_count < VS_PT_SHORT_BITS ? c->tnt_count : VS_PT_SHORT_BITS;
        c->tnt_count -= now;
        put_short(e, c, c->tnt >> c->tnt_count & ((1u << now) - 1), now);
    }
    c->tnt = 0;
    for (unsigned i = 0; i < c->tip_count; i++)
        put_ip(e, c, VS_PT_TIP, c->tips[i], c->time);
    c->tip_count = 0;
}

static inline void flush(struct pt_encoder *e, struct pt_core *c)
{
    if (c->tnt_count > VS_PT_SHORT_BITS || c->tip_count || e->setup.timed) {
        if (c->tnt_count || c->tip_count)
            flush_all(e, c);
    } else if (c->tnt_count) {
        put_short(e, c, c->tnt & 0x3f, c->tnt_count);
        c->tnt = c->tnt_count = 0;
    }
}

static void put_psb(struct pt_encoder *e, struct pt_core *c, uint64_t time, bool running)
{
    begin(e, c, time);
    c->psb = e->port->start;
    for (unsigned i = 0; i < VS_PT_PSB_PAIRS; i++)
        put_ext(e, VS_FIELD_SYNC, VS_PT_EXT_PSB);
    vs_port_end(e->port);
    c->last_ip = 0;
    c->stack.depth = 0;
    c->sync_due = false;
    if (e->setup.timed)
        put_tsc(e, c, time);
    if (running) {
        begin(e, c, time);
        vs_port_put(e->port, VS_FIELD_SYNC, VS_PT_MODE | VS_PT_MODE_64 << 8, 16);
        vs_port_end(e->port);
        put_ip(e, c, VS_PT_FUP, c->pc, time);
    }
    put_simple(e, c, VS_PT_EXT_PSBEND, time);
}

static void put_pgd(struct pt_encoder *e, struct pt_core *c, uint64_t time)
{
    begin(e, c, time);
    vs_port_put(e->port, VS_FIELD_HEADER, VS_PT_TIP_PGD, 8);
    vs_port_end(e->port);
}

static void put_cbr(struct pt_encoder *e, struct pt_core *c)
{
    begin(e, c, e->time);
    put_ext(e, VS_FIELD_CYCLES, VS_PT_EXT_CBR);
    vs_port_put(e->port, VS_FIELD_CYCLES, vs_pt_cbr_payload(&e->params), 16);
    vs_port_end(e->port);
}

/* MTCs were due since the core's last packet: tells them after what came before. Where they are too
 * many, the core slept, and has a TSC instead. The CBR behind it keeps decoders that estimate the
 * core's frequency from counting cycles from before the sleep. */
static void tick(struct pt_encoder *e, struct pt_core *c)
{
    flush(e, c);
    if ((e->time - c->due) / vs_pt_mtc_period(&e->params) >= VS_PT_MTC_SILENT - 1) {
        put_tsc(e, c, e->time);
        put_cbr(e, c);
    } else {
        while (c->due <= e->time)
            put_mtc(e, c, c->due);
    }
    c->time = c->cycle;
}

/* ---- branches -------------------------------------------------------------------------------- */

static inline bool is_psb_due(const struct pt_encoder *e, const struct pt_core *c)
{
    return c->sync_due ||
           (e->params.psb && vs_port_stream_bits(e->port, c->number) - c->psb >= 8 * e->params.psb);
}

static inline void maybe_psb(struct pt_encoder *e, struct pt_core *c)
{
    if (likely(!is_psb_due(e, c)))
        return;
    flush(e, c);
    put_exact_time(e, c, c->time); /* so that a decoder can check the PSB's TSC */
    put_psb(e, c, c->time, true);
    e->counts.syncs++;
}

static inline void outcome(struct pt_encoder *e, struct pt_core *c, bool taken)
{
    c->tnt = c->tnt << 1 | taken;
    if (unlikely(++c->tnt_count == e->full))
        flush(e, c);
}

static void target(struct pt_encoder *e, struct pt_core *c, uint64_t ip, bool must_flush)
{
    if (e->params.deferred && !must_flush) {
        c->tips[c->tip_count++] = ip;
        if (c->tip_count == e->params.deferred)
            flush(e, c);
        return;
    }
    flush(e, c);
    put_time(e, c, c->time);
    put_ip(e, c, VS_PT_TIP, ip, c->time);
}

/* Returns whether a 1 says where the return goes. A decoder that has outcomes takes one. */
static bool compress_return(struct pt_core *c, uint64_t ip)
{
    uint64_t top;
    if (!vs_ras_pop(&c->stack, &top))
        return false;
    if (top != ip)
        vs_ras_push(&c->stack, top);
    return top == ip;
}

/* A branch that is taken goes where nothing else tells. */
static inline void report(struct pt_encoder *e, struct pt_core *c, const struct vs_event *event)
{
    bool returns = event->flags & VS_BR_RETURN && e->params.stack;
    *(returns ? &e->counts.returns : &e->counts.indirect) += 1;
    *(returns ? &e->counts.returns_reported : &e->counts.indirect_reported) += 1;
    target(e, c, event->addr, returns);
    if (event->flags & VS_BR_CALL)
        vs_ras_push(&c->stack, event->pc + event->size);
}

/* Takes an indirect branch that does not fit into a row. */
static void indirect(struct pt_encoder *e, struct pt_core *c, const struct vs_event *event)
{
    bool taken = event->flags & VS_BR_TAKEN, conditional = event->flags & VS_BR_COND;
    bool returns = event->flags & VS_BR_RETURN && e->params.stack;
    if (conditional)
        outcome(e, c, taken);
    if (taken && returns && !conditional && compress_return(c, event->addr)) {
        e->counts.returns++;
        outcome(e, c, true);
    } else if (taken) {
        report(e, c, event);
        return;
    } else {
        *(returns ? &e->counts.returns : &e->counts.indirect) += 1;
    }
    if (event->flags & VS_BR_CALL)
        vs_ras_push(&c->stack, event->pc + event->size);
}

static void branch(struct pt_encoder *e, struct pt_core *c, const struct vs_event *event)
{
    bool taken = event->flags & VS_BR_TAKEN;
    c->time = e->time;
    c->pc = taken ? event->addr : event->pc + event->size;
    c->known = c->instructions;
    if (event->flags & VS_BR_INDIRECT) {
        indirect(e, c, event);
    } else if (event->flags & VS_BR_COND) {
        e->counts.conditional++;
        outcome(e, c, taken);
    } else if (event->flags & VS_BR_CALL && event->addr != event->pc + event->size) {
        vs_ras_push(&c->stack, event->pc + event->size);
    }
    maybe_psb(e, c);
}

/* Takes a call that goes elsewhere, or a return that the stack tells. Returns whether the branch is
 * one of these; if not, nothing was done. */
static inline bool takes_stack(struct pt_core *c, const struct vs_event *event)
{
    if (event->flags == (VS_BR_CALL | VS_BR_TAKEN)) {
        if (event->addr != event->pc + event->size)
            vs_ras_push(&c->stack, event->pc + event->size);
        return true;
    }
    return event->flags == (VS_BR_INDIRECT | VS_BR_RETURN | VS_BR_TAKEN) &&
           compress_return(c, event->addr);
}

/* Does what branch does for a row of the core's branches, as far as nothing else is due. `end` is
 * where the row ends at the latest. Returns where it does. */
static const struct vs_event *take_row(struct pt_encoder *e, struct pt_core *c,
                                       const struct vs_batch *batch, const struct vs_event *event,
                                       const struct vs_event *end)
{
    const struct vs_event *first = event;
    const bool to_packet = e->params.psb; /* a PSB may be due after each */
    const bool ticks = e->params.mtc;
    const unsigned thread = event->thread, full = e->full;
    uint64_t tnt = c->tnt, retired = 0, conditional = 0, returns = 0;
    unsigned count = c->tnt_count;
    for (bool sent = false; event < end && !sent; event++) {
        unsigned flags = event->flags, one = flags & VS_BR_COND;
        bool goes = false;
        if (event->kind != VS_BRANCH || event->thread != thread ||
            (ticks && batch->cycles[event - batch->events] >= c->due))
            break;
        conditional += one;
        if (flags & (VS_BR_INDIRECT | VS_BR_CALL)) {
            if (takes_stack(c, event)) {
                one = !(flags & VS_BR_CALL);
                returns += one;
            } else if ((flags & (VS_BR_INDIRECT | VS_BR_COND)) == VS_BR_INDIRECT) {
                goes = true;
            } else {
                conditional -= one;
                break;
            }
        }
        retired += event->icount;
        tnt = tnt << one | (flags / VS_BR_TAKEN & one);
        count += one;
        if (!goes && count < full)
            continue;
        c->tnt = tnt;
        c->tnt_count = count;
        c->time = batch->cycles ? batch->cycles[event - batch->events] : e->instructions + retired;
        if (goes)
            report(e, c, event);
        else
            flush(e, c);
        tnt = c->tnt;
        count = c->tnt_count;
        sent = to_packet;
    }
    if (event == first)
        return event;
    e->instructions += retired;
    e->time = batch->cycles ? batch->cycles[event - 1 - batch->events] : e->instructions;
    c->time = e->time;
    c->known = c->instructions += retired;
    c->pc = event[-1].flags & VS_BR_TAKEN ? event[-1].addr : event[-1].pc + event[-1].size;
    c->tnt = tnt;
    c->tnt_count = count;
    e->counts.conditional += conditional;
    e->counts.returns += returns;
    maybe_psb(e, c);
    return event;
}

/* ---- what is no branch ----------------------------------------------------------------------- */

/* Returns the address after the instruction at pc, or 0 if it is not known. */
static uint64_t after(const struct pt_encoder *e, const struct pt_core *c, uint64_t pc,
                      uint64_t retired)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    struct vs_insn insn;
    uint64_t until;
    uint32_t version = e->code->version(e->code->context, c->number, retired, &until);
    size_t size = e->code->fetch(e->code->context, version, pc, bytes, e->code->isa->length_max);
    return size && e->code->isa->decode(bytes, size, pc, &insn) == 0 ? pc + insn.length : 0;
}

/* Comes to where the core is now, through straight code. Returns 0; -VSE_INVAL (its code is not
 * known). */
static int catch_up(const struct pt_encoder *e, struct pt_core *c)
{
    for (; c->known < c->instructions; c->known++)
        if (!(c->pc = after(e, c, c->pc, c->known)))
            return -VSE_INVAL;
    return 0;
}

/* The core goes on after a system call, as it turns out. */
static void go_on(struct pt_encoder *e, struct pt_core *c)
{
    if (!c->off)
        return;
    c->off = false;
    put_ip(e, c, VS_PT_TIP_PGE, c->pc, c->time);
}

static void start(struct pt_encoder *e, struct pt_core *c, uint64_t pc)
{
    put_psb(e, c, e->time, false);
    begin(e, c, e->time);
    vs_port_put(e->port, VS_FIELD_HEADER, VS_PT_MODE | VS_PT_MODE_64 << 8, 16);
    vs_port_end(e->port);
    c->alive = true;
    c->pc = pc;
    c->known = c->instructions;
    put_ip(e, c, VS_PT_TIP_PGE, pc, e->time);
    e->counts.syncs++;
}

static int put_stop(struct pt_encoder *e, struct pt_core *c)
{
    c->alive = false;
    e->counts.syncs++;
    e->counts.discontinuities++;
    if (c->off && c->known == c->instructions) { /* the PGD is there already */
        c->off = false;
        put_exact_time(e, c, e->time);
        return 0;
    }
    go_on(e, c);
    int err = catch_up(e, c);
    flush(e, c);
    put_exact_time(e, c, e->time);
    if (!err) {
        put_ip(e, c, VS_PT_FUP, c->pc, e->time);
        put_pgd(e, c, e->time);
    }
    return err;
}

/* The core ends, or its recording does. */
static int stop(struct pt_encoder *e, struct pt_core *c)
{
    if (!c->alive)
        return 0;
    if (e->time >= c->due)
        tick(e, c);
    int err = put_stop(e, c);
    c->due = UINT64_MAX;
    return err;
}

/* Returns whether an instruction that repeats itself had begun when the exception came. */
static bool had_begun(const struct vs_batch *batch, const struct vs_event *event)
{
    const uint8_t *p = vs_event_bytes(batch, event), *bytes;
    size_t size = event->size;
    unsigned number, width;
    while (vs_regs_next(&p, &size, &number, &width, &bytes) > 0)
        if (number == VS_REG_ITERATIONS)
            return true;
    return false;
}

static void elsewhere(struct pt_encoder *e, struct pt_core *c, uint64_t from, bool begun,
                      uint64_t to)
{
    e->counts.discontinuities++;
    go_on(e, c);
    flush(e, c);
    put_exact_time(e, c, e->time);
    if (begun) {
        begin(e, c, e->time);
        vs_port_put(e->port, VS_FIELD_HEADER, VS_PT_PAD, 8);
        vs_port_end(e->port);
    }
    put_ip(e, c, VS_PT_FUP, from, e->time);
    put_ip(e, c, VS_PT_TIP, to, e->time);
    c->pc = to;
    c->known = c->instructions;
}

/* A system call at the event's pc, after which the core goes on behind it, or at *to. */
static int system_call(struct pt_encoder *e, struct pt_core *c, const struct vs_event *event,
                       const uint64_t *to)
{
    uint64_t next = after(e, c, event->pc, c->instructions - 1);
    if (!next)
        return -VSE_INVAL;
    go_on(e, c);
    flush(e, c);
    if (to)
        put_exact_time(e, c, e->time);
    else
        put_time(e, c, e->time);
    put_pgd(e, c, e->time);
    c->off = true;
    c->time = e->time;
    c->known = c->instructions;
    c->pc = next;
    if (to && *to == next) {
        elsewhere(e, c, next, false, next);
    } else if (to) {
        e->counts.discontinuities++;
        c->pc = *to;
        go_on(e, c);
    }
    return 0;
}

static int other(struct pt_encoder *e, struct pt_core *c, const struct vs_batch *batch,
                 const struct vs_event *event)
{
    uint64_t to;
    int err = 0;
    switch (event->kind) {
    case VS_SYSCALL:
        return system_call(e, c, event, vs_syscall_resumes(batch, event, &to) ? &to : NULL);
    case VS_EXCEPTION_RET:
        to = event->addr;
        return system_call(e, c, event, &to);
    case VS_EXCEPTION:
        elsewhere(e, c, event->pc, had_begun(batch, event), event->addr);
        break;
    case VS_GAP:
        err = stop(e, c);
        start(e, c, event->pc);
        break;
    case VS_THREAD_START:
        start(e, c, event->pc);
        break;
    case VS_THREAD_EXIT:
        err = stop(e, c);
        break;
    default:
        break;
    }
    return err;
}

/* ---- the encoder ----------------------------------------------------------------------------- */

static void encoder_close(void *encoder)
{
    struct pt_encoder *e = encoder;
    for (unsigned i = 0; e && i < e->setup.cores; i++)
        vs_ras_fini(&e->cores[i].stack);
    free(e);
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    unsigned cores = context->setup->cores;
    const struct vs_pt_params *p = context->params;
    *encoder = NULL;
    if (!context->code)
        return -VSE_INVAL;
    struct pt_encoder *e = calloc(1, sizeof(*e) + cores * sizeof(e->cores[0]));
    if (!e)
        return -VSE_NOMEM;
    e->port = context->port;
    e->code = context->code;
    e->params = *p;
    e->setup = *context->setup;
    e->full = p->tnt == VS_PT_LONG ? VS_PT_LONG_BITS : VS_PT_SHORT_BITS;
    for (unsigned i = 0; i < cores; i++) {
        e->cores[i].number = i;
        e->cores[i].due = UINT64_MAX;
        if (vs_ras_init(&e->cores[i].stack, (uint32_t)p->stack) < 0) {
            encoder_close(e);
            return -VSE_NOMEM;
        }
    }
    *encoder = e;
    return 0;
}

/* Returns the last event up to which nothing is due but outcomes, if there is such a row. */
static const struct vs_event *row_end(const struct pt_encoder *e, const struct pt_core *c,
                                      const struct vs_event *event, const struct vs_event *end)
{
    return c->off || is_psb_due(e, c) ? event : end;
}

static int take_event(struct pt_encoder *e, struct pt_core *c, const struct vs_batch *batch,
                      const struct vs_event *event)
{
    c->instructions += event->icount;
    e->instructions += event->icount;
    e->time = batch->cycles ? batch->cycles[event - batch->events] : e->instructions;
    if (unlikely(c->off) && event->icount)
        go_on(e, c);
    if (unlikely(e->time >= c->due))
        tick(e, c);
    if (event->kind == VS_BRANCH)
        branch(e, c, event);
    else if (event->kind > VS_STORE)
        return other(e, c, batch, event);
    return 0;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct pt_encoder *e = encoder;
    const struct vs_batch *batch = slice->events;
    const struct vs_event *event = batch->events, *end = event + batch->count;
    int err = 0;
    if (e->setup.timed && batch->count && !batch->cycles)
        return -VSE_INVAL;
    while (event < end && !err) {
        if (unlikely(event->thread >= e->setup.cores))
            return -VSE_INVAL;
        struct pt_core *c = &e->cores[event->thread];
        const struct vs_event *after = take_row(e, c, batch, event, row_end(e, c, event, end));
        if (unlikely(after == event))
            err = take_event(e, c, batch, event++);
        else
            event = after;
    }
    return err;
}

static int encoder_sync(void *encoder, unsigned core)
{
    struct pt_encoder *e = encoder;
    e->cores[core].sync_due = true; /* its place is known after its next branch */
    return 0;
}

static int encoder_finish(void *encoder)
{
    struct pt_encoder *e = encoder;
    int err = 0;
    for (unsigned i = 0; i < e->setup.cores && !err; i++)
        err = stop(e, &e->cores[i]);
    return err;
}

static void encoder_counts(const void *encoder, void *counts)
{
    const struct pt_encoder *e = encoder;
    struct vs_flow_counts *c = counts;
    *c = e->counts;
    c->instructions = e->instructions;
    c->conditional_reported = c->conditional;
}

const struct vs_encoder_ops vs_pt_encoder_ops = {.needs = VS_NEEDS_EVENTS | VS_NEEDS_CODE,
                                                 .open = encoder_open,
                                                 .consume = encoder_consume,
                                                 .sync = encoder_sync,
                                                 .finish = encoder_finish,
                                                 .counts = encoder_counts,
                                                 .rows = vs_flow_count_rows,
                                                 .close = encoder_close};
