/* SPDX-License-Identifier: MIT */
/* The registers of an ISA, as a debugger and people see them.
 *
 * A run, a stream and a CPU have registers by number: DWARF's, and VS_REG_PC. What gdb calls a
 * register is such a register, or some bits of one: fflags of RV64's fcsr, ymm0h of what x86-64 has
 * in 32 bytes under the number of xmm0. */
#ifndef ISA_REGISTERS_H
#define ISA_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_REGISTER_BYTES 32 /* the largest that has a number */
#define VS_REGISTER_NONE  0xfffd

struct vs_register {
    const char *name;    /* the ABI's, which is also gdb's */
    const char *type;    /* gdb's */
    uint16_t number;     /* VS_REGISTER_NONE: nothing tells of it */
    uint16_t from, bits; /* which of the bits of that number; bits of 0: all that `size` holds */
    uint8_t size;        /* bytes, as gdb has it */
    uint8_t feature;     /* of gdb's target description: its place in `features` */
};

struct vs_register_feature {
    const char *name;
    const char *types; /* XML of the types that are its own, or "" */
};

struct vs_register_set {
    const char *architecture;       /* gdb's name of it */
    const struct vs_register *list; /* in gdb's order, in which its packets have them; those of a
                                     * feature follow each other */
    unsigned count;
    const struct vs_register_feature *features;
    unsigned feature_count;
    bool watch_after; /* gdb wants a watched access reported when it is done, as processors of the
                       * ISA do it; else before, and steps over it */
};

/* By its name. NULL: there is none. */
const struct vs_register *vs_register_find(const struct vs_register_set *set, const char *name);

/* Whether it is a register by itself, not some bits of one, and has a number. */
bool vs_register_is_whole(const struct vs_register *reg);

/* Its `size` bytes, from the `width` ones of the register that its number names. What these do not
 * have is zero. */
void vs_register_cut(const struct vs_register *reg, const uint8_t *whole, size_t width,
                     uint8_t *bytes);

#endif
