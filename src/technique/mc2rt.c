/* SPDX-License-Identifier: MIT */
/* mc2RT: the cache-coherent read trace.
 *
 * One trace bit T per line of the cores' coherent caches: the debugger knows the line. It travels
 * with the line from cache to cache. A read of a line without T is a message with the whole line;
 * THCnt counts the core's reads of lines with T since its last message. With order=exact it counts
 * all accesses to lines that took no message: where a core stands when it loses a line to another
 * must be known, also among its stores.
 *
 * The debugger has the same caches, with data, and has to know in which order cores acted on each
 * other's lines. By the rule `all` every transaction that a core starts (read miss, write miss,
 * upgrade) is a message; those that need no line only give the order. Between two messages of a
 * core nothing it does can be noticed by others, or is changed by them. So the debugger lets every
 * core run until just before its next message, and then takes the messages in their order.
 *
 * By the rule `implied` a write miss takes no message, and is counted in THCnt, if its order
 * follows from the others':
 *   - no other core has the line; those that had it lost it before this core's last message,
 *   - the line that makes way, if one does, is in M or E: no other core has used it since,
 *   - no other core has taken a line from the set since: the same line makes way in the debugger.
 * Then it makes no difference that the debugger does it right after the core's last message. To
 * know the first takes a directory below the caches.
 *
 *   Ti | [dCC] | THCnt | 0    | line                  a line
 *   Ti | [dCC] | THCnt | 10                           order only
 *   Ti | [dCC] | THCnt | 11 | what (2) | ...          0: outside wrote: address, length (0: all of
 *                                                     memory), and how many such notices there
 *                                                     were since the last access or message
 *                                                     1: registers  2: value from outside, its
 *                                                     length first  3: the core's end
 * With order=published there is no bit after THCnt and nothing but lines, registers and values. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "model/moesi.h"
#include "port/demux.h"
#include "technique/data_common.h"

#define LENGTH_CODE ((struct vs_chunks){8, 8})
#define NOTICE_CODE ((struct vs_chunks){1, 2})

enum kind { KIND_LINE, KIND_ORDER, KIND_OUTSIDE, KIND_STATE, KIND_NONDET, KIND_END };

/* ---- caches with trace bits ------------------------------------------------------------------ */

struct traced {
    struct vs_moesi group;
    uint8_t **t; /* by core and index */
};

static void traced_fini(struct traced *c)
{
    for (unsigned i = 0; c->t && i < c->group.cores; i++)
        free(c->t[i]);
    free(c->t);
    vs_moesi_fini(&c->group);
}

static int traced_init(struct traced *c, const struct vs_data_params *p, unsigned cores, bool data)
{
    const struct vs_cache_config config = vs_data_cache_config(p);
    if (cores > VS_MOESI_CORES_MAX)
        return -VSE_LIMIT;
    int err = vs_moesi_init(&c->group, cores, &config, data, NULL);
    if (err)
        return err;
    c->t = calloc(cores, sizeof(*c->t));
    for (unsigned i = 0; c->t && i < cores; i++)
        if (!(c->t[i] = calloc(c->group.core[i].cache.lines, 1)))
            err = -VSE_NOMEM;
    return c->t ? err : -VSE_NOMEM;
}

/* After a miss: T comes with a line from another cache. Returns it. */
static bool inherit(struct traced *c, unsigned core, const struct vs_moesi_result *r)
{
    bool t = r->outcome == VS_MOESI_TRANSFER && c->t[r->supplier][r->supplier_index];
    c->t[core][r->index] = t;
    return t;
}

static bool in_range(uint64_t tag, uint64_t first, uint64_t span)
{
    return tag != VS_CACHE_FREE && tag - first <= span;
}

/* Of bytes from outside: the first line, and how far the last is from it. Size 0 is everything. */
static void range_of(const struct traced *c, uint64_t addr, uint64_t size, uint64_t *first,
                     uint64_t *span)
{
    uint64_t mask = ~(uint64_t)(c->group.line - 1);
    *first = size ? addr & mask : 0;
    *span = size ? ((addr + (size - 1)) & mask) - *first : UINT64_MAX;
}

static bool is_short(const struct traced *c, uint64_t span)
{
    return span / c->group.line < c->group.core[0].cache.lines;
}

static bool core_has_any(const struct traced *c, unsigned core, uint64_t first, uint64_t span)
{
    const struct vs_cache *cache = &c->group.core[core].cache;
    if (is_short(c, span)) {
        for (uint64_t at = 0; at <= span; at += c->group.line)
            if (vs_cache_find(cache, first + at) != VS_CACHE_NONE)
                return true;
        return false;
    }
    for (uint32_t i = 0; i < cache->lines; i++)
        if (in_range(cache->tags[i], first, span))
            return true;
    return false;
}

/* Told of every line that a core loses to somebody else, or by making way. */
typedef void lost(void *context, unsigned core, uint64_t line, bool taken);

static void drop_from(struct traced *c, unsigned core, uint64_t first, uint64_t span, lost *tell,
                      void *context)
{
    struct vs_moesi_result r;
    const struct vs_cache *cache = &c->group.core[core].cache;
    for (uint64_t at = 0; is_short(c, span) && at <= span; at += c->group.line) {
        vs_moesi_evict(&c->group, core, first + at, &r);
        if (r.evicted && tell)
            tell(context, core, first + at, true);
    }
    for (uint32_t i = 0; !is_short(c, span) && i < cache->lines; i++)
        if (in_range(cache->tags[i], first, span)) {
            uint64_t line = cache->tags[i];
            vs_moesi_evict(&c->group, core, line, &r);
            if (tell)
                tell(context, core, line, true);
        }
}

/* ---- who lost what --------------------------------------------------------------------------- */

/* Times are numbers of messages, from 1; 0 is never. */
struct loss {
    uint64_t line;
    uint64_t time;   /* of the last loss, of `core` */
    uint64_t before; /* of the last loss of another core */
    unsigned core;
    bool used;
};

struct losses {
    struct loss *table;
    size_t capacity, count; /* capacity: a power of two */
};

static struct loss *find_loss(const struct losses *l, uint64_t line)
{
    size_t i = (size_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (l->capacity - 1);
    while (l->table[i].used && l->table[i].line != line)
        i = (i + 1) & (l->capacity - 1);
    return &l->table[i];
}

static int grow_losses(struct losses *l)
{
    struct losses new = {.capacity = l->capacity ? 2 * l->capacity : 1024, .count = l->count};
    new.table = calloc(new.capacity, sizeof(*new.table));
    if (!new.table)
        return -VSE_NOMEM;
    for (size_t i = 0; i < l->capacity; i++)
        if (l->table[i].used)
            *find_loss(&new, l->table[i].line) = l->table[i];
    free(l->table);
    *l = new;
    return 0;
}

static int note_loss(struct losses *l, uint64_t line, unsigned core, uint64_t time)
{
    if (2 * l->count >= l->capacity && grow_losses(l))
        return -VSE_NOMEM;
    struct loss *entry = find_loss(l, line);
    if (!entry->used) {
        *entry = (struct loss){.line = line, .core = core, .used = true};
        l->count++;
    }
    if (entry->core != core) {
        entry->before = entry->time;
        entry->core = core;
    }
    entry->time = time;
    return 0;
}

static uint64_t lost_by_others(const struct losses *l, uint64_t line, unsigned core)
{
    const struct loss *entry = l->capacity ? find_loss(l, line) : NULL;
    if (!entry || !entry->used)
        return 0;
    return entry->core == core ? entry->before : entry->time;
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder_core {
    uint64_t count; /* THCnt */

    uint64_t notices; /* outside writes without a message since its last access or message */
    uint64_t last;    /* number of its last message */
    uint64_t *taken;  /* by set: when another core took a line from it */
};

struct encoder {
    struct vs_data_encoder base;
    struct traced caches;
    struct vs_chunks code;
    unsigned address_bits;
    bool ordered; /* order=exact */
    bool implied; /* rule=implied */
    uint64_t messages;
    struct encoder_core *cores;
    struct losses losses;
    bool out_of_memory;
};

static const unsigned kind_bits[] = {
    [KIND_LINE] = 1,  [KIND_ORDER] = 2,  [KIND_OUTSIDE] = 4,
    [KIND_STATE] = 4, [KIND_NONDET] = 4, [KIND_END] = 4,
};

/* First bit first. */
static const uint64_t kind_codes[] = {
    [KIND_LINE] = 0,           [KIND_ORDER] = 1,           [KIND_OUTSIDE] = 3,
    [KIND_STATE] = 3 | 1 << 2, [KIND_NONDET] = 3 | 2 << 2, [KIND_END] = 3 | 3 << 2,
};

static void begin(struct encoder *e, unsigned core, enum kind kind)
{
    struct encoder_core *c = &e->cores[core];
    vs_port_begin(e->base.port, core, e->base.time);
    vs_port_put_chunks(e->base.port, VS_FIELD_FAHCNT, e->code, c->count);
    if (e->ordered)
        vs_port_put(e->base.port, kind == KIND_LINE ? VS_FIELD_HEADER : VS_FIELD_ORDER,
                    kind_codes[kind], kind_bits[kind]);
    c->count = c->notices = 0;
    c->last = ++e->messages;
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
    static const enum kind kinds[] = {
        [VS_DATA_NONDET] = KIND_NONDET, [VS_DATA_STATE] = KIND_STATE, [VS_DATA_END] = KIND_END};
    begin(e, core, kinds[what]);
    if (e->ordered && what == VS_DATA_NONDET)
        vs_port_put_chunks(base->port, VS_FIELD_ORDER, LENGTH_CODE, size);
}

static void tell_lost(void *context, unsigned core, uint64_t line, bool taken)
{
    struct encoder *e = context;
    const struct vs_cache *cache = &e->caches.group.core[core].cache;
    if (!e->implied)
        return;
    if (note_loss(&e->losses, line, core, e->messages + 1))
        e->out_of_memory = true;
    if (taken)
        e->cores[core].taken[(line >> cache->line_bits) & cache->set_mask] = e->messages + 1;
}

static void put_outside(struct encoder *e, unsigned core, uint64_t addr, uint64_t size)
{
    struct encoder_core *c = &e->cores[core];
    uint64_t first, span, notices = c->notices;
    bool any = false;
    range_of(&e->caches, addr, size, &first, &span);
    for (unsigned i = 0; i < e->base.cores && !any; i++)
        any = core_has_any(&e->caches, i, first, span);
    if (!any) {
        c->notices++;
        return;
    }
    for (unsigned i = 0; i < e->base.cores; i++)
        drop_from(&e->caches, i, first, span, tell_lost, e);
    if (!e->ordered)
        return;
    begin(e, core, KIND_OUTSIDE);
    vs_port_put(e->base.port, VS_FIELD_ADDRESS, addr, e->address_bits);
    vs_port_put_chunks(e->base.port, VS_FIELD_ORDER, LENGTH_CODE, size);

    vs_port_put_chunks(e->base.port, VS_FIELD_ORDER, NOTICE_CODE, notices);
    end_order(e);
}

static void rare_outside(struct vs_data_encoder *base, unsigned core, uint64_t addr, uint64_t size)
{
    put_outside((struct encoder *)base, core, addr, size);
}

static void rare_forget(struct vs_data_encoder *base, unsigned core)
{
    put_outside((struct encoder *)base, core, 0, 0);
}

static const struct vs_data_rare rare = {
    .kinds = true, .head = rare_head, .outside = rare_outside, .forget = rare_forget};

static void put_line(struct encoder *e, unsigned core, uint64_t line)
{
    vs_seen_get(&e->base.seen, line, e->base.granules, e->caches.group.line);
    begin(e, core, KIND_LINE);
    vs_port_put_bytes(e->base.port, VS_FIELD_VALUE, e->base.granules, e->caches.group.line);
    vs_port_end(e->base.port);
}

static void put_order(struct encoder *e, unsigned core)
{
    if (!e->ordered)
        return;
    begin(e, core, KIND_ORDER);
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
    if (!inherit(&e->caches, core, &r)) {
        e->caches.t[core][r.index] = 1;
        put_line(e, core, line);
        return true;
    }
    if (e->ordered)
        put_order(e, core);
    else
        e->cores[core].count++;
    return false;
}

static inline bool read_line(struct encoder *e, unsigned core, uint64_t line)
{
    uint32_t index = vs_moesi_read_hit(&e->caches.group, core, line);
    if (unlikely(index == VS_CACHE_NONE))
        return read_miss(e, core, line);
    e->base.counts.line_hits++;
    if (likely(e->caches.t[core][index])) {
        e->cores[core].count++;
        return false;
    }
    e->caches.t[core][index] = 1;
    put_line(e, core, line);
    return true;
}

/* Before the write: whether the line that would make way is nobody else's business. */
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
    bool silent = e->implied && way_is_free(e, core, line) &&
                  lost_by_others(&e->losses, line, core) <= e->cores[core].last;
    vs_moesi_write_shared(&e->caches.group, core, line, &r);
    note_losses(e, core, line, &r);
    e->base.counts.line_hits += r.outcome == VS_MOESI_UPGRADE;
    e->base.counts.line_misses += r.outcome != VS_MOESI_UPGRADE;
    if (r.outcome != VS_MOESI_UPGRADE)
        inherit(&e->caches, core, &r);
    if (silent && r.outcome == VS_MOESI_BELOW && !r.invalidated) {
        e->base.counts.silent++;
        e->cores[core].count++;
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
            e->cores[core].count += e->ordered;
        } else {
            write_shared(e, core, line);
        }
        if (left <= step)
            break;
    }
    return unlikely(e->out_of_memory) ? -VSE_NOMEM : vs_seen_write(&base->seen, addr, bytes, size);
}

static int encoder_consume(void *encoder, const struct vs_batch *batch)
{
    return vs_data_each(encoder, batch, load, store);
}

static int encoder_finish(void *encoder)
{
    struct encoder *e = encoder;
    if (e->ordered)
        vs_data_put_ends(&e->base);
    return 0;
}

static void encoder_counts(const void *encoder, struct vs_data_counts *counts)
{
    *counts = ((const struct encoder *)encoder)->base.counts;
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    for (unsigned i = 0; e->cores && i < e->base.cores; i++)
        free(e->cores[i].taken);
    free(e->cores);
    free(e->losses.table);
    traced_fini(&e->caches);
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

static int encoder_open(void **encoder, const void *params, const struct vs_technique_setup *setup,
                        const struct vs_prior *prior, struct vs_port_writer *port)
{
    const struct vs_data_params *p = params;
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_data_encoder_init(&e->base, &rare, setup, prior, port);
    e->base.memory = true;
    e->code = vs_data_count_chunks(p);
    e->address_bits = setup->address_bits;
    e->ordered = p->order == VS_DATA_ORDER_EXACT;
    e->implied = e->ordered && p->rule == VS_DATA_RULE_IMPLIED;
    if (!err)
        err = traced_init(&e->caches, p, setup->cores, false);
    if (!err)
        err = init_cores(e);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static const struct vs_data_encoder_ops encoder_ops = {
    encoder_open, encoder_consume, encoder_finish, encoder_counts, encoder_close};

/* ---- decoder --------------------------------------------------------------------------------- */

struct message {
    uint64_t number; /* from 0, in the stream's order */
    uint64_t count;
    uint64_t pos; /* of what follows, in bits */
    uint64_t addr, size, notices;
    struct vs_data_head head; /* of registers and ends */
    enum kind kind;
};

struct decoder_core {
    uint64_t count, notices;
    struct message next; /* a copy of its first in the queue, if it is there */
    bool have;
    bool pending;   /* an access waits: */
    unsigned lines; /* those that are done */
};

struct decoder {
    struct vs_port_reader *port;
    struct traced caches;
    struct vs_chunks code;
    unsigned cores, address_bits;
    bool implied;
    struct vs_demux queues;
    uint64_t parsed, taken; /* messages */
    int error;              /* of parsing: no message follows those in the queues */
    unsigned *who;          /* by number, in a ring: whose it is */
    size_t who_size;
    struct decoder_core *core;
    struct vs_buf state;
};

/* -- parsing -- */

static int parse_kind(struct decoder *d, enum kind *kind)
{
    uint64_t bit, what;
    int err = vs_port_get(d->port, VS_FIELD_HEADER, 1, &bit);
    if (err || !bit) {
        *kind = KIND_LINE;
        return err;
    }
    if ((err = vs_port_get(d->port, VS_FIELD_ORDER, 1, &bit)) || !bit) {
        *kind = KIND_ORDER;
        return err;
    }
    if ((err = vs_port_get(d->port, VS_FIELD_ORDER, 2, &what)))
        return err;
    *kind = (enum kind)(KIND_OUTSIDE + what);
    return 0;
}

static int skip_bytes(struct decoder *d, enum vs_field field, uint64_t size)
{
    uint8_t nothing;
    if (size > vs_bitr_left(&d->port->bits) / 8)
        return vs_port_get_bytes(d->port, field, &nothing, (size_t)size); /* says where it is cut */
    d->port->bits.pos += 8 * size;
    return 0;
}

static int parse_outside(struct decoder *d, struct message *m)
{
    int err = vs_port_get(d->port, VS_FIELD_ADDRESS, d->address_bits, &m->addr);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, LENGTH_CODE, &m->size);
    return err ? err : vs_port_get_chunks(d->port, VS_FIELD_ORDER, NOTICE_CODE, &m->notices);
}

static int parse_rest(struct decoder *d, struct message *m)
{
    int err = 0;
    m->pos = d->port->bits.pos;
    switch (m->kind) {
    case KIND_LINE:
        return skip_bytes(d, VS_FIELD_VALUE, d->caches.group.line);
    case KIND_OUTSIDE:
        return parse_outside(d, m);
    case KIND_STATE:
    case KIND_END:
        err = vs_data_get_place(d->port, &m->head);
        m->pos = d->port->bits.pos;
        if (!err && (m->kind == KIND_STATE) != (m->head.size > 0))
            err = vs_port_refuse(d->port, VS_FIELD_STATE, "an end with registers, or none");
        return err || m->kind == KIND_END ? err : skip_bytes(d, VS_FIELD_STATE, m->head.size - 1);
    case KIND_NONDET:
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, LENGTH_CODE, &m->size);
        m->pos = d->port->bits.pos;
        return err ? err : skip_bytes(d, VS_FIELD_VALUE, m->size);
    default:
        return 0;
    }
}

static int note_whose(struct decoder *d, unsigned core)
{
    size_t waiting = (size_t)(d->parsed - d->taken);
    if (waiting == d->who_size) {
        size_t size = d->who_size ? 2 * d->who_size : 1024;
        unsigned *who = malloc(size * sizeof(*who));
        if (!who)
            return -VSE_NOMEM;
        for (uint64_t n = d->taken; n < d->parsed; n++)
            who[n % size] = d->who[n % d->who_size];
        free(d->who);
        d->who = who;
        d->who_size = size;
    }
    d->who[d->parsed % d->who_size] = core;
    return 0;
}

static int parse(struct decoder *d)
{
    struct message m = {.number = d->parsed};
    unsigned core;
    int err = vs_port_next(d->port, &core, NULL);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_FAHCNT, d->code, &m.count);
    if (!err)
        err = parse_kind(d, &m.kind);
    if (!err)
        err = parse_rest(d, &m);
    if (!err)
        err = note_whose(d, core);
    if (!err)
        err = vs_demux_push(&d->queues, core, &m);
    d->parsed += !err;
    return d->error = err;
}

static int fetch_next(struct decoder *d, unsigned core)
{
    const void *front;
    while (!(front = vs_demux_front(&d->queues, core))) {
        int err = d->error ? d->error : parse(d);
        if (err)
            return err == -VSE_END ? vs_data_ended(d->port, core) : err;
    }
    memcpy(&d->core[core].next, front, sizeof(struct message));
    d->core[core].have = true;
    return 0;
}

/* The core's next message. Returns 0, or why there is none. */
static inline int next_of(struct decoder *d, unsigned core, const struct message **m)
{
    *m = &d->core[core].next;
    return likely(d->core[core].have) ? 0 : fetch_next(d, core);
}

static void pop(struct decoder *d, unsigned core)
{
    struct decoder_core *c = &d->core[core];
    c->count = c->notices = 0;
    c->have = false;
    vs_demux_pop(&d->queues, core, NULL);
    d->taken++;
}

/* -- taking messages -- */

static int refuse(struct decoder *d, unsigned core, const struct message *m, const char *why)
{
    return vs_diag_set(&d->port->diag, -VSE_CORRUPT, (int64_t)(m->pos / 8), -1,
                       "bit %llu, in message %llu: core %u %s", (unsigned long long)m->pos,
                       (unsigned long long)m->number + 1, core, why);
}

/* Takes those of outside writes that are due, if this is the place. `notice`: only those that the
 * run's own notices lead to. */
static int take_outside(struct decoder *d, unsigned core, bool notice)
{
    struct decoder_core *c = &d->core[core];
    const struct message *m;
    int err;
    while (!(err = next_of(d, core, &m)) && m->kind == KIND_OUTSIDE && m->count == c->count &&
           (!notice || m->notices == c->notices)) {
        uint64_t first, span;
        if (m->number != d->taken)
            return VS_DATA_WAIT;
        range_of(&d->caches, m->addr, m->size, &first, &span);
        for (unsigned i = 0; i < d->cores; i++)
            drop_from(&d->caches, i, first, span, NULL, NULL);
        pop(d, core);
        if (notice)
            return 0;
    }
    if (!err && notice)
        c->notices++;
    return err;
}

/* The core does what needs a message of that kind. */
static int expect(struct decoder *d, unsigned core, enum kind kind, const struct message **m)
{
    int err = next_of(d, core, m);
    if (err)
        return err;
    if ((*m)->number != d->taken)
        return VS_DATA_WAIT;
    if ((*m)->kind != kind)
        return refuse(d, core, *m, "needs another kind of message");
    if ((*m)->count != d->core[core].count)
        return refuse(d, core, *m, "made other accesses than THCnt says");
    return 0;
}

/* Bytes of a message, whatever has been parsed since. */
static int get_bytes_of(struct decoder *d, const struct message *m, uint8_t *bytes, size_t size)
{
    uint64_t pos = d->port->bits.pos;
    d->port->bits.pos = m->pos;
    int err = vs_port_get_bytes(d->port, VS_FIELD_VALUE, bytes, size);
    d->port->bits.pos = pos;
    return err;
}

/* -- accesses -- */

static int take_line(struct decoder *d, unsigned core, uint32_t index, const struct message *m)
{
    int err =
        get_bytes_of(d, m, vs_moesi_bytes(&d->caches.group, core, index), d->caches.group.line);
    d->caches.t[core][index] = 1;
    pop(d, core);
    return err;
}

/* Whether a read miss will inherit T, before it happens. */
static bool will_inherit(const struct decoder *d, unsigned core, uint64_t line)
{
    const struct vs_moesi *g = &d->caches.group;
    for (unsigned i = 0; i < d->cores; i++) {
        uint32_t index = i == core ? VS_CACHE_NONE : vs_cache_find(&g->core[i].cache, line);
        if (index != VS_CACHE_NONE && g->core[i].states[index] >= VS_MOESI_O)
            return d->caches.t[i][index];
    }
    return false;
}

/* The read that the core's next message, which is the next of all, tells of. */
static int read_by_message(struct decoder *d, unsigned core, uint64_t line)
{
    struct vs_cache *cache = &d->caches.group.core[core].cache;
    uint32_t index = vs_cache_find(cache, line);
    struct vs_moesi_result r;
    const struct message *m;
    bool inherited = index == VS_CACHE_NONE && will_inherit(d, core, line);
    int err = expect(d, core, inherited ? KIND_ORDER : KIND_LINE, &m);
    if (err)
        return err;
    if (index == VS_CACHE_NONE) {
        vs_moesi_read_miss(&d->caches.group, core, line, &r);
        inherit(&d->caches, core, &r);
        index = r.index;
    } else if (d->caches.t[core][index]) {
        return refuse(d, core, m, "is sent a line that is known");
    } else {
        vs_cache_touch(cache, index);
    }
    if (!inherited)
        return take_line(d, core, index, m);
    pop(d, core);
    return 0;
}

static inline int decode_read(struct decoder *d, unsigned core, uint64_t line)
{
    const struct message *m;
    int err = next_of(d, core, &m);
    if (unlikely(err))
        return err;
    if (unlikely(m->count <= d->core[core].count))
        return m->number == d->taken ? read_by_message(d, core, line) : VS_DATA_WAIT;
    uint32_t index = vs_moesi_read_hit(&d->caches.group, core, line);
    if (unlikely(index == VS_CACHE_NONE || !d->caches.t[core][index]))
        return refuse(d, core, m, "reads before it what the stream told nothing of");
    d->core[core].count++;
    return 0;
}

static int decode_write_shared(struct decoder *d, unsigned core, uint64_t line, bool silent)
{
    struct vs_moesi_result r;
    const struct message *m = &d->core[core].next;
    int err = silent ? 0 : expect(d, core, KIND_ORDER, &m);
    if (err)
        return err;
    if (silent && !d->implied)
        return refuse(d, core, m, "writes before it what it does not own");
    vs_moesi_write_shared(&d->caches.group, core, line, &r);
    if (r.outcome != VS_MOESI_UPGRADE)
        inherit(&d->caches, core, &r);
    if (silent)
        d->core[core].count++;
    else
        pop(d, core);
    return 0;
}

static inline int decode_write(struct decoder *d, unsigned core, uint64_t line)
{
    const struct message *m;
    int err = next_of(d, core, &m);
    if (unlikely(err))
        return err;
    bool silent = m->count > d->core[core].count;
    if (unlikely(!silent && m->number != d->taken))
        return VS_DATA_WAIT;
    if (unlikely(vs_moesi_write_hit(&d->caches.group, core, line) == VS_CACHE_NONE))
        return decode_write_shared(d, core, line, silent);
    if (unlikely(!silent))
        return refuse(d, core, m, "writes a line that it owns");
    d->core[core].count++;
    return 0;
}

/* An access begins, or is tried again. */
static inline int begin_access(struct decoder *d, unsigned core)
{
    if (unlikely(core >= d->cores))
        return -VSE_INVAL;
    struct decoder_core *c = &d->core[core];
    if (unlikely(c->pending))
        return 0;
    int err = take_outside(d, core, false);
    if (unlikely(err))
        return err;

    c->notices = 0;
    c->lines = 0;
    c->pending = true;
    return 0;
}

/* The part of an operand in a line. */
static inline size_t part_in_line(const struct decoder *d, uint64_t addr, size_t size)
{
    size_t line = d->caches.group.line, rest = line - (addr & (line - 1));
    return size < rest ? size : rest;
}

static inline uint8_t *bytes_at(const struct decoder *d, unsigned core, uint64_t addr)
{
    uint64_t line = addr & ~(uint64_t)(d->caches.group.line - 1);
    uint32_t index = vs_cache_find(&d->caches.group.core[core].cache, line);
    return index == VS_CACHE_NONE ? NULL
                                  : vs_moesi_bytes(&d->caches.group, core, index) + (addr - line);
}

/* Lines that were done before a wait are not done again: they are still there. */
static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    uint64_t mask = ~(uint64_t)(d->caches.group.line - 1);
    int err = begin_access(d, core);
    for (unsigned i = 0; !err && size; i++) {
        size_t n = part_in_line(d, addr, size);
        if (i >= d->core[core].lines && (err = decode_read(d, core, addr & mask)))
            break;
        d->core[core].lines = i + 1 > d->core[core].lines ? i + 1 : d->core[core].lines;
        const uint8_t *from = bytes_at(d, core, addr);
        if (unlikely(!from))
            return vs_data_refuse(d->port, core, "lost a line while it waited");
        vs_copy_bytes(bytes, from, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    if (likely(!err))
        d->core[core].pending = false;
    return err;
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    struct decoder *d = decoder;
    uint64_t mask = ~(uint64_t)(d->caches.group.line - 1);
    int err = begin_access(d, core);
    for (unsigned i = 0; !err && size; i++) {
        size_t n = part_in_line(d, addr, size);
        if (i >= d->core[core].lines) {
            if ((err = decode_write(d, core, addr & mask)))
                break;
            d->core[core].lines = i + 1;
            vs_copy_bytes(bytes_at(d, core, addr), bytes, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    if (likely(!err))
        d->core[core].pending = false;
    return err;
}

/* -- what is no access -- */

static int expect_rare(struct decoder *d, unsigned core, enum kind kind, const struct message **m)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    int err = take_outside(d, core, false);
    return err ? err : expect(d, core, kind, m);
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    const struct message *m;
    int err = expect_rare(d, core, KIND_NONDET, &m);
    if (err)
        return err;
    if (m->size != size)
        return refuse(d, core, m, "gets a value of another size");
    if ((err = get_bytes_of(d, m, bytes, size)))
        return err;
    pop(d, core);
    return 0;
}

static int decoder_due(void *decoder, unsigned core, uint64_t *instructions)
{
    struct decoder *d = decoder;
    const struct message *m;
    *instructions = UINT64_MAX;
    if (core >= d->cores)
        return -VSE_INVAL;
    int err = next_of(d, core, &m);
    if (!err && m->head.state)
        *instructions = m->head.instructions;
    return err;
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    const struct message *m;
    int err = expect_rare(d, core, KIND_STATE, &m);
    if (err)
        return err;
    uint64_t pos = d->port->bits.pos;
    d->port->bits.pos = m->pos;
    err = vs_data_get_state(d->port, &m->head, core, instructions, &d->state, bytes, size);
    d->port->bits.pos = pos;
    if (!err)
        pop(d, core);
    return err;
}

static int decoder_outside(void *decoder, unsigned core)
{
    struct decoder *d = decoder;
    return core < d->cores ? take_outside(d, core, true) : -VSE_INVAL;
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    const struct message *m;
    int err = expect_rare(d, core, KIND_END, &m);
    if (err || (err = vs_data_get_end(d->port, &m->head, core, instructions)))
        return err;
    pop(d, core);
    return 0;
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    if (d->taken == d->parsed) {
        int err = d->error ? d->error : parse(d);
        if (err)
            return err == -VSE_END ? vs_data_ended(d->port, 0) : err;
    }
    *core = d->who[d->taken % d->who_size];
    return 0;
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    traced_fini(&d->caches);
    vs_demux_fini(&d->queues);
    vs_buf_fini(&d->state);
    free(d->who);
    free(d->core);
    free(d);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    const struct vs_data_params *p = params;
    if (p->order != VS_DATA_ORDER_EXACT) {
        *decoder = NULL;
        return -VSE_FEATURE;
    }
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->port = port;
    d->code = vs_data_count_chunks(p);
    d->cores = setup->cores;
    d->address_bits = setup->address_bits;
    d->implied = p->rule == VS_DATA_RULE_IMPLIED;
    int err = traced_init(&d->caches, p, setup->cores, true);
    if (!err)
        err = vs_demux_init(&d->queues, setup->cores, sizeof(struct message));
    if (!err && !(d->core = calloc(setup->cores, sizeof(*d->core))))
        err = -VSE_NOMEM;
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

static const struct vs_data_decoder_ops decoder_ops = {.open = decoder_open,
                                                       .read = decoder_read,
                                                       .write = decoder_write,
                                                       .nondet = decoder_nondet,
                                                       .due = decoder_due,
                                                       .state = decoder_state,
                                                       .outside = decoder_outside,
                                                       .end = decoder_end,
                                                       .turn = decoder_turn,
                                                       .ahead = true,
                                                       .close = decoder_close};

/* ---- technique ------------------------------------------------------------------------------- */

static const struct vs_parameter parameters[] = {
    VS_DATA_CACHE_ROWS,
    VS_DATA_NUMBER(fahcnt, 1, 64, "bits of THCnt's first chunk"),
    VS_DATA_NUMBER(fahcnt_next, 1, 64, "bits of its other chunks"),
    VS_DATA_CYCLE_ROWS,
    VS_DATA_WORD(order, vs_data_order_words, "of the cores: told as far as replay needs, or not"),
    VS_DATA_WORD(rule, vs_data_rule_words, "which transactions tell it: all, or not the implied"),
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
    vs_cost_list_add(list, "THCnt", (struct vs_cost){.registers = 32}, setup->cores);
    vs_data_cost_common(list, setup);
    return 0;
}

const struct vs_technique vs_technique_mc2rt = {
    .kind = VS_TECHNIQUE_DATA,
    .name = "mc2RT",
    .summary = "coherent caches with a trace bit per line",
    .parameters = parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "size=32K line=32 ways=4 policy=lru fahcnt=8 fahcnt_next=8 dcc=8 "
                "dcc_next=8",
    .configs = configs,
    .check = check,
    .cycles = vs_data_cycle_chunks,
    .undecodable = undecodable,
    .cost = cost,
    .data_encoder = &encoder_ops,
    .data_decoder = &decoder_ops,
};
