/* SPDX-License-Identifier: MIT */
/* The target layer: Linux programs on simulated cores of one ISA, with or without time.
 *
 *   config     cores, caches, latencies
 *   simulator  the engine of recording: the platform, and places in a program
 *   machine    the platform: which thread is on which core, and who is next
 *   events     what harts and process did, as events of a run
 *   process    a Linux process: memory, threads, files, signals, time. It knows nothing of cores
 *   linux      what its parts share: space, mapping, tasks, futex, files, io, paths, virtual,
 *              pipes, poll, signals, time, load_program; call_table is the table of the calls
 *   linux_abi  what a program and its kernel agree on
 *   hierarchy  the caches; mirror, for checks, what is below them
 *   pipeline   the time of one core
 *   timed      the memory of a timed run, which brings both to the harts
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "target/config.h"
#include "target/linux_abi.h"
#include "target/machine.h"
#include "target/simulator.h"

#endif
