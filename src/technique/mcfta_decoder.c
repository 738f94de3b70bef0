/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/likely.h"
#include "technique/mcfta_model.h"

struct core {
    uint64_t target; /* the last one in a packet */
    bool lost;       /* until its sync */
};

/* What a packet is decoded with, of one core or of all. */
struct unpacker {
    struct vs_mcfta_model model;
    uint64_t cycle; /* the last packet's */
};

enum stage {
    BETWEEN, /* the next packet comes next */
    EVENTS,  /* the packet has more */
    TAIL,    /* the packet's count of instructions comes next */
    GOING,   /* the core passes them */
};

struct decoder {
    struct vs_port_reader *port;
    struct vs_mcfta_params params;
    struct vs_technique_setup setup;
    bool shared, points;
    struct vs_mcfta_time time; /* with points */
    unsigned unpacker_count;
    struct unpacker *unpackers;
    struct core *cores;

    /* the packet under way */
    enum stage stage;
    enum vs_mcfta_kind kind;
    struct unpacker *unpacker;
    unsigned running;
    uint64_t events; /* so far */
    uint64_t bcnt;   /* all of them; not of a full packet */
    size_t bits;     /* of the code */
    struct vs_mcfta_coder coder;
    uint8_t *bytes;
};

/* ---- opening --------------------------------------------------------------------------------- */

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    for (unsigned i = 0; d->unpackers && i < d->unpacker_count; i++)
        vs_mcfta_model_fini(&d->unpackers[i].model);
    vs_mcfta_time_fini(&d->time);
    free(d->unpackers);
    free(d->cores);
    free(d->bytes);
    free(d);
}

static int decoder_open(void **out, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    struct decoder *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (!d)
        return -VSE_NOMEM;
    d->port = port;
    d->params = *(const struct vs_mcfta_params *)params;
    d->setup = *setup;
    d->shared = d->params.tagged.predictors;
    d->points = vs_mcfta_has_points(&d->params, setup);
    d->unpacker_count = d->shared ? 1 : setup->cores;
    d->unpackers = calloc(d->unpacker_count, sizeof(*d->unpackers));
    d->cores = calloc(setup->cores, sizeof(*d->cores));
    d->bytes = malloc(d->params.size);
    int err = d->unpackers && d->cores && d->bytes ? 0 : -VSE_NOMEM;
    for (unsigned i = 0; i < d->unpacker_count && !err; i++)
        err = vs_mcfta_model_init(&d->unpackers[i].model, &d->params, setup);
    if (!err && d->points)
        err = vs_mcfta_time_init(&d->time, &d->params, setup->cores);
    if (err) {
        decoder_close(d);
        return err;
    }
    *out = d;
    return 0;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Gets the beginning that all packets have. */
static int get_begin(struct decoder *d, unsigned *core)
{
    uint64_t who = 0, bit = 1;
    int err = vs_port_next_packet(d->port);
    if (!err)
        err = vs_port_get(d->port, VS_FIELD_CORE, d->port->core_bits, &who);
    if (!err)
        err = vs_port_packet_core(d->port, VS_FIELD_CORE, who);
    *core = (unsigned)who;
    for (d->kind = VS_MCFTA_FULL; !err && d->kind < VS_MCFTA_SYNC; d->kind++)
        if ((err = vs_port_get(d->port, VS_FIELD_HEADER, 1, &bit)) < 0 || !bit)
            break;
    return err;
}

static int get_code(struct decoder *d)
{
    for (size_t i = 0, left = d->bits; left; i++) {
        unsigned now = left < 8 ? (unsigned)left : 8;
        uint64_t byte;
        int err = vs_port_get(d->port, VS_FIELD_PACKED, now, &byte);
        if (err)
            return err;
        d->bytes[i] = (uint8_t)(byte << (8 - now));
        left -= now;
    }
    vs_range_decoder_start(&d->coder.in, d->bytes, (d->bits + 7) / 8);
    return 0;
}

/* Gets what has passed since a cycle, and moves that. */
static int get_cycle(struct decoder *d, const struct core *c, uint64_t *cycle)
{
    uint64_t passed = 0;
    int err = vs_port_get_chunks(d->port, VS_FIELD_CYCLES, d->port->shape.cycles, &passed);
    if (!err && passed > UINT64_MAX - *cycle && !c->lost)
        err = vs_port_refuse(d->port, VS_FIELD_CYCLES, "cycles exceed 64 bits");
    *cycle += passed;
    return err;
}

/* Gets what a packet has up to the end of its code. */
static int get_packet(struct decoder *d, unsigned core)
{
    uint64_t bits = 0;
    int err = 0;
    d->bcnt = VS_FLOW_OPEN;
    if (d->kind != VS_MCFTA_FULL)
        err = vs_port_get_unary(d->port, VS_FIELD_BCNT, vs_mcfta_bcnt, &d->bcnt);
    if (!err)
        err = vs_port_get(d->port, VS_FIELD_HEADER, vs_mcfta_length_bits(&d->params), &bits);
    if (!err && (bits > 8 * d->params.size || !d->bcnt != !bits))
        err = vs_port_refuse(d->port, VS_FIELD_HEADER, "the code has no such length");
    d->bits = bits;
    if (!err && d->setup.timed && !d->points)
        err = get_cycle(d, &d->cores[core], &d->unpacker->cycle);
    return err ? err : get_code(d);
}

/* Gets what follows the code up to a target. */
static int get_tail(struct decoder *d, unsigned core, uint64_t *icnt)
{
    int err = vs_port_get_chunks(d->port, VS_FIELD_ICNT, vs_mcfta_icnt, icnt);
    if (!err && d->points && d->kind == VS_MCFTA_ELSEWHERE)
        err = get_cycle(d, &d->cores[core], &d->time.clocks[core].cycle);
    return err;
}

static int get_target(struct decoder *d, unsigned core, uint64_t *target)
{
    struct vs_difference diff;
    int err = vs_port_get_difference(d->port, VS_FIELD_TARGET, vs_mcfta_target,
                                     d->setup.address_bits, &diff);
    if (!err)
        *target = d->cores[core].target =
            vs_difference_apply(d->cores[core].target, diff, d->setup.address_bits);
    return err;
}

/* Gets a sync after its head, and begins anew. */
static int get_sync(struct decoder *d, unsigned core, struct vs_flow_head *head)
{
    struct core *c = &d->cores[core];
    struct unpacker *u = d->unpacker;
    uint64_t mark = 0, cycle = 0;
    int err = vs_port_get(d->port, VS_FIELD_SYNC, VS_MCFTA_MARK_BITS, &mark);
    if (!err && mark != VS_MCFTA_MARK)
        err = vs_port_refuse(d->port, VS_FIELD_SYNC, "a sync has another mark");
    if (!err)
        err = vs_port_get(d->port, VS_FIELD_SYNC, d->setup.address_bits, &head->pc);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_SYNC, vs_mcfta_total, &head->instructions);
    if (!err && d->setup.timed)
        err = vs_port_get_chunks(d->port, VS_FIELD_SYNC, vs_mcfta_total, &cycle);
    uint64_t expected = d->points ? d->time.clocks[core].cycle : u->cycle;
    if (!err && !c->lost && d->setup.timed && cycle != expected)
        err = vs_port_refuse(d->port, VS_FIELD_SYNC, "a sync has another cycle");
    if (err)
        return err;
    vs_mcfta_model_clear(&u->model);
    u->cycle = cycle;
    if (d->points)
        vs_mcfta_time_sync(&d->time, core, cycle);
    c->target = head->pc;
    c->lost = false;
    head->core = core;
    head->cycle = cycle;
    head->sync = true;
    return 0;
}

/* Passes over the rest of a packet of a core that is lost. */
static int skip_tail(struct decoder *d, unsigned core)
{
    uint64_t ignored;
    int err = d->kind == VS_MCFTA_FULL ? 0 : get_tail(d, core, &ignored);
    return err || d->kind != VS_MCFTA_ELSEWHERE ? err : get_target(d, core, &ignored);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Begins the next packet of a core that is not lost. Sets head->sync if it is a sync. */
static int next_packet(struct decoder *d, struct vs_flow_head *head)
{
    unsigned core;
    for (;;) {
        int err = get_begin(d, &core);
        if (err)
            return err;
        d->unpacker = &d->unpackers[d->shared ? 0 : core];
        if (d->kind == VS_MCFTA_SYNC)
            return get_sync(d, core, head);
        if ((err = get_packet(d, core)) < 0)
            return err;
        if (!d->cores[core].lost)
            break;
        if ((err = skip_tail(d, core)) < 0)
            return err;
    }
    d->running = core;
    d->events = 0;
    d->stage = d->bcnt ? EVENTS : TAIL;
    return 0;
}

/* The last cycle that the stream has told. */
static uint64_t cycle_now(const struct decoder *d)
{
    return d->points ? d->time.clocks[d->running].cycle : d->unpacker->cycle;
}

static int decoder_head(void *decoder, struct vs_flow_head *head)
{
    struct decoder *d = decoder;
    int err = 0;
    if (d->stage == BETWEEN || d->stage == GOING) {
        d->stage = BETWEEN;
        err = next_packet(d, head);
    }
    if (err || head->sync)
        return err;
    head->core = d->running;
    head->cycle = cycle_now(d);
    if (d->stage == EVENTS) {
        head->count = VS_FLOW_OPEN;
        return 0;
    }
    d->stage = GOING;
    head->discontinuity = d->kind == VS_MCFTA_ELSEWHERE;
    head->cut = !head->discontinuity;
    err = get_tail(d, d->running, &head->count);
    head->cycle = cycle_now(d);
    return err;
}

static int decoder_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    struct decoder *d = decoder;
    if (d->points)
        vs_mcfta_time_go(&d->time, core, d->time.clocks[core].cycle);
    return get_target(d, core, target);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void decoder_look(void *decoder, const struct vs_flow_code *code)
{
    struct decoder *d = decoder;
    d->time.timing.code = *code->code;
}

static void decoder_passed(void *decoder, unsigned core, const struct vs_flow_passage *p)
{
    struct decoder *d = decoder;
    if (d->points)
        vs_mcfta_time_pass(&d->time, core, p->version, p->pc, p->count);
}

/* A branch was decoded, which may be a point. */
static int time_branch(struct decoder *d, unsigned core, const struct vs_flow_site *site,
                       struct vs_flow_answer *answer, bool wrong)
{
    const struct vs_step step = {
        .pc = site->pc,
        .target = answer->target,
        .kind = vs_flow_site_indirect(site) ? VS_STEP_INDIRECT : VS_STEP_CONDITIONAL,
        .flags = (uint8_t)(site->flags | (answer->taken ? VS_BR_TAKEN : 0)),
        .size = site->size};
    if (vs_mcfta_time_branch(&d->time, core, wrong) &&
        vs_mcfta_decode_point(&d->time, &d->unpacker->model, &d->coder, core, site->pc,
                              &answer->cycle) < 0)
        return vs_port_refuse(d->port, VS_FIELD_PACKED, "a cycle that no encoder writes");
    vs_timing_branch(&d->time.timing, core, &step);
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int refuse(struct decoder *d, const char *why)
{
    return vs_port_refuse(d->port, VS_FIELD_PACKED, why);
}

static int end_code(struct decoder *d)
{
    d->stage = d->kind == VS_MCFTA_FULL ? BETWEEN : TAIL;
    return vs_range_decoder_ends(&d->coder.in, d->bits) ? 0 : refuse(d, "the code ends elsewhere");
}

/* After an event: the packet ends, or tells whose event comes next. Sets *last if the head ends. */
static inline int after_event(struct decoder *d, bool *last)
{
    d->events++;
    bool full = vs_mcfta_is_full(&d->params, d->points, d->events, d->coder.in.count);
    *last = true;
    if (unlikely(full || d->events == d->bcnt))
        return full == (d->kind == VS_MCFTA_FULL) ? end_code(d)
                                                  : refuse(d, "the packet is full elsewhere");
    *last = false;
    if (likely(!d->shared))
        return 0;
    unsigned core = vs_mcfta_decode_core(&d->unpacker->model, &d->coder, d->running);
    *last = core != d->running;
    if (core >= d->setup.cores)
        return refuse(d, "there is no such core");
    d->running = core;
    return 0;
}

static int indirect(struct decoder *d, const struct vs_flow_site *site,
                    struct vs_flow_answer *answer, bool *wrong)
{
    struct vs_mcfta_jump j = {.pc = site->pc, .flags = site->flags, .size = site->size};
    int err = vs_mcfta_decode_jump(&d->unpacker->model, &d->coder, &j);
    answer->taken = j.taken;
    answer->target = j.target;
    *wrong = j.wrong;
    return err ? refuse(d, "a target is not in its shortest form") : 0;
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct decoder *d = decoder;
    bool wrong;
    int err = 0;
    if (unlikely(d->stage != EVENTS))
        return vs_port_refuse(d->port, VS_FIELD_ICNT, "passes over a branch");
    if (likely(!vs_flow_site_indirect(site)))
        answer->taken =
            vs_mcfta_outcome(&d->unpacker->model, &d->coder, site->pc, false, &wrong, true);
    else
        err = indirect(d, site, answer, &wrong);
    if (unlikely(d->points) && !err)
        err = time_branch(d, core, site, answer, wrong);
    return err ? err : after_event(d, &answer->last);
}

static int decoder_call(void *decoder, unsigned core, uint64_t return_address, uint64_t target)
{
    struct decoder *d = decoder;
    bool last;
    (void)core, (void)target;
    vs_tagged_call(&d->unpacker->model.tagged, return_address);
    if (!d->shared)
        return 0;
    if (d->stage != EVENTS)
        return vs_port_refuse(d->port, VS_FIELD_ICNT, "passes over a call");
    int err = after_event(d, &last);
    return err ? err : last ? VS_FLOW_LAST : 0;
}

/* ---- synchronisation points ------------------------------------------------------------------ */

/* Tries the sync at a bit. */
static int try_point(struct decoder *d, uint64_t bit, struct vs_flow_point *point)
{
    struct vs_flow_head head = {0};
    unsigned core;
    int err = vs_port_seek(d->port, 0, bit);
    if (!err)
        err = get_begin(d, &core);
    if (!err && d->kind != VS_MCFTA_SYNC)
        err = -VSE_NOTFOUND;
    if (!err) {
        d->unpacker = &d->unpackers[d->shared ? 0 : core];
        d->cores[core].lost = true;
        err = get_sync(d, core, &head);
    }
    if (err)
        return err;
    *point = (struct vs_flow_point){.bit = bit, .core = core, .pc = head.pc};
    return 0;
}

static int decoder_sync(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    struct decoder *d = decoder;
    const unsigned before = d->port->core_bits + VS_MCFTA_SYNC;
    bool found = false;
    (void)stream;
    for (; !vs_port_seek(d->port, 0, bit + before); bit++) {
        struct vs_bitr ahead = d->port->bits;
        uint64_t mark;
        if (vs_bitr_get(&ahead, VS_MCFTA_MARK_BITS, &mark) < 0)
            break;
        if ((found = mark == VS_MCFTA_MARK && !try_point(d, bit, point)))
            break;
    }
    d->stage = BETWEEN;
    for (unsigned i = 0; i < d->setup.cores; i++)
        d->cores[i].lost = true;
    vs_port_seek(d->port, 0, found ? bit : d->port->bits.nbits);
    return found ? 0 : -VSE_END;
}

const struct vs_flow_decoder_ops vs_mcfta_decoder_ops = {.open = decoder_open,
                                                         .look = decoder_look,
                                                         .head = decoder_head,
                                                         .passed = decoder_passed,
                                                         .branch = decoder_branch,
                                                         .call = decoder_call,
                                                         .discontinuity = decoder_discontinuity,
                                                         .sync = decoder_sync,
                                                         .close = decoder_close};
