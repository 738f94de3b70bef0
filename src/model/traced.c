/* SPDX-License-Identifier: MIT */
#include "model/traced.h"

#include <stdlib.h>
#include <string.h>

void vs_traced_fini(struct vs_traced *c)
{
    for (unsigned i = 0; c->t && i < c->group.cores; i++)
        free(c->t[i]);
    free(c->t);
    vs_moesi_fini(&c->group);
}

int vs_traced_init(struct vs_traced *c, unsigned cores, const struct vs_cache_config *config,
                   bool sharers, bool data)
{
    if (cores > VS_MOESI_CORES_MAX)
        return -VSE_LIMIT;
    int err = vs_moesi_init(&c->group, cores, config, data, NULL);
    if (err)
        return err;
    c->group.sharers_supply = sharers;
    c->t = calloc(cores, sizeof(*c->t));
    for (unsigned i = 0; c->t && i < cores; i++)
        if (!(c->t[i] = calloc(c->group.core[i].cache.lines, 1)))
            err = -VSE_NOMEM;
    return c->t ? err : -VSE_NOMEM;
}

int vs_traced_clone(struct vs_traced *to, const struct vs_traced *from)
{
    const struct vs_moesi_core *first = &from->group.core[0];
    int err = vs_traced_init(to, from->group.cores, &first->cache.config,
                             from->group.sharers_supply, first->data);
    if (err)
        return err;
    vs_moesi_assign(&to->group, &from->group);
    for (unsigned i = 0; i < to->group.cores; i++)
        memcpy(to->t[i], from->t[i], to->group.core[i].cache.lines);
    return 0;
}

bool vs_traced_inherit(struct vs_traced *c, unsigned core, const struct vs_moesi_result *r)
{
    bool t = r->outcome == VS_MOESI_TRANSFER && c->t[r->supplier][r->supplier_index];
    c->t[core][r->index] = t;
    return t;
}

static bool in_range(uint64_t tag, uint64_t first, uint64_t span)
{
    return tag != VS_CACHE_FREE && tag - first <= span;
}

void vs_traced_range(const struct vs_traced *c, uint64_t addr, uint64_t size, uint64_t *first,
                     uint64_t *span)
{
    uint64_t mask = ~(uint64_t)(c->group.line - 1);
    *first = size ? addr & mask : 0;
    *span = size ? ((addr + (size - 1)) & mask) - *first : UINT64_MAX;
}

static bool is_short(const struct vs_traced *c, uint64_t span)
{
    return span / c->group.line < c->group.core[0].cache.lines;
}

bool vs_traced_has(const struct vs_traced *c, unsigned core, uint64_t first, uint64_t span)
{
    const struct vs_cache *cache = &c->group.core[core].cache;
    if (is_short(c, span)) {
        for (uint64_t at = 0; at <= span; at += c->group.line)
            if (vs_cache_find(cache, first + at) != VS_CACHE_NONE)
                return true;
        return false;
    }
    for (uint32_t i = 0; i < cache->lines; i++)
        if (in_range(cache->tags[i], first, span))
            return true;
    return false;
}

void vs_traced_drop(struct vs_traced *c, unsigned core, uint64_t first, uint64_t span,
                    vs_traced_lost *tell, void *context)
{
    struct vs_moesi_result r;
    const struct vs_cache *cache = &c->group.core[core].cache;
    for (uint64_t at = 0; is_short(c, span) && at <= span; at += c->group.line) {
        vs_moesi_evict(&c->group, core, first + at, &r);
        if (r.evicted && tell)
            tell(context, core, first + at, true);
    }
    for (uint32_t i = 0; !is_short(c, span) && i < cache->lines; i++)
        if (in_range(cache->tags[i], first, span)) {
            uint64_t line = cache->tags[i];
            vs_moesi_evict(&c->group, core, line, &r);
            if (tell)
                tell(context, core, line, true);
        }
}
