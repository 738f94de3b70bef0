/* SPDX-License-Identifier: MIT */
/* A small machine for a debugger's stub: a run of FAKE_STEPS steps that is known in advance.
 *
 * Thread 0 does the first FAKE_STARTS steps, then threads 0 and 1 take turns until thread 1 ends
 * with step FAKE_ENDS - 1; thread 2 never starts. A thread's n-th step is a nop at its code + 4 n,
 * after which its a0 is n + 1. Step i also accesses the 8 bytes at FAKE_DATA + 8 (i % 4), that hold
 * what was stored last: it stores i if i % 3 is 0, and loads if it is 1. Before step FAKE_SIGNALLED
 * thread 0 enters the handler of a signal. From step FAKE_LOADED on there is a library. With step
 * FAKE_REPLACED the program may become another one, without a library. */
#ifndef GEN_GDB_MACHINE_H
#define GEN_GDB_MACHINE_H

#include "gdb/gdb_machine.h"

#define FAKE_CODE      0x10000 /* of thread 0 */
#define FAKE_CODE_STEP 0x1000  /* from one thread's to the next one's */
#define FAKE_DATA      0x80000
#define FAKE_DATA_SIZE 32

enum {
    FAKE_THREADS = 3,
    FAKE_STEPS = 60,
    FAKE_STARTS = 6,
    FAKE_ENDS = 41,
    FAKE_SIGNALLED = 20,
    FAKE_SIGNAL = 10,
    FAKE_LOADED = 10,
    FAKE_REPLACED = 50,
    FAKE_POINTS = 4
};

struct fake_machine {
    unsigned at;      /* steps done, up to FAKE_STEPS */
    unsigned current; /* thread */
    struct {
        bool set;
        enum vs_gdb_point kind;
        uint64_t addr, size;
    } points[FAKE_POINTS];
    unsigned broken;           /* what begins with this step cannot be known; 0: all is */
    unsigned endless;          /* polls that a continuation waits for before it moves at all */
    unsigned polled, detached; /* how often */
    unsigned forgot[2];        /* how often what is gone, and all */
    uint64_t passed;           /* signals */
    const char *program;       /* NULL: it is not known */
    const char *other;         /* what it becomes; NULL: nothing */
};

struct vs_gdb_machine fake_machine(struct fake_machine *f);

#endif
