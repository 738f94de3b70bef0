/* SPDX-License-Identifier: MIT */
#include "port/framing.h"

#include "base/invariant.h"

/* ---- writing ------------------------------------------------------------------------------- */

void vs_port_put_cycles(struct vs_port_writer *w)
{
    if (w->time < w->core->cycle && !w->error)
        w->error = -VSE_INVAL;
    vs_port_put_chunks(w, VS_FIELD_CYCLES, w->shape.cycles, w->time - w->core->cycle);
    w->core->cycle = w->time;
}

void vs_port_tell(struct vs_port_writer *w)
{
    invariant(w->start <= vs_port_bits(w));
    uint64_t bits = vs_port_bits(w) - w->start;
    size_t core = (size_t)(w->core - w->cores);
    int err = 0;

    if (w->windows)
        err = vs_windows_add(w->windows, core < w->shape.cores ? (unsigned)core : 0, w->time, bits);
    if (err && !w->error)
        w->error = err;
    if (w->drain)
        vs_drain_add(w->drain, w->time, bits);
    if (w->meter)
        w->meter->told(w->meter->context, (unsigned)core, bits);
    if (w->buffers)
        vs_buffers_add(w->buffers, w->time, bits);
}

void vs_port_charge(struct vs_port_writer *w, unsigned core)
{
    invariant(w->shape.packets && (core < w->shape.cores || !w->shape.per_core));
    if (w->shape.per_core)
        vs_port_enter(w, core);
    w->core = &w->cores[core < w->shape.cores ? core : w->shape.cores];
}

/* ---- reading ------------------------------------------------------------------------------- */

static int get_cycle(struct vs_port_reader *r, unsigned core, uint64_t *cycle)
{
    uint64_t passed, before = r->cycles[core], pos = r->bits.pos;
    int err = vs_port_get_chunks(r, VS_FIELD_CYCLES, r->shape.cycles, &passed);

    if (err)
        return err;
    if (passed > UINT64_MAX - before) {
        r->bits.pos = pos;
        return vs_port_refuse(r, VS_FIELD_CYCLES, "cycles exceed 64 bits");
    }
    *cycle = r->cycles[core] = before + passed;
    return 0;
}

int vs_port_next(struct vs_port_reader *r, unsigned *core, uint64_t *cycle)
{
    uint64_t who = 0, when = 0;
    int err;

    if (!vs_port_goes_on(r))
        return -VSE_END;
    r->start = r->bits.pos;
    r->core = 0; /* until Ti is read, the message is nobody's */
    if ((err = vs_port_get(r, VS_FIELD_CORE, r->core_bits, &who)) < 0)
        return err;
    if (who >= r->shape.cores) {
        r->bits.pos = r->start;
        return vs_port_refuse(r, VS_FIELD_CORE, "there is no such core");
    }
    r->core = (unsigned)who;
    if (r->shape.timed && (err = get_cycle(r, r->core, &when)) < 0)
        return err;
    r->messages++;
    if (core)
        *core = r->core;
    if (cycle)
        *cycle = when;
    return 0;
}

int vs_port_next_packet(struct vs_port_reader *r)
{
    invariant(r->shape.packets);
    if (!vs_port_goes_on(r))
        return -VSE_END;
    r->start = r->bits.pos;
    r->core = r->stream; /* in a stream of all cores this is 0 until the core is known */
    r->messages++;
    return 0;
}

int vs_port_packet_core(struct vs_port_reader *r, enum vs_field f, uint64_t core)
{
    if (core >= r->shape.cores)
        return vs_port_refuse(r, f, "there is no such core");
    r->core = (unsigned)core;
    return 0;
}

int vs_port_seek(struct vs_port_reader *r, unsigned stream, uint64_t bit)
{
    vs_port_select(r, stream);
    while (bit > r->bits.nbits)
        if (!r->more || !r->more->get(r->more->context, &r->bits))
            return -VSE_END;
    r->bits.pos = r->start = bit;
    return 0;
}
