/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program can bring along functions that replace or wrap others when it runs under Valgrind (PHP
 * does). We record the program as it is natively, and code as a debugger would find it by following
 * branches. So nothing is replaced, except for the old system calls at the end of the address
 * space, which Valgrind cannot run. The linker takes this function instead of Valgrind's own. What
 * Valgrind runs in their place is recorded as if it lay where the program calls it. */
#include "tool.h"

#define OLD_SYSTEM_CALLS 0xffffffffff600000ul
#define OLD_CALL_STRIDE  0x400
/* Of each of Valgrind's: mov $number, %rax; syscall; ret. */
#define CALL_LENGTH 10

/* In Valgrind's core, in the order of what they replace. */
extern const UChar VG_(amd64_linux_REDIR_FOR_vgettimeofday)[];
extern const UChar VG_(amd64_linux_REDIR_FOR_vtime)[];
extern const UChar VG_(amd64_linux_REDIR_FOR_vgetcpu)[];

/* VG_(redir_do_lookup) in Valgrind's core, and what is called instead of it. */
extern Addr __real_vgPlain_redir_do_lookup(Addr a, Bool *wraps);
Addr __wrap_vgPlain_redir_do_lookup(Addr a, Bool *wraps);

Addr __wrap_vgPlain_redir_do_lookup(Addr a, Bool *wraps)
{
    if (a >= OLD_SYSTEM_CALLS)
        return __real_vgPlain_redir_do_lookup(a, wraps);
    if (wraps)
        *wraps = False;
    return a;
}

Addr shown_address(Addr a)
{
    const UChar *const calls[] = {VG_(amd64_linux_REDIR_FOR_vgettimeofday),
                                  VG_(amd64_linux_REDIR_FOR_vtime),
                                  VG_(amd64_linux_REDIR_FOR_vgetcpu)};

    for (UInt i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (a - (Addr)calls[i] < CALL_LENGTH)
            return OLD_SYSTEM_CALLS + i * OLD_CALL_STRIDE + (a - (Addr)calls[i]);
    return a;
}
