/* SPDX-License-Identifier: MIT */
/* What must hold whatever comes from outside, checked in release builds, too: a figure that follows
 * from a broken invariant would be wrong, and nothing would tell.
 *
 * Only for mistakes of ours. What a file, a stream, a program or a lack of memory can bring about
 * is an error that is returned. A check costs a comparison, and is not made per event.
 *
 * One that fails ends the process, after a line on standard error, as assert does: this is the one
 * place where the library prints, since there is nobody left to return an error to. */
#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

#include "base/likely.h"

#define invariant(what)                                                                            \
    (likely(what) ? (void)0 : vs_invariant_failed(__FILE__, __LINE__, __func__, #what))

_Noreturn void vs_invariant_failed(const char *file, int line, const char *function,
                                   const char *what) __attribute__((cold));

#endif
