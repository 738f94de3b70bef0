/* SPDX-License-Identifier: MIT */
#include "isa/set.h"

#include <string.h>

#include "isa/rv64.h"
#include "isa/x86.h"

static const struct vs_isa sets[] = {
    {"x86-64", 64, VS_X86_LENGTH_MAX, vs_x86_decode, vs_x86_format},
    {"rv64", 64, VS_RV64_LENGTH_MAX, vs_rv64_decode, vs_rv64_format},
};

_Static_assert(VS_X86_LENGTH_MAX <= VS_ISA_LENGTH_MAX && VS_RV64_LENGTH_MAX <= VS_ISA_LENGTH_MAX,
               "no instruction is longer");

const struct vs_isa *vs_isa_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(sets) / sizeof(sets[0]); i++)
        if (!strcmp(sets[i].name, name))
            return &sets[i];
    return NULL;
}
