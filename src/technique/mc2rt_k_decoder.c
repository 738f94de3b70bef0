/* SPDX-License-Identifier: MIT */
/* The debugger's side of mc2RT_k: one memory for all cores, and how far each of them may go. */
#include <stdlib.h>
#include <string.h>

#include "technique/mc2rt_inbox.h"
#include "technique/mc2rt_k.h"

struct decoder_core {
    uint64_t count;      /* accesses since its last message */
    uint64_t full_count; /* what full counters told of; the next message's count includes it */
    bool pending;        /* an access waits */
    unsigned lines;      /* how many of its lines are done */
    struct vs_buf done;  /* what was read of these */
};

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
    struct decoder_core *core;
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

/* Returns 0; 1: the message only told that the counter of instructions is full; an error. */
static int parse_place(struct decoder *d, unsigned core, struct vs_mc2rt_message *m)
{
    bool ends = m->kind == VS_MC2RT_K_END;
    int err = vs_data_get_place(d->port, &d->passed, core, &m->head);
    if (!err && m->head.full)
        return ends ? vs_port_refuse(d->port, VS_FIELD_STATE, "more than the counter holds") : 1;
    m->pos = d->port->bits.pos;
    if (!err && ends == (m->head.size > 0))
        err = vs_port_refuse(d->port, VS_FIELD_STATE, "an end with registers, or none");
    return err || ends ? err
                       : vs_mc2rt_k_skip_bytes(&d->book, d->port, VS_FIELD_STATE, m->head.size - 1);
}

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
        return parse_place(d, core, m);
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
    uint64_t *full_count = &d->core[*core].full_count;
    if ((err = vs_data_add_passed(d->port, VS_FIELD_FAHCNT, d->full, full_count, &m->count)) ||
        (err = vs_mc2rt_k_get_kind(d->port, &m->kind)))
        return err;
    if ((err = parse_rest(d, *core, m)) > 0)
        *full_count = m->count;
    return err;
}

/* ---- taking messages ------------------------------------------------------------------------- */

static void pop(struct decoder *d, unsigned core)
{
    d->core[core].count = 0;
    vs_mc2rt_pop(&d->inbox, core);
}

/* Returns whether the core ends before the access that it is about to make. A run that was cut off
 * may end between two accesses of an instruction. */
static bool ends_within(const struct decoder *d, unsigned core, const struct vs_mc2rt_message *m)
{
    return m->kind == VS_MC2RT_K_END && m->count == d->core[core].count && d->core[core].pending;
}

/* Gets the message of that kind which the core needs now. */
static int expect(struct decoder *d, unsigned core, enum vs_mc2rt_k_kind kind,
                  const struct vs_mc2rt_message **m)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    int err = vs_mc2rt_next(&d->inbox, core, m);
    if (err)
        return err;
    if (!vs_mc2rt_is_due(&d->inbox, *m))
        return VS_DECODER_WAIT;
    if ((*m)->kind != kind)
        return vs_mc2rt_refuse(&d->inbox, core, *m, "needs another kind of message");
    if ((*m)->count != d->core[core].count)
        return vs_mc2rt_refuse(&d->inbox, core, *m, "made other accesses than THCnt says");
    return 0;
}

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
    if (ends_within(d, core, m))
        return vs_data_ended(d->port, core);
    if (m->count != d->core[core].count)
        return vs_mc2rt_refuse(&d->inbox, core, m, "made other accesses than THCnt says");
    if (m->kind > VS_MC2RT_K_REST)
        return vs_mc2rt_refuse(&d->inbox, core, m, "needs another kind of message");
    pop(d, core);
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
    if (m->count > d->core[core].count) {
        d->core[core].count++;
        return 0;
    }
    return vs_mc2rt_is_due(&d->inbox, m) ? take_message(d, core, line, m) : VS_DECODER_WAIT;
}

/* The part of an operand that lies in its first byte's line. */
static inline size_t part_in_line(const struct decoder *d, uint64_t addr, size_t size)
{
    size_t rest = d->line - (addr & (d->line - 1));
    return size < rest ? size : rest;
}

/* Returns whether the core's next access takes no message and lies in one line. */
static inline bool is_quiet(const struct decoder *d, unsigned core, uint64_t addr, size_t size)
{
    if (unlikely(core >= d->cores))
        return false;
    const struct decoder_core *c = &d->core[core];
    const struct vs_mc2rt_first *first = &d->inbox.first[core];
    return first->have && !c->pending && first->message.count > c->count &&
           (addr & (d->line - 1)) + size <= d->line;
}

static int decoder_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(!is_quiet(d, core, addr, size) || vs_copy_read(&d->memory, addr, bytes, size)))
        return VS_DECODER_LOUD;
    d->core[core].count++;
    return 0;
}

static int decoder_write_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                 const uint8_t *bytes)
{
    struct decoder *d = decoder;
    if (unlikely(!is_quiet(d, core, addr, size)))
        return VS_DECODER_LOUD;
    d->core[core].count++;
    return vs_copy_write(&d->memory, addr, bytes, size);
}

/* Begins an access, or goes on with one that waited. */
static int begin_access(struct decoder *d, unsigned core)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    struct decoder_core *c = &d->core[core];
    if (!c->pending) {
        c->lines = 0;
        c->done.len = 0;
    }
    c->pending = true;
    return 0;
}

static int read_part(struct decoder *d, unsigned core, uint64_t addr, uint8_t *bytes, size_t size)
{
    struct decoder_core *c = &d->core[core];
    if (vs_copy_read(&d->memory, addr, bytes, size))
        return vs_data_refuse(d->port, core, "reads what the stream told nothing of");
    int err = vs_buf_put(&c->done, bytes, size);
    c->lines++;
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
    struct decoder_core *c = err ? NULL : &d->core[core];
    for (unsigned i = 0; !err && at - addr < size; i++) {
        size_t n = part_in_line(d, at, size - (at - addr));
        if (i >= c->lines && !(err = reach_line(d, core, at & mask)))
            err = read_part(d, core, at, bytes + (at - addr), n);
        at += n;
    }
    if (err)
        return err;
    memcpy(bytes, c->done.data, size);
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
        size_t n = part_in_line(d, addr, size);
        if (i >= d->core[core].lines && !(err = reach_line(d, core, addr & mask))) {
            d->core[core].lines = i + 1;
            err = vs_copy_write(&d->memory, addr, bytes, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    if (!err)
        d->core[core].pending = false;
    return err;
}

/* Each line of an access counts. */
static bool decoder_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    uint64_t more = (addr % d->line + size - 1) / d->line;
    (void)store;
    return core >= d->cores || vs_mc2rt_next(&d->inbox, core, &m) ||
           m->count <= d->core[core].count + more;
}

/* ---- other than accesses --------------------------------------------------------------------- */

static int take_nondet(struct decoder *d, unsigned core, size_t size, uint8_t *bytes)
{
    const struct vs_mc2rt_message *m;
    int err = expect(d, core, VS_MC2RT_K_NONDET, &m);
    if (err)
        return err;
    if (m->size != size)
        return vs_mc2rt_refuse(&d->inbox, core, m, "gets a value of another size");
    uint64_t pos = go_to(d, m);
    vs_wordbook_begin(&d->book);
    err = vs_mc2rt_k_get_bytes(&d->book, d->port, VS_FIELD_VALUE, bytes, size);
    back(d, pos);
    if (!err)
        pop(d, core);
    return err;
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    int err = core < d->cores ? vs_mc2rt_next(&d->inbox, core, &m) : -VSE_INVAL;
    if (err)
        return err;
    if (!d->predicts || m->count <= d->core[core].count)
        return take_nondet(d, core, size, bytes);
    memset(bytes, 0, size);
    d->core[core].count++;
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
    int err = expect(d, core, VS_MC2RT_K_STATE, &m);
    if (err)
        return err;
    uint64_t pos = go_to(d, m);
    vs_wordbook_begin(&d->book);
    if (!(err = vs_data_begin_state(d->port, &m->head, core, instructions, &d->state, size)))
        err = vs_mc2rt_k_get_bytes(&d->book, d->port, VS_FIELD_STATE, d->state.data, *size);
    *bytes = d->state.data;
    back(d, pos);
    if (!err)
        pop(d, core);
    return err;
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    const struct vs_mc2rt_message *m;
    int err = expect(d, core, VS_MC2RT_K_END, &m);
    if (err || (err = vs_data_get_end(d->port, &m->head, core, instructions)))
        return err;
    pop(d, core);
    return 0;
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
    for (unsigned i = 0; d->core && i < d->cores; i++)
        vs_buf_fini(&d->core[i].done);
    free(d->core);
    vs_copy_fini(&d->memory);
    vs_mc2rt_k_heads_fini(&d->heads);
    vs_mc2rt_inbox_fini(&d->inbox);
    vs_data_passed_fini(&d->passed);
    vs_buf_fini(&d->state);
    free(d);
}

static int clone_cores(struct decoder *d, const struct decoder *from)
{
    int err = 0;
    d->core = calloc(d->cores, sizeof(*d->core));
    for (unsigned i = 0; d->core && i < d->cores; i++) {
        d->core[i] = from->core[i];
        d->core[i].done = (struct vs_buf){0};
        if (!err)
            err = vs_buf_put(&d->core[i].done, from->core[i].done.data, from->core[i].done.len);
    }
    return d->core ? err : -VSE_NOMEM;
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
    d->core = NULL;
    vs_copy_init(&d->memory);
    int err = vs_mc2rt_k_heads_clone(&d->heads, &from->heads);
    int passed = vs_data_passed_clone(&d->passed, &from->passed);
    if (!err && !(err = passed) && !(err = clone_cores(d, from)) &&
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
        err = vs_mc2rt_inbox_init(&d->inbox, setup->cores, port, parse_message, d);
    if (!err && !(d->core = calloc(setup->cores, sizeof(*d->core))))
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
