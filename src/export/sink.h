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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
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

/* At least so many digits, from 1 to 16; up to 15 bytes are written beyond the end. */
static inline uint8_t *vs_text_hex(uint8_t *p, uint64_t v, unsigned least)
{
    unsigned n = (unsigned)(67 - __builtin_clzll(v | 1)) / 4;

    n = n > least ? n : least;
    vs_hex_put16(p, v << (64 - 4 * n));
    return p + n;
}

/* Eight digits of v < 10^8; those in front that are 0 are left out if `cut`. 8 bytes are written.
 */
static inline uint8_t *vs_text_dec8(uint8_t *p, uint32_t v, bool cut)
{
    uint64_t digits = vs_decimal_digits(v);
    unsigned zeros = cut ? (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8 : 0;

    vs_put64(p, (digits + VS_DECIMAL_TEXT) >> 8 * zeros);
    return p + 8 - zeros;
}

/* At most 20 digits; up to 7 bytes are written beyond the end. */
static inline uint8_t *vs_text_dec(uint8_t *p, uint64_t v)
{
    uint64_t above;

    if (likely(v < VS_DECIMAL_8))
        return vs_text_dec8(p, (uint32_t)v, true);
    above = v / VS_DECIMAL_8;
    if (above >= VS_DECIMAL_8)
        p = vs_text_dec8(p, (uint32_t)(above / VS_DECIMAL_8), true);
    p = vs_text_dec8(p, (uint32_t)(above % VS_DECIMAL_8), above < VS_DECIMAL_8);
    return vs_text_dec8(p, (uint32_t)(v % VS_DECIMAL_8), false);
}

/* The same, faster for one digit. */
static inline uint8_t *vs_text_small(uint8_t *p, unsigned v)
{
    if (unlikely(v >= 10))
        return vs_text_dec(p, v);
    *p = (uint8_t)('0' + v);
    return p + 1;
}

/* A text of up to VS_TEXT_PIECE bytes, which is put by moves of a fixed size. */
#define VS_TEXT_PIECE 24

struct vs_text_piece {
    char text[VS_TEXT_PIECE];
    uint32_t size;
};

/* What does not fit is cut off. */
void vs_text_piece_make(struct vs_text_piece *piece, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Always writes VS_TEXT_PIECE bytes. */
static inline uint8_t *vs_text_piece(uint8_t *p, const struct vs_text_piece *piece)
{
    memcpy(p, piece->text, VS_TEXT_PIECE);
    return p + piece->size;
}

static inline uint8_t *vs_text_put(uint8_t *p, const char *text)
{
    size_t n = strlen(text);

    memcpy(p, text, n);
    return p + n;
}

#endif
