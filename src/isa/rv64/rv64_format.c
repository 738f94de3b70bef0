/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "isa/rv64/rv64.h"
#include "vestige/error.h"

/* ---- names ---------------------------------------------------------------------------------- */

static const char *rounding_name(unsigned rm)
{
    static const char names[][8] = {"rne", "rtz", "rdn", "rup", "rmm", "unknown", "unknown", "dyn"};
    return names[rm];
}

/* ---- writing -------------------------------------------------------------------------------- */

struct text {
    char *out;
    size_t capacity, used;
    bool full;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *fmt, ...)
{
    va_list args;
    if (t->full)
        return;
    va_start(args, fmt);
    int n = vsnprintf(t->out + t->used, t->capacity - t->used, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= t->capacity - t->used)
        t->full = true;
    else
        t->used += (size_t)n;
}

/* Operands are written as letters say: d s t r are rd rs1 rs2 rs3 as x registers, D S T R the same
 * as f registers,
 *   i imm in decimal   x imm in hexadecimal   u imm without its lower 12 bits
 *   o imm(rs1)   a (rs1)   p target   c the CSR   m the rounding mode unless dynamic
 * and anything else stands for itself. */
struct operands {
    const struct vs_rv64_insn *insn;
    uint32_t word;
    uint64_t pc;
};

static void put_csr(struct text *t, unsigned csr)
{
    switch (csr) {
    case VS_RV64_FFLAGS:
        return put(t, "fflags");
    case VS_RV64_FRM:
        return put(t, "frm");
    case VS_RV64_FCSR:
        return put(t, "fcsr");
    case VS_RV64_CYCLE:
        return put(t, "cycle");
    case VS_RV64_TIME:
        return put(t, "time");
    case VS_RV64_INSTRET:
        return put(t, "instret");
    }
    if (csr >= VS_RV64_HPMCOUNTER3 && csr <= VS_RV64_HPMCOUNTER31)
        put(t, "hpmcounter%u", csr - VS_RV64_CYCLE);
    else
        put(t, "0x%x", csr);
}

static void put_operand(struct text *t, const struct operands *o, char letter)
{
    const struct vs_rv64_insn *insn = o->insn;
    switch (letter) {
    case 'd':
        return put(t, "%s", vs_rv64_xname(insn->rd));
    case 's':
        return put(t, "%s", vs_rv64_xname(insn->rs1));
    case 't':
        return put(t, "%s", vs_rv64_xname(insn->rs2));
    case 'D':
        return put(t, "%s", vs_rv64_fname(insn->rd));
    case 'S':
        return put(t, "%s", vs_rv64_fname(insn->rs1));
    case 'T':
        return put(t, "%s", vs_rv64_fname(insn->rs2));
    case 'R':
        return put(t, "%s", vs_rv64_fname(insn->rs3));
    case 'i':
        return put(t, "%" PRId32, insn->imm);
    case 'x':
        return put(t, "0x%" PRIx32, (uint32_t)insn->imm);
    case 'u':
        return put(t, "0x%" PRIx32, (uint32_t)insn->imm >> 12);
    case 'o':
        return put(t, "%" PRId32 "(%s)", insn->imm, vs_rv64_xname(insn->rs1));
    case 'a':
        return put(t, "(%s)", vs_rv64_xname(insn->rs1));
    case 'p':
        return put(t, "%" PRIx64, o->pc + (uint64_t)(int64_t)insn->imm);
    case 'c':
        return put_csr(t, insn->csr);
    case 'm':
        if (insn->rm != VS_RV64_DYN)
            put(t, ",%s", rounding_name(insn->rm));
        return;
    default:
        put(t, "%c", letter);
    }
}

static void put_insn(struct text *t, const struct operands *o, const char *mnemonic,
                     const char *operands)
{
    static const char suffix[][6] = {"", ".rl", ".aq", ".aqrl"};
    put(t, "%s%s", mnemonic, suffix[o->insn->aqrl]);
    if (*operands)
        put(t, " ");
    for (; *operands; operands++)
        put_operand(t, o, *operands);
}

/* ---- the plain form ------------------------------------------------------------------------- */

static const char *plain_operands(unsigned format)
{
    static const char *const operands[] = {
        [VS_RV64_FORMAT_NONE] = "",       [VS_RV64_FORMAT_R] = "d,s,t",
        [VS_RV64_FORMAT_R1] = "d,s",      [VS_RV64_FORMAT_I] = "d,s,i",
        [VS_RV64_FORMAT_SH] = "d,s,x",    [VS_RV64_FORMAT_SHW] = "d,s,x",
        [VS_RV64_FORMAT_U] = "d,u",       [VS_RV64_FORMAT_J] = "d,p",
        [VS_RV64_FORMAT_B] = "s,t,p",     [VS_RV64_FORMAT_LOAD] = "d,o",
        [VS_RV64_FORMAT_STORE] = "t,o",   [VS_RV64_FORMAT_JALR] = "d,o",
        [VS_RV64_FORMAT_LR] = "d,a",      [VS_RV64_FORMAT_AMO] = "d,t,a",
        [VS_RV64_FORMAT_FENCE] = "",      [VS_RV64_FORMAT_CSR] = "d,c,s",
        [VS_RV64_FORMAT_CSRI] = "d,c,i",  [VS_RV64_FORMAT_FLOAD] = "D,o",
        [VS_RV64_FORMAT_FSTORE] = "T,o",  [VS_RV64_FORMAT_FFF] = "D,S,T",
        [VS_RV64_FORMAT_FFFR] = "D,S,Tm", [VS_RV64_FORMAT_FFFFR] = "D,S,T,Rm",
        [VS_RV64_FORMAT_FFR] = "D,Sm",    [VS_RV64_FORMAT_XFR] = "d,Sm",
        [VS_RV64_FORMAT_FXR] = "D,sm",    [VS_RV64_FORMAT_XF] = "d,S",
        [VS_RV64_FORMAT_FX] = "D,s",      [VS_RV64_FORMAT_XFF] = "d,S,T",
    };
    return operands[format];
}

/* ---- aliases -------------------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What a field must be: a number, anything, or the same as rs1. */
enum { ANY = -10000, AS_RS1 };

struct alias {
    uint8_t op;
    const char *mnemonic, *operands;
    int16_t rd, rs1, rs2;
    int32_t imm;
};

/* These are compressed additions that only move, and hints. The first that fits is taken. */
static const struct alias compressed_aliases[] = {
    {VS_RV64_ADD, "mv", "d,t", ANY, 0, ANY, ANY},
    {VS_RV64_LUI, "c.lui", "d,u", 0, ANY, ANY, ANY},
    {VS_RV64_SLLI, "c.slli64", "d", ANY, ANY, ANY, 0},
    {VS_RV64_SLLI, "c.slli", "d,x", 0, ANY, ANY, ANY},
    {VS_RV64_SRLI, "c.srli64", "d", ANY, ANY, ANY, 0},
    {VS_RV64_SRAI, "c.srai64", "d", ANY, ANY, ANY, 0},
};

static const struct alias aliases[] = {
    {VS_RV64_ADDI, "nop", "", 0, 0, ANY, 0},
    {VS_RV64_ADDI, "li", "d,i", ANY, 0, ANY, ANY},
    {VS_RV64_ADDI, "mv", "d,s", ANY, ANY, ANY, 0},
    {VS_RV64_ADDIW, "sext.w", "d,s", ANY, ANY, ANY, 0},
    {VS_RV64_XORI, "not", "d,s", ANY, ANY, ANY, -1},
    {VS_RV64_ANDI, "zext.b", "d,s", ANY, ANY, ANY, 255},
    {VS_RV64_SLTIU, "seqz", "d,s", ANY, ANY, ANY, 1},
    {VS_RV64_SLTU, "snez", "d,t", ANY, 0, ANY, ANY},
    {VS_RV64_SLT, "sltz", "d,s", ANY, ANY, 0, ANY},
    {VS_RV64_SLT, "sgtz", "d,t", ANY, 0, ANY, ANY},
    {VS_RV64_SUB, "neg", "d,t", ANY, 0, ANY, ANY},
    {VS_RV64_SUBW, "negw", "d,t", ANY, 0, ANY, ANY},
    {VS_RV64_ADD_UW, "zext.w", "d,s", ANY, ANY, 0, ANY},
    {VS_RV64_JAL, "j", "p", 0, ANY, ANY, ANY},
    {VS_RV64_JAL, "jal", "p", 1, ANY, ANY, ANY},
    {VS_RV64_JALR, "ret", "", 0, 1, ANY, 0},
    {VS_RV64_JALR, "jr", "s", 0, ANY, ANY, 0},
    {VS_RV64_JALR, "jr", "o", 0, ANY, ANY, ANY},
    {VS_RV64_JALR, "jalr", "s", 1, ANY, ANY, 0},
    {VS_RV64_JALR, "jalr", "o", 1, ANY, ANY, ANY},
    {VS_RV64_JALR, "jalr", "d,s", ANY, ANY, ANY, 0},
    {VS_RV64_BEQ, "beqz", "s,p", ANY, ANY, 0, ANY},
    {VS_RV64_BNE, "bnez", "s,p", ANY, ANY, 0, ANY},
    {VS_RV64_BGE, "blez", "t,p", ANY, 0, ANY, ANY},
    {VS_RV64_BGE, "bgez", "s,p", ANY, ANY, 0, ANY},
    {VS_RV64_BLT, "bltz", "s,p", ANY, ANY, 0, ANY},
    {VS_RV64_BLT, "bgtz", "t,p", ANY, 0, ANY, ANY},
    {VS_RV64_FSGNJ_S, "fmv.s", "D,S", ANY, ANY, AS_RS1, ANY},
    {VS_RV64_FSGNJN_S, "fneg.s", "D,S", ANY, ANY, AS_RS1, ANY},
    {VS_RV64_FSGNJX_S, "fabs.s", "D,S", ANY, ANY, AS_RS1, ANY},
    {VS_RV64_FSGNJ_D, "fmv.d", "D,S", ANY, ANY, AS_RS1, ANY},
    {VS_RV64_FSGNJN_D, "fneg.d", "D,S", ANY, ANY, AS_RS1, ANY},
    {VS_RV64_FSGNJX_D, "fabs.d", "D,S", ANY, ANY, AS_RS1, ANY},
    {VS_RV64_FCVT_D_W, "fcvt.d.w", "D,s", ANY, ANY, ANY, ANY}, /* exact: no rounding mode */
    {VS_RV64_FCVT_D_WU, "fcvt.d.wu", "D,s", ANY, ANY, ANY, ANY},
    {VS_RV64_FCVT_D_S, "fcvt.d.s", "D,S", ANY, ANY, ANY, ANY},
    {VS_RV64_ADDI, "add", "d,s,i", ANY, ANY, ANY, ANY},
    {VS_RV64_ADDIW, "addw", "d,s,i", ANY, ANY, ANY, ANY},
    {VS_RV64_XORI, "xor", "d,s,i", ANY, ANY, ANY, ANY},
    {VS_RV64_ORI, "or", "d,s,i", ANY, ANY, ANY, ANY},
    {VS_RV64_ANDI, "and", "d,s,i", ANY, ANY, ANY, ANY},
    {VS_RV64_SLLI, "sll", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_SRLI, "srl", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_SRAI, "sra", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_SLLIW, "sllw", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_SRLIW, "srlw", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_SRAIW, "sraw", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_RORI, "ror", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_RORIW, "rorw", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_BCLRI, "bclr", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_BEXTI, "bext", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_BINVI, "binv", "d,s,x", ANY, ANY, ANY, ANY},
    {VS_RV64_BSETI, "bset", "d,s,x", ANY, ANY, ANY, ANY},
};

static bool fits(const struct alias *a, const struct vs_rv64_insn *insn)
{
    return a->op == insn->op && (a->rd == ANY || a->rd == insn->rd) &&
           (a->rs1 == ANY || a->rs1 == insn->rs1) &&
           (a->rs2 == ANY || insn->rs2 == (a->rs2 == AS_RS1 ? insn->rs1 : a->rs2)) &&
           (a->imm == ANY || a->imm == insn->imm);
}

static bool put_alias_of(struct text *t, const struct operands *o, const struct alias *table,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fits(&table[i], o->insn)) {
            put_insn(t, o, table[i].mnemonic, table[i].operands);
            return true;
        }
    return false;
}

/* Writes hints that only their own words tell apart, since they all expand to the same. */
static bool put_hint(struct text *t, const struct operands *o)
{
    const struct vs_rv64_insn *insn = o->insn;
    unsigned row = o->word & 0xe003;
    if (row == 0x0001 && insn->imm == 0 && insn->rd != 0)
        put_insn(t, o, "add", "d,s,i");
    else if (insn->rd != 0)
        return false;
    else if (row == 0x0001 && insn->imm != 0)
        put_insn(t, o, "c.nop", "i");
    else if (row == 0x4001)
        put_insn(t, o, "c.li", "d,i");
    else if (row == 0x8002 && insn->op == VS_RV64_ADD)
        put_insn(t, o, o->word & 0x1000 ? "c.add" : "c.mv", "d,t");
    else
        return false;
    return true;
}

static bool put_alias(struct text *t, const struct operands *o)
{
    if (o->insn->length == 2 &&
        (put_hint(t, o) || put_alias_of(t, o, compressed_aliases, COUNT(compressed_aliases))))
        return true;
    return put_alias_of(t, o, aliases, COUNT(aliases));
}

static bool put_fp_csr(struct text *t, const struct operands *o)
{
    static const char *const reads[] = {"", "frflags", "frrm", "frcsr"};
    static const char *const writes[] = {"", "fsflags", "fsrm", "fscsr"};
    const struct vs_rv64_insn *insn = o->insn;
    unsigned csr = insn->csr;
    if (csr < VS_RV64_FFLAGS || csr > VS_RV64_FCSR)
        return false;
    if (insn->op == VS_RV64_CSRRS && insn->rs1 == 0)
        put_insn(t, o, reads[csr], "d");
    else if (insn->op == VS_RV64_CSRRW)
        put_insn(t, o, writes[csr], insn->rd ? "d,s" : "s");
    else if (insn->op == VS_RV64_CSRRWI && csr != VS_RV64_FCSR)
        put_insn(t, o, csr == VS_RV64_FRM ? "fsrmi" : "fsflagsi", "d,i");
    else
        return false;
    return true;
}

static bool put_counter(struct text *t, const struct operands *o)
{
    static const char *const reads[] = {"rdcycle", "rdtime", "rdinstret"};
    const struct vs_rv64_insn *insn = o->insn;
    if (insn->csr < VS_RV64_CYCLE || insn->csr > VS_RV64_INSTRET)
        return false;
    if (insn->op == VS_RV64_CSRRS && insn->rs1 == 0)
        put_insn(t, o, reads[insn->csr - VS_RV64_CYCLE], "d");
    else if (insn->op == VS_RV64_CSRRW && insn->csr == VS_RV64_CYCLE && !insn->rd && !insn->rs1)
        put(t, "unimp");
    else
        return false;
    return true;
}

static void put_csr_insn(struct text *t, const struct operands *o)
{
    static const char *const names[] = {"csrrw", "csrrs", "csrrc"};
    static const char *const writes[] = {"csrw", "csrs", "csrc"};
    const struct vs_rv64_insn *insn = o->insn;
    bool immediate = insn->op >= VS_RV64_CSRRWI;
    unsigned what = insn->op - (immediate ? VS_RV64_CSRRWI : VS_RV64_CSRRW);
    if (put_fp_csr(t, o) || put_counter(t, o))
        return;
    if (insn->op == VS_RV64_CSRRS && insn->rs1 == 0)
        put_insn(t, o, "csrr", "d,c");
    else if (insn->rd == 0)
        put_insn(t, o, writes[what], immediate ? "c,i" : "c,s");
    else
        put_insn(t, o, names[what], immediate ? "d,c,i" : "d,c,s");
}

static void put_fence_set(struct text *t, unsigned set)
{
    if (!set)
        put(t, "unknown");
    for (unsigned i = 0; i < 4; i++)
        if (set & 8 >> i)
            put(t, "%c", "iorw"[i]);
}

static void put_fence(struct text *t, const struct vs_rv64_insn *insn)
{
    unsigned sets = (unsigned)insn->imm;
    if (insn->rm == 8 && sets == 0x33)
        return put(t, "fence.tso");
    put(t, "fence");
    if (sets == 0xff && insn->rm == 0)
        return;
    put(t, " ");
    put_fence_set(t, sets >> 4);
    put(t, ",");
    put_fence_set(t, sets & 15);
}

static void put_any(struct text *t, const struct operands *o)
{
    const struct vs_rv64_row *row = vs_rv64_row(o->insn->op);
    if (row->class == VS_RV64_CLASS_CSR)
        put_csr_insn(t, o);
    else if (row->class == VS_RV64_CLASS_FENCE)
        put_fence(t, o->insn);
    else if (!put_alias(t, o))
        put_insn(t, o, row->mnemonic, plain_operands(row->format));
}

int vs_rv64_format(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity)
{
    struct text t = {.out = out, .capacity = capacity, .full = capacity == 0};
    struct vs_rv64_insn insn;
    uint32_t word;
    int err = vs_rv64_fetch(bytes, size, &word);
    if (err)
        return err;
    err = vs_rv64_insn_decode(word, &insn);
    if (err && word)
        return err;
    if (err)
        put(&t, "unimp");
    else
        put_any(&t, &(struct operands){.insn = &insn, .word = word, .pc = pc});
    return t.full ? -VSE_LIMIT : (int)t.used;
}
