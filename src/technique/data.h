/* SPDX-License-Identifier: MIT */
/* Load-value techniques: what a debugger cannot compute by itself, the values that came into the
 * cores from outside.
 *
 * The encoder sees every event of the run in global order. Beside loads it reports
 *   values from outside (VS_NONDET)   as loads are, in VS_FIELD_VALUE
 *   registers                         of thread starts, exceptions and returns from them, system
 *                                     calls and gaps: the payload without the head of a system
 *                                     call, in VS_FIELD_STATE, and after how many instructions of
 *                                     the core since its last registers. So the debugger knows
 *                                     where an exception came
 *   ends                              of cores, in the same way
 *   changes of code (VS_CODE)         to every core that has begun: an empty set of registers
 * Outside writes and mappings make it forget what they touch; a gap makes it forget all.
 *
 *   passed instructions               when the counter of instructions since the last registers is
 *                                     full: all ones in the place of their number, and no more
 * Techniques without a kind in their messages tell registers from values by the value's first
 * byte: VS_DATA_ESCAPE is followed by a bit, 0 if it is a value's, 1 if registers or an end follow.
 *
 * The decoder is the debugger's memory: what the cores of the replayed program read and write goes
 * through it. It never sees the run. Accesses of a core come in program order. Between cores the
 * caller has the choice:
 *   - the global order of the run, if it knows it (verification does), or
 *   - the order that the stream tells: vs_data_decoder_ops.turn and VS_DECODER_WAIT.
 */
#ifndef TECHNIQUE_DATA_H
#define TECHNIQUE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "technique/seen.h"
#include "technique/technique.h"
#include "vestige/event.h"

/* ---- parameters ------------------------------------------------------------------------------ */

enum vs_data_account {
    VS_DATA_ACCOUNT_EXACT,     /* whole granules; a partial store flags nothing */
    VS_DATA_ACCOUNT_PUBLISHED, /* the operand's own bytes; it flags what it touches */
};

enum vs_data_caches {
    VS_DATA_COHERENT, /* one per core; a line that another core writes is invalidated */
    VS_DATA_PRIVATE,  /* one per core, each as if it were alone */
    VS_DATA_SHARED,   /* one for all */
};

enum vs_data_order {
    VS_DATA_ORDER_EXACT,     /* the stream orders the cores as far as replay needs */
    VS_DATA_ORDER_PUBLISHED, /* it does not */
};

enum vs_data_rule {
    VS_DATA_RULE_ALL,     /* every coherence transaction is a message */
    VS_DATA_RULE_IMPLIED, /* not one whose order is implied */
};

enum vs_data_supply {
    VS_DATA_SUPPLY_ANY,   /* a cache that has the line supplies it, with its trace bit */
    VS_DATA_SUPPLY_OWNER, /* only its owner; of lines without one the level below, without */
};

enum vs_data_streams {
    VS_DATA_UNIFIED, /* a compressor takes messages whole */
    VS_DATA_SPLIT,   /* one takes Ti and dCC, another the rest */
};

/* Of all these techniques; each has a table of those that it uses. */
struct vs_data_params {
    uint64_t size, line, ways, policy; /* the cache */
    uint64_t granule;                  /* bytes */
    uint64_t fahcnt, fahcnt_next;      /* chunks of the counter */
    uint64_t fahcnt_bits, icnt_bits;   /* widths of the counters */
    uint64_t dcc, dcc_next;
    uint64_t account, caches, order, rule, supply;
    uint64_t streams, level; /* of a compressor */
};

#define VS_DATA_ESCAPE 0xc1 /* no part of UTF-8 text, of no aligned address, and not small */

/* ---- the encoder ----------------------------------------------------------------------------- */

enum { VS_DATA_SIZES = 8 }; /* operands of 1, 2, 3-4, 5-8, ... up to 64 bytes, and more */

static inline unsigned vs_data_size_class(size_t size)
{
    unsigned c = size > 1 ? 64 - (unsigned)__builtin_clzll(size - 1) : 0;
    return c < VS_DATA_SIZES ? c : VS_DATA_SIZES - 1;
}

struct vs_data_counts {
    uint64_t instructions;
    uint64_t loads, stores;
    uint64_t hits[VS_DATA_SIZES], misses[VS_DATA_SIZES]; /* loads that took no value, or did */
    uint64_t reported;                                   /* loads that did */
    uint64_t line_hits, line_misses; /* loads and stores that found all their lines, or not */
    uint64_t outside;                /* outside writes and mappings */
    uint64_t unseen;                 /* loads of what changed without an event, or was not known */
    uint64_t nondets, nondet_bits;   /* whole messages */
    uint64_t states, state_bits;     /* the same; also ends of cores */
    uint64_t orders, order_bits; /* messages that only order cores; invalidations from outside */
    uint64_t silent;             /* transactions whose order is implied: rule implied */
};

extern const struct vs_count_row vs_data_count_rows[];

/* ---- the decoder ----------------------------------------------------------------------------- */

/* All return 0; VS_DECODER_WAIT; -VSE_INVAL (no such core); -VSE_NOMEM; and, with the reader's
 * diag, -VSE_END (the stream ended before), -VSE_TRUNCATED, -VSE_CORRUPT. */
struct vs_data_decoder_ops {
    int (*open)(void **decoder, const void *params, const struct vs_technique_setup *setup,
                struct vs_port_reader *port);
    /* size: 1 to VS_SIZE_MAX; addresses wrap around at 2^64. */
    int (*read)(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes);
    int (*write)(void *decoder, unsigned core, uint64_t addr, size_t size, const uint8_t *bytes);
    /* The core meets an instruction whose result comes from outside. */
    int (*nondet)(void *decoder, unsigned core, size_t size, uint8_t *bytes);
    /* The core has executed so many instructions since its last registers, or its first. After how
     * many of them it gets registers, ends, or has to ask again. UINT64_MAX: something else comes
     * before, or it is not known yet; ask again when the core took a message. VS_DECODER_WAIT: it
     * must not go on. */
    int (*due)(void *decoder, unsigned core, uint64_t since, uint64_t *instructions, bool *ends);
    /* Whether the core's next access, a load or a store, takes a message, or has to wait for one,
     * or would fail: if not, it does not matter to anybody else when it is made. A value from
     * outside always takes one. */
    bool (*takes)(void *decoder, unsigned core, bool store);
    /* Registers of the core change, after so many instructions. *bytes stay valid until the next
     * call. */
    int (*state)(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                 size_t *size);
    /* The system may have written memory on the core's behalf: wherever state is due, and before
     * it. NULL: nobody wants to know. */
    int (*outside)(void *decoder, unsigned core);
    /* The core does nothing any more. All cores end after the last access, in ascending order. */
    int (*end)(void *decoder, unsigned core, uint64_t instructions);
    /* Whose message is next. A caller that does not know the global order lets cores run
     *   ahead = false: this core only, until the turn is another's
     *   ahead = true: every core until it waits, and then this one, by one access */
    int (*turn)(void *decoder, unsigned *core);
    bool ahead;
    /* Another decoder that is where this one is, over a reader that is where its reader is. Both
     * may go on. NULL: it cannot be done. -VSE_NOMEM. */
    int (*clone)(void *decoder, struct vs_port_reader *port, void **clone);
    /* About how many bytes of memory it takes; of what clones share, its part. NULL: few. */
    size_t (*size)(const void *decoder);
    void (*close)(void *decoder); /* NULL is fine */
};

/* The whole pages of a mapping that is not empty. Lengths that leave the addresses are cut at their
 * end. */
void vs_data_mapped(const struct vs_event *event, uint64_t *start, uint64_t *size);

#endif
