/* SPDX-License-Identifier: MIT */
#include "target/timed.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/likely.h"
#include "base/random.h"

void vs_past_settle(struct vs_past *p)
{
    size_t from = p->timed;
    if (from >= p->log.count)
        return;
    p->timed = p->log.count;
    vs_pipeline_issue(&p->pipeline, p->log.records + from, p->commits + from, p->timed - from);
}

/* Returns whether the current instruction's access is due, and sets *cycle to when it would be. */
static inline bool is_due(struct vs_timed *t, uint64_t *cycle)
{
    struct vs_past *p = t->past;
    size_t from = p->timed, to = p->log.count;
    p->timed = to;
    *cycle = vs_pipeline_reach(&p->pipeline, p->log.records + from, p->commits + from, to - from);
    if (vs_is_before((struct vs_moment){*cycle, t->core}, t->horizon))
        return true;
    p->next = *cycle;
    return false;
}

static uint64_t perturb(struct vs_timed *t, uint64_t latency)
{
    if (likely(!t->config->seed || latency <= t->config->l1))
        return latency;
    return latency + vs_random(&t->random) % (t->config->jitter + 1);
}

/* The current instruction, which has so many records, retires now. */
static inline void note_access(struct vs_timed *t, uint64_t cycle, uint64_t latency,
                               unsigned records)
{
    struct vs_past *p = t->past;
    vs_pipeline_access(&p->pipeline, &p->log.records[p->log.count], cycle, perturb(t, latency));
    p->timed = p->log.count + records;
    p->commits[p->log.count] = p->commits[p->timed - 1] = cycle;
}

static struct vs_cpu_memory *flat(struct vs_timed *t)
{
    return &t->memory->seen;
}

static struct vs_timed_page *recent_of(struct vs_timed_page *list, uint64_t addr)
{
    return &list[addr >> VS_PAGE_BITS & (VS_TIMED_RECENT - 1)];
}

void vs_timed_forget(struct vs_timed *t)
{
    for (unsigned i = 0; i < VS_TIMED_RECENT; i++)
        t->reads[i].page = t->writes[i].page = VS_RAM_NONE;
}

/* Returns where the bytes lie if they may be accessed there without the flat memory's knowledge,
 * or NULL. */
static uint8_t *find_bytes(struct vs_timed *t, struct vs_cpu *cpu, struct vs_timed_page *list,
                           uint64_t addr, unsigned size, int writing)
{
    uint64_t page = addr & ~(VS_PAGE_SIZE - 1), offset = addr - page;
    struct vs_timed_page *r = recent_of(list, addr);
    if (unlikely(offset + size > VS_PAGE_SIZE))
        return NULL;
    if (unlikely(r->page != page)) {
        uint8_t *bytes = flat(t)->ops->page(flat(t), cpu, page, writing);
        if (!bytes)
            return NULL;
        *r = (struct vs_timed_page){page, bytes};
    }
    return r->bytes + offset;
}

/* With a constant size, the compiler makes memcpy no call. */
static inline void copy(void *to, const void *from, unsigned size)
{
    switch (size) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 1:
        memcpy(to, from, 1);
        break;
    default:
        memcpy(to, from, size);
    }
}

static int read_flat(struct vs_timed *t, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                     enum vs_access access, void *bytes)
{
    const uint8_t *host =
        access == VS_ACCESS_PLAIN ? find_bytes(t, cpu, t->reads, addr, size, 0) : NULL;
    if (unlikely(!host))
        return flat(t)->ops->read(flat(t), cpu, addr, size, access, bytes);
    copy(bytes, host, size);
    return 0;
}

/* A store that may break a reservation is left to the flat memory. */
static int write_flat(struct vs_timed *t, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                      enum vs_access access, const void *bytes)
{
    uint8_t *host = t->memory->reservations ? NULL : find_bytes(t, cpu, t->writes, addr, size, 1);
    if (unlikely(!host))
        return flat(t)->ops->write(flat(t), cpu, addr, size, access, bytes);
    copy(host, bytes, size);
    return 0;
}

static int timed_fetch(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                       size_t size)
{
    struct vs_timed *t = (struct vs_timed *)seen;
    recent_of(t->writes, addr)->page = VS_RAM_NONE; /* stores to code have to be seen */
    recent_of(t->writes, addr + size - 1)->page = VS_RAM_NONE;
    return flat(t)->ops->fetch(flat(t), cpu, addr, bytes, size);
}

/* These let the current instruction's access go to the caches. They return its latency, or an
 * error. */
static inline int load_cached(struct vs_timed *t, uint64_t addr, unsigned size, const void *bytes)
{
    return unlikely(t->config->check)
               ? vs_hierarchy_load_checked(&t->caches, t->core, addr, size, bytes)
               : vs_hierarchy_load(&t->caches, t->core, addr, size);
}

static inline int store_cached(struct vs_timed *t, uint64_t addr, unsigned size, const void *bytes)
{
    return unlikely(t->config->check)
               ? vs_hierarchy_store_checked(&t->caches, t->core, addr, size, bytes)
               : vs_hierarchy_store(&t->caches, t->core, addr, size);
}

static int timed_read(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                      enum vs_access access, void *bytes)
{
    struct vs_timed *t = (struct vs_timed *)seen;
    uint64_t cycle;
    if (!is_due(t, &cycle))
        return VS_NOT_YET;
    int err = read_flat(t, cpu, addr, size, access, bytes);
    t->past->accessed = cycle;
    if (unlikely(err || access == VS_ACCESS_ATOMIC))
        return err;
    int latency = load_cached(t, addr, size, bytes);
    if (unlikely(latency < 0))
        return latency;
    note_access(t, cycle, (uint64_t)latency, 1);
    return 0;
}

static int timed_write(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                       enum vs_access access, const void *bytes)
{
    struct vs_timed *t = (struct vs_timed *)seen;
    uint64_t cycle = t->past->accessed; /* an atomic's write happens when its read did */
    if (access != VS_ACCESS_ATOMIC && !is_due(t, &cycle))
        return VS_NOT_YET;
    int err = write_flat(t, cpu, addr, size, access, bytes);
    if (unlikely(err && err != VS_CPU_CODE))
        return err;
    int latency = store_cached(t, addr, size, bytes);
    if (unlikely(latency < 0))
        return latency;
    note_access(t, cycle, (uint64_t)latency, access == VS_ACCESS_ATOMIC ? 2 : 1);
    return err;
}

static int timed_conditional(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr,
                             unsigned size, const void *bytes, int *stored)
{
    struct vs_timed *t = (struct vs_timed *)seen;
    uint64_t cycle;
    if (!is_due(t, &cycle))
        return VS_NOT_YET;
    int err = flat(t)->ops->conditional(flat(t), cpu, addr, size, bytes, stored);
    if (err && err != VS_CPU_CODE)
        return err;
    int latency = *stored ? store_cached(t, addr, size, bytes) : (int)t->config->l1;
    if (latency < 0)
        return latency;
    note_access(t, cycle, (uint64_t)latency, 1);
    return err;
}

static int timed_outside(struct vs_cpu_memory *seen, struct vs_cpu *cpu, unsigned what,
                         unsigned size, void *bytes)
{
    struct vs_timed *t = (struct vs_timed *)seen;
    uint64_t cycle;
    (void)is_due(t, &cycle);
    if (what >= VS_COUNTER_OTHER || size > sizeof(cycle))
        return VS_CPU_FAULT;
    memcpy(bytes, what == VS_COUNTER_RETIRED ? &cpu->retired : &cycle, size);
    return 0;
}

static const struct vs_cpu_memory_ops timed_ops = {
    .fetch = timed_fetch,
    .read = timed_read,
    .write = timed_write,
    .conditional = timed_conditional,
    .outside = timed_outside,
};

/* With check: tells what memory that no cache has seen holds. */
static int backing(void *context, uint64_t addr, void *bytes, size_t size)
{
    struct vs_timed *t = context;
    return vs_ram_get(t->memory, addr, bytes, size);
}

/* ---- opening and closing --------------------------------------------------------------------- */

int vs_timed_init(struct vs_timed *t, const struct vs_target_config *config, struct vs_ram *memory,
                  struct vs_diag *diag)
{
    struct vs_hierarchy_config caches;
    *t = (struct vs_timed){.seen = {.ops = &timed_ops, .integer = true, .simple = true},
                           .config = config,
                           .memory = memory,
                           .random = config->seed};
    vs_timed_forget(t);
    vs_issue_table_init(&t->issues, config, vs_isa_find(VS_TARGET_ISA)->operations);
    vs_target_config_caches(config, &caches);
    caches.backing = backing;
    caches.context = t;
    return vs_hierarchy_init(&t->caches, &caches, diag);
}

void vs_timed_fini(struct vs_timed *t)
{
    vs_hierarchy_fini(&t->caches);
}

int vs_past_init(struct vs_past *p, struct vs_timed *timed, unsigned core, size_t records)
{
    invariant(records >= VS_CPU_LOG_MIN);
    *p = (struct vs_past){.log.capacity = records};
    p->log.records = calloc(records, sizeof(*p->log.records));
    p->commits = calloc(records, sizeof(*p->commits));
    vs_past_clear(p);
    if (!p->log.records || !p->commits)
        return -VSE_NOMEM;
    return timed
               ? vs_pipeline_init(&p->pipeline, timed->config, &timed->issues, &timed->caches, core)
               : 0;
}

void vs_past_fini(struct vs_past *p)
{
    vs_pipeline_fini(&p->pipeline);
    free(p->log.records);
    free(p->commits);
}

void vs_past_clear(struct vs_past *p)
{
    p->log.count = p->timed = 0;
}
