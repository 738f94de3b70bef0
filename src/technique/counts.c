/* SPDX-License-Identifier: MIT */
#include "technique/counts.h"

#include <string.h>

#include "base/invariant.h"
#include "technique/technique.h"

void vs_counts_take(struct vs_counts *c, const struct vs_encoder_ops *ops, const void *encoder)
{
    *c = (struct vs_counts){.rows = ops->rows};
    ops->counts(encoder, c->values);
}

uint64_t vs_counts_get(const struct vs_counts *c, const char *name)
{
    for (const struct vs_count_row *r = c->rows; r && r->name; r++)
        if (!strcmp(r->name, name))
            return c->values[r->offset / sizeof(c->values[0])];
    return 0;
}

void vs_counts_add(struct vs_counts *sum, const struct vs_counts *c)
{
    if (!c->rows)
        return;
    invariant(!sum->rows || sum->rows == c->rows);
    sum->rows = c->rows;
    for (size_t i = 0; i < VS_COUNTS_MAX; i++)
        sum->values[i] += c->values[i];
}

/* ---- control flow ---------------------------------------------------------------------------- */

#define ROW(field, text)                                                                           \
    {                                                                                              \
#field, text, offsetof(struct vs_flow_counts, field)                                       \
    }

const struct vs_count_row vs_flow_count_rows[] = {
    ROW(instructions, "executed"),
    ROW(conditional, "conditional branches"),
    ROW(conditional_reported, "of these: took a message"),
    ROW(returns, "indirect branches to a return address"),
    ROW(returns_reported, "of these: took a message"),
    ROW(indirect, "other indirect branches"),
    ROW(indirect_reported, "of these: took a message"),
    ROW(discontinuities, "all of them reported"),
    ROW(syncs, "of these: starts and ends of cores, and gaps"),
    ROW(switches, "messages that only order cores"),
    {0},
};

_Static_assert(sizeof(struct vs_flow_counts) <= VS_COUNTS_MAX * sizeof(uint64_t), "they fit");
