/* SPDX-License-Identifier: MIT */
/* The decoder reads what the encoder writes, and refuses any other form of it, so that no bit goes
 * unchecked. */
#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "model/atoms.h"
#include "model/ras.h"
#include "port/coresight.h"
#include "technique/etm4.h"

struct etm4_decoder_core {
    bool synced;  /* an A-Sync and its Trace Info were read */
    bool alive;   /* tracing is on */
    bool found;   /* the next place is a synchronisation point, wherever it is from */
    bool stamped; /* the cycle is known */
    bool owes;    /* a timestamp has to follow */
    struct vs_atoms atoms;
    struct vs_recent recent;
    struct vs_ras ras;
    uint64_t target;  /* of the discontinuity */
    uint64_t stamp;   /* the last timestamp; 0: none since Trace Info */
    uint64_t counted; /* the cycle of the last cycle count */
    struct vs_coresight_in frame;
};

struct etm4_decoder {
    struct vs_port_reader *port;
    struct vs_etm4_params params;
    struct vs_etm4_form form;
    bool timed;
    unsigned cores;
    struct etm4_decoder_core core[];
};

static void decoder_close(void *decoder)
{
    struct etm4_decoder *d = decoder;
    for (unsigned i = 0; d && i < d->cores; i++)
        vs_ras_fini(&d->core[i].ras);
    free(d);
}

static int decoder_open(void **out, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    struct etm4_decoder *d = calloc(1, sizeof(*d) + setup->cores * sizeof(d->core[0]));
    int err = 0;
    if (!(*out = d))
        return -VSE_NOMEM;
    d->port = port;
    d->params = *(const struct vs_etm4_params *)params;
    d->form = vs_etm4_form(setup);
    d->timed = setup->timed;
    d->cores = setup->cores;
    if (d->cores > 1)
        vs_port_select(port, d->cores - 1); /* so that core 0 is the next one */
    for (unsigned i = 0; i < setup->cores && !err; i++)
        err = vs_ras_init(&d->core[i].ras, (uint32_t)d->params.stack);
    return err;
}

static unsigned number_of(const struct etm4_decoder *d, const struct etm4_decoder_core *c)
{
    return (unsigned)(c - d->core);
}

static int refuse(struct etm4_decoder *d, enum vs_field f, const char *why)
{
    return vs_port_refuse(d->port, f, why);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Returns 0 if the core's stream, which is being read, goes on; -VSE_END; as vs_coresight_get. */
static int fill(struct etm4_decoder *d, struct etm4_decoder_core *c)
{
    int err = 0;
    if (!d->params.formatter)
        return vs_port_goes_on(d->port) ? 0 : -VSE_END;
    while (!err && c->frame.at == c->frame.count)
        err = vs_port_goes_on(d->port) ? vs_coresight_get(&c->frame, d->port, number_of(d, c))
                                       : -VSE_END;
    return err;
}

/* Gets the next byte without taking it. Returns as fill. */
static int peek(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t *byte)
{
    int err = fill(d, c);
    if (err)
        return err;
    if (d->params.formatter) {
        *byte = c->frame.data[c->frame.at];
        return 0;
    }
    struct vs_bitr ahead = d->port->bits;
    return vs_bitr_get(&ahead, 8, byte) ? vs_port_get(d->port, VS_FIELD_HEADER, 8, byte) : 0;
}

static int get(struct etm4_decoder *d, struct etm4_decoder_core *c, enum vs_field f, uint64_t *byte)
{
    if (!d->params.formatter)
        return vs_port_get(d->port, f, 8, byte);
    int err = fill(d, c);
    if (!err)
        *byte = c->frame.data[c->frame.at++];
    return err == -VSE_END ? vs_port_get(d->port, f, 8, byte) : err; /* which says so */
}

/* Takes a byte that can only be this one. */
static int expect(struct etm4_decoder *d, struct etm4_decoder_core *c, enum vs_field f,
                  unsigned byte, const char *why)
{
    uint64_t got;
    int err = get(d, c, f, &got);
    return err || got == byte ? err : refuse(d, f, why);
}

/* Gets what add_number put, of at most 28 bits. */
static int get_number(struct etm4_decoder *d, struct etm4_decoder_core *c, enum vs_field f,
                      uint64_t *n)
{
    uint64_t byte = 0x80;
    int err = 0;
    *n = 0;
    for (unsigned i = 0; i < 4 && byte & 0x80 && !err; i++)
        if (!(err = get(d, c, f, &byte))) {
            *n |= (byte & 0x7F) << 7 * i;
            if (i && !byte)
                err = refuse(d, f, "the number is longer than it has to be");
        }
    return !err && byte & 0x80 ? refuse(d, f, "the number is too long") : err;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_address(const struct etm4_decoder *d, uint64_t byte)
{
    unsigned is1 = vs_etm4_is1(d->form);
    return byte - VS_ETM4_MATCH < VS_RECENT_SIZE || byte == VS_ETM4_SHORT + is1 ||
           byte == VS_ETM4_LONG_32 + is1 || byte == VS_ETM4_LONG_64 + is1;
}

/* Gets the bytes of a long address into its low bits. */
static int get_long(struct etm4_decoder *d, struct etm4_decoder_core *c, enum vs_field f,
                    unsigned bytes, uint64_t *sent)
{
    const unsigned shift = d->form.shift;
    uint64_t byte = 0, address = 0;
    int err = 0;
    for (unsigned i = 0; i < bytes && !err; i++) {
        bool seven = i == 0 || (i == 1 && shift == 2);
        unsigned place = i == 0 ? shift : seven ? 9 : 8 * i;
        if ((err = get(d, c, f, &byte)) < 0)
            break;
        if (seven && byte & 0x80)
            err = refuse(d, f, "the address has a bit too many");
        address |= byte << place;
    }
    *sent = (bytes == 8 ? 0 : *sent >> 8 * bytes << 8 * bytes) | address;
    return err;
}

static int get_short(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t *sent,
                     enum vs_etm4_address *kind)
{
    unsigned bits = 7 + d->form.shift;
    uint64_t low, high = 0;
    int err = get(d, c, VS_FIELD_TARGET, &low);
    *kind = VS_ETM4_ADDRESS_SHORT_1;
    if (!err && low & 0x80) {
        *kind = VS_ETM4_ADDRESS_SHORT_2;
        err = get(d, c, VS_FIELD_TARGET, &high);
        bits += 8;
    }
    *sent = *sent >> bits << bits | (low & 0x7F) << d->form.shift | high << (7 + d->form.shift);
    return err;
}

static int get_address(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t *address)
{
    const unsigned is1 = vs_etm4_is1(d->form);
    uint64_t byte, sent = c->recent.addresses[0];
    enum vs_etm4_address kind = VS_ETM4_ADDRESS_64;
    int err = peek(d, c, &byte);
    if (err && err != -VSE_END)
        return err;
    if (!err && !is_address(d, byte))
        return refuse(d, VS_FIELD_HEADER, "an address has to follow");
    bool match = !err && byte - VS_ETM4_MATCH < VS_RECENT_SIZE;
    if ((err = get(d, c, match ? VS_FIELD_INDEX : VS_FIELD_HEADER, &byte)) < 0)
        return err;
    if (match) {
        kind = VS_ETM4_ADDRESS_MATCH;
        sent = c->recent.addresses[byte - VS_ETM4_MATCH];
        if (vs_recent_find(&c->recent, sent) != byte - VS_ETM4_MATCH)
            return refuse(d, VS_FIELD_INDEX, "an earlier place has the address, or none");
    } else if (byte == VS_ETM4_SHORT + is1) {
        err = get_short(d, c, &sent, &kind);
    } else {
        kind = byte == VS_ETM4_LONG_32 + is1 ? VS_ETM4_ADDRESS_32 : VS_ETM4_ADDRESS_64;
        err = get_long(d, c, VS_FIELD_TARGET, kind == VS_ETM4_ADDRESS_32 ? 4 : 8, &sent);
    }
    if (!err &&
        vs_etm4_shortest(&c->recent, d->form, sent, vs_recent_find(&c->recent, sent)) != kind)
        err = refuse(d, VS_FIELD_TARGET, "a shorter packet has that address");
    *address = vs_etm4_received(d->form, sent);
    vs_recent_push(&c->recent, sent);
    return err;
}

/* Gets an address with context. */
static int get_place(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t *address)
{
    bool numbered = d->params.context == VS_ETM4_CORE;
    uint64_t sent = 0;
    int err = expect(d, c, VS_FIELD_SYNC, VS_ETM4_CONTEXT + vs_etm4_is1(d->form),
                     "an address with context has to follow");
    if (!err)
        err = get_long(d, c, VS_FIELD_SYNC, 8, &sent);
    if (!err)
        err = expect(d, c, VS_FIELD_SYNC, VS_ETM4_EL0 | (numbered ? VS_ETM4_NUMBERED : 0),
                     "the context is another");
    for (unsigned i = 0; numbered && i < 4 && !err; i++)
        err = expect(d, c, VS_FIELD_SYNC, number_of(d, c) >> 8 * i & 0xFF,
                     "the context is another core's");
    *address = vs_etm4_received(d->form, sent);
    vs_recent_push(&c->recent, sent);
    if (!err && *address == VS_STEP_NOWHERE)
        err = refuse(d, VS_FIELD_SYNC, "there is no code");
    return err;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int get_stamp(struct etm4_decoder *d, struct etm4_decoder_core *c)
{
    uint64_t byte = 0x80, time = 0, cycles = 0;
    unsigned bytes = 0;
    int err = expect(d, c, VS_FIELD_CYCLES, VS_ETM4_TIME + (unsigned)d->params.cycles,
                     "a timestamp has to follow");
    while (!err && byte & 0x80 && bytes < 9)
        if (!(err = get(d, c, VS_FIELD_CYCLES, &byte))) {
            time |= (bytes < 8 ? byte & 0x7F : byte) << 7 * bytes;
            bytes++;
        }
    if (!err && bytes < 9)
        time |= c->stamp >> 7 * bytes << 7 * bytes;
    if (!err && vs_etm4_time_bytes(c->stamp, time) != bytes)
        err = refuse(d, VS_FIELD_CYCLES, "the timestamp is longer than it has to be");
    if (!err && d->params.cycles)
        err = get_number(d, c, VS_FIELD_CYCLES, &cycles);
    if (!err && d->params.cycles && c->stamped && c->counted + cycles != time)
        err = refuse(d, VS_FIELD_CYCLES, "the cycle counts add up to another time");
    if (!err && d->params.cycles && cycles >= d->params.threshold)
        err = refuse(d, VS_FIELD_CYCLES, "a cycle count should have come before");
    c->counted = time - cycles;
    c->stamp = time;
    c->stamped = true;
    c->owes = false;
    return err;
}

static bool is_cycles(uint64_t byte)
{
    return byte - VS_ETM4_CYCLES_FAR < 2 || byte - VS_ETM4_CYCLES_NEAR <= VS_ETM4_NEAR;
}

static int get_cycles(struct etm4_decoder *d, struct etm4_decoder_core *c)
{
    uint64_t byte, above = 0;
    int err = get(d, c, VS_FIELD_CYCLES, &byte);
    if (err)
        return err;
    if (byte == VS_ETM4_CYCLES_FAR + 1) { /* the cycles are not known until the timestamp */
        if (c->stamped && c->stamp != c->counted)
            return refuse(d, VS_FIELD_CYCLES, "a timestamp should have come before");
        c->stamped = false;
        c->owes = true;
        return 0;
    }
    if (byte == VS_ETM4_CYCLES_FAR)
        err = get_number(d, c, VS_FIELD_CYCLES, &above);
    else
        above = byte - VS_ETM4_CYCLES_NEAR;
    if (!err && byte == VS_ETM4_CYCLES_FAR && above <= VS_ETM4_NEAR)
        err = refuse(d, VS_FIELD_CYCLES, "a shorter packet counts so few cycles");
    if (!err && (above + d->params.threshold) >> d->params.cycle_bits)
        err = refuse(d, VS_FIELD_CYCLES, "more cycles than the counter holds");
    c->counted += above + d->params.threshold;
    return err;
}

/* Gets when a core went elsewhere. */
static int get_time(struct etm4_decoder *d, struct etm4_decoder_core *c)
{
    uint64_t byte = 0;
    if (!d->timed)
        return 0;
    int err = d->params.cycles ? peek(d, c, &byte) : 0;
    if (!err && d->params.cycles && is_cycles(byte))
        err = get_cycles(d, c);
    if (!err || err == -VSE_END)
        err = get_stamp(d, c);
    if (err || !d->params.cycles)
        return err;
    err = peek(d, c, &byte);
    if (err || byte != VS_ETM4_CYCLES_FAR + 1)
        return err == -VSE_END ? 0 : err;
    err = get_cycles(d, c); /* that was the timestamp before */
    return err ? err : get_stamp(d, c);
}

/* Gets the timestamp before cycles that are not known. */
static int get_stamp_before(struct etm4_decoder *d, struct etm4_decoder_core *c)
{
    uint64_t byte = 0;
    int err = get_stamp(d, c);
    if (!err)
        err = peek(d, c, &byte);
    return (!err || err == -VSE_END) && byte != VS_ETM4_CYCLES_FAR + 1
               ? refuse(d, VS_FIELD_CYCLES, "there is no reason for a timestamp")
               : err;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Gets A-Sync and Trace Info. */
static int get_sync(struct etm4_decoder *d, struct etm4_decoder_core *c)
{
    const char *why = "this is no A-Sync with Trace Info";
    uint64_t threshold = d->params.threshold;
    int err = 0;
    for (unsigned i = 0; i < VS_ETM4_ZEROS && !err; i++)
        err = expect(d, c, VS_FIELD_SYNC, VS_ETM4_ASYNC, why);
    if (!err)
        err = expect(d, c, VS_FIELD_SYNC, VS_ETM4_ASYNC_END, why);
    if (!err)
        err = expect(d, c, VS_FIELD_SYNC, VS_ETM4_INFO, why);
    if (!err)
        err = expect(d, c, VS_FIELD_SYNC, d->params.cycles ? 0x09 : 0x01, why);
    if (!err)
        err = expect(d, c, VS_FIELD_SYNC, (unsigned)d->params.cycles, why);
    if (!err && d->params.cycles)
        err = get_number(d, c, VS_FIELD_SYNC, &threshold);
    if (!err && threshold != d->params.threshold)
        err = refuse(d, VS_FIELD_SYNC, "the threshold is another");
    c->recent = (struct vs_recent){0};
    c->ras.depth = 0;
    c->stamp = 0;
    c->synced = true;
    return err;
}

/* A synchronisation point, once A-Sync and Trace Info were read. */
static int get_point(struct etm4_decoder *d, struct etm4_decoder_core *c, struct vs_flow_head *head)
{
    head->sync = true;
    head->instructions = VS_FLOW_OPEN;
    c->found = false;
    c->alive = true;
    return get_place(d, c, &head->pc);
}

static int get_trace_on(struct etm4_decoder *d, struct etm4_decoder_core *c,
                        struct vs_flow_head *head)
{
    bool found = c->found;
    int err = expect(d, c, VS_FIELD_SYNC, VS_ETM4_TRACE_ON, "trace on has to follow");
    if (!err && c->alive)
        err = refuse(d, VS_FIELD_SYNC, "tracing is on already");
    c->ras.depth = 0;
    c->stamped = false;
    if (!err)
        err = found ? get_point(d, c, head) : get_place(d, c, &c->target);
    head->discontinuity = !found;
    c->alive = true;
    return err ? err : get_time(d, c);
}

static int get_exception(struct etm4_decoder *d, struct etm4_decoder_core *c,
                         struct vs_flow_head *head)
{
    uint64_t type = 0;
    int err = expect(d, c, VS_FIELD_HEADER, VS_ETM4_EXCEPTION, "an exception has to follow");
    if (!err)
        err = get(d, c, VS_FIELD_HEADER, &type);
    if (!err && type != VS_ETM4_HALT && type != VS_ETM4_CALL && type != VS_ETM4_INTERRUPT)
        err = refuse(d, VS_FIELD_HEADER, "there is no such exception");
    if (!err)
        err = get_address(d, c, &head->until);
    c->target = VS_STEP_NOWHERE;
    if (!err && type != VS_ETM4_HALT)
        err = get_address(d, c, &c->target);
    if (!err &&
        (head->until == VS_STEP_NOWHERE || (c->target == VS_STEP_NOWHERE && type != VS_ETM4_HALT)))
        err = refuse(d, VS_FIELD_TARGET, "there is no code");
    head->count = VS_FLOW_OPEN;
    head->discontinuity = true;
    c->alive = type != VS_ETM4_HALT;
    return err ? err : get_time(d, c);
}

static int get_atoms(struct etm4_decoder *d, struct etm4_decoder_core *c, struct vs_flow_head *head)
{
    uint64_t byte;
    int err = get(d, c, VS_FIELD_OUTCOME, &byte);
    head->count = VS_FLOW_OPEN;
    return err || vs_atoms_unpack(&c->atoms, (uint8_t)byte)
               ? err
               : refuse(d, VS_FIELD_OUTCOME, "there are no such atoms");
}

/* Gets the packets of a head that begin with that byte. Returns 0; 1 (these packets make none). */
static int get_packets(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t byte,
                       struct vs_flow_head *head)
{
    int err;
    if (c->owes)
        err = get_stamp(d, c);
    else if (byte == VS_ETM4_ASYNC)
        err = get_sync(d, c);
    else if (!c->synced)
        return refuse(d, VS_FIELD_HEADER, "there is no A-Sync before it");
    else if (byte == VS_ETM4_TRACE_ON)
        return get_trace_on(d, c, head);
    else if (!c->alive)
        return refuse(d, VS_FIELD_HEADER, "tracing is off");
    else if (byte >= VS_ETM4_ATOMS)
        return get_atoms(d, c, head);
    else if (byte == VS_ETM4_EXCEPTION)
        return get_exception(d, c, head);
    else if (d->params.cycles && is_cycles(byte))
        err = get_cycles(d, c);
    else if (d->params.cycles && byte == VS_ETM4_TIME + 1)
        err = get_stamp_before(d, c);
    else
        return refuse(d, VS_FIELD_HEADER, "there is no such packet");
    if (err || byte != VS_ETM4_ASYNC)
        return err ? err : 1;
    err = peek(d, c, &byte);
    return err == -VSE_END ? get_point(d, c, head) /* which says what is missing */
           : err || byte == VS_ETM4_TRACE_ON ? (err ? err : 1)
                                             : get_point(d, c, head);
}

/* Goes to the next core whose stream goes on. Returns 0; -VSE_END; as fill. */
static int next_core(struct etm4_decoder *d)
{
    int err = -VSE_END;
    for (unsigned i = 0; i < d->cores && err == -VSE_END; i++) {
        if (d->cores > 1)
            vs_port_select(d->port, (d->port->stream + 1) % d->cores);
        err = fill(d, &d->core[d->port->stream]);
    }
    return err;
}

static int decoder_head(void *decoder, struct vs_flow_head *head)
{
    struct etm4_decoder *d = decoder;
    int err;
    do {
        uint64_t byte = 0;
        if ((err = next_core(d)) < 0)
            return err;
        struct etm4_decoder_core *c = &d->core[d->port->stream];
        do {
            if (!d->params.formatter)
                err = vs_port_next_packet(d->port);
            if (!err)
                err = peek(d, c, &byte);
            if (!err)
                err = get_packets(d, c, byte, head);
        } while (err == 1 && !(err = fill(d, c)));
        head->core = number_of(d, c);
        head->cycle = c->stamped ? c->stamp : 0;
    } while (err == -VSE_END); /* the stream's last packets make no head */
    return err;
}

/* ---- branches -------------------------------------------------------------------------------- */

static int take_atom(struct etm4_decoder *d, struct etm4_decoder_core *c, bool *taken)
{
    if (!c->atoms.count)
        return refuse(d, VS_FIELD_OUTCOME, "a branch has no atom");
    *taken = vs_atoms_take(&c->atoms);
    return 0;
}

/* With branch broadcasting, a direct branch that is taken has its target too. */
static int take_broadcast(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t target)
{
    uint64_t address;
    if (!d->params.broadcast)
        return 0;
    int err = c->atoms.count ? refuse(d, VS_FIELD_OUTCOME, "an address has to follow")
                             : get_address(d, c, &address);
    return err || address == target ? err : refuse(d, VS_FIELD_TARGET, "the branch goes elsewhere");
}

/* Gets the target of an indirect branch: the address that follows, or the return stack's. */
static int take_target(struct etm4_decoder *d, struct etm4_decoder_core *c, uint64_t *target)
{
    uint64_t top = 0, byte = 0;
    int err = c->atoms.count ? -VSE_END : peek(d, c, &byte);
    bool stacked = !d->params.broadcast && vs_ras_pop(&c->ras, &top);
    if (err && err != -VSE_END)
        return err;
    if (!err && is_address(d, byte)) {
        if (stacked)
            vs_ras_push(&c->ras, top);
        if ((err = get_address(d, c, target)) < 0)
            return err;
        return stacked && *target == top
                   ? refuse(d, VS_FIELD_TARGET, "the return stack has that address")
                   : 0;
    }
    *target = top;
    return stacked ? 0 : refuse(d, VS_FIELD_OUTCOME, "an address has to follow");
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct etm4_decoder *d = decoder;
    struct etm4_decoder_core *c = &d->core[core];
    int err = take_atom(d, c, &answer->taken);
    if (!err && !answer->taken && !(site->flags & VS_BR_COND))
        err = refuse(d, VS_FIELD_OUTCOME, "the branch is always taken");
    if (!err && answer->taken && !vs_flow_site_indirect(site)) {
        err = take_broadcast(d, c, site->target);
    } else if (!err && answer->taken) {
        if (site->flags & VS_BR_CALL)
            vs_ras_push(&c->ras, site->pc + site->size);
        err = take_target(d, c, &answer->target);
    }
    answer->last = !c->atoms.count;
    return err;
}

static int decoder_direct(void *decoder, unsigned core, const struct vs_flow_site *site)
{
    struct etm4_decoder *d = decoder;
    struct etm4_decoder_core *c = &d->core[core];
    bool taken = true;
    int err = take_atom(d, c, &taken);
    if (!err && !taken)
        err = refuse(d, VS_FIELD_OUTCOME, "the branch is always taken");
    if (!err && site->flags & VS_BR_CALL)
        vs_ras_push(&c->ras, site->pc + site->size);
    if (!err)
        err = take_broadcast(d, c, site->target);
    return err ? err : c->atoms.count ? 0 : VS_FLOW_LAST;
}

static int decoder_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    struct etm4_decoder *d = decoder;
    *target = d->core[core].target;
    return 0;
}

/* ---- synchronisation points ------------------------------------------------------------------ */

/* Goes to a bit of the core's stream, as one that knows nothing of what came before. */
static int begin_at(struct etm4_decoder *d, unsigned core, uint64_t bit)
{
    struct etm4_decoder_core *c = &d->core[core];
    struct vs_ras ras = c->ras;
    ras.depth = 0;
    *c = (struct etm4_decoder_core){.ras = ras, .found = true};
    if (bit)
        vs_coresight_seek(&c->frame);
    return vs_port_seek(d->port, core, bit);
}

/* Looks for the A-Sync that begins in the byte or frame at that bit, and at a place after it. */
static bool is_point(struct etm4_decoder *d, unsigned core, uint64_t bit, unsigned skip,
                     struct vs_flow_point *point)
{
    struct etm4_decoder_core *c = &d->core[core];
    struct vs_flow_head head = {0};
    uint64_t byte = 0;
    int err = begin_at(d, core, bit);
    for (unsigned i = 0; i < skip && !err; i++)
        err = get(d, c, VS_FIELD_SYNC, &byte);
    if (!err && !(err = peek(d, c, &byte)) && byte == VS_ETM4_ASYNC) {
        err = get_packets(d, c, byte, &head);
        if (err == 1)
            err = get_trace_on(d, c, &head);
        *point = (struct vs_flow_point){core, bit, core, head.pc};
        return !err;
    }
    return false;
}

static int decoder_sync(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    struct etm4_decoder *d = decoder;
    const unsigned unit = d->params.formatter ? 8 * VS_CORESIGHT_FRAME : 8;
    for (bit = (bit + unit - 1) / unit * unit; !vs_port_seek(d->port, stream, bit); bit += unit)
        for (unsigned skip = 0; skip < unit / 8; skip++)
            if (is_point(d, stream, bit, skip, point)) {
                uint64_t byte;
                int err = begin_at(d, stream, bit);
                for (unsigned i = 0; i < skip && !err; i++)
                    err = get(d, &d->core[stream], VS_FIELD_SYNC, &byte);
                return err;
            }
    begin_at(d, stream, 0);
    return -VSE_END;
}

const struct vs_flow_decoder_ops vs_etm4_decoder = {
    .open = decoder_open,
    .head = decoder_head,
    .branch = decoder_branch,
    .direct = decoder_direct,
    .discontinuity = decoder_discontinuity,
    .sync = decoder_sync,
    .close = decoder_close,
};
