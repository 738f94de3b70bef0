/* SPDX-License-Identifier: MIT */
/* The gdb layer: gdb's remote protocol over a machine whose past and future are known. Its other
 * headers serve these. */
#ifndef GDB_GDB_H
#define GDB_GDB_H

#include "gdb/gdb_machine.h" /* what is to be debugged */
#include "gdb/replayed.h"    /* a replayed program as such a machine */
#include "gdb/script.h"      /* what gdb itself is told */
#include "gdb/server.h"      /* offers a machine to debuggers */

#endif
