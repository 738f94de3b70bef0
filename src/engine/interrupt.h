/* SPDX-License-Identifier: MIT */
/* Signals of the user's, on their way to the program. */
#ifndef ENGINE_INTERRUPT_H
#define ENGINE_INTERRUPT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Signals to the recorder that are meant for the program: noted by a signal handler, taken by an
 * engine. Bit N is signal N. */
struct vs_interrupt {
    _Atomic uint32_t alone;  /* sent to the recorder alone: the program is to be told */
    _Atomic uint32_t shared; /* sent to the recorder's process group, as by a terminal's Ctrl-C */
    _Atomic bool insists;    /* the user will not wait any longer: the program is to be killed */
    /* The process of the program, if it is one of its own: what that sends it has itself. 0: none.
     * Set by the engine. */
    _Atomic int program;
};

/* Whether an engine has something to do. NULL is fine. */
static inline bool vs_interrupted(const struct vs_interrupt *i)
{
    return i && (i->alone || i->shared || i->insists);
}

/* Whether the program's end is the user's doing: a signal among `passed` (bits as above), which
 * were told to the program, ended it. `status` is as by waitpid. */
static inline bool vs_ended_by(uint32_t passed, int status)
{
    int signal = status & 0x7f;

    return signal && signal < 32 && passed >> signal & 1;
}

#endif
