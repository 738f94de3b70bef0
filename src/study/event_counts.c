/* SPDX-License-Identifier: MIT */
#include "study/event_counts.h"

#include <string.h>

#include "base/bytes.h"

static int add_number(struct vs_count_tally *t, uint64_t number)
{
    struct vs_map_entry *e = vs_map_find(&t->counts, number);
    if (!e && t->counts.count < VS_COUNT_TALLY_MAX)
        return vs_map_set(&t->counts, number, 1);
    if (e)
        e->value++;
    else
        t->untold++;
    return 0;
}

static int add_cause(struct vs_event_counts *s, const struct vs_batch *batch,
                     const struct vs_event *e)
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

void vs_event_counts_fini(struct vs_event_counts *s)
{
    vs_map_fini(&s->syscalls.counts);
    vs_map_fini(&s->causes.counts);
}

int vs_event_counts_add(struct vs_event_counts *s, const struct vs_batch *batch)
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

static enum vs_branch_class branch_class(unsigned flags)
{
    if (!(flags & VS_BR_COND))
        return flags & VS_BR_INDIRECT ? VS_CLASS_INDIRECT : VS_CLASS_DIRECT;
    if (flags & VS_BR_INDIRECT)
        return VS_CLASS_COND_INDIRECT;
    return flags & VS_BR_TAKEN ? VS_CLASS_COND_TAKEN : VS_CLASS_COND_NOT_TAKEN;
}

uint64_t vs_event_counts_branch_class(const struct vs_event_counts *s, enum vs_branch_class c)
{
    uint64_t sum = 0;
    for (unsigned flags = 0; flags <= VS_BR_ALL; flags++)
        if (branch_class(flags) == c)
            sum += s->branches[flags];
    return sum;
}

static const unsigned sizes[VS_SIZE_CLASSES - 1] = {1, 2, 4, 8, 10, 16, 32};

const char *vs_event_counts_size_name(unsigned size_class)
{
    static const char *const names[VS_SIZE_CLASSES] = {"1",  "2",  "4",  "8",
                                                       "10", "16", "32", "other"};
    return names[size_class];
}

static unsigned size_class_of(unsigned size)
{
    unsigned c = 0;
    while (c < VS_SIZE_CLASSES - 1 && sizes[c] != size)
        c++;
    return c;
}

uint64_t vs_event_counts_operands(const struct vs_event_counts *s, bool stores, unsigned size_class)
{
    uint64_t sum = 0;
    for (unsigned size = 0; size < 256; size++)
        for (unsigned flags = 0; flags <= VS_MEM_ALL; flags++)
            if (size_class_of(size) == size_class)
                sum += s->sizes[stores][size][flags];
    return sum;
}

uint64_t vs_event_counts_flagged(const struct vs_event_counts *s, bool stores, unsigned flag)
{
    uint64_t sum = 0;
    for (unsigned size = 0; size < 256; size++)
        for (unsigned flags = 0; flags <= VS_MEM_ALL; flags++)
            if (flags & flag)
                sum += s->sizes[stores][size][flags];
    return sum;
}

unsigned vs_event_counts_branch_kinds(const struct vs_event_counts *s,
                                      struct vs_count_named rows[32])
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
        rows[n] = (struct vs_count_named){.name = vs_branch_name(plain[n])};
    for (unsigned flags = 0; flags <= VS_BR_ALL; flags++) {
        if (!s->branches[flags])
            continue;
        unsigned i = 0;
        while (i < n && strcmp(rows[i].name, vs_branch_name(flags)))
            i++;
        if (i == n)
            rows[n++] = (struct vs_count_named){.name = vs_branch_name(flags)};
        rows[i].count += s->branches[flags];
    }
    return n;
}

static bool ranks_before(const struct vs_count_number *a, const struct vs_count_number *b)
{
    return a->count != b->count ? a->count > b->count : a->number < b->number;
}

unsigned vs_event_counts_top(const struct vs_count_tally *t, struct vs_count_number *top,
                             unsigned n)
{
    unsigned used = 0;
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&t->counts, e));) {
        const struct vs_count_number c = {e->key, e->value};
        if (used == n && !ranks_before(&c, &top[n - 1]))
            continue;
        unsigned at = used < n ? used++ : n - 1;
        for (; at && ranks_before(&c, &top[at - 1]); at--)
            top[at] = top[at - 1];
        top[at] = c;
    }
    return used;
}
