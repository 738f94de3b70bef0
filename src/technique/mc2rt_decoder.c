/* SPDX-License-Identifier: MIT */
/* The debugger's side of mc2RT: the same caches, with data. Messages are parsed before their core
 * asks for them, since the cores run ahead until they need one. */
#include <stdlib.h>
#include <string.h>

#include "technique/mc2rt.h"
#include "technique/mc2rt_inbox.h"

struct decoder {
    struct vs_port_reader *port;
    struct vs_traced caches;
    struct vs_chunks code;
    unsigned cores, address_bits;
    bool implied;
    uint64_t full; /* at which the encoder's THCnt is full */
    struct vs_data_passed passed;
    struct vs_mc2rt_inbox inbox;
    uint64_t *notices; /* by core: outside writes since its last access or message */
    struct vs_buf state;
};

/* ---- parsing --------------------------------------------------------------------------------- */

static int parse_kind(struct decoder *d, unsigned *kind)
{
    uint64_t bit, what;
    int err = vs_port_get(d->port, VS_FIELD_HEADER, 1, &bit);
    if (err || !bit) {
        *kind = VS_MC2RT_LINE;
        return err;
    }
    if ((err = vs_port_get(d->port, VS_FIELD_ORDER, 1, &bit)) || !bit) {
        *kind = VS_MC2RT_ORDER;
        return err;
    }
    if ((err = vs_port_get(d->port, VS_FIELD_ORDER, 2, &what)))
        return err;
    *kind = VS_MC2RT_OUTSIDE + (unsigned)what;
    return 0;
}

static int parse_outside(struct decoder *d, unsigned core, struct vs_mc2rt_message *m)
{
    int err = vs_port_get(d->port, VS_FIELD_ADDRESS, d->address_bits, &m->addr);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, VS_MC2RT_LENGTH, &m->size);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, VS_MC2RT_NOTICES, &m->notices);
    if (!err)
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, VS_DATA_STATE_CHUNKS, &m->place);
    if (!err && (m->place >= d->passed.full ||
                 __builtin_add_overflow(m->place, d->passed.instructions[core], &m->place)))
        err = vs_port_refuse(d->port, VS_FIELD_ORDER, "more instructions than the counter holds");
    return err;
}

/* Returns 0; 1: the message only told that the counter of instructions is full; an error. */
static int parse_rest(struct decoder *d, unsigned core, struct vs_mc2rt_message *m)
{
    int err = 0;
    m->pos = d->port->bits.pos;
    switch (m->kind) {
    case VS_MC2RT_LINE:
        return vs_port_skip_bytes(d->port, VS_FIELD_VALUE, d->caches.group.line);
    case VS_MC2RT_OUTSIDE:
        return parse_outside(d, core, m);
    case VS_MC2RT_STATE:
    case VS_MC2RT_END:
        err = vs_mc2rt_get_place(&d->inbox, &d->passed, core, m);
        return err || m->kind == VS_MC2RT_END
                   ? err
                   : vs_port_skip_bytes(d->port, VS_FIELD_STATE, m->head.size - 1);
    case VS_MC2RT_NONDET:
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, VS_MC2RT_LENGTH, &m->size);
        m->pos = d->port->bits.pos;
        return err ? err : vs_port_skip_bytes(d->port, VS_FIELD_VALUE, m->size);
    default:
        return 0;
    }
}

static int parse_message(void *decoder, unsigned *core, struct vs_mc2rt_message *m)
{
    struct decoder *d = decoder;
    int err = vs_port_next(d->port, core, &m->cycle);
    if (err)
        return err;
    uint64_t *full_count = &d->inbox.core[*core].full_count;
    if ((err = vs_data_get_hits(d->port, d->code, d->full, full_count, &m->count)) ||
        (err = parse_kind(d, &m->kind)))
        return err;
    if ((err = parse_rest(d, *core, m)) > 0)
        *full_count = m->count;
    return err;
}

/* Gets the core's next message. Returns 0, or why there is none. */
static inline int next_of(struct decoder *d, unsigned core, const struct vs_mc2rt_message **m)
{
    return vs_mc2rt_next(&d->inbox, core, m);
}

static void pop(struct decoder *d, unsigned core)
{
    d->notices[core] = 0;
    vs_mc2rt_pop(&d->inbox, core);
}

/* ---- taking messages ------------------------------------------------------------------------- */

static int refuse(struct decoder *d, unsigned core, const struct vs_mc2rt_message *m,
                  const char *why)
{
    return vs_mc2rt_refuse(&d->inbox, core, m, why);
}

static void tell_outside(const struct decoder *d, unsigned core, const struct vs_mc2rt_message *m)
{
    const struct vs_port_outside outside = {m->addr, m->size, m->notices, m->place};
    const struct vs_port_witness *w = d->port->witness;
    if (w && w->outside)
        w->outside(w->context, core, &outside);
}

/* Takes the messages of outside writes that are due, if this is the place. `notice`: only the one
 * that the core's own notices lead to. */
static int take_outside(struct decoder *d, unsigned core, bool notice)
{
    const struct vs_mc2rt_message *m;
    int err;
    while (!(err = next_of(d, core, &m)) && m->kind == VS_MC2RT_OUTSIDE &&
           m->count == d->inbox.core[core].count && (!notice || m->notices == d->notices[core])) {
        uint64_t first, span;
        if (!vs_mc2rt_is_due(&d->inbox, m))
            return VS_DECODER_WAIT;
        vs_traced_range(&d->caches, m->addr, m->size, &first, &span);
        for (unsigned i = 0; i < d->cores; i++)
            vs_traced_drop(&d->caches, i, first, span, NULL, NULL);
        tell_outside(d, core, m);
        pop(d, core);
        if (notice)
            return 0;
    }
    if (!err && notice)
        d->notices[core]++;
    return err;
}

/* Gets a message's bytes, whatever has been parsed since. */
static int get_bytes_of(struct decoder *d, const struct vs_mc2rt_message *m, uint8_t *bytes,
                        size_t size)
{
    uint64_t pos = d->port->bits.pos;
    d->port->bits.pos = m->pos;
    int err = vs_port_get_bytes(d->port, VS_FIELD_VALUE, bytes, size);
    d->port->bits.pos = pos;
    return err;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static int take_line(struct decoder *d, unsigned core, uint64_t line, uint32_t index,
                     const struct vs_mc2rt_message *m)
{
    uint8_t *bytes = vs_moesi_bytes(&d->caches.group, core, index);
    size_t size = d->caches.group.line;
    const struct vs_port_memory memory = {line, bytes, size};
    int err = get_bytes_of(d, m, bytes, size);
    d->caches.t[core][index] = 1;
    pop(d, core);
    if (!err)
        vs_port_took_memory(d->port, core, &memory);
    return err;
}

/* Whether a read miss will inherit T, before it happens. */
static bool will_inherit(const struct decoder *d, unsigned core, uint64_t line)
{
    uint32_t index;
    bool others;
    int from = vs_moesi_supplier(&d->caches.group, core, line, &index, &others);
    return from >= 0 && d->caches.t[from][index];
}

/* Does the read that the core's next message, which is the next of all, tells of. */
static int read_by_message(struct decoder *d, unsigned core, uint64_t line)
{
    struct vs_cache *cache = &d->caches.group.core[core].cache;
    uint32_t index = vs_cache_find(cache, line);
    struct vs_moesi_result r;
    const struct vs_mc2rt_message *m;
    bool inherited = index == VS_CACHE_NONE && will_inherit(d, core, line);
    int err = vs_mc2rt_expect(&d->inbox, core, inherited ? VS_MC2RT_ORDER : VS_MC2RT_LINE, &m);
    if (err)
        return err;
    if (index == VS_CACHE_NONE) {
        vs_moesi_read_miss(&d->caches.group, core, line, &r);
        vs_traced_inherit(&d->caches, core, &r);
        index = r.index;
    } else if (d->caches.t[core][index]) {
        return refuse(d, core, m, "is sent a line that is known");
    } else {
        vs_cache_touch(cache, index);
    }
    if (!inherited)
        return take_line(d, core, line, index, m);
    pop(d, core);
    return 0;
}

static inline int decode_read(struct decoder *d, unsigned core, uint64_t line)
{
    const struct vs_mc2rt_message *m;
    int err = next_of(d, core, &m);
    if (unlikely(err))
        return err;
    if (unlikely(m->count <= d->inbox.core[core].count))
        return vs_mc2rt_is_due(&d->inbox, m) ? read_by_message(d, core, line) : VS_DECODER_WAIT;
    uint32_t index = vs_moesi_read_hit(&d->caches.group, core, line);
    if (unlikely(index == VS_CACHE_NONE || !d->caches.t[core][index]))
        return refuse(d, core, m, "reads before it what the stream told nothing of");
    d->inbox.core[core].count++;
    return 0;
}

static int decode_write_shared(struct decoder *d, unsigned core, uint64_t line, bool silent)
{
    struct vs_moesi_result r;
    const struct vs_mc2rt_message *m = &d->inbox.core[core].message;
    int err = silent ? 0 : vs_mc2rt_expect(&d->inbox, core, VS_MC2RT_ORDER, &m);
    if (err)
        return err;
    if (silent && !d->implied)
        return refuse(d, core, m, "writes before it what it does not own");
    vs_moesi_write_shared(&d->caches.group, core, line, &r);
    if (r.outcome != VS_MOESI_UPGRADE)
        vs_traced_inherit(&d->caches, core, &r);
    if (silent)
        d->inbox.core[core].count++;
    else
        pop(d, core);
    return 0;
}

static inline int decode_write(struct decoder *d, unsigned core, uint64_t line)
{
    const struct vs_mc2rt_message *m;
    int err = next_of(d, core, &m);
    if (unlikely(err))
        return err;
    bool silent = m->count > d->inbox.core[core].count;
    if (unlikely(!silent && !vs_mc2rt_is_due(&d->inbox, m)))
        return VS_DECODER_WAIT;
    if (unlikely(vs_moesi_write_hit(&d->caches.group, core, line) == VS_CACHE_NONE))
        return decode_write_shared(d, core, line, silent);
    if (unlikely(!silent))
        return vs_mc2rt_ends_within(&d->inbox, core, m)
                   ? vs_data_ended(d->port, core)
                   : refuse(d, core, m, "writes a line that it owns");
    d->inbox.core[core].count++;
    return 0;
}

/* An access begins, or is tried again. */
static inline int begin_access(struct decoder *d, unsigned core)
{
    if (unlikely(core >= d->cores))
        return -VSE_INVAL;
    struct vs_mc2rt_core *c = &d->inbox.core[core];
    if (unlikely(c->pending))
        return 0;
    int err = take_outside(d, core, false);
    if (unlikely(err))
        return err;

    d->notices[core] = 0;
    c->lines = 0;
    c->pending = true;
    return 0;
}

static inline uint8_t *bytes_at(const struct decoder *d, unsigned core, uint64_t addr)
{
    uint64_t line = addr & ~(uint64_t)(d->caches.group.line - 1);
    uint32_t index = vs_cache_find(&d->caches.group.core[core].cache, line);
    return index == VS_CACHE_NONE ? NULL
                                  : vs_moesi_bytes(&d->caches.group, core, index) + (addr - line);
}

/* Lines that were done before a wait are not done again, since they are still there. */
static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    uint64_t mask = ~(uint64_t)(d->caches.group.line - 1);
    int err = begin_access(d, core);
    for (unsigned i = 0; !err && size; i++) {
        size_t n = vs_mc2rt_part(d->caches.group.line, addr, size);
        if (i >= d->inbox.core[core].lines && (err = decode_read(d, core, addr & mask)))
            break;
        d->inbox.core[core].lines =
            i + 1 > d->inbox.core[core].lines ? i + 1 : d->inbox.core[core].lines;
        const uint8_t *from = bytes_at(d, core, addr);
        if (unlikely(!from))
            return vs_data_refuse(d->port, core, "lost a line while it waited");
        vs_copy_bytes(bytes, from, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    if (likely(!err))
        d->inbox.core[core].pending = false;
    return err;
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    struct decoder *d = decoder;
    uint64_t mask = ~(uint64_t)(d->caches.group.line - 1);
    int err = begin_access(d, core);
    for (unsigned i = 0; !err && size; i++) {
        size_t n = vs_mc2rt_part(d->caches.group.line, addr, size);
        if (i >= d->inbox.core[core].lines) {
            if ((err = decode_write(d, core, addr & mask)))
                break;
            d->inbox.core[core].lines = i + 1;
            vs_copy_bytes(bytes_at(d, core, addr), bytes, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    if (likely(!err))
        d->inbox.core[core].pending = false;
    return err;
}

static int decoder_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(!vs_mc2rt_is_quiet(&d->inbox, core, d->caches.group.line, addr, size)))
        return VS_DECODER_LOUD;
    uint64_t within = addr & (d->caches.group.line - 1);
    struct vs_cache *cache = &d->caches.group.core[core].cache;
    uint32_t index = vs_cache_find(cache, addr - within);
    if (unlikely(index == VS_CACHE_NONE || !d->caches.t[core][index]))
        return VS_DECODER_LOUD;
    vs_cache_touch(cache, index);
    vs_copy_bytes(bytes, vs_moesi_bytes(&d->caches.group, core, index) + within, size);
    d->notices[core] = 0;
    d->inbox.core[core].count++;
    return 0;
}

static int decoder_write_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                 const uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(!vs_mc2rt_is_quiet(&d->inbox, core, d->caches.group.line, addr, size)))
        return VS_DECODER_LOUD;
    uint64_t within = addr & (d->caches.group.line - 1);
    uint32_t index = vs_moesi_write_hit(&d->caches.group, core, addr - within);
    if (unlikely(index == VS_CACHE_NONE))
        return VS_DECODER_LOUD;
    vs_copy_bytes(vs_moesi_bytes(&d->caches.group, core, index) + within, bytes, size);
    d->notices[core] = 0;
    d->inbox.core[core].count++;
    return 0;
}

/* ---- other than accesses --------------------------------------------------------------------- */

static int expect_rare(struct decoder *d, unsigned core, enum vs_mc2rt_kind kind,
                       const struct vs_mc2rt_message **m)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    int err = take_outside(d, core, false);
    return err ? err : vs_mc2rt_expect(&d->inbox, core, kind, m);
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    int err = expect_rare(d, core, VS_MC2RT_NONDET, &m);
    if (err)
        return err;
    if (m->size != size)
        return refuse(d, core, m, "gets a value of another size");
    if ((err = get_bytes_of(d, m, bytes, size)))
        return err;
    pop(d, core);
    return 0;
}

/* Outside writes belong between two instructions, like the registers that may come with them. */
static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m = NULL;
    int err = core < d->cores ? next_of(d, core, &m) : -VSE_INVAL;
    if (!err && m->kind == VS_MC2RT_OUTSIDE && m->place == since &&
        !(err = take_outside(d, core, false)))
        err = next_of(d, core, &m);
    vs_data_due(err ? NULL : &m->head, instructions, ends);
    if (!err && m->kind == VS_MC2RT_OUTSIDE)
        *instructions = m->place;
    return err;
}

static bool decoder_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store)
{
    struct decoder *d = decoder;
    (void)store;
    return vs_mc2rt_takes(&d->inbox, core, addr, size, d->caches.group.line);
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    int err = expect_rare(d, core, VS_MC2RT_STATE, &m);
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
    int err = core < d->cores ? take_outside(d, core, false) : -VSE_INVAL;
    if (!err && !(err = vs_mc2rt_take_end(&d->inbox, core, instructions)))
        d->notices[core] = 0;
    return err;
}

static int decoder_turn(void *decoder, unsigned *core)
{
    return vs_mc2rt_turn(&((struct decoder *)decoder)->inbox, core);
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_traced_fini(&d->caches);
    vs_mc2rt_inbox_fini(&d->inbox);
    vs_data_passed_fini(&d->passed);
    vs_buf_fini(&d->state);
    free(d->notices);
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
    d->caches = (struct vs_traced){0};
    d->inbox = (struct vs_mc2rt_inbox){0};
    d->notices = malloc(d->cores * sizeof(*d->notices));
    int err = vs_data_passed_clone(&d->passed, &from->passed);
    if (!err)
        err = d->notices ? vs_traced_clone(&d->caches, &from->caches) : -VSE_NOMEM;
    if (!err)
        err = vs_mc2rt_inbox_clone(&d->inbox, &from->inbox, port, d);
    if (err) {
        decoder_close(d);
        *clone = NULL;
        return err;
    }
    memcpy(d->notices, from->notices, d->cores * sizeof(*d->notices));
    return 0;
}

static size_t decoder_size(const void *decoder)
{
    const struct decoder *d = decoder;
    const struct vs_cache *cache = &d->caches.group.core[0].cache;
    return sizeof(*d) + d->cores * (size_t)(cache->config.size + 20 * (uint64_t)cache->lines);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    const struct vs_data_params *p = params;
    const struct vs_cache_config config = vs_data_cache_config(p);
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
    d->full = vs_counter_full(p->fahcnt_bits);
    int err = vs_data_passed_init(&d->passed, p, setup->cores);
    if (!err)
        err = vs_traced_init(&d->caches, setup->cores, &config, p->supply == VS_DATA_SUPPLY_ANY,
                             true);
    if (!err)
        err = vs_mc2rt_inbox_init(&d->inbox, setup->cores, port, parse_message, VS_MC2RT_END, d);
    if (!err && !(d->notices = calloc(setup->cores, sizeof(*d->notices))))
        err = -VSE_NOMEM;
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

const struct vs_data_decoder_ops vs_mc2rt_decoder = {.open = decoder_open,
                                                     .read = decoder_read,
                                                     .write = decoder_write,
                                                     .nondet = decoder_nondet,
                                                     .due = decoder_due,
                                                     .takes = decoder_takes,
                                                     .read_quietly = decoder_read_quietly,
                                                     .write_quietly = decoder_write_quietly,
                                                     .state = decoder_state,
                                                     .outside = decoder_outside,
                                                     .end = decoder_end,
                                                     .turn = decoder_turn,
                                                     .ahead = true,
                                                     .clone = decoder_clone,
                                                     .size = decoder_size,
                                                     .close = decoder_close};
