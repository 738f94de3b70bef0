/* SPDX-License-Identifier: MIT */
/* Registers, as the tool sends them, into payloads of events. */
#ifndef CAPTURE_WIRE_REGISTERS_H
#define CAPTURE_WIRE_REGISTERS_H

#include <stddef.h>

#include "capture/wire.h"
#include "isa/isa.h"
#include "vestige/event.h"

/* More than all registers take. */
#define VS_REGS_MAX 2048

/* The numbers that registers have in payloads. */
struct vs_wire_numbers {
    uint16_t gpr[16]; /* as struct wire_regs has them */
    uint16_t rflags, fs_base, gs_base, xmm0, mxcsr, st0, fcw, fsw;
};

/* Those of the ISA that the tool records. */
void vs_wire_numbers_init(struct vs_wire_numbers *numbers, const struct vs_isa *isa);

/* All registers, or only those that differ from `before` if that is not NULL; the program counter
 * among them. Appends at `used` of a buffer of VS_REGS_MAX bytes. Returns the new length. */
size_t vs_wire_registers_put(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                             const struct wire_regs *now, const struct wire_regs *before);

/* Those that a system call changes. */
size_t vs_wire_registers_put_call(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                                  const struct wire_syscall *call);

/* One of 8 bytes, by its number. */
size_t vs_wire_registers_put_one(uint8_t *buf, size_t used, unsigned number, uint64_t value);

#endif
