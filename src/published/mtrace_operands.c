/* SPDX-License-Identifier: MIT */
#include "published/mtrace_operands.h"

#include <stdio.h>

#include "published/mtrace.h"

const char *operand_class_name(unsigned class)
{
    static const char *const names[OPERAND_CLASSES] = {
        "Byte", "Word", "Doubleword", "Quadword", "Extended Precision", "Octaword", "Hexaword",
    };
    return names[class];
}

void operand_statistics(struct out *out, const char *what, const uint64_t counts[OPERAND_CLASSES])
{
    uint64_t total = 0;
    for (unsigned i = 0; i < OPERAND_CLASSES; i++)
        total += counts[i];
    out_printf(out, "Total %s Operands: %llu\n", what, (unsigned long long)total);
    for (unsigned i = 0; i < OPERAND_CLASSES; i++) {
        const char *class = operand_class_name(i);
        char name[64] = "Operands of other size";
        if (class)
            snprintf(name, sizeof(name), "%s Operands", class);
        mtrace_share(out, counts[i], total, name);
    }
}
