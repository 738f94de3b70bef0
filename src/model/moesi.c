/* SPDX-License-Identifier: MIT */
#include "model/moesi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"

/* ---- making ---------------------------------------------------------------------------------- */

static int init_core(struct vs_moesi_core *c, const struct vs_cache_config *config, bool data,
                     struct vs_diag *diag)
{
    int error = vs_cache_init(&c->cache, config, diag);
    if (error)
        return error;
    c->states = calloc(c->cache.lines, 1);
    if (data)
        c->data = calloc(c->cache.lines, config->line);
    if (!c->states || (data && !c->data))
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for coherent caches");
    return 0;
}

int vs_moesi_init(struct vs_moesi *g, unsigned cores, const struct vs_cache_config *config,
                  bool data, struct vs_diag *diag)
{
    *g = (struct vs_moesi){.line = config->line};
    if (!cores || cores > VS_MOESI_CORES_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%u cores: must be 1 to %d", cores,
                           VS_MOESI_CORES_MAX);
    int error = vs_cache_check_config(config, diag);
    if (error)
        return error;
    g->core = calloc(cores, sizeof(*g->core));
    g->spilled = data ? malloc(config->line) : NULL;
    if (!g->core || (data && !g->spilled))
        error = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for coherent caches");
    for (; !error && g->cores < cores; g->cores++)
        error = init_core(&g->core[g->cores], config, data, diag);
    if (error)
        vs_moesi_fini(g);
    return error;
}

void vs_moesi_fini(struct vs_moesi *g)
{
    for (unsigned i = 0; i < g->cores; i++) {
        vs_cache_fini(&g->core[i].cache);
        free(g->core[i].states);
        free(g->core[i].data);
    }
    free(g->core);
    free(g->spilled);
    *g = (struct vs_moesi){0};
}

void vs_moesi_assign(struct vs_moesi *g, const struct vs_moesi *from)
{
    invariant(g->cores == from->cores && g->line == from->line && !g->spilled == !from->spilled);
    for (unsigned i = 0; i < g->cores; i++) {
        struct vs_moesi_core *c = &g->core[i];
        vs_cache_assign(&c->cache, &from->core[i].cache);
        memcpy(c->states, from->core[i].states, c->cache.lines);
        if (c->data)
            memcpy(c->data, from->core[i].data, (size_t)c->cache.lines * g->line);
    }
    if (g->spilled)
        memcpy(g->spilled, from->spilled, g->line);
}

/* ---- lines that come and go ------------------------------------------------------------------ */

static bool is_dirty(enum vs_moesi_state state)
{
    return state == VS_MOESI_M || state == VS_MOESI_O;
}

static bool is_owner(enum vs_moesi_state state)
{
    return state >= VS_MOESI_O;
}

/* Removes the line at the index. */
static void leave(struct vs_moesi *g, unsigned core, uint32_t index, struct vs_moesi_result *r)
{
    struct vs_moesi_core *c = &g->core[core];
    r->evicted = true;
    r->victim = c->cache.tags[index];
    r->dirty = is_dirty((enum vs_moesi_state)c->states[index]);
    if (r->dirty && g->spilled)
        memcpy(g->spilled, vs_moesi_bytes(g, core, index), g->line);
    vs_cache_drop(&c->cache, index);
}

/* Makes room for the line and puts it there. */
static void enter(struct vs_moesi *g, unsigned core, uint64_t line, enum vs_moesi_state state,
                  struct vs_moesi_result *r)
{
    struct vs_moesi_core *c = &g->core[core];
    r->index = vs_cache_victim(&c->cache, line);
    if (c->cache.tags[r->index] != VS_CACHE_FREE)
        leave(g, core, r->index, r);
    vs_cache_place(&c->cache, r->index, line);
    c->states[r->index] = (uint8_t)state;
}

static void copy_from_supplier(struct vs_moesi *g, unsigned core, const struct vs_moesi_result *r)
{
    if (r->outcome == VS_MOESI_TRANSFER && g->spilled)
        memcpy(vs_moesi_bytes(g, core, r->index), vs_moesi_bytes(g, r->supplier, r->supplier_index),
               g->line);
}

static void supply(unsigned core, uint32_t index, struct vs_moesi_result *r)
{
    r->outcome = VS_MOESI_TRANSFER;
    r->supplier = core;
    r->supplier_index = index;
}

/* ---- accesses -------------------------------------------------------------------------------- */

int vs_moesi_supplier(const struct vs_moesi *g, unsigned core, uint64_t line, uint32_t *index,
                      bool *others)
{
    int supplier = -1;
    *others = false;
    for (unsigned i = 0; i < g->cores; i++) {
        uint32_t at = i == core ? VS_CACHE_NONE : vs_cache_find(&g->core[i].cache, line);
        if (at == VS_CACHE_NONE)
            continue;
        *others = true;
        if (is_owner((enum vs_moesi_state)g->core[i].states[at])) {
            *index = at;
            return (int)i;
        }
        if (g->sharers_supply && supplier < 0) {
            *index = at;
            supplier = (int)i;
        }
    }
    return supplier;
}

void vs_moesi_read_miss(struct vs_moesi *g, unsigned core, uint64_t line, struct vs_moesi_result *r)
{
    uint32_t index;
    bool others;
    int from = vs_moesi_supplier(g, core, line, &index, &others);
    *r = (struct vs_moesi_result){.outcome = VS_MOESI_BELOW};
    if (from >= 0) {
        uint8_t *state = &g->core[from].states[index];
        supply((unsigned)from, index, r);
        *state = is_dirty((enum vs_moesi_state) * state) ? VS_MOESI_O : VS_MOESI_S;
    }
    enter(g, core, line, others ? VS_MOESI_S : VS_MOESI_E, r);
    copy_from_supplier(g, core, r);
}

/* Invalidates the other cores' copies, noting who supplies the line. */
static void invalidate_others(struct vs_moesi *g, unsigned core, uint64_t line,
                              struct vs_moesi_result *r)
{
    uint32_t index;
    bool others;
    int from = vs_moesi_supplier(g, core, line, &index, &others);
    if (from >= 0)
        supply((unsigned)from, index, r);
    for (unsigned i = 0; others && i < g->cores; i++) {
        index = i == core ? VS_CACHE_NONE : vs_cache_find(&g->core[i].cache, line);
        if (index == VS_CACHE_NONE)
            continue;
        vs_cache_drop(&g->core[i].cache, index);
        r->invalidated |= UINT64_C(1) << i;
    }
}

void vs_moesi_write_shared(struct vs_moesi *g, unsigned core, uint64_t line,
                           struct vs_moesi_result *r)
{
    struct vs_moesi_core *c = &g->core[core];
    uint32_t index = vs_cache_find(&c->cache, line);
    *r = (struct vs_moesi_result){.outcome = VS_MOESI_BELOW};
    invalidate_others(g, core, line, r);
    if (index == VS_CACHE_NONE) {
        enter(g, core, line, VS_MOESI_M, r);
        copy_from_supplier(g, core, r);
        return;
    }
    /* The others' bytes are the same as ours, so nothing is transferred. */
    r->outcome = VS_MOESI_UPGRADE;
    r->supplier = r->supplier_index = 0;
    r->index = index;
    c->states[index] = VS_MOESI_M;
    vs_cache_touch(&c->cache, index);
}

void vs_moesi_evict(struct vs_moesi *g, unsigned core, uint64_t line, struct vs_moesi_result *r)
{
    *r = (struct vs_moesi_result){.outcome = VS_MOESI_HIT, .victim = line};
    r->index = vs_cache_find(&g->core[core].cache, line);
    if (r->index != VS_CACHE_NONE)
        leave(g, core, r->index, r);
}

void vs_moesi_snoop(struct vs_moesi *g, unsigned core, uint64_t line)
{
    for (unsigned i = 0; i < g->cores; i++) {
        uint32_t at = i == core ? VS_CACHE_NONE : vs_cache_find(&g->core[i].cache, line);
        if (at == VS_CACHE_NONE)
            continue;
        uint8_t *state = &g->core[i].states[at];
        *state = is_dirty((enum vs_moesi_state) * state) ? VS_MOESI_O : VS_MOESI_S;
    }
}

void vs_moesi_outside(struct vs_moesi *g, uint64_t line, struct vs_moesi_result *r)
{
    *r = (struct vs_moesi_result){.outcome = VS_MOESI_HIT, .index = VS_CACHE_NONE, .victim = line};
    for (unsigned i = 0; i < g->cores; i++) {
        struct vs_moesi_result one;
        vs_moesi_evict(g, i, line, &one);
        if (!one.evicted)
            continue;
        r->evicted = true;
        r->invalidated |= UINT64_C(1) << i;
        if (one.dirty) {
            r->dirty = true;
            r->supplier = i;
            r->supplier_index = one.index;
        }
    }
}

int vs_moesi_dirty_in(const struct vs_moesi *g, uint64_t line)
{
    for (unsigned i = 0; i < g->cores; i++)
        if (is_dirty(vs_moesi_state(g, i, line)))
            return (int)i;
    return -1;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int broken(struct vs_diag *diag, uint64_t line, const char *what, unsigned a, unsigned b)
{
    return vs_diag_set(diag, -VSE_INTERNAL, -1, -1, "line 0x%" PRIx64 ": %s (cores %u and %u)",
                       line, what, a, b);
}

/* Returns NULL if copies in these states may exist side by side, or what is wrong. */
static const char *conflict(enum vs_moesi_state a, enum vs_moesi_state b)
{
    if (a == VS_MOESI_M || b == VS_MOESI_M)
        return "a modified copy is not alone";
    if (a == VS_MOESI_E || b == VS_MOESI_E)
        return "an exclusive copy is not alone";
    if (a == VS_MOESI_O && b == VS_MOESI_O)
        return "two owners";
    return NULL;
}

static bool same_bytes(const struct vs_moesi *g, unsigned a, unsigned b, uint64_t line)
{
    return !g->spilled ||
           !memcmp(vs_moesi_bytes(g, a, vs_cache_find(&g->core[a].cache, line)),
                   vs_moesi_bytes(g, b, vs_cache_find(&g->core[b].cache, line)), g->line);
}

/* Compares each copy with the strongest one, which reveals an M, an E or a second O among
 * several. */
int vs_moesi_check(const struct vs_moesi *g, uint64_t line, struct vs_diag *diag)
{
    unsigned strongest = 0;
    enum vs_moesi_state state[VS_MOESI_CORES_MAX];
    for (unsigned i = 0; i < g->cores; i++) {
        uint32_t index = vs_cache_find(&g->core[i].cache, line);
        state[i] = vs_moesi_state(g, i, line);
        if (index != VS_CACHE_NONE && (state[i] < VS_MOESI_S || state[i] > VS_MOESI_M))
            return broken(diag, line, "a copy is in no state", i, i);
        if (state[i] > state[strongest])
            strongest = i;
    }
    for (unsigned i = 0; i < g->cores; i++) {
        if (i == strongest || state[i] == VS_MOESI_I)
            continue;
        const char *wrong = conflict(state[strongest], state[i]);
        if (wrong)
            return broken(diag, line, wrong, strongest, i);
        if (!same_bytes(g, strongest, i, line))
            return broken(diag, line, "copies differ", strongest, i);
    }
    return 0;
}

int vs_moesi_check_all(const struct vs_moesi *g, struct vs_diag *diag)
{
    for (unsigned i = 0; i < g->cores; i++) {
        const struct vs_cache *c = &g->core[i].cache;
        for (uint32_t n = 0; n < c->lines; n++) {
            int error = c->tags[n] == VS_CACHE_FREE ? 0 : vs_moesi_check(g, c->tags[n], diag);
            if (error)
                return error;
        }
    }
    return 0;
}
