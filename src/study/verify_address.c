/* SPDX-License-Identifier: MIT */
#include "study/verify_address.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/likely.h"
#include "study/codeview.h"
#include "study/explain.h"
#include "study/pieces.h"

static void see_message(void *context, unsigned core, uint64_t cycle);

void vs_verify_address_init(struct vs_verify_address *v, const struct vs_address_decoder_ops *ops,
                            struct vs_port_reader *port, const struct vs_isa *isa, unsigned cores)
{
    const struct vs_port_witness witness = {.context = v, .message = see_message};
    *v = (struct vs_verify_address){.ops = ops, .isa = isa};
    vs_comparison_init(&v->c, port, cores, &witness);
}

/* ---- one event ------------------------------------------------------------------------------- */

static void see_message(void *context, unsigned core, uint64_t cycle)
{
    struct vs_verify_address *v = context;
    vs_comparison_message(&v->c, core, cycle);
}

/* *followed says that the event has waited, and its move was made before. Returns 0;
 * VS_DECODER_WAIT; an error, which the caller explains unless diag has it. */
static inline int do_event(struct vs_verify_address *v, const struct vs_batch *b,
                           const struct vs_event *e, uint64_t number,
                           const struct vs_standing *standing, bool *followed)
{
    struct vs_address_move move;
    uint64_t addr;
    int err = 0;
    if (unlikely(e->thread >= v->c.cores))
        return -VSE_INVAL;
    if (v->ops->follow && !*followed && vs_address_move(b, e, v->isa, &move))
        err = v->ops->follow(v->decoder, &move);
    if (err || (e->kind != VS_LOAD && e->kind != VS_STORE))
        return err;
    bool store = e->kind == VS_STORE;
    vs_comparison_at(&v->c, e, number, standing);
    const struct vs_address_operand operand = vs_address_operand(e);
    err = v->ops->address(v->decoder, &operand, &addr);
    *followed = err == VS_DECODER_WAIT;
    if (unlikely(err || v->c.diag.error))
        return v->c.diag.error ? v->c.diag.error : err;
    v->loads += !store;
    v->stores += store;
    return likely(addr == e->addr)
               ? 0
               : vs_comparison_differ(&v->c, e->thread,
                                      store ? "the address of a store" : "the address of a load",
                                      addr, e->addr);
}

/* ---- in global order ------------------------------------------------------------------------- */

int vs_verify_address_batch(struct vs_verify_address *v, const struct vs_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        bool followed = false;
        const struct vs_standing standing = {
            .number = b->first + i, .cycle = b->cycles ? b->cycles[i] : 0, .timed = b->cycles};
        int err = do_event(v, b, &b->events[i], b->first + i, &standing, &followed);
        if (unlikely(err))
            return v->c.diag.error ? v->c.diag.error
                                   : vs_comparison_fail(&v->c, &b->events[i], b->first + i, err);
    }
    return 0;
}

int vs_verify_address_end(struct vs_verify_address *v)
{
    unsigned core;
    int err = vs_comparison_over(&v->c, v->ops->turn(v->decoder, &core));
    if (err)
        return err;
    if (!v->loads && !v->stores)
        return vs_diag_set(&v->c.diag, -VSE_NOTFOUND, -1, -1, "nothing was compared");
    return 0;
}

/* ---- by turns -------------------------------------------------------------------------------- */

struct turns {
    struct vs_verify_address *v;
    vs_core_feed *feed;
    void *context;
    struct turns_core {
        struct vs_core_events events;
        bool followed; /* the decoder knows how far the core went to its next event */
    } * cores;
};

/* Runs the core until it waits for another core's message or has no more events. */
static int run_core(struct turns *t, unsigned core)
{
    struct vs_core_events *c = &t->cores[core].events;
    for (;;) {
        int err = vs_core_events_fill(c, core, t->feed, t->context);
        if (err || c->done)
            return err;
        const struct vs_event *e = vs_core_events_next(c);
        const struct vs_standing standing = vs_core_events_standing(c);
        err = e->thread == core
                  ? do_event(t->v, &c->now.batch, e, c->number, &standing, &t->cores[core].followed)
                  : -VSE_INVAL;
        if (err == VS_DECODER_WAIT)
            return 0;
        if (err)
            return t->v->c.diag.error ? t->v->c.diag.error
                                      : vs_comparison_fail(&t->v->c, e, c->number, err);
        c->at++;
        c->number++;
    }
}

static int take_turns(struct turns *t)
{
    struct vs_verify_address *v = t->v;
    unsigned core = 0, again;
    int err;
    while (!(err = v->ops->turn(v->decoder, &core))) {
        if ((err = run_core(t, core)))
            return err;
        /* if it is still its turn, it has no event left that would take the message */
        if (t->cores[core].events.done && !v->ops->turn(v->decoder, &again) && again == core)
            return vs_diag_set(&v->c.diag, -VSE_CORRUPT, (int64_t)(v->c.port->bits.pos / 8), -1,
                               "it is core %u's turn, and it does not go on", core);
    }
    if (err != -VSE_END)
        return vs_comparison_fail_at_end(&v->c, core, err);
    err = 0;
    for (core = 0; core < v->c.cores && !err; core++) /* the remaining events take no message */
        err = run_core(t, core);
    return err;
}

int vs_verify_address_by_turns(struct vs_verify_address *v, vs_core_feed *feed, void *context)
{
    struct turns t = {.v = v, .feed = feed, .context = context};
    v->c.by_turns = true;
    t.cores = calloc(v->c.cores, sizeof(*t.cores));
    if (!t.cores)
        return -VSE_NOMEM;
    int err = take_turns(&t);
    free(t.cores);
    return err ? err : vs_verify_address_end(v);
}

/* ---- a stream -------------------------------------------------------------------------------- */

static int walk_pieces(const struct vs_verify *v, struct vs_verify_address *d)
{
    struct vs_pieces own, *pieces;
    struct vs_pieces_feed feed = {0};
    int err = vs_verify_pieces(v, &own, &pieces);
    if (!err)
        err = vs_pieces_feed_init(&feed, pieces, v->setup.cores);
    if (!err)
        err = vs_verify_address_by_turns(d, vs_pieces_feed, &feed);
    vs_pieces_feed_fini(&feed);
    vs_pieces_fini(&own);
    return err;
}

int vs_verify_decode_address(const struct vs_verify *v, const struct vs_technique_spec *given,
                             const struct vs_port_stream *streams, struct vs_verify_result *result,
                             struct vs_diag *diag)
{
    const struct vs_address_decoder_ops *ops = given->technique->address_decoder;
    const struct vs_address_code code = vs_code_of_text(&v->code, v->isa);
    struct vs_technique_spec spec;
    struct vs_verify_address d;
    struct vs_port_reader port;
    void *decoder = NULL;
    int err = vs_comparison_open(v, given, streams, &spec, &port, result);
    vs_verify_address_init(&d, ops, &port, v->isa, v->setup.cores);
    d.c.witness.fields = v->probe ? v->probe->fields : NULL;
    if (!err)
        err = ops->open(&decoder, spec.params, &v->setup, v->isa ? &code : NULL, &port);
    if (!err) {
        vs_verify_address_drive(&d, decoder);
        err = walk_pieces(v, &d);
        result->loads = d.loads;
        result->stores = d.stores;
        result->compared = d.loads + d.stores;
        err = vs_comparison_result(&d.c, err, result, diag);
    }
    if (decoder)
        ops->close(decoder);
    vs_port_reader_fini(&port);
    return err ? vs_study_explain(v->reader, err, diag) : 0;
}
