/* SPDX-License-Identifier: MIT */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86.h"
#include "vestige/error.h"

enum { NONE = 0xff };

/* By the numbers that instructions have: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. */
static const uint8_t integers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

/* Returns DWARF's number of the register that a name belongs to; NONE for those without one here:
 * of segments, masks, control, x87. */
static uint8_t number_of(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    int id = ZydisRegisterGetId(whole);

    if (whole == ZYDIS_REGISTER_NONE)
        whole = reg;
    switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64:
        return integers[id & 15];
    case ZYDIS_REGCLASS_ZMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_XMM:
        return id < 16 ? (uint8_t)(VS_X86_REG_XMM0 + id) : NONE;
    case ZYDIS_REGCLASS_IP:
        return VS_X86_REG_RIP;
    case ZYDIS_REGCLASS_FLAGS:
        return VS_X86_REG_RFLAGS;
    default:
        return NONE;
    }
}

static void add(uint8_t list[VS_ACCESSED_MAX], uint8_t *count, ZydisRegister reg)
{
    uint8_t number = reg == ZYDIS_REGISTER_NONE ? NONE : number_of(reg);

    for (unsigned i = 0; i < *count; i++)
        if (list[i] == number)
            return;
    if (number != NONE && *count < VS_ACCESSED_MAX)
        list[(*count)++] = number;
}

static void take(struct vs_accessed *a, const ZydisDecodedOperand *o)
{
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        add(a->read, &a->read_count, o->mem.base);
        add(a->read, &a->read_count, o->mem.index);
    } else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            add(a->read, &a->read_count, o->reg.value);
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            add(a->written, &a->written_count, o->reg.value);
    }
}

int vs_x86_accessed(const uint8_t *bytes, size_t size, struct vs_accessed *accessed)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction z;
    ZydisDecoder decoder;
    ZyanStatus status;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    status = ZydisDecoderDecodeFull(&decoder, bytes, size, &z, operands);
    if (!ZYAN_SUCCESS(status))
        return status == ZYDIS_STATUS_NO_MORE_DATA ? -VSE_TRUNCATED : -VSE_CORRUPT;
    *accessed = (struct vs_accessed){0};
    for (unsigned i = 0; i < z.operand_count; i++)
        take(accessed, &operands[i]);
    return 0;
}
