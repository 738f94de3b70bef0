/* SPDX-License-Identifier: MIT */
/* Bits over time: how many left the port in each window, per core. A window has `width` cycles in a
 * timed stream, and instructions in an untimed one: window i is [i * width, (i + 1) * width). */
#ifndef PORT_WINDOW_H
#define PORT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

#define VS_WINDOWS_MAX (UINT64_C(1) << 24) /* cells: windows times cores */

struct vs_windows {
    uint64_t width;
    unsigned cores;
    uint64_t *bits; /* [window * cores + core] */
    size_t count;   /* windows so far */
    size_t capacity;
};

/* Returns 0; -VSE_INVAL (width or cores is 0). */
int vs_windows_init(struct vs_windows *w, unsigned cores, uint64_t width);
void vs_windows_fini(struct vs_windows *w);

/* Adds a core's message of so many bits. Times may come in any order.
 * Returns 0; -VSE_NOMEM; -VSE_LIMIT (more than VS_WINDOWS_MAX cells: take wider windows). */
int vs_windows_add(struct vs_windows *w, unsigned core, uint64_t time, uint64_t bits);

enum { VS_WINDOW_ALL = -1 }; /* in place of a core */

/* Returns a window's bits; 0 for a window after the last. */
uint64_t vs_windows_bits(const struct vs_windows *w, size_t window, int core);

/* Returns where the windows of a run of `end` cycles or instructions end: at `end`, or, if the last
 * message is later, just after its window. */
uint64_t vs_windows_end(const struct vs_windows *w, uint64_t end);

/* Returns a window's bits per cycle or instruction; the end cuts the last window. */
double vs_windows_rate(const struct vs_windows *w, size_t window, int core, uint64_t end);

struct vs_window_summary {
    uint64_t bits; /* in all windows */
    uint64_t peak; /* the bits of the window with the most */
    size_t peak_at;
    double average;   /* bits per cycle or instruction, up to the end */
    double peak_rate; /* within the peak window, which the end may cut */
};

/* Summarizes a run of `end` cycles or instructions. */
void vs_windows_summary(const struct vs_windows *w, int core, uint64_t end,
                        struct vs_window_summary *s);

#endif
