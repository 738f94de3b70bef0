/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "model/ras.h"
#include "technique/pt.h"

enum kind {
    PAD,
    TNT,
    TIP,
    PGE,
    PGD,
    FUP,
    PSB,
    PSBEND,
    OVF,
    MODE,
    TSC, /* this and those that follow tell of time alone */
    TMA,
    CBR,
    CYC,
    MTC,
    SKIPPED, /* known, and of no consequence here */
};

struct packet {
    enum kind kind;
    bool has_ip;
    unsigned count; /* of outcomes */
    uint64_t value; /* outcomes, an instruction pointer, cycles, the mode */
};

/* What is known of the core. */
enum state {
    NEVER,  /* it has not begun */
    ON,     /* it is followed */
    OFF,    /* it is in a system call, has ended, or has a gap */
    BEHIND, /* the same, and a PSB came since */
    LOST,   /* what comes next is a synchronisation point */
};

struct pt_decoder {
    struct vs_port_reader *port;
    struct vs_pt_params params;
    struct vs_technique_setup setup;
    struct vs_ras stack;

    /* of the core whose stream is being read */
    enum state state;
    uint64_t outcomes; /* those left, the newest in bit 0 */
    unsigned count;
    bool target_known; /* the head's TIP was not asked for yet */
    uint64_t target;
    bool fixed; /* the head goes to an address or a system call: no branch is on the way */
    uint64_t last_ip, cycle;
    uint64_t due; /* the cycle of the next MTC; UINT64_MAX: it is not known */
    bool owes_tma, owes_cbr;
    bool peeked;
    bool begun;   /* a PAD came just before */
    bool forgets; /* where the head ends, the stack of calls is emptied */
    struct packet next;
};

/* ---- packets --------------------------------------------------------------------------------- */

static bool is_exact(const struct pt_decoder *d)
{
    return d->params.accepts == VS_PT_EXACT;
}

/* Whether MTCs are read. */
static bool ticks(const struct pt_decoder *d)
{
    return d->params.mtc;
}

static int refuse(struct pt_decoder *d, const char *why)
{
    return vs_port_refuse(d->port, VS_FIELD_HEADER, why);
}

static int get_byte(struct pt_decoder *d, enum vs_field f, uint64_t *byte)
{
    return vs_port_get(d->port, f, 8, byte);
}

static int get_ip(struct pt_decoder *d, unsigned code, struct packet *p)
{
    uint64_t ip = 0, before = d->last_ip;
    int bytes = vs_pt_ip_bytes(code);
    if (bytes < 0)
        return refuse(d, "there is no such form of an instruction pointer");
    p->has_ip = bytes;
    int err = vs_port_get(d->port, VS_FIELD_TARGET, 8 * (unsigned)bytes, &ip);
    if (err || !bytes)
        return err;
    if (code == 3)
        ip = vs_pt_sign_extend(ip);
    else if (bytes < 8)
        ip |= before >> 8 * bytes << 8 * bytes;
    if (is_exact(d) && vs_pt_ip_code(before, ip) != code)
        return refuse(d, "an instruction pointer is not in its shortest form");
    p->value = d->last_ip = ip;
    return 0;
}

static void set_outcomes(struct packet *p, uint64_t bits)
{
    unsigned stop = 63 - (unsigned)__builtin_clzll(bits);
    p->kind = TNT;
    p->count = stop;
    p->value = bits ^ UINT64_C(1) << stop;
}

static int get_long_tnt(struct pt_decoder *d, struct packet *p)
{
    uint64_t bits;
    int err = vs_port_get(d->port, VS_FIELD_OUTCOME, 48, &bits);
    if (err)
        return err;
    if (bits < 2)
        return refuse(d, "a TNT has no outcome");
    set_outcomes(p, bits);
    return is_exact(d) && (d->params.tnt != VS_PT_LONG ||
                           p->count <= vs_pt_long_least(&d->params, d->params.deferred))
               ? refuse(d, "a TNT is not in its shortest form")
               : 0;
}

static int get_psb(struct pt_decoder *d, struct packet *p)
{
    uint64_t word = 0;
    p->kind = PSB;
    for (unsigned i = 1; i < VS_PT_PSB_PAIRS; i++) {
        int err = vs_port_get(d->port, VS_FIELD_SYNC, 16, &word);
        if (err)
            return err;
        if (word != (VS_PT_EXT | VS_PT_EXT_PSB << 8))
            return refuse(d, "a PSB is cut");
    }
    d->last_ip = 0;
    return 0;
}

/* Packets that say nothing of control flow: the bytes after the second. */
static int passed_bytes(unsigned second)
{
    switch (second) {
    case VS_PT_EXT_TRACESTOP:
        return 0;
    case VS_PT_EXT_CBR:
        return 2;
    case VS_PT_EXT_TMA:
    case VS_PT_EXT_VMCS:
        return 5;
    case VS_PT_EXT_PIP:
        return 6;
    case 0x62: /* EXSTOP, and with an instruction pointer that a FUP has */
    case 0xe2:
        return 0;
    case 0xa2: /* PWRX */
        return 5;
    case 0x22: /* PWRE */
        return 2;
    case 0xc2: /* MWAIT */
        return 8;
    case 0x13: /* CFE */
    case 0x93:
        return 2;
    case 0x53: /* EVD */
        return 9;
    case 0x12: /* PTW of 4 bytes and of 8, and those followed by a FUP */
    case 0x92:
        return 4;
    case 0x32:
    case 0xb2:
        return 8;
    default:
        return -VSE_CORRUPT;
    }
}

static int get_extended(struct pt_decoder *d, struct packet *p)
{
    uint64_t second, third;
    int err = get_byte(d, VS_FIELD_HEADER, &second);
    if (err)
        return err;
    if (second == VS_PT_EXT_PSB)
        return get_psb(d, p);
    if (second == VS_PT_EXT_TNT)
        return get_long_tnt(d, p);
    p->kind = second == VS_PT_EXT_PSBEND ? PSBEND : second == VS_PT_EXT_OVF ? OVF : SKIPPED;
    if (p->kind == PSBEND || (p->kind == OVF && !is_exact(d)))
        return 0;
    if (second == VS_PT_EXT_TMA && ticks(d)) {
        p->kind = TMA;
        return vs_port_get(d->port, VS_FIELD_CYCLES, 40, &p->value);
    }
    if (second == VS_PT_EXT_CBR && ticks(d)) {
        p->kind = CBR;
        return vs_port_get(d->port, VS_FIELD_CYCLES, 16, &p->value);
    }
    if (is_exact(d))
        return refuse(d, "no such packet is written");
    if (second == VS_PT_EXT_MNT) {
        err = get_byte(d, VS_FIELD_HEADER, &third);
        if (!err && third != 0x88)
            return refuse(d, "there is no such packet");
        return err ? err : vs_port_skip_bytes(d->port, VS_FIELD_HEADER, 8);
    }
    int bytes = passed_bytes((unsigned)second);
    return bytes < 0 ? refuse(d, "there is no such packet")
                     : vs_port_skip_bytes(d->port, VS_FIELD_HEADER, (uint64_t)bytes);
}

static int get_cyc(struct pt_decoder *d, uint64_t byte, struct packet *p)
{
    unsigned shift = 5;
    bool more = byte & 4;
    p->kind = CYC;
    p->value = byte >> 3;
    for (; more; shift += 7) {
        int err = get_byte(d, VS_FIELD_CYCLES, &byte);
        if (err)
            return err;
        if (shift > 57 || (is_exact(d) && !(byte >> 1) && !(byte & 1)))
            return refuse(d, "a CYC has no such length");
        p->value |= byte >> 1 << shift;
        more = byte & 1;
    }
    return is_exact(d) && (!p->value || !d->setup.timed || d->params.time != VS_PT_CYC)
               ? refuse(d, "no such CYC is written")
               : 0;
}

static int get_mode(struct pt_decoder *d, struct packet *p)
{
    int err = get_byte(d, VS_FIELD_HEADER, &p->value);
    p->kind = MODE;
    if (err)
        return err;
    if (p->value >> 5 == 0 && (p->value & 3) != VS_PT_MODE_64)
        return refuse(d, "the code is not of 64 bits");
    return p->value != VS_PT_MODE_64 && is_exact(d) ? refuse(d, "there is no such mode") : 0;
}

static int get_other(struct pt_decoder *d, uint64_t byte, struct packet *p)
{
    static const struct {
        uint8_t opcode, kind;
    } pointers[] = {{VS_PT_TIP, TIP}, {VS_PT_TIP_PGE, PGE}, {VS_PT_TIP_PGD, PGD}, {VS_PT_FUP, FUP}};
    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
        if ((byte & 31) == pointers[i].opcode) {
            p->kind = pointers[i].kind;
            return get_ip(d, (unsigned)byte >> 5, p);
        }
    if ((byte & 3) == 3)
        return get_cyc(d, byte, p);
    if (byte == VS_PT_MODE)
        return get_mode(d, p);
    p->kind = byte == VS_PT_TSC_BYTE ? TSC : SKIPPED;
    if (byte == VS_PT_TSC_BYTE && (d->setup.timed || !is_exact(d)))
        return vs_port_get(d->port, VS_FIELD_CYCLES, 56, &p->value);
    if (byte == VS_PT_MTC_BYTE && ticks(d)) {
        p->kind = MTC;
        return get_byte(d, VS_FIELD_CYCLES, &p->value);
    }
    if (byte == VS_PT_MTC_BYTE && !is_exact(d))
        return vs_port_skip_bytes(d->port, VS_FIELD_HEADER, 1);
    return refuse(d, "there is no such packet");
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Whether so many MTCs are missing that they stand for a core that slept. */
static bool slept(const struct pt_decoder *d, uint64_t cycle)
{
    return (cycle - d->due) / vs_pt_mtc_period(&d->params) >= VS_PT_MTC_SILENT - 1;
}

static int take_tsc(struct pt_decoder *d, uint64_t cycle)
{
    if (is_exact(d) && cycle >= d->due && !slept(d, cycle))
        return refuse(d, "an MTC is missing before a TSC");
    d->cycle = cycle;
    if (ticks(d)) {
        d->owes_cbr = cycle >= d->due;
        d->due = vs_pt_mtc_next(&d->params, cycle);
        d->owes_tma = true;
    }
    return 0;
}

static int take_tma(struct pt_decoder *d, uint64_t value)
{
    if (is_exact(d) && (!d->owes_tma || value != vs_pt_tma_payload(&d->params, d->cycle)))
        return refuse(d, "a TMA does not fit its TSC");
    d->owes_tma = false;
    return 0;
}

static int take_cbr(struct pt_decoder *d, uint64_t value)
{
    if (is_exact(d) && (!d->owes_cbr || value != vs_pt_cbr_payload(&d->params)))
        return refuse(d, "a CBR is not behind a sleep, or has another ratio");
    d->owes_cbr = false;
    return 0;
}

/* Some MTCs may be missing in what others wrote. */
static int take_mtc(struct pt_decoder *d, uint64_t value)
{
    uint64_t at = d->due, period = vs_pt_mtc_period(&d->params);
    if (is_exact(d) && (at == UINT64_MAX || value != vs_pt_mtc_payload(&d->params, at) ||
                        (d->params.time == VS_PT_CYC && d->cycle != at)))
        return refuse(d, "an MTC is not when it is due");
    if (at == UINT64_MAX)
        return 0;
    at += ((value - vs_pt_mtc_payload(&d->params, at)) & 0xff) * period;
    d->cycle = at > d->cycle ? at : d->cycle;
    d->due = at + period;
    return 0;
}

/* Takes what a packet tells of time. */
static int take_time(struct pt_decoder *d, const struct packet *p)
{
    if (is_exact(d) && d->owes_tma && p->kind != TMA)
        return refuse(d, "a TSC has no TMA");
    if (is_exact(d) && d->owes_cbr && p->kind != TMA && p->kind != CBR)
        return refuse(d, "a sleep has no CBR");
    if (is_exact(d) && d->cycle >= d->due && p->kind != MTC)
        return refuse(d, "an MTC is missing");
    switch (p->kind) {
    case TSC:
        return take_tsc(d, p->value);
    case TMA:
        return take_tma(d, p->value);
    case CBR:
        return take_cbr(d, p->value);
    case MTC:
        return take_mtc(d, p->value);
    case CYC:
        d->cycle += p->value;
        return 0;
    default:
        return 0;
    }
}

static bool is_time(const struct packet *p)
{
    return p->kind >= TSC && p->kind <= MTC;
}

/* ---- the next packet ------------------------------------------------------------------------- */

/* Where trace that was written elsewhere was lost, a packet may be cut, and what comes next is a
 * PSB, whose bytes no packet has. Goes to the first that begins within the packet from `start` on,
 * which ends before the next bit. Returns whether there is one. */
static bool find_cut(struct pt_decoder *d, uint64_t start)
{
    static const uint8_t psb[2 * VS_PT_PSB_PAIRS] = {
        VS_PT_EXT, VS_PT_EXT_PSB, VS_PT_EXT, VS_PT_EXT_PSB, VS_PT_EXT, VS_PT_EXT_PSB,
        VS_PT_EXT, VS_PT_EXT_PSB, VS_PT_EXT, VS_PT_EXT_PSB, VS_PT_EXT, VS_PT_EXT_PSB,
        VS_PT_EXT, VS_PT_EXT_PSB, VS_PT_EXT, VS_PT_EXT_PSB};
    const struct vs_bitr *bits = &d->port->bits;
    for (uint64_t at = start + 8; at < bits->pos && bits->nbits - at >= 8 * sizeof(psb); at += 8)
        if (!memcmp(bits->data + at / 8, psb, sizeof(psb)))
            return !vs_port_seek(d->port, d->port->stream, at);
    return false;
}

/* Gets the next packet. Returns 0; -VSE_END; as vs_port_get. */
static int get_packet(struct pt_decoder *d, struct packet *p)
{
    uint64_t byte;
    if (d->peeked) {
        d->peeked = false;
        *p = d->next;
        return 0;
    }
    int err = vs_port_next_packet(d->port);
    uint64_t start = d->port->bits.pos;
    *p = (struct packet){0};
    if (!err)
        err = get_byte(d, VS_FIELD_OUTCOME, &byte);
    if (err)
        return err;
    if (byte == VS_PT_EXT)
        err = get_extended(d, p);
    else if (byte & 1)
        err = get_other(d, byte, p);
    else if (byte)
        set_outcomes(p, byte >> 1);
    if (unlikely(!is_exact(d) && p->kind != PSB && find_cut(d, start))) {
        *p = (struct packet){.kind = OVF};
        return 0;
    }
    return err ? err : take_time(d, p);
}

/* Gets the next packet that is not about time alone. */
static int get_next(struct pt_decoder *d, struct packet *p)
{
    int err;
    d->begun = false;
    while (!(err = get_packet(d, p))) {
        if (p->kind == PAD && is_exact(d) && d->begun)
            return refuse(d, "a PAD too many");
        if (p->kind == PAD)
            d->begun = true;
        else if (!is_time(p) && p->kind != SKIPPED && !(p->kind == MODE && p->value >> 5))
            break;
    }
    if (!err && is_exact(d) && d->begun && p->kind != FUP)
        return refuse(d, "a PAD is not before a FUP");
    return err;
}

/* Looks at the next packet without taking it. Returns as get_next. */
static int peek(struct pt_decoder *d, struct packet *p)
{
    int err = get_next(d, p);
    d->next = *p;
    d->peeked = !err;
    return err;
}

/* The stream ends where a packet has to follow: says so, and where. Returns -VSE_TRUNCATED. */
static int cut(struct pt_decoder *d)
{
    uint64_t byte;
    return get_byte(d, VS_FIELD_HEADER, &byte);
}

/* Whether a stream that was written elsewhere ends within a packet, or before one that belongs to
 * the last. */
static bool is_cut(const struct pt_decoder *d, int err)
{
    return err == -VSE_TRUNCATED && !is_exact(d);
}

static int must_have_ip(struct pt_decoder *d, const struct packet *p)
{
    return p->has_ip ? 0 : refuse(d, "the instruction pointer is missing");
}

/* ---- heads ----------------------------------------------------------------------------------- */

static void elsewhere(struct pt_decoder *d, struct vs_flow_head *h, uint64_t target)
{
    h->discontinuity = true;
    d->target = target;
    d->fixed = true;
}

/* A core begins or goes on at an address. */
static void begin_at(struct pt_decoder *d, struct vs_flow_head *h, uint64_t pc)
{
    if (d->state == LOST) {
        h->sync = true;
        h->pc = pc;
        h->instructions = VS_FLOW_OPEN;
    } else {
        elsewhere(d, h, pc);
    }
    h->cycle = d->setup.timed ? d->cycle : 0;
    d->state = ON;
}

/* After a PGD: where does the core go on? h->cycle is that of the PGD unless more is told. */
static int go_off(struct pt_decoder *d, struct vs_flow_head *h)
{
    struct packet p;
    int err = peek(d, &p);
    while (!err && p.kind == MODE) { /* before a PGE */
        d->peeked = false;
        err = peek(d, &p);
    }
    h->cycle = d->setup.timed ? d->cycle : 0;
    elsewhere(d, h, VS_STEP_NOWHERE);
    d->state = OFF;
    if (is_cut(d, err)) /* what is left is no packet */
        vs_port_seek(d->port, d->port->stream, d->port->bits.nbits);
    if (err == -VSE_END || is_cut(d, err))
        return 0;
    if (!err && p.kind == PSB)
        d->due = UINT64_MAX; /* of what comes now, nothing is known yet */
    if (err || p.kind == PSB || p.kind == OVF)
        return err;
    if (p.kind != PGE)
        return refuse(d, "a PGE is missing after a PGD");
    if ((err = must_have_ip(d, &p)))
        return err;
    d->peeked = false;
    d->state = ON;
    h->returns = true;
    d->target = p.value;
    return 0;
}

/* A stream that was written elsewhere may end anywhere, and with it what is known of the
 * core. */
static int on_end(struct pt_decoder *d, struct vs_flow_head *h)
{
    d->state = OFF;
    elsewhere(d, h, VS_STEP_NOWHERE);
    return 0;
}

static int on_fup(struct pt_decoder *d, struct vs_flow_head *h, const struct packet *fup)
{
    struct packet p;
    bool begun = d->begun;
    int err = must_have_ip(d, fup);
    if (!err)
        err = get_next(d, &p);
    if (err)
        return err == -VSE_END ? cut(d) : err;
    h->count = VS_FLOW_OPEN;
    h->until = fup->value;
    h->within = begun;
    h->whole = !begun;
    if (p.kind == PGD && !(p.has_ip && is_exact(d)) && !(begun && is_exact(d)))
        return go_off(d, h);
    if (!is_exact(d) && (p.kind == OVF || p.kind == PSB || p.kind == PGE)) {
        *h = (struct vs_flow_head){0}; /* what the FUP was for is missing */
        d->next = p;
        d->peeked = true;
        return on_end(d, h);
    }
    if (p.kind != TIP)
        return refuse(d, "neither a TIP nor a PGD follows a FUP");
    if ((err = must_have_ip(d, &p)))
        return err;
    elsewhere(d, h, p.value);
    h->cycle = d->setup.timed ? d->cycle : 0;
    return 0;
}

static int on_pgd(struct pt_decoder *d, struct vs_flow_head *h, const struct packet *p)
{
    if (p->has_ip && is_exact(d))
        return refuse(d, "a PGD with an instruction pointer");
    h->count = VS_FLOW_OPEN;
    h->system = true;
    return go_off(d, h);
}

/* PSB to PSBEND. Sets *ip and *has_ip if there is a FUP. */
static int get_psb_plus(struct pt_decoder *d, uint64_t *ip, bool *has_ip)
{
    struct packet p;
    bool mode = false, timed = false;
    uint64_t cycle = d->cycle;
    int err;
    *has_ip = false;
    while (!(err = get_packet(d, &p)) && p.kind != PSBEND) {
        if (p.kind == OVF) { /* the rest is missing */
            d->next = p;
            d->peeked = true;
            *has_ip = false;
            return 0;
        }
        if (p.kind == FUP && (is_exact(d) ? mode && p.has_ip && !*has_ip : true)) {
            *has_ip = p.has_ip;
            *ip = p.value;
        } else if ((p.kind == TSC || p.kind == TMA) && !(is_exact(d) && (mode || *has_ip)) &&
                   !(is_exact(d) && timed != (p.kind == TMA))) {
            timed = true;
        } else if (p.kind == MODE && !(is_exact(d) && (mode || *has_ip))) {
            mode = true;
        } else if (is_exact(d) || (p.kind != PAD && p.kind != SKIPPED && !is_time(&p))) {
            return refuse(d, "no such packet is in a PSB+");
        }
    }
    if (err)
        return err == -VSE_END ? cut(d) : err;
    if (is_exact(d) &&
        (timed != d->setup.timed || mode != *has_ip || (d->state == ON && d->cycle != cycle)))
        return refuse(d, "no such PSB+ is written");
    return 0;
}

/* Returns 0; 1: there is no head yet. */
static int on_psb(struct pt_decoder *d, struct vs_flow_head *h)
{
    uint64_t ip = 0;
    bool has_ip;
    int err = get_psb_plus(d, &ip, &has_ip);
    if (err)
        return err;
    if (is_exact(d) && d->state != LOST && has_ip != (d->state == ON))
        return refuse(d, "no such PSB+ is written");
    d->stack.depth = d->state == ON ? d->stack.depth : 0;
    if (!has_ip) {
        if (d->state == OFF)
            d->state = BEHIND;
        return 1;
    }
    if (d->state != ON) {
        begin_at(d, h, ip);
        return 0;
    }
    d->forgets = true;
    h->count = VS_FLOW_OPEN;
    h->until = h->pc = ip;
    h->instructions = VS_FLOW_OPEN;
    h->sync = true;
    d->fixed = true;
    return 0;
}

/* Trace was lost, up to a FUP or a PGE. Returns as on_psb. */
static int on_overflow(struct pt_decoder *d, struct vs_flow_head *h)
{
    struct packet p;
    int err = peek(d, &p);
    d->stack.depth = 0;
    if (err && err != -VSE_END)
        return err;
    if (!err && p.kind == FUP) {
        d->next.kind = PGE; /* the core goes on there */
    }
    if (d->state != ON)
        return 1;
    d->state = OFF;
    elsewhere(d, h, VS_STEP_NOWHERE);
    return 0;
}

static int on_packet(struct pt_decoder *d, struct vs_flow_head *h, const struct packet *p)
{
    int err;
    switch (p->kind) {
    case PSB:
        return on_psb(d, h);
    case OVF:
        return on_overflow(d, h);
    case MODE: /* before a PGE, or a TIP to code of the same mode */
        return is_exact(d) && d->state == ON ? refuse(d, "no such MODE is written") : 1;
    case PGE:
        if (d->state == ON && !is_exact(d)) { /* what came before it is missing */
            d->next = *p;
            d->peeked = true;
            return on_end(d, h);
        }
        if (d->state == ON || (d->state == OFF && is_exact(d)))
            return refuse(d, "a PGE without a PGD before");
        if ((err = must_have_ip(d, p)))
            return err;
        begin_at(d, h, p->value);
        return 0;
    default:
        break;
    }
    if (d->state != ON)
        return refuse(d, "the core is not running");
    switch (p->kind) {
    case TNT:
        d->outcomes = p->value;
        d->count = p->count;
        h->count = VS_FLOW_OPEN;
        return p->count ? 0 : refuse(d, "a TNT has no outcome");
    case TIP:
        d->target_known = true;
        d->target = p->value;
        h->count = VS_FLOW_OPEN;
        return must_have_ip(d, p);
    case FUP:
        return on_fup(d, h, p);
    case PGD:
        return on_pgd(d, h, p);
    default:
        return refuse(d, "the packet is not in its place");
    }
}

/* Begins a stream that was not read before. */
static void forget(struct pt_decoder *d, enum state state)
{
    d->state = state;
    d->count = 0;
    d->target_known = d->peeked = d->fixed = d->forgets = false;
    d->last_ip = d->cycle = 0;
    d->due = UINT64_MAX;
    d->owes_tma = d->owes_cbr = false;
    d->stack.depth = 0;
}

/* The streams are read one after the other. */
static int next_stream(struct pt_decoder *d)
{
    struct vs_port_reader *r = d->port;
    unsigned count = vs_port_streams(&r->shape);
    for (unsigned i = 1; i < count; i++)
        if (vs_port_left(r, (r->stream + i) % count)) {
            vs_port_select(r, (r->stream + i) % count);
            forget(d, NEVER);
            return 0;
        }
    return -VSE_END;
}

static int decoder_head(void *decoder, struct vs_flow_head *h)
{
    struct pt_decoder *d = decoder;
    struct packet p;
    int err = 1;
    d->fixed = false;
    if (d->forgets)
        d->stack.depth = 0;
    d->forgets = false;
    while (err == 1) {
        err = get_next(d, &p);
        h->core = d->port->stream;
        h->cycle = d->setup.timed ? d->cycle : 0;
        if (!err)
            err = on_packet(d, h, &p);
        if (unlikely(is_cut(d, err))) {
            *h = (struct vs_flow_head){.core = d->port->stream};
            vs_port_seek(d->port, d->port->stream, d->port->bits.nbits);
            err = -VSE_END;
        }
        if (err == -VSE_END && d->state == ON && !is_exact(d))
            err = on_end(d, h);
        else if (err == -VSE_END && !(err = next_stream(d)))
            err = 1;
    }
    h->core = d->port->stream;
    return err;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool take_outcome(struct pt_decoder *d)
{
    return d->outcomes >> --d->count & 1;
}

/* Gets the target of an indirect branch from a TIP, which may be behind the outcomes. */
static int take_target(struct pt_decoder *d, bool behind, uint64_t *target)
{
    struct packet p;
    int err = 0;
    if (d->target_known) {
        *target = d->target;
        d->target_known = false;
        return 0;
    }
    if (!behind)
        return refuse(d, "outcomes are left where a target is needed");
    if ((err = get_next(d, &p)))
        return err == -VSE_END ? cut(d) : err;
    if (p.kind != TIP)
        return refuse(d, "a TIP is missing");
    *target = p.value;
    return must_have_ip(d, &p);
}

static int take_return(struct pt_decoder *d, uint64_t *target)
{
    uint64_t top;
    bool any = vs_ras_pop(&d->stack, &top);
    if (d->count) {
        *target = top;
        return !take_outcome(d) || !any ? refuse(d, "a return goes where no call came from") : 0;
    }
    if (any)
        vs_ras_push(&d->stack, top);
    int err = take_target(d, false, target);
    return !err && is_exact(d) && any && top == *target
               ? refuse(d, "a return that the stack tells has a TIP")
               : err;
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct pt_decoder *d = decoder;
    int err = 0;
    (void)core;
    if (unlikely(d->fixed))
        return refuse(d, "a branch comes before it");
    answer->taken = true;
    if (site->flags & VS_BR_COND) {
        if (unlikely(!d->count))
            return refuse(d, "a conditional branch comes before it");
        answer->taken = take_outcome(d);
    }
    if (site->flags & VS_BR_INDIRECT && answer->taken) {
        bool conditional = site->flags & VS_BR_COND;
        err = site->flags & VS_BR_RETURN && d->params.stack && !conditional
                  ? take_return(d, &answer->target)
                  : take_target(d, d->params.deferred || conditional || !is_exact(d),
                                &answer->target);
        if (site->flags & VS_BR_CALL)
            vs_ras_push(&d->stack, site->pc + site->size);
    }
    answer->last = !d->count && !d->target_known;
    return err;
}

static int decoder_call(void *decoder, unsigned core, uint64_t return_address, uint64_t target)
{
    struct pt_decoder *d = decoder;
    (void)core;
    if (target != return_address)
        vs_ras_push(&d->stack, return_address);
    return 0;
}

static int decoder_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    (void)core;
    *target = ((struct pt_decoder *)decoder)->target;
    return 0;
}

/* ---- the decoder ----------------------------------------------------------------------------- */

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    struct pt_decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->port = port;
    d->params = *(const struct vs_pt_params *)params;
    d->setup = *setup;
    d->due = UINT64_MAX;
    int err = vs_ras_init(&d->stack, (uint32_t)d->params.stack);
    if (err) {
        free(d);
        *decoder = NULL;
    }
    return err;
}

static void decoder_close(void *decoder)
{
    struct pt_decoder *d = decoder;
    if (d)
        vs_ras_fini(&d->stack);
    free(d);
}

/* Tries the PSB at a bit. Returns 0 if there is one after which a core goes on. */
static int try_point(struct pt_decoder *d, unsigned stream, uint64_t bit,
                     struct vs_flow_point *point)
{
    struct vs_flow_head h = {0};
    forget(d, LOST);
    int err = vs_port_seek(d->port, stream, bit);
    struct packet p;
    if (err || (err = get_packet(d, &p)))
        return err;
    if (p.kind != PSB)
        return -VSE_NOTFOUND;
    err = on_psb(d, &h);
    while (err == 1)
        err = get_next(d, &p) ? -VSE_NOTFOUND : on_packet(d, &h, &p);
    if (err || !h.sync)
        return -VSE_NOTFOUND;
    *point = (struct vs_flow_point){stream, bit, stream, h.pc};
    forget(d, LOST);
    return vs_port_seek(d->port, stream, bit);
}

static int decoder_sync(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    struct pt_decoder *d = decoder;
    for (bit = (bit + 7) / 8 * 8; !vs_port_seek(d->port, stream, bit); bit += 8) {
        static const uint8_t head[4] = {VS_PT_EXT, VS_PT_EXT_PSB, VS_PT_EXT, VS_PT_EXT_PSB};
        const struct vs_bitr *bits = &d->port->bits;
        if (bits->nbits - bit < 8 * sizeof(head))
            break;
        if (!memcmp(bits->data + bit / 8, head, sizeof(head)) && !try_point(d, stream, bit, point))
            return 0;
    }
    vs_port_seek(d->port, stream, d->port->bits.nbits);
    forget(d, OFF);
    return -VSE_END;
}

const struct vs_flow_decoder_ops vs_pt_decoder_ops = {.open = decoder_open,
                                                      .head = decoder_head,
                                                      .branch = decoder_branch,
                                                      .call = decoder_call,
                                                      .discontinuity = decoder_discontinuity,
                                                      .sync = decoder_sync,
                                                      .close = decoder_close};
