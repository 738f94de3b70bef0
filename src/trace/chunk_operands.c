/* SPDX-License-Identifier: MIT */
#include "trace/chunk_operands.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "trace/recipe.h"

/* For how many operands addresses are put together, before their values: what is fetched for these
 * stays in the first cache. One record may have as many as a block. */
#define TAKEN 128

int vs_chunk_operands_init(struct vs_chunk_operands *o)
{
    *o = (struct vs_chunk_operands){.list = calloc(VS_OPERANDS, sizeof(*o->list)),
                                    .recipes = calloc(VS_OPERANDS, sizeof(*o->recipes))};
    return o->list && o->recipes ? 0 : -VSE_NOMEM;
}

void vs_chunk_operands_fini(struct vs_chunk_operands *o)
{
    free(o->list);
    free(o->recipes);
    vs_buf_fini(&o->wide);
    vs_buf_fini(&o->records);
    *o = (struct vs_chunk_operands){0};
}

void vs_chunk_operands_clear(struct vs_chunk_operands *o)
{
    o->count = o->total = o->part_count = o->parted = o->record_count = 0;
    o->wide.len = o->records.len = 0;
}

int vs_chunk_operand_coder_begin(struct vs_chunk_operand_coder *c, unsigned shadow_bits)
{
    c->shadow_bits = shadow_bits;
    c->trail_count = 0;
    if (!c->places)
        c->places = calloc(TAKEN + VS_OPERANDS, sizeof(*c->places));
    return !c->places ? -VSE_NOMEM : vs_data_reset(&c->data, 0, shadow_bits);
}

void vs_chunk_operand_coder_fini(struct vs_chunk_operand_coder *c)
{
    vs_data_fini(&c->data);
    free(c->trails);
    free(c->places);
    c->places = NULL;
    c->trails = NULL;
    c->trail_capacity = 0;
}

/* Takes in the sites and threads that are new in a block. */
static int prepare(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o)
{
    invariant(o->count <= o->total && o->total <= VS_OPERANDS && o->parted <= o->count);
    size_t more = o->threads > c->trail_count ? o->threads - c->trail_count : 0;

    if (c->shadow_bits && vs_data_add(&c->data, o->sites) < 0)
        return -VSE_NOMEM;
    if (!more)
        return 0;
    if (vs_array_room((void **)&c->trails, &c->trail_capacity, c->trail_count, more,
                      sizeof(*c->trails)) < 0)
        return -VSE_NOMEM;
    memset(c->trails + c->trail_count, 0, more * sizeof(*c->trails));
    c->trail_count += more;
    return 0;
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* In real programs most predictions are right, so this is tested first. What a wrong one requires
 * is then done without branches, since nothing about it can be predicted.
 *
 * Addresses and values know nothing of each other, so some of the former come first, and then the
 * values at these addresses. What the shadow memory has there is fetched meanwhile. */

/* Whether an address is the first prediction; then everything has learned from it. */
static inline bool address_is(struct vs_site_state *s, struct vs_trail *t, uint64_t addr)
{
    if (s->trust >= 2) {
        if (unlikely(addr != t->addr + s->relative))
            return false;
        vs_addr_confirm_thread(s, t, addr);
    } else {
        if (unlikely(addr != s->addr + s->stride))
            return false;
        vs_addr_confirm_stride(s, t, addr);
    }
    return true;
}

/* Puts an address that is not the first prediction. Returns how; its column grows by as many bytes,
 * unless it is the second one. */
static __attribute__((noinline)) unsigned put_address(uint8_t *col, struct vs_site_state *s,
                                                      struct vs_trail *t, uint64_t addr)
{
    struct vs_guess g = vs_addr_guess(s, t);
    bool second = addr == g.second;

    vs_addr_learn(s, t, addr);
    return vs_delta_put(&col, vs_zigzag((int64_t)(addr - g.first)), second) +
           VS_HOW_SECOND * second;
}

/* How many bytes of its column an address or value takes. */
static inline unsigned how_long(unsigned how)
{
    return how < VS_HOW_SECOND ? how : 0;
}

/* ---- values of at most 8 bytes --------------------------------------------------------------- */

/* What does not change from one operand of a thread to the next. */
struct coding {
    struct vs_shadow shadow;
    struct vs_trail *trail;
};

/* Whether a load finds its value in the shadow memory, which then stays as it is. */
static inline bool value_is(const struct coding *k, struct vs_site_state *s, unsigned size,
                            unsigned bits, const struct vs_operand_place *at, uint64_t value)
{
    const struct vs_shadow_line *line = at->line;
    const unsigned off = at->addr % VS_SHADOW_LINE;
    uint64_t word;

    memcpy(&word, line->bytes + off, 8);
    /* Nothing is known behind the line. */
    if ((~(uint64_t)line->known >> off & bits) || line->tag != vs_shadow_tag(k->shadow, at->addr) ||
        (word ^ value) & vs_size_mask(size))
        return false;
    vs_value_learn(s, k->trail, true, value);
    return true;
}

/* Puts any other value. size_load: twice the size, plus 1 for a load. Returns how. */
static __attribute__((noinline)) unsigned put_value(const struct coding *k, uint8_t *col,
                                                    struct vs_site_state *s, unsigned size_load,
                                                    const struct vs_operand_place *at,
                                                    uint64_t value)
{
    const unsigned size = size_load / 2;
    const bool load = size_load & 1;
    struct vs_cell cell = vs_cell_open(&k->shadow, at->line, at->addr, size);
    struct vs_guess g = vs_value_guess(&cell, s, load, size);
    bool second = value == g.second;
    bool loaded = (value == (k->trail->loaded[true] & vs_size_mask(size))) & !second;

    vs_cell_store(&k->shadow, &cell, at->addr, size, value);
    vs_value_learn(s, k->trail, load, value);
    if (value == g.first)
        return VS_HOW_FIRST;
    return vs_delta_put(&col, vs_value_delta(value, g.first, size), second | loaded) +
           VS_HOW_SECOND * second + VS_HOW_LOADED * loaded;
}

/* Puts what a store writes within a line, as put_value would: inlined, since every store comes
 * here. Returns how. */
static inline __attribute__((always_inline)) unsigned
put_stored(const struct coding *k, uint8_t *col, struct vs_site_state *s, unsigned size,
           unsigned bytes, const struct vs_operand_place *at, uint64_t value)
{
    struct vs_shadow_line *line = at->line;
    const uint64_t tag = vs_shadow_tag(k->shadow, at->addr), mask = vs_size_mask(size);
    const unsigned off = at->addr % VS_SHADOW_LINE;
    const uint32_t bits = bytes << off;
    const uint32_t known = line->tag == tag ? line->known : 0;
    const uint64_t first = (s->value + s->value_stride) & mask;
    uint64_t word, before;
    bool second, loaded;

    memcpy(&word, line->bytes + off, 8);
    before = word & mask & (0 - (uint64_t)((known & bits) == bits));
    word = (word & ~mask) | value;
    memcpy(line->bytes + off, &word, 8);
    line->known = known | bits;
    line->tag = tag;
    vs_value_learn(s, k->trail, false, value);
    if (likely(value == first))
        return VS_HOW_FIRST;
    second = value == before;
    loaded = (value == (k->trail->loaded[true] & mask)) & !second;
    return vs_delta_put(&col, vs_value_delta(value, first, size), second | loaded) +
           VS_HOW_SECOND * second + VS_HOW_LOADED * loaded;
}

/* Puts a value of at most 8 bytes. bytes: a bit for each. Returns how. */
static inline __attribute__((always_inline)) unsigned
put_narrow(const struct coding *k, uint8_t *col, struct vs_site_state *s, bool load, unsigned size,
           unsigned bytes, const struct vs_operand_place *at, uint64_t value)
{
    if (load)
        return likely(value_is(k, s, size, bytes, at, value))
                   ? VS_HOW_FIRST
                   : put_value(k, col, s, 2 * size + 1, at, value);
    if (unlikely(at->addr % VS_SHADOW_LINE + size > VS_SHADOW_LINE))
        return put_value(k, col, s, 2 * size, at, value);
    return put_stored(k, col, s, size, bytes, at, value);
}

/* ---- other values ---------------------------------------------------------------------------- */

/* Puts a wide value, or any value of an event of another kind. Returns how; -VSE_NOMEM. */
static __attribute__((noinline)) int put_rest(struct vs_chunk_operand_coder *c, unsigned kind,
                                              unsigned size, uint64_t addr, const uint8_t *bytes,
                                              struct vs_buf *wide)
{
    if (kind <= VS_STORE && vs_shadow_read(c->data.shadow, addr, size, c->scratch) &&
        memcmp(c->scratch, bytes, size) == 0)
        return VS_HOW_FIRST;
    if (size > 8 && vs_buf_put(wide, bytes, size) < 0)
        return -VSE_NOMEM;
    if (c->shadow_bits && kind <= VS_EXTERNAL)
        vs_shadow_write(c->data.shadow, addr, size, bytes);
    return VS_HOW_WIDE;
}

/* Where the columns are being written; they have room for the block. An operand's byte of how is
 * written with its address, and completed with its value. */
struct ends {
    uint8_t *how, *valued, *addr, *value;
};

/* ---- the list ------------------------------------------------------------------------------- */

/* Puts the addresses of n operands of the list. */
static void put_list_addresses(struct vs_chunk_operand_coder *c, const struct vs_chunk_operand *p,
                               size_t n, struct ends *ends)
{
    const struct vs_chunk_operand *end = p + n;
    const struct vs_shadow shadow = c->data.shadow;
    struct vs_site_state *sites = c->data.sites;
    struct vs_trail *trails = c->trails;
    struct vs_operand_place *kept = c->places;
    uint8_t *how = ends->how, *addr = ends->addr;

    for (; p < end; p++) {
        unsigned h;

        if (unlikely(vs_chunk_operand_kind(p) > VS_STORE))
            continue;
        *kept = (struct vs_operand_place){p->addr, vs_shadow_at(shadow, p->addr)};
        __builtin_prefetch(kept++->line, 1);
        if (likely(address_is(&sites[p->site_kind >> 8], &trails[p->thread], p->addr))) {
            *how++ = VS_HOW_FIRST;
            continue;
        }
        h = put_address(addr, &sites[p->site_kind >> 8], &trails[p->thread], p->addr);
        *how++ = (uint8_t)h;
        addr += how_long(h);
    }
    ends->how = how;
    ends->addr = addr;
}

/* Puts their values, and those of other events between them. Returns 0; -VSE_NOMEM. */
static int put_list_values(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                           const struct vs_chunk_operand *p, size_t n, struct ends *ends,
                           struct vs_buf *wide)
{
    const struct vs_chunk_operand *end = p + n;
    const struct vs_operand_place *at = c->places;
    struct coding k = {.shadow = c->data.shadow};
    uint8_t *how = ends->valued, *value = ends->value;

    for (; p < end; p++) {
        const unsigned kind = vs_chunk_operand_kind(p);
        const uint8_t *bytes = p->size > 8 ? o->wide.data + p->value : (const uint8_t *)&p->value;
        int h;

        if (unlikely(kind > VS_STORE || p->size > 8)) {
            if ((h = put_rest(c, kind, p->size, p->addr, bytes, wide)) < 0)
                return -VSE_NOMEM;
            if (kind <= VS_STORE) {
                *how++ |= (uint8_t)(h << 4);
                at++;
            }
            continue;
        }
        k.trail = &c->trails[p->thread];
        h = (int)put_narrow(&k, value, &c->data.sites[p->site_kind >> 8], kind == VS_LOAD, p->size,
                            (1u << p->size) - 1, at++, p->value);
        *how++ |= (uint8_t)(h << 4);
        value += how_long((unsigned)h);
    }
    ends->valued = how;
    ends->value = value;
    return 0;
}

/* Puts n operands of the list. Returns 0; -VSE_NOMEM. */
static int put_list(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                    const struct vs_chunk_operand *p, size_t n, struct ends *ends,
                    struct vs_buf *wide)
{
    for (size_t some; n; p += some, n -= some) {
        some = n < TAKEN ? n : TAKEN;
        put_list_addresses(c, p, some, ends);
        if (put_list_values(c, o, p, some, ends, wide) < 0)
            return -VSE_NOMEM;
    }
    return 0;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Where the next record is. */
struct place {
    size_t record, at;
};

/* Puts the addresses of some records, and keeps them for the values. Returns where the records
 * end. */
static __attribute__((noinline)) struct place
put_addresses(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
              struct vs_trail *trail, struct place from, size_t end, struct ends *ends)
{
    const struct vs_operand_recipe **recipe = o->recipes + from.record, **stop = o->recipes + end;
    const struct vs_shadow shadow = c->data.shadow;
    const uint8_t *record = o->records.data + from.at;
    struct vs_site_state *sites = c->data.sites;
    struct vs_trail t = *trail;
    struct vs_operand_place *kept = c->places, *full = kept + TAKEN;
    uint8_t *how = ends->how, *addrs = ends->addr;

    for (; recipe < stop && kept < full; record += (*recipe++)->length) {
        const struct vs_operand_step *s = (*recipe)->steps, *last = s + (*recipe)->count;

        for (; s < last; s++) {
            const uint64_t addr = (vs_record_word(record, s->addr_at) & s->addr_mask) + s->addr;
            unsigned h;

            *kept = (struct vs_operand_place){addr, vs_shadow_at(shadow, addr)};
            __builtin_prefetch(kept++->line, 1);
            if (likely(address_is(&sites[s->site], &t, addr))) {
                *how++ = VS_HOW_FIRST;
                continue;
            }
            h = put_address(addrs, &sites[s->site], &t, addr);
            *how++ = (uint8_t)h;
            addrs += how_long(h);
        }
    }
    trail->addr = t.addr;
    ends->how = how;
    ends->addr = addrs;
    return (struct place){(size_t)(recipe - o->recipes), (size_t)(record - o->records.data)};
}

/* Puts the values of the same records. Returns 0; -VSE_NOMEM. */
static __attribute__((noinline)) int put_values(struct vs_chunk_operand_coder *c,
                                                const struct vs_chunk_operands *o,
                                                struct vs_trail *trail, struct place from,
                                                size_t end, struct ends *ends, struct vs_buf *wide)
{
    const struct vs_operand_recipe **recipe = o->recipes + from.record, **stop = o->recipes + end;
    const uint8_t *record = o->records.data + from.at;
    const struct vs_operand_place *at = c->places;
    struct vs_site_state *sites = c->data.sites;
    struct vs_trail t = *trail;
    const struct coding k = {c->data.shadow, &t};
    uint8_t *how = ends->valued, *values = ends->value;

    for (; recipe < stop; record += (*recipe++)->length) {
        const struct vs_operand_step *s = (*recipe)->steps, *last = s + (*recipe)->count;

        for (; s < last; s++, at++, how++) {
            int h;

            if (unlikely(s->size > 8)) {
                h = put_rest(c, VS_STORE, s->size, at->addr, record + s->value_at, wide);
                if (h < 0)
                    return -VSE_NOMEM;
                *how |= (uint8_t)(h << 4);
                continue;
            }
            h = (int)put_narrow(&k, values, &sites[s->site], s->load, s->size, s->bytes, at,
                                (vs_record_word(record, s->value_at) & s->value_mask) + s->value);
            *how |= (uint8_t)(h << 4);
            values += how_long((unsigned)h);
        }
    }
    trail->loaded[true] = t.loaded[true];
    ends->valued = how;
    ends->value = values;
    return 0;
}

static int put_records(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                       const struct vs_operand_part *part, struct place *place, struct ends *ends,
                       struct vs_buf *wide)
{
    const size_t end = place->record + part->records;

    while (place->record < end) {
        struct vs_trail *trail = &c->trails[part->thread];
        struct place from = *place;

        *place = put_addresses(c, o, trail, from, end, ends);
        if (put_values(c, o, trail, from, place->record, ends, wide) < 0)
            return -VSE_NOMEM;
    }
    return 0;
}

/* ---- a whole block -------------------------------------------------------------------------- */

static int put_parts(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                     struct ends *ends, struct vs_buf *wide)
{
    const struct vs_chunk_operand *p = o->list;
    struct place place = {0};

    for (size_t i = 0; i < o->part_count; i++) {
        const struct vs_operand_part *part = &o->parts[i];

        if (put_list(c, o, p, part->listed, ends, wide) < 0 ||
            put_records(c, o, part, &place, ends, wide) < 0)
            return -VSE_NOMEM;
        p += part->listed;
    }
    invariant(place.at == o->records.len && p == o->list + o->parted);
    return put_list(c, o, p, o->count - o->parted, ends, wide);
}

/* Makes room for the block. A difference is written as 8 bytes, of which only some count. */
static uint8_t *room(struct vs_buf *col, size_t bytes)
{
    return vs_buf_reserve(col, bytes + 8) < 0 ? NULL : col->data + col->len;
}

int vs_chunk_operand_coder_put(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                               struct vs_columns *cols)
{
    struct vs_buf *how = &cols->col[VS_COL_HOW], *addr = &cols->col[VS_COL_ADDR],
                  *value = &cols->col[VS_COL_VALUE];
    struct ends ends = {.how = room(how, o->total),
                        .addr = room(addr, 8 * o->total),
                        .value = room(value, 8 * o->total)};

    ends.valued = ends.how;
    if (!ends.how || !ends.addr || !ends.value || prepare(c, o) < 0 ||
        put_parts(c, o, &ends, &cols->col[VS_COL_WIDE]) < 0)
        return -VSE_NOMEM;
    how->len = (size_t)(ends.how - how->data);
    addr->len = (size_t)(ends.addr - addr->data);
    value->len = (size_t)(ends.value - value->data);
    return 0;
}
