/* SPDX-License-Identifier: MIT */
/* Puts registers, as the tool sends them, into events' payloads. */
#ifndef CAPTURE_WIRE_REGISTERS_H
#define CAPTURE_WIRE_REGISTERS_H

#include <stddef.h>

#include "capture/wire.h"
#include "isa/isa.h"
#include "vestige/event.h"

/* This is more than all registers take. */
#define VS_REGS_MAX 2048

/* The numbers that registers have in payloads. */
struct vs_wire_numbers {
    uint16_t gpr[16]; /* in the order of struct wire_regs */
    uint16_t rflags, fs_base, gs_base, xmm0, mxcsr, st0, fcw, fsw;
};

/* Finds them in the ISA that the tool records. */
void vs_wire_numbers_init(struct vs_wire_numbers *numbers, const struct vs_isa *isa);

/* Appends all registers, or only those that differ from `before` if that is not NULL, including the
 * program counter, at `used` of a buffer of VS_REGS_MAX bytes. Returns the new length. */
size_t vs_wire_registers_put(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                             const struct wire_regs *now, const struct wire_regs *before);

/* Likewise appends those that a system call changes. */
size_t vs_wire_registers_put_call(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                                  const struct wire_syscall *call);

/* Likewise appends one of 8 bytes, by its number. */
size_t vs_wire_registers_put_one(uint8_t *buf, size_t used, unsigned number, uint64_t value);

#endif
