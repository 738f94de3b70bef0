/* SPDX-License-Identifier: MIT */
#include "study/verify_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/likely.h"
#include "study/explain.h"

static void see_message(void *context, unsigned core, uint64_t cycle);
static void see_memory(void *context, unsigned core, const struct vs_port_memory *m);
static void see_outside(void *context, unsigned core, const struct vs_port_outside *o);

int vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                        struct vs_port_reader *port, unsigned cores)
{
    const struct vs_port_witness witness = {
        .context = v, .message = see_message, .memory = see_memory, .outside = see_outside};
    memset(v, 0, offsetof(struct vs_verify_data, bytes));
    v->ops = ops;
    vs_comparison_init(&v->c, port, cores, &witness);
    v->since = calloc(cores, sizeof(*v->since));
    v->notices = calloc(cores, sizeof(*v->notices));
    v->live = calloc(cores, sizeof(*v->live));
    v->changed = calloc(cores, sizeof(*v->changed));
    return v->since && v->notices && v->live && v->changed ? 0 : -VSE_NOMEM;
}

void vs_verify_data_fini(struct vs_verify_data *v)
{
    free(v->since);
    free(v->notices);
    free(v->live);
    free(v->changed);
}

/* ---- differences ----------------------------------------------------------------------------- */

static int differ(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                  const char *what, const uint8_t *is, const uint8_t *should, size_t size)
{
    size_t at = 0;
    while (at < size && is[at] == should[at])
        at++;
    char where[VS_COMPARISON_PLACE];
    vs_comparison_place(&v->c, e, number, where);
    v->c.differs = true;
    v->c.pc = e->pc;
    return vs_diag_set(&v->c.diag, -VSE_CORRUPT, (int64_t)(v->c.port->bits.pos / 8),
                       (int64_t)number, "%s: %s 0x%llx+%zu differs: 0x%02x, not 0x%02x", where,
                       what, (unsigned long long)e->addr, at, at < size ? is[at] : 0,
                       at < size ? should[at] : 0);
}

/* ---- what messages say ------------------------------------------------------------------------
 */

static void see_message(void *context, unsigned core, uint64_t cycle)
{
    struct vs_verify_data *v = context;
    v->took = true;
    v->notices[core] = 0;
    vs_comparison_message(&v->c, core, cycle);
}

static void see_memory(void *context, unsigned core, const struct vs_port_memory *m)
{
    struct vs_verify_data *v = context;
    uint8_t should;
    if (!v->recall || v->c.diag.error)
        return;
    int err = vs_recall_go(v->recall, v->c.now.number);
    if (err)
        vs_diag_set(&v->c.diag, err, -1, -1, "%s", vs_errstr(err));
    for (size_t i = 0; i < m->size && !err; i++)
        if (vs_recall_knows(v->recall, m->addr + i, &should)) {
            v->memory_bytes++;
            if (m->bytes[i] != should)
                vs_comparison_differ(&v->c, core, "a byte that is sent with others", m->bytes[i],
                                     should);
        } else {
            v->unknown_bytes++;
            if (v->unknown)
                v->unknown(v->unknown_context, v->c.now.number, m->addr + i, m->bytes[i]);
        }
}

/* The addresses that the event tells of, as far as an encoder has to tell them. */
static void outside_of(const struct vs_event *e, uint64_t *addr, uint64_t *size)
{
    *addr = e->addr;
    *size = e->size;
    if (e->kind == VS_MAP)
        vs_data_mapped(e, addr, size);
    else if (e->kind == VS_GAP)
        *addr = *size = 0;
}

static void see_outside(void *context, unsigned core, const struct vs_port_outside *o)
{
    struct vs_verify_data *v = context;
    uint64_t addr, size;
    if (!v->c.who) {
        vs_comparison_differ(&v->c, core, "an outside write at the core's end", o->addr, 0);
        return;
    }
    outside_of(v->c.who, &addr, &size);
    if (o->addr != addr)
        vs_comparison_differ(&v->c, core, "the address of an outside write", o->addr, addr);
    if (o->size != size)
        vs_comparison_differ(&v->c, core, "the length of an outside write", o->size, size);
    if (o->notices != v->notices[core])
        vs_comparison_differ(&v->c, core, "the number of outside writes", o->notices,
                             v->notices[core]);
    if (o->instructions != v->since[core] + v->c.who->icount)
        vs_comparison_differ(&v->c, core, "the place of an outside write", o->instructions,
                             v->since[core] + v->c.who->icount);
}

/* ---- one event ------------------------------------------------------------------------------- */

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

/* The debugger must have known where the registers come. */
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

/* ---- changes of code ---- */

/* The core's place is told, so many instructions after its last event, unless it has ended there
 * and that was told before. The message is one of registers, but holds none; `size` is that of what
 * it holds: 0 says that code changes. */
static int do_place(struct vs_verify_data *v, unsigned core, unsigned icount, size_t size,
                    const struct vs_standing *standing)
{
    static const uint8_t mark[VS_DATA_PLACE];
    const struct vs_event change = {
        .kind = VS_CODE, .thread = (uint16_t)core, .icount = (uint16_t)icount};
    if (!v->live[core] && !(v->since[core] + icount))
        return 0;
    vs_comparison_at(&v->c, &change, standing->number, standing);
    int err = do_state(v, &change, standing->number, mark, size);
    if (!err)
        v->since[core] = 0;
    v->c.who = NULL;
    return err;
}

/* Makes the core pass its next change of code, or where another core stores over what it stored, if
 * that comes before the event of that number; *passed says whether it did. Returns 0;
 * VS_DECODER_WAIT; an error. */
static int pass_change(struct vs_verify_data *v, unsigned core, uint64_t number, bool timed,
                       bool *passed)
{
    *passed = false;
    if (likely(!v->changes))
        return 0;
    const struct vs_change *c =
        vs_changes_next(v->changes, core, !v->ops->ahead, &v->changed[core]);
    if (!c || c->number >= number)
        return 0;
    int err = do_place(v, core, 0, c->core == VS_CHANGE_ALL ? 0 : VS_DATA_PLACE,
                       &(struct vs_standing){c->number, c->cycle, timed});
    *passed = !err;
    v->changed[core] += !err;
    return v->c.diag.error ? v->c.diag.error : err;
}

/* Handles the event itself, which in global order stands for the change on all cores. */
static int do_code(struct vs_verify_data *v, const struct vs_event *e,
                   const struct vs_standing *standing)
{
    int err = 0;
    if (v->c.by_turns) {
        err = do_place(v, e->thread, e->icount, 0, standing);
        v->changed[e->thread] += !err;
        return err;
    }
    for (unsigned core = 0; core < v->c.cores && !err; core++)
        err = do_place(v, core, core == e->thread ? e->icount : 0, 0, standing);
    return err;
}

/* Returns 0; VS_DECODER_WAIT; an error, with diag or to be explained. */
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
        return do_outside(v, e);
    case VS_MAP:
        return e->value ? do_outside(v, e) : 0;
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
    case VS_CODE:
        return do_code(v, e,
                       &(struct vs_standing){v->c.now.number, v->c.now.cycle, v->c.now.timed});
    default:
        return 0;
    }
}

static bool gives_registers(const struct vs_event *e)
{
    return e->kind == VS_GAP || e->kind == VS_SYSCALL || e->kind == VS_EXCEPTION ||
           e->kind == VS_EXCEPTION_RET || e->kind == VS_THREAD_START;
}

static bool is_access(const struct vs_event *e)
{
    return e->kind == VS_LOAD || e->kind == VS_STORE;
}

static bool is_outside(const struct vs_event *e)
{
    return e->kind == VS_EXTERNAL || (e->kind == VS_MAP && e->value) || e->kind == VS_GAP;
}

/* An event that has waited comes again, and then takes the rest of its messages. */
static inline int do_event(struct vs_verify_data *v, const struct vs_batch *b,
                           const struct vs_event *e, uint64_t number,
                           const struct vs_standing *standing)
{
    if (unlikely(e->thread >= v->c.cores))
        return -VSE_INVAL;
    vs_comparison_at(&v->c, e, number, standing);
    v->took = false;
    int err = dispatch(v, b, e, number);
    if (unlikely(v->c.diag.error))
        return v->c.diag.error;
    if (unlikely(err))
        return err;
    v->since[e->thread] =
        gives_registers(e) || e->kind == VS_CODE ? 0 : v->since[e->thread] + e->icount;
    if (e->kind == VS_THREAD_START || e->kind == VS_GAP)
        v->live[e->thread] = true;
    else if (e->kind == VS_THREAD_EXIT)
        v->live[e->thread] = false;
    if (is_access(e))
        v->notices[e->thread] = 0;
    else if (is_outside(e) && !v->took)
        v->notices[e->thread]++;
    return 0;
}

/* ---- in global order ------------------------------------------------------------------------- */

int vs_verify_data_batch(struct vs_verify_data *v, const struct vs_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        const struct vs_standing standing = {
            .number = b->first + i, .cycle = b->cycles ? b->cycles[i] : 0, .timed = b->cycles};
        int err = do_event(v, b, e, b->first + i, &standing);
        if (unlikely(err))
            return v->c.diag.error ? v->c.diag.error
                                   : vs_comparison_fail(&v->c, e, b->first + i, err);
    }
    return 0;
}

/* Returns 0; VS_DECODER_WAIT; an error, with diag or to be explained. */
static int end_of_core(struct vs_verify_data *v, unsigned core)
{
    bool passed;
    int err;
    do
        err = pass_change(v, core, UINT64_MAX, v->end.timed, &passed);
    while (passed);
    const struct vs_standing end = {
        .number = UINT64_MAX, .cycle = v->end.cycle, .timed = v->end.timed};
    vs_comparison_at(&v->c, NULL, 0, &end);
    if (!err)
        err = v->ops->end(v->decoder, core, v->since[core]);
    if (!err && v->ends++ != core)
        vs_comparison_differ(&v->c, core, "the core that ends", core, v->ends - 1);
    return v->c.diag.error ? v->c.diag.error : err;
}

static int conclude(struct vs_verify_data *v)
{
    unsigned core;
    int err = vs_comparison_over(&v->c, v->ops->turn(v->decoder, &core));
    if (err)
        return err;
    if (v->ends != v->c.cores)
        return vs_diag_set(&v->c.diag, -VSE_CORRUPT, -1, -1, "the stream has no end of core %llu",
                           (unsigned long long)v->ends);
    if (!v->loads && !v->nondets)
        return vs_diag_set(&v->c.diag, -VSE_NOTFOUND, -1, -1, "nothing was compared");
    return 0;
}

int vs_verify_data_end(struct vs_verify_data *v)
{
    int err = 0;
    for (unsigned core = 0; core < v->c.cores && !err; core++)
        if ((err = end_of_core(v, core)) && !v->c.diag.error)
            err = vs_comparison_fail_at_end(&v->c, core, err);
    return err ? err : conclude(v);
}

/* ---- by turns -------------------------------------------------------------------------------- */

struct turns {
    struct vs_verify_data *v;
    vs_core_feed *feed;
    void *context;
    struct vs_core_events *cores;
};

/* Makes the core take its next event. Returns 0; 1 if the core waits or has no more events; an
 * error. */
static int step(struct turns *t, unsigned core)
{
    struct vs_core_events *c = &t->cores[core];
    int err = c->at == c->now.batch.count ? vs_core_events_fill(c, core, t->feed, t->context) : 0;
    if (err || c->done)
        return err ? err : 1;
    const struct vs_event *e = vs_core_events_next(c);
    const struct vs_standing standing = vs_core_events_standing(c);
    bool passed;
    err = pass_change(t->v, core, standing.number, standing.timed, &passed);
    if (passed)
        return 0;
    if (!err)
        err =
            e->thread == core ? do_event(t->v, &c->now.batch, e, c->number, &standing) : -VSE_INVAL;
    if (err < 0)
        return t->v->c.diag.error ? t->v->c.diag.error
                                  : vs_comparison_fail(&t->v->c, e, c->number, err);
    c->at += err == 0;
    c->number += err == 0;
    return err;
}

/* Runs every core but one until it waits. */
static int run_ahead(struct turns *t, unsigned but)
{
    int err = 0;
    for (unsigned core = 0; core < t->v->c.cores && err >= 0; core++)
        if (core != but)
            while (!(err = step(t, core)))
                ;
    return err < 0 ? err : 0;
}

/* Runs the core as long as it is its turn or, if the decoder tells when a core has to wait, until
 * then. */
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
    err = end_of_core(v, core);
    if (err < 0 && !v->c.diag.error)
        err = vs_comparison_fail_at_end(&v->c, core, err);
    return err < 0 ? err : 0;
}

static int stuck(struct vs_verify_data *v, unsigned core)
{
    return vs_diag_set(&v->c.diag, -VSE_CORRUPT, (int64_t)(v->c.port->bits.pos / 8), -1,
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
        uint64_t ends = v->ends, bits = v->c.port->bits.pos, number = t->cores[core].number;
        uint64_t messages = v->c.messages;
        unsigned again;
        if ((err = run_core(t, core)))
            return err;
        /* a message may be taken without reading a bit, if it was parsed before */
        if (t->cores[core].number == number && v->ends == ends && v->c.messages == messages &&
            !v->ops->turn(v->decoder, &again) && v->c.port->bits.pos == bits)
            return stuck(v, core);
    }
    if (err != -VSE_END)
        return v->c.diag.error ? v->c.diag.error : vs_comparison_fail_at_end(&v->c, core, err);
    err = run_ahead(t, v->c.cores); /* the remaining events take no message */
    for (core = 0; core < v->c.cores && !err; core++)
        if (!t->cores[core].done)
            err = stuck(v, core);
    return err;
}

int vs_verify_data_by_turns(struct vs_verify_data *v, vs_core_feed *feed, void *context)
{
    struct turns t = {.v = v, .feed = feed, .context = context};
    v->c.by_turns = true;
    t.cores = calloc(v->c.cores, sizeof(*t.cores));
    if (!t.cores)
        return -VSE_NOMEM;
    int err = take_turns(&t);
    free(t.cores);
    return err ? err : conclude(v);
}

/* ---- a stream -------------------------------------------------------------------------------- */

static void fill_result(struct vs_verify_result *r, const struct vs_verify_data *d)
{
    r->loads = d->loads;
    r->load_bytes = d->load_bytes;
    r->values = d->nondets;
    r->states = d->states;
    r->memory_bytes = d->memory_bytes;
    r->unknown_bytes = d->unknown_bytes;
    r->compared = d->loads + d->nondets + d->states;
}

/* Opens the pieces and all that reads them, and walks them. */
static int walk_pieces(const struct vs_verify *v, struct vs_verify_data *d)
{
    struct vs_pieces own, *pieces;
    struct vs_pieces_feed feed = {0};
    struct vs_recall recall;
    int err = vs_verify_pieces(v, &own, &pieces);
    if (!err && !v->changes.known && !pieces->changes.known)
        err = vs_pieces_read(pieces, NULL);
    if (!err)
        err = vs_pieces_feed_init(&feed, pieces, v->setup.cores);
    if (!err) {
        vs_recall_init(&recall, pieces, v->prior);
        d->recall = &recall;
        d->changes = v->changes.known ? &v->changes : &pieces->changes;
        d->changes = d->changes->count ? d->changes : NULL;
        d->end = (struct vs_standing){.cycle = vs_reader_info(v->reader)->cycle_last,
                                      .timed = v->setup.timed};
        err = vs_verify_data_by_turns(d, vs_pieces_feed, &feed);
        vs_recall_fini(&recall);
    }
    vs_pieces_feed_fini(&feed);
    vs_pieces_fini(&own);
    return err;
}

int vs_verify_decode_data(const struct vs_verify *v, const struct vs_technique_spec *given,
                          const struct vs_port_stream *streams, struct vs_verify_result *result,
                          struct vs_diag *diag)
{
    const struct vs_data_decoder_ops *ops = given->technique->data_decoder;
    const char *why = vs_technique_undecodable(given);
    struct vs_technique_spec spec;
    struct vs_verify_data *d;
    struct vs_port_reader port;
    void *decoder = NULL;
    if (why)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
    if (!(d = calloc(1, sizeof(*d))))
        return vs_study_explain(v->reader, -VSE_NOMEM, diag);
    int err = vs_comparison_open(v, given, streams, &spec, &port, result);
    if (!err)
        err = vs_verify_data_init(d, ops, &port, v->setup.cores);
    d->c.witness.fields = v->probe ? v->probe->fields : NULL;
    d->unknown = v->probe ? v->probe->unknown : NULL;
    d->unknown_context = v->probe ? v->probe->context : NULL;
    if (!err)
        err = ops->open(&decoder, spec.params, &v->setup, &port);
    if (!err) {
        vs_verify_data_drive(d, decoder);
        err = walk_pieces(v, d);
        fill_result(result, d);
        err = vs_comparison_result(&d->c, err, result, diag);
    }
    vs_verify_data_fini(d);
    free(d);
    if (decoder)
        ops->close(decoder);
    vs_port_reader_fini(&port);
    return err ? vs_study_explain(v->reader, err, diag) : 0;
}
