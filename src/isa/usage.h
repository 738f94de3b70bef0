/* SPDX-License-Identifier: MIT */
/* What an instruction needs of a core, as far as its time is concerned. */
#ifndef ISA_USAGE_H
#define ISA_USAGE_H

#include <stdint.h>

/* Registers are DWARF's numbers; 0 stands for none, or for one that is always 0. */
struct vs_usage {
    uint8_t unit;              /* enum vs_unit */
    uint8_t rd, rs1, rs2, rs3; /* what it writes; what it reads */
};

#endif
