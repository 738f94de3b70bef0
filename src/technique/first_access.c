/* SPDX-License-Identifier: MIT */
/* First-access tracking in the dissertation's form: every load is a message of one bit,
 * Ti | [dCC] | 1 if the debugger knows the value, and Ti | [dCC] | 0 | value if not. Two machines:
 *
 *   flags      the core's data cache has a flag per word, as in cfiat.c
 *   dedicated  the module has a small cache of values of its own. A load is known if it hits and
 *              the value is the same, so nothing has to tell the module who else wrote. A new
 *              line is all zeros; loads and stores fill in what they touch. The debugger has its
 *              twin.
 *
 * Values from outside and registers are sent like values that are not known. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/power.h"
#include "model/granules.h"
#include "technique/data_common.h"
#include "technique/message_each.h"

/* ---- a cache of values ----------------------------------------------------------------------- */

struct values {
    struct vs_cache cache;
    uint8_t *data; /* at index * line */
};

static int values_init(struct values *v, const struct vs_cache_config *config)
{
    int err = vs_cache_init(&v->cache, config, NULL);
    if (err)
        return err;
    v->data = calloc(v->cache.lines, config->line);
    return v->data ? 0 : -VSE_NOMEM;
}

static struct values *values_new(unsigned count, const struct vs_cache_config *config)
{
    struct values *v = calloc(count, sizeof(*v));
    bool good = v;
    for (unsigned i = 0; good && i < count; i++)
        good = !values_init(&v[i], config);
    if (good || !v)
        return v;
    for (unsigned i = 0; i < count; i++) {
        vs_cache_fini(&v[i].cache);
        free(v[i].data);
    }
    free(v);
    return NULL;
}

static void values_free(struct values *v, unsigned count)
{
    for (unsigned i = 0; v && i < count; i++) {
        vs_cache_fini(&v[i].cache);
        free(v[i].data);
    }
    free(v);
}

static struct values *values_clone(const struct values *from, unsigned count)
{
    struct values *v = values_new(count, &from->cache.config);
    for (unsigned i = 0; v && i < count; i++) {
        vs_cache_assign(&v[i].cache, &from[i].cache);
        memcpy(v[i].data, from[i].data, (size_t)v[i].cache.lines * v[i].cache.config.line);
    }
    return v;
}

/* The part of an operand that lies in its first byte's line. */
static size_t part_in_line(const struct values *v, uint64_t addr, size_t size)
{
    size_t line = v->cache.config.line, rest = line - (addr & (line - 1));
    return size < rest ? size : rest;
}

static uint8_t *bytes_at(const struct values *v, uint32_t index, uint64_t addr)
{
    return v->data + (size_t)index * v->cache.config.line + (addr & (v->cache.config.line - 1));
}

/* Gets bytes if all their lines are there. Changes nothing. */
static bool values_get(const struct values *v, uint64_t addr, uint8_t *bytes, size_t size)
{
    while (size) {
        size_t n = part_in_line(v, addr, size);
        uint32_t index = vs_cache_find(&v->cache, vs_cache_line(&v->cache, addr));
        if (index == VS_CACHE_NONE)
            return false;
        memcpy(bytes, bytes_at(v, index, addr), n);
        addr += n;
        bytes += n;
        size -= n;
    }
    return true;
}

/* Uses the lines, which then have the bytes. Returns whether all of them were there. */
static bool values_put(struct values *v, uint64_t addr, const uint8_t *bytes, size_t size)
{
    bool all = true;
    while (size) {
        size_t n = part_in_line(v, addr, size);
        uint64_t line = vs_cache_line(&v->cache, addr);
        uint32_t index = vs_cache_hit(&v->cache, line);
        if (index == VS_CACHE_NONE) {
            index = vs_cache_victim(&v->cache, line);
            vs_cache_place(&v->cache, index, line);
            memset(bytes_at(v, index, line), 0, v->cache.config.line);
            all = false;
        }
        memcpy(bytes_at(v, index, addr), bytes, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    return all;
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_data_encoder base;
    bool dedicated, published;
    uint64_t granule;
    struct vs_granules caches;
    struct values *values;
};

static void rare_head(struct vs_data_encoder *e, unsigned core, enum vs_data_what what, size_t size)
{
    (void)what, (void)size;
    vs_port_begin(e->port, core, e->time);
    vs_port_put(e->port, VS_FIELD_HEADER, 0, 1);
}

static void rare_outside(struct vs_data_encoder *base, unsigned core, uint64_t addr, uint64_t size)
{
    struct encoder *e = (struct encoder *)base;
    (void)core;
    if (!e->dedicated)
        vs_granules_drop(&e->caches, VS_GRANULES_ALL, addr, size);
}

static void rare_forget(struct vs_data_encoder *base, unsigned core)
{
    struct encoder *e = (struct encoder *)base;
    (void)core;
    if (!e->dedicated)
        vs_granules_forget(&e->caches);
}

static const struct vs_data_rare rare = {
    .head = rare_head, .outside = rare_outside, .forget = rare_forget};

static void note_lines(struct vs_data_encoder *base, bool all)
{
    base->counts.line_hits += all;
    base->counts.line_misses += !all;
}

static void put_load(struct vs_data_encoder *base, unsigned core, size_t size, bool known,
                     const uint8_t *value, size_t value_size)
{
    vs_port_begin(base->port, core, base->time);
    vs_port_put(base->port, VS_FIELD_HEADER, known, 1);
    if (!known)
        vs_data_put_value(base, value, value_size);
    vs_port_end(base->port);
    vs_data_note_load(base, size, known);
}

static int load_flagged(struct encoder *e, unsigned core, uint64_t addr, size_t size,
                        const uint8_t *bytes)
{
    struct vs_data_encoder *base = &e->base;
    unsigned missed = vs_granules_read(&e->caches, core, addr, size);
    int same = base->memory ? vs_seen_load(&base->seen, addr, bytes, size) : 1;
    if (same < 0)
        return same;
    if (!same) {
        base->counts.unseen++;
        vs_granules_drop(&e->caches, (int)core, addr, size);
    }
    bool known = same && !missed;
    note_lines(base, !(missed & VS_GRANULES_NO_LINE));
    if (!known && !e->published) {
        size_t n = vs_data_granules_size(addr, size, e->granule);
        vs_seen_get(&base->seen, vs_data_granules_start(addr, e->granule), base->granules, n);
        put_load(base, core, size, false, base->granules, n);
    } else {
        put_load(base, core, size, known, bytes, size);
    }
    return 0;
}

static inline int load(struct vs_data_encoder *base, unsigned core, uint64_t addr, size_t size,
                       const uint8_t *bytes)
{
    struct encoder *e = (struct encoder *)base;
    if (!e->dedicated)
        return load_flagged(e, core, addr, size, bytes);
    struct values *v = &e->values[core];
    bool known = values_get(v, addr, base->granules, size) && !memcmp(base->granules, bytes, size);
    note_lines(base, values_put(v, addr, bytes, size));
    put_load(base, core, size, known, bytes, size);
    return 0;
}

static inline int store(struct vs_data_encoder *base, unsigned core, uint64_t addr, size_t size,
                        const uint8_t *bytes)
{
    struct encoder *e = (struct encoder *)base;
    if (e->dedicated)
        note_lines(base, values_put(&e->values[core], addr, bytes, size));
    else
        note_lines(base, !vs_granules_write(&e->caches, core, addr, size, e->published));
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
    values_free(e->values, e->base.cores);
    vs_data_encoder_fini(&e->base);
    free(e);
}

static int open_encoder(void **encoder, const struct vs_technique_context *context, bool dedicated)
{
    const struct vs_data_params *p = context->params;
    const struct vs_technique_setup *setup = context->setup;
    const struct vs_cache_config config = vs_data_cache_config(p);
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_data_encoder_init(&e->base, &rare, context);
    e->dedicated = dedicated;
    e->published = !dedicated && p->account == VS_DATA_ACCOUNT_PUBLISHED;
    e->granule = p->granule;
    e->base.memory =
        !dedicated && !e->published && !(p->caches == VS_DATA_PRIVATE && setup->cores > 1);
    if (!err && !dedicated)
        err = vs_granules_init(&e->caches, setup->cores, &config, (uint32_t)p->granule,
                               p->caches == VS_DATA_COHERENT, NULL);
    else if (!err && !(e->values = values_new(setup->cores, &config)))
        err = -VSE_NOMEM;
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static int flags_encoder_open(void **encoder, const struct vs_technique_context *context)
{
    return open_encoder(encoder, context, false);
}

static int dedicated_encoder_open(void **encoder, const struct vs_technique_context *context)
{
    return open_encoder(encoder, context, true);
}

static const struct vs_encoder_ops flags_encoder =
                                       VS_DATA_ENCODER(flags_encoder_open, encoder_consume,
                                                       vs_data_finish, encoder_close),
                                   dedicated_encoder =
                                       VS_DATA_ENCODER(dedicated_encoder_open, encoder_consume,
                                                       vs_data_finish, encoder_close);

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_message_each each;
    bool dedicated, published;
    uint64_t granule;
    struct vs_copy *copies;
    struct values *values;
    uint8_t granules[VS_SIZE_MAX + 2 * VS_DATA_LINE_MAX];
};

static int parse(struct vs_message_each *m)
{
    uint64_t known;
    int err = vs_port_next(m->port, &m->core, NULL);
    if (err || (err = vs_port_get(m->port, VS_FIELD_HEADER, 1, &known)))
        return err;
    m->known = known;
    m->head = (struct vs_data_head){0};
    return known ? 0 : vs_data_get_head(m->port, &m->passed, m->core, &m->head);
}

static int read_known(struct decoder *d, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    if (d->dedicated ? !values_get(&d->values[core], addr, bytes, size)
                     : vs_copy_read(&d->copies[core], addr, bytes, size) != 0)
        return vs_data_refuse(d->each.port, core, "reads what the stream told nothing of");
    return 0;
}

static int read_value(struct decoder *d, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    if (d->dedicated || d->published) {
        int err = vs_data_get_value(d->each.port, &d->each.head, bytes, size);
        return err || d->dedicated ? err : vs_copy_write(&d->copies[core], addr, bytes, size);
    }
    uint64_t start = vs_data_granules_start(addr, d->granule);
    size_t n = vs_data_granules_size(addr, size, d->granule);
    int err = vs_data_get_value(d->each.port, &d->each.head, d->granules, n);
    if (!err)
        err = vs_copy_write(&d->copies[core], start, d->granules, n);
    if (!err)
        memcpy(bytes, d->granules + (addr - start), size);
    return err;
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    int err = vs_message_each_look(&d->each, core);
    if (err)
        return err;
    err = d->each.known ? read_known(d, core, addr, size, bytes)
                        : read_value(d, core, addr, size, bytes);
    if (err)
        return err;
    if (d->dedicated)
        values_put(&d->values[core], addr, bytes, size);
    vs_message_each_take(&d->each);
    if (!d->each.known && !d->dedicated && !d->published)
        vs_port_took_memory(
            d->each.port, core,
            &(struct vs_port_memory){vs_data_granules_start(addr, d->granule), d->granules,
                                     vs_data_granules_size(addr, size, d->granule)});
    return 0;
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (core >= d->each.cores)
        return -VSE_INVAL;
    if (!d->dedicated)
        return vs_copy_write(&d->copies[core], addr, bytes, size);
    values_put(&d->values[core], addr, bytes, size);
    return 0;
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_data_copies_free(d->copies, d->each.cores);
    values_free(d->values, d->each.cores);
    vs_message_each_fini(&d->each);
    free(d);
}

static int decoder_clone(void *decoder, struct vs_port_reader *port, void **clone)
{
    struct decoder *from = decoder, *d = *clone = malloc(sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    *d = *from;
    d->values = NULL;
    d->copies = NULL;
    int err = vs_message_each_clone(&d->each, &from->each, port);
    if (!err && d->dedicated)
        d->values = values_clone(from->values, d->each.cores);
    else if (!err)
        d->copies = vs_data_copies_clone(from->copies, d->each.cores);
    if (d->values || d->copies)
        return 0;
    decoder_close(d);
    *clone = NULL;
    return -VSE_NOMEM;
}

static struct vs_copy *decoder_copies(void *decoder, unsigned *count)
{
    struct decoder *d = decoder;
    *count = d->copies ? d->each.cores : 0;
    return d->copies;
}

static size_t decoder_size(const void *decoder)
{
    const struct decoder *d = decoder;
    size_t each = d->dedicated
                      ? (size_t)d->values->cache.config.size + 20 * (size_t)d->values->cache.lines
                      : sizeof(struct vs_copy);
    return sizeof(*d) + d->each.cores * each;
}

static int open_decoder(void **decoder, const struct vs_data_params *p,
                        const struct vs_technique_setup *setup, struct vs_port_reader *port,
                        bool dedicated)
{
    const struct vs_cache_config config = vs_data_cache_config(p);
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    int err = vs_message_each_init(&d->each, parse, p, setup->cores, port);
    d->dedicated = dedicated;
    d->published = !dedicated && p->account == VS_DATA_ACCOUNT_PUBLISHED;
    d->granule = p->granule;
    if (!err && dedicated)
        d->values = values_new(setup->cores, &config);
    else if (!err)
        d->copies = vs_data_copies_new(setup->cores);
    if (d->values || d->copies)
        return 0;
    decoder_close(d);
    *decoder = NULL;
    return -VSE_NOMEM;
}

static int flags_decoder_open(void **decoder, const void *params,
                              const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    return open_decoder(decoder, params, setup, port, false);
}

static int dedicated_decoder_open(void **decoder, const void *params,
                                  const struct vs_technique_setup *setup,
                                  struct vs_port_reader *port)
{
    return open_decoder(decoder, params, setup, port, true);
}

#define DECODER(opener)                                                                            \
    {                                                                                              \
        VS_MESSAGE_EACH(opener, decoder_read, decoder_write, decoder_clone, decoder_close),        \
            .nondet = vs_message_each_nondet, .copies = decoder_copies, .size = decoder_size       \
    }

static const struct vs_data_decoder_ops flags_decoder = DECODER(flags_decoder_open),
                                        dedicated_decoder = DECODER(dedicated_decoder_open);

/* ---- techniques ------------------------------------------------------------------------------ */

static const char *const caches_words[] = {"coherent", "private", NULL};

static const struct vs_parameter flags_parameters[] = {
    VS_DATA_CACHE_ROWS,
    VS_DATA_POWER(granule, 1, 32, "bytes per first-access flag"),
    VS_DATA_CYCLE_ROWS,
    VS_DATA_WORD(account, vs_data_account_words, "whole granules, or operands as published"),
    VS_DATA_WORD(caches, caches_words, "whether the caches notice what other cores write"),
    VS_DATA_ICNT_ROW,
    {.name = NULL},
};

static const struct vs_parameter dedicated_parameters[] = {
    VS_DATA_CACHE_ROWS, VS_DATA_CYCLE_ROWS, VS_DATA_ICNT_ROW, {.name = NULL}};

static int dedicated_check(const void *params, struct vs_diag *diag)
{
    const struct vs_cache_config config = vs_data_cache_config(params);
    return vs_cache_check_config(&config, diag);
}

static int flags_check(const void *params, struct vs_diag *diag)
{
    const struct vs_data_params *p = params;
    if (p->granule > p->line)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "a granule is at most a cache line");
    return dedicated_check(params, diag);
}

static const char *flags_undecodable(const void *params)
{
    const struct vs_data_params *p = params;
    if (p->account == VS_DATA_ACCOUNT_PUBLISHED)
        return "account=published flags granules of which not all bytes were reported";
    if (p->caches == VS_DATA_PRIVATE)
        return "caches=private does not notice what other cores write";
    return NULL;
}

static int flags_cost(const void *params, const struct vs_technique_setup *setup,
                      struct vs_cost_list *list)
{
    const struct vs_data_params *p = params;
    vs_cost_list_add(list, "first-access flags", (struct vs_cost){.sram = p->size / p->granule},
                     setup->cores);
    vs_data_cost_common(list, p, setup);
    return 0;
}

static int dedicated_cost(const void *params, const struct vs_technique_setup *setup,
                          struct vs_cost_list *list)
{
    const struct vs_data_params *p = params;
    uint64_t lines = p->size / p->line;
    unsigned tag = setup->address_bits - vs_log2_ceil(p->line) - vs_log2_ceil(lines / p->ways);
    vs_cost_list_add(list, "values", (struct vs_cost){.sram = 8 * p->size}, setup->cores);
    vs_cost_list_add(list, "tags",
                     (struct vs_cost){.sram = lines * (tag + 1), .comparators = p->ways * tag},
                     setup->cores);
    vs_data_cost_common(list, p, setup);
    return 0;
}

const struct vs_technique vs_technique_mlvfa = {
    .serves = VS_TECHNIQUE_DATA,
    .name = "mlvFA",
    .summary = "a bit per load: known from the flags of the data cache, or the value follows",
    .parameters = flags_parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "size=32K line=64 ways=4 policy=lru granule=4 dcc=8 dcc_next=8 icnt_bits=32",
    .unnamed = "icnt_bits=64",
    .check = flags_check,
    .cycles = vs_data_cycle_chunks,
    .undecodable = flags_undecodable,
    .cost = flags_cost,
    .cache_bits = vs_data_cache_bits,
    .encoder = &flags_encoder,
    .data_decoder = &flags_decoder,
};

const struct vs_technique vs_technique_mlvfa_dedicated = {
    .serves = VS_TECHNIQUE_DATA,
    .name = "mlvFA_dedicated",
    .summary = "a bit per load: the same as in the module's own cache, or the value follows",
    .parameters = dedicated_parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "size=4K line=64 ways=4 policy=lru dcc=8 dcc_next=8 icnt_bits=32",
    .unnamed = "icnt_bits=64",
    .check = dedicated_check,
    .cycles = vs_data_cycle_chunks,
    .cost = dedicated_cost,
    .cache_bits = vs_data_cache_bits,
    .encoder = &dedicated_encoder,
    .data_decoder = &dedicated_decoder,
};
