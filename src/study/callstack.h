/* SPDX-License-Identifier: MIT */
/* The calls that each thread of a run is in, followed from event to event.
 *
 * A call is entered by a call instruction or by a signal, and left by a return. If the run has
 * stores and loads, and the ISA keeps return addresses in memory, the slot of a return address
 * tells which call a return leaves, whatever lies above it, and which calls are dead because
 * something else was put in their place. Otherwise a return leaves the latest call that returns
 * where it goes. Hence:
 *   - an exception that is caught, and anything else that returns past several calls, leaves them;
 *   - longjmp goes to where a call returned, and leaves the calls made since by whoever made that;
 *   - a jump into another routine (a tail call, a stub) is within the call;
 *   - a return to nowhere that is known is a jump or, if its slot is on another stack, the
 * beginning of a coroutine. Each coroutine has its own stack of calls, to which a return on it goes
 * back. */
#ifndef STUDY_CALLSTACK_H
#define STUDY_CALLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "vestige/event.h"

/* More calls than these within each other are not followed. */
#define VS_CALLS_MAX (1u << 20)

enum vs_call_kind {
    VS_CALL_CALL,
    VS_CALL_INTERRUPTED, /* a signal came between `site` and the instruction before */
    VS_CALL_HANDLER,     /* its handler, which returns to code that ends the signal */
};

struct vs_stack_call {
    uint64_t site;   /* the call instruction; of a signal, the instruction that was interrupted */
    uint64_t back;   /* where it returns to; 0: not known (a handler) */
    uint64_t entry;  /* where it begins */
    uint64_t slot;   /* where that address lies in memory; 0: not known */
    uint64_t serial; /* differs from that of every other call of the thread */
    uint32_t note;   /* 0, or what the owner of the stack put there */
    uint8_t kind;
};

/* The calls on one stack of a thread, the innermost last. */
struct vs_calls {
    struct vs_stack_call *calls;
    size_t depth, capacity;
};

struct vs_callstack_thread;

/* A zeroed struct is ready. */
struct vs_callstack {
    struct vs_callstack_thread *threads;
    size_t count, capacity;
};

/* The calls that a thread is in before what the next event says happens. Valid until that is taken.
 * NULL: there are none. */
struct vs_calls *vs_callstack_calls(struct vs_callstack *s, unsigned thread);

/* Takes the event batch->events[i], the run's next. Returns 0; -VSE_NOMEM. */
int vs_callstack_take(struct vs_callstack *s, const struct vs_batch *batch, size_t i);

void vs_callstack_fini(struct vs_callstack *s);

#endif
