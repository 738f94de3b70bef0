/* SPDX-License-Identifier: MIT */
/* The interpreter's body, which iss_run.c includes once for each way to run:
 *
 *   RUN       the function's name
 *   OBSERVED  1: each instruction that retires is written to a log; 0: no code for that is left
 *   SIMPLE    1: the memory is simple, and is asked each time; 0: it may give pages away
 *
 * Blocks are executed by threaded code: each operation ends in a jump to the next one. An operation
 * reads its operands through `op`; `block` is the block that it lies in; `left` counts the
 * instructions that may still be executed, from which a block's are all taken when it is entered.
 */

#if OBSERVED
#define NOTE()              note(record, op, PC)
#define NOTED()             (record++)
#define NOTE_KIND(what)     (record->kind |= (what))
#define NOTE_ADDR(a, bytes) (record->addr = (a), record->size = (bytes))
#define NOTE_VALUE(v)       (record->value = (v))
/* Tells whether there is room for two records of each instruction, and for the one that is begun
 * for an operation that is no instruction. */
#define HAS_ROOM() ((size_t)(end - record) > 2 * (size_t)block->count)
#define CHECK_ROOM()                                                                               \
    if (unlikely(!HAS_ROOM()))                                                                     \
    goto log_full
#define SYNC_LOG() (log->count = (size_t)(record - log->records))
#define HOW        op->op
#else
#define NOTE()              ((void)0)
#define NOTED()             ((void)0)
#define NOTE_KIND(what)     ((void)0)
#define NOTE_ADDR(a, bytes) ((void)0)
#define NOTE_VALUE(v)       ((void)0)
#define HAS_ROOM()          1
#define CHECK_ROOM()        ((void)0)
#define SYNC_LOG()          ((void)0)
#define HOW                 op->how
#endif

/* Does what a plain access needs of SYNC(). */
#if SIMPLE
#define SYNC_PLAIN() SYNC_LOG()
#else
#define SYNC_PLAIN() SYNC()
#endif

/* Notes that the host's status word may change, which costs more to read than this. */
#if SIMPLE
#define FLOATS() (floated = true)
#else
#define FLOATS() ((void)0)
#endif

int RUN(struct vs_cpu *cpu, uint64_t most
#if OBSERVED
        ,
        struct vs_cpu_log *log
#endif
)
{
    static const void *const labels[] = {
#define LABEL(name, ...) &&do_##name,
        VS_RV64_LIST(LABEL)
#undef LABEL
            && do_END,
        &&do_ILLEGAL,
        &&do_MARK,
#if !OBSERVED
#define LABEL(first, second) &&do_##first##_##second,
        VS_RV64_PAIRS(LABEL)
#undef LABEL
#endif
    };
    struct vs_hart *const hart = (struct vs_hart *)cpu;
    struct vs_cpu_memory *const memory = cpu->memory;
    struct vs_code *const code = (struct vs_code *)cpu->code;
    const uint32_t saved = vs_fp_begin(memory);
    const uint64_t start = hart->cpu.retired;
    uint64_t left = most, pc = hart->cpu.pc;
    struct vs_op_block *block = NULL, **from = NULL;
    const struct vs_op *op;
    struct part part;
    int stop;
#if SIMPLE
    bool floated = false;
#else
    const bool floated = true;
#endif
#if OBSERVED
    struct vs_cpu_record *record = log->records + log->count;
    const struct vs_cpu_record *const end = log->records + log->capacity;
#endif

    if (hart->in_block && hart->in_flushes == code->head.flushes) {
        block = hart->in_block;
        op = &block->ops[hart->in_op];
        uint64_t rest = block->count - hart->in_op;
        if (likely(PC == pc && rest <= left && HAS_ROOM())) {
            left -= rest;
            DISPATCH();
        }
    }

/* Goes to pc, and notes the block in *from for the next time. */
resolve:
    if (left == 0) {
        stop = VS_STOP_LIMIT;
        goto out;
    }
    {
        struct vs_op_block *found = vs_code_find(code, pc);
        if (unlikely(!found)) {
            uint64_t flushes = code->head.flushes;
            hart->cpu.pc = pc;
            hart->cpu.retired = start + (most - left);
            SYNC_LOG();
            stop = decode_block(hart, memory, pc, &found);
            if (stop)
                goto out;
            if (flushes != code->head.flushes)
                from = NULL;
        }
        if (from)
            *from = found;
        block = found;
    }
    ENTER();

/* The block is longer than what is left, and only as much of it as may be is executed; or its
 * address is one to stop at. */
cut:
    if (block->need == VS_NEED_BREAK && hart->cpu.passing != block->pc) {
        pc = block->pc;
        stop = VS_STOP_BREAK;
        goto out;
    }
    hart->cpu.passing = VS_PASSING_NONE;
    if (left == 0) {
        pc = block->pc;
        stop = VS_STOP_LIMIT;
        goto out;
    }
    block = cut_block(&part, block, block->count < left ? block->count : (unsigned)left);
    ENTER();

do_END:
    pc = PC;
    {
        struct vs_op_block *follower = block->next[0];
        if (likely(follower)) {
            block = follower;
            ENTER();
        }
    }
    from = &block->next[0];
    goto resolve;

do_ILLEGAL:
illegal:
    SYNC();
    hart->cpu.fault = refetch(hart, memory, PC);
    stop = VS_STOP_ILLEGAL;
    goto trap;

#if OBSERVED
log_full:
    pc = block->pc;
    stop = VS_STOP_LOG;
    goto out;
#endif

/* With CODE_CHANGED the operation is a store that was done, after which blocks are out of date;
 * otherwise it did not retire. */
stored_or_trap:
    if (stop != CODE_CHANGED)
        goto trap;
    NOTED();
    left += block->count - op->index - 1;
    pc = NEXT_PC;
    vs_cpu_flush_all(&code->head);
    from = NULL;
    goto resolve;

/* Neither this operation nor those after it in the block retired. */
trap:
    left += block->count - op->index;
    pc = PC;
    if (block != &part.block) {
        hart->in_block = block;
        hart->in_op = op->index;
        hart->in_flushes = code->head.flushes;
    }

out:
    hart->cpu.pc = pc;
    hart->cpu.retired = start + (most - left);
    hart->regs[VS_REG_SINK] = 0;
    if (floated)
        vs_fp_end(hart, saved);
#if OBSERVED
    log->count = (size_t)(record - log->records);
#endif
    return stop;

    /* ---- pairs ------------------------------------------------------------------------------ */

#if !OBSERVED
#define PAIR(first, second)                                                                        \
    do_##first##_##second : DO_##first;                                                            \
    op++;                                                                                          \
    DO_##second;                                                                                   \
    NEXT();
    VS_RV64_PAIRS(PAIR)
#undef PAIR
#endif

    /* ---- RV64I ------------------------------------------------------------------------------ */

do_LUI:
    RESULT(IMM);
do_AUIPC:
    DO_AUIPC;
    NEXT();
do_JAL:
    DO_JAL;
do_JALR:
    DO_JALR;
do_BEQ:
    DO_BEQ;
do_BNE:
    DO_BNE;
do_BLT:
    BRANCH((int64_t)RS1 < (int64_t)RS2);
do_BGE:
    BRANCH((int64_t)RS1 >= (int64_t)RS2);
do_BLTU:
    DO_BLTU;
do_BGEU:
    BRANCH(RS1 >= RS2);
do_LB : {
    LOAD(uint8_t);
    RESULT((uint64_t)(int64_t)(int8_t)value);
}
do_LH : {
    LOAD(uint16_t);
    RESULT((uint64_t)(int64_t)(int16_t)value);
}
do_LW:
    DO_LW;
    NEXT();
do_LD:
    DO_LD;
    NEXT();
do_LBU:
    DO_LBU;
    NEXT();
do_LHU : {
    LOAD(uint16_t);
    RESULT(value);
}
do_LWU : {
    LOAD(uint32_t);
    RESULT(value);
}
do_SB:
    STORE(uint8_t, RS2);
    NEXT();
do_SH:
    STORE(uint16_t, RS2);
    NEXT();
do_SW:
    DO_SW;
    NEXT();
do_SD:
    DO_SD;
    NEXT();
do_ADDI:
    DO_ADDI;
    NEXT();
do_SLTI:
    RESULT((int64_t)RS1 < op->imm);
do_SLTIU:
    RESULT(RS1 < IMM);
do_XORI:
    RESULT(RS1 ^ IMM);
do_ORI:
    RESULT(RS1 | IMM);
do_ANDI:
    DO_ANDI;
    NEXT();
do_ADDIW:
    DO_ADDIW;
    NEXT();
do_SLLI:
    DO_SLLI;
    NEXT();
do_SRLI:
    DO_SRLI;
    NEXT();
do_SRAI:
    RESULT((uint64_t)((int64_t)RS1 >> op->imm));
do_SLLIW:
    RESULT(SEXT((uint32_t)RS1 << op->imm));
do_SRLIW:
    DO_SRLIW;
    NEXT();
do_SRAIW:
    RESULT((uint64_t)(int64_t)((int32_t)RS1 >> op->imm));
do_ADD:
    DO_ADD;
    NEXT();
do_SUB:
    RESULT(RS1 - RS2);
do_SLL:
    RESULT(RS1 << (RS2 & 63));
do_SLT:
    RESULT((int64_t)RS1 < (int64_t)RS2);
do_SLTU:
    RESULT(RS1 < RS2);
do_XOR:
    DO_XOR;
    NEXT();
do_SRL:
    DO_SRL;
    NEXT();
do_SRA:
    RESULT((uint64_t)((int64_t)RS1 >> (RS2 & 63)));
do_OR:
    RESULT(RS1 | RS2);
do_AND:
    RESULT(RS1 & RS2);
do_ADDW:
    RESULT(SEXT(RS1 + RS2));
do_SUBW:
    RESULT(SEXT(RS1 - RS2));
do_SLLW:
    RESULT(SEXT((uint32_t)RS1 << (RS2 & 31)));
do_SRLW:
    RESULT(SEXT((uint32_t)RS1 >> (RS2 & 31)));
do_SRAW:
    RESULT((uint64_t)(int64_t)((int32_t)RS1 >> (RS2 & 31)));
do_FENCE:
    NEXT();
do_FENCE_I:
    NOTED();
    pc = NEXT_PC;
    vs_cpu_flush_all(&code->head);
    from = NULL;
    goto resolve;
do_ECALL:
    NOTE_KIND(VS_RECORD_ECALL);
    NOTED();
    pc = NEXT_PC;
    stop = VS_STOP_CALL;
    goto out;
do_MARK:
#if OBSERVED
    record->op = VS_RV64_LUI;
#endif
    NOTED();
    hart->cpu.fault = (uint32_t)op->imm >> 12;
    pc = NEXT_PC;
    stop = VS_STOP_MARK;
    goto out;
do_EBREAK:
    hart->cpu.fault = PC;
    stop = VS_STOP_TRAP;
    goto trap;

    /* ---- Zicsr ------------------------------------------------------------------------------ */

do_CSRRW:
do_CSRRS:
do_CSRRC:
do_CSRRWI:
do_CSRRSI:
do_CSRRCI : {
    bool counted = false;
    uint64_t got;
    SYNC();
    stop = access_csr(hart, memory, op, &counted, &got);
    if (unlikely(stop == VS_STOP_ILLEGAL))
        goto illegal;
    if (unlikely(stop))
        goto trap;
    if (OBSERVED && counted) {
        NOTE_KIND(VS_RECORD_COUNTER);
        NOTE_VALUE(got);
    }
    NEXT();
}

    /* ---- M ---------------------------------------------------------------------------------- */

do_MUL:
    DO_MUL;
    NEXT();
do_MULH:
    RESULT((uint64_t)((__int128)(int64_t)RS1 * (int64_t)RS2 >> 64));
do_MULHSU:
    RESULT((uint64_t)((__int128)(int64_t)RS1 * RS2 >> 64));
do_MULHU:
    RESULT((uint64_t)((unsigned __int128)RS1 * RS2 >> 64));
do_DIV:
    RESULT(divide(RS1, RS2));
do_DIVU:
    RESULT(RS2 ? RS1 / RS2 : UINT64_MAX);
do_REM:
    RESULT(remainder_of(RS1, RS2));
do_REMU:
    RESULT(RS2 ? RS1 % RS2 : RS1);
do_MULW:
    RESULT(SEXT((uint32_t)RS1 * (uint32_t)RS2));
do_DIVW:
    RESULT(SEXT(divide(SEXT(RS1), SEXT(RS2))));
do_DIVUW:
    RESULT((uint32_t)RS2 ? SEXT((uint32_t)RS1 / (uint32_t)RS2) : UINT64_MAX);
do_REMW:
    RESULT(SEXT(remainder_of(SEXT(RS1), SEXT(RS2))));
do_REMUW:
    RESULT((uint32_t)RS2 ? SEXT((uint32_t)RS1 % (uint32_t)RS2) : SEXT(RS1));

    /* ---- A ---------------------------------------------------------------------------------- */

do_LR_W:
do_LR_D : {
    unsigned size = op->op == VS_RV64_LR_D ? 8 : 4;
    uint64_t value;
    SYNC();
    stop = read_reserved(hart, memory, RS1, size, &value);
    if (unlikely(stop))
        goto trap;
    NOTE_KIND(VS_RECORD_LR);
    NOTE_ADDR(RS1, (uint8_t)size);
    NOTE_VALUE(value);
    RESULT(size == 4 ? SEXT(value) : value);
}
do_SC_W:
do_SC_D : {
    unsigned size = op->op == VS_RV64_SC_D ? 8 : 4;
    uint64_t value = size == 4 ? (uint32_t)RS2 : RS2;
    int done = 0;
    SYNC();
    stop = write_conditional(hart, memory, RS1, size, value, &done);
    if (unlikely(stop && stop != CODE_CHANGED))
        goto trap;
    NOTE_KIND(VS_RECORD_SC | (done ? VS_RECORD_DONE : 0));
    NOTE_ADDR(RS1, (uint8_t)size);
    NOTE_VALUE(value);
    hart->regs[op->rd] = !done;
    if (unlikely(stop))
        goto stored_or_trap;
    NEXT();
}
do_AMOSWAP_W:
    AMO(uint32_t, ((void)old, operand));
do_AMOADD_W:
    AMO(uint32_t, old + operand);
do_AMOXOR_W:
    AMO(uint32_t, old ^ operand);
do_AMOAND_W:
    AMO(uint32_t, old & operand);
do_AMOOR_W:
    AMO(uint32_t, old | operand);
do_AMOMIN_W:
    AMO(int32_t, old < operand ? old : operand);
do_AMOMAX_W:
    AMO(int32_t, old > operand ? old : operand);
do_AMOMINU_W:
    AMO(uint32_t, old < operand ? old : operand);
do_AMOMAXU_W:
    AMO(uint32_t, old > operand ? old : operand);
do_AMOSWAP_D:
    AMO(uint64_t, ((void)old, operand));
do_AMOADD_D:
    AMO(uint64_t, old + operand);
do_AMOXOR_D:
    AMO(uint64_t, old ^ operand);
do_AMOAND_D:
    AMO(uint64_t, old & operand);
do_AMOOR_D:
    AMO(uint64_t, old | operand);
do_AMOMIN_D:
    AMO(int64_t, old < operand ? old : operand);
do_AMOMAX_D:
    AMO(int64_t, old > operand ? old : operand);
do_AMOMINU_D:
    AMO(uint64_t, old < operand ? old : operand);
do_AMOMAXU_D:
    AMO(uint64_t, old > operand ? old : operand);

    /* ---- F and D ---------------------------------------------------------------------------- */

do_FLW : {
    LOAD(uint32_t);
    RESULT_F32(value);
}
do_FLD:
    DO_FLD;
    NEXT();
do_FSW:
    STORE(uint32_t, F64(rs2));
    NEXT();
do_FSD:
    DO_FSD;
    NEXT();

#define FLOAT_OPS(W, w)                                                                            \
    do_FMADD_##W:                                                                                  \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_fma##w(hart, F##w(rs1), F##w(rs2), F##w(rs3), rm));                      \
    }                                                                                              \
    do_FMSUB_##W:                                                                                  \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_fma##w(hart, F##w(rs1), F##w(rs2), F##w(rs3) ^ SIGN##w, rm));            \
    }                                                                                              \
    do_FNMSUB_##W:                                                                                 \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_fma##w(hart, F##w(rs1) ^ SIGN##w, F##w(rs2), F##w(rs3), rm));            \
    }                                                                                              \
    do_FNMADD_##W:                                                                                 \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_fma##w(hart, F##w(rs1) ^ SIGN##w, F##w(rs2), F##w(rs3) ^ SIGN##w, rm));  \
    }                                                                                              \
    do_FADD_##W : FADD(w);                                                                         \
    NEXT();                                                                                        \
    do_FSUB_##W : FSUB(w);                                                                         \
    NEXT();                                                                                        \
    do_FMUL_##W : FMUL(w);                                                                         \
    NEXT();                                                                                        \
    do_FDIV_##W:                                                                                   \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_div##w(hart, F##w(rs1), F##w(rs2), rm));                                 \
    }                                                                                              \
    do_FSQRT_##W:                                                                                  \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_sqrt##w(hart, F##w(rs1), rm));                                           \
    }                                                                                              \
    do_FSGNJ_##W : RESULT_F##w((F##w(rs1) & ~SIGN##w) | (F##w(rs2) & SIGN##w));                    \
    do_FSGNJN_##W : RESULT_F##w((F##w(rs1) & ~SIGN##w) | (~F##w(rs2) & SIGN##w));                  \
    do_FSGNJX_##W : RESULT_F##w(F##w(rs1) ^ (F##w(rs2) & SIGN##w));                                \
    do_FMIN_##W : RESULT_F##w(vs_fp_pick##w(hart, F##w(rs1), F##w(rs2), vs_fp_min));               \
    do_FMAX_##W : RESULT_F##w(vs_fp_pick##w(hart, F##w(rs1), F##w(rs2), vs_fp_max));               \
    do_FEQ_##W : RESULT(vs_fp_eq##w(hart, F##w(rs1), F##w(rs2)));                                  \
    do_FLT_##W : FLT(w);                                                                           \
    NEXT();                                                                                        \
    do_FLE_##W : RESULT(vs_fp_le##w(hart, F##w(rs1), F##w(rs2)));                                  \
    do_FCLASS_##W : RESULT(vs_fp_class(&vs_fp##w, F##w(rs1)));                                     \
    do_FCVT_W_##W:                                                                                 \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT(vs_fp_to_w##w(hart, F##w(rs1), rm));                                                \
    }                                                                                              \
    do_FCVT_WU_##W:                                                                                \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT(vs_fp_to_unsigned##w(hart, F##w(rs1), 32, rm));                                     \
    }                                                                                              \
    do_FCVT_L_##W:                                                                                 \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT(vs_fp_to_l##w(hart, F##w(rs1), rm));                                                \
    }                                                                                              \
    do_FCVT_LU_##W:                                                                                \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT(vs_fp_to_unsigned##w(hart, F##w(rs1), 64, rm));                                     \
    }                                                                                              \
    do_FCVT_##W##_W:                                                                               \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_from_signed##w(hart, SEXT(RS1), rm));                                    \
    }                                                                                              \
    do_FCVT_##W##_WU:                                                                              \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_from_signed##w(hart, (uint32_t)RS1, rm));                                \
    }                                                                                              \
    do_FCVT_##W##_L:                                                                               \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_from_signed##w(hart, RS1, rm));                                          \
    }                                                                                              \
    do_FCVT_##W##_LU:                                                                              \
    {                                                                                              \
        ROUNDING();                                                                                \
        RESULT_F##w(vs_fp_from_unsigned##w(hart, RS1, rm));                                        \
    }

    FLOAT_OPS(S, 32)
    FLOAT_OPS(D, 64)
#undef FLOAT_OPS

do_FCVT_S_D : {
    ROUNDING();
    RESULT_F32(vs_fp_narrow(hart, F64(rs1), rm));
}
do_FCVT_D_S : {
    ROUNDING();
    RESULT_F64(vs_fp_widen(F32(rs1)));
}
do_FMV_X_W:
    RESULT(SEXT(F64(rs1)));
do_FMV_W_X:
    RESULT_F32((uint32_t)RS1);
do_FMV_X_D:
    RESULT(F64(rs1));
do_FMV_D_X:
    RESULT_F64(RS1);

    /* ---- Zba, Zbb, Zbs ---------------------------------------------------------------------- */

do_ADD_UW:
    RESULT((uint32_t)RS1 + RS2);
do_SH1ADD:
    RESULT((RS1 << 1) + RS2);
do_SH2ADD:
    RESULT((RS1 << 2) + RS2);
do_SH3ADD:
    RESULT((RS1 << 3) + RS2);
do_SH1ADD_UW:
    RESULT(((uint64_t)(uint32_t)RS1 << 1) + RS2);
do_SH2ADD_UW:
    RESULT(((uint64_t)(uint32_t)RS1 << 2) + RS2);
do_SH3ADD_UW:
    RESULT(((uint64_t)(uint32_t)RS1 << 3) + RS2);
do_SLLI_UW:
    RESULT((uint64_t)(uint32_t)RS1 << op->imm);
do_ANDN:
    RESULT(RS1 & ~RS2);
do_ORN:
    RESULT(RS1 | ~RS2);
do_XNOR:
    RESULT(~(RS1 ^ RS2));
do_CLZ:
    RESULT(RS1 ? (uint64_t)__builtin_clzll(RS1) : 64);
do_CTZ:
    RESULT(RS1 ? (uint64_t)__builtin_ctzll(RS1) : 64);
do_CPOP:
    RESULT((uint64_t)__builtin_popcountll(RS1));
do_CLZW:
    RESULT((uint32_t)RS1 ? (uint64_t)__builtin_clz((uint32_t)RS1) : 32);
do_CTZW:
    RESULT((uint32_t)RS1 ? (uint64_t)__builtin_ctz((uint32_t)RS1) : 32);
do_CPOPW:
    RESULT((uint64_t)__builtin_popcount((uint32_t)RS1));
do_SEXT_B:
    RESULT((uint64_t)(int64_t)(int8_t)RS1);
do_SEXT_H:
    RESULT((uint64_t)(int64_t)(int16_t)RS1);
do_ZEXT_H:
    RESULT((uint16_t)RS1);
do_ORC_B:
    RESULT(or_combine(RS1));
do_REV8:
    RESULT(__builtin_bswap64(RS1));
do_MAX:
    RESULT((int64_t)RS1 > (int64_t)RS2 ? RS1 : RS2);
do_MAXU:
    RESULT(RS1 > RS2 ? RS1 : RS2);
do_MIN:
    RESULT((int64_t)RS1 < (int64_t)RS2 ? RS1 : RS2);
do_MINU:
    RESULT(RS1 < RS2 ? RS1 : RS2);
do_ROL:
    RESULT(rotate_right(RS1, -RS2));
do_ROR:
    RESULT(rotate_right(RS1, RS2));
do_ROLW:
    RESULT(SEXT(rotate_right_w(RS1, -RS2)));
do_RORW:
    RESULT(SEXT(rotate_right_w(RS1, RS2)));
do_RORI:
    RESULT(rotate_right(RS1, IMM));
do_RORIW:
    RESULT(SEXT(rotate_right_w(RS1, IMM)));
do_BCLR:
    RESULT(RS1 & ~(UINT64_C(1) << (RS2 & 63)));
do_BEXT:
    RESULT(RS1 >> (RS2 & 63) & 1);
do_BINV:
    RESULT(RS1 ^ UINT64_C(1) << (RS2 & 63));
do_BSET:
    RESULT(RS1 | UINT64_C(1) << (RS2 & 63));
do_BCLRI:
    RESULT(RS1 & ~(UINT64_C(1) << op->imm));
do_BEXTI:
    RESULT(RS1 >> op->imm & 1);
do_BINVI:
    RESULT(RS1 ^ UINT64_C(1) << op->imm);
do_BSETI:
    RESULT(RS1 | UINT64_C(1) << op->imm);
}

#undef NOTE
#undef NOTED
#undef NOTE_KIND
#undef NOTE_ADDR
#undef NOTE_VALUE
#undef HAS_ROOM
#undef CHECK_ROOM
#undef SYNC_LOG
#undef HOW
#undef SYNC_PLAIN
#undef FLOATS
