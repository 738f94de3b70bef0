/* SPDX-License-Identifier: MIT */
#include "technique/mispredict.h"

#include <stdlib.h>

#include "base/power.h"
#include "model/counter.h"
#include "technique/passage.h"
#include "technique/predicted.h"

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
    /* If parts are shared, the counters are set when a step is taken, to the core's totals less
     * these. */
    uint64_t branches_before;
    size_t due; /* the block of the slice by whose end a counter may be full */
    uint64_t instructions_before;
};

enum { STRUCTURES = 3 }; /* that predict */

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

    /* If parts are shared, in place of the sets: */
    struct vs_branches *branches; /* NULL: they are not */
    struct vs_predicted *predicted[STRUCTURES];
    unsigned structures;
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

static int get_parts(struct vs_mispredict_encoder *e, struct vs_parts *parts,
                     const struct vs_technique_setup *setup)
{
    const struct vs_mispredict_config *c = &e->config;
    struct vs_branches_key counted = {.calls = c->shared};
    int err = vs_branches_get(parts, &counted, setup, &e->branches);
    if (c->is_tagged) {
        e->structures = 1;
        return err ? err
                   : vs_predicted_get_tagged(parts, &counted, c->shared, &c->tagged, setup,
                                             &e->predicted[0]);
    }
    for (e->structures = 0; e->structures < STRUCTURES && !err; e->structures++)
        err = vs_predicted_get(parts, (enum vs_predicted_what)e->structures, &counted, c->shared,
                               &c->predictors, setup, &e->predicted[e->structures]);
    return err;
}

static int make_own_sets(struct vs_mispredict_encoder *e, const struct vs_technique_setup *setup)
{
    int err = make_sets(&e->sets, &e->config, setup);
    for (unsigned i = 0; !err && i < setup->cores; i++)
        e->core[i].set = set_of(&e->sets, &e->config, i);
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
    int err = !e->core                            ? -VSE_NOMEM
              : context->parts && !config->direct ? get_parts(e, context->parts, setup)
                                                  : make_own_sets(e, setup);
    if (!err && config->direct)
        err = open_passage(e, context->code);
    if (err) {
        vs_mispredict_encoder_close(e);
        return err;
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
        c->branches_before += c->bcnt;
        c->instructions_before += c->mark;
        c->bcnt = 0;
        c->icnt -= c->mark;
        c->mark = 0;
        e->counts.switches++;
    }
    e->running = s->core;
}

/* Whether a step was predicted wrongly, by the core's own set; it learns the step. Compiled for
 * each kind of predictors, so that the hot path does not ask for it. */
static inline __attribute__((always_inline)) bool is_wrong(const struct vs_mispredict_encoder *e,
                                                           const struct encoder_core *c,
                                                           const struct vs_step *s, bool tagged)
{
    const struct predictor_set *p = &c->set;
    bool taken = vs_step_taken(s);
    if (likely(s->kind == VS_STEP_CONDITIONAL))
        return taken != (tagged ? vs_tagged_outcome(p->tagged, s->pc, taken)
                                : vs_predictors_outcome(p->plain, s->pc, taken));
    if (s->kind == VS_STEP_INDIRECT)
        return !taken ||
               !(tagged ? vs_tagged_target(p->tagged, s->pc, s->flags, s->size, s->target)
                        : vs_predictors_target(p->plain, s->pc, s->flags, s->size, s->target));
    if (s->kind == VS_STEP_CALL)
        push_call(p, s->pc + s->size);
    return e->config.direct && s->kind != VS_STEP_DISCONTINUITY &&
           !vs_predictors_outcome(p->plain, s->pc, true);
}

/* Whether bCnt counts a step. */
static bool is_counted(const struct vs_mispredict_encoder *e, const struct vs_step *s)
{
    return s->kind <= VS_STEP_INDIRECT || e->config.direct == VS_DIRECT_REPORTED
               ? s->kind != VS_STEP_DISCONTINUITY
               : s->kind == VS_STEP_CALL && e->config.shared;
}

static void note_indirect(struct vs_mispredict_encoder *e, const struct vs_step *s)
{
    if (s->flags & VS_BR_RETURN)
        e->counts.returns_reported++;
    else
        e->counts.indirect_reported++;
}

/* Takes a step; its instructions are in iCnt. */
static inline __attribute__((always_inline)) void take_step(struct vs_mispredict_encoder *e,
                                                            struct encoder_core *c,
                                                            const struct vs_step *s, bool wrong)
{
    if (unlikely(c->icnt >= e->icnt_full))
        pass_full(e, c, s);
    if (unlikely(e->config.shared && s->kind <= VS_STEP_CALL && s->core != e->running))
        change_core(e, s);
    if (likely(is_counted(e, s))) {
        c->bcnt++;
        c->mark = c->icnt;
        if (unlikely(wrong)) {
            e->counts.conditional_reported += s->kind == VS_STEP_CONDITIONAL;
            if (s->kind == VS_STEP_INDIRECT)
                note_indirect(e, s);
            put_misprediction(e, c, s);
        }
    } else if (s->kind == VS_STEP_DISCONTINUITY) {
        put_discontinuity(e, c, s);
    }
    if (unlikely(c->bcnt == e->bcnt_most || c->icnt == e->icnt_full))
        put_full(e, c, s);
}

/* Takes all steps with predictors of its own. */
static inline __attribute__((always_inline)) int consume(struct vs_mispredict_encoder *e,
                                                         const struct vs_slice *slice, bool tagged)
{
    uint64_t instructions = 0, conditionals = 0; /* kept out of memory, since the loop is hot */
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end; s++) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        struct encoder_core *c = &e->core[s->core];
        c->icnt += s->icount;
        instructions += s->icount;
        conditionals += s->kind == VS_STEP_CONDITIONAL;
        if (s->kind == VS_STEP_INDIRECT) {
            e->counts.returns += (s->flags & VS_BR_RETURN) != 0;
            e->counts.indirect += !(s->flags & VS_BR_RETURN);
        }
        take_step(e, c, s, is_wrong(e, c, s, tagged));
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

/* ---- encoder with shared parts --------------------------------------------------------------- */

/* The parts know what is predicted wrongly and what has been counted, so that only those steps are
 * taken that have something to tell. */

static void take_numbered(struct vs_mispredict_encoder *e, size_t number, bool wrong)
{
    const struct vs_step *s = &e->branches->steps[number];
    const struct vs_branch_totals *at = &e->branches->at[number];
    struct encoder_core *c = &e->core[s->core];
    c->icnt = at->instructions - c->instructions_before;
    c->bcnt = at->branches - is_counted(e, s) - c->branches_before;
    take_step(e, c, s, wrong);
    c->branches_before = at->branches - c->bcnt;
    c->instructions_before = at->instructions - c->icnt;
}

/* The first block, from one on, by whose end a core's counter is full if the core has no message
 * before. */
static size_t find_due(const struct vs_mispredict_encoder *e, unsigned core, size_t from)
{
    const struct vs_branch_totals *ends = e->branches->ends + core;
    const struct encoder_core *c = &e->core[core];
    size_t first = from, end = e->branches->blocks;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct vs_branch_totals *t = &ends[middle * e->cores];
        if (t->instructions - c->instructions_before >= e->icnt_full ||
            t->branches - c->branches_before >= e->bcnt_most)
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* Looks again where counters may be full that may have been before a block. Returns the first
 * block where one may be. */
static size_t next_due(struct vs_mispredict_encoder *e, size_t block)
{
    size_t due = SIZE_MAX;
    for (unsigned i = 0; i < e->cores; i++) {
        struct encoder_core *c = &e->core[i];
        if (c->due < block)
            c->due = find_due(e, i, block);
        due = c->due < due ? c->due : due;
    }
    return due;
}

/* Takes 64 steps: all of them, or those that are predicted wrongly or told in any case. */
static void take_word(struct vs_mispredict_encoder *e, size_t word, bool all)
{
    size_t left = e->branches->count - 64 * word;
    uint64_t wrong = e->branches->told[word];
    for (unsigned i = 0; i < e->structures; i++)
        wrong |= e->predicted[i]->wrong[word];
    uint64_t taken = !all ? wrong : left < 64 ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0);
    for (; taken; taken &= taken - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(taken);
        take_numbered(e, 64 * word + bit, wrong >> bit & 1);
    }
}

/* Where a counter may be full, all steps of the block are taken; so they are if cores share
 * predictors, since any step may be of another core than the one before. */
static void take_blocks(struct vs_mispredict_encoder *e)
{
    const struct vs_branches *b = e->branches;
    size_t due = 0;
    for (unsigned i = 0; i < e->cores && b->blocks; i++)
        e->core[i].due = find_due(e, i, 0);
    for (size_t block = 0; block < b->blocks; block++) {
        size_t end = (block + 1) * b->block < b->count ? (block + 1) * b->block : b->count;
        if (due <= block)
            due = e->config.shared ? block : next_due(e, block);
        for (size_t word = block * b->block / 64; 64 * word < end; word++)
            take_word(e, word, due == block);
    }
}

static int consume_shared(struct vs_mispredict_encoder *e, const struct vs_slice *slice)
{
    int err = vs_part_take(&e->branches->part, slice);
    for (unsigned i = 0; i < e->structures && !err; i++)
        err = vs_part_take(&e->predicted[i]->part, slice);
    if (!err)
        take_blocks(e);
    return err;
}

/* ---- encoder, either way --------------------------------------------------------------------- */

int vs_mispredict_consume(void *encoder, const struct vs_slice *slice)
{
    struct vs_mispredict_encoder *e = encoder;
    if (e->branches)
        return consume_shared(e, slice);
    if (unlikely(e->config.direct))
        return consume_direct(e, slice);
    return e->config.is_tagged ? consume(e, slice, true) : consume(e, slice, false);
}

void vs_mispredict_counts(const void *encoder, void *counts)
{
    const struct vs_mispredict_encoder *e = encoder;
    struct vs_flow_counts *c = counts;
    *c = e->counts;
    if (!e->branches)
        return;
    c->instructions = e->branches->instructions;
    c->conditional = e->branches->conditional;
    c->returns = e->branches->returns;
    c->indirect = e->branches->indirect;
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
