/* SPDX-License-Identifier: MIT */
#include "isa/set.h"

#include <string.h>

/* Each of this layer's folders has a row. */
extern const struct vs_isa vs_isa_x86_64, vs_isa_rv64;

static const struct vs_isa *const sets[] = {&vs_isa_x86_64, &vs_isa_rv64};

const struct vs_isa *vs_isa_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(sets) / sizeof(sets[0]); i++)
        if (!strcmp(sets[i]->name, name))
            return sets[i];
    return NULL;
}

const struct vs_isa *vs_isa_of_machine(unsigned elf_machine)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (sets[i]->elf_machine == elf_machine)
            return sets[i];
    return NULL;
}

const char *vs_isa_call_name(const struct vs_isa *isa, uint64_t number)
{
    return isa ? vs_syscall_name(vs_abi_call(isa->abi, number)) : NULL;
}
