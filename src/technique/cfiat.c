/* SPDX-License-Identifier: MIT */
/* mlvCFiat: cache first-access tracking.
 *
 * Message: Ti | [dCC] | fahCnt | the operand's granules. fahCnt counts the core's loads since its
 * last message, all of which found their granules flagged. A message is also due for a value from
 * outside (in its own size), for registers, and at the core's end.
 *
 * fahCnt is full at all ones, and is then a message by itself: `Ti | [dCC] | fahCnt`. It starts
 * again from 0, and what it counted is added to the core's next count.
 *
 * A core's flagged granules are bytes that the core itself has read or written since anybody else
 * wrote them. So the debugger needs only one copy of memory per core, and the counters. The tables
 * K and R (model/granules.h) keep flags of lines that left the cache. They are the module's alone:
 * a granule that is flagged is in the core's copy, wherever its flag was meanwhile.
 *
 * A cache that the cores share flags bytes that another core got: there is one copy, and the order
 * of all accesses matters. There is then one counter for all cores, which counts loads and stores;
 * a bit follows it, and a message `Ti | [dCC] | fahCnt | 1` says that from now on the accesses are
 * this core's. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "model/granules.h"
#include "technique/data_common.h"

#define NOBODY UINT_MAX

static bool is_ordered(const struct vs_data_params *p, const struct vs_technique_setup *setup)
{
    return p->caches == VS_DATA_SHARED && p->order == VS_DATA_ORDER_EXACT && setup->cores > 1;
}

static struct vs_known_config known_config(const struct vs_data_params *p)
{
    return (struct vs_known_config){
        .k_entries = (uint32_t)p->k, .r_entries = (uint32_t)p->r, .line = (uint32_t)p->line};
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_data_encoder base;
    struct vs_granules caches;
    struct vs_chunks code;
    uint64_t granule;
    uint64_t full;  /* at which fahCnt is full */
    bool published; /* account=published */
    bool shared, ordered;
    unsigned current; /* if ordered: whose accesses the stream tells of */
    uint64_t *hits;   /* by cache */
};

static void put_count(struct encoder *e, unsigned core, uint64_t *hits, bool turns)
{
    vs_port_begin(e->base.port, core, e->base.time);
    vs_port_put_chunks(e->base.port, VS_FIELD_FAHCNT, e->code, *hits);
    *hits = 0;
    if (e->ordered)
        vs_port_put(e->base.port, VS_FIELD_ORDER, turns, 1);
}

static void put_full(struct encoder *e, unsigned core, uint64_t *hits)
{
    vs_port_begin(e->base.port, core, e->base.time);
    vs_port_put_chunks(e->base.port, VS_FIELD_FAHCNT, e->code, *hits);
    vs_port_end(e->base.port);
    *hits = 0;
}

static void turn_to(struct encoder *e, unsigned core)
{
    e->current = core;
    put_count(e, core, e->hits, true);
    vs_port_end(e->base.port);
    e->base.counts.orders++;
    e->base.counts.order_bits += vs_data_message_bits(&e->base);
}

static void begin(struct encoder *e, unsigned core)
{
    if (e->ordered && e->current != core)
        turn_to(e, core);
    put_count(e, core, &e->hits[e->ordered ? 0 : core], false);
}

static void rare_head(struct vs_data_encoder *base, unsigned core, enum vs_data_what what,
                      size_t size)
{
    (void)what, (void)size;
    begin((struct encoder *)base, core);
}

static void rare_outside(struct vs_data_encoder *base, unsigned core, uint64_t addr, uint64_t size)
{
    (void)core;
    vs_granules_drop(&((struct encoder *)base)->caches, VS_GRANULES_ALL, addr, size);
}

static void rare_forget(struct vs_data_encoder *base, unsigned core)
{
    (void)core;
    vs_granules_forget(&((struct encoder *)base)->caches);
}

static const struct vs_data_rare rare = {
    .head = rare_head, .outside = rare_outside, .forget = rare_forget};

static void put_load(struct encoder *e, unsigned core, uint64_t addr, size_t size,
                     const uint8_t *bytes)
{
    begin(e, core);
    if (e->published) {
        vs_data_put_value(&e->base, bytes, size);
    } else {
        size_t n = vs_data_granules_size(addr, size, e->granule);
        vs_seen_get(&e->base.seen, vs_data_granules_start(addr, e->granule), e->base.granules, n);
        vs_data_put_value(&e->base, e->base.granules, n);
    }
    vs_port_end(e->base.port);
}

/* Counts a load or store that takes no message. */
static inline void count_silent(struct encoder *e, unsigned core, bool load)
{
    uint64_t *hits = &e->hits[e->ordered ? 0 : core];
    if (unlikely(e->ordered && e->current != core))
        turn_to(e, core);
    *hits += load || e->ordered;
    if (unlikely(*hits == e->full))
        put_full(e, core, hits);
}

static inline int load(struct vs_data_encoder *base, unsigned core, uint64_t addr, size_t size,
                       const uint8_t *bytes)
{
    struct encoder *e = (struct encoder *)base;
    unsigned cache = e->shared ? 0 : core;
    unsigned missed = vs_granules_read(&e->caches, cache, addr, size);
    int same = base->memory ? vs_seen_load(&base->seen, addr, bytes, size) : 1;
    if (unlikely(same < 0))
        return same;
    if (unlikely(!same)) {
        base->counts.unseen++;
        vs_granules_drop(&e->caches, (int)cache, addr, size);
    }
    bool hit = same && !(missed & VS_GRANULES_NO_FLAG), in_lines = !(missed & VS_GRANULES_NO_LINE);
    base->counts.line_hits += in_lines;
    base->counts.line_misses += !in_lines;
    vs_data_note_load(base, size, hit);
    if (likely(hit))
        count_silent(e, core, true);
    else
        put_load(e, core, addr, size, bytes);
    return 0;
}

static inline int store(struct vs_data_encoder *base, unsigned core, uint64_t addr, size_t size,
                        const uint8_t *bytes)
{
    struct encoder *e = (struct encoder *)base;
    unsigned missed = vs_granules_write(&e->caches, e->shared ? 0 : core, addr, size, e->published);
    base->counts.line_hits += !missed;
    base->counts.line_misses += missed != 0;
    count_silent(e, core, false);
    return base->memory ? vs_seen_write(&base->seen, addr, bytes, size) : 0;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    return vs_data_each(encoder, slice->events, load, store);
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    vs_granules_fini(&e->caches);
    vs_data_encoder_fini(&e->base);
    free(e->hits);
    free(e);
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
    e->code = vs_data_count_chunks(p);
    e->granule = p->granule;
    e->full = vs_counter_full(p->fahcnt_bits);
    e->published = p->account == VS_DATA_ACCOUNT_PUBLISHED;
    e->shared = p->caches == VS_DATA_SHARED;
    e->ordered = is_ordered(p, setup);
    e->current = NOBODY;
    e->base.memory = !e->published && !(p->caches == VS_DATA_PRIVATE && setup->cores > 1);
    e->hits = calloc(setup->cores, sizeof(*e->hits));
    if (!err)
        err = vs_granules_init(&e->caches, e->shared ? 1 : setup->cores, &config,
                               (uint32_t)p->granule, p->caches == VS_DATA_COHERENT, NULL);
    if (!err && p->k)
        err = vs_granules_remember(&e->caches, &known, NULL);
    if (!err && !e->hits)
        err = -VSE_NOMEM;
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static const struct vs_encoder_ops encoder_ops =
    VS_DATA_ENCODER(encoder_open, encoder_consume, vs_data_finish, encoder_close);

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_port_reader *port;
    struct vs_chunks code;
    uint64_t granule;
    unsigned cores, copy_count;
    bool published, shared, ordered;
    struct vs_copy *copies;
    uint64_t *hits;      /* by copy: those since the last message */
    uint64_t full;       /* at which the encoder's counter is full */
    uint64_t *full_hits; /* by copy: what full counters told of; the next count includes it */
    struct vs_data_passed passed;
    struct vs_buf state;

    int error; /* of reading a head, which stays */
    bool have; /* the next message's head was read, and this is in it: */
    unsigned core;
    uint64_t count;
    bool turns;
    struct vs_data_head head; /* what follows, if it is no turn */

    unsigned current; /* if ordered: whose turn it is */
    bool turned;      /* and the core has not used it yet; its message came at turned_at */
    uint64_t turned_at;
    uint8_t granules[VS_SIZE_MAX + 2 * VS_DATA_LINE_MAX];
};

/* Reads the next message's head. Returns 0; 1: it only told that a counter is full. */
static int parse_head(struct decoder *d, unsigned core)
{
    uint64_t turns = 0;
    int err = vs_port_next(d->port, &d->core, NULL);
    if (err == -VSE_END)
        return vs_data_ended(d->port, core);
    if (err)
        return err;
    unsigned which = d->shared ? 0 : d->core;
    if ((err = vs_data_get_hits(d->port, d->code, d->full, &d->full_hits[which], &d->count)) ||
        (d->ordered && (err = vs_port_get(d->port, VS_FIELD_ORDER, 1, &turns))))
        return err;
    d->turns = turns;
    if (d->hits[which] > d->count)
        return vs_port_refuse(d->port, VS_FIELD_FAHCNT, "more loads than that were made");
    if (d->ordered && (d->turns ? d->current == NOBODY && d->count : d->current != d->core))
        return vs_port_refuse(d->port, VS_FIELD_ORDER, "it is not this core's turn");
    if (!d->turns && (err = vs_data_get_head(d->port, &d->passed, d->core, &d->head)))
        return err;
    d->have = d->turns || !d->head.full;
    if (d->have)
        return 0;
    d->full_hits[which] = d->count;
    d->turned = false; /* the turn may have come for this message, before any access */
    return 1;
}

/* Nothing can be read after an error. */
static int read_head(struct decoder *d, unsigned core)
{
    while (!d->error && !d->have) {
        int err = parse_head(d, core);
        d->error = err < 0 ? err : 0;
    }
    return d->error;
}

/* Does the same for an access by the core. In an ordered stream its turn must have come. */
static inline int look(struct decoder *d, unsigned core)
{
    if (unlikely(core >= d->cores))
        return -VSE_INVAL;
    for (;;) {
        int err = likely(d->have) ? 0 : read_head(d, core);
        if (unlikely(err) || likely(!d->ordered))
            return err;
        if (!d->turns || d->hits[0] < d->count)
            return d->current == core ? 0 : VS_DECODER_WAIT;
        d->current = d->core;
        d->turned = true;
        d->turned_at = d->port->cycles[d->core];
        d->hits[0] = 0;
        d->have = false;
    }
}

/* The message that gave the core its turn was sent when the core first used it. */
static inline void use_turn(struct decoder *d, unsigned core)
{
    if (unlikely(d->turned)) {
        d->turned = false;
        vs_port_took_at(d->port, core, d->turned_at);
    }
}

/* Whether the message reports the core's next load. */
static inline bool is_due(const struct decoder *d, unsigned core)
{
    return d->core == core && !d->turns && d->hits[d->shared ? 0 : core] == d->count;
}

static inline void take(struct decoder *d, unsigned core)
{
    d->hits[d->shared ? 0 : core] = 0;
    d->have = false;
    use_turn(d, core);
    vs_port_took(d->port, core);
}

static int unknown(struct decoder *d, unsigned core, uint64_t addr)
{
    return vs_diag_set(&d->port->diag, -VSE_CORRUPT, (int64_t)(d->port->bits.pos / 8), -1,
                       "bit %llu, in message %llu: core %u reads 0x%llx, of which the stream told "
                       "nothing",
                       (unsigned long long)d->port->bits.pos, (unsigned long long)d->port->messages,
                       core, (unsigned long long)addr);
}

static int take_load(struct decoder *d, unsigned core, struct vs_copy *copy, uint64_t addr,
                     size_t size, uint8_t *bytes)
{
    uint64_t start = d->published ? addr : vs_data_granules_start(addr, d->granule);
    size_t n = d->published ? size : vs_data_granules_size(addr, size, d->granule);
    int err = vs_data_get_value(d->port, &d->head, d->granules, n);
    if (err || (err = vs_copy_write(copy, start, d->granules, n)))
        return err;
    vs_copy_bytes(bytes, d->granules + (addr - start), size);
    take(d, core);
    vs_port_took_memory(d->port, core, &(struct vs_port_memory){start, d->granules, n});
    return 0;
}

/* A load that takes no message. Returns 0; -VSE_NOTFOUND, with nothing changed. */
static inline int read_copy(struct decoder *d, unsigned core, uint64_t addr, size_t size,
                            uint8_t *bytes)
{
    unsigned which = d->shared ? 0 : core;
    if (unlikely(vs_copy_read(&d->copies[which], addr, bytes, size)))
        return -VSE_NOTFOUND;
    d->hits[which]++;
    use_turn(d, core);
    return 0;
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    int err = look(d, core);
    if (unlikely(err))
        return err;
    if (unlikely(is_due(d, core)))
        return take_load(d, core, &d->copies[d->shared ? 0 : core], addr, size, bytes);
    return unlikely(read_copy(d, core, addr, size, bytes)) ? unknown(d, core, addr) : 0;
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(core >= d->cores))
        return -VSE_INVAL;
    if (unlikely(d->ordered)) {
        int err = look(d, core);
        if (err)
            return err;
        if (is_due(d, core))
            return vs_port_refuse(d->port, VS_FIELD_FAHCNT, "a message where the core stores");
        d->hits[0]++;
        use_turn(d, core);
    }
    return vs_copy_write(&d->copies[d->shared ? 0 : core], addr, bytes, size);
}

/* Whether the core's next access takes a message, has to wait for one, or would fail. */
static inline bool is_loud(struct decoder *d, unsigned core, bool store)
{
    if (store && !d->ordered)
        return core >= d->cores;
    if (unlikely(look(d, core)))
        return true;
    /* the last access before a turn makes it another core's turn */
    return d->ordered ? is_due(d, core) || (d->turns && d->hits[0] + 1 == d->count)
                      : d->core != core || d->hits[d->shared ? 0 : core] == d->count;
}

static int decoder_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(is_loud(d, core, false)))
        return VS_DECODER_LOUD;
    return unlikely(read_copy(d, core, addr, size, bytes)) ? VS_DECODER_LOUD : 0;
}

static int decoder_write_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                 const uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(is_loud(d, core, true)))
        return VS_DECODER_LOUD;
    if (d->ordered) {
        d->hits[0]++;
        use_turn(d, core);
    }
    return vs_copy_write(&d->copies[d->shared ? 0 : core], addr, bytes, size);
}

static bool decoder_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store)
{
    (void)addr, (void)size;
    return is_loud(decoder, core, store);
}

/* Looks for a message that is due whatever the core has accessed. */
static int look_due(struct decoder *d, unsigned core)
{
    int err = look(d, core);
    if (err || is_due(d, core))
        return err;
    return d->core == core ? vs_port_refuse(d->port, VS_FIELD_FAHCNT, "a load should come first")
                           : VS_DECODER_WAIT;
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    int err = look_due(d, core);
    if (err || (err = vs_data_get_value(d->port, &d->head, bytes, size)))
        return err;
    take(d, core);
    return 0;
}

static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    (void)since;
    int err = look(d, core);
    vs_data_due(!err && d->core == core && !d->turns ? &d->head : NULL, instructions, ends);
    return err < 0 ? err : 0;
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    int err = look_due(d, core);
    if (err ||
        (err = vs_data_get_state(d->port, &d->head, core, instructions, &d->state, bytes, size)))
        return err;
    take(d, core);
    return 0;
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    int err = look_due(d, core);
    if (err || (err = vs_data_get_end(d->port, &d->head, core, instructions)))
        return err;
    take(d, core);
    return 0;
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    int err = look(d, d->ordered && d->current != NOBODY ? d->current : 0);
    if (err >= 0)
        *core = d->ordered ? d->current : d->core;
    return err < 0 ? err : 0;
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_data_copies_free(d->copies, d->copy_count);
    vs_buf_fini(&d->state);
    vs_data_passed_fini(&d->passed);
    free(d->full_hits);
    free(d->hits);
    free(d);
}

static int decoder_clone(void *decoder, struct vs_port_reader *port, void **clone)
{
    struct decoder *from = decoder, *d = *clone = malloc(sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    *d = *from;
    d->port = port;
    d->state = (struct vs_buf){0};
    d->copies = vs_data_copies_clone(from->copies, d->copy_count);
    d->hits = malloc(d->copy_count * sizeof(*d->hits));
    d->full_hits = malloc(d->copy_count * sizeof(*d->full_hits));
    int err = vs_data_passed_clone(&d->passed, &from->passed);
    if (d->copies && d->hits && d->full_hits && !err) {
        memcpy(d->hits, from->hits, d->copy_count * sizeof(*d->hits));
        memcpy(d->full_hits, from->full_hits, d->copy_count * sizeof(*d->full_hits));
        return 0;
    }
    decoder_close(d);
    *clone = NULL;
    return -VSE_NOMEM;
}

static struct vs_copy *decoder_copies(void *decoder, unsigned *count)
{
    struct decoder *d = decoder;
    *count = d->copy_count;
    return d->copies;
}

static size_t decoder_size(const void *decoder)
{
    return sizeof(struct decoder) +
           ((const struct decoder *)decoder)->copy_count * sizeof(struct vs_copy);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    const struct vs_data_params *p = params;
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->port = port;
    d->code = vs_data_count_chunks(p);
    d->granule = p->granule;
    d->cores = setup->cores;
    d->published = p->account == VS_DATA_ACCOUNT_PUBLISHED;
    d->shared = p->caches == VS_DATA_SHARED;
    d->ordered = is_ordered(p, setup);
    d->current = NOBODY;
    d->copy_count = d->shared ? 1 : setup->cores;
    d->copies = vs_data_copies_new(d->copy_count);
    d->hits = calloc(d->copy_count, sizeof(*d->hits));
    d->full = vs_counter_full(p->fahcnt_bits);
    d->full_hits = calloc(d->copy_count, sizeof(*d->full_hits));
    int err = vs_data_passed_init(&d->passed, p, setup->cores);
    if (d->copies && d->hits && d->full_hits && !err)
        return 0;
    decoder_close(d);
    *decoder = NULL;
    return -VSE_NOMEM;
}

static const struct vs_data_decoder_ops decoder_ops = {.open = decoder_open,
                                                       .read = decoder_read,
                                                       .write = decoder_write,
                                                       .nondet = decoder_nondet,
                                                       .due = decoder_due,
                                                       .takes = decoder_takes,
                                                       .read_quietly = decoder_read_quietly,
                                                       .write_quietly = decoder_write_quietly,
                                                       .state = decoder_state,
                                                       .end = decoder_end,
                                                       .turn = decoder_turn,
                                                       .clone = decoder_clone,
                                                       .copies = decoder_copies,
                                                       .size = decoder_size,
                                                       .close = decoder_close};

/* ---- techniques ------------------------------------------------------------------------------ */

static const struct vs_parameter parameters[] = {
    VS_DATA_CACHE_ROWS,
    VS_DATA_POWER(granule, 1, 32, "bytes per first-access flag"),
    VS_DATA_HITS_ROWS("fahCnt"),
    VS_DATA_ICNT_ROW,
    VS_DATA_CYCLE_ROWS,
    VS_DATA_WORD(account, vs_data_account_words, "whole granules, or operands as published"),
    VS_DATA_WORD(caches, vs_data_caches_words, "whose caches carry the flags"),
    VS_DATA_WORD(order, vs_data_order_words, "of cores that share a cache: told, or not"),
    VS_DATA_POWER(k, 0, 1 << 16, "pages in K, the table of known lines, beside each cache"),
    VS_DATA_POWER(r, 0, 1 << 16, "regions in R, the table of known pages, beside each cache"),
    {.name = NULL},
};

#define TABLES(size, pages, regions)                                                               \
    "size=" #size " line=32 ways=4 policy=lru granule=4 caches=coherent k=" #pages " r=" #regions

static const struct vs_technique_config configs[] = {
    {"S", "size=16K line=64 ways=4 policy=round-robin granule=4"},
    {"M", "size=32K line=64 ways=4 policy=round-robin granule=4"},
    {"L", "size=64K line=64 ways=4 policy=round-robin granule=4"},
    {"CS16", "size=16K line=32 ways=4 policy=lru granule=4 caches=coherent"},
    {"CS32", "size=32K line=32 ways=4 policy=lru granule=4 caches=coherent"},
    {"shared", "caches=shared"},
    {"1K", TABLES(16K, 8, 16)}, /* these have at most as much storage of their own for each core */
    {"2K", TABLES(16K, 16, 64)},
    {"4K", TABLES(16K, 64, 128)},
    {"16K", TABLES(32K, 512, 256)},
    {"32K", TABLES(32K, 1024, 512)},
    {NULL, NULL},
};

static int check(const void *params, struct vs_diag *diag)
{
    const struct vs_data_params *p = params;
    const struct vs_cache_config config = vs_data_cache_config(p);
    if (p->granule > p->line)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "a granule is at most a cache line");
    if (p->r && !p->k)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "r=%llu needs k: the table of pages is filled from that of lines",
                           (unsigned long long)p->r);
    return vs_cache_check_config(&config, diag);
}

static const char *undecodable(const void *params)
{
    const struct vs_data_params *p = params;
    if (p->account == VS_DATA_ACCOUNT_PUBLISHED)
        return "account=published flags granules of which not all bytes were reported";
    if (p->caches == VS_DATA_PRIVATE)
        return "caches=private does not notice what other cores write";
    if (p->caches == VS_DATA_SHARED && p->order == VS_DATA_ORDER_PUBLISHED)
        return "order=published does not tell which core used the shared cache when";
    return NULL;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_data_params *p = params;
    uint64_t caches = p->caches == VS_DATA_SHARED ? 1 : setup->cores;
    vs_cost_list_add(list, "first-access flags", (struct vs_cost){.sram = p->size / p->granule},
                     caches);
    const struct vs_known_config known = known_config(p);
    if (p->k)
        vs_cost_list_add(list, "known lines and pages", vs_known_cost(&known, setup->address_bits),
                         caches);
    vs_cost_list_add(list, "fahCnt", vs_counter_cost(p->fahcnt_bits),
                     is_ordered(p, setup) ? 1 : setup->cores);
    vs_data_cost_common(list, p, setup);
    return 0;
}

static const char *const aliases_b[] = {"CF_b", "tmlvCF_b", NULL};
static const char *const aliases_e[] = {"CF_e", "tmlvCF_e", "mlvCFiat", NULL};

#define CFIAT(identifier, title, others, text, values)                                             \
    const struct vs_technique identifier = {.name = title,                                         \
                                            .aliases = others,                                     \
                                            .serves = VS_TECHNIQUE_DATA,                           \
                                            .summary = text,                                       \
                                            .parameters = parameters,                              \
                                            .params_size = sizeof(struct vs_data_params),          \
                                            .defaults = values COUNTERS,                           \
                                            .unnamed = "fahcnt_bits=64 icnt_bits=64 k=0 r=0",      \
                                            .configs = configs,                                    \
                                            .check = check,                                        \
                                            .cycles = vs_data_cycle_chunks,                        \
                                            .undecodable = undecodable,                            \
                                            .cost = cost,                                          \
                                            .cache_bits = vs_data_cache_bits,                      \
                                            .encoder = &encoder_ops,                               \
                                            .data_decoder = &decoder_ops}

#define COUNTERS " fahcnt_bits=32 icnt_bits=32"
#define CACHE    "size=32K line=64 ways=4 policy=round-robin granule=4 "

CFIAT(vs_technique_mlvcf_b, "mlvCF_b", aliases_b,
      "first accesses to cached granules, fahCnt in chunks (8,8)",
      CACHE "fahcnt=8 fahcnt_next=8 dcc=8 dcc_next=8");
CFIAT(vs_technique_mlvcf_e, "mlvCF_e", aliases_e,
      "first accesses to cached granules, fahCnt in chunks (2,2)",
      CACHE "fahcnt=2 fahcnt_next=2 dcc=4 dcc_next=2");
