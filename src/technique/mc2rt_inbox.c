/* SPDX-License-Identifier: MIT */
#include "technique/mc2rt_inbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"

int vs_mc2rt_inbox_init(struct vs_mc2rt_inbox *b, unsigned cores, struct vs_port_reader *port,
                        vs_mc2rt_parse *parse, void *decoder)
{
    b->cores = cores;
    b->port = port;
    b->parse = parse;
    b->decoder = decoder;
    b->first = calloc(cores, sizeof(*b->first));
    return b->first ? vs_demux_init(&b->queues, cores, sizeof(struct vs_mc2rt_message))
                    : -VSE_NOMEM;
}

int vs_mc2rt_inbox_clone(struct vs_mc2rt_inbox *to, const struct vs_mc2rt_inbox *from,
                         struct vs_port_reader *port, void *decoder)
{
    *to = *from;
    to->port = port;
    to->decoder = decoder;
    to->queues = (struct vs_demux){0};
    to->who = malloc((to->who_size + 1) * sizeof(*to->who));
    to->first = malloc(to->cores * sizeof(*to->first));
    if (!to->who || !to->first)
        return -VSE_NOMEM;
    if (to->who_size)
        memcpy(to->who, from->who, to->who_size * sizeof(*to->who));
    memcpy(to->first, from->first, to->cores * sizeof(*to->first));
    return vs_demux_clone(&to->queues, &from->queues);
}

void vs_mc2rt_inbox_fini(struct vs_mc2rt_inbox *b)
{
    vs_demux_fini(&b->queues);
    free(b->who);
    free(b->first);
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
    memcpy(&b->first[core].message, front, sizeof(struct vs_mc2rt_message));
    b->first[core].have = true;
    return 0;
}

void vs_mc2rt_pop(struct vs_mc2rt_inbox *b, unsigned core)
{
    struct vs_mc2rt_first *f = &b->first[core];
    f->have = false;
    vs_demux_pop(&b->queues, core, NULL);
    b->taken++;
    vs_port_took_at(b->port, core, f->message.cycle);
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
