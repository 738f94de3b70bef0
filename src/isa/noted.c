/* SPDX-License-Identifier: MIT */
#include "isa/noted.h"

#include <stdlib.h>

#include "isa/set.h"

const char *vs_noted_lacks(const char *isa, const char *noted)
{
    const struct vs_isa *row = vs_isa_find(isa);

    return row && (!noted || strtoul(noted, NULL, 10) < 1) ? row->unnoted : NULL;
}
