/* SPDX-License-Identifier: MIT */
/* Which steps of a slice a structure predicts wrongly: a part (technique/parts.h), whose key is a
 * struct vs_predicted_key. Steps that it does not predict are not wrong. */
#ifndef TECHNIQUE_PREDICTED_H
#define TECHNIQUE_PREDICTED_H

#include "technique/branches.h"
#include "technique/predictors.h"
#include "technique/tagged.h"

enum vs_predicted_what {
    VS_PREDICTED_OUTCOMES, /* of conditional direct branches */
    VS_PREDICTED_RETURNS,
    VS_PREDICTED_TARGETS, /* of other indirect branches */
    VS_PREDICTED_TAGGED,  /* all of that, by tagged predictors, which depend on each other */
};

/* To be zeroed before it is filled in. */
struct vs_predicted_key {
    struct vs_branches_key counted;
    uint32_t what;
    uint32_t shared;                        /* all cores have one set of predictors */
    struct vs_predictors_config predictors; /* or: */
    struct vs_tagged_config tagged;
};

struct vs_predicted {
    struct vs_part part;
    struct vs_branches *branches;
    uint64_t *wrong; /* by step a bit */

    /* private */
    struct vs_predictors *plain; /* one core's, or all cores'; of one kind, the other is NULL */
    struct vs_tagged *tagged;
    unsigned sets;
    uint32_t *list; /* steps whose outcomes are wrong */
    size_t room;    /* words of bits */
};

/* Gets those of a set of predictors that predict `what`; the rest of them does not matter. Returns
 * as vs_parts_get. */
int vs_predicted_get(struct vs_parts *parts, enum vs_predicted_what what,
                     const struct vs_branches_key *counted, bool shared,
                     const struct vs_predictors_config *config,
                     const struct vs_technique_setup *setup, struct vs_predicted **out);

/* Does the same for tagged predictors. */
int vs_predicted_get_tagged(struct vs_parts *parts, const struct vs_branches_key *counted,
                            bool shared, const struct vs_tagged_config *config,
                            const struct vs_technique_setup *setup, struct vs_predicted **out);

#endif
