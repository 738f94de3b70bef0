/* SPDX-License-Identifier: MIT */
/* An ISA's registers, as a debugger and people see them.
 *
 * A run, a stream and a CPU know registers by number: DWARF's, or VS_REG_PC. What gdb calls a
 * register is such a register or some bits of one: fflags is part of RV64's fcsr, and ymm0h of the
 * 32 bytes that x86-64 has under the number of xmm0. */
#ifndef ISA_REGISTERS_H
#define ISA_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_REGISTER_BYTES 32 /* the largest that has a number */
#define VS_REGISTER_NONE  0xfffd
#define VS_REGISTER_ONES  0xfffc
#define VS_REGISTER_PAIRS 0x8000

struct vs_register {
    const char *name; /* the ABI's, which is also gdb's */
    const char *type; /* gdb's */
    uint16_t number;  /* VS_REGISTER_NONE: its value is never known; VS_REGISTER_ONES: its bits are
                       * always set */
    uint16_t from, bits; /* which bits of that number it is; bits 0: all that `size` holds; with
                          * VS_REGISTER_PAIRS, each of them is two bits here: 00 if it is set, or
                          * else 11 */
    uint8_t size;        /* bytes, as gdb has it */
    uint8_t feature;     /* in gdb's target description: its place in `features` */
};

struct vs_register_feature {
    const char *name;
    const char *types; /* the XML of its own types, or "" */
};

struct vs_register_set {
    const char *architecture;       /* gdb's name for it */
    const struct vs_register *list; /* in the order of gdb's packets; the registers of a feature
                                     * follow each other */
    unsigned count;
    const struct vs_register_feature *features;
    unsigned feature_count;
    bool watch_after; /* gdb wants a watched access reported once it is done, as the ISA's
                       * processors do; if not, it wants it reported before, and steps over it */
};

/* Returns the register with that name, or NULL. */
const struct vs_register *vs_register_find(const struct vs_register_set *set, const char *name);

/* Returns whether it has a number and is a register by itself, not some bits of one. */
bool vs_register_is_whole(const struct vs_register *reg);

/* Returns whether its value is that of a number. */
bool vs_register_is_numbered(const struct vs_register *reg);

/* Gets its `size` bytes from the `width` bytes of the register that its number names, if it has a
 * number. What those lack is zero. */
void vs_register_cut(const struct vs_register *reg, const uint8_t *whole, size_t width,
                     uint8_t *bytes);

#endif
