/* SPDX-License-Identifier: MIT */
/* mcfTrace and mlsTrace on small runs whose descriptors are written out here by hand. */
#include "published/mcftrace.h"
#include "published/mlstrace.h"
#include "runs.h"

/* ---- runs ------------------------------------------------------------------------------------ */

#define JUMP (VS_BR_TAKEN)
#define CALL (VS_BR_TAKEN | VS_BR_CALL)
#define RET  (VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN)

/* A run that is being made up. */
struct story {
    struct run run;
    struct vs_writer *w;
};

static void begin(struct story *s, const char *isa)
{
    *s = (struct story){.run.features = VS_RUN_LOADS | VS_RUN_STORES};
    s->w = run_open_writer("run.vest", &s->run, NULL);
    CHECK_EQ(vs_writer_meta(s->w, "isa", isa), 0);
}

static void tell(struct story *s, struct vs_event e, const void *wide)
{
    struct vs_batch b = {.events = &e, .count = 1, .wide = wide, .wide_size = wide ? e.size : 0};
    CHECK_EQ(vs_writer_put(s->w, &b), 0);
}

static void start(struct story *s, unsigned thread)
{
    tell(s,
         (struct vs_event){.kind = VS_THREAD_START,
                           .thread = (uint16_t)thread,
                           .pc = 0x400000,
                           .addr = 4000 + thread},
         NULL);
}

static void branch(struct story *s, unsigned thread, uint64_t pc, uint64_t target, unsigned flags,
                   unsigned icount)
{
    tell(s,
         (struct vs_event){.kind = VS_BRANCH,
                           .thread = (uint16_t)thread,
                           .pc = pc,
                           .addr = target,
                           .flags = (uint8_t)flags,
                           .size = 5,
                           .icount = (uint16_t)icount},
         NULL);
}

/* The value is the number in `size` bytes, or lies in `wide`, in the order of memory. */
static void operand(struct story *s, unsigned kind, uint64_t pc, uint64_t addr, unsigned size,
                    uint64_t value, const void *wide, unsigned icount)
{
    tell(s,
         (struct vs_event){.kind = (uint8_t)kind,
                           .pc = pc,
                           .addr = addr,
                           .size = (uint16_t)size,
                           .value = wide ? 0 : value,
                           .icount = (uint16_t)icount},
         wide);
}

static void end(struct story *s)
{
    CHECK_EQ(vs_writer_seal(s->w, NULL), 0);
}

/* ---- running a tool -------------------------------------------------------------------------- */

typedef int tool(struct cli *cli, const struct mtrace_options *o);

static struct mtrace_options options(void)
{
    struct mtrace_options o;
    mtrace_options_init(&o);
    o.input = "run.vest";
    o.output = "t";
    return o;
}

/* Runs it with its messages in the files out and err; its exit status. */
static int status_of(tool *run, const struct mtrace_options *o)
{
    struct cli cli;
    int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int saved = dup(STDERR_FILENO);
    CHECK(out >= 0 && err >= 0 && saved >= 0);
    cli_init(&cli);
    cli.out.fd = out;
    cli.command = "tool";
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    int status = cli_finish(&cli, run(&cli, o));
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(out);
    close(err);
    return status;
}

/* A file as a string; good until the next but one call. */
static const char *text_of(const char *path)
{
    static char texts[2][1 << 16];
    static unsigned turn;
    char *text = texts[turn ^= 1];
    struct file f = file_load(path);
    CHECK(f.size < sizeof(texts[0]));
    memcpy(text, f.data, f.size);
    text[f.size] = 0;
    file_free(&f);
    return text;
}

static void check_bytes(const char *path, const uint8_t *bytes, size_t size)
{
    struct file f = file_load(path);
    CHECK_EQ(f.size, size);
    CHECK_MEM(f.data, bytes, size);
    file_free(&f);
}

/* ---- control flow ---------------------------------------------------------------------------- */

static void tell_branches(void)
{
    struct story s;
    begin(&s, "x86-64");
    start(&s, 0);
    branch(&s, 0, 0x3f83200b03, 0x3f83201130, CALL, 3);
    start(&s, 1);
    branch(&s, 1, 0x7f5a40996bbe, 0x7f5a40996be4, VS_BR_COND, 2);
    branch(&s, 1, 0x7f5a40996bc9, 0x7f5a40996bb8, VS_BR_COND | VS_BR_TAKEN, 2);
    operand(&s, VS_LOAD, 0x40059f, 0x7ffd0000, 8, 0x7f688ca5ce5d, NULL, 4);
    branch(&s, 0, 0x40059f, 0x7f688ca5ce5d, RET, 0);
    end(&s);
}

TEST(writes_every_class_of_branch_as_text)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = true;
    place_init(&p);
    tell_branches();
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"), "0, 0x0000003f83200b03, 0x0000003f83201130, U, D, T\n"
                                "1, 0x00007f5a40996bbe, 0x00007f5a40996be4, C, D, NT\n"
                                "1, 0x00007f5a40996bc9, 0x00007f5a40996bb8, C, D, T\n"
                                "0, 0x000000000040059f, 0x00007f688ca5ce5d, U, I, T\n");
    CHECK_STR(text_of("out"),
              "mcfTrace: Writing to text file: t.txt\n"
              "mcfTrace descriptor: ThreadID, Instruction Address, Target Address, Type&Outcome\n"
              "mcfTrace: thread begin 0 4000\n"
              "mcfTrace: thread begin 1 4001\n");
    CHECK_STR(text_of("err"), "");
    CHECK(!exists("t.txt.partial"));
    place_fini(&p);
}

TEST(writes_every_class_of_branch_in_18_bytes)
{
    static const uint8_t want[] = {
        0, 0x03, 0x0b, 0x20, 0x83, 0x3f, 0,    0, 0, 0x30, 0x11, 0x20, 0x83, 0x3f, 0,    0, 0, 1,
        1, 0xbe, 0x6b, 0x99, 0x40, 0x5a, 0x7f, 0, 0, 0xe4, 0x6b, 0x99, 0x40, 0x5a, 0x7f, 0, 0, 3,
        1, 0xc9, 0x6b, 0x99, 0x40, 0x5a, 0x7f, 0, 0, 0xb8, 0x6b, 0x99, 0x40, 0x5a, 0x7f, 0, 0, 2,
        0, 0x9f, 0x05, 0x40, 0,    0,    0,    0, 0, 0x5d, 0xce, 0xa5, 0x8c, 0x68, 0x7f, 0, 0, 0,
    };
    struct place p;
    struct mtrace_options o = options();
    place_init(&p);
    tell_branches();
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    check_bytes("t.bin", want, sizeof(want));
    const char *s = text_of("t.Statistics");
    CHECK_HAS(s, "mcfTrace: Traced 11 instructions\n"
                 "mcfTrace: Skipped 0 instructions\n"
                 "mcfTrace: Recorded 4 control transfer instructions.\n"
                 "\t1 ( %25.00 ) Unconditional Direct\n"
                 "\t1 ( %25.00 ) Conditional Direct Taken\n"
                 "\t1 ( %25.00 ) Conditional Direct Not Taken\n"
                 "\t1 ( %25.00 ) Unconditional Indirect\n"
                 "mcfTrace: Instrumentation Time: ");
    CHECK_HAS(s, " ms\nmcfTrace: Number of Threads: 2\n");
    place_fini(&p);
}

TEST(refuses_a_branch_without_class)
{
    struct place p;
    struct story s;
    struct mtrace_options o = options();
    place_init(&p);
    begin(&s, "x86-64");
    start(&s, 0);
    branch(&s, 0, 0x10, 0x20, VS_BR_COND | VS_BR_INDIRECT | VS_BR_TAKEN, 1);
    end(&s);
    CHECK_EQ(status_of(mcftrace_run, &o), 1);
    CHECK_HAS(text_of("err"), "the branch at 0x10 is conditional and indirect");
    CHECK(!exists("t.bin") && !exists("t.bin.partial") && !exists("t.Statistics"));
    place_fini(&p);
}

/* ---- operands -------------------------------------------------------------------------------- */

static uint8_t counting[300]; /* 1, 2, 3, ... */

static void tell_operands(void)
{
    /* 1.0 as the x87 keeps it */
    static const uint8_t one[10] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
    struct story s;
    for (size_t i = 0; i < sizeof(counting); i++)
        counting[i] = (uint8_t)(i + 1);
    begin(&s, "x86-64");
    start(&s, 0);
    operand(&s, VS_STORE, 0x400711, 0x7fff1000, 1, 0xff, NULL, 1);
    operand(&s, VS_STORE, 0x40074d, 0x7fff1010, 10, 0, one, 1);
    operand(&s, VS_LOAD, 0x40079f, 0x7fff1010, 10, 0, one, 1);
    operand(&s, VS_LOAD, 0x4007b0, 0x7fff1020, 16, 0, counting, 1);
    operand(&s, VS_STORE, 0x4007b8, 0x7fff1040, 32, 0, counting, 1);
    /* inc dword [m]: the read, then the write */
    operand(&s, VS_LOAD, 0x4007c0, 0x7fff1060, 4, 0x12345678, NULL, 1);
    operand(&s, VS_STORE, 0x4007c0, 0x7fff1060, 4, 0x12345679, NULL, 0);
    operand(&s, VS_LOAD, 0x4007c8, 0x7fff1070, 2, 0xbeef, NULL, 1);
    operand(&s, VS_LOAD, 0x4007d0, 0x7fff1078, 3, 0xa0b0c, NULL, 1);
    end(&s);
}

TEST(writes_operands_as_text)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = o.store = true;
    place_init(&p);
    tell_operands();
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    CHECK_STR(
        text_of("t.txt"),
        "0, S, 0x0000000000400711, 0x000000007fff1000, 1, 0xff\n"
        "0, S, 0x000000000040074d, 0x000000007fff1010, 10, 0x3fff8000000000000000\n"
        "0, L, 0x000000000040079f, 0x000000007fff1010, 10, 0x3fff8000000000000000\n"
        "0, L, 0x00000000004007b0, 0x000000007fff1020, 16, 0x100f0e0d0c0b0a090807060504030201\n"
        "0, S, 0x00000000004007b8, 0x000000007fff1040, 32, "
        "0x201f1e1d1c1b1a191817161514131211100f0e0d0c0b0a090807060504030201\n"
        "0, L, 0x00000000004007c0, 0x000000007fff1060, 4, 0x12345678\n"
        "0, S, 0x00000000004007c0, 0x000000007fff1060, 4, 0x12345679\n"
        "0, L, 0x00000000004007c8, 0x000000007fff1070, 2, 0xbeef\n"
        "0, L, 0x00000000004007d0, 0x000000007fff1078, 3, 0x0a0b0c\n");
    place_fini(&p);
}

TEST(writes_loads_alone_as_text)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = true;
    place_init(&p);
    tell_operands();
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"),
              "0, 0x000000000040079f, 0x000000007fff1010, 0x3fff8000000000000000\n"
              "0, 0x00000000004007b0, 0x000000007fff1020, 0x100f0e0d0c0b0a090807060504030201\n"
              "0, 0x00000000004007c0, 0x000000007fff1060, 0x12345678\n"
              "0, 0x00000000004007c8, 0x000000007fff1070, 0xbeef\n"
              "0, 0x00000000004007d0, 0x000000007fff1078, 0x0a0b0c\n");
    const char *s = text_of("t.Statistics");
    CHECK_HAS(s, "Number of Threads: 1\nTraced 8 instructions\nSkipped 0 instructions\n"
                 "Total Load Operands: 5\n"
                 "\t0 ( %0.00 ) Byte Operands\n"
                 "\t1 ( %20.00 ) Word Operands\n"
                 "\t1 ( %20.00 ) Doubleword Operands\n"
                 "\t0 ( %0.00 ) Quadword Operands\n"
                 "\t1 ( %20.00 ) Extended Precision Operands\n"
                 "\t1 ( %20.00 ) Octaword Operands\n"
                 "\t0 ( %0.00 ) Hexaword Operands\n"
                 "\t1 ( %20.00 ) Operands of other size\n");
    CHECK(!strstr(s, "Store"));
    place_fini(&p);
}

TEST(writes_operands_in_binary)
{
    static const uint8_t want[] = {
        0,    1,    0x11, 7,    0x40, 0,    0,    0,    0,    0,    0,    0x10, 0xff, 0x7f, 0,
        0,    0,    0,    1,    0xff, 0,    1,    0x4d, 7,    0x40, 0,    0,    0,    0,    0,
        0x10, 0x10, 0xff, 0x7f, 0,    0,    0,    0,    10,   0x3f, 0xff, 0x80, 0,    0,    0,
        0,    0,    0,    0,    0,    0,    0x9f, 7,    0x40, 0,    0,    0,    0,    0,    0x10,
        0x10, 0xff, 0x7f, 0,    0,    0,    0,    10,   0x3f, 0xff, 0x80, 0,    0,    0,    0,
        0,    0,    0,    0,    0,    0xb0, 7,    0x40, 0,    0,    0,    0,    0,    0x20, 0x10,
        0xff, 0x7f, 0,    0,    0,    0,    16,   16,   15,   14,   13,   12,   11,   10,   9,
        8,    7,    6,    5,    4,    3,    2,    1,    0,    1,    0xb8, 7,    0x40, 0,    0,
        0,    0,    0,    0x40, 0x10, 0xff, 0x7f, 0,    0,    0,    0,    32,   32,   31,   30,
        29,   28,   27,   26,   25,   24,   23,   22,   21,   20,   19,   18,   17,   16,   15,
        14,   13,   12,   11,   10,   9,    8,    7,    6,    5,    4,    3,    2,    1,    0,
        0,    0xc0, 7,    0x40, 0,    0,    0,    0,    0,    0x60, 0x10, 0xff, 0x7f, 0,    0,
        0,    0,    4,    0x12, 0x34, 0x56, 0x78, 0,    1,    0xc0, 7,    0x40, 0,    0,    0,
        0,    0,    0x60, 0x10, 0xff, 0x7f, 0,    0,    0,    0,    4,    0x12, 0x34, 0x56, 0x79,
        0,    0,    0xc8, 7,    0x40, 0,    0,    0,    0,    0,    0x70, 0x10, 0xff, 0x7f, 0,
        0,    0,    0,    2,    0xbe, 0xef, 0,    0,    0xd0, 7,    0x40, 0,    0,    0,    0,
        0,    0x78, 0x10, 0xff, 0x7f, 0,    0,    0,    0,    3,    0x0a, 0x0b, 0x0c,
    };
    struct place p;
    struct mtrace_options o = options();
    o.store = true;
    place_init(&p);
    tell_operands();
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    check_bytes("t.bin", want, sizeof(want));
    CHECK_HAS(text_of("t.Statistics"), "Total Store Operands: 4\n"
                                       "\t1 ( %25.00 ) Byte Operands\n"
                                       "\t0 ( %0.00 ) Word Operands\n"
                                       "\t1 ( %25.00 ) Doubleword Operands\n"
                                       "\t0 ( %0.00 ) Quadword Operands\n"
                                       "\t1 ( %25.00 ) Extended Precision Operands\n"
                                       "\t0 ( %0.00 ) Octaword Operands\n"
                                       "\t1 ( %25.00 ) Hexaword Operands\n"
                                       "\t0 ( %0.00 ) Operands of other size\n");
    place_fini(&p);
}

TEST(leaves_the_kind_out_of_loads_alone)
{
    struct place p;
    struct mtrace_options o = options();
    place_init(&p);
    tell_operands();
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    struct file f = file_load("t.bin");
    CHECK_EQ(f.size, 5 * 18 + 10 + 16 + 4 + 2 + 3);
    CHECK_EQ(f.data[17], 10);
    CHECK_EQ(f.data[18], 0x3f);
    file_free(&f);
    place_fini(&p);
}

/* The byte for the size holds no more than 255. */
TEST(splits_operands_over_255_bytes_in_binary)
{
    struct place p;
    struct story s;
    struct mtrace_options o = options();
    place_init(&p);
    for (size_t i = 0; i < sizeof(counting); i++)
        counting[i] = (uint8_t)(i + 1);
    begin(&s, "x86-64");
    start(&s, 0);
    operand(&s, VS_LOAD, 0x10, 0x1000, 255, 0, counting, 1);
    operand(&s, VS_LOAD, 0x20, 0x2000, 300, 0, counting, 1);
    end(&s);
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    struct file f = file_load("t.bin");
    CHECK_EQ(f.size, 18 + 255 + 3 * 18 + 300);
    CHECK_EQ(f.data[17], 255);
    const uint8_t *d = f.data + 18 + 255;
    static const struct {
        unsigned addr, size;
    } pieces[] = {{0x2000, 128}, {0x2080, 128}, {0x2100, 44}};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(d[1], 0x20);
        CHECK_EQ(d[9] | d[10] << 8, pieces[i].addr);
        CHECK_EQ(d[17], pieces[i].size);
        for (unsigned k = 0; k < pieces[i].size; k++)
            CHECK_EQ(d[18 + k], counting[128 * i + pieces[i].size - 1 - k]);
        d += 18 + pieces[i].size;
    }
    file_free(&f);
    CHECK_HAS(text_of("t.Statistics"), "Total Load Operands: 2\n");
    place_fini(&p);
}

/* ---- window ---------------------------------------------------------------------------------- */

static void tell_two_threads(void)
{
    struct story s;
    begin(&s, "x86-64");
    start(&s, 0);
    start(&s, 1);
    branch(&s, 0, 0xa0, 0x1, JUMP, 5);               /* 5 */
    operand(&s, VS_LOAD, 0xa1, 0x1, 1, 1, NULL, 5);  /* 10, of thread 0 */
    branch(&s, 1, 0xb0, 0x1, JUMP, 2);               /* 12 */
    operand(&s, VS_STORE, 0xa1, 0x1, 1, 1, NULL, 0); /* 10 still */
    operand(&s, VS_LOAD, 0xa2, 0x1, 1, 1, NULL, 3);  /* 15 */
    branch(&s, 1, 0xb1, 0x1, JUMP, 1);               /* 16 */
    operand(&s, VS_STORE, 0xa2, 0x1, 1, 1, NULL, 0); /* 15 still */
    branch(&s, 0, 0xa3, 0x1, JUMP, 4);               /* 20 */
    start(&s, 2);
    branch(&s, 2, 0xc0, 0x1, JUMP, 9);
    end(&s);
}

/* The addresses of the instructions in an ASCII trace, which is as wide as they need. */
static const char *pcs(void)
{
    static char list[256];
    const char *text = text_of("t.txt");
    list[0] = 0;
    for (const char *at = text; (at = strstr(at, "0x00000000000000")); at = strchr(at, '\n'))
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%.2s ", at + 16);
    return list;
}

static void check_window(tool *run, uint64_t skip, uint64_t length, const char *want,
                         const char *counts)
{
    struct mtrace_options o = options();
    o.ascii = o.store = true;
    o.skip = skip;
    o.length = length;
    CHECK_EQ(status_of(run, &o), 0);
    CHECK_STR(pcs(), want);
    CHECK_HAS(text_of("t.Statistics"), counts);
}

TEST(keeps_to_the_window_of_instructions)
{
    const uint64_t all = UINT64_MAX;
    struct place p;
    place_init(&p);
    tell_two_threads();
    check_window(mcftrace_run, 0, all, "a0 b0 b1 a3 c0 ", "Traced 29 instructions\n");
    check_window(mcftrace_run, 5, all, "b0 b1 a3 c0 ", "Traced 24 instructions\n");
    check_window(mcftrace_run, 4, all, "a0 b0 b1 a3 c0 ", "Traced 25 instructions\n");
    check_window(mcftrace_run, 0, 12, "a0 b0 ", "Traced 12 instructions\n");
    check_window(mcftrace_run, 0, 11, "a0 ", "Traced 11 instructions\n");
    check_window(mcftrace_run, 11, 5, "b0 b1 ", "Traced 5 instructions\n");
    check_window(mcftrace_run, 11, 5, "b0 b1 ", "Skipped 11 instructions\n");
    check_window(mcftrace_run, 100, 5, "", "Skipped 29 instructions\n");
    check_window(mcftrace_run, 2, all - 1, "a0 b0 b1 a3 c0 ", "Traced 27 instructions\n");
    /* A store that comes late belongs to the instruction of its load. */
    check_window(mlstrace_run, 9, 1, "a1 a1 ", "Traced 1 instructions\n");
    check_window(mlstrace_run, 10, 4, "", "Traced 4 instructions\n");
    check_window(mlstrace_run, 10, 5, "a2 a2 ", "Traced 5 instructions\n");
    check_window(mlstrace_run, 14, 1, "a2 a2 ", "Skipped 14 instructions\n");
    /* It stops where nothing of the window can follow: thread 2 is not met. */
    check_window(mlstrace_run, 10, 5, "a2 a2 ", "Number of Threads: 2\n");
    place_fini(&p);
}

TEST(counts_what_a_gap_left_out_as_skipped)
{
    struct place p;
    struct story s;
    place_init(&p);
    begin(&s, "x86-64");
    start(&s, 0);
    branch(&s, 0, 0xa0, 0x1, JUMP, 2);
    tell(&s, (struct vs_event){.kind = VS_GAP, .pc = 0x10, .addr = 100, .icount = 1}, NULL);
    branch(&s, 0, 0xa1, 0x1, JUMP, 3);
    end(&s);
    check_window(mcftrace_run, 0, UINT64_MAX, "a0 a1 ",
                 "Traced 6 instructions\nmcfTrace: Skipped 100 instructions\n");
    check_window(mcftrace_run, 2, 2, "",
                 "Traced 2 instructions\nmcfTrace: Skipped 102 instructions\n");
    check_window(mcftrace_run, 3, UINT64_MAX, "a1 ",
                 "Traced 3 instructions\nmcfTrace: Skipped 103 instructions\n");
    place_fini(&p);
}

/* A thread tells of its gap when it next runs: the others have gone on meanwhile. */
TEST(loses_no_instruction_to_a_late_gap)
{
    struct place p;
    struct story s;
    place_init(&p);
    begin(&s, "x86-64");
    start(&s, 0);
    start(&s, 1);
    tell(&s, (struct vs_event){.kind = VS_GAP, .pc = 0x10, .addr = 1000}, NULL);
    branch(&s, 0, 0xa0, 0x1, JUMP, 5);
    branch(&s, 0, 0xa1, 0x1, JUMP, 5);
    tell(&s, (struct vs_event){.kind = VS_GAP, .thread = 1, .pc = 0x10, .addr = 900}, NULL);
    branch(&s, 1, 0xb0, 0x1, JUMP, 5);
    branch(&s, 0, 0xa2, 0x1, JUMP, 5);
    end(&s);
    check_window(mcftrace_run, 5, 10, "a1 b0 ", "Traced 10 instructions\n");
    check_window(mcftrace_run, 5, 15, "a1 b0 a2 ",
                 "Traced 15 instructions\nmcfTrace: Skipped 1905 instructions\n");
    place_fini(&p);
}

TEST(refuses_a_run_without_what_it_is_to_write)
{
    struct place p;
    struct story s = {.run.features = VS_RUN_LOADS};
    struct mtrace_options o = options();
    place_init(&p);
    s.w = run_open_writer("run.vest", &s.run, NULL);
    end(&s);
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    o.store = true;
    o.output = "u";
    CHECK_EQ(status_of(mlstrace_run, &o), 2);
    CHECK_HAS(text_of("err"), "run.vest: was recorded without stores\n");
    CHECK(!exists("u.bin") && !exists("u.Statistics"));
    CHECK_EQ(unlink("run.vest"), 0);
    s.run.features = 0;
    s.w = run_open_writer("run.vest", &s.run, NULL);
    end(&s);
    o.store = false;
    CHECK_EQ(status_of(mlstrace_run, &o), 2);
    CHECK_HAS(text_of("err"), "run.vest: was recorded without loads\n");
    CHECK(!exists("u.bin"));
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    place_fini(&p);
}

/* ---- filters --------------------------------------------------------------------------------- */

static void image(struct story *s, const char *path, uint64_t base, uint64_t at, uint64_t length)
{
    struct vs_image m = {.path = path, .symbols = "", .base = base, .start = at, .length = length};
    CHECK(vs_writer_image(s->w, &m) >= 0);
}

static void tell_images(void)
{
    struct story s;
    begin(&s, "x86-64");
    image(&s, "main", 0x80, 0x80, 0x20); /* 80 to 9f */
    image(&s, "lib", 0xa0, 0xa0, 0x10);  /* a0 to af */
    image(&s, "gone", 0, 0xf0, 0x10);
    start(&s, 0);
    for (uint64_t pc = 0x7e; pc < 0xb2; pc += 2)
        branch(&s, 0, pc, 1, JUMP, 1);
    end(&s);
}

/* "main" has f at 4 to 8 and g at 7 to 11 and, again, from 0x1e on; "lib" has f at 2 to 4. */
static int64_t find(const char *path, const char *name, struct mtrace_range *r, size_t capacity)
{
    CHECK(capacity >= 2);
    if (!strcmp(path, "gone"))
        return -VSE_IO;
    if (!strcmp(path, "lib")) {
        r[0] = (struct mtrace_range){2, 4};
        return !strcmp(name, "f");
    }
    CHECK_STR(path, "main");
    if (!strcmp(name, "f")) {
        r[0] = (struct mtrace_range){4, 8};
        return 1;
    }
    r[0] = (struct mtrace_range){0x1e, 0x400};
    r[1] = (struct mtrace_range){7, 11};
    return !strcmp(name, "g") ? 2 : 0;
}

TEST(keeps_to_the_main_image)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = o.main_only = true;
    place_init(&p);
    tell_images();
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "80 82 84 86 88 8a 8c 8e 90 92 94 96 98 9a 9c 9e ");
    CHECK_HAS(text_of("t.Statistics"), "Traced 26 instructions\n");
    place_fini(&p);
}

TEST(keeps_to_routines)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = true;
    o.find_routine = find;
    o.routines = (struct option_list){.count = 1, .items = {"f"}};
    place_init(&p);
    tell_images();
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "84 86 a2 ");
    o.main_only = true;
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "84 86 ");
    o.main_only = false;
    o.routines = (struct option_list){.count = 2, .items = {"g", "f"}};
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "84 86 88 8a 9e a2 ");
    place_fini(&p);
}

static void map(struct story *s, uint64_t at, uint64_t length, unsigned flags, uint64_t image)
{
    tell(s,
         (struct vs_event){
             .kind = VS_MAP, .pc = image, .addr = at, .value = length, .flags = (uint8_t)flags},
         NULL);
}

/* Every other address from 0x7e to 0xb0. */
static void sweep(struct story *s)
{
    for (uint64_t pc = 0x7e; pc < 0xb2; pc += 2)
        branch(s, 0, pc, 1, JUMP, 1);
}

/* "main" at 80; "lib" where it was; another program with "lib" as its main image at 82, "main" at
 * 90. */
static void tell_changes(void)
{
    const unsigned code = VS_MAP_READ | VS_MAP_EXEC;
    struct story s;
    begin(&s, "x86-64");
    image(&s, "main", 0x80, 0x80, 0x10);
    image(&s, "lib", 0xa0, 0xa0, 0x10);
    image(&s, "lib", 0x82, 0x82, 0x4);
    image(&s, "main", 0x90, 0x90, 0x10);
    map(&s, 0x80, 0x10, code, 0);
    start(&s, 0);
    sweep(&s); /* f is at 84 86; main at 80 to 8e */
    map(&s, 0xa0, 0x10, code, 1);
    sweep(&s); /* and at a2 */
    map(&s, 0xa0, 0x2, VS_MAP_GONE, VS_NO_IMAGE);
    sweep(&s); /* as before */
    map(&s, 0xa0, 0x10, VS_MAP_GONE, VS_NO_IMAGE);
    map(&s, 0x86, 0x2, VS_MAP_GONE, VS_NO_IMAGE);
    sweep(&s); /* at 84 alone; main less 86 */
    map(&s, 0, UINT64_C(1) << 47, VS_MAP_GONE, VS_NO_IMAGE);
    map(&s, 0x82, 0x4, code, 2);
    map(&s, 0x90, 0x10, code, 3);
    sweep(&s); /* at 84 94 96; main at 82 84 */
    end(&s);
}

TEST(follows_images_that_come_and_go)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = true;
    o.find_routine = find;
    o.routines = (struct option_list){.count = 1, .items = {"f"}};
    place_init(&p);
    tell_changes();
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "84 86 84 86 a2 84 86 a2 84 84 94 96 ");
    o.main_only = true;
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "84 86 84 86 84 86 84 84 ");
    o.routines.count = 0;
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "80 82 84 86 88 8a 8c 8e 80 82 84 86 88 8a 8c 8e 80 82 84 86 88 8a 8c 8e "
                     "80 82 84 88 8a 8c 8e 82 84 ");
    place_fini(&p);
}

TEST(refuses_filters_that_keep_nothing)
{
    struct place p;
    struct story s;
    struct mtrace_options o = options();
    place_init(&p);
    tell_images();
    o.routines = (struct option_list){.count = 2, .items = {"f", "h"}};
    o.find_routine = find;
    CHECK_EQ(status_of(mcftrace_run, &o), 2);
    CHECK_HAS(text_of("err"), "run.vest: no routine 'h' in its images; 1 of 3 could not be read");
    CHECK(!exists("t.bin"));
    CHECK_EQ(unlink("run.vest"), 0);
    begin(&s, "x86-64");
    start(&s, 0);
    end(&s);
    o = options();
    o.main_only = true;
    CHECK_EQ(status_of(mcftrace_run, &o), 2);
    CHECK_HAS(text_of("err"), "run.vest: names no image");
    place_fini(&p);
}

/* Something to look up in this very program. */
__attribute__((noinline, used)) static uint64_t to_be_found(uint64_t x)
{
    return x * 3 + 1;
}

TEST(finds_routines_by_their_symbols)
{
    struct place p;
    struct story s;
    char self[PATH_MAX];
    uint64_t pc = (uint64_t)(uintptr_t)to_be_found;
    struct mtrace_options o = options();
    struct mtrace_range range;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    CHECK(n > 0);
    self[n] = 0;
    CHECK_EQ(o.find_routine(self, "to_be_found", &range, 1), 1);
    CHECK(range.hi > range.lo && ((pc - range.lo) & 0xfff) == 0);
    CHECK(o.find_routine("none", "to_be_found", &range, 1) < 0);
    CHECK_EQ(o.find_routine(self, "not_to_be_found", &range, 1), 0);

    /* The image lies where the routine is at 0x90. */
    place_init(&p);
    begin(&s, "x86-64");
    image(&s, self, 0x90 - range.lo, 0x80, 0x40);
    start(&s, 0);
    branch(&s, 0, 0x8f, 1, JUMP, 1);
    branch(&s, 0, 0x90, 1, JUMP, 1);
    branch(&s, 0, 0x90 + range.hi - range.lo, 1, JUMP, 1);
    end(&s);
    o.ascii = true;
    o.routines = (struct option_list){.count = 1, .items = {"to_be_found"}};
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(pcs(), "90 ");
    place_fini(&p);
}

/* ---- disassembly ----------------------------------------------------------------------------- */

static void tell_code(const char *isa)
{
    static const uint8_t old[] = {0xe8, 0, 0, 0, 0}, new[] = {0xe9, 1, 1, 1, 1};
    struct story s;
    begin(&s, isa);
    CHECK_EQ(vs_writer_block(s.w, &(struct vs_block){0x10, old, 5, 1}), 0);
    CHECK_EQ(vs_writer_block(s.w, &(struct vs_block){0x10, new, 5, 1}), 1);
    start(&s, 0);
    branch(&s, 0, 0x10, 0x20, CALL, 1);
    branch(&s, 0, 0x30, 0x10, JUMP, 1);
    tell(&s, (struct vs_event){.kind = VS_CODE, .value = 1}, NULL);
    branch(&s, 0, 0x10, 0x20, JUMP, 1);
    operand(&s, VS_LOAD, 0x10, 0x40, 1, 7, NULL, 1);
    end(&s);
}

TEST(appends_operands_instructions_as_they_were)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = o.disasm = true;
    place_init(&p);
    tell_code("x86-64");
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"), "0, 0x0000000000000010, 0x0000000000000040, 0x07 jmp 0x1010116\n");
    place_fini(&p);
}

TEST(appends_instructions_in_intel_syntax)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = o.disasm = true;
    place_init(&p);
    tell_code("x86-64");
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"),
              "0, 0x0000000000000010, 0x0000000000000020, U, D, T call 0x15\n"
              "0, 0x0000000000000030, 0x0000000000000010, U, D, T\n"
              "0, 0x0000000000000010, 0x0000000000000020, U, D, T jmp 0x1010116\n");
    CHECK_HAS(text_of("out"), "Type&Outcome, Assembly Code\n");
    place_fini(&p);
}

TEST(appends_instructions_of_rv64)
{
    static const uint8_t code[] = {0xef, 0x00, 0x00, 0x01, 0x03, 0xc5, 0x05, 0x00};
    struct place p;
    struct story s;
    struct mtrace_options o = options();
    o.ascii = o.disasm = true;
    place_init(&p);
    begin(&s, "rv64");
    CHECK_EQ(vs_writer_block(s.w, &(struct vs_block){0x10, code, sizeof(code), 2}), 0);
    start(&s, 0);
    branch(&s, 0, 0x10, 0x20, CALL, 1);
    operand(&s, VS_LOAD, 0x14, 0x40, 1, 7, NULL, 1);
    end(&s);
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"), "0, 0x0000000000000010, 0x0000000000000020, U, D, T jal 20\n");
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"), "0, 0x0000000000000014, 0x0000000000000040, 0x07 lbu a0,0(a1)\n");
    place_fini(&p);
}

TEST(appends_nothing_for_an_unknown_isa)
{
    struct place p;
    struct mtrace_options o = options();
    o.ascii = o.disasm = true;
    place_init(&p);
    tell_code("vax");
    CHECK_EQ(status_of(mlstrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"), "0, 0x0000000000000010, 0x0000000000000040, 0x07\n");
    CHECK_HAS(text_of("out"), "mlsTrace: no disassembly of vax instructions\n");
    place_fini(&p);
}

/* ---- limits ---------------------------------------------------------------------------------- */

TEST(refuses_threads_over_255_in_binary_only)
{
    struct place p;
    struct story s;
    struct mtrace_options o = options();
    place_init(&p);
    begin(&s, "x86-64");
    for (unsigned t = 0; t < 300; t++)
        start(&s, t);
    branch(&s, 255, 0x10, 0x20, JUMP, 1);
    branch(&s, 256, 0x10, 0x20, JUMP, 1);
    end(&s);
    CHECK_EQ(status_of(mcftrace_run, &o), 2);
    CHECK_HAS(text_of("err"), "thread 256 does not fit in a binary descriptor's byte; give -a");
    CHECK(!exists("t.bin") && !exists("t.Statistics"));
    o.length = 1;
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    o.ascii = true;
    o.length = UINT64_MAX;
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    CHECK_STR(text_of("t.txt"), "255, 0x0000000000000010, 0x0000000000000020, U, D, T\n"
                                "256, 0x0000000000000010, 0x0000000000000020, U, D, T\n");
    CHECK_HAS(text_of("t.Statistics"), "Number of Threads: 300\n");
    place_fini(&p);
}

TEST(stops_before_the_file_is_too_large)
{
    struct place p;
    struct run r = run_generate(&(struct gen_options){.seed = 3, .events = 100000});
    struct mtrace_options o = options();
    o.max_mb = 1;
    place_init(&p);
    run_write("run.vest", &r, NULL, 5000);
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    struct file f = file_load("t.bin");
    CHECK_EQ(f.size, 1000000 / 18 * 18);
    CHECK_HAS(text_of("out"), "mcfTrace: stopped at 1 million bytes (-f)\n");
    CHECK_HAS(text_of("t.Statistics"), "Recorded 55555 control transfer instructions.\n");
    o.max_mb = 50;
    CHECK_EQ(status_of(mcftrace_run, &o), 0);
    struct file whole = file_load("t.bin");
    CHECK(whole.size > f.size);
    CHECK_MEM(whole.data, f.data, f.size);
    CHECK(!strstr(text_of("out"), "stopped"));
    file_free(&whole);
    file_free(&f);
    run_free(&r);
    place_fini(&p);
}
