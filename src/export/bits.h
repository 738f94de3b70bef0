/* SPDX-License-Identifier: MIT */
/* The bits that trace modules send over a run's time, for formats that show time: cycles or, in an
 * untimed run, instructions of all threads. */
#ifndef EXPORT_BITS_H
#define EXPORT_BITS_H

#include "export/format.h"
#include "study/bandwidth.h"

/* Zeroed at first. */
struct vs_bits {
    struct vs_bandwidth b; /* its rows have the windows */
    bool begun;
};

/* Chooses the techniques of the options, or else those of `usual` as far as the run has the events
 * that they need. Windows are as narrow as possible if there are to be at most so many. The sink,
 * which may be NULL, gets the bits of the first technique. Returns as vs_export_run. fini is needed
 * in any case. */
int vs_bits_open(struct vs_bits *m, struct vs_exporting *x, const char *const *usual,
                 uint64_t windows, vs_port_sink *sink, void *context);

/* Reads the run, which is at its beginning, up to its end, and encodes it. The watcher may be NULL.
 * Returns as vs_export_run; an error of the watcher. */
int vs_bits_measure(struct vs_bits *m, struct vs_exporting *x, const struct vs_watcher *watcher);
void vs_bits_fini(struct vs_bits *m);

/* The run's time. A zeroed struct is at its beginning. */
struct vs_clock {
    uint64_t instructions; /* of all threads */
};

/* Takes the run's next event. Returns when it is. */
static inline uint64_t vs_clock_take(struct vs_clock *c, const struct vs_batch *b, size_t i)
{
    c->instructions += b->events[i].icount;
    return b->cycles ? b->cycles[i] : c->instructions;
}

#endif
