/* SPDX-License-Identifier: MIT */
/* Data-address techniques: where the cores' loads and stores go.
 *
 * The encoder sees every event of the run in global order, and reports loads and stores:
 *
 *   Ti | [dCC] | the address, in the technique's code
 *
 * The debugger knows from elsewhere which instructions the cores execute, and asks the decoder for
 * the address of each memory operand. A core's operands come in program order. Between cores the
 * caller may choose: the run's global order, or the order that the stream tells, by `turn` and
 * VS_DECODER_WAIT.
 *
 * A technique that leaves out what the debugger can compute follows execution on both sides, by the
 * program's code and by moves: how far a core went, where it goes on, and what registers it
 * lost. */
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
    VS_ADDRESS_PLAIN, /* the whole address */
    VS_ADDRESS_NEXUS, /* as daNX */
    VS_ADDRESS_ADAC,  /* as ADAC */
};

/* The parameters of all these techniques; each has a table of those that it uses. */
struct vs_address_params {
    uint64_t group;            /* bits of a group in the Nexus code */
    uint64_t sets, ways, low;  /* the table's: see model/adac.h */
    uint64_t shift;            /* SHIFT, if it is fixed */
    uint64_t window, max, min; /* if it is not fixed */
    uint64_t tmax, inc, dec;
    uint64_t code;                  /* enum vs_address_code_name, for what is not filtered */
    uint64_t level;                 /* a compressor's */
    uint64_t data_bytes, addresses; /* E-Trace's */
    uint64_t dcc, dcc_next;
};

/* ---- what both sides follow ------------------------------------------------------------------ */

/* The program's code over time. */
struct vs_address_code {
    const void *context;
    const struct vs_isa *isa;
    /* Returns the version that a core executes after so many instructions, and until how many it
     * stays. */
    uint32_t (*version)(const void *context, unsigned core, uint64_t instructions, uint64_t *until);
    /* Copies a version's bytes from pc on. Returns how many are known. */
    size_t (*fetch)(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                    size_t capacity);
};

/* What happens to a core, in the order of the members, as far as the code alone does not tell. */
struct vs_address_move {
    unsigned core;
    uint64_t instructions; /* how many it executes, one after the other, the last one at `at` */
    bool located;          /* `at` is known */
    uint64_t at;
    uint32_t forgets; /* registers that then hold other values */
    bool goes;        /* then it goes on at `to` */
    uint64_t to;
};

/* Makes the move that an event tells. isa may be NULL. Returns whether there is one: some member is
 * not zero. */
bool vs_address_move(const struct vs_batch *batch, const struct vs_event *e,
                     const struct vs_isa *isa, struct vs_address_move *move);

/* Whether the core then is where no instruction led it: a trace of its instructions begins anew. */
static inline bool vs_address_synchronises(const struct vs_address_move *move)
{
    return move->goes && move->forgets == UINT32_MAX;
}

/* ---- the encoder ----------------------------------------------------------------------------- */

struct vs_address_counts {
    uint64_t instructions;
    uint64_t loads, stores;
    uint64_t loads_sent, stores_sent;
    /* by form of the address, if code is followed */
    uint64_t form_loads[VS_FORM_END], form_stores[VS_FORM_END];
    uint64_t form_loads_sent[VS_FORM_END], form_stores_sent[VS_FORM_END];
    /* a table's hits in the most recently used way, in another way, with j > 0, and its misses */
    uint64_t hits_mru, hits_other, hits_wider, misses;
    uint64_t shifts; /* the sum of SHIFT over all hits */
    /* instructions that write registers without accessing memory, and those of them whose results
     * are not followed; 0 if code is not followed */
    uint64_t computing, unmodelled;
};

extern const struct vs_count_row vs_address_count_rows[];

/* ---- the decoder ----------------------------------------------------------------------------- */

/* What the debugger knows of a memory operand. */
struct vs_address_operand {
    unsigned core;
    uint64_t pc;   /* the instruction's */
    unsigned size; /* bytes */
    bool store;
};

/* Returns that of a load or store. */
static inline struct vs_address_operand vs_address_operand(const struct vs_event *e)
{
    return (struct vs_address_operand){e->thread, e->pc, e->size, e->kind == VS_STORE};
}

/* All return 0; VS_DECODER_WAIT; -VSE_INVAL (no such core); -VSE_NOMEM; and, with the reader's
 * diag, -VSE_END (the stream ended before), -VSE_TRUNCATED, -VSE_CORRUPT. */
struct vs_address_decoder_ops {
    int (*open)(void **decoder, const void *params, const struct vs_technique_setup *setup,
                const struct vs_address_code *code, struct vs_port_reader *port);
    /* Gets the address of the core's next memory operand. */
    int (*address)(void *decoder, const struct vs_address_operand *operand, uint64_t *addr);
    /* The core went on. This is called before the last instruction's operands are asked for, and
     * never waits. NULL: nobody wants to know. */
    int (*follow)(void *decoder, const struct vs_address_move *move);
    /* Tells whose message is next. */
    int (*turn)(void *decoder, unsigned *core);
    void (*close)(void *decoder); /* NULL is fine */
};

#endif
