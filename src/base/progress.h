/* SPDX-License-Identifier: MIT */
/* A progress line on a terminal. It writes to the stream that it is given, and only the command
 * line may give it one; other layers are handed a struct vs_progress, or NULL.
 *
 * The line is redrawn at most ten times per second and keeps to the terminal's width, or 80 columns
 * if that is less: what has no room is left out, the least important first. Without a terminal, or
 * with TERM=dumb, nothing is ever written; nor while we are in the background, or
 * another program has taken over the terminal (a pager, an editor), which shows in its settings. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { VS_PROGRESS_PAST = 10 };

struct vs_progress {
    FILE *out; /* NULL: inactive */
    bool forced;
    const char *what, *unit;
    const char *more; /* shown at the end of the line; NULL = nothing. The caller may set it. */
    uint64_t total;
    int64_t start, due; /* nanoseconds; due is when the next redraw may happen */
    bool drawn;
    /* A ring: how much was done at each of the last times when the line was due. */
    struct {
        int64_t time;
        uint64_t done;
    } past[VS_PROGRESS_PAST];
    unsigned next;
};

/* Shows "what", and counts of units such as "bytes"; both strings stay the caller's and must live
 * as long as p. A total of 0 means that it is unknown: then there is no percentage and no time
 * left. An `out` that is NULL or no terminal, or a dumb one, makes p inactive. Draws nothing
 * yet. */
void vs_progress_init(struct vs_progress *p, FILE *out, const char *what, uint64_t total,
                      const char *unit);

/* Makes p active whatever `out` is and whoever uses the terminal. */
void vs_progress_force(struct vs_progress *p, FILE *out);

/* The part of vs_progress_update for an active line. */
void vs_progress_tick(struct vs_progress *p, uint64_t done);

/* Says how many units are done. Meant to be called often: an inactive line costs a test, an active
 * one a look at the clock. p may be NULL. */
static inline void vs_progress_update(struct vs_progress *p, uint64_t done)
{
    if (p && p->out)
        vs_progress_tick(p, done);
}

/* The same as a callback that gets a struct vs_progress, and is told the total each time. */
void vs_progress_show(void *progress, uint64_t done, uint64_t total);

/* Erases the line and makes p inactive. p may be NULL. */
void vs_progress_finish(struct vs_progress *p);

#endif
