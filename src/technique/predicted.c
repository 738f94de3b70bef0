/* SPDX-License-Identifier: MIT */
#include "technique/predicted.h"

#include <stdlib.h>
#include <string.h>

static const struct vs_predicted_key *key_of(const struct vs_predicted *p)
{
    return p->part.key;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_predicted(void *part, const void *key, const struct vs_technique_setup *setup)
{
    struct vs_predicted *p = part;
    const struct vs_predicted_key *k = key;
    bool tagged = k->what == VS_PREDICTED_TAGGED;
    void *sets;
    int err = vs_branches_get(p->part.parts, &k->counted, setup, &p->branches);
    if (err)
        return err;
    p->sets = k->shared ? 1 : setup->cores;
    sets = calloc(p->sets, tagged ? sizeof(*p->tagged) : sizeof(*p->plain));
    if (!sets)
        return -VSE_NOMEM;
    if (tagged)
        p->tagged = sets;
    else
        p->plain = sets;
    for (unsigned i = 0; i < p->sets && !err; i++)
        err = tagged ? vs_tagged_init(&p->tagged[i], &k->tagged, setup->address_bits)
                     : vs_predictors_init(&p->plain[i], &k->predictors, setup->address_bits);
    return err;
}

static void close_predicted(void *part)
{
    struct vs_predicted *p = part;
    for (unsigned i = 0; i < p->sets; i++) {
        if (p->plain)
            vs_predictors_fini(&p->plain[i]);
        if (p->tagged)
            vs_tagged_fini(&p->tagged[i]);
    }
    free(p->plain);
    free(p->tagged);
    free(p->wrong);
    free(p->list);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static void set_wrong(struct vs_predicted *p, size_t step, bool wrong)
{
    p->wrong[step / 64] |= (uint64_t)wrong << step % 64;
}

static struct vs_predictors *plain_of(const struct vs_predicted *p, unsigned core)
{
    return &p->plain[p->sets > 1 ? core : 0];
}

/* Takes outcomes from one on, as long as they are of one core: its gshare stays in registers, and
 * wrong ones are listed without a branch. Returns the one after them. */
static size_t take_outcomes_of(struct vs_predicted *p, size_t k)
{
    const struct vs_branches *b = p->branches;
    const struct vs_branch_outcome *o = b->outcomes;
    const unsigned core = o[k].core;
    const bool all = p->sets == 1;
    struct vs_predictors *set = plain_of(p, core);
    struct vs_gshare gshare = set->gshare;
    uint32_t *list = p->list;
    size_t wrong = 0;
    for (; k < b->outcome_count && (all || o[k].core == core); k++) {
        list[wrong] = o[k].step;
        wrong += vs_gshare_update(&gshare, o[k].pc, o[k].taken) != o[k].taken;
    }
    set->gshare = gshare;
    for (size_t i = 0; i < wrong; i++)
        set_wrong(p, list[i], true);
    return k;
}

static void take_outcomes(struct vs_predicted *p)
{
    for (size_t k = 0; k < p->branches->outcome_count;)
        k = take_outcomes_of(p, k);
}

static bool is_taken_indirect(const struct vs_step *s)
{
    return s->kind == VS_STEP_INDIRECT && vs_step_taken(s);
}

static bool is_target_wrong(struct vs_predicted *p, const struct vs_step *s)
{
    return !vs_predictors_target(plain_of(p, s->core), s->pc, s->flags, s->size, s->target);
}

/* What calls and is no return only pushes. */
static void take_returns(struct vs_predicted *p)
{
    const struct vs_branches *b = p->branches;
    for (size_t k = 0; k < b->other_count; k++) {
        const struct vs_step *s = &b->steps[b->others[k]];
        if (s->kind == VS_STEP_CALL)
            vs_ras_push(&plain_of(p, s->core)->ras, s->pc + s->size);
        else if (is_taken_indirect(s) && s->flags & (VS_BR_RETURN | VS_BR_CALL))
            set_wrong(p, b->others[k], is_target_wrong(p, s) && s->flags & VS_BR_RETURN);
    }
}

static void take_targets(struct vs_predicted *p)
{
    const struct vs_branches *b = p->branches;
    for (size_t k = 0; k < b->other_count; k++) {
        const struct vs_step *s = &b->steps[b->others[k]];
        if (is_taken_indirect(s) && !(s->flags & VS_BR_RETURN))
            set_wrong(p, b->others[k], is_target_wrong(p, s));
    }
}

/* Does so if outcomes enter the path to a branch. */
static void take_targets_and_outcomes(struct vs_predicted *p)
{
    const struct vs_branches *b = p->branches;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_step *s = &b->steps[i];
        if (s->kind == VS_STEP_CONDITIONAL)
            vs_ibtb_conditional(&plain_of(p, s->core)->ibtb, s->pc, vs_step_taken(s));
        else if (is_taken_indirect(s) && !(s->flags & VS_BR_RETURN))
            set_wrong(p, i, is_target_wrong(p, s));
    }
}

static void take_tagged(struct vs_predicted *p)
{
    const struct vs_branches *b = p->branches;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_step *s = &b->steps[i];
        struct vs_tagged *t = &p->tagged[p->sets > 1 ? s->core : 0];
        if (likely(s->kind == VS_STEP_CONDITIONAL))
            set_wrong(p, i, vs_tagged_outcome(t, s->pc, vs_step_taken(s)) != vs_step_taken(s));
        else if (s->kind == VS_STEP_CALL)
            vs_tagged_call(t, s->pc + s->size);
        else if (is_taken_indirect(s))
            set_wrong(p, i, !vs_tagged_target(t, s->pc, s->flags, s->size, s->target));
    }
}

static int make_room(struct vs_predicted *p, size_t words)
{
    if (words <= p->room)
        return 0;
    free(p->wrong);
    free(p->list);
    p->wrong = malloc(words * sizeof(*p->wrong));
    p->list = malloc((64 * words + 1) * sizeof(*p->list));
    p->room = p->wrong && p->list ? words : 0;
    return p->room ? 0 : -VSE_NOMEM;
}

static int take_predicted(void *part, const struct vs_slice *slice)
{
    struct vs_predicted *p = part;
    size_t words = (slice->step_count + 63) / 64;
    int err = vs_part_take(&p->branches->part, slice);
    if (!err)
        err = make_room(p, words);
    if (err)
        return err;
    if (!words)
        return 0;
    memset(p->wrong, 0, words * sizeof(*p->wrong));
    switch (key_of(p)->what) {
    case VS_PREDICTED_OUTCOMES:
        take_outcomes(p);
        break;
    case VS_PREDICTED_RETURNS:
        take_returns(p);
        break;
    case VS_PREDICTED_TARGETS:
        if (key_of(p)->predictors.ibtb.pir_all)
            take_targets_and_outcomes(p);
        else
            take_targets(p);
        break;
    default:
        take_tagged(p);
    }
    return 0;
}

static const struct vs_part_kind predicted_kind = {.size = sizeof(struct vs_predicted),
                                                   .key_size = sizeof(struct vs_predicted_key),
                                                   .open = open_predicted,
                                                   .take = take_predicted,
                                                   .close = close_predicted};

/* ---- by parameters --------------------------------------------------------------------------- */

static void begin_key(struct vs_predicted_key *key, enum vs_predicted_what what,
                      const struct vs_branches_key *counted, bool shared)
{
    memset(key, 0, sizeof(*key)); /* padding, too, since keys are compared byte by byte */
    key->counted = *counted;
    key->what = what;
    key->shared = shared;
}

static int get(struct vs_parts *parts, const struct vs_predicted_key *key,
               const struct vs_technique_setup *setup, struct vs_predicted **out)
{
    void *part;
    int err = vs_parts_get(parts, &predicted_kind, key, setup, &part);
    *out = part;
    return err;
}

int vs_predicted_get(struct vs_parts *parts, enum vs_predicted_what what,
                     const struct vs_branches_key *counted, bool shared,
                     const struct vs_predictors_config *config,
                     const struct vs_technique_setup *setup, struct vs_predicted **out)
{
    struct vs_predicted_key key;
    begin_key(&key, what, counted, shared);
    key.predictors.gshare = 1; /* the least that there is */
    if (what == VS_PREDICTED_OUTCOMES) {
        key.predictors.gshare = config->gshare;
        key.predictors.hash = config->hash;
    } else if (what == VS_PREDICTED_RETURNS) {
        key.predictors.ras = config->ras;
    } else {
        key.predictors.ibtb.entries = config->ibtb.entries;
        key.predictors.ibtb.oracle = config->ibtb.oracle;
        key.predictors.ibtb.pir_all = config->ibtb.pir_all;
        key.predictors.ibtb.pir_bits = config->ibtb.pir_bits;
        key.predictors.ibtb.pir_pc_bits = config->ibtb.pir_pc_bits;
        key.predictors.ibtb_target = config->ibtb_target;
    }
    return get(parts, &key, setup, out);
}

int vs_predicted_get_tagged(struct vs_parts *parts, const struct vs_branches_key *counted,
                            bool shared, const struct vs_tagged_config *config,
                            const struct vs_technique_setup *setup, struct vs_predicted **out)
{
    struct vs_predicted_key key;
    begin_key(&key, VS_PREDICTED_TAGGED, counted, shared);
    key.tagged = *config;
    return get(parts, &key, setup, out);
}
