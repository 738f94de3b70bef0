/* SPDX-License-Identifier: MIT */
#include "target/hierarchy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"

/* ---- making ---------------------------------------------------------------------------------- */

static int invalid(struct vs_diag *diag, const char *why)
{
    return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
}

/* Checks the geometry of one level, which it names in an error. */
static int check_level(const char *name, const struct vs_cache_config *level, struct vs_diag *diag)
{
    struct vs_diag why;
    if (!vs_cache_check_config(level, &why))
        return 0;
    return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s: %s", name, why.text);
}

static int check_config(const struct vs_hierarchy_config *config, struct vs_diag *diag)
{
    const struct vs_hierarchy_latency *t = &config->latency;
    if (!config->cores || config->cores > VS_MOESI_CORES_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%u cores: must be 1 to %d", config->cores,
                           VS_MOESI_CORES_MAX);
    if (check_level("L1I", &config->l1i, diag) || check_level("L1D", &config->l1d, diag) ||
        check_level("L2", &config->l2, diag))
        return -VSE_INVAL;
    if (config->l1i.line != config->l2.line || config->l1d.line != config->l2.line)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "lines of %" PRIu32 " (L1I), %" PRIu32 " (L1D) and %" PRIu32
                           " bytes (L2): must be equal",
                           config->l1i.line, config->l1d.line, config->l2.line);
    if (t->l1 > VS_HIERARCHY_LATENCY_MAX || t->l2 > VS_HIERARCHY_LATENCY_MAX ||
        t->memory > VS_HIERARCHY_LATENCY_MAX || t->transfer > VS_HIERARCHY_LATENCY_MAX ||
        t->upgrade > VS_HIERARCHY_LATENCY_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "a latency is above %d cycles",
                           VS_HIERARCHY_LATENCY_MAX);
    if (config->check && !config->backing)
        return invalid(diag, "checking the caches needs to know what memory holds");
    return 0;
}

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for the caches");
}

static int init_instruction_caches(struct vs_hierarchy *h, struct vs_diag *diag)
{
    int error = 0;
    h->l1i = calloc(h->config.cores, sizeof(*h->l1i));
    if (!h->l1i)
        return no_memory(diag);
    for (unsigned i = 0; i < h->config.cores && !error; i++)
        error = vs_cache_init(&h->l1i[i], &h->config.l1i, diag);
    return error;
}

static int init_l2(struct vs_hierarchy *h, struct vs_diag *diag)
{
    int error = vs_cache_init(&h->l2, &h->config.l2, diag);
    if (error)
        return error;
    h->l2_dirty = calloc(h->l2.lines, 1);
    if (h->config.check)
        h->l2_data = calloc(h->l2.lines, h->line);
    return h->l2_dirty && (h->l2_data || !h->config.check) ? 0 : no_memory(diag);
}

int vs_hierarchy_init(struct vs_hierarchy *h, const struct vs_hierarchy_config *config,
                      struct vs_diag *diag)
{
    *h = (struct vs_hierarchy){.config = *config, .line = config->l2.line};
    int error = check_config(config, diag);
    if (error)
        return error;
    h->line_mask = ~(uint64_t)(h->line - 1);
    vs_mirror_init(&h->memory, h->line, config->backing, config->context);
    h->stats = calloc(config->cores, sizeof(*h->stats));
    if (!h->stats)
        error = no_memory(diag);
    if (!error)
        error = vs_moesi_init(&h->l1d, config->cores, &config->l1d, config->check, diag);
    if (!error)
        error = init_instruction_caches(h, diag);
    if (!error)
        error = init_l2(h, diag);
    if (error)
        vs_hierarchy_fini(h);
    return error;
}

void vs_hierarchy_fini(struct vs_hierarchy *h)
{
    for (unsigned i = 0; h->l1i && i < h->config.cores; i++)
        vs_cache_fini(&h->l1i[i]);
    free(h->l1i);
    vs_moesi_fini(&h->l1d);
    vs_cache_fini(&h->l2);
    free(h->l2_dirty);
    free(h->l2_data);
    free(h->stats);
    vs_mirror_fini(&h->memory);
    *h = (struct vs_hierarchy){.diag = h->diag};
}

/* ---- the L2 and memory ----------------------------------------------------------------------- */

static uint8_t *l2_bytes(const struct vs_hierarchy *h, uint32_t index)
{
    return h->l2_data + (size_t)index * h->line;
}

static int memory_bytes(struct vs_hierarchy *h, uint64_t line, uint8_t **bytes)
{
    int error = vs_mirror_get(&h->memory, line, bytes);
    if (error)
        vs_diag_set(&h->diag, error, -1, -1, "what memory holds at 0x%" PRIx64 " is not known",
                    line);
    return error;
}

static void count_lost(struct vs_hierarchy *h, unsigned core, bool outside)
{
    if (outside)
        h->stats[core].invalidations++;
    else
        h->stats[core].back_invalidations++;
}

/* Drops the first level's copies of an L2 line, to which dirty bytes go. */
static void drop_above(struct vs_hierarchy *h, uint32_t index, bool outside)
{
    struct vs_moesi_result r;
    uint64_t line = h->l2.tags[index];
    vs_moesi_outside(&h->l1d, line, &r);
    for (uint64_t lost = r.invalidated; lost; lost &= lost - 1)
        count_lost(h, (unsigned)__builtin_ctzll(lost), outside);
    if (r.dirty) {
        h->stats[r.supplier].write_backs++;
        h->l2_dirty[index] = 1;
        if (h->l2_data)
            memcpy(l2_bytes(h, index), h->l1d.spilled, h->line);
    }
    for (unsigned i = 0; i < h->config.cores; i++) {
        uint32_t found = vs_cache_find(&h->l1i[i], line);
        if (found != VS_CACHE_NONE) {
            vs_cache_drop(&h->l1i[i], found);
            count_lost(h, i, outside);
        }
    }
}

/* Drops a line from the L2 and its copies above. Returns 1 if it had to be written to memory, 0 if
 * not, or an error. */
static int drop_line(struct vs_hierarchy *h, uint32_t index, bool outside)
{
    drop_above(h, index, outside);
    bool dirty = h->l2_dirty[index];
    if (dirty && h->l2_data) {
        uint8_t *memory;
        int error = memory_bytes(h, h->l2.tags[index], &memory);
        if (error)
            return error;
        memcpy(memory, l2_bytes(h, index), h->line);
    }
    h->l2_dirty[index] = 0;
    vs_cache_drop(&h->l2, index);
    return dirty;
}

/* Brings a line that the L2 does not have into it, for a core, and sets *index to its index. */
static int from_memory(struct vs_hierarchy *h, unsigned core, uint64_t line, uint32_t *index)
{
    uint8_t *bytes;
    *index = vs_cache_victim(&h->l2, line);
    if (h->l2.tags[*index] != VS_CACHE_FREE) {
        int dropped = drop_line(h, *index, false);
        if (dropped < 0)
            return dropped;
        h->stats[core].memory_writes += (unsigned)dropped;
    }
    if (h->l2_data) {
        int error = memory_bytes(h, line, &bytes);
        if (error)
            return error;
        memcpy(l2_bytes(h, *index), bytes, h->line);
    }
    vs_cache_place(&h->l2, *index, line);
    h->stats[core].memory_reads++;
    return 0;
}

/* Gets a line from the L2. Returns the cost beyond the first level, or an error. */
static int from_l2(struct vs_hierarchy *h, unsigned core, uint64_t line, uint32_t *index)
{
    const struct vs_hierarchy_latency *t = &h->config.latency;
    *index = vs_cache_find(&h->l2, line);
    h->stats[core].l2_accesses++;
    if (*index != VS_CACHE_NONE) {
        vs_cache_touch(&h->l2, *index);
        return (int)t->l2;
    }
    h->stats[core].l2_misses++;
    int error = from_memory(h, core, line, index);
    return error ? error : (int)(t->l2 + t->memory);
}

/* ---- the first level ------------------------------------------------------------------------- */

static int not_included(struct vs_hierarchy *h, unsigned core, uint64_t line, const char *level)
{
    return vs_diag_set(&h->diag, -VSE_INTERNAL, -1, -1,
                       "core %u: line 0x%" PRIx64 " is in its %s and not in the L2", core, line,
                       level);
}

/* The dirty line that the core's L1D gave up goes to the L2. */
static int write_back(struct vs_hierarchy *h, unsigned core, uint64_t line)
{
    uint32_t index = vs_cache_find(&h->l2, line);
    if (index == VS_CACHE_NONE)
        return not_included(h, core, line, "L1D");
    h->stats[core].write_backs++;
    h->l2_dirty[index] = 1;
    if (h->l2_data)
        memcpy(l2_bytes(h, index), h->l1d.spilled, h->line);
    return 0;
}

/* Gets from below the line that the L1D has made room for. Returns the cost beyond the first level,
 * or an error, after which the L1D does not have the line. */
static int fill(struct vs_hierarchy *h, unsigned core, uint64_t line,
                const struct vs_moesi_result *r)
{
    uint32_t index;
    int cost = from_l2(h, core, line, &index);
    if (cost < 0)
        vs_cache_drop(&h->l1d.core[core].cache, r->index);
    else if (h->l2_data)
        memcpy(vs_moesi_bytes(&h->l1d, core, r->index), l2_bytes(h, index), h->line);
    return cost;
}

/* Does what a miss or an upgrade in the L1D entails. Returns the cost of the access, or an
 * error. */
static int complete(struct vs_hierarchy *h, unsigned core, uint64_t line,
                    const struct vs_moesi_result *r)
{
    const struct vs_hierarchy_latency *t = &h->config.latency;
    int error = r->dirty ? write_back(h, core, r->victim) : 0;
    for (uint64_t lost = r->invalidated; lost; lost &= lost - 1)
        h->stats[__builtin_ctzll(lost)].invalidations++;
    if (r->outcome == VS_MOESI_UPGRADE)
        return (int)(t->l1 + t->upgrade);
    if (r->outcome == VS_MOESI_TRANSFER) {
        h->stats[core].transfers++;
        return error ? error : (int)(t->l1 + t->transfer);
    }
    int cost = fill(h, core, line, r);
    if (error || cost < 0)
        return error ? error : cost;
    return (int)t->l1 + cost;
}

int vs_hierarchy_load_miss(struct vs_hierarchy *h, unsigned core, uint64_t line)
{
    struct vs_moesi_result r;
    invariant(core < h->config.cores && !(line & (h->line - 1)));
    h->stats[core].load_misses++;
    vs_moesi_read_miss(&h->l1d, core, line, &r);
    return complete(h, core, line, &r);
}

int vs_hierarchy_store_miss(struct vs_hierarchy *h, unsigned core, uint64_t line)
{
    struct vs_moesi_result r;
    invariant(core < h->config.cores && !(line & (h->line - 1)));
    h->stats[core].store_misses++;
    vs_moesi_write_shared(&h->l1d, core, line, &r);
    h->stats[core].upgrades += r.outcome == VS_MOESI_UPGRADE;
    return complete(h, core, line, &r);
}

int vs_hierarchy_fetch_miss(struct vs_hierarchy *h, unsigned core, uint64_t line)
{
    invariant(core < h->config.cores && !(line & (h->line - 1)));
    struct vs_cache *c = &h->l1i[core];
    uint32_t index;
    int cost = (int)h->config.latency.transfer;
    h->stats[core].fetch_misses++;
    if (vs_moesi_dirty_in(&h->l1d, line) >= 0)
        h->stats[core].transfers++;
    else
        cost = from_l2(h, core, line, &index);
    if (cost < 0)
        return cost;
    vs_cache_place(c, vs_cache_victim(c, line), line);
    return (int)h->config.latency.l1 + cost;
}

/* ---- accesses to more than one line ---------------------------------------------------------- */

/* An access, line by line. It starts with at = addr and left = size. */
struct pieces {
    uint64_t at, line;
    unsigned left, size; /* bytes that are left, bytes of this piece */
    int worst;           /* the highest cost so far */
    unsigned count;
};

static bool next_piece(const struct vs_hierarchy *h, struct pieces *p)
{
    p->at += p->size;
    p->left -= p->size;
    if (!p->left)
        return false;
    p->line = p->at & h->line_mask;
    unsigned room = (unsigned)(p->line + h->line - p->at);
    p->size = p->left < room ? p->left : room;
    p->count++;
    return true;
}

static void add_cost(struct pieces *p, int cost)
{
    if (cost > p->worst)
        p->worst = cost;
}

static int total_cost(struct vs_hierarchy *h, unsigned core, const struct pieces *p)
{
    h->stats[core].spans += p->count > 1;
    return p->worst + (int)p->count - 1;
}

int vs_hierarchy_load_span(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size)
{
    struct pieces p = {.at = addr, .left = size};
    while (next_piece(h, &p)) {
        int cost = vs_hierarchy_load(h, core, p.at, p.size);
        if (cost < 0)
            return cost;
        add_cost(&p, cost);
    }
    return total_cost(h, core, &p);
}

int vs_hierarchy_store_span(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size)
{
    struct pieces p = {.at = addr, .left = size};
    if (h->config.check)
        return invalid(&h->diag, "a store without its bytes cannot be checked");
    while (next_piece(h, &p)) {
        int cost = vs_hierarchy_store(h, core, p.at, p.size);
        if (cost < 0)
            return cost;
        add_cost(&p, cost);
    }
    return total_cost(h, core, &p);
}

/* ---- what drops lines ------------------------------------------------------------------------ */

void vs_hierarchy_fence_i(struct vs_hierarchy *h, unsigned core)
{
    vs_cache_clear(&h->l1i[core]);
}

static int outside_line(struct vs_hierarchy *h, uint32_t index)
{
    int dropped = drop_line(h, index, true);
    if (dropped < 0)
        return dropped;
    h->outside_writes += (unsigned)dropped;
    return 0;
}

/* Walks the range or the L2, whichever is smaller: what the L2 does not have, nobody has. */
static int drop_range(struct vs_hierarchy *h, uint64_t addr, uint64_t size)
{
    uint64_t first = addr & h->line_mask;
    uint64_t last = (addr + (size - 1)) & h->line_mask;
    uint64_t more = (last - first) / h->line;
    int error = 0;
    if (more >= h->l2.lines) {
        for (uint32_t i = 0; i < h->l2.lines && !error; i++)
            if (h->l2.tags[i] != VS_CACHE_FREE && h->l2.tags[i] >= first && h->l2.tags[i] <= last)
                error = outside_line(h, i);
        return error;
    }
    for (uint64_t n = 0; n <= more && !error; n++) {
        uint32_t index = vs_cache_find(&h->l2, first + n * h->line);
        if (index != VS_CACHE_NONE)
            error = outside_line(h, index);
    }
    return error;
}

int vs_hierarchy_outside(struct vs_hierarchy *h, uint64_t addr, uint64_t size)
{
    if (!size)
        return 0;
    int error = drop_range(h, addr, size);
    if (error || !h->config.check)
        return error;
    error = vs_mirror_outside(&h->memory, addr, size);
    if (error)
        vs_diag_set(&h->diag, error, -1, -1, "what memory holds at 0x%" PRIx64 " is not known",
                    addr);
    return error;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int differs(struct vs_hierarchy *h, uint64_t line, const char *what)
{
    return vs_diag_set(&h->diag, -VSE_INTERNAL, -1, -1, "line 0x%" PRIx64 ": %s", line, what);
}

static int check_inclusion(struct vs_hierarchy *h, uint64_t line)
{
    if (vs_cache_find(&h->l2, line) != VS_CACHE_NONE)
        return 0;
    for (unsigned i = 0; i < h->config.cores; i++) {
        if (vs_moesi_state(&h->l1d, i, line) != VS_MOESI_I)
            return not_included(h, i, line, "L1D");
        if (vs_cache_find(&h->l1i[i], line) != VS_CACHE_NONE)
            return not_included(h, i, line, "L1I");
    }
    return 0;
}

static int check_data(struct vs_hierarchy *h, uint64_t line)
{
    uint32_t index = vs_cache_find(&h->l2, line);
    if (index == VS_CACHE_NONE || !h->l2_data)
        return 0;
    uint8_t *memory;
    int error = memory_bytes(h, line, &memory);
    if (error)
        return error;
    if (!h->l2_dirty[index] && memcmp(l2_bytes(h, index), memory, h->line))
        return differs(h, line, "clean in the L2, and not what memory holds");
    if (vs_moesi_dirty_in(&h->l1d, line) >= 0)
        return 0;
    for (unsigned i = 0; i < h->config.cores; i++) {
        uint32_t copy = vs_cache_find(&h->l1d.core[i].cache, line);
        if (copy != VS_CACHE_NONE &&
            memcmp(vs_moesi_bytes(&h->l1d, i, copy), l2_bytes(h, index), h->line))
            return differs(h, line, "clean in an L1D, and not what the L2 holds");
    }
    return 0;
}

static int check_line(struct vs_hierarchy *h, uint64_t line)
{
    int error = vs_moesi_check(&h->l1d, line, &h->diag);
    if (!error)
        error = check_inclusion(h, line);
    return error ? error : check_data(h, line);
}

static int check_lines_of(struct vs_hierarchy *h, const struct vs_cache *c)
{
    int error = 0;
    for (uint32_t i = 0; i < c->lines && !error; i++)
        if (c->tags[i] != VS_CACHE_FREE)
            error = check_line(h, c->tags[i]);
    return error;
}

int vs_hierarchy_check(struct vs_hierarchy *h)
{
    int error = check_lines_of(h, &h->l2);
    for (unsigned i = 0; i < h->config.cores && !error; i++) {
        error = check_lines_of(h, &h->l1d.core[i].cache);
        if (!error)
            error = check_lines_of(h, &h->l1i[i]);
    }
    return error;
}

/* Writes at most 16 bytes as text, in the order of memory. */
static const char *hex(char text[36], const uint8_t *bytes, unsigned size)
{
    unsigned shown = size < 16 ? size : 16;
    for (unsigned i = 0; i < shown; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    strcpy(text + 2 * shown, shown < size ? ".." : "");
    return text;
}

static int wrong_load(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                      const uint8_t *expected, const uint8_t *got)
{
    char a[36], b[36];
    return vs_diag_set(&h->diag, -VSE_INTERNAL, -1, -1,
                       "core %u loads %u bytes at 0x%" PRIx64 ": expected %s, got %s", core, size,
                       addr, hex(a, expected, size), hex(b, got, size));
}

/* Loads a piece and compares it. Returns its cost, or an error. */
static int load_piece(struct vs_hierarchy *h, unsigned core, const struct pieces *p,
                      const uint8_t *expected)
{
    int cost = vs_hierarchy_load(h, core, p->at, p->size);
    if (cost < 0)
        return cost;
    uint32_t index = vs_cache_find(&h->l1d.core[core].cache, p->line);
    const uint8_t *got = vs_moesi_bytes(&h->l1d, core, index) + (p->at - p->line);
    if (memcmp(got, expected, p->size))
        return wrong_load(h, core, p->at, p->size, expected, got);
    int error = check_line(h, p->line);
    return error ? error : cost;
}

static int store_piece(struct vs_hierarchy *h, unsigned core, const struct pieces *p,
                       const uint8_t *bytes)
{
    int cost = (int)h->config.latency.l1;
    h->stats[core].stores++;
    if (vs_moesi_write_hit(&h->l1d, core, p->line) == VS_CACHE_NONE)
        cost = vs_hierarchy_store_miss(h, core, p->line);
    if (cost < 0)
        return cost;
    uint32_t index = vs_cache_find(&h->l1d.core[core].cache, p->line);
    memcpy(vs_moesi_bytes(&h->l1d, core, index) + (p->at - p->line), bytes, p->size);
    int error = check_line(h, p->line);
    return error ? error : cost;
}

int vs_hierarchy_load_checked(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                              const void *expected)
{
    struct pieces p = {.at = addr, .left = size};
    if (!h->config.check)
        return invalid(&h->diag, "the caches hold no data to check");
    while (next_piece(h, &p)) {
        int cost = load_piece(h, core, &p, (const uint8_t *)expected + (p.at - addr));
        if (cost < 0)
            return cost;
        add_cost(&p, cost);
    }
    return total_cost(h, core, &p);
}

int vs_hierarchy_store_checked(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                               const void *bytes)
{
    struct pieces p = {.at = addr, .left = size};
    if (!h->config.check)
        return invalid(&h->diag, "the caches hold no data to check");
    while (next_piece(h, &p)) {
        int cost = store_piece(h, core, &p, (const uint8_t *)bytes + (p.at - addr));
        if (cost < 0)
            return cost;
        add_cost(&p, cost);
    }
    return total_cost(h, core, &p);
}
