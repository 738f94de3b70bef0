/* SPDX-License-Identifier: MIT */
/* Running out of memory. Each case has its own process, so no other one notices. */
#ifndef NO_MEMORY_H
#define NO_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "unittest.h"

/* Nothing can be allocated from now on. Returns false under a sanitizer, whose allocator does not
 * return NULL, and leaves all as it is. */
static inline bool use_up_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    const struct rlimit none = {0, 0};
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    for (size_t size = 1 << 20; size >= 16; size /= 2)
        while (malloc(size))
            continue;
    return true;
#endif
}

#endif
