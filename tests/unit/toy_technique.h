/* SPDX-License-Identifier: MIT */
/* A technique for tests, as small as one that frames its own packets can be. Each core has a stream
 * of packets, which are words of 64 bits:
 *
 *   kind | instructions | cycle | outcomes | [place] | sum
 *
 * The kind is that of the step that ends the packet, or TOY_SYNC. The instructions are all that the
 * core has executed; the outcomes are those of its branches since the last packet, the first in the
 * lowest bit. The place is where the core goes on. A TOY_RUN has none: it ends with the TOY_SIZEth
 * conditional branch, or before a TOY_SYNC. The sum of the other words is encapsulation. */
#ifndef TOY_TECHNIQUE_H
#define TOY_TECHNIQUE_H

#include <stdlib.h>

#include "technique/technique.h"

enum { TOY_RUN = VS_STEP_CONDITIONAL, TOY_SYNC = VS_STEP_DISCONTINUITY + 1, TOY_SIZE = 20 };
enum { KIND, INSTRUCTIONS, CYCLE, OUTCOMES, PLACE, TOY_WORDS, TOY_CORES = 64 };
static const enum vs_field toy_fields[] = {VS_FIELD_HEADER, VS_FIELD_ICNT, VS_FIELD_CYCLES,
                                           VS_FIELD_OUTCOME, VS_FIELD_TARGET};

struct toy_encoder {
    struct vs_port_writer *port;
    struct vs_flow_counts counts;
    struct toy_core {
        struct vs_step last;
        uint64_t instructions, outcomes, count; /* count: of the outcomes */
    } cores[TOY_CORES];
};

static int toy_encoder_open(void **encoder, const struct vs_technique_context *context)
{
    struct toy_encoder *e = *encoder = calloc(1, sizeof(*e));
    if (e)
        e->port = context->port;
    return e ? 0 : -VSE_NOMEM;
}

static void toy_put(struct vs_port_writer *w, struct toy_core *c, uint64_t kind)
{
    uint64_t sum = 0, words[] = {kind, c->instructions, w->shape.timed ? c->last.time : 0,
                                 c->outcomes, vs_step_next(&c->last)};
    vs_port_begin_packet(w, c->last.core, c->last.time);
    for (unsigned i = 0; i < (kind == TOY_RUN ? PLACE : TOY_WORDS); sum += words[i++])
        vs_port_put(w, toy_fields[i], words[i], 64);
    vs_port_put_frame(w, VS_FIELD_HEADER, sum, 64);
    vs_port_end(w);
    c->outcomes = c->count = 0;
}

static int toy_consume(void *encoder, const struct vs_slice *slice)
{
    struct toy_encoder *e = encoder;
    for (const struct vs_step *s = slice->steps; s < slice->steps + slice->step_count; s++) {
        struct toy_core *c = &e->cores[s->core];
        c->last = *s;
        c->instructions += s->icount;
        if (s->kind == VS_STEP_CONDITIONAL || s->kind == VS_STEP_INDIRECT)
            c->outcomes |= (uint64_t)vs_step_taken(s) << c->count++;
        if (s->kind == VS_STEP_CONDITIONAL ? c->count == TOY_SIZE : s->kind != VS_STEP_CALL)
            toy_put(e->port, c, s->kind);
    }
    return 0;
}

static int toy_encoder_sync(void *encoder, unsigned core)
{
    struct toy_encoder *e = encoder;
    toy_put(e->port, &e->cores[core], TOY_RUN);
    toy_put(e->port, &e->cores[core], TOY_SYNC);
    e->counts.syncs++;
    return 0;
}

static void toy_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct toy_encoder *)encoder)->counts;
}

struct toy_decoder {
    struct vs_port_reader *port;
    uint64_t packets[TOY_CORES][TOY_WORDS]; /* each core's last, with the outcomes that are left */
};

static int toy_decoder_open(void **decoder, const void *params,
                            const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    (void)params, (void)setup;
    struct toy_decoder *d = *decoder = calloc(1, sizeof(*d));
    if (d)
        d->port = port;
    return d ? 0 : -VSE_NOMEM;
}

static int toy_get(struct vs_port_reader *r, uint64_t *p)
{
    uint64_t sum = 0, told;
    int err = vs_port_next_packet(r);
    for (unsigned i = 0; !err && i < (i && p[KIND] == TOY_RUN ? PLACE : TOY_WORDS); sum += p[i++])
        err = vs_port_get(r, toy_fields[i], 64, &p[i]);
    if (!err && !(err = vs_port_get(r, VS_FIELD_HEADER, 64, &told)) &&
        (told != sum || p[KIND] == VS_STEP_CALL || p[KIND] > TOY_SYNC))
        err = vs_port_refuse(r, VS_FIELD_HEADER, "the packet is damaged");
    return err;
}

static int toy_head(void *decoder, struct vs_flow_head *head)
{
    struct toy_decoder *d = decoder;
    struct vs_port_reader *r = d->port;
    if (d->packets[r->stream][OUTCOMES])
        return vs_port_refuse(r, VS_FIELD_OUTCOME, "there are fewer branches");
    for (unsigned i = 0; i < r->shape.cores && (!i || !vs_port_left(r, r->stream)); i++)
        vs_port_select(r, (r->stream + 1) % r->shape.cores);
    uint64_t *p = d->packets[r->stream], before = p[INSTRUCTIONS];
    int err = toy_get(r, p);
    head->core = r->stream;
    head->cycle = p[CYCLE];
    head->count = p[INSTRUCTIONS] - before;
    head->discontinuity = p[KIND] == VS_STEP_DISCONTINUITY;
    head->cut = p[KIND] == TOY_RUN;
    head->sync = p[KIND] == TOY_SYNC;
    head->pc = p[PLACE];
    head->instructions = p[INSTRUCTIONS];
    return err;
}

static int toy_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                      struct vs_flow_answer *answer)
{
    struct toy_decoder *d = decoder;
    uint64_t *p = d->packets[core];
    if (vs_flow_site_indirect(site) != (site->last && p[KIND] == VS_STEP_INDIRECT))
        return vs_port_refuse(d->port, VS_FIELD_OUTCOME, "there is another branch");
    answer->taken = p[OUTCOMES] & 1;
    answer->target = p[PLACE];
    p[OUTCOMES] >>= 1;
    return 0;
}

static int toy_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    *target = ((struct toy_decoder *)decoder)->packets[core][PLACE];
    return 0;
}

static int toy_decoder_sync(void *decoder, unsigned stream, uint64_t bit,
                            struct vs_flow_point *point)
{
    struct toy_decoder *d = decoder;
    uint64_t *p = d->packets[stream];
    for (bit = (bit + 7) / 8 * 8; !vs_port_seek(d->port, stream, bit); bit += 8)
        if (!toy_get(d->port, p) && p[KIND] == TOY_SYNC) {
            *point = (struct vs_flow_point){stream, bit, stream, p[PLACE]};
            return vs_port_seek(d->port, stream, bit);
        }
    p[OUTCOMES] = 0;
    return -VSE_END;
}

static void toy_framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = shape->per_core = true;
}

static int toy_cost(const void *params, const struct vs_technique_setup *setup,
                    struct vs_cost_list *list)
{
    (void)params;
    vs_cost_list_add(list, "outcomes", (struct vs_cost){.registers = TOY_SIZE}, setup->cores);
    return 0;
}

static const struct vs_technique toy_technique = {
    .name = "toy",
    .serves = VS_TECHNIQUE_FLOW,
    .cores_max = TOY_CORES,
    .parameters = (const struct vs_parameter[]){{0}},
    .defaults = "",
    .framing = toy_framing,
    .cost = toy_cost,
    .encoder = &(const struct vs_encoder_ops){.needs = VS_NEEDS_STEPS,
                                              .open = toy_encoder_open,
                                              .consume = toy_consume,
                                              .sync = toy_encoder_sync,
                                              .counts = toy_counts,
                                              .rows = vs_flow_count_rows,
                                              .close = free},
    .flow_decoder = &(const struct vs_flow_decoder_ops){.open = toy_decoder_open,
                                                        .head = toy_head,
                                                        .branch = toy_branch,
                                                        .discontinuity = toy_discontinuity,
                                                        .sync = toy_decoder_sync,
                                                        .close = free},
};

#endif
