/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program can bring functions that replace others, or wrap them, when it runs under Valgrind (PHP
 * does). What is recorded is the program as it is natively, and code as a debugger would find it by
 * following branches: nothing is replaced, but for the old system calls at the end of the address
 * space, which Valgrind cannot run. The linker puts this before Valgrind's own. */
#include "tool.h"

#define OLD_SYSTEM_CALLS 0xffffffffff600000ul

/* VG_(redir_do_lookup) of Valgrind's core, and what is called instead. */
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
