/* SPDX-License-Identifier: MIT */
/* Load-value techniques: examples worked out by hand, parameters and costs. */
#include "unit/datarun.h"

/* ---- worked examples ----------------------------------------------------------------------- */

#define SMALL "size=32 line=16 ways=2 policy=round-robin granule=4"

static void small_cache(struct vs_granules *g, uint32_t granule)
{
    const struct vs_cache_config config = {32, 16, 2, VS_CACHE_ROUND_ROBIN};
    CHECK_EQ(vs_granules_init(g, 1, &config, granule, true, NULL), 0);
}

/* An access that finds its line in a way, or is given that way. */
static void check_way(struct vs_granules *g, bool writes, unsigned at, unsigned size,
                      unsigned missed, unsigned way)
{
    unsigned got = writes ? vs_granules_write(g, 0, BASE + at, size, false)
                          : vs_granules_read(g, 0, BASE + at, size);
    CHECK_EQ(got, missed);
    CHECK_EQ(vs_cache_find(&g->caches[0].cache, (BASE + at) & ~15u), way);
}

enum { HIT = 0, MISS = VS_GRANULES_NO_LINE, CLEAR = VS_GRANULES_NO_FLAG };

TEST(follows_the_example_of_stores_and_loads)
{
    struct vs_granules g;
    small_cache(&g, 4);
    check_way(&g, true, 0x80, 8, MISS, 1);
    check_way(&g, true, 0x50, 4, MISS, 0);
    for (unsigned at = 0x54; at <= 0x5c; at += 4)
        check_way(&g, true, at, 4, HIT, 0);
    check_way(&g, true, 0x60, 4, MISS, 1);
    for (unsigned at = 0x64; at <= 0x6c; at += 4)
        check_way(&g, true, at, 4, HIT, 1);
    check_way(&g, true, 0x70, 4, MISS, 0);
    check_way(&g, false, 0x80, 8, MISS | CLEAR, 1);
    check_way(&g, false, 0x88, 8, CLEAR, 1);
    vs_granules_fini(&g);
}

/* What the two loads of that example send. */
TEST(sends_the_example_of_stores_and_loads)
{
    struct script *s = script_new();
    struct stream t;
    store(s, 0, 0x80, 8);
    for (unsigned at = 0x50; at <= 0x70; at += 4)
        store(s, 0, at, 4);
    load(s, 0, 0x80, 8);
    load(s, 0, 0x88, 8);
    encode(&t, "mlvCF_b", SMALL, &s->run, true);
    CHECK_EQ(t.fields.messages, 3);
    CHECK_EQ(t.counts.misses[3], 2);
    /* fahCnt 0 in one chunk and a bit, the value; and the end */
    CHECK_EQ(t.nbits, 2 * (9 + 64) + 9 + END);
    struct vs_bitr bits;
    uint64_t count, value;
    CHECK_EQ(vs_bitr_init(&bits, t.bits.data, t.bits.len, t.nbits), 0);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(vs_bitr_get(&bits, 9, &count), 0);
        CHECK_EQ(count, 0);
        CHECK_EQ(vs_bitr_get(&bits, 64, &value), 0);
        CHECK_EQ(value, s->run.events[s->run.count - 2 + i].value);
    }
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(follows_the_example_of_spanning_operands)
{
    struct vs_granules g;
    small_cache(&g, 4);
    check_way(&g, true, 0x80, 8, MISS, 1);
    check_way(&g, true, 0x78, 8, MISS, 0);
    check_way(&g, true, 0x70, 8, HIT, 0);
    check_way(&g, true, 0x68, 8, MISS, 1);
    check_way(&g, true, 0x60, 8, HIT, 1);
    for (unsigned at = 0x78; at >= 0x60; at -= 8)
        check_way(&g, false, at, 8, HIT, at < 0x70);
    check_way(&g, true, 0x40, 32, MISS, 0);
    CHECK_EQ(vs_cache_find(&g.caches[0].cache, BASE + 0x50), 1);
    check_way(&g, false, 0x40, 32, HIT, 0);
    check_way(&g, true, 0x20, 8, MISS, 0);
    check_way(&g, false, 0x40, 32, MISS | CLEAR, 1);
    CHECK_EQ(vs_cache_find(&g.caches[0].cache, BASE + 0x50), 0);
    vs_granules_fini(&g);
}

TEST(sends_one_message_for_a_spanning_operand)
{
    struct script *s = script_new();
    struct stream t;
    static const struct {
        unsigned at, size;
        bool writes;
    } accesses[] = {{0x80, 8, true},  {0x78, 8, true},  {0x70, 8, true},   {0x68, 8, true},
                    {0x60, 8, true},  {0x78, 8, false}, {0x70, 8, false},  {0x68, 8, false},
                    {0x60, 8, false}, {0x40, 32, true}, {0x40, 32, false}, {0x20, 8, true},
                    {0x40, 32, false}};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        touch(s, accesses[i].writes ? VS_STORE : VS_LOAD, 0, accesses[i].at, accesses[i].size);
    encode(&t, "mlvCF_b", SMALL, &s->run, true);
    CHECK_EQ(t.nbits, 9 + 8 * 32 + 9 + END); /* after five hits; then the end */
    CHECK_EQ(t.bits.data[0], 5);
    CHECK_EQ(t.counts.hits[3], 4);
    CHECK_EQ(t.counts.hits[5], 1);
    CHECK_EQ(t.counts.misses[5], 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(hits_both_lines_of_what_was_stored)
{
    struct script *s = script_new();
    struct stream t;
    store(s, 0, 0x10, 8);
    load(s, 0, 0x10, 8);
    encode(&t, "mlvCF_b", "size=8 line=4 ways=2 policy=round-robin granule=4", &s->run, true);
    CHECK_EQ(t.counts.hits[3], 1);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(follows_the_example_of_reads_only)
{
    struct script *s = script_new();
    struct stream t;
    struct vs_granules g;
    for (unsigned at = 0x3c; at <= 0x5c; at += 4)
        load(s, 0, at, 4);
    small_cache(&g, 16);
    for (unsigned at = 0x3c; at <= 0x5c; at += 4)
        CHECK_EQ(vs_granules_read(&g, 0, BASE + at, 4) != 0,
                 at == 0x3c || at == 0x40 || at == 0x50);
    vs_granules_fini(&g);
    encode(&t, "mlvCF_b", "size=32 line=16 ways=2 policy=round-robin granule=16", &s->run, true);
    CHECK_EQ(t.counts.misses[2], 3);
    CHECK_EQ(t.counts.hits[2], 6);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 3 * 128);
    CHECK_EQ(t.counts.unseen, 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* ---- small cases --------------------------------------------------------------------------- */

TEST(sends_every_operand_as_it_is)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0, 1);
    store(s, 1, 0, 8);
    load(s, 2, 0, 64);
    load(s, 2, 3, 8);
    encode(&t, "mlvNX_b", "", &s->run, false);
    CHECK_EQ(t.nbits, 3 * 2 + 8 * (1 + 64 + 8) + 3 * (2 + END));
    check_replays(&t, &s->run);
    stream_free(&t);
    s->run.timed = true;
    encode(&t, "mlvNX_b", "", &s->run, false);
    CHECK_EQ(t.nbits, 3 * (2 + 9) + 8 * (1 + 64 + 8) + 3 * (2 + 9 + END));
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* A standard's: format, 2 bits; size, 2 bits; diff; data, 64 bits. */
TEST(sends_data_packets)
{
    static const uint8_t shorter[] = {
        0x62, 0xa8, 0x00,            /* 0 2 0, 5 */
        0x61, 0xe8,                  /* 0 2 0, -1, since -1 ^ 5 is longer */
        0x61, 0x18,                  /* 0 2 1, -1 ^ -1 */
        0x61, 0x05,                  /* 1 1 0, 0 */
        0x62, 0xb4, 0x00, 0x61, 0x00 /* 0 1 1, 5 ^ 0, and 0 0 0, 0: of 3 bytes */
    };
    static const uint8_t xor [] = {0x62, 0xa8, 0x00, 0x62, 0x58, 0xff};
    struct script *s = script_new();
    struct stream t;
    memset(s->memory + 0x10, 0, 4);
    s->memory[0x10] = 5;
    memset(s->memory + 0x14, 0xff, 4);
    load(s, 0, 0x10, 4);
    load(s, 0, 0x14, 4);
    load(s, 0, 0x14, 4);
    load(s, 0, 0x11, 2);
    load(s, 0, 0x10, 3);
    encode(&t, "etrace_lv", "", &s->run, false);
    CHECK_EQ(t.nbits, 8 * sizeof(shorter) + END);
    CHECK_MEM(t.bits.data, shorter, sizeof(shorter));
    CHECK_EQ(t.fields.frame, 8 * 6);
    CHECK_EQ(t.fields.messages, 5 + 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "etrace_lv", "xor", &s->run, false);
    CHECK_MEM(t.bits.data, xor, sizeof(xor));
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "etrace_lv", "full data_bytes=1", &s->run, false); /* size has 1 bit */
    CHECK_EQ(t.fields.frame, 8 * (4 + 4 + 4 + 2 + 3));
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* Registers begin as such values do. */
TEST(tells_registers_from_values_that_look_so)
{
    const struct vs_event exception = {
        .kind = VS_EXCEPTION, .pc = 0x5000, .addr = 0x6000, .size = 6, .icount = 3};
    struct script *s = script_new();
    memset(s->memory, VS_DATA_ESCAPE, 0x40);
    load(s, 0, 0, 1);
    load(s, 0, 0x20, 4);
    run_add(&s->run, &exception, NULL, 30);
    load(s, 0, 0x21, 8);
    run_add(&s->run, &exception, NULL, 50);
    run_add(&s->run, &exception, NULL, 60);
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream stream;
        encode(&stream, (*t)->name, "", &s->run, true);
        CHECK_EQ(stream.counts.states, 3);
        check_replays(&stream, &s->run);
        stream_free(&stream);
    }
    script_free(s);
}

TEST(sends_whole_granules_of_a_part)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x101, 1);
    load(s, 0, 0x102, 1);
    load(s, 0, 0x107, 2);
    encode(&t, "mlvCF_b", SMALL, &s->run, true);
    CHECK_EQ(t.nbits, 9 + 32 + 9 + 64 + 9 + END);
    CHECK_EQ(t.counts.unseen, 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    /* without a prior the second byte is not known when the first is sent */
    encode(&t, "mlvCF_b", SMALL, &s->run, false);
    CHECK_EQ(t.counts.unseen, 3);
    CHECK_EQ(t.nbits, 2 * (9 + 32) + 9 + 64 + 9 + END);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* As published a partial store flags the granule: the other bytes are then taken for known. */
TEST(does_not_replay_as_published)
{
    static const char *const names[] = {"mlvCF_b", "mlvCF_e", "mlvFA"};
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    store(s, 0, 0x100, 1);
    load(s, 0, 0x100, 4);
    for (unsigned i = 0; i < 3; i++) {
        encode(&t, names[i], "account=published", &s->run, true);
        CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 0);
        CHECK_HAS(t.spec.technique->undecodable(t.spec.params), "published");
        CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_CORRUPT);
        CHECK_HAS(v->c.diag.text, "event 1, core 0, pc 0x1004");
        stream_free(&t);
        encode(&t, names[i], "", &s->run, true);
        CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 32);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
    free(v);
}

TEST(counts_operands_as_published)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x101, 1);
    load(s, 0, 0x103, 2);
    encode(&t, "mlvCF_b", "account=published", &s->run, true);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 8 + 16);
    stream_free(&t);
    script_free(s);
}

TEST(counts_hits_of_each_core_as_published)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 4);
    for (unsigned i = 0; i < 4; i++)
        load(s, i % 2, 0x100, 4);
    load(s, 0, 0x200, 4); /* after two of its own */
    encode(&t, "mlvCF_e", "caches=shared order=published", &s->run, true);
    CHECK_EQ(t.fields.bits[VS_FIELD_FAHCNT], 2 * 3 + 2 * 3); /* and the ends */
    stream_free(&t);
    script_free(s);
}

TEST(notices_what_other_cores_write)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    load(s, 0, 0x100, 8);
    store(s, 1, 0x100, 4);
    load(s, 0, 0x104, 4); /* the line is gone, also where nobody wrote */
    load(s, 0, 0x100, 4);
    load(s, 1, 0x100, 4);
    encode(&t, "mlvCF_b", "caches=coherent", &s->run, true);
    CHECK_EQ(t.counts.misses[2], 2);
    CHECK_EQ(t.counts.hits[2], 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mlvCF_b", "caches=private", &s->run, true);
    CHECK(t.spec.technique->undecodable(t.spec.params));
    CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_CORRUPT);
    stream_free(&t);
    encode(&t, "mlvCF_b", "caches=shared", &s->run, true);
    CHECK_EQ(t.counts.misses[2], 0);
    CHECK_EQ(t.counts.orders, 6); /* the last two for the ends */
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
    free(v);
}

TEST(notices_what_is_written_from_outside)
{
    static const char *const names[] = {"mlvCF_e", "mlvFA", "mlvFA_dedicated", "mc2RT", "mc2RT_k"};
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 4);
    load(s, 0, 0x100, 4);
    touch(s, VS_EXTERNAL, 1, 0x102, 1);
    load(s, 0, 0x100, 4);
    touch(s, VS_EXTERNAL, 0, 0x200, 200);
    load(s, 0, 0x200, 64);
    for (unsigned i = 0; i < 5; i++) {
        encode(&t, names[i], "", &s->run, true);
        CHECK_EQ(t.counts.hits[2], 1);
        CHECK_EQ(t.counts.misses[2], 2);
        CHECK_EQ(t.counts.unseen, 0);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

TEST(notices_new_mappings_and_changes_that_no_event_shows)
{
    static const char *const names[] = {"mlvCF_e", "mlvFA", "mlvFA_dedicated", "mc2RT", "mc2RT_k"};
    struct script *s = script_new();
    struct stream t;
    const struct vs_event map = {
        .kind = VS_MAP, .addr = BASE, .value = 4096, .pc = VS_NO_IMAGE, .flags = VS_MAP_READ};
    load(s, 0, 0x100, 4);
    run_add(&s->run, &map, NULL, 10);
    memset(s->memory, 0x55, 128 + 0x100);
    load(s, 0, 0x100, 4);
    load(s, 0, 0x104, 4);
    load(s, 1, 0x104, 4);
    s->memory[0x104] ^= 1;
    load(s, 0, 0x104, 4);
    load(s, 1, 0x104, 4);
    for (unsigned i = 0; i < 5; i++) {
        encode(&t, names[i], "", &s->run, true);
        CHECK_EQ(t.counts.unseen, i != 2);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

TEST(sends_a_bit_for_what_the_module_has)
{
    struct script *s = script_new();
    struct stream t;
    s->memory[0x104] = 0;
    load(s, 0, 0x100, 4);
    load(s, 0, 0x100, 4);
    load(s, 0, 0x104, 1); /* a zero, as in a new line */
    load(s, 0, 0x105, 1);
    encode(&t, "mlvFA_dedicated", "size=64 line=64 ways=1", &s->run, false);
    CHECK_EQ(t.nbits, 1 + 32 + 1 + 1 + 1 + 8 + 1 + END);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(says_that_fahcnt_is_full)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 4);
    for (unsigned i = 0; i < 15 + 14; i++)
        load(s, 0, 0x100, 4);
    load(s, 0, 0x200, 4);
    encode(&t, "mlvCF_e", "fahcnt_bits=4", &s->run, true);
    CHECK_EQ(t.fields.messages, 4);
    /* chunks (2,2): 0; all ones, 15 in two chunks, and no more; 14 in two; and the end */
    CHECK_EQ(t.nbits, (3 + 32) + 6 + (6 + 32) + 3 + END);
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mlvCF_e", "", &s->run, true);
    CHECK_EQ(t.nbits, (3 + 32) + (9 + 32) + 3 + END); /* 29 takes three */
    stream_free(&t);
    /* a line has its kind behind the count */
    encode(&t, "mc2RT", "fahcnt_bits=4", &s->run, true);
    CHECK_EQ(t.fields.messages, 4);
    CHECK_EQ(t.nbits, 2 * (9 + 1 + 256) + 9 + (9 + 4 + 9 + 9));
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

TEST(says_that_icnt_is_full)
{
    static const struct {
        const char *name;
        unsigned head; /* bits before the escape of registers, or with their kind */
    } cases[] = {
        {"mlvNX_b", 9}, {"etrace_lv", 9}, {"mlvFA", 1 + 9}, {"mlvCF_b", 9 + 9}, {"mc2RT", 9 + 4}};
    struct script *s = script_new();
    for (unsigned i = 0; i < 40; i++)
        store(s, 0, 0x100, 4); /* an instruction each */
    load(s, 0, 0x100, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stream wide, t;
        encode(&wide, cases[i].name, "", &s->run, true);
        encode(&t, cases[i].name, "icnt_bits=4", &s->run, true);
        CHECK_EQ(t.fields.messages, wide.fields.messages + 2); /* 41 are 2 * 15 and 11 */
        CHECK_EQ(t.nbits, wide.nbits + 2 * (cases[i].head + 9));
        check_replays(&t, &s->run);
        stream_free(&wide);
        stream_free(&t);
    }
    script_free(s);
}

/* The core is not known to have begun, and its counter is 0 when code changes. */
TEST(tells_of_a_change_of_code_after_icnt_is_full)
{
    static const char *const names[] = {"mlvNX_b", "etrace_lv", "mlvFA", "mlvCF_e", "mc2RT"};
    struct script *s = script_new();
    for (unsigned i = 0; i < 15; i++)
        store(s, 0, 0x100, 4);
    run_add(&s->run, &(struct vs_event){.kind = VS_CODE, .thread = 1}, NULL, 100);
    load(s, 0, 0x200, 4);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stream t;
        encode(&t, names[i], "icnt_bits=4", &s->run, true);
        CHECK_EQ(t.counts.states, 1);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

/* As a replay finds it where a run was cut off between two accesses of an instruction: the stream
 * ends there, and is not damaged. */
TEST(ends_where_a_core_makes_one_more_access)
{
    struct script *s = script_new();
    struct stream t;
    struct vs_port_reader reader;
    uint8_t bytes[8];
    void *d;
    store(s, 0, 0x100, 8);
    load(s, 0, 0x100, 8);
    encode(&t, "mc2RT", "CS32", &s->run, true);
    const struct vs_data_decoder_ops *ops = t.spec.technique->data_decoder;
    for (unsigned i = 0; i < 3; i++) { /* an owned line, another one, and a load */
        CHECK_EQ(vs_port_reader_init(&reader, &t.shape,
                                     &(struct vs_port_stream){t.bits.data, t.bits.len, t.nbits}),
                 0);
        CHECK_EQ(ops->open(&d, t.spec.params, &t.setup, &reader), 0);
        memset(bytes, 1, sizeof(bytes));
        uint64_t addr = s->run.events[0].addr;
        CHECK_EQ(ops->write(d, 0, addr, 8, bytes), 0);
        CHECK_EQ(ops->read(d, 0, addr, 8, bytes), 0);
        CHECK_ERR(i == 2 ? ops->read(d, 0, addr, 8, bytes)
                         : ops->write(d, 0, addr + i * 0x1000, 8, bytes),
                  VSE_END);
        ops->close(d);
        vs_port_reader_fini(&reader);
    }
    stream_free(&t);
    script_free(s);
}

TEST(tells_every_transaction_in_order)
{
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 8);  /* from memory: the line */
    load(s, 1, 0x108, 8);  /* from core 0, with T */
    store(s, 1, 0x100, 8); /* upgrade */
    store(s, 1, 0x100, 8); /* its own */
    load(s, 0, 0x100, 8);  /* from core 1, with T */
    store(s, 2, 0x200, 8); /* from memory */
    load(s, 2, 0x200, 8);  /* the line */
    encode(&t, "mc2RT", "CS32", &s->run, true);
    CHECK_EQ(t.counts.orders, 4);
    CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], 2 * 256);
    CHECK_EQ(t.fields.messages, 6 + 3);
    /* Ti, THCnt, kind: two lines, four of order, three ends */
    CHECK_EQ(t.nbits, 9 * (2 + 9) + 2 * (1 + 256) + 4 * 2 + 3 * (4 + 9 + 9));
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mc2RT", "CS32 rule=implied", &s->run, true);
    CHECK_EQ(t.counts.orders, 3);
    CHECK_EQ(t.counts.silent, 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    encode(&t, "mc2RT", "CS32 order=published", &s->run, true);
    CHECK_EQ(t.nbits, 2 * (2 + 9 + 256));
    CHECK(t.spec.technique->undecodable(t.spec.params));
    stream_free(&t);
    script_free(s);
}

/* The third reader finds the line in S only, and it need not be sent again. */
TEST(sends_a_line_once_for_all_readers)
{
    static const struct {
        const char *params;
        unsigned lines;
    } ways[] = {{"CS32", 1}, {"CS32 supply=owner", 3}};
    struct script *s = script_new();
    for (unsigned core = 0; core < 4; core++)
        load(s, core, 0x100, 8);
    for (unsigned i = 0; i < 2; i++) {
        struct stream t;
        encode(&t, "mc2RT", ways[i].params, &s->run, true);
        CHECK_EQ(t.fields.bits[VS_FIELD_VALUE], ways[i].lines * 256);
        CHECK_EQ(t.counts.orders, 4 - ways[i].lines);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

#define TWO_LINES "size=64 line=32 ways=2 policy=lru rule=implied"

/* Core 1 had the line and lost it after core 0's last message: without the order, the debugger
 * would let core 0 write first. */
TEST(tells_the_order_of_a_line_that_another_core_lost)
{
    struct script *s = script_new();
    struct stream t;
    enum { P = 0x100, R = 0x200, W = 0x300, X = 0x400, S = 0x500, U = 0x600, Q = 0x700 };
    load(s, 0, P, 8);
    load(s, 0, R, 8);
    load(s, 1, W, 8);
    store(s, 1, X, 8); /* implied */
    load(s, 1, S, 8);
    load(s, 1, U, 8); /* in place of X */
    store(s, 0, X, 8);
    load(s, 0, Q, 8);
    load(s, 0, R, 8);
    encode(&t, "mc2RT", TWO_LINES, &s->run, true);
    CHECK_EQ(t.counts.silent, 1);
    CHECK_EQ(t.counts.orders, 1);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* Core 1 took a line from the set: without the order, another line would make way. */
TEST(tells_the_order_in_a_set_that_another_core_took_from)
{
    struct script *s = script_new();
    struct stream t;
    enum { P = 0x100, R = 0x200, X = 0x400 };
    load(s, 0, P, 8);
    load(s, 0, R, 8);
    store(s, 1, R, 8);
    store(s, 0, X, 8);
    load(s, 0, P, 8);
    encode(&t, "mc2RT", TWO_LINES, &s->run, true);
    CHECK_EQ(t.counts.silent, 0);
    CHECK_EQ(t.counts.orders, 2);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* Something outside wrote everything: without the order, the debugger would let core 1 write
 * before, and take the line away. */
TEST(tells_the_order_after_a_write_from_outside)
{
    const struct vs_event gap = {.kind = VS_GAP, .pc = 0x2000, .size = 4};
    struct script *s = script_new();
    struct stream t;
    load(s, 0, 0x100, 8);
    run_add(&s->run, &gap, NULL, 20);
    store(s, 1, 0x200, 8);
    load(s, 0, 0x200, 8);
    encode(&t, "mc2RT", TWO_LINES, &s->run, true);
    CHECK_EQ(t.counts.silent, 0);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
}

/* ---- parameters and cost ------------------------------------------------------------------- */

TEST(has_the_named_configurations)
{
    static const struct {
        const char *name;
        uint64_t size, line, policy;
    } configs[] = {{"S", 16384, 64, VS_CACHE_ROUND_ROBIN},
                   {"M", 32768, 64, VS_CACHE_ROUND_ROBIN},
                   {"L", 65536, 64, VS_CACHE_ROUND_ROBIN},
                   {"CS16", 16384, 32, VS_CACHE_LRU},
                   {"CS32", 32768, 32, VS_CACHE_LRU}};
    struct vs_technique_spec spec;
    const struct vs_data_params *p = (const void *)spec.params;
    for (size_t i = 0; i < 5; i++) {
        parse(&spec, "mlvCF_e", configs[i].name);
        CHECK_EQ(p->size, configs[i].size);
        CHECK_EQ(p->line, configs[i].line);
        CHECK_EQ(p->policy, configs[i].policy);
        CHECK_EQ(p->ways, 4);
        CHECK_EQ(p->granule, 4);
        CHECK_EQ(p->fahcnt, 2);
    }
}

TEST(refuses_what_does_not_fit)
{
    struct vs_technique_spec p;
    struct vs_diag diag;
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:XL", &diag), VSE_NOTFOUND);
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:size=1000", &diag), VSE_INVAL);
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:granule=64", &diag), VSE_INVAL);
    CHECK_ERR(vs_technique_parse(&p, "mlvCF_e:size=32,line=4,granule=8", &diag), VSE_INVAL);
    CHECK_ERR(vs_technique_parse(&p, "mc2RT:granule=4", &diag), VSE_NOTFOUND);
}

TEST(costs_what_is_published)
{
    const struct vs_technique_setup setup = {.cores = 1, .address_bits = 32, .timed = false};
    struct vs_technique_spec p;
    struct vs_cost_list cost;
    parse(&p, "mc2RT", "CS32");
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_STR(cost.items[0].name, "trace bits");
    CHECK_EQ(cost.items[0].cost.sram, 128 * 8);
    parse(&p, "mlvCF_e", "CS32");
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_EQ(cost.items[0].cost.sram, 32768 / 4);
    CHECK_EQ(cost.items[1].cost.registers, 32);
    double fraction = (double)vs_cost_storage(vs_cost_list_sum(&cost)) / (32768 * 8);
    CHECK(fraction > 1.0 / 32 && fraction < 1.01 / 32);
    const struct vs_technique_setup four = {.cores = 4, .address_bits = 32, .timed = false};
    /* a core's own counters; one that counts for all that share a cache */
    CHECK_EQ(vs_technique_cost(&p, &four, &cost), 0);
    CHECK_EQ(cost.items[1].copies, 4);
    parse(&p, "mlvCF_e", "shared fahcnt_bits=12 icnt_bits=20");
    CHECK_EQ(vs_technique_cost(&p, &four, &cost), 0);
    CHECK_EQ(cost.items[1].cost.registers, 12);
    CHECK_EQ(cost.items[1].copies, 1);
    CHECK_EQ(cost.items[2].cost.registers, 20);
    CHECK_EQ(cost.items[2].copies, 4);
    parse(&p, "mlvCF_e", "shared order=published");
    CHECK_EQ(vs_technique_cost(&p, &four, &cost), 0);
    CHECK_EQ(cost.items[1].copies, 4);
    parse(&p, "mlvCF_e", "CS32");
    CHECK_EQ(vs_technique_cache_bits(&p, &setup), 8 * 32768);
    CHECK_EQ(vs_technique_cache_bits(&p, &four), 4 * 8 * 32768);
    parse(&p, "mlvCF_e", "shared");
    CHECK_EQ(vs_technique_cache_bits(&p, &four), 8 * 32768);
    parse(&p, "mlvNX_b", "");
    CHECK_EQ(vs_technique_cache_bits(&p, &four), 0);
    CHECK_EQ(vs_technique_parse(&p, "mcfTR_e", &(struct vs_diag){0}), 0);
    CHECK_EQ(vs_technique_cache_bits(&p, &four), 0); /* its parameters are others */
    parse(&p, "etrace_lv", "");
    cost.count = 0;
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_EQ(cost.items[1].cost.registers, 4 * (64 + 1));
    parse(&p, "mlvFA_dedicated", "size=1K ways=2");
    CHECK_EQ(vs_technique_cost(&p, &setup, &cost), 0);
    CHECK_EQ(cost.items[0].cost.sram, 8192);
    CHECK_EQ(cost.items[1].cost.sram, 16 * (32 - 6 - 3 + 1));
    CHECK_EQ(cost.items[1].cost.comparators, 2 * 23);
}
