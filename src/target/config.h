/* SPDX-License-Identifier: MIT */
/* What the target is: cores, caches, latencies. Every parameter has a name, by which configuration
 * files and the command line set it. */
#ifndef TARGET_CONFIG_H
#define TARGET_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/parameter.h"
#include "target/hierarchy.h"
#include "vestige/error.h"

#define VS_CORES_MAX 64

#define VS_TARGET_ISA "rv64" /* what the cores execute */

/* Numbers are cycles where nothing else is said. */
struct vs_target_config {
    uint64_t cores;
    uint64_t timed;     /* 0: an instruction is a cycle, and there are no caches */
    uint64_t seed;      /* perturbs the interleaving and the program's random numbers */
    uint64_t frequency; /* MHz: how fast the program's time passes */
    uint64_t slice;     /* how long a thread runs while others wait for a core */
    uint64_t quantum;   /* untimed: instructions of a core before the next core's turn */
    uint64_t memory;    /* MiB that the program may touch */
    uint64_t check;     /* verify coherence at each access */

    uint64_t width;   /* instructions that issue in a cycle */
    uint64_t penalty; /* of a mispredicted branch */
    uint64_t multiply, divide, fp_add, fp_multiply, fp_fused, fp_divide, fp_root, fp_convert,
        fp_move;
    uint64_t system;            /* a system call's latency */
    uint64_t gshare, ras, ibtb; /* entries of the predictors; 0: none */

    /* Sizes and lines are in bytes; policies are enum vs_cache_policy. */
    uint64_t line;
    uint64_t l1i_size, l1i_ways, l1i_policy;
    uint64_t l1d_size, l1d_ways, l1d_policy;
    uint64_t l2_size; /* for each core */
    uint64_t l2_ways, l2_policy;
    uint64_t l1, l2, dram; /* latencies */
    uint64_t transfer;     /* from another core's cache */
    uint64_t upgrade;      /* invalidating others' copies */
    uint64_t jitter;       /* the most that is added to a miss if `seed` is not 0 */
};

/* All parameters, ended by a row without a name. */
extern const struct vs_parameter vs_target_parameters[];

/* The names of the presets, ended by NULL; the first is the default. */
extern const char *const vs_target_presets[];

/* Sets one core, a preset's caches, and the defaults for everything else. Returns 0;
 * -VSE_NOTFOUND (there is no such preset). */
int vs_target_config_init(struct vs_target_config *c, const char *preset);

/* Sets a parameter. Returns what vs_parameter_set does. */
int vs_target_config_set(struct vs_target_config *c, const char *name, const char *value,
                         struct vs_diag *diag);

/* Reads a file of lines NAME = VALUE. A # starts a comment, and a line `preset = NAME` sets the
 * parameters of a preset. Returns 0; -VSE_IO; -VSE_INVAL with the line; -VSE_NOMEM. */
int vs_target_config_load(struct vs_target_config *c, const char *path, struct vs_diag *diag);

/* Checks that the parameters fit together. Returns 0; -VSE_INVAL. */
int vs_target_config_check(const struct vs_target_config *c, struct vs_diag *diag);

/* Gets what concerns the caches, without a callback for checking. */
void vs_target_config_caches(const struct vs_target_config *c, struct vs_hierarchy_config *caches);

#endif
