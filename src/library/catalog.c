/* SPDX-License-Identifier: MIT */
#include "library/catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "library/sized.h"
#include "technique/plugins.h"

struct vs_catalog {
    struct vs_plugins plugins;
};

/* The public names of what a technique serves. */
_Static_assert((int)VS_REPORTS_FLOW == (int)VS_TECHNIQUE_FLOW &&
                   (int)VS_REPORTS_VALUES == (int)VS_TECHNIQUE_DATA &&
                   (int)VS_REPORTS_ADDRESSES == (int)VS_TECHNIQUE_ADDRESS,
               "reports are kinds");

const struct vs_technique *const *vs_catalog_table(const struct vs_catalog *c)
{
    return c && c->plugins.table ? (const struct vs_technique *const *)c->plugins.table
                                 : vs_techniques;
}

int vs_catalog_open(struct vs_catalog **c)
{
    return (*c = calloc(1, sizeof(**c))) ? 0 : -VSE_NOMEM;
}

void vs_catalog_close(struct vs_catalog *c)
{
    if (c)
        vs_plugins_fini(&c->plugins);
    free(c);
}

int vs_catalog_plugin(struct vs_catalog *c, const char *path, struct vs_diag *diag)
{
    return c && path ? vs_plugins_add(&c->plugins, path, diag)
                     : vs_diag_set(diag, -VSE_INVAL, -1, -1, "no catalog, or no plugin is named");
}

int vs_catalog_at(const struct vs_catalog *c, size_t i, struct vs_catalog_entry *entry)
{
    const struct vs_technique *const *table = vs_catalog_table(c);
    for (size_t k = 0; k <= i; k++)
        if (!table[k])
            return -VSE_NOTFOUND;
    const struct vs_catalog_entry own = {
        .name = table[i]->name, .summary = table[i]->summary, .reports = table[i]->serves};
    return vs_sized_give(entry, &own, sizeof(own));
}

/* ---- hardware -------------------------------------------------------------------------------- */

static int give_item(void *to, const struct vs_cost_item *item)
{
    struct vs_hardware own = {.copies = item->copies,
                              .sram = item->cost.sram,
                              .cam = item->cost.cam,
                              .registers = item->cost.registers,
                              .comparators = item->cost.comparators,
                              .tristate = item->cost.tristate,
                              .gates2 = vs_cost_half_gates(item->cost)};
    snprintf(own.name, sizeof(own.name), "%s", item->name);
    return vs_sized_give(to, &own, sizeof(own));
}

int64_t vs_hardware_of(const struct vs_catalog *c, const char *text,
                       const struct vs_machine *machine, struct vs_hardware *list, size_t capacity,
                       struct vs_diag *diag)
{
    struct vs_machine m = {0};
    struct vs_technique_spec spec;
    struct vs_cost_list costs;
    size_t stride = capacity ? list->size : 0;
    int err = text ? vs_sized_take(&m, sizeof(m), machine) : -VSE_INVAL;
    if (err || !m.cores || m.cores > 65536 || (m.address_bits != 32 && m.address_bits != 64))
        return vs_diag_set(diag, err ? err : -VSE_INVAL, -1, -1,
                           "there is no machine of %u cores and %u bits of address", m.cores,
                           m.address_bits);
    const struct vs_technique_setup setup = {
        .cores = m.cores, .address_bits = m.address_bits, .timed = m.timed};
    err = vs_technique_parse_in(vs_catalog_table(c), &spec, text, diag);
    if (err)
        return err;
    vs_technique_settle(&spec, m.timed);
    if ((err = vs_technique_cost(&spec, &setup, &costs)) < 0)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    for (size_t i = 0; i < costs.count && i < capacity; i++) {
        void *to = (char *)list + i * stride;
        *(size_t *)to = stride;
        if (give_item(to, &costs.items[i]))
            return vs_diag_set(diag, -VSE_INVAL, -1, -1, "the list's first element has no size");
    }
    return (int64_t)costs.count;
}
