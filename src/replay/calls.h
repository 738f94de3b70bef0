/* SPDX-License-Identifier: MIT */
/* What system calls do to their process's memory: the kernel's own writes, and memory that comes
 * and goes. A stream has the registers that calls return, so a call's number, arguments and result
 * tell which bytes are no longer as the program left them. All of
 * Linux's calls are known but those that few programs make; what the kernel does by itself when a
 * thread ends is left to the replay. */
#ifndef REPLAY_CALLS_H
#define REPLAY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/abi.h"

struct vs_call_made {
    const struct vs_abi *abi;
    enum vs_syscall what;
    uint64_t args[6], result;
};

/* What the caller offers. wrote returns 0 or an error, which is handed on. */
struct vs_call_memory {
    /* Reads bytes from addr on, as they were before the call. Returns how many are known. */
    size_t (*read)(void *context, uint64_t addr, uint8_t *bytes, size_t size);
    /* These bytes may have changed. With `exact`, they are exactly those that the kernel wrote. */
    int (*wrote)(void *context, uint64_t addr, uint64_t size, bool exact);
    void *context;
};

/* A size that means all of memory: any byte may have been written. */
#define VS_CALL_EVERYTHING UINT64_MAX

/* Calls `wrote` for each range that the call may have changed. For a call that is not known here
 * the range has VS_CALL_EVERYTHING bytes, unless the call failed. Returns 0, or what `wrote`
 * returned. */
int vs_call_tell(const struct vs_call_made *call, const struct vs_call_memory *m);

/* Returns whether vs_call_tell knows what the call does. */
bool vs_call_is_known(enum vs_syscall call);

/* Describes the new thread, if the call made one: where its stack begins, where the kernel clears
 * its id when it ends, or 0, and that id. Returns whether the call made one. */
struct vs_call_thread {
    uint64_t stack, clears, tid;
    unsigned creator; /* the caller's */
};
bool vs_call_starts(const struct vs_call_made *call, const struct vs_call_memory *m,
                    struct vs_call_thread *thread);

/* Returns the signal that the call sent, or 0 if it sent none. */
int vs_call_signal(const struct vs_call_made *call);

#endif
