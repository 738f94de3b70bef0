/* SPDX-License-Identifier: MIT */
/* mcfNX_b, the baseline after Nexus: a message for every taken conditional branch and every
 * indirect one.
 *
 *   branch          Ti [dCC] SL [outcome] [sign |diffTA|]
 *   discontinuity   Ti [dCC] 0 iCnt sign |diffTA|
 *   iCnt is full    Ti [dCC] all ones
 *
 * SL and iCnt are the core's instructions since its last message; SL includes the branch. Indirect
 * branches have the target, and those of them that are conditional the outcome. diffTA is the
 * difference from the core's last target in a message.
 *
 * Both are the counter iCnt, which has b bits. A branch that is reported may be the last that it
 * holds, so all ones are no length: they say that 2^b - 2 instructions have passed, and that no
 * branch among them is to be reported. The message goes out when they have passed. */
/* Two parameters count as published tables were counted. With direct=reported, each unconditional
 * direct branch has a message of SL, though the code tells where it goes; no decoder here reads
 * those. With far=ADDRESS, targets from there on count as if they lay FAR bytes further up, as
 * shared libraries do in a native process; a decoder takes that away again. */
#include <stdlib.h>

#include "technique/registry.h"

#define FAR (UINT64_C(1) << 46)

/* ---- parameters ------------------------------------------------------------------------------ */

struct params {
    uint64_t icnt, icnt_next, target, target_next, dcc, dcc_next, icnt_bits, direct, far;
};

static const char *const direct_words[] = {"inferred", "reported", NULL};

#define CHUNK(field, text)                                                                         \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct params, field), .min = 1, .max = 64,             \
        .help = text                                                                               \
    }

static const struct vs_parameter parameters[] = {
    CHUNK(icnt, "bits of the first chunk of SL and iCnt"),
    CHUNK(icnt_next, "bits of its other chunks"),
    CHUNK(target, "bits of the first chunk of |diffTA|"),
    CHUNK(target_next, "bits of its other chunks"),
    CHUNK(dcc, "bits of the first chunk of dCC"),
    CHUNK(dcc_next, "bits of its other chunks"),
    VS_COUNTER_ROW(struct params, icnt_bits, "bits of the counter iCnt; a message when it is full"),
    {.name = "direct",
     .offset = offsetof(struct params, direct),
     .words = direct_words,
     .help = "unconditional ones; reported: published counts, not decodable"},
    {.name = "far",
     .offset = offsetof(struct params, far),
     .max = FAR,
     .help = "count targets from this address on as far away; 0: none"},
    {0},
};

static struct vs_chunks chunks(uint64_t first, uint64_t other)
{
    return (struct vs_chunks){(uint8_t)first, (uint8_t)other};
}

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return chunks(p->dcc, p->dcc_next);
}

static const char *undecodable(const void *params)
{
    const struct params *p = params;
    return p->direct ? "no decoder reads the messages of unconditional direct branches" : NULL;
}

/* Where an address counts as being, and the other way round. */
static uint64_t moved(uint64_t far, uint64_t address)
{
    return far && address >= far ? address + FAR : address;
}

static uint64_t unmoved(uint64_t far, uint64_t address)
{
    return far && address >= far + FAR ? address - FAR : address;
}

/* How many instructions a full iCnt has counted. */
static uint64_t most_instructions(const struct params *p)
{
    return vs_counter_full(p->icnt_bits) - 1;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct params *p = params;
    vs_cost_list_add(list, "iCnt", vs_counter_cost(p->icnt_bits), setup->cores);
    vs_cost_list_add(list, "last target", (struct vs_cost){.registers = setup->address_bits},
                     setup->cores);
    return 0;
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder_core {
    uint64_t icnt, target;
    bool alive;
};

struct encoder {
    struct vs_port_writer *port;
    struct vs_chunks icnt, target;
    unsigned cores, address_bits;
    uint64_t most; /* at which iCnt is full */
    uint64_t far;
    bool direct;
    struct vs_flow_counts counts;
    struct encoder_core core[];
};

static int encoder_open(void **out, const struct vs_technique_context *context)
{
    const struct params *p = context->params;
    const struct vs_technique_setup *setup = context->setup;
    struct encoder *e = calloc(1, sizeof(*e) + setup->cores * sizeof(e->core[0]));
    if (!(*out = e))
        return -VSE_NOMEM;
    e->port = context->port;
    e->icnt = chunks(p->icnt, p->icnt_next);
    e->target = chunks(p->target, p->target_next);
    e->most = most_instructions(p);
    e->far = p->far;
    e->direct = p->direct;
    e->cores = setup->cores;
    e->address_bits = setup->address_bits;
    return 0;
}

static void put_target(struct encoder *e, struct encoder_core *c, enum vs_field f, uint64_t target)
{
    target = moved(e->far, target);
    vs_port_put_difference(e->port, f, e->target,
                           vs_difference(c->target, target, e->address_bits));
    c->target = target;
}

static void put_branch(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    vs_port_begin(e->port, s->core, s->time);
    vs_port_put_chunks(e->port, VS_FIELD_ICNT, e->icnt, c->icnt);
    if (s->kind == VS_STEP_INDIRECT) {
        if (s->flags & VS_BR_COND)
            vs_port_put(e->port, VS_FIELD_OUTCOME, vs_step_taken(s), 1);
        if (vs_step_taken(s))
            put_target(e, c, VS_FIELD_TARGET, s->target);
    }
    vs_port_end(e->port);
    c->icnt = 0;
}

static void put_discontinuity(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    bool sync = !c->alive || s->target == VS_STEP_NOWHERE;
    enum vs_field count = sync ? VS_FIELD_SYNC : VS_FIELD_ICNT;
    vs_port_begin(e->port, s->core, s->time);
    vs_port_put_chunks(e->port, count, e->icnt, 0);
    vs_port_put_chunks(e->port, count, e->icnt, c->icnt);
    put_target(e, c, sync ? VS_FIELD_SYNC : VS_FIELD_TARGET, s->target);
    vs_port_end(e->port);
    c->icnt = 0;
    c->alive = s->target != VS_STEP_NOWHERE;
    e->counts.discontinuities++;
    e->counts.syncs += sync;
}

static void put_full(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    vs_port_begin(e->port, s->core, s->time);
    vs_port_put_chunks(e->port, VS_FIELD_ICNT, e->icnt, e->most + 1);
    vs_port_end(e->port);
    c->icnt = 0;
}

/* iCnt includes the step's instructions, and may have been full before the last of them, which is
 * the step's own if it is a branch. */
static void pass_full(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    uint64_t own = s->kind != VS_STEP_DISCONTINUITY && s->icount, before = c->icnt - own;
    for (; before >= e->most; before -= e->most)
        put_full(e, c, s);
    c->icnt = before + own;
}

static void put_direct(struct encoder *e, struct encoder_core *c, const struct vs_step *s,
                       uint64_t length)
{
    vs_port_begin(e->port, s->core, s->time);
    vs_port_put_chunks(e->port, VS_FIELD_ICNT, e->icnt, length);
    vs_port_end(e->port);
    c->icnt -= length;
}

/* The direct branches of a step. Where jumps lie among the step's instructions is not known here;
 * they are taken to lie evenly, which matters for the length of SL only if it is long. */
static void put_directs(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    uint64_t each = s->icount / (s->jumps + UINT64_C(1)), before = c->icnt - s->icount;

    for (uint32_t i = 0; i < s->jumps && c->icnt > 1; i++) {
        uint64_t length = before + (each ? each : 1);
        put_direct(e, c, s, length < c->icnt ? length : c->icnt - 1);
        before = 0;
    }
    if (s->kind == VS_STEP_CALL)
        put_direct(e, c, s, c->icnt);
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct encoder *e = encoder;
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end; s++) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        struct encoder_core *c = &e->core[s->core];
        c->icnt += s->icount;
        e->counts.instructions += s->icount;
        if (unlikely(c->icnt >= e->most))
            pass_full(e, c, s);
        if (unlikely(e->direct) && c->icnt >= s->icount)
            put_directs(e, c, s);
        switch (s->kind) {
        case VS_STEP_CONDITIONAL:
            e->counts.conditional++;
            if (vs_step_taken(s)) {
                e->counts.conditional_reported++;
                put_branch(e, c, s);
            }
            break;
        case VS_STEP_INDIRECT:
            if (s->flags & VS_BR_RETURN)
                e->counts.returns++, e->counts.returns_reported++;
            else
                e->counts.indirect++, e->counts.indirect_reported++;
            put_branch(e, c, s);
            break;
        case VS_STEP_DISCONTINUITY:
            put_discontinuity(e, c, s);
            break;
        default:
            break;
        }
        if (unlikely(c->icnt == e->most))
            put_full(e, c, s);
    }
    return 0;
}

static void encoder_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct encoder *)encoder)->counts;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_port_reader *port;
    struct vs_chunks icnt, target;
    unsigned address_bits;
    uint64_t most; /* at which the encoder's iCnt is full */
    uint64_t far;
    bool passes;     /* the message under way reports no branch */
    uint64_t last[]; /* by core: its last target */
};

static int decoder_open(void **out, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    const struct params *p = params;
    struct decoder *d = calloc(1, sizeof(*d) + setup->cores * sizeof(d->last[0]));
    if (!(*out = d))
        return -VSE_NOMEM;
    d->port = port;
    d->icnt = chunks(p->icnt, p->icnt_next);
    d->target = chunks(p->target, p->target_next);
    d->address_bits = setup->address_bits;
    d->most = most_instructions(p);
    d->far = p->far;
    return 0;
}

static int decoder_head(void *decoder, struct vs_flow_head *head)
{
    struct decoder *d = decoder;
    int err = vs_port_next(d->port, &head->core, &head->cycle);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_ICNT, d->icnt, &head->count);
    if (err)
        return err;
    uint64_t most = d->most;
    head->discontinuity = !head->count;
    if (head->discontinuity) {
        err = vs_port_get_chunks(d->port, VS_FIELD_ICNT, d->icnt, &head->count);
        most--; /* otherwise iCnt would have been full */
    } else if (head->count == most + 1) {
        head->cut = true;
        head->count = most;
    }
    d->passes = head->discontinuity || head->cut;
    if (!err && head->count > most)
        err = vs_port_refuse(d->port, VS_FIELD_ICNT, "more instructions than iCnt holds");
    return err;
}

static int decoder_target(void *decoder, unsigned core, uint64_t *target)
{
    struct decoder *d = decoder;
    struct vs_difference diff;
    int err = vs_port_get_difference(d->port, VS_FIELD_TARGET, d->target, d->address_bits, &diff);
    if (err)
        return err;
    d->last[core] = vs_difference_apply(d->last[core], diff, d->address_bits);
    *target = unmoved(d->far, d->last[core]);
    return 0;
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct decoder *d = decoder;
    uint64_t taken = 1;
    int err = 0;
    if (!site->last || d->passes)
        return vs_flow_site_indirect(site)
                   ? vs_port_refuse(d->port, VS_FIELD_ICNT, "passes over an indirect branch")
                   : 0;
    if (vs_flow_site_indirect(site)) {
        if (site->flags & VS_BR_COND)
            err = vs_port_get(d->port, VS_FIELD_OUTCOME, 1, &taken);
        if (!err && taken)
            err = decoder_target(d, core, &answer->target);
    }
    answer->taken = taken;
    return err;
}

/* ---- the technique --------------------------------------------------------------------------- */

static const struct vs_encoder_ops encoder_ops = {
    .needs = VS_NEEDS_STEPS,
    .open = encoder_open,
    .consume = encoder_consume,
    .counts = encoder_counts,
    .rows = vs_flow_count_rows,
    .close = free,
};

static const struct vs_flow_decoder_ops decoder_ops = {
    .open = decoder_open,
    .head = decoder_head,
    .branch = decoder_branch,
    .discontinuity = decoder_target,
    .close = free,
};

static const char *const aliases[] = {"tmcfNX_b", NULL};

const struct vs_technique vs_technique_mcfnx_b = {
    .name = "mcfNX_b",
    .aliases = aliases,
    .summary = "Nexus-like baseline: every taken conditional and every indirect branch",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct params),
    .defaults = "icnt=8 icnt_next=8 target=32 target_next=32 dcc=8 dcc_next=8 icnt_bits=32 "
                "direct=inferred far=0",
    .unnamed = "icnt_bits=64",
    .cycles = cycles,
    .undecodable = undecodable,
    .cost = cost,
    .encoder = &encoder_ops,
    .flow_decoder = &decoder_ops,
};
