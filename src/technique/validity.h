/* SPDX-License-Identifier: MIT */
/* Register validation: which integer registers of each core hold what the debugger knows, and for
 * the debugger also what. Both sides follow the executed instructions:
 *
 *   an address that valid registers tell need not be sent
 *   one that is sent makes the one register in it valid that was not, if it follows from it
 *   iterations of a string instruction follow from the first, if the direction is known; it is from
 *   the first two, if it was not
 *   what an instruction computes of valid registers and constants is valid; all else is not, and
 *   first of all what comes from memory
 *
 * Where a core is not where the code was followed to, or the code is not known, nothing is valid
 * until it is told again. */
#ifndef TECHNIQUE_VALIDITY_H
#define TECHNIQUE_VALIDITY_H

#include <stdbool.h>
#include <stdint.h>

#include "technique/address.h"

struct vs_validity_insn;

struct vs_validity_core {
    uint32_t valid;
    uint64_t executed; /* instructions */
    uint64_t until;    /* of them: up to then the code is of this version */
    uint32_t version;
    bool placed; /* pc is where it goes on */
    uint64_t pc;

    bool inside; /* the instruction at `at` is under way: */
    bool known;  /* what it is */
    uint64_t at, next;
    struct vs_operands now;
    uint8_t loads, stores;          /* operands that it has had */
    uint64_t last_load, last_store; /* addresses of the last ones */
    uint64_t registers[32];         /* of those that are valid, if there are values */
};

struct vs_validity {
    const struct vs_address_code *code; /* NULL: nothing is ever valid */
    bool values;
    struct vs_validity_core *cores;
    struct vs_validity_insn *insns; /* decoded, by address */
    uint64_t computing, unmodelled; /* instructions that compute registers; those that are not
                                     * followed */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_validity_init(struct vs_validity *v, unsigned cores, const struct vs_address_code *code,
                     bool values);
void vs_validity_fini(struct vs_validity *v);

/* The core, which exists, goes on. */
void vs_validity_follow(struct vs_validity *v, const struct vs_address_move *move);

/* The next memory operand of the instruction under way; NULL if there is none that is known, and
 * the address has to be sent. Nothing changes before vs_validity_took. */
const struct vs_memory_operand *vs_validity_operand(const struct vs_validity *v, unsigned core,
                                                    bool store);

/* Whether the debugger can tell the operand's address; with values, *addr is that. */
bool vs_validity_tells(const struct vs_validity *v, unsigned core,
                       const struct vs_memory_operand *m, bool store, uint64_t *addr);

/* The operand, or NULL, has had this address, which was sent or not. */
void vs_validity_took(struct vs_validity *v, unsigned core, const struct vs_memory_operand *m,
                      bool store, uint64_t addr);

#endif
