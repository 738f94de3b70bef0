/* SPDX-License-Identifier: MIT */
/* What control-flow encoders put on the port, message by message, and how they are configured. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "rng.h"
#include "technique/address.h"
#include "unittest.h"

/* ---- an encoder and its stream --------------------------------------------------------------- */

struct module {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    struct vs_port_writer port;
    struct vs_address_code code;
    struct vs_buf out;
    void *encoder;
    uint64_t time;
};

/* For encoders that cannot do without code, where nothing is executed. */
static uint32_t no_version(const void *context, unsigned core, uint64_t instructions,
                           uint64_t *until)
{
    (void)context, (void)core, (void)instructions;
    *until = UINT64_MAX;
    return 0;
}

static size_t no_bytes(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                       size_t capacity)
{
    (void)context, (void)version, (void)pc, (void)bytes, (void)capacity;
    return 0;
}

static void start(struct module *m, const char *spec, unsigned cores, bool timed)
{
    struct vs_diag diag;
    *m = (struct module){.setup = {.cores = cores, .address_bits = 64, .timed = timed}};
    if (vs_technique_parse(&m->spec, spec, &diag) < 0)
        unittest_fail(__FILE__, __LINE__, "%s: %s", spec, diag.text);
    m->code = (struct vs_address_code){
        .isa = vs_isa_find("rv64"), .version = no_version, .fetch = no_bytes};
    vs_technique_settle(&m->spec, timed);
    vs_technique_shape(&m->spec, &m->setup, &m->shape);
    CHECK_EQ(vs_port_writer_init(&m->port, &m->shape, vs_port_to_buf, &m->out), 0);
    CHECK_EQ(m->spec.technique->encoder->open(
                 &m->encoder, &(struct vs_technique_context){.params = m->spec.params,
                                                             .setup = &m->setup,
                                                             .port = &m->port,
                                                             .code = &m->code}),
             0);
}

static struct vs_port_counts totals(const struct module *m)
{
    struct vs_port_counts sum;
    vs_port_totals(&m->port, &sum);
    return sum;
}

static struct vs_flow_counts flow(const struct module *m)
{
    struct vs_flow_counts counts;
    m->spec.technique->encoder->counts(m->encoder, &counts);
    return counts;
}

static void stop(struct module *m)
{
    m->spec.technique->encoder->close(m->encoder);
    vs_port_writer_fini(&m->port);
    vs_buf_fini(&m->out);
}

/* One step; returns the bits that it cost. */
static uint64_t feed(struct module *m, struct vs_step s)
{
    uint64_t before = vs_port_bits(&m->port);
    s.time = m->time;
    if (!s.icount && s.kind != VS_STEP_DISCONTINUITY)
        s.icount = 1;
    CHECK_EQ(m->spec.technique->encoder->consume(m->encoder,
                                                 &(struct vs_slice){.steps = &s, .step_count = 1}),
             0);
    return vs_port_bits(&m->port) - before;
}

static uint64_t conditional(struct module *m, uint64_t pc, bool taken)
{
    return feed(m, (struct vs_step){.kind = VS_STEP_CONDITIONAL,
                                    .pc = pc,
                                    .target = pc + 64,
                                    .size = 4,
                                    .flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0)});
}

static uint64_t branch_of(struct module *m, unsigned core, bool taken)
{
    return feed(m, (struct vs_step){.core = (uint16_t)core,
                                    .kind = VS_STEP_CONDITIONAL,
                                    .pc = 0x1000,
                                    .target = 0x2000,
                                    .size = 4,
                                    .flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0)});
}

static uint64_t call(struct module *m, uint64_t pc)
{
    return feed(m, (struct vs_step){.kind = VS_STEP_CALL,
                                    .pc = pc,
                                    .target = 0x5000,
                                    .size = 4,
                                    .flags = VS_BR_CALL | VS_BR_TAKEN});
}

static uint64_t indirect(struct module *m, uint64_t pc, uint64_t target, unsigned flags)
{
    return feed(m, (struct vs_step){.kind = VS_STEP_INDIRECT,
                                    .pc = pc,
                                    .target = target,
                                    .size = 4,
                                    .flags = (uint8_t)(VS_BR_INDIRECT | VS_BR_TAKEN | flags)});
}

static uint64_t elsewhere(struct module *m, unsigned core, uint64_t target, uint32_t icount)
{
    return feed(m, (struct vs_step){.kind = VS_STEP_DISCONTINUITY,
                                    .core = (uint16_t)core,
                                    .target = target,
                                    .icount = icount});
}

/* The stream from a bit on, the first bit first. */
static void check_bits(struct module *m, uint64_t from, const char *expected)
{
    struct vs_bitr r;
    int64_t bits = vs_port_finish(&m->port);
    CHECK(bits >= 0);
    CHECK_EQ(vs_bitr_init(&r, m->out.data, m->out.len, (uint64_t)bits), 0);
    r.pos = from;
    for (size_t i = 0; expected[i]; i++) {
        uint64_t bit;
        if (expected[i] == ' ')
            continue;
        CHECK_EQ(vs_bitr_get(&r, 1, &bit), 0);
        if (bit != (uint64_t)(expected[i] - '0'))
            unittest_fail(__FILE__, __LINE__, "bit %zu of '%s' is %d", i, expected, (int)bit);
    }
    CHECK_EQ(vs_bitr_left(&r), 0);
}

/* ---- mcfTRaptor ------------------------------------------------------------------------------ */

/* bCnt of every message in the stream from a bit on; only of conditional branches. */
static void check_bcnts(struct module *m, uint64_t from, struct vs_chunks code,
                        const uint64_t *expected, size_t count)
{
    struct vs_port_reader r;
    int64_t bits = vs_port_finish(&m->port);
    uint64_t bcnt;
    CHECK_EQ(vs_port_reader_init(&r, &m->shape,
                                 &(struct vs_port_stream){m->out.data, m->out.len, (uint64_t)bits}),
             0);
    r.bits.pos = from;
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(vs_port_next(&r, NULL, NULL), 0);
        CHECK_EQ(vs_port_get_chunks(&r, VS_FIELD_BCNT, code, &bcnt), 0);
        CHECK_EQ(bcnt, expected[i]);
    }
    CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_END);
    vs_port_reader_fini(&r);
}

/* Brings the history of a 256-entry gshare to a value whose lowest bit is 1. The branch is one
 * whose counters the cases do not use, and the last outcome is mispredicted, so that bCnt is 0. */
static uint64_t set_history(struct module *m, unsigned history, uint64_t pc)
{
    uint64_t cost = 0;
    for (int bit = 7; bit >= 0; bit--)
        cost = conditional(m, pc, history >> bit & 1);
    CHECK(cost > 0);
    return vs_port_bits(&m->port);
}

TEST(reports_a_loop_until_it_is_learnt)
{
    static const uint64_t expected[] = {1, 1, 1, 1, 1, 1, 15};
    struct module m;
    start(&m, "mcfTR_e:gshare=256", 1, false);
    uint64_t from = set_history(&m, 0x67, 0x8048ff0);
    for (unsigned i = 0; i < 20; i++)
        CHECK_EQ(conditional(&m, 0x8048440, true), i < 6 ? 5 : 0);
    CHECK_EQ(conditional(&m, 0x8048440, false), 5);
    check_bcnts(&m, from, (struct vs_chunks){4, 2}, expected, 7);
    stop(&m);
}

TEST(reports_branches_that_share_counters)
{
    static const struct {
        uint64_t pc;
        bool taken, reported;
    } steps[] = {{0x400480, true, true},  {0x400480, true, true},  {0x400480, true, true},
                 {0x400480, true, false}, {0x400480, false, true}, {0x400490, false, true},
                 {0x400490, false, false}};
    struct module m;
    start(&m, "mcfTR_b:gshare=256", 1, false);
    set_history(&m, 0x3f, 0x400f00);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        CHECK_EQ(conditional(&m, steps[i].pc, steps[i].taken), steps[i].reported ? 9 : 0);
    stop(&m);
}

TEST(reports_the_return_whose_call_it_did_not_see)
{
    struct module m;
    start(&m, "mcfTR_e:ras=8", 1, false);
    for (unsigned i = 0; i < 6; i++)
        CHECK_EQ(call(&m, 0x1000 + 0x100 * i), 0);
    for (unsigned i = 6; i > 0; i--)
        CHECK_EQ(indirect(&m, 0x6000, 0x1004 + 0x100 * (i - 1), VS_BR_RETURN), 0);
    /* bCnt 7: 5 bits; sign; 0x12 is 5 bits: chunks of 3 and 5 bits */
    CHECK_EQ(indirect(&m, 0x7000, 0x12, VS_BR_RETURN), 5 + 1 + 4 + 6);
    check_bits(&m, 0, "1110 0 0 010 1 01000 0");
    CHECK_EQ(flow(&m).returns, 7);
    CHECK_EQ(flow(&m).returns_reported, 1);
    stop(&m);
}

TEST(loses_the_outermost_of_nine_returns)
{
    struct module m;
    start(&m, "mcfTR_b:small", 1, false);
    for (unsigned i = 0; i < 9; i++)
        call(&m, 0x1000 + 0x100 * i);
    for (unsigned i = 9; i > 1; i--)
        CHECK_EQ(indirect(&m, 0x6000, 0x1004 + 0x100 * (i - 1), VS_BR_RETURN), 0);
    CHECK_EQ(indirect(&m, 0x6000, 0x1004, VS_BR_RETURN), 9 + 1 + 33);
    stop(&m);
}

#define WIDE "mcfTR_b:bcnt_bits=32,icnt_bits=32"

TEST(has_messages_of_the_published_sizes)
{
    static const struct {
        const char *spec;
        unsigned cores;
        uint64_t bcnt, bits;
    } cases[] = {{"mcfTR_e", 1, 1, 5},    {"mcfTR_e", 1, 15, 5},   {"mcfTR_e", 1, 16, 8},
                 {"mcfTR_e", 1, 64, 11},  {"mcfTR_e", 8, 1, 8},    {"mcfTR_b", 1, 255, 9},
                 {"mcfTR_b", 1, 256, 18}, {"mcfTR_b", 8, 255, 12}, {WIDE, 1, 65535, 18},
                 {WIDE, 1, 65536, 27},    {"tTMBP", 1, 7, 4},      {"sTMBP", 1, 8, 7},
                 {"bTMBP", 1, 40, 10}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct module m;
        start(&m, cases[i].spec, cases[i].cores, false);
        for (uint64_t k = 1; k < cases[i].bcnt; k++)
            CHECK_EQ(conditional(&m, 0x1000, false), 0);
        CHECK_EQ(conditional(&m, 0x1000, true), cases[i].bits);
        stop(&m);
    }
}

TEST(codes_counts_as_tmbp)
{
    struct module m;
    start(&m, "sTMBP", 1, false);
    for (unsigned i = 1; i < 9; i++)
        conditional(&m, 0x1000, false);
    CHECK_EQ(conditional(&m, 0x1000, true), 7);
    check_bits(&m, 0, "10 10010");
    stop(&m);
}

TEST(misses_without_a_target_buffer)
{
    struct module m;
    start(&m, "mcfTR_b:small", 1, false);
    for (unsigned i = 0; i < 10; i++)
        CHECK(indirect(&m, 0x1000, 0x2000, 0) > 0);
    CHECK_EQ(flow(&m).indirect_reported, 10);
    stop(&m);
    start(&m, "mcfTR_b:medium", 1, false);
    for (unsigned i = 0; i < 50; i++)
        indirect(&m, 0x1000, 0x2000, 0);
    CHECK(flow(&m).indirect_reported < 20);
    stop(&m);
}

static uint64_t reports_of_one_jump(const char *spec)
{
    struct module m;
    start(&m, spec, 1, false);
    for (unsigned k = 0; k < 100; k++)
        indirect(&m, 0x40049c, 0x2000, 0);
    uint64_t reported = flow(&m).indirect_reported;
    stop(&m);
    return reported;
}

/* Sets 9 9 8 12 30 23 19 3 3 3 ...; with tags, 01 48 6c fc bc bc bc bc bc bc ..., the second use
 * of set 9 misses too. */
TEST(counts_as_published_without_tags)
{
    CHECK_EQ(reports_of_one_jump("mcfTR_b:ibtb=64,ibtb_tags=untagged-oracle"), 7);
    CHECK_EQ(reports_of_one_jump("mcfTR_b:ibtb=64"), 8);
}

TEST(says_what_cannot_be_decoded)
{
    struct vs_technique_spec s;
    CHECK_EQ(vs_technique_parse(&s, "mcfTR_e:ibtb_tags=untagged-oracle", NULL), 0);
    CHECK(vs_technique_undecodable(&s));
    CHECK_EQ(vs_technique_parse(&s, "mcfTR_e:small,ibtb_tags=untagged-oracle", NULL), 0);
    CHECK(!vs_technique_undecodable(&s));
    CHECK_EQ(vs_technique_parse(&s, "mcfNX_b", NULL), 0);
    CHECK(!vs_technique_undecodable(&s));
}

TEST(keeps_upper_bits_of_targets_in_a_register)
{
    struct module m;
    uint64_t cost = 0;
    start(&m, "bTMBP:ibtb_target=16", 1, false);
    for (unsigned k = 0; k < 20; k++)
        cost = indirect(&m, 0x40049c, 0x72000, 0);
    CHECK_EQ(cost, 0);
    /* the same lower bits elsewhere, and back */
    CHECK(indirect(&m, 0x40049c, 0x82000, 0) > 0);
    CHECK_EQ(indirect(&m, 0x40049c, 0x82000, 0), 0);
    CHECK(indirect(&m, 0x40049c, 0x72000, 0) > 0);
    stop(&m);
}

/* ---- tagged predictors ----------------------------------------------------------------------- */

TEST(reports_what_tagged_predictors_do_not_know)
{
    struct module m;
    start(&m, "mcfTG", 1, false);
    CHECK_EQ(conditional(&m, 0x1000, false), 0); /* counters start at not taken */
    CHECK_EQ(conditional(&m, 0x1000, true), 7);
    check_bits(&m, 0, "010000 0");
    CHECK_EQ(call(&m, 0x2000), 0);
    CHECK_EQ(indirect(&m, 0x3000, 0x2004, VS_BR_RETURN), 0);
    CHECK(indirect(&m, 0x3000, 0x5008, 0) > 7);
    CHECK_EQ(flow(&m).returns_reported, 0);
    CHECK_EQ(flow(&m).indirect_reported, 1);
    stop(&m);
}

/* The first probability is one half of an interval of 2^32 - 1: a 0 keeps 2^31 numbers from 2^31 -
 * 1 on, and 10 is the shortest code that stays within; a 1 keeps the 2^31 - 1 below, where 00 does.
 * The length has 11 bits for 128 bytes. */
TEST(codes_single_outcomes)
{
    struct module m;
    start(&m, "mcfTA:latency=1", 1, false);
    CHECK_EQ(conditional(&m, 0x1000, false), 1 + 11 + 2);
    check_bits(&m, 0, "0 01000000000 01");
    stop(&m);
    start(&m, "mcfTA:latency=1", 4, false);
    CHECK_EQ(branch_of(&m, 2, true), 2 + 1 + 11 + 2);
    check_bits(&m, 0, "01 0 01000000000 00");
    stop(&m);
}

TEST(ends_packets_with_discontinuities)
{
    struct module m;
    start(&m, "mcfTA", 1, false);
    CHECK_EQ(elsewhere(&m, 0, 0x12, 5), 2 + 11 + 11 + 5 + 1 + 4 + 6);
    uint64_t from = vs_port_bits(&m.port);
    CHECK_EQ(conditional(&m, 0x1000, true), 0); /* it waits in the packet */
    CHECK_EQ(elsewhere(&m, 0, 0x12, 3), 2 + 11 + 11 + 2 + 5 + 1 + 4);
    check_bits(&m, from, "10 0 1000000000 01000000000 00 1100 0 0 000 0");
    CHECK_EQ(flow(&m).conditional_reported, 1);
    stop(&m);
}

TEST(says_where_a_decoder_can_begin)
{
    struct module m;
    start(&m, "mcfTA:latency=2,reset=1", 1, false);
    elsewhere(&m, 0, 0x1000, 0);
    CHECK_EQ(conditional(&m, 0x1000, false), 0);
    uint64_t bits = conditional(&m, 0x1004, false);
    /* a full packet of 2 or 3 bits of code, and the mark, the place and a count below 2^16 */
    CHECK(bits - (1 + 11) - (3 + 64 + 64 + 17) <= 3);
    CHECK_EQ(totals(&m).bits[VS_FIELD_SYNC], 64 + 64 + 17);
    CHECK_EQ(flow(&m).syncs, 2);
    stop(&m);
}

/* ---- discontinuities ------------------------------------------------------------------------- */

TEST(tells_starts_from_exceptions)
{
    static const char *const specs[] = {"mcfNX_b", "mcfTR_b", "mcfTR_e", "tTMBP"};
    for (size_t i = 0; i < 4; i++) {
        struct module m;
        start(&m, specs[i], 2, false);
        CHECK(elsewhere(&m, 0, 0x1000, 0) > 0);
        CHECK_EQ(totals(&m).bits[VS_FIELD_TARGET], 0);
        uint64_t sync = totals(&m).bits[VS_FIELD_SYNC];
        uint64_t cost = elsewhere(&m, 0, 0x9000, 3);
        CHECK_EQ(totals(&m).bits[VS_FIELD_SYNC], sync);
        CHECK_EQ(totals(&m).bits[VS_FIELD_TARGET] + totals(&m).bits[VS_FIELD_ICNT] +
                     totals(&m).bits[VS_FIELD_BCNT] + 1,
                 cost);
        cost = elsewhere(&m, 0, VS_STEP_NOWHERE, 3);
        CHECK_EQ(totals(&m).bits[VS_FIELD_SYNC], sync + cost - 1);
        CHECK_EQ(flow(&m).discontinuities, 3);
        CHECK_EQ(flow(&m).syncs, 2);
        CHECK_EQ(totals(&m).messages, 3);
        stop(&m);
    }
}

TEST(puts_the_baseline_bit_by_bit)
{
    struct module m;
    start(&m, "mcfNX_b:icnt=4,icnt_next=2,target=3,target_next=5", 2, false);
    elsewhere(&m, 1, 4, 0);
    feed(&m, (struct vs_step){.core = 1, .kind = VS_STEP_CONDITIONAL, .flags = VS_BR_COND});
    feed(&m, (struct vs_step){
                 .core = 1, .kind = VS_STEP_CONDITIONAL, .flags = VS_BR_COND | VS_BR_TAKEN});
    feed(&m, (struct vs_step){.core = 1,
                              .kind = VS_STEP_INDIRECT,
                              .icount = 17,
                              .target = 1,
                              .flags = VS_BR_INDIRECT | VS_BR_TAKEN});
    /* start at 4; SL 2; SL 17, 3 back */
    check_bits(&m, 0, "1 0000 0 0000 0 0 001 0 1 0100 0 1 1000 1 10 0 1 110 0");
    stop(&m);
}

/* ---- counters that are full ------------------------------------------------------------------ */

/* Not taken, as all counters of gshare have it at first. */
static uint64_t predicted(struct module *m, uint32_t icount)
{
    return feed(m, (struct vs_step){.kind = VS_STEP_CONDITIONAL,
                                    .pc = 0x1000,
                                    .target = 0x2000,
                                    .size = 4,
                                    .icount = icount,
                                    .flags = VS_BR_COND});
}

TEST(says_that_bcnt_is_full)
{
    struct module m;
    start(&m, "mcfTR_e:bcnt_bits=4", 1, false);
    for (unsigned i = 1; i < 14; i++)
        CHECK_EQ(predicted(&m, 1), 0);
    CHECK_EQ(predicted(&m, 1), 5); /* the 14th */
    for (unsigned i = 1; i < 14; i++)
        CHECK_EQ(predicted(&m, 1), 0);
    CHECK_EQ(conditional(&m, 0x1000, true), 5); /* mispredicted, where it would be full */
    CHECK_EQ(flow(&m).conditional_reported, 1);
    CHECK_EQ(totals(&m).bits[VS_FIELD_BCNT], 10);
    check_bits(&m, 0, "1111 0 0111 0");
    stop(&m);
    /* a unary prefix, and another core */
    start(&m, "sTMBP:bcnt_bits=4", 2, false);
    for (unsigned i = 1; i < 14; i++)
        CHECK_EQ(predicted(&m, 1), 0);
    CHECK_EQ(predicted(&m, 1), 1 + 7);
    check_bits(&m, 0, "0 10 11110");
    stop(&m);
}

TEST(says_that_icnt_is_full)
{
    struct module m;
    start(&m, "mcfTR_e:icnt_bits=4", 1, false);
    CHECK_EQ(predicted(&m, 14), 0);
    CHECK_EQ(predicted(&m, 1), 10);  /* at the 15th, a branch */
    CHECK_EQ(predicted(&m, 16), 10); /* before the branch */
    CHECK_EQ(predicted(&m, 14), 10);
    CHECK_EQ(predicted(&m, 14), 0);
    CHECK_EQ(conditional(&m, 0x1000, true), 5); /* the 15th, which has a message of its own */
    CHECK_EQ(predicted(&m, 46), 3 * 10);
    CHECK_EQ(elsewhere(&m, 0, 1, 14), 10 + 5 + 5 + 1 + 4);
    CHECK_EQ(totals(&m).messages, 9);
    check_bits(&m, 0,
               "0000 0 1111 0  0000 0 1111 0  0000 0 1111 0  0100 0"
               "0000 0 1111 0  0000 0 1111 0  0000 0 1111 0"
               "0000 0 1111 0  0000 0 0000 0  0 100 0");
    stop(&m);
}

TEST(says_that_a_counter_is_full_once)
{
    struct module m;
    /* both at the same branch: bCnt tells more */
    start(&m, "mcfTR_e:bcnt_bits=4,icnt_bits=4", 1, false);
    CHECK_EQ(predicted(&m, 2), 0);
    for (unsigned i = 2; i < 14; i++)
        CHECK_EQ(predicted(&m, 1), 0);
    CHECK_EQ(predicted(&m, 1), 5);
    CHECK_EQ(predicted(&m, 14), 0);
    stop(&m);
    /* with shared predictors, direct calls count as well */
    start(&m, "mcfTR_e:bcnt_bits=4,predictors=shared", 1, false);
    for (unsigned i = 1; i < 14; i++)
        CHECK_EQ(call(&m, 0x1000), 0);
    CHECK_EQ(call(&m, 0x1000), 5);
    stop(&m);
    start(&m, "mcfTR_e:icnt_bits=4,predictors=shared", 2, false);
    CHECK_EQ(predicted(&m, 15), 1 + 5 + 1 + 5);
    CHECK_EQ(branch_of(&m, 1, false), 0); /* nothing is left to be ordered */
    check_bits(&m, 0, "0 0000 0 0 1111 0");
    stop(&m);
}

TEST(says_that_the_baselines_count_is_full)
{
    struct module m;
    start(&m, "mcfNX_b:icnt=4,icnt_next=2,icnt_bits=4", 1, false);
    CHECK_EQ(predicted(&m, 13), 0);
    CHECK_EQ(predicted(&m, 1), 5);              /* at the 14th, a branch */
    CHECK_EQ(predicted(&m, 13), 0);             /* not taken */
    CHECK_EQ(conditional(&m, 0x1000, true), 5); /* the 14th, which is reported */
    CHECK_EQ(predicted(&m, 15), 5);             /* before the branch */
    CHECK_EQ(elsewhere(&m, 0, 1, 13), 5 + 5 + 5 + 1 + 33);
    CHECK_EQ(totals(&m).messages, 5);
    stop(&m);
    start(&m, "mcfNX_b:icnt=4,icnt_next=2,icnt_bits=4", 1, false);
    predicted(&m, 14);
    predicted(&m, 13);
    conditional(&m, 0x1000, true);
    predicted(&m, 29);
    check_bits(&m, 0, "1111 0 0111 0 1111 0 1111 0");
    stop(&m);
}

TEST(counts_cycles_from_the_last_message)
{
    struct module m;
    start(&m, "mcfNX_b", 1, true);
    m.time = 5;
    CHECK_EQ(elsewhere(&m, 0, 1, 0), 9 + 9 + 9 + 1 + 33);
    m.time = 5 + 256;
    CHECK_EQ(conditional(&m, 0x1000, true), 18 + 9);
    CHECK_EQ(totals(&m).bits[VS_FIELD_CYCLES], 27);
    stop(&m);
}

/* ---- shared predictors ----------------------------------------------------------------------- */

TEST(orders_cores_that_share)
{
    struct module m;
    start(&m, "mcfTR_e:predictors=shared", 2, false);
    CHECK_EQ(branch_of(&m, 0, false), 0);
    CHECK_EQ(branch_of(&m, 0, false), 0);
    /* Ti, 0, switch, 2 */
    CHECK_EQ(branch_of(&m, 1, false), 1 + 5 + 1 + 5);
    CHECK_EQ(totals(&m).bits[VS_FIELD_ORDER], 11);
    /* a switch, and a misprediction; after that nothing is to be ordered */
    CHECK_EQ(branch_of(&m, 0, true), 12 + 6);
    CHECK_EQ(branch_of(&m, 1, false), 0);
    CHECK_EQ(flow(&m).switches, 2);
    CHECK(vs_technique_ordered(&m.spec));
    stop(&m);
    start(&m, "mcfTR_e", 2, false);
    for (unsigned i = 0; i < 10; i++)
        CHECK_EQ(branch_of(&m, i % 2, false), 0);
    CHECK(!vs_technique_ordered(&m.spec));
    stop(&m);
}

TEST(shares_the_stack_of_return_addresses)
{
    const struct vs_step call = {.core = 0,
                                 .kind = VS_STEP_CALL,
                                 .pc = 0x1000,
                                 .target = 0x2000,
                                 .size = 4,
                                 .flags = VS_BR_CALL | VS_BR_TAKEN};
    const struct vs_step back = {.core = 1,
                                 .kind = VS_STEP_INDIRECT,
                                 .pc = 0x2000,
                                 .target = 0x1004,
                                 .size = 4,
                                 .flags = VS_BR_RETURN | VS_BR_INDIRECT | VS_BR_TAKEN};
    struct module m;
    start(&m, "mcfTR_e:predictors=shared", 2, false);
    CHECK_EQ(feed(&m, call), 0);
    /* a switch after the call, and the return is predicted */
    CHECK_EQ(feed(&m, back), 1 + 5 + 1 + 5);
    CHECK_EQ(flow(&m).returns_reported, 0);
    stop(&m);
    start(&m, "mcfTR_e", 2, false);
    CHECK_EQ(feed(&m, call), 0);
    CHECK(feed(&m, back) > 0);
    CHECK_EQ(flow(&m).returns_reported, 1);
    stop(&m);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(refuses_a_core_that_there_is_not)
{
    for (size_t i = 0; vs_techniques[i]; i++) {
        struct module m;
        const struct vs_step s = {.core = 2, .kind = VS_STEP_DISCONTINUITY, .target = 1};
        const struct vs_event e = {.thread = 2, .kind = VS_THREAD_START, .pc = 1};
        const struct vs_batch events = {.events = &e, .count = 1};
        if (!(vs_techniques[i]->serves & VS_TECHNIQUE_FLOW))
            continue;
        start(&m, vs_techniques[i]->name, 2, false);
        CHECK_ERR(
            m.spec.technique->encoder->consume(
                m.encoder, &(struct vs_slice){.steps = &s, .step_count = 1, .events = &events}),
            VSE_INVAL);
        stop(&m);
    }
}

static void check_refused(const char *text, int error, const char *word)
{
    struct vs_technique_spec s;
    struct vs_diag diag = {0};
    CHECK_EQ(vs_technique_parse(&s, text, &diag), error);
    if (!strstr(diag.text, word))
        unittest_fail(__FILE__, __LINE__, "%s: '%s' lacks '%s'", text, diag.text, word);
}

TEST(refuses_specs)
{
    check_refused("", -VSE_NOTFOUND, "mcfTR_e");
    check_refused("mcfTR_x", -VSE_NOTFOUND, "there are");
    check_refused("mcfTR_e:", -VSE_NOTFOUND, "large");
    check_refused("mcfTR_e:huge", -VSE_NOTFOUND, "'huge'");
    check_refused("mcfNX_b:small", -VSE_NOTFOUND, "none");
    check_refused("mcfTR_e:small,", -VSE_NOTFOUND, "large");
    check_refused("mcfTR_e:size=3", -VSE_NOTFOUND, "gshare");
    check_refused("mcfTR_e:gshare=1000", -VSE_INVAL, "gshare");
    check_refused("mcfTR_e:gshare=0", -VSE_INVAL, "gshare");
    check_refused("mcfTR_e:ibtb=1", -VSE_INVAL, "ibtb");
    check_refused("mcfTR_e:pir=none", -VSE_INVAL, "indirect");
    check_refused("mcfTR_e:bcnt=65", -VSE_INVAL, "64");
    check_refused("mcfNX_b:icnt=0", -VSE_INVAL, "1");
    check_refused("a-name-that-is-much-longer-than-any-technique-has-or-will-ever-have-here",
                  -VSE_NOTFOUND, "a-name");
}

/* ---- specs ----------------------------------------------------------------------------------- */

TEST(writes_specs_that_read_back)
{
    static const char *const specs[] = {"mcfNX_b",
                                        "mcfTRaptor_e:small,gshare=2K",
                                        "mcfTR_b:large,pir=all,pir_bits=13,predictors=shared",
                                        "tmcfTR_e",
                                        "tTMBP:bsize=5",
                                        "bTMBP",
                                        "NEXS:group=4",
                                        "eDMTF:64x4,low=24",
                                        "rSDC:8x4,policy=fifo",
                                        "HWLZ-1024:length=5"};
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
        for (int timed = 0; timed < 2; timed++) {
            struct vs_technique_spec a, b;
            char text[VS_TECHNIQUE_TEXT], again[VS_TECHNIQUE_TEXT];
            CHECK_EQ(vs_technique_parse(&a, specs[i], NULL), 0);
            vs_technique_settle(&a, timed);
            CHECK(vs_technique_text(&a, text, sizeof(text)) > 0);
            CHECK_EQ(vs_technique_parse(&b, text, NULL), 0);
            vs_technique_settle(&b, !timed); /* nothing is left open */
            CHECK(vs_technique_text(&b, again, sizeof(again)) > 0);
            CHECK_STR(text, again);
            CHECK_MEM(a.params, b.params, sizeof(a.params));
            CHECK_ERR(vs_technique_text(&a, text, 10), VSE_LIMIT);
        }
}

TEST(chooses_chunks_by_time)
{
    struct vs_technique_spec s;
    char text[VS_TECHNIQUE_TEXT];
    CHECK_EQ(vs_technique_parse(&s, "mcfTR_e:icnt=6", NULL), 0);
    vs_technique_settle(&s, true);
    CHECK(vs_technique_text(&s, text, sizeof(text)) > 0);
    CHECK(strstr(text, "bcnt=3,bcnt_next=2,target=3,target_next=4,icnt=6,icnt_next=2,dcc=4"));
    CHECK_EQ(vs_technique_parse(&s, "mcfTR_e", NULL), 0);
    vs_technique_settle(&s, false);
    CHECK(vs_technique_text(&s, text, sizeof(text)) > 0);
    CHECK(strstr(text, "bcnt=4,bcnt_next=2,target=3,target_next=5,icnt=4,icnt_next=2"));
}

TEST(finds_every_technique_by_every_name)
{
    for (size_t i = 0; vs_techniques[i]; i++) {
        struct vs_technique_spec s;
        const struct vs_technique *t = vs_techniques[i];
        CHECK(vs_technique_find(t->name) == t);
        for (const char *const *a = t->aliases; a && *a; a++)
            CHECK(vs_technique_find(*a) == t);
        for (const struct vs_technique_config *c = t->configs; c && c->name; c++) {
            char text[128];
            snprintf(text, sizeof(text), "%s:%s", t->name, c->name);
            CHECK_EQ(vs_technique_parse(&s, text, NULL), 0);
        }
        CHECK(t->summary[0]);
        CHECK(t->encoder && t->encoder->rows && t->serves);
        CHECK_EQ(t->flow_decoder != NULL, (t->serves & VS_TECHNIQUE_FLOW) != 0);
        CHECK_EQ(t->data_decoder != NULL, (t->serves & VS_TECHNIQUE_DATA) != 0);
        CHECK_EQ(t->address_decoder != NULL, (t->serves & VS_TECHNIQUE_ADDRESS) != 0);
    }
    CHECK(!vs_technique_find("mcf"));
}

/* ---- cost ------------------------------------------------------------------------------------ */

static uint64_t cost_of(const char *spec, unsigned cores, unsigned bits, struct vs_cost_list *list)
{
    struct vs_technique_spec s;
    const struct vs_technique_setup setup = {.cores = cores, .address_bits = bits};
    CHECK_EQ(vs_technique_parse(&s, spec, NULL), 0);
    vs_technique_settle(&s, false);
    CHECK_EQ(vs_technique_cost(&s, &setup, list), 0);
    return vs_cost_storage(vs_cost_list_sum(list));
}

TEST(costs_what_its_structures_do)
{
    struct vs_cost_list list;
    uint64_t one = cost_of("mcfTR_e:small", 1, 32, &list);
    CHECK_STR(list.items[0].name, "gshare");
    CHECK_EQ(vs_cost_storage(list.items[0].cost), 1024 + 9);
    CHECK_EQ(list.items[1].cost.sram, 8 * 32);
    CHECK_EQ(cost_of("mcfTR_e:small", 4, 32, &list), 4 * one);
    /* bCnt, iCnt and the last target are each core's own; so is iCnt at a branch, and two bits say
     * who is running */
    CHECK_EQ(cost_of("mcfTR_e:small,predictors=shared", 4, 32, &list),
             one + 3 * (16 + 16 + 32) + 4 * 16 + 2);
    CHECK_EQ(cost_of("mcfTR_e:small,bcnt_bits=10,icnt_bits=20", 1, 32, &list), one - 6 + 4);
    CHECK_EQ(cost_of("mcfNX_b:icnt_bits=10", 2, 64, &list), 2 * (10 + 64));
    CHECK(cost_of("mcfTR_e:large", 1, 32, &list) > cost_of("mcfTR_e:medium", 1, 32, &list));
    CHECK_EQ(cost_of("mcfNX_b", 2, 64, &list), 2 * (32 + 64));
    CHECK(cost_of("bTMBP", 1, 32, &list) > cost_of("sTMBP", 1, 32, &list));
    /* 64 targets of 14 bits less, for a register of 14 */
    CHECK_EQ(cost_of("bTMBP", 1, 32, &list) - cost_of("bTMBP:ibtb_target=18", 1, 32, &list),
             64 * 14 - 14);
}
