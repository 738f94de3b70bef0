/* SPDX-License-Identifier: MIT */
#include "technique/mispredict.h"

#include <stdlib.h>

#include "base/power.h"
#include "model/counter.h"
#include "technique/passage.h"

/* How many branches a full bCnt has counted. */
static uint64_t most_branches(const struct vs_mispredict_config *config)
{
    return vs_counter_full(config->bcnt_bits) - 1;
}

/* ---- encoder --------------------------------------------------------------------------------- */

/* One core's predictors or all cores', of one kind; the other is NULL. */
struct predictor_set {
    struct vs_predictors *plain;
    struct vs_tagged *tagged;
};

struct encoder_core {
    struct predictor_set set; /* its own, or all cores' */
    uint64_t bcnt, icnt;      /* since its last message */
    uint64_t mark;            /* iCnt after its last branch or message */
    uint64_t target;          /* the last one in a message */
    bool alive;
};

struct vs_mispredict_encoder {
    struct vs_mispredict_config config;
    struct vs_port_writer *port;
    unsigned cores, address_bits;
    uint64_t bcnt_most, icnt_full; /* where the counters are full */
    unsigned running; /* if shared: whose branch was the last; only that core has passed any */
    struct predictor_set sets;
    struct encoder_core *core;
    struct vs_flow_counts counts;
    struct vs_passage passage;  /* if direct branches are learnt */
    const struct vs_step *step; /* that the core is on its way to */
    uint32_t left;              /* its instructions that are still to be counted, */
    uint32_t passed;            /* and those of them that the core has passed */
};

static unsigned set_count(const struct vs_mispredict_config *config, unsigned cores)
{
    return config->shared ? 1 : cores;
}

static void free_sets(const struct predictor_set *sets, const struct vs_mispredict_config *config,
                      unsigned cores)
{
    for (unsigned i = 0; i < set_count(config, cores); i++) {
        if (sets->plain)
            vs_predictors_fini(&sets->plain[i]);
        if (sets->tagged)
            vs_tagged_fini(&sets->tagged[i]);
    }
    free(sets->plain);
    free(sets->tagged);
}

/* Makes one set of predictors per core, or one for all. Returns 0; -VSE_NOMEM. */
static int make_sets(struct predictor_set *sets, const struct vs_mispredict_config *config,
                     const struct vs_technique_setup *setup)
{
    unsigned count = set_count(config, setup->cores);
    int err = 0;
    if (config->is_tagged)
        sets->tagged = calloc(count, sizeof(*sets->tagged));
    else
        sets->plain = calloc(count, sizeof(*sets->plain));
    if (!sets->tagged && !sets->plain)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < count && !err; i++)
        err = config->is_tagged
                  ? vs_tagged_init(&sets->tagged[i], &config->tagged, setup->address_bits)
                  : vs_predictors_init(&sets->plain[i], &config->predictors, setup->address_bits);
    return err;
}

/* A core's set. */
static struct predictor_set set_of(const struct predictor_set *sets,
                                   const struct vs_mispredict_config *config, unsigned core)
{
    unsigned i = config->shared ? 0 : core;
    return (struct predictor_set){.plain = sets->plain ? &sets->plain[i] : NULL,
                                  .tagged = sets->tagged ? &sets->tagged[i] : NULL};
}

static void push_call(const struct predictor_set *set, uint64_t return_address)
{
    if (set->tagged)
        vs_tagged_call(set->tagged, return_address);
    else
        vs_ras_push(&set->plain->ras, return_address);
}

static void pass_direct(void *encoder, unsigned core, const struct vs_stretch *stretch);

static int open_passage(struct vs_mispredict_encoder *e, const struct vs_address_code *code)
{
    if (!code)
        return -VSE_INVAL;
    int err = vs_passage_init(&e->passage, code, e->cores);
    e->passage.sink = pass_direct;
    e->passage.context = e;
    return err;
}

int vs_mispredict_encoder_open(void **out, const struct vs_mispredict_config *config,
                               const struct vs_technique_context *context)
{
    const struct vs_technique_setup *setup = context->setup;
    struct vs_mispredict_encoder *e = calloc(1, sizeof(*e));
    *out = NULL;
    if (!e)
        return -VSE_NOMEM;
    e->config = *config;
    e->port = context->port;
    e->cores = setup->cores;
    e->address_bits = setup->address_bits;
    e->bcnt_most = most_branches(config);
    e->icnt_full = vs_counter_full(config->icnt_bits);
    e->core = calloc(setup->cores, sizeof(*e->core));
    int err = make_sets(&e->sets, config, setup);
    for (unsigned i = 0; !err && e->core && i < setup->cores; i++)
        e->core[i].set = set_of(&e->sets, config, i);
    if (!err && e->core && config->direct)
        err = open_passage(e, context->code);
    if (err || !e->core) {
        vs_mispredict_encoder_close(e);
        return err ? err : -VSE_NOMEM;
    }
    *out = e;
    return 0;
}

void vs_mispredict_encoder_close(void *encoder)
{
    struct vs_mispredict_encoder *e = encoder;
    if (!e)
        return;
    free_sets(&e->sets, &e->config, e->cores);
    vs_passage_fini(&e->passage);
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

/* Tells that a counter is full: all that it has counted was predicted right. */
static __attribute__((noinline)) void put_full(struct vs_mispredict_encoder *e,
                                               struct encoder_core *c, const struct vs_step *s)
{
    vs_port_begin(e->port, s->core, s->time);
    if (c->bcnt == e->bcnt_most) {
        put_count(e, VS_FIELD_BCNT, e->bcnt_most + 1);
    } else {
        put_count(e, VS_FIELD_BCNT, 0);
        if (e->config.shared)
            vs_port_put(e->port, VS_FIELD_ORDER, 0, 1);
        put_instructions(e, VS_FIELD_ICNT, e->icnt_full);
    }
    vs_port_end(e->port);
    restart(c);
}

/* iCnt includes the step's instructions, and may have been full before the last of them, which is
 * the step's own if it is a branch. */
static __attribute__((noinline)) void pass_full(struct vs_mispredict_encoder *e,
                                                struct encoder_core *c, const struct vs_step *s)
{
    uint64_t own = s->kind != VS_STEP_DISCONTINUITY && s->icount;
    uint64_t before = c->icnt - own;
    if (before < e->icnt_full)
        return;
    for (; before >= e->icnt_full; before -= e->icnt_full)
        put_full(e, c, s);
    c->icnt = before + own;
}

/* A branch or call comes from another core than the last one. */
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

static inline __attribute__((always_inline)) void conditional(struct vs_mispredict_encoder *e,
                                                              struct encoder_core *c,
                                                              const struct vs_step *s, bool tagged)
{
    bool taken = vs_step_taken(s);
    c->bcnt++;
    c->mark = c->icnt;
    bool predicted = tagged ? vs_tagged_outcome(c->set.tagged, s->pc, taken)
                            : vs_predictors_outcome(c->set.plain, s->pc, taken);
    if (likely(predicted == taken))
        return;
    e->counts.conditional_reported++;
    put_misprediction(e, c, s);
}

static void indirect(struct vs_mispredict_encoder *e, struct encoder_core *c,
                     const struct vs_step *s)
{
    const struct predictor_set *p = &c->set;
    bool right = vs_step_taken(s) &&
                 (p->tagged ? vs_tagged_target(p->tagged, s->pc, s->flags, s->size, s->target)
                            : vs_predictors_target(p->plain, s->pc, s->flags, s->size, s->target));
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

/* An unconditional direct branch, if they are learnt. */
static void direct(struct vs_mispredict_encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    bool predicted = vs_predictors_outcome(c->set.plain, s->pc, true);
    if (e->config.direct != VS_DIRECT_REPORTED)
        return;
    c->bcnt++;
    c->mark = c->icnt;
    if (!predicted)
        put_misprediction(e, c, s);
}

/* Calls change a shared stack, in an order that has to be known. */
static void call(struct vs_mispredict_encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    push_call(&c->set, s->pc + s->size);
    if (unlikely(e->config.direct))
        direct(e, c, s);
    if (e->config.shared) {
        c->bcnt++;
        c->mark = c->icnt;
    }
}

/* Compiled for each kind of predictors, so that the hot path does not ask for it. */
static inline __attribute__((always_inline)) int consume(struct vs_mispredict_encoder *e,
                                                         const struct vs_slice *slice, bool tagged)
{
    bool shared = e->config.shared;
    const uint64_t bcnt_most = e->bcnt_most, icnt_full = e->icnt_full;
    uint64_t instructions = 0, conditionals = 0; /* kept out of memory, since the loop is hot */
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end; s++) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        struct encoder_core *c = &e->core[s->core];
        c->icnt += s->icount;
        instructions += s->icount;
        if (unlikely(c->icnt >= icnt_full))
            pass_full(e, c, s);
        if (unlikely(shared && s->kind <= VS_STEP_CALL && s->core != e->running))
            change_core(e, s);
        if (likely(s->kind == VS_STEP_CONDITIONAL)) {
            conditionals++;
            conditional(e, c, s, tagged);
        } else if (s->kind == VS_STEP_INDIRECT) {
            indirect(e, c, s);
        } else if (s->kind == VS_STEP_CALL) {
            call(e, c, s);
        } else if (s->kind == VS_STEP_JUMP) {
            direct(e, c, s);
        } else {
            put_discontinuity(e, c, s);
        }
        if (unlikely(c->bcnt == bcnt_most || c->icnt == icnt_full))
            put_full(e, c, s);
    }
    e->counts.instructions += instructions;
    e->counts.conditional += conditionals;
    return 0;
}

/* Encodes a jump that is reported, as a step of its own; its time is that of the step after it. */
static int put_jump(struct vs_mispredict_encoder *e, unsigned core,
                    const struct vs_stretch *stretch)
{
    const struct vs_step jump = {.pc = stretch->last_pc,
                                 .target = stretch->target,
                                 .time = e->step->time,
                                 .icount = e->passed,
                                 .core = (uint16_t)core,
                                 .kind = VS_STEP_JUMP,
                                 .flags = VS_BR_TAKEN};
    e->left -= e->passed;
    e->passed = 0;
    return consume(e, &(struct vs_slice){.steps = &jump, .step_count = 1}, false);
}

/* The core passes code on its way to a step. */
static void pass_direct(void *encoder, unsigned core, const struct vs_stretch *stretch)
{
    struct vs_mispredict_encoder *e = encoder;
    e->passed += stretch->count;
    if (!vs_stretch_jumps(stretch))
        return;
    if (e->config.direct == VS_DIRECT_REPORTED)
        put_jump(e, core, stretch);
    else
        vs_predictors_outcome(e->core[core].set.plain, stretch->last_pc, true);
}

/* Encodes steps with the direct branches between them. */
static int consume_direct(struct vs_mispredict_encoder *e, const struct vs_slice *slice)
{
    int err = 0;
    for (size_t i = 0; i < slice->step_count && !err; i++) {
        struct vs_step s = slice->steps[i];
        if (unlikely(s.core >= e->cores))
            return -VSE_INVAL;
        e->step = &s;
        e->left = s.icount;
        e->passed = 0;
        vs_passage_step(&e->passage, &s);
        s.icount = e->left;
        err = consume(e, &(struct vs_slice){.steps = &s, .step_count = 1}, false);
    }
    return err;
}

int vs_mispredict_consume(void *encoder, const struct vs_slice *slice)
{
    struct vs_mispredict_encoder *e = encoder;
    if (unlikely(e->config.direct))
        return consume_direct(e, slice);
    return e->config.is_tagged ? consume(e, slice, true) : consume(e, slice, false);
}

void vs_mispredict_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct vs_mispredict_encoder *)encoder)->counts;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder_core {
    struct predictor_set set;
    uint64_t target;
};

/* What the message under way says about the branches that it counts. */
enum message {
    MISPREDICTION, /* all but the last were predicted right */
    PREDICTED,     /* all were predicted right: a switch, or bCnt is full */
    INSTRUCTIONS,  /* it counts instructions: a discontinuity, or iCnt is full */
};

struct vs_mispredict_decoder {
    struct vs_mispredict_config config;
    struct vs_port_reader *port;
    unsigned cores, address_bits;
    uint64_t bcnt_most, icnt_full; /* where the encoder's counters are full */
    enum message message;
    uint64_t left; /* its branches that are still to come; INSTRUCTIONS: how many until bCnt would
                      be full */
    struct predictor_set sets;
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
    d->bcnt_most = most_branches(config);
    d->icnt_full = vs_counter_full(config->icnt_bits);
    d->core = calloc(setup->cores, sizeof(*d->core));
    int err = make_sets(&d->sets, config, setup);
    for (unsigned i = 0; !err && d->core && i < setup->cores; i++)
        d->core[i].set = set_of(&d->sets, config, i);
    if (err || !d->core) {
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
    free_sets(&d->sets, &d->config, d->cores);
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

/* Limits a head to the instructions that iCnt holds: the walk stops there if the last branch has
 * not come. */
static void limit_head(const struct vs_mispredict_decoder *d, struct vs_flow_head *head,
                       uint64_t most)
{
    head->count = d->icnt_full == VS_FLOW_OPEN ? VS_FLOW_OPEN : most;
}

static int instructions_message(struct vs_mispredict_decoder *d, struct vs_flow_head *head)
{
    int err = get_instructions(d, &head->count);
    d->message = INSTRUCTIONS;
    d->left = d->bcnt_most;
    if (!err && head->count > d->icnt_full)
        err = vs_port_refuse(d->port, VS_FIELD_ICNT, "more instructions than iCnt holds");
    head->cut = head->count == d->icnt_full;
    head->discontinuity = !head->cut;
    return err;
}

static int switch_message(struct vs_mispredict_decoder *d, struct vs_flow_head *head)
{
    int err = get_count(d, VS_FIELD_ORDER, &d->left);
    d->message = PREDICTED;
    limit_head(d, head, d->icnt_full - 1); /* otherwise iCnt would have been full */
    if (!err && !d->left)
        err = vs_port_refuse(d->port, VS_FIELD_ORDER, "a switch after no branch");
    else if (!err && d->left >= d->bcnt_most)
        err = vs_port_refuse(d->port, VS_FIELD_ORDER, "more branches than bCnt holds");
    return err;
}

/* Reads what follows a bCnt of 0. */
static int other_message(struct vs_mispredict_decoder *d, struct vs_flow_head *head)
{
    uint64_t change = 0;
    int err = d->config.shared ? vs_port_get(d->port, VS_FIELD_ORDER, 1, &change) : 0;
    if (err)
        return err;
    return change ? switch_message(d, head) : instructions_message(d, head);
}

int vs_mispredict_head(void *decoder, struct vs_flow_head *head)
{
    struct vs_mispredict_decoder *d = decoder;
    int err = vs_port_next(d->port, &head->core, &head->cycle);
    if (!err)
        err = get_count(d, VS_FIELD_BCNT, &d->left);
    if (err)
        return err;
    limit_head(d, head, d->icnt_full);
    d->message = MISPREDICTION;
    if (!d->left)
        return other_message(d, head);
    if (likely(d->left <= d->bcnt_most))
        return 0;
    if (d->left > d->bcnt_most + 1)
        return vs_port_refuse(d->port, VS_FIELD_BCNT, "more branches than bCnt holds");
    d->message = PREDICTED;
    d->left = d->bcnt_most;
    return 0;
}

static bool ask(const struct decoder_core *c, const struct vs_flow_site *site, uint64_t *target)
{
    return c->set.tagged ? vs_tagged_ask(c->set.tagged, site->pc, site->flags, target)
                         : vs_predictors_ask(c->set.plain, site->pc, site->flags, target);
}

/* Reads the target of an indirect branch that was mispredicted. */
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
    if (ask(c, site, &predicted) && predicted == answer->target)
        return vs_port_refuse(d->port, VS_FIELD_TARGET, "reports what was predicted");
    return 0;
}

static int right_target(struct vs_mispredict_decoder *d, unsigned core,
                        const struct vs_flow_site *site, struct vs_flow_answer *answer)
{
    const struct decoder_core *c = &d->core[core];
    answer->taken = true;
    return ask(c, site, &answer->target)
               ? 0
               : vs_port_refuse(d->port, VS_FIELD_BCNT, "passes over a branch without prediction");
}

/* Refuses a message that passes over the place where the encoder would have sent that a counter is
 * full. */
static int full_before(struct vs_mispredict_decoder *d)
{
    return d->message == INSTRUCTIONS
               ? vs_port_refuse(d->port, VS_FIELD_ICNT, "passes more branches than bCnt holds")
               : vs_port_refuse(d->port, VS_FIELD_BCNT, "passes more instructions than iCnt holds");
}

/* Tells the outcome of a conditional branch that was predicted right or not, and learns it. */
static bool outcome(struct decoder_core *c, uint64_t pc, bool right)
{
    bool taken;
    if (c->set.tagged) {
        struct vs_tagged_guess o;
        vs_tagged_look(c->set.tagged, pc, &o);
        taken = o.prediction == right;
        vs_tagged_learn(c->set.tagged, &o, taken);
    } else {
        taken = vs_gshare_predict(&c->set.plain->gshare, pc) == right;
        vs_predictors_outcome(c->set.plain, pc, taken);
    }
    return taken;
}

static void learn_target(struct decoder_core *c, const struct vs_flow_site *site, uint64_t target)
{
    if (c->set.tagged)
        vs_tagged_target(c->set.tagged, site->pc, site->flags, site->size, target);
    else
        vs_predictors_target(c->set.plain, site->pc, site->flags, site->size, target);
}

int vs_mispredict_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                         struct vs_flow_answer *answer)
{
    struct vs_mispredict_decoder *d = decoder;
    struct decoder_core *c = &d->core[core];
    bool ends = !--d->left, right = d->message != MISPREDICTION || !ends;
    int err;
    if (unlikely(d->message == INSTRUCTIONS ? ends : site->last && !ends))
        return full_before(d);
    answer->last = ends;
    if (likely(!vs_flow_site_indirect(site))) {
        answer->taken = outcome(c, site->pc, right);
        return 0;
    }
    err = right ? right_target(d, core, site, answer) : wrong_target(d, core, site, answer);
    if (!err && answer->taken)
        learn_target(c, site, answer->target);
    return err;
}

/* A direct call that bCnt counts because predictors are shared. */
static int count_call(struct vs_mispredict_decoder *d)
{
    if (--d->left)
        return 0;
    if (d->message == INSTRUCTIONS)
        return full_before(d);
    return d->message == PREDICTED
               ? VS_FLOW_LAST
               : vs_port_refuse(d->port, VS_FIELD_BCNT, "reports a misprediction of a direct call");
}

/* A direct branch whose prediction was right or reported. */
static int count_direct(struct vs_mispredict_decoder *d, struct decoder_core *c,
                        const struct vs_flow_site *site)
{
    bool ends = !--d->left, right = d->message != MISPREDICTION || !ends;
    if (unlikely(d->message == INSTRUCTIONS ? ends : site->last && !ends))
        return full_before(d);
    if (vs_predictors_outcome(c->set.plain, site->pc, true) != right)
        return vs_port_refuse(d->port, VS_FIELD_BCNT,
                              right ? "passes over a jump that was predicted not taken"
                                    : "reports a jump that was predicted taken");
    return ends ? VS_FLOW_LAST : 0;
}

int vs_mispredict_direct(void *decoder, unsigned core, const struct vs_flow_site *site)
{
    struct vs_mispredict_decoder *d = decoder;
    struct decoder_core *c = &d->core[core];
    if (site->flags & VS_BR_CALL)
        push_call(&c->set, site->pc + site->size);
    if (unlikely(d->config.shared && site->flags & VS_BR_CALL))
        return count_call(d);
    if (unlikely(d->config.direct == VS_DIRECT_REPORTED))
        return count_direct(d, c, site);
    if (unlikely(d->config.direct))
        vs_predictors_outcome(c->set.plain, site->pc, true);
    return 0;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static void choose(uint64_t *value, uint64_t chosen)
{
    if (!*value)
        *value = chosen;
}

void vs_mispredict_choose(struct vs_mispredict_chunks *chunks,
                          const struct vs_mispredict_chunks *chosen)
{
    choose(&chunks->bcnt, chosen->bcnt);
    choose(&chunks->bcnt_next, chosen->bcnt_next);
    choose(&chunks->target, chosen->target);
    choose(&chunks->target_next, chosen->target_next);
    choose(&chunks->icnt, chosen->icnt);
    choose(&chunks->icnt_next, chosen->icnt_next);
    choose(&chunks->dcc, chosen->dcc);
    choose(&chunks->dcc_next, chosen->dcc_next);
}

void vs_mispredict_set_chunks(struct vs_mispredict_config *config,
                              const struct vs_mispredict_chunks *c)
{
    config->chunks.bcnt = (struct vs_chunks){(uint8_t)c->bcnt, (uint8_t)c->bcnt_next};
    config->chunks.icnt = (struct vs_chunks){(uint8_t)c->icnt, (uint8_t)c->icnt_next};
    config->chunks.target = (struct vs_chunks){(uint8_t)c->target, (uint8_t)c->target_next};
}

int vs_mispredict_cost(const struct vs_mispredict_config *config,
                       const struct vs_technique_setup *setup, struct vs_cost_list *list)
{
    unsigned sets = set_count(config, setup->cores);
    int err = config->is_tagged ? vs_tagged_cost(&config->tagged, setup, sets, list)
                                : vs_predictors_cost(&config->predictors, setup, sets, list);
    vs_cost_list_add(list, "bCnt", vs_counter_cost(config->bcnt_bits), setup->cores);
    vs_cost_list_add(list, "iCnt", vs_counter_cost(config->icnt_bits), setup->cores);
    if (config->shared) { /* for what a switch leaves of iCnt, and whose branch was the last */
        vs_cost_list_add(list, "iCnt at a branch", vs_counter_cost(config->icnt_bits),
                         setup->cores);
        vs_cost_list_add(list, "running core",
                         (struct vs_cost){.registers = vs_log2_ceil(setup->cores)}, 1);
    }
    vs_cost_list_add(list, "last target", (struct vs_cost){.registers = setup->address_bits},
                     setup->cores);
    return err;
}
