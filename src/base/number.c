/* SPDX-License-Identifier: MIT */
#include "base/number.h"

#include <stdbool.h>
#include <string.h>

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* The factor of a suffix that fills [s, end); 0 if it is none. */
static uint64_t suffix_factor(const char *s, const char *end)
{
    static const char letters[] = "KMG";
    size_t more = (size_t)(end - s) - 1;
    if (s == end)
        return 1;
    const char *letter = memchr(letters, *s, sizeof(letters) - 1);
    if (!letter || more > 2 || memcmp(s + 1, "iB", more) != 0)
        return 0;
    return UINT64_C(1024) << 10 * (letter - letters);
}

const char *vs_number(const char *s, const char *end, uint64_t *number)
{
    int base = 10;
    if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
    }
    const char *start = s;
    uint64_t v = 0;
    bool over = false;
    for (; s < end && digit_value(*s) < base; s++) {
        over |= __builtin_mul_overflow(v, (uint64_t)base, &v);
        over |= __builtin_add_overflow(v, (uint64_t)digit_value(*s), &v);
    }
    uint64_t factor = suffix_factor(s, end);
    if (s == start || !factor)
        return "is not a number";
    over |= __builtin_mul_overflow(v, factor, &v);
    *number = v;
    return over ? "does not fit in 64 bits" : NULL;
}
