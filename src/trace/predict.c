/* SPDX-License-Identifier: MIT */
#include "trace/predict.h"

#include <stdlib.h>

#include "base/invariant.h"

void vs_flow_fini(struct vs_flow *f)
{
    free(f->successors);
    f->successors = NULL;
    f->site_capacity = 0;
}

/* Adds half as many again, so that a growing table is not copied too often. */
static uint32_t roomy(uint32_t sites)
{
    return sites + sites / 2 + 1024;
}

int vs_flow_reserve(struct vs_flow *f, uint32_t sites)
{
    struct vs_successor *more;

    if (sites <= f->site_capacity)
        return 0;
    more = realloc(f->successors, roomy(sites) * sizeof(*more));
    if (!more)
        return -VSE_NOMEM;
    f->successors = more;
    f->site_capacity = roomy(sites);
    return 0;
}

/* A site that was not met before is expected to be followed by the next in the table, because
 * sites enter it in the order in which they were first executed. */
void vs_flow_add(struct vs_flow *f, uint32_t sites)
{
    invariant(sites <= f->site_capacity);
    for (uint32_t i = f->site_count; i < sites; i++)
        f->successors[i] = (struct vs_successor){{i + 1, i + 1}};
    if (sites > f->site_count)
        f->site_count = sites;
}

int vs_flow_reset(struct vs_flow *f, uint32_t sites)
{
    memset(f->target, 0, sizeof(f->target));
    memset(f->outcome, 1, sizeof(f->outcome));
    for (size_t i = 0; i < sizeof(f->arrival) / sizeof(f->arrival[0]); i++)
        f->arrival[i] = 1;
    f->site_count = 0;
    if (vs_flow_reserve(f, sites) < 0)
        return -VSE_NOMEM;
    vs_flow_add(f, sites);
    return 0;
}

void vs_data_fini(struct vs_data *d)
{
    free(d->sites);
    free(d->shadow.lines);
    *d = (struct vs_data){0};
}

static int reset_shadow(struct vs_shadow *m, size_t lines)
{
    if (!m->lines || m->mask != lines - 1) {
        free(m->lines);
        m->lines = aligned_alloc(64, lines * sizeof(*m->lines));
        if (!m->lines)
            return -VSE_NOMEM;
        m->mask = lines - 1;
        m->age = 0;
    } else {
        m->age += VS_SHADOW_AGE; /* 0 after all of them */
    }
    if (m->age == 0) {
        memset(m->lines, 0, lines * sizeof(*m->lines));
        m->age = VS_SHADOW_AGE;
    }
    return 0;
}

static int more_sites(struct vs_data *d, uint32_t sites)
{
    struct vs_site_state *more = aligned_alloc(64, roomy(sites) * sizeof(*more));

    if (!more)
        return -VSE_NOMEM;
    if (d->site_count)
        memcpy(more, d->sites, d->site_count * sizeof(*more));
    free(d->sites);
    d->sites = more;
    d->site_capacity = roomy(sites);
    return 0;
}

int vs_data_add(struct vs_data *d, uint32_t sites)
{
    if (sites > d->site_capacity && more_sites(d, sites) < 0)
        return -VSE_NOMEM;
    for (uint32_t i = d->site_count; i < sites; i++)
        d->sites[i] = (struct vs_site_state){.trust = 2};
    if (sites > d->site_count)
        d->site_count = sites;
    return 0;
}

int vs_data_reset(struct vs_data *d, uint32_t sites, unsigned shadow_bits)
{
    d->site_count = 0;
    if (shadow_bits && reset_shadow(&d->shadow, (size_t)1 << shadow_bits) < 0)
        return -VSE_NOMEM;
    return vs_data_add(d, sites);
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

        if (l->tag != vs_shadow_tag(m, addr) || (l->known & bits) != bits)
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

        if (l->tag != vs_shadow_tag(m, addr)) {
            l->tag = vs_shadow_tag(m, addr);
            l->known = 0;
        }
        l->known |= bits;
        memcpy(l->bytes + addr % VS_SHADOW_LINE, bytes, n);
        bytes += n;
        addr += n;
        size -= n;
    }
}
