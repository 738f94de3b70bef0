/* SPDX-License-Identifier: MIT */
/* What trace modules took in gates when they were synthesized: bench/results/rtl-gates.csv, of
 * which tools/rtl-table makes a source file when the program is built. */
#ifndef CLI_MEASURED_H
#define CLI_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "technique/technique.h"

/* A module as a whole. */
struct measured {
    const char *spec; /* as vs_technique_parse takes it */
    unsigned cores;
    bool timed;
    const char *options; /* the module's parameters that no technique has; may be empty */
    uint64_t logic, flip_flops;
    uint64_t gates; /* both, in NAND2 gates */
    uint64_t memory_bits;
    uint64_t levels; /* cells on the longest path */
};

/* In the table's order; the last one has no spec. */
extern const struct measured measured_rows[];

/* Returns number i, from 0 up, of the rows that were measured with exactly these parameters, or
 * NULL. */
const struct measured *measured_of(const struct vs_technique_spec *spec, uint64_t cores, size_t i);

#endif
