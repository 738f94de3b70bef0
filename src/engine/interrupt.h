/* SPDX-License-Identifier: MIT */
/* The user's signals, on their way to the program. */
#ifndef ENGINE_INTERRUPT_H
#define ENGINE_INTERRUPT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Signals to the recorder that are meant for the program. A signal handler notes them, and an
 * engine takes them. Bit N is signal N. */
struct vs_interrupt {
    _Atomic uint32_t alone;  /* sent to the recorder alone: the program has to be told */
    _Atomic uint32_t shared; /* sent to the recorder's process group, as by a terminal's Ctrl-C */
    _Atomic bool insists;    /* the user will not wait any longer: the program has to be killed */
    /* The program's process, if it has one of its own, else 0; the engine sets it. A signal that
     * this process sends is not passed on to it. */
    _Atomic int program;
    _Atomic int wish; /* enum vs_wish: what the user wants of a recording that can be paused */
};

enum vs_wish { VS_WISH_NONE, VS_WISH_RESUME, VS_WISH_PAUSE };

/* What tells a recorder so. */
#define VS_SIGNAL_RESUME (SIGRTMIN + 6)
#define VS_SIGNAL_PAUSE  (SIGRTMIN + 7)

/* Whether an engine has something to do. `i` may be NULL. */
static inline bool vs_interrupted(const struct vs_interrupt *i)
{
    return i && (i->alone || i->shared || i->insists);
}

/* Whether the program's end is the user's doing: it was ended by one of the signals in `passed`
 * (bits as above), which were passed on to it. `status` is as waitpid gives it. */
static inline bool vs_ended_by(uint32_t passed, int status)
{
    int signal = status & 0x7f;

    return signal && signal < 32 && passed >> signal & 1;
}

#endif
