/* SPDX-License-Identifier: MIT */
#include "model/granules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* ---- making ---------------------------------------------------------------------------------- */

static int init_cache(struct vs_granules *g, struct vs_granules_cache *c, struct vs_diag *diag)
{
    int err = vs_cache_init(&c->cache, &g->config, diag);
    if (err)
        return err;
    c->flags = calloc((size_t)c->cache.lines * g->words, sizeof(*c->flags));
    c->alone = calloc(c->cache.lines, 1);
    if (!c->flags || !c->alone)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for the flags of a cache");
    return 0;
}

int vs_granules_init(struct vs_granules *g, unsigned count, const struct vs_cache_config *config,
                     uint32_t granule, bool coherent, struct vs_diag *diag)
{
    *g = (struct vs_granules){.config = *config, .coherent = coherent && count > 1};
    int err = vs_cache_check_config(config, diag);
    if (err)
        return err;
    if (!granule || granule & (granule - 1) || granule > config->line)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "granules of %" PRIu32 " bytes: must be a power of two, at most a line",
                           granule);
    g->line_bits = (uint8_t)__builtin_ctz(config->line);
    g->granule_bits = (uint8_t)__builtin_ctz(granule);
    g->words = (config->line / granule + 63) / 64;
    g->caches = calloc(count, sizeof(*g->caches));
    if (!g->caches)
        err = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for %u caches", count);
    for (; !err && g->count < count; g->count++)
        if ((err = init_cache(g, &g->caches[g->count], diag))) {
            g->count++;
            break;
        }
    if (err)
        vs_granules_fini(g);
    return err;
}

int vs_granules_remember(struct vs_granules *g, const struct vs_known_config *config,
                         struct vs_diag *diag)
{
    struct vs_known_config c = *config;
    int err = 0;
    c.line = g->config.line;
    g->known = calloc(g->count, sizeof(*g->known));
    if (!g->known)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for known lines");
    for (unsigned i = 0; !err && i < g->count; i++)
        err = vs_known_init(&g->known[i], &c, diag);
    return err;
}

void vs_granules_fini(struct vs_granules *g)
{
    for (unsigned i = 0; g->known && i < g->count; i++)
        vs_known_fini(&g->known[i]);
    free(g->known);
    for (unsigned i = 0; i < g->count; i++) {
        vs_cache_fini(&g->caches[i].cache);
        free(g->caches[i].flags);
        free(g->caches[i].alone);
    }
    free(g->caches);
    *g = (struct vs_granules){0};
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* Bits [first, end) of a word; 0 <= first < end <= 64. */
static inline uint64_t bits_of(unsigned first, unsigned end)
{
    return (~UINT64_C(0) >> (64 - (end - first))) << first;
}

/* Sets granules [first, end) of a line. Returns whether all of them were set before. */
static bool set_many(struct vs_granules *g, uint64_t *flags, unsigned first, unsigned end)
{
    bool all = true;
    for (unsigned w = first / 64; w < g->words && w * 64 < end; w++) {
        unsigned from = first > w * 64 ? first - w * 64 : 0;
        unsigned to = end - w * 64 < 64 ? end - w * 64 : 64;
        uint64_t mask = bits_of(from, to);
        all = all && (flags[w] & mask) == mask;
        flags[w] |= mask;
    }
    return all;
}

static inline bool set_flags(struct vs_granules *g, uint64_t *flags, unsigned first, unsigned end)
{
    if (unlikely(g->words > 1))
        return set_many(g, flags, first, end);
    uint64_t mask = bits_of(first, end);
    bool all = (*flags & mask) == mask;
    *flags |= mask;
    return all;
}

/* The flags of a line all of whose granules are known. */
static uint64_t full_word(const struct vs_granules *g)
{
    uint32_t granules = g->config.line >> g->granule_bits;
    return bits_of(0, granules < 64 ? granules : 64);
}

static bool is_full(const struct vs_granules *g, const uint64_t *flags)
{
    uint64_t full = full_word(g);
    for (uint32_t w = 0; w < g->words; w++)
        if (flags[w] != full)
            return false;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The reader is about to read the line, so no other cache has it alone any more. Returns whether
 * any of them has or knows it. */
static bool share(struct vs_granules *g, unsigned reader, uint64_t line)
{
    bool found = false;
    for (unsigned i = 0; i < g->count; i++) {
        if (i == reader)
            continue;
        uint32_t index = vs_cache_find(&g->caches[i].cache, line);
        if (index != VS_CACHE_NONE)
            g->caches[i].alone[index] = 0;
        found = found || index != VS_CACHE_NONE || (g->known && vs_known_has(&g->known[i], line));
    }
    return found;
}

static void drop_cached(struct vs_granules *g, int but, uint64_t line)
{
    for (unsigned i = 0; i < g->count; i++) {
        uint32_t index = (int)i == but ? VS_CACHE_NONE : vs_cache_find(&g->caches[i].cache, line);
        if (index != VS_CACHE_NONE)
            vs_cache_drop(&g->caches[i].cache, index);
    }
}

static void drop_known(struct vs_granules *g, int but, uint64_t addr, uint64_t size)
{
    for (unsigned i = 0; g->known && i < g->count; i++)
        if ((int)i != but)
            vs_known_forget(&g->known[i], addr, size);
}

/* Notes the line at the index if all its granules are known. */
static void note_line(struct vs_granules *g, unsigned cache, uint32_t index)
{
    const struct vs_granules_cache *c = &g->caches[cache];
    struct vs_known *known = &g->known[cache];
    uint64_t line = c->cache.tags[index];
    if (line == VS_CACHE_FREE || !is_full(g, c->flags + (size_t)index * g->words))
        return;
    vs_known_set_line(known, line);
    if (vs_known_count(known, line) == known->page / known->line)
        vs_known_set_page(known, line);
}

/* What is at the index is about to make way for a line, whose flags are set here. */
static void exchange(struct vs_granules *g, unsigned cache, uint32_t index, uint64_t line)
{
    uint64_t *flags = g->caches[cache].flags + (size_t)index * g->words;
    note_line(g, cache, index);
    uint64_t word = vs_known_line(&g->known[cache], line) ? full_word(g) : 0;
    for (uint32_t w = 0; w < g->words; w++)
        flags[w] = word;
}

static uint32_t bring_in(struct vs_granules *g, unsigned cache, uint64_t line)
{
    struct vs_granules_cache *c = &g->caches[cache];
    uint32_t index = vs_cache_victim(&c->cache, line);
    if (g->known)
        exchange(g, cache, index, line);
    else
        memset(c->flags + (size_t)index * g->words, 0, g->words * sizeof(*c->flags));
    vs_cache_place(&c->cache, index, line);
    return index;
}

/* Sets flags of the line at the index. Returns whether all of them were set before. */
static inline bool flag(struct vs_granules *g, unsigned cache, uint32_t index, unsigned first,
                        unsigned end)
{
    if (set_flags(g, g->caches[cache].flags + (size_t)index * g->words, first, end))
        return true;
    if (g->known)
        note_line(g, cache, index);
    return false;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static unsigned read_line(struct vs_granules *g, unsigned cache, uint64_t line, unsigned offset,
                          unsigned size)
{
    struct vs_granules_cache *c = &g->caches[cache];
    unsigned missed = 0, round = (1u << g->granule_bits) - 1;
    uint32_t index = vs_cache_find(&c->cache, line);
    if (likely(index != VS_CACHE_NONE)) {
        vs_cache_touch(&c->cache, index);
    } else {
        index = bring_in(g, cache, line);
        c->alone[index] = !g->coherent || !share(g, cache, line);
        missed = VS_GRANULES_NO_LINE;
    }
    if (!flag(g, cache, index, offset >> g->granule_bits,
              (offset + size + round) >> g->granule_bits))
        missed |= VS_GRANULES_NO_FLAG;
    return missed;
}

static unsigned write_line(struct vs_granules *g, unsigned cache, uint64_t line, unsigned offset,
                           unsigned size, bool partial)
{
    struct vs_granules_cache *c = &g->caches[cache];
    unsigned missed = 0, round = (1u << g->granule_bits) - 1;
    uint32_t index = vs_cache_find(&c->cache, line);
    if (likely(index != VS_CACHE_NONE)) {
        vs_cache_touch(&c->cache, index);
    } else {
        index = bring_in(g, cache, line);
        c->alone[index] = !g->coherent;
        missed = VS_GRANULES_NO_LINE;
    }
    if (unlikely(!c->alone[index])) {
        drop_cached(g, (int)cache, line);
        drop_known(g, (int)cache, line, g->config.line);
        c->alone[index] = 1;
    }
    unsigned first = (offset + (partial ? 0 : round)) >> g->granule_bits;
    unsigned end = (offset + size + (partial ? round : 0)) >> g->granule_bits;
    if (first < end)
        flag(g, cache, index, first, end);
    return missed;
}

unsigned vs_granules_read(struct vs_granules *g, unsigned cache, uint64_t addr, size_t size)
{
    uint32_t mask = g->config.line - 1, offset = (uint32_t)addr & mask;
    uint64_t line = addr - offset;
    if (likely(offset + size <= g->config.line))
        return read_line(g, cache, line, offset, (unsigned)size);
    unsigned missed = 0;
    while (size) {
        size_t n = g->config.line - offset < size ? g->config.line - offset : size;
        missed |= read_line(g, cache, line, offset, (unsigned)n);
        line += g->config.line;
        offset = 0;
        size -= n;
    }
    return missed;
}

unsigned vs_granules_write(struct vs_granules *g, unsigned cache, uint64_t addr, size_t size,
                           bool partial)
{
    uint32_t mask = g->config.line - 1, offset = (uint32_t)addr & mask;
    uint64_t line = addr - offset;
    if (likely(offset + size <= g->config.line))
        return write_line(g, cache, line, offset, (unsigned)size, partial);
    unsigned missed = 0;
    while (size) {
        size_t n = g->config.line - offset < size ? g->config.line - offset : size;
        missed |= write_line(g, cache, line, offset, (unsigned)n, partial);
        line += g->config.line;
        offset = 0;
        size -= n;
    }
    return missed;
}

/* For a range of more lines than a cache has: looks at the cache's lines instead. */
static void drop_range(struct vs_cache *c, uint64_t first, uint64_t bytes)
{
    for (uint32_t i = 0; i < c->lines; i++)
        if (c->tags[i] != VS_CACHE_FREE && c->tags[i] - first <= bytes)
            vs_cache_drop(c, i);
}

void vs_granules_drop(struct vs_granules *g, int but, uint64_t addr, uint64_t size)
{
    if (!size)
        return;
    drop_known(g, but, addr, size);
    uint64_t first = addr >> g->line_bits << g->line_bits;
    uint64_t last = (addr + (size - 1)) >> g->line_bits << g->line_bits;
    if ((last - first) >> g->line_bits < g->config.size >> g->line_bits) {
        for (uint64_t line = first;; line += g->config.line) {
            drop_cached(g, but, line);
            if (line == last)
                return;
        }
    }
    for (unsigned i = 0; i < g->count; i++)
        if ((int)i != but)
            drop_range(&g->caches[i].cache, first, last - first);
}

void vs_granules_forget(struct vs_granules *g)
{
    for (unsigned i = 0; i < g->count; i++) {
        struct vs_granules_cache *c = &g->caches[i];
        memset(c->flags, 0, (size_t)c->cache.lines * g->words * sizeof(*c->flags));
        if (g->known)
            vs_known_clear(&g->known[i]);
    }
}
