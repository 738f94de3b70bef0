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

/* How the operands of a record (trace/recipe.h) are found in it. A branch is none. */
struct vs_operand_step {
    uint64_t addr, addr_mask, value, value_mask;
    uint32_t site;
    uint16_t size, addr_at, value_at;
    uint8_t bytes; /* a bit for each, if there are at most 8 */
    bool load;
};

struct vs_operand_recipe {
    uint32_t length, count;
    struct vs_operand_step steps[];
};

/* Operands of one thread that are still in their records, and how many of the list precede them. */
struct vs_operand_part {
    uint32_t listed, records;
    uint16_t thread;
};

/* Enough operands to make handing them to another thread worthwhile, and few enough to be still in
 * a cache there. */
#define VS_OPERANDS      8192
#define VS_OPERANDS_WIDE (256u << 10) /* a block is also full with so many bytes of wide values */
#define VS_OPERAND_PARTS 256

/* A block of operands, all of one chunk, in order: those of the parts, then the rest of the
 * list. */
struct vs_chunk_operands {
    struct vs_chunk_operand *list; /* room for VS_OPERANDS */
    size_t count;
    size_t total;       /* with those in records; at most VS_OPERANDS */
    struct vs_buf wide; /* values over 8 bytes */
    struct vs_operand_part parts[VS_OPERAND_PARTS];
    size_t part_count, parted;                /* parted: how many of the list belong to parts */
    const struct vs_operand_recipe **recipes; /* of the records: room for VS_OPERANDS */
    size_t record_count;
    struct vs_buf records;
    uint32_t sites, threads; /* upper bounds of their numbers; set before encoding */
};

/* Returns 0; -VSE_NOMEM. */
int vs_chunk_operands_init(struct vs_chunk_operands *o);
void vs_chunk_operands_fini(struct vs_chunk_operands *o);

/* Empties the block. */
void vs_chunk_operands_clear(struct vs_chunk_operands *o);

/* An operand's address, and what the shadow memory has there. */
struct vs_operand_place {
    uint64_t addr;
    struct vs_shadow_line *line;
};

/* What is kept from one block of a chunk to the next. A zeroed struct is ready for
 * vs_chunk_operand_coder_begin. */
struct vs_chunk_operand_coder {
    struct vs_data data;
    unsigned shadow_bits;
    struct vs_trail *trails; /* by thread */
    size_t trail_count, trail_capacity;
    struct vs_operand_place *places; /* of the operands being put */
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
