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

bool vs_register_is_whole(const struct vs_register *reg)
{
    return reg->number != VS_REGISTER_NONE && !reg->from && !reg->bits;
}

void vs_register_cut(const struct vs_register *reg, const uint8_t *whole, size_t width,
                     uint8_t *bytes)
{
    unsigned bits = reg->bits ? reg->bits : 8u * reg->size;
    memset(bytes, 0, reg->size);
    for (unsigned i = 0; i < bits; i++) {
        unsigned at = reg->from + i;
        if (at / 8 < width && whole[at / 8] >> at % 8 & 1)
            bytes[i / 8] |= (uint8_t)(1u << i % 8);
    }
}
