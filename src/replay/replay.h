/* SPDX-License-Identifier: MIT */
/* The replay layer: the software debugger.
 *
 *   walk        control flow from a port stream and the code
 *   loaded      the program's data, as its file has them
 *   image_code  code and data, from the program's files
 *   calls       what system calls do to memory
 *   fatal       which signal ended the program
 *   done        an instruction that waits in the midst of its accesses
 *   replay      the program run again; known: what its memory is known to hold; state: copies of
 *               where it is
 *   history     going anywhere in a replay
 *
 * A replay is a program run again, from its port stream and its code alone: per core an
 * CPU (isa/cpu.h) whose memory is the decoder of a load-value technique.
 *
 * Cores run in the order that the stream tells, which is the same every time: a point of the run is
 * known by its position, the number of instructions that all cores have retired. What belongs to an
 * instruction without being one, the registers that a system call returns or an exception changes,
 * is done with it where the stream allows, else before the core's next one.
 *
 * For people, what the cores loaded and stored is kept beside. Where the stream orders all that
 * cores do to each other's memory there is one view for all. Elsewhere each core has its own, of
 * what it loaded and stored itself: between its messages nothing tells what others did before, and
 * what after. Bytes that nobody has accessed are those of the program's file, as long as nobody can
 * have written them; others are unknown. What the system wrote is seen when the program reads it.
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/set.h"
#include "port/framing.h"
#include "replay/calls.h"
#include "replay/done.h"
#include "replay/loaded.h"
#include "isa/text.h"
#include "base/copy.h"
#include "technique/data.h"

/* What a core wrote to a file: `known` of the bytes are, the others are '?'. */
typedef void vs_replay_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes,
                              size_t size, size_t known);

/* All must outlive the replay. */
struct vs_replay_config {
    const struct vs_isa *isa;
    struct vs_technique_spec spec; /* settled, of load values */
    struct vs_technique_setup setup;
    const struct vs_port_stream *streams; /* of the port */
    const struct vs_text *code;
    const struct vs_loaded
        *loaded;                /* what memory holds at first, as far as files say; may be NULL */
    uint64_t stack, stack_size; /* where the first thread's is; a size of 0: it is not known */
    vs_replay_output *output;   /* NULL: nobody wants to know */
    void *context;
};

/* Any of these may be NULL: nobody wants to know. */
struct vs_replay_hook {
    /* A core took a message, and all is done that goes with it. An error ends the run. */
    int (*message)(void *context, unsigned core);
    void *context;
    const struct vs_port_witness *witness; /* of every message, when it is taken */
};

struct vs_replay_core {
    struct vs_cpu *cpu;  /* its state */
    uint64_t since;      /* instructions after its last registers */
    uint64_t states;     /* how often it got registers */
    uint64_t changes;    /* of code that it has passed, or that were before it began */
    uint64_t cycle;      /* of its last message, in a timed stream whose decoder does not
                          * run ahead */
    uint64_t passed;     /* cpu->retired + 1 where it was let past an address to stop at, or 0 */
    bool started, ended; /* it has registers; it does nothing any more */
    bool called;         /* it made a system call, and waits for its registers */
    struct vs_call_made call; /* its last one; without the result until that comes */
    uint64_t first_sp;        /* that it began with */
    uint64_t clears;          /* where the kernel clears its id when it exits, or 0 */
    uint64_t robust;          /* its list of robust mutexes, or 0 */
    bool exited;              /* by itself: what it would still do is nothing */
    uint64_t cause;           /* of its last exception: the signal */
    uint64_t exceptions;      /* so many */
    struct vs_replay_done done;
};

/* Whether it has made an access of its next instruction, and waits for the others. */
static inline bool vs_replay_is_within(const struct vs_replay_core *c)
{
    return vs_done_is_begun(&c->done, c->cpu->retired);
}

/* Bytes whose accesses stop the replay. */
struct vs_replay_watch {
    uint64_t addr, size;
    bool reads, writes;
    uint32_t owner; /* the caller's */
};

/* Memory that came, went or got other rights. */
struct vs_replay_map {
    uint64_t addr, size;
    unsigned rights; /* as PROT_x; */
    bool there;      /* else it is gone */
};

/* What of memory is not as the cores and the files say, since something else wrote it. */
struct vs_replay_outside {
    struct vs_copy gone; /* `known`: bytes of files, or that another view has, that were written */
    bool all;            /* every byte may have been */
    bool cautious;       /* bytes were forgotten that need not have been written */
    uint64_t brk;        /* the last that a call returned */
    struct vs_call_thread *threads; /* that calls started, as many as there may be cores */
    unsigned thread_count;
};

/* What the cores fetch. Stores to code are seen by fetches, of whatever core, from where the stream
 * says that code changed: every core has a message for that, of registers of which there are none.
 * They all come to theirs before one goes on. Before the first such change a fetch sees what files
 * have, and other memory as the core knows it. */
struct vs_replay_code {
    struct vs_copy stored; /* with views of their own: what any core stored */
    struct vs_copy image;  /* what was known of memory when code changed last; */
    bool changed;          /* it has */
    bool due;              /* the cores are coming to the next change: */
    uint64_t changes;      /* so many, with that one */
};

struct vs_replay {
    struct vs_replay_config config;
    const struct vs_data_decoder_ops *ops;
    struct vs_port_reader reader;
    void *decoder;
    struct vs_cpu_memory memory; /* of the CPUs */
    struct vs_cpu_code *decoded;
    struct vs_cpu *cpus; /* of the cores, side by side */
    struct vs_replay_core *cores;
    unsigned count;
    struct vs_copy *views; /* one, or one per core */
    unsigned view_count;
    struct vs_replay_outside outside;
    struct vs_replay_code code;

    uint64_t position; /* instructions retired by all cores */
    unsigned current;  /* the core that runs, or VS_REPLAY_NONE */
    unsigned starting; /* cores that have run until they had to wait; then the stream says whose
                        * turn it is */
    unsigned last;     /* the core that ran last */
    bool over;         /* all cores ended */

    struct vs_replay_map *maps; /* what calls said of memory, one after the other */
    size_t map_count, map_capacity;

    /* The caller's, to be set while it stands still. Addresses to stop at are set with
     * vs_replay_break. */
    const struct vs_replay_watch *watches;
    size_t watch_count;
    struct vs_replay_hook hook;
    uint64_t signals; /* to stop for, where a handler is entered: bit n - 1 is signal n */

    /* Of VS_REPLAY_SIGNAL: `last` before it entered the handler. */
    struct vs_cpu *before;

    /* private */
    bool signalled;                    /* a core has entered a handler of these */
    struct vs_port_witness witness;    /* hands on to that of the hook */
    bool single;                       /* the instruction may take a message */
    bool takes;                        /* and it does: it is not only watched */
    bool repeats;                      /* the instruction makes accesses again */
    const struct vs_replay_watch *hit; /* by the instruction just done */
    struct vs_copy *noted; /* not NULL: what is stored and forgotten, by others than `noter` */
    unsigned noter;
    struct vs_replay_ahead {
        struct vs_copy written; /* `known`: bytes that others than `core` may have written */
        uint64_t position, messages;
        unsigned core;
        bool valid, all; /* all: any */
    } ahead;
    uint64_t progress;
    int broken; /* the error that it cannot go on for, or 0 */
    struct vs_diag diag;
};

#define VS_REPLAY_NONE UINT_MAX

enum vs_replay_stop {
    VS_REPLAY_REACHED, /* the goal */
    VS_REPLAY_BREAK,   /* `last` is at an address to stop at */
    VS_REPLAY_WATCH,   /* `last` has accessed the bytes of *hit */
    VS_REPLAY_OVER,    /* every core has ended */
    VS_REPLAY_CUT,     /* the stream ends, and a core goes on */
    VS_REPLAY_SIGNAL,  /* `last` has entered the handler of a signal, its `cause` */
};

/* Where to stop at the latest: when the position is reached, or when a core has retired so many
 * instructions. UINT64_MAX: not for that. */
struct vs_replay_goal {
    uint64_t position;
    unsigned core;
    uint64_t retired;
    bool fresh; /* an address to stop at counts even where it stands */
};

/* At position 0. Returns 0; -VSE_INVAL (not of load values; not decodable; an ISA without a CPU:
 * diag); -VSE_NOMEM; as the decoder's open. fini is needed in any case. */
int vs_replay_init(struct vs_replay *r, const struct vs_replay_config *config,
                   struct vs_diag *diag);
void vs_replay_fini(struct vs_replay *r);

/* Goes on until the goal is reached, or something else stops it: a VS_REPLAY_x. Returns that;
 * -VSE_CORRUPT, -VSE_TRUNCATED, -VSE_NOMEM, with r->diag; it then stands where it could not go on,
 * and returns the same again unless the goal is reached there, or a checkpoint is restored. */
int vs_replay_run(struct vs_replay *r, const struct vs_replay_goal *goal);

/* Every core has ended: the signal that ended the program, as far as its last instructions tell,
 * and the core that got it. An instruction that cannot be executed, or accesses memory that is not
 * there, says so, and so does a call that sends a signal. Returns the signal, or 0: it ended
 * otherwise, or by one from outside. */
int vs_replay_fatal(struct vs_replay *r, unsigned *core);

/* Does what is due before the next instruction, and makes `current` the core that may do it.
 * Returns VS_REPLAY_REACHED, VS_REPLAY_OVER, VS_REPLAY_CUT, or an error as vs_replay_run. */
int vs_replay_settle(struct vs_replay *r);

/* Ascending addresses at which cores stop, until they are set anew. */
void vs_replay_break(struct vs_replay *r, const uint64_t *addrs, size_t count);

/* Memory as the core knows it, or else as those others do who agree, or as the program's file has
 * it: the bytes from addr on, up to size. Returns how many of them. */
size_t vs_replay_read(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                      size_t size);

/* The same for people, while it stands still. With views of their own, other cores may have written
 * what nobody has seen yet: which bytes, is found out by going on to their next messages, and back.
 */
size_t vs_replay_look(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                      size_t size);

static inline struct vs_copy *vs_replay_view(struct vs_replay *r, unsigned core)
{
    return &r->views[r->view_count > 1 ? core : 0];
}

/* Whether the system call that the core makes is for code to be fetched anew, as fence.i. */
bool vs_replay_flushes(const struct vs_isa *isa, const struct vs_cpu *cpu);

/* ---- checkpoints: a replay as it is now ---- */

struct vs_replay_state;

/* Returns 0; -VSE_NOMEM; -VSE_FEATURE (the decoder cannot). */
int vs_replay_save(struct vs_replay *r, struct vs_replay_state **state);
/* Back, or forward, to it. The state stays. Returns 0; -VSE_NOMEM, and the replay is where it was.
 */
int vs_replay_restore(struct vs_replay *r, struct vs_replay_state *state);
/* NULL is fine. */
void vs_replay_drop(struct vs_replay_state *state);

uint64_t vs_replay_state_position(const struct vs_replay_state *state);
/* Instructions that the core had retired. */
uint64_t vs_replay_state_retired(const struct vs_replay_state *state, unsigned core);
/* About how many bytes of memory it takes; of what is shared, its part. */
size_t vs_replay_state_size(const struct vs_replay_state *state);

#endif
