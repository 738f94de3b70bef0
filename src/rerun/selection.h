/* SPDX-License-Identifier: MIT */
/* Which instructions of a run become events when it is executed again, with the meaning that
 * `vestige record` gives to its regions (docs/recording.md): what it would have recorded is made,
 * and what it would have left out becomes gaps. */
#ifndef RERUN_SELECTION_H
#define RERUN_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/place.h"
#include "engine/windows.h"
#include "vestige/event.h"

/* A place in code that is mapped: a routine that is wanted, or an address that switches. It is gone
 * when something else is mapped there, unless `end` is `start`. */
struct vs_code_range {
    uint64_t start, end;
    enum vs_place_kind kind;
};

struct vs_selection {
    /* Instructions, counted over all threads. If there is one window, its length counts what is
     * selected. None: all of them. */
    const struct vs_window *windows;
    size_t window_count;
    bool only_ranges; /* only code in ranges that are wanted */
    bool starts_off;  /* a program begins unselected, until it comes to a VS_PLACE_FROM */
    /* Finds the places in an image that is mapped now, and appends struct vs_code_range. `first`:
     * it is the first that its program maps, which is the program's own. NULL: there are none.
     * Returns 0, or an error. */
    int (*find)(void *context, const struct vs_image *image, bool first, struct vs_buf *ranges);
    void *context;
};

#endif
