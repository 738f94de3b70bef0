/* SPDX-License-Identifier: MIT */
#include "front/core_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct vs_machine_core, member)

static const struct {
    const char *name;
    size_t offset;
} counters[] = {
    {"instructions", AT(instructions)},
    {"cycles", AT(cycles)},
    {"conditionals", AT(branches.conditionals)},
    {"mispredicted", AT(branches.mispredicted)},
    {"indirects", AT(branches.indirects)},
    {"indirect_mispredicted", AT(branches.indirect_mispredicted)},
    {"fetches", AT(caches.fetches)},
    {"fetch_misses", AT(caches.fetch_misses)},
    {"loads", AT(caches.loads)},
    {"load_misses", AT(caches.load_misses)},
    {"stores", AT(caches.stores)},
    {"store_misses", AT(caches.store_misses)},
    {"upgrades", AT(caches.upgrades)},
    {"spans", AT(caches.spans)},
    {"transfers", AT(caches.transfers)},
    {"invalidations", AT(caches.invalidations)},
    {"back_invalidations", AT(caches.back_invalidations)},
    {"write_backs", AT(caches.write_backs)},
    {"l2_accesses", AT(caches.l2_accesses)},
    {"l2_misses", AT(caches.l2_misses)},
    {"memory_reads", AT(caches.memory_reads)},
    {"memory_writes", AT(caches.memory_writes)},
};

enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };

static uint64_t get(const struct vs_machine_core *core, size_t i)
{
    return *(const uint64_t *)((const char *)core + counters[i].offset);
}

static void set(struct vs_machine_core *core, size_t i, uint64_t value)
{
    *(uint64_t *)((char *)core + counters[i].offset) = value;
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
    size_t used = 0;

    for (size_t i = 0; i < COUNTERS && used < CORE_FACT_MAX; i++)
        used += (size_t)snprintf(text + used, CORE_FACT_MAX - used, "%s%s=%" PRIu64, i ? " " : "",
                                 counters[i].name, get(core, i));
}

/* Back from core_fact_write; what is not there is 0, what is not known is left out. */
static void read_fact(const char *text, struct vs_machine_core *core)
{
    *core = (struct vs_machine_core){0};
    for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        size_t name = strcspn(text, "= ");

        for (size_t i = 0; i < COUNTERS && text[name] == '='; i++)
            if (strlen(counters[i].name) == name && !strncmp(counters[i].name, text, name))
                set(core, i, strtoull(text + name + 1, NULL, 10));
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

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void row(struct out *o, const char *name, const struct vs_machine_core *c, uint64_t cycles)
{
    const struct vs_hierarchy_stats *s = &c->caches;

    out_printf(o, "  %-4s %15s %6.3f %7.2f %8.2f %7.3f %7.3f %7.3f %9.2f %9s\n", name,
               DIGITS(c->instructions), cycles ? (double)c->instructions / (double)cycles : 0,
               percent(c->branches.mispredicted, c->branches.conditionals),
               percent(c->branches.indirect_mispredicted, c->branches.indirects),
               percent(s->fetch_misses, s->fetches), percent(s->load_misses, s->loads),
               percent(s->store_misses, s->stores), percent(s->l2_misses, s->l2_accesses),
               DIGITS(s->transfers));
}

void core_facts_text(struct out *o, const struct vs_machine_core *cores, unsigned count,
                     uint64_t cycles)
{
    struct vs_machine_core all = {0};
    char name[16];

    out_printf(o, "  core    instructions    ipc  mispr%%  imispr%%   L1I m%%   L1D r%%   L1D w%%"
                  "     L2 m%% transfers\n");
    for (unsigned i = 0; i < count; i++) {
        for (size_t k = 0; k < COUNTERS; k++)
            set(&all, k, get(&all, k) + get(&cores[i], k));
        snprintf(name, sizeof(name), "%u", i);
        row(o, name, &cores[i], cores[i].cycles);
    }
    row(o, "all", &all, cycles);
}

void core_facts_json(struct json *j, const struct vs_machine_core *cores, unsigned count)
{
    json_array(j, "cores");
    for (unsigned i = 0; i < count; i++) {
        json_object(j, NULL);
        for (size_t k = 0; k < COUNTERS; k++)
            json_u64(j, counters[k].name, get(&cores[i], k));
        json_end(j);
    }
    json_end(j);
}
