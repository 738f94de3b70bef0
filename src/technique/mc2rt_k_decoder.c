/* SPDX-License-Identifier: MIT */
/* The debugger's side of mc2RT_k: one memory for all cores, and how far each of them may go. */
#include <stdlib.h>
#include <string.h>

#include "technique/mc2rt_inbox.h"
#include "technique/mc2rt_k.h"

struct decoder {
    struct vs_port_reader *port;
    struct vs_copy memory;
    struct vs_mc2rt_k_heads heads;
    struct vs_wordbook book; /* as the messages taken leave it */
    struct vs_mc2rt_inbox inbox;
    unsigned cores;
    size_t line;
    bool predicts;
    uint64_t full; /* at which the encoder's THCnt is full */
    struct vs_data_passed passed;
    struct vs_buf *done; /* by core: what was read of the lines that are done */
    struct vs_buf state;
    uint8_t bytes[VS_MC2RT_K_PAGE];
};

/* ---- parsing --------------------------------------------------------------------------------- */

static int skip_line(struct decoder *d)
{
    return vs_mc2rt_k_skip_bytes(&d->book, d->port, VS_FIELD_VALUE, d->line);
}

static int skip_rest(struct decoder *d)
{
    enum vs_mc2rt_k_part part;
    int err = 0;
    for (size_t at = 0; at < VS_MC2RT_K_PAGE && !err; at += d->line)
        if (!(err = vs_mc2rt_k_get_part(d->port, &part)) && part == VS_MC2RT_K_DATA)
            err = skip_line(d);
    return err;
}

/* Returns as vs_mc2rt_get_place. */
static int parse_rest(struct decoder *d, unsigned core, struct vs_mc2rt_message *m)
{
    int err;
    m->pos = d->port->bits.pos;
    switch (m->kind) {
    case VS_MC2RT_K_LINE:
        return skip_line(d);
    case VS_MC2RT_K_REST:
        return skip_rest(d);
    case VS_MC2RT_K_STATE:
    case VS_MC2RT_K_END:
        err = vs_mc2rt_get_place(&d->inbox, &d->passed, core, m);
        return err || m->kind == VS_MC2RT_K_END
                   ? err
                   : vs_mc2rt_k_skip_bytes(&d->book, d->port, VS_FIELD_STATE, m->head.size - 1);
    case VS_MC2RT_K_NONDET:
        err = vs_port_get_chunks(d->port, VS_FIELD_ORDER, VS_MC2RT_K_LENGTH, &m->size);
        m->pos = d->port->bits.pos;
        return err ? err : vs_mc2rt_k_skip_bytes(&d->book, d->port, VS_FIELD_VALUE, m->size);
    default:
        return 0;
    }
}

/* Adds what full counters told of. Returns 0; 1: this one is full too; -VSE_CORRUPT. */
static int parse_message(void *decoder, unsigned *core, struct vs_mc2rt_message *m)
{
    struct decoder *d = decoder;
    int err = vs_mc2rt_k_get_head(&d->heads, d->port, core, &m->cycle, &m->count);
    if (err)
        return err;
    uint64_t *full_count = &d->inbox.core[*core].full_count;
    if ((err = vs_data_add_passed(d->port, VS_FIELD_FAHCNT, d->full, full_count, &m->count)) ||
        (err = vs_mc2rt_k_get_kind(d->port, &m->kind)))
        return err;
    if ((err = parse_rest(d, *core, m)) > 0)
        *full_count = m->count;
    return err;
}

/* ---- taking messages ------------------------------------------------------------------------- */

/* Goes to a message's content, wherever parsing has come to; `back` returns there. */
static uint64_t go_to(struct decoder *d, const struct vs_mc2rt_message *m)
{
    uint64_t pos = d->port->bits.pos;
    d->port->bits.pos = m->pos;
    return pos;
}

static void back(struct decoder *d, uint64_t pos)
{
    d->port->bits.pos = pos;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Writes the first of d->bytes, which the message just taken tells. */
static int write_told(struct decoder *d, unsigned core, uint64_t addr, size_t size)
{
    int err = vs_copy_write(&d->memory, addr, d->bytes, size);
    if (!err)
        vs_port_took_memory(d->port, core, &(struct vs_port_memory){addr, d->bytes, size});
    return err;
}

static int write_zeros(struct decoder *d, unsigned core, uint64_t addr, size_t size)
{
    memset(d->bytes, 0, size);
    return write_told(d, core, addr, size);
}

static int write_line(struct decoder *d, unsigned core, uint64_t line)
{
    int err = vs_mc2rt_k_get_bytes(&d->book, d->port, VS_FIELD_VALUE, d->bytes, d->line);
    return err ? err : write_told(d, core, line, d->line);
}

static int write_rest(struct decoder *d, unsigned core, uint64_t page)
{
    enum vs_mc2rt_k_part part;
    int err = 0;
    for (size_t at = 0; at < VS_MC2RT_K_PAGE && !err; at += d->line) {
        err = vs_mc2rt_k_get_part(d->port, &part);
        if (!err && part == VS_MC2RT_K_DATA)
            err = write_line(d, core, page + at);
        else if (!err && part == VS_MC2RT_K_BLANK_LINE)
            err = write_zeros(d, core, page + at, d->line);
    }
    return err;
}

/* Takes the core's message, which comes with its access to the line. */
static int take_message(struct decoder *d, unsigned core, uint64_t line,
                        const struct vs_mc2rt_message *m)
{
    const struct vs_mc2rt_message copy = *m;
    uint64_t page = line & ~(uint64_t)(VS_MC2RT_K_PAGE - 1);
    if (vs_mc2rt_ends_within(&d->inbox, core, m))
        return vs_data_ended(d->port, core);
    if (m->count != d->inbox.core[core].count)
        return vs_mc2rt_refuse(&d->inbox, core, m, "made other accesses than THCnt says");
    if (m->kind > VS_MC2RT_K_REST)
        return vs_mc2rt_refuse(&d->inbox, core, m, "needs another kind of message");
    vs_mc2rt_pop(&d->inbox, core);
    uint64_t pos = go_to(d, &copy);
    int err = 0;
    vs_wordbook_begin(&d->book);
    switch (copy.kind) {
    case VS_MC2RT_K_LINE:
        err = write_line(d, core, line);
        break;
    case VS_MC2RT_K_ZERO:
        err = write_zeros(d, core, line, d->line);
        break;
    case VS_MC2RT_K_BLANK:
        err = write_zeros(d, core, page, VS_MC2RT_K_PAGE);
        break;
    case VS_MC2RT_K_REST:
        err = write_rest(d, core, page);
        break;
    default:
        break;
    }
    back(d, pos);
    return err;
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* Does what comes before an access to the line. Returns 0; VS_DECODER_WAIT; an error. */
static int reach_line(struct decoder *d, unsigned core, uint64_t line)
{
    const struct vs_mc2rt_message *m;
    int err = vs_mc2rt_next(&d->inbox, core, &m);
    if (err)
        return err;
    if (m->count > d->inbox.core[core].count) {
        d->inbox.core[core].count++;
        return 0;
    }
    return vs_mc2rt_is_due(&d->inbox, m) ? take_message(d, core, line, m) : VS_DECODER_WAIT;
}

static int decoder_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(!vs_mc2rt_is_quiet(&d->inbox, core, d->line, addr, size) ||
                 vs_copy_read(&d->memory, addr, bytes, size)))
        return VS_DECODER_LOUD;
    d->inbox.core[core].count++;
    return 0;
}

static int decoder_write_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                 const uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(!vs_mc2rt_is_quiet(&d->inbox, core, d->line, addr, size)))
        return VS_DECODER_LOUD;
    d->inbox.core[core].count++;
    return vs_copy_write(&d->memory, addr, bytes, size);
}

/* Begins an access, or goes on with one that waited. */
static int begin_access(struct decoder *d, unsigned core)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    struct vs_mc2rt_core *c = &d->inbox.core[core];
    if (!c->pending) {
        c->lines = 0;
        d->done[core].len = 0;
    }
    c->pending = true;
    return 0;
}

static int read_part(struct decoder *d, unsigned core, uint64_t addr, uint8_t *bytes, size_t size)
{
    if (vs_copy_read(&d->memory, addr, bytes, size))
        return vs_data_refuse(d->port, core, "reads what the stream told nothing of");
    int err = vs_buf_put(&d->done[core], bytes, size);
    d->inbox.core[core].lines++;
    return err;
}

/* What was read before a wait is kept: others may have written it since. */
static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    uint64_t mask = ~(uint64_t)(d->line - 1), at = addr;
    if (likely(!decoder_read_quietly(d, core, addr, size, bytes)))
        return 0;
    int err = begin_access(d, core);
    struct vs_mc2rt_core *c = err ? NULL : &d->inbox.core[core];
    for (unsigned i = 0; !err && at - addr < size; i++) {
        size_t n = vs_mc2rt_part(d->line, at, size - (at - addr));
        if (i >= c->lines && !(err = reach_line(d, core, at & mask)))
            err = read_part(d, core, at, bytes + (at - addr), n);
        at += n;
    }
    if (err)
        return err;
    memcpy(bytes, d->done[core].data, size);
    c->pending = false;
    return 0;
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    struct decoder *d = decoder;
    uint64_t mask = ~(uint64_t)(d->line - 1);
    int err = decoder_write_quietly(d, core, addr, size, bytes);
    if (likely(err != VS_DECODER_LOUD))
        return err;
    err = begin_access(d, core);
    for (unsigned i = 0; !err && size; i++) {
        size_t n = vs_mc2rt_part(d->line, addr, size);
        if (i >= d->inbox.core[core].lines && !(err = reach_line(d, core, addr & mask))) {
            d->inbox.core[core].lines = i + 1;
            err = vs_copy_write(&d->memory, addr, bytes, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    if (!err)
        d->inbox.core[core].pending = false;
    return err;
}

static bool decoder_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store)
{
    struct decoder *d = decoder;
    (void)store;
    return vs_mc2rt_takes(&d->inbox, core, addr, size, d->line);
}

/* ---- other than accesses --------------------------------------------------------------------- */

static int take_nondet(struct decoder *d, unsigned core, size_t size, uint8_t *bytes)
{
    const struct vs_mc2rt_message *m;
    int err = vs_mc2rt_expect(&d->inbox, core, VS_MC2RT_K_NONDET, &m);
    if (err)
        return err;
    if (m->size != size)
        return vs_mc2rt_refuse(&d->inbox, core, m, "gets a value of another size");
    uint64_t pos = go_to(d, m);
    vs_wordbook_begin(&d->book);
    err = vs_mc2rt_k_get_bytes(&d->book, d->port, VS_FIELD_VALUE, bytes, size);
    back(d, pos);
    if (!err)
        vs_mc2rt_pop(&d->inbox, core);
    return err;
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    int err = core < d->cores ? vs_mc2rt_next(&d->inbox, core, &m) : -VSE_INVAL;
    if (err)
        return err;
    if (!d->predicts || m->count <= d->inbox.core[core].count)
        return take_nondet(d, core, size, bytes);
    memset(bytes, 0, size);
    d->inbox.core[core].count++;
    return 0;
}

static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m = NULL;
    (void)since;
    int err = core < d->cores ? vs_mc2rt_next(&d->inbox, core, &m) : -VSE_INVAL;
    vs_data_due(err ? NULL : &m->head, instructions, ends);
    return err;
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    int err = vs_mc2rt_expect(&d->inbox, core, VS_MC2RT_K_STATE, &m);
    if (err)
        return err;
    uint64_t pos = go_to(d, m);
    vs_wordbook_begin(&d->book);
    if (!(err = vs_data_begin_state(d->port, &m->head, core, instructions, &d->state, size)))
        err = vs_mc2rt_k_get_bytes(&d->book, d->port, VS_FIELD_STATE, d->state.data, *size);
    *bytes = d->state.data;
    back(d, pos);
    if (!err)
        vs_mc2rt_pop(&d->inbox, core);
    return err;
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    return vs_mc2rt_take_end(&((struct decoder *)decoder)->inbox, core, instructions);
}

static int decoder_turn(void *decoder, unsigned *core)
{
    return vs_mc2rt_turn(&((struct decoder *)decoder)->inbox, core);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    for (unsigned i = 0; d->done && i < d->cores; i++)
        vs_buf_fini(&d->done[i]);
    free(d->done);
    vs_copy_fini(&d->memory);
    vs_mc2rt_k_heads_fini(&d->heads);
    vs_mc2rt_inbox_fini(&d->inbox);
    vs_data_passed_fini(&d->passed);
    vs_buf_fini(&d->state);
    free(d);
}

static int clone_done(struct decoder *d, const struct decoder *from)
{
    int err = 0;
    d->done = calloc(d->cores, sizeof(*d->done));
    for (unsigned i = 0; d->done && i < d->cores && !err; i++)
        err = vs_buf_put(&d->done[i], from->done[i].data, from->done[i].len);
    return d->done ? err : -VSE_NOMEM;
}

static int decoder_clone(void *decoder, struct vs_port_reader *port, void **clone)
{
    struct decoder *from = decoder, *d = *clone = malloc(sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    *d = *from;
    d->port = port;
    d->state = (struct vs_buf){0};
    d->inbox = (struct vs_mc2rt_inbox){0};
    d->done = NULL;
    vs_copy_init(&d->memory);
    int err = vs_mc2rt_k_heads_clone(&d->heads, &from->heads);
    int passed = vs_data_passed_clone(&d->passed, &from->passed);
    if (!err && !(err = passed) && !(err = clone_done(d, from)) &&
        !(err = vs_copy_clone(&d->memory, &from->memory)))
        err = vs_mc2rt_inbox_clone(&d->inbox, &from->inbox, port, d);
    if (err) {
        decoder_close(d);
        *clone = NULL;
    }
    return err;
}

static struct vs_copy *decoder_copies(void *decoder, unsigned *count)
{
    *count = 1;
    return &((struct decoder *)decoder)->memory;
}

static size_t decoder_size(const void *decoder)
{
    (void)decoder;
    return sizeof(struct decoder);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    const struct vs_data_params *p = params;
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->port = port;
    d->cores = setup->cores;
    d->line = p->line;
    d->predicts = p->predict == VS_DATA_PREDICT_ZERO;
    d->full = vs_counter_full(p->fahcnt_bits);
    vs_copy_init(&d->memory);
    vs_wordbook_init(&d->book, p->words);
    int err = vs_data_passed_init(&d->passed, p, setup->cores);
    if (!err)
        err = vs_mc2rt_k_heads_init(&d->heads, p, setup);
    if (!err)
        err = vs_mc2rt_inbox_init(&d->inbox, setup->cores, port, parse_message, VS_MC2RT_K_END, d);
    if (!err && !(d->done = calloc(setup->cores, sizeof(*d->done))))
        err = -VSE_NOMEM;
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

const struct vs_data_decoder_ops vs_mc2rt_k_decoder = {.open = decoder_open,
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
                                                       .ahead = true,
                                                       .clone = decoder_clone,
                                                       .copies = decoder_copies,
                                                       .size = decoder_size,
                                                       .close = decoder_close};
