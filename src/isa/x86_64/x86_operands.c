/* SPDX-License-Identifier: MIT */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86.h"
#include "vestige/error.h"

enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7 };

struct insn {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t next; /* where the instruction after it lies */
};

/* Returns the number of the integer register that a name belongs to: rax for eax, ax, al and ah. */
static uint8_t number_of(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
        return VS_NO_REGISTER;
    return (uint8_t)ZydisRegisterGetId(whole);
}

static uint32_t set_of(uint8_t reg)
{
    return reg < 32 ? UINT32_C(1) << reg : 0;
}

/* Sets *reg if the operand is a whole register of 32 or 64 bits. Returns its width, or 0. */
static unsigned whole_register(const ZydisDecodedOperand *o, uint8_t *reg)
{
    if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    ZydisRegisterClass class = ZydisRegisterGetClass(o->reg.value);
    *reg = number_of(o->reg.value);
    return class == ZYDIS_REGCLASS_GPR64 ? 64 : class == ZYDIS_REGCLASS_GPR32 ? 32 : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool is_address_register(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_NONE || ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64;
}

/* Returns whether an operand of so many bits is accessed at once. */
static bool is_single(unsigned bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 || bits == 256 ||
           bits == 512;
}

static bool is_string(const struct insn *i)
{
    return i->z.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/* Returns whether one of AVX-512's mask registers chooses elements. */
static bool is_masked(const struct insn *i)
{
    return i->z.avx.mask.reg != ZYDIS_REGISTER_NONE && i->z.avx.mask.reg != ZYDIS_REGISTER_K0;
}

/* Returns whether the accesses are other, or more, than the operand says. */
static bool is_irregular(const struct insn *i)
{
    switch (i->z.mnemonic) {
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B:
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_VMASKMOVPD: /* only the elements that the mask chooses, one by one */
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
        return true;
    case ZYDIS_MNEMONIC_BT: /* a register numbers bits beyond the operand */
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return i->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    case ZYDIS_MNEMONIC_CMPSB: /* two loads, in an order that is not defined */
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
        return is_string(i);
    default:
        return i->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP || is_masked(i);
    }
}

static bool is_segment_zero(ZydisRegister segment)
{
    return segment != ZYDIS_REGISTER_FS && segment != ZYDIS_REGISTER_GS;
}

/* Returns whether the access happens for certain, unlike a masked move's. A string instruction's
 * depends only on rcx. */
static bool is_certain(const struct insn *i, const ZydisDecodedOperand *o)
{
    return o->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_WRITE) || is_string(i);
}

static struct vs_memory_operand memory_of(const struct insn *i, const ZydisDecodedOperand *o)
{
    struct vs_memory_operand m = {.form = VS_FORM_OTHER,
                                  .base = VS_NO_REGISTER,
                                  .index = VS_NO_REGISTER,
                                  .scale = 1,
                                  .load = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
                                  .store = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE};
    bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    bool pops_there = i->z.mnemonic == ZYDIS_MNEMONIC_POP && !hidden;
    if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || !is_single(o->size) || !is_certain(i, o) ||
        is_irregular(i) || !is_segment_zero(o->mem.segment))
        return m;
    if (o->mem.base == ZYDIS_REGISTER_RIP) {
        m.form = VS_FORM_PC;
        m.displacement = (int64_t)(i->next + (uint64_t)o->mem.disp.value);
        return m;
    }
    if (!is_address_register(o->mem.base) || !is_address_register(o->mem.index) ||
        (pops_there && o->mem.base == ZYDIS_REGISTER_RSP)) /* it uses rsp's new value */
        return m;
    m.base = o->mem.base != ZYDIS_REGISTER_NONE ? number_of(o->mem.base) : VS_NO_REGISTER;
    m.displacement = o->mem.disp.value;
    if (o->mem.index != ZYDIS_REGISTER_NONE) {
        m.index = number_of(o->mem.index);
        m.scale = o->mem.scale;
    }
    m.form = m.index < 32 ? VS_FORM_INDEX : m.base < 32 ? VS_FORM_BASE : VS_FORM_ABSOLUTE;
    if (is_string(i)) {
        m.form = VS_FORM_STRING;
        m.step = (uint8_t)(o->size / 8);
    }
    if (hidden && m.base == RSP) {
        m.form = VS_FORM_STACK;
        m.displacement = m.store ? -(int64_t)(o->size / 8) : 0;
    }
    return m;
}

static struct vs_memory_operand left_frame(void)
{
    return (struct vs_memory_operand){
        .form = VS_FORM_STACK, .base = RBP, .index = VS_NO_REGISTER, .scale = 1, .load = true};
}

static void add_memory(const struct insn *i, const ZydisDecodedOperand *o, struct vs_operands *out)
{
    if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN || out->memory_count == VS_OPERANDS_MEMORY)
        return;
    out->memory[out->memory_count++] =
        i->z.mnemonic == ZYDIS_MNEMONIC_LEAVE ? left_frame() : memory_of(i, o);
}

/* ---- effects --------------------------------------------------------------------------------- */

static struct vs_alu effect(unsigned op, uint8_t to, unsigned width)
{
    return (struct vs_alu){.op = (uint8_t)op,
                           .to = to,
                           .a = VS_NO_REGISTER,
                           .b = VS_NO_REGISTER,
                           .in = 64,
                           .width = (uint8_t)width};
}

static void add_effect(struct vs_operands *out, struct vs_alu e)
{
    if (out->effect_count < VS_OPERANDS_EFFECTS)
        out->effects[out->effect_count++] = e;
}

/* Sets the second operand of an effect: a whole register, or a constant. Returns whether it is
 * one. */
static bool take_source(const ZydisDecodedOperand *o, struct vs_alu *e)
{
    if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        e->constant = o->imm.value.u;
        return true;
    }
    return whole_register(o, &e->b) != 0;
}

/* register = register op (register or constant) */
static void binary(const struct insn *i, unsigned op, struct vs_operands *out)
{
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(op, to, width);
    if (!width || !take_source(&i->operands[1], &e))
        return;
    if (e.b == to && (op == VS_ALU_XOR || op == VS_ALU_SUB))
        e = effect(VS_ALU_MOVE, to, width); /* 0, whatever the register held */
    else
        e.a = to;
    add_effect(out, e);
}

static void by_constant(const struct insn *i, unsigned op, struct vs_operands *out)
{
    if (i->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        binary(i, op, out);
}

/* register = register op constant */
static void unary(const struct insn *i, unsigned op, uint64_t constant, struct vs_operands *out)
{
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(op, to, width);
    e.a = to;
    e.constant = constant;
    if (width)
        add_effect(out, e);
}

/* register = op(register) */
static void single(const struct insn *i, unsigned op, struct vs_operands *out)
{
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(op, to, width);
    e.b = to;
    if (width)
        add_effect(out, e);
}

static void move(const struct insn *i, struct vs_operands *out)
{
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(VS_ALU_MOVE, to, width);
    if (width && take_source(&i->operands[1], &e))
        add_effect(out, e);
}

static void extend(const struct insn *i, bool sign, struct vs_operands *out)
{
    const ZydisDecodedOperand *from = &i->operands[1];
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(VS_ALU_MOVE, to, width);
    if (!width || from->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        (from->reg.value >= ZYDIS_REGISTER_AH && from->reg.value <= ZYDIS_REGISTER_BH))
        return;
    e.b = number_of(from->reg.value);
    e.in = (uint8_t)from->size;
    e.in_signed = sign;
    add_effect(out, e);
}

static void load_address(const struct insn *i, struct vs_operands *out)
{
    const ZydisDecodedOperandMem *m = &i->operands[1].mem;
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(VS_ALU_ADD, to, width);
    bool relative = m->base == ZYDIS_REGISTER_RIP;
    if (!width || i->z.address_width != 64 || (!relative && !is_address_register(m->base)) ||
        !is_address_register(m->index))
        return;
    e.constant = (uint64_t)m->disp.value + (relative ? i->next : 0);
    if (!relative && m->base != ZYDIS_REGISTER_NONE)
        e.a = number_of(m->base);
    if (m->index != ZYDIS_REGISTER_NONE) {
        e.b = number_of(m->index);
        e.shift = (uint8_t)__builtin_ctz(m->scale);
    }
    add_effect(out, e);
}

/* imul with two or three operands */
static void multiply(const struct insn *i, struct vs_operands *out)
{
    uint8_t to;
    unsigned width = whole_register(&i->operands[0], &to);
    struct vs_alu e = effect(VS_ALU_MUL, to, width);
    if (i->z.operand_count_visible == 2) {
        binary(i, VS_ALU_MUL, out);
    } else if (i->z.operand_count_visible == 3 && width && whole_register(&i->operands[1], &e.a) &&
               take_source(&i->operands[2], &e)) {
        add_effect(out, e);
    }
}

static void exchange(const struct insn *i, struct vs_operands *out)
{
    uint8_t a, b;
    unsigned width = whole_register(&i->operands[0], &a);
    if (!width || whole_register(&i->operands[1], &b) != width)
        return;
    struct vs_alu e = effect(VS_ALU_MOVE, a, width), f = effect(VS_ALU_MOVE, b, width);
    e.b = b;
    f.b = a;
    add_effect(out, e);
    if (a != b)
        add_effect(out, f);
}

/* Sign-extends rax's lower half to all of it, or rax into rdx. */
static void widen(unsigned width, bool to_rdx, struct vs_operands *out)
{
    struct vs_alu e = effect(to_rdx ? VS_ALU_SAR : VS_ALU_MOVE, to_rdx ? RDX : RAX, width);
    if (to_rdx) {
        e.a = RAX;
        e.constant = width - 1;
    } else {
        e.b = RAX;
        e.in = (uint8_t)(width / 2);
        e.in_signed = true;
    }
    add_effect(out, e);
}

static void direct(bool down, struct vs_operands *out)
{
    struct vs_alu e = effect(VS_ALU_MOVE, VS_DIRECTION, 64);
    e.constant = down;
    out->destinations |= set_of(VS_DIRECTION);
    add_effect(out, e);
}

static void move_stack(uint8_t from, uint64_t by, struct vs_operands *out)
{
    struct vs_alu e = effect(VS_ALU_ADD, RSP, 64);
    e.a = from;
    e.constant = by;
    add_effect(out, e);
}

/* Returns how many bytes go to or from the stack, which is a hidden operand. */
static unsigned stack_bytes(const struct insn *i)
{
    for (unsigned k = 0; k < i->z.operand_count; k++)
        if (i->operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            i->operands[k].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
            return i->operands[k].size / 8;
    return 0;
}

static void stack_effects(const struct insn *i, struct vs_operands *out)
{
    unsigned bytes = stack_bytes(i);
    uint8_t to = VS_NO_REGISTER;
    switch (i->z.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_CALL:
        move_stack(RSP, 0 - (uint64_t)bytes, out);
        break;
    case ZYDIS_MNEMONIC_POP:
        if (i->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
            to = number_of(i->operands[0].reg.value);
        if (to != RSP)
            move_stack(RSP, bytes, out);
        break;
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
        out->destinations |= set_of(VS_DIRECTION);
        move_stack(RSP, bytes, out);
        break;
    case ZYDIS_MNEMONIC_RET:
        move_stack(RSP, bytes + (i->z.operand_count_visible ? i->operands[0].imm.value.u : 0), out);
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        move_stack(RBP, bytes, out);
        break;
    default:
        break;
    }
}

static void add_effects(const struct insn *i, struct vs_operands *out)
{
    static const struct {
        ZydisMnemonic mnemonic;
        void (*add)(const struct insn *i, unsigned op, struct vs_operands *out);
        unsigned op;
    } table[] = {
        {ZYDIS_MNEMONIC_ADD, binary, VS_ALU_ADD},
        {ZYDIS_MNEMONIC_SUB, binary, VS_ALU_SUB},
        {ZYDIS_MNEMONIC_AND, binary, VS_ALU_AND},
        {ZYDIS_MNEMONIC_OR, binary, VS_ALU_OR},
        {ZYDIS_MNEMONIC_XOR, binary, VS_ALU_XOR},
        {ZYDIS_MNEMONIC_SHL, by_constant, VS_ALU_SHL},
        {ZYDIS_MNEMONIC_SHR, by_constant, VS_ALU_SHR},
        {ZYDIS_MNEMONIC_SAR, by_constant, VS_ALU_SAR},
        {ZYDIS_MNEMONIC_ROL, by_constant, VS_ALU_ROL},
        {ZYDIS_MNEMONIC_ROR, by_constant, VS_ALU_ROR},
        {ZYDIS_MNEMONIC_NEG, single, VS_ALU_SUB},
        {ZYDIS_MNEMONIC_BSWAP, single, VS_ALU_BSWAP},
    };
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if (table[k].mnemonic == i->z.mnemonic)
            table[k].add(i, table[k].op, out);
    switch (i->z.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        move(i, out);
        break;
    case ZYDIS_MNEMONIC_MOVZX:
        extend(i, false, out);
        break;
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        extend(i, true, out);
        break;
    case ZYDIS_MNEMONIC_LEA:
        load_address(i, out);
        break;
    case ZYDIS_MNEMONIC_INC:
        unary(i, VS_ALU_ADD, 1, out);
        break;
    case ZYDIS_MNEMONIC_DEC:
        unary(i, VS_ALU_SUB, 1, out);
        break;
    case ZYDIS_MNEMONIC_NOT:
        unary(i, VS_ALU_XOR, UINT64_MAX, out);
        break;
    case ZYDIS_MNEMONIC_IMUL:
        multiply(i, out);
        break;
    case ZYDIS_MNEMONIC_XCHG:
        exchange(i, out);
        break;
    case ZYDIS_MNEMONIC_CWDE:
        widen(32, false, out);
        break;
    case ZYDIS_MNEMONIC_CDQE:
        widen(64, false, out);
        break;
    case ZYDIS_MNEMONIC_CDQ:
        widen(32, true, out);
        break;
    case ZYDIS_MNEMONIC_CQO:
        widen(64, true, out);
        break;
    case ZYDIS_MNEMONIC_CLD:
    case ZYDIS_MNEMONIC_STD:
        direct(i->z.mnemonic == ZYDIS_MNEMONIC_STD, out);
        break;
    default:
        stack_effects(i, out);
    }
}

/* ---- the instruction ------------------------------------------------------------------------- */

static void add_operand(const struct insn *i, const ZydisDecodedOperand *o, struct vs_operands *out)
{
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        uint32_t set = set_of(number_of(o->reg.value));
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            out->sources |= set;
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            out->destinations |= set;
    } else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        out->sources |= set_of(number_of(o->mem.base)) | set_of(number_of(o->mem.index));
        add_memory(i, o, out);
    }
}

int vs_x86_operands(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_operands *operands)
{
    ZydisDecoder decoder;
    struct insn i;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZyanStatus status = ZydisDecoderDecodeFull(&decoder, bytes, size, &i.z, i.operands);
    if (ZYAN_FAILED(status))
        return status == ZYDIS_STATUS_NO_MORE_DATA ? -VSE_TRUNCATED : -VSE_CORRUPT;
    i.next = pc + i.z.length;
    *operands = (struct vs_operands){.length = i.z.length};
    for (unsigned k = 0; k < i.z.operand_count; k++)
        add_operand(&i, &i.operands[k], operands);
    if (is_string(&i)) /* it steps its pointers and counts, which the operands do not all tell */
        operands->destinations |= operands->sources & (set_of(RSI) | set_of(RDI) | set_of(RCX));
    add_effects(&i, operands);
    operands->clobbers = operands->destinations;
    for (unsigned k = 0; k < operands->effect_count; k++)
        operands->clobbers &= ~set_of(operands->effects[k].to);
    return 0;
}
