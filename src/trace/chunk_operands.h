/* SPDX-License-Identifier: MIT */
/* Turns the addresses and values of an events chunk into columns.
 *
 * The encoder does everything else about an event and sets these aside as operands: they need
 * nothing of control flow but the site, and control flow needs nothing of them. So another thread
 * can take them over, a block at a time.
 */
#ifndef TRACE_CHUNK_OPERANDS_H
#define TRACE_CHUNK_OPERANDS_H

#include "trace/predict.h"

/* A load or store; or a value that another kind of event has in the wide column or in the shadow
 * memory. It takes only 24 bytes, since this is what passes from thread to thread. */
struct vs_chunk_operand {
    uint64_t addr;
    uint64_t value; /* if size > 8: its offset in `wide` */
    uint32_t site_kind;
    uint16_t thread, size; /* as they lie in an event */
};
_Static_assert(sizeof(struct vs_chunk_operand) == 24, "three words");

#define VS_SITE_KIND(site, kind) ((site) << 8 | (kind))
_Static_assert(VS_MAX_SITES <= 1 << 24, "a site's number fits");
_Static_assert(offsetof(struct vs_chunk_operand, size) -
                       offsetof(struct vs_chunk_operand, thread) ==
                   offsetof(struct vs_event, size) - offsetof(struct vs_event, thread),
               "both are copied at once");

static inline unsigned vs_chunk_operand_kind(const struct vs_chunk_operand *p)
{
    return p->site_kind & 0xff;
}

/* Enough operands to make handing them to another thread worthwhile, and few enough to be still in
 * a cache there. */
#define VS_OPERANDS      8192
#define VS_OPERANDS_WIDE (256u << 10) /* a block is also full with so many bytes of wide values */

/* A block of operands, all of one chunk, in order. */
struct vs_chunk_operands {
    struct vs_chunk_operand *list; /* room for VS_OPERANDS, and for looking ahead */
    size_t count;
    struct vs_buf wide;      /* values over 8 bytes */
    uint32_t sites, threads; /* upper bounds of their numbers; set before encoding */
};

/* Returns 0; -VSE_NOMEM. */
int vs_chunk_operands_init(struct vs_chunk_operands *o);
void vs_chunk_operands_fini(struct vs_chunk_operands *o);

/* Empties the block. */
void vs_chunk_operands_clear(struct vs_chunk_operands *o);

/* What is kept from one block of a chunk to the next. A zeroed struct is ready for
 * vs_chunk_operand_coder_begin. */
struct vs_chunk_operand_coder {
    struct vs_data data;
    unsigned shadow_bits;
    struct vs_trail *trails; /* by thread */
    size_t trail_count, trail_capacity;
    uint8_t scratch[VS_SIZE_MAX + 1];
};

/* Starts a chunk; shadow_bits is what its summary has. Returns 0; -VSE_NOMEM. */
int vs_chunk_operand_coder_begin(struct vs_chunk_operand_coder *c, unsigned shadow_bits);
void vs_chunk_operand_coder_fini(struct vs_chunk_operand_coder *c);

/* Appends the next block of the chunk to the columns VS_COL_HOW, _ADDR, _VALUE, _WIDE. Returns 0;
 * -VSE_NOMEM. */
int vs_chunk_operand_coder_put(struct vs_chunk_operand_coder *c, const struct vs_chunk_operands *o,
                               struct vs_columns *cols);

#endif
