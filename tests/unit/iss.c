/* SPDX-License-Identifier: MIT */
#include "isa/rv64/iss.h"

#include "isa/ram.h"

#include <inttypes.h>
#include <xmmintrin.h>

#include "rvstream.h"

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x20000)
#define HOLE UINT64_C(0x40000)

enum { ECALL = 0x00000073, EBREAK = 0x00100073 };

/* Two harts that share two pages of code and two of data. */
struct machine {
    struct vs_ram memory;
    struct vs_cpu_code *code;
    struct vs_hart harts[2];
};

static void init(struct machine *m)
{
    vs_ram_init(&m->memory);
    m->code = vs_rv64_cpu.code_new();
    CHECK(m->code);
    CHECK_EQ(vs_ram_map(&m->memory, CODE, 0x2000, VS_MAP_READ | VS_MAP_WRITE | VS_MAP_EXEC), 0);
    CHECK_EQ(vs_ram_map(&m->memory, DATA, 0x2000, VS_MAP_READ | VS_MAP_WRITE), 0);
    for (unsigned i = 0; i < 2; i++) {
        vs_rv64_cpu.init(&m->harts[i].cpu, i, m->code, &m->memory.seen);
        CHECK_EQ(vs_ram_attach(&m->memory, &m->harts[i].cpu), 0);
        m->harts[i].cpu.pc = CODE;
        m->harts[i].x[2] = DATA;
    }
}

static void fini(struct machine *m)
{
    vs_cpu_code_free(m->code);
    vs_ram_fini(&m->memory);
}

static void put_code(struct machine *m, uint64_t at, const uint32_t *words, size_t count)
{
    CHECK_EQ(vs_ram_put(&m->memory, at, words, count * 4), 0);
}

#define PUT(m, at, ...)                                                                            \
    put_code(m, at, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static int run(struct machine *m, unsigned hart, uint64_t most)
{
    return vs_cpu_run(&m->harts[hart].cpu, most);
}

static uint32_t rrr(unsigned op, unsigned rd, unsigned rs1, unsigned rs2)
{
    return rv_match(op) | rd << 7 | rs1 << 15 | rs2 << 20;
}

static uint64_t data(struct machine *m, uint64_t at)
{
    uint64_t v;
    CHECK_EQ(vs_ram_get(&m->memory, at, &v, 8), 0);
    return v;
}

/* ---- single instructions --------------------------------------------------------------------- */

/* x10 after one instruction on x11 and x12. */
static uint64_t compute(unsigned op, uint64_t a, uint64_t b)
{
    static struct machine m;
    init(&m);
    m.harts[0].x[11] = a;
    m.harts[0].x[12] = b;
    uint32_t operands =
        vs_rv64_row(op)->format == VS_RV64_FORMAT_R1 ? 11u << 15 : 11u << 15 | 12u << 20;
    PUT(&m, CODE, rv_match(op) | 10u << 7 | operands, ECALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    uint64_t result = m.harts[0].x[10];
    fini(&m);
    return result;
}

TEST(divides_without_traps)
{
    const uint64_t min64 = UINT64_C(1) << 63, min32 = UINT64_C(0xffffffff80000000);
    CHECK_EQ(compute(VS_RV64_DIV, min64, UINT64_MAX), min64);
    CHECK_EQ(compute(VS_RV64_REM, min64, UINT64_MAX), 0);
    CHECK_EQ(compute(VS_RV64_DIV, 7, 0), UINT64_MAX);
    CHECK_EQ(compute(VS_RV64_REM, 7, 0), 7);
    CHECK_EQ(compute(VS_RV64_DIVU, 7, 0), UINT64_MAX);
    CHECK_EQ(compute(VS_RV64_REMU, 7, 0), 7);
    CHECK_EQ(compute(VS_RV64_DIVW, min32, UINT64_MAX), min32);
    CHECK_EQ(compute(VS_RV64_REMW, min32, UINT64_MAX), 0);
    CHECK_EQ(compute(VS_RV64_DIVUW, 0xffffffff00000005, 0x100000000), UINT64_MAX);
    CHECK_EQ(compute(VS_RV64_REMUW, 0x80000000, 0x100000000), min32);
    CHECK_EQ(compute(VS_RV64_DIV, (uint64_t)-7, 2), (uint64_t)-3);
    CHECK_EQ(compute(VS_RV64_REM, (uint64_t)-7, 2), UINT64_MAX);
}

TEST(counts_zeros_of_zero)
{
    CHECK_EQ(compute(VS_RV64_CLZ, 0, 0), 64);
    CHECK_EQ(compute(VS_RV64_CTZ, 0, 0), 64);
    CHECK_EQ(compute(VS_RV64_CLZW, UINT64_C(1) << 40, 0), 32);
    CHECK_EQ(compute(VS_RV64_CTZW, UINT64_C(1) << 40, 0), 32);
}

TEST(multiplies_to_the_upper_half)
{
    CHECK_EQ(compute(VS_RV64_MULH, UINT64_MAX, UINT64_MAX), 0);
    CHECK_EQ(compute(VS_RV64_MULHU, UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    CHECK_EQ(compute(VS_RV64_MULHSU, UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

TEST(keeps_x0_zero)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rv_i(VS_RV64_ADDI, 0, 0, 5), rv_i(VS_RV64_LD, 0, 2, 0),
        rv_i(VS_RV64_ADDI, 10, 0, 1), ECALL);
    CHECK_EQ(vs_ram_put(&m.memory, DATA, "xxxxxxxx", 8), 0);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(m.harts[0].x[0], 0);
    CHECK_EQ(m.harts[0].x[10], 1);
    fini(&m);
}

TEST(takes_what_is_not_boxed_for_a_nan)
{
    static struct machine m;
    init(&m);
    m.harts[0].f[1] = UINT64_C(0x3f800000); /* 1, but not boxed */
    PUT(&m, CODE, rrr(VS_RV64_FADD_S, 2, 1, 1), rrr(VS_RV64_FMV_X_W, 10, 1, 0),
        rrr(VS_RV64_FCLASS_S, 11, 1, 0), ECALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(m.harts[0].f[2], UINT64_C(0xffffffff7fc00000));
    CHECK_EQ(m.harts[0].x[10], 0x3f800000);
    CHECK_EQ(m.harts[0].x[11], 1 << 9);
    fini(&m);
}

/* ---- limits ---------------------------------------------------------------------------------- */

TEST(stops_exactly_at_the_limit)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rv_i(VS_RV64_ADDI, 10, 10, 1), rv_i(VS_RV64_ADDI, 10, 10, 1),
        rv_b(VS_RV64_BEQ, 0, 0, -8));
    CHECK_EQ(run(&m, 0, 0), VS_STOP_LIMIT);
    CHECK_EQ(m.harts[0].cpu.retired, 0);
    for (uint64_t i = 1; i < 100; i++) {
        uint64_t before = m.harts[0].cpu.retired, total = before + i;
        CHECK_EQ(run(&m, 0, i), VS_STOP_LIMIT);
        CHECK_EQ(m.harts[0].cpu.retired, total);
        CHECK_EQ(m.harts[0].cpu.pc, CODE + 4 * (total % 3));
        CHECK_EQ(m.harts[0].x[10], total - total / 3);
    }
    fini(&m);
}

TEST(does_not_fetch_beyond_the_limit)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rv_j(0, (int)(HOLE - CODE)));
    CHECK_EQ(run(&m, 0, 1), VS_STOP_LIMIT);
    CHECK_EQ(m.harts[0].cpu.pc, HOLE);
    CHECK_EQ(run(&m, 0, 1), VS_STOP_FETCH_FAULT);
    CHECK_EQ(m.harts[0].cpu.fault, HOLE);
    fini(&m);
}

/* ---- traps ----------------------------------------------------------------------------------- */

/* After two instructions that retire, the third stops so, with that tval. */
static void traps(uint32_t word, int want, uint64_t tval)
{
    static struct machine m;
    struct vs_cpu_record records[VS_CPU_LOG_MIN];
    for (int observed = 0; observed < 2; observed++) {
        struct vs_cpu_log log = {records, VS_CPU_LOG_MIN, 0};
        init(&m);
        struct vs_hart *h = &m.harts[0];
        h->x[11] = HOLE;
        h->x[12] = DATA + 1;
        PUT(&m, CODE, rv_i(VS_RV64_ADDI, 10, 0, 1), rv_i(VS_RV64_ADDI, 10, 10, 1), word,
            rv_i(VS_RV64_ADDI, 10, 10, 1), ECALL);
        int stop = observed ? vs_cpu_run_observed(&h->cpu, 1000, &log) : vs_cpu_run(&h->cpu, 1000);
        if (stop != want || h->cpu.fault != tval)
            unittest_fail(__FILE__, __LINE__, "%08x: stop %d, tval %#" PRIx64, word, stop,
                          h->cpu.fault);
        CHECK_EQ(h->cpu.pc, CODE + 8);
        CHECK_EQ(h->cpu.retired, 2);
        CHECK_EQ(h->x[10], 2);
        CHECK_EQ(log.count, observed ? 2 : 0);
        fini(&m);
    }
}

TEST(stops_before_an_instruction_that_traps)
{
    traps(EBREAK, VS_STOP_TRAP, CODE + 8);
    traps(0x00000000, VS_STOP_ILLEGAL, 0);
    traps(0xffffffff, VS_STOP_ILLEGAL, 0xffffffff);
    traps(0xc0001073, VS_STOP_ILLEGAL, 0xc0001073);
    traps(rv_i(VS_RV64_CSRRS, 10, 0, 0x300), VS_STOP_ILLEGAL, rv_i(VS_RV64_CSRRS, 10, 0, 0x300));
    traps(rv_i(VS_RV64_CSRRS, 10, 0, 0xc03), VS_STOP_ILLEGAL, rv_i(VS_RV64_CSRRS, 10, 0, 0xc03));
    traps(rrr(VS_RV64_FADD_D, 1, 1, 1) | 5 << 12, VS_STOP_ILLEGAL,
          rrr(VS_RV64_FADD_D, 1, 1, 1) | 5 << 12);
    traps(rv_i(VS_RV64_LD, 10, 11, 8), VS_STOP_LOAD_FAULT, HOLE + 8);
    traps(rv_i(VS_RV64_FLW, 10, 11, 8), VS_STOP_LOAD_FAULT, HOLE + 8);
    traps(rv_s(VS_RV64_SB, 10, 11, 1), VS_STOP_STORE_FAULT, HOLE + 1);
    traps(rrr(VS_RV64_AMOADD_D, 10, 11, 10), VS_STOP_STORE_FAULT, HOLE);
    traps(rrr(VS_RV64_AMOADD_W, 10, 12, 10), VS_STOP_STORE_ALIGN, DATA + 1);
    traps(rrr(VS_RV64_LR_W, 10, 12, 0), VS_STOP_LOAD_ALIGN, DATA + 1);
    traps(rrr(VS_RV64_SC_D, 10, 12, 10), VS_STOP_STORE_ALIGN, DATA + 1);
    traps(rrr(VS_RV64_LR_D, 10, 11, 0), VS_STOP_LOAD_FAULT, HOLE);
    traps(rrr(VS_RV64_SC_D, 10, 11, 10), VS_STOP_STORE_FAULT, HOLE);
}

TEST(refuses_a_dynamic_rounding_mode_that_is_none)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rrr(VS_RV64_FADD_D, 1, 1, 1) | 7 << 12, ECALL);
    m.harts[0].fcsr = 5 << 5;
    CHECK_EQ(run(&m, 0, 10), VS_STOP_ILLEGAL);
    m.harts[0].fcsr = 4 << 5;
    CHECK_EQ(run(&m, 0, 10), VS_STOP_CALL);
    fini(&m);
}

TEST(retires_an_ecall)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, ECALL);
    CHECK_EQ(run(&m, 0, 10), VS_STOP_CALL);
    CHECK_EQ(m.harts[0].cpu.pc, CODE + 4);
    CHECK_EQ(m.harts[0].cpu.retired, 1);
    fini(&m);
}

/* ---- memory ---------------------------------------------------------------------------------- */

TEST(accesses_across_pages)
{
    static struct machine m;
    init(&m);
    struct vs_hart *h = &m.harts[0];
    h->x[10] = UINT64_C(0x1122334455667788);
    h->x[2] = DATA + 0x1000;
    PUT(&m, CODE, rv_s(VS_RV64_SD, 10, 2, -3), rv_i(VS_RV64_LD, 11, 2, -3),
        rv_i(VS_RV64_LWU, 12, 2, -1), ECALL);
    CHECK_EQ(run(&m, 0, 10), VS_STOP_CALL);
    CHECK_EQ(h->x[11], h->x[10]);
    CHECK_EQ(h->x[12], 0x33445566);
    CHECK_EQ(data(&m, DATA + 0xffd), h->x[10]);
    fini(&m);
}

TEST(writes_nothing_when_half_of_a_store_faults)
{
    static struct machine m;
    init(&m);
    m.harts[0].x[10] = UINT64_MAX;
    m.harts[0].x[2] = DATA + 0x2000;
    PUT(&m, CODE, rv_s(VS_RV64_SD, 10, 2, -3), ECALL);
    CHECK_EQ(run(&m, 0, 10), VS_STOP_STORE_FAULT);
    CHECK_EQ(m.harts[0].cpu.fault, DATA + 0x2000);
    CHECK_EQ(data(&m, DATA + 0x1ff8), 0);
    fini(&m);
}

TEST(heeds_a_change_of_protection)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rv_s(VS_RV64_SD, 2, 2, 0), rv_i(VS_RV64_LD, 10, 2, 0), rv_j(0, -8));
    CHECK_EQ(run(&m, 0, 30), VS_STOP_LIMIT);
    CHECK_EQ(vs_ram_protect(&m.memory, DATA, 0x1000, VS_MAP_READ), 0);
    CHECK_EQ(run(&m, 0, 30), VS_STOP_STORE_FAULT);
    CHECK_EQ(vs_ram_protect(&m.memory, DATA, 0x1000, VS_MAP_READ | VS_MAP_WRITE), 0);
    CHECK_EQ(run(&m, 0, 30), VS_STOP_LIMIT);
    CHECK_EQ(vs_ram_unmap(&m.memory, DATA, 0x1000), 0);
    CHECK_EQ(run(&m, 0, 30), VS_STOP_STORE_FAULT);
    fini(&m);
}

TEST(finds_pages_after_others_are_unmapped)
{
    struct vs_ram m;
    uint64_t v;
    vs_ram_init(&m);
    CHECK_EQ(vs_ram_map(&m, 0, 4000 * VS_PAGE_SIZE, VS_MAP_READ), 0);
    for (uint64_t i = 0; i < 4000; i++)
        CHECK_EQ(vs_ram_put(&m, i * VS_PAGE_SIZE, &i, 8), 0);
    for (uint64_t i = 0; i < 4000; i += 3)
        CHECK_EQ(vs_ram_unmap(&m, i * VS_PAGE_SIZE, VS_PAGE_SIZE), 0);
    for (uint64_t i = 0; i < 4000; i++) {
        int err = vs_ram_get(&m, i * VS_PAGE_SIZE, &v, 8);
        CHECK_EQ(err, i % 3 ? 0 : -VSE_NOTFOUND);
        CHECK(err || v == i);
    }
    CHECK_ERR(vs_ram_map(&m, 1, VS_PAGE_SIZE, 0), VSE_INVAL);
    CHECK_ERR(vs_ram_map(&m, UINT64_MAX - 4095, VS_PAGE_SIZE, 0), VSE_INVAL);
    vs_ram_fini(&m);
}

/* ---- code that changes ----------------------------------------------------------------------- */

TEST(executes_code_that_was_just_stored)
{
    static struct machine m;
    init(&m);
    struct vs_hart *h = &m.harts[0];
    /* Twice: calls a routine, then changes it. */
    h->x[5] = CODE + 0x100;
    h->x[6] = rv_i(VS_RV64_ADDI, 10, 10, 100);
    PUT(&m, CODE, rv_i(VS_RV64_JALR, 1, 5, 0), rv_s(VS_RV64_SW, 6, 5, 0),
        rv_i(VS_RV64_JALR, 1, 5, 0), ECALL);
    PUT(&m, CODE + 0x100, rv_i(VS_RV64_ADDI, 10, 10, 1), rv_i(VS_RV64_JALR, 0, 1, 0));
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(h->x[10], 101);
    CHECK_EQ(h->cpu.retired, 8);
    fini(&m);
}

TEST(executes_code_in_a_page_that_was_data_until_then)
{
    static struct machine m;
    init(&m);
    struct vs_hart *h = &m.harts[0];
    /* Twice: stores an instruction and its return, and calls them. */
    h->x[5] = CODE + 0x1000;
    h->x[6] = rv_i(VS_RV64_ADDI, 10, 10, 1);
    h->x[7] = rv_i(VS_RV64_JALR, 0, 1, 0);
    h->x[8] = rv_i(VS_RV64_ADDI, 10, 10, 100);
    PUT(&m, CODE, rv_s(VS_RV64_SW, 6, 5, 0), rv_s(VS_RV64_SW, 7, 5, 4), rv_i(VS_RV64_JALR, 1, 5, 0),
        rv_s(VS_RV64_SW, 8, 5, 0), rv_i(VS_RV64_JALR, 1, 5, 0), ECALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(h->x[10], 101);
    fini(&m);
}

TEST(executes_code_that_changes_in_its_own_block)
{
    static struct machine m;
    init(&m);
    struct vs_hart *h = &m.harts[0];
    h->x[5] = CODE;
    h->x[6] = rv_i(VS_RV64_ADDI, 10, 10, 100);
    PUT(&m, CODE, rv_s(VS_RV64_SW, 6, 5, 8), rv_i(VS_RV64_ADDI, 11, 0, 1),
        rv_i(VS_RV64_ADDI, 10, 10, 1), ECALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(h->x[10], 100);
    CHECK_EQ(h->cpu.retired, 4);
    fini(&m);
}

TEST(forgets_code_at_a_fence)
{
    static struct machine m;
    uint32_t word = rv_i(VS_RV64_ADDI, 10, 10, 100);
    init(&m);
    PUT(&m, CODE, rv_i(VS_RV64_ADDI, 10, 10, 1), 0x0000100f, rv_j(0, -8));
    CHECK_EQ(run(&m, 0, 2), VS_STOP_LIMIT);
    CHECK_EQ(vs_ram_put(&m.memory, CODE, &word, 4), 0);
    CHECK_EQ(run(&m, 0, 2), VS_STOP_LIMIT);
    CHECK_EQ(m.harts[0].x[10], 101);
    fini(&m);
}

/* ---- reservations ---------------------------------------------------------------------------- */

/* Hart 0 reserves at DATA, hart 1 executes `other`, hart 0 stores conditionally: its outcome. */
static uint64_t sc_outcome(uint32_t other, uint64_t other_address, bool warm)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rrr(VS_RV64_LR_D, 10, 2, 0), rrr(VS_RV64_SC_D, 10, 2, 2), ECALL);
    PUT(&m, CODE + 0x100, other, other, ECALL);
    m.harts[1].cpu.pc = CODE + 0x100;
    m.harts[1].x[2] = other_address;
    /* Once before, so that the second hart knows the page. */
    if (warm)
        CHECK_EQ(run(&m, 1, 1), VS_STOP_LIMIT);
    CHECK_EQ(run(&m, 0, 1), VS_STOP_LIMIT);
    CHECK_EQ(run(&m, 1, 100), VS_STOP_CALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    uint64_t outcome = m.harts[0].x[10];
    CHECK_EQ(data(&m, DATA) == DATA, outcome == 0);
    fini(&m);
    return outcome;
}

TEST(loses_a_reservation_to_another_harts_store)
{
    for (int warm = 0; warm < 2; warm++) {
        CHECK_EQ(sc_outcome(rv_s(VS_RV64_SB, 0, 2, 7), DATA, warm), 1);
        CHECK_EQ(sc_outcome(rv_s(VS_RV64_SD, 0, 2, 0), DATA + 56, warm), 1);
        CHECK_EQ(sc_outcome(rrr(VS_RV64_AMOADD_D, 0, 2, 0), DATA, warm), 1);
        CHECK_EQ(sc_outcome(rv_s(VS_RV64_SD, 0, 2, 0), DATA + 64, warm), 0);
        CHECK_EQ(sc_outcome(rv_s(VS_RV64_SD, 0, 2, 0), DATA + 0x1000, warm), 0);
        CHECK_EQ(sc_outcome(rv_i(VS_RV64_LD, 9, 2, 0), DATA, warm), 0);
        CHECK_EQ(sc_outcome(rrr(VS_RV64_LR_D, 9, 2, 0), DATA, warm), 0);
    }
}

TEST(needs_a_reservation_to_store_conditionally)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rrr(VS_RV64_SC_D, 10, 2, 2), rrr(VS_RV64_LR_D, 0, 2, 0),
        rrr(VS_RV64_SC_D, 11, 2, 2), rrr(VS_RV64_SC_D, 12, 2, 2), ECALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(m.harts[0].x[10], 1);
    CHECK_EQ(m.harts[0].x[11], 0);
    CHECK_EQ(m.harts[0].x[12], 1);
    fini(&m);
}

TEST(loses_a_reservation_to_the_owner)
{
    static struct machine m;
    init(&m);
    PUT(&m, CODE, rrr(VS_RV64_LR_D, 10, 2, 0), rrr(VS_RV64_SC_D, 10, 2, 2), ECALL);
    for (int way = 0; way < 2; way++) {
        m.harts[0].cpu.pc = CODE;
        CHECK_EQ(run(&m, 0, 1), VS_STOP_LIMIT);
        if (way == 0)
            vs_ram_break(&m.memory, &m.harts[0].cpu);
        else
            CHECK_EQ(vs_ram_put(&m.memory, DATA + 8, "x", 1), 0);
        CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
        CHECK_EQ(m.harts[0].x[10], 1);
    }
    fini(&m);
}

/* ---- counters and floating-point state ------------------------------------------------------- */

TEST(reads_counters_at_the_instruction)
{
    static struct machine m;
    init(&m);
    m.harts[0].cpu.retired = 1000;
    PUT(&m, CODE, rv_i(VS_RV64_ADDI, 0, 0, 0), rv_i(VS_RV64_CSRRS, 10, 0, VS_RV64_INSTRET),
        rv_i(VS_RV64_CSRRS, 11, 0, VS_RV64_INSTRET), ECALL);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(m.harts[0].x[10], 1001);
    CHECK_EQ(m.harts[0].x[11], 1002);
    CHECK_EQ(m.harts[0].cpu.retired, 1004);
    fini(&m);
}

TEST(signals_infinity_times_zero_even_with_a_nan_to_add)
{
    static struct machine m;
    for (unsigned rm = VS_RV64_RNE; rm <= VS_RV64_RTZ; rm++) {
        init(&m);
        m.harts[0].f[1] = UINT64_C(0x7ff0000000000000);
        m.harts[0].f[3] = UINT64_C(0x7ff8000000000000);
        PUT(&m, CODE, rrr(VS_RV64_FMADD_D, 4, 1, 2) | 3u << 27 | rm << 12, ECALL);
        CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
        CHECK_EQ(m.harts[0].f[4], VS_FP64_NAN);
        CHECK_EQ(m.harts[0].fcsr, VS_FP_NV);
        fini(&m);
    }
}

TEST(leaves_the_hosts_floating_point_state_alone)
{
    static struct machine m;
    init(&m);
    m.harts[0].f[1] = UINT64_C(0x3ff0000000000000);
    m.harts[0].f[2] = UINT64_C(0x4008000000000000);
    PUT(&m, CODE, rrr(VS_RV64_FDIV_D, 3, 1, 2), ECALL);
    const unsigned host = 0x1f80 | _MM_ROUND_UP | _MM_EXCEPT_OVERFLOW;
    _mm_setcsr(host);
    int stop = run(&m, 0, 100);
    CHECK_EQ(_mm_getcsr(), host);
    CHECK_EQ(stop, VS_STOP_CALL);
    CHECK_EQ(m.harts[0].f[3], UINT64_C(0x3fd5555555555555));
    CHECK_EQ(m.harts[0].fcsr, VS_FP_NX);
    fini(&m);
}

/* ---- a memory that sees everything ----------------------------------------------------------- */

/* Forwards to a memory, and does floating point of its own meanwhile. */
struct spy {
    struct vs_cpu_memory seen;
    struct vs_ram *memory;
    unsigned reads, writes;
    int refusal;          /* of reads, if not 0 */
    uint64_t pc, instret; /* of the last read */
    volatile double third;
};

static int spy_fetch(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                     size_t size)
{
    struct vs_cpu_memory *to = &((struct spy *)seen)->memory->seen;
    return to->ops->fetch(to, cpu, addr, bytes, size);
}

static int spy_read(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                    enum vs_access access, void *bytes)
{
    struct spy *spy = (struct spy *)seen;
    struct vs_cpu_memory *to = &spy->memory->seen;
    spy->third = 1 / (spy->third + 3);
    spy->reads++;
    spy->pc = cpu->pc;
    spy->instret = cpu->retired;
    return spy->refusal ? spy->refusal : to->ops->read(to, cpu, addr, size, access, bytes);
}

static int spy_write(struct vs_cpu_memory *seen, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                     enum vs_access access, const void *bytes)
{
    struct spy *spy = (struct spy *)seen;
    struct vs_cpu_memory *to = &spy->memory->seen;
    spy->writes++;
    return to->ops->write(to, cpu, addr, size, access, bytes);
}

static const struct vs_cpu_memory_ops spy_ops = {
    .fetch = spy_fetch, .read = spy_read, .write = spy_write};

TEST(shows_a_memory_every_access_and_keeps_its_arithmetic_apart)
{
    static struct machine m;
    init(&m);
    struct spy spy = {.seen.ops = &spy_ops, .memory = &m.memory};
    PUT(&m, CODE, rv_i(VS_RV64_LD, 10, 2, 0), rv_i(VS_RV64_LD, 10, 2, 0),
        rv_s(VS_RV64_SD, 10, 2, 0), rrr(VS_RV64_AMOADD_D, 10, 2, 0),
        rv_i(VS_RV64_CSRRS, 11, 0, VS_RV64_FCSR), ECALL);
    m.harts[0].cpu.memory = &spy.seen;
    CHECK_EQ(vs_cpu_run(&m.harts[0].cpu, 100), VS_STOP_CALL);
    CHECK_EQ(spy.reads, 3);
    CHECK_EQ(spy.writes, 2);
    CHECK_EQ(spy.pc, CODE + 12);
    CHECK_EQ(spy.instret, 3);
    CHECK_EQ(m.harts[0].x[11], 0);
    CHECK_EQ(m.harts[0].fcsr, 0);
    fini(&m);
}

TEST(returns_a_memorys_error_before_the_instruction)
{
    static struct machine m;
    init(&m);
    struct spy spy = {.seen.ops = &spy_ops, .memory = &m.memory, .refusal = -VSE_END};
    PUT(&m, CODE, rv_i(VS_RV64_ADDI, 10, 0, 1), rv_i(VS_RV64_LD, 10, 2, 0), ECALL);
    m.harts[0].cpu.memory = &spy.seen;
    CHECK_ERR(vs_cpu_run(&m.harts[0].cpu, 100), VSE_END);
    CHECK_EQ(m.harts[0].cpu.pc, CODE + 4);
    CHECK_EQ(m.harts[0].cpu.retired, 1);
    spy.refusal = 0;
    CHECK_EQ(vs_cpu_run(&m.harts[0].cpu, 100), VS_STOP_CALL);
    CHECK_EQ(m.harts[0].cpu.retired, 3);
    fini(&m);
}

/* ---- the log --------------------------------------------------------------------------------- */

static void is_record(const struct vs_cpu_record *r, uint64_t pc, unsigned kind, uint64_t addr,
                      unsigned size, uint64_t value)
{
    if (r->pc != pc || r->kind != kind || r->addr != addr || r->size != size || r->value != value)
        unittest_fail(__FILE__, __LINE__,
                      "pc %" PRIx64 " kind %u addr %" PRIx64 " size %u value %" PRIx64, r->pc,
                      r->kind, r->addr, r->size, r->value);
}

TEST(logs_what_each_instruction_did)
{
    static struct machine m;
    struct vs_cpu_record r[VS_CPU_LOG_MIN];
    struct vs_cpu_log log = {r, VS_CPU_LOG_MIN, 0};
    init(&m);
    m.harts[0].x[10] = (uint64_t)-2;
    m.harts[0].cpu.retired = 5;
    PUT(&m, CODE, rv_s(VS_RV64_SW, 10, 2, 4), rv_i(VS_RV64_LH, 11, 2, 4),
        rrr(VS_RV64_AMOADD_D, 12, 2, 10), rrr(VS_RV64_LR_W, 13, 2, 0), rrr(VS_RV64_SC_W, 14, 2, 10),
        rrr(VS_RV64_SC_W, 15, 2, 10), rv_i(VS_RV64_CSRRS, 16, 0, VS_RV64_CYCLE),
        rv_b(VS_RV64_BEQ, 10, 0, 64), 0x0001 | UINT32_C(0xa009) << 16 /* c.nop; c.j 2 */,
        rv_j(1, 8), ECALL, rv_i(VS_RV64_JALR, 0, 1, 0));
    CHECK_EQ(vs_cpu_run_observed(&m.harts[0].cpu, 100, &log), VS_STOP_CALL);
    CHECK_EQ(log.count, 14);
    is_record(&r[0], CODE, VS_RECORD_STORE, DATA + 4, 4, 0xfffffffe);
    is_record(&r[1], CODE + 4, VS_RECORD_LOAD, DATA + 4, 2, 0xfffe);
    is_record(&r[2], CODE + 8, VS_RECORD_AMO_LOAD, DATA, 8, UINT64_C(0xfffffffe00000000));
    is_record(&r[3], CODE + 8, VS_RECORD_AMO_STORE, DATA, 8, UINT64_C(0xfffffffdfffffffe));
    is_record(&r[4], CODE + 12, VS_RECORD_LR, DATA, 4, 0xfffffffe);
    is_record(&r[5], CODE + 16, VS_RECORD_SC | VS_RECORD_DONE, DATA, 4, 0xfffffffe);
    is_record(&r[6], CODE + 20, VS_RECORD_SC, DATA, 4, 0xfffffffe);
    is_record(&r[7], CODE + 24, VS_RECORD_COUNTER, 0, 0, 11);
    is_record(&r[8], CODE + 28, VS_RECORD_BRANCH, CODE + 28 + 64, 0, 0);
    is_record(&r[9], CODE + 32, VS_RECORD_SHORT, 0, 0, 0);
    is_record(&r[10], CODE + 34, VS_RECORD_BRANCH | VS_RECORD_DONE | VS_RECORD_SHORT, CODE + 36, 0,
              0);
    is_record(&r[11], CODE + 36, VS_RECORD_BRANCH | VS_RECORD_DONE, CODE + 44, 0, 0);
    is_record(&r[12], CODE + 44, VS_RECORD_BRANCH | VS_RECORD_DONE, CODE + 40, 0, 0);
    is_record(&r[13], CODE + 40, VS_RECORD_ECALL, 0, 0, 0);
    CHECK(r[1].op == VS_RV64_LH && r[1].rd == 11 && r[1].rs1 == 2);
    CHECK(r[12].op == VS_RV64_JALR && r[12].rd == 0 && r[12].rs1 == 1);
    fini(&m);
}

TEST(stops_when_the_log_is_full)
{
    static struct machine m;
    struct vs_cpu_record r[VS_CPU_LOG_MIN];
    struct vs_cpu_log log = {r, VS_CPU_LOG_MIN, 0};
    init(&m);
    PUT(&m, CODE, rv_i(VS_RV64_ADDI, 10, 10, 1), rv_j(0, -4));
    CHECK_EQ(vs_cpu_run_observed(&m.harts[0].cpu, UINT64_MAX, &log), VS_STOP_LOG);
    CHECK(log.count > 0 && log.count == m.harts[0].cpu.retired && log.count <= log.capacity);
    CHECK_EQ(vs_cpu_run_observed(&m.harts[0].cpu, UINT64_MAX, &log), VS_STOP_LOG);
    CHECK_EQ(log.count, m.harts[0].cpu.retired);
    fini(&m);
}

/* ---- stopping on purpose --------------------------------------------------------------------- */

enum { ADDI_A0 = 0x00150513 /* addi a0,a0,1 */, MARK_7 = 0x00007037 /* lui x0,7 */ };

TEST(stops_after_marks_only_if_wanted)
{
    static struct machine m;
    for (int wanted = 0; wanted < 2; wanted++) {
        init(&m);
        m.code->marks = wanted;
        PUT(&m, CODE, ADDI_A0, MARK_7, ADDI_A0, ECALL);
        if (wanted) {
            CHECK_EQ(run(&m, 0, 100), VS_STOP_MARK);
            CHECK_EQ(m.harts[0].cpu.pc, CODE + 8);
            CHECK_EQ(m.harts[0].cpu.retired, 2);
            CHECK_EQ(m.harts[0].cpu.fault, 7);
        }
        CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
        CHECK_EQ(m.harts[0].cpu.retired, 4);
        CHECK_EQ(m.harts[0].x[10], 2);
        fini(&m);
    }
}

TEST(stops_at_addresses_until_it_may_pass)
{
    static struct machine m;
    const uint64_t breaks[] = {CODE, CODE + 8, CODE + 12};
    struct vs_hart *h = &m.harts[0];
    init(&m);
    m.code->breaks = breaks;
    m.code->break_count = 3;
    PUT(&m, CODE, ADDI_A0, ADDI_A0, ADDI_A0, ADDI_A0, ECALL);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(run(&m, 0, 100), VS_STOP_BREAK);
        CHECK_EQ(run(&m, 0, 100), VS_STOP_BREAK);
        CHECK_EQ(h->cpu.pc, breaks[i]);
        CHECK_EQ(h->cpu.retired, (breaks[i] - CODE) / 4);
        h->cpu.passing = h->cpu.pc;
    }
    CHECK_EQ(run(&m, 0, 1), VS_STOP_LIMIT);
    CHECK_EQ(run(&m, 0, 100), VS_STOP_CALL);
    CHECK_EQ(h->x[10], 4);
    CHECK_EQ(h->cpu.retired, 5);
    fini(&m);
}

struct decodings {
    unsigned count;
    uint64_t bytes;
    const struct vs_cpu_log *log;
    size_t logged;
    int answer;
};

static int note_decoding(void *context, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                         unsigned insns)
{
    struct decodings *d = context;
    CHECK_EQ(cpu->pc, addr);
    CHECK_EQ(4 * insns, size);
    d->count++;
    d->bytes += size;
    d->logged = d->log->count;
    return d->answer;
}

TEST(tells_what_it_decodes)
{
    static struct machine m;
    struct vs_cpu_record records[VS_CPU_LOG_MIN];
    struct vs_cpu_log log = {.records = records, .capacity = VS_CPU_LOG_MIN};
    struct decodings d = {.log = &log};
    init(&m);
    m.code->decoded = note_decoding;
    m.code->context = &d;
    PUT(&m, CODE, ADDI_A0, ADDI_A0, 0x0040006f /* j .+4 */, ADDI_A0, ECALL);
    CHECK_EQ(vs_cpu_run_observed(&m.harts[0].cpu, 100, &log), VS_STOP_CALL);
    CHECK_EQ(d.count, 2);
    CHECK_EQ(d.bytes, 20);
    CHECK_EQ(d.logged, 3);
    vs_cpu_flush_all(m.code);
    d.answer = -VSE_LIMIT;
    m.harts[0].cpu.pc = CODE;
    CHECK_EQ(run(&m, 0, 100), -VSE_LIMIT);
    fini(&m);
}

/* ---- two machines ---------------------------------------------------------------------------- */

TEST(runs_machines_side_by_side)
{
    static struct machine a, b;
    init(&a);
    init(&b);
    PUT(&a, CODE, rv_i(VS_RV64_ADDI, 10, 10, 1), rv_j(0, -4));
    PUT(&b, CODE, rv_i(VS_RV64_ADDI, 10, 10, 2), rv_j(0, -4));
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(run(&a, i & 1, 10), VS_STOP_LIMIT);
        CHECK_EQ(run(&b, i & 1, 10), VS_STOP_LIMIT);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(a.harts[i].x[10], 250);
        CHECK_EQ(b.harts[i].x[10], 500);
    }
    fini(&a);
    fini(&b);
}

/* ---- any code, in all ways to run it --------------------------------------------------------- */

enum way { WHOLE, SLICES, OBSERVED, BY_THE_MEMORY };

/* Operations that are executed as one if they follow each other. */
static const uint8_t pairs[][2] = {
#define PAIR(first, second) {VS_RV64_##first, VS_RV64_##second},
    VS_RV64_PAIRS(PAIR)
#undef PAIR
};

/* Words of any kind: most are instructions, some of them with addresses that exist; a quarter are
 * the first half of a pair, which its second half follows. */
static void put_any_code(struct machine *m, struct rng *r)
{
    const uint8_t *pair = NULL;
    for (uint64_t at = CODE; at < CODE + 0x1000; at += 4) {
        uint32_t word = (uint32_t)rng_next(r);
        unsigned op = (unsigned)rng_below(r, VS_RV64_OPS);
        bool second = pair;
        if (second)
            op = pair[1];
        pair = !second && !rng_below(r, 3) ? pairs[rng_below(r, sizeof(pairs) / sizeof(pairs[0]))]
                                           : NULL;
        if (pair)
            op = pair[0];
        if (second || pair || rng_below(r, 8)) {
            const struct vs_rv64_row *row = vs_rv64_row(op);
            word = (word & ~row->mask) | row->match;
            if (row->class >= VS_RV64_CLASS_LOAD && row->class <= VS_RV64_CLASS_AMO)
                word = (word & ~UINT32_C(0xf8000)) | 2 << 15;
            if (row->class == VS_RV64_CLASS_BRANCH)
                word &= ~UINT32_C(0xe0000080);
        }
        PUT(m, at, word);
    }
}

static int run_way(struct machine *m, enum way way, struct rng *r, uint64_t most)
{
    static struct vs_cpu_record records[200];
    struct vs_cpu_log log = {records, 200, 0};
    struct vs_hart *h = &m->harts[0];
    struct vs_cpu_memory_ops ops = *m->memory.seen.ops;
    struct vs_cpu_memory *seen = &m->memory.seen;
    uint64_t end = h->cpu.retired + most;
    int stop;
    if (way == BY_THE_MEMORY) {
        const struct vs_cpu_memory_ops *before = seen->ops;
        ops.page = NULL;
        seen->ops = &ops;
        stop = vs_cpu_run(&h->cpu, most);
        seen->ops = before;
        return stop;
    }
    do {
        uint64_t slice = way == SLICES ? 1 + rng_below(r, 5) : end - h->cpu.retired;
        slice = slice < end - h->cpu.retired ? slice : end - h->cpu.retired;
        log.count = 0;
        stop = way == OBSERVED ? vs_cpu_run_observed(&h->cpu, slice, &log)
                               : vs_cpu_run(&h->cpu, slice);
    } while ((stop == VS_STOP_LIMIT || stop == VS_STOP_LOG) && h->cpu.retired < end);
    return stop;
}

/* Runs on after traps; a digest of all that happened. */
static uint64_t run_any(struct machine *m, enum way way, uint64_t seed)
{
    struct rng r = rng_init(seed), slices = rng_init(seed);
    struct vs_hart *h = &m->harts[0];
    uint64_t digest = 0;
    init(m);
    put_any_code(m, &r);
    for (unsigned i = 1; i < 32; i++) {
        h->x[i] = rng_below(&r, 2) ? rv_operand(&r) : DATA + rng_below(&r, 0x2000);
        h->f[i] = rv_operand(&r);
    }
    h->x[2] = DATA + 0x1000;
    for (unsigned i = 0; i < 300; i++) {
        int stop = run_way(m, way, &slices, 50);
        uint64_t parts[] = {(uint64_t)stop, h->cpu.pc, h->cpu.retired, h->fcsr,
                            stop > VS_STOP_CALL ? h->cpu.fault : 0};
        for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
            digest = (digest ^ parts[p]) * UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned reg = 0; reg < 32; reg++)
            digest = (digest ^ h->x[reg] ^ h->f[reg] << 1) * UINT64_C(0x9e3779b97f4a7c15);
        h->fcsr &= 0x9f;
        h->x[2] = DATA + 0x1000;
        if (stop != VS_STOP_LIMIT)
            h->cpu.pc = CODE + rng_below(&r, 0x800) * 2;
    }
    for (uint64_t at = DATA; at < DATA + 0x2000; at += 8)
        digest = (digest ^ data(m, at)) * UINT64_C(0x9e3779b97f4a7c15);
    fini(m);
    return digest;
}

TEST(does_the_same_in_all_ways_to_run)
{
    static struct machine m;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t want = run_any(&m, WHOLE, seed);
        for (enum way way = SLICES; way <= BY_THE_MEMORY; way++)
            if (run_any(&m, way, seed) != want)
                unittest_fail(__FILE__, __LINE__, "seed %" PRIu64 ", way %d", seed, way);
    }
}
