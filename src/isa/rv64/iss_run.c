/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/likely.h"
#include "isa/rv64/iss_fp.h"
#include "isa/rv64/iss.h"
#include "isa/rv64/iss_words.h"
#include "vestige/error.h"

/* What the functions below return beside VS_STOP_x: the store was done, and blocks are out of
 * date. */
#define CODE_CHANGED 1000

/* ---- arithmetic ----------------------------------------------------------------------------- */

static inline uint64_t divide(uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    if (b == UINT64_MAX)
        return UINT64_C(0) - a;
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint64_t remainder_of(uint64_t a, uint64_t b)
{
    if (b == 0)
        return a;
    if (b == UINT64_MAX)
        return 0;
    return (uint64_t)((int64_t)a % (int64_t)b);
}

static inline uint64_t rotate_right(uint64_t v, uint64_t by)
{
    return v >> (by & 63) | v << (-by & 63);
}

static inline uint32_t rotate_right_w(uint64_t v, uint64_t by)
{
    return (uint32_t)v >> (by & 31) | (uint32_t)v << (-by & 31);
}

/* Each byte that is not zero becomes 255. */
static inline uint64_t or_combine(uint64_t v)
{
    v |= v >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v |= v >> 2 & UINT64_C(0x3f3f3f3f3f3f3f3f);
    v |= v >> 1 & UINT64_C(0x7f7f7f7f7f7f7f7f);
    return (v & UINT64_C(0x0101010101010101)) * 255;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes a memory's answer a stop; `fault` is the stop for a fault. */
static int stop_of(int answer, int fault)
{
    return answer == VS_CPU_FAULT ? fault : answer == VS_CPU_CODE ? CODE_CHANGED : answer;
}

/* Returns where an access lies in its page, if the memory gives the page away; NULL if the memory
 * has to be asked, as for an access that leaves the page. */
static uint8_t *find_page(struct vs_hart *hart, struct vs_cpu_memory *memory, uint64_t addr,
                          unsigned size, struct vs_tlb_entry *entries, int writing)
{
    uint64_t page = addr & ~(VS_PAGE_SIZE - 1);
    if (!memory->ops->page || addr - page > VS_PAGE_SIZE - size)
        return NULL;
    struct vs_tlb_entry *e = &entries[page >> VS_PAGE_BITS & (VS_TLB_ENTRIES - 1)];
    if (e->tag == page)
        return (uint8_t *)(uintptr_t)(addr + e->delta);
    uint8_t *host = memory->ops->page(memory, &hart->cpu, page, writing);
    if (!host)
        return NULL;
    e->tag = page;
    e->delta = (uint64_t)(uintptr_t)host - page;
    return host + (addr - page);
}

/* These go around calls of a memory's read and write. */
static inline void leave_fp(struct vs_hart *hart, const struct vs_cpu_memory *memory)
{
    if (!memory->integer)
        vs_fp_collect(hart);
}

static inline void reenter_fp(const struct vs_cpu_memory *memory)
{
    if (!memory->integer)
        vs_fp_resume();
}

static inline int read_simply(struct vs_hart *hart, struct vs_cpu_memory *memory, uint64_t addr,
                              unsigned size, uint64_t *value)
{
    *value = 0;
    int answer = memory->ops->read(memory, &hart->cpu, addr, size, VS_ACCESS_PLAIN, value);
    return likely(!answer) ? 0 : stop_of(answer, VS_STOP_LOAD_FAULT);
}

static inline int write_simply(struct vs_hart *hart, struct vs_cpu_memory *memory, uint64_t addr,
                               unsigned size, uint64_t value)
{
    int answer = memory->ops->write(memory, &hart->cpu, addr, size, VS_ACCESS_PLAIN, &value);
    return likely(!answer) ? 0 : stop_of(answer, VS_STOP_STORE_FAULT);
}

static __attribute__((noinline)) int read_slowly(struct vs_hart *hart, struct vs_cpu_memory *memory,
                                                 uint64_t addr, unsigned size, uint64_t *value)
{
    leave_fp(hart, memory);
    int stop = 0;
    const uint8_t *host = find_page(hart, memory, addr, size, hart->reads, 0);
    *value = 0;
    if (host)
        memcpy(value, host, size);
    else
        stop = read_simply(hart, memory, addr, size, value);
    reenter_fp(memory);
    return stop;
}

static __attribute__((noinline)) int write_slowly(struct vs_hart *hart,
                                                  struct vs_cpu_memory *memory, uint64_t addr,
                                                  unsigned size, uint64_t value)
{
    leave_fp(hart, memory);
    int stop = 0;
    uint8_t *host = find_page(hart, memory, addr, size, hart->writes, 1);
    if (host)
        memcpy(host, &value, size);
    else
        stop = write_simply(hart, memory, addr, size, value);
    reenter_fp(memory);
    return stop;
}

static __attribute__((noinline)) int read_reserved(struct vs_hart *hart,
                                                   struct vs_cpu_memory *memory, uint64_t addr,
                                                   unsigned size, uint64_t *value)
{
    if (addr & (size - 1)) {
        hart->cpu.fault = addr;
        return VS_STOP_LOAD_ALIGN;
    }
    vs_fp_collect(hart);
    *value = 0;
    int answer = memory->ops->read(memory, &hart->cpu, addr, size, VS_ACCESS_RESERVED, value);
    vs_fp_resume();
    return stop_of(answer, VS_STOP_LOAD_FAULT);
}

static __attribute__((noinline)) int write_conditional(struct vs_hart *hart,
                                                       struct vs_cpu_memory *memory, uint64_t addr,
                                                       unsigned size, uint64_t value, int *stored)
{
    if (addr & (size - 1)) {
        hart->cpu.fault = addr;
        return VS_STOP_STORE_ALIGN;
    }
    vs_fp_collect(hart);
    int answer = memory->ops->conditional(memory, &hart->cpu, addr, size, &value, stored);
    vs_fp_resume();
    return stop_of(answer, VS_STOP_STORE_FAULT);
}

static __attribute__((noinline)) int amo_read(struct vs_hart *hart, struct vs_cpu_memory *memory,
                                              uint64_t addr, unsigned size, uint64_t *value)
{
    if (addr & (size - 1)) {
        hart->cpu.fault = addr;
        return VS_STOP_STORE_ALIGN;
    }
    vs_fp_collect(hart);
    *value = 0;
    int answer = memory->ops->read(memory, &hart->cpu, addr, size, VS_ACCESS_ATOMIC, value);
    vs_fp_resume();
    return stop_of(answer, VS_STOP_STORE_FAULT);
}

static __attribute__((noinline)) int amo_write(struct vs_hart *hart, struct vs_cpu_memory *memory,
                                               uint64_t addr, unsigned size, uint64_t value)
{
    vs_fp_collect(hart);
    int answer = memory->ops->write(memory, &hart->cpu, addr, size, VS_ACCESS_ATOMIC, &value);
    vs_fp_resume();
    return stop_of(answer, VS_STOP_STORE_FAULT);
}

/* ---- code ------------------------------------------------------------------------------------ */

static __attribute__((noinline)) int decode_block(struct vs_hart *hart,
                                                  struct vs_cpu_memory *memory, uint64_t pc,
                                                  struct vs_op_block **block)
{
    vs_fp_collect(hart);
    int answer = vs_code_decode((struct vs_code *)hart->cpu.code, memory, hart, pc, block);
    vs_fp_resume();
    return stop_of(answer, VS_STOP_FETCH_FAULT);
}

/* Fetches again the word of an instruction that was decoded, or found not to be one. */
static uint64_t refetch(struct vs_hart *hart, struct vs_cpu_memory *memory, uint64_t pc)
{
    uint32_t word;
    vs_fp_collect(hart);
    (void)vs_code_fetch(memory, hart, pc, &word); /* a half that is missing is zero */
    vs_fp_resume();
    return word;
}

/* Has room for the first instructions of a block and the op that ends them. */
struct part {
    union {
        struct vs_op_block block;
        uint8_t room[sizeof(struct vs_op_block) + (VS_BLOCK_MAX + 1) * sizeof(struct vs_op)];
    };
};

static struct vs_op_block *cut_block(struct part *part, const struct vs_op_block *block,
                                     unsigned count)
{
    struct vs_op_block *cut = &part->block;
    *cut = (struct vs_op_block){.pc = block->pc, .need = count, .count = count};
    memcpy(cut->ops, block->ops, count * sizeof(struct vs_op));
    cut->ops[count - 1].how = (uint8_t)cut->ops[count - 1].op;
    cut->ops[count] = (struct vs_op){.op = VS_OP_END,
                                     .offset = block->ops[count].offset,
                                     .how = VS_OP_END,
                                     .index = (uint8_t)count};
    return cut;
}

/* ---- CSRs ------------------------------------------------------------------------------------ */

static int read_csr(struct vs_hart *hart, struct vs_cpu_memory *memory, unsigned csr, bool *counted,
                    uint64_t *value)
{
    switch (csr) {
    case VS_RV64_FFLAGS:
        *value = hart->fcsr & 31;
        return 0;
    case VS_RV64_FRM:
        *value = hart->fcsr >> 5;
        return 0;
    case VS_RV64_FCSR:
        *value = hart->fcsr;
        return 0;
    default:
        break;
    }
    if (csr < VS_RV64_CYCLE || csr > VS_RV64_HPMCOUNTER31)
        return VS_STOP_ILLEGAL;
    *counted = true;
    return stop_of(memory->ops->outside(memory, &hart->cpu, csr - VS_RV64_CYCLE, 8, value),
                   VS_STOP_ILLEGAL);
}

static bool is_writable(unsigned csr)
{
    return csr >= VS_RV64_FFLAGS && csr <= VS_RV64_FCSR;
}

static void write_csr(struct vs_hart *hart, unsigned csr, uint64_t value)
{
    if (csr == VS_RV64_FFLAGS)
        hart->fcsr = (uint32_t)((hart->fcsr & ~UINT32_C(31)) | (value & 31));
    else if (csr == VS_RV64_FRM)
        hart->fcsr = (uint32_t)((hart->fcsr & 31) | (value & 7) << 5);
    else
        hart->fcsr = value & 255;
}

/* Returns what a csr instruction writes, given what it read. */
static uint64_t csr_result(unsigned op, uint64_t old, uint64_t operand)
{
    switch (op) {
    case VS_RV64_CSRRS:
    case VS_RV64_CSRRSI:
        return old | operand;
    case VS_RV64_CSRRC:
    case VS_RV64_CSRRCI:
        return old & ~operand;
    default:
        return operand;
    }
}

/* Executes a csr instruction. Sets *counted to whether *got came from the memory. */
static int access_csr(struct vs_hart *hart, struct vs_cpu_memory *memory, const struct vs_op *op,
                      bool *counted, uint64_t *got)
{
    const unsigned csr = (unsigned)op->imm >> 5, number = (unsigned)op->imm & 31;
    const bool immediate = op->op >= VS_RV64_CSRRWI;
    const bool replaces = op->op == VS_RV64_CSRRW || op->op == VS_RV64_CSRRWI;
    const bool writes = replaces || (immediate ? number != 0 : op->rs1 != 0);
    uint64_t operand = immediate ? number : hart->regs[op->rs1];
    int stop = 0;
    *got = 0;
    vs_fp_collect(hart);
    if (writes && !is_writable(csr))
        stop = VS_STOP_ILLEGAL;
    else if (!replaces || op->rd != VS_REG_SINK)
        stop = read_csr(hart, memory, csr, counted, got);
    if (!stop) {
        if (writes)
            write_csr(hart, csr, csr_result(op->op, *got, operand));
        hart->regs[op->rd] = *got;
    }
    vs_fp_resume();
    return stop;
}

_Static_assert((int)VS_RV64_TIME - VS_RV64_CYCLE == VS_COUNTER_TIME &&
                   (int)VS_RV64_INSTRET - VS_RV64_CYCLE == VS_COUNTER_RETIRED,
               "counters are numbered alike");

/* ---- running --------------------------------------------------------------------------------- */

static int run_plainly(struct vs_cpu *cpu, uint64_t most);
static int run_observed(struct vs_cpu *cpu, uint64_t most, struct vs_cpu_log *log);
static int run_simply(struct vs_cpu *cpu, uint64_t most, struct vs_cpu_log *log);

_Static_assert(offsetof(struct vs_op, op) == 0 && offsetof(struct vs_cpu_record, op) == 24 &&
                   offsetof(struct vs_op, rd) + 24 == offsetof(struct vs_cpu_record, rd) &&
                   offsetof(struct vs_op, rs3) + 24 == offsetof(struct vs_cpu_record, rs3) &&
                   offsetof(struct vs_op, kind) + 24 == offsetof(struct vs_cpu_record, kind) &&
                   offsetof(struct vs_op, length) + 24 == offsetof(struct vs_cpu_record, size),
               "the head of an op is the end of a record");

_Static_assert(2 * VS_BLOCK_MAX + 1 <= VS_CPU_LOG_MIN, "an empty log takes any block");

/* Begins a record without an operand; an rd of VS_REG_SINK becomes x0. */
static inline void note(struct vs_cpu_record *record, const struct vs_op *op, uint64_t pc)
{
    uint64_t head;
    memcpy(&head, op, sizeof(head));
    head &= ~((uint64_t)VS_REG_SINK << 16 | UINT64_C(0xff) << 56);
    record->pc = pc;
    record->addr = record->value = 0;
    memcpy((uint8_t *)record + offsetof(struct vs_cpu_record, op), &head, sizeof(head));
}

#define RUN      run_plainly
#define OBSERVED 0
#define SIMPLE   0
#include "isa/rv64/iss_execute.h"
#undef RUN
#undef OBSERVED
#undef SIMPLE

#define RUN      run_observed
#define OBSERVED 1
#define SIMPLE   0
#include "isa/rv64/iss_execute.h"
#undef RUN
#undef SIMPLE

#define RUN    run_simply
#define SIMPLE 1
#include "isa/rv64/iss_execute.h"
#undef RUN
#undef OBSERVED
#undef SIMPLE

/* Any instruction is as good a place to pause as another. */
int vs_rv64_run(struct vs_cpu *cpu, uint64_t most)
{
    return run_plainly(cpu, cpu->pause_after && most > cpu->pause_after ? cpu->pause_after : most);
}

int vs_rv64_run_observed(struct vs_cpu *cpu, uint64_t most, struct vs_cpu_log *log)
{
    return cpu->memory->simple ? run_simply(cpu, most, log) : run_observed(cpu, most, log);
}
