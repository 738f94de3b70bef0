/* SPDX-License-Identifier: MIT */
#include "isa/registers.h"

#include <string.h>

const struct vs_register *vs_register_find(const struct vs_register_set *set, const char *name)
{
    for (unsigned i = 0; i < set->count; i++)
        if (!strcmp(set->list[i].name, name))
            return &set->list[i];
    return NULL;
}

bool vs_register_is_numbered(const struct vs_register *reg)
{
    return reg->number != VS_REGISTER_NONE && reg->number != VS_REGISTER_ONES;
}

bool vs_register_is_whole(const struct vs_register *reg)
{
    return vs_register_is_numbered(reg) && !reg->from && !reg->bits;
}

void vs_register_cut(const struct vs_register *reg, const uint8_t *whole, size_t width,
                     uint8_t *bytes)
{
    bool pairs = reg->bits & VS_REGISTER_PAIRS;
    unsigned bits = !reg->bits ? 8u * reg->size : pairs ? 2 * (reg->bits & 0xffu) : reg->bits;
    memset(bytes, reg->number == VS_REGISTER_ONES ? 0xff : 0, reg->size);
    if (reg->number == VS_REGISTER_ONES)
        return;
    for (unsigned i = 0; i < bits; i++) {
        unsigned at = reg->from + (pairs ? i / 2 : i);
        bool set = at / 8 < width && whole[at / 8] >> at % 8 & 1;
        if (set != pairs)
            bytes[i / 8] |= (uint8_t)(1u << i % 8);
    }
}
