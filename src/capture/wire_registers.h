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
    uint16_t rflags, fs_base, gs_base, xmm0, mxcsr, mm0, fcw, fsw, tags;
};

/* Finds them in the ISA that the tool records. */
void vs_wire_numbers_init(struct vs_wire_numbers *numbers, const struct vs_isa *isa);

/* Which registers an event names. */
enum vs_wire_which {
    VS_WIRE_CHANGED, /* those that differ from before */
    VS_WIRE_NEW,     /* all, but of x87 only those that are not zero: the reader knows of none */
    VS_WIRE_ALL,
};

/* Appends registers, including the program counter, at `used` of a buffer of VS_REGS_MAX bytes.
 * `before` is used only for VS_WIRE_CHANGED. Returns the new length. */
size_t vs_wire_registers_put(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                             const struct wire_regs *now, const struct wire_regs *before,
                             enum vs_wire_which which);

/* Likewise appends those that a system call changes; `bases` are fs's and gs's before it, and
 * become what they are after it. */
size_t vs_wire_registers_put_call(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                                  const struct wire_syscall *call, uint64_t bases[2]);

/* Likewise appends one of 8 bytes, by its number. */
size_t vs_wire_registers_put_one(uint8_t *buf, size_t used, unsigned number, uint64_t value);

#endif
