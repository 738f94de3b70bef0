/* SPDX-License-Identifier: MIT */
/* What the encoder and the decoder of an events chunk both expect to happen next.
 *
 * Each has its own state and feeds it the same events in the same order; what the prediction gets
 * right is not stored. All state starts afresh with each chunk, so that chunks decode by
 * themselves. docs/format.md, "Predictions", specifies every rule here.
 *
 * The state comes in two parts that know nothing of each other, so that different threads may hold
 * them: control flow (struct vs_flow, struct vs_lane) and addresses and values (struct vs_data,
 * struct vs_trail).
 */
#ifndef TRACE_PREDICT_H
#define TRACE_PREDICT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/likely.h"
#include "base/hash.h"
#include "base/varint.h"
#include "trace/sites.h"

#define VS_OUTCOME_BITS 14
#define VS_TARGET_BITS  12
#define VS_RETURNS      32
#define VS_SHADOW_MIN   6
#define VS_SHADOW_MAX   16
#define VS_SHADOW_LINE  32

/* The sites that followed a site: [1] after a taken conditional branch, [0] otherwise. They are
 * kept apart from the rest because each of these loads depends on the one before it, so that they
 * must stay in the first cache. */
struct vs_successor {
    uint32_t next[2];
};

/* What is expected of a site's load or store. Its 64 bytes are one cache line. What changes
 * together does not lie together: compilers would join the two in a vector register, which takes
 * longer than storing both. */
struct vs_site_state {
    uint64_t addr; /* its last address */
    uint64_t value_stride;
    uint64_t stride;   /* between its addresses; changes when a difference is seen twice */
    uint64_t value;    /* its last value of at most 8 bytes */
    uint64_t relative; /* its last address minus the thread's address before that */
    uint32_t stride_seen, value_stride_seen; /* last differences, low 32 bits */
    uint8_t trust; /* address: 0, 1 by stride, 2, 3 relative to the thread's last address */
    uint8_t unused[15];
};
_Static_assert(sizeof(struct vs_site_state) == 64, "one cache line");

/* A line of the shadow memory: the bytes last seen at an address. */
struct vs_shadow_line {
    uint64_t tag; /* vs_shadow_tag; 0 = empty */
    uint32_t known, unused;
    uint8_t bytes[VS_SHADOW_LINE];
    uint8_t pad[16]; /* so that a word may be fetched at any byte */
};
_Static_assert(sizeof(struct vs_shadow_line) == 64, "one cache line");

/* What is expected of a thread's control flow. */
struct vs_lane {
    uint32_t expect;  /* its next site */
    uint32_t history; /* outcomes of its conditional branches, newest in bit 0 */
    uint64_t path;    /* of its indirect targets */
    uint64_t cycle;
    uint32_t depth;    /* of the return stack; modulo VS_RETURNS, the place in it */
    uint32_t link;     /* where `expect` came from, to be corrected if it was wrong */
    uint64_t *returns; /* the return stack: VS_RETURNS entries */
};

/* What is expected of a thread's addresses and values. All zero at the start of a chunk. */
struct vs_trail {
    uint64_t addr;      /* of its last load or store */
    uint64_t loaded[2]; /* its last value of at most 8 bytes: [true] loaded; [false] is a sink */
};

/* A direct-mapped memory of the bytes last seen. It is forgotten by another age: clearing all of it
 * would take as long as a good part of what a chunk does with it. */
struct vs_shadow {
    struct vs_shadow_line *lines;
    uint64_t mask; /* number of lines - 1 */
    uint64_t age;  /* a multiple of VS_SHADOW_AGE, but not 0 */
};

/* What the upper bits of a tag count, above any address. */
#define VS_SHADOW_AGE (UINT64_C(1) << 59)

/* Control flow. */
struct vs_flow {
    struct vs_successor *successors; /* by site */
    uint32_t site_count, site_capacity;
    uint64_t target[1 << VS_TARGET_BITS];  /* by site and path */
    uint32_t arrival[1 << VS_TARGET_BITS]; /* first site after an indirect transfer, by target */
    uint8_t outcome[1 << VS_OUTCOME_BITS]; /* 2-bit counters */
};

/* Addresses and values. */
struct vs_data {
    struct vs_site_state *sites;
    uint32_t site_count, site_capacity;
    struct vs_shadow shadow;
};

/* Forgets everything and makes the state ready for `sites` sites. A zeroed struct will do.
 * Returns 0; -VSE_NOMEM. */
int vs_flow_reset(struct vs_flow *f, uint32_t sites);
void vs_flow_fini(struct vs_flow *f);

/* Makes room for more sites; what is kept per site may move. Returns 0; -VSE_NOMEM. */
int vs_flow_reserve(struct vs_flow *f, uint32_t sites);

/* Takes in the sites that were added since, for which there is room. */
void vs_flow_add(struct vs_flow *f, uint32_t sites);

/* As above. shadow_bits: log2 of the number of lines of the shadow memory, or 0 for a run without
 * loads and stores. Returns 0; -VSE_NOMEM. */
int vs_data_reset(struct vs_data *d, uint32_t sites, unsigned shadow_bits);
void vs_data_fini(struct vs_data *d);

/* Takes in the sites that were added since; states may move. Returns 0; -VSE_NOMEM. */
int vs_data_add(struct vs_data *d, uint32_t sites);

/* returns: VS_RETURNS entries, which stay the caller's. */
void vs_lane_reset(struct vs_lane *l, uint64_t *returns, uint64_t cycle);

/* ---- control flow ------------------------------------------------------------------------- */

static inline uint8_t *vs_outcome_counter(struct vs_flow *f, const struct vs_lane *l, uint32_t site)
{
    return &f->outcome[(site << 2 ^ l->history) & ((1 << VS_OUTCOME_BITS) - 1)];
}

static inline void vs_outcome_learn(struct vs_lane *l, uint8_t *counter, bool taken)
{
    *counter = (uint8_t)(taken ? *counter + (*counter < 3) : *counter - (*counter > 0));
    l->history = l->history << 1 | taken;
}

/* The entry that holds an indirect branch's expected target: for a return the return stack's, which
 * this pops, otherwise the table's. */
static inline uint64_t *vs_target_entry(struct vs_flow *f, struct vs_lane *l, uint32_t site,
                                        unsigned flags)
{
    if (flags & VS_BR_RETURN)
        return &l->returns[--l->depth % VS_RETURNS];
    return &f->target[vs_hash(site + l->path) >> (64 - VS_TARGET_BITS)];
}

static inline void vs_target_learn(struct vs_lane *l, uint64_t *entry, uint64_t target)
{
    *entry = target;
    l->path = l->path << 4 ^ target >> 1;
}

static inline void vs_call(struct vs_lane *l, uint64_t return_address)
{
    l->returns[l->depth++ % VS_RETURNS] = return_address;
}

/* A link says where the expectation of a thread's next site is kept: with the site before it or,
 * after an indirect transfer, with the target. It is a number rather than a pointer because the
 * sites' state may move. The expectation changes only when it was wrong. */
#define VS_LINK_ARRIVAL (1u << 31)

static inline uint32_t vs_link_site(uint32_t site, bool taken)
{
    return site << 1 | taken;
}

static inline uint32_t vs_link_arrival(uint64_t target)
{
    return VS_LINK_ARRIVAL | (uint32_t)(vs_hash(target) >> (64 - VS_TARGET_BITS));
}

static inline uint32_t *vs_link(struct vs_flow *f, uint32_t link)
{
    return link & VS_LINK_ARRIVAL ? &f->arrival[link & ~VS_LINK_ARRIVAL]
                                  : &f->successors[link >> 1].next[link & 1];
}

/* ---- addresses and values ----------------------------------------------------------------- */

/* How an address or a value follows from its predictions: two to a byte, the address's in the low
 * half. 1 to 8: that many bytes of difference to the first prediction. */
enum {
    VS_HOW_FIRST = 0,
    VS_HOW_SECOND = 9,
    VS_HOW_LOADED = 10, /* values only: the thread's last loaded value */
    VS_HOW_WIDE = 1,    /* values over 8 bytes: 0 as in the shadow memory, 1 in full */
};

/* The significant bytes of a difference, unless `skip`. Advances *p, where 8 bytes are free, and
 * returns how many. No branch: whether a prediction was right is itself hard to predict. */
static inline unsigned vs_delta_put(uint8_t **p, uint64_t delta, bool skip)
{
    unsigned n;

    delta &= (uint64_t)skip - 1;
    n = (63 - (unsigned)__builtin_clzll(delta | 1)) / 8 + (delta != 0);
    memcpy(*p, &delta, 8);
    *p += n;
    return n;
}

/* size: 0 to 8 */
static inline uint64_t vs_size_mask(unsigned size)
{
    static const uint64_t masks[9] = {
        0x0,          0xff,           0xffff,           0xffffff,          0xffffffff,
        0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff};

    return masks[size];
}

/* c ? a : b without a branch: what is hard to predict for us is hard for the processor, too, which
 * compilers do not know. */
static inline uint64_t vs_select(bool c, uint64_t a, uint64_t b)
{
    return b ^ ((a ^ b) & (0 - (uint64_t)c));
}

/* An encoder compares with both predictions. A decoder knows which one it wants, and picks it by an
 * index instead of a branch. */
struct vs_guess {
    uint64_t first, second;
};

static inline struct vs_guess vs_addr_guess(const struct vs_site_state *s, const struct vs_trail *t)
{
    uint64_t by_stride = s->addr + s->stride, by_thread = t->addr + s->relative;
    bool thread_first = s->trust >= 2;

    return (struct vs_guess){vs_select(thread_first, by_thread, by_stride),
                             vs_select(thread_first, by_stride, by_thread)};
}

static inline uint64_t vs_addr_pick(const struct vs_site_state *s, const struct vs_trail *t,
                                    bool second)
{
    uint64_t choice[2] = {s->addr + s->stride, t->addr + s->relative};

    return choice[(s->trust >= 2) ^ second];
}

/* What vs_addr_learn amounts to if the first prediction was right: the thread's (trust 2, 3) ... */
static inline void vs_addr_confirm_thread(struct vs_site_state *s, struct vs_trail *t,
                                          uint64_t addr)
{
    uint64_t step = addr - s->addr;

    s->trust |= step != s->stride; /* 2 becomes 3, unless the stride was right too */
    s->stride = (uint32_t)step == s->stride_seen ? step : s->stride;
    s->stride_seen = (uint32_t)step;
    s->addr = addr;
    t->addr = addr;
}

/* ... or the stride's (trust 0, 1). */
static inline void vs_addr_confirm_stride(struct vs_site_state *s, struct vs_trail *t,
                                          uint64_t addr)
{
    uint64_t relative = addr - t->addr;

    s->trust &= relative == s->relative; /* 1 becomes 0, unless the thread's was right too */
    s->stride_seen = (uint32_t)s->stride;
    s->addr = addr;
    s->relative = relative;
    t->addr = addr;
}

static inline void vs_addr_learn(struct vs_site_state *s, struct vs_trail *t, uint64_t addr)
{
    static const uint8_t trust[4][4] = {{0, 0, 1, 0}, {1, 0, 2, 1}, {2, 1, 3, 2}, {3, 2, 3, 3}};
    bool by_stride = addr == s->addr + s->stride, by_thread = addr == t->addr + s->relative;
    uint64_t step = addr - s->addr;

    s->trust = trust[s->trust][2 * by_thread + by_stride];
    s->stride = vs_select((uint32_t)step == s->stride_seen, step, s->stride);
    s->stride_seen = (uint32_t)step;
    s->addr = addr;
    s->relative = addr - t->addr;
    t->addr = addr;
}

static inline struct vs_shadow_line *vs_shadow_at(struct vs_shadow m, uint64_t addr)
{
    uint64_t line = addr / VS_SHADOW_LINE;

    return &m.lines[(line ^ line >> 15) & m.mask];
}

/* What the line of this address has as its tag, if it is this address's. */
static inline uint64_t vs_shadow_tag(struct vs_shadow m, uint64_t addr)
{
    return addr / VS_SHADOW_LINE | m.age;
}

/* Reads `size` bytes, in the general case. Returns whether all are known; only then is out filled.
 */
bool vs_shadow_read(struct vs_shadow m, uint64_t addr, unsigned size, uint8_t *out);
void vs_shadow_write(struct vs_shadow m, uint64_t addr, unsigned size, const uint8_t *bytes);

/* The place of a value of at most 8 bytes in the shadow memory, looked up once for reading and
 * writing. */
struct vs_cell {
    struct vs_shadow_line *line; /* NULL: the value spans two lines */
    uint64_t word;               /* 8 bytes of the line, the value first */
    uint64_t value;              /* 0 if not known */
    uint32_t bits;               /* known flags of the value's bytes */
    bool same, known;            /* the line is this address's; all bytes are known */
};

static inline struct vs_cell vs_cell_open(const struct vs_shadow *m, struct vs_shadow_line *line,
                                          uint64_t addr, unsigned size)
{
    unsigned off = addr % VS_SHADOW_LINE;
    struct vs_cell c;

    if (unlikely(off + size > VS_SHADOW_LINE)) {
        uint64_t v = 0;
        bool known = vs_shadow_read(*m, addr, size, (uint8_t *)&v);

        return (struct vs_cell){.known = known, .value = known ? v : 0};
    }
    c.line = line;
    c.bits = ((1u << size) - 1) << off;
    c.same = line->tag == vs_shadow_tag(*m, addr);
    c.known = c.same & ((line->known & c.bits) == c.bits);
    memcpy(&c.word, line->bytes + off, 8);
    c.value = c.word & vs_size_mask(size) & (0 - (uint64_t)c.known);
    return c;
}

static inline void vs_cell_store(const struct vs_shadow *m, const struct vs_cell *c, uint64_t addr,
                                 unsigned size, uint64_t value)
{
    if (likely(c->line != NULL)) {
        uint64_t word = (c->word & ~vs_size_mask(size)) | value;

        c->line->known = (c->line->known & (0 - (uint32_t)c->same)) | c->bits;
        c->line->tag = vs_shadow_tag(*m, addr);
        memcpy(c->line->bytes + addr % VS_SHADOW_LINE, &word, 8);
        return;
    }
    vs_shadow_write(*m, addr, size, (const uint8_t *)&value);
}

/* A value of at most 8 bytes. A load most likely finds what was last seen at its address; a store
 * most likely goes on as its site did, or changes nothing. */
static inline struct vs_guess vs_value_guess(const struct vs_cell *c, const struct vs_site_state *s,
                                             bool load, unsigned size)
{
    uint64_t by_site = (s->value + s->value_stride) & vs_size_mask(size);

    return (struct vs_guess){vs_select(load & c->known, c->value, by_site),
                             vs_select(load, by_site, c->value)};
}

static inline uint64_t vs_value_pick(const struct vs_cell *c, const struct vs_site_state *s,
                                     const struct vs_trail *t, bool load, unsigned how)
{
    /* 0 in memory, 1 by site, 2 loaded; by store or load, unknown or known, how */
    static const uint8_t source[4][16] = {
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2},
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2},
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2},
    };
    uint64_t choice[3] = {c->value, s->value + s->value_stride, t->loaded[true]};

    return choice[source[2 * load + c->known][how]];
}

static inline void vs_value_learn(struct vs_site_state *s, struct vs_trail *t, bool load,
                                  uint64_t value)
{
    uint64_t step = value - s->value;

    s->value_stride = vs_select((uint32_t)step == s->value_stride_seen, step, s->value_stride);
    s->value_stride_seen = (uint32_t)step;
    s->value = value;
    t->loaded[load] = value;
}

/* The difference between a value and its first prediction, as a signed number of that size in
 * zigzag form. */
static inline uint64_t vs_value_delta(uint64_t value, uint64_t first, unsigned size)
{
    unsigned shift = 64 - 8 * size;

    return vs_zigzag((int64_t)((value - first) << shift) >> shift);
}

#endif
