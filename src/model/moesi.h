/* SPDX-License-Identifier: MIT */
/* Private caches of some cores, kept coherent by MOESI.
 *
 *   M  the only copy, and the level below is out of date
 *   O  one of several copies, or the last that is left of them; it is written below when it leaves
 *   E  the only copy, equal to the level below
 *   S  one of several copies, or the last that is left of them; never written below
 *   I  not in the cache: the tag store does not have it
 *
 * A core's access, where `others` are the copies in the other caches:
 *   read   hit: nothing changes. Miss, with an owner (M, O or E) among the others: it supplies, M
 *          becomes O and E becomes S; the reader gets S. Without, but with others (in S): S, from
 *          below or, if sharers supply, from the first of them. Else from below, E.
 *   write  hit in M: nothing changes; in E: M, silently; in S or O: an upgrade, the others are
 *          invalidated. Miss: as a read miss, but the others are invalidated. The writer gets M.
 * Leaving in M or O, the line is dirty: the owner of the group writes it below.
 *
 * With data, every line has its bytes: they are copied by transfers, and the user puts those that
 * come from below (vs_moesi_bytes, after VS_MOESI_BELOW) and those that are stored. */
#ifndef MODEL_MOESI_H
#define MODEL_MOESI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "model/cache.h"
#include "vestige/error.h"

#define VS_MOESI_CORES_MAX 64

/* The order matters: from E on, a write needs nobody's consent. */
enum vs_moesi_state {
    VS_MOESI_I,
    VS_MOESI_S,
    VS_MOESI_O,
    VS_MOESI_E,
    VS_MOESI_M,
};

enum vs_moesi_outcome {
    VS_MOESI_HIT,
    VS_MOESI_UPGRADE,  /* a write to a line that was in S or O */
    VS_MOESI_TRANSFER, /* a miss, supplied by another cache */
    VS_MOESI_BELOW,    /* a miss, to be supplied from below */
};

struct vs_moesi_result {
    enum vs_moesi_outcome outcome;
    uint32_t index;          /* of the line, in the core's cache */
    uint32_t supplier;       /* TRANSFER: the core that supplied */
    uint32_t supplier_index; /* TRANSFER: the line's index in its cache, or what it was until now */
    bool evicted;            /* another line had to leave the core's cache */
    bool dirty;              /* that line must be written below; its bytes are in `spilled` */
    uint64_t victim;         /* its address */
    uint64_t invalidated;    /* cores that lost the line of the access, by bit */
};

struct vs_moesi_core {
    struct vs_cache cache;
    uint8_t *states; /* by index: enum vs_moesi_state; only while the tag store has the line */
    uint8_t *data;   /* by index * line size; NULL without data */
};

struct vs_moesi {
    unsigned cores;
    uint32_t line;       /* bytes */
    bool sharers_supply; /* set after init, if at all */
    struct vs_moesi_core *core;
    uint8_t *spilled; /* with data: the line that was dirty when it left last */
};

/* Makes empty caches of that geometry for 1 to VS_MOESI_CORES_MAX cores.
 * Returns 0; -VSE_INVAL, with diag; -VSE_NOMEM. After an error nothing has to be freed, though
 * vs_moesi_fini may be called. */
int vs_moesi_init(struct vs_moesi *g, unsigned cores, const struct vs_cache_config *config,
                  bool data, struct vs_diag *diag);
void vs_moesi_fini(struct vs_moesi *g);

/* Makes a group the same as another of as many cores, the same configuration, and as much data;
 * sharers_supply is its own. */
void vs_moesi_assign(struct vs_moesi *g, const struct vs_moesi *from);

/* All functions below take a core of the group and a line's address. */

/* If the read hits, carries it out and returns the line's index. Otherwise changes nothing and
 * returns VS_CACHE_NONE; vs_moesi_read_miss must follow. */
static inline uint32_t vs_moesi_read_hit(struct vs_moesi *g, unsigned core, uint64_t line)
{
    return vs_cache_hit(&g->core[core].cache, line);
}

/* If the write hits in M or E, carries it out and returns the line's index. Otherwise changes
 * nothing and returns VS_CACHE_NONE; vs_moesi_write_shared must follow. */
static inline uint32_t vs_moesi_write_hit(struct vs_moesi *g, unsigned core, uint64_t line)
{
    struct vs_moesi_core *c = &g->core[core];
    uint32_t index = vs_cache_find(&c->cache, line);
    if (unlikely(index == VS_CACHE_NONE || c->states[index] < VS_MOESI_E))
        return VS_CACHE_NONE;
    c->states[index] = VS_MOESI_M;
    vs_cache_touch(&c->cache, index);
    return index;
}

/* A read that misses. */
void vs_moesi_read_miss(struct vs_moesi *g, unsigned core, uint64_t line,
                        struct vs_moesi_result *result);

/* A write that misses or needs an upgrade. */
void vs_moesi_write_shared(struct vs_moesi *g, unsigned core, uint64_t line,
                           struct vs_moesi_result *result);

/* The core that supplies a line to one that misses, with the line's index there; -1 if it comes
 * from below. *others says whether any other core has it. */
int vs_moesi_supplier(const struct vs_moesi *g, unsigned core, uint64_t line, uint32_t *index,
                      bool *others);

/* A read or a write, whether it hits or not. */
static inline void vs_moesi_read(struct vs_moesi *g, unsigned core, uint64_t line,
                                 struct vs_moesi_result *result)
{
    uint32_t index = vs_moesi_read_hit(g, core, line);
    if (likely(index != VS_CACHE_NONE))
        *result = (struct vs_moesi_result){.outcome = VS_MOESI_HIT, .index = index};
    else
        vs_moesi_read_miss(g, core, line, result);
}

static inline void vs_moesi_write(struct vs_moesi *g, unsigned core, uint64_t line,
                                  struct vs_moesi_result *result)
{
    uint32_t index = vs_moesi_write_hit(g, core, line);
    if (likely(index != VS_CACHE_NONE))
        *result = (struct vs_moesi_result){.outcome = VS_MOESI_HIT, .index = index};
    else
        vs_moesi_write_shared(g, core, line, result);
}

/* The line leaves the core's cache. In the result: evicted, dirty, victim; index, or VS_CACHE_NONE
 * if it was not there. */
void vs_moesi_evict(struct vs_moesi *g, unsigned core, uint64_t line,
                    struct vs_moesi_result *result);

/* Somebody who keeps no copy reads the line, as it is now, for the core: in every other cache M
 * becomes O and E becomes S, so that a write has to ask first. */
void vs_moesi_snoop(struct vs_moesi *g, unsigned core, uint64_t line);

/* The line leaves all caches: something outside wrote it, or the level below drops it. In the
 * result: invalidated; evicted, if any core had it; dirty, victim; supplier, the core in which it
 * was dirty. */
void vs_moesi_outside(struct vs_moesi *g, uint64_t line, struct vs_moesi_result *result);

/* The line's state in a core's cache. */
static inline enum vs_moesi_state vs_moesi_state(const struct vs_moesi *g, unsigned core,
                                                 uint64_t line)
{
    uint32_t index = vs_cache_find(&g->core[core].cache, line);
    return index == VS_CACHE_NONE ? VS_MOESI_I : (enum vs_moesi_state)g->core[core].states[index];
}

/* The core that has the line in M or O, or -1. */
int vs_moesi_dirty_in(const struct vs_moesi *g, uint64_t line);

/* With data: the bytes of the line at an index. */
static inline uint8_t *vs_moesi_bytes(const struct vs_moesi *g, unsigned core, uint32_t index)
{
    return g->core[core].data + (size_t)index * g->line;
}

/* Whether one line, or every line, is as the protocol promises: M and E alone, one owner at most,
 * with data all copies equal. Returns 0; -VSE_INTERNAL, and diag says what is wrong. */
int vs_moesi_check(const struct vs_moesi *g, uint64_t line, struct vs_diag *diag);
int vs_moesi_check_all(const struct vs_moesi *g, struct vs_diag *diag);

#endif
