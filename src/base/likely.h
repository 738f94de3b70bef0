/* SPDX-License-Identifier: MIT */
/* Hints for hot loops. */
#ifndef BASE_LIKELY_H
#define BASE_LIKELY_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Before a loop of at most 8 rounds: that it is written out. */
#define VS_UNROLL _Pragma("GCC unroll 8")

#endif
