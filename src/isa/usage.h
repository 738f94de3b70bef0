/* SPDX-License-Identifier: MIT */
/* What an instruction needs of a core: for a model of its time, and for whoever models one
 * elsewhere. */
#ifndef ISA_USAGE_H
#define ISA_USAGE_H

#include <stdint.h>

/* Registers are DWARF's numbers; 0 stands for none, or for one that is always 0. */
struct vs_usage {
    uint8_t unit;              /* enum vs_unit */
    uint8_t rd, rs1, rs2, rs3; /* what it writes; what it reads */
};

enum { VS_ACCESSED_MAX = 16 };

/* All registers that an instruction reads and writes, explicitly or not, also the program counter
 * and flags, by DWARF's numbers; parts of one count as the whole. If there are more, the others are
 * left out. */
struct vs_accessed {
    uint8_t read_count, written_count;
    uint8_t read[VS_ACCESSED_MAX], written[VS_ACCESSED_MAX];
};

#endif
