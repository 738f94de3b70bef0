/* SPDX-License-Identifier: MIT */
/* mc2RT: the cache-coherent read trace.
 *
 * Each line of the cores' coherent caches has a trace bit T, which says that the debugger knows the
 * line. It travels with the line from cache to cache. A read of a line without T is a message with
 * the whole line; THCnt counts the core's reads of lines with T since its last message. With
 * order=exact it counts all accesses to lines that took no message: the debugger must know where a
 * core stands, among its stores too, when it loses a line to another.
 *
 * The debugger has the same caches, with data, and has to know in which order cores acted on each
 * other's lines. By the rule `all` every transaction that a core starts (read miss, write miss,
 * upgrade) is a message; those that need no line only give the order. Between two messages of a
 * core, nothing it does can be noticed by others or is changed by them. So the debugger lets every
 * core run until just before its next message, and then takes the messages in their order.
 *
 * By the rule `implied` a write miss takes no message, and is counted in THCnt, if its order
 * follows from the others':
 *   - no other core has the line, and those that had it lost it before this core's last message;
 *   - the line that makes way, if one does, is in M or E: no other core has used it since;
 *   - no other core has taken a line from the set since: the same line makes way in the debugger;
 *   - nothing outside has written since, which would take the line, too.
 * Then it makes no difference that the debugger does it right after the core's last message.
 * Knowing the first takes a directory below the caches.
 *
 *   Ti | [dCC] | THCnt | 0    | line                  a line
 *   Ti | [dCC] | THCnt | 10                           order only
 *   Ti | [dCC] | THCnt | 11 | what (2) | ...          0: outside wrote: address, length (0: all of
 *                                                     memory), how many such notices there were
 *                                                     since the last access or message, and
 *                                                     instructions since the last registers
 *                                                     1: registers  2: value from outside, its
 *                                                     length first  3: the core's end
 *   Ti | [dCC] | THCnt                                all ones: it is full, and starts from 0
 *
 * What a full THCnt has counted is added to the core's next count. Neither this message nor one of
 * registers that only tells of instructions orders anything: they do not count as messages in the
 * rules above.
 *
 * With order=published there is no bit after THCnt, and there are only lines, registers and
 * values. */
#include <stdlib.h>
#include <string.h>

#include "technique/losses.h"
#include "technique/mc2rt.h"

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder_core {
    uint64_t count; /* THCnt */

    uint64_t notices; /* outside writes without a message since its last access or message */
    uint64_t last;    /* its last message's number */
    uint64_t *taken;  /* by set: when another core took a line from it */
};

struct encoder {
    struct vs_data_encoder base;
    struct vs_traced caches;
    struct vs_chunks code;
    unsigned address_bits;
    uint64_t full; /* at which THCnt is full */
    bool ordered;  /* order=exact */
    bool implied;  /* rule=implied */
    uint64_t messages;
    uint64_t outside; /* number of the last message that told of outside writes */
    struct encoder_core *cores;
    struct vs_losses losses;
    bool out_of_memory;
};

static const unsigned kind_bits[] = {
    [VS_MC2RT_LINE] = 1,  [VS_MC2RT_ORDER] = 2,  [VS_MC2RT_OUTSIDE] = 4,
    [VS_MC2RT_STATE] = 4, [VS_MC2RT_NONDET] = 4, [VS_MC2RT_END] = 4,
};

/* The first bit is the lowest. */
static const uint64_t kind_codes[] = {
    [VS_MC2RT_LINE] = 0,           [VS_MC2RT_ORDER] = 1,           [VS_MC2RT_OUTSIDE] = 3,
    [VS_MC2RT_STATE] = 3 | 1 << 2, [VS_MC2RT_NONDET] = 3 | 2 << 2, [VS_MC2RT_END] = 3 | 3 << 2,
};

static void put_count(struct encoder *e, unsigned core)
{
    vs_port_begin(e->base.port, core, e->base.time);
    vs_port_put_chunks(e->base.port, VS_FIELD_FAHCNT, e->code, e->cores[core].count);
    e->cores[core].count = 0;
}

static void put_head(struct encoder *e, unsigned core, enum vs_mc2rt_kind kind)
{
    put_count(e, core);
    if (e->ordered)
        vs_port_put(e->base.port, kind == VS_MC2RT_LINE ? VS_FIELD_HEADER : VS_FIELD_ORDER,
                    kind_codes[kind], kind_bits[kind]);
}

static void begin(struct encoder *e, unsigned core, enum vs_mc2rt_kind kind)
{
    struct encoder_core *c = &e->cores[core];
    put_head(e, core, kind);
    c->notices = 0;
    c->last = ++e->messages;
}

/* Counts an access that takes no message. */
static inline void count_silent(struct encoder *e, unsigned core)
{
    if (unlikely(++e->cores[core].count == e->full)) {
        put_count(e, core);
        vs_port_end(e->base.port);
    }
}

static void end_order(struct encoder *e)
{
    vs_port_end(e->base.port);
    e->base.counts.orders++;
    e->base.counts.order_bits += vs_data_message_bits(&e->base);
}

static void rare_head(struct vs_data_encoder *base, unsigned core, enum vs_data_what what,
                      size_t size)
{
    struct encoder *e = (struct encoder *)base;
    static const enum vs_mc2rt_kind kinds[] = {[VS_DATA_NONDET] = VS_MC2RT_NONDET,
                                               [VS_DATA_STATE] = VS_MC2RT_STATE,
                                               [VS_DATA_END] = VS_MC2RT_END};
    if (what == VS_DATA_FULL) {
        put_head(e, core, VS_MC2RT_STATE);
        return;
    }
    begin(e, core, kinds[what]);
    if (e->ordered && what == VS_DATA_NONDET)
        vs_port_put_chunks(base->port, VS_FIELD_ORDER, VS_MC2RT_LENGTH, size);
}

static void tell_lost(void *context, unsigned core, uint64_t line, bool taken)
{
    struct encoder *e = context;
    const struct vs_cache *cache = &e->caches.group.core[core].cache;
    if (!e->implied)
        return;
    if (vs_losses_note(&e->losses, line, core, e->messages + 1))
        e->out_of_memory = true;
    if (taken)
        e->cores[core].taken[(line >> cache->line_bits) & cache->set_mask] = e->messages + 1;
}

static void put_outside(struct encoder *e, unsigned core, uint64_t addr, uint64_t size)
{
    struct encoder_core *c = &e->cores[core];
    uint64_t first, span, notices = c->notices;
    bool any = false;
    vs_traced_range(&e->caches, addr, size, &first, &span);
    for (unsigned i = 0; i < e->base.cores && !any; i++)
        any = vs_traced_has(&e->caches, i, first, span);
    if (!any) {
        c->notices++;
        return;
    }
    for (unsigned i = 0; i < e->base.cores; i++)
        vs_traced_drop(&e->caches, i, first, span, tell_lost, e);
    if (!e->ordered)
        return;
    begin(e, core, VS_MC2RT_OUTSIDE);
    vs_port_put(e->base.port, VS_FIELD_ADDRESS, addr, e->address_bits);
    vs_port_put_chunks(e->base.port, VS_FIELD_ORDER, VS_MC2RT_LENGTH, size);

    vs_port_put_chunks(e->base.port, VS_FIELD_ORDER, VS_MC2RT_NOTICES, notices);
    vs_port_put_chunks(e->base.port, VS_FIELD_ORDER, VS_DATA_STATE_CHUNKS, e->base.since[core]);
    end_order(e);
    e->outside = e->messages;
}

static void rare_outside(struct vs_data_encoder *base, unsigned core, uint64_t addr, uint64_t size)
{
    put_outside((struct encoder *)base, core, addr, size);
}

static void rare_forget(struct vs_data_encoder *base, unsigned core)
{
    put_outside((struct encoder *)base, core, 0, 0);
}

static const struct vs_data_rare rare = {.kinds = true,
                                         .ordered = true,
                                         .head = rare_head,
                                         .outside = rare_outside,
                                         .forget = rare_forget};

static void put_line(struct encoder *e, unsigned core, uint64_t line)
{
    vs_seen_get(&e->base.seen, line, e->base.granules, e->caches.group.line);
    begin(e, core, VS_MC2RT_LINE);
    vs_port_put_bytes(e->base.port, VS_FIELD_VALUE, e->base.granules, e->caches.group.line);
    vs_port_end(e->base.port);
}

static void put_order(struct encoder *e, unsigned core)
{
    if (!e->ordered)
        return;
    begin(e, core, VS_MC2RT_ORDER);
    end_order(e);
}

static void note_losses(struct encoder *e, unsigned core, uint64_t line,
                        const struct vs_moesi_result *r)
{
    if (!e->implied)
        return;
    if (r->evicted)
        tell_lost(e, core, r->victim, false);
    for (unsigned i = 0; i < e->base.cores && r->invalidated >> i; i++)
        if (r->invalidated >> i & 1)
            tell_lost(e, i, line, true);
}

/* Returns whether the line had to be sent. */
static bool read_miss(struct encoder *e, unsigned core, uint64_t line)
{
    struct vs_moesi_result r;
    e->base.counts.line_misses++;
    vs_moesi_read_miss(&e->caches.group, core, line, &r);
    note_losses(e, core, line, &r);
    if (!vs_traced_inherit(&e->caches, core, &r)) {
        e->caches.t[core][r.index] = 1;
        put_line(e, core, line);
        return true;
    }
    if (e->ordered)
        put_order(e, core);
    else
        count_silent(e, core);
    return false;
}

static inline bool read_line(struct encoder *e, unsigned core, uint64_t line)
{
    uint32_t index = vs_moesi_read_hit(&e->caches.group, core, line);
    if (unlikely(index == VS_CACHE_NONE))
        return read_miss(e, core, line);
    e->base.counts.line_hits++;
    if (likely(e->caches.t[core][index])) {
        count_silent(e, core);
        return false;
    }
    e->caches.t[core][index] = 1;
    put_line(e, core, line);
    return true;
}

/* Whether, before the write, the line that would make way is nobody else's business. */
static bool way_is_free(const struct encoder *e, unsigned core, uint64_t line)
{
    const struct vs_moesi_core *c = &e->caches.group.core[core];
    uint32_t victim = vs_cache_victim(&c->cache, line);
    uint32_t set = (uint32_t)(line >> c->cache.line_bits) & c->cache.set_mask;
    return e->cores[core].taken[set] <= e->cores[core].last &&
           (c->cache.tags[victim] == VS_CACHE_FREE || c->states[victim] >= VS_MOESI_E);
}

static void write_shared(struct encoder *e, unsigned core, uint64_t line)
{
    struct vs_moesi_result r;
    bool silent = e->implied && e->outside <= e->cores[core].last && way_is_free(e, core, line) &&
                  vs_losses_of_others(&e->losses, line, core) <= e->cores[core].last;
    vs_moesi_write_shared(&e->caches.group, core, line, &r);
    note_losses(e, core, line, &r);
    e->base.counts.line_hits += r.outcome == VS_MOESI_UPGRADE;
    e->base.counts.line_misses += r.outcome != VS_MOESI_UPGRADE;
    if (r.outcome != VS_MOESI_UPGRADE)
        vs_traced_inherit(&e->caches, core, &r);
    if (silent && r.outcome == VS_MOESI_BELOW && !r.invalidated) {
        e->base.counts.silent++;
        count_silent(e, core);
    } else {
        put_order(e, core);
    }
}

static inline int load(struct vs_data_encoder *base, unsigned core, uint64_t addr, size_t size,
                       const uint8_t *bytes)
{
    struct encoder *e = (struct encoder *)base;
    uint64_t step = e->caches.group.line, line = addr & ~(step - 1);
    int same = vs_seen_load(&base->seen, addr, bytes, size);
    if (unlikely(same < 0))
        return same;
    if (unlikely(!same)) {
        base->counts.unseen++;
        put_outside(e, core, addr, size);
    }

    e->cores[core].notices = 0;
    bool sent = false;
    uint64_t left = (addr - line) + size;
    for (; left > step; left -= step, line += step)
        sent |= read_line(e, core, line);
    sent |= read_line(e, core, line);
    vs_data_note_load(base, size, !sent);
    return unlikely(e->out_of_memory) ? -VSE_NOMEM : 0;
}

static inline int store(struct vs_data_encoder *base, unsigned core, uint64_t addr, size_t size,
                        const uint8_t *bytes)
{
    struct encoder *e = (struct encoder *)base;
    uint64_t step = e->caches.group.line, line = addr & ~(step - 1);

    e->cores[core].notices = 0;
    for (uint64_t left = (addr - line) + size;; left -= step, line += step) {
        if (likely(vs_moesi_write_hit(&e->caches.group, core, line) != VS_CACHE_NONE)) {
            base->counts.line_hits++;
            if (e->ordered)
                count_silent(e, core);
        } else {
            write_shared(e, core, line);
        }
        if (left <= step)
            break;
    }
    return unlikely(e->out_of_memory) ? -VSE_NOMEM : vs_seen_write(&base->seen, addr, bytes, size);
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    return vs_data_each(encoder, slice->events, load, store);
}

static int encoder_finish(void *encoder)
{
    struct encoder *e = encoder;
    if (e->ordered)
        vs_data_put_ends(&e->base);
    return 0;
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    for (unsigned i = 0; e->cores && i < e->base.cores; i++)
        free(e->cores[i].taken);
    free(e->cores);
    vs_losses_fini(&e->losses);
    vs_traced_fini(&e->caches);
    vs_data_encoder_fini(&e->base);
    free(e);
}

static int init_cores(struct encoder *e)
{
    e->cores = calloc(e->base.cores, sizeof(*e->cores));
    if (!e->cores)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < e->base.cores; i++) {
        size_t sets = (size_t)e->caches.group.core[i].cache.set_mask + 1;
        if (!(e->cores[i].taken = calloc(sets, sizeof(uint64_t))))
            return -VSE_NOMEM;
    }
    return 0;
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    const struct vs_data_params *p = context->params;
    const struct vs_technique_setup *setup = context->setup;
    const struct vs_cache_config config = vs_data_cache_config(p);
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_data_encoder_init(&e->base, &rare, context);
    e->base.memory = true;
    e->code = vs_data_count_chunks(p);
    e->address_bits = setup->address_bits;
    e->full = vs_counter_full(p->fahcnt_bits);
    e->ordered = p->order == VS_DATA_ORDER_EXACT;
    e->implied = e->ordered && p->rule == VS_DATA_RULE_IMPLIED;
    if (!err)
        err = vs_traced_init(&e->caches, setup->cores, &config, p->supply == VS_DATA_SUPPLY_ANY,
                             false);
    if (!err)
        err = init_cores(e);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static const struct vs_encoder_ops encoder_ops =
    VS_DATA_ENCODER(encoder_open, encoder_consume, encoder_finish, encoder_close);

/* ---- technique ------------------------------------------------------------------------------- */

static const struct vs_parameter parameters[] = {
    VS_DATA_CACHE_ROWS,
    VS_DATA_HITS_ROWS("THCnt"),
    VS_DATA_ICNT_ROW,
    VS_DATA_CYCLE_ROWS,
    VS_DATA_WORD(order, vs_data_order_words, "of the cores: told as far as replay needs, or not"),
    VS_DATA_WORD(rule, vs_data_rule_words, "which transactions tell it: all, or not the implied"),
    VS_DATA_WORD(supply, vs_data_supply_words, "caches that supply a line: any, or its owner"),
    {.name = NULL},
};

static const struct vs_technique_config configs[] = {
    {"CS16", "size=16K line=32 ways=4 policy=lru"},
    {"CS32", "size=32K line=32 ways=4 policy=lru"},
    {"implied", "rule=implied"},
    {NULL, NULL},
};

static int check(const void *params, struct vs_diag *diag)
{
    const struct vs_cache_config config = vs_data_cache_config(params);
    return vs_cache_check_config(&config, diag);
}

static const char *undecodable(const void *params)
{
    const struct vs_data_params *p = params;
    return p->order == VS_DATA_ORDER_PUBLISHED
               ? "order=published does not tell when a core took a line from another"
               : NULL;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_data_params *p = params;
    vs_cost_list_add(list, "trace bits", (struct vs_cost){.sram = p->size / p->line}, setup->cores);
    vs_cost_list_add(list, "THCnt", vs_counter_cost(p->fahcnt_bits), setup->cores);
    vs_data_cost_common(list, p, setup);
    return 0;
}

const struct vs_technique vs_technique_mc2rt = {
    .serves = VS_TECHNIQUE_DATA,
    .cores_max = VS_MOESI_CORES_MAX,
    .name = "mc2RT",
    .summary = "coherent caches with a trace bit per line",
    .parameters = parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "size=32K line=32 ways=4 policy=lru fahcnt=8 fahcnt_next=8 dcc=8 "
                "dcc_next=8 fahcnt_bits=32 icnt_bits=32",
    .unnamed = "fahcnt_bits=64 icnt_bits=64",
    .configs = configs,
    .check = check,
    .cycles = vs_data_cycle_chunks,
    .undecodable = undecodable,
    .cost = cost,
    .cache_bits = vs_data_cache_bits,
    .encoder = &encoder_ops,
    .data_decoder = &vs_mc2rt_decoder,
};
