/* SPDX-License-Identifier: MIT */
/* Where the bits of a run are sent: by routine, line, image or thread.
 *
 * Every message is charged, whole, to the core that it belongs to, and there to the place of that
 * core's latest event when the message ends. A packet that tells of many events is thus charged to
 * the event that completed it, and one that belongs to all cores to the event of whichever core
 * completed it. No bit is split, so the sum is what the port counted. */
#ifndef STUDY_ATTRIBUTION_H
#define STUDY_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/stream.h"
#include "study/where.h"

enum vs_by { VS_BY_NOTHING, VS_BY_ROUTINE, VS_BY_LINE, VS_BY_IMAGE, VS_BY_THREAD, VS_BY_END };

/* "routine", "line", "image" or "thread". Static storage. */
const char *vs_by_name(unsigned by);

/* The places of a run's events, as numbers; 0 is where the place is not known. Numbers are given in
 * the order of the events, by one thread. */
struct vs_event_sites {
    enum vs_by by;
    struct vs_where where; /* not by thread */
    uint32_t *at; /* by thread: its last place; it does not change in other threads' events */
    uint64_t *instructions; /* by number */
    size_t count, capacity; /* numbers that there are, 0 included */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case; it may also follow without init if the struct
 * was zeroed. */
int vs_event_sites_init(struct vs_event_sites *s, enum vs_by by, const struct vs_reader *reader);
void vs_event_sites_fini(struct vs_event_sites *s);

/* Takes the run's next event. Returns its number, below 2^32; -VSE_NOMEM. */
int64_t vs_event_sites_take(struct vs_event_sites *s, const struct vs_event *e);

/* What a technique's port sent at each place. */
struct vs_sent {
    uint64_t bits, messages;
};

struct vs_attribution {
    unsigned cores;
    uint32_t *at;         /* by core: where it is */
    unsigned core;        /* whose event is under way */
    struct vs_sent *sent; /* by number */
    size_t capacity;
    struct vs_port_meter meter; /* for the port */
};

/* As vs_event_sites_init. The struct must stay where it is while a port has its meter. */
int vs_attribution_init(struct vs_attribution *a, unsigned cores);
void vs_attribution_fini(struct vs_attribution *a);

/* Makes room for numbers below `count`. Returns 0; -VSE_NOMEM. */
int vs_attribution_room(struct vs_attribution *a, size_t count);

/* The core's next event is there; what is sent from now on may be due to it. */
static inline void vs_attribution_at(struct vs_attribution *a, unsigned core, uint32_t site)
{
    a->core = core;
    a->at[core] = site;
}

/* A row of a table. What does not concern the kind of table is NULL or 0. */
struct vs_share {
    bool known;          /* false: no place is known, and no other member but the counts is set */
    const char *image;   /* its path; NULL: none, or not by place */
    const char *routine; /* NULL: it has no name */
    const char *file, *folder; /* NULL: not known */
    unsigned line;
    unsigned thread;
    uint64_t bits, messages, instructions;
};

/* The places to which bits were charged, or at which instructions retired: most bits first, then by
 * name. */
struct vs_shares {
    enum vs_by by;
    struct vs_share *list;
    size_t count;
    size_t top;             /* so many are told apart ... */
    struct vs_share others; /* ... and this is what the others sum up to */
};

/* Makes the table; `top` places are told apart, or all if it is 0. The strings are those of
 * `sites`. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_shares_init(struct vs_shares *s, const struct vs_attribution *a,
                   struct vs_event_sites *sites, size_t top);
void vs_shares_fini(struct vs_shares *s);

#endif
