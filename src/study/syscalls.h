/* SPDX-License-Identifier: MIT */
/* Names of Linux's system calls and signals. */
#ifndef STUDY_SYSCALLS_H
#define STUDY_SYSCALLS_H

#include <stdint.h>

/* The name of a system call on an ISA as in the fact "isa": "x86-64" or "rv64". NULL if it has none
 * or the ISA is not known; isa may be NULL. Static storage. */
const char *vs_syscall_name(const char *isa, uint64_t number);

/* "SEGV" for 11, and so on; the same on both ISAs. NULL if it has none. Static storage. */
const char *vs_signal_name(uint64_t number);

/* The tables behind it, ended by a row without a name. A number is decimal text; rows whose text is
 * none are of calls that the ISA lacks. */
struct vs_syscall_row {
    const char *name, *number;
};
extern const struct vs_syscall_row vs_syscalls_x86_64[], vs_syscalls_rv64[];

#endif
