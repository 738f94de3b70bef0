/* SPDX-License-Identifier: MIT */
/* Operands in memory, as the tools see them that write descriptors of them: sizes that are counted
 * separately, and values, whose most significant byte comes first. */
#ifndef PUBLISHED_MTRACE_OPERANDS_H
#define PUBLISHED_MTRACE_OPERANDS_H

#include "base/bytes.h"
#include "base/likely.h"
#include "published/mtrace_out.h"
#include "front/out.h"
#include "vestige/event.h"

enum {
    OPERAND_CLASSES = 8, /* byte, word, ..., other */
    OPERAND_PIECE = 128, /* binary descriptors of more than 255 bytes are split into these */
};

static inline unsigned operand_class(unsigned size)
{
    switch (size) {
    case 1:
        return 0;
    case 2:
        return 1;
    case 4:
        return 2;
    case 8:
        return 3;
    case 10:
        return 4;
    case 16:
        return 5;
    case 32:
        return 6;
    default:
        return OPERAND_CLASSES - 1;
    }
}

/* "Byte", ..., "Extended Precision", ...; NULL for the last class. */
const char *operand_class_name(unsigned class);

/* Prints rows of statistics: a total, and each class's share of it. */
void operand_statistics(struct out *out, const char *what, const uint64_t counts[OPERAND_CLASSES]);

/* Whether the value lies in the event as a number. */
static inline bool operand_is_narrow(unsigned size)
{
    return size - 1u < 8;
}

/* Moves a narrow value to the top, so that its bytes come first, from the most significant down. */
static inline uint64_t operand_top_first(uint64_t value, unsigned size)
{
    return value << (64 - 8 * size);
}

/* Writes ", 0x" and two digits per byte at p. Returns the end. */
static inline uint8_t *operand_text(uint8_t *p, const struct vs_batch *b, const struct vs_event *e)
{
    p = text_put(p, ", 0x", 4);
    if (likely(operand_is_narrow(e->size)))
        return text_hex64(p, operand_top_first(e->value, e->size)) - (16 - 2 * e->size);
    const uint8_t *bytes = vs_event_bytes(b, e);
    for (size_t n = e->size; n; n--) {
        uint64_t digits = vs_hex_digits(bytes[n - 1]);
        memcpy(p, (const char *)&digits + 6, 2);
        p += 2;
    }
    return p;
}

/* Writes a narrow value at p, and up to 8 bytes beyond it, which MTRACE_SLACK allows. Returns the
 * end. */
static inline uint8_t *operand_binary(uint8_t *p, const struct vs_event *e)
{
    vs_put64(p, __builtin_bswap64(operand_top_first(e->value, e->size)));
    return p + e->size;
}

/* Writes `size` bytes in the opposite order at p. Returns the end. */
static inline uint8_t *operand_reverse(uint8_t *p, const uint8_t *bytes, unsigned size)
{
    for (; size; size--)
        *p++ = bytes[size - 1];
    return p;
}

/* How many of the operand's bytes from `from` on go into one binary descriptor. */
static inline unsigned operand_piece(unsigned size, unsigned from)
{
    unsigned step = size > 255 ? OPERAND_PIECE : size;
    return size - from < step ? size - from : step;
}

#endif
