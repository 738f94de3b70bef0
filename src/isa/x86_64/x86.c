/* SPDX-License-Identifier: MIT */
#include "isa/x86_64/x86.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "vestige/error.h"

#define LINUX_INT 0x80

/* A decoder is made anew for each call: that takes no measurable time beside decoding, and nobody
 * has to carry one around. */
static ZydisDecoder long_mode(void)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return decoder;
}

static int refusal(ZyanStatus status)
{
    return status == ZYDIS_STATUS_NO_MORE_DATA ? -VSE_TRUNCATED : -VSE_CORRUPT;
}

static void set_branch(struct vs_insn *insn, const ZydisDecodedInstruction *z, uint64_t pc,
                       unsigned flags)
{
    insn->kind = VS_INSN_BRANCH;
    insn->branch = (uint8_t)flags;
    if (z->raw.imm[0].is_relative)
        insn->target = pc + z->length + (uint64_t)z->raw.imm[0].value.s;
    else
        insn->branch |= VS_BR_INDIRECT;
}

static bool is_interrupt(const ZydisDecodedInstruction *z, unsigned number)
{
    return z->mnemonic == ZYDIS_MNEMONIC_INT && z->raw.imm[0].value.u == number;
}

static bool is_nondet(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDPID:
    case ZYDIS_MNEMONIC_RDPMC:
    case ZYDIS_MNEMONIC_RDPRU:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_XGETBV:
        return true;
    default:
        return false;
    }
}

static bool is_repeated(const ZydisDecodedInstruction *z)
{
    return z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* A LOCK prefix on anything but a read-modify-write of memory does not decode. */
static bool is_locked(const ZydisDecodedInstruction *z)
{
    if (z->attributes & ZYDIS_ATTRIB_HAS_LOCK)
        return true;
    return z->mnemonic == ZYDIS_MNEMONIC_XCHG && (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
           z->raw.modrm.mod != 3;
}

/* xchg rbx, rbx and xchg rcx, rcx, with which a program gets something from Valgrind if four
 * rotations precede it. Nothing else is gained by them, so nobody else has them. */
static bool ends_request(const ZydisDecodedInstruction *z)
{
    return z->mnemonic == ZYDIS_MNEMONIC_XCHG && z->opcode == 0x87 && z->length == 3 &&
           z->raw.rex.W && (z->raw.modrm.mod == 3) && !(z->raw.rex.R | z->raw.rex.B) &&
           z->raw.modrm.reg == z->raw.modrm.rm && (z->raw.modrm.reg == 3 || z->raw.modrm.reg == 1);
}

/* The last bit of a jcc's opcode (from 0x70 or 0x0f 0x80 on) negates its condition. */
static bool is_negated(const ZydisDecodedInstruction *z)
{
    unsigned first = z->opcode_map == ZYDIS_OPCODE_MAP_0F ? 0x80 : 0x70;
    return (z->opcode & 0xf0) == first && z->opcode & 1;
}

static void classify(struct vs_insn *insn, const ZydisDecodedInstruction *z, uint64_t pc)
{
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        if (z->mnemonic != ZYDIS_MNEMONIC_XEND)
            set_branch(insn, z, pc, VS_BR_COND);
        insn->negated = is_negated(z);
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (z->mnemonic != ZYDIS_MNEMONIC_XABORT)
            set_branch(insn, z, pc, 0);
        break;
    case ZYDIS_CATEGORY_CALL:
        set_branch(insn, z, pc, VS_BR_CALL);
        break;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
        set_branch(insn, z, pc, VS_BR_RETURN);
        break;
    case ZYDIS_CATEGORY_UINTR:
        if (z->mnemonic == ZYDIS_MNEMONIC_UIRET)
            set_branch(insn, z, pc, VS_BR_RETURN);
        break;
    case ZYDIS_CATEGORY_SYSCALL:
        insn->kind = VS_INSN_SYSCALL;
        break;
    case ZYDIS_CATEGORY_INTERRUPT:
        if (is_interrupt(z, LINUX_INT))
            insn->kind = VS_INSN_SYSCALL;
        break;
    case ZYDIS_CATEGORY_PREFETCH:
        insn->prefetch = true;
        break;
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_IOSTRINGOP:
        insn->repeat = is_repeated(z);
        break;
    default:
        if (is_nondet(z->mnemonic) || ends_request(z))
            insn->kind = VS_INSN_NONDET;
    }
}

int vs_x86_decode(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn)
{
    const ZydisDecoder decoder = long_mode();
    ZydisDecodedInstruction z;
    ZyanStatus status = ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &z);
    if (ZYAN_FAILED(status))
        return refusal(status);
    *insn = (struct vs_insn){.length = z.length, .locked = is_locked(&z)};
    classify(insn, &z, pc);
    return 0;
}

/* A formatter points into itself, so it is made in place. */
static void init_intel_syntax(ZydisFormatter *formatter)
{
    static const struct {
        ZydisFormatterProperty property;
        ZyanUPointer value;
    } settings[] = {
        {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, (ZyanUPointer)ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_DISP_PADDING, (ZyanUPointer)ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_PADDING, (ZyanUPointer)ZYDIS_PADDING_DISABLED},
    };
    ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        ZydisFormatterSetProperty(formatter, settings[i].property, settings[i].value);
}

int vs_x86_format(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity)
{
    const ZydisDecoder decoder = long_mode();
    ZydisFormatter formatter;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZyanStatus status = ZydisDecoderDecodeFull(&decoder, bytes, size, &z, operands);
    if (ZYAN_FAILED(status))
        return refusal(status);
    if (capacity == 0)
        return -VSE_LIMIT;
    init_intel_syntax(&formatter);
    status = ZydisFormatterFormatInstruction(&formatter, &z, operands, z.operand_count_visible, out,
                                             capacity, pc, NULL);
    if (status == ZYAN_STATUS_INSUFFICIENT_BUFFER_SIZE)
        return -VSE_LIMIT;
    return ZYAN_SUCCESS(status) ? (int)strlen(out) : -VSE_INTERNAL;
}
