/* SPDX-License-Identifier: MIT */
/* mc2RT_k: mc2RT that remembers what the debugger knows.
 *
 * As in mc2RT, a line of the coherent caches has a trace bit T, which says that the debugger knows
 * it. What mc2RT forgets when a line leaves the caches is kept in two tables (model/known.h): K has
 * a bit for each line of some pages, R a bit for each page of some regions. A line that comes from
 * below gets T from them. So a line is sent once, unless the tables lose it or something outside
 * the cores writes it. A line of zeros takes no data, a page of zeros a single message; and when
 * enough of a page's lines are known, the rest is sent with the next, so that R can have the page.
 *
 * The debugger has one memory for all cores, and no caches. It lets every core run until just
 * before its next message, and takes the messages in their order. THCnt counts a core's accesses to
 * lines since its last message. So each access is done right after the last message of its core,
 * and what remains to be told is the order of accesses to the same line by two cores, one of which
 * writes: the second core must have sent a message since the first one's last message before its
 * access. A core sends a message of order, unless this access sends one anyway, where the second
 * access may be one of these:
 *   - it misses, upgrades, writes first to a line that it has alone, or finds T set by the tables;
 *     and one of these holds:
 *   - it writes, and another cache has or had the line;
 *   - it reads, and another cache has the line dirty, or had it so, or sent it;
 *   - another core sent the page.
 * What caches have is seen by coherence. What they had, and what was sent, is in three filters of
 * each core (`lost`, `changed` and `pages`), which its own messages empty. An access that does
 * none of these has nothing to fear: the line was not written since this core had it last, or is
 * written by this core alone. A line that is sent although the debugger knows it changes nothing.
 *
 * Sending writes the debugger's memory, so it counts as a write. A page is read coherently when it
 * is sent: other cores' copies of what is sent become O or S, so that their next writes ask.
 *
 *   Ti | [dCC] | THCnt | 0                            order only
 *   Ti | [dCC] | THCnt | 10     | line                a line
 *   Ti | [dCC] | THCnt | 1100                         a line of zeros
 *   Ti | [dCC] | THCnt | 11100                        a page of zeros
 *   Ti | [dCC] | THCnt | 11110  | part ...            for each line of the page: 0 (it is known),
 * 10 (it is zero), or 11 and the line Ti | [dCC] | THCnt | 1101   | length | value      from
 * outside Ti | [dCC] | THCnt | 11101  | registers Ti | [dCC] | THCnt | 11111  | the core's end Ti |
 * [dCC] | THCnt                                all ones: it is full, and starts from 0
 *
 * With predict=zero a value from outside that is 0, as most results of store-conditional are, is
 * counted like an access. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/power.h"
#include "model/bloom.h"
#include "model/known.h"
#include "model/traced.h"
#include "technique/mc2rt_k.h"

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder_core {
    uint64_t count;          /* THCnt */
    struct vs_bloom lost;    /* lines that others lost since this core's last message */
    struct vs_bloom changed; /* lines that others lost dirty, or sent */
    struct vs_bloom pages;   /* pages that others sent */
    uint64_t others;         /* by bit: cores that sent a message since this one's last */
};

struct encoder {
    struct vs_data_encoder base;
    struct vs_traced caches;
    struct vs_known known;
    struct vs_mc2rt_k_heads heads;
    struct vs_wordbook book;
    uint64_t full;     /* at which THCnt is full */
    unsigned complete; /* lines of a page that are known before the rest is sent; 0: never */
    bool many;         /* cores */
    bool predicts;
    struct encoder_core *cores;
    bool out_of_memory;
};

static void put_head(struct encoder *e, unsigned core)
{
    vs_mc2rt_k_put_head(&e->heads, e->base.port, core, e->base.time, e->cores[core].count);
    e->cores[core].count = 0;
}

static void begin(struct encoder *e, unsigned core, enum vs_mc2rt_k_kind kind)
{
    struct encoder_core *c = &e->cores[core];
    put_head(e, core);
    vs_mc2rt_k_put_kind(e->base.port, kind);
    vs_wordbook_begin(&e->book);
    if (e->many) {
        vs_bloom_clear(&c->lost);
        vs_bloom_clear(&c->changed);
        vs_bloom_clear(&c->pages);
        for (unsigned i = 0; i < e->base.cores; i++)
            e->cores[i].others |= UINT64_C(1) << core;
        c->others = 0;
    }
}

/* Counts an access that takes no message. */
static inline void count_silent(struct encoder *e, unsigned core)
{
    if (unlikely(++e->cores[core].count == e->full)) {
        put_head(e, core);
        vs_port_end(e->base.port);
    }
}

static void put_order(struct encoder *e, unsigned core)
{
    begin(e, core, VS_MC2RT_K_ORDER);
    vs_port_end(e->base.port);
    e->base.counts.orders++;
    e->base.counts.order_bits += vs_data_message_bits(&e->base);
}

static inline void put_order_if(struct encoder *e, unsigned core, bool due)
{
    if (due)
        put_order(e, core);
    else
        count_silent(e, core);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void note_lost(struct encoder *e, unsigned core, uint64_t line, bool dirty)
{
    for (unsigned i = 0; e->many && i < e->base.cores; i++) {
        if (!(e->cores[i].others >> core & 1))
            continue;
        vs_bloom_add(&e->cores[i].lost, line);
        if (dirty)
            vs_bloom_add(&e->cores[i].changed, line);
    }
}

static void note_sent(struct encoder *e, unsigned core, uint64_t line)
{
    for (unsigned i = 0; e->many && i < e->base.cores; i++)
        if (i != core)
            vs_bloom_add(&e->cores[i].changed, line);
}

static void note_sent_page(struct encoder *e, unsigned core, uint64_t page)
{
    for (unsigned i = 0; e->many && i < e->base.cores; i++)
        if (i != core)
            vs_bloom_add(&e->cores[i].pages, page);
}

/* Lines of a range left all caches. */
static void note_lost_range(struct encoder *e, uint64_t first, uint64_t span)
{
    uint64_t step = e->caches.group.line;
    bool few = span / step < e->caches.group.core[0].cache.lines;
    for (unsigned i = 0; e->many && i < e->base.cores; i++) {
        for (uint64_t at = 0; few && at <= span; at += step)
            vs_bloom_add(&e->cores[i].lost, first + at);
        if (!few)
            vs_bloom_fill(&e->cores[i].lost);
    }
}

static inline bool orders_read(const struct encoder *e, unsigned core, uint64_t line)
{
    const struct encoder_core *c = &e->cores[core];
    return e->many && (vs_bloom_has(&c->changed, line) || vs_bloom_has(&c->pages, line));
}

static inline bool orders_write(const struct encoder *e, unsigned core, uint64_t line)
{
    const struct encoder_core *c = &e->cores[core];
    return e->many && (vs_bloom_has(&c->lost, line) || vs_bloom_has(&c->pages, line));
}

/* ---- content --------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* Returns what the line's page holds, or NULL if there is no memory for that. */
static const uint8_t *page_of(struct encoder *e, uint64_t line)
{
    const uint8_t *page = vs_seen_page(&e->base.seen, line);
    e->out_of_memory |= !page;
    return page;
}

static void put_bytes(struct encoder *e, const uint8_t *bytes, size_t size)
{
    vs_mc2rt_k_put_bytes(&e->book, e->base.port, VS_FIELD_VALUE, bytes, size);
}

/* Others' copies of lines that are sent, but not for an access, must not be written silently. */
static void snoop(struct encoder *e, unsigned core, uint64_t line)
{
    if (e->many)
        vs_moesi_snoop(&e->caches.group, core, line);
}

static void put_blank_page(struct encoder *e, unsigned core, uint64_t line)
{
    uint64_t page = line & ~(uint64_t)(VS_MC2RT_K_PAGE - 1);
    begin(e, core, VS_MC2RT_K_BLANK);
    vs_port_end(e->base.port);
    for (uint64_t at = 0; at < VS_MC2RT_K_PAGE; at += e->caches.group.line)
        snoop(e, core, page + at);
    vs_known_set_page(&e->known, page);
    note_sent_page(e, core, page);
}

/* Sends all of a page that is not known; the line itself is not, although it has its bit. */
static void put_rest(struct encoder *e, unsigned core, uint64_t line, const uint8_t *bytes)
{
    uint64_t page = line & ~(uint64_t)(VS_MC2RT_K_PAGE - 1);
    size_t step = e->caches.group.line;
    begin(e, core, VS_MC2RT_K_REST);
    for (uint64_t at = 0; at < VS_MC2RT_K_PAGE; at += step) {
        bool zero = is_zero(bytes + at, step);
        if (page + at != line && vs_known_line(&e->known, page + at)) {
            vs_mc2rt_k_put_part(e->base.port, VS_MC2RT_K_KNOWN);
            continue;
        }
        vs_mc2rt_k_put_part(e->base.port, zero ? VS_MC2RT_K_BLANK_LINE : VS_MC2RT_K_DATA);
        if (!zero)
            put_bytes(e, bytes + at, step);
        snoop(e, core, page + at);
    }
    vs_port_end(e->base.port);
    vs_known_set_page(&e->known, page);
    note_sent_page(e, core, page);
}

/* Sends a line that is not known; the whole page only if it `may`. */
static void put_line(struct encoder *e, unsigned core, uint64_t line, bool may)
{
    const uint8_t *page = page_of(e, line);
    size_t step = e->caches.group.line;
    if (!page)
        return;
    const uint8_t *bytes = page + (line & (VS_MC2RT_K_PAGE - 1));
    bool zero = is_zero(bytes, step);
    if (may && zero && is_zero(page, VS_MC2RT_K_PAGE)) {
        put_blank_page(e, core, line);
        return;
    }
    vs_known_set_line(&e->known, line);
    if (may && e->complete && vs_known_count(&e->known, line) >= e->complete) {
        put_rest(e, core, line, page);
        return;
    }
    begin(e, core, zero ? VS_MC2RT_K_ZERO : VS_MC2RT_K_LINE);
    if (!zero)
        put_bytes(e, bytes, step);
    vs_port_end(e->base.port);
    note_sent(e, core, line);
}

/* ---- other than accesses --------------------------------------------------------------------- */

static void rare_head(struct vs_data_encoder *base, unsigned core, enum vs_data_what what,
                      size_t size)
{
    struct encoder *e = (struct encoder *)base;
    static const enum vs_mc2rt_k_kind kinds[] = {[VS_DATA_NONDET] = VS_MC2RT_K_NONDET,
                                                 [VS_DATA_STATE] = VS_MC2RT_K_STATE,
                                                 [VS_DATA_END] = VS_MC2RT_K_END};
    if (what == VS_DATA_FULL) { /* orders nothing */
        put_head(e, core);
        vs_mc2rt_k_put_kind(base->port, VS_MC2RT_K_STATE);
        return;
    }
    begin(e, core, kinds[what]);
    if (what == VS_DATA_NONDET)
        vs_port_put_chunks(base->port, VS_FIELD_ORDER, VS_MC2RT_K_LENGTH, size);
}

static void forget(struct encoder *e, uint64_t addr, uint64_t size)
{
    uint64_t first, span;
    vs_traced_range(&e->caches, addr, size, &first, &span);
    for (unsigned i = 0; i < e->base.cores; i++)
        vs_traced_drop(&e->caches, i, first, span, NULL, NULL);
    note_lost_range(e, first, span);
    if (size)
        vs_known_forget(&e->known, addr, size);
    else
        vs_known_clear(&e->known);
}

static void rare_outside(struct vs_data_encoder *base, unsigned core, uint64_t addr, uint64_t size)
{
    (void)core;
    if (size)
        forget((struct encoder *)base, addr, size);
}

static void rare_forget(struct vs_data_encoder *base, unsigned core)
{
    (void)core;
    forget((struct encoder *)base, 0, 0);
}

static void rare_payload(struct vs_data_encoder *base, enum vs_field f, const uint8_t *bytes,
                         size_t size)
{
    vs_mc2rt_k_put_bytes(&((struct encoder *)base)->book, base->port, f, bytes, size);
}

static bool rare_predicts(struct vs_data_encoder *base, unsigned core, const uint8_t *bytes,
                          size_t size)
{
    struct encoder *e = (struct encoder *)base;
    if (!e->predicts || !is_zero(bytes, size))
        return false;
    base->counts.expected++;
    count_silent(e, core);
    return true;
}

static const struct vs_data_rare rare = {.kinds = true,
                                         .ordered = true,
                                         .head = rare_head,
                                         .payload = rare_payload,
                                         .predicts = rare_predicts,
                                         .outside = rare_outside,
                                         .forget = rare_forget};

/* ---- accesses -------------------------------------------------------------------------------- */

/* A read of a line that is in the core's cache, at an index, without T. Returns whether it had to
 * be sent. */
static bool read_untraced(struct encoder *e, unsigned core, uint64_t line, uint32_t index,
                          bool dirty)
{
    e->caches.t[core][index] = 1;
    if (!vs_known_line(&e->known, line)) {
        put_line(e, core, line, true);
        return true;
    }
    put_order_if(e, core, dirty || orders_read(e, core, line));
    return false;
}

static bool read_miss(struct encoder *e, unsigned core, uint64_t line)
{
    struct vs_moesi_result r;
    e->base.counts.line_misses++;
    vs_moesi_read_miss(&e->caches.group, core, line, &r);
    if (r.evicted)
        note_lost(e, core, r.victim, r.dirty);
    bool dirty = r.outcome == VS_MOESI_TRANSFER && e->cores[core].others >> r.supplier & 1 &&
                 e->caches.group.core[r.supplier].states[r.supplier_index] == VS_MOESI_O;
    if (!vs_traced_inherit(&e->caches, core, &r))
        return read_untraced(e, core, line, r.index, dirty);
    put_order_if(e, core, dirty || orders_read(e, core, line));
    return false;
}

/* Returns whether the line had to be sent. */
static inline bool read_line(struct encoder *e, unsigned core, uint64_t line)
{
    uint32_t index = vs_moesi_read_hit(&e->caches.group, core, line);
    if (unlikely(index == VS_CACHE_NONE))
        return read_miss(e, core, line);
    e->base.counts.line_hits++;
    if (unlikely(!e->caches.t[core][index]))
        return read_untraced(e, core, line, index, false);
    count_silent(e, core);
    return false;
}

/* A write that brings the line into the cache from below or from another one. */
static void write_miss(struct encoder *e, unsigned core, uint64_t line, bool first,
                       const struct vs_moesi_result *r)
{
    uint8_t *t = &e->caches.t[core][r->index];
    const uint8_t *page;
    e->base.counts.line_misses++;
    if (r->evicted)
        note_lost(e, core, r->victim, r->dirty);
    if (!vs_traced_inherit(&e->caches, core, r))
        *t = vs_known_line(&e->known, line);
    if (!*t && (page = page_of(e, line)) &&
        is_zero(page + (line & (VS_MC2RT_K_PAGE - 1)), e->caches.group.line)) {
        *t = 1;
        put_line(e, core, line, first);
    } else {
        put_order_if(e, core,
                     r->invalidated & e->cores[core].others || orders_write(e, core, line));
    }
}

static void write_other(struct encoder *e, unsigned core, uint64_t line, bool first)
{
    struct vs_moesi_result r = {0};
    if (vs_moesi_write_hit(&e->caches.group, core, line) == VS_CACHE_NONE)
        vs_moesi_write_shared(&e->caches.group, core, line, &r);
    if (r.outcome == VS_MOESI_TRANSFER || r.outcome == VS_MOESI_BELOW) {
        write_miss(e, core, line, first, &r);
        return;
    }
    e->base.counts.line_hits++;
    put_order_if(e, core, r.invalidated & e->cores[core].others || orders_write(e, core, line));
}

/* `first`: it is the operand's first line. The debugger has written what comes before others, so a
 * page as it was before the store would take that back. */
static inline void write_line(struct encoder *e, unsigned core, uint64_t line, bool first)
{
    const struct vs_moesi_core *c = &e->caches.group.core[core];
    uint32_t index = vs_cache_find(&c->cache, line);
    if (unlikely(index == VS_CACHE_NONE || c->states[index] != VS_MOESI_M)) {
        write_other(e, core, line, first);
        return;
    }
    vs_cache_touch(&e->caches.group.core[core].cache, index);
    e->base.counts.line_hits++;
    count_silent(e, core);
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
        forget(e, addr, size);
    }

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

    write_line(e, core, line, true);
    for (uint64_t left = (addr - line) + size; unlikely(left > step); left -= step)
        write_line(e, core, line += step, false);
    return unlikely(e->out_of_memory) ? -VSE_NOMEM : vs_seen_write(&base->seen, addr, bytes, size);
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    return vs_data_each(encoder, slice->events, load, store);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    for (unsigned i = 0; e->cores && i < e->base.cores; i++) {
        vs_bloom_fini(&e->cores[i].lost);
        vs_bloom_fini(&e->cores[i].changed);
        vs_bloom_fini(&e->cores[i].pages);
    }
    free(e->cores);
    vs_mc2rt_k_heads_fini(&e->heads);
    vs_known_fini(&e->known);
    vs_traced_fini(&e->caches);
    vs_data_encoder_fini(&e->base);
    free(e);
}

/* How many bits the filter of pages has. */
static uint32_t page_filter(const struct vs_data_params *p)
{
    return p->filter / 16 > VS_BLOOM_BITS_MIN ? (uint32_t)p->filter / 16
           : p->filter                        ? (uint32_t)VS_BLOOM_BITS_MIN
                                              : 0;
}

static int init_cores(struct encoder *e, const struct vs_data_params *p)
{
    unsigned line_bits = e->caches.group.core[0].cache.line_bits;
    e->cores = calloc(e->base.cores, sizeof(*e->cores));
    int err = e->cores ? 0 : -VSE_NOMEM;
    for (unsigned i = 0; !err && i < e->base.cores; i++) {
        struct encoder_core *c = &e->cores[i];
        err = vs_bloom_init(&c->lost, (uint32_t)p->filter, line_bits);
        if (!err)
            err = vs_bloom_init(&c->changed, (uint32_t)p->filter, line_bits);
        if (!err)
            err = vs_bloom_init(&c->pages, page_filter(p), VS_COPY_BITS);
    }
    return err;
}

static struct vs_known_config known_config(const struct vs_data_params *p)
{
    return (struct vs_known_config){.k_entries = (uint32_t)p->k,
                                    .r_entries = (uint32_t)p->r,
                                    .line = (uint32_t)p->line,
                                    .page = VS_MC2RT_K_PAGE,
                                    .region = (uint32_t)p->region};
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    const struct vs_data_params *p = context->params;
    const struct vs_technique_setup *setup = context->setup;
    const struct vs_cache_config config = vs_data_cache_config(p);
    const struct vs_known_config known = known_config(p);
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_data_encoder_init(&e->base, &rare, context);
    e->base.memory = true;
    e->full = vs_counter_full(p->fahcnt_bits);
    e->many = setup->cores > 1;
    e->predicts = p->predict == VS_DATA_PREDICT_ZERO;
    e->complete = p->r ? (unsigned)p->complete : 0;
    if (!err)
        err = vs_traced_init(&e->caches, setup->cores, &config, true, false);
    if (!err)
        err = vs_known_init(&e->known, &known, NULL);
    if (!err && !vs_wordbook_init(&e->book, p->words))
        err = -VSE_INVAL;
    if (!err)
        err = vs_mc2rt_k_heads_init(&e->heads, p, setup);
    if (!err)
        err = init_cores(e, p);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static const struct vs_encoder_ops encoder_ops =
    VS_DATA_ENCODER(encoder_open, encoder_consume, vs_data_finish, encoder_close);

/* ---- technique ------------------------------------------------------------------------------- */

static const struct vs_parameter parameters[] = {
    VS_DATA_CACHE_ROWS,
    VS_DATA_NUMBER(k, 0, 1u << 20, "entries of K: pages with a bit per line"),
    VS_DATA_NUMBER(r, 0, 1u << 20, "entries of R: regions with a bit per page"),
    VS_DATA_POWER(region, VS_MC2RT_K_PAGE, 1u << 30, "bytes of a region"),
    VS_DATA_NUMBER(complete, 0, VS_MC2RT_K_PAGE,
                   "known lines of a page at which the rest is sent; 0: never"),
    VS_DATA_NUMBER(filter, 0, VS_BLOOM_BITS_MAX,
                   "bits of a core's two filters of lines; 0: every transaction is told"),
    VS_DATA_WORD(predict, vs_data_predict_words, "values from outside: none, or 0"),
    VS_DATA_NUMBER(words, 0, VS_WORDBOOK_MAX,
                   "words of the book by which content is coded; 0: it is sent as it is"),
    VS_DATA_WORD(heads, vs_data_heads_words, "codes of Ti, dCC and THCnt"),
    VS_DATA_HITS_ROWS("THCnt"),
    VS_DATA_ICNT_ROW,
    VS_DATA_CYCLE_ROWS,
    {.name = NULL},
};

static const struct vs_technique_config configs[] = {
    {"1K", "k=16 r=64"},    {"4K", "k=64 r=256"}, {"16K", "k=32 r=1024"},
    {"32K", "k=64 r=2048"}, {NULL, NULL},
};

static int check(const void *params, struct vs_diag *diag)
{
    const struct vs_data_params *p = params;
    const struct vs_cache_config config = vs_data_cache_config(p);
    const struct vs_known_config known = known_config(p);
    if (p->filter && (!vs_is_power_of_two(p->filter) || p->filter < VS_BLOOM_BITS_MIN))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "a filter of %llu bits: must be 0, or a power of two from %d",
                           (unsigned long long)p->filter, VS_BLOOM_BITS_MIN);
    struct vs_wordbook book;
    if (!vs_wordbook_init(&book, p->words))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "a book of %llu words: must be 0, or a power of two from 2 to %d",
                           (unsigned long long)p->words, VS_WORDBOOK_MAX);
    int err = vs_cache_check_config(&config, diag);
    return err ? err : vs_known_check_config(&known, diag);
}

static void framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = true;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_data_params *p = params;
    const struct vs_known_config known = known_config(p);
    struct vs_cost filters = {0};
    vs_cost_add(&filters, vs_bloom_cost((uint32_t)p->filter), 2);
    vs_cost_add(&filters, vs_bloom_cost(page_filter(p)), 1);
    vs_cost_add(&filters, (struct vs_cost){.registers = setup->cores - 1}, 1);
    vs_cost_list_add(list, "trace bits", (struct vs_cost){.sram = p->size / p->line}, setup->cores);
    vs_cost_list_add(list, "K and R", vs_known_cost(&known, setup->address_bits), 1);
    if (setup->cores > 1)
        vs_cost_list_add(list, "filters", filters, setup->cores);
    vs_cost_list_add(list, "book of words", vs_wordbook_cost(p->words), 1);
    vs_cost_list_add(list, "THCnt", vs_counter_cost(p->fahcnt_bits), setup->cores);
    vs_cost_list_add(list, "widths", vs_mc2rt_k_heads_cost(p, setup), 1);
    vs_data_cost_common(list, p, setup);
    return 0;
}

const struct vs_technique vs_technique_mc2rt_k = {
    .serves = VS_TECHNIQUE_DATA,
    .cores_max = VS_MOESI_CORES_MAX,
    .name = "mc2RT_k",
    .summary = "mc2RT that remembers which lines and pages are known",
    .parameters = parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults =
        "size=32K line=32 ways=4 policy=lru k=32 r=1024 region=256K complete=64 "
        "filter=256 predict=zero words=64 heads=adaptive fahcnt=8 fahcnt_next=8 dcc=8 dcc_next=8 "
        "fahcnt_bits=32 icnt_bits=32",
    .configs = configs,
    .check = check,
    .cycles = vs_data_cycle_chunks,
    .framing = framing,
    .cost = cost,
    .cache_bits = vs_data_cache_bits,
    .encoder = &encoder_ops,
    .data_decoder = &vs_mc2rt_k_decoder,
};
