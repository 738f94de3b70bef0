/* SPDX-License-Identifier: MIT */
/* Hints for hot loops. */
#ifndef BASE_LIKELY_H
#define BASE_LIKELY_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
