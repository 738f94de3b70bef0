/* SPDX-License-Identifier: MIT */
#include "study/comparison.h"

#include <stdio.h>

#include "base/diag.h"

void vs_comparison_init(struct vs_comparison *c, struct vs_port_reader *port, unsigned cores,
                        const struct vs_port_witness *witness)
{
    *c = (struct vs_comparison){.port = port, .cores = cores, .witness = *witness};
    port->witness = &c->witness;
}

void vs_comparison_place(const struct vs_comparison *c, const struct vs_event *e, uint64_t number,
                         char text[VS_COMPARISON_PLACE])
{
    snprintf(text, VS_COMPARISON_PLACE, "event %llu%s, core %u, pc 0x%llx",
             (unsigned long long)number, c->by_turns ? " of its core" : "", e->thread,
             (unsigned long long)e->pc);
}

int vs_comparison_fail(struct vs_comparison *c, const struct vs_event *e, uint64_t number, int err)
{
    const char *why = err == VS_DECODER_WAIT ? "the next message is another core's"
                      : c->port->diag.error == err && c->port->diag.text[0] ? c->port->diag.text
                                                                            : vs_errstr(err);
    char where[VS_COMPARISON_PLACE];
    vs_comparison_place(c, e, number, where);
    c->pc = e->pc;
    return vs_diag_set(&c->diag, err == VS_DECODER_WAIT ? -VSE_CORRUPT : err,
                       (int64_t)(c->port->bits.pos / 8), (int64_t)number, "%s: %s", where, why);
}

int vs_comparison_fail_at_end(struct vs_comparison *c, unsigned core, int err)
{
    const struct vs_event nothing = {.thread = (uint16_t)core};
    return vs_comparison_fail(c, &nothing, 0, err);
}

int vs_comparison_differ(struct vs_comparison *c, unsigned core, const char *what, uint64_t is,
                         uint64_t should)
{
    char where[VS_COMPARISON_PLACE];
    if (c->diag.error)
        return c->diag.error;
    if (c->who)
        vs_comparison_place(c, c->who, c->who_number, where);
    else
        snprintf(where, sizeof(where), "core %u, at its end", core);
    c->differs = true;
    c->pc = c->who ? c->who->pc : 0;
    return vs_diag_set(&c->diag, -VSE_CORRUPT, (int64_t)(c->port->bits.pos / 8),
                       (int64_t)c->who_number, "%s: %s differs: 0x%llx, not 0x%llx", where, what,
                       (unsigned long long)is, (unsigned long long)should);
}

void vs_comparison_message(struct vs_comparison *c, unsigned core, uint64_t cycle)
{
    c->messages++;
    if (c->who && c->who->thread != core)
        vs_comparison_differ(c, core, "the core of a message", core, c->who->thread);
    if (c->now.timed && cycle != c->now.cycle)
        vs_comparison_differ(c, core, "the cycle of a message", cycle, c->now.cycle);
    if (c->now.number < c->last)
        vs_comparison_differ(c, core, "the order of messages: the event", c->now.number, c->last);
    c->last = c->now.number;
}

int vs_comparison_over(struct vs_comparison *c, int turn)
{
    if (!turn)
        return vs_diag_set(&c->diag, -VSE_CORRUPT, -1, -1,
                           "the stream goes on after the end of the run");
    return turn == -VSE_END ? 0 : vs_comparison_fail_at_end(c, 0, turn);
}

int vs_comparison_open(const struct vs_verify *v, const struct vs_technique_spec *given,
                       const struct vs_port_stream *streams, struct vs_technique_spec *spec,
                       struct vs_port_reader *port, struct vs_verify_result *result)
{
    struct vs_port_shape shape;
    *spec = *given;
    vs_technique_settle(spec, v->setup.timed);
    vs_technique_shape(spec, &v->setup, &shape);
    int err = vs_port_reader_init(port, &shape, streams);
    result->bits = err ? 0 : vs_port_reader_bits(port);
    return err;
}

int vs_comparison_result(const struct vs_comparison *c, int err, struct vs_verify_result *result,
                         struct vs_diag *diag)
{
    result->messages = c->messages;
    result->outcome = !c->diag.error ? VS_VERIFY_SAME
                      : c->differs   ? VS_VERIFY_DIFFERS
                                     : VS_VERIFY_UNREADABLE;
    result->diag = c->diag;
    result->pc = c->pc;
    if (c->diag.error == -VSE_NOMEM)
        *diag = c->diag; /* this says nothing about the stream */
    return c->diag.error && c->diag.error != -VSE_NOMEM ? 0 : err;
}
