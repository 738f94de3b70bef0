/* SPDX-License-Identifier: MIT */
/* The debugger's side of the protocol, for tests: making frames and taking them apart. */
#ifndef GDBTALK_H
#define GDBTALK_H

#include <stdio.h>
#include <string.h>

#include "unit/unittest.h"

#define TALK_MAX 65536

/* The frame of a text that needs no escapes. Returns its length. */
static inline size_t talk_frame(const char *text, char *frame, size_t capacity)
{
    uint8_t sum = 0;
    int n;

    for (const char *p = text; *p; p++)
        sum = (uint8_t)(sum + (uint8_t)*p);
    n = snprintf(frame, capacity, "$%s#%02x", text, sum);
    CHECK(n > 0 && (size_t)n < capacity);
    return (size_t)n;
}

/* Takes the first frame from *p, which must be a good one; its data go to text, without escapes,
 * and *p behind it. False if there is none. */
static inline bool talk_take(const uint8_t **p, const uint8_t *end, char *text, size_t capacity)
{
    const uint8_t *s = *p;
    size_t n = 0;
    uint8_t sum = 0;
    char digits[3];

    if (s == end || *s != '$')
        return false;
    for (s++; s < end && *s != '#'; s++) {
        bool escaped = *s == '}';

        CHECK(*s != '$' && *s != '*' && n + 1 < capacity);
        sum = (uint8_t)(sum + *s);
        if (escaped)
            CHECK(++s < end);
        sum = (uint8_t)(sum + (escaped ? *s : 0));
        text[n++] = (char)(escaped ? *s ^ 0x20 : *s);
    }
    text[n] = 0;
    CHECK(end - s >= 3);
    snprintf(digits, sizeof(digits), "%02x", sum);
    CHECK_MEM(s + 1, digits, 2);
    *p = s + 3;
    return true;
}

/* The text that pairs of digits say. */
static inline void talk_unhex(const char *hex, char *text, size_t capacity)
{
    size_t n = 0;
    unsigned byte;

    for (; *hex; hex += 2) {
        CHECK(n + 1 < capacity && sscanf(hex, "%2x", &byte) == 1);
        text[n++] = (char)byte;
    }
    text[n] = 0;
}

static inline void talk_hex(const char *text, char *hex, size_t capacity)
{
    size_t n = 0;

    for (; *text; text++, n += 2) {
        CHECK(n + 2 < capacity);
        snprintf(hex + n, 3, "%02x", (uint8_t)*text);
    }
    hex[n] = 0;
}

#endif
