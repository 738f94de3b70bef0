/* SPDX-License-Identifier: MIT */
/* DMTF: two move-to-front tables in a row. mtf1 holds streams, mtf2 holds indices of mtf1.
 *
 *   the stream's index is the first in mtf2   Ti [dCC] 0
 *   it is in mtf2                             Ti [dCC] 1 i2
 *   the stream is in mtf1                     Ti [dCC] 1 miss2 i1
 *   it is in neither                          Ti [dCC] 1 miss2 miss1 record
 *
 * bDMTF is just that. hDMTF keeps only the low bits of SA in mtf1; the upper ones are those of the
 * last stream, and where they differ a record goes out whatever mtf1 holds. In records a bit
 * precedes SA: 1 if its upper bits are left out. eDMTF also counts: `0` is followed by the number
 * of such streams in a row, in as many bits as suit the last such numbers.
 *
 * A discontinuity is a record and does not touch the tables. */
#include <string.h>

#include "model/mtf.h"
#include "technique/registry.h"
#include "technique/streams.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct params {
    uint64_t m1, m2, low, run, dcc, dcc_next;
};

#define AT(field) .name = #field, .offset = offsetof(struct params, field)
#define TABLES                                                                                     \
    {AT(m1), .min = 2, .max = VS_MTF_MAX, .help = "size of mtf1, one more than its streams"},      \
    {                                                                                              \
        AT(m2), .min = 2, .max = VS_MTF_MAX, .help = "size of mtf2, one more than its indices"     \
    }
#define UPPER                                                                                      \
    {                                                                                              \
        AT(low), .min = 1, .max = 64, .help = "bits of SA in mtf1; the others are the last's"      \
    }
#define CYCLES                                                                                     \
    {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},                      \
    {                                                                                              \
        AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"                      \
    }

enum {
    RUN_HEADER = 0, /* a stream whose index is the first in mtf2 */
    RUN_MOST = 16,  /* bits */
};

static const struct vs_parameter b_parameters[] = {TABLES, CYCLES, {0}};
static const struct vs_parameter h_parameters[] = {TABLES, UPPER, CYCLES, {0}};
static const struct vs_parameter e_parameters[] = {
    TABLES, UPPER, {AT(run), .max = RUN_MOST, .help = "bits of the counter of 0s at first"},
    CYCLES, {0},
};

static const struct vs_technique_config configs[] = {
    {"192x4", "m1=192 m2=4"},   {"64x4", "m1=64 m2=4"},   {"128x4", "m1=128 m2=4"},
    {"256x4", "m1=256 m2=4"},   {"320x4", "m1=320 m2=4"}, {"192x8", "m1=192 m2=8"},
    {"192x16", "m1=192 m2=16"}, {"64x8", "m1=64 m2=8"},   {0},
};

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct state {
    struct vs_mtf one, two;
    unsigned bits1, bits2; /* widths of their indices */
    bool splits;           /* mtf1 lacks the upper bits of SA */
    struct vs_lastvalue upper;
    struct vs_stream_runs runs;
};

static int init(struct state *t, const struct params *p)
{
    int err = vs_mtf_init(&t->one, (uint32_t)p->m1);
    if (!err)
        err = vs_mtf_init(&t->two, (uint32_t)p->m2);
    if (err)
        return err;
    t->bits1 = vs_mtf_index_bits(&t->one);
    t->bits2 = vs_mtf_index_bits(&t->two);
    return 0;
}

static void init_upper(struct state *t, const struct params *p, unsigned address_bits)
{
    t->splits = true;
    vs_lastvalue_init(&t->upper, address_bits, p->low < address_bits ? address_bits - p->low : 0);
}

static int init_run(struct state *t, const struct params *p)
{
    const struct vs_runcount_config config = {.start = (unsigned)p->run, .most = RUN_MOST};
    t->runs.counted = true;
    return vs_runcount_init(&t->runs.count, &config);
}

static int init_b(void *state, const void *params, unsigned address_bits)
{
    (void)address_bits;
    return init(state, params);
}

static int init_h(void *state, const void *params, unsigned address_bits)
{
    init_upper(state, params, address_bits);
    return init(state, params);
}

static int init_e(void *state, const void *params, unsigned address_bits)
{
    int err = init_run(state, params);
    return err ? err : init_h(state, params, address_bits);
}

static void fini(void *state)
{
    struct state *t = state;
    vs_mtf_fini(&t->one);
    vs_mtf_fini(&t->two);
}

static struct vs_mtf_key key_of(const struct state *t, const struct vs_stream *s)
{
    uint64_t start = t->splits ? vs_lastvalue_lower(&t->upper, s->start) : s->start;
    return (struct vs_mtf_key){start, s->length};
}

/* Whether a record has to go out whatever mtf1 holds. */
static bool is_far(const struct state *t, const struct vs_stream *s)
{
    return t->splits && !vs_lastvalue_match(&t->upper, s->start);
}

static void note_start(struct state *t, uint64_t start)
{
    if (t->splits)
        vs_lastvalue_update(&t->upper, start);
}

static struct vs_mtf_key index_key(uint32_t index)
{
    return (struct vs_mtf_key){index, 0};
}

/* ---- encoder --------------------------------------------------------------------------------- */

static void flush(void *state, struct vs_stream_out *out)
{
    struct state *t = state;
    vs_stream_runs_flush(&t->runs, out, RUN_HEADER);
}

/* Begins a record's message, and writes the record. */
static void put_record(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    struct state *t = state;
    flush(t, out);
    vs_port_begin(out->port, out->core, out->time);
    vs_port_put(out->port, VS_FIELD_HEADER, 1, 1);
    vs_port_put(out->port, VS_FIELD_INDEX, t->two.miss, t->bits2);
    vs_port_put(out->port, VS_FIELD_INDEX, t->one.miss, t->bits1);
    vs_stream_put_record(t, out, s);
}

/* Codes a stream that mtf1 holds. */
static void put_hit(struct state *t, struct vs_stream_out *out, uint32_t i1)
{
    uint32_t i2 = vs_mtf_step(&t->two, index_key(i1));
    if (!i2) {
        vs_stream_runs_put(&t->runs, out, RUN_HEADER);
        return;
    }
    flush(t, out);
    vs_port_begin(out->port, out->core, out->time);
    vs_port_put(out->port, VS_FIELD_HEADER, 1, 1);
    vs_port_put(out->port, VS_FIELD_INDEX, i2, t->bits2);
    if (i2 == t->two.miss)
        vs_port_put(out->port, VS_FIELD_INDEX, i1, t->bits1);
    vs_port_end(out->port);
}

static bool put(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    struct state *t = state;
    uint32_t i1 = vs_mtf_step(&t->one, key_of(t, s));
    if (i1 != t->one.miss && !is_far(t, s)) {
        put_hit(t, out, i1);
        return false;
    }
    put_record(t, out, s);
    vs_port_end(out->port);
    note_start(t, s->start);
    return true;
}

static void put_start(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    struct state *t = state;
    vs_stream_put_split(&t->upper, out, s);
}

/* ---- decoder --------------------------------------------------------------------------------- */

static int get_start(void *state, struct vs_stream_in *in, uint64_t *start)
{
    struct state *t = state;
    return vs_stream_get_split(&t->upper, in, start);
}

/* Takes the stream at an index of mtf1. */
static int take_hit(struct state *t, struct vs_stream_in *in, struct vs_stream *s, uint32_t i1)
{
    struct vs_mtf_key key;
    if (vs_mtf_get(&t->one, i1, &key) < 0)
        return vs_port_refuse(in->port, VS_FIELD_INDEX, "no stream is at that index");
    vs_mtf_touch(&t->one, i1);
    vs_mtf_step(&t->two, index_key(i1));
    s->start = t->splits ? vs_lastvalue_join(&t->upper, key.a) : key.a;
    s->length = (uint32_t)key.b;
    return 0;
}

/* Takes the stream whose index is at an index of mtf2. */
static int take_second(struct state *t, struct vs_stream_in *in, struct vs_stream *s, uint32_t i2)
{
    struct vs_mtf_key key;
    if (vs_mtf_get(&t->two, i2, &key) < 0)
        return vs_port_refuse(in->port, VS_FIELD_INDEX, "no index is at that index");
    return take_hit(t, in, s, (uint32_t)key.a);
}

static int next(void *state, struct vs_stream_in *in, struct vs_stream *s)
{
    return take_second(state, in, s, 0);
}

static int get_record(struct state *t, struct vs_stream_in *in, struct vs_stream *s)
{
    /* as it was before SA */
    struct vs_lastvalue upper = t->upper;
    int err = vs_stream_get_record(t, in, s);
    if (err || s->length == VS_STREAM_BREAK)
        return err;
    bool near = !t->splits || vs_lastvalue_match(&upper, s->start);
    if (vs_mtf_step(&t->one, key_of(t, s)) != t->one.miss && near)
        return vs_port_refuse(in->port, VS_FIELD_ICNT, "reports a stream that is known");
    note_start(t, s->start);
    return 0;
}

static int get(void *state, struct vs_stream_in *in, struct vs_stream *s, uint64_t *more)
{
    struct state *t = state;
    uint64_t header, i1, i2;
    int err = vs_port_get(in->port, VS_FIELD_HEADER, 1, &header);
    if (err)
        return err;
    if (!header)
        return (err = vs_stream_runs_get(&t->runs, in, more)) ? err : next(t, in, s);
    vs_stream_runs_end(&t->runs);
    if ((err = vs_port_get(in->port, VS_FIELD_INDEX, t->bits2, &i2)) < 0)
        return err;
    if (!i2)
        return vs_port_refuse(in->port, VS_FIELD_INDEX, "the first index has a shorter code");
    if (i2 != t->two.miss)
        return take_second(t, in, s, (uint32_t)i2);
    if ((err = vs_port_get(in->port, VS_FIELD_INDEX, t->bits1, &i1)) < 0)
        return err;
    if (i1 == t->one.miss)
        return get_record(t, in, s);
    if (vs_mtf_find(&t->two, index_key((uint32_t)i1)) != t->two.miss)
        return vs_port_refuse(in->port, VS_FIELD_INDEX, "an index that has a shorter code");
    return take_hit(t, in, s, (uint32_t)i1);
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* `bits` are those of SA in mtf1. */
static void cost_of(const struct state *t, const struct vs_technique_setup *setup,
                    struct vs_cost_list *list)
{
    unsigned bits = t->splits ? t->upper.low : setup->address_bits;
    vs_cost_list_add(list, "mtf1", vs_mtf_cost_cam(&t->one, bits + VS_STREAM_BITS), setup->cores);
    vs_cost_list_add(list, "mtf2", vs_mtf_cost_stack(&t->two, t->bits1), setup->cores);
    if (t->splits)
        vs_cost_list_add(list, "upper bits", vs_lastvalue_cost(&t->upper), setup->cores);
    if (t->runs.counted)
        vs_cost_list_add(list, "run", vs_runcount_cost(&t->runs.count), setup->cores);
    vs_stream_cost(setup, list);
}

/* ---- the techniques -------------------------------------------------------------------------- */

static const struct vs_stream_coder b_coder =
    VS_STREAM_CODER(init_b, vs_stream_put_whole, vs_stream_get_whole, .flush = NULL);
static const struct vs_stream_coder h_coder =
    VS_STREAM_CODER(init_h, put_start, get_start, .flush = NULL);
static const struct vs_stream_coder e_coder =
    VS_STREAM_CODER(init_e, put_start, get_start, .flush = flush, .next = next);

VS_STREAM_COST(b)
VS_STREAM_COST(h)
VS_STREAM_COST(e)
VS_STREAM_MACHINES(b);
VS_STREAM_MACHINES(h);
VS_STREAM_MACHINES(e);

#define DMTF(letter, text, values)                                                                 \
    {                                                                                              \
        .name = #letter "DMTF", .summary = text, .serves = VS_TECHNIQUE_FLOW,                      \
        .parameters = letter##_parameters, .params_size = sizeof(struct params),                   \
        .defaults = "m1=192 m2=4 dcc=4 dcc_next=2" values, .configs = configs, .cycles = cycles,   \
        .cost = letter##_cost, .encoder = &letter##_encoder, .flow_decoder = &letter##_decoder     \
    }

const struct vs_technique vs_technique_bdmtf =
    DMTF(b, "streams: two move-to-front tables in a row", "");

const struct vs_technique vs_technique_hdmtf =
    DMTF(h, "streams: two move-to-front tables, upper bits of addresses apart", " low=20");

const struct vs_technique vs_technique_edmtf =
    DMTF(e, "streams: two move-to-front tables, upper bits apart, runs counted", " low=20 run=4");
