/* SPDX-License-Identifier: MIT */
#include "study/syscalls.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *vs_syscall_name(const char *isa, uint64_t number)
{
    const struct vs_syscall_row *row = NULL;
    char text[24];

    if (isa && strcmp(isa, "x86-64") == 0)
        row = vs_syscalls_x86_64;
    else if (isa && strcmp(isa, "rv64") == 0)
        row = vs_syscalls_rv64;
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    for (; row && row->name; row++)
        if (strcmp(row->number, text) == 0)
            return row->name;
    return NULL;
}

const char *vs_signal_name(uint64_t number)
{
    return number < NSIG ? sigabbrev_np((int)number) : NULL;
}
