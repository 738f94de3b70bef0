/* SPDX-License-Identifier: MIT */
#include "technique/mispredict.h"

#include <stdlib.h>

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder_core {
    struct vs_predictors *predictors; /* own, or those of all */
    uint64_t bcnt, icnt;              /* since its last message */
    uint64_t mark;                    /* iCnt as it was after its last branch or message */
    uint64_t target;                  /* the last in a message */
    bool alive;
};

struct vs_mispredict_encoder {
    struct vs_mispredict_config config;
    struct vs_port_writer *port;
    unsigned cores, address_bits;
    unsigned running; /* if shared: whose branch was the last; only it has passed any */
    struct vs_predictors *predictors;
    struct encoder_core *core;
    struct vs_flow_counts counts;
};

/* Sets of predictors: one per core, or one. NULL if there is no memory. */
static struct vs_predictors *make_predictors(const struct vs_mispredict_config *config,
                                             const struct vs_technique_setup *setup)
{
    unsigned count = config->shared ? 1 : setup->cores;
    struct vs_predictors *p = calloc(count, sizeof(*p));
    int err = 0;
    for (unsigned i = 0; p && i < count; i++)
        err |= vs_predictors_init(&p[i], &config->predictors, setup->address_bits);
    if (!err)
        return p;
    for (unsigned i = 0; i < count; i++)
        vs_predictors_fini(&p[i]);
    free(p);
    return NULL;
}

static void free_predictors(struct vs_predictors *p, const struct vs_mispredict_config *config,
                            unsigned cores)
{
    for (unsigned i = 0; p && i < (config->shared ? 1 : cores); i++)
        vs_predictors_fini(&p[i]);
    free(p);
}

int vs_mispredict_encoder_open(void **out, const struct vs_mispredict_config *config,
                               const struct vs_technique_setup *setup, struct vs_port_writer *port)
{
    struct vs_mispredict_encoder *e = calloc(1, sizeof(*e));
    *out = NULL;
    if (!e)
        return -VSE_NOMEM;
    e->config = *config;
    e->port = port;
    e->cores = setup->cores;
    e->address_bits = setup->address_bits;
    e->predictors = make_predictors(config, setup);
    e->core = calloc(setup->cores, sizeof(*e->core));
    for (unsigned i = 0; e->predictors && e->core && i < setup->cores; i++)
        e->core[i].predictors = &e->predictors[config->shared ? 0 : i];
    if (!e->predictors || !e->core) {
        vs_mispredict_encoder_close(e);
        return -VSE_NOMEM;
    }
    *out = e;
    return 0;
}

void vs_mispredict_encoder_close(void *encoder)
{
    struct vs_mispredict_encoder *e = encoder;
    if (!e)
        return;
    free_predictors(e->predictors, &e->config, e->cores);
    free(e->core);
    free(e);
}

static void put_count(struct vs_mispredict_encoder *e, enum vs_field f, uint64_t count)
{
    if (e->config.unary)
        vs_port_put_unary(e->port, f, e->config.prefix.bcnt, count);
    else
        vs_port_put_chunks(e->port, f, e->config.chunks.bcnt, count);
}

static void put_instructions(struct vs_mispredict_encoder *e, enum vs_field f, uint64_t count)
{
    if (e->config.unary)
        vs_port_put_unary(e->port, f, e->config.prefix.icnt, count);
    else
        vs_port_put_chunks(e->port, f, e->config.chunks.icnt, count);
}

static void put_target(struct vs_mispredict_encoder *e, struct encoder_core *c, enum vs_field f,
                       uint64_t target)
{
    if (e->config.unary)
        vs_port_put_address(e->port, f, e->config.prefix.target, c->target, target,
                            e->address_bits);
    else
        vs_port_put_difference(e->port, f, e->config.chunks.target,
                               vs_difference(c->target, target, e->address_bits));
    c->target = target;
}

static void put_handler(struct vs_mispredict_encoder *e, struct encoder_core *c, enum vs_field f,
                        uint64_t target)
{
    if (!e->config.unary) {
        put_target(e, c, f, target);
        return;
    }
    vs_port_put(e->port, f, target, e->address_bits);
    c->target = target;
}

static void restart(struct encoder_core *c)
{
    c->bcnt = c->icnt = c->mark = 0;
}

static __attribute__((noinline)) void
put_misprediction(struct vs_mispredict_encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    vs_port_begin(e->port, s->core, s->time);
    put_count(e, VS_FIELD_BCNT, c->bcnt);
    if (s->kind == VS_STEP_INDIRECT) {
        if (s->flags & VS_BR_COND)
            vs_port_put(e->port, VS_FIELD_OUTCOME, vs_step_taken(s), 1);
        if (vs_step_taken(s))
            put_target(e, c, VS_FIELD_TARGET, s->target);
    }
    vs_port_end(e->port);
    restart(c);
}

static void put_discontinuity(struct vs_mispredict_encoder *e, struct encoder_core *c,
                              const struct vs_step *s)
{
    bool sync = !c->alive || s->target == VS_STEP_NOWHERE;
    vs_port_begin(e->port, s->core, s->time);
    put_count(e, sync ? VS_FIELD_SYNC : VS_FIELD_BCNT, 0);
    if (e->config.shared)
        vs_port_put(e->port, VS_FIELD_ORDER, 0, 1);
    put_instructions(e, sync ? VS_FIELD_SYNC : VS_FIELD_ICNT, c->icnt);
    put_handler(e, c, sync ? VS_FIELD_SYNC : VS_FIELD_TARGET, s->target);
    vs_port_end(e->port);
    restart(c);
    c->alive = s->target != VS_STEP_NOWHERE;
    e->counts.discontinuities++;
    e->counts.syncs += sync;
}

/* A branch or call of another core than the last. */
static void change_core(struct vs_mispredict_encoder *e, const struct vs_step *s)
{
    struct encoder_core *c = &e->core[e->running];
    if (c->bcnt) {
        vs_port_begin(e->port, e->running, s->time);
        put_count(e, VS_FIELD_ORDER, 0);
        vs_port_put(e->port, VS_FIELD_ORDER, 1, 1);
        put_count(e, VS_FIELD_ORDER, c->bcnt);
        vs_port_end(e->port);
        c->bcnt = 0;
        c->icnt -= c->mark;
        c->mark = 0;
        e->counts.switches++;
    }
    e->running = s->core;
}

static void conditional(struct vs_mispredict_encoder *e, struct encoder_core *c,
                        const struct vs_step *s)
{
    bool taken = vs_step_taken(s);
    c->bcnt++;
    c->mark = c->icnt;
    if (likely(vs_predictors_outcome(c->predictors, s->pc, taken) == taken))
        return;
    e->counts.conditional_reported++;
    put_misprediction(e, c, s);
}

static void indirect(struct vs_mispredict_encoder *e, struct encoder_core *c,
                     const struct vs_step *s)
{
    bool right = vs_step_taken(s) &&
                 vs_predictors_target(c->predictors, s->pc, s->flags, s->size, s->target);
    c->bcnt++;
    c->mark = c->icnt;
    if (s->flags & VS_BR_RETURN) {
        e->counts.returns++;
        e->counts.returns_reported += !right;
    } else {
        e->counts.indirect++;
        e->counts.indirect_reported += !right;
    }
    if (!right)
        put_misprediction(e, c, s);
}

/* A stack that is shared changes by calls, in an order that has to be known. */
static void call(const struct vs_mispredict_encoder *e, struct encoder_core *c,
                 const struct vs_step *s)
{
    vs_ras_push(&c->predictors->ras, s->pc + s->size);
    if (e->config.shared) {
        c->bcnt++;
        c->mark = c->icnt;
    }
}

int vs_mispredict_consume(void *encoder, const struct vs_step *steps, size_t count)
{
    struct vs_mispredict_encoder *e = encoder;
    bool shared = e->config.shared;
    uint64_t instructions = 0, conditionals = 0; /* not in memory: the loop is hot */
    for (const struct vs_step *s = steps; s < steps + count; s++) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        struct encoder_core *c = &e->core[s->core];
        c->icnt += s->icount;
        instructions += s->icount;
        if (unlikely(shared && s->kind <= VS_STEP_CALL && s->core != e->running))
            change_core(e, s);
        if (likely(s->kind == VS_STEP_CONDITIONAL)) {
            conditionals++;
            conditional(e, c, s);
        } else if (s->kind == VS_STEP_INDIRECT) {
            indirect(e, c, s);
        } else if (s->kind == VS_STEP_CALL) {
            call(e, c, s);
        } else {
            put_discontinuity(e, c, s);
        }
    }
    e->counts.instructions += instructions;
    e->counts.conditional += conditionals;
    return 0;
}

void vs_mispredict_counts(const void *encoder, struct vs_flow_counts *counts)
{
    *counts = ((const struct vs_mispredict_encoder *)encoder)->counts;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder_core {
    struct vs_predictors *predictors;
    uint64_t target;
};

/* What the message under way says of the branches that it counts. */
enum message { MISPREDICTION, DISCONTINUITY, SWITCH };

struct vs_mispredict_decoder {
    struct vs_mispredict_config config;
    struct vs_port_reader *port;
    unsigned cores, address_bits;
    enum message message;
    uint64_t left; /* branches of it that are to come; not of a discontinuity */
    struct vs_predictors *predictors;
    struct decoder_core *core;
};

int vs_mispredict_decoder_open(void **out, const struct vs_mispredict_config *config,
                               const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    struct vs_mispredict_decoder *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (!d)
        return -VSE_NOMEM;
    d->config = *config;
    d->port = port;
    d->cores = setup->cores;
    d->address_bits = setup->address_bits;
    d->predictors = make_predictors(config, setup);
    d->core = calloc(setup->cores, sizeof(*d->core));
    for (unsigned i = 0; d->predictors && d->core && i < setup->cores; i++)
        d->core[i].predictors = &d->predictors[config->shared ? 0 : i];
    if (!d->predictors || !d->core) {
        vs_mispredict_decoder_close(d);
        return -VSE_NOMEM;
    }
    *out = d;
    return 0;
}

void vs_mispredict_decoder_close(void *decoder)
{
    struct vs_mispredict_decoder *d = decoder;
    if (!d)
        return;
    free_predictors(d->predictors, &d->config, d->cores);
    free(d->core);
    free(d);
}

static int get_count(struct vs_mispredict_decoder *d, enum vs_field f, uint64_t *count)
{
    return d->config.unary ? vs_port_get_unary(d->port, f, d->config.prefix.bcnt, count)
                           : vs_port_get_chunks(d->port, f, d->config.chunks.bcnt, count);
}

static int get_instructions(struct vs_mispredict_decoder *d, uint64_t *count)
{
    return d->config.unary
               ? vs_port_get_unary(d->port, VS_FIELD_ICNT, d->config.prefix.icnt, count)
               : vs_port_get_chunks(d->port, VS_FIELD_ICNT, d->config.chunks.icnt, count);
}

static int get_target(struct vs_mispredict_decoder *d, unsigned core, uint64_t *target)
{
    struct vs_difference diff;
    uint64_t *last = &d->core[core].target;
    int err;
    if (d->config.unary) {
        err = vs_port_get_address(d->port, VS_FIELD_TARGET, d->config.prefix.target, *last,
                                  d->address_bits, target);
    } else {
        err = vs_port_get_difference(d->port, VS_FIELD_TARGET, d->config.chunks.target,
                                     d->address_bits, &diff);
        if (!err)
            *target = vs_difference_apply(*last, diff, d->address_bits);
    }
    if (!err)
        *last = *target;
    return err;
}

int vs_mispredict_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    struct vs_mispredict_decoder *d = decoder;
    int err;
    if (!d->config.unary)
        return get_target(d, core, target);
    err = vs_port_get(d->port, VS_FIELD_TARGET, d->address_bits, target);
    if (!err)
        d->core[core].target = *target;
    return err;
}

/* What follows a bCnt of 0. */
static int other_message(struct vs_mispredict_decoder *d, struct vs_flow_head *head)
{
    uint64_t change = 0;
    int err = d->config.shared ? vs_port_get(d->port, VS_FIELD_ORDER, 1, &change) : 0;
    if (err)
        return err;
    if (!change) {
        d->message = DISCONTINUITY;
        head->discontinuity = true;
        return get_instructions(d, &head->count);
    }
    d->message = SWITCH;
    if (!(err = get_count(d, VS_FIELD_ORDER, &d->left)) && !d->left)
        err = vs_port_refuse(d->port, VS_FIELD_ORDER, "a switch after no branch");
    return err;
}

int vs_mispredict_head(void *decoder, struct vs_flow_head *head)
{
    struct vs_mispredict_decoder *d = decoder;
    int err = vs_port_next(d->port, &head->core, &head->cycle);
    if (!err)
        err = get_count(d, VS_FIELD_BCNT, &d->left);
    head->count = VS_FLOW_OPEN;
    d->message = MISPREDICTION;
    if (!err && !d->left)
        err = other_message(d, head);
    return err;
}

/* The target of an indirect branch that was mispredicted. */
static int wrong_target(struct vs_mispredict_decoder *d, unsigned core,
                        const struct vs_flow_site *site, struct vs_flow_answer *answer)
{
    const struct decoder_core *c = &d->core[core];
    uint64_t taken = 1, predicted;
    int err = 0;
    if (site->flags & VS_BR_COND)
        err = vs_port_get(d->port, VS_FIELD_OUTCOME, 1, &taken);
    answer->taken = taken;
    if (err || !taken)
        return err;
    if ((err = get_target(d, core, &answer->target)) < 0)
        return err;
    if (vs_predictors_ask(c->predictors, site->pc, site->flags, &predicted) &&
        predicted == answer->target)
        return vs_port_refuse(d->port, VS_FIELD_TARGET, "reports what was predicted");
    return 0;
}

static int right_target(struct vs_mispredict_decoder *d, unsigned core,
                        const struct vs_flow_site *site, struct vs_flow_answer *answer)
{
    const struct decoder_core *c = &d->core[core];
    answer->taken = true;
    return vs_predictors_ask(c->predictors, site->pc, site->flags, &answer->target)
               ? 0
               : vs_port_refuse(d->port, VS_FIELD_BCNT, "passes over a branch without prediction");
}

int vs_mispredict_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                         struct vs_flow_answer *answer)
{
    struct vs_mispredict_decoder *d = decoder;
    struct decoder_core *c = &d->core[core];
    bool right = true;
    int err;
    if (d->message != DISCONTINUITY) {
        answer->last = !--d->left;
        right = d->message == SWITCH || !answer->last;
    }
    if (likely(!vs_flow_site_indirect(site))) {
        answer->taken = vs_gshare_predict(&c->predictors->gshare, site->pc) == right;
        vs_predictors_outcome(c->predictors, site->pc, answer->taken);
        return 0;
    }
    err = right ? right_target(d, core, site, answer) : wrong_target(d, core, site, answer);
    if (!err && answer->taken)
        vs_predictors_target(c->predictors, site->pc, site->flags, site->size, answer->target);
    return err;
}

int vs_mispredict_call(void *decoder, unsigned core, uint64_t return_address)
{
    struct vs_mispredict_decoder *d = decoder;
    vs_ras_push(&d->core[core].predictors->ras, return_address);
    if (!d->config.shared || d->message == DISCONTINUITY || --d->left)
        return 0;
    return d->message == SWITCH
               ? VS_FLOW_LAST
               : vs_port_refuse(d->port, VS_FIELD_BCNT, "reports a misprediction of a direct call");
}

/* ---- cost ------------------------------------------------------------------------------------ */

int vs_mispredict_cost(const struct vs_mispredict_config *config,
                       const struct vs_technique_setup *setup, struct vs_cost_list *list)
{
    /* 16 bits hold every count but a few, for which a module would send a message more */
    static const struct vs_cost counter = {.registers = 16};
    int err =
        vs_predictors_cost(&config->predictors, setup, config->shared ? 1 : setup->cores, list);
    vs_cost_list_add(list, "bCnt", counter, setup->cores);
    vs_cost_list_add(list, "iCnt", counter, setup->cores);
    vs_cost_list_add(list, "last target", (struct vs_cost){.registers = setup->address_bits},
                     setup->cores);
    return err;
}
