/* SPDX-License-Identifier: MIT */
/* The static table of sites: what does not change from one execution of an event to the next.
 *
 * A site is an event without its dynamic parts. Branches, loads and stores keep pc, size, icount,
 * kind and flags (without VS_BR_TAKEN), and direct branches also keep their target. All other kinds
 * are rare and vary, so that their sites keep only kind and flags. Site 0 is the literal: an event
 * whose site is not in the table.
 */
#ifndef TRACE_SITES_H
#define TRACE_SITES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "trace/columns.h"
#include "vestige/event.h"

/* meta is the event's last 8 bytes as one word with a thread of 0, so that two comparisons tell
 * whether an event belongs to a site, and three stores make the event again. */
struct vs_site {
    uint64_t pc;
    uint64_t target;
    uint64_t meta;
};

#define VS_META_THREAD    UINT64_C(0xffff)
#define VS_META_SIZE(m)   ((unsigned)((m) >> 16) & 0xffff)
#define VS_META_ICOUNT(m) ((unsigned)((m) >> 32) & 0xffff)
#define VS_META_KIND(m)   ((unsigned)((m) >> 48) & 0xff)
#define VS_META_FLAGS(m)  ((unsigned)((m) >> 56))
#define VS_META_TAKEN     ((uint64_t)VS_BR_TAKEN << 56)

_Static_assert(offsetof(struct vs_event, thread) == 24 && offsetof(struct vs_event, size) == 26 &&
                   offsetof(struct vs_event, icount) == 28 &&
                   offsetof(struct vs_event, kind) == 30 && offsetof(struct vs_event, flags) == 31,
               "VS_META_* follow the layout of struct vs_event");

static inline uint64_t vs_event_meta(const struct vs_event *e)
{
    uint64_t meta;

    memcpy(&meta, &e->thread, 8);
    return meta;
}

/* Whether events of this kind keep everything static in their site. */
static inline bool vs_kind_is_hot(unsigned kind)
{
    return kind >= VS_BRANCH && kind <= VS_STORE;
}

static inline struct vs_site vs_site_of(const struct vs_event *e)
{
    uint64_t meta = vs_event_meta(e) & ~VS_META_THREAD;

    if (!vs_kind_is_hot(e->kind))
        return (struct vs_site){0, 0, meta & UINT64_C(0xffff000000000000)};
    if (e->kind != VS_BRANCH)
        return (struct vs_site){e->pc, 0, meta};
    return (struct vs_site){e->pc, e->flags & VS_BR_INDIRECT ? 0 : e->addr, meta & ~VS_META_TAKEN};
}

static inline bool vs_site_equal(const struct vs_site *a, const struct vs_site *b)
{
    return a->pc == b->pc && a->target == b->target && a->meta == b->meta;
}

/* The table. list[0] is the literal, all zero. */
struct vs_sites {
    struct vs_site *list;
    uint32_t count, capacity;
    struct vs_map numbers; /* by hash, or the next free key after it; empty when only reading */
};

/* Returns 0; -VSE_NOMEM. */
int vs_sites_init(struct vs_sites *s);
void vs_sites_fini(struct vs_sites *s);

/* The number of a site, which is added if it is new and the table has fewer than max. Returns the
 * number; 0 (the literal) if the table is full; -VSE_NOMEM. */
int64_t vs_sites_number(struct vs_sites *s, const struct vs_site *site, uint32_t max);

/* Adds the sites of a column. Returns 0; -VSE_NOMEM; -VSE_LIMIT; -VSE_CORRUPT; -VSE_TRUNCATED. */
int vs_sites_unpack(struct vs_sites *s, struct vs_column col);

/* One site, relative to the one before it in its column. Return 0; -VSE_NOMEM; and reading also
 * -VSE_CORRUPT, -VSE_TRUNCATED. */
int vs_site_pack(struct vs_buf *col, const struct vs_site *site, const struct vs_site *before);
int vs_site_unpack(struct vs_column *col, struct vs_site *site, const struct vs_site *before);

#endif
