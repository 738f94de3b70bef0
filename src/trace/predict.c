/* SPDX-License-Identifier: MIT */
#include "trace/predict.h"

#include <stdlib.h>

void vs_predict_fini(struct vs_predict *p)
{
    free(p->successors);
    free(p->sites);
    free(p->shadow.lines);
    p->successors = NULL;
    p->sites = NULL;
    p->shadow.lines = NULL;
}

int vs_predict_reserve(struct vs_predict *p, uint32_t sites)
{
    uint32_t capacity = sites + sites / 2 + 1024;
    struct vs_successor *successors;
    struct vs_site_state *more;

    if (sites <= p->site_capacity)
        return 0;
    successors = realloc(p->successors, capacity * sizeof(*successors));
    if (!successors)
        return -VSE_NOMEM;
    p->successors = successors;
    more = aligned_alloc(64, capacity * sizeof(*more));
    if (!more)
        return -VSE_NOMEM;
    if (p->site_count)
        memcpy(more, p->sites, p->site_count * sizeof(*more));
    free(p->sites);
    p->sites = more;
    p->site_capacity = capacity;
    return 0;
}

/* A site that was not met before is expected to be followed by the next in the table, because
 * sites enter it in the order in which they were first executed. */
void vs_predict_add(struct vs_predict *p, uint32_t sites)
{
    for (uint32_t i = p->site_count; i < sites; i++) {
        p->successors[i] = (struct vs_successor){{i + 1, i + 1}};
        p->sites[i] = (struct vs_site_state){.trust = 2};
    }
    if (sites > p->site_count)
        p->site_count = sites;
}

int vs_predict_reset(struct vs_predict *p, uint32_t sites, unsigned shadow_bits)
{
    size_t lines = shadow_bits ? (size_t)1 << shadow_bits : 0;

    if (lines && (!p->shadow.lines || p->shadow.mask != lines - 1)) {
        free(p->shadow.lines);
        p->shadow.lines = aligned_alloc(64, lines * sizeof(*p->shadow.lines));
        if (!p->shadow.lines)
            return -VSE_NOMEM;
        p->shadow.mask = lines - 1;
    }
    if (lines)
        memset(p->shadow.lines, 0, lines * sizeof(*p->shadow.lines));
    memset(p->target, 0, sizeof(p->target));
    memset(p->outcome, 1, sizeof(p->outcome));
    for (size_t i = 0; i < sizeof(p->arrival) / sizeof(p->arrival[0]); i++)
        p->arrival[i] = 1;
    p->site_count = 0;
    if (vs_predict_reserve(p, sites) < 0)
        return -VSE_NOMEM;
    vs_predict_add(p, sites);
    return 0;
}

void vs_lane_reset(struct vs_lane *l, uint64_t *returns, uint64_t cycle)
{
    memset(returns, 0, VS_RETURNS * sizeof(*returns));
    *l = (struct vs_lane){
        .expect = 1, .link = vs_link_site(0, false), .cycle = cycle, .returns = returns};
}

/* The part of [addr, addr + size) in addr's line, and its bits in `known`. */
static unsigned part(uint64_t addr, unsigned size, uint32_t *bits)
{
    unsigned off = addr % VS_SHADOW_LINE, room = VS_SHADOW_LINE - off;
    unsigned n = size < room ? size : room;

    *bits = (uint32_t)(((UINT64_C(1) << n) - 1) << off);
    return n;
}

bool vs_shadow_read(struct vs_shadow m, uint64_t addr, unsigned size, uint8_t *out)
{
    while (size) {
        const struct vs_shadow_line *l = vs_shadow_at(m, addr);
        uint32_t bits;
        unsigned n = part(addr, size, &bits);

        if (l->tag != addr / VS_SHADOW_LINE + 1 || (l->known & bits) != bits)
            return false;
        memcpy(out, l->bytes + addr % VS_SHADOW_LINE, n);
        out += n;
        addr += n;
        size -= n;
    }
    return true;
}

void vs_shadow_write(struct vs_shadow m, uint64_t addr, unsigned size, const uint8_t *bytes)
{
    while (size) {
        struct vs_shadow_line *l = vs_shadow_at(m, addr);
        uint32_t bits;
        unsigned n = part(addr, size, &bits);

        if (l->tag != addr / VS_SHADOW_LINE + 1) {
            l->tag = addr / VS_SHADOW_LINE + 1;
            l->known = 0;
        }
        l->known |= bits;
        memcpy(l->bytes + addr % VS_SHADOW_LINE, bytes, n);
        bytes += n;
        addr += n;
        size -= n;
    }
}
