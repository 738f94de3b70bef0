/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/likely.h"
#include "technique/mcfta_model.h"
#include "technique/passage.h"

struct core {
    uint64_t icnt;         /* instructions since its last event */
    uint64_t pc;           /* where it goes after its last step */
    uint64_t instructions; /* all, up to its last step */
    uint64_t target;       /* the last one in a packet */
    bool alive;
};

/* The packet under way and what it is coded with, of one core or of all. */
struct packer {
    struct vs_mcfta_model model;
    struct vs_mcfta_coder coder;
    uint8_t *bytes;          /* of the code */
    uint64_t events;         /* in the packet */
    uint64_t packets;        /* since the last sync */
    uint64_t cycle;          /* the last packet's */
    uint64_t time;           /* of the last event or discontinuity */
    unsigned first, running; /* the cores of the packet's first and last event */
};

struct encoder {
    struct vs_port_writer *port;
    struct vs_mcfta_params params;
    struct vs_technique_setup setup;
    bool shared, points;
    struct vs_mcfta_time time; /* with points */
    struct vs_passage passage;
    unsigned packer_count;
    struct packer *packers;
    struct core *cores;
    struct vs_flow_counts counts;
};

/* ---- opening --------------------------------------------------------------------------------- */

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    for (unsigned i = 0; e->packers && i < e->packer_count; i++) {
        vs_mcfta_model_fini(&e->packers[i].model);
        free(e->packers[i].bytes);
    }
    vs_mcfta_time_fini(&e->time);
    vs_passage_fini(&e->passage);
    free(e->packers);
    free(e->cores);
    free(e);
}

static int open_packer(struct packer *k, const struct encoder *e)
{
    int err = vs_mcfta_model_init(&k->model, &e->params, &e->setup);
    k->bytes = malloc(e->params.size);
    if (!err && !k->bytes)
        err = -VSE_NOMEM;
    if (!err)
        vs_range_encoder_start(&k->coder.out, k->bytes);
    return err;
}

static void take_stretch(void *encoder, unsigned core, const struct vs_stretch *s)
{
    struct encoder *e = encoder;
    vs_mcfta_time_pass(&e->time, core, s->version, s->pc, s->count);
}

static int open_time(struct encoder *e, const struct vs_address_code *code)
{
    if (!code || !code->isa)
        return -VSE_INVAL;
    int err = vs_mcfta_time_init(&e->time, &e->params, e->setup.cores);
    if (!err)
        err = vs_passage_init(&e->passage, code, e->setup.cores);
    e->time.timing.code = *code;
    e->passage.sink = take_stretch;
    e->passage.context = e;
    return err;
}

static int encoder_open(void **out, const struct vs_technique_context *context)
{
    struct encoder *e = calloc(1, sizeof(*e));
    *out = NULL;
    if (!e)
        return -VSE_NOMEM;
    e->port = context->port;
    e->params = *(const struct vs_mcfta_params *)context->params;
    e->setup = *context->setup;
    e->shared = e->params.tagged.predictors;
    e->points = vs_mcfta_has_points(&e->params, &e->setup);
    e->packer_count = e->shared ? 1 : e->setup.cores;
    e->packers = calloc(e->packer_count, sizeof(*e->packers));
    e->cores = calloc(e->setup.cores, sizeof(*e->cores));
    int err = e->packers && e->cores ? 0 : -VSE_NOMEM;
    if (!err && e->points)
        err = open_time(e, context->code);
    for (unsigned i = 0; i < e->packer_count && !err; i++) {
        err = open_packer(&e->packers[i], e);
        e->packers[i].first = e->packers[i].running = i;
    }
    if (err) {
        encoder_close(e);
        return err;
    }
    *out = e;
    return 0;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void begin(struct encoder *e, const struct packer *k, unsigned core, enum vs_mcfta_kind kind)
{
    vs_port_begin_packet(e->port, core, k->time);
    vs_port_put(e->port, VS_FIELD_CORE, core, e->port->core_bits);
    vs_port_put(e->port, VS_FIELD_HEADER, (1u << kind) - 1,
                kind == VS_MCFTA_SYNC ? kind : kind + 1u);
}

static void put_code(struct encoder *e, const uint8_t *bytes, size_t bits)
{
    for (; bits >= 8; bits -= 8)
        vs_port_put(e->port, VS_FIELD_PACKED, *bytes++, 8);
    if (bits)
        vs_port_put(e->port, VS_FIELD_PACKED, (uint64_t)*bytes >> (8 - bits), (unsigned)bits);
}

static void put_cycles(struct encoder *e, uint64_t since, uint64_t cycle)
{
    if (cycle < since && !e->port->error)
        e->port->error = -VSE_INVAL;
    vs_port_put_chunks(e->port, VS_FIELD_CYCLES, e->port->shape.cycles, cycle - since);
}

/* Puts a packet with the events so far, up to what comes after the code. */
static void put_packet(struct encoder *e, struct packer *k, unsigned core, enum vs_mcfta_kind kind)
{
    size_t bits = k->events ? vs_range_encoder_end(&k->coder.out) : 0;
    begin(e, k, core, kind);
    if (kind != VS_MCFTA_FULL)
        vs_port_put_unary(e->port, VS_FIELD_BCNT, vs_mcfta_bcnt, k->events);
    vs_port_put(e->port, VS_FIELD_HEADER, bits, vs_mcfta_length_bits(&e->params));
    if (e->setup.timed && !e->points) {
        put_cycles(e, k->cycle, k->time);
        k->cycle = k->time;
    }
    put_code(e, k->bytes, bits);
    k->events = 0;
    k->packets++;
    vs_range_encoder_start(&k->coder.out, k->bytes);
}

static void put_cut(struct encoder *e, struct packer *k)
{
    struct core *c = &e->cores[k->running];
    put_packet(e, k, k->events ? k->first : k->running, VS_MCFTA_CUT);
    vs_port_put_chunks(e->port, VS_FIELD_ICNT, vs_mcfta_icnt, c->icnt);
    vs_port_end(e->port);
    c->icnt = 0;
    e->counts.switches++;
}

static void put_sync(struct encoder *e, struct packer *k, unsigned core)
{
    struct core *c = &e->cores[core];
    uint64_t cycle = e->points ? e->time.clocks[core].cycle : k->cycle;
    begin(e, k, core, VS_MCFTA_SYNC);
    vs_port_put(e->port, VS_FIELD_SYNC, VS_MCFTA_MARK, VS_MCFTA_MARK_BITS);
    vs_port_put(e->port, VS_FIELD_SYNC, c->pc, e->setup.address_bits);
    vs_port_put_chunks(e->port, VS_FIELD_SYNC, vs_mcfta_total, c->instructions);
    if (e->setup.timed)
        vs_port_put_chunks(e->port, VS_FIELD_SYNC, vs_mcfta_total, cycle);
    vs_port_end(e->port);
    if (e->points)
        vs_mcfta_time_sync(&e->time, core, cycle);
    c->target = c->pc;
    e->counts.syncs++;
}

/* Makes a synchronisation point after the last event or step of the packer's cores. */
static void restart(struct encoder *e, struct packer *k)
{
    if (k->events || e->cores[k->running].icnt)
        put_cut(e, k);
    vs_mcfta_model_clear(&k->model);
    k->packets = 0;
    for (unsigned i = 0; i < e->setup.cores; i++)
        if (e->cores[i].alive && (e->shared || i == k->first))
            put_sync(e, k, i);
}

static __attribute__((noinline)) void put_full(struct encoder *e, struct packer *k)
{
    put_packet(e, k, k->first, VS_MCFTA_FULL);
    vs_port_end(e->port);
    if (e->params.reset && k->packets >= e->params.reset)
        restart(e, k);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The core goes on to the instruction before it goes on from the step. */
static void pass(struct encoder *e, const struct vs_step *s)
{
    struct vs_passed ignored;
    for (uint64_t left = s->icount; left;)
        vs_passage_search(&e->passage, s->core, &left, &ignored);
}

/* A conditional or indirect branch was coded. */
static void time_branch(struct encoder *e, struct packer *k, const struct vs_step *s, bool wrong)
{
    int err = 0;
    if (vs_mcfta_time_branch(&e->time, s->core, wrong))
        err = vs_mcfta_encode_point(&e->time, &k->model, &k->coder, s->core, s->pc, s->time);
    if (unlikely(err) && !e->port->error)
        e->port->error = err;
    vs_timing_branch(&e->time.timing, s->core, s);
    vs_passage_branch(&e->passage, s->core, vs_step_next(s));
}

static void time_discontinuity(struct encoder *e, const struct vs_step *s)
{
    put_cycles(e, e->time.clocks[s->core].cycle, s->time);
    vs_mcfta_time_go(&e->time, s->core, s->time);
    vs_passage_go(&e->passage, s->core, s->target);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Codes whose event comes next, if predictors are shared. */
static void say_core(struct packer *k, unsigned core)
{
    if (k->events)
        vs_mcfta_encode_core(&k->model, &k->coder, k->running, core);
    else
        k->first = core;
    k->running = core;
}

static inline void after_event(struct encoder *e, struct packer *k, struct core *c,
                               const struct vs_step *s)
{
    c->icnt = 0;
    k->events++;
    k->time = s->time;
    if (unlikely(vs_mcfta_is_full(&e->params, e->points, k->events, k->coder.out.count)))
        put_full(e, k);
}

static inline void conditional(struct encoder *e, struct packer *k, const struct vs_step *s)
{
    bool wrong;
    vs_mcfta_outcome(&k->model, &k->coder, s->pc, vs_step_taken(s), &wrong, false);
    e->counts.conditional_reported += wrong;
    if (unlikely(e->points))
        time_branch(e, k, s, wrong);
}

static void indirect(struct encoder *e, struct packer *k, const struct vs_step *s)
{
    struct vs_mcfta_jump j = {.pc = s->pc,
                              .target = s->target,
                              .flags = s->flags,
                              .size = s->size,
                              .taken = vs_step_taken(s)};
    vs_mcfta_encode_jump(&k->model, &k->coder, &j);
    if (s->flags & VS_BR_RETURN) {
        e->counts.returns++;
        e->counts.returns_reported += j.wrong;
    } else {
        e->counts.indirect++;
        e->counts.indirect_reported += j.wrong;
    }
    if (e->points)
        time_branch(e, k, s, j.wrong);
}

static void discontinuity(struct encoder *e, struct packer *k, struct core *c,
                          const struct vs_step *s)
{
    e->counts.syncs += !c->alive || s->target == VS_STEP_NOWHERE;
    e->counts.discontinuities++;
    if (k->running != s->core && k->events)
        put_cut(e, k);
    k->running = s->core;
    k->time = s->time;
    put_packet(e, k, k->events ? k->first : s->core, VS_MCFTA_ELSEWHERE);
    vs_port_put_chunks(e->port, VS_FIELD_ICNT, vs_mcfta_icnt, c->icnt);
    if (e->points)
        time_discontinuity(e, s);
    vs_port_put_difference(e->port, VS_FIELD_TARGET, vs_mcfta_target,
                           vs_difference(c->target, s->target, e->setup.address_bits));
    vs_port_end(e->port);
    c->icnt = 0;
    c->target = s->target;
    c->alive = s->target != VS_STEP_NOWHERE;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct encoder *e = encoder;
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end; s++) {
        if (unlikely(s->core >= e->setup.cores))
            return -VSE_INVAL;
        struct core *c = &e->cores[s->core];
        struct packer *k = &e->packers[e->shared ? 0 : s->core];
        c->icnt += s->icount;
        c->instructions += s->icount;
        c->pc = vs_step_next(s);
        e->counts.instructions += s->icount;
        if (unlikely(e->shared) && s->kind <= VS_STEP_CALL)
            say_core(k, s->core);
        if (unlikely(e->points))
            pass(e, s);
        if (likely(s->kind == VS_STEP_CONDITIONAL)) {
            e->counts.conditional++;
            conditional(e, k, s);
            after_event(e, k, c, s);
        } else if (s->kind == VS_STEP_INDIRECT) {
            indirect(e, k, s);
            after_event(e, k, c, s);
        } else if (s->kind == VS_STEP_CALL) {
            vs_tagged_call(&k->model.tagged, s->pc + s->size);
            if (e->points)
                vs_passage_branch(&e->passage, s->core, s->target);
            if (e->shared)
                after_event(e, k, c, s);
        } else {
            discontinuity(e, k, c, s);
        }
    }
    return 0;
}

static int encoder_sync(void *encoder, unsigned core)
{
    struct encoder *e = encoder;
    if (e->cores[core].alive)
        restart(e, &e->packers[e->shared ? 0 : core]);
    return 0;
}

static void encoder_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct encoder *)encoder)->counts;
}

const struct vs_encoder_ops vs_mcfta_encoder_ops = {.needs = VS_NEEDS_STEPS | VS_NEEDS_CODE,
                                                    .open = encoder_open,
                                                    .consume = encoder_consume,
                                                    .sync = encoder_sync,
                                                    .counts = encoder_counts,
                                                    .rows = vs_flow_count_rows,
                                                    .close = encoder_close};
