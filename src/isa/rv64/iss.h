/* SPDX-License-Identifier: MIT */
/* The iss layer: execution of RV64GC with Zba, Zbb, Zbs, in user mode, over any memory.
 *
 * A machine is some harts, a port, and a struct vs_code for their decoded instructions. No state
 * lies elsewhere: any number of machines run side by side, each in one thread at a time. Harts of
 * one machine take turns, so that what they do is in one order, and the same in every run.
 */
#ifndef ISA_RV64_ISS_H
#define ISA_RV64_ISS_H

#include <stddef.h>
#include <stdint.h>

#include "isa/rv64/iss_code.h"   /* decoded instructions */
#include "isa/rv64/hart.h"       /* the state of a core */
#include "isa/rv64/iss_memory.h" /* a ready-made memory */
#include "isa/rv64/iss_port.h"   /* what a memory is to a hart */
#include "isa/rv64/iss_record.h" /* what a hart did */
#include "isa/rv64/softfloat.h"  /* floating point by integers */

/* Why a run ended. But for the first four, the instruction at hart->pc did not retire. */
enum vs_stop {
    VS_STOP_LIMIT, /* as many instructions as were asked for */
    VS_STOP_LOG,   /* the log has no room for another block */
    VS_STOP_ECALL, /* a system call; it has retired, pc is after it */
    VS_STOP_MARK,  /* a mark (isa/rv64/iss_code.h), which has retired; tval: its number */
    VS_STOP_BREAK, /* at an address to stop at (isa/rv64/iss_code.h) */
    VS_STOP_EBREAK,
    VS_STOP_ILLEGAL,     /* tval: the instruction */
    VS_STOP_FETCH_FAULT, /* tval: the address */
    VS_STOP_LOAD_FAULT,  /* tval: the address */
    VS_STOP_STORE_FAULT, /* tval: the address; stores, sc, atomics */
    VS_STOP_LOAD_ALIGN,  /* tval: the address; lr */
    VS_STOP_STORE_ALIGN, /* tval: the address; sc, atomics */
};

/* Executes at most `most` instructions from hart->pc on.
 * Returns a VS_STOP_x; -VSE_NOMEM; or a negative error of the port. In every case the hart is as it
 * was after the last instruction that retired. */
int vs_iss_run(struct vs_hart *hart, struct vs_port *port, uint64_t most);

/* The same, and writes every instruction that retires to the log. Also returns VS_STOP_LOG. */
int vs_iss_run_observed(struct vs_hart *hart, struct vs_port *port, uint64_t most,
                        struct vs_iss_log *log);

#endif
