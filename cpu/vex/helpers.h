/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What translated code calls. Functions that get a spot may leave translated code: they do not
 * return then. */
#ifndef HELPERS_H
#define HELPERS_H

#include "core.h"

/* Of so many bytes; those of more than 8 go through the lane. */
uint64_t helper_read_1(Guest *g, uint64_t addr, Spot spot);
uint64_t helper_read_2(Guest *g, uint64_t addr, Spot spot);
uint64_t helper_read_4(Guest *g, uint64_t addr, Spot spot);
uint64_t helper_read_8(Guest *g, uint64_t addr, Spot spot);
void helper_read_16(Guest *g, uint64_t addr, Spot spot);
void helper_read_32(Guest *g, uint64_t addr, Spot spot);
void helper_write_1(Guest *g, uint64_t addr, Spot spot, uint64_t value);
void helper_write_2(Guest *g, uint64_t addr, Spot spot, uint64_t value);
void helper_write_4(Guest *g, uint64_t addr, Spot spot, uint64_t value);
void helper_write_8(Guest *g, uint64_t addr, Spot spot, uint64_t value);
void helper_write_16(Guest *g, uint64_t addr, Spot spot, uint64_t unused);
void helper_write_32(Guest *g, uint64_t addr, Spot spot, uint64_t unused);

/* Values from outside, of so many bytes. */
uint64_t helper_outside(Guest *g, Spot spot, uint64_t size);
void helper_cpuid(Guest *g, Spot spot, uint64_t size);
void helper_rdtscp(Guest *g, Spot spot, uint64_t size);

/* Calls one of VEX's helpers that access memory, with the operand in our scratch. */
uint64_t helper_call(Guest *g, const struct site *s, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d);

/* Keeps all registers, for an instruction that changes them before its last access. */
void helper_keep(Guest *g);

/* What VEX puts on the program's stack for itself. */
void helper_scratch_write(Guest *g, uint64_t addr, uint64_t size, uint64_t value);
uint64_t helper_scratch_read(Guest *g, uint64_t addr, uint64_t size);

/* Leaves translated code if the division cannot be done; size is the divisor's. */
void helper_check_unsigned(Guest *g, Spot spot, uint64_t high, uint64_t low, uint64_t divisor,
                           uint64_t size);
void helper_check_signed(Guest *g, Spot spot, uint64_t high, uint64_t low, uint64_t divisor,
                         uint64_t size);

/* Leaves translated code: the program may not do this. */
void helper_refuse(Guest *g, Spot spot);

/* Tells about a branch: it goes `to` if it leaves by its exit, or else to `next`. */
void helper_branch(Guest *g, Spot spot, Branch branch, uint64_t taken, uint64_t to, uint64_t next);

#endif
