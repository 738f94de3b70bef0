/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The half of the recorder that runs inside Valgrind. It is a program of its own with one global
 * state, and it runs on one thread at a time, the one that holds Valgrind's lock. There is no C
 * library here.
 *
 *   tool.c        set-up, options, and Valgrind's notices: threads, system calls, signals, mappings
 *   plan.c        what the record of a block holds
 *   instrument.c  what is added to translated code
 *   access.c      which of the accesses that Valgrind makes are the program's
 *   x86_decode.c  the little that access.c must know about instructions beyond what Valgrind says
 *   kernel.c      what the kernel does to memory without Valgrind saying so
 *   watch.c       what a system call wrote
 *   redirect.c    keeps Valgrind from replacing functions, and hides what it must replace
 *   facts.c       which Valgrind this is, and what it offers
 *   limits.c      how many files the program may open
 *   ring.c        the buffers, and records that are not blocks
 *   region.c      which code is recorded, and when
 *   inputs.c      what is needed to execute the run again
 *   last.c        all that a run of the last instructions begins with
 *   follow.c      the program's children, and how they end
 *   shared.c      memory that other processes may change
 */
#ifndef TOOL_H
#define TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_tooliface.h"
#include "access.h"

#include "capture/wire.h"

/* Kept in the first shadow of each thread's guest state, where translated code reaches it with one
 * instruction. Valid while the thread runs. */
struct lane {
    ULong cursor;  /* the slot of the next record */
    ULong limit;   /* the last slot where a block's record may start; 0 = the thread is in a gap */
    ULong counted; /* instructions in the gap; if inputs are recorded, since the last WIRE_RAN */
    ULong requested; /* the last block ended with a client request, which has no WIRE_REQUEST yet */
    /* If inputs are recorded: */
    ULong block;      /* the number of the one that ran last, if blocks are not recorded */
    ULong left, at;   /* as in struct wire_ran */
    ULong iterations; /* likewise */
};

enum mode {
    MODE_ON,   /* record */
    MODE_OFF,  /* count instructions; watch for the start of a region */
    MODE_STEP, /* the same, one instruction at a time: the start is near */
    MODE_DONE, /* run on, unobserved */
};

/* When what is mapped came to be. */
enum mapped {
    MAPPED_NOW,
    MAPPED_AT_START, /* the program has not begun */
    MAPPED_BEFORE,   /* the run begins in the midst of the program */
};

struct thread {
    struct lane lane; /* while it does not run: a signal's return sets the shadows as they were */
    Bool known;       /* WIRE_START was sent, WIRE_EXIT not yet */
    Bool off;         /* in a gap, or about to begin with one; as of its last stop */
    Bool resuming;    /* WIRE_RESUME is due */
    Addr kept;        /* where Valgrind's part of a signal frame is; 0 = none */
    ULong exit_code;  /* of the exit call it is in */
    ULong system_id;
    ULong told;      /* instructions, with each WIRE_RAN */
    ULong call_at;   /* the system call that it made last, if inputs are recorded, ... */
    Bool in_call;    /* ... which is not over */
    ULong clear_tid; /* the kernel is to clear this when the thread ends */
    ULong locks;     /* and to release the locks in this list */
    UInt call;       /* the system call it is in ... */
    ULong args[6];   /* ... and its arguments */
};

/* Memory that the program shares. */
struct shared {
    Addr start;
    UInt kind; /* enum wire_shared_kind */
};
#define SHARED_MAX 256

/* A stretch of instructions to record. */
struct window {
    ULong start;
    ULong length; /* 0 = to the end */
};

struct tool {
    /* options */
    Int socket, memory, log; /* log: for Valgrind's own messages */
    HChar *fds;              /* the text of the option: a program started by exec gets it too */
    HChar *state;            /* likewise: how far the previous programs came */
    Bool loads, stores;
    Bool asks;        /* the recorder is asked about each image, since there are routines to find */
    Bool only_ranges; /* only code in the wanted ranges is recorded */
    Bool marks;       /* marks in the program switch recording */
    Bool start_off;   /* recording waits for a mark or a routine */
    Bool inputs;      /* record what is needed to execute the run again ... */
    Bool light;       /* ... and nothing that follows from it */
    Bool whole;       /* record the bytes of mapped files, too */
    Bool follow;      /* record the program's children, each as a run of its own */
    Bool wishes;      /* the recorder may want recording to begin or to end */
    Int signal;       /* recording begins, or ends, with this one; 0 = with none */
    ULong digests;    /* memory is compared when executed again: about every so many instructions */
    ULong last;       /* another run begins after each so many instructions; 0 = none does */
    Bool regions;     /* blocks may have to end before some instruction */

    /* the ring */
    struct wire_ring *ring;
    UInt buffer;  /* being filled */
    UInt free;    /* buffers that may be filled, this one included */
    ULong cursor; /* while no thread runs; else the running thread's lane has it */
    ULong base, limit;
    ThreadId stream;             /* the thread whose blocks are being written */
    Bool silent;                 /* in a forked child, or when nobody listens: send nothing */
    Int child[WIRE_DESCRIPTORS]; /* for the child that is about to be made; [0] is -1: none */
    Bool telling;                /* what is told is for the newest run alone */
    Bool newborn; /* a child that is followed, within the call that made it: silent until then */

    /* threads */
    struct thread *threads;
    ThreadId running; /* 0 = none */
    ULong turns;      /* how often a thread began to run */
    ULong told;       /* instructions of all threads, with each WIRE_RAN */
    UInt stops;       /* and stopped, since the buffer was handed over */
    Addr from;        /* where the running thread began ... */
    Bool over;        /* ... after all that is recorded */

    /* what is recorded */
    enum mode mode;
    Bool stop_asked;
    Bool forgotten;  /* translations were thrown away since then */
    Bool anew;       /* what all memory holds is to be told before a thread runs on */
    ULong count;     /* instructions so far, when they are counted */
    ULong threshold; /* the count at which region_due is called */
    Bool counting;   /* also while recording */
    Bool renew;      /* another run is to begin */
    Bool triggered;  /* it is to be said that a routine was reached */
    UInt wish;       /* of the recorder, that is heeded or about to be */
    Bool wished;     /* ... which is still to be heeded */
    Bool stepping;   /* recording one instruction at a time: the end is near */
    struct window *windows;
    UInt window_count, window; /* window: the current or next */
    struct wire_range *ranges;
    UInt range_count, range_capacity;

    UInt blocks; /* numbered so far */

    struct shared shared[SHARED_MAX];
    UInt shared_count;
    Bool forked; /* while there was shared memory of no file */

    Bool handles_faults; /* the program has, or had, a handler for what an instruction causes */
    /* What is being translated, if blocks are not recorded. */
    Bool exact;     /* registers are up to date at each instruction */
    Bool not_exact; /* it needs that, and has to be translated again */
};

extern struct tool the;

/* ---- ring.c ---- */
void ring_open(void);
/* After a fork, in the child: the ring is the parent's. */
void ring_abandon(void);
/* Before a fork: gets the descriptors for the child, if it is to be followed. */
void ring_ask_child(void);
/* Closes them, in the parent. */
void ring_drop_child(void);
/* After the fork, in the child: they replace the parent's. */
void ring_adopt(void);
/* Introduces the child, which is not silent any more. */
void ring_introduce(void);
/* Hands over the buffer's contents. With `ask`, waits for the answer, which goes to region.c. */
void ring_flush(Bool ask);
/* Waits for one word from the recorder. */
void ring_wait(void);
/* Returns room for a record of this kind (enum wire_kind) with `size` bytes of data; NULL when
 * silent. ring_done completes it. */
void *ring_record(UInt kind, ThreadId tid, UInt size);
void ring_done(void);
void ring_simple(UInt kind, ThreadId tid);
/* Notes that the block that was running was left at the instruction at pc. */
void ring_fault(Addr pc);
/* Another run begins (telling), or all that it begins with was told. */
void ring_renew(Bool telling);
/* Publishes in the ring's head how much is valid. */
void ring_publish(void);

/* ---- instrument.c ---- */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word);
/* ---- plan.c ---- */
/* The number of a block's instructions that end before pc. */
UInt block_insns_before(UInt number, Addr pc);
UInt block_length(UInt number);
/* How many of a block's instructions are counted when the one at pc, which they include or not,
 * faults: the exits before it count. */
UInt block_counted_before(UInt number, Addr pc);

/* Forgets all blocks, of which there is no translation any more. */
void blocks_forget(void);

/* ---- facts.c ---- */
void facts_fill(struct wire_hello *hello);

/* ---- redirect.c ---- */
/* Where the program has this code: somewhere else only if it is Valgrind's in place of the old
 * system calls at the end of the address space. */
Addr shown_address(Addr a);

/* ---- region.c ---- */
void region_init(void);
/* In a child that is followed: windows are counted from here. What marks and routines switch stays
 * as it is. All translations are thrown away. */
void region_fork(void);
/* Within a system call: throws all translations away. */
void region_forget(void);
/* Before an exec: writes into the.state where region_init of the next program is to continue. */
void region_keep(void);
/* Whether the instruction at pc is to be recorded when recording is on. */
Bool region_wants(Addr pc);
/* The kind of trigger at pc (WIRE_RANGE_FROM or _TO), or 0. */
UInt region_trigger(Addr pc);
/* Whether no instruction may run together with the one at pc, which comes next. */
Bool region_parts(Addr pc);
void region_add(const struct wire_range *range);
/* Drops the ranges there, because something else is mapped there now. */
void region_drop(Addr a, SizeT length);
/* Called by translated code. */
void region_due(GuestState *gst);
ULong region_triggered(GuestState *gst, ULong kind);
/* A mark in the program. */
void region_switch(Bool on);
/* The recorder wants this (enum wire_wish), or a signal does. It is done when the next block
 * begins, if recording is off or instructions are counted. */
void region_wish(UInt wish);

/* ---- tool.c ---- */
void registers_of(const GuestState *gst, struct wire_regs *regs);
/* The thread's lane, while it runs. */
struct lane *lane_of(GuestState *gst);
/* The lane of any thread. */
void lane_get(ThreadId tid, struct lane *lane);
void lane_set(ThreadId tid, const struct lane *lane);
/* Takes the cursor back from the thread that was running, and tells what it did, if inputs are
 * recorded. */
void lane_collect(void);
/* Does only the first. Returns the thread, or 0 if none was running. */
ThreadId lane_stop(void);
/* Records what the kernel, or something else outside, wrote. If the thread is in a gap, nothing but
 * the memory of what is executed again can have to do with it. */
void external(ThreadId tid, Addr a, SizeT size);

/* A thread begins: tells so. */
void thread_begins(ThreadId tid);
/* A program begins, or a child that is followed. */
void say_hello(void);
/* Record what every thread got whose last block ended with a client request, and what Valgrind
 * wrote for it. */
void end_requests(void);
/* Tell what is mapped there; the second, now that it is. */
void tell_map(Addr a, SizeT length, UInt flags);
void map(Addr a, SizeT length, UInt flags, enum mapped when);
UInt rights(Bool r, Bool w, Bool x);

/* The thread's registers, as they are in its state. */
void thread_registers(ThreadId tid, struct wire_regs *regs);

/* ---- inputs.c ---- */
/* Tells what the thread did, if anything, now that it has stopped. */
void inputs_ran(ThreadId tid);
/* The running thread's block is left at the instruction at pc. */
void inputs_fault(Addr pc);
/* Whether the block, which is being translated, has to be translated again with more registers up
 * to date. */
Bool inputs_need_exact(const IRSB *in);
/* The program is about to set what a signal does. */
void inputs_handler(UInt number, Addr action);
/* Called by translated code: an instruction got a value from outside, or so many registers. `how`:
 * instructions that are not counted yet << 16 | bytes. */
void inputs_value(GuestState *gst, ULong how, ULong pc, ULong value);
void inputs_registers(GuestState *gst, ULong how, ULong pc, const Int *places);
/* Whether what memory holds is followed: recording is on, and it was told what all memory held. */
Bool inputs_follow(void);
/* Tell what was mapped, and what is there now, if memory is followed. */
void inputs_mapped(Addr a, SizeT length, enum mapped when);
void inputs_moved(Addr from, Addr to, SizeT length);
void inputs_content(Addr a, SizeT length);
/* Tells it in any case. */
void inputs_told(Addr a, SizeT length, enum mapped when);
/* Recording goes on with this thread, after a gap: tells what all memory holds. */
void inputs_anew(ThreadId tid);

/* ---- digests.c ---- */
/* Before the thread runs on: tells digests of what memory holds, if enough instructions ran since
 * that was done last. */
void digests_due(ThreadId tid);
/* The process is about to end: tells them. */
void digests_end(void);

/* ---- pages.c ---- */
/* Opens the kernel's list of pages; negative if there is none. */
Int pages_open(void);
/* Reads which of these pages are there, at most PAGES_MOST. Returns of how many it is known; those
 * of them that are there are marked in `there`. */
#define PAGES_MOST 4096u
UInt pages_read(Int fd, Addr a, SizeT pages, UChar *there);

/* ---- last.c ---- */
/* Tells all that another run begins with, before this thread runs on. */
void last_renew(ThreadId tid);

/* ---- follow.c ---- */
void forking(ThreadId tid);
void forked_parent(ThreadId tid);
void forked_child(ThreadId tid);
/* In a child that is followed, when the call that made it is over: its run begins. */
void newborn_begins(ThreadId tid);
/* After a call that succeeded: tells how a child ended, if the call says so. */
void tell_reaped(ThreadId tid, ULong result);
/* Tells the program's words. */
void tell_command(void);

/* ---- shared.c ---- */
/* After a call that succeeded, with its result: it may have mapped such memory. */
void shared_mapped(ThreadId tid, ULong result);
void shared_unmapped(Addr a, SizeT length);
/* There are two processes now. */
void shared_forked(void);
/* Another run begins: tells all that there is. */
void shared_anew(void);

/* ---- watch.c ---- */
/* These surround a system call that is recorded, or may come to be: `loose` is for a call that was
 * made in a gap. What it may have written is then told as a whole, if it is over after the gap. */
void watch_begin(ThreadId tid, Bool loose);
/* The call may write there, according to its wrapper. */
void watch_declared(ThreadId tid, Addr a, SizeT size);
/* The call may write there, for all we know. */
void watch_guessed(ThreadId tid, Addr a, SizeT size);
/* The call did write there. Returns False if the thread is not in a call that is watched. */
Bool watch_announced(ThreadId tid, Addr a, SizeT size);
/* Records what was written. */
void watch_end(ThreadId tid);
/* Forgets the call. */
void watch_drop(ThreadId tid);
/* Memory that calls which are not over may change meanwhile. Calls `note` for each stretch. */
void watch_away(void (*note)(Addr a, SizeT size));
/* Copies memory that may not be readable. Returns how many bytes could be read. */
SizeT copy_safely(void *to, Addr from, SizeT size);

/* ---- limits.c ---- */
void limits_init(HChar *text);
/* Before an exec that is followed: writes into the text where limits_init of the next program is to
 * continue. */
void limits_keep(void);
/* Around each system call. */
void limits_before(ThreadId tid);
void limits_after(ThreadId tid, Bool success);
/* A program that is not recorded is about to start with the limits that this one sees (give), or
 * failed to start. */
void limits_give(Bool give);

/* ---- kernel.c ---- */
/* Before and after a system call that is recorded, or that was made in a gap: what it may write,
 * and what it wrote. */
void kernel_may_write(ThreadId tid, Bool loose);
void kernel_wrote(ThreadId tid);
/* After a call that succeeded: memory whose contents it replaced. */
void kernel_replaced(ThreadId tid);
/* When a thread ends, the kernel clears a word, releases locks, and wakes whoever waits for them.
 * It does so at some time after the thread gave up Valgrind's lock, while other threads run. Done
 * here instead, it has a definite place in the order of events. */
void kernel_ends(ThreadId tid, UInt system_id, Bool observed);

#endif
