/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What translated code calls. Functions that get a site may leave translated code: they do not
 * return then. */
#ifndef HELPERS_H
#define HELPERS_H

#include "core.h"

/* Up to 8 bytes; wide operands go through the lane. */
uint64_t helper_read(Guest *g, uint64_t addr, const struct site *s);
void helper_read_wide(Guest *g, uint64_t addr, const struct site *s);
void helper_write(Guest *g, uint64_t addr, const struct site *s, uint64_t value);
void helper_write_wide(Guest *g, uint64_t addr, const struct site *s);

/* Values from outside. */
uint64_t helper_outside(Guest *g, const struct site *s);
void helper_cpuid(Guest *g, const struct site *s);
void helper_rdtscp(Guest *g, const struct site *s);

/* Calls one of VEX's helpers that access memory, with the operand in our scratch. */
uint64_t helper_call(Guest *g, const struct site *s, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d);

/* Keeps all registers, for an instruction that changes them before its last access. */
void helper_keep(Guest *g);

/* What VEX puts on the program's stack for itself. */
void helper_scratch_write(Guest *g, uint64_t addr, uint64_t size, uint64_t value);
uint64_t helper_scratch_read(Guest *g, uint64_t addr, uint64_t size);

/* Leaves translated code if the division cannot be done; site->size is the divisor's size. */
void helper_check_unsigned(Guest *g, const struct site *s, uint64_t high, uint64_t low,
                           uint64_t divisor);
void helper_check_signed(Guest *g, const struct site *s, uint64_t high, uint64_t low,
                         uint64_t divisor);

/* Leaves translated code: the program may not do this. */
void helper_refuse(Guest *g, const struct site *s);

/* Tells about a branch: `taken` if it leaves by its exit, and otherwise goes to `next`. */
void helper_branch(Guest *g, const struct site *s, uint64_t taken, uint64_t next);

#endif
