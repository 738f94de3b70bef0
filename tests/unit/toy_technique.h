/* SPDX-License-Identifier: MIT */
/* A technique for tests, as small as one that frames its own packets can be. Each core has a stream
 * of packets, or they share one; packets are whole bytes:
 *
 *   kind (8) | [core (8), if they share one] | bytes of the payload (8) | payload | sum (8)
 *
 *   RUN    how many (8), and the outcomes of so many conditional branches, a bit each: `size` of
 *          them, unless something else comes first
 *   JUMP   of an indirect branch: instructions since the last packet or outcome, target, cycle
 *   BREAK  the same of a discontinuity
 *   SYNC   instructions as above, where the core is then, all its instructions (64 bits each)
 *
 * The sum is of all bytes before it. All but the payload is encapsulation. The order between
 * streams is not told. */
#ifndef TOY_TECHNIQUE_H
#define TOY_TECHNIQUE_H

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "technique/technique.h"

enum toy_kind { TOY_RUN = 1, TOY_JUMP, TOY_BREAK, TOY_SYNC };
enum { TOY_PAYLOAD = 32, TOY_MOST = 8 * (TOY_PAYLOAD - 1), TOY_NUMBERS = 24 };

static const enum vs_field toy_fields[] = {VS_FIELD_HEADER, VS_FIELD_OUTCOME, VS_FIELD_TARGET,
                                           VS_FIELD_TARGET, VS_FIELD_SYNC};

/* Of a core, on either side: the packet under way, and of the encoder where it is. */
struct toy_core {
    uint64_t kind;
    unsigned count, at; /* outcomes, and how many of them are done */
    uint8_t payload[TOY_PAYLOAD];
    uint64_t since, instructions, pc, time;
    bool lost; /* the decoder has read nothing of it yet that can be understood */
};

struct toy_params {
    uint64_t size, shared;
};

struct toy {
    struct toy_params params;
    unsigned cores, next;
    struct vs_port_writer *writer;
    struct vs_port_reader *reader;
    struct vs_flow_counts counts;
    struct toy_core core[VS_PORT_CORES_MAX / 1024];
};

static int toy_open(void **toy, const void *params, struct vs_port_reader *reader,
                    struct vs_port_writer *writer, unsigned cores)
{
    struct toy *t = *toy = calloc(1, sizeof(*t));
    if (t)
        *t = (struct toy){.params = *(const struct toy_params *)params,
                          .cores = cores,
                          .writer = writer,
                          .reader = reader};
    return t ? 0 : -VSE_NOMEM;
}

/* ---- the encoder ---- */

static int toy_encoder_open(void **toy, const struct vs_technique_context *c)
{
    return toy_open(toy, c->params, NULL, c->port, c->setup->cores);
}

static void toy_put(struct toy *t, struct toy_core *c, enum toy_kind kind, unsigned size)
{
    unsigned core = (unsigned)(c - t->core), sum = kind + size + (t->params.shared ? core : 0);
    vs_port_begin_packet(t->writer, core, c->time);
    vs_port_put_frame(t->writer, VS_FIELD_HEADER, kind, 8);
    if (t->params.shared)
        vs_port_put_frame(t->writer, VS_FIELD_CORE, core, 8);
    vs_port_put_frame(t->writer, VS_FIELD_HEADER, size, 8);
    vs_port_put_bytes(t->writer, toy_fields[kind], c->payload, size);
    for (unsigned i = 0; i < size; i++)
        sum += c->payload[i];
    vs_port_put_frame(t->writer, VS_FIELD_HEADER, sum, 8);
    vs_port_end(t->writer);
    memset(c->payload, 0, sizeof(c->payload));
    c->count = 0;
}

static void toy_flush(struct toy *t, struct toy_core *c)
{
    c->payload[0] = (uint8_t)c->count;
    if (c->count)
        toy_put(t, c, TOY_RUN, 1 + (c->count + 7) / 8);
}

static void toy_put_numbers(struct toy *t, struct toy_core *c, enum toy_kind kind, uint64_t place,
                            uint64_t extra)
{
    toy_flush(t, c);
    vs_put64(c->payload, c->since);
    vs_put64(c->payload + 8, place);
    vs_put64(c->payload + 16, extra);
    toy_put(t, c, kind, TOY_NUMBERS);
    c->since = 0;
}

static int toy_consume(void *toy, const struct vs_slice *slice)
{
    struct toy *t = toy;
    for (const struct vs_step *s = slice->steps; s < slice->steps + slice->step_count; s++) {
        struct toy_core *c = &t->core[s->core];
        c->since += s->icount;
        c->instructions += s->icount;
        c->pc = vs_step_next(s);
        c->time = s->time;
        if (s->kind == VS_STEP_CONDITIONAL) {
            c->payload[1 + c->count / 8] |= (uint8_t)(vs_step_taken(s) << c->count % 8);
            c->since = 0;
            if (++c->count == t->params.size)
                toy_flush(t, c);
        } else if (s->kind != VS_STEP_CALL) {
            toy_put_numbers(t, c, s->kind == VS_STEP_INDIRECT ? TOY_JUMP : TOY_BREAK, s->target,
                            s->time);
        }
    }
    return 0;
}

static int toy_sync(void *toy, unsigned core)
{
    struct toy *t = toy;
    t->counts.syncs++;
    struct toy_core *c = &t->core[core];
    toy_put_numbers(t, c, TOY_SYNC, c->pc, c->instructions);
    return 0;
}

static void toy_counts(const void *toy, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct toy *)toy)->counts;
}

static const struct vs_encoder_ops toy_encoder = {
    .needs = VS_NEEDS_STEPS,
    .open = toy_encoder_open,
    .consume = toy_consume,
    .sync = toy_sync,
    .counts = toy_counts,
    .rows = vs_flow_count_rows,
    .close = free,
};

/* ---- the decoder ---- */

static int toy_decoder_open(void **toy, const void *params, const struct vs_technique_setup *setup,
                            struct vs_port_reader *port)
{
    return toy_open(toy, params, port, NULL, setup->cores);
}

/* The next packet of the stream that is being read; its core is in r->core. */
static int toy_get(struct toy *t, struct vs_port_reader *r)
{
    struct toy_core packet = {0};
    uint64_t core = r->stream, size, sum;
    int err = vs_port_next_packet(r);
    if (err || (err = vs_port_get(r, VS_FIELD_HEADER, 8, &packet.kind)) ||
        (t->params.shared && (err = vs_port_get(r, VS_FIELD_CORE, 8, &core))) ||
        (err = vs_port_packet_core(r, VS_FIELD_CORE, core)) ||
        (err = vs_port_get(r, VS_FIELD_HEADER, 8, &size)))
        return err;
    if (!packet.kind || packet.kind > TOY_SYNC || !size || size > TOY_PAYLOAD)
        return vs_port_refuse(r, VS_FIELD_HEADER, "no such packet");
    if ((err = vs_port_get_bytes(r, toy_fields[packet.kind], packet.payload, (size_t)size)) ||
        (err = vs_port_get(r, VS_FIELD_HEADER, 8, &sum)))
        return err;
    for (unsigned i = 0; i < size; i++)
        sum -= packet.payload[i];
    packet.count = packet.kind == TOY_RUN ? packet.payload[0] : 1;
    packet.lost = t->core[core].lost && packet.kind != TOY_SYNC;
    if ((uint8_t)(sum - packet.kind - size - (t->params.shared ? core : 0)) || !packet.count ||
        size != (packet.kind == TOY_RUN ? 1 + (packet.count + 7) / 8 : TOY_NUMBERS))
        return vs_port_refuse(r, VS_FIELD_HEADER, "the packet is damaged");
    t->core[core] = packet;
    return 0;
}

static int toy_head(void *toy, struct vs_flow_head *head)
{
    struct toy *t = toy;
    struct vs_port_reader *r = t->reader;
    unsigned streams = vs_port_streams(&r->shape);
    struct toy_core *c;
    int err;
    do {
        for (unsigned i = 0; i < streams && !vs_port_left(r, t->next); i++)
            t->next = (t->next + 1) % streams;
        vs_port_select(r, t->next);
        t->next = (t->next + 1) % streams;
        err = toy_get(t, r);
        c = &t->core[head->core = r->core];
    } while (!err && c->lost);
    head->discontinuity = c->kind == TOY_BREAK;
    head->sync = c->kind == TOY_SYNC;
    head->count = c->kind >= TOY_BREAK ? vs_get64(c->payload) : VS_FLOW_OPEN;
    head->pc = vs_get64(c->payload + 8);
    head->cycle = head->discontinuity ? vs_get64(c->payload + 16) : 0;
    head->instructions = vs_get64(c->payload + 16);
    return err;
}

static int toy_branch(void *toy, unsigned core, const struct vs_flow_site *site,
                      struct vs_flow_answer *a)
{
    struct toy_core *c = &((struct toy *)toy)->core[core];
    if (c->kind != (vs_flow_site_indirect(site) ? TOY_JUMP : TOY_RUN))
        return vs_port_refuse(((struct toy *)toy)->reader, VS_FIELD_HEADER, "another branch");
    a->target = c->kind == TOY_JUMP ? vs_get64(c->payload + 8) : 0;
    a->taken = c->kind == TOY_JUMP ? a->target : c->payload[1 + c->at / 8] >> c->at % 8 & 1;
    a->last = ++c->at == c->count;
    return 0;
}

static int toy_discontinuity(void *toy, unsigned core, uint64_t *target)
{
    *target = vs_get64(((struct toy *)toy)->core[core].payload + 8);
    return 0;
}

static int toy_find(void *toy, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    struct toy *t = toy;
    struct vs_port_reader *r = t->reader;
    for (unsigned i = 0; i < t->cores; i++)
        t->core[i].lost = t->core[i].lost || t->params.shared || i == stream;
    for (uint64_t at = (bit + 7) / 8 * 8; !vs_port_seek(r, stream, at) && vs_port_left(r, stream);
         at += 8)
        if (r->bits.data[at / 8] == TOY_SYNC && !toy_get(t, r)) {
            struct toy_core *c = &t->core[r->core];
            *point = (struct vs_flow_point){stream, at, r->core, vs_get64(c->payload + 8)};
            c->lost = true; /* until it is read again */
            return vs_port_seek(r, stream, at);
        }
    return -VSE_END;
}

static const struct vs_flow_decoder_ops toy_decoder = {
    .open = toy_decoder_open,
    .head = toy_head,
    .branch = toy_branch,
    .discontinuity = toy_discontinuity,
    .sync = toy_find,
    .close = free,
};

/* ---- the technique ---- */

static void toy_framing(const void *params, struct vs_port_shape *shape)
{
    shape->packets = true;
    shape->per_core = !((const struct toy_params *)params)->shared;
}

static int toy_cost(const void *params, const struct vs_technique_setup *setup,
                    struct vs_cost_list *list)
{
    const struct vs_cost packet = {.registers = ((const struct toy_params *)params)->size};
    vs_cost_list_add(list, "outcomes", packet, setup->cores);
    return 0;
}

static const struct vs_parameter toy_parameters[] = {
    {.name = "size", .min = 1, .max = TOY_MOST},
    {.name = "shared", .offset = offsetof(struct toy_params, shared), .max = 1},
    {0},
};

static const struct vs_technique toy_technique = {
    .name = "toy",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = toy_parameters,
    .params_size = sizeof(struct toy_params),
    .defaults = "size=20 shared=0",
    .framing = toy_framing,
    .cost = toy_cost,
    .encoder = &toy_encoder,
    .flow_decoder = &toy_decoder,
    .cores_max = VS_PORT_CORES_MAX / 1024,
};

#endif
