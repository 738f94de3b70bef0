/* SPDX-License-Identifier: MIT */
#include "study/verify_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/likely.h"
#include "study/core_walk.h"

int vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                        void *decoder, const struct vs_port_reader *port, unsigned cores)
{
    memset(v, 0, offsetof(struct vs_verify_data, bytes));
    v->ops = ops;
    v->decoder = decoder;
    v->port = port;
    v->cores = cores;
    v->since = calloc(cores, sizeof(*v->since));
    return v->since ? 0 : -VSE_NOMEM;
}

void vs_verify_data_fini(struct vs_verify_data *v)
{
    free(v->since);
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Where, as messages begin: of a walk by turns the number is that of the core's event. */
static void place(const struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                  char text[96])
{
    snprintf(text, 96, "event %llu%s, core %u, pc 0x%llx", (unsigned long long)number,
             v->by_turns ? " of its core" : "", e->thread, (unsigned long long)e->pc);
}

static int fail(struct vs_verify_data *v, const struct vs_event *e, uint64_t number, int err)
{
    const char *why = err == VS_DATA_WAIT ? "the next message is another core's"
                      : v->port->diag.error == err && v->port->diag.text[0] ? v->port->diag.text
                                                                            : vs_errstr(err);
    char where[96];
    place(v, e, number, where);
    return vs_diag_set(&v->diag, err == VS_DATA_WAIT ? -VSE_CORRUPT : err,
                       (int64_t)(v->port->bits.pos / 8), (int64_t)number, "%s: %s", where, why);
}

static int differ(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                  const char *what, const uint8_t *is, const uint8_t *should, size_t size)
{
    size_t at = 0;
    while (at < size && is[at] == should[at])
        at++;
    char where[96];
    place(v, e, number, where);
    v->differs = true;
    return vs_diag_set(&v->diag, -VSE_CORRUPT, (int64_t)(v->port->bits.pos / 8), (int64_t)number,
                       "%s: %s 0x%llx+%zu differs: 0x%02x, not 0x%02x", where, what,
                       (unsigned long long)e->addr, at, at < size ? is[at] : 0,
                       at < size ? should[at] : 0);
}

static int do_load(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                   const uint8_t *bytes)
{
    int err = v->ops->read(v->decoder, e->thread, e->addr, e->size, v->bytes);
    if (unlikely(err))
        return err;
    v->loads++;
    v->load_bytes += e->size;
    uint64_t small = 0;
    if (likely(e->size <= 8))
        vs_copy_bytes((uint8_t *)&small, v->bytes, e->size);
    if (likely(e->size <= 8 ? small == e->value : !memcmp(v->bytes, bytes, e->size)))
        return 0;
    return differ(v, e, number, "load", v->bytes, bytes, e->size);
}

static int do_nondet(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                     const uint8_t *bytes)
{
    int err = v->ops->nondet(v->decoder, e->thread, e->size, v->bytes);
    if (err)
        return err;
    v->nondets++;
    return memcmp(v->bytes, bytes, e->size)
               ? differ(v, e, number, "value", v->bytes, bytes, e->size)
               : 0;
}

/* The debugger must have known where they come. */
static int do_state(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                    const uint8_t *bytes, size_t size)
{
    uint64_t after = v->since[e->thread] + e->icount, due;
    bool ends;
    const uint8_t *got;
    size_t got_size;
    int err = v->ops->due(v->decoder, e->thread, after, &due, &ends);
    if (!err)
        err = v->ops->state(v->decoder, e->thread, after, &got, &got_size);
    if (err)
        return err;
    v->states++;
    if (due != after || ends)
        return differ(v, e, number, "place of registers'", got, bytes, 0);
    if (got_size != size)
        return differ(v, e, number, "number of registers'", got, bytes, 0);
    return memcmp(got, bytes, size) ? differ(v, e, number, "registers", got, bytes, size) : 0;
}

static int do_outside(struct vs_verify_data *v, const struct vs_event *e)
{
    return v->ops->outside ? v->ops->outside(v->decoder, e->thread) : 0;
}

/* Returns 0; VS_DATA_WAIT; an error, with diag or to be explained. */
static inline int dispatch(struct vs_verify_data *v, const struct vs_batch *b,
                           const struct vs_event *e, uint64_t number)
{
    const uint8_t *bytes = vs_event_bytes(b, e);
    size_t head = e->kind == VS_SYSCALL ? sizeof(struct vs_syscall_head) : 0;
    int err;
    switch (e->kind) {
    case VS_LOAD:
        return do_load(v, e, number, bytes);
    case VS_STORE:
        err = v->ops->write(v->decoder, e->thread, e->addr, e->size, bytes);
        v->stores += !err;
        return err;
    case VS_NONDET:
        return do_nondet(v, e, number, bytes);
    case VS_EXTERNAL:
    case VS_MAP:
        return do_outside(v, e);
    case VS_GAP:
        if ((err = do_outside(v, e)))
            return err;
        return do_state(v, e, number, bytes, e->size);
    case VS_SYSCALL:
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
    case VS_THREAD_START:
        if (e->size < head)
            return -VSE_INVAL;
        return do_state(v, e, number, bytes + head, e->size - head);
    default:
        return 0;
    }
}

static bool gives_registers(const struct vs_event *e)
{
    return e->kind == VS_GAP || e->kind == VS_SYSCALL || e->kind == VS_EXCEPTION ||
           e->kind == VS_EXCEPTION_RET || e->kind == VS_THREAD_START;
}

static inline int do_event(struct vs_verify_data *v, const struct vs_batch *b,
                           const struct vs_event *e, uint64_t number)
{
    if (unlikely(e->thread >= v->cores))
        return -VSE_INVAL;
    int err = dispatch(v, b, e, number);
    if (likely(!err))
        v->since[e->thread] = gives_registers(e) ? 0 : v->since[e->thread] + e->icount;
    return err;
}

/* ---- in global order ------------------------------------------------------------------------- */

int vs_verify_data_batch(struct vs_verify_data *v, const struct vs_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        int err = do_event(v, b, e, b->first + i);
        if (unlikely(err))
            return v->diag.error ? v->diag.error : fail(v, e, b->first + i, err);
    }
    return 0;
}

static int fail_at_end(struct vs_verify_data *v, unsigned core, int err)
{
    const struct vs_event nothing = {.thread = (uint16_t)core};
    return fail(v, &nothing, 0, err);
}

static int end_of_core(struct vs_verify_data *v, unsigned core)
{
    int err = v->ops->end(v->decoder, core, v->since[core]);
    return err ? fail_at_end(v, core, err) : 0;
}

static int conclude(struct vs_verify_data *v)
{
    unsigned core;
    int err = v->ops->turn(v->decoder, &core);
    if (err < 0 && err != -VSE_END)
        return fail_at_end(v, 0, err);
    if (!err)
        return vs_diag_set(&v->diag, -VSE_CORRUPT, -1, -1,
                           "the stream goes on after the end of the run");
    if (!v->loads && !v->nondets)
        return vs_diag_set(&v->diag, -VSE_NOTFOUND, -1, -1, "nothing was compared");
    return 0;
}

int vs_verify_data_end(struct vs_verify_data *v)
{
    int err = 0;
    for (unsigned core = 0; core < v->cores && !err; core++)
        err = end_of_core(v, core);
    return err ? err : conclude(v);
}

/* ---- by turns -------------------------------------------------------------------------------- */

struct turns {
    struct vs_verify_data *v;
    vs_core_feed *feed;
    void *context;
    struct vs_core_events *cores;
};

/* The core's next event. Returns 0; 1 if the core waits, or has no more; an error. */
static int step(struct turns *t, unsigned core)
{
    struct vs_core_events *c = &t->cores[core];
    int err = c->at == c->batch.count ? vs_core_events_fill(c, core, t->feed, t->context) : 0;
    if (err || c->done)
        return err ? err : 1;
    const struct vs_event *e = &c->batch.events[c->at];
    err = e->thread == core ? do_event(t->v, &c->batch, e, c->number) : -VSE_INVAL;
    if (err < 0)
        return t->v->diag.error ? t->v->diag.error : fail(t->v, e, c->number, err);
    c->at += err == 0;
    c->number += err == 0;
    return err;
}

/* Every core but one, until it waits. */
static int run_ahead(struct turns *t, unsigned but)
{
    int err = 0;
    for (unsigned core = 0; core < t->v->cores && err >= 0; core++)
        if (core != but)
            while (!(err = step(t, core)))
                ;
    return err < 0 ? err : 0;
}

/* The core, as long as it is its turn; if the decoder tells when a core has to wait, until then. */
static int run_core(struct turns *t, unsigned core)
{
    struct vs_verify_data *v = t->v;
    unsigned again = core;
    int err = 0;
    while (!err && again == core) {
        err = step(t, core);
        if (!err && !v->ops->ahead && v->ops->turn(v->decoder, &again))
            break;
    }
    if (err <= 0 || !t->cores[core].done)
        return err < 0 ? err : 0;
    err = v->ops->end(v->decoder, core, v->since[core]);
    v->ends += !err;
    return err < 0 ? fail_at_end(v, core, err) : 0;
}

static int stuck(struct vs_verify_data *v, unsigned core)
{
    return vs_diag_set(&v->diag, -VSE_CORRUPT, (int64_t)(v->port->bits.pos / 8), -1,
                       "it is core %u's turn, and it cannot go on", core);
}

static int take_turns(struct turns *t)
{
    struct vs_verify_data *v = t->v;
    unsigned core = 0;
    int err = v->ops->turn(v->decoder, &core);
    if (!err && v->ops->ahead)
        err = run_ahead(t, core);
    while (!err && !(err = v->ops->turn(v->decoder, &core))) {
        uint64_t ends = v->ends, bits = v->port->bits.pos, number = t->cores[core].number;
        unsigned again;
        if ((err = run_core(t, core)))
            return err;
        /* a message may be taken without a bit: what follows was parsed before */
        if (t->cores[core].number == number && v->ends == ends &&
            !v->ops->turn(v->decoder, &again) && v->port->bits.pos == bits)
            return stuck(v, core);
    }
    if (err != -VSE_END)
        return v->diag.error ? v->diag.error : fail_at_end(v, core, err);
    err = run_ahead(t, v->cores); /* what is left takes no message */
    for (core = 0; core < v->cores && !err; core++)
        if (!t->cores[core].done)
            err = stuck(v, core);
    return err;
}

int vs_verify_data_by_turns(struct vs_verify_data *v, vs_core_feed *feed, void *context)
{
    struct turns t = {.v = v, .feed = feed, .context = context};
    v->by_turns = true;
    t.cores = calloc(v->cores, sizeof(*t.cores));
    if (!t.cores)
        return -VSE_NOMEM;
    int err = take_turns(&t);
    free(t.cores);
    return err ? err : conclude(v);
}

/* ---- a stream -------------------------------------------------------------------------------- */

static int walk_batch(void *d, const struct vs_batch *batch)
{
    return vs_verify_data_batch(d, batch);
}

static int walk_end(void *d)
{
    return vs_verify_data_end(d);
}

static int walk_by_turns(void *d, vs_core_feed *feed, void *context)
{
    return vs_verify_data_by_turns(d, feed, context);
}

static const struct vs_core_walk walk = {walk_batch, walk_end, walk_by_turns};

static void fill_result(struct vs_verify_result *r, const struct vs_verify_data *d)
{
    r->loads = d->loads;
    r->load_bytes = d->load_bytes;
    r->values = d->nondets;
    r->states = d->states;
    r->compared = d->loads + d->nondets + d->states;
    r->by_turns = d->by_turns;
    r->outcome = !d->diag.error ? VS_VERIFY_SAME
                 : d->differs   ? VS_VERIFY_DIFFERS
                                : VS_VERIFY_UNREADABLE;
    r->diag = d->diag;
}

int vs_verify_decode_data(const struct vs_verify *v, const char *path,
                          const struct vs_technique_spec *given, const uint8_t *data, size_t size,
                          uint64_t nbits, struct vs_verify_result *result, struct vs_diag *diag)
{
    const struct vs_data_decoder_ops *ops = given->technique->data_decoder;
    struct vs_technique_spec spec = *given;
    const char *why = vs_technique_undecodable(given);
    struct vs_verify_data *d;
    struct vs_port_reader port;
    struct vs_port_shape shape;
    void *decoder = NULL;
    if (why)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
    vs_technique_settle(&spec, v->setup.timed);
    vs_technique_shape(&spec, &v->setup, &shape);
    result->bits = nbits;
    int err = vs_port_reader_init(&port, &shape, data, size, nbits);
    if (!err)
        err = ops->open(&decoder, spec.params, &v->setup, &port);
    if (!(d = malloc(sizeof(*d))))
        err = -VSE_NOMEM;
    if (!err && !(err = vs_verify_data_init(d, ops, decoder, &port, v->setup.cores))) {
        vs_diag_set(diag, 0, -1, -1, "%s", "");
        err = vs_core_walk_run(&walk, d, path, v->reader, v->setup.cores, diag);
        fill_result(result, d);
        if (d->diag.error == -VSE_NOMEM)
            *diag = d->diag; /* which says nothing of the stream */
        else if (d->diag.error)
            err = 0; /* the comparison was made */
        vs_verify_data_fini(d);
    }
    free(d);
    if (decoder)
        ops->close(decoder);
    vs_port_reader_fini(&port);
    return err && !diag->text[0] ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : err;
}
