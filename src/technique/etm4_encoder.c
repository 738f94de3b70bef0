/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/likely.h"
#include "model/atoms.h"
#include "model/ras.h"
#include "port/coresight.h"
#include "port/row.h"
#include "technique/etm4.h"
#include "technique/flow_common.h"
#include "technique/interrupted.h"
#include "technique/stretches.h"

struct etm4_encoder_core {
    unsigned number;
    struct vs_stretch_place place; /* its pc is what follows the last branch that has an atom */
    bool alive;                    /* it has begun, and is not in a gap */
    bool begun;                    /* the repeated instruction at its pc is already counted */
    bool synced;                   /* its stream has an A-Sync */
    struct vs_interrupted left;
    struct vs_atoms atoms;
    struct vs_recent recent;
    struct vs_ras ras;
    uint64_t time;    /* the last step's */
    uint64_t stamp;   /* the last timestamp; 0: none since Trace Info */
    uint64_t counted; /* the cycle of the last cycle count */
    uint64_t bytes;   /* since the last A-Sync */
    struct vs_coresight_out frame;
};

struct etm4_encoder {
    struct vs_port_writer *port;
    struct vs_etm4_params params;
    struct vs_etm4_form form;
    bool timed;
    uint64_t most; /* cycles that the counter holds */
    unsigned cores;
    int error; /* an address that cannot be sent */
    struct vs_stretches stretches;
    struct vs_flow_counts counts;
    struct etm4_encoder_core core[];
};

static void encoder_close(void *encoder)
{
    struct etm4_encoder *e = encoder;
    for (unsigned i = 0; e && i < e->cores; i++)
        vs_ras_fini(&e->core[i].ras);
    if (e)
        vs_stretches_fini(&e->stretches);
    free(e);
}

static int encoder_open(void **out, const struct vs_technique_context *context)
{
    const struct vs_technique_setup *setup = context->setup;
    struct etm4_encoder *e = calloc(1, sizeof(*e) + setup->cores * sizeof(e->core[0]));
    if (!(*out = e))
        return -VSE_NOMEM;
    if (!context->code)
        return -VSE_INVAL;
    e->port = context->port;
    e->params = *(const struct vs_etm4_params *)context->params;
    e->form = vs_etm4_form(setup);
    e->timed = setup->timed;
    e->most = (UINT64_C(1) << e->params.cycle_bits) - 1;
    e->cores = setup->cores;
    int err = vs_stretches_init(&e->stretches, context->code);
    for (unsigned i = 0; i < setup->cores && !err; i++) {
        e->core[i].number = i;
        err = vs_ras_init(&e->core[i].ras, (uint32_t)e->params.stack);
    }
    return err;
}

/* ---- packets --------------------------------------------------------------------------------- */

struct etm4_packet {
    uint8_t bytes[16];
    uint8_t fields[16];
    unsigned size;
};

static void add(struct etm4_packet *p, enum vs_field f, uint64_t byte)
{
    p->fields[p->size] = (uint8_t)f;
    p->bytes[p->size++] = (uint8_t)byte;
}

/* Adds seven bits in each byte, the low ones first, and a bit that says whether more follow. */
static void add_number(struct etm4_packet *p, enum vs_field f, uint64_t n)
{
    for (; n >> 7; n >>= 7)
        add(p, f, (n & 0x7F) | 0x80);
    add(p, f, n);
}

static void send(struct etm4_encoder *e, struct etm4_encoder_core *c, const struct etm4_packet *p)
{
    c->bytes += p->size;
    if (e->params.formatter) {
        for (unsigned i = 0; i < p->size; i++)
            vs_coresight_put(&c->frame, e->port, c->number, c->time, p->fields[i], p->bytes[i]);
        return;
    }
    vs_port_begin_packet(e->port, c->number, c->time);
    for (unsigned i = 0; i < p->size; i++)
        vs_port_put(e->port, p->fields[i], p->bytes[i], 8);
    vs_port_end(e->port);
}

static void send_byte(struct etm4_encoder *e, struct etm4_encoder_core *c, enum vs_field f,
                      uint8_t byte)
{
    c->bytes++;
    if (e->params.formatter) {
        vs_coresight_put(&c->frame, e->port, c->number, c->time, f, byte);
        return;
    }
    vs_port_begin_packet(e->port, c->number, c->time);
    vs_port_put(e->port, f, byte, 8);
    vs_port_end(e->port);
}

/* Sends a header and that many bytes of an address. */
static inline void send_target(struct etm4_encoder *e, struct etm4_encoder_core *c, uint64_t header,
                               uint64_t address, unsigned bytes)
{
    c->bytes += 1 + bytes;
    if (e->params.formatter) {
        vs_coresight_put(&c->frame, e->port, c->number, c->time, VS_FIELD_HEADER, (uint8_t)header);
        for (unsigned i = 0; i < bytes; i++)
            vs_coresight_put(&c->frame, e->port, c->number, c->time, VS_FIELD_TARGET,
                             (uint8_t)(address >> 8 * i));
        return;
    }
    vs_port_begin_packet(e->port, c->number, c->time);
    if (likely(bytes < 8)) {
        vs_port_put_two(e->port, VS_FIELD_HEADER, 8, VS_FIELD_TARGET, 8 * bytes,
                        header | address << 8);
    } else {
        vs_port_put(e->port, VS_FIELD_HEADER, header, 8);
        vs_port_put(e->port, VS_FIELD_TARGET, address, 64);
    }
    vs_port_end(e->port);
}

/* Sends all atoms. */
static void send_atoms(struct etm4_encoder *e, struct etm4_encoder_core *c)
{
    while (c->atoms.count)
        send_byte(e, c, VS_FIELD_OUTCOME, vs_atoms_pack(&c->atoms));
}

static inline void put_atom(struct etm4_encoder *e, struct etm4_encoder_core *c, bool taken)
{
    vs_atoms_add(&c->atoms, taken);
    if (unlikely(c->atoms.count == VS_ATOMS_MAX))
        send_byte(e, c, VS_FIELD_OUTCOME, vs_atoms_pack(&c->atoms));
}

/* ---- addresses ------------------------------------------------------------------------------- */

static uint64_t sent_form(struct etm4_encoder *e, uint64_t address)
{
    uint64_t sent;
    if (unlikely(!vs_etm4_sendable(e->form, address, &sent)))
        e->error = -VSE_INVAL;
    return sent;
}

/* Returns the bytes of a long address: the first two leave out what the instruction set leaves
 * out. */
static inline uint64_t long_form(const struct etm4_encoder *e, uint64_t sent)
{
    unsigned shift = e->form.shift;
    uint64_t second = shift == 1 ? sent >> 8 & 0xFF : sent >> 9 & 0x7F;
    return (sent & ~UINT64_C(0xFFFF)) | second << 8 | (sent >> shift & 0x7F);
}

static void send_address(struct etm4_encoder *e, struct etm4_encoder_core *c, uint64_t address)
{
    const unsigned is1 = vs_etm4_is1(e->form), shift = e->form.shift;
    uint64_t sent = sent_form(e, address), low = sent >> shift & 0x7F;
    unsigned place = vs_recent_find(&c->recent, sent);
    switch (vs_etm4_shortest(&c->recent, e->form, sent, place)) {
    case VS_ETM4_ADDRESS_MATCH:
        send_byte(e, c, VS_FIELD_INDEX, (uint8_t)(VS_ETM4_MATCH + place));
        break;
    case VS_ETM4_ADDRESS_SHORT_1:
        send_target(e, c, VS_ETM4_SHORT + is1, low, 1);
        break;
    case VS_ETM4_ADDRESS_SHORT_2:
        send_target(e, c, VS_ETM4_SHORT + is1, low | 0x80 | (sent >> (7 + shift) & 0xFF) << 8, 2);
        break;
    case VS_ETM4_ADDRESS_32:
        send_target(e, c, VS_ETM4_LONG_32 + is1, long_form(e, sent), 4);
        break;
    case VS_ETM4_ADDRESS_64:
        send_target(e, c, VS_ETM4_LONG_64 + is1, long_form(e, sent), 8);
        break;
    }
    vs_recent_push(&c->recent, sent);
}

/* Sends all of an address, and the context. */
static void send_place(struct etm4_encoder *e, struct etm4_encoder_core *c, uint64_t address)
{
    bool numbered = e->params.context == VS_ETM4_CORE;
    uint64_t sent = sent_form(e, address);
    struct etm4_packet p = {.size = 0};
    add(&p, VS_FIELD_SYNC, VS_ETM4_CONTEXT + vs_etm4_is1(e->form));
    for (unsigned i = 0; i < 8; i++)
        add(&p, VS_FIELD_SYNC, long_form(e, sent) >> 8 * i);
    add(&p, VS_FIELD_SYNC, VS_ETM4_EL0 | (numbered ? VS_ETM4_NUMBERED : 0));
    for (unsigned i = 0; numbered && i < 4; i++)
        add(&p, VS_FIELD_SYNC, (uint64_t)c->number >> 8 * i);
    vs_recent_push(&c->recent, sent);
    send(e, c, &p);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void send_stamp(struct etm4_encoder *e, struct etm4_encoder_core *c, uint64_t time)
{
    unsigned bytes = vs_etm4_time_bytes(c->stamp, time);
    struct etm4_packet p = {.size = 0};
    add(&p, VS_FIELD_CYCLES, VS_ETM4_TIME + e->params.cycles);
    for (unsigned i = 0; i < bytes; i++)
        add(&p, VS_FIELD_CYCLES,
            i == 8 ? time >> 56 : (time >> 7 * i & 0x7F) | (i + 1 < bytes ? 0x80 : 0));
    if (e->params.cycles)
        add_number(&p, VS_FIELD_CYCLES, time - c->counted);
    c->stamp = time;
    send(e, c, &p);
}

/* Counts the cycles since the last cycle count, if they are enough. Returns whether they are more
 * than the counter holds; then a timestamp has to tell, as another does for what was counted. */
static bool send_cycles(struct etm4_encoder *e, struct etm4_encoder_core *c)
{
    uint64_t cycles = c->time - c->counted, above = cycles - e->params.threshold;
    struct etm4_packet p = {.size = 0};
    if (cycles < e->params.threshold)
        return false;
    send_atoms(e, c);
    if (cycles > e->most && c->stamp != c->counted)
        send_stamp(e, c, c->counted);
    if (cycles > e->most) {
        add(&p, VS_FIELD_CYCLES, VS_ETM4_CYCLES_FAR + 1);
    } else if (above <= VS_ETM4_NEAR) {
        add(&p, VS_FIELD_CYCLES, VS_ETM4_CYCLES_NEAR + above);
    } else {
        add(&p, VS_FIELD_CYCLES, VS_ETM4_CYCLES_FAR);
        add_number(&p, VS_FIELD_CYCLES, above);
    }
    c->counted = c->time;
    send(e, c, &p);
    return cycles > e->most;
}

/* Tells when a core went elsewhere. */
static void send_time(struct etm4_encoder *e, struct etm4_encoder_core *c)
{
    if (!e->timed)
        return;
    if (e->params.cycles)
        send_cycles(e, c);
    send_stamp(e, c, c->time);
}

/* ---- synchronisation ------------------------------------------------------------------------- */

static void send_sync(struct etm4_encoder *e, struct etm4_encoder_core *c)
{
    struct etm4_packet async = {.size = 0}, info = {.size = 0};
    for (unsigned i = 0; i < VS_ETM4_ZEROS; i++)
        add(&async, VS_FIELD_SYNC, VS_ETM4_ASYNC);
    add(&async, VS_FIELD_SYNC, VS_ETM4_ASYNC_END);
    send(e, c, &async);
    add(&info, VS_FIELD_SYNC, VS_ETM4_INFO);
    add(&info, VS_FIELD_SYNC, e->params.cycles ? 0x09 : 0x01); /* which fields follow */
    add(&info, VS_FIELD_SYNC, e->params.cycles);
    if (e->params.cycles)
        add_number(&info, VS_FIELD_SYNC, e->params.threshold);
    send(e, c, &info);
    c->bytes = 0;
    c->stamp = 0;
    c->synced = true;
    c->recent = (struct vs_recent){0};
    c->ras.depth = 0;
}

static int encoder_sync(void *encoder, unsigned core)
{
    struct etm4_encoder *e = encoder;
    struct etm4_encoder_core *c = &e->core[core];
    if (!c->alive)
        return 0;
    send_atoms(e, c);
    send_sync(e, c);
    send_place(e, c, c->place.pc);
    e->counts.syncs++;
    return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static inline void put_taken(struct etm4_encoder *e, struct etm4_encoder_core *c, uint64_t target)
{
    put_atom(e, c, true);
    if (e->params.broadcast) {
        send_atoms(e, c);
        send_address(e, c, target);
    }
}

/* What a core executed last. */
struct etm4_passed {
    bool branch; /* one that is a step */
    uint64_t branch_pc;
    uint64_t repeated; /* a repeated instruction */
    bool system_call;
};

/* The core goes over the code to its next step. Returns 0; -VSE_INVAL (the code is another). */
static int pass(struct etm4_encoder *e, struct etm4_encoder_core *c, uint64_t count,
                struct etm4_passed *passed)
{
    *passed = (struct etm4_passed){0};
    if (unlikely(c->begun)) {
        const struct vs_stretch *r = vs_stretches_at(&e->stretches, c->number, &c->place, 1);
        if (!r)
            return -VSE_INVAL;
        passed->repeated = r->pc;
        c->place.pc = r->next;
        c->begun = false;
    }
    while (count) {
        const struct vs_stretch *r = vs_stretches_at(&e->stretches, c->number, &c->place, count);
        if (unlikely(!r))
            return -VSE_INVAL;
        count -= r->count;
        c->place.executed += r->count;
        bool jumps = vs_stretch_jumps(r);
        *passed = (struct etm4_passed){.branch = r->branch && !jumps,
                                       .branch_pc = r->branch && !jumps ? r->last_pc : 0,
                                       .repeated = r->repeat ? r->last_pc : 0,
                                       .system_call = r->system_call};
        if (unlikely(passed->branch && count))
            return -VSE_INVAL;
        c->place.pc = jumps ? r->target : r->next;
        if (jumps)
            put_taken(e, c, r->target);
    }
    return 0;
}

/* The core goes to its next step, a branch, over direct jumps, of which only the number matters. */
static inline void reach(struct etm4_encoder *e, struct etm4_encoder_core *c,
                         const struct vs_step *s)
{
    for (uint32_t i = 0; i < s->jumps; i++)
        put_atom(e, c, true);
    c->place.executed += s->icount;
    c->begun = false;
}

static void put_indirect(struct etm4_encoder *e, struct etm4_encoder_core *c,
                         const struct vs_step *s)
{
    bool is_return = s->flags & VS_BR_RETURN, known;
    uint64_t top;
    put_atom(e, c, vs_step_taken(s));
    if (s->flags & VS_BR_CALL && vs_step_taken(s))
        vs_ras_push(&c->ras, s->pc + s->size);
    known = !vs_step_taken(s);
    if (!known && !e->params.broadcast && vs_ras_pop(&c->ras, &top) && !(known = top == s->target))
        vs_ras_push(&c->ras, top);
    *(is_return ? &e->counts.returns : &e->counts.indirect) += 1;
    if (known)
        return;
    *(is_return ? &e->counts.returns_reported : &e->counts.indirect_reported) += 1;
    send_atoms(e, c);
    send_address(e, c, s->target);
}

static void put_discontinuity(struct etm4_encoder *e, struct etm4_encoder_core *c,
                              const struct vs_step *s, const struct etm4_passed *passed)
{
    uint64_t stop = c->place.pc;
    bool halts = s->target == VS_STEP_NOWHERE;
    send_atoms(e, c);
    e->counts.discontinuities++;
    e->counts.syncs += !c->alive || halts;
    if (!c->alive) {
        if (!c->synced)
            send_sync(e, c);
        send_byte(e, c, VS_FIELD_SYNC, VS_ETM4_TRACE_ON);
        c->ras.depth = 0;
        send_place(e, c, s->target);
        c->counted = c->time;
        c->left.depth = 0;
        c->alive = true;
    } else {
        struct etm4_packet p = {.size = 0};
        add(&p, VS_FIELD_HEADER, VS_ETM4_EXCEPTION);
        add(&p, VS_FIELD_HEADER,
            halts                 ? VS_ETM4_HALT
            : passed->system_call ? VS_ETM4_CALL
                                  : VS_ETM4_INTERRUPT);
        send(e, c, &p);
        send_address(e, c, stop);
        if (halts)
            c->alive = false;
        else
            send_address(e, c, s->target);
        if (halts || !vs_interrupted_return(&c->left, s->target, &c->begun))
            vs_interrupted_leave(&c->left, passed->repeated, stop);
    }
    send_time(e, c);
}

/* Goes to the step. Returns 0; -VSE_INVAL (the code is another). */
static inline int go_to(struct etm4_encoder *e, struct etm4_encoder_core *c,
                        const struct vs_step *s, struct etm4_passed *passed)
{
    bool branch = s->kind != VS_STEP_DISCONTINUITY;
    if (likely(branch && !e->params.broadcast)) {
        reach(e, c, s);
        return c->alive ? 0 : -VSE_INVAL;
    }
    int err = c->alive ? pass(e, c, s->icount, passed) : 0;
    return err || branch != passed->branch || passed->branch_pc != s->pc ? -VSE_INVAL : 0;
}

static inline int put_step(struct etm4_encoder *e, struct etm4_encoder_core *c,
                           const struct vs_step *s)
{
    struct etm4_passed passed = {0};
    if (unlikely(go_to(e, c, s, &passed)))
        return -VSE_INVAL;
    switch (s->kind) {
    case VS_STEP_CONDITIONAL:
        e->counts.conditional++;
        if (vs_step_taken(s))
            put_taken(e, c, s->target);
        else
            put_atom(e, c, false);
        break;
    case VS_STEP_CALL:
        vs_ras_push(&c->ras, s->pc + s->size);
        put_taken(e, c, s->target);
        break;
    case VS_STEP_INDIRECT:
        put_indirect(e, c, s);
        break;
    default:
        put_discontinuity(e, c, s, &passed);
        break;
    }
    c->place.pc = vs_step_next(s);
    return e->error;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A core's state in a row of its branches, and what the bytes of the packets were for. */
struct telling {
    struct vs_port_row row;
    struct vs_atoms atoms;
    struct vs_recent recent;
    uint64_t outcomes, headers, targets, matches;
};

static inline void tell_atoms(struct telling *t, uint64_t time)
{
    while (t->atoms.count) {
        struct vs_atoms rest = t->atoms;
        uint8_t packet = vs_atoms_pack_some(&rest);
        t->atoms = rest;
        vs_port_row_put(&t->row, packet, 8);
        vs_port_row_end_packet(&t->row, 8, time);
        t->outcomes++;
    }
}

/* Adds the atoms of direct jumps and of the branch after them. */
static inline void add_atoms(struct telling *t, uint32_t jumps, bool taken, uint64_t time)
{
    if (likely(t->atoms.count + (uint64_t)jumps + 1 < VS_ATOMS_MAX)) {
        t->atoms.bits |= (((UINT32_C(1) << jumps) - 1) | (uint32_t)taken << jumps)
                         << t->atoms.count;
        t->atoms.count += jumps + 1;
        return;
    }
    for (uint32_t i = 0; i <= jumps; i++) {
        vs_atoms_add(&t->atoms, i < jumps || taken);
        if (t->atoms.count < VS_ATOMS_MAX)
            continue;
        struct vs_atoms rest = t->atoms;
        vs_port_row_put(&t->row, vs_atoms_pack(&rest), 8);
        vs_port_row_end_packet(&t->row, 8, time);
        t->atoms = rest;
        t->outcomes++;
    }
}

/* Does what send_address does, with as few branches as there can be: what kind of packet comes next
 * is as good as random. */
static inline void tell_address(struct etm4_encoder *e, struct telling *t, uint64_t address,
                                uint64_t time)
{
    static const uint8_t headers[] = {VS_ETM4_SHORT, VS_ETM4_SHORT, VS_ETM4_LONG_32,
                                      VS_ETM4_LONG_64};
    const unsigned shift = e->form.shift;
    const uint64_t sent = sent_form(e, address), low = sent >> shift & 0x7F;
    const unsigned place = vs_recent_find(&t->recent, sent);
    const enum vs_etm4_address kind = vs_etm4_shortest(&t->recent, e->form, sent, place);
    const bool match = kind == VS_ETM4_ADDRESS_MATCH;
    const unsigned log = match ? 0 : kind - VS_ETM4_ADDRESS_SHORT_1, bytes = match ? 0 : 1u << log;
    uint64_t second = low | 0x80 | (sent >> (7 + shift) & 0xFF) << 8;
    uint64_t rest = log > 1 ? long_form(e, sent) : log ? second : low;
    uint64_t head = match ? VS_ETM4_MATCH + place : headers[log] + vs_etm4_is1(e->form);
    if (likely(bytes < 8)) {
        rest &= (UINT64_C(1) << 8 * bytes) - 1;
        vs_port_row_put(&t->row, head | rest << 8, 8 + 8 * bytes);
    } else {
        vs_port_row_put(&t->row, head, 8);
        vs_port_row_put(&t->row, rest, 64);
    }
    vs_port_row_end_packet(&t->row, 8 + 8 * bytes, time);
    t->matches += match;
    t->headers += !match;
    t->targets += bytes;
    vs_recent_push(&t->recent, sent);
}

/* Returns whether the return stack tells where a branch goes, and takes the address off it then. */
static inline bool tells_target(struct vs_ras *ras, uint64_t target)
{
    uint64_t top;
    if (!vs_ras_pop(ras, &top))
        return false;
    if (top != target)
        vs_ras_push(ras, top);
    return top == target;
}

static inline void tell_indirect(struct etm4_encoder *e, struct telling *t, struct vs_ras *ras,
                                 const struct vs_step *s, struct vs_flow_counts *n)
{
    const bool is_return = s->flags & VS_BR_RETURN, taken = vs_step_taken(s);
    add_atoms(t, s->jumps, taken, s->time);
    if (s->flags & VS_BR_CALL && taken)
        vs_ras_push(ras, s->pc + s->size);
    const bool told = taken && !tells_target(ras, s->target);
    if (told) {
        tell_atoms(t, s->time);
        tell_address(e, t, s->target, s->time);
    }
    n->returns += is_return;
    n->indirect += !is_return;
    n->returns_reported += is_return && told;
    n->indirect_reported += !is_return && told;
}

static void end_row(struct etm4_encoder *e, struct etm4_encoder_core *c, const struct telling *t,
                    const struct vs_step *last, const struct vs_flow_counts *n)
{
    uint64_t *bits = e->port->core->counts.bits;
    vs_port_row_end(&t->row);
    bits[VS_FIELD_OUTCOME] += 8 * t->outcomes;
    bits[VS_FIELD_HEADER] += 8 * t->headers;
    bits[VS_FIELD_TARGET] += 8 * t->targets;
    bits[VS_FIELD_INDEX] += 8 * t->matches;
    c->bytes += t->outcomes + t->headers + t->targets + t->matches;
    c->atoms = t->atoms;
    c->recent = t->recent;
    c->time = last->time;
    c->place.executed += n->instructions;
    c->place.pc = vs_step_next(last);
    c->begun = false;
    vs_flow_counts_add(&e->counts, n);
}

/* Does what put_step does for a row of a core's branches, at least one. Returns where it ends. */
static const struct vs_step *put_row(struct etm4_encoder *e, struct etm4_encoder_core *c,
                                     const struct vs_step *s, const struct vs_step *end)
{
    const unsigned core = s->core;
    struct vs_flow_counts n = {0};
    struct telling t = {.row = vs_port_row(e->port, core), .atoms = c->atoms, .recent = c->recent};
    for (; s < end && s->core == core && s->kind != VS_STEP_DISCONTINUITY; s++) {
        n.instructions += s->icount;
        if (likely(s->kind == VS_STEP_CONDITIONAL)) {
            n.conditional++;
            add_atoms(&t, s->jumps, vs_step_taken(s), s->time);
        } else if (s->kind == VS_STEP_CALL) {
            add_atoms(&t, s->jumps, true, s->time);
            vs_ras_push(&c->ras, s->pc + s->size);
        } else {
            tell_indirect(e, &t, &c->ras, s, &n);
        }
    }
    end_row(e, c, &t, &s[-1], &n);
    return s;
}

/* Sends what may be due after a step: cycles and a synchronisation point. */
static int after_step(struct etm4_encoder *e, struct etm4_encoder_core *c)
{
    if (e->params.cycles && c->alive && send_cycles(e, c))
        send_stamp(e, c, c->time);
    return e->params.sync && c->bytes >= e->params.sync ? encoder_sync(e, c->number) : 0;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct etm4_encoder *e = encoder;
    const struct vs_step *s = slice->steps, *end = s + slice->step_count;
    const bool after = e->params.cycles || e->params.sync;
    const bool rows = !after && !e->params.broadcast && !e->params.formatter;
    int err = 0;
    while (s < end && !err) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        struct etm4_encoder_core *c = &e->core[s->core];
        if (rows && c->alive && s->kind != VS_STEP_DISCONTINUITY) {
            s = put_row(e, c, s, end);
            err = e->error;
            continue;
        }
        c->time = s->time;
        e->counts.instructions += s->icount;
        err = put_step(e, c, s++);
        if (after && !err)
            err = after_step(e, c);
    }
    return err;
}

static int encoder_finish(void *encoder)
{
    struct etm4_encoder *e = encoder;
    for (unsigned i = 0; i < e->cores; i++) {
        struct etm4_encoder_core *c = &e->core[i];
        send_atoms(e, c);
        if (e->params.formatter)
            vs_coresight_finish(&c->frame, e->port, i, c->time);
    }
    return 0;
}

static void encoder_counts(const void *encoder, void *counts)
{
    struct vs_flow_counts *c = counts;
    *c = ((const struct etm4_encoder *)encoder)->counts;
    c->conditional_reported = c->conditional;
}

const struct vs_encoder_ops vs_etm4_encoder = {
    .needs = VS_NEEDS_STEPS | VS_NEEDS_CODE,
    .open = encoder_open,
    .consume = encoder_consume,
    .sync = encoder_sync,
    .finish = encoder_finish,
    .counts = encoder_counts,
    .rows = vs_flow_count_rows,
    .close = encoder_close,
};
