/* SPDX-License-Identifier: MIT */
/* Bits over time as a chart: an SVG file that needs nothing else. */
#ifndef FRONT_PLOT_H
#define FRONT_PLOT_H

#include "base/outfile.h"
#include "front/cli.h"
#include "port/window.h"

enum {
    PLOT_LINES = 40, /* more could not be told apart */
    PLOT_LABEL = 96,
};

struct plot_line {
    char label[PLOT_LABEL]; /* any text, which is cut to fit */
    const struct vs_windows *windows;
    int core; /* or VS_WINDOW_ALL */
};

struct plot {
    const char *path;
    struct vs_outfile file;

    const char *title;    /* any text */
    unsigned cores;       /* the run's */
    bool timed;           /* if false, windows are of instructions */
    uint64_t window, end; /* as in struct vs_bandwidth */
    struct plot_line lines[PLOT_LINES];
    size_t count;
};

/* Creates the file, before anything else is known. Returns CLI_DONE, or the status after a message.
 * plot_close is needed in any case. */
int plot_open(struct plot *p, struct cli *cli, const char *path, bool overwrite);

/* Draws the lines, and gives the file its name. The same statuses. */
int plot_write(struct plot *p, struct cli *cli);

/* Leaves no file behind, unless it was written. */
void plot_close(struct plot *p);

/* A round width of windows, of which a run of so many cycles or instructions has 100 to 250. */
uint64_t plot_window(uint64_t length);

#endif
