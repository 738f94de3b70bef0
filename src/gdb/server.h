/* SPDX-License-Identifier: MIT */
/* Offers a machine to debuggers, one at a time: on a port, or on a pair of file descriptors. */
#ifndef GDB_SERVER_H
#define GDB_SERVER_H

#include "gdb/gdb_machine.h"

enum vs_gdb_notice_kind {
    VS_GDB_LISTENS, /* the server listens on `port` of `host` */
    VS_GDB_COMES,   /* a debugger came, from `host` and `port` */
    VS_GDB_REFUSED, /* another was refused, since there is one already; from `host` and `port` */
    VS_GDB_LEAVES,  /* the debugger detached, ended, or its connection broke */
};

/* Something to tell the user. Host and port are "" and 0 if they are unknown, as they are with file
 * descriptors. */
struct vs_gdb_notice {
    enum vs_gdb_notice_kind kind;
    const char *host; /* numeric; valid during the call */
    unsigned port;
};

struct vs_gdb_server_options {
    /* Where to listen, unless `fds` is set. */
    const char *host; /* a name or an address; NULL: 127.0.0.1 */
    unsigned port;    /* 0: any that is free */
    bool once;        /* end after the first debugger */

    /* The debugger is at the other end of `in` and `out`, which stay the caller's and may be the
     * same. */
    bool fds;
    int in, out;

    int stop; /* a file descriptor that ends the server when it can be read; -1: none */

    void (*notice)(void *context, const struct vs_gdb_notice *notice); /* may be NULL */
    void *context;
};

enum vs_gdb_served {
    VS_GDB_SERVED_KILL, /* the debugger asked for the end */
    VS_GDB_SERVED_LEFT, /* the debugger left, and no other can follow */
    VS_GDB_SERVED_STOP, /* `stop` could be read */
};

/* Serves until one of the above happens. Returns which; -VSE_IO (it cannot listen or accept, or,
 * with fds, read or write); -VSE_INVAL (there is no such host or port); -VSE_NOMEM. Between
 * debuggers the machine stays where it is and forgets their points. SIGPIPE is blocked in the
 * calling thread meanwhile. */
int vs_gdb_serve(const struct vs_gdb_server_options *options, const struct vs_gdb_machine *machine,
                 struct vs_diag *diag);

#endif
