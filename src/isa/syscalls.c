/* SPDX-License-Identifier: MIT */
#include "isa/syscalls.h"

#include <signal.h>
#include <string.h>

const char *vs_syscall_name(unsigned call)
{
    static const char *const names[] = {
#define NAME(name) [VS_SYS_##name] = #name,
        VS_SYS_LIST(NAME)
#undef NAME
    };
    return call < VS_SYS_END ? names[call] : NULL;
}

const char *vs_signal_name(uint64_t number)
{
    return number < NSIG ? sigabbrev_np((int)number) : NULL;
}
