/* SPDX-License-Identifier: MIT */
/* Atoms of Arm's ETMv4: one bit for each branch that was met, E (1) if it was taken and N (0) if
 * not. They wait in a buffer until a packet of one byte can take several of them:
 *
 *   F6   n times E, n from 3 to 23, and another atom:  0xC0 + n - 3 if it is E, 0xE0 + n - 3 if N
 *   F5   NEEEE 0xF5   NNNNN 0xD5   NENEN 0xD6   ENENE 0xD7
 *   F4   NEEE  0xDC   NNNN  0xDD   NENE  0xDE   ENEN  0xDF
 *   F3   any three, 0xF8 + bits   F2   any two, 0xD8 + bits   F1   one, 0xF6 + bit
 *
 * The oldest atom stands first here, and in the lowest bit everywhere. The buffer takes the packet
 * with the most atoms each time. */
#ifndef MODEL_ATOMS_H
#define MODEL_ATOMS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"

enum { VS_ATOMS_MAX = 24 }; /* in a packet, and in the buffer */

struct vs_atoms {
    uint32_t bits;
    unsigned count;
};

/* Adds an atom to a buffer that is not full. */
static inline void vs_atoms_add(struct vs_atoms *a, bool taken)
{
    a->bits |= (uint32_t)taken << a->count++;
}

/* Takes the oldest atom off a buffer that is not empty. */
static inline bool vs_atoms_take(struct vs_atoms *a)
{
    bool taken = a->bits & 1;
    a->bits >>= 1;
    a->count--;
    return taken;
}

/* Takes a packet's atoms off a buffer that is not empty, and returns the packet. */
uint8_t vs_atoms_pack(struct vs_atoms *a);

/* Does the same, fast if there are few. */
static inline uint8_t vs_atoms_pack_some(struct vs_atoms *a)
{
    static const uint8_t any[] = {0, 0xF6, 0xD8, 0xF8}; /* F1, F2, F3 */
    if (a->count > 3)
        return vs_atoms_pack(a);
    uint8_t packet = (uint8_t)(any[a->count] + a->bits);
    a->bits = 0;
    a->count = 0;
    return packet;
}

/* Makes `a` the atoms of a packet. Returns whether the byte is one. */
bool vs_atoms_unpack(struct vs_atoms *a, uint8_t packet);

struct vs_cost vs_atoms_cost(void);

#endif
