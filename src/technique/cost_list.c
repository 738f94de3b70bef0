/* SPDX-License-Identifier: MIT */
/* Lists of what structures cost, as cost functions make them; in a file of its own, so that a
 * plugin gets it without the table of techniques. */
#include "technique/technique.h"

void vs_cost_list_add(struct vs_cost_list *list, const char *name, struct vs_cost cost,
                      uint64_t copies)
{
    if (list->count < VS_COST_ITEMS)
        list->items[list->count++] = (struct vs_cost_item){name, cost, copies};
}

struct vs_cost vs_cost_list_sum(const struct vs_cost_list *list)
{
    struct vs_cost sum = {0};
    for (size_t i = 0; i < list->count; i++)
        vs_cost_add(&sum, list->items[i].cost, list->items[i].copies);
    return sum;
}
