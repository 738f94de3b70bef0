/* SPDX-License-Identifier: MIT */
/* The isa layer: everything that an instruction set is. Whoever walks, records or replays code goes
 * through the set's row and need not know which set it is; what is behind a row is in a folder for
 * each set. */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "isa/abi.h"        /* what its Linux programs and their kernel agree on */
#include "isa/codemap.h"    /* code by address */
#include "isa/cpu.h"        /* execution: a CPU, and the code that it decoded */
#include "isa/cpu_load.h"   /* finds a CPU */
#include "isa/cpu_log.h"    /* what it did */
#include "isa/cpu_memory.h" /* what it executes over */
#include "isa/insn.h"       /* static facts about an instruction of any set */
#include "isa/noted.h"      /* whether a run can be replayed exactly */
#include "isa/operand.h"    /* what an instruction does with registers and memory */
#include "isa/ram.h"        /* a ready-made memory */
#include "isa/registers.h"  /* the registers of a set, for a debugger and people */
#include "isa/set.h"        /* the sets' rows, by name */
#include "isa/syscalls.h"   /* Linux's system calls and signals on any set */
#include "isa/text.h"       /* a program's code, and how it changes */
#include "isa/usage.h"      /* what an instruction needs of a core */

#endif
