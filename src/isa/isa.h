/* SPDX-License-Identifier: MIT */
/* The isa layer: all that an instruction set is. Who walks code, records or replays it goes through
 * the set's row, and need not know which one it is; what is behind a row stands in a folder per
 * set.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "isa/abi.h"        /* what its Linux programs and their kernel agree on */
#include "isa/codemap.h"    /* code by address */
#include "isa/cpu.h"        /* execution: a CPU, and the code that it decoded */
#include "isa/cpu_log.h"    /* what it did */
#include "isa/cpu_memory.h" /* what it executes over */
#include "isa/insn.h"       /* static facts about an instruction, of any set */
#include "isa/operand.h"    /* the same of registers and memory */
#include "isa/ram.h"        /* a ready-made memory */
#include "isa/registers.h"  /* the registers of a set, for a debugger and people */
#include "isa/set.h"        /* the sets' rows, by name */
#include "isa/syscalls.h"   /* Linux's system calls and signals, of any set */
#include "isa/text.h"       /* a program's code, and how it changes */

#endif
