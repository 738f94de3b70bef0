/* SPDX-License-Identifier: MIT */
/* The platform's state, and what its two files do for each other: machine.c decides which thread is
 * on which core and which core is next; machine_record.c turns what cores and process did into
 * events. */
#ifndef TARGET_MACHINE_STATE_H
#define TARGET_MACHINE_STATE_H

#include "target/events.h"
#include "target/machine.h"
#include "target/timed.h"

/* What a task is to the machine, by its slot. */
struct vs_task_place {
    int core;       /* the one it is on, or -1 */
    int last_core;  /* the one it was on last */
    uint64_t since; /* cycle since which it has been ready */
    uint64_t turn;  /* its place in the queue for a core; 0: it is not in it */
};

struct vs_core {
    struct vs_task *task; /* NULL: idle */
    uint64_t clock;       /* the cycle before which it does nothing more */
    uint64_t began;       /* when the task's slice began */
    uint64_t started;     /* when the core was last given a task */
    int stop;             /* a VS_STOP_x to deal with when its time has come, or -1 */
    uint64_t instructions, cycles;
    struct vs_past past;
    size_t emitted; /* records that became events */
};

struct vs_machine {
    const struct vs_machine_options *o;
    struct vs_target_config config;
    struct vs_process *p;
    struct vs_events events;
    bool recorded; /* there is a consumer */

    struct vs_core *cores;
    unsigned core_count;
    struct vs_task_place *places;
    size_t place_count, place_capacity;
    uint64_t turns; /* how many were given out */
    size_t waiting; /* ready tasks without a core */

    struct vs_timed timed; /* in a timed run */

    struct vs_line line;     /* the busy cores, while they take turns */
    bool disturbed;          /* their moments have changed */
    struct vs_core *running; /* the core whose run is under way, or NULL */

    uint64_t total;   /* instructions of all cores */
    uint64_t edge;    /* value of `total` at which recording is switched, or UINT64_MAX */
    size_t window;    /* the one that is next or under way */
    uint64_t *breaks; /* the addresses of the user's places */
    uint64_t room;    /* with marks or places: instructions that may still be recorded */
    uint64_t due;     /* cycle at which the process wants to be told the time */
    bool waits;       /* some task waits for a file of the host */
    bool tried;       /* that file has been looked at since all cores became idle */
    uint64_t steps;   /* turns of the loop */
    uint64_t nobody;  /* cycle of the last event that no core made */
    uint64_t next_tick, next_retry;
    uint64_t random; /* state */
    bool stopped;    /* no more is recorded */
    uint32_t passed; /* the user's signals that the program got; bit N is signal N */
    bool killed;     /* the user insisted on an end */
    struct vs_machine_halt halt;

    struct vs_diag *diag;
    bool theirs;
};

static inline unsigned vs_machine_core_number(const struct vs_machine *m, const struct vs_core *c)
{
    return (unsigned)(c - m->cores);
}

static inline struct vs_task_place *vs_machine_place_of(struct vs_machine *m,
                                                        const struct vs_task *t)
{
    return &m->places[t->cpu->id];
}

/* ---- machine.c ------------------------------------------------------------------------------- */

/* Returns the cycle that it is now: the first core's, or, if all are idle, that in which the last
 * went idle. */
uint64_t vs_machine_present(const struct vs_machine *m);

/* Returns the cycle for an event that no core makes, whose time must not go back. */
uint64_t vs_machine_nobody_at(struct vs_machine *m, uint64_t cycle);

/* ---- machine_record.c ------------------------------------------------------------------------ */

/* All that follow return 0; -VSE_NOMEM; -VSE_LIMIT (diag says of what); -VSE_INTERNAL; an error of
 * the consumer, with m->theirs set. */

/* Begins to record, if there is a consumer: everything, or from a window, a place or a mark on. */
int vs_machine_open_recording(struct vs_machine *m);

/* Turns the records that a core has left between runs into events, and empties its log. */
int vs_machine_flush(struct vs_machine *m, struct vs_core *c);
int vs_machine_flush_all(struct vs_machine *m);

/* To be called before the core runs. */
int vs_machine_begin_run(struct vs_machine *m, struct vs_core *c);

/* To be called when it has retired so many instructions; `called` says that the last of them is a
 * system call, which counts when it ends. */
static inline void vs_machine_count_run(struct vs_machine *m, const struct vs_core *c,
                                        uint64_t retired, bool called)
{
    if (m->recorded && m->events.on) {
        if (m->room != UINT64_MAX)
            m->room -= retired;
    } else if (m->recorded) {
        vs_events_unseen(&m->events, c->task, retired - called);
    }
}

/* Switches recording on or off, for all threads. */
int vs_machine_switch(struct vs_machine *m, bool on);

/* Does so where `total` has come to m->edge, which becomes the next one. */
int vs_machine_pass_edge(struct vs_machine *m);

/* The same for a mark that the program has reached, and for a place that the task has. */
int vs_machine_reach_mark(struct vs_machine *m, uint64_t number);
int vs_machine_reach_place(struct vs_machine *m, struct vs_task *t);

/* Records what the process did at that cycle of the core. */
int vs_machine_note_effect(struct vs_machine *m, const struct vs_effect *effect, unsigned core,
                           uint64_t cycle);

/* Whether so many events of a timed run wait that they should be handed on. */
static inline bool vs_machine_has_many_events(const struct vs_machine *m)
{
    return m->config.timed && m->recorded && vs_events_many(&m->events);
}

/* Hands on those before the cycle of `first`, which is the first core in line. */
int vs_machine_hand_on(struct vs_machine *m, const struct vs_core *first);

/* Ends the threads that are alive, and the recording. */
int vs_machine_end_recording(struct vs_machine *m);

#endif
