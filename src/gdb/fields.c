/* SPDX-License-Identifier: MIT */
#include "gdb/fields.h"

#include <string.h>

#include "vestige/error.h"

int vs_gdb_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool vs_gdb_take_char(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

bool vs_gdb_take_number(const char **p, uint64_t *number)
{
    const char *s = *p;
    uint64_t n = 0;

    for (; vs_gdb_digit(*s) >= 0; s++) {
        if (n >> 60)
            return false;
        n = n << 4 | (uint64_t)vs_gdb_digit(*s);
    }
    if (s == *p)
        return false;
    *p = s;
    *number = n;
    return true;
}

bool vs_gdb_take_pair(const char **p, uint64_t *first, uint64_t *second)
{
    const char *s = *p;

    if (!vs_gdb_take_number(&s, first) || !vs_gdb_take_char(&s, ',') ||
        !vs_gdb_take_number(&s, second))
        return false;
    *p = s;
    return true;
}

bool vs_gdb_take_thread(const char **p, unsigned threads, int64_t *thread)
{
    const char *s = *p;
    uint64_t id;

    if (!strncmp(s, "-1", 2)) {
        *thread = VS_GDB_ALL_THREADS;
        *p = s + 2;
        return true;
    }
    if (!vs_gdb_take_number(&s, &id) || id > threads)
        return false;
    *thread = id ? (int64_t)(id - 1) : VS_GDB_ANY_THREAD;
    *p = s;
    return true;
}

int64_t vs_gdb_unhex(const char *text, uint8_t *bytes, size_t capacity)
{
    size_t n = 0;

    for (; text[0]; text += 2, n++) {
        int high = vs_gdb_digit(text[0]), low = vs_gdb_digit(text[1]);

        if (high < 0 || low < 0)
            return -VSE_CORRUPT;
        if (n == capacity)
            return -VSE_LIMIT;
        bytes[n] = (uint8_t)(high << 4 | low);
    }
    return (int64_t)n;
}
