/* SPDX-License-Identifier: MIT */
#include "base/invariant.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void vs_invariant_failed(const char *file, int line, const char *function, const char *what)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "vestige: bug: %s:%d: %s: broken: %s\n", file, line,
                     function, what);
    /* not by stdio: its locks may be taken */
    if (n > 0 &&
        write(STDERR_FILENO, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) < 0)
        abort();
    abort();
}
