/* SPDX-License-Identifier: MIT */
/* What engines that run a program are told alike. */
#ifndef CAPTURE_ENGINE_H
#define CAPTURE_ENGINE_H

#include <signal.h>
#include <stdint.h>

/* Instructions to record, counted over all threads. */
struct vs_window {
    uint64_t start;
    uint64_t length; /* 0 = to the end */
};

/* Filled in by a signal handler: the user wants an end. */
struct vs_interrupt {
    volatile sig_atomic_t signal;     /* 0 = none yet */
    volatile sig_atomic_t everywhere; /* the program got it too (a terminal's Ctrl-C) */
};

#endif
