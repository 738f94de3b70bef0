/* SPDX-License-Identifier: MIT */
#include "study/verify_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/likely.h"

void vs_verify_data_init(struct vs_verify_data *v, const struct vs_data_decoder_ops *ops,
                         void *decoder, const struct vs_port_reader *port, unsigned cores)
{
    memset(v, 0, offsetof(struct vs_verify_data, bytes));
    v->ops = ops;
    v->decoder = decoder;
    v->port = port;
    v->cores = cores;
}

/* ---- one event ------------------------------------------------------------------------------- */

static int fail(struct vs_verify_data *v, const struct vs_event *e, uint64_t number, int err)
{
    const char *why = err == VS_DATA_WAIT ? "the next message is another core's"
                      : v->port->diag.error == err && v->port->diag.text[0] ? v->port->diag.text
                                                                            : vs_errstr(err);
    return vs_diag_set(&v->diag, err == VS_DATA_WAIT ? -VSE_CORRUPT : err,
                       (int64_t)(v->port->bits.pos / 8), (int64_t)number,
                       "event %llu, core %u, pc 0x%llx: %s", (unsigned long long)number, e->thread,
                       (unsigned long long)e->pc, why);
}

static int differ(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                  const char *what, const uint8_t *is, const uint8_t *should, size_t size)
{
    size_t at = 0;
    while (at < size && is[at] == should[at])
        at++;
    return vs_diag_set(&v->diag, -VSE_CORRUPT, (int64_t)(v->port->bits.pos / 8), (int64_t)number,
                       "event %llu, core %u, pc 0x%llx: %s 0x%llx+%zu differs: 0x%02x, not 0x%02x",
                       (unsigned long long)number, e->thread, (unsigned long long)e->pc, what,
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

static int do_state(struct vs_verify_data *v, const struct vs_event *e, uint64_t number,
                    const uint8_t *bytes, size_t size)
{
    const uint8_t *got;
    size_t got_size;
    int err = v->ops->state(v->decoder, e->thread, &got, &got_size);
    if (err)
        return err;
    v->states++;
    v->state_bytes += size;
    if (got_size != size)
        return differ(v, e, number, "number of registers'", got, bytes, 0);
    return memcmp(got, bytes, size) ? differ(v, e, number, "registers", got, bytes, size) : 0;
}

static int do_outside(struct vs_verify_data *v, const struct vs_event *e)
{
    return v->ops->outside ? v->ops->outside(v->decoder, e->thread) : 0;
}

/* Returns 0; VS_DATA_WAIT; an error, with diag or to be explained. */
static inline int do_event(struct vs_verify_data *v, const struct vs_batch *b,
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
    int err = v->ops->end(v->decoder, core);
    return err ? fail_at_end(v, core, err) : 0;
}

static int conclude(struct vs_verify_data *v)
{
    unsigned core;
    int err = v->ops->turn(v->decoder, &core);
    if (err != -VSE_END)
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

/* Numbers of each core's events, in order. */
struct queues {
    size_t *events;      /* of all cores, one after the other */
    size_t *next, *last; /* by core, in events */
};

static int queues_init(struct queues *q, const struct vs_batch *b, unsigned cores)
{
    q->events = malloc((b->count + 1) * sizeof(*q->events));
    q->next = calloc(cores + 1, sizeof(*q->next));
    q->last = calloc(cores + 1, sizeof(*q->last));
    if (!q->events || !q->next || !q->last)
        return -VSE_NOMEM;
    for (size_t i = 0; i < b->count; i++)
        if (b->events[i].thread >= cores)
            return -VSE_INVAL;
        else
            q->next[b->events[i].thread + 1]++;
    for (unsigned c = 0; c < cores; c++)
        q->last[c] = q->next[c + 1] += q->next[c];
    size_t *fill = q->last; /* from the start of each core to its end */
    for (unsigned c = 0; c < cores; c++)
        fill[c] = q->next[c];
    for (size_t i = 0; i < b->count; i++)
        q->events[fill[b->events[i].thread]++] = i;
    return 0;
}

static void queues_fini(struct queues *q)
{
    free(q->events);
    free(q->next);
    free(q->last);
}

/* The core's next event. Returns 0; 1 if the core waits, or has no more; an error. */
static int step(struct vs_verify_data *v, const struct vs_batch *b, struct queues *q, unsigned core)
{
    if (q->next[core] == q->last[core])
        return 1;
    size_t i = q->events[q->next[core]];
    int err = do_event(v, b, &b->events[i], i);
    if (err < 0)
        return v->diag.error ? v->diag.error : fail(v, &b->events[i], i, err);
    q->next[core] += err == 0;
    return err;
}

static bool is_done(const struct queues *q, unsigned core)
{
    return q->next[core] == q->last[core];
}

/* Every core but one, until it waits. */
static int run_ahead(struct vs_verify_data *v, const struct vs_batch *b, struct queues *q,
                     unsigned but)
{
    int err = 0;
    for (unsigned core = 0; core < v->cores && err >= 0; core++)
        if (core != but)
            while (!(err = step(v, b, q, core)))
                ;
    return err < 0 ? err : 0;
}

/* The core, as long as it is its turn; if the decoder tells when a core has to wait, until then. */
static int run_core(struct vs_verify_data *v, const struct vs_batch *b, struct queues *q,
                    unsigned core)
{
    unsigned again = core;
    int err = 0;
    while (!err && again == core) {
        err = step(v, b, q, core);
        if (!err && !v->ops->ahead && v->ops->turn(v->decoder, &again))
            break;
    }
    if (err <= 0 || !is_done(q, core))
        return err < 0 ? err : 0;
    err = v->ops->end(v->decoder, core);
    v->ends += !err;
    return err < 0 ? fail_at_end(v, core, err) : 0;
}

static int stuck(struct vs_verify_data *v, unsigned core)
{
    return vs_diag_set(&v->diag, -VSE_CORRUPT, (int64_t)(v->port->bits.pos / 8), -1,
                       "it is core %u's turn, and it cannot go on", core);
}

static int by_turns(struct vs_verify_data *v, const struct vs_batch *b, struct queues *q)
{
    unsigned core;
    int err = v->ops->turn(v->decoder, &core);
    if (!err && v->ops->ahead)
        err = run_ahead(v, b, q, core);
    while (!err && !(err = v->ops->turn(v->decoder, &core))) {
        uint64_t ends = v->ends, bits = v->port->bits.pos;
        size_t next = q->next[core];
        unsigned again;
        if ((err = run_core(v, b, q, core)))
            return err;
        /* a decoder that parses ahead takes an end without a bit; others may take nothing for it */
        if (q->next[core] == next && (v->ends == ends || !v->ops->ahead) &&
            !v->ops->turn(v->decoder, &again) && v->port->bits.pos == bits)
            return stuck(v, core);
    }
    if (err != -VSE_END)
        return v->diag.error ? v->diag.error : fail(v, &b->events[0], 0, err);
    err = run_ahead(v, b, q, v->cores); /* what is left takes no message */
    for (core = 0; core < v->cores && !err; core++)
        if (!is_done(q, core))
            err = stuck(v, core);
    return err;
}

int vs_verify_data_by_turns(struct vs_verify_data *v, const struct vs_batch *run)
{
    struct queues q = {0};
    int err = queues_init(&q, run, v->cores);
    if (!err)
        err = by_turns(v, run, &q);
    queues_fini(&q);
    return err ? err : conclude(v);
}
