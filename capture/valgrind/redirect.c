/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program can bring along functions that replace or wrap others when it runs under Valgrind (PHP
 * does). We record the program as it is natively, and code as a debugger would find it by following
 * branches. So nothing is replaced, except for the old system calls at the end of the address
 * space, which Valgrind cannot run. The linker takes this function instead of Valgrind's own. */
#include "tool.h"

#define OLD_SYSTEM_CALLS 0xffffffffff600000ul

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
