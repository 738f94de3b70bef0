/* SPDX-License-Identifier: MIT */
/* Techniques as users name them: the values of -t. */
#ifndef CLI_SPECS_H
#define CLI_SPECS_H

#include "front/options.h"
#include "technique/spec_list.h"
#include "vestige/run.h"

/* Parses the values of -t (technique/spec_list.h); without any, takes the usual dozen. Returns
 * CLI_DONE, or the status after a message. vs_spec_list_fini is needed in any case. */
int specs_parse(struct cli *cli, struct vs_spec_list *specs, const struct option_list *list);

/* Adds a technique. Returns CLI_DONE, or the status after a message. */
int specs_add(struct cli *cli, struct vs_spec_list *specs, const char *config,
              const struct vs_technique_spec *spec);

/* Parses one technique, from a -t that must be there. Returns as specs_add. */
int specs_parse_one(struct cli *cli, struct vs_technique_spec *spec, const char *text);

/* Whether a run lacks what the technique needs goes to *lacks. If it does, says why, unless the
 * spec is one of a group and the events were not recorded. Returns CLI_DONE; CLI_USAGE if it lacks
 * something and the spec is not one of a group. */
int specs_lack(struct cli *cli, const struct vs_spec_item *spec, const char *path,
               const struct vs_run_info *info, bool *lacks);

/* Says that a run has nothing for any of the techniques asked for. Returns the status. */
int specs_fit_nothing(struct cli *cli, const char *path);

/* What completion offers for -t: the techniques' names with their configurations and parameters;
 * the first also offers the words that stand for many techniques. */
bool specs_offer(unsigned number, char word[OPTION_WORD]);
bool specs_offer_one(unsigned number, char word[OPTION_WORD]);

/* The row of -t. */
#define SPECS_OPTION(where, text)                                                                  \
    {                                                                                              \
        .name = "technique", .letter = 't', .argument = "SPEC", .help = text, .type = OPTION_LIST, \
        .offset = (where), .offer = specs_offer                                                    \
    }

/* The row of -t for a command that takes exactly one. */
#define SPECS_OPTION_ONE(where)                                                                    \
    {                                                                                              \
        .name = "technique", .letter = 't', .argument = "SPEC", .help = "the technique to use",    \
        .type = OPTION_LIST, .offset = (where), .offer = specs_offer_one                           \
    }

#define SPECS_HELP_ONE                                                                             \
    "A SPEC is NAME, or NAME:ITEM,ITEM,..., where an item is a configuration or\n"                 \
    "parameter=value: mcfTR_e:small,gshare=2048. 'vestige techniques' lists them."

#define SPECS_HELP                                                                                 \
    SPECS_HELP_ONE                                                                                 \
    "\n"                                                                                           \
    "all stands for every technique, and control-flow, load-values and\n"                          \
    "data-addresses for those of a kind."

#endif
