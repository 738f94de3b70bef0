/* SPDX-License-Identifier: MIT */
/* The target layer: Linux programs on simulated cores of one ISA, with or without time.
 *
 *   config     cores, caches, latencies
 *   simulator  the engine: the platform, and places in a program
 *   machine    the platform: which thread is on which core, and which core is next; machine_state
 *              is its state, and machine_record says what of it is recorded
 *   events     what cores and process did, as events of a run
 *   process    a Linux process: memory, threads, files, signals, time. It does not know the cores
 *   linux      what its parts share: space, mapping, tasks, futex, files, io, paths, virtual,
 *              pipes, poll, signals, time, load_program; call_table is the table of system calls
 *   linux_abi  what a program and its kernel agree on
 *   hierarchy  the caches; for checks, mirror is what lies below them
 *   pipeline   the time of one core
 *   timed      the memory of a timed run, through which cores meet caches and pipeline
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "target/config.h"
#include "target/linux_abi.h"
#include "target/machine.h"
#include "target/simulator.h"

#endif
