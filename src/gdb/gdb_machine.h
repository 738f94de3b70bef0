/* SPDX-License-Identifier: MIT */
/* The gdb layer: a debugger's remote protocol over a machine whose past and future are known.
 *
 *   packet    bytes from and to a debugger: frames, checksums, escapes
 *   fields    the fields that packets consist of
 *   describe  registers, threads, what is loaded, stops and signals in gdb's terms
 *   stub      does with a machine what the packets ask for
 *   session   takes a debugger's bytes and gives the answers
 *   server    a connection: a socket, or a pair of file descriptors
 *   replayed  a replayed program as a machine; loaded_files: what it has loaded
 *   monitor   what such a machine answers to `monitor`
 *   script    what gdb itself is told
 *
 * This is the machine that a stub drives. Its threads are its cores, numbered from 0. It stands at
 * one point of the run, and everything it says is as of that point. It can go forwards to the end
 * of what is known and backwards to the beginning, but nothing can be changed. */
#ifndef GDB_GDB_MACHINE_H
#define GDB_GDB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/registers.h"
#include "vestige/error.h"

enum vs_gdb_stop_kind {
    VS_GDB_STEPPED,     /* the thread did one instruction, or undid it */
    VS_GDB_BREAK,       /* at a breakpoint: the thread's pc is there */
    VS_GDB_WATCH,       /* the thread's next instruction accesses watched bytes; or, backwards, its
                         * last one did. If the registers' `watch_after` is set, the thread has
                         * already passed the access. */
    VS_GDB_BEGINNING,   /* there is nothing before */
    VS_GDB_END,         /* there is nothing after: the run ended, or what is known of it did */
    VS_GDB_INTERRUPTED, /* because the poll asked for it */
    VS_GDB_EXEC,        /* another program is there than was: the process has become it, or, going
                         * backwards, has not yet */
    VS_GDB_STANDING,    /* only another program was to be told; it has not moved since */
    VS_GDB_SIGNAL,      /* the thread got a signal: it stands where the signal came, and goes on in
                         * its handler, or not at all */
};

enum vs_gdb_point { /* as in packets z and Z */
                    VS_GDB_POINT_BREAK = 0,
                    VS_GDB_POINT_HARD_BREAK = 1,
                    VS_GDB_POINT_WRITE = 2,
                    VS_GDB_POINT_READ = 3,
                    VS_GDB_POINT_ACCESS = 4,
};

struct vs_gdb_stop {
    enum vs_gdb_stop_kind kind;
    unsigned thread;         /* the one that stopped */
    enum vs_gdb_point point; /* VS_GDB_BREAK, VS_GDB_WATCH: as what kind it was set */
    uint64_t addr;           /* VS_GDB_WATCH: where the watched bytes are */
    int signal;              /* VS_GDB_SIGNAL: its number on the target */
};

struct vs_gdb_resume {
    bool backwards;
    bool step;       /* one instruction of `thread`; others may run, too */
    unsigned thread; /* the one that steps */
    /* Is asked now and then, with `context`, whether to stop. May be NULL. */
    bool (*poll)(void *context);
    void *context;
};

/* A file that the dynamic loader has loaded. */
struct vs_gdb_library {
    const char *path;
    uint64_t base;    /* where it lies, minus where it was linked to lie */
    uint64_t dynamic; /* where its dynamic section lies; no other library has the same */
};

/* What is loaded. All addresses are where things lie, and 0 if they are not known. */
struct vs_gdb_process {
    const char *program; /* path of the executable, or NULL */
    uint64_t base, dynamic;
    uint64_t entry;                 /* its first instruction */
    uint64_t headers, header_count; /* its program headers */
    uint64_t loader;                /* base of the dynamic loader */
    const struct vs_gdb_library *libraries;
    size_t library_count;
};

/* How the system calls a thread. */
struct vs_gdb_thread {
    char name[32];
    uint64_t id; /* 0: it is not known */
};

/* The functions that return an int return 0 or what is said below, or an error with one line in
 * diag if they have one. After an error the machine stands where it stood, or as far as it came,
 * and can be asked again. */
struct vs_gdb_machine_ops {
    unsigned (*threads)(void *machine);               /* how many ever run */
    bool (*is_alive)(void *machine, unsigned thread); /* started, and not ended */
    unsigned (*current)(void *machine);               /* the thread that stopped last */
    /* Gets the bytes of a register by its number (isa/registers.h), little-endian. Returns how many
     * they are; -VSE_NOTFOUND if its value is unknown, as in a thread that has not started. */
    int (*get_register)(void *machine, unsigned thread, unsigned number,
                        uint8_t bytes[VS_REGISTER_BYTES]);
    void (*describe)(void *machine, unsigned thread, struct vs_gdb_thread *description);
    /* Tells what is loaded. The strings and lists are valid until the machine moves. */
    void (*process)(void *machine, struct vs_gdb_process *process);
    /* Finds where the thread has its own copy of the variables of a library, or of the program: the
     * one whose dynamic section lies there. -VSE_NOTFOUND: that is not known. NULL if the machine
     * never knows. */
    int (*thread_local)(void *machine, unsigned thread, uint64_t dynamic, uint64_t *addr);
    /* Reads memory as the thread knows it. Returns how many bytes from `addr` on are known, up to
     * size. */
    size_t (*read)(void *machine, unsigned thread, uint64_t addr, uint8_t *bytes, size_t size);
    /* Set and remove a point. -VSE_LIMIT: there are too many; -VSE_NOTFOUND: there is none such to
     * remove. */
    int (*insert)(void *machine, enum vs_gdb_point point, uint64_t addr, uint64_t size);
    int (*remove)(void *machine, enum vs_gdb_point point, uint64_t addr, uint64_t size);
    /* Forgets the points that the debugger takes for removed: all of them, if it was just told
     * about another program; otherwise, if it was told what is loaded, the breakpoints in libraries
     * that it knew and that are not there any more. NULL if nothing ever goes. */
    void (*forget)(void *machine, bool all);
    int (*resume)(void *machine, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
                  struct vs_diag *diag);
    /* Obeys a `monitor` command and calls say with pieces of its output. -VSE_NOTFOUND: there is no
     * such command; other errors come with diag. *moved is set if the machine now stands
     * elsewhere. */
    int (*monitor)(void *machine, const char *command, void (*say)(void *context, const char *text),
                   void *context, bool *moved, struct vs_diag *diag);
    /* Sets which signals do not stop the machine: bit n - 1 is the target's signal n. NULL if the
     * machine knows nothing about signals. */
    void (*pass)(void *machine, uint64_t signals);
    /* Forgets all points and the signals to pass, so that another debugger can come. */
    void (*detach)(void *machine);
};

struct vs_gdb_machine {
    const struct vs_gdb_machine_ops *ops;
    void *machine;
    const struct vs_register_set *registers;
};

#endif
