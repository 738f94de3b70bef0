/* SPDX-License-Identifier: MIT */
/* Several techniques with their parameters, as users ask for them. */
#ifndef TECHNIQUE_SPEC_LIST_H
#define TECHNIQUE_SPEC_LIST_H

#include "technique/technique.h"

struct vs_spec_item {
    const char *config; /* as it was written after the colon; "default" */
    bool grouped;       /* it was not named itself, but is one of "all" and the like */
    struct vs_technique_spec spec;
};

/* A zeroed struct is an empty list. */
struct vs_spec_list {
    const struct vs_technique *const *table; /* the caller's, as in vs_technique_find_in */
    struct vs_spec_item *items;
    size_t count, capacity;
};

void vs_spec_list_fini(struct vs_spec_list *list);

/* Adds one technique. `config` must outlive the list. Returns 0; -VSE_NOMEM. */
int vs_spec_list_add(struct vs_spec_list *list, const char *config,
                     const struct vs_technique_spec *spec);

/* Adds what a text, which must outlive the list, names: a spec as vs_technique_parse takes it, or a
 * group. Returns 0; -VSE_NOMEM; as vs_technique_parse. */
int vs_spec_list_add_text(struct vs_spec_list *list, const char *text, struct vs_diag *diag);

/* Adds a dozen for a user who names none: the baselines, and what is good at its cost. Returns as
 * vs_spec_list_add_text. */
int vs_spec_list_add_usual(struct vs_spec_list *list, struct vs_diag *diag);

/* Returns the groups by number, and NULL after the last. "all" stands for every technique with its
 * defaults and every configuration that differs from them; the others stand for those of a kind. */
const char *vs_spec_group(unsigned number);

#endif
