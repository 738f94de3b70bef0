/* SPDX-License-Identifier: MIT */
#include "trace/chunk_operands.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"

/* By how many operands the shadow memory is fetched ahead. */
#define AHEAD 16

int vs_chunk_operands_init(struct vs_chunk_operands *o)
{
    *o = (struct vs_chunk_operands){.list = calloc(VS_OPERANDS + AHEAD, sizeof(*o->list))};
    return o->list ? 0 : -VSE_NOMEM;
}

void vs_chunk_operands_fini(struct vs_chunk_operands *o)
{
    free(o->list);
    vs_buf_fini(&o->wide);
    *o = (struct vs_chunk_operands){0};
}

void vs_chunk_operands_clear(struct vs_chunk_operands *o)
{
    o->count = 0;
    o->wide.len = 0;
}

int vs_chunk_operand_coder_begin(struct vs_chunk_operand_coder *c, unsigned shadow_bits)
{
    c->shadow_bits = shadow_bits;
    c->trail_count = 0;
    return vs_data_reset(&c->data, 0, shadow_bits);
}

void vs_chunk_operand_coder_fini(struct vs_chunk_operand_coder *c)
{
    vs_data_fini(&c->data);
    free(c->trails);
    c->trails = NULL;
    c->trail_capacity = 0;
}

/* Takes in the sites and threads that are new in a block. */
static int prepare(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o)
{
    invariant(o->count <= VS_OPERANDS);
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

static inline unsigned put_address(uint8_t **col, struct vs_site_state *s, struct vs_trail *t,
                                   uint64_t addr)
{
    struct vs_guess g;
    bool second;

    if (s->trust >= 2) {
        if (likely(addr == t->addr + s->relative)) {
            vs_addr_confirm_thread(s, t, addr);
            return VS_HOW_FIRST;
        }
    } else if (likely(addr == s->addr + s->stride)) {
        vs_addr_confirm_stride(s, t, addr);
        return VS_HOW_FIRST;
    }
    g = vs_addr_guess(s, t);
    second = addr == g.second;
    vs_addr_learn(s, t, addr);
    return vs_delta_put(col, vs_zigzag((int64_t)(addr - g.first)), second) + VS_HOW_SECOND * second;
}

/* Whether a load finds what the shadow memory has; the memory then stays as it is. */
static inline bool finds_value(const struct vs_shadow *m, const struct vs_chunk_operand *p)
{
    const struct vs_shadow_line *line = vs_shadow_at(*m, p->addr);
    unsigned off = p->addr % VS_SHADOW_LINE;
    uint32_t bits = (1u << p->size) - 1;
    uint64_t word;

    if (off + p->size > VS_SHADOW_LINE || line->tag != p->addr / VS_SHADOW_LINE + 1 ||
        (~line->known >> off & bits))
        return false;
    memcpy(&word, line->bytes + off, 8);
    return (word & vs_size_mask(p->size)) == p->value;
}

static inline unsigned put_value(uint8_t **col, const struct vs_shadow *m, struct vs_site_state *s,
                                 struct vs_trail *t, const struct vs_chunk_operand *p)
{
    uint64_t addr = p->addr, value = p->value;
    unsigned size = p->size;
    bool load = vs_chunk_operand_kind(p) == VS_LOAD, second, loaded;
    struct vs_cell cell;
    struct vs_guess g;

    if (load && likely(finds_value(m, p))) {
        vs_value_learn(s, t, true, value);
        return VS_HOW_FIRST;
    }
    cell = vs_cell_open(m, vs_shadow_at(*m, addr), addr, size);
    g = vs_value_guess(&cell, s, load, size);
    second = value == g.second;
    loaded = (value == (t->loaded[true] & vs_size_mask(size))) & !second;
    vs_cell_store(m, &cell, addr, size, value);
    vs_value_learn(s, t, load, value);
    if (value == g.first)
        return VS_HOW_FIRST;
    return vs_delta_put(col, vs_value_delta(value, g.first, size), second | loaded) +
           VS_HOW_SECOND * second + VS_HOW_LOADED * loaded;
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* Puts a wide value, or any value of an event of another kind. Returns how; -VSE_NOMEM. */
static int put_rest(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                    const struct vs_chunk_operand *p, struct vs_buf *wide)
{
    const uint8_t *bytes = p->size > 8 ? o->wide.data + p->value : (const uint8_t *)&p->value;

    if (vs_chunk_operand_kind(p) <= VS_STORE &&
        vs_shadow_read(c->data.shadow, p->addr, p->size, c->scratch) &&
        memcmp(c->scratch, bytes, p->size) == 0)
        return VS_HOW_FIRST;
    if (p->size > 8 && vs_buf_put(wide, bytes, p->size) < 0)
        return -VSE_NOMEM;
    if (c->shadow_bits && vs_chunk_operand_kind(p) <= VS_EXTERNAL)
        vs_shadow_write(c->data.shadow, p->addr, p->size, bytes);
    return VS_HOW_WIDE;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Where the columns are being written; they have room for the block. */
struct ends {
    uint8_t *how, *addr, *value;
};

static int put_all(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                   struct ends *ends, struct vs_buf *wide)
{
    const struct vs_chunk_operand *p = o->list, *end = p + o->count;
    const struct vs_shadow m = c->data.shadow;
    struct ends to = *ends;

    for (; p < end; p++) {
        struct vs_trail *t = &c->trails[p->thread];
        struct vs_site_state *s;
        unsigned how;
        int rest;

        if (unlikely(vs_chunk_operand_kind(p) > VS_STORE)) {
            if (put_rest(c, o, p, wide) < 0)
                return -VSE_NOMEM;
            continue;
        }
        __builtin_prefetch(vs_shadow_at(m, p[AHEAD].addr), 1);
        s = &c->data.sites[p->site_kind >> 8];
        how = put_address(&to.addr, s, t, p->addr);
        if (likely(p->size <= 8)) {
            *to.how++ = (uint8_t)(how | put_value(&to.value, &m, s, t, p) << 4);
            continue;
        }
        if ((rest = put_rest(c, o, p, wide)) < 0)
            return -VSE_NOMEM;
        *to.how++ = (uint8_t)(how | (unsigned)rest << 4);
    }
    *ends = to;
    return 0;
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
    struct ends ends = {room(how, o->count), room(addr, 8 * o->count), room(value, 8 * o->count)};

    if (!ends.how || !ends.addr || !ends.value || prepare(c, o) < 0 ||
        put_all(c, o, &ends, &cols->col[VS_COL_WIDE]) < 0)
        return -VSE_NOMEM;
    how->len = (size_t)(ends.how - how->data);
    addr->len = (size_t)(ends.addr - addr->data);
    value->len = (size_t)(ends.value - value->data);
    return 0;
}
