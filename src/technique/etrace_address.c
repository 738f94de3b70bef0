/* SPDX-License-Identifier: MIT */
/* etrace_da: the data trace of RISC-V Efficient Trace with addresses only. Every load and every
 * store is a packet (technique/etrace_data.h):
 *
 *   Ti | [dCC] | length | format | size | diff | address
 *
 * The address is whole, or the difference from the last one of the same size, both as they are
 * sent, which is how the standard's reference decoder takes it. Where a trace of the instructions
 * synchronises (starts of cores, gaps, signals and returns from them), the first address of each
 * size is whole. */
#include <stdlib.h>

#include "base/likely.h"
#include "technique/address_common.h"
#include "technique/etrace_data.h"

enum { SIZES = 8 };

struct core {
    uint64_t last[SIZES]; /* by size, as it was sent */
    bool known[SIZES];
};

struct state {
    struct vs_etrace_data_layout layout;
    enum vs_etrace_data_mode mode;
    struct core cores[];
};

static int open(void **state, const struct vs_address_params *params,
                const struct vs_technique_setup *setup)
{
    struct state *s = *state = calloc(1, sizeof(*s) + setup->cores * sizeof(s->cores[0]));
    if (!s)
        return -VSE_NOMEM;
    s->layout = vs_etrace_data_layout(params->data_bytes, VS_FIELD_ADDRESS, setup->address_bits);
    s->mode = (enum vs_etrace_data_mode)params->addresses;
    return 0;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Makes the packet of an access, whose address as it is sent is told apart. */
static struct vs_etrace_data_packet describe(const struct state *s,
                                             const struct vs_address_operand *operand,
                                             uint64_t addr, uint64_t *sent)
{
    unsigned size = vs_etrace_data_size(&s->layout, operand->size);
    bool unaligned = addr & vs_etrace_ones(size);
    *sent = unaligned ? addr : addr >> size;
    return (struct vs_etrace_data_packet){
        .store = operand->store, .unaligned = unaligned, .size = (uint8_t)size, .content = *sent};
}

static void choose(const struct state *s, const struct core *c, struct vs_etrace_data_packet *p,
                   struct vs_etrace_bits *bits)
{
    vs_etrace_data_choose(&s->layout, c->known[p->size] ? s->mode : VS_ETRACE_DATA_FULL,
                          p->content - c->last[p->size], p, bits);
}

static void note(struct core *c, unsigned size, uint64_t sent)
{
    c->last[size] = sent;
    c->known[size] = true;
}

static void put(void *state, struct vs_port_writer *port, const struct vs_address_operand *operand,
                uint64_t addr, struct vs_address_counts *counts)
{
    struct state *s = state;
    struct core *c = &s->cores[operand->core];
    struct vs_etrace_bits bits;
    uint64_t sent;
    struct vs_etrace_data_packet p = describe(s, operand, addr, &sent);
    (void)counts;
    choose(s, c, &p, &bits);
    vs_etrace_data_put(port, &bits);
    note(c, p.size, sent);
}

static int get(void *state, struct vs_port_reader *port, const struct vs_address_operand *operand,
               uint64_t *addr)
{
    struct state *s = state;
    struct core *c = &s->cores[operand->core];
    struct vs_etrace_data_packet p, should;
    struct vs_etrace_bits bits;
    uint64_t sent, again;
    unsigned bytes;
    int err = vs_etrace_data_head(port, &bytes);
    if (!err)
        err = vs_etrace_data_get(port, &s->layout, bytes, &p);
    if (err)
        return err;
    if (p.store != operand->store || p.size != vs_etrace_data_size(&s->layout, operand->size))
        return vs_port_refuse(port, VS_FIELD_HEADER, "the instruction makes another access");
    if (p.differs && !c->known[p.size])
        return vs_port_refuse(port, VS_FIELD_HEADER, "a difference from no address");
    sent = vs_address_cut(p.content + (p.differs ? c->last[p.size] : 0), s->layout.bits);
    *addr = p.unaligned ? sent : vs_address_cut(sent << p.size, s->layout.bits);
    should = describe(s, operand, *addr, &again);
    if (should.unaligned != p.unaligned || again != sent)
        return vs_port_refuse(port, VS_FIELD_ADDRESS, "an address that is sent otherwise");
    choose(s, c, &should, &bits);
    if (should.differs != p.differs)
        return vs_port_refuse(port, VS_FIELD_HEADER, "an address that is sent otherwise");
    note(c, p.size, sent);
    return 0;
}

static void cost(const struct vs_address_params *params, const struct vs_technique_setup *setup,
                 struct vs_cost_list *list)
{
    const struct vs_etrace_data_layout layout =
        vs_etrace_data_layout(params->data_bytes, VS_FIELD_ADDRESS, setup->address_bits);
    if (params->addresses !=
        VS_ETRACE_DATA_FULL) /* an address for each size, and whether there is one */
        vs_cost_list_add(
            list, "last addresses",
            (struct vs_cost){.registers = (layout.size_max + 1) * (setup->address_bits + 1)},
            setup->cores);
}

static const struct vs_address_coder coder = {
    .open = open, .put = put, .get = get, .close = free, .cost = cost};

/* ---- both machines --------------------------------------------------------------------------- */

/* What a core does next is told by a sync packet of the instruction trace. */
static void synchronise(void *state, unsigned core)
{
    ((struct state *)state)->cores[core] = (struct core){0};
}

static inline int take(struct vs_address_encoder *e, const struct vs_batch *batch,
                       const struct vs_event *event)
{
    struct vs_address_move move;
    if (likely(event->kind == VS_LOAD || event->kind == VS_STORE)) {
        vs_address_count(&e->counts, event->kind == VS_STORE, true);
        vs_address_send_by(e, event, put);
    } else if (vs_address_move(batch, event, NULL, &move) && vs_address_synchronises(&move))
        synchronise(e->state, event->thread);
    return 0;
}

static int consume(void *encoder, const struct vs_slice *slice)
{
    return vs_address_each(encoder, slice->events, take);
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    return vs_address_all_encoder_open(encoder, &coder, context);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        const struct vs_address_code *code, struct vs_port_reader *port)
{
    (void)code;
    return vs_address_all_decoder_open(decoder, &coder, params, setup, port);
}

static int follow(void *decoder, const struct vs_address_move *move)
{
    struct vs_address_decoder *d = decoder;
    if (move->core >= d->cores)
        return -VSE_INVAL;
    if (vs_address_synchronises(move))
        synchronise(d->state, move->core);
    return 0;
}

/* ---- technique ------------------------------------------------------------------------------- */

static int cost_of(const void *params, const struct vs_technique_setup *setup,
                   struct vs_cost_list *list)
{
    cost(params, setup, list);
    return 0;
}

static const char *const address_words[] = {"delta", "full", "shorter", NULL}; /* the modes */

static const struct vs_parameter parameters[] = {
    VS_ADDRESS_POWER(data_bytes, 1, 64, "bytes of the widest transfer"),
    {.name = "addresses",
     .offset = offsetof(struct vs_address_params, addresses),
     .words = address_words,
     .help = "differences from the last of the same size; none; or where they are not longer"},
    VS_ADDRESS_CYCLE_ROWS,
    {.name = NULL}};

static const struct vs_technique_config configs[] = {
    {"full", "addresses=full"}, {"shorter", "addresses=shorter"}, {0}};

const struct vs_technique vs_technique_etrace_da = {
    .serves = VS_TECHNIQUE_ADDRESS,
    .name = "etrace_da",
    .summary = "RISC-V Efficient Trace 2.0: data packets with addresses only",
    .parameters = parameters,
    .params_size = sizeof(struct vs_address_params),
    .defaults = "data_bytes=8 dcc=8 dcc_next=8",
    .configs = configs,
    .cycles = vs_address_cycle_chunks,
    .cost = cost_of,
    .encoder = &(const struct vs_encoder_ops){.needs = VS_NEEDS_ACCESSES,
                                              .open = encoder_open,
                                              .consume = consume,
                                              .counts = vs_address_all_counts,
                                              .rows = vs_address_count_rows,
                                              .close = vs_address_all_encoder_close},
    .address_decoder =
        &(const struct vs_address_decoder_ops){.open = decoder_open,
                                               .address = vs_address_all_address,
                                               .follow = follow,
                                               .turn = vs_address_turn,
                                               .close = vs_address_all_decoder_close},
};
