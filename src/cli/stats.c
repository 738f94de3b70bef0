/* SPDX-License-Identifier: MIT */
#include "cli/stats.h"

#include <string.h>

#include "base/bytes.h"

static int add_number(struct stats_tally *t, uint64_t number)
{
    struct vs_map_entry *e = vs_map_find(&t->counts, number);
    if (!e && t->counts.count < STATS_TALLY_MAX)
        return vs_map_set(&t->counts, number, 1);
    if (e)
        e->value++;
    else
        t->untold++;
    return 0;
}

static int add_cause(struct stats *s, const struct vs_batch *batch, const struct vs_event *e)
{
    const uint8_t *p = vs_event_bytes(batch, e), *bytes;
    size_t size = e->size;
    unsigned number, regsize;
    while (vs_regs_next(&p, &size, &number, &regsize, &bytes) > 0)
        if (number == VS_REG_CAUSE && regsize == 8)
            return add_number(&s->causes, vs_get64(bytes));
    s->causeless++;
    return 0;
}

void stats_fini(struct stats *s)
{
    vs_map_fini(&s->syscalls.counts);
    vs_map_fini(&s->causes.counts);
}

int stats_add(struct stats *s, const struct vs_batch *batch)
{
    int error = 0;
    for (size_t i = 0; i < batch->count && !error; i++) {
        const struct vs_event *e = &batch->events[i];
        s->kinds[e->kind & 15]++;
        switch (e->kind) {
        case VS_BRANCH:
            s->branches[e->flags & VS_BR_ALL]++;
            break;
        case VS_LOAD:
        case VS_STORE:
            s->sizes[e->kind == VS_STORE][e->size < 256 ? e->size : 0][e->flags & VS_MEM_ALL]++;
            s->operand_bytes[e->kind == VS_STORE] += e->size;
            break;
        case VS_EXTERNAL:
            s->external_bytes += e->size;
            break;
        case VS_SYSCALL:
            error = add_number(&s->syscalls, e->addr);
            break;
        case VS_EXCEPTION:
            error = add_cause(s, batch, e);
            break;
        case VS_GAP:
            s->gap_instructions += e->addr;
            break;
        default:
            break;
        }
    }
    return error;
}

static enum stats_class branch_class(unsigned flags)
{
    if (!(flags & VS_BR_COND))
        return flags & VS_BR_INDIRECT ? STATS_INDIRECT : STATS_DIRECT;
    if (flags & VS_BR_INDIRECT)
        return STATS_COND_INDIRECT;
    return flags & VS_BR_TAKEN ? STATS_COND_TAKEN : STATS_COND_NOT_TAKEN;
}

uint64_t stats_branch_class(const struct stats *s, enum stats_class c)
{
    uint64_t sum = 0;
    for (unsigned flags = 0; flags <= VS_BR_ALL; flags++)
        if (branch_class(flags) == c)
            sum += s->branches[flags];
    return sum;
}

static const unsigned sizes[STATS_SIZES - 1] = {1, 2, 4, 8, 10, 16, 32};

const char *stats_size_name(unsigned size_class)
{
    static const char *const names[STATS_SIZES] = {"1", "2", "4", "8", "10", "16", "32", "other"};
    return names[size_class];
}

static unsigned size_class_of(unsigned size)
{
    unsigned c = 0;
    while (c < STATS_SIZES - 1 && sizes[c] != size)
        c++;
    return c;
}

uint64_t stats_operands(const struct stats *s, bool stores, unsigned size_class)
{
    uint64_t sum = 0;
    for (unsigned size = 0; size < 256; size++)
        for (unsigned flags = 0; flags <= VS_MEM_ALL; flags++)
            if (size_class_of(size) == size_class)
                sum += s->sizes[stores][size][flags];
    return sum;
}

uint64_t stats_flagged(const struct stats *s, bool stores, unsigned flag)
{
    uint64_t sum = 0;
    for (unsigned size = 0; size < 256; size++)
        for (unsigned flags = 0; flags <= VS_MEM_ALL; flags++)
            if (flags & flag)
                sum += s->sizes[stores][size][flags];
    return sum;
}

unsigned stats_branch_kinds(const struct stats *s, struct stats_named rows[32])
{
    static const unsigned plain[] = {
        VS_BR_COND,
        VS_BR_TAKEN,
        VS_BR_TAKEN | VS_BR_CALL,
        VS_BR_TAKEN | VS_BR_INDIRECT,
        VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_CALL,
        VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN,
    };
    unsigned n = 0;
    for (; n < sizeof(plain) / sizeof(plain[0]); n++)
        rows[n] = (struct stats_named){.name = vs_branch_name(plain[n])};
    for (unsigned flags = 0; flags <= VS_BR_ALL; flags++) {
        if (!s->branches[flags])
            continue;
        unsigned i = 0;
        while (i < n && strcmp(rows[i].name, vs_branch_name(flags)))
            i++;
        if (i == n)
            rows[n++] = (struct stats_named){.name = vs_branch_name(flags)};
        rows[i].count += s->branches[flags];
    }
    return n;
}

static bool ranks_before(const struct stats_number *a, const struct stats_number *b)
{
    return a->count != b->count ? a->count > b->count : a->number < b->number;
}

unsigned stats_top(const struct stats_tally *t, struct stats_number *top, unsigned n)
{
    unsigned used = 0;
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&t->counts, e));) {
        const struct stats_number c = {e->key, e->value};
        if (used == n && !ranks_before(&c, &top[n - 1]))
            continue;
        unsigned at = used < n ? used++ : n - 1;
        for (; at && ranks_before(&c, &top[at - 1]); at--)
            top[at] = top[at - 1];
        top[at] = c;
    }
    return used;
}
