/* SPDX-License-Identifier: MIT */
#include "capture/wire_registers.h"

#include <string.h>

#include "base/invariant.h"

/* Registers, by the number that instructions encode them with. */
enum { RAX, RCX, R11 = 11 };

/* C3 to C0 in the status word of x87. */
#define CONDITIONS 0x4700

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
        .mm0 = (uint16_t)(number_of(isa, "st7") + 1), /* DWARF numbers them so */
        .fcw = number_of(isa, "fctrl"),
        .fsw = number_of(isa, "fstat"),
        .tags = number_of(isa, "ftag"),
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

static uint16_t tags_of(const struct wire_regs *regs)
{
    unsigned tags = 0;

    for (unsigned i = 0; i < 8; i++)
        tags |= (regs->fpr_used[i] != 0) << i;
    return (uint16_t)tags;
}

static size_t put_word(uint8_t *buf, size_t used, unsigned number, uint64_t now,
                       const uint64_t *before)
{
    return before && *before == now ? used : vs_wire_registers_put_one(buf, used, number, now);
}

/* Puts the x87 unit: the words, and those of the registers that differ from `before`, if that is
 * not NULL. */
static size_t put_x87(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                      const struct wire_regs *now, const struct wire_regs *before)
{
    uint32_t control = 0x37f | (now->fpr_round & 3) << 10;
    uint32_t status = (now->fpr_top & 7) << 11 | (now->fpr_conditions & CONDITIONS);
    uint16_t tags = tags_of(now);

    used = put(buf, used, numbers->fcw, &control, 4);
    used = put(buf, used, numbers->fsw, &status, 4);
    if (!before || tags != tags_of(before))
        used = put(buf, used, numbers->tags, &tags, 2);
    for (unsigned i = 0; i < 8; i++)
        used = put_word(buf, used, numbers->mm0 + i, now->fpr[i], before ? &before->fpr[i] : NULL);
    return used;
}

static bool x87_differs(const struct wire_regs *a, const struct wire_regs *b)
{
    return memcmp(a->fpr, b->fpr, sizeof(a->fpr)) || a->fpr_top != b->fpr_top ||
           a->fpr_round != b->fpr_round || a->fpr_conditions != b->fpr_conditions ||
           tags_of(a) != tags_of(b);
}

size_t vs_wire_registers_put(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                             const struct wire_regs *now, const struct wire_regs *before,
                             enum vs_wire_which which)
{
    static const struct wire_regs zero;
    uint32_t mxcsr = 0x1f80 | (now->sse_round & 3) << 13;

    if (which != VS_WIRE_CHANGED)
        before = NULL;
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
    if (before && !x87_differs(now, before))
        return used;
    return put_x87(numbers, buf, used, now, which == VS_WIRE_NEW ? &zero : before);
}

size_t vs_wire_registers_put_call(const struct vs_wire_numbers *numbers, uint8_t *buf, size_t used,
                                  const struct wire_syscall *call, uint64_t bases[2])
{
    used = vs_wire_registers_put_one(buf, used, numbers->gpr[RAX], call->result);
    used = vs_wire_registers_put_one(buf, used, numbers->gpr[RCX], call->rcx);
    used = vs_wire_registers_put_one(buf, used, numbers->gpr[R11], call->r11);
    used = put_word(buf, used, numbers->fs_base, call->fs_base, &bases[0]);
    used = put_word(buf, used, numbers->gs_base, call->gs_base, &bases[1]);
    bases[0] = call->fs_base;
    bases[1] = call->gs_base;
    return used;
}
