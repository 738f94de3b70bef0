/* SPDX-License-Identifier: MIT */
/* x86-64 registers, as the tool sends them, into payloads of events. */
#ifndef CAPTURE_REGISTERS_H
#define CAPTURE_REGISTERS_H

#include <stddef.h>

#include "capture/wire.h"
#include "vestige/event.h"

/* More than all registers take. */
#define VS_REGS_MAX 2048

/* All registers, or only those that differ from `before` if that is not NULL; the program counter
 * among them. Appends at `used` of a buffer of VS_REGS_MAX bytes. Returns the new length. */
size_t vs_x86_registers(uint8_t *buf, size_t used, const struct wire_regs *now,
                        const struct wire_regs *before);

/* One register of 8 bytes, by its DWARF number. */
size_t vs_x86_register(uint8_t *buf, size_t used, unsigned number, uint64_t value);

enum { VS_X86_RAX = 0, VS_X86_RCX = 2, VS_X86_R11 = 11 };

#endif
