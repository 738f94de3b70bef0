/* SPDX-License-Identifier: MIT */
#include "model/known.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/power.h"

/* ---- making ---------------------------------------------------------------------------------- */

enum { WAYS = 8 };

/* What one of both tables is made of. */
struct shape {
    uint32_t entries, ways;
    uint32_t span, part; /* bytes of an entry, and of one of its bits */
};

static struct vs_known_config complete(const struct vs_known_config *config)
{
    struct vs_known_config c = *config;
    c.page = c.page ? c.page : VS_KNOWN_PAGE;
    c.region = c.region ? c.region : VS_KNOWN_REGION;
    return c;
}

static struct shape shape_of(uint32_t entries, uint32_t ways, uint32_t span, uint32_t part)
{
    if (!ways)
        ways = entries < WAYS ? entries : WAYS;
    return (struct shape){.entries = entries, .ways = ways, .span = span, .part = part};
}

static struct shape shape_k(const struct vs_known_config *complete)
{
    return shape_of(complete->k_entries, complete->k_ways, complete->page, complete->line);
}

static struct shape shape_r(const struct vs_known_config *complete)
{
    return shape_of(complete->r_entries, complete->r_ways, complete->region, complete->page);
}

/* The cache has the entries' tags only, so its own lines are as short as can be. */
static struct vs_cache_config tags_of(const struct shape *s)
{
    return (struct vs_cache_config){.size = (uint64_t)s->entries * VS_CACHE_LINE_MIN,
                                    .line = VS_CACHE_LINE_MIN,
                                    .ways = s->ways,
                                    .policy = VS_CACHE_LRU};
}

static int check_entries(const char *name, const struct shape *s, struct vs_diag *diag)
{
    if (!s->entries)
        return 0;
    if (s->ways > VS_CACHE_WAYS_MAX || s->entries % s->ways ||
        !vs_is_power_of_two(s->entries / s->ways) || s->entries > VS_CACHE_LINES_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "%" PRIu32 " entries of %s: must be %" PRIu32
                           " ways times a power of two, at most %u",
                           s->entries, name, s->ways, VS_CACHE_LINES_MAX);
    return 0;
}

int vs_known_check_config(const struct vs_known_config *config, struct vs_diag *diag)
{
    const struct vs_known_config c = complete(config);
    const struct shape k = shape_k(&c), r = shape_r(&c);
    if (!vs_is_power_of_two(c.line) || !vs_is_power_of_two(c.page) ||
        !vs_is_power_of_two(c.region) || c.line < VS_CACHE_LINE_MIN || c.line > c.page ||
        c.page > c.region)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "lines of %" PRIu32 " bytes, pages of %" PRIu32 ", regions of %" PRIu32
                           ": must be powers of two from %d, none smaller than the one before",
                           c.line, c.page, c.region, VS_CACHE_LINE_MIN);
    int err = check_entries("K", &k, diag);
    return err ? err : check_entries("R", &r, diag);
}

static int init_table(struct vs_known_table *t, const struct shape *s, struct vs_diag *diag)
{
    *t = (struct vs_known_table){.entry_bits = (uint8_t)vs_log2_ceil(s->span),
                                 .part_bits = (uint8_t)vs_log2_ceil(s->part)};
    if (!s->entries)
        return 0;
    const struct vs_cache_config tags = tags_of(s);
    int err = vs_cache_init(&t->cache, &tags, diag);
    if (err)
        return err;
    t->set_bits = (uint8_t)vs_log2_ceil(s->entries / s->ways);
    t->words = (s->span / s->part + 63) / 64;
    t->bits = calloc((size_t)s->entries * t->words, sizeof(*t->bits));
    return t->bits ? 0 : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for known lines");
}

int vs_known_init(struct vs_known *k, const struct vs_known_config *config, struct vs_diag *diag)
{
    *k = (struct vs_known){0};
    int err = vs_known_check_config(config, diag);
    if (err)
        return err;
    const struct vs_known_config c = complete(config);
    const struct shape lines = shape_k(&c), pages = shape_r(&c);
    k->line = c.line;
    k->page = c.page;
    err = init_table(&k->k, &lines, diag);
    if (!err)
        err = init_table(&k->r, &pages, diag);
    if (err)
        vs_known_fini(k);
    return err;
}

static void fini_table(struct vs_known_table *t)
{
    vs_cache_fini(&t->cache);
    free(t->bits);
    *t = (struct vs_known_table){0};
}

void vs_known_fini(struct vs_known *k)
{
    fini_table(&k->k);
    fini_table(&k->r);
}

/* The set and the upper bits of a number give its lower bits, so only the upper ones are kept. */
static void add_cost(struct vs_cost *sum, const struct shape *s, unsigned address_bits)
{
    if (!s->entries)
        return;
    unsigned known = vs_log2_ceil(s->span) + vs_log2_ceil(s->entries / s->ways);
    unsigned tag = address_bits > known ? address_bits - known : 0;
    uint64_t entry = s->span / s->part + tag + vs_log2_ceil(s->ways);
    vs_cost_add(sum, (struct vs_cost){.sram = entry}, s->entries);
    vs_cost_add(sum, (struct vs_cost){.comparators = tag}, s->ways);
}

struct vs_cost vs_known_cost(const struct vs_known_config *config, unsigned address_bits)
{
    const struct vs_known_config c = complete(config);
    const struct shape k = shape_k(&c), r = shape_r(&c);
    struct vs_cost cost = {0};
    add_cost(&cost, &k, address_bits);
    add_cost(&cost, &r, address_bits);
    return cost;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* An entry's number with the exclusive or of its upper parts in its lowest bits, which choose the
 * set. Doing it twice gives the number again. */
static uint64_t permute(const struct vs_known_table *t, uint64_t number)
{
    uint64_t folded = 0;
    for (uint64_t n = number >> t->set_bits; t->set_bits && n; n >>= t->set_bits)
        folded ^= n;
    return number ^ (folded & ((UINT64_C(1) << t->set_bits) - 1));
}

static uint64_t tag_of(const struct vs_known_table *t, uint64_t number)
{
    return permute(t, number) * VS_CACHE_LINE_MIN;
}

static uint64_t number_at(const struct vs_known_table *t, uint32_t index)
{
    return permute(t, t->cache.tags[index] / VS_CACHE_LINE_MIN);
}

static uint64_t *bits_at(const struct vs_known_table *t, uint32_t index)
{
    return t->bits + (size_t)index * t->words;
}

/* The index of an address's entry, or VS_CACHE_NONE. */
static uint32_t find(const struct vs_known_table *t, uint64_t addr)
{
    return t->words ? vs_cache_find(&t->cache, tag_of(t, addr >> t->entry_bits)) : VS_CACHE_NONE;
}

/* Does the same, and makes an entry without bits where there is none. The table has entries. */
static uint32_t provide(struct vs_known_table *t, uint64_t addr)
{
    uint64_t tag = tag_of(t, addr >> t->entry_bits);
    uint32_t index = vs_cache_hit(&t->cache, tag);
    if (index != VS_CACHE_NONE)
        return index;
    index = vs_cache_victim(&t->cache, tag);
    vs_cache_place(&t->cache, index, tag);
    memset(bits_at(t, index), 0, t->words * sizeof(*t->bits));
    return index;
}

/* The number of an address's bit in its entry. */
static uint32_t part_of(const struct vs_known_table *t, uint64_t addr)
{
    return (uint32_t)(addr >> t->part_bits & ((UINT64_C(1) << (t->entry_bits - t->part_bits)) - 1));
}

static bool is_set(const struct vs_known_table *t, uint32_t index, uint64_t addr)
{
    uint32_t part = part_of(t, addr);
    return bits_at(t, index)[part / 64] >> part % 64 & 1;
}

static void set(struct vs_known_table *t, uint32_t index, uint64_t addr)
{
    uint32_t part = part_of(t, addr);
    bits_at(t, index)[part / 64] |= UINT64_C(1) << part % 64;
}

static void set_all(struct vs_known_table *t, uint32_t index)
{
    uint32_t parts = 1u << (t->entry_bits - t->part_bits);
    memset(bits_at(t, index), 0xff, t->words * sizeof(*t->bits));
    if (parts < 64)
        *bits_at(t, index) = (UINT64_C(1) << parts) - 1;
}

/* Clears the bits of the bytes from first to last, which are the entry's. */
static void clear_parts(struct vs_known_table *t, uint32_t index, uint64_t first, uint64_t last)
{
    uint64_t *bits = bits_at(t, index), any = 0;
    for (uint32_t part = part_of(t, first), end = part_of(t, last); part <= end; part++)
        bits[part / 64] &= ~(UINT64_C(1) << part % 64);
    for (uint32_t w = 0; w < t->words; w++)
        any |= bits[w];
    if (!any)
        vs_cache_drop(&t->cache, index);
}

/* ---- lines and pages ------------------------------------------------------------------------- */

/* Whether a table says that the address is known, which uses its entry. */
static bool ask(struct vs_known_table *t, uint32_t index, uint64_t addr)
{
    if (index == VS_CACHE_NONE)
        return false;
    vs_cache_touch(&t->cache, index);
    return is_set(t, index, addr);
}

bool vs_known_line(struct vs_known *k, uint64_t addr)
{
    uint32_t index = find(&k->k, addr);
    if (index != VS_CACHE_NONE)
        return ask(&k->k, index, addr);
    return ask(&k->r, find(&k->r, addr), addr);
}

bool vs_known_has(const struct vs_known *k, uint64_t addr)
{
    uint32_t index = find(&k->k, addr);
    if (index != VS_CACHE_NONE)
        return is_set(&k->k, index, addr);
    index = find(&k->r, addr);
    return index != VS_CACHE_NONE && is_set(&k->r, index, addr);
}

void vs_known_set_line(struct vs_known *k, uint64_t addr)
{
    if (!k->k.words || ask(&k->r, find(&k->r, addr), addr))
        return;
    set(&k->k, provide(&k->k, addr), addr);
}

unsigned vs_known_count(const struct vs_known *k, uint64_t addr)
{
    uint32_t index = find(&k->k, addr);
    unsigned count = 0;
    for (uint32_t w = 0; index != VS_CACHE_NONE && w < k->k.words; w++)
        count += (unsigned)__builtin_popcountll(bits_at(&k->k, index)[w]);
    return count;
}

void vs_known_set_page(struct vs_known *k, uint64_t addr)
{
    if (k->r.words) {
        uint32_t index = find(&k->k, addr);
        if (index != VS_CACHE_NONE)
            vs_cache_drop(&k->k.cache, index);
        set(&k->r, provide(&k->r, addr), addr);
    } else if (k->k.words) {
        set_all(&k->k, provide(&k->k, addr));
    }
}

/* ---- forgetting ------------------------------------------------------------------------------ */

/* The bytes from first to last, which are of one page. */
static void forget_page(struct vs_known *k, uint64_t first, uint64_t last)
{
    uint32_t index = find(&k->r, first);
    if (index != VS_CACHE_NONE && is_set(&k->r, index, first)) {
        clear_parts(&k->r, index, first, first);
        if (k->k.words && last - first < k->page - 1)
            set_all(&k->k, provide(&k->k, first));
    }
    index = find(&k->k, first);
    if (index != VS_CACHE_NONE)
        clear_parts(&k->k, index, first, last);
}

/* The part of first..last that is the entry's. */
static void forget_entry(struct vs_known_table *t, uint32_t index, uint64_t first, uint64_t last)
{
    uint64_t start = number_at(t, index) << t->entry_bits;
    uint64_t end = start + ((UINT64_C(1) << t->entry_bits) - 1);
    if (first <= end && start <= last)
        clear_parts(t, index, first > start ? first : start, last < end ? last : end);
}

/* Whole pages. Looks at what there is if that is less than what is forgotten. */
static void forget_pages(struct vs_known_table *t, uint64_t first, uint64_t last)
{
    if (!t->words)
        return;
    uint64_t from = first >> t->entry_bits, count = (last >> t->entry_bits) - from;
    if (count >= t->cache.lines) {
        for (uint32_t i = 0; i < t->cache.lines; i++)
            if (t->cache.tags[i] != VS_CACHE_FREE)
                forget_entry(t, i, first, last);
        return;
    }
    for (uint64_t i = 0; i <= count; i++) {
        uint32_t index = find(t, (from + i) << t->entry_bits);
        if (index != VS_CACHE_NONE)
            forget_entry(t, index, first, last);
    }
}

/* A range that does not wrap around: perhaps a part of a page, whole pages, and another part. */
static void forget_range(struct vs_known *k, uint64_t first, uint64_t last)
{
    uint64_t mask = k->page - 1, end = first | mask, start = last & ~mask;
    if (end >= last) {
        forget_page(k, first, last);
        return;
    }
    forget_page(k, first, end);
    if (start - end > 1) {
        forget_pages(&k->k, end + 1, start - 1);
        forget_pages(&k->r, end + 1, start - 1);
    }
    forget_page(k, start, last);
}

void vs_known_forget(struct vs_known *k, uint64_t addr, uint64_t size)
{
    if (!size)
        return;
    uint64_t last = addr + (size - 1);
    if (last >= addr) {
        forget_range(k, addr, last);
    } else {
        forget_range(k, addr, UINT64_MAX);
        forget_range(k, 0, last);
    }
}

static void clear_table(struct vs_known_table *t)
{
    if (t->words)
        vs_cache_clear(&t->cache);
}

void vs_known_clear(struct vs_known *k)
{
    clear_table(&k->k);
    clear_table(&k->r);
}
