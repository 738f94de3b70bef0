/* SPDX-License-Identifier: MIT */
/* Records into chunks. What a record's events cost one by one is paid once for its recipe: finding
 * their sites, and making sure that these follow each other as the decoder will expect. Then the
 * first site has to be as predicted, and the branch is put; operands stay in the record. Whatever
 * is not as usual is left to the encoder of events. */
#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "trace/chunk_flow.h"

/* More than a program has in code that runs often; without a limit, code that changes all the time
 * could use up the memory. */
#define RECIPES_MAX (1u << 20)
#define RECORD_MAX  65536
/* Bytes that a wrong site takes, and a wrong outcome or target. */
#define WRONG_MAX (4 * VS_VARINT_MAX)
/* A step's share of the chunk's room, if nothing is as predicted. */
#define STEP_MAX (VS_OPERAND_BYTES + WRONG_MAX)

/* How a record ends. */
enum end {
    END_STRAIGHT, /* by a load or store, or a jump: nothing is predicted */
    END_NOT_TAKEN,
    END_TAKEN,
    END_OTHER,
};

/* What that means for outcomes; without branches, since which of them it is would often be
 * mispredicted. */
struct outcome {
    uint8_t conditional, taken;
    uint8_t wrong;      /* bit N: a counter of N predicts something else */
    uint8_t learned[4]; /* what becomes of a counter */
};

static const struct outcome ways[] = {
    [END_STRAIGHT] = {.learned = {0, 1, 2, 3}},
    [END_NOT_TAKEN] = {.conditional = 1, .wrong = 12, .learned = {0, 0, 1, 2}},
    [END_TAKEN] = {.conditional = 1, .taken = 1, .wrong = 3, .learned = {1, 2, 3, 3}},
};

/* Sums of two numbers in one word: what adds up to less than 2^24, as there are no more events in a
 * chunk, and above it what may add up to 2^16 times as much. */
#define PAIR(low, high) ((uint64_t)(low) | (uint64_t)(high) << 24)
#define LOW(pair)       ((pair) & ((1u << 24) - 1))
#define HIGH(pair)      ((pair) >> 24)
_Static_assert(VS_MAX_CHUNK_EVENTS < 1u << 24, "a chunk's events add up to less");

/* What is needed each time comes first, in one cache line. */
struct vs_encoder_recipe {
    uint64_t links;         /* the encoder's when the sites were last seen to follow each other */
    uint64_t steps_insns;   /* a pair: steps, instructions */
    uint64_t outcomes_cost; /* a pair: conditional branches, 0 or 1, and what it takes of the
                             * chunk's room, if all is as predicted */
    uint32_t first, last,
        link;          /* sites, and the link to the next one, unless the end is END_OTHER */
    uint32_t weight;   /* steps, or more if it may cost more than STEP_MAX for each of them */
    uint32_t length;   /* of a record */
    uint32_t operands; /* steps that are not the branch */
    struct vs_operand_recipe *operand;
    struct outcome outcome;
    uint8_t end; /* enum end */
    bool ready;  /* the sites are known */
    uint32_t count;
    uint32_t *sites;
    struct vs_recipe_step *steps;
};
_Static_assert(offsetof(struct vs_encoder_recipe, ready) == 64, "one cache line");

void vs_encoder_recipes_fini(struct vs_encoder_recipes *r)
{
    vs_arena_fini(&r->arena);
    free(r->list);
    *r = (struct vs_encoder_recipes){0};
}

/* ---- recipes -------------------------------------------------------------------------------- */

static bool step_fits(const struct vs_recipe *r, uint32_t i)
{
    const struct vs_recipe_step *s = &r->steps[i];
    bool branch = s->event.kind == VS_BRANCH;
    uint32_t size = branch || s->event.size < 8 ? 8 : s->event.size;

    return vs_kind_is_hot(s->event.kind) && (!branch || i + 1 == r->count) &&
           s->addr_at + 8u <= r->length && s->value_at + size <= r->length;
}

static bool recipe_fits(const struct vs_recipe *r)
{
    if (r->length < 8 || r->length > RECORD_MAX || r->count > VS_OPERANDS)
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        if (!step_fits(r, i))
            return false;
    return true;
}

static enum end end_of(const struct vs_recipe_step *s)
{
    switch (s->event.kind == VS_BRANCH ? s->event.flags : VS_BR_TAKEN) {
    case VS_BR_TAKEN:
        return END_STRAIGHT;
    case VS_BR_COND:
        return END_NOT_TAKEN;
    case VS_BR_COND | VS_BR_TAKEN:
        return END_TAKEN;
    default:
        return END_OTHER;
    }
}

static void describe(struct vs_encoder_recipe *k)
{
    uint32_t units, insns = 0, cost = 0;

    for (uint32_t i = 0; i < k->count; i++) {
        const struct vs_event *e = &k->steps[i].event;

        insns += e->icount;
        if (e->kind == VS_BRANCH)
            continue;
        k->operands++;
        cost += VS_OPERAND_BYTES + (e->size > 8 ? e->size : 0);
    }
    units = (cost + k->count * WRONG_MAX + STEP_MAX - 1) / STEP_MAX;
    k->weight = units > k->count ? units : k->count;
    if (k->count)
        k->end = (uint8_t)end_of(&k->steps[k->count - 1]);
    if (k->count && k->end != END_OTHER)
        k->outcome = ways[k->end];
    k->steps_insns = PAIR(k->count, insns);
    k->outcomes_cost = PAIR(k->outcome.conditional, cost);
}

static struct vs_encoder_recipe *make_recipe(struct vs_arena *arena, const struct vs_recipe *r)
{
    struct vs_encoder_recipe *k = vs_arena_alloc(arena, sizeof(*k), 8);

    if (!k)
        return NULL;
    *k = (struct vs_encoder_recipe){
        .count = r->count,
        .length = r->length,
        .sites = vs_arena_alloc(arena, r->count * sizeof(*k->sites), 4),
        .steps = vs_arena_alloc(arena, r->count * sizeof(*k->steps), 8),
        .operand = vs_arena_alloc(
            arena, sizeof(*k->operand) + r->count * sizeof(k->operand->steps[0]), 8)};
    if (!k->sites || !k->steps || !k->operand)
        return NULL;
    if (r->count)
        memcpy(k->steps, r->steps, r->count * sizeof(*k->steps));
    describe(k);
    *k->operand = (struct vs_operand_recipe){.length = k->length, .count = k->operands};
    return k;
}

int64_t vs_encoder_recipe(struct vs_encoder *c, const struct vs_recipe *recipe)
{
    struct vs_encoder_recipes *all = &c->recipes;

    if (!recipe_fits(recipe))
        return -VSE_INVAL;
    if (all->count >= RECIPES_MAX)
        return -VSE_LIMIT;
    if (vs_array_room((void **)&all->list, &all->capacity, all->count, 1, sizeof(*all->list)) < 0)
        return -VSE_NOMEM;
    all->list[all->count] = make_recipe(&all->arena, recipe);
    if (!all->list[all->count])
        return -VSE_NOMEM;
    return (int64_t)all->count++;
}

uint32_t vs_encoder_length(const struct vs_encoder *c, uint32_t recipe)
{
    return c->recipes.list[recipe]->length;
}

size_t vs_encoder_expand(const struct vs_encoder *c, uint32_t recipe, const uint8_t *record,
                         uint16_t thread, struct vs_event *events)
{
    const struct vs_encoder_recipe *k = c->recipes.list[recipe];

    for (uint32_t i = 0; i < k->count; i++)
        events[i] = vs_recipe_event(&k->steps[i], record, 0, thread);
    return k->count;
}

/* ---- getting a recipe ready ------------------------------------------------------------------ */

/* Whether any event of the step keeps the rules of event.h, if one did that had the same site. */
static bool always_valid(const struct vs_recipe_step *s)
{
    const struct vs_event *e = &s->event;
    uint64_t mask = vs_size_mask(e->size < 8 ? e->size : 8);

    if (e->kind == VS_BRANCH && e->flags & VS_BR_INDIRECT)
        return e->flags & VS_BR_TAKEN && !(e->flags & VS_BR_COND) && !e->value && !s->value_mask;
    if (e->kind == VS_BRANCH)
        return !s->addr_mask && !e->value && !s->value_mask &&
               (e->flags & VS_BR_TAKEN || e->flags & VS_BR_COND);
    return e->size > 8 ||
           (!(s->value_mask & ~mask) && !(e->value & ~mask) && !(s->value_mask && e->value));
}

static void make_operand(struct vs_operand_step *to, const struct vs_recipe_step *s, uint32_t site)
{
    *to = (struct vs_operand_step){.addr = s->event.addr,
                                   .addr_mask = s->addr_mask,
                                   .value = s->event.value,
                                   .value_mask = s->value_mask,
                                   .site = site,
                                   .size = s->event.size,
                                   .addr_at = s->addr_at,
                                   .value_at = s->value_at,
                                   .bytes = (uint8_t)((1u << (s->event.size % 32)) - 1),
                                   .load = s->event.kind == VS_LOAD};
}

/* Finds the sites of a recipe. They are all there once its events were put, unless the table is
 * full: the encoder of events adds them, so that they get the same numbers. */
static bool get_ready(struct vs_encoder *c, struct vs_encoder_recipe *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const struct vs_recipe_step *s = &k->steps[i];
        struct vs_site key = vs_site_of(&s->event);
        int64_t site = vs_sites_number(c->sites, &key, 0);

        if (site <= 0 || !always_valid(s))
            return false;
        k->sites[i] = (uint32_t)site;
        if (i < k->operands)
            make_operand(&k->operand->steps[i], s, (uint32_t)site);
    }
    k->first = k->sites[0];
    k->last = k->sites[k->count - 1];
    k->link = vs_link_site(k->last, k->outcome.taken);
    return k->ready = true;
}

/* ---- control flow ---------------------------------------------------------------------------- */

/* Puts a site that was not expected, after a run of expected ones. */
static int wrong_site(struct vs_encoder *c, uint32_t expect, uint32_t link, uint32_t site)
{
    if (vs_encoder_gap(c, VS_COL_SITE_GAP, &c->runs.site) < 0 ||
        vs_encoder_varint(c, VS_COL_SITE, vs_zigzag((int64_t)site - (int64_t)expect)) < 0)
        return -VSE_NOMEM;
    vs_encoder_link(c, link, site);
    return 0;
}

static inline int put_site(struct vs_encoder *c, const struct vs_lane *l, uint32_t site)
{
    if (unlikely(l->expect != site))
        return wrong_site(c, l->expect, l->link, site);
    c->runs.site++;
    return 0;
}

/* Goes through the sites one by one, and finds out whether they will follow each other the next
 * time, too. */
static int put_sites(struct vs_encoder *c, struct vs_lane *l, struct vs_encoder_recipe *k)
{
    bool follow = true;

    for (uint32_t i = 0; i < k->count; i++) {
        if (put_site(c, l, k->sites[i]) < 0)
            return -VSE_NOMEM;
        if (i + 1 == k->count)
            break;
        l->link = vs_link_site(k->sites[i], false);
        l->expect = c->flow.successors[k->sites[i]].next[0];
        follow &= l->expect == k->sites[i + 1];
    }
    if (follow)
        k->links = c->links;
    return 0;
}

/* Goes on behind the record's last event, whatever that is. */
static int put_end(struct vs_encoder *c, struct vs_lane *l, const struct vs_encoder_recipe *k,
                   const uint8_t *record)
{
    const struct vs_recipe_step *s = &k->steps[k->count - 1];
    struct vs_event e = s->event;

    if (e.kind != VS_BRANCH) {
        l->link = vs_link_site(k->last, false);
        l->expect = c->flow.successors[k->last].next[0];
        return 0;
    }
    e.addr += vs_record_word(record, s->addr_at) & s->addr_mask;
    return vs_encoder_branch(c, l, k->last, &e);
}

/* ---- records --------------------------------------------------------------------------------- */

/* What is counted while records are put. */
struct counts {
    uint64_t events, insns, cost;
};

static void count(struct vs_encoder *c, struct vs_encoder_thread *t, const struct counts *n)
{
    c->events += n->events;
    c->run_length += n->events;
    c->insns += n->insns;
    c->room -= (int64_t)n->cost;
    t->events += n->events;
    t->insns += n->insns;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How much weight can be put without asking again whether chunk and block have room. */
static uint64_t weight_left(const struct vs_encoder *c, const struct vs_chunk_operands *o)
{
    uint64_t left = least(c->chunk_events - c->events, (uint64_t)(c->room - 1) / STEP_MAX);

    return c->shadow_bits
               ? least(left,
                       VS_OPERANDS - (o->total > o->record_count ? o->total : o->record_count))
               : left;
}

/* Puts a conditional branch that was not predicted, after more that were. Returns 0; -VSE_NOMEM. */
static __attribute__((noinline)) int wrong_outcome(struct vs_encoder *c, uint64_t more)
{
    c->runs.outcome += more;
    return vs_encoder_gap(c, VS_COL_OUTCOME_GAP, &c->runs.outcome);
}

/* Puts records as long as their sites are known to follow each other, which most are. What it needs
 * is in registers, as there are tens of millions of records a second: what could be counted each
 * time is found at the end from sums. Returns 0; -VSE_NOMEM. */
static inline __attribute__((always_inline)) int
put_usual(struct vs_encoder *c, struct vs_encoder_thread *t, const struct vs_records *r,
          struct vs_record_place *place, struct vs_chunk_operands *o, bool with_operands)
{
    struct vs_encoder_recipe *const *list = c->recipes.list;
    const struct vs_operand_recipe **recipes = o->recipes + o->record_count;
    const uint32_t *next = r->recipes + place->record, *end = r->recipes + r->count;
    const uint32_t *successors = c->flow.successors->next; /* by link */
    const uint8_t *record = r->bytes + place->at;
    uint64_t links = c->links, left = weight_left(c, o), operands = 0;
    uint64_t steps_insns = 0, outcomes_cost = 0;
    uint64_t sites_before = 0, outcomes_before = 0; /* up to the last wrong one */
    uint32_t expect = t->lane.expect, link = t->lane.link, history = t->lane.history;
    struct vs_lane *l = &t->lane;
    struct counts n;
    int err = 0;

    for (; next < end; next++) {
        const struct vs_encoder_recipe *k = list[*next];
        uint8_t *counter, before;

        if (unlikely(k->links != links || k->weight > left))
            break;
        left -= k->weight;
        if (unlikely(expect != k->first)) {
            c->runs.site += LOW(steps_insns) - sites_before;
            sites_before = LOW(steps_insns) + 1;
            if ((err = wrong_site(c, expect, link, k->first)) < 0)
                break;
            links = c->links;
        }
        steps_insns += k->steps_insns;
        outcomes_cost += k->outcomes_cost;
        record += k->length;
        if (with_operands) {
            operands += k->operands;
            *recipes++ = k->operand;
        }
        if (unlikely(k->end == END_OTHER)) {
            l->history = history;
            if ((err = put_end(c, l, k, record - k->length)) < 0)
                break;
            expect = l->expect;
            link = l->link;
            continue;
        }
        counter = &c->flow.outcome[(k->last << 2 ^ history) & ((1 << VS_OUTCOME_BITS) - 1)];
        before = *counter;
        if (unlikely(k->outcome.wrong >> before & 1)) {
            err = wrong_outcome(c, LOW(outcomes_cost) - 1 - outcomes_before);
            if (err < 0)
                break;
            outcomes_before = LOW(outcomes_cost);
        }
        *counter = k->outcome.learned[before];
        history = history << k->outcome.conditional | k->outcome.taken;
        link = k->link;
        expect = successors[link];
    }
    n = (struct counts){LOW(steps_insns), HIGH(steps_insns), HIGH(outcomes_cost)};
    c->runs.site += n.events - sites_before;
    c->runs.outcome += LOW(outcomes_cost) - outcomes_before;
    o->total += operands;
    o->record_count += with_operands ? (size_t)(next - r->recipes) - place->record : 0;
    *place = (struct vs_record_place){(size_t)(next - r->recipes), (size_t)(record - r->bytes)};
    l->expect = expect;
    l->link = link;
    l->history = history;
    count(c, t, &n);
    return err;
}

static __attribute__((noinline)) int
put_usual_operands(struct vs_encoder *c, struct vs_encoder_thread *t, const struct vs_records *r,
                   struct vs_record_place *place, struct vs_chunk_operands *o)
{
    return put_usual(c, t, r, place, o, true);
}

static __attribute__((noinline)) int
put_usual_flow(struct vs_encoder *c, struct vs_encoder_thread *t, const struct vs_records *r,
               struct vs_record_place *place, struct vs_chunk_operands *o)
{
    return put_usual(c, t, r, place, o, false);
}

/* Puts one record about which nothing is known but that it fits. Returns 0; -VSE_NOMEM. */
static int put_careful(struct vs_encoder *c, struct vs_encoder_thread *t,
                       const struct vs_records *r, struct vs_record_place *place,
                       struct vs_chunk_operands *o)
{
    struct vs_encoder_recipe *k = c->recipes.list[r->recipes[place->record]];
    const struct counts n = {k->count, HIGH(k->steps_insns), HIGH(k->outcomes_cost)};

    if (k->count &&
        (put_sites(c, &t->lane, k) < 0 || put_end(c, &t->lane, k, r->bytes + place->at) < 0))
        return -VSE_NOMEM;
    count(c, t, &n);
    if (c->shadow_bits) {
        o->total += k->operands;
        o->recipes[o->record_count++] = k->operand;
    }
    place->record++;
    place->at += k->length;
    return 0;
}

/* Whether the block has room for one more record. */
static bool block_takes(const struct vs_chunk_operands *o, const struct vs_encoder_recipe *k)
{
    return o->total + k->operands <= VS_OPERANDS && o->record_count < VS_OPERANDS &&
           o->part_count < VS_OPERAND_PARTS && o->records.len < VS_OPERANDS_WIDE;
}

/* Whether a record's events can be put together: the chunk surely does not have to end between
 * them, and they are like those that were put before. */
static bool is_whole(struct vs_encoder *c, struct vs_encoder_recipe *k)
{
    return !k->count || ((k->ready || get_ready(c, k)) && c->events + k->count <= c->chunk_events &&
                         c->room > (int64_t)k->weight * STEP_MAX);
}

/* Notes which operands the block has got in records. Returns 0; -VSE_NOMEM. */
static int add_part(struct vs_chunk_operands *o, const uint8_t *bytes, size_t size, size_t records,
                    uint16_t thread)
{
    o->parts[o->part_count++] = (struct vs_operand_part){
        .listed = (uint32_t)(o->count - o->parted), .records = (uint32_t)records, .thread = thread};
    o->parted = o->count;
    return vs_buf_put(&o->records, bytes, size);
}

/* Puts some records. Returns VS_ENCODED_ALL if it took any; else why not; -VSE_NOMEM. */
static int put_some(struct vs_encoder *c, const struct vs_records *r, struct vs_record_place *place,
                    struct vs_chunk_operands *o)
{
    struct vs_encoder_recipe *k = c->recipes.list[r->recipes[place->record]];
    const struct vs_record_place from = *place;
    struct vs_encoder_thread *t;

    if (vs_encoder_full(c))
        return VS_ENCODED_CHUNK;
    if (!block_takes(o, k))
        return VS_ENCODED_BLOCK;
    /* Only an event that is taken may make its thread enter the chunk. */
    if (r->thread >= c->thread_count || !c->threads[r->thread]->present || !is_whole(c, k))
        return VS_ENCODED_EVENTS;
    t = vs_encoder_enter(c, r->thread);
    if (!t || put_careful(c, t, r, place, o) < 0)
        return -VSE_NOMEM;
    if (!c->shadow_bits)
        return put_usual_flow(c, t, r, place, o) < 0 ? -VSE_NOMEM : VS_ENCODED_ALL;
    if (put_usual_operands(c, t, r, place, o) < 0)
        return -VSE_NOMEM;
    return add_part(o, r->bytes + from.at, place->at - from.at, place->record - from.record,
                    r->thread);
}

int vs_encoder_put_records(struct vs_encoder *c, const struct vs_records *r,
                           struct vs_record_place *place, struct vs_chunk_operands *o)
{
    int got = VS_ENCODED_ALL;

    while (place->record < r->count && got == VS_ENCODED_ALL) {
        got = put_some(c, r, place, o);
        invariant(place->at <= r->size && o->total <= VS_OPERANDS);
    }
    o->sites = c->sites->count;
    o->threads = c->thread_count;
    return got;
}
