/* SPDX-License-Identifier: MIT */
/* The words that the interpreter's operations are written in (iss_execute.h): operands, ways to go
 * on, accesses, rounding, and those operations that may be one of a pair. They stand for what they
 * are where they are used: OBSERVED, SIMPLE and what follows from them are defined there. */
#ifndef ISA_RV64_ISS_WORDS_H
#define ISA_RV64_ISS_WORDS_H

#define IMM      ((uint64_t)(int64_t)op->imm)
#define PC       (block->pc + 2 * (uint64_t)op->offset)
#define NEXT_PC  (PC + op->length)
#define RS1      hart->regs[op->rs1]
#define RS2      hart->regs[op->rs2]
#define SEXT(v)  ((uint64_t)(int64_t)(int32_t)(v))
#define F64(reg) hart->regs[op->reg]
#define F32(reg) vs_fp_unbox(hart->regs[op->reg])

/* ---- going on ------------------------------------------------------------------------------- */

#define DISPATCH()                                                                                 \
    do {                                                                                           \
        NOTE();                                                                                    \
        goto *labels[HOW];                                                                         \
    } while (0)
#define NEXT()                                                                                     \
    do {                                                                                           \
        NOTED();                                                                                   \
        op++;                                                                                      \
        DISPATCH();                                                                                \
    } while (0)
#define PUT(v)     (hart->regs[op->rd] = (v))
#define PUT_F64(v) PUT(v)
#define PUT_F32(v) PUT(vs_fp_box(v))
#define RESULT(v)                                                                                  \
    do {                                                                                           \
        PUT(v);                                                                                    \
        NEXT();                                                                                    \
    } while (0)
#define RESULT_F64(v) RESULT(v)
#define RESULT_F32(v) RESULT(vs_fp_box(v))

#define ENTER()                                                                                    \
    do {                                                                                           \
        if (unlikely(block->need > left))                                                          \
            goto cut;                                                                              \
        CHECK_ROOM();                                                                              \
        left -= block->count;                                                                      \
        op = block->ops;                                                                           \
        DISPATCH();                                                                                \
    } while (0)

/* Goes to the block at `to`, which follows this one by way of next[way]. */
#define GO(way, to)                                                                                \
    do {                                                                                           \
        NOTED();                                                                                   \
        struct vs_op_block *follower = block->next[way];                                           \
        if (likely(follower)) {                                                                    \
            block = follower;                                                                      \
            ENTER();                                                                               \
        }                                                                                          \
        pc = (to);                                                                                 \
        from = &block->next[way];                                                                  \
        goto resolve;                                                                              \
    } while (0)

#define BRANCH(condition)                                                                          \
    do {                                                                                           \
        NOTE_ADDR(PC + IMM, 0);                                                                    \
        if (condition) {                                                                           \
            NOTE_KIND(VS_RECORD_BRANCH | VS_RECORD_DONE);                                          \
            GO(1, PC + IMM);                                                                       \
        }                                                                                          \
        NOTE_KIND(VS_RECORD_BRANCH);                                                               \
        GO(0, NEXT_PC);                                                                            \
    } while (0)

/* ---- memory --------------------------------------------------------------------------------- */

/* To be used before the memory is asked: makes the hart stand where this instruction begins. */
#define SYNC()                                                                                     \
    do {                                                                                           \
        hart->cpu.pc = PC;                                                                         \
        hart->cpu.retired = start + (most - left) - (block->count - op->index);                    \
        SYNC_LOG();                                                                                \
    } while (0)

/* Tells whether the access is aligned and to a page that the hart knows; others go to the
 * memory. */
#define HIT(entry, addr, type)                                                                     \
    (!SIMPLE && likely(((addr) & (~(VS_PAGE_SIZE - 1) | (sizeof(type) - 1))) == (entry)->tag))
#define ENTRY(which, addr) (&hart->which[(addr) >> VS_PAGE_BITS & (VS_TLB_ENTRIES - 1)])

/* Loads into `value`, zero-extended. */
#define LOAD(type)                                                                                 \
    uint64_t addr = RS1 + IMM, value;                                                              \
    const struct vs_tlb_entry *entry = ENTRY(reads, addr);                                         \
    if (HIT(entry, addr, type)) {                                                                  \
        type loaded;                                                                               \
        memcpy(&loaded, (const void *)(uintptr_t)(addr + entry->delta), sizeof(loaded));           \
        value = loaded;                                                                            \
    } else {                                                                                       \
        SYNC_PLAIN();                                                                              \
        stop = SIMPLE ? read_simply(hart, memory, addr, sizeof(type), &value)                      \
                      : read_slowly(hart, memory, addr, sizeof(type), &value);                     \
        if (unlikely(stop))                                                                        \
            goto trap;                                                                             \
    }                                                                                              \
    NOTE_KIND(VS_RECORD_LOAD);                                                                     \
    NOTE_ADDR(addr, sizeof(type));                                                                 \
    NOTE_VALUE(value)

#define STORE(type, v)                                                                             \
    do {                                                                                           \
        uint64_t addr = RS1 + IMM;                                                                 \
        type stored = (type)(v);                                                                   \
        const struct vs_tlb_entry *entry = ENTRY(writes, addr);                                    \
        NOTE_KIND(VS_RECORD_STORE);                                                                \
        NOTE_ADDR(addr, sizeof(type));                                                             \
        NOTE_VALUE(stored);                                                                        \
        if (HIT(entry, addr, type)) {                                                              \
            memcpy((void *)(uintptr_t)(addr + entry->delta), &stored, sizeof(stored));             \
        } else {                                                                                   \
            SYNC_PLAIN();                                                                          \
            stop = SIMPLE ? write_simply(hart, memory, addr, sizeof(type), stored)                 \
                          : write_slowly(hart, memory, addr, sizeof(type), stored);                \
            if (unlikely(stop))                                                                    \
                goto stored_or_trap;                                                               \
        }                                                                                          \
    } while (0)

/* In the expression, `old` and `operand` have the type, and so has its result. */
#define AMO(type, expression)                                                                      \
    do {                                                                                           \
        uint64_t addr = RS1, got;                                                                  \
        SYNC();                                                                                    \
        stop = amo_read(hart, memory, addr, sizeof(type), &got);                                   \
        if (unlikely(stop))                                                                        \
            goto trap;                                                                             \
        type old = (type)got, operand = (type)RS2, result = (expression);                          \
        NOTE_KIND(VS_RECORD_AMO_LOAD);                                                             \
        NOTE_ADDR(addr, sizeof(type));                                                             \
        NOTE_VALUE(got);                                                                           \
        uint64_t written = sizeof(type) == 4 ? (uint32_t)result : (uint64_t)result;                \
        stop = amo_write(hart, memory, addr, sizeof(type), written);                               \
        if (unlikely(stop && stop != CODE_CHANGED))                                                \
            goto trap;                                                                             \
        NOTED();                                                                                   \
        NOTE();                                                                                    \
        NOTE_KIND(VS_RECORD_AMO_STORE);                                                            \
        NOTE_ADDR(addr, sizeof(type));                                                             \
        NOTE_VALUE(written);                                                                       \
        hart->regs[op->rd] = sizeof(type) == 4 ? SEXT(got) : got;                                  \
        if (unlikely(stop))                                                                        \
            goto stored_or_trap;                                                                   \
        NEXT();                                                                                    \
    } while (0)

/* ---- floating point ------------------------------------------------------------------------- */

/* Sets rm to this instruction's rounding mode. */
#define ROUNDING()                                                                                 \
    unsigned rm = op->rm;                                                                          \
    FLOATS();                                                                                      \
    if (rm == VS_RV64_DYN)                                                                         \
        rm = hart->fcsr >> 5;                                                                      \
    if (unlikely(rm > VS_RV64_RMM))                                                                \
    goto illegal

#define SIGN64 (UINT64_C(1) << 63)
#define SIGN32 (UINT64_C(1) << 31)

/* ---- what pairs are made of ------------------------------------------------------------------ */

/* Loads, and puts an expression of `value`. */
#define LOADED(type, expression)                                                                   \
    do {                                                                                           \
        LOAD(type);                                                                                \
        PUT(expression);                                                                           \
    } while (0)
#define FADD(w)                                                                                    \
    do {                                                                                           \
        ROUNDING();                                                                                \
        PUT_F##w(vs_fp_add##w(hart, F##w(rs1), F##w(rs2), rm));                                    \
    } while (0)
#define FSUB(w)                                                                                    \
    do {                                                                                           \
        ROUNDING();                                                                                \
        PUT_F##w(vs_fp_sub##w(hart, F##w(rs1), F##w(rs2), rm));                                    \
    } while (0)
#define FMUL(w)                                                                                    \
    do {                                                                                           \
        ROUNDING();                                                                                \
        PUT_F##w(vs_fp_mul##w(hart, F##w(rs1), F##w(rs2), rm));                                    \
    } while (0)
#define FLT(w) PUT(vs_fp_lt##w(hart, F##w(rs1), F##w(rs2)))

#define DO_AUIPC  PUT(PC + IMM)
#define DO_BEQ    BRANCH(RS1 == RS2)
#define DO_BNE    BRANCH(RS1 != RS2)
#define DO_BLTU   BRANCH(RS1 < RS2)
#define DO_LW     LOADED(uint32_t, SEXT(value))
#define DO_LD     LOADED(uint64_t, value)
#define DO_LBU    LOADED(uint8_t, value)
#define DO_SW     STORE(uint32_t, RS2)
#define DO_SD     STORE(uint64_t, RS2)
#define DO_ADDI   PUT(RS1 + IMM)
#define DO_ANDI   PUT(RS1 &IMM)
#define DO_ADDIW  PUT(SEXT(RS1 + IMM))
#define DO_SLLI   PUT(RS1 << op->imm)
#define DO_SRLI   PUT(RS1 >> op->imm)
#define DO_SRLIW  PUT(SEXT((uint32_t)RS1 >> op->imm))
#define DO_ADD    PUT(RS1 + RS2)
#define DO_SRL    PUT(RS1 >> (RS2 & 63))
#define DO_XOR    PUT(RS1 ^ RS2)
#define DO_MUL    PUT(RS1 *RS2)
#define DO_FLD    LOADED(uint64_t, value)
#define DO_FSD    STORE(uint64_t, F64(rs2))
#define DO_FADD_D FADD(64)
#define DO_FSUB_D FSUB(64)
#define DO_FMUL_D FMUL(64)
#define DO_FLT_D  FLT(64)
#define DO_JAL                                                                                     \
    do {                                                                                           \
        PUT(NEXT_PC);                                                                              \
        NOTE_KIND(VS_RECORD_BRANCH | VS_RECORD_DONE);                                              \
        NOTE_ADDR(PC + IMM, 0);                                                                    \
        GO(1, PC + IMM);                                                                           \
    } while (0)
#define DO_JALR                                                                                    \
    do {                                                                                           \
        pc = (RS1 + IMM) & ~UINT64_C(1);                                                           \
        PUT(NEXT_PC);                                                                              \
        NOTE_KIND(VS_RECORD_BRANCH | VS_RECORD_DONE);                                              \
        NOTE_ADDR(pc, 0);                                                                          \
        NOTED();                                                                                   \
        from = &block->next[1];                                                                    \
        if (likely(*from && (*from)->pc == pc)) {                                                  \
            block = *from;                                                                         \
            ENTER();                                                                               \
        }                                                                                          \
        goto resolve;                                                                              \
    } while (0)

#endif
