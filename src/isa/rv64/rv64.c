/* SPDX-License-Identifier: MIT */
#include "isa/rv64/rv64.h"

#include "base/bytes.h"
#include "vestige/error.h"

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

static unsigned jalr_flags(unsigned rd, unsigned rs1)
{
    unsigned flags = VS_BR_INDIRECT;
    if (is_link(rd))
        flags |= VS_BR_CALL;
    if (is_link(rs1) && rd != rs1)
        flags |= VS_BR_RETURN;
    return flags;
}

static bool reads_counter(const struct vs_rv64_insn *insn)
{
    bool only_writes = (insn->op == VS_RV64_CSRRW || insn->op == VS_RV64_CSRRWI) && insn->rd == 0;
    return insn->csr >= VS_RV64_CYCLE && insn->csr <= VS_RV64_HPMCOUNTER31 && !only_writes;
}

/* The hints prefetch.r and prefetch.w of Zicbop. */
static bool is_prefetch(const struct vs_rv64_insn *insn)
{
    unsigned kind = (unsigned)insn->imm & 0x1f;
    return insn->op == VS_RV64_ORI && insn->rd == 0 && (kind == 1 || kind == 3);
}

static struct vs_insn classify(const struct vs_rv64_insn *insn, uint64_t pc)
{
    struct vs_insn got = {.length = insn->length};
    switch (vs_rv64_row(insn->op)->class) {
    case VS_RV64_CLASS_BRANCH:
        got.kind = VS_INSN_BRANCH;
        got.branch = VS_BR_COND;
        got.target = pc + (uint64_t)(int64_t)insn->imm;
        break;
    case VS_RV64_CLASS_JAL:
        got.kind = VS_INSN_BRANCH;
        got.branch = is_link(insn->rd) ? VS_BR_CALL : 0;
        got.target = pc + (uint64_t)(int64_t)insn->imm;
        break;
    case VS_RV64_CLASS_JALR:
        got.kind = VS_INSN_BRANCH;
        got.branch = (uint8_t)jalr_flags(insn->rd, insn->rs1);
        break;
    case VS_RV64_CLASS_ALU:
        got.prefetch = is_prefetch(insn);
        break;
    case VS_RV64_CLASS_ECALL:
        got.kind = VS_INSN_SYSCALL;
        break;
    case VS_RV64_CLASS_CSR:
        if (reads_counter(insn))
            got.kind = VS_INSN_NONDET;
        break;
    case VS_RV64_CLASS_SC:
        got.kind = VS_INSN_NONDET;
        got.locked = true;
        break;
    case VS_RV64_CLASS_LR:
    case VS_RV64_CLASS_AMO:
        got.locked = true;
        break;
    default:
        break;
    }
    return got;
}

struct vs_rv64_memory vs_rv64_memory(const struct vs_rv64_insn *insn)
{
    const struct vs_rv64_row *row = vs_rv64_row(insn->op);
    struct vs_rv64_memory got = {0};
    switch (row->class) {
    case VS_RV64_CLASS_LOAD:
        got.load = true;
        break;
    case VS_RV64_CLASS_STORE:
        got.store = true;
        break;
    case VS_RV64_CLASS_LR:
        got.load = got.atomic = true;
        break;
    case VS_RV64_CLASS_SC:
        got.store = got.atomic = true;
        break;
    case VS_RV64_CLASS_AMO:
        got.load = got.store = got.atomic = true;
        break;
    default:
        return got;
    }
    got.base = insn->rs1;
    got.offset = insn->imm;
    got.size = (uint8_t)(1 << (row->match >> 12 & 3));
    return got;
}

int vs_rv64_fetch(const uint8_t *bytes, size_t size, uint32_t *word)
{
    if (size < 2)
        return -VSE_TRUNCATED;
    *word = vs_get16(bytes);
    if ((*word & 3) != 3)
        return 0;
    if ((*word & 0x1c) == 0x1c)
        return -VSE_CORRUPT;
    if (size < 4)
        return -VSE_TRUNCATED;
    *word = vs_get32(bytes);
    return 0;
}

/* The vector extension has arithmetic, and loads and stores of widths that floating point does not
 * use. They go on to the next instruction, which is all that a walk through code needs to know. */
static bool is_vector(uint32_t word)
{
    unsigned opcode = word & 0x7f, width = word >> 12 & 7;
    return opcode == 0x57 || ((opcode == 0x07 || opcode == 0x27) && (width == 0 || width >= 5));
}

int vs_rv64_decode(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn)
{
    uint32_t word = 0;
    struct vs_rv64_insn decoded;
    int err = vs_rv64_fetch(bytes, size, &word);
    if (!err)
        err = vs_rv64_insn_decode(word, &decoded);
    if (!err)
        *insn = classify(&decoded, pc);
    if (err == -VSE_CORRUPT && is_vector(word)) {
        *insn = (struct vs_insn){.length = 4, .kind = VS_INSN_PLAIN};
        err = 0;
    }
    return err;
}

bool vs_rv64_infer(const uint8_t *before, size_t before_size, uint64_t pc, const uint8_t *branch,
                   size_t branch_size, uint64_t *target)
{
    struct vs_rv64_insn set, jump;
    uint32_t words[2];
    if (vs_rv64_fetch(before, before_size, &words[0]) < 0 ||
        vs_rv64_fetch(branch, branch_size, &words[1]) < 0 ||
        vs_rv64_insn_decode(words[0], &set) < 0 || vs_rv64_insn_decode(words[1], &jump) < 0)
        return false;
    if ((set.op != VS_RV64_LUI && set.op != VS_RV64_AUIPC) || jump.op != VS_RV64_JALR ||
        set.rd != jump.rs1 || !set.rd)
        return false;
    *target = ((set.op == VS_RV64_AUIPC ? pc : 0) + (uint64_t)(int64_t)set.imm +
               (uint64_t)(int64_t)jump.imm) &
              ~UINT64_C(1);
    return true;
}

const char *vs_rv64_class_name(unsigned class)
{
    static const char *const names[VS_RV64_CLASSES] = {
        [VS_RV64_CLASS_ALU] = "alu",        [VS_RV64_CLASS_MUL] = "mul",
        [VS_RV64_CLASS_DIV] = "div",        [VS_RV64_CLASS_LOAD] = "load",
        [VS_RV64_CLASS_STORE] = "store",    [VS_RV64_CLASS_LR] = "lr",
        [VS_RV64_CLASS_SC] = "sc",          [VS_RV64_CLASS_AMO] = "amo",
        [VS_RV64_CLASS_BRANCH] = "branch",  [VS_RV64_CLASS_JAL] = "jal",
        [VS_RV64_CLASS_JALR] = "jalr",      [VS_RV64_CLASS_FENCE] = "fence",
        [VS_RV64_CLASS_FENCEI] = "fence.i", [VS_RV64_CLASS_CSR] = "csr",
        [VS_RV64_CLASS_ECALL] = "ecall",    [VS_RV64_CLASS_EBREAK] = "ebreak",
        [VS_RV64_CLASS_FADD] = "fadd",      [VS_RV64_CLASS_FMUL] = "fmul",
        [VS_RV64_CLASS_FMA] = "fma",        [VS_RV64_CLASS_FDIV] = "fdiv",
        [VS_RV64_CLASS_FSQRT] = "fsqrt",    [VS_RV64_CLASS_FCVT] = "fcvt",
        [VS_RV64_CLASS_FMOVE] = "fmove",    [VS_RV64_CLASS_FCMP] = "fcmp",
    };
    return class < VS_RV64_CLASSES ? names[class] : "?";
}

const char *vs_rv64_class_of(const uint8_t *bytes, size_t size)
{
    struct vs_rv64_insn insn;
    uint32_t word;
    if (vs_rv64_fetch(bytes, size, &word) < 0 || vs_rv64_insn_decode(word, &insn) < 0)
        return NULL;
    return vs_rv64_class_name(vs_rv64_row(insn.op)->class);
}
