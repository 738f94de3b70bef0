/* SPDX-License-Identifier: MIT */
#include "published/cfiat_tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* ---- caches ---------------------------------------------------------------------------------- */

static void cache_free(struct vs_granules *g)
{
    if (g)
        vs_granules_fini(g);
    free(g);
}

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. */
static int cache_new(struct vs_granules **result, const struct cfiat_config *c,
                     struct vs_diag *diag)
{
    const struct vs_cache_config config = {.size = c->size,
                                           .line = (uint32_t)c->line,
                                           .ways = (uint32_t)c->ways,
                                           .policy = VS_CACHE_ROUND_ROBIN};
    struct vs_granules *g = calloc(1, sizeof(*g));
    int e = g ? vs_granules_init(g, 1, &config, (uint32_t)c->granule, false, diag) : -VSE_NOMEM;
    if (e)
        free(g);
    else
        *result = g;
    return e;
}

/* Gives a thread an entry, and a cache unless it is shared. */
static int know(struct cfiat *t, unsigned thread, struct vs_diag *diag)
{
    void *threads = t->threads;
    int e = 0;
    if (thread >= t->count) {
        e = vs_array_room(&threads, &t->capacity, t->count, thread + 1 - t->count,
                          sizeof(*t->threads));
        t->threads = threads;
        while (!e && t->count <= thread)
            t->threads[t->count++] = (struct cfiat_thread){.cache = NULL};
    }
    if (e || t->threads[thread].cache) /* only when needed: numbers come from outside */
        return e;
    if (t->shared)
        t->threads[thread].cache = t->shared;
    else
        e = cache_new(&t->threads[thread].cache, &t->config, diag);
    return e;
}

int cfiat_init(struct cfiat *t, struct vs_diag *diag)
{
    /* The first thread's cache is made at once, since only making it tells whether it can be
     * made. */
    int e = t->config.shared ? cache_new(&t->shared, &t->config, diag) : 0;
    return e ? e : know(t, 0, diag);
}

void cfiat_fini(struct cfiat *t)
{
    for (size_t i = 0; i < t->count && !t->config.shared; i++)
        cache_free(t->threads[i].cache);
    cache_free(t->shared);
    free(t->threads);
    t->threads = NULL;
    t->shared = NULL;
    t->count = t->capacity = 0;
}

int cfiat_know_thread(struct cfiat *t, unsigned thread)
{
    return know(t, thread, NULL);
}

int cfiat_make(struct cfiat *t, struct cli *cli, const struct cfiat_flags *flags, bool shared)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    t->config = (struct cfiat_config){.size = flags->kilobytes * 1024,
                                      .line = flags->line,
                                      .ways = flags->ways,
                                      .granule = flags->granule,
                                      .shared = shared};
    int e = cfiat_init(t, &diag);
    if (!e)
        return CLI_DONE;
    cli_error(cli, "%s", e == -VSE_INVAL ? diag.text : "out of memory");
    return CLI_USAGE;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static inline void note(struct cfiat_share *s, bool hit)
{
    s->hits += hit;
    s->misses += !hit;
}

bool cfiat_load(struct cfiat *t, unsigned number, uint64_t addr, unsigned size, uint32_t *hits)
{
    struct cfiat_thread *thread = &t->threads[number];
    unsigned class = operand_class(size);
    unsigned missed = vs_granules_read(thread->cache, 0, addr, size);
    bool in_lines = !(missed & VS_GRANULES_NO_LINE);
    note(&t->lines[class], in_lines);
    if (likely(in_lines))
        note(&t->flags[class], !missed);
    if (likely(!missed)) {
        thread->hits++;
        return false;
    }
    *hits = thread->hits;
    thread->hits = 0;
    return true;
}

void cfiat_store(struct cfiat *t, unsigned thread, uint64_t addr, unsigned size)
{
    unsigned missed = vs_granules_write(t->threads[thread].cache, 0, addr, size, true);
    note(&t->lines[operand_class(size)], !missed);
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The rate is cut and not rounded, so that only what never misses has 100%. */
static void print_share(struct out *out, const char *name, const struct cfiat_share *s)
{
    uint64_t total = s->hits + s->misses;
    double rate = total ? 100.0 * (double)s->hits / (double)total : 0;
    out_printf(out, "\t%s %" PRIu64 ":%" PRIu64 "(%u%%)\n", name, s->hits, s->misses,
               (unsigned)rate);
}

static void print_shares(struct out *out, const char *what,
                         const struct cfiat_share shares[OPERAND_CLASSES])
{
    struct cfiat_share total = {0, 0};
    for (unsigned i = 0; i < OPERAND_CLASSES; i++) {
        total.hits += shares[i].hits;
        total.misses += shares[i].misses;
    }
    out_printf(out, "-- %s References Hits: Misses (Hit Rate)\n", what);
    print_share(out, "Total", &total);
    for (unsigned i = 0; i < OPERAND_CLASSES; i++) {
        const char *class = operand_class_name(i);
        char name[64];
        snprintf(name, sizeof(name), "%s Operands", class ? class : "Other Sized");
        print_share(out, name, &shares[i]);
    }
}

void cfiat_statistics(const struct cfiat *t, struct out *out)
{
    print_shares(out, "Cache", t->lines);
    print_shares(out, "First Access Flag", t->flags);
}
