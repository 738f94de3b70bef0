/* SPDX-License-Identifier: MIT */
#include "capture/wire_registers.h"

#include <string.h>

#include "base/invariant.h"

/* Registers, by the number that instructions encode them with. */
enum { RAX, RCX, R11 = 11 };

static uint16_t number_of(const struct vs_isa *isa, const char *name)
{
    const struct vs_register *reg = vs_register_find(isa->registers, name);
    invariant(reg != NULL);
    return reg->number;
}

void vs_wire_numbers_init(struct vs_wire_numbers *numbers, const struct vs_isa *isa)
{
    *numbers = (struct vs_wire_numbers){
        .rflags = number_of(isa, "eflags"),
        .fs_base = number_of(isa, "fs_base"),
        .gs_base = number_of(isa, "gs_base"),
        .xmm0 = number_of(isa, "xmm0"),
        .mxcsr = number_of(isa, "mxcsr"),
        .st0 = number_of(isa, "st0"),
        .fcw = number_of(isa, "fctrl"),
        .fsw = number_of(isa, "fstat"),
    };
    for (unsigned i = 0; i < isa->dwarf_count; i++)
        numbers->gpr[isa->dwarf[i]] = (uint16_t)i;
}

static size_t put(uint8_t *buf, size_t used, unsigned number, const void *bytes, unsigned size)
{
    int64_t n = vs_regs_put(buf, VS_REGS_MAX, used, number, bytes, size);

    return n < 0 ? used : (size_t)n;
}

size_t vs_wire_registers_put_one(uint8_t *buf, size_t used, unsigned number, uint64_t value)
{
    return put(buf, used, number, &value, sizeof(value));
}

static size_t put_word(uint8_t *buf, size_t used, unsigned number, uint64_t now,
                       const uint64_t *before)
{
    return before && *before == now ? used : vs_wire_registers_put_one(buf, used, number, now);
}

/* Puts the x87 stack. Valgrind keeps doubles, but programs see 80 bits; st(i) is register top +
 * i. */
static size_t put_x87(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                      const struct wire_regs *now)
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
        used = put(buf, used, numbers->st0 + i, &wide, 10);
    }
    used = put(buf, used, numbers->fcw, &control, 4);
    return put(buf, used, numbers->fsw, &status, 4);
}

static bool x87_differs(const struct wire_regs *a, const struct wire_regs *b)
{
    return memcmp(a->fpr, b->fpr, sizeof(a->fpr)) || a->fpr_top != b->fpr_top ||
           a->fpr_round != b->fpr_round || memcmp(a->fpr_used, b->fpr_used, sizeof(a->fpr_used));
}

size_t vs_wire_registers_put(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                             const struct wire_regs *now, const struct wire_regs *before)
{
    uint32_t mxcsr = 0x1f80 | (now->sse_round & 3) << 13;

    for (unsigned i = 0; i < 16; i++)
        used = put_word(buf, used, numbers->gpr[i], now->gpr[i], before ? &before->gpr[i] : NULL);
    used = put_word(buf, used, VS_REG_PC, now->rip, before ? &before->rip : NULL);
    used = put_word(buf, used, numbers->rflags, now->rflags, before ? &before->rflags : NULL);
    used = put_word(buf, used, numbers->fs_base, now->fs_base, before ? &before->fs_base : NULL);
    used = put_word(buf, used, numbers->gs_base, now->gs_base, before ? &before->gs_base : NULL);
    for (unsigned i = 0; i < 16; i++)
        if (!before || memcmp(now->ymm[i], before->ymm[i], 32))
            used = put(buf, used, numbers->xmm0 + i, now->ymm[i], 32);
    if (!before || now->sse_round != before->sse_round)
        used = put(buf, used, numbers->mxcsr, &mxcsr, 4);
    return !before || x87_differs(now, before) ? put_x87(numbers, buf, used, now) : used;
}

size_t vs_wire_registers_put_call(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                                  const struct wire_syscall *call)
{
    used = vs_wire_registers_put_one(buf, used, numbers->gpr[RAX], call->result);
    used = vs_wire_registers_put_one(buf, used, numbers->gpr[RCX], call->rcx);
    return vs_wire_registers_put_one(buf, used, numbers->gpr[R11], call->r11);
}
