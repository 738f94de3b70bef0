/* SPDX-License-Identifier: MIT */
/* Intel PT, packet by packet: bytes worked out by hand, and streams that only others write. */
#include "runs.h"
#include "study/flow_run.h"
#include "study/verify.h"

/* 1000 nop; 1001 jne 1000; 1003 call 1020; 1008 rep movsb; 100a syscall; 100c jmp *%rax;
 * 100e call 1013; 1013 jmp 1000          1020 ret */
static const uint8_t code[] = {0x90, 0x75, 0xfd, 0xe8, 0x18, 0x00, 0x00, 0x00, 0xf3, 0xa4, 0x0f,
                               0x05, 0xff, 0xe0, 0xe8, 0x00, 0x00, 0x00, 0x00, 0xeb, 0xeb};
static const uint8_t routine[] = {0xc3};
static const struct vs_block blocks[] = {{0x1000, code, sizeof(code), 8},
                                         {0x1020, routine, sizeof(routine), 1}};

/* clang-format off */
#define START(at) {.kind = VS_THREAD_START, .pc = at}
#define EXIT(n) {.kind = VS_THREAD_EXIT, .icount = n}
#define GAP(to, n) {.kind = VS_GAP, .pc = to, .icount = n}
#define JNE(taken, n) {.kind = VS_BRANCH, .pc = 0x1001, .addr = 0x1000, .size = 2, .icount = n,    \
        .flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0)}
#define CALL {.kind = VS_BRANCH, .pc = 0x1003, .addr = 0x1020, .size = 5, .icount = 1,             \
        .flags = VS_BR_CALL | VS_BR_TAKEN}
#define RET(to) {.kind = VS_BRANCH, .pc = 0x1020, .addr = to, .size = 1, .icount = 1,              \
        .flags = VS_BR_RETURN | VS_BR_INDIRECT | VS_BR_TAKEN}
#define IJUMP(to) {.kind = VS_BRANCH, .pc = 0x100c, .addr = to, .size = 2, .icount = 1,            \
        .flags = VS_BR_INDIRECT | VS_BR_TAKEN}
#define NEXT {.kind = VS_BRANCH, .pc = 0x100e, .addr = 0x1013, .size = 5, .icount = 1,             \
        .flags = VS_BR_CALL | VS_BR_TAKEN}
#define JUMP {.kind = VS_BRANCH, .pc = 0x1013, .addr = 0x1000, .size = 2, .icount = 1,             \
        .flags = VS_BR_TAKEN}
#define SYSTEM(n) {.kind = VS_SYSCALL, .pc = 0x100a, .size = sizeof(struct vs_syscall_head),       \
        .icount = n}
#define SIGNAL(at, n) {.kind = VS_EXCEPTION, .pc = at, .addr = 0x100a, .icount = n}
#define WITHIN(at, n) {.kind = VS_EXCEPTION, .pc = at, .addr = 0x100a, .icount = n,                \
        .size = sizeof(begun), .value = sizeof(struct vs_syscall_head)}
#define BACK(to) {.kind = VS_EXCEPTION_RET, .pc = 0x100a, .addr = to, .icount = 1}
/* clang-format on */

static const uint8_t begun[] = {
    VS_REG_ITERATIONS & 255, VS_REG_ITERATIONS >> 8, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0};

#define PSB                                                                                        \
    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82
#define BEGIN PSB, 0x02, 0x23, 0x99, 0x01

struct fixture {
    struct place place;
    struct vs_reader *reader;
    struct vs_verify v;
};

static void fixture_init(struct fixture *f, const struct vs_event *events, const uint64_t *cycles,
                         size_t count)
{
    uint8_t wide[sizeof(struct vs_syscall_head) + sizeof(begun)] = {0};
    const struct vs_batch b = {.events = events,
                               .cycles = cycles,
                               .count = count,
                               .wide = wide,
                               .wide_size = sizeof(wide)};
    const struct vs_writer_options options = {.inline_work = true,
                                              .features = cycles ? VS_RUN_TIMED : 0};
    struct vs_writer *w;
    memcpy(wide + sizeof(struct vs_syscall_head), begun, sizeof(begun));
    place_init(&f->place);
    CHECK_EQ(vs_writer_open(&w, "run.vest", &options, NULL), 0);
    CHECK_EQ(vs_writer_meta(w, "isa", "x86-64"), 0);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        CHECK_EQ(vs_writer_block(w, &blocks[i]), i);
    CHECK_EQ(vs_writer_put(w, &b), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    CHECK_EQ(vs_reader_open(&f->reader, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_verify_init(&f->v, f->reader, NULL), 0);
}

static void fixture_fini(struct fixture *f)
{
    vs_verify_fini(&f->v);
    vs_reader_close(f->reader);
    place_fini(&f->place);
}

/* The events make these bytes, which make the events. */
static void check_timed(const char *text, const uint64_t *cycles, const struct vs_event *events,
                        size_t count, const uint8_t *bytes, size_t size)
{
    struct fixture f;
    struct vs_technique_spec spec;
    struct vs_verify_result r = {0};
    struct vs_port_store out = {0};
    struct vs_diag diag = {0};
    fixture_init(&f, events, cycles, count);
    CHECK_EQ(vs_technique_parse(&spec, text, NULL), 0);
    CHECK_EQ(vs_verify_encode(&f.v, &spec, &out, NULL, NULL, &diag), (int64_t)(8 * size));
    CHECK_MEM(out.streams[0].data, bytes, size);
    CHECK_EQ(vs_verify_decode(&f.v, &spec, out.streams, &r, &diag), 0);
    if (r.outcome != VS_VERIFY_SAME)
        unittest_fail(__FILE__, __LINE__, "%s: %s", text, r.diag.text);
    for (size_t bit = 0; cycles && bit < 8 * size; bit++) { /* no bit changes unnoticed */
        struct vs_port_stream stream = {
            .data = out.streams[0].data, .size = size, .nbits = 8 * size};
        uint8_t *bad = malloc(size);
        CHECK(bad);
        memcpy(bad, bytes, size);
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        stream.data = bad;
        int err = vs_verify_decode(&f.v, &spec, &stream, &r, &diag);
        CHECK(err || r.outcome != VS_VERIFY_SAME);
        free(bad);
    }
    vs_port_store_fini(&out);
    fixture_fini(&f);
}

static void check(const char *text, const struct vs_event *events, size_t count,
                  const uint8_t *bytes, size_t size)
{
    check_timed(text, NULL, events, count, bytes, size);
}

#define EVENTS(...)                                                                                \
    (struct vs_event[]){__VA_ARGS__},                                                              \
        sizeof((struct vs_event[]){__VA_ARGS__}) / sizeof(struct vs_event)
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

TEST(puts_outcomes_before_targets)
{
    check("pt",
          EVENTS(START(0x1000), JNE(true, 2), JNE(true, 2), JNE(false, 2), CALL, RET(0x100c),
                 IJUMP(0x1000), EXIT(1)),
          /* PGE(1000) TNT(1 1 0) TIP(100c) TIP(1000) FUP(1001) PGD; the return is no call's */
          BYTES(BEGIN, 0x31, 0x00, 0x10, 0x1c, 0x2d, 0x0c, 0x10, 0x2d, 0x00, 0x10, 0x3d, 0x01, 0x10,
                0x01));
}

TEST(compresses_returns)
{
    check("pt", EVENTS(START(0x1000), JNE(false, 2), CALL, RET(0x1008), EXIT(1)),
          /* TNT(0 1) FUP(100a) PGD */
          BYTES(BEGIN, 0x31, 0x00, 0x10, 0x0a, 0x3d, 0x0a, 0x10, 0x01));
    check("pt:uncompressed", EVENTS(START(0x1000), JNE(false, 2), CALL, RET(0x1008), EXIT(0)),
          BYTES(BEGIN, 0x31, 0x00, 0x10, 0x04, 0x2d, 0x08, 0x10, 0x3d, 0x08, 0x10, 0x01));
}

/* A call to the next instruction only wants to know where it is. */
TEST(keeps_calls_to_the_next_instruction_off_the_stack)
{
    check("pt", EVENTS(START(0x100e), NEXT, JUMP, JNE(false, 2), CALL, RET(0x1008), EXIT(0)),
          BYTES(BEGIN, 0x31, 0x0e, 0x10, 0x0a, 0x3d, 0x08, 0x10, 0x01));
    check("pt", EVENTS(START(0x100e), NEXT, JUMP, EXIT(0)),
          BYTES(BEGIN, 0x31, 0x0e, 0x10, 0x3d, 0x00, 0x10, 0x01));
}

TEST(fills_outcomes)
{
    check("pt",
          EVENTS(START(0x1000), JNE(true, 2), JNE(true, 2), JNE(true, 2), JNE(true, 2),
                 JNE(true, 2), JNE(true, 2), JNE(false, 2), EXIT(0)),
          /* TNT(1 1 1 1 1 1) TNT(0) FUP(1003) PGD */
          BYTES(BEGIN, 0x31, 0x00, 0x10, 0xfe, 0x04, 0x3d, 0x03, 0x10, 0x01));
}

TEST(defers_targets)
{
    check("pt:deferred=2",
          EVENTS(START(0x100c), IJUMP(0x1000), JNE(true, 2), JNE(false, 2), EXIT(0)),
          /* TNT(1 0) TIP(1000) FUP(1003) PGD */
          BYTES(BEGIN, 0x31, 0x0c, 0x10, 0x0c, 0x2d, 0x00, 0x10, 0x3d, 0x03, 0x10, 0x01));
}

TEST(leaves_and_comes_back_at_system_calls)
{
    check("pt", EVENTS(START(0x100a), SYSTEM(1), IJUMP(0x100a), SYSTEM(1), EXIT(0)),
          /* PGD PGE(100c) TIP(100a) PGD: the thread does not go on */
          BYTES(BEGIN, 0x31, 0x0a, 0x10, 0x01, 0x31, 0x0c, 0x10, 0x2d, 0x0a, 0x10, 0x01));
}

TEST(tells_where_exceptions_come_from)
{
    check("pt", EVENTS(START(0x1000), SIGNAL(0x1001, 1), BACK(0x1001), JNE(true, 1), EXIT(0)),
          /* FUP(1001) TIP(100a) PGD PGE(1001) TNT(1) FUP(1000) PGD */
          BYTES(BEGIN, 0x31, 0x00, 0x10, 0x3d, 0x01, 0x10, 0x2d, 0x0a, 0x10, 0x01, 0x31, 0x01, 0x10,
                0x06, 0x3d, 0x00, 0x10, 0x01));
}

TEST(tells_of_instructions_that_had_begun)
{
    /* it was counted, and is not counted again */
    check("pt", EVENTS(START(0x1008), WITHIN(0x1008, 1), BACK(0x1008), SYSTEM(1), EXIT(0)),
          /* PAD FUP(1008) TIP(100a) PGD PGE(1008) PGD */
          BYTES(BEGIN, 0x31, 0x08, 0x10, 0x00, 0x3d, 0x08, 0x10, 0x2d, 0x0a, 0x10, 0x01, 0x31, 0x08,
                0x10, 0x01));
    /* it had not */
    check("pt", EVENTS(START(0x1008), SIGNAL(0x1008, 0), BACK(0x1008), SYSTEM(2), EXIT(0)),
          BYTES(BEGIN, 0x31, 0x08, 0x10, 0x3d, 0x08, 0x10, 0x2d, 0x0a, 0x10, 0x01, 0x31, 0x08, 0x10,
                0x01));
}

TEST(begins_anew_after_gaps)
{
    check("pt", EVENTS(START(0x1000), GAP(0x1001, 1), JNE(true, 1), EXIT(0)),
          BYTES(BEGIN, 0x31, 0x00, 0x10, 0x3d, 0x01, 0x10, 0x01, BEGIN, 0x31, 0x01, 0x10, 0x06,
                0x3d, 0x00, 0x10, 0x01));
    /* the PGD of a system call serves the gap, too */
    check("pt", EVENTS(START(0x100a), SYSTEM(1), GAP(0x1001, 0), JNE(true, 1), EXIT(0)),
          BYTES(BEGIN, 0x31, 0x0a, 0x10, 0x01, BEGIN, 0x31, 0x01, 0x10, 0x06, 0x3d, 0x00, 0x10,
                0x01));
}

/* ---- time ------------------------------------------------------------------------------------ */

#define START_AT_95 /* PSB TSC(95) TMA(9, 5) PSBEND MODE PGE(1000) */                              \
    PSB, 0x19, 95, 0, 0, 0, 0, 0, 0, 0x02, 0x73, 9, 0, 0, 5, 0, 0x02, 0x23, 0x99, 0x01, 0x31,      \
        0x00, 0x10
#define STOP_AT_1003 0x3d, 0x03, 0x10, 0x01

/* An MTC is due every 40 cycles. */
TEST(tells_when_a_clock_ticks)
{
    static const uint64_t cycles[] = {95, 100, 121, 205, 205};
    check_timed("pt:time=tsc,mtc=4,crystal=10", cycles,
                EVENTS(START(0x1000), JNE(true, 2), JNE(true, 2), JNE(false, 2), EXIT(0)),
                /* TNT(1) MTC(3) TNT(1) MTC(4) MTC(5) TNT(0) TSC(205) TMA(20, 5) */
                BYTES(START_AT_95, 0x06, 0x59, 3, 0x06, 0x59, 4, 0x59, 5, 0x04, 0x19, 205, 0, 0, 0,
                      0, 0, 0, 0x02, 0x73, 20, 0, 0, 5, 0, STOP_AT_1003));
}

TEST(tells_when_a_clock_ticks_beside_cycles)
{
    static const uint64_t cycles[] = {95, 100, 121, 205, 205};
    check_timed("pt:mtc=4,crystal=10", cycles,
                EVENTS(START(0x1000), JNE(true, 2), JNE(true, 2), JNE(false, 2), EXIT(0)),
                /* CYC(5) TNT(1) CYC(20) MTC(3) CYC(1) TNT(1) CYC(39) MTC(4) CYC(40) MTC(5) CYC(5)
                 * TNT(0) */
                BYTES(START_AT_95, 0x2b, 0x06, 0xa3, 0x59, 3, 0x0b, 0x06, 0x3f, 0x02, 0x59, 4, 0x47,
                      0x02, 0x59, 5, 0x2b, 0x04, STOP_AT_1003));
}

/* So many ticks would not be seen in 8 bits. */
TEST(tells_the_cycle_after_a_long_sleep)
{
    static const uint64_t cycles[] = {95, 120 + 40 * 255, 120 + 40 * 255};
    check_timed("pt:mtc=4,crystal=10", cycles, EVENTS(START(0x1000), JNE(false, 2), EXIT(0)),
                /* TSC(10320) TMA(1032, 0) CBR(10) TNT(0) */
                BYTES(START_AT_95, 0x19, 0x50, 0x28, 0, 0, 0, 0, 0, 0x02, 0x73, 0x08, 0x04, 0, 0, 0,
                      0x02, 0x03, 10, 0, 0x04, STOP_AT_1003));
}

/* ---- what others write ----------------------------------------------------------------------- */

static int import(const char *text, const uint8_t *bytes, size_t size,
                  struct vs_flow_run_result *result, struct vs_diag *diag)
{
    const struct vs_port_stream stream = {bytes, size, 8 * size};
    struct vs_technique_spec spec;
    struct vs_text all = {0};
    struct vs_writer *w;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        CHECK_EQ(vs_text_add(&all, &blocks[i]), 0);
    CHECK_EQ(vs_text_index(&all), 0);
    CHECK_EQ(vs_technique_parse(&spec, text, NULL), 0);
    vs_technique_settle(&spec, false);
    CHECK_EQ(vs_writer_open(&w, "made.vest",
                            &(struct vs_writer_options){.inline_work = true, .overwrite = true},
                            NULL),
             0);
    const struct vs_flow_run_config config = {.isa = vs_isa_find("x86-64"),
                                              .code = &all,
                                              .spec = &spec,
                                              .setup = {.cores = 1, .address_bits = 64},
                                              .streams = &stream,
                                              .writer = w,
                                              .limit = 10000};
    *diag = (struct vs_diag){0};
    int err = vs_flow_run_make(&config, result, diag);
    CHECK(!err || (diag->error == err && diag->text[0]));
    vs_writer_abort(w);
    vs_text_fini(&all);
    return err;
}

TEST(reads_what_only_others_write)
{
    /* PSB TSC CBR MODE FUP(1000, in 8 bytes) PSBEND, MTC, TNT(1), CYC, PAD, TNT(0), OVF,
     * FUP(1001), TNT(1) */
    static const uint8_t stream[] = {PSB,  0x19, 1,    2,    3,    4,    5,    6,    7,    0x02,
                                     0x03, 0x20, 0x00, 0x99, 0x01, 0xdd, 0x00, 0x10, 0,    0,
                                     0,    0,    0,    0,    0x02, 0x23, 0x59, 0x07, 0x06, 0x13,
                                     0x00, 0x04, 0x02, 0xf3, 0x3d, 0x01, 0x10, 0x06};
    struct vs_flow_run_result r;
    struct vs_diag diag;
    struct place place;
    place_init(&place);
    CHECK_EQ(import("pt:foreign", stream, sizeof(stream), &r, &diag), 0);
    CHECK_EQ(r.instructions, 5);
    CHECK_EQ(r.branches, 3);
    CHECK_EQ(r.gaps, 1);
    CHECK_EQ(r.threads, 1);
    CHECK_ERR(import("pt", stream, sizeof(stream), &r, &diag), VSE_CORRUPT);
    CHECK_EQ(diag.offset >= 16, true);
    place_fini(&place);
}

/* Every bit changed, and every length: either it is refused, or it is another run. */
TEST(survives_every_damage)
{
    static const uint8_t whole[] = {BEGIN, 0x31, 0x00, 0x10, 0x0c, 0x2d, 0x08, 0x10, 0x01, 0x31,
                                    0x0c,  0x10, 0x2d, 0x01, 0x10, 0x04, 0x3d, 0x03, 0x10, 0x2d,
                                    0x0a,  0x10, 0x01, 0x31, 0x03, 0x10, 0x3d, 0x03, 0x10, 0x01};
    struct vs_flow_run_result r;
    struct vs_diag diag;
    struct place place;
    unsigned refused = 0;
    place_init(&place);
    for (size_t size = 0; size < sizeof(whole); size++)
        for (unsigned any = 0; any < 2; any++) {
            uint8_t *part = malloc(size + 1);
            CHECK(part);
            memcpy(part, whole, size);
            int err = import(any ? "pt:foreign" : "pt", part, size, &r, &diag);
            CHECK(err == 0 || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
            free(part);
        }
    for (size_t bit = 0; bit < 8 * sizeof(whole); bit += unittest_every(3))
        for (unsigned any = 0; any < 2; any++) {
            uint8_t bad[sizeof(whole)];
            memcpy(bad, whole, sizeof(whole));
            bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int err = import(any ? "pt:foreign" : "pt", bad, sizeof(bad), &r, &diag);
            CHECK(err == 0 || err == -VSE_TRUNCATED || err == -VSE_CORRUPT || err == -VSE_LIMIT);
            refused += err != 0;
        }
    CHECK(refused > 100);
    place_fini(&place);
}
