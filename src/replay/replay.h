/* SPDX-License-Identifier: MIT */
/* The replay layer: the software debugger.
 *
 *   walk        control flow from a port stream and the code
 *   loaded      the program's data, as its files have them
 *   image_code  code and data from the program's files
 *   present     which of those files are in memory
 *   calls       what system calls do to memory
 *   threads     the system's ids and names of threads
 *   signal_frames  what handlers find on their stacks
 *   fatal       which signal ended the program
 *   done        an instruction that waits in the midst of its accesses
 *   replay      the program run again; known: what its memory is known to hold; state: copies of
 *               where it is
 *   history     going anywhere in a replay; hunt: searching it backwards in several threads;
 *               scout: running ahead for checkpoints
 *
 * A replay is a program run again from its port stream and its code alone. Each core is a CPU
 * (isa/cpu.h) whose memory is the decoder of a load-value technique.
 *
 * Cores run in the order that the stream tells, which is the same every time. So a point of the run
 * is known by its position, the number of instructions that all cores have retired. What belongs to
 * an instruction without being one (the registers that a system call returns or an exception
 * changes) is done with the instruction where the stream allows it, or else before the core's next
 * one.
 *
 * What the cores loaded and stored is also kept, for people to look at. Where the stream orders
 * everything that cores do to each other's memory, there is one view for all. Elsewhere each core
 * has its own view of what it loaded and stored itself, since nothing tells what others did before
 * and what after it between its messages. Bytes that nobody has accessed are those of the program's
 * file, as long as nobody can have written them; others are unknown. What the system wrote is seen
 * when the program reads it. */
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
#include "replay/present.h"
#include "isa/text.h"
#include "base/copy.h"
#include "technique/data.h"

/* Is told what a core wrote to a file: `known` of the bytes are known, the others are '?'. */
typedef void vs_replay_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes,
                              size_t size, size_t known);

/* Everything here must outlive the replay. */
struct vs_replay_config {
    const struct vs_isa *isa;
    const struct vs_cpu_ops *cpu;  /* executes it (isa/cpu_load.h); NULL: its row's */
    struct vs_technique_spec spec; /* settled; a technique for load values */
    struct vs_technique_setup setup;
    const struct vs_port_stream *streams; /* the port's */
    const struct vs_port_more *more;      /* if there is one stream: where more of it comes from,
                                           * or NULL */
    const struct vs_text *code;
    const struct vs_loaded
        *loaded;                /* what memory holds at first, as far as files say; may be NULL */
    uint64_t stack, stack_size; /* the first thread's stack; a size of 0: it is not known */
    struct vs_copy_pool *pool;  /* where its memory's pages come from; NULL: malloc. All replays
                                 * that use the same checkpoints have the same one */
    vs_replay_output *output;   /* NULL: nobody is told */
    void *context;
};

/* Any of these may be NULL, and is not called then. */
struct vs_replay_hook {
    /* A core took a message, and everything that goes with it is done. An error ends the run. */
    int (*message)(void *context, unsigned core);
    void *context;
    const struct vs_port_witness *witness; /* sees every message when it is taken */
    /* A core's call has returned (cores[core].call), and has done what it does. */
    void (*call)(void *context, unsigned core);
    /* A core other than the last one is about to execute. */
    void (*turn)(void *context, unsigned core);
};

#define VS_REPLAY_NAME 16 /* bytes of a thread's name, with its NUL */

struct vs_replay_core {
    struct vs_cpu *cpu;  /* its state */
    uint64_t since;      /* instructions since it last got registers */
    uint64_t states;     /* how often it got registers */
    uint64_t changes;    /* changes of code that it has passed, or that came before it began */
    uint64_t places;     /* how often the stream told only its place */
    uint64_t cycle;      /* its last message's, in a timed stream whose decoder does not
                          * run ahead */
    uint64_t passed;     /* cpu->retired + 1 where it was let past an address to stop at, or 0 */
    bool started, ended; /* it has registers; it does nothing any more */
    bool called;         /* it made a system call, and waits for its registers */
    struct vs_call_made call;  /* its last call; without the result until that comes */
    uint64_t first_sp;         /* the stack pointer that it began with */
    uint64_t clears;           /* where the kernel clears its id when it exits, or 0 */
    uint64_t robust;           /* its list of robust mutexes, or 0 */
    bool exited;               /* it ended itself, and will do nothing more */
    uint64_t tid;              /* its system id, once a call told it; 0 before */
    char name[VS_REPLAY_NAME]; /* that it gave itself, or its creator's; "" if there is none */
    uint64_t cause;            /* its last exception's: the signal */
    uint64_t exceptions;       /* how many it had */
    uint64_t interrupted_sp;   /* the stack pointer before its last one */
    unsigned program;          /* which it executes: how many times exec came before */
    struct vs_replay_done done;
};

/* Returns whether it has made an access of its next instruction and waits to make the others. */
static inline bool vs_replay_is_within(const struct vs_replay_core *c)
{
    return vs_done_is_begun(&c->done, c->cpu);
}

/* Bytes that stop the replay when they are accessed. */
struct vs_replay_watch {
    uint64_t addr, size;
    bool reads, writes;
    uint32_t owner; /* the caller's */
};

/* Memory that came, went or got other rights. */
struct vs_replay_map {
    uint64_t addr, size;
    unsigned rights; /* PROT_x */
    bool there;      /* if not, it is gone */
};

#define VS_REPLAY_OPENED 8 /* how many are remembered; loaders map a file soon after opening it */

/* What memory is not as the cores and the files say, since something else wrote it. */
struct vs_replay_outside {
    struct vs_copy gone; /* `known`: bytes of files or of another view that were written */
    bool all;            /* every byte may have been written */
    bool cautious;       /* bytes were forgotten that may not have been written */
    uint64_t brk;        /* what a call to brk last returned */
    struct vs_call_thread *threads; /* those that calls started; room for as many as cores */
    unsigned thread_count;
    struct vs_present present; /* the files in memory */
    struct vs_replay_opened {
        uint64_t fd;
        char name[64];          /* without its folder, and cut */
    } opened[VS_REPLAY_OPENED]; /* the last files that were opened, in a ring */
    unsigned opened_at;
    uint64_t restorers[VS_ABI_SIGNALS]; /* by signal: where its handler returns to, or 0 */
};

/* What the cores fetch. Fetches, by any core, see stores to code from where the stream says that
 * code changed: every core has a message for that, one of registers without any register. All cores
 * come to theirs before one goes on. Before the first such change, a fetch sees what files have,
 * and other memory as the core knows it. */
struct vs_replay_code {
    struct vs_copy stored; /* if cores have their own views: what any core stored */
    struct vs_copy image;  /* what was known about memory when code changed last */
    bool changed;          /* code has changed */
    bool due;              /* the cores are coming to the next change */
    uint64_t changes;      /* how many there were, including the one that is due */
};

struct vs_replay {
    struct vs_replay_config config;
    const struct vs_data_decoder_ops *ops;
    struct vs_port_reader reader;
    void *decoder;
    struct vs_cpu_memory memory; /* the CPUs' */
    struct vs_cpu_code *decoded;
    struct vs_cpu *cpus; /* the cores', side by side */
    struct vs_replay_core *cores;
    unsigned count;
    struct vs_copy *views; /* one, or one per core */
    unsigned view_count;
    struct vs_replay_outside outside;
    struct vs_replay_code code;

    uint64_t position; /* instructions retired by all cores */
    unsigned current;  /* the core that runs, or VS_REPLAY_NONE */
    unsigned starting; /* how many cores have run until they had to wait; once all have, the stream
                        * says whose turn it is */
    unsigned last;     /* the core that ran last */
    bool over;         /* all cores ended */

    struct vs_replay_map *maps; /* what calls did to memory, in order */
    size_t map_count, map_capacity;
    size_t map_known; /* how many there are, although it may have gone back since */

    /* The caller sets these while the replay stands still. Addresses to stop at are set with
     * vs_replay_break. */
    const struct vs_replay_watch *watches;
    size_t watch_count;
    struct vs_replay_hook hook;
    uint64_t signals; /* to stop for, where a handler is entered: bit n - 1 is signal n */

    /* After VS_REPLAY_SIGNAL: the core `last` before it entered the handler. */
    struct vs_cpu *before;

    /* private */
    bool signalled;                    /* a core has entered a handler for one of `signals` */
    struct vs_port_witness witness;    /* hands on to the hook's */
    bool single;                       /* the instruction may take a message */
    bool takes;                        /* it takes one, and is not only watched */
    bool repeats;                      /* the instruction makes accesses again */
    const struct vs_replay_watch *hit; /* by the instruction just done */
    struct vs_copy *noted; /* if not NULL: gets what cores other than `noter` store or forget */
    unsigned noter;
    struct vs_replay_ahead {
        struct vs_copy written; /* `known`: bytes that cores other than `core` may have written */
        uint64_t position, messages;
        unsigned core;
        bool valid, all; /* all: any byte may have been written */
    } ahead;
    unsigned decoded_program; /* whose code is decoded */
    uint64_t code_version;    /* of what is decoded; no two that may differ have the same */
    uint64_t versions;        /* the last that was given; the caller may set it before running */
    uint64_t flushes;         /* decoded->flushes when the version was last looked at */
    struct vs_buf payload;    /* registers that came while an instruction repeats itself */
    uint64_t progress;
    int broken; /* the error because of which it cannot go on, or 0 */
    struct vs_diag diag;
};

#define VS_REPLAY_NONE UINT_MAX

enum vs_replay_stop {
    VS_REPLAY_REACHED, /* the goal is reached */
    VS_REPLAY_BREAK,   /* `last` is at an address to stop at */
    VS_REPLAY_WATCH,   /* `last` has accessed the bytes of *hit */
    VS_REPLAY_OVER,    /* every core has ended */
    VS_REPLAY_CUT,     /* the stream ends, although a core goes on */
    VS_REPLAY_SIGNAL,  /* `last` has entered the handler for a signal, its `cause` */
};

/* Where to stop at the latest: when the position is reached, or when the core has retired so many
 * instructions. UINT64_MAX means that there is no such limit. */
struct vs_replay_goal {
    uint64_t position;
    unsigned core;
    uint64_t retired;
    bool fresh; /* an address to stop at counts even if a core stands there already */
};

/* Makes a replay that stands at position 0. Returns 0; -VSE_INVAL, with diag (the technique is not
 * for load values or cannot be decoded, or the ISA has no CPU); -VSE_NOMEM; as the decoder's open.
 * fini is needed in any case. */
int vs_replay_init(struct vs_replay *r, const struct vs_replay_config *config,
                   struct vs_diag *diag);
void vs_replay_fini(struct vs_replay *r);

/* Goes on until the goal is reached or something else stops it. Returns a VS_REPLAY_x; or, with
 * r->diag, -VSE_CORRUPT, -VSE_TRUNCATED or -VSE_NOMEM. After an error it stands where it could not
 * go on, and returns the same error again unless the goal is reached there or a checkpoint is
 * restored. */
int vs_replay_run(struct vs_replay *r, const struct vs_replay_goal *goal);

/* To be called when every core has ended: finds the signal that ended the program, as far as its
 * last instructions tell, and sets *core to the core that got it. What tells is an instruction that
 * cannot be executed or accesses memory that is not there, or a call that sends a signal. Returns
 * the signal; 0 if the program ended otherwise, or by a signal from outside. */
int vs_replay_fatal(struct vs_replay *r, unsigned *core);

/* Does what is due before the next instruction, and makes `current` the core that may do it.
 * Returns VS_REPLAY_REACHED, VS_REPLAY_OVER, VS_REPLAY_CUT, or an error as vs_replay_run. */
int vs_replay_settle(struct vs_replay *r);

/* Sets the addresses, which must ascend, at which cores stop until they are set anew. */
void vs_replay_break(struct vs_replay *r, const uint64_t *addrs, size_t count);

/* Reads memory from addr on, up to size: as the core knows it, or else as the other cores do if
 * they agree, or else as the program's file has it. Returns how many bytes are known. */
size_t vs_replay_read(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                      size_t size);

/* Reads the same for people, while the replay stands still. If cores have their own views, others
 * may have written what nobody has seen yet: which bytes these are is found out by going on to
 * their next messages, and back. */
size_t vs_replay_look(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                      size_t size);

static inline struct vs_copy *vs_replay_view(struct vs_replay *r, unsigned core)
{
    return &r->views[r->view_count > 1 ? core : 0];
}

/* Returns whether the system call that the core makes is one after which code is fetched anew, as
 * after fence.i. */
bool vs_replay_flushes(const struct vs_isa *isa, const struct vs_cpu *cpu);

/* ---- checkpoints: a replay as it is now ---- */

struct vs_replay_state;

/* Returns 0; -VSE_NOMEM; -VSE_FEATURE (the decoder cannot). */
int vs_replay_save(struct vs_replay *r, struct vs_replay_state **state);
/* Goes back, or forward, to the state, which stays valid. Returns 0; -VSE_NOMEM, with the replay
 * where it was. */
int vs_replay_restore(struct vs_replay *r, struct vs_replay_state *state);
/* NULL is fine. */
void vs_replay_drop(struct vs_replay_state *state);

uint64_t vs_replay_state_position(const struct vs_replay_state *state);
/* Returns how many instructions the core had retired. */
uint64_t vs_replay_state_retired(const struct vs_replay_state *state, unsigned core);
/* Returns about how many bytes of memory it takes, without those that it shares: what is free once
 * it is dropped. */
size_t vs_replay_state_size(struct vs_replay_state *state);
/* Returns how many of these are in no page and no group of pages. */
size_t vs_replay_state_heap(struct vs_replay_state *state);
/* Returns how many bytes the replay has allocated for memory since it was made or restored. What it
 * allocates between two checkpoints is what the second has that the first has not. */
size_t vs_replay_made(struct vs_replay *r);
/* Returns about how many bytes it takes if it shares nothing with a checkpoint. */
size_t vs_replay_held(struct vs_replay *r);
/* Lets a replay that knows nothing yet take its pages from the pool. */
void vs_replay_use(struct vs_replay *r, struct vs_copy_pool *pool);

#endif
