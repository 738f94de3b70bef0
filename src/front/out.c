/* SPDX-License-Identifier: MIT */
#include "front/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char digit[] = "0123456789abcdef";

void out_init(struct out *o, int fd)
{
    o->fd = fd;
    o->error = 0;
    o->used = 0;
    o->size = sizeof(o->own);
    o->buf = o->own;
}

void out_enlarge(struct out *o)
{
    enum { LARGE = 65536 };
    char *buf = o->buf == o->own ? malloc(LARGE) : NULL;
    if (!buf)
        return;
    memcpy(buf, o->own, o->used);
    o->buf = buf;
    o->size = LARGE;
}

void out_fini(struct out *o)
{
    if (o->buf != o->own)
        free(o->buf);
    out_init(o, o->fd);
}

static void send(struct out *o, const char *p, size_t n)
{
    while (n && !o->error) {
        ssize_t done = write(o->fd, p, n);
        if (done >= 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno != EINTR) {
            o->error = errno;
        }
    }
}

int out_flush(struct out *o)
{
    send(o, o->buf, o->used);
    o->used = 0;
    return o->error;
}

bool out_is_file(const struct out *o)
{
    struct stat st;
    return fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Makes room for n <= sizeof(own) bytes. The caller adds what it wrote to o->used. */
static char *room(struct out *o, size_t n)
{
    if (o->size - o->used < n)
        out_flush(o);
    return o->buf + o->used;
}

void out_mem(struct out *o, const char *s, size_t n)
{
    if (n > o->size) {
        out_flush(o);
        send(o, s, n);
        return;
    }
    memcpy(room(o, n), s, n);
    o->used += n;
}

void out_char(struct out *o, char c)
{
    *room(o, 1) = c;
    o->used++;
}

void out_pad(struct out *o, size_t n)
{
    for (; n; n--)
        out_char(o, ' ');
}

void out_printf(struct out *o, const char *format, ...)
{
    char text[1024], *longer = NULL;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(text, sizeof(text), format, args);
    if (n >= (int)sizeof(text) && vasprintf(&longer, format, again) < 0) {
        longer = NULL;
        n = 0;
        o->error = ENOMEM;
    }
    va_end(again);
    va_end(args);
    if (n > 0)
        out_mem(o, longer ? longer : text, (size_t)n);
    free(longer);
}

void out_dec(struct out *o, uint64_t v, unsigned width)
{
    char text[20];
    char *end = text + sizeof(text), *p = end;
    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    size_t n = (size_t)(end - p);
    if (n < width)
        out_pad(o, width - n);
    out_mem(o, p, n);
}

void out_hex(struct out *o, uint64_t v, unsigned digits)
{
    if (!digits)
        digits = v ? (unsigned)(67 - __builtin_clzll(v)) / 4 : 1;
    char *p = room(o, 2 + digits);
    p[0] = '0';
    p[1] = 'x';
    for (unsigned i = digits; i; i--, v >>= 4)
        p[1 + i] = digit[v & 15];
    o->used += 2 + digits;
}

static char *put_byte(char *p, uint8_t b)
{
    p[0] = digit[b >> 4];
    p[1] = digit[b & 15];
    return p + 2;
}

void out_bytes(struct out *o, const uint8_t *p, size_t n)
{
    while (n) {
        size_t part = n < 256 ? n : 256;
        char *to = room(o, 2 * part);
        for (size_t i = 0; i < part; i++)
            to = put_byte(to, p[i]);
        o->used += 2 * part;
        p += part;
        n -= part;
    }
}

void out_bytes_reversed(struct out *o, const uint8_t *p, size_t n)
{
    while (n) {
        size_t part = n < 256 ? n : 256;
        char *to = room(o, 2 * part);
        for (size_t i = 0; i < part; i++)
            to = put_byte(to, p[--n]);
        o->used += 2 * part;
    }
}

size_t utf8_length(const char *s)
{
    const uint8_t *u = (const uint8_t *)s;
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    if (u[0] == 0 || u[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, and what is beyond U+10FFFF */
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return n;
}

static int is_control(const char *s, size_t n)
{
    uint8_t a = (uint8_t)s[0];
    return (n == 1 && (a < 0x20 || a == 0x7f)) || (n == 2 && a == 0xc2 && (uint8_t)s[1] < 0xa0);
}

void out_safe(struct out *o, const char *s)
{
    while (*s) {
        size_t n = utf8_length(s);
        if (n && !is_control(s, n)) {
            out_mem(o, s, n);
        } else {
            n = n ? n : 1;
            for (size_t i = 0; i < n; i++) {
                out_str(o, "\\x");
                out_bytes(o, (const uint8_t *)&s[i], 1);
            }
        }
        s += n;
    }
}

void out_csv_text(struct out *o, const char *s)
{
    out_char(o, '"');
    for (; *s; s++) {
        if (*s == '"')
            out_char(o, '"');
        out_char(o, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
    out_char(o, '"');
}

char *group_digits(char buf[32], uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    char *p = buf;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *p++ = ',';
        *p++ = text[i];
    }
    *p = 0;
    return buf;
}
