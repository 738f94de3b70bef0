/* SPDX-License-Identifier: MIT */
#include "technique/mc2rt_inbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"

int vs_mc2rt_inbox_init(struct vs_mc2rt_inbox *b, unsigned cores, struct vs_port_reader *port,
                        vs_mc2rt_parse *parse, unsigned end, void *decoder)
{
    b->cores = cores;
    b->port = port;
    b->parse = parse;
    b->end = end;
    b->decoder = decoder;
    b->core = calloc(cores, sizeof(*b->core));
    return b->core ? vs_demux_init(&b->queues, cores, sizeof(struct vs_mc2rt_message)) : -VSE_NOMEM;
}

int vs_mc2rt_inbox_clone(struct vs_mc2rt_inbox *to, const struct vs_mc2rt_inbox *from,
                         struct vs_port_reader *port, void *decoder)
{
    *to = *from;
    to->port = port;
    to->decoder = decoder;
    to->queues = (struct vs_demux){0};
    to->who = malloc((to->who_size + 1) * sizeof(*to->who));
    to->core = malloc(to->cores * sizeof(*to->core));
    if (!to->who || !to->core)
        return -VSE_NOMEM;
    if (to->who_size)
        memcpy(to->who, from->who, to->who_size * sizeof(*to->who));
    memcpy(to->core, from->core, to->cores * sizeof(*to->core));
    return vs_demux_clone(&to->queues, &from->queues);
}

void vs_mc2rt_inbox_fini(struct vs_mc2rt_inbox *b)
{
    vs_demux_fini(&b->queues);
    free(b->who);
    free(b->core);
}

static int note_whose(struct vs_mc2rt_inbox *b, unsigned core)
{
    size_t waiting = (size_t)(b->parsed - b->taken);
    invariant(waiting <= b->who_size);
    if (waiting == b->who_size) {
        size_t size = b->who_size ? 2 * b->who_size : 1024;
        unsigned *who = malloc(size * sizeof(*who));
        if (!who)
            return -VSE_NOMEM;
        for (uint64_t n = b->taken; n < b->parsed; n++)
            who[n % size] = b->who[n % b->who_size];
        free(b->who);
        b->who = who;
        b->who_size = size;
    }
    b->who[b->parsed % b->who_size] = core;
    return 0;
}

static int parse(struct vs_mc2rt_inbox *b)
{
    struct vs_mc2rt_message m;
    unsigned core;
    int err;
    do {
        m = (struct vs_mc2rt_message){.number = b->parsed};
    } while ((err = b->parse(b->decoder, &core, &m)) > 0);
    if (!err)
        err = note_whose(b, core);
    if (!err)
        err = vs_demux_push(&b->queues, core, &m);
    b->parsed += !err;
    return b->error = err;
}

int vs_mc2rt_fetch(struct vs_mc2rt_inbox *b, unsigned core)
{
    const void *front;
    while (!(front = vs_demux_front(&b->queues, core))) {
        int err = b->error ? b->error : parse(b);
        if (err)
            return err == -VSE_END ? vs_data_ended(b->port, core) : err;
    }
    memcpy(&b->core[core].message, front, sizeof(struct vs_mc2rt_message));
    b->core[core].have = true;
    return 0;
}

void vs_mc2rt_pop(struct vs_mc2rt_inbox *b, unsigned core)
{
    struct vs_mc2rt_core *c = &b->core[core];
    c->have = false;
    c->count = 0;
    vs_demux_pop(&b->queues, core, NULL);
    b->taken++;
    vs_port_took_at(b->port, core, c->message.cycle);
}

int vs_mc2rt_turn(struct vs_mc2rt_inbox *b, unsigned *core)
{
    if (b->taken == b->parsed) {
        int err = b->error ? b->error : parse(b);
        if (err)
            return err == -VSE_END ? vs_data_ended(b->port, 0) : err;
    }
    *core = b->who[b->taken % b->who_size];
    return 0;
}

int vs_mc2rt_refuse(struct vs_mc2rt_inbox *b, unsigned core, const struct vs_mc2rt_message *m,
                    const char *why)
{
    return vs_diag_set(&b->port->diag, -VSE_CORRUPT, (int64_t)(m->pos / 8), -1,
                       "bit %llu, in message %llu: core %u %s", (unsigned long long)m->pos,
                       (unsigned long long)m->number + 1, core, why);
}

bool vs_mc2rt_ends_within(const struct vs_mc2rt_inbox *b, unsigned core,
                          const struct vs_mc2rt_message *m)
{
    return m->kind == b->end && m->count == b->core[core].count && b->core[core].pending;
}

int vs_mc2rt_expect(struct vs_mc2rt_inbox *b, unsigned core, unsigned kind,
                    const struct vs_mc2rt_message **m)
{
    if (core >= b->cores)
        return -VSE_INVAL;
    int err = vs_mc2rt_next(b, core, m);
    if (err)
        return err;
    if (!vs_mc2rt_is_due(b, *m))
        return VS_DECODER_WAIT;
    if (vs_mc2rt_ends_within(b, core, *m))
        return vs_data_ended(b->port, core);
    if ((*m)->kind != kind)
        return vs_mc2rt_refuse(b, core, *m, "needs another kind of message");
    if ((*m)->count != b->core[core].count)
        return vs_mc2rt_refuse(b, core, *m, "made other accesses than THCnt says");
    return 0;
}

int vs_mc2rt_get_place(struct vs_mc2rt_inbox *b, struct vs_data_passed *passed, unsigned core,
                       struct vs_mc2rt_message *m)
{
    bool ends = m->kind == b->end;
    int err = vs_data_get_place(b->port, passed, core, &m->head);
    if (!err && m->head.full)
        return ends ? vs_port_refuse(b->port, VS_FIELD_STATE, "more than the counter holds") : 1;
    m->pos = b->port->bits.pos;
    if (!err && ends == (m->head.size > 0))
        err = vs_port_refuse(b->port, VS_FIELD_STATE, "an end with registers, or none");
    return err;
}

int vs_mc2rt_take_end(struct vs_mc2rt_inbox *b, unsigned core, uint64_t instructions)
{
    const struct vs_mc2rt_message *m;
    int err = vs_mc2rt_expect(b, core, b->end, &m);
    if (!err)
        err = vs_data_get_end(b->port, &m->head, core, instructions);
    if (!err)
        vs_mc2rt_pop(b, core);
    return err;
}

bool vs_mc2rt_takes(struct vs_mc2rt_inbox *b, unsigned core, uint64_t addr, size_t size,
                    uint64_t line)
{
    const struct vs_mc2rt_message *m;
    uint64_t more = (addr % line + size - 1) / line;
    return core >= b->cores || vs_mc2rt_next(b, core, &m) || m->count <= b->core[core].count + more;
}
