/* SPDX-License-Identifier: MIT */
/* What must hold whatever comes from outside. It is checked in release builds too: a figure that
 * follows from a broken invariant would be wrong, and nothing would show it.
 *
 * Only our own mistakes can break an invariant. Whatever a file, a stream, a program or a lack of
 * memory can cause is an error, which is returned. A check costs a comparison and is not made per
 * event.
 *
 * A check that fails prints a line on standard error and ends the process, as assert does. This is
 * the only place where the library prints, since nobody is left to return an error to. */
#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

#include "base/likely.h"

#define invariant(what)                                                                            \
    (likely(what) ? (void)0 : vs_invariant_failed(__FILE__, __LINE__, __func__, #what))

_Noreturn void vs_invariant_failed(const char *file, int line, const char *function,
                                   const char *what) __attribute__((cold));

#endif
