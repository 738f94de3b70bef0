/* SPDX-License-Identifier: MIT */
/* Binary search in an array of structs that ascend by one of their members, a uint64_t. */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The index of the first element whose member is at least `key`, or more than `key`; `count` if
 * there is none. */
#define VS_FIRST_FROM(array, count, member, key)  VS_FIRST(array, count, member, key, false)
#define VS_FIRST_AFTER(array, count, member, key) VS_FIRST(array, count, member, key, true)

#define VS_FIRST(array, count, member, key, after)                                                 \
    vs_first(array, count, sizeof(*(array)),                                                       \
             _Generic((array)->member, uint64_t                                                    \
                      : offsetof(__typeof__(*(array)), member)),                                   \
             key, after)

static inline size_t vs_first(const void *array, size_t count, size_t element, size_t offset,
                              uint64_t key, bool after)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t value;
        memcpy(&value, (const uint8_t *)array + middle * element + offset, sizeof(value));
        if (value < key || (after && value == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
