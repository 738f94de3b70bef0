/* SPDX-License-Identifier: MIT */
/* The gdb layer: gdb's remote protocol over a machine whose past and future are known. What else
 * is in it serves these. */
#ifndef GDB_GDB_H
#define GDB_GDB_H

#include "gdb/gdb_machine.h" /* what is to be debugged */
#include "gdb/replayed.h"    /* a replayed program as that */
#include "gdb/server.h"      /* offering it to debuggers */

#endif
