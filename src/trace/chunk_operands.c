/* SPDX-License-Identifier: MIT */
#include "trace/chunk_operands.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "trace/recipe.h"

/* By how many operands the shadow memory is fetched ahead. */
#define AHEAD 16
/* For how many operands of records that is done together, before they are put: what is fetched
 * stays in the first cache. One record may have as many as a block. */
#define TAKEN 64

int vs_chunk_operands_init(struct vs_chunk_operands *o)
{
    *o = (struct vs_chunk_operands){.list = calloc(VS_OPERANDS + AHEAD, sizeof(*o->list)),
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
    if (!c->addrs)
        c->addrs = calloc(TAKEN + VS_OPERANDS, sizeof(*c->addrs));
    return !c->addrs ? -VSE_NOMEM : vs_data_reset(&c->data, 0, shadow_bits);
}

void vs_chunk_operand_coder_fini(struct vs_chunk_operand_coder *c)
{
    vs_data_fini(&c->data);
    free(c->trails);
    free(c->addrs);
    c->addrs = NULL;
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

/* ---- loads and stores of at most 8 bytes ---------------------------------------------------- */

/* In real programs most predictions are right, so this is tested first. What a wrong one requires
 * is then done without branches, since nothing about it can be predicted. */

/* What does not change from one operand of a thread to the next. */
struct coding {
    struct vs_shadow shadow;
    struct vs_trail *trail;
};

/* How many bytes of its column an address or value takes. */
static inline unsigned how_long(unsigned how)
{
    return how < VS_HOW_SECOND ? how : 0;
}

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

/* Puts an address that is not the first prediction. Returns how. */
static __attribute__((noinline)) unsigned put_address(uint8_t *col, struct vs_site_state *s,
                                                      struct vs_trail *t, uint64_t addr)
{
    struct vs_guess g = vs_addr_guess(s, t);
    bool second = addr == g.second;

    vs_addr_learn(s, t, addr);
    return vs_delta_put(&col, vs_zigzag((int64_t)(addr - g.first)), second) +
           VS_HOW_SECOND * second;
}

/* Whether a load finds its value in the shadow memory, which then stays as it is. */
static inline bool value_is(const struct coding *k, struct vs_site_state *s, unsigned size,
                            uint64_t addr, uint64_t value)
{
    const struct vs_shadow_line *line = vs_shadow_at(k->shadow, addr);
    unsigned off = addr % VS_SHADOW_LINE;
    uint32_t bits = (1u << size) - 1;
    uint64_t word;

    if (off + size > VS_SHADOW_LINE || line->tag != vs_shadow_tag(k->shadow, addr) ||
        (~line->known >> off & bits))
        return false;
    memcpy(&word, line->bytes + off, 8);
    if ((word ^ value) & vs_size_mask(size))
        return false;
    vs_value_learn(s, k->trail, true, value);
    return true;
}

/* Puts any other value of at most 8 bytes. size_load: twice the size, plus 1 for a load. Returns
 * how. */
static __attribute__((noinline)) unsigned put_value(const struct coding *k, uint8_t *col,
                                                    struct vs_site_state *s, unsigned size_load,
                                                    uint64_t addr, uint64_t value)
{
    const unsigned size = size_load / 2;
    const bool load = size_load & 1;
    struct vs_cell cell = vs_cell_open(&k->shadow, vs_shadow_at(k->shadow, addr), addr, size);
    struct vs_guess g = vs_value_guess(&cell, s, load, size);
    bool second = value == g.second;
    bool loaded = (value == (k->trail->loaded[true] & vs_size_mask(size))) & !second;

    vs_cell_store(&k->shadow, &cell, addr, size, value);
    vs_value_learn(s, k->trail, load, value);
    if (value == g.first)
        return VS_HOW_FIRST;
    return vs_delta_put(&col, vs_value_delta(value, g.first, size), second | loaded) +
           VS_HOW_SECOND * second + VS_HOW_LOADED * loaded;
}

/* Puts what a store writes. Returns how. */
static __attribute__((noinline)) unsigned put_stored(const struct coding *k, uint8_t *col,
                                                     struct vs_site_state *s, unsigned size,
                                                     uint64_t addr, uint64_t value)
{
    struct vs_shadow_line *line = vs_shadow_at(k->shadow, addr);
    const uint64_t mask = vs_size_mask(size);
    const unsigned off = addr % VS_SHADOW_LINE;
    const uint32_t bits = ((1u << size) - 1) << off;
    uint64_t word;

    if (unlikely(((s->value + s->value_stride) & mask) != value || off + size > VS_SHADOW_LINE))
        return put_value(k, col, s, 2 * size, addr, value);
    line->known = bits | (line->tag == vs_shadow_tag(k->shadow, addr) ? line->known : 0);
    line->tag = vs_shadow_tag(k->shadow, addr);
    memcpy(&word, line->bytes + off, 8);
    word = (word & ~mask) | value;
    memcpy(line->bytes + off, &word, 8);
    vs_value_learn(s, k->trail, false, value);
    return VS_HOW_FIRST;
}

/* Puts an operand of at most 8 bytes. Returns how, as the column has it. */
static inline __attribute__((always_inline)) unsigned
put_narrow(const struct coding *k, uint8_t *addrs, uint8_t *values, struct vs_site_state *s,
           bool load, unsigned size, uint64_t addr, uint64_t value)
{
    unsigned how = address_is(s, k->trail, addr) ? 0 : put_address(addrs, s, k->trail, addr);

    if (!load)
        return how | put_stored(k, values, s, size, addr, value) << 4;
    if (likely(value_is(k, s, size, addr, value)))
        return how;
    return how | put_value(k, values, s, 2 * size + 1, addr, value) << 4;
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* Puts a wide value, or any value of an event of another kind. Returns how; -VSE_NOMEM. */
static int put_rest(struct vs_chunk_operand_coder *c, unsigned kind, unsigned size, uint64_t addr,
                    const uint8_t *bytes, struct vs_buf *wide)
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

/* Puts a load or store of more than 8 bytes. Returns how; -VSE_NOMEM. */
static __attribute__((noinline)) int put_wide(struct vs_chunk_operand_coder *c,
                                              const struct coding *k, uint8_t *addrs,
                                              struct vs_site_state *s, unsigned size, uint64_t addr,
                                              const uint8_t *bytes, struct vs_buf *wide)
{
    unsigned how = address_is(s, k->trail, addr) ? 0 : put_address(addrs, s, k->trail, addr);
    int rest = put_rest(c, VS_STORE, size, addr, bytes, wide);

    return rest < 0 ? rest : (int)(how | (unsigned)rest << 4);
}

/* Where the columns are being written; they have room for the block. */
struct ends {
    uint8_t *how, *addr, *value;
};

/* ---- the list ------------------------------------------------------------------------------- */

/* Puts n operands of the list. Returns 0; -VSE_NOMEM. */
static int put_list(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                    const struct vs_chunk_operand *p, size_t n, struct ends *ends,
                    struct vs_buf *wide)
{
    const struct vs_chunk_operand *end = p + n;
    struct coding k = {.shadow = c->data.shadow};
    struct ends to = *ends;

    for (; p < end; p++) {
        unsigned kind = vs_chunk_operand_kind(p), narrow;
        const uint8_t *bytes = p->size > 8 ? o->wide.data + p->value : (const uint8_t *)&p->value;
        struct vs_site_state *s;
        int how;

        if (unlikely(kind > VS_STORE)) {
            if (put_rest(c, kind, p->size, p->addr, bytes, wide) < 0)
                return -VSE_NOMEM;
            continue;
        }
        __builtin_prefetch(vs_shadow_at(k.shadow, p[AHEAD].addr), 1);
        k.trail = &c->trails[p->thread];
        s = &c->data.sites[p->site_kind >> 8];
        if (likely(p->size <= 8)) {
            narrow =
                put_narrow(&k, to.addr, to.value, s, kind == VS_LOAD, p->size, p->addr, p->value);
            to.addr += how_long(narrow & 15);
            to.value += how_long(narrow >> 4);
            *to.how++ = (uint8_t)narrow;
            continue;
        }
        if ((how = put_wide(c, &k, to.addr, s, p->size, p->addr, bytes, wide)) < 0)
            return -VSE_NOMEM;
        to.addr += how_long(how & 15);
        *to.how++ = (uint8_t)how;
    }
    *ends = to;
    return 0;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Where the next record is. */
struct place {
    size_t record, at;
};

/* Finds the addresses of some records, and fetches what the shadow memory has there. Returns where
 * the records end. */
static struct place find_addresses(uint64_t *addrs, const struct vs_chunk_operands *o,
                                   struct place from, size_t end, struct vs_shadow m)
{
    const uint64_t *full = addrs + TAKEN;

    while (from.record < end && addrs < full) {
        const struct vs_operand_recipe *r = o->recipes[from.record++];
        const struct vs_operand_step *s = r->steps, *last = s + r->count;
        const uint8_t *record = o->records.data + from.at;

        from.at += r->length;
        for (; s < last; s++, addrs++) {
            *addrs = (vs_record_word(record, s->addr_at) & s->addr_mask) + s->addr;
            __builtin_prefetch(vs_shadow_at(m, *addrs), 1);
        }
    }
    return from;
}

/* Puts the operands of records whose addresses are known. Returns 0; -VSE_NOMEM. */
static int put_found(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                     struct vs_trail *trail, struct place from, size_t end, struct ends *ends,
                     struct vs_buf *wide)
{
    const struct vs_operand_recipe **recipe = o->recipes + from.record, **stop = o->recipes + end;
    const uint8_t *record = o->records.data + from.at;
    const uint64_t *addr = c->addrs;
    struct vs_site_state *sites = c->data.sites;
    struct vs_trail t = *trail;
    const struct coding k = {c->data.shadow, &t};
    uint8_t *hows = ends->how, *addrs = ends->addr, *values = ends->value;

    for (; recipe < stop; record += (*recipe++)->length) {
        const struct vs_operand_step *s = (*recipe)->steps, *last = s + (*recipe)->count;

        for (; s < last; s++, addr++) {
            struct vs_site_state *state = &sites[s->site];
            int how;

            if (likely(s->size <= 8)) {
                how = (int)put_narrow(&k, addrs, values, state, s->load, s->size, *addr,
                                      (vs_record_word(record, s->value_at) & s->value_mask) +
                                          s->value);
                *hows++ = (uint8_t)how;
                if (!how)
                    continue;
                values += how_long((unsigned)how >> 4);
            } else {
                how = put_wide(c, &k, addrs, state, s->size, *addr, record + s->value_at, wide);
                if (how < 0)
                    return -VSE_NOMEM;
                *hows++ = (uint8_t)how;
            }
            addrs += how_long(how & 15);
        }
    }
    *trail = t;
    *ends = (struct ends){hows, addrs, values};
    return 0;
}

static int put_records(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                       const struct vs_operand_part *part, struct place *place, struct ends *ends,
                       struct vs_buf *wide)
{
    const size_t end = place->record + part->records;

    while (place->record < end) {
        struct place from = *place;

        *place = find_addresses(c->addrs, o, from, end, c->data.shadow);
        if (put_found(c, o, &c->trails[part->thread], from, place->record, ends, wide) < 0)
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
    struct ends ends = {room(how, o->total), room(addr, 8 * o->total), room(value, 8 * o->total)};

    if (!ends.how || !ends.addr || !ends.value || prepare(c, o) < 0 ||
        put_parts(c, o, &ends, &cols->col[VS_COL_WIDE]) < 0)
        return -VSE_NOMEM;
    how->len = (size_t)(ends.how - how->data);
    addr->len = (size_t)(ends.addr - addr->data);
    value->len = (size_t)(ends.value - value->data);
    return 0;
}
