/* SPDX-License-Identifier: MIT */
#include "model/atoms.h"

#include <stddef.h>

/* The packets of fixed patterns, the longest first. */
static const struct {
    uint8_t packet, bits, count;
} patterns[] = {
    {0xF5, 0x1E, 5}, {0xD5, 0x00, 5}, {0xD6, 0x0A, 5}, {0xD7, 0x15, 5},
    {0xDC, 0x0E, 4}, {0xDD, 0x00, 4}, {0xDE, 0x0A, 4}, {0xDF, 0x05, 4},
};

enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]), RUN_MIN = 3, RUN_MAX = 23 };

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
    for (size_t i = 0; i < PATTERNS; i++)
        if (a->count >= patterns[i].count && low(a->bits, patterns[i].count) == patterns[i].bits) {
            drop(a, patterns[i].count);
            return patterns[i].packet;
        }
    static const uint8_t plain[] = {0, 0xF6, 0xD8, 0xF8};
    unsigned count = a->count < 3 ? a->count : 3;
    uint8_t packet = (uint8_t)(plain[count] + low(a->bits, count));
    drop(a, count);
    return packet;
}

bool vs_atoms_unpack(struct vs_atoms *a, uint8_t packet)
{
    unsigned run = (packet & 0x1F) + RUN_MIN;
    for (size_t i = 0; i < PATTERNS; i++)
        if (patterns[i].packet == packet) {
            *a = (struct vs_atoms){patterns[i].bits, patterns[i].count};
            return true;
        }
    if (packet >= 0xF8)
        *a = (struct vs_atoms){packet & 7u, 3};
    else if (packet >= 0xF6)
        *a = (struct vs_atoms){packet & 1u, 1};
    else if (packet >= 0xD8 && packet <= 0xDB)
        *a = (struct vs_atoms){packet & 3u, 2};
    else if (packet >= 0xC0 && run <= RUN_MAX)
        *a = (struct vs_atoms){low(UINT32_MAX, packet & 0x20 ? run : run + 1), run + 1};
    else
        return false;
    return true;
}

struct vs_cost vs_atoms_cost(void)
{
    return (struct vs_cost){.registers = VS_ATOMS_MAX + 5}; /* and how many there are */
}
