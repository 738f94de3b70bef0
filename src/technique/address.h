/* SPDX-License-Identifier: MIT */
/* Data-address techniques: where the cores' loads and stores go.
 *
 * The encoder sees every event of the run in global order, and reports loads and stores:
 *
 *   Ti | [dCC] | the address, as the technique's code has it
 *
 * The debugger knows from elsewhere which instructions the cores execute, and asks the decoder for
 * the address of each memory operand. Operands of a core come in program order. Between cores the
 * caller has the choice: the global order of the run, or the order that the stream tells, by `turn`
 * and VS_DECODER_WAIT.
 *
 * A technique that leaves out what the debugger can compute follows execution on both sides, by the
 * program's code and by moves: how far a core went, where it goes on, and what registers it lost.
 */
#ifndef TECHNIQUE_ADDRESS_H
#define TECHNIQUE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/operand.h"
#include "isa/set.h"
#include "technique/technique.h"
#include "vestige/event.h"

/* ---- parameters ------------------------------------------------------------------------------ */

enum vs_address_code_name {
    VS_ADDRESS_PLAIN, /* whole */
    VS_ADDRESS_NEXUS, /* as daNX */
    VS_ADDRESS_ADAC,  /* as ADAC */
};

/* Of all these techniques; each has a table of those that it uses. */
struct vs_address_params {
    uint64_t group;            /* bits, of the Nexus code */
    uint64_t sets, ways, low;  /* of the table: see model/adac.h */
    uint64_t shift;            /* if fixed */
    uint64_t window, max, min; /* if not */
    uint64_t tmax, inc, dec;
    uint64_t code;  /* enum vs_address_code_name, of what is not filtered */
    uint64_t level; /* of a compressor */
    uint64_t dcc, dcc_next;
};

/* ---- what both sides follow ------------------------------------------------------------------ */

/* The program's code over time. */
struct vs_address_code {
    const void *context;
    const struct vs_isa *isa;
    /* The version that a core executes after so many instructions; it stays until *until. */
    uint32_t (*version)(const void *context, unsigned core, uint64_t instructions, uint64_t *until);
    /* Copies the bytes of a version from pc on. Returns how many are known. */
    size_t (*fetch)(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                    size_t capacity);
};

/* What happens to a core, in this order; what is not known from the code alone. */
struct vs_address_move {
    unsigned core;
    uint64_t instructions; /* so many are executed, one after the other, the last at `at` */
    bool located;          /* `at` is known */
    uint64_t at;
    uint32_t forgets; /* registers that then hold other values */
    bool goes;        /* then it goes on at `to` */
    uint64_t to;
};

/* The move that an event tells. isa may be NULL. Returns whether there is one: something of it is
 * not zero. */
bool vs_address_move(const struct vs_batch *batch, const struct vs_event *e,
                     const struct vs_isa *isa, struct vs_address_move *move);

/* ---- the encoder ----------------------------------------------------------------------------- */

struct vs_address_counts {
    uint64_t instructions;
    uint64_t loads, stores;
    uint64_t loads_sent, stores_sent;
    /* by form of the address, if code is followed: */
    uint64_t form_loads[VS_FORM_END], form_stores[VS_FORM_END];
    uint64_t form_loads_sent[VS_FORM_END], form_stores_sent[VS_FORM_END];
    /* of a table: hits in the most recently used way, in another, with j > 0, and misses */
    uint64_t hits_mru, hits_other, hits_wider, misses;
    uint64_t shifts; /* the sum of SHIFT over all hits */
    /* instructions without memory that write registers, and those whose results are not followed;
     * 0 if code is not */
    uint64_t computing, unmodelled;
};

extern const struct vs_count_row vs_address_count_rows[];

/* ---- the decoder ----------------------------------------------------------------------------- */

/* All return 0; VS_DECODER_WAIT; -VSE_INVAL (no such core); -VSE_NOMEM; and, with the reader's
 * diag, -VSE_END (the stream ended before), -VSE_TRUNCATED, -VSE_CORRUPT. */
struct vs_address_decoder_ops {
    int (*open)(void **decoder, const void *params, const struct vs_technique_setup *setup,
                const struct vs_address_code *code, struct vs_port_reader *port);
    /* The core's next memory operand: a load or a store of the instruction at pc. */
    int (*address)(void *decoder, unsigned core, uint64_t pc, bool store, uint64_t *addr);
    /* The core went on; before the operands of the last instruction are asked for. NULL: nobody
     * wants to know. Never waits. */
    int (*follow)(void *decoder, const struct vs_address_move *move);
    /* Whose message is next. */
    int (*turn)(void *decoder, unsigned *core);
    void (*close)(void *decoder); /* NULL is fine */
};

#endif
