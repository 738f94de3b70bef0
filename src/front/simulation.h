/* SPDX-License-Identifier: MIT */
/* What commands that use the simulated platform share: its options and statistics. */
#ifndef FRONT_SIMULATION_H
#define FRONT_SIMULATION_H

#include "front/options.h"
#include "front/out.h"
#include "target/machine.h"

enum { SIMULATION_TEXT = 240 };

struct simulation_options {
    uint64_t cores, seed;
    bool timed, check;
    const char *preset, *config;
    struct option_list set, env;
};

/* Rows of a table of options, for a struct simulation_options at `base` of the command's struct. */
#define SIMULATION_OPTIONS(base)                                                                   \
    {.name = "cores",                                                                              \
     .argument = "N",                                                                              \
     .help = "number of simulated cores, 1 to 64 (1)",                                             \
     .type = OPTION_U64,                                                                           \
     .offset = (base) + offsetof(struct simulation_options, cores),                                \
     .min = 1,                                                                                     \
     .max = VS_CORES_MAX},                                                                         \
        {.name = "timed",                                                                          \
         .help = "simulate caches and pipelines; events then have cycles",                         \
         .offset = (base) + offsetof(struct simulation_options, timed)},                           \
        {.name = "preset",                                                                         \
         .argument = "NAME",                                                                       \
         .help = "take the caches of a published platform: cs32\n"                                 \
                 "(default), cs16, tewar",                                                         \
         .type = OPTION_STRING,                                                                    \
         .offset = (base) + offsetof(struct simulation_options, preset),                           \
         .offer = simulation_offer_preset},                                                        \
        {.name = "platform",                                                                       \
         .argument = "FILE",                                                                       \
         .help = "read the platform's parameters, lines NAME = VALUE",                             \
         .type = OPTION_STRING,                                                                    \
         .offset = (base) + offsetof(struct simulation_options, config)},                          \
        {.name = "set",                                                                            \
         .argument = "NAME=VALUE",                                                                 \
         .help = "set one parameter of the platform; may be repeated\n"                            \
                 "('vestige simulate --list')",                                                    \
         .type = OPTION_LIST,                                                                      \
         .offset = (base) + offsetof(struct simulation_options, set),                              \
         .offer = simulation_offer_parameter},                                                     \
        {.name = "seed",                                                                           \
         .argument = "N",                                                                          \
         .help = "choose another interleaving of threads (0: none)",                               \
         .type = OPTION_U64,                                                                       \
         .offset = (base) + offsetof(struct simulation_options, seed)},                            \
        {.name = "env",                                                                            \
         .argument = "NAME[=VALUE]",                                                               \
         .help = "set a variable for the simulated program, whose\n"                               \
                 "environment is otherwise empty; may be repeated",                                \
         .type = OPTION_LIST,                                                                      \
         .offset = (base) + offsetof(struct simulation_options, env)},                             \
    {                                                                                              \
        .name = "check-coherence", .help = "verify caches and memory at each access (slow)",       \
        .offset = (base) + offsetof(struct simulation_options, check)                              \
    }

/* For these rows. */
bool simulation_offer_preset(unsigned number, char word[OPTION_WORD]);
bool simulation_offer_parameter(unsigned number, char word[OPTION_WORD]);

/* Whether any of the options was given. */
bool simulation_asked(const struct simulation_options *o);

/* Makes the platform that the options describe. Returns 0; an error, with diag. */
int simulation_config(const struct simulation_options *o, struct vs_target_config *config,
                      struct vs_diag *diag);

/* Makes the environment, which ends with NULL and is freed with simulation_free_env. Returns NULL
 * if there is no memory. */
char **simulation_env(const struct simulation_options *o);
void simulation_free_env(char **env);

/* Notes the statistics as a run's facts: "cores" and, in a timed run, "cycles" and "core.N".
 * Returns 0; what put returned. */
int simulation_facts(const struct vs_machine_stats *stats, bool timed,
                     int (*put)(void *context, const char *key, const char *value), void *context);

/* Says why the program's end is missing; NULL if it is not. */
const char *simulation_incomplete(const struct vs_machine_result *result,
                                  char text[SIMULATION_TEXT]);

/* The exit status: the program's, or that of a simulation which the program did not end. */
int simulation_status(const struct vs_machine_result *result);

/* Print lines for the user: the calls that were not supported; the summary has cycles as well if
 * `timed`. */
void simulation_notes(const struct vs_machine_result *result);
void simulation_summary(const struct vs_machine_result *result, bool timed);

#endif
