/* SPDX-License-Identifier: MIT */
/* The isa layer: what an instruction is, statically, from its bytes and its address alone.
 *
 * An ISA's decoder fills in the same struct vs_insn, so that who walks code need not know which
 * one it walks.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "isa/insn.h"       /* the facts, of any ISA */
#include "isa/operand.h"    /* the same of registers and memory */
#include "isa/rv64/rv64.h"  /* RV64GC: the list of instructions, decoding, text */
#include "isa/set.h"        /* either, by name */
#include "isa/x86_64/x86.h" /* x86-64: decoding, and text for people */

#endif
