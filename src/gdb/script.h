/* SPDX-License-Identifier: MIT */
#ifndef GDB_SCRIPT_H
#define GDB_SCRIPT_H

/* A script for gdb, with which it looks anew where it stands after `monitor goto`. */
extern const char vs_gdb_script[];

#endif
