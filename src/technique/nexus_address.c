/* SPDX-License-Identifier: MIT */
/* daNX: the Nexus-like baseline. It sends every address as its exclusive or with the core's last
 * one, in groups of bits (technique/groups.h), which with their headers are bytes:
 *
 *   Ti | [dCC] | groups */
#include <stdlib.h>

#include "technique/address_common.h"
#include "technique/groups.h"

struct state {
    unsigned group, width;
    uint64_t last[]; /* by core */
};

static int open(void **state, const struct vs_address_params *params,
                const struct vs_technique_setup *setup)
{
    struct state *s = *state = calloc(1, sizeof(*s) + setup->cores * sizeof(s->last[0]));
    if (!s)
        return -VSE_NOMEM;
    s->group = (unsigned)params->group;
    s->width = setup->address_bits;
    return 0;
}

static void put(void *state, struct vs_port_writer *port, const struct vs_address_operand *operand,
                uint64_t addr, struct vs_address_counts *counts)
{
    struct state *s = state;
    (void)counts;
    vs_groups_put(port, VS_FIELD_ADDRESS, s->group, addr ^ s->last[operand->core]);
    s->last[operand->core] = addr;
}

static int get(void *state, struct vs_port_reader *port, const struct vs_address_operand *operand,
               uint64_t *addr)
{
    struct state *s = state;
    uint64_t differ;
    int err = vs_groups_get(port, VS_FIELD_ADDRESS, s->group, s->width, &differ);
    if (!err)
        *addr = s->last[operand->core] ^= differ;
    return err;
}

static void cost(const struct vs_address_params *params, const struct vs_technique_setup *setup,
                 struct vs_cost_list *list)
{
    (void)params;
    vs_cost_list_add(list, "last address", (struct vs_cost){.registers = setup->address_bits},
                     setup->cores);
}

const struct vs_address_coder vs_address_nexus = {
    .open = open, .put = put, .get = get, .close = free, .cost = cost};

/* ---- technique ------------------------------------------------------------------------------- */

VS_ADDRESS_MACHINES(nexus, put)

static const struct vs_parameter parameters[] = {
    VS_ADDRESS_NUMBER(group, 1, 64, "bits of a group"), VS_ADDRESS_CYCLE_ROWS, {.name = NULL}};

const struct vs_technique vs_technique_danx = {
    .serves = VS_TECHNIQUE_ADDRESS,
    .name = "daNX",
    .summary = "every address, as what differs from the last one",
    .parameters = parameters,
    .params_size = sizeof(struct vs_address_params),
    .defaults = "group=6 dcc=8 dcc_next=8",
    .cycles = vs_address_cycle_chunks,
    .cost = nexus_cost,
    .encoder = &nexus_encoder,
    .address_decoder = &nexus_decoder,
};
