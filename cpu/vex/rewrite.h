/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewrites a block of VEX's intermediate code so that its accesses are the owner's memory's, and so
 * that it can be left at each of them with the registers that the program then has.
 *
 * An instruction's registers change after its last access: where the block sets them earlier, they
 * are set later, or, if that cannot be, all registers are kept beforehand and put back. The event
 * counter, which VEX takes one from at the beginning of each block, loses one for each instruction
 * of the block by the time it is left. */
#ifndef REWRITE_H
#define REWRITE_H

#include <libvex.h>
#include <libvex_ir.h>

#include "core.h"

/* Valgrind's requests: four rotations that come to nothing, and an exchange of a register with
 * itself. */
#define REQUEST_LENGTH   16 /* bytes of the rotations */
#define REQUEST_ROTATION 4  /* bytes of one of them */

struct rewrite {
    /* What the caller sets. `bytes` has the code from addr on, and REQUEST_LENGTH bytes before it,
     * which are 0 if they are not known. */
    const uint8_t *bytes;
    uint64_t addr;
    size_t size;                  /* bytes of code that are known */
    unsigned most;                /* instructions */
    const struct vs_cpu_code *of; /* has the addresses to stop at */
    struct site *(*new_site)(void *context);
    void *context;

    /* What the block turned out to be. */
    unsigned insns;
    unsigned length; /* bytes */
    bool repeats;    /* it is one instruction, which repeats itself */
    bool beyond;     /* its first instruction is not wholly known */
    bool failed;     /* there was no memory */
};

/* LibVEX calls this: instrument1. */
IRSB *rewrite_block(void *rewrite, IRSB *in, const VexGuestLayout *layout,
                    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                    IRType host_word);

/* Returns whether a Valgrind request begins at these bytes. */
bool rewrite_is_request(const uint8_t *bytes);

#endif
