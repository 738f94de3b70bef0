/* SPDX-License-Identifier: MIT */
#include "study/verify_address.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/likely.h"
#include "study/codeview.h"
#include "study/core_readers.h"

void vs_verify_address_init(struct vs_verify_address *v, const struct vs_address_decoder_ops *ops,
                            void *decoder, const struct vs_port_reader *port,
                            const struct vs_isa *isa, unsigned cores)
{
    *v = (struct vs_verify_address){
        .ops = ops, .decoder = decoder, .port = port, .isa = isa, .cores = cores};
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Of a walk by turns the number is that of the core's event. */
static int fail(struct vs_verify_address *v, const struct vs_event *e, uint64_t number, int err)
{
    const char *why = err == VS_ADDRESS_WAIT ? "the next message is another core's"
                      : v->port->diag.error == err && v->port->diag.text[0] ? v->port->diag.text
                                                                            : vs_errstr(err);
    return vs_diag_set(
        &v->diag, err == VS_ADDRESS_WAIT ? -VSE_CORRUPT : err, (int64_t)(v->port->bits.pos / 8),
        (int64_t)number, "event %llu%s, core %u, pc 0x%llx: %s", (unsigned long long)number,
        v->by_turns ? " of its core" : "", e->thread, (unsigned long long)e->pc, why);
}

static int differ(struct vs_verify_address *v, const struct vs_event *e, uint64_t number,
                  uint64_t is)
{
    v->differs = true;
    return vs_diag_set(&v->diag, -VSE_CORRUPT, (int64_t)(v->port->bits.pos / 8), (int64_t)number,
                       "event %llu%s, core %u, pc 0x%llx: the address of a %s differs: 0x%llx, not "
                       "0x%llx",
                       (unsigned long long)number, v->by_turns ? " of its core" : "", e->thread,
                       (unsigned long long)e->pc, e->kind == VS_STORE ? "store" : "load",
                       (unsigned long long)is, (unsigned long long)e->addr);
}

/* *followed: the move of an event that has waited was made before. Returns 0; VS_ADDRESS_WAIT; an
 * error, with diag or to be explained. */
static inline int do_event(struct vs_verify_address *v, const struct vs_batch *b,
                           const struct vs_event *e, uint64_t number, bool *followed)
{
    struct vs_address_move move;
    uint64_t addr;
    int err = 0;
    if (unlikely(e->thread >= v->cores))
        return -VSE_INVAL;
    if (v->ops->follow && !*followed && vs_address_move(b, e, v->isa, &move))
        err = v->ops->follow(v->decoder, &move);
    if (err || (e->kind != VS_LOAD && e->kind != VS_STORE))
        return err;
    bool store = e->kind == VS_STORE;
    err = v->ops->address(v->decoder, e->thread, e->pc, store, &addr);
    *followed = err == VS_ADDRESS_WAIT;
    if (unlikely(err))
        return err;
    v->loads += !store;
    v->stores += store;
    return likely(addr == e->addr) ? 0 : differ(v, e, number, addr);
}

/* ---- in global order ------------------------------------------------------------------------- */

int vs_verify_address_batch(struct vs_verify_address *v, const struct vs_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        bool followed = false;
        int err = do_event(v, b, &b->events[i], b->first + i, &followed);
        if (unlikely(err))
            return v->diag.error ? v->diag.error : fail(v, &b->events[i], b->first + i, err);
    }
    return 0;
}

static int fail_at_end(struct vs_verify_address *v, unsigned core, int err)
{
    const struct vs_event nothing = {.thread = (uint16_t)core};
    return fail(v, &nothing, 0, err);
}

int vs_verify_address_end(struct vs_verify_address *v)
{
    unsigned core;
    int err = v->ops->turn(v->decoder, &core);
    if (err < 0 && err != -VSE_END)
        return fail_at_end(v, 0, err);
    if (!err)
        return vs_diag_set(&v->diag, -VSE_CORRUPT, -1, -1,
                           "the stream goes on after the end of the run");
    if (!v->loads && !v->stores)
        return vs_diag_set(&v->diag, -VSE_NOTFOUND, -1, -1, "nothing was compared");
    return 0;
}

/* ---- by turns -------------------------------------------------------------------------------- */

struct turns {
    struct vs_verify_address *v;
    vs_verify_address_feed *feed;
    void *context;
    struct turns_core {
        struct vs_batch batch;
        size_t at;
        uint64_t number; /* of its next event */
        bool done, followed;
    } * cores;
};

/* Makes sure that the core's next event is there, unless it has no more. */
static int fill(struct turns *t, unsigned core)
{
    struct turns_core *c = &t->cores[core];
    while (!c->done && c->at == c->batch.count) {
        int n = t->feed(t->context, core, &c->batch);
        if (n < 0 && n != -VSE_END)
            return n;
        c->done = n == -VSE_END;
        c->batch.count = c->done ? 0 : c->batch.count;
        c->at = 0;
    }
    return 0;
}

/* Until the core waits for another's message, or has no more events. */
static int run_core(struct turns *t, unsigned core)
{
    struct turns_core *c = &t->cores[core];
    for (;;) {
        int err = fill(t, core);
        if (err || c->done)
            return err;
        const struct vs_event *e = &c->batch.events[c->at];
        err =
            e->thread == core ? do_event(t->v, &c->batch, e, c->number, &c->followed) : -VSE_INVAL;
        if (err == VS_ADDRESS_WAIT)
            return 0;
        if (err)
            return t->v->diag.error ? t->v->diag.error : fail(t->v, e, c->number, err);
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
        /* it took what was its own, or had nothing to take it */
        if (t->cores[core].done && !v->ops->turn(v->decoder, &again) && again == core)
            return vs_diag_set(&v->diag, -VSE_CORRUPT, (int64_t)(v->port->bits.pos / 8), -1,
                               "it is core %u's turn, and it does not go on", core);
    }
    if (err != -VSE_END)
        return fail_at_end(v, core, err);
    err = 0;
    for (core = 0; core < v->cores && !err; core++) /* what is left takes no message */
        err = run_core(t, core);
    return err;
}

int vs_verify_address_by_turns(struct vs_verify_address *v, vs_verify_address_feed *feed,
                               void *context)
{
    struct turns t = {.v = v, .feed = feed, .context = context};
    v->by_turns = true;
    t.cores = calloc(v->cores, sizeof(*t.cores));
    if (!t.cores)
        return -VSE_NOMEM;
    int err = take_turns(&t);
    free(t.cores);
    return err ? err : vs_verify_address_end(v);
}

/* ---- a stream -------------------------------------------------------------------------------- */

static int in_order(struct vs_verify_address *d, struct vs_reader *reader)
{
    struct vs_batch batch;
    int n = vs_reader_select(reader, -1);
    if (!n)
        n = vs_reader_seek_event(reader, 0);
    while (!n && (n = vs_reader_next(reader, &batch)) > 0)
        n = vs_verify_address_batch(d, &batch);
    return n == -VSE_END && !d->diag.error ? vs_verify_address_end(d) : n;
}

static int compare(struct vs_verify_address *d, const struct vs_verify *v, const char *path,
                   struct vs_diag *diag)
{
    struct vs_core_readers r = {0};
    int err;
    if (v->setup.cores > VS_VERIFY_TURNS)
        return in_order(d, v->reader);
    if (!(err = vs_core_readers_open(&r, path, v->setup.cores, diag)))
        err = vs_verify_address_by_turns(d, vs_core_readers_next, &r);
    vs_core_readers_close(&r);
    return err;
}

static void fill_result(struct vs_verify_result *r, const struct vs_verify_address *d)
{
    r->loads = d->loads;
    r->stores = d->stores;
    r->compared = d->loads + d->stores;
    r->by_turns = d->by_turns;
    r->outcome = !d->diag.error ? VS_VERIFY_SAME
                 : d->differs   ? VS_VERIFY_DIFFERS
                                : VS_VERIFY_UNREADABLE;
    r->diag = d->diag;
}

int vs_verify_decode_address(const struct vs_verify *v, const char *path,
                             const struct vs_technique_spec *given, const uint8_t *data,
                             size_t size, uint64_t nbits, struct vs_verify_result *result,
                             struct vs_diag *diag)
{
    const struct vs_address_decoder_ops *ops = given->technique->address_decoder;
    const struct vs_address_code code = vs_code_of_text(&v->code, v->isa);
    struct vs_technique_spec spec = *given;
    struct vs_verify_address d;
    struct vs_port_reader port;
    struct vs_port_shape shape;
    void *decoder = NULL;
    vs_technique_settle(&spec, v->setup.timed);
    vs_technique_shape(&spec, &v->setup, &shape);
    result->bits = nbits;
    int err = vs_port_reader_init(&port, &shape, data, size, nbits);
    if (!err)
        err = ops->open(&decoder, spec.params, &v->setup, v->isa ? &code : NULL, &port);
    if (!err) {
        vs_verify_address_init(&d, ops, decoder, &port, v->isa, v->setup.cores);
        vs_diag_set(diag, 0, -1, -1, "%s", "");
        err = compare(&d, v, path, diag);
        fill_result(result, &d);
        if (d.diag.error)
            err = 0; /* the comparison was made */
    }
    if (decoder)
        ops->close(decoder);
    vs_port_reader_fini(&port);
    return err && !diag->text[0] ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : err;
}
