/* SPDX-License-Identifier: MIT */
#include "technique/address.h"

#include <stdlib.h>

#include "base/diag.h"
#include "technique/address_common.h"

struct vs_chunks vs_address_cycle_chunks(const void *params)
{
    const struct vs_address_params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

#define ROW(name, field, text)                                                                     \
    {                                                                                              \
        name, text, offsetof(struct vs_address_counts, field)                                      \
    }
#define FORM_ROWS(form, id)                                                                        \
    ROW("loads_" form, form_loads[id], "loads whose address is of the form " form),                \
        ROW("loads_" form "_reported", form_loads_sent[id], "of these: took a message"),           \
        ROW("stores_" form, form_stores[id], "stores whose address is of the form " form),         \
        ROW("stores_" form "_reported", form_stores_sent[id], "of these: took a message")

/* Forms have the names of vs_form_name. */
const struct vs_count_row vs_address_count_rows[] = {
    ROW("instructions", instructions, "executed"),
    ROW("loads", loads, "loads"),
    ROW("stores", stores, "stores"),
    ROW("loads_reported", loads_sent, "loads whose address took a message"),
    ROW("stores_reported", stores_sent, "stores whose address took one"),
    FORM_ROWS("base", VS_FORM_BASE),
    FORM_ROWS("index", VS_FORM_INDEX),
    FORM_ROWS("pc", VS_FORM_PC),
    FORM_ROWS("stack", VS_FORM_STACK),
    FORM_ROWS("string", VS_FORM_STRING),
    FORM_ROWS("absolute", VS_FORM_ABSOLUTE),
    FORM_ROWS("other", VS_FORM_OTHER),
    ROW("table_hits_mru", hits_mru, "hits in the most recently used way"),
    ROW("table_hits_other", hits_other, "hits in another way"),
    ROW("table_hits_wider", hits_wider, "hits with j > 0"),
    ROW("table_misses", misses, "misses"),
    ROW("table_shifts", shifts, "the sum of SHIFT over all hits"),
    ROW("computing", computing, "instructions without memory that write registers"),
    ROW("unmodelled", unmodelled, "of these: results are not followed"),
    {0},
};

_Static_assert(sizeof(struct vs_address_counts) <= VS_COUNTS_MAX * sizeof(uint64_t), "they fit");

/* ---- moves ----------------------------------------------------------------------------------- */

/* Returns the registers that a payload names. */
static uint32_t named_registers(const uint8_t *bytes, size_t size, const struct vs_isa *isa)
{
    unsigned number, regsize;
    const uint8_t *value;
    uint32_t set = 0;
    while (isa && vs_regs_next(&bytes, &size, &number, &regsize, &value) > 0)
        if (number < isa->dwarf_count)
            set |= UINT32_C(1) << isa->dwarf[number];
    return set;
}

static void after_call(const struct vs_batch *batch, const struct vs_event *e,
                       const struct vs_isa *isa, struct vs_address_move *m)
{
    size_t head = sizeof(struct vs_syscall_head);
    m->goes = vs_syscall_resumes(batch, e, &m->to);
    if (isa)
        m->forgets = isa->syscall_changes;
    if (e->size > head)
        m->forgets |= named_registers(vs_event_bytes(batch, e) + head, e->size - head, isa);
}

bool vs_address_move(const struct vs_batch *batch, const struct vs_event *e,
                     const struct vs_isa *isa, struct vs_address_move *m)
{
    *m = (struct vs_address_move){.core = e->thread, .instructions = e->icount, .at = e->pc};
    switch (e->kind) {
    case VS_LOAD:
    case VS_STORE:
    case VS_NONDET:
        m->located = true;
        break;
    case VS_BRANCH:
        m->located = m->goes = true;
        m->to = e->flags & VS_BR_TAKEN ? e->addr : e->pc + e->size;
        break;
    case VS_SYSCALL:
        m->located = true;
        after_call(batch, e, isa, m);
        break;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        m->located = e->kind == VS_EXCEPTION_RET;
        m->forgets = UINT32_MAX;
        m->goes = true;
        m->to = e->addr;
        break;
    case VS_THREAD_START:
    case VS_GAP:
        m->forgets = UINT32_MAX;
        m->goes = true;
        m->to = e->pc;
        break;
    default:
        break;
    }
    return m->instructions || m->located || m->forgets || m->goes;
}

/* ---- encoders -------------------------------------------------------------------------------- */

int vs_address_encoder_init(struct vs_address_encoder *e, const struct vs_address_coder *coder,
                            const struct vs_technique_context *context)
{
    e->port = context->port;
    e->coder = coder;
    e->cores = context->setup->cores;
    e->width = context->setup->address_bits;
    return coder->open(&e->state, context->params, context->setup);
}

void vs_address_encoder_fini(struct vs_address_encoder *e)
{
    e->coder->close(e->state);
}

/* ---- decoders -------------------------------------------------------------------------------- */

int vs_address_decoder_init(struct vs_address_decoder *d, const struct vs_address_coder *coder,
                            const struct vs_address_params *params,
                            const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    d->port = port;
    d->coder = coder;
    d->cores = setup->cores;
    return coder->open(&d->state, params, setup);
}

void vs_address_decoder_fini(struct vs_address_decoder *d)
{
    d->coder->close(d->state);
}

static int ended(struct vs_port_reader *port, unsigned core)
{
    char where[VS_PORT_WHERE];
    return vs_diag_set(&port->diag, -VSE_END, (int64_t)(port->bits.pos / 8), -1,
                       "%s, after message %llu: the stream ends, and core %u goes on",
                       vs_port_where(port, where), (unsigned long long)port->messages, core);
}

static int look(struct vs_address_decoder *d, unsigned core)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    if (!d->have && !d->error)
        d->error = vs_port_next(d->port, &d->core, NULL);
    if (d->error)
        return d->error == -VSE_END ? ended(d->port, core) : d->error;
    d->have = true;
    return d->core == core ? 0 : VS_DECODER_WAIT;
}

int vs_address_receive(struct vs_address_decoder *d, const struct vs_address_operand *operand,
                       uint64_t *addr)
{
    int err = look(d, operand->core);
    if (err)
        return err;
    d->have = false;
    vs_port_took(d->port, operand->core);
    return d->error = d->coder->get(d->state, d->port, operand, addr);
}

int vs_address_turn(void *decoder, unsigned *core)
{
    struct vs_address_decoder *d = decoder;
    int err = look(d, 0);
    if (err >= 0)
        *core = d->core;
    return err < 0 ? err : 0;
}

/* ---- every address --------------------------------------------------------------------------- */

int vs_address_all_encoder_open(void **encoder, const struct vs_address_coder *coder,
                                const struct vs_technique_context *context)
{
    struct vs_address_encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_address_encoder_init(e, coder, context);
    if (err) {
        vs_address_all_encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

void vs_address_all_encoder_close(void *encoder)
{
    if (encoder)
        vs_address_encoder_fini(encoder);
    free(encoder);
}

void vs_address_all_counts(const void *encoder, void *counts)
{
    *(struct vs_address_counts *)counts = ((const struct vs_address_encoder *)encoder)->counts;
}

int vs_address_all_decoder_open(void **decoder, const struct vs_address_coder *coder,
                                const void *params, const struct vs_technique_setup *setup,
                                struct vs_port_reader *port)
{
    struct vs_address_decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    int err = vs_address_decoder_init(d, coder, params, setup, port);
    if (err) {
        vs_address_all_decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

int vs_address_all_address(void *decoder, const struct vs_address_operand *operand, uint64_t *addr)
{
    return vs_address_receive(decoder, operand, addr);
}

void vs_address_all_decoder_close(void *decoder)
{
    if (decoder)
        vs_address_decoder_fini(decoder);
    free(decoder);
}
