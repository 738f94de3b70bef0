/* SPDX-License-Identifier: MIT */
#include "model/atoms.h"

/* The packets of fixed patterns, by the atoms; 0: there is none. */
static const uint8_t five[32] = {[0x1E] = 0xF5, [0x00] = 0xD5, [0x0A] = 0xD6, [0x15] = 0xD7};
static const uint8_t four[16] = {[0x0E] = 0xDC, [0x00] = 0xDD, [0x0A] = 0xDE, [0x05] = 0xDF};
static const uint8_t plain[] = {0, 0xF6, 0xD8, 0xF8}; /* the first of any one, two, three */

enum { RUN_MIN = 3, RUN_MAX = 23 };

static uint32_t low(uint32_t bits, unsigned count)
{
    return bits & ((UINT32_C(1) << count) - 1);
}

static void drop(struct vs_atoms *a, unsigned count)
{
    a->bits >>= count;
    a->count -= count;
}

/* Returns how many of the oldest atoms are E. */
static unsigned run_length(const struct vs_atoms *a)
{
    return (unsigned)__builtin_ctz(~a->bits); /* never all ones: there are at most 24 */
}

uint8_t vs_atoms_pack(struct vs_atoms *a)
{
    unsigned run = run_length(a);
    if (run > RUN_MIN || (run == RUN_MIN && a->count > run)) {
        bool all = run == a->count; /* then the last E is the other atom */
        unsigned n = all ? run - 1 : run;
        uint8_t packet = (uint8_t)((all ? 0xC0 : 0xE0) + n - RUN_MIN);
        drop(a, n + 1);
        return packet;
    }
    unsigned count = a->count >= 5 && five[low(a->bits, 5)]   ? 5
                     : a->count >= 4 && four[low(a->bits, 4)] ? 4
                     : a->count < 3                           ? a->count
                                                              : 3;
    uint8_t packet = count == 5   ? five[low(a->bits, 5)]
                     : count == 4 ? four[low(a->bits, 4)]
                                  : (uint8_t)(plain[count] + low(a->bits, count));
    drop(a, count);
    return packet;
}

/* Returns the atoms that a table has a packet for. */
static uint32_t bits_of(const uint8_t *table, uint8_t packet)
{
    uint32_t bits = 0;
    while (table[bits] != packet)
        bits++;
    return bits;
}

bool vs_atoms_unpack(struct vs_atoms *a, uint8_t packet)
{
    unsigned run = (packet & 0x1F) + RUN_MIN;
    if (packet < 0xC0)
        return false;
    if (packet >= 0xF8)
        *a = (struct vs_atoms){packet & 7u, 3};
    else if (packet >= 0xF6)
        *a = (struct vs_atoms){packet & 1u, 1};
    else if (packet >= 0xD8 && packet <= 0xDB)
        *a = (struct vs_atoms){packet & 3u, 2};
    else if (packet >= 0xDC && packet <= 0xDF)
        *a = (struct vs_atoms){bits_of(four, packet), 4};
    else if (run > RUN_MAX)
        *a = (struct vs_atoms){bits_of(five, packet), 5};
    else
        *a = (struct vs_atoms){low(UINT32_MAX, packet & 0x20 ? run : run + 1), run + 1};
    return true;
}

struct vs_cost vs_atoms_cost(void)
{
    return (struct vs_cost){.registers = VS_ATOMS_MAX + 5}; /* and how many there are */
}
