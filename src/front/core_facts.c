/* SPDX-License-Identifier: MIT */
#include "front/core_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A single core, or all of them. */
struct core_row {
    struct vs_machine_core core;
    char name[16];
};

#define COUNTER(name, member)                                                                      \
    {                                                                                              \
        .json = name, REPORT_AT(core_row, core.member)                                             \
    }

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Shares of what a core counted, under the headings of the table. */
#define SHARE(function, part, whole)                                                               \
    static struct cell function(const void *row)                                                   \
    {                                                                                              \
        const struct vs_machine_core *c = &((const struct core_row *)row)->core;                   \
        return cell_real(share(c->part, c->whole));                                                \
    }

SHARE(per_cycle, instructions, cycles)
SHARE(mispredicted, branches.mispredicted, branches.conditionals)
SHARE(indirect_mispredicted, branches.indirect_mispredicted, branches.indirects)
SHARE(fetch_misses, caches.fetch_misses, caches.fetches)
SHARE(load_misses, caches.load_misses, caches.loads)
SHARE(store_misses, caches.store_misses, caches.stores)
SHARE(l2_misses, caches.l2_misses, caches.l2_accesses)

static struct cell core_name(const void *row)
{
    return cell_word(((const struct core_row *)row)->name);
}

const struct report_column core_fact_columns[] = {
    {.text = "core", .get = core_name, .width = -4},
    {.json = "instructions",
     .text = "instructions",
     REPORT_AT(core_row, core.instructions),
     .width = 15},
    COUNTER("cycles", cycles),
    {.text = "ipc", .get = per_cycle, .width = 6, .places = 3},
    COUNTER("conditionals", branches.conditionals),
    COUNTER("mispredicted", branches.mispredicted),
    {.text = "mispr%", .get = mispredicted, .width = 7, .places = 2, .percent = true},
    COUNTER("indirects", branches.indirects),
    COUNTER("indirect_mispredicted", branches.indirect_mispredicted),
    {.text = "imispr%", .get = indirect_mispredicted, .width = 8, .places = 2, .percent = true},
    COUNTER("fetches", caches.fetches),
    COUNTER("fetch_misses", caches.fetch_misses),
    {.text = "  L1I m%", .get = fetch_misses, .width = 7, .places = 3, .percent = true},
    COUNTER("loads", caches.loads),
    COUNTER("load_misses", caches.load_misses),
    {.text = "  L1D r%", .get = load_misses, .width = 7, .places = 3, .percent = true},
    COUNTER("stores", caches.stores),
    COUNTER("store_misses", caches.store_misses),
    {.text = "  L1D w%", .get = store_misses, .width = 7, .places = 3, .percent = true},
    {.text = "L2 m%", .get = l2_misses, .width = 9, .places = 2, .percent = true},
    COUNTER("upgrades", caches.upgrades),
    COUNTER("spans", caches.spans),
    {.json = "transfers",
     .text = "transfers",
     REPORT_AT(core_row, core.caches.transfers),
     .width = 9},
    COUNTER("invalidations", caches.invalidations),
    COUNTER("back_invalidations", caches.back_invalidations),
    COUNTER("write_backs", caches.write_backs),
    COUNTER("l2_accesses", caches.l2_accesses),
    COUNTER("l2_misses", caches.l2_misses),
    COUNTER("memory_reads", caches.memory_reads),
    COUNTER("memory_writes", caches.memory_writes),
    {0},
};

enum { COLUMNS = sizeof(core_fact_columns) / sizeof(core_fact_columns[0]) - 1 };

static bool core_at(const void *row, size_t i, void *element)
{
    const struct core_facts *f = row;
    struct core_row *r = element;

    if (i >= f->count)
        return false;
    r->core = f->cores[i];
    snprintf(r->name, sizeof(r->name), "%zu", i);
    return true;
}

const struct report_rows core_fact_rows = {.size = sizeof(struct core_row), .at = core_at};

/* A counter is a column that has a name in JSON, which is its name in the fact too. */
static const char *counter_name(size_t column)
{
    return core_fact_columns[column].json;
}

static uint64_t *counter(struct vs_machine_core *core, size_t column)
{
    return (uint64_t *)((char *)core + core_fact_columns[column].offset);
}

/* ---- facts ----------------------------------------------------------------------------------- */

void core_fact_key(char key[16], unsigned core)
{
    snprintf(key, 16, "core.%u", core);
}

bool core_fact_is(const char *key)
{
    return !strncmp(key, "core.", 5);
}

void core_fact_write(char text[CORE_FACT_MAX], const struct vs_machine_core *core)
{
    struct vs_machine_core c = *core;
    size_t used = 0;

    for (size_t i = 0; i < COLUMNS && used < CORE_FACT_MAX; i++)
        if (counter_name(i))
            used += (size_t)snprintf(text + used, CORE_FACT_MAX - used, "%s%s=%" PRIu64,
                                     used ? " " : "", counter_name(i), *counter(&c, i));
}

/* Reads what core_fact_write wrote; a counter that is missing is 0, and an unknown one is
 * ignored. */
static void read_fact(const char *text, struct vs_machine_core *core)
{
    *core = (struct vs_machine_core){0};
    for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        size_t n = strcspn(text, "= ");

        for (size_t i = 0; i < COLUMNS && text[n] == '='; i++) {
            const char *name = counter_name(i);

            if (name && strlen(name) == n && !strncmp(name, text, n))
                *counter(core, i) = strtoull(text + n + 1, NULL, 10);
        }
    }
}

unsigned core_facts_of_run(const struct vs_reader *r, struct vs_machine_core *cores,
                           uint64_t *cycles)
{
    const char *text = vs_reader_meta(r, "cycles");
    unsigned n = 0;

    *cycles = text ? strtoull(text, NULL, 10) : 0;
    while (n < VS_CORES_MAX) {
        char key[16];

        core_fact_key(key, n);
        if (!(text = vs_reader_meta(r, key)))
            break;
        read_fact(text, &cores[n++]);
    }
    return n;
}

/* ---- for the user ---------------------------------------------------------------------------- */

void core_facts_text(struct out *o, const struct core_facts *facts, uint64_t cycles)
{
    struct core_row row, all = {.name = "all"};

    report_table_head(o, core_fact_columns, &all, 2);
    for (size_t i = 0; core_at(facts, i, &row); i++) {
        for (size_t k = 0; k < COLUMNS; k++)
            if (counter_name(k))
                *counter(&all.core, k) += *counter(&row.core, k);
        report_table_row(o, core_fact_columns, &row, 2);
    }
    all.core.cycles = cycles;
    report_table_row(o, core_fact_columns, &all, 2);
}
