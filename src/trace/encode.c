/* SPDX-License-Identifier: MIT */
#include "trace/encode.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/likely.h"
#include "base/varint.h"

/* Events by which the shadow memory is fetched ahead. */
#define AHEAD 16

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
    vs_predict_fini(&c->predict);
    for (uint32_t i = 0; i < c->thread_count; i++)
        free(c->threads[i]);
    free(c->threads);
    c->threads = NULL;
    c->thread_count = 0;
}

int vs_encoder_begin(struct vs_encoder *c, struct vs_columns *cols)
{
    c->cols = cols;
    c->first += c->events;
    c->events = 0;
    c->bytes = c->bytes_waiting = 0;
    c->run_length = 0;
    c->runs = (struct vs_encoder_runs){0};
    c->literal = (struct vs_site){0};
    for (uint32_t i = 0; i < c->thread_count; i++) {
        struct vs_encoder_thread *t = c->threads[i];

        t->before += t->insns;
        t->events = t->insns = 0;
        t->present = false;
    }
    return vs_predict_reset(&c->predict, c->sites->count, c->shadow_bits);
}

/* ---- appending to columns ------------------------------------------------------------------ */

static int put_varint(struct vs_encoder *c, unsigned column, uint64_t v)
{
    struct vs_buf *col = &c->cols->col[column];
    uint8_t *start, *end;

    if (vs_buf_reserve(col, VS_VARINT_MAX) < 0)
        return -VSE_NOMEM;
    start = col->data + col->len;
    end = vs_varint_put(start, v);
    col->len += (size_t)(end - start);
    c->bytes += (size_t)(end - start);
    return 0;
}

/* The significant bytes of a difference, unless `skip`. Advances *p, where 8 bytes are free, and
 * returns how many. No branch: whether a prediction was right is itself hard to predict. */
static inline unsigned put_delta(uint8_t **p, uint64_t delta, bool skip)
{
    unsigned n = (71 - (unsigned)__builtin_clzll(delta | 1)) / 8;

    n &= 0u - (unsigned)((delta != 0) & !skip);
    memcpy(*p, &delta, 8);
    *p += n;
    return n;
}

/* Ends a run of right predictions. */
static int put_gap(struct vs_encoder *c, unsigned column, uint64_t *run)
{
    int err = put_varint(c, column, *run);

    *run = 0;
    return err;
}

/* ---- first pass: what an event is, and control flow ------------------------------------------ */

/* What this pass uses all the time, copied out of the encoder while a run lasts. */
struct hot {
    struct vs_lane lane;
    struct vs_encoder_runs runs;
    struct vs_lane *lane_at; /* where `lane` was copied from */
    struct vs_encoding *pending;
};

static int put_literal(struct vs_encoder *c, const struct vs_site *site)
{
    struct vs_buf *col = &c->cols->col[VS_COL_LITERAL];
    size_t before = col->len;
    int err = vs_site_pack(col, site, &c->literal);

    c->bytes += col->len - before;
    c->literal = *site;
    return err;
}

/* Finds or makes the site of an event that is not known to be the expected one. */
static int64_t other_site(struct vs_encoder *c, struct hot *h, const struct vs_event *e)
{
    struct vs_site key = vs_site_of(e);
    int64_t site = vs_sites_number(c->sites, &key, c->max_sites);

    if (site < 0)
        return site;
    vs_predict_add(&c->predict, c->sites->count);
    if (site == h->lane.expect) {
        h->runs.site++;
    } else {
        if (put_gap(c, VS_COL_SITE_GAP, &h->runs.site) < 0 ||
            put_varint(c, VS_COL_SITE, vs_zigzag(site - (int64_t)h->lane.expect)) < 0)
            return -VSE_NOMEM;
        *vs_link(&c->predict, h->lane.link) = (uint32_t)site;
    }
    if (site == 0 && put_literal(c, &key) < 0)
        return -VSE_NOMEM;
    return site;
}

static int wrong_target(struct vs_encoder *c, struct hot *h, const struct vs_event *e)
{
    struct vs_buf *col = &c->cols->col[VS_COL_TARGET];
    uint8_t how, *p;

    if (vs_buf_reserve(col, 8) < 0 || put_gap(c, VS_COL_TARGET_GAP, &h->runs.target) < 0)
        return -VSE_NOMEM;
    p = col->data + col->len;
    how = (uint8_t)put_delta(&p, vs_zigzag((int64_t)(e->addr - e->pc)), false);
    col->len += how;
    c->bytes += how + 1u;
    return vs_buf_put(&c->cols->col[VS_COL_TARGET_HOW], &how, 1);
}

static inline int put_branch(struct vs_encoder *c, struct hot *h, uint32_t site,
                             const struct vs_event *e)
{
    struct vs_lane *l = &h->lane;
    bool taken = e->flags & VS_BR_TAKEN;

    l->link = vs_link_site(site, (e->flags & VS_BR_COND) && taken);
    if (e->flags & VS_BR_COND) {
        uint8_t *counter = vs_outcome_counter(&c->predict, l, site);

        if (likely((*counter >= 2) == taken))
            h->runs.outcome++;
        else if (put_gap(c, VS_COL_OUTCOME_GAP, &h->runs.outcome) < 0)
            return -VSE_NOMEM;
        vs_outcome_learn(l, counter, taken);
    }
    if ((e->flags & VS_BR_INDIRECT) && taken) {
        uint64_t *entry = vs_target_entry(&c->predict, l, site, e->flags);

        if (likely(*entry == e->addr))
            h->runs.target++;
        else if (wrong_target(c, h, e) < 0)
            return -VSE_NOMEM;
        vs_target_learn(l, entry, e->addr);
        l->link = vs_link_arrival(e->addr);
    }
    if ((e->flags & VS_BR_CALL) && taken)
        vs_call(l, e->pc + e->size);
    l->expect = *vs_link(&c->predict, l->link);
    return 0;
}

static int put_other(struct vs_encoder *c, const struct vs_event *e)
{
    if (put_varint(c, VS_COL_OTHER, e->pc) < 0 || put_varint(c, VS_COL_OTHER, e->addr) < 0 ||
        put_varint(c, VS_COL_OTHER, e->size) < 0 || put_varint(c, VS_COL_OTHER, e->icount) < 0)
        return -VSE_NOMEM;
    return e->size > 8 ? 0 : put_varint(c, VS_COL_OTHER, e->value);
}

static inline int put_event(struct vs_encoder *c, struct hot *h, const struct vs_event *e,
                            bool expected)
{
    int64_t site = h->lane.expect;

    if (likely(expected))
        h->runs.site++;
    else if ((site = other_site(c, h, e)) < 0)
        return -VSE_NOMEM;
    if (e->kind == VS_BRANCH)
        return put_branch(c, h, (uint32_t)site, e);
    h->lane.link = vs_link_site((uint32_t)site, false);
    h->lane.expect = c->predict.successors[site].next[0];
    *h->pending++ = (struct vs_encoding){e, &c->predict.sites[site], h->lane_at};
    if (unlikely(e->size > 8))
        c->bytes += e->size; /* at most: the shadow memory may have it */
    return unlikely(!vs_kind_is_hot(e->kind)) ? put_other(c, e) : 0;
}

/* What the comparison with a known site does not tell; the site itself keeps the rules. The sites
 * of other kinds tell too little. */
static inline bool dynamic_valid(const struct vs_event *e, size_t wide_size)
{
    if (unlikely(!vs_kind_is_hot(e->kind)))
        return false;
    if (e->kind == VS_BRANCH)
        return e->value == 0 && (e->flags & (VS_BR_COND | VS_BR_TAKEN)) &&
               (e->addr == 0 || (e->flags & (VS_BR_INDIRECT | VS_BR_TAKEN)) != VS_BR_INDIRECT);
    if (e->size > 8)
        return e->value <= wide_size && wide_size - e->value >= e->size;
    return e->size == 8 || e->value >> (8 * e->size) == 0;
}

static inline bool is_site(const struct vs_site *s, const struct vs_event *e)
{
    uint64_t meta = vs_event_meta(e) & ~VS_META_THREAD;

    if (e->kind != VS_BRANCH)
        return s->pc == e->pc && s->meta == meta;
    return s->pc == e->pc && s->meta == (meta & ~VS_META_TAKEN) &&
           (s->target == e->addr || (e->flags & VS_BR_INDIRECT));
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
    if (e->kind == VS_CODE && e->value >= c->tables->block_count)
        return "a block that was not added";
    if (e->kind == VS_MAP && e->pc != VS_NO_IMAGE && e->pc >= c->tables->image_count)
        return "an image that was not added";
    if (b->cycles && b->cycles[i] < c->cycle)
        return "a cycle before that of the event before it";
    return b->cycles && b->cycles[i] > INT64_MAX ? "a cycle over 2^63" : NULL;
}

static int put_order(struct vs_encoder *c)
{
    if (c->run_length == 0)
        return 0;
    if (put_varint(c, VS_COL_ORDER, c->run_thread) < 0)
        return -VSE_NOMEM;
    return put_varint(c, VS_COL_ORDER, c->run_length);
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

/* The thread of the next event, made ready for this chunk; NULL = no memory. */
static struct vs_encoder_thread *enter_thread(struct vs_encoder *c, unsigned number)
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
    int err = put_varint(c, VS_COL_CYCLE, cycle - l->cycle);

    c->cycle = l->cycle = cycle;
    return err;
}

static inline bool chunk_full(const struct vs_encoder *c)
{
    return c->events >= c->chunk_events || c->bytes >= c->chunk_bytes;
}

/* Up to n events of one thread, the first of which is known to be acceptable. Stops before one that
 * is not, with *why. Returns how many were taken; -VSE_NOMEM. */
static int put_run(struct vs_encoder *c, const struct vs_batch *b, size_t pos, size_t n,
                   struct vs_encoding **pending, const char **why)
{
    const struct vs_event *e = &b->events[pos];
    struct vs_encoder_thread *t = enter_thread(c, e->thread);
    struct hot h;
    uint64_t insns = 0;
    unsigned done = 0;
    int err = 0;

    if (!t)
        return -VSE_NOMEM;
    h = (struct hot){.lane = t->lane, .runs = c->runs, .lane_at = &t->lane, .pending = *pending};
    for (; done < n && e->thread == c->run_thread && !chunk_full(c); done++, e++) {
        bool expected = h.lane.expect < c->sites->count &&
                        is_site(&c->sites->list[h.lane.expect], e) &&
                        dynamic_valid(e, b->wide_size);

        if (unlikely(!expected || b->cycles) && (*why = refusal(c, b, pos + done)) != NULL)
            break;
        if (unlikely((err = put_event(c, &h, e, expected)) < 0) ||
            (b->cycles && (err = put_cycle(c, &h.lane, b->cycles[pos + done])) < 0))
            break;
        insns += e->icount;
        c->events++;
    }
    t->lane = h.lane;
    c->runs = h.runs;
    *pending = h.pending;
    c->run_length += done;
    c->insns += insns;
    t->events += done;
    t->insns += insns;
    return err < 0 ? err : (int)done;
}

/* ---- second pass: addresses; third: values ----------------------------------------------------
 */

static inline unsigned put_address(uint8_t **col, const struct vs_encoding *p)
{
    uint64_t addr = p->event->addr;
    struct vs_guess g = vs_addr_guess(p->site, p->lane);
    bool second = (addr == g.second) & (addr != g.first);

    vs_addr_learn(p->site, p->lane, addr);
    return put_delta(col, vs_zigzag((int64_t)(addr - g.first)), second) |
           (VS_HOW_SECOND & (0u - second));
}

static inline unsigned put_value(uint8_t **col, const struct vs_shadow *m,
                                 const struct vs_encoding *p)
{
    const struct vs_event *e = p->event;
    bool load = e->kind == VS_LOAD, first, second, loaded;
    struct vs_cell cell = vs_cell_open(m, vs_shadow_at(*m, e->addr), e->addr, e->size);
    struct vs_guess g = vs_value_guess(&cell, p->site, load, e->size);

    first = e->value == g.first;
    second = (e->value == g.second) & !first;
    loaded = (e->value == (p->lane->loaded[true] & vs_size_mask(e->size))) & !first & !second;
    vs_cell_store(m, &cell, e->addr, e->size, e->value);
    vs_value_learn(p->site, p->lane, load, e->value);
    return put_delta(col, vs_value_delta(e->value, g.first, e->size), second | loaded) |
           (VS_HOW_SECOND & (0u - second)) | (VS_HOW_LOADED & (0u - loaded));
}

/* A wide value, or what an event of another kind has of one. */
static int put_rest(struct vs_encoder *c, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *bytes = vs_event_bytes(b, e);
    int how = VS_HOW_WIDE;

    if (vs_kind_is_hot(e->kind) &&
        vs_shadow_read(c->predict.shadow, e->addr, e->size, c->scratch) &&
        memcmp(c->scratch, bytes, e->size) == 0)
        return VS_HOW_FIRST;
    if (e->size > 8 && vs_buf_put(&c->cols->col[VS_COL_WIDE], bytes, e->size) < 0)
        how = -VSE_NOMEM;
    if (c->shadow_bits && (vs_kind_is_hot(e->kind) || e->kind == VS_EXTERNAL))
        vs_shadow_write(c->predict.shadow, e->addr, e->size, bytes);
    return how;
}

/* Room for the differences of a whole block. Returns its start; NULL = no memory. */
static uint8_t *block_room(struct vs_buf *col)
{
    return vs_buf_reserve(col, 8 * (VS_ENCODE_BLOCK + 1)) < 0 ? NULL : col->data + col->len;
}

static void block_took(struct vs_encoder *c, struct vs_buf *col, const uint8_t *end)
{
    size_t n = (size_t)(end - (col->data + col->len));

    col->len += n;
    c->bytes_waiting += n;
}

static int put_addresses(struct vs_encoder *c, const struct vs_encoding *end, uint8_t *hows)
{
    struct vs_buf *col = &c->cols->col[VS_COL_ADDR];
    uint8_t *out = block_room(col);

    if (!out)
        return -VSE_NOMEM;
    for (const struct vs_encoding *p = c->pending; p < end; p++)
        if (likely(vs_kind_is_hot(p->event->kind)))
            *hows++ = (uint8_t)put_address(&out, p);
    block_took(c, col, out);
    return 0;
}

static int put_values(struct vs_encoder *c, const struct vs_batch *b, const struct vs_encoding *end,
                      uint8_t *hows)
{
    const struct vs_shadow *m = &c->predict.shadow;
    struct vs_buf *col = &c->cols->col[VS_COL_VALUE];
    uint8_t *out = block_room(col);
    int how;

    if (!out)
        return -VSE_NOMEM;
    for (const struct vs_encoding *p = c->pending; p < end; p++) {
        const struct vs_event *e = p->event;

        if (c->shadow_bits && end - p > AHEAD)
            __builtin_prefetch(vs_shadow_at(*m, p[AHEAD].event->addr), 1);
        if (likely(vs_kind_is_hot(e->kind) && e->size <= 8)) {
            *hows++ |= (uint8_t)(put_value(&out, m, p) << 4);
            continue;
        }
        if ((how = put_rest(c, b, e)) < 0)
            return how;
        if (vs_kind_is_hot(e->kind))
            *hows++ |= (uint8_t)(how << 4);
    }
    block_took(c, col, out);
    return 0;
}

/* ---- blocks and chunks ------------------------------------------------------------------------
 */

static int put_pending(struct vs_encoder *c, const struct vs_batch *b,
                       const struct vs_encoding *end)
{
    struct vs_buf *col = &c->cols->col[VS_COL_HOW];
    size_t hot = 0;

    if (end == c->pending)
        return 0;
    for (const struct vs_encoding *p = c->pending; p < end; p++)
        hot += vs_kind_is_hot(p->event->kind);
    if (vs_buf_reserve(col, hot + 1) < 0 || put_addresses(c, end, col->data + col->len) < 0 ||
        put_values(c, b, end, col->data + col->len) < 0)
        return -VSE_NOMEM;
    col->len += hot;
    c->bytes_waiting += hot;
    return 0;
}

/* At most n events, up to the end of the current block, of the chunk, or before an event that is
 * refused, with *why. Returns how many were taken; -VSE_NOMEM. */
static int put_block(struct vs_encoder *c, const struct vs_batch *b, size_t pos, size_t n,
                     const char **why)
{
    struct vs_encoding *pending = c->pending;
    size_t done = 0;

    *why = NULL;
    /* states must not move while events of this block point to them */
    if (vs_predict_reserve(&c->predict, c->sites->count + VS_ENCODE_BLOCK + 1) < 0)
        return -VSE_NOMEM;
    while (done < n && !*why && !chunk_full(c)) {
        int got;

        if ((*why = refusal(c, b, pos + done)) != NULL)
            break;
        if (c->events == 0)
            c->cycle_first = b->cycles ? b->cycles[pos] : 0;
        got = put_run(c, b, pos + done, n - done, &pending, why);
        if (got < 0)
            return got;
        done += (size_t)got;
    }
    return put_pending(c, b, pending) < 0 ? -VSE_NOMEM : (int)done;
}

int vs_encoder_put(struct vs_encoder *c, const struct vs_batch *b, size_t *pos, const char **why)
{
    *why = NULL;
    while (*pos < b->count && !*why) {
        size_t room = VS_ENCODE_BLOCK - c->events % VS_ENCODE_BLOCK, left = b->count - *pos;
        int got;

        if (chunk_full(c))
            return 1;
        got = put_block(c, b, *pos, left < room ? left : room, why);
        if (got < 0)
            return got;
        *pos += (size_t)got;
        if (c->events % VS_ENCODE_BLOCK == 0) {
            c->bytes += c->bytes_waiting;
            c->bytes_waiting = 0;
        }
    }
    return *why ? -VSE_INVAL : 0;
}

int vs_encoder_end(struct vs_encoder *c, struct vs_summary *s, struct vs_buf *threads)
{
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

        if (!t->present)
            continue;
        if (vs_buf_put(threads, &part, sizeof(part)) < 0)
            return -VSE_NOMEM;
        s->threads++;
    }
    return vs_summary_pack(&c->cols->col[VS_COL_SUMMARY], s,
                           (const struct vs_chunk_thread *)(void *)threads->data);
}
