/* SPDX-License-Identifier: MIT */
/* Streams without tables.
 *
 *   BASE   Ti [dCC] record, SA in full
 *   NEXS   Ti [dCC] record, SA as its exclusive or with the SA of the core's stream before, in
 *          groups of bits, the least significant first, without those that lead with zeros; each
 *          group has a header of 2 bits before it, 3 for the last one and 0 for others
 */
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

static int init(void *state, const void *params, unsigned address_bits)
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

enum { GROUP_MORE = 0, GROUP_LAST = 3, GROUP_HEADER = 2 };

static void put_groups(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    unsigned group = ((const struct state *)state)->group;
    uint64_t left = s->start ^ s->previous;
    bool last;
    do {
        uint64_t rest = group < 64 ? left >> group : 0;
        last = !rest;
        vs_port_put(out->port, VS_FIELD_TARGET, last ? GROUP_LAST : GROUP_MORE, GROUP_HEADER);
        vs_port_put(out->port, VS_FIELD_TARGET, left, group);
        left = rest;
    } while (!last);
}

static int get_groups(void *state, struct vs_stream_in *in, uint64_t *start)
{
    unsigned group = ((const struct state *)state)->group, at = 0;
    uint64_t header, bits, sum = 0;
    do {
        int err = vs_port_get(in->port, VS_FIELD_TARGET, GROUP_HEADER, &header);
        if (!err)
            err = vs_port_get(in->port, VS_FIELD_TARGET, group, &bits);
        if (err)
            return err;
        if (header != GROUP_LAST && header != GROUP_MORE)
            return vs_port_refuse(in->port, VS_FIELD_TARGET, "no such header of a group");
        if (at && header == GROUP_LAST && !bits)
            return vs_port_refuse(in->port, VS_FIELD_TARGET, "a group of leading zeros");
        if (at >= in->address_bits || vs_bit_length(bits) > in->address_bits - at)
            return vs_port_refuse(in->port, VS_FIELD_TARGET, "wider than an address");
        sum |= bits << at;
        at += group;
    } while (header != GROUP_LAST);
    *start = sum ^ in->start;
    return 0;
}

/* ---- the techniques -------------------------------------------------------------------------- */

static const struct vs_stream_coder base_coder = {
    .size = sizeof(struct state),
    .init = init,
    .put = put,
    .put_break = put_break,
    .put_start = vs_stream_put_whole,
    .get = get,
    .get_start = vs_stream_get_whole,
};

static const struct vs_stream_coder nexs_coder = {
    .size = sizeof(struct state),
    .init = init,
    .put = put,
    .put_break = put_break,
    .put_start = put_groups,
    .get = get,
    .get_start = get_groups,
};

VS_STREAM_MACHINES(base);
VS_STREAM_MACHINES(nexs);

const struct vs_technique vs_technique_base = {
    .name = "BASE",
    .summary = "streams: every one, with its start in full where it is not known",
    .kind = VS_TECHNIQUE_FLOW,
    .parameters = base_parameters,
    .params_size = sizeof(struct params),
    .defaults = "dcc=8 dcc_next=8",
    .cycles = cycles,
    .cost = base_cost,
    .encoder = &base_encoder,
    .decoder = &base_decoder,
};

const struct vs_technique vs_technique_nexs = {
    .name = "NEXS",
    .summary = "streams: every one, with what differs from the last start",
    .kind = VS_TECHNIQUE_FLOW,
    .parameters = nexs_parameters,
    .params_size = sizeof(struct params),
    .defaults = "group=6 dcc=8 dcc_next=8",
    .cycles = cycles,
    .cost = nexs_cost,
    .encoder = &nexs_encoder,
    .decoder = &nexs_decoder,
};
