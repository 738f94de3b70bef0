/* SPDX-License-Identifier: MIT */
/* Load-value techniques: what a debugger cannot compute by itself, the values that came into the
 * cores from outside.
 *
 * The encoder sees every event of the run in global order. Besides loads it reports
 *   values from outside (VS_NONDET)   like loads, in VS_FIELD_VALUE
 *   registers                         at thread starts, exceptions and returns from them, system
 *                                     calls and gaps: the payload without a system call's head, in
 *                                     VS_FIELD_STATE, and how many instructions the core executed
 *                                     since its last registers. So the debugger knows where an
 *                                     exception came
 *   ends of cores                     in the same way
 *   changes of code (VS_CODE)         to every core that has begun: an empty set of registers
 *   places of cores                   in place of registers VS_DATA_PLACE bytes, which no set of
 *                                     registers has: other cores go on when this one is there. This
 *                                     is sent before another core stores to the same line of code
 *                                     (technique/writers.h), unless the stream orders stores anyway
 *   passed instructions               when the counter of instructions since the last registers is
 *                                     full: all ones in place of their number, and nothing else
 * Outside writes and mappings make it forget what they touch; a gap makes it forget everything.
 *
 * Techniques without a kind in their messages tell registers from values by the value's first byte:
 * VS_DATA_ESCAPE is followed by a bit, which is 0 if the byte is a value's and 1 if registers or an
 * end follow.
 *
 * The decoder is the debugger's memory: what the cores of the replayed program read and write goes
 * through it. It never sees the run. A core's accesses come in program order. Between cores the
 * caller may choose:
 *   - the run's global order, if it knows that (verification does), or
 *   - the order that the stream tells: vs_data_decoder_ops.turn and VS_DECODER_WAIT. */
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
    VS_DATA_ACCOUNT_PUBLISHED, /* the operand's own bytes; a partial store flags what it touches */
};

enum vs_data_caches {
    VS_DATA_COHERENT, /* one per core; a line that another core writes is invalidated */
    VS_DATA_PRIVATE,  /* one per core, each as if it were alone */
    VS_DATA_SHARED,   /* one for all cores */
};

enum vs_data_order {
    VS_DATA_ORDER_EXACT,     /* the stream orders the cores as far as replay needs */
    VS_DATA_ORDER_PUBLISHED, /* it does not */
};

enum vs_data_rule {
    VS_DATA_RULE_ALL,     /* every coherence transaction is a message */
    VS_DATA_RULE_IMPLIED, /* one whose order is implied is not */
};

enum vs_data_supply {
    VS_DATA_SUPPLY_ANY,   /* a cache that has the line supplies it, with its trace bit */
    VS_DATA_SUPPLY_OWNER, /* only its owner does; else the level below does, without the bit */
};

enum vs_data_streams {
    VS_DATA_UNIFIED, /* one compressor takes whole messages */
    VS_DATA_SPLIT,   /* one takes Ti and dCC, another the rest */
};

enum vs_data_predict {
    VS_DATA_PREDICT_NONE, /* each value from outside is sent */
    VS_DATA_PREDICT_ZERO, /* 0 is not */
};

enum vs_data_heads {
    VS_DATA_HEADS_PLAIN,    /* Ti in bits, numbers in chunks */
    VS_DATA_HEADS_ADAPTIVE, /* numbers as wide as they were of late */
};

/* The parameters of all these techniques; each has a table of those that it uses. */
struct vs_data_params {
    uint64_t size, line, ways, policy; /* the cache */
    uint64_t granule;                  /* bytes */
    uint64_t fahcnt, fahcnt_next;      /* the counter's chunks */
    uint64_t fahcnt_bits, icnt_bits;   /* widths of the counters */
    uint64_t dcc, dcc_next;
    uint64_t account, caches, order, rule, supply;
    uint64_t streams, level;     /* a compressor's */
    uint64_t data_bytes, values; /* E-Trace's */
    uint64_t k, r, region;       /* entries of the tables of known lines and pages */
    uint64_t complete, filter, predict, words, heads;
    uint64_t prefetch; /* mlvNX_b's */
};

#define VS_DATA_ESCAPE 0xc1 /* not part of UTF-8 text or of an aligned address, and not small */

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
    uint64_t hits[VS_DATA_SIZES], misses[VS_DATA_SIZES]; /* loads that took no value, or took one */
    uint64_t reported;                                   /* loads that were reported */
    uint64_t line_hits, line_misses; /* accesses that found all their lines, or did not */
    uint64_t outside;                /* outside writes and mappings */
    uint64_t unseen; /* loads of bytes that changed without an event, or were not known */
    uint64_t nondets, nondet_bits; /* in whole messages */
    uint64_t expected;             /* values from outside that took no message */
    uint64_t states, state_bits;   /* in whole messages, ends of cores included */
    uint64_t orders, order_bits;   /* messages that only order cores; invalidations from outside */
    uint64_t prefetches;           /* that were reported */
    uint64_t silent; /* with the rule `implied`: transactions whose order is implied */
};

extern const struct vs_count_row vs_data_count_rows[];

/* The size of what is sent in place of registers if only the core's place is told. */
#define VS_DATA_PLACE 1

/* ---- the decoder ----------------------------------------------------------------------------- */

/* All return 0; VS_DECODER_WAIT; -VSE_INVAL (no such core); -VSE_NOMEM; and, with the reader's
 * diag, -VSE_END (the stream ended before), -VSE_TRUNCATED, -VSE_CORRUPT. */
struct vs_data_decoder_ops {
    int (*open)(void **decoder, const void *params, const struct vs_technique_setup *setup,
                struct vs_port_reader *port);
    /* size is from 1 to VS_SIZE_MAX; addresses wrap around at 2^64. */
    int (*read)(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes);
    int (*write)(void *decoder, unsigned core, uint64_t addr, size_t size, const uint8_t *bytes);
    /* The core meets an instruction whose result comes from outside. */
    int (*nondet)(void *decoder, unsigned core, size_t size, uint8_t *bytes);
    /* The core has executed `since` instructions since its last registers, or since its start.
     * Tells after how many instructions since then it gets registers, ends, or has to ask again.
     * UINT64_MAX: something else comes first, or it is not known yet; ask again when the core has
     * taken a message. VS_DECODER_WAIT: the core must not go on. */
    int (*due)(void *decoder, unsigned core, uint64_t since, uint64_t *instructions, bool *ends);
    /* Whether the core's next access, a load or a store of so many bytes, takes a message, has to
     * wait for one, or would fail; if not, nobody else cares when it is made. A value from outside
     * always takes a message. */
    bool (*takes)(void *decoder, unsigned core, uint64_t addr, size_t size, bool store);
    /* Do what takes, read and write do for most accesses of a replay: those that take no message
     * and need nothing unusual. For all others they return VS_DECODER_LOUD and change nothing. */
    int (*read_quietly)(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes);
    int (*write_quietly)(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes);
    /* The core's registers change after so many instructions. *bytes stay valid until the next
     * call. */
    int (*state)(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                 size_t *size);
    /* The system may have written memory on the core's behalf. This is called wherever state is
     * due, before state. NULL: nobody wants to know. */
    int (*outside)(void *decoder, unsigned core);
    /* The core does nothing more. All cores end after the last access, in ascending order. */
    int (*end)(void *decoder, unsigned core, uint64_t instructions);
    /* Tells whose message is next. A caller that does not know the global order lets cores run
     *   ahead = false: this core only, until it is another's turn
     *   ahead = true: every core until it waits, and then this one, by one access */
    int (*turn)(void *decoder, unsigned *core);
    bool ahead;
    /* Makes another decoder that is where this one is, over a reader that is where its reader is.
     * Both may go on. NULL: it cannot be done. Returns 0; -VSE_NOMEM. */
    int (*clone)(void *decoder, struct vs_port_reader *port, void **clone);
    /* Returns the copies of memory that it keeps, which clones share. NULL: it keeps none. */
    struct vs_copy *(*copies)(void *decoder, unsigned *count);
    /* Returns about how many bytes of memory it takes besides. NULL: few. */
    size_t (*size)(const void *decoder);
    void (*close)(void *decoder); /* NULL is fine */
};

/* Tells the whole pages of a mapping that is not empty. A mapping that would pass the last address
 * ends there. */
void vs_data_mapped(const struct vs_event *event, uint64_t *start, uint64_t *size);

#endif
