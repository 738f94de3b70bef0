/* SPDX-License-Identifier: MIT */
/* Memory as a run shows it. A module on the chip sends whole granules and blocks; a run has only
 * the bytes that operands touched. What the other bytes were follows from later loads: a byte that
 * is loaded before anything was seen to write it had its value all the time. A prior is that
 * knowledge, gathered in a pass of its own; it serves every encoder of the run.
 *
 * Without a prior such bytes are 0 until they are loaded. The load then finds memory changed, as it
 * does after a change that the run does not show, and an encoder reports it: what is encoded
 * replays either way, and the prior only spares these reports.
 *
 * Boundaries are events after which bytes may differ: the end of a gap everywhere, a new mapping in
 * its pages. */
#ifndef TECHNIQUE_SEEN_H
#define TECHNIQUE_SEEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/copy.h"
#include "vestige/event.h"

struct vs_prior;

/* Returns 0; -VSE_NOMEM. */
int vs_prior_open(struct vs_prior **prior);
/* Takes all events of the run, in order. Returns 0; -VSE_NOMEM. */
int vs_prior_consume(struct vs_prior *prior, const struct vs_batch *batch);
/* NULL is fine. */
void vs_prior_close(struct vs_prior *prior);

struct vs_seen {
    struct vs_copy copy;
    const struct vs_prior *prior; /* or NULL */
    uint64_t boundaries;          /* so far */
    uint64_t gap;                 /* the last boundary that was everywhere */
};

/* The prior, which may be NULL, must outlive s. */
void vs_seen_init(struct vs_seen *s, const struct vs_prior *prior);
void vs_seen_fini(struct vs_seen *s);

/* What vs_seen_write and vs_seen_load do not do in line. */
int vs_seen_write_other(struct vs_seen *s, uint64_t addr, const uint8_t *bytes, size_t size);
int vs_seen_load_other(struct vs_seen *s, uint64_t addr, const uint8_t *bytes, size_t size);

/* Something wrote these bytes. Returns 0; -VSE_NOMEM. */
static inline int vs_seen_write(struct vs_seen *s, uint64_t addr, const uint8_t *bytes, size_t size)
{
    const struct vs_copy_recent *r = &s->copy.recent[(addr >> VS_COPY_BITS) % VS_COPY_RECENT];
    if (unlikely(r->number != addr >> VS_COPY_BITS || !vs_copy_is_small(addr, size)))
        return vs_seen_write_other(s, addr, bytes, size);
    vs_copy_bytes(r->page->bytes + (addr & (VS_COPY_PAGE - 1)), bytes, size);
    return 0;
}

/* Something loaded these bytes. For values of up to 8 bytes it may read 8, as events have them.
 * Returns 1 if memory had these bytes; 0 if it did not, but has them now; -VSE_NOMEM. */
static inline int vs_seen_load(struct vs_seen *s, uint64_t addr, const uint8_t *bytes, size_t size)
{
    const struct vs_copy_recent *r = &s->copy.recent[(addr >> VS_COPY_BITS) % VS_COPY_RECENT];
    if (likely(r->number == addr >> VS_COPY_BITS && vs_copy_is_small(addr, size))) {
        uint64_t was, is;
        memcpy(&was, r->page->bytes + (addr & (VS_COPY_PAGE - 1)), 8);
        memcpy(&is, bytes, 8); /* small values lie in events, with zeros above */
        if (likely(!((was ^ is) << (64 - 8 * size))))
            return 1;
    }
    return vs_seen_load_other(s, addr, bytes, size);
}

/* Gets the bytes at an address; their pages must have been loaded from or written to. */
void vs_seen_get(struct vs_seen *s, uint64_t addr, uint8_t *bytes, size_t size);

/* Returns the bytes of the page at an address, which are then as if one of them had been loaded;
 * NULL: no memory. They are valid until the next call. */
const uint8_t *vs_seen_page(struct vs_seen *s, uint64_t addr);

/* Whether a later load tells what is at the address. Nothing must have touched that byte since its
 * page's last boundary. */
bool vs_seen_foretells(const struct vs_seen *s, uint64_t addr);

/* These are boundaries. A mapping concerns whole pages. They return 0; -VSE_NOMEM. */
int vs_seen_map(struct vs_seen *s, uint64_t addr, uint64_t size);
int vs_seen_gap(struct vs_seen *s);

#endif
