/* SPDX-License-Identifier: MIT */
/* What encoding events one by one and by records have in common: columns of control flow. */
#ifndef TRACE_CHUNK_FLOW_H
#define TRACE_CHUNK_FLOW_H

#include "base/likely.h"
#include "trace/chunk_encode.h"

static inline int vs_encoder_varint(struct vs_encoder *c, unsigned column, uint64_t v)
{
    struct vs_buf *col = &c->cols->col[column];
    uint8_t *start, *end;

    if (vs_buf_reserve(col, VS_VARINT_MAX) < 0)
        return -VSE_NOMEM;
    start = col->data + col->len;
    end = vs_varint_put(start, v);
    col->len += (size_t)(end - start);
    c->room -= end - start;
    return 0;
}

/* Ends a run of right predictions. */
static inline int vs_encoder_gap(struct vs_encoder *c, unsigned column, uint64_t *run)
{
    int err = vs_encoder_varint(c, column, *run);

    *run = 0;
    return err;
}

/* Makes a prediction, which was wrong, right. What is known about sites that follow each other no
 * longer holds if it is one of theirs. */
static inline void vs_encoder_link(struct vs_encoder *c, uint32_t link, uint32_t site)
{
    *vs_link(&c->flow, link) = site;
    if (!(link & VS_LINK_ARRIVAL) && VS_META_KIND(c->sites->list[link >> 1].meta) != VS_BRANCH)
        c->links++;
}

/* Stores the target of an indirect branch. Returns 0; -VSE_NOMEM. */
int vs_encoder_wrong_target(struct vs_encoder *c, const struct vs_event *e);

/* Makes a thread ready for the chunk's next event. Returns NULL if there is no memory. */
struct vs_encoder_thread *vs_encoder_enter(struct vs_encoder *c, unsigned number);

static inline int vs_encoder_branch(struct vs_encoder *c, struct vs_lane *l, uint32_t site,
                                    const struct vs_event *e)
{
    bool taken = e->flags & VS_BR_TAKEN;

    l->link = vs_link_site(site, (e->flags & VS_BR_COND) && taken);
    if (e->flags & VS_BR_COND) {
        uint8_t *counter = vs_outcome_counter(&c->flow, l, site);

        if (likely((*counter >= 2) == taken))
            c->runs.outcome++;
        else if (vs_encoder_gap(c, VS_COL_OUTCOME_GAP, &c->runs.outcome) < 0)
            return -VSE_NOMEM;
        vs_outcome_learn(l, counter, taken);
    }
    if ((e->flags & VS_BR_INDIRECT) && taken) {
        uint64_t *entry = vs_target_entry(&c->flow, l, site, e->flags);

        if (likely(*entry == e->addr))
            c->runs.target++;
        else if (vs_encoder_wrong_target(c, e) < 0)
            return -VSE_NOMEM;
        vs_target_learn(l, entry, e->addr);
        l->link = vs_link_arrival(e->addr);
    }
    if ((e->flags & VS_BR_CALL) && taken)
        vs_call(l, e->pc + e->size);
    l->expect = *vs_link(&c->flow, l->link);
    return 0;
}

static inline bool vs_encoder_full(const struct vs_encoder *c)
{
    return c->events >= c->chunk_events || c->room <= 0;
}

#endif
