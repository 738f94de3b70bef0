/* SPDX-License-Identifier: MIT */
#include "trace/chunk_decode.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/likely.h"
#include "base/varint.h"

#define WIDE_ENOUGH (1u << 20)

void vs_decoder_init(struct vs_decoder *d, const struct vs_sites *sites, uint32_t features)
{
    memset(d, 0, sizeof(*d));
    d->sites = sites;
    d->features = features;
}

void vs_decoder_fini(struct vs_decoder *d)
{
    vs_flow_fini(&d->flow);
    vs_data_fini(&d->data);
    vs_buf_fini(&d->parts);
    free(d->threads);
    d->threads = NULL;
}

/* ---- taking from columns ------------------------------------------------------------------- */

static int get_varint(struct vs_decoder *d, unsigned column, uint64_t *v)
{
    return vs_varint_get(&d->cols[column].p, d->cols[column].end, v);
}

/* Gets the length of the next run of right predictions, which is endless when the column is used
 * up. */
static int get_gap(struct vs_decoder *d, unsigned column, uint64_t *left)
{
    *left = UINT64_MAX;
    return d->cols[column].p < d->cols[column].end ? get_varint(d, column, left) : 0;
}

static int get_bytes(struct vs_decoder *d, unsigned column, uint8_t *out, size_t n)
{
    struct vs_column *c = &d->cols[column];

    if ((size_t)(c->end - c->p) < n)
        return -VSE_TRUNCATED;
    memcpy(out, c->p, n);
    c->p += n;
    return 0;
}

/* ---- a chunk ------------------------------------------------------------------------------- */

static int prepare_threads(struct vs_decoder *d)
{
    const struct vs_chunk_thread *parts = (const struct vs_chunk_thread *)(void *)d->parts.data;
    uint32_t need = parts[d->summary.threads - 1].thread + 1;

    if (need > d->thread_count) {
        struct vs_decoder_thread *more = realloc(d->threads, need * sizeof(*more));

        if (!more)
            return -VSE_NOMEM;
        /* every thread's return stack is set together with its lane below, before it is used */
        d->threads = more;
        d->thread_count = need;
    }
    for (uint32_t i = 0; i < d->thread_count; i++)
        d->threads[i].present = false;
    for (uint32_t i = 0; i < d->summary.threads; i++) {
        struct vs_decoder_thread *t = &d->threads[parts[i].thread];

        t->present = true;
        t->events = t->insns = 0;
        t->trail = (struct vs_trail){0};
        vs_lane_reset(&t->lane, t->returns, d->summary.cycle_first);
    }
    return 0;
}

int vs_decoder_begin(struct vs_decoder *d, const struct vs_column cols[VS_COL_END])
{
    bool memory = d->features & (VS_RUN_LOADS | VS_RUN_STORES);
    struct vs_decoder_left *left = &d->left;
    struct vs_column summary = cols[VS_COL_SUMMARY];
    int err;

    memcpy(d->cols, cols, sizeof(d->cols));
    if ((err = vs_summary_unpack(&summary, &d->summary, &d->parts)) < 0)
        return err;
    if (summary.p != summary.end || d->summary.sites > d->sites->count)
        return -VSE_CORRUPT;
    if (!(d->features & VS_RUN_TIMED) && d->summary.cycle_last)
        return -VSE_CORRUPT;
    if (memory ? d->summary.shadow_bits < VS_SHADOW_MIN || d->summary.shadow_bits > VS_SHADOW_MAX
               : d->summary.shadow_bits != 0)
        return -VSE_CORRUPT;
    d->cols[VS_COL_SUMMARY].p = d->cols[VS_COL_SUMMARY].end;
    d->done = 0;
    d->run_length = 0;
    d->cycle = d->summary.cycle_first;
    d->literal = (struct vs_site){0};
    if ((err = vs_flow_reset(&d->flow, d->summary.sites)) < 0 ||
        (err = vs_data_reset(&d->data, d->summary.sites, d->summary.shadow_bits)) < 0 ||
        (err = get_gap(d, VS_COL_SITE_GAP, &left->site)) < 0 ||
        (err = get_gap(d, VS_COL_OUTCOME_GAP, &left->outcome)) < 0 ||
        (err = get_gap(d, VS_COL_TARGET_GAP, &left->target)) < 0)
        return err;
    return prepare_threads(d);
}

/* ---- the parts of an event ------------------------------------------------------------------ */

static int wrong_site(struct vs_decoder *d, uint32_t expect, uint32_t link, uint64_t *left,
                      uint32_t *site)
{
    uint64_t delta;
    int64_t number;
    int err = get_varint(d, VS_COL_SITE, &delta);

    if (err < 0)
        return err;
    number = (int64_t)((uint64_t)expect + (uint64_t)vs_unzigzag(delta));
    if (number < 0 || number >= d->summary.sites)
        return -VSE_CORRUPT;
    *site = (uint32_t)number;
    *vs_link(&d->flow, link) = *site;
    return get_gap(d, VS_COL_SITE_GAP, left);
}

static int wrong_target(struct vs_decoder *d, uint64_t pc, uint64_t *left, uint64_t *target)
{
    struct vs_column *how = &d->cols[VS_COL_TARGET_HOW], *col = &d->cols[VS_COL_TARGET];
    uint64_t delta = 0;
    unsigned n;

    if (how->p >= how->end)
        return -VSE_TRUNCATED;
    n = *how->p++;
    if (n > 8)
        return -VSE_CORRUPT;
    if ((size_t)(col->end - col->p) < n)
        return -VSE_TRUNCATED;
    memcpy(&delta, col->p, n);
    col->p += n;
    *target = pc + (uint64_t)vs_unzigzag(delta);
    return get_gap(d, VS_COL_TARGET_GAP, left);
}

/* Takes an address's or value's bytes, up to 8, from its column. The caller notices when p has
 * passed the end; columns are padded by the 8 bytes that are always fetched. */
static inline uint64_t take(const uint8_t **p, unsigned how)
{
    static const uint8_t sizes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t word;

    memcpy(&word, *p, 8);
    *p += sizes[how];
    return word & vs_size_mask(sizes[how]);
}

static int get_wide(struct vs_decoder *d, struct vs_event *e, struct vs_buf *wide)
{
    int err;

    if (vs_buf_reserve(wide, e->size) < 0)
        return -VSE_NOMEM;
    if ((err = get_bytes(d, VS_COL_WIDE, wide->data + wide->len, e->size)) < 0)
        return err;
    e->value = wide->len;
    wide->len += e->size;
    return 0;
}

static int literal_site(struct vs_decoder *d, struct vs_site *site)
{
    int err = vs_site_unpack(&d->cols[VS_COL_LITERAL], site, &d->literal);

    d->literal = *site;
    return err;
}

/* ---- three passes over a batch -------------------------------------------------------------- */

/* Control flow needs no addresses, and addresses need no values. So a batch is decoded in three
 * passes, each a tight loop with little state; and when values are due, the shadow memory that
 * they need has been fetched by the pass before. */

/* What the first pass uses all the time. It is copied out of the decoder while a run lasts, because
 * the events written might alias anything, and would keep these members out of registers. */
struct hot {
    struct vs_lane lane;
    struct vs_decoder_left left;
    const struct vs_site *sites;
    const struct vs_successor *successors;
    struct vs_site_state *states;
    uint32_t site_count;
    uint64_t thread;
    unsigned kinds; /* bit k: kind k may occur */
    struct vs_trail *trail;
    struct vs_pending *pending; /* the next free entry */
    size_t wide;                /* bytes of wide values that the batch will have */
};

static inline int get_branch(struct vs_decoder *d, struct hot *h, uint32_t site,
                             const struct vs_site *s, struct vs_event *e, uint64_t meta)
{
    unsigned flags = VS_META_FLAGS(meta);
    bool taken = true;
    int err;

    if (flags & VS_BR_COND) {
        uint8_t *counter = vs_outcome_counter(&d->flow, &h->lane, site);

        taken = *counter >= 2;
        if (unlikely(h->left.outcome-- == 0)) {
            taken = !taken;
            if ((err = get_gap(d, VS_COL_OUTCOME_GAP, &h->left.outcome)) < 0)
                return err;
        }
        vs_outcome_learn(&h->lane, counter, taken);
    }
    e->addr = s->target;
    e->value = 0;
    h->lane.link = vs_link_site(site, (flags & VS_BR_COND) && taken);
    h->lane.expect = h->successors[site].next[(flags & VS_BR_COND) && taken];
    if ((flags & VS_BR_INDIRECT) && taken) {
        uint64_t *entry = vs_target_entry(&d->flow, &h->lane, site, flags), target = *entry;

        if (unlikely(h->left.target-- == 0) &&
            (err = wrong_target(d, s->pc, &h->left.target, &target)) < 0)
            return err;
        vs_target_learn(&h->lane, entry, target);
        h->lane.link = vs_link_arrival(target);
        h->lane.expect = *vs_link(&d->flow, h->lane.link);
        e->addr = target;
    }
    if ((flags & VS_BR_CALL) && taken)
        vs_call(&h->lane, s->pc + VS_META_SIZE(meta));
    meta |= taken ? VS_META_TAKEN : 0;
    memcpy(&e->thread, &meta, 8);
    return 0;
}

static int get_other(struct vs_decoder *d, struct vs_event *e)
{
    uint64_t size, icount;
    int err;

    if ((err = get_varint(d, VS_COL_OTHER, &e->pc)) < 0 ||
        (err = get_varint(d, VS_COL_OTHER, &e->addr)) < 0 ||
        (err = get_varint(d, VS_COL_OTHER, &size)) < 0 ||
        (err = get_varint(d, VS_COL_OTHER, &icount)) < 0)
        return err;
    if (size > VS_SIZE_MAX || icount > UINT16_MAX)
        return -VSE_CORRUPT;
    e->size = (uint16_t)size;
    e->icount = (uint16_t)icount;
    e->value = 0;
    if (size <= 8 && (err = get_varint(d, VS_COL_OTHER, &e->value)) < 0)
        return err;
    if ((e->kind == VS_CODE && e->value >= d->summary.blocks) ||
        (e->kind == VS_MAP && e->pc != VS_NO_IMAGE && e->pc >= d->summary.images))
        return -VSE_CORRUPT;
    /* a wide value will lie inside the batch; the third pass decides where */
    return vs_event_check(e, e->size, NULL) < 0 ? -VSE_CORRUPT : 0;
}

static inline int get_event(struct vs_decoder *d, struct hot *h, struct vs_event *e)
{
    uint32_t site = h->lane.expect;
    const struct vs_site *s;
    struct vs_site literal;
    uint64_t meta;
    unsigned kind;
    int err = 0;

    if (unlikely(h->left.site-- == 0) &&
        (err = wrong_site(d, site, h->lane.link, &h->left.site, &site)) < 0)
        return err;
    if (unlikely(site >= h->site_count))
        return -VSE_CORRUPT;
    s = &h->sites[site];
    if (unlikely(site == 0)) {
        if ((err = literal_site(d, &literal)) < 0)
            return err;
        s = &literal;
    }
    meta = s->meta | h->thread;
    kind = VS_META_KIND(meta);
    if (unlikely(!(h->kinds >> kind & 1)))
        return -VSE_CORRUPT;
    e->pc = s->pc;
    if (kind == VS_BRANCH)
        return get_branch(d, h, site, s, e, meta);
    h->lane.link = vs_link_site(site, false);
    h->lane.expect = h->successors[site].next[0];
    memcpy(&e->thread, &meta, 8);
    if (unlikely(!vs_kind_is_hot(kind)))
        err = get_other(d, e);
    *h->pending++ = (struct vs_pending){e, &h->states[site], h->trail, NULL};
    h->wide += e->size > 8 ? e->size : 0;
    return err;
}

/* The kinds that the run's features allow; without those features, loads and stores have no shadow
 * memory. */
static unsigned allowed_kinds(uint32_t features)
{
    unsigned all = (1u << VS_KIND_END) - 2;

    if (features & VS_RUN_SHORT)
        all &= ~(1u << VS_BRANCH | 1u << VS_LOAD | 1u << VS_STORE);
    if (!(features & VS_RUN_INPUTS))
        all &= ~(1u << VS_TURN | 1u << VS_CONTENT);
    return all & ~(features & VS_RUN_LOADS ? 0 : 1u << VS_LOAD) &
           ~(features & VS_RUN_STORES ? 0 : 1u << VS_STORE);
}

/* First pass: gets up to n events of one thread. Returns how many. */
static int get_run(struct vs_decoder *d, struct vs_event *events, unsigned n,
                   struct vs_pending **pending, size_t *wide)
{
    struct vs_decoder_thread *t = &d->threads[d->run_thread];
    struct hot h = {.lane = t->lane,
                    .left = d->left,
                    .sites = d->sites->list,
                    .successors = d->flow.successors,
                    .states = d->data.sites,
                    .site_count = d->summary.sites,
                    .thread = d->run_thread,
                    .kinds = allowed_kinds(d->features),
                    .trail = &t->trail,
                    .pending = *pending,
                    .wide = *wide};
    uint64_t insns = 0;
    unsigned done = 0;
    int err = 0;

    for (; done < n && h.wide <= WIDE_ENOUGH; done++) {
        if (unlikely((err = get_event(d, &h, &events[done])) < 0))
            break;
        insns += events[done].icount;
    }
    t->lane = h.lane;
    d->left = h.left;
    *pending = h.pending;
    *wide = h.wide;
    t->events += done;
    t->insns += insns;
    d->done += done;
    d->run_length -= done;
    return err < 0 ? err : (int)done;
}

/* Second pass: gets the loads' and stores' addresses. */
static int get_addresses(struct vs_decoder *d, const struct vs_pending *end)
{
    const struct vs_shadow shadow = d->data.shadow;
    struct vs_column how = d->cols[VS_COL_HOW], col = d->cols[VS_COL_ADDR];

    for (struct vs_pending *p = d->pending; p < end; p++) {
        uint64_t addr;
        unsigned h;

        if (unlikely(p->event->kind > VS_STORE))
            continue;
        if (unlikely(how.p == how.end || col.p > col.end))
            return -VSE_TRUNCATED;
        h = *how.p++ & 15;
        if (unlikely(h > VS_HOW_SECOND))
            return -VSE_CORRUPT;
        addr = vs_addr_pick(p->site, p->trail, h == VS_HOW_SECOND) +
               (uint64_t)vs_unzigzag(take(&col.p, h));
        vs_addr_learn(p->site, p->trail, addr);
        p->line = vs_shadow_at(shadow, addr);
        __builtin_prefetch(p->line, 1);
        p->event->addr = addr;
    }
    if (col.p > col.end)
        return -VSE_TRUNCATED;
    d->cols[VS_COL_ADDR] = col;
    return 0;
}

/* Gets a wide value, or any value of an event of another kind. */
static int get_rest(struct vs_decoder *d, struct vs_event *e, unsigned how, struct vs_buf *wide)
{
    int err = 0;

    if (e->kind <= VS_STORE && how == VS_HOW_FIRST) {
        if (vs_buf_reserve(wide, e->size) < 0)
            return -VSE_NOMEM;
        if (!vs_shadow_read(d->data.shadow, e->addr, e->size, wide->data + wide->len))
            return -VSE_CORRUPT;
        e->value = wide->len;
        wide->len += e->size;
        return 0;
    }
    if (e->kind <= VS_STORE && how != VS_HOW_WIDE)
        return -VSE_CORRUPT;
    if (e->size > 8 && (err = get_wide(d, e, wide)) < 0)
        return err;
    if (d->summary.shadow_bits && (e->kind <= VS_STORE || e->kind == VS_EXTERNAL))
        vs_shadow_write(d->data.shadow, e->addr, e->size,
                        e->size > 8 ? wide->data + e->value : (const uint8_t *)&e->value);
    return 0;
}

/* Third pass: gets the values. The second pass has checked that there is a "how" for each. */
static int get_values(struct vs_decoder *d, const struct vs_pending *end, struct vs_buf *wide)
{
    const uint8_t *how = d->cols[VS_COL_HOW].p;
    struct vs_column col = d->cols[VS_COL_VALUE];

    for (const struct vs_pending *p = d->pending; p < end; p++) {
        struct vs_event *e = p->event;
        unsigned size = e->size, h = 0;
        bool load = e->kind == VS_LOAD;
        struct vs_cell cell;
        uint64_t value;

        if (likely(e->kind <= VS_STORE))
            h = *how++ >> 4;
        if (unlikely(size > 8 || e->kind > VS_STORE)) {
            int err = get_rest(d, e, h, wide);

            if (err < 0)
                return err;
            continue;
        }
        if (unlikely(h > VS_HOW_LOADED))
            return -VSE_CORRUPT;
        if (unlikely(col.p > col.end))
            return -VSE_TRUNCATED;
        cell = vs_cell_open(&d->data.shadow, p->line, e->addr, size);
        value = vs_value_pick(&cell, p->site, p->trail, load, h) +
                (uint64_t)vs_unzigzag(take(&col.p, h));
        value &= vs_size_mask(size);
        vs_cell_store(&d->data.shadow, &cell, e->addr, size, value);
        vs_value_learn(p->site, p->trail, load, value);
        e->value = value;
    }
    if (col.p > col.end)
        return -VSE_TRUNCATED;
    d->cols[VS_COL_HOW].p = how;
    d->cols[VS_COL_VALUE] = col;
    return 0;
}

static int next_run(struct vs_decoder *d)
{
    uint64_t thread;
    int err;

    if ((err = get_varint(d, VS_COL_ORDER, &thread)) < 0 ||
        (err = get_varint(d, VS_COL_ORDER, &d->run_length)) < 0)
        return err;
    if (thread >= d->thread_count || !d->threads[thread].present || d->run_length == 0 ||
        d->run_length > d->summary.events - d->done)
        return -VSE_CORRUPT;
    d->run_thread = (uint32_t)thread;
    return 0;
}

/* Gets the cycles of the events just decoded, which do not decrease in global order. */
static int get_cycles(struct vs_decoder *d, struct vs_lane *l, uint64_t *cycles, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t delta;
        int err = get_varint(d, VS_COL_CYCLE, &delta);

        if (err < 0)
            return err;
        if (delta > d->summary.cycle_last - l->cycle || l->cycle + delta < d->cycle)
            return -VSE_CORRUPT;
        d->cycle = l->cycle += delta;
        cycles[i] = l->cycle;
    }
    return 0;
}

/* Checks after the last event that nothing is left over, and that the summary was right. */
static int finish(const struct vs_decoder *d)
{
    const struct vs_chunk_thread *parts = (const struct vs_chunk_thread *)(void *)d->parts.data;

    for (int i = 0; i < VS_COL_END; i++)
        if (d->cols[i].p != d->cols[i].end)
            return -VSE_CORRUPT;
    for (uint32_t i = 0; i < d->summary.threads; i++) {
        const struct vs_decoder_thread *t = &d->threads[parts[i].thread];

        if (t->events != parts[i].events || t->insns != parts[i].insns)
            return -VSE_CORRUPT;
    }
    return d->cycle == d->summary.cycle_last ? 0 : -VSE_CORRUPT;
}

int vs_decoder_next(struct vs_decoder *d, struct vs_event *events, uint64_t *cycles,
                    struct vs_buf *wide, unsigned max)
{
    invariant(cycles || !(d->features & VS_RUN_TIMED));
    uint64_t left = d->summary.events - d->done;
    struct vs_pending *pending = d->pending;
    size_t wide_size = 0;
    unsigned n = 0;
    int err;

    if (max > VS_DECODE_MAX)
        max = VS_DECODE_MAX;
    if (left < max)
        max = (unsigned)left;
    while (n < max && wide_size <= WIDE_ENOUGH) {
        unsigned room = max - n;
        int got;

        if (d->run_length == 0 && (err = next_run(d)) < 0)
            return err;
        if (d->run_length < room)
            room = (unsigned)d->run_length;
        got = get_run(d, events + n, room, &pending, &wide_size);
        if (got < 0)
            return got;
        if ((d->features & VS_RUN_TIMED) &&
            (err = get_cycles(d, &d->threads[d->run_thread].lane, cycles + n, got)) < 0)
            return err;
        n += (unsigned)got;
    }
    if ((d->features & VS_RUN_TIMED) && n && n == d->done && cycles[0] != d->summary.cycle_first)
        return -VSE_CORRUPT;
    wide->len = 0;
    if ((err = get_addresses(d, pending)) < 0 || (err = get_values(d, pending, wide)) < 0)
        return err;
    if (n && d->done == d->summary.events && (err = finish(d)) < 0)
        return err;
    invariant(n <= max && d->done <= d->summary.events);
    return (int)n;
}
