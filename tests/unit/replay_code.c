/* SPDX-License-Identifier: MIT */
/* Replays of a few instructions, for what programs seldom do. */
#include "replay/replay.h"

#include <string.h>

#include "base/buf.h"
#include "technique/registry.h"
#include "encoded.h"
#include "unittest.h"

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x20000)

enum { A0 = 10, A1 = 11, A2 = 12, A7 = 17 };

#define SD(value, base)         (0x00003023u | (value) << 20 | (base) << 15)
#define LD(to, base)            (0x00003003u | (base) << 15 | (to) << 7)
#define AMOADD(to, value, base) (0x0000302fu | (value) << 20 | (base) << 15 | (to) << 7)
#define ADDI(to, value)         (0x00000013u | (uint32_t)(value) << 20 | (to) << 15 | (to) << 7)
#define JUMP_BACK               0xffdff06fu /* by one instruction */
#define NOP                     0x00000013u
#define ECALL                   0x00000073u

/* ---- a run of them --------------------------------------------------------------------------- */

enum { EVENTS = 64, CORES = 4 };

struct made {
    const uint32_t *words;
    size_t word_count;
    struct vs_event events[EVENTS];
    size_t count;
    struct vs_buf wide;
    unsigned cores;
};

static struct vs_event *add(struct made *m, unsigned kind, unsigned core, unsigned icount)
{
    struct vs_event *e = &m->events[m->count++];
    CHECK(m->count <= EVENTS);
    *e = (struct vs_event){
        .kind = (uint8_t)kind, .thread = (uint16_t)core, .icount = (uint16_t)icount};
    m->cores = core >= m->cores ? core + 1 : m->cores;
    return e;
}

/* Pairs of a register and its value, ended by -1. */
static size_t put_registers(struct made *m, const int64_t *pairs)
{
    size_t before = m->wide.len;
    for (; *pairs != -1; pairs += 2) {
        uint8_t one[12];
        uint64_t value = (uint64_t)pairs[1];
        CHECK_EQ(vs_regs_put(one, sizeof(one), 0, (unsigned)pairs[0], &value, 8), 12);
        CHECK_EQ(vs_buf_put(&m->wide, one, sizeof(one)), 0);
    }
    return m->wide.len - before;
}

static void start(struct made *m, unsigned core, const int64_t *pairs)
{
    struct vs_event *e = add(m, VS_THREAD_START, core, 0);
    e->value = m->wide.len;
    e->size = (uint16_t)put_registers(m, pairs);
}

static void access_at(struct made *m, unsigned kind, unsigned core, unsigned icount, uint64_t addr,
                      uint64_t value)
{
    struct vs_event *e = add(m, kind, core, icount);
    e->addr = addr;
    e->size = 8;
    e->value = value;
}

static void call(struct made *m, unsigned core, unsigned icount, const int64_t *pairs)
{
    const struct vs_syscall_head head = {0};
    struct vs_event *e = add(m, VS_SYSCALL, core, icount);
    e->value = m->wide.len;
    CHECK_EQ(vs_buf_put(&m->wide, &head, sizeof(head)), 0);
    e->size = (uint16_t)(sizeof(head) + put_registers(m, pairs));
}

#define REGISTERS(...) ((const int64_t[]){__VA_ARGS__, -1})
#define OF(code)                                                                                   \
    {                                                                                              \
        .words = (code), .word_count = sizeof(code) / sizeof((code)[0])                            \
    }

/* ---- its replay ------------------------------------------------------------------------------ */

struct replayed {
    struct vs_text code;
    struct vs_loaded loaded;
    struct vs_buf bits, output;
    struct vs_port_stream stream;
    size_t known;
    struct vs_replay replay;
};

static void take_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes,
                        size_t size, size_t known)
{
    struct replayed *r = context;
    (void)core;
    CHECK_EQ(fd, 1);
    CHECK_EQ(vs_buf_put(&r->output, bytes, size), 0);
    r->known += known;
}

static void replay(struct replayed *r, const struct made *m, const char *technique)
{
    const struct vs_block block = {.addr = CODE,
                                   .bytes = (const uint8_t *)m->words,
                                   .size = (uint32_t)(4 * m->word_count),
                                   .insns = (uint32_t)m->word_count};
    const struct vs_batch batch = {
        .events = m->events, .wide = m->wide.data, .wide_size = m->wide.len, .count = m->count};
    struct vs_replay_config config = {.isa = vs_isa_find("rv64"),
                                      .setup = {m->cores, 64, false, 0},
                                      .code = &r->code,
                                      .loaded = &r->loaded,
                                      .output = take_output,
                                      .context = r};
    *r = (struct replayed){0};
    r->stream = encode_events(&config.spec, technique, &config.setup, &batch, &r->bits);
    config.streams = &r->stream;
    CHECK_EQ(vs_text_add(&r->code, &block), 0);
    CHECK_EQ(vs_text_index(&r->code), 0);
    CHECK_EQ(vs_replay_init(&r->replay, &config, NULL), 0);
}

static int go_on(struct replayed *r)
{
    const struct vs_replay_goal goal = {
        .position = UINT64_MAX, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    int stop = vs_replay_run(&r->replay, &goal);
    if (stop < 0)
        unittest_fail(__FILE__, __LINE__, "%s", r->replay.diag.text);
    return stop;
}

static void done(struct replayed *r, struct made *m)
{
    vs_replay_fini(&r->replay);
    vs_text_fini(&r->code);
    vs_loaded_fini(&r->loaded);
    vs_buf_fini(&r->bits);
    vs_buf_fini(&r->output);
    vs_buf_fini(&m->wide);
}

static const char *const techniques[] = {"mlvNX_b", "mlvCF_e:CS32", "mlvCF_e:shared",
                                         "mlvFA",   "mc2RT",        "mc2RT:implied"};
enum { TECHNIQUES = sizeof(techniques) / sizeof(techniques[0]) };

/* ---- watches --------------------------------------------------------------------------------- */

/* The last bytes of all addresses, and those of an operand that goes on at 0. */
TEST(watches_the_end_of_memory)
{
    static const uint32_t code[] = {NOP, SD(A1, A0), NOP, NOP};
    static const struct {
        int64_t addr;
        struct vs_replay_watch watch;
        bool hit;
    } cases[] = {
        {-8, {UINT64_MAX - 7, 8, false, true, 0}, true},
        {-8, {UINT64_MAX, 1, false, true, 0}, true},
        {-4, {0, 4, false, true, 0}, true},
        {-4, {4, 4, false, true, 0}, false},
        {-16, {UINT64_MAX - 7, 8, false, true, 0}, false},
        {0, {UINT64_MAX - 3, 8, false, true, 0}, true},
        {8, {UINT64_MAX - 3, 8, false, true, 0}, false},
        {8, {0, UINT64_MAX, false, true, 0}, true},
    };
    for (unsigned t = 0; t < TECHNIQUES; t++)
        for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct made m = OF(code);
            struct replayed r;
            start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, cases[i].addr, A1, 7));
            access_at(&m, VS_STORE, 0, 2, (uint64_t)cases[i].addr, 7);
            add(&m, VS_COUNT, 0, 2);
            replay(&r, &m, techniques[t]);
            r.replay.watches = &cases[i].watch;
            r.replay.watch_count = 1;
            if (cases[i].hit) {
                CHECK_EQ(go_on(&r), VS_REPLAY_WATCH);
                CHECK_EQ(r.replay.position, 2);
                CHECK(r.replay.hit == &cases[i].watch);
            }
            CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
            CHECK_EQ(r.replay.position, 4);
            done(&r, &m);
        }
}

/* An atomic instruction that has read, and waits to write, has not been done. */
TEST(stops_once_at_an_atomic_instruction_that_waits)
{
    static const uint32_t code[] = {LD(A1, A0), AMOADD(A1, A2, A0), NOP, NOP};
    const struct vs_replay_watch watch = {DATA, 8, true, true, 0};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        unsigned stops[2] = {0};
        int stop;
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, DATA, A2, 5));
        start(&m, 1, REGISTERS(VS_REG_PC, CODE, A0, DATA, A2, 6));
        access_at(&m, VS_LOAD, 1, 1, DATA, 1);
        access_at(&m, VS_LOAD, 0, 1, DATA, 1);
        access_at(&m, VS_LOAD, 1, 1, DATA, 1);
        access_at(&m, VS_STORE, 1, 0, DATA, 7);
        access_at(&m, VS_LOAD, 0, 1, DATA, 7);
        access_at(&m, VS_STORE, 0, 0, DATA, 12);
        add(&m, VS_COUNT, 0, 2);
        add(&m, VS_COUNT, 1, 2);
        replay(&r, &m, techniques[t]);
        r.replay.watches = &watch;
        r.replay.watch_count = 1;
        while ((stop = go_on(&r)) == VS_REPLAY_WATCH) {
            stops[r.replay.last]++;
            CHECK_EQ(r.replay.cores[r.replay.last].cpu->retired, stops[r.replay.last]);
        }
        CHECK_EQ(stop, VS_REPLAY_OVER);
        CHECK_EQ(stops[0], 2);
        CHECK_EQ(stops[1], 2);
        CHECK_EQ(vs_cpu_get(r.replay.cores[0].cpu, A1), 7);
        CHECK_EQ(vs_cpu_get(r.replay.cores[1].cpu, A1), 1);
        done(&r, &m);
    }
}

/* Both have the line; what one of them does elsewhere comes before the other writes. */
TEST(waits_within_an_atomic_instruction)
{
    static const uint32_t code[] = {LD(A1, A0), AMOADD(A1, A2, A0), NOP, NOP,
                                    LD(A1, A0), LD(A1, A2),         NOP, NOP};
    const struct vs_replay_watch watch = {DATA, 8, true, false, 0};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        unsigned stops[2] = {0};
        int stop;
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, DATA, A2, 5));
        start(&m, 1, REGISTERS(VS_REG_PC, CODE + 16, A0, DATA, A2, DATA + 0x1000));
        access_at(&m, VS_LOAD, 1, 1, DATA, 1);
        access_at(&m, VS_LOAD, 0, 1, DATA, 1);
        access_at(&m, VS_LOAD, 1, 1, DATA + 0x1000, 3);
        access_at(&m, VS_LOAD, 0, 1, DATA, 1);
        access_at(&m, VS_STORE, 0, 0, DATA, 6);
        add(&m, VS_COUNT, 0, 2);
        add(&m, VS_COUNT, 1, 2);
        replay(&r, &m, techniques[t]);
        r.replay.watches = &watch;
        r.replay.watch_count = 1;
        while ((stop = go_on(&r)) == VS_REPLAY_WATCH) {
            stops[r.replay.last]++;
            CHECK_EQ(r.replay.cores[r.replay.last].cpu->retired, stops[r.replay.last]);
        }
        CHECK_EQ(stop, VS_REPLAY_OVER);
        CHECK_EQ(stops[0], 2);
        CHECK_EQ(stops[1], 1);
        done(&r, &m);
    }
}

/* ---- breaks ---------------------------------------------------------------------------------- */

/* A core that stopped at an address, and then has to wait there, is not stopped again when it goes
 * on, also from a checkpoint. */
TEST(stops_once_where_a_core_waits)
{
    static const uint32_t code[] = {NOP, LD(A1, A0), NOP, NOP, LD(A1, A0), NOP, NOP, NOP};
    const uint64_t breaks[] = {CODE + 4, CODE + 20};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        unsigned stops = 0;
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, DATA));
        start(&m, 1, REGISTERS(VS_REG_PC, CODE + 16, A0, DATA + 0x1000));
        access_at(&m, VS_LOAD, 1, 1, DATA + 0x1000, 1);
        access_at(&m, VS_LOAD, 0, 2, DATA, 1);
        add(&m, VS_COUNT, 0, 2);
        add(&m, VS_COUNT, 1, 3);
        replay(&r, &m, techniques[t]);
        vs_replay_break(&r.replay, breaks, 2);
        while (go_on(&r) == VS_REPLAY_BREAK) {
            struct vs_replay_state *state;
            CHECK(++stops <= 2);
            CHECK_EQ(vs_replay_save(&r.replay, &state), 0);
            CHECK_EQ(vs_replay_restore(&r.replay, state), 0);
            vs_replay_drop(state);
        }
        CHECK_EQ(stops, 2);
        done(&r, &m);
    }
}

/* ---- what the program's file says -------------------------------------------------------------
 */

static void load(struct replayed *r, uint64_t addr, const char *text, size_t size, bool writable)
{
    const struct vs_loaded_part part = {addr,         size,     (const uint8_t *)text,
                                        strlen(text), writable, 0};
    CHECK_EQ(vs_loaded_add(&r->loaded, &part), 0);
}

static size_t look(struct replayed *r, unsigned core, uint64_t addr, char *text, size_t size)
{
    size_t known = vs_replay_look(&r->replay, core, addr, (uint8_t *)text, size);
    text[known] = 0;
    return known;
}

static void go_to(struct replayed *r, uint64_t position)
{
    const struct vs_replay_goal goal = {
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    CHECK_EQ(vs_replay_run(&r->replay, &goal), VS_REPLAY_REACHED);
}

/* Core 1 stores before core 0 loads, and no message tells so: while core 0 comes to its load, it
 * must be taken to be possible. */
TEST(does_not_know_what_another_core_may_have_written)
{
    static const uint32_t code[] = {NOP, NOP, LD(A1, A0), NOP, NOP, SD(A1, A2), LD(A1, A0), NOP};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        char text[32];
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, DATA));
        start(&m, 1, REGISTERS(VS_REG_PC, CODE + 16, A0, DATA + 8, A1, 'x', A2, DATA + 0x2004));
        access_at(&m, VS_STORE, 1, 2, DATA + 0x2004, 'x');
        access_at(&m, VS_LOAD, 0, 3, DATA, 1);
        access_at(&m, VS_LOAD, 1, 1, DATA + 8, 2);
        add(&m, VS_COUNT, 0, 1);
        add(&m, VS_COUNT, 1, 1);
        replay(&r, &m, techniques[t]);
        load(&r, DATA + 0x2000, "abcdefghijklmnop", 24, true);
        load(&r, DATA + 0x3000, "constant", 8, false);
        bool ordered = r.replay.view_count == 1;
        go_to(&r, 0);
        CHECK_EQ(look(&r, 0, DATA + 0x2000, text, 24), 24); /* nobody else has begun */
        CHECK_STR(text, "abcdefghijklmnop");
        go_to(&r, 2);
        bool stored = r.replay.cores[1].cpu->retired >= 2;
        if (!ordered && !stored) {
            CHECK_EQ(look(&r, 0, DATA + 0x2000, text, 24), 4);
            CHECK_STR(text, "abcd");
            CHECK_EQ(look(&r, 0, DATA + 0x200b, text, 1), 0);
            CHECK_EQ(look(&r, 0, DATA + 0x200c, text, 12), 12);
            CHECK_STR(text, "mnop");
            CHECK_EQ(look(&r, 1, DATA + 0x2000, text, 16), 16); /* it has not */
            CHECK_STR(text, "abcdefghijklmnop");
            CHECK_EQ(r.replay.position, 2);
        }
        CHECK_EQ(look(&r, 0, DATA + 0x3000, text, 9), 8);
        CHECK_STR(text, "constant");
        CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
        for (unsigned core = 0; core < 2; core++) {
            CHECK_EQ(look(&r, core, DATA + 0x2000, text, 5), 5);
            CHECK_STR(text, "abcdx");
            CHECK_EQ(look(&r, core, DATA + 0x200c, text, 4), 4);
            CHECK_STR(text, "mnop");
        }
        done(&r, &m);
    }
}

/* A call writes a part of the data, and is not in the file's place any more. */
TEST(does_not_know_what_a_call_wrote)
{
    enum { CLOCK_GETTIME = 113 };
    static const uint32_t code[] = {NOP, ECALL, NOP, NOP};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        char text[64];
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, 1, A1, DATA + 4, A7, CLOCK_GETTIME));
        call(&m, 0, 2, REGISTERS(A0, 0));
        add(&m, VS_COUNT, 0, 2);
        replay(&r, &m, techniques[t]);
        load(&r, DATA, "abcdefghijklmnopqrstuvwxyz", 26, true);
        go_to(&r, 1);
        CHECK_EQ(look(&r, 0, DATA, text, 26), 26);
        go_to(&r, 2);
        CHECK_EQ(look(&r, 0, DATA, text, 26), 4);
        CHECK_EQ(look(&r, 0, DATA + 4, text, 16), 0);
        CHECK_EQ(look(&r, 0, DATA + 20, text, 6), 6);
        CHECK_STR(text, "uvwxyz");
        done(&r, &m);
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

/* What a call returned as its result, and where it went on. */
static void check_output(int64_t number, int64_t result, bool again, const char *should,
                         size_t known)
{
    static const uint32_t code[] = {SD(A1, A1), ECALL, NOP, NOP};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        uint64_t text = DATA;
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, 1, A1, DATA, A2, 8, A7, number));
        access_at(&m, VS_STORE, 0, 1, DATA, text);
        if (again) {
            call(&m, 0, 1, REGISTERS(A0, 1, VS_REG_PC, CODE + 4));
            call(&m, 0, 1, REGISTERS(A0, result));
        } else {
            call(&m, 0, 1, REGISTERS(A0, result));
        }
        add(&m, VS_COUNT, 0, 2);
        replay(&r, &m, techniques[t]);
        CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
        CHECK_EQ(r.output.len, strlen(should));
        CHECK_EQ(r.known, known);
        for (size_t i = 0; i < r.output.len; i++)
            CHECK_EQ(r.output.data[i], should[i] == '.' ? 0 : should[i] == '2' ? 2 : should[i]);
        done(&r, &m);
    }
}

enum { WRITE = 64, WRITEV = 66, READ = 63 };

TEST(shows_what_was_written)
{
    check_output(WRITE, 8, false, "..2.....", 8);
    check_output(WRITE, 3, false, "..2", 3);
    check_output(WRITE, 0, false, "", 0);
    check_output(WRITE, -4, false, "", 0);
    check_output(READ, 4, false, "", 0);
}

/* The registers of a call that is made again are its arguments. */
TEST(shows_a_call_that_is_made_again_once)
{
    check_output(WRITE, 8, true, "..2.....", 8);
}

/* No more than was asked for. */
TEST(shows_no_more_than_a_call_has)
{
    check_output(WRITE, INT64_MAX, false, "..2.....", 8);
}

/* A vector whose address is known, and whose length is not; then one that is not known at all. */
TEST(says_what_is_unknown_of_a_vector)
{
    check_output(WRITEV, 10, false, "..2.....??", 8);
    static const uint32_t code[] = {NOP, ECALL, NOP, NOP};
    struct made m = OF(code);
    struct replayed r;
    start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, 1, A1, DATA, A2, 2, A7, WRITEV));
    call(&m, 0, 2, REGISTERS(A0, 5));
    add(&m, VS_COUNT, 0, 2);
    replay(&r, &m, "mlvNX_b");
    CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
    CHECK_EQ(r.output.len, 5);
    CHECK_MEM(r.output.data, "?????", 5);
    CHECK_EQ(r.known, 0);
    done(&r, &m);
}

/* ---- code that changes ----------------------------------------------------------------------- */

static void run_to(struct replayed *r, uint64_t position)
{
    const struct vs_replay_goal goal = {
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    int stop = vs_replay_run(&r->replay, &goal);
    if (stop < 0)
        unittest_fail(__FILE__, __LINE__, "%s", r->replay.diag.text);
}

/* Core 1 counts by 1 twice, then by 16 twice, then by 256 once: core 0, which takes no message but
 * for that, has written the loop over. */
static void make_changes(struct made *m)
{
    const uint64_t later = ADDI(A2, 16) | (uint64_t)JUMP_BACK << 32;
    const uint64_t last = ADDI(A2, 256) | (uint64_t)JUMP_BACK << 32;
    start(m, 0, REGISTERS(VS_REG_PC, CODE, A0, CODE + 32, A1, (int64_t)later, A7, (int64_t)last));
    start(m, 1, REGISTERS(VS_REG_PC, CODE + 32, A2, 0));
    access_at(m, VS_STORE, 0, 2, CODE + 32, later);
    add(m, VS_COUNT, 1, 4);
    add(m, VS_CODE, 0, 0);
    add(m, VS_COUNT, 1, 4);
    access_at(m, VS_STORE, 0, 1, CODE + 32, last);
    add(m, VS_CODE, 1, 0);
    add(m, VS_COUNT, 1, 1);
    add(m, VS_COUNT, 0, 1);
}

/* The code is in the program's file. */
static void load_code(struct replayed *r, const struct made *m)
{
    const struct vs_loaded_part part = {.addr = CODE,
                                        .bytes = (const uint8_t *)m->words,
                                        .size = 4 * m->word_count,
                                        .stored = 4 * m->word_count,
                                        .writable = true};
    CHECK_EQ(vs_loaded_add(&r->loaded, &part), 0);
}

enum { CHANGES_END = 13, CHANGES_SUM = 1 + 1 + 16 + 16 + 256 };

/* Whatever was decoded before: it is decoded anew everywhere, from checkpoints, too. */
TEST(fetches_code_as_it_was_when_it_changed)
{
    static const uint32_t code[] = {NOP, SD(A1, A0), SD(A7, A0), NOP,         NOP,
                                    NOP, NOP,        NOP,        ADDI(A2, 1), JUMP_BACK};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        struct made m = OF(code);
        struct replayed r;
        struct vs_replay_state *states[CHANGES_END];
        make_changes(&m);
        replay(&r, &m, techniques[t]);
        load_code(&r, &m);
        CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
        CHECK_EQ(r.replay.position, CHANGES_END);
        CHECK_EQ(vs_cpu_get(r.replay.cores[1].cpu, A2), CHANGES_SUM);
        CHECK_EQ(r.replay.code.changes, 2);
        done(&r, &m);

        m = (struct made)OF(code);
        make_changes(&m);
        replay(&r, &m, techniques[t]);
        load_code(&r, &m);
        for (unsigned i = 0; i < CHANGES_END; i++) {
            CHECK_EQ(r.replay.position, i);
            CHECK_EQ(vs_replay_save(&r.replay, &states[i]), 0);
            vs_replay_break(&r.replay, NULL, 0);
            run_to(&r, i + 1);
        }
        for (unsigned i = CHANGES_END; i-- > 0;) {
            CHECK_EQ(vs_replay_restore(&r.replay, states[i]), 0);
            CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
            CHECK_EQ(r.replay.position, CHANGES_END);
            CHECK_EQ(vs_cpu_get(r.replay.cores[1].cpu, A2), CHANGES_SUM);
            vs_replay_drop(states[i]);
        }
        done(&r, &m);
    }
}

/* Two changes at once, and a core that begins between them, or has ended before. */
TEST(passes_changes_at_which_a_core_is_not_there)
{
    static const uint32_t code[] = {NOP, SD(A1, A0), NOP, NOP, ADDI(A2, 1), NOP, NOP, NOP};
    for (unsigned t = 0; t < TECHNIQUES; t++) {
        const uint64_t later = ADDI(A2, 16) | (uint64_t)NOP << 32;
        struct made m = OF(code);
        struct replayed r;
        start(&m, 0, REGISTERS(VS_REG_PC, CODE, A0, CODE + 16, A1, (int64_t)later));
        start(&m, 1, REGISTERS(VS_REG_PC, CODE + 16, A2, 0));
        add(&m, VS_COUNT, 1, 2);
        add(&m, VS_THREAD_EXIT, 1, 0);
        access_at(&m, VS_STORE, 0, 2, CODE + 16, later);
        add(&m, VS_CODE, 0, 0);
        add(&m, VS_CODE, 0, 0);
        start(&m, 2, REGISTERS(VS_REG_PC, CODE + 16, A2, 0));
        add(&m, VS_COUNT, 2, 2);
        add(&m, VS_COUNT, 0, 1);
        add(&m, VS_CODE, 2, 0);
        replay(&r, &m, techniques[t]);
        load_code(&r, &m);
        CHECK_EQ(go_on(&r), VS_REPLAY_OVER);
        CHECK_EQ(vs_cpu_get(r.replay.cores[1].cpu, A2), 1);
        CHECK_EQ(vs_cpu_get(r.replay.cores[2].cpu, A2), 16);
        CHECK_EQ(r.replay.code.changes, 3);
        done(&r, &m);
    }
}
