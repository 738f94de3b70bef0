/* SPDX-License-Identifier: MIT */
/* What system calls do to the memory of their process: the kernel's own writes, and memory that
 * comes and goes. A stream has the registers that calls return, so that a call's number, arguments
 * and result tell which bytes are not as the program left them. The calls are those of
 * target/call_table.c; what the kernel does by itself when a thread ends is the replay's. */
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

/* What the caller offers. Functions return 0 or an error, which is handed on. */
struct vs_call_memory {
    /* Bytes from addr on, as they were before the call. Returns how many are known. */
    size_t (*read)(void *context, uint64_t addr, uint8_t *bytes, size_t size);
    /* These may be others now. `exact`: they are exactly those that the kernel wrote. */
    int (*wrote)(void *context, uint64_t addr, uint64_t size, bool exact);
    void *context;
};

/* The bytes that every address stands for: any may have been written. */
#define VS_CALL_EVERYTHING UINT64_MAX

/* Calls `wrote` for each range that the call may have changed. One of VS_CALL_EVERYTHING bytes is
 * told of a call that is not known here, unless it failed. Returns 0, or what a function did. */
int vs_call_tell(const struct vs_call_made *call, const struct vs_call_memory *m);

/* Whether vs_call_tell knows what the call does. */
bool vs_call_is_known(enum vs_syscall call);

/* A new thread, if the call made one: where it begins, and where the kernel clears its id when it
 * ends, or 0. Returns whether it did. */
struct vs_call_thread {
    uint64_t stack, clears;
};
bool vs_call_starts(const struct vs_call_made *call, const struct vs_call_memory *m,
                    struct vs_call_thread *thread);

/* The signal that a call sent, if it was one that sends; or 0. */
int vs_call_signal(const struct vs_call_made *call);

#endif
