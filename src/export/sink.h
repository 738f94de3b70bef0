/* SPDX-License-Identifier: MIT */
/* The bytes that a format writes, in a buffer. A format writes into the buffer itself:
 *
 *     uint8_t *p = vs_sink_room(s, n);
 *     if (!p)
 *         return s->error;
 *     ... at most n bytes at p ...
 *     s->at = p;
 */
#ifndef EXPORT_SINK_H
#define EXPORT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hex.h"
#include "base/likely.h"
#include "export/export.h"

/* The most bytes that can be asked for at once. */
#define VS_SINK_ROOM 4096

struct vs_sink {
    uint8_t *at, *end;
    uint8_t *buffer;
    vs_export_write *write;
    void *context;
    int error; /* the first error of `write`; nothing is written after it */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_sink_init(struct vs_sink *s, vs_export_write *write, void *context);
void vs_sink_fini(struct vs_sink *s);

/* Hands over what is in the buffer. Returns 0; the error. */
int vs_sink_flush(struct vs_sink *s);

/* Returns where n <= VS_SINK_ROOM bytes may be written; NULL after an error. */
static inline uint8_t *vs_sink_room(struct vs_sink *s, size_t n)
{
    if (unlikely((size_t)(s->end - s->at) < n) && vs_sink_flush(s))
        return NULL;
    return s->at;
}

/* Writes any number of bytes. Returns 0; the error. */
int vs_sink_put(struct vs_sink *s, const void *bytes, size_t size);
int vs_sink_text(struct vs_sink *s, const char *text);

/* Writes at most 1,023 bytes, so text of any length goes through vs_sink_text. Returns 0; the
 * error; -VSE_INTERNAL (they are more). */
int vs_sink_printf(struct vs_sink *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes a string as JSON has it, with its quotes; bytes that are not UTF-8 become U+FFFD. */
int vs_sink_json(struct vs_sink *s, const char *text);

/* ---- text, written at p; each returns its end ------------------------------------------------ */

/* At least so many digits, at most 16; up to 16 bytes are written beyond the end. */
static inline uint8_t *vs_text_hex(uint8_t *p, uint64_t v, unsigned least)
{
    uint64_t text[4] = {vs_hex_digits((uint32_t)(v >> 32)), vs_hex_digits((uint32_t)v)};
    unsigned n = (unsigned)(67 - __builtin_clzll(v | 1)) / 4;

    n = n > least ? n : least;
    memcpy(p, (const char *)text + 16 - n, 8);
    memcpy(p + 8, (const char *)text + 24 - n, 8);
    return p + n;
}

/* At most 20 digits. */
static inline uint8_t *vs_text_dec(uint8_t *p, uint64_t v)
{
    uint8_t digits[20], *d = digits + sizeof(digits);
    size_t n;

    if (v < 10) {
        *p = (uint8_t)('0' + v);
        return p + 1;
    }
    do {
        *--d = (uint8_t)('0' + v % 10);
        v /= 10;
    } while (v);
    n = (size_t)(digits + sizeof(digits) - d);
    memcpy(p, d, n);
    return p + n;
}

static inline uint8_t *vs_text_put(uint8_t *p, const char *text)
{
    size_t n = strlen(text);

    memcpy(p, text, n);
    return p + n;
}

#endif
