/* SPDX-License-Identifier: MIT */
/* SDC-LSP: a cache of streams, and a predictor of which of them comes next.
 *
 *   the stream is the predicted one   Ti [dCC] 1
 *   it is in the cache                Ti [dCC] 0 SI
 *   it is not                         Ti [dCC] 0 0 record
 *
 * SI is the stream's index in the cache. bSDC-LSP is just that. eSDC-LSP counts: `1` is followed by
 * the number of such streams in a row, in as many bits as suit the last such numbers; and a bit
 * precedes SA: 1 if its upper bits are left out, being those of the last SA that was sent. The
 * cache of rSDC-LSP keeps neither these upper bits nor the bits of SA that the index implies: the
 * upper bits are those of the last stream, and where they differ a record goes out whatever the
 * cache holds.
 *
 * A discontinuity is a record and touches neither cache nor predictor. */
#include "base/diag.h"
#include "base/power.h"
#include "model/lsp.h"
#include "model/sdc.h"
#include "technique/registry.h"
#include "technique/streams.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct params {
    uint64_t sets, ways, policy, low, run, dcc, dcc_next;
};

enum {
    SETS_MAX = 1 << 16,
    LOW_MIN = 20,   /* for rSDC: the bits that the largest cache's index implies are among these */
    RUN_HEADER = 1, /* a stream that was predicted */
    RUN_MOST = 16,  /* bits */
};

static const char *const policy_words[] = {"plru", "lru", "fifo", "random", NULL};

#define AT(field) .name = #field, .offset = offsetof(struct params, field)
#define CACHE                                                                                      \
    {AT(sets), .min = 1, .max = SETS_MAX, .power = true, .help = "sets of the cache of streams"},  \
        {AT(ways), .min = 1, .max = VS_SDC_MAX_WAYS, .help = "ways of it"},                        \
    {                                                                                              \
        AT(policy), .words = policy_words, .help = "which way is replaced"                         \
    }
#define RUN                                                                                        \
    {                                                                                              \
        AT(run), .max = RUN_MOST, .help = "bits of the counter of 1s at first"                     \
    }
#define CYCLES                                                                                     \
    {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},                      \
    {                                                                                              \
        AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"                      \
    }

static const struct vs_parameter b_parameters[] = {CACHE, CYCLES, {0}};
static const struct vs_parameter e_parameters[] = {
    CACHE, {AT(low), .min = 1, .max = 64, .help = "bits of SA that are always sent"}, RUN, CYCLES,
    {0},
};
static const struct vs_parameter r_parameters[] = {
    CACHE,
    {AT(low), .min = LOW_MIN, .max = 64,
     .help = "bits of SA that count; the others are the last's"},
    RUN,
    CYCLES,
    {0},
};

static const struct vs_technique_config configs[] = {
    {"32x4", "sets=32 ways=4"},
    {"8x4", "sets=8 ways=4"},
    {"16x4", "sets=16 ways=4"},
    {"64x4", "sets=64 ways=4"},
    {"128x4", "sets=128 ways=4"},
    {"256x4", "sets=256 ways=4"},
    {0},
};

static int check(const void *params, struct vs_diag *diag)
{
    const struct params *p = params;
    return p->sets * p->ways >= 2
               ? 0
               : vs_diag_set(diag, -VSE_INVAL, -1, -1, "sets=1 with ways=1 leaves no entry to use");
}

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct state {
    struct vs_sdc cache;
    struct vs_lsp predictor;
    unsigned index_bits;
    bool splits; /* the cache lacks the upper bits of SA */
    struct vs_lastvalue upper;
    struct vs_stream_runs runs;
};

static int init(struct state *t, const struct params *p)
{
    int err =
        vs_sdc_init(&t->cache, (uint32_t)p->sets, (uint32_t)p->ways, (enum vs_sdc_policy)p->policy);
    if (!err)
        err = vs_lsp_init(&t->predictor, (uint32_t)(p->sets * p->ways));
    if (!err)
        t->index_bits = vs_sdc_index_bits(&t->cache);
    return err;
}

static int init_b(void *state, const void *params, unsigned address_bits)
{
    (void)address_bits;
    return init(state, params);
}

static int init_e(void *state, const void *params, unsigned address_bits)
{
    const struct params *p = params;
    const struct vs_runcount_config config = {
        .start = (unsigned)p->run, .most = RUN_MOST, .half = true};
    struct state *t = state;
    int err = vs_runcount_init(&t->runs.count, &config);
    t->runs.counted = true;
    vs_lastvalue_init(&t->upper, address_bits, p->low < address_bits ? address_bits - p->low : 0);
    return err ? err : init(t, p);
}

static int init_r(void *state, const void *params, unsigned address_bits)
{
    ((struct state *)state)->splits = true;
    return init_e(state, params, address_bits);
}

static void fini(void *state)
{
    struct state *t = state;
    vs_sdc_fini(&t->cache);
    vs_lsp_fini(&t->predictor);
}

/* The part of SA that the cache keeps. */
static uint64_t key_of(const struct state *t, uint64_t start)
{
    return t->splits ? vs_lastvalue_lower(&t->upper, start) : start;
}

/* Whether a record has to go out whatever the cache holds. */
static bool is_far(const struct state *t, const struct vs_lastvalue *upper, uint64_t start)
{
    return t->splits && !vs_lastvalue_match(upper, start);
}

/* Updates the tables after a record. */
static void learn(struct state *t, const struct vs_stream *s)
{
    vs_sdc_step(&t->cache, key_of(t, s->start), s->length);
    vs_lsp_update(&t->predictor, 0);
    if (t->splits)
        vs_lastvalue_update(&t->upper, s->start);
}

/* ---- encoder --------------------------------------------------------------------------------- */

static void flush(void *state, struct vs_stream_out *out)
{
    struct state *t = state;
    vs_stream_runs_flush(&t->runs, out, RUN_HEADER);
}

static void begin_index(struct state *t, struct vs_stream_out *out, uint32_t index)
{
    flush(t, out);
    vs_port_begin(out->port, out->core, out->time);
    vs_port_put(out->port, VS_FIELD_HEADER, 0, 1);
    vs_port_put(out->port, VS_FIELD_INDEX, index, t->index_bits);
}

/* Begins a record's message, and writes the record. */
static void put_record(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    begin_index(state, out, 0);
    vs_stream_put_record(state, out, s);
}

static bool put(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    struct state *t = state;
    uint32_t index = 0;
    if (!is_far(t, &t->upper, s->start))
        index = vs_sdc_find(&t->cache, key_of(t, s->start), s->length);
    if (index) {
        vs_sdc_touch(&t->cache, index);
        if (vs_lsp_update(&t->predictor, index)) {
            vs_stream_runs_put(&t->runs, out, RUN_HEADER);
            return false;
        }
    }
    if (index) {
        begin_index(t, out, index);
    } else {
        put_record(t, out, s);
        learn(t, s);
    }
    vs_port_end(out->port);
    return !index;
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

static int take_hit(struct state *t, struct vs_stream_in *in, struct vs_stream *s, uint32_t index)
{
    uint64_t key;
    if (vs_sdc_get(&t->cache, index, &key, &s->length) < 0)
        return vs_port_refuse(in->port, VS_FIELD_INDEX, "no stream is at that index");
    s->start = t->splits ? vs_lastvalue_join(&t->upper, key) : key;
    vs_sdc_touch(&t->cache, index);
    vs_lsp_update(&t->predictor, index);
    return 0;
}

static int next(void *state, struct vs_stream_in *in, struct vs_stream *s)
{
    struct state *t = state;
    uint32_t index = vs_lsp_predict(&t->predictor);
    return index ? take_hit(t, in, s, index)
                 : vs_port_refuse(in->port, VS_FIELD_HEADER, "no stream is predicted");
}

static int get_record(struct state *t, struct vs_stream_in *in, struct vs_stream *s)
{
    /* as it was before SA */
    struct vs_lastvalue upper = t->upper;
    int err = vs_stream_get_record(t, in, s);
    if (err || s->length == VS_STREAM_BREAK)
        return err;
    if (!is_far(t, &upper, s->start) && vs_sdc_find(&t->cache, key_of(t, s->start), s->length))
        return vs_port_refuse(in->port, VS_FIELD_ICNT, "reports a stream that is known");
    learn(t, s);
    return 0;
}

static int get(void *state, struct vs_stream_in *in, struct vs_stream *s, uint64_t *more)
{
    struct state *t = state;
    uint64_t predicted, index;
    int err = vs_port_get(in->port, VS_FIELD_HEADER, 1, &predicted);
    if (err)
        return err;
    if (predicted)
        return (err = vs_stream_runs_get(&t->runs, in, more)) ? err : next(t, in, s);
    vs_stream_runs_end(&t->runs);
    if ((err = vs_port_get(in->port, VS_FIELD_INDEX, t->index_bits, &index)) < 0)
        return err;
    if (!index)
        return get_record(t, in, s);
    if (index == vs_lsp_predict(&t->predictor))
        return vs_port_refuse(in->port, VS_FIELD_INDEX, "reports what was predicted");
    return take_hit(t, in, s, (uint32_t)index);
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* On 32-bit ISAs instructions are words; on the others they may begin at any byte. */
static unsigned stored_bits(const struct state *t, unsigned address_bits)
{
    unsigned bits = address_bits - (address_bits == 32 ? 2 : 0);
    if (t->splits)
        bits -= t->upper.width - t->upper.low + vs_log2_ceil(t->cache.sets);
    return bits;
}

static void cost_of(const struct state *t, const struct vs_technique_setup *setup,
                    struct vs_cost_list *list)
{
    unsigned bits = stored_bits(t, setup->address_bits);
    vs_cost_list_add(list, "SDC", vs_sdc_cost(&t->cache, bits, VS_STREAM_BITS), setup->cores);
    vs_cost_list_add(list, "LSP", vs_lsp_cost(&t->predictor), setup->cores);
    vs_stream_cost(setup, list);
    if (t->runs.counted) {
        vs_cost_list_add(list, "upper bits", vs_lastvalue_cost(&t->upper), setup->cores);
        vs_cost_list_add(list, "run", vs_runcount_cost(&t->runs.count), setup->cores);
    }
}

/* ---- the techniques -------------------------------------------------------------------------- */

static const struct vs_stream_coder b_coder =
    VS_STREAM_CODER(init_b, vs_stream_put_whole, vs_stream_get_whole, .flush = NULL);
static const struct vs_stream_coder e_coder =
    VS_STREAM_CODER(init_e, put_start, get_start, .flush = flush, .next = next);
static const struct vs_stream_coder r_coder =
    VS_STREAM_CODER(init_r, put_start, get_start, .flush = flush, .next = next);

VS_STREAM_COST(b)
VS_STREAM_COST(e)
VS_STREAM_COST(r)
VS_STREAM_MACHINES(b);
VS_STREAM_MACHINES(e);
VS_STREAM_MACHINES(r);

static const char *const b_aliases[] = {"bSDC", "SDC-LSP", NULL};
static const char *const e_aliases[] = {"eSDC", NULL};
static const char *const r_aliases[] = {"rSDC", NULL};

#define SDC(letter, text, values)                                                                  \
    {                                                                                              \
        .name = #letter "SDC-LSP", .aliases = letter##_aliases, .summary = text,                   \
        .serves = VS_TECHNIQUE_FLOW, .parameters = letter##_parameters,                            \
        .params_size = sizeof(struct params),                                                      \
        .defaults = "sets=32 ways=4 dcc=4 dcc_next=2" values, .configs = configs, .check = check,  \
        .cycles = cycles, .cost = letter##_cost, .encoder = &letter##_encoder,                     \
        .flow_decoder = &letter##_decoder                                                          \
    }

const struct vs_technique vs_technique_bsdc =
    SDC(b, "streams: a cache, and a predictor of the next in it", "");

const struct vs_technique vs_technique_esdc =
    SDC(e, "streams: a cache and a predictor, runs counted", " low=18 run=4");

const struct vs_technique vs_technique_rsdc =
    SDC(r, "streams: a reduced cache and a predictor, runs counted", " low=20 run=4");
