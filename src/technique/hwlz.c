/* SPDX-License-Identifier: MIT */
/* HWLZ: LZ77 in hardware, for comparison. Records of streams are sliced into symbols of at most 12
 * bits: SA, if it is there, from its least significant bits on, then SL. The search buffer holds
 * the core's last symbols.
 *
 *   a symbol       Ti [dCC] 0 symbol
 *   a repetition   Ti [dCC] 1 distance-1 length-1
 *
 * In a repetition, each of the next `length` symbols is what was `distance` symbols before. The
 * search is greedy: it takes the longest repetition that begins here, and of equally long ones the
 * nearest; one of a single symbol goes out as that symbol. The last slice of SA and SL have as many
 * bits as they need. A discontinuity is the symbol 0 in place of SL, which does not enter the
 * buffer, and what follows it.
 *
 * The published design has 256 entries of 12 bits and 50,000 gates. */
#include <stdlib.h>

#include "base/power.h"
#include "technique/registry.h"
#include "technique/streams.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct params {
    uint64_t entries, length, dcc, dcc_next;
};

enum { ENTRIES_MAX = 1 << 16 };

#define AT(field) .name = #field, .offset = offsetof(struct params, field)

static const struct vs_parameter parameters[] = {
    {AT(entries), .min = 2, .max = ENTRIES_MAX, .power = true, .help = "of the search buffer"},
    {AT(length), .min = 1, .max = 16, .help = "bits of the length of a repetition"},
    {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},
    {AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"},
    {0},
};

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

enum {
    SLICE = 12,
    /* The published gates that HWLZ-256 has besides its structures for 32-bit addresses. */
    LOGIC = (50000 - 16120) * 2 / 5,
};

/* Each entry has a comparator, and a bit that says whether the repetition may be from there. The
 * length, which is 0 if there is no repetition, cannot overflow: one that is full is sent at
 * once. */
static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct params *p = params;
    const struct vs_cost buffer = {.registers = p->entries * SLICE,
                                   .comparators = p->entries * SLICE};
    vs_cost_list_add(list, "search buffer", buffer, setup->cores);
    vs_cost_list_add(list, "candidates", (struct vs_cost){.registers = p->entries}, setup->cores);
    vs_cost_list_add(list, "length", (struct vs_cost){.registers = p->length}, setup->cores);
    vs_cost_list_add(list, "logic as published", (struct vs_cost){.comparators = LOGIC},
                     setup->cores);
    vs_stream_cost(setup, list);
    return 0;
}

/* ---- the search buffer ----------------------------------------------------------------------- */

struct state {
    uint16_t *buffer; /* a ring */
    uint64_t count;   /* symbols so far */
    uint64_t entries;
    unsigned distance_bits, length_bits;

    /* the repetition under way */
    uint32_t *distances; /* at which all its symbols were found, the nearest first; in the decoder
                            only those nearer than its own distance */
    uint32_t distance_count;
    uint64_t length; /* so far */
    /* encoder: */
    enum vs_field field; /* its last symbol's */
    unsigned width;
    uint64_t time;

    /* decoder: the record under way, and the repetition */
    uint64_t start;
    unsigned start_bits; /* how many of its bits are known */
    uint32_t distance;
    uint64_t left; /* symbols of the repetition that are still to come */
};

static int init(void *state, const void *params, unsigned address_bits)
{
    const struct params *p = params;
    struct state *t = state;
    (void)address_bits;
    t->entries = p->entries;
    t->distance_bits = vs_log2_ceil(p->entries);
    t->length_bits = (unsigned)p->length;
    t->buffer = calloc(p->entries, sizeof(*t->buffer));
    t->distances = malloc(p->entries * sizeof(*t->distances));
    return t->buffer && t->distances ? 0 : -VSE_NOMEM;
}

static void fini(void *state)
{
    struct state *t = state;
    free(t->buffer);
    free(t->distances);
}

static uint16_t *at_distance(const struct state *t, uint64_t distance)
{
    return &t->buffer[(t->count - distance) & (t->entries - 1)];
}

static void enter(struct state *t, uint16_t symbol)
{
    *at_distance(t, 0) = symbol;
    t->count++;
}

/* Finds the distances, up to a largest one, at which the symbol is. */
static void find_distances(struct state *t, uint16_t symbol, uint64_t most)
{
    t->distance_count = 0;
    for (uint64_t d = 1; d <= most; d++)
        if (*at_distance(t, d) == symbol)
            t->distances[t->distance_count++] = (uint32_t)d;
}

/* Moves those distances to the front at which this symbol is too. Returns how many there are. */
static uint32_t keep_distances(struct state *t, uint16_t symbol)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->distance_count; i++)
        if (*at_distance(t, t->distances[i]) == symbol)
            t->distances[kept++] = t->distances[i];
    return kept;
}

/* The width of SA's slice after so many of its bits are done. */
static unsigned slice_width(unsigned address_bits, unsigned done)
{
    return address_bits - done < SLICE ? address_bits - done : SLICE;
}

/* ---- encoder --------------------------------------------------------------------------------- */

static void begin_symbol(struct vs_stream_out *out, uint64_t time, enum vs_field f, uint64_t symbol,
                         unsigned width)
{
    vs_port_begin(out->port, out->core, time);
    vs_port_put(out->port, VS_FIELD_HEADER, 0, 1);
    vs_port_put(out->port, f, symbol, width);
}

/* Ends the repetition. */
static void flush(void *state, struct vs_stream_out *out)
{
    struct state *t = state;
    if (!t->length)
        return;
    if (t->length == 1) {
        begin_symbol(out, t->time, t->field, *at_distance(t, 1), t->width);
    } else {
        vs_port_begin(out->port, out->core, t->time);
        vs_port_put(out->port, VS_FIELD_HEADER, 1, 1);
        vs_port_put(out->port, VS_FIELD_INDEX, t->distances[0] - 1, t->distance_bits);
        vs_port_put(out->port, VS_FIELD_RUN, t->length - 1, t->length_bits);
    }
    vs_port_end(out->port);
    t->length = 0;
}

/* Whether the repetition goes on with a symbol. If so, keeps only the distances that fit. */
static bool goes_on(struct state *t, uint16_t symbol)
{
    uint32_t kept = keep_distances(t, symbol);
    if (kept)
        t->distance_count = kept;
    return kept;
}

/* Whether a repetition begins with a symbol. */
static bool begins(struct state *t, uint16_t symbol)
{
    find_distances(t, symbol, t->count < t->entries ? t->count : t->entries);
    return t->distance_count;
}

/* Returns whether the symbol neither continued nor began a repetition. */
static bool put_symbol(struct state *t, struct vs_stream_out *out, enum vs_field f, uint64_t symbol,
                       unsigned width)
{
    bool found = t->length && goes_on(t, (uint16_t)symbol);
    if (!found) {
        flush(t, out);
        found = begins(t, (uint16_t)symbol);
    }
    if (!found) {
        begin_symbol(out, out->time, f, symbol, width);
        vs_port_end(out->port);
    }
    enter(t, (uint16_t)symbol);
    if (!found)
        return true;
    t->field = f;
    t->width = width;
    t->time = out->time;
    if (++t->length >> t->length_bits)
        flush(t, out);
    return false;
}

static bool put_slices(struct state *t, struct vs_stream_out *out, uint64_t start)
{
    bool fresh = false;
    for (unsigned done = 0, width; done < out->address_bits; done += width) {
        width = slice_width(out->address_bits, done);
        fresh |= put_symbol(t, out, VS_FIELD_TARGET, start >> done & ((1u << width) - 1), width);
    }
    return fresh;
}

static bool put(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    bool fresh = s->sent && put_slices(state, out, s->start);
    return put_symbol(state, out, VS_FIELD_ICNT, s->length, VS_STREAM_BITS) || fresh;
}

static void put_break(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    if (s->sent)
        put_slices(state, out, s->start);
    flush(state, out);
    begin_symbol(out, out->time, VS_FIELD_ICNT, VS_STREAM_BREAK, VS_STREAM_BITS);
}

/* ---- decoder --------------------------------------------------------------------------------- */

/* The width of the symbol that comes next. */
static unsigned next_width(const struct state *t, const struct vs_stream_in *in, enum vs_field *f)
{
    bool slice = in->sent && t->start_bits < in->address_bits;
    *f = slice ? VS_FIELD_TARGET : VS_FIELD_ICNT;
    return slice ? slice_width(in->address_bits, t->start_bits) : VS_STREAM_BITS;
}

/* Takes a symbol. Returns whether the record is complete. */
static bool take_symbol(struct state *t, const struct vs_stream_in *in, struct vs_stream *s,
                        uint16_t symbol, unsigned width)
{
    if (in->sent && t->start_bits < in->address_bits) {
        t->start |= (uint64_t)symbol << t->start_bits;
        t->start_bits += width;
        return false;
    }
    s->start = in->sent ? t->start : in->start;
    s->length = symbol;
    t->start = 0;
    t->start_bits = 0;
    return true;
}

/* The nearest repetition is the one that is sent, so this notes which nearer ones would do so
 * far. */
static void note_nearer(struct state *t, uint16_t symbol)
{
    if (t->length++)
        t->distance_count = keep_distances(t, symbol);
    else
        find_distances(t, symbol, t->distance - 1);
}

static int next(void *state, struct vs_stream_in *in, struct vs_stream *s)
{
    struct state *t = state;
    while (t->left) {
        enum vs_field f;
        uint16_t symbol = *at_distance(t, t->distance);
        unsigned width = next_width(t, in, &f);
        if (symbol >> width || (f == VS_FIELD_ICNT && symbol == VS_STREAM_BREAK))
            return vs_port_refuse(in->port, f, "repeats what cannot be here");
        note_nearer(t, symbol);
        if (!--t->left && t->distance_count)
            return vs_port_refuse(in->port, VS_FIELD_INDEX, "a nearer repetition is the same");
        enter(t, symbol);
        if (take_symbol(t, in, s, symbol, width))
            return 0;
    }
    return 1;
}

static int get_repetition(struct state *t, struct vs_stream_in *in, struct vs_stream *s,
                          uint64_t *more)
{
    uint64_t distance, length;
    int err = vs_port_get(in->port, VS_FIELD_INDEX, t->distance_bits, &distance);
    if (!err && distance >= t->count)
        err = vs_port_refuse(in->port, VS_FIELD_INDEX, "repeats what never was");
    if (!err)
        err = vs_port_get(in->port, VS_FIELD_RUN, t->length_bits, &length);
    if (!err && !length)
        err = vs_port_refuse(in->port, VS_FIELD_RUN, "repeats a single symbol");
    if (err)
        return err;
    t->distance = (uint32_t)distance + 1;
    t->left = length + 1;
    t->length = 0;
    *more = length;
    return next(t, in, s);
}

static int get(void *state, struct vs_stream_in *in, struct vs_stream *s, uint64_t *more)
{
    struct state *t = state;
    enum vs_field f;
    unsigned width = next_width(t, in, &f);
    uint64_t repeats, symbol;
    int err = vs_port_get(in->port, VS_FIELD_HEADER, 1, &repeats);
    if (err)
        return err;
    if (repeats)
        return get_repetition(t, in, s, more);
    if ((err = vs_port_get(in->port, f, width, &symbol)) < 0)
        return err;
    if (f != VS_FIELD_ICNT || symbol != VS_STREAM_BREAK)
        enter(t, (uint16_t)symbol);
    return take_symbol(t, in, s, (uint16_t)symbol, width) ? 0 : 1;
}

/* ---- the techniques -------------------------------------------------------------------------- */

static const struct vs_stream_coder hwlz_coder = {
    .size = sizeof(struct state),
    .init = init,
    .fini = fini,
    .put = put,
    .flush = flush,
    .put_break = put_break,
    .get = get,
    .next = next,
};

VS_STREAM_MACHINES(hwlz);

#define HWLZ(number)                                                                               \
    {                                                                                              \
        .name = "HWLZ-" #number, .summary = "streams: LZ77 over a buffer of " #number " symbols",  \
        .serves = VS_TECHNIQUE_FLOW, .parameters = parameters,                                     \
        .params_size = sizeof(struct params),                                                      \
        .defaults = "entries=" #number " length=8 dcc=4 dcc_next=2", .cycles = cycles,             \
        .cost = cost, .encoder = &hwlz_encoder, .flow_decoder = &hwlz_decoder                      \
    }

const struct vs_technique vs_technique_hwlz_256 = HWLZ(256);
const struct vs_technique vs_technique_hwlz_1024 = HWLZ(1024);
