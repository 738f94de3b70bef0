/* SPDX-License-Identifier: MIT */
/* Streams without tables.
 *
 *   BASE   Ti [dCC] record, SA in full
 *   NEXS   Ti [dCC] record, SA as its exclusive or with the SA of the core's previous stream, in
 *          groups of bits (technique/groups.h) */
#include "technique/groups.h"
#include "technique/registry.h"
#include "technique/streams.h"

struct params {
    uint64_t dcc, dcc_next, group;
};

struct state {
    unsigned group;
};

#define AT(field) .name = #field, .offset = offsetof(struct params, field)

static const struct vs_parameter base_parameters[] = {
    {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},
    {AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"},
    {0},
};

static const struct vs_parameter nexs_parameters[] = {
    {AT(group), .min = 1, .max = 64, .help = "bits of a group of SA"},
    {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},
    {AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"},
    {0},
};

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

static int base_cost(const void *params, const struct vs_technique_setup *setup,
                     struct vs_cost_list *list)
{
    (void)params;
    vs_stream_cost(setup, list);
    return 0;
}

static int nexs_cost(const void *params, const struct vs_technique_setup *setup,
                     struct vs_cost_list *list)
{
    (void)params;
    vs_stream_cost(setup, list);
    vs_cost_list_add(list, "last SA", (struct vs_cost){.registers = setup->address_bits},
                     setup->cores);
    return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int base_init(void *state, const void *params, unsigned address_bits)
{
    (void)state, (void)params, (void)address_bits;
    return 0;
}

static int nexs_init(void *state, const void *params, unsigned address_bits)
{
    struct state *t = state;
    (void)address_bits;
    t->group = (unsigned)((const struct params *)params)->group;
    return 0;
}

static void put_break(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    vs_port_begin(out->port, out->core, out->time);
    vs_stream_put_record(state, out, s);
}

static bool put(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    vs_port_begin(out->port, out->core, out->time);
    vs_stream_put_record(state, out, s);
    vs_port_end(out->port);
    return true;
}

static int get(void *state, struct vs_stream_in *in, struct vs_stream *s, uint64_t *more)
{
    (void)more;
    return vs_stream_get_record(state, in, s);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void put_groups(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    vs_groups_put(out->port, VS_FIELD_TARGET, ((const struct state *)state)->group,
                  s->start ^ s->previous);
}

static int get_groups(void *state, struct vs_stream_in *in, uint64_t *start)
{
    uint64_t v;
    int err = vs_groups_get(in->port, VS_FIELD_TARGET, ((const struct state *)state)->group,
                            in->address_bits, &v);
    if (!err)
        *start = v ^ in->start;
    return err;
}

/* ---- the techniques -------------------------------------------------------------------------- */

static const struct vs_stream_coder base_coder = {
    .size = sizeof(struct state),
    .init = base_init,
    .put = put,
    .put_break = put_break,
    .put_start = vs_stream_put_whole,
    .get = get,
    .get_start = vs_stream_get_whole,
};

static const struct vs_stream_coder nexs_coder = {
    .size = sizeof(struct state),
    .init = nexs_init,
    .put = put,
    .put_break = put_break,
    .put_start = put_groups,
    .get = get,
    .get_start = get_groups,
};

const struct vs_stream_coder *vs_stream_base(void)
{
    return &base_coder;
}

VS_STREAM_MACHINES(base);
VS_STREAM_MACHINES(nexs);

const struct vs_technique vs_technique_base = {
    .name = "BASE",
    .summary = "streams: every one, with its start in full where it is not known",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = base_parameters,
    .params_size = sizeof(struct params),
    .defaults = "dcc=8 dcc_next=8",
    .cycles = cycles,
    .cost = base_cost,
    .encoder = &base_encoder,
    .flow_decoder = &base_decoder,
};

const struct vs_technique vs_technique_nexs = {
    .name = "NEXS",
    .summary = "streams: every one, with what differs from the last start",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = nexs_parameters,
    .params_size = sizeof(struct params),
    .defaults = "group=6 dcc=8 dcc_next=8",
    .cycles = cycles,
    .cost = nexs_cost,
    .encoder = &nexs_encoder,
    .flow_decoder = &nexs_decoder,
};
