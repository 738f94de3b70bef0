/* SPDX-License-Identifier: MIT */
/* Execution of RV64GC with Zba, Zbb and Zbs in user mode: a CPU as isa/cpu.h describes it. */
#ifndef ISA_RV64_ISS_H
#define ISA_RV64_ISS_H

#include "isa/cpu.h"
#include "isa/rv64/hart.h"      /* the state of a core */
#include "isa/rv64/iss_code.h"  /* decoded instructions */
#include "isa/rv64/softfloat.h" /* floating point by integers */

/* A core is a struct vs_hart, and a machine's code is a struct vs_code. */
extern const struct vs_cpu_ops vs_rv64_cpu;

/* Its functions. A mark is lui x0, whose operand is the mark's number. */
int vs_rv64_run(struct vs_cpu *cpu, uint64_t most);
int vs_rv64_run_observed(struct vs_cpu *cpu, uint64_t most, struct vs_cpu_log *log);

#endif
