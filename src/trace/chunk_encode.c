/* SPDX-License-Identifier: MIT */
#include "trace/chunk_encode.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "base/varint.h"
#include "trace/chunk_flow.h"

/* For how many events room is made at a time. */
#define BLOCK 1024

void vs_encoder_init(struct vs_encoder *c, struct vs_tables *tables, uint32_t features,
                     uint32_t max_sites, uint32_t chunk_events, uint32_t chunk_bytes)
{
    memset(c, 0, sizeof(*c));
    c->tables = tables;
    c->sites = &tables->sites;
    c->features = features;
    c->max_sites = max_sites;
    c->chunk_events = chunk_events;
    c->chunk_bytes = chunk_bytes;
    /* Small chunks cannot fill a large shadow memory, and would pay for clearing it. */
    if (features & (VS_RUN_LOADS | VS_RUN_STORES))
        for (c->shadow_bits = VS_SHADOW_MIN;
             c->shadow_bits < VS_SHADOW_MAX && UINT64_C(1) << c->shadow_bits < chunk_events;)
            c->shadow_bits++;
}

void vs_encoder_fini(struct vs_encoder *c)
{
    vs_flow_fini(&c->flow);
    for (uint32_t i = 0; i < c->thread_count; i++)
        free(c->threads[i]);
    free(c->threads);
    vs_encoder_recipes_fini(&c->recipes);
    c->threads = NULL;
    c->thread_count = 0;
}

int vs_encoder_begin(struct vs_encoder *c, struct vs_columns *cols)
{
    c->cols = cols;
    c->first += c->events;
    c->events = 0;
    c->room = c->chunk_bytes;
    c->run_length = 0;
    c->runs = (struct vs_encoder_runs){0};
    c->literal = (struct vs_site){0};
    for (uint32_t i = 0; i < c->thread_count; i++) {
        struct vs_encoder_thread *t = c->threads[i];

        t->before += t->insns;
        t->events = t->insns = 0;
        t->present = false;
    }
    c->links++;
    return vs_flow_reset(&c->flow, c->sites->count);
}

/* ---- what an event is, and control flow ------------------------------------------------------ */

static int put_literal(struct vs_encoder *c, const struct vs_site *site)
{
    struct vs_buf *col = &c->cols->col[VS_COL_LITERAL];
    size_t before = col->len;
    int err = vs_site_pack(col, site, &c->literal);

    c->room -= (int64_t)(col->len - before);
    c->literal = *site;
    return err;
}

/* Finds or makes the site of an event that is not known to be the expected one. */
static int64_t other_site(struct vs_encoder *c, uint32_t expect, uint32_t link,
                          const struct vs_event *e)
{
    struct vs_site key = vs_site_of(e);
    int64_t site = vs_sites_number(c->sites, &key, c->max_sites);

    if (site < 0)
        return site;
    vs_flow_add(&c->flow, c->sites->count);
    if (site == expect) {
        c->runs.site++;
    } else {
        if (vs_encoder_gap(c, VS_COL_SITE_GAP, &c->runs.site) < 0 ||
            vs_encoder_varint(c, VS_COL_SITE, vs_zigzag(site - (int64_t)expect)) < 0)
            return -VSE_NOMEM;
        vs_encoder_link(c, link, (uint32_t)site);
    }
    if (site == 0 && put_literal(c, &key) < 0)
        return -VSE_NOMEM;
    return site;
}

int vs_encoder_wrong_target(struct vs_encoder *c, const struct vs_event *e)
{
    struct vs_buf *col = &c->cols->col[VS_COL_TARGET];
    uint8_t how, *p;

    if (vs_buf_reserve(col, 8) < 0 || vs_encoder_gap(c, VS_COL_TARGET_GAP, &c->runs.target) < 0)
        return -VSE_NOMEM;
    p = col->data + col->len;
    how = (uint8_t)vs_delta_put(&p, vs_zigzag((int64_t)(e->addr - e->pc)), false);
    col->len += how;
    c->room -= how + 1;
    return vs_buf_put(&c->cols->col[VS_COL_TARGET_HOW], &how, 1);
}

static int put_other(struct vs_encoder *c, const struct vs_event *e)
{
    if (vs_encoder_varint(c, VS_COL_OTHER, e->pc) < 0 ||
        vs_encoder_varint(c, VS_COL_OTHER, e->addr) < 0 ||
        vs_encoder_varint(c, VS_COL_OTHER, e->size) < 0 ||
        vs_encoder_varint(c, VS_COL_OTHER, e->icount) < 0)
        return -VSE_NOMEM;
    return e->size > 8 ? 0 : vs_encoder_varint(c, VS_COL_OTHER, e->value);
}

static inline void set_operand(struct vs_chunk_operand *p, const struct vs_event *e, uint32_t site)
{
    p->addr = e->addr;
    p->value = e->value;
    memcpy(&p->thread, &e->thread, sizeof(p->thread) + sizeof(p->size));
    p->site_kind = VS_SITE_KIND(site, e->kind);
}

/* Puts what is not a load or store of at most 8 bytes. Returns how many operands it has, 0 or 1;
 * -VSE_NOMEM. */
static int put_rare(struct vs_encoder *c, const struct vs_batch *b, const struct vs_event *e,
                    uint32_t site, struct vs_chunk_operand *p)
{
    if (!vs_kind_is_hot(e->kind) && put_other(c, e) < 0)
        return -VSE_NOMEM;
    if (e->size <= 8 && (e->kind != VS_EXTERNAL || !c->shadow_bits))
        return 0;
    set_operand(p, e, site);
    if (e->size > 8) {
        p->value = c->operands->wide.len;
        if (vs_buf_put(&c->operands->wide, vs_event_bytes(b, e), e->size) < 0)
            return -VSE_NOMEM;
        c->room -= e->size; /* it takes at most this: the shadow memory may have it */
    }
    c->room -= VS_OPERAND_BYTES;
    return 1;
}

/* Puts an event, whose operand goes to p. Returns how many operands it has, 0 or 1; -VSE_NOMEM. */
static inline int put_event(struct vs_encoder *c, struct vs_lane *l, const struct vs_batch *b,
                            const struct vs_event *e, bool expected, struct vs_chunk_operand *p)
{
    int64_t site = l->expect;

    if (likely(expected))
        c->runs.site++;
    else if ((site = other_site(c, l->expect, l->link, e)) < 0)
        return -VSE_NOMEM;
    if (e->kind == VS_BRANCH)
        return vs_encoder_branch(c, l, (uint32_t)site, e);
    l->link = vs_link_site((uint32_t)site, false);
    l->expect = c->flow.successors[site].next[0];
    if (unlikely(e->kind > VS_STORE || e->size > 8))
        return put_rare(c, b, e, (uint32_t)site, p);
    set_operand(p, e, (uint32_t)site);
    c->room -= VS_OPERAND_BYTES;
    return 1;
}

static inline bool branch_is(const struct vs_site *s, const struct vs_event *e, uint64_t meta)
{
    /* These are the rules for flags and addr that the site's own flags leave open. */
    bool valid = (e->flags & VS_BR_TAKEN) || ((e->flags & VS_BR_COND) && s->target == e->addr);

    return s->meta == (meta & ~VS_META_TAKEN) && valid && e->value == 0 &&
           (s->target == e->addr || (e->flags & VS_BR_INDIRECT));
}

/* Whether an event is the site's, and valid. The site itself keeps the rules, so only what it does
 * not tell has to be checked. Sites of kinds other than branch, load and store tell too little, so
 * their events never are. */
static inline bool event_is(const struct vs_site *s, const struct vs_event *e, size_t wide_size)
{
    uint64_t meta = vs_event_meta(e) & ~VS_META_THREAD;

    if (s->pc != e->pc)
        return false;
    if (e->kind == VS_BRANCH)
        return branch_is(s, e, meta);
    if (s->meta != meta || !vs_kind_is_hot(e->kind))
        return false;
    if (unlikely(e->size > 8))
        return e->value <= wide_size && wide_size - e->value >= e->size;
    return (e->value & ~vs_size_mask(e->size)) == 0;
}

/* Why the next event cannot be of that cycle; NULL if it can. */
static inline const char *cycle_refusal(const struct vs_encoder *c, uint64_t cycle)
{
    if (unlikely(cycle < c->cycle))
        return "a cycle before that of the event before it";
    return unlikely(cycle > INT64_MAX) ? "a cycle over 2^63" : NULL;
}

/* Why the run cannot take an event; NULL if it can. */
static const char *refusal(const struct vs_encoder *c, const struct vs_batch *b, size_t i)
{
    const struct vs_event *e = &b->events[i];
    const char *why = NULL;

    if (e->thread > c->thread_count)
        return "a thread number that leaves out a smaller one";
    if (vs_event_check(e, b->wide_size, &why) < 0)
        return why;
    if (e->kind == VS_LOAD && !(c->features & VS_RUN_LOADS))
        return "a load in a run without VS_RUN_LOADS";
    if (e->kind == VS_STORE && !(c->features & VS_RUN_STORES))
        return "a store in a run without VS_RUN_STORES";
    if (e->kind <= VS_STORE && c->features & VS_RUN_SHORT)
        return "a branch, load or store in a run with VS_RUN_SHORT";
    if (e->kind >= VS_TURN && !(c->features & VS_RUN_INPUTS))
        return "a turn or content in a run without VS_RUN_INPUTS";
    if (e->kind == VS_CONTENT && e->flags & VS_CONTENT_ANEW && !(c->features & VS_RUN_PARTS))
        return "content told anew in a run without VS_RUN_PARTS";
    if (e->kind == VS_CONTENT && e->flags & VS_CONTENT_DIGESTS && !(c->features & VS_RUN_DIGESTS))
        return "digests of memory in a run without VS_RUN_DIGESTS";
    if (e->kind == VS_CODE && e->value >= c->tables->block_count)
        return "a block that was not added";
    if (e->kind == VS_MAP && e->pc != VS_NO_IMAGE && e->pc >= c->tables->image_count)
        return "an image that was not added";
    return b->cycles ? cycle_refusal(c, b->cycles[i]) : NULL;
}

static int put_order(struct vs_encoder *c)
{
    if (c->run_length == 0)
        return 0;
    if (vs_encoder_varint(c, VS_COL_ORDER, c->run_thread) < 0)
        return -VSE_NOMEM;
    return vs_encoder_varint(c, VS_COL_ORDER, c->run_length);
}

static int add_thread(struct vs_encoder *c)
{
    if (vs_array_room((void **)&c->threads, &c->thread_capacity, c->thread_count, 1,
                      sizeof(struct vs_encoder_thread *)) < 0)
        return -VSE_NOMEM;
    c->threads[c->thread_count] = calloc(1, sizeof(struct vs_encoder_thread));
    if (!c->threads[c->thread_count])
        return -VSE_NOMEM;
    c->thread_count++;
    return 0;
}

struct vs_encoder_thread *vs_encoder_enter(struct vs_encoder *c, unsigned number)
{
    struct vs_encoder_thread *t;

    if (number == c->thread_count && add_thread(c) < 0)
        return NULL;
    t = c->threads[number];
    if (!t->present) {
        t->present = true;
        vs_lane_reset(&t->lane, t->returns, c->cycle_first);
    }
    if (number != c->run_thread) {
        if (put_order(c) < 0)
            return NULL;
        c->run_thread = number;
        c->run_length = 0;
    }
    return t;
}

static inline int put_cycle(struct vs_encoder *c, struct vs_lane *l, uint64_t cycle)
{
    int err = vs_encoder_varint(c, VS_COL_CYCLE, cycle - l->cycle);

    c->cycle = l->cycle = cycle;
    return err;
}

/* Puts events of one thread as long as sites and targets are as predicted. It does for an event
 * what put_event does, but keeps what it needs in registers. Returns how many were taken;
 * -VSE_NOMEM. */
static int64_t put_expected(struct vs_encoder *c, uint64_t thread, struct vs_lane *lane,
                            const struct vs_event *e, size_t n, struct vs_chunk_operand **operands,
                            uint64_t *insns)
{
    const struct vs_site *list = c->sites->list;
    const uint32_t count = c->sites->count;
    struct vs_flow *f = &c->flow;
    struct vs_encoder_runs runs = c->runs;
    struct vs_chunk_operand *p = *operands;
    struct vs_lane l = *lane;
    int64_t room = c->room;
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < n && room > 0; i++, e++) {
        const uint32_t site = l.expect;
        const struct vs_site *s = &list[site];
        uint64_t meta = vs_event_meta(e);
        bool taken = meta & VS_META_TAKEN;

        if (site >= count || s->pc != e->pc || (meta & VS_META_THREAD) != thread)
            break;
        meta &= ~VS_META_THREAD;
        if (e->kind != VS_BRANCH) {
            if (!vs_kind_is_hot(e->kind) || s->meta != meta || e->size > 8 ||
                (e->value & ~vs_size_mask(e->size)))
                break;
            set_operand(p++, e, site);
            room -= VS_OPERAND_BYTES;
            l.link = vs_link_site(site, false);
            l.expect = f->successors[site].next[0];
        } else if (s->meta != (meta & ~VS_META_TAKEN) || e->value) {
            break;
        } else if (!(e->flags & VS_BR_INDIRECT)) {
            bool way = false;

            if (s->target != e->addr)
                break;
            if (e->flags & VS_BR_COND) {
                uint8_t *counter = vs_outcome_counter(f, &l, site);

                if (likely((*counter >= 2) == taken)) {
                    runs.outcome++;
                } else {
                    c->room = room;
                    if (vs_encoder_gap(c, VS_COL_OUTCOME_GAP, &runs.outcome) < 0)
                        return -VSE_NOMEM;
                    room = c->room;
                }
                vs_outcome_learn(&l, counter, taken);
                way = taken;
            } else if (!taken) {
                break;
            }
            if ((e->flags & VS_BR_CALL) && taken)
                vs_call(&l, e->pc + e->size);
            l.link = vs_link_site(site, way);
            l.expect = f->successors[site].next[way];
        } else {
            uint32_t depth = l.depth;
            uint64_t *entry;

            if ((e->flags & VS_BR_COND) || !taken)
                break;
            entry = vs_target_entry(f, &l, site, e->flags);
            if (*entry != e->addr) {
                l.depth = depth;
                break;
            }
            vs_target_learn(&l, entry, e->addr);
            runs.target++;
            if (e->flags & VS_BR_CALL)
                vs_call(&l, e->pc + e->size);
            l.link = vs_link_arrival(e->addr);
            l.expect = *vs_link(f, l.link);
        }
        sum += e->icount;
    }
    runs.site += i;
    c->runs = runs;
    c->room = room;
    *lane = l;
    *operands = p;
    *insns += sum;
    return (int64_t)i;
}

/* Puts up to n events of one thread, which may enter the chunk. Stops before an event that is not
 * acceptable, and says why in *why. Returns how many were taken; -VSE_NOMEM. */
static int put_run(struct vs_encoder *c, const struct vs_batch *b, size_t pos, size_t n,
                   const char **why)
{
    const struct vs_event *e = &b->events[pos];
    struct vs_encoder_thread *t = vs_encoder_enter(c, e->thread);
    struct vs_chunk_operand *operand = c->operands->list + c->operands->count, *before = operand;
    const uint64_t thread = e->thread;
    uint64_t insns = 0;
    size_t done = 0;

    if (!t)
        return -VSE_NOMEM;
    while (done < n) {
        bool expected;
        int got;

        if (!b->cycles) {
            int64_t taken = put_expected(c, thread, &t->lane, e + done, n - done, &operand, &insns);

            if (taken < 0)
                return -VSE_NOMEM;
            done += (size_t)taken;
            if (done == n)
                break;
        }
        if (e[done].thread != thread || c->room <= 0)
            break;
        expected = t->lane.expect < c->sites->count &&
                   event_is(&c->sites->list[t->lane.expect], &e[done], b->wide_size);
        if (!expected)
            *why = refusal(c, b, pos + done);
        else if (b->cycles)
            *why = cycle_refusal(c, b->cycles[pos + done]);
        if (*why)
            break;
        got = put_event(c, &t->lane, b, &e[done], expected, operand);
        if (got < 0 || (b->cycles && put_cycle(c, &t->lane, b->cycles[pos + done]) < 0))
            return -VSE_NOMEM;
        operand += got;
        insns += e[done].icount;
        done++;
    }
    c->operands->count += (size_t)(operand - before);
    c->operands->total += (size_t)(operand - before);
    invariant(c->operands->total <= VS_OPERANDS && c->sites->count <= c->flow.site_capacity);
    c->events += done;
    c->run_length += done;
    c->insns += insns;
    t->events += done;
    t->insns += insns;
    return (int)done;
}

/* ---- batches and chunks ---------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Only an event that is taken may make its thread enter the chunk. */
static bool is_present(const struct vs_encoder *c, unsigned thread)
{
    return thread < c->thread_count && c->threads[thread]->present;
}

/* Puts at most n events, for which there is room. Stops at the chunk's end, or before an event that
 * is refused, and says why in *why. Returns how many were taken; -VSE_NOMEM. */
static int put_block(struct vs_encoder *c, const struct vs_batch *b, size_t pos, size_t n,
                     const char **why)
{
    size_t done = 0;

    while (done < n && !*why && !vs_encoder_full(c)) {
        int got;

        if (!is_present(c, b->events[pos + done].thread) &&
            (*why = refusal(c, b, pos + done)) != NULL)
            break;
        if (c->events == 0)
            c->cycle_first = b->cycles ? b->cycles[pos] : 0;
        got = put_run(c, b, pos + done, least(n - done, c->chunk_events - c->events), why);
        if (got < 0)
            return got;
        done += (size_t)got;
    }
    return (int)done;
}

int vs_encoder_put(struct vs_encoder *c, const struct vs_batch *b, size_t *pos,
                   struct vs_chunk_operands *o, const char **why)
{
    int got = 0;

    *why = NULL;
    c->operands = o;
    while (got >= 0 && *pos < b->count && !*why) {
        size_t room = VS_OPERANDS - o->total;

        if (vs_encoder_full(c))
            return VS_ENCODED_CHUNK;
        if (room == 0 || o->wide.len >= VS_OPERANDS_WIDE)
            return VS_ENCODED_BLOCK;
        if (vs_flow_reserve(&c->flow, c->sites->count + BLOCK + 1) < 0)
            return -VSE_NOMEM;
        got = put_block(c, b, *pos, least(b->count - *pos, least(room, BLOCK)), why);
        *pos += got > 0 ? (size_t)got : 0;
        o->sites = c->sites->count;
        o->threads = c->thread_count;
    }
    return got < 0 ? got : *why ? -VSE_INVAL : VS_ENCODED_ALL;
}

int vs_encoder_end(struct vs_encoder *c, struct vs_summary *s, struct vs_buf *threads)
{
    invariant(c->events && c->events <= c->chunk_events);
    if (put_order(c) < 0)
        return -VSE_NOMEM;
    *s = (struct vs_summary){.first = c->first,
                             .events = c->events,
                             .sites = c->sites->count,
                             .blocks = (uint32_t)c->tables->block_count,
                             .images = (uint32_t)c->tables->image_count,
                             .shadow_bits = c->shadow_bits,
                             .cycle_first = c->cycle_first,
                             .cycle_last = c->cycle};
    threads->len = 0;
    for (uint32_t i = 0; i < c->thread_count; i++) {
        const struct vs_encoder_thread *t = c->threads[i];
        struct vs_chunk_thread part = {i, t->events, t->insns, t->before};

        /* a thread that only ended another's run is not in the chunk */
        if (t->events == 0)
            continue;
        if (vs_buf_put(threads, &part, sizeof(part)) < 0)
            return -VSE_NOMEM;
        s->threads++;
    }
    return vs_summary_pack(&c->cols->col[VS_COL_SUMMARY], s,
                           (const struct vs_chunk_thread *)(void *)threads->data);
}
