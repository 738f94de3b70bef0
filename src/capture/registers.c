/* SPDX-License-Identifier: MIT */
#include "capture/registers.h"

#include <string.h>

/* DWARF numbers of the System V ABI. */
enum {
    DWARF_XMM0 = 17,
    DWARF_ST0 = 33,
    DWARF_RFLAGS = 49,
    DWARF_FS_BASE = 58,
    DWARF_GS_BASE = 59,
    DWARF_MXCSR = 64,
    DWARF_FCW = 65,
    DWARF_FSW = 66,
};

/* By the number that instructions give them: rax rcx rdx rbx rsp rbp rsi rdi r8 ... */
static const uint8_t dwarf_of_gpr[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

static size_t put(uint8_t *buf, size_t used, unsigned number, const void *bytes, unsigned size)
{
    int64_t n = vs_regs_put(buf, VS_REGS_MAX, used, number, bytes, size);

    return n < 0 ? used : (size_t)n;
}

size_t vs_x86_register(uint8_t *buf, size_t used, unsigned number, uint64_t value)
{
    return put(buf, used, number, &value, sizeof(value));
}

static size_t put_word(uint8_t *buf, size_t used, unsigned number, uint64_t now,
                       const uint64_t *before)
{
    return before && *before == now ? used : vs_x86_register(buf, used, number, now);
}

/* The x87 stack: Valgrind keeps doubles, programs see 80 bits. st(i) is register top + i. */
static size_t put_x87(uint8_t *buf, size_t used, const struct wire_regs *now)
{
    uint32_t control = 0x37f | (now->fpr_round & 3) << 10, status = (now->fpr_top & 7) << 11;

    for (unsigned i = 0; i < 8; i++) {
        unsigned at = (now->fpr_top + i) & 7;
        long double wide;
        double narrow;

        if (!now->fpr_used[at])
            continue;
        memcpy(&narrow, &now->fpr[at], sizeof(narrow));
        wide = narrow;
        used = put(buf, used, DWARF_ST0 + i, &wide, 10);
    }
    used = put(buf, used, DWARF_FCW, &control, 4);
    return put(buf, used, DWARF_FSW, &status, 4);
}

static bool x87_differs(const struct wire_regs *a, const struct wire_regs *b)
{
    return memcmp(a->fpr, b->fpr, sizeof(a->fpr)) || a->fpr_top != b->fpr_top ||
           a->fpr_round != b->fpr_round || memcmp(a->fpr_used, b->fpr_used, sizeof(a->fpr_used));
}

size_t vs_x86_registers(uint8_t *buf, size_t used, const struct wire_regs *now,
                        const struct wire_regs *before)
{
    uint32_t mxcsr = 0x1f80 | (now->sse_round & 3) << 13;

    for (unsigned i = 0; i < 16; i++)
        used = put_word(buf, used, dwarf_of_gpr[i], now->gpr[i], before ? &before->gpr[i] : NULL);
    used = put_word(buf, used, VS_REG_PC, now->rip, before ? &before->rip : NULL);
    used = put_word(buf, used, DWARF_RFLAGS, now->rflags, before ? &before->rflags : NULL);
    used = put_word(buf, used, DWARF_FS_BASE, now->fs_base, before ? &before->fs_base : NULL);
    used = put_word(buf, used, DWARF_GS_BASE, now->gs_base, before ? &before->gs_base : NULL);
    for (unsigned i = 0; i < 16; i++)
        if (!before || memcmp(now->ymm[i], before->ymm[i], 32))
            used = put(buf, used, DWARF_XMM0 + i, now->ymm[i], 32);
    if (!before || now->sse_round != before->sse_round)
        used = put(buf, used, DWARF_MXCSR, &mxcsr, 4);
    return !before || x87_differs(now, before) ? put_x87(buf, used, now) : used;
}
