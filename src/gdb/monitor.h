/* SPDX-License-Identifier: MIT */
/* What a replayed program answers to `monitor`, beyond what gdb asks by itself. */
#ifndef GDB_MONITOR_H
#define GDB_MONITOR_H

#include "gdb/gdb_machine.h"

/* The machine's `monitor` (gdb/gdb_machine.h); it is a struct vs_gdb_replayed. */
int vs_gdb_monitor(void *machine, const char *command, void (*say)(void *context, const char *text),
                   void *context, bool *moved, struct vs_diag *diag);

#endif
