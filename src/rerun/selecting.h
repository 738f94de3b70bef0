/* SPDX-License-Identifier: MIT */
/* A run of which only some instructions become events, while it is executed again. */
#ifndef RERUN_SELECTING_H
#define RERUN_SELECTING_H

#include "rerun/selection.h"

/* Holds a thread's registers in an event. */
#define VS_GAP_MAX 2048

struct vs_rerun;
struct vs_rerun_thread;
struct vs_packed_snapshots;

/* What a core does with the code that it is in; each way has translations of its own. */
enum vs_select_way {
    VS_SELECT_MADE,   /* makes events */
    VS_SELECT_WAIT,   /* passes over code until it comes to some that is wanted */
    VS_SELECT_PASSED, /* passes over all code until selecting is switched on */
    VS_SELECT_WAYS
};

struct vs_select_thread {
    bool off;          /* it is in a gap, or about to begin with one */
    uint64_t skipped;  /* instructions in the gap */
    uint64_t left_out; /* instructions in all gaps */
    uint64_t unsaid;   /* calls that it ended in, which the inputs do not count */
};

struct vs_selecting {
    const struct vs_selection *what;
    const struct vs_packed_snapshots *snapshots; /* NULL: none may be used */
    struct vs_select_thread *threads;            /* as many as the run has */
    unsigned begun;                              /* threads that began before the end */
    bool on;                                     /* places do not say otherwise */
    bool open;                                   /* a window is */
    bool done;                                   /* all of them are over */
    uint64_t count;                              /* instructions of all threads */
    uint64_t unsaid;                             /* those of them that the inputs do not count */
    size_t window;                               /* the current one, or the next */
    size_t told;    /* the one that the last gap was in, or ended with */
    uint64_t left;  /* selected instructions to come, if the only window has so many */
    bool passed;    /* no snapshot is of use before something changes */
    bool has_image; /* the program has mapped one */
    struct vs_buf ranges;
    bool moved; /* they are others than the translations know */
    struct vs_cpu_code *code[VS_SELECT_WAYS];
    uint64_t versions[VS_SELECT_WAYS]; /* of the code that they were translated from */
    uint64_t version;
};

/* Returns 0; -VSE_NOMEM. */
int vs_selecting_open(struct vs_selecting **s, const struct vs_rerun *r,
                      const struct vs_selection *what);
/* NULL is fine. */
void vs_selecting_close(struct vs_selecting *s);

/* Begins anew. */
void vs_selecting_reset(struct vs_rerun *r);

/* Code is not what it was, so that all translations are out of date. */
void vs_selecting_code_changed(struct vs_selecting *s);

/* Runs the thread's core at most so many instructions, after switching if it has come to where that
 * is due. Returns as vs_cpu_run; VS_STOP_LIMIT if it has to be called again; an error. */
int vs_selecting_run(struct vs_rerun *r, struct vs_rerun_thread *t, uint64_t most);

/* Prepares for an input that is about to be taken, now that its thread has come to it. Returns 0,
 * or an error. */
int vs_selecting_before(struct vs_rerun *r, struct vs_rerun_thread *t, const struct vs_event *e,
                        const uint8_t *payload);

/* Whether the input becomes an event. Otherwise it does not account for instructions, either. */
bool vs_selecting_keeps(const struct vs_selecting *s, const struct vs_event *e);

/* Notes an input that was taken. Returns 0, or an error. */
int vs_selecting_after(struct vs_rerun *r, const struct vs_event *e);

/* If nothing is selected for long, goes on at a snapshot further on. Returns 0, or an error. */
int vs_selecting_hasten(struct vs_rerun *r);

#endif
