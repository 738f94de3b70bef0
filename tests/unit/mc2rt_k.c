/* SPDX-License-Identifier: MIT */
/* mc2RT_k's messages, worked out by hand. */
#include "datarun.h"

/* One line of cache, plain heads and bytes, so that bits can be counted. */
#define PLAIN "size=32 line=32 ways=1 heads=plain words=0"

enum {
    HEAD = 9, /* THCnt, without Ti */
    LINE = 2 + 256,
    ZERO = 4,
    BLANK = 5,
    LAST = 5 + 9 + 9, /* an end, after its head */
};

static struct script *blank_script(void)
{
    struct script *s = script_new();
    memset(s->memory, 0, sizeof(s->memory));
    return s;
}

/* Encodes the script's run, has it decoded, and returns the bits. */
static struct stream proved(struct script *s, const char *params)
{
    struct stream t;
    encode(&t, "mc2RT_k", params, &s->run, true);
    check_replays(&t, &s->run);
    stream_free(&t);
    script_free(s);
    return t;
}

TEST(sends_a_line_once)
{
    struct script *s = script_new();
    for (unsigned i = 0; i < 4; i++) {
        load(s, 0, 0x100, 8);
        load(s, 0, 0x200, 8);
    }
    const struct stream t = proved(s, PLAIN);
    CHECK_EQ(t.nbits, 2 * (HEAD + LINE) + HEAD + LAST);
    CHECK_EQ(t.counts.line_misses, 8);
}

TEST(forgets_without_tables)
{
    struct script *s = script_new();
    for (unsigned i = 0; i < 4; i++) {
        load(s, 0, 0x100, 8);
        load(s, 0, 0x200, 8);
    }
    CHECK_EQ(proved(s, PLAIN " k=0 r=0").nbits, 8 * (HEAD + LINE) + HEAD + LAST);
}

TEST(tells_of_a_page_of_zeros_at_once)
{
    struct script *s = blank_script();
    for (unsigned at = 0; at < 4096; at += 256)
        load(s, 0, at, 8);
    CHECK_EQ(proved(s, PLAIN).nbits, HEAD + BLANK + HEAD + LAST);
}

TEST(tells_of_a_line_of_zeros)
{
    struct script *s = blank_script();
    s->memory[0x80] = 1;
    load(s, 0, 0x80, 1);
    load(s, 0, 0x100, 8);
    store(s, 0, 0x200, 8); /* known before it is written */
    load(s, 0, 0x400, 8);
    load(s, 0, 0x200, 8);
    CHECK_EQ(proved(s, PLAIN).nbits, HEAD + LINE + 3 * (HEAD + ZERO) + HEAD + LAST);
}

/* A store that misses a line with something in it leaves the line unknown. */
TEST(sends_what_a_store_left_unknown)
{
    struct script *s = script_new();
    store(s, 0, 0x100, 8);
    load(s, 0, 0x200, 8);
    load(s, 0, 0x100, 16);
    CHECK_EQ(proved(s, PLAIN).nbits, 2 * (HEAD + LINE) + HEAD + LAST);
}

/* The fourth of eight lines brings the four others, of which two are zero. */
TEST(sends_the_rest_of_a_page)
{
    enum { BYTES = 512, WHOLE = 2 + 8 * BYTES };
    struct script *s = script_new();
    memset(s->memory + 4 * BYTES, 0, 2 * BYTES);
    for (unsigned i = 0; i < 8; i++)
        load(s, 0, i * BYTES, 8);
    const struct stream t = proved(s, "size=512 line=512 ways=1 complete=4 heads=plain words=0");
    CHECK_EQ(t.nbits, 3 * (HEAD + WHOLE) + HEAD + 5 + 3 * 1 + 3 * WHOLE + 2 * 2 + HEAD + LAST);
}

/* A page in R that something outside wrote in part keeps its other lines. */
TEST(sends_only_what_was_written_from_outside)
{
    struct script *s = blank_script();
    load(s, 0, 0x100, 8);
    touch(s, VS_EXTERNAL, 0, 0x204, 40);
    load(s, 0, 0x300, 8);
    load(s, 0, 0x200, 8);
    load(s, 0, 0x220, 8);
    load(s, 0, 0x240, 8);
    CHECK_EQ(proved(s, PLAIN " complete=0").nbits, HEAD + BLANK + 2 * (HEAD + LINE) + HEAD + LAST);
}

TEST(expects_zero_from_outside)
{
    const struct vs_event zero = {.kind = VS_NONDET, .pc = 0x10, .size = 8, .icount = 1};
    struct vs_event one = zero;
    one.value = 1;
    struct script *s = script_new();
    for (unsigned i = 0; i < 5; i++)
        run_add(&s->run, i == 3 ? &one : &zero, NULL, 10 * i);
    const struct stream t = proved(s, PLAIN);
    CHECK_EQ(t.counts.expected, 4);
    CHECK_EQ(t.nbits, HEAD + 4 + 5 + 64 + HEAD + LAST); /* the size in a chunk of 4 */
    s = script_new();
    for (unsigned i = 0; i < 5; i++)
        run_add(&s->run, i == 3 ? &one : &zero, NULL, 10 * i);
    CHECK_EQ(proved(s, PLAIN " predict=none").nbits, 5 * (HEAD + 4 + 5 + 64) + HEAD + LAST);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* How many messages of order the accesses take, which are words like "l0": a load by core 0 of what
 * they all access; capitals access something else in the same cache line's place. */
static uint64_t orders(const char *accesses, const char *params)
{
    struct script *s = script_new();
    for (const char *p = accesses; *p; p += 2 + (p[2] == ' ')) {
        unsigned core = (unsigned)(p[1] - '0'),
                 at = *p == 'L' || *p == 'S' ? 0x400 + 0x40 * core : 0x100;
        touch(s, *p == 'l' || *p == 'L' ? VS_LOAD : VS_STORE, core, at, 8);
    }
    return proved(s, params).counts.orders;
}

TEST(orders_accesses_that_meet)
{
    static const struct {
        const char *accesses;
        uint64_t orders;
    } rows[] = {
        {"l0 l0 s0 l0", 0},    {"l0 l1", 1}, /* what core 0 sent */
        {"l0 L1 l1", 0},                     /* core 1 sent a message since */
        {"l0 l1 s1", 1},                     /* core 0 did nothing since that was not before */
        {"l0 l1 s1 l0", 2},                  /* what core 1 wrote */
        {"l0 l1 s1 l0 l1", 2},               /* a line that only core 1 wrote */
        {"l0 L0 s1", 1},                     /* core 0 had the line */
        {"l0 L0 L1 s1", 0},    {"l0 L0 L1 l1 L0 s1", 0},
        {"s0 s1 s0 s1 l1", 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (orders(rows[i].accesses, PLAIN) != rows[i].orders)
            unittest_fail(__FILE__, __LINE__, "%s: %llu", rows[i].accesses,
                          (unsigned long long)orders(rows[i].accesses, PLAIN));
}

/* Core 1 holds a line that was not known and that core 0 sends with its page: what core 1 stores
 * next must not come before. */
TEST(orders_stores_after_a_page_that_another_core_sent)
{
    enum { BYTES = 512 };
    struct script *s = script_new();
    store(s, 1, 7 * BYTES, 8);
    for (unsigned i = 0; i < 4; i++)
        load(s, 0, i * BYTES, 8);
    store(s, 1, 7 * BYTES + 8, 8);
    store(s, 1, 7 * BYTES + 16, 8);
    load(s, 0, 7 * BYTES, 32);
    const struct stream t = proved(s, "size=4096 line=512 ways=1 complete=4 heads=plain words=0");
    CHECK_EQ(t.counts.orders, 2); /* before the second store, and before the last load */
}

/* The debugger does each access as early as it may: a store whose line was read by a core that lost
 * it since, and that this core has alone, comes too early without a message. */
TEST(orders_the_first_write_to_a_line_held_alone)
{
    struct script *s = script_new();
    load(s, 1, 0x400, 8); /* core 1 begins */
    load(s, 0, 0x100, 8);
    load(s, 1, 0x440, 8); /* both have sent something */
    load(s, 0, 0x140, 8);
    load(s, 0, 0x100, 8); /* it reads, and loses the line again */
    load(s, 0, 0x140, 8);
    load(s, 1, 0x100, 8);
    store(s, 1, 0x100, 8);
    CHECK_EQ(proved(s, PLAIN).counts.orders, 1);
}
