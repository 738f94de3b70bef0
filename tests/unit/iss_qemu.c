/* SPDX-License-Identifier: MIT */
/* The simulator against qemu-riscv64, on random programs (rvstream.h): the same registers after
 * every block. VESTIGE_ISS_PROGRAMS in the environment: how many programs, of about
 * 120000 instructions each; 2 unless set. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/rv64/iss.h"

#include "isa/ram.h"
#include "rvstream.h"

#define BLOCKS 1000

struct output {
    uint8_t *bytes;
    size_t size, capacity;
};

static void append(struct output *o, const uint8_t *bytes, size_t size)
{
    if (o->size + size > o->capacity) {
        o->capacity = 2 * (o->size + size);
        o->bytes = realloc(o->bytes, o->capacity);
        CHECK(o->bytes);
    }
    memcpy(o->bytes + o->size, bytes, size);
    o->size += size;
}

static struct output run_qemu(const struct rvstream *s)
{
    const char *tmp = getenv("TMPDIR");
    char path[300], command[400];
    uint8_t bytes[4096];
    struct output o = {0};
    size_t n;
    snprintf(path, sizeof(path), "%s/rvstream.%d", tmp ? tmp : "/tmp", (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, s->image, s->size), s->size);
    close(fd);
    snprintf(command, sizeof(command), "qemu-riscv64 '%s'", path);
    FILE *in = popen(command, "r");
    CHECK(in);
    while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
        append(&o, bytes, n);
    int status = pclose(in);
    unlink(path);
    CHECK_EQ(status, 0);
    return o;
}

/* A machine with the program in memory. */
struct machine {
    struct vs_ram memory;
    struct vs_cpu_code *code;
    struct vs_hart hart;
    struct output output;
};

static void machine_init(struct machine *m, const struct rvstream *s)
{
    memset(&m->output, 0, sizeof(m->output));
    vs_ram_init(&m->memory);
    m->code = vs_rv64_cpu.code_new();
    CHECK(m->code);
    vs_rv64_cpu.init(&m->hart.cpu, 0, m->code, &m->memory.seen);
    CHECK_EQ(vs_ram_attach(&m->memory, &m->hart.cpu), 0);
    CHECK_EQ(vs_ram_map(&m->memory, RV_BASE, s->size, VS_MAP_READ | VS_MAP_WRITE | VS_MAP_EXEC), 0);
    CHECK_EQ(vs_ram_put(&m->memory, RV_BASE, s->image, s->size), 0);
    m->hart.cpu.pc = RV_CODE;
}

static void machine_fini(struct machine *m)
{
    free(m->output.bytes);
    vs_cpu_code_free(m->code);
    vs_ram_fini(&m->memory);
}

/* write and exit. Whether it goes on. */
static bool system_call(struct machine *m)
{
    uint8_t bytes[4096];
    uint64_t *x = m->hart.x;
    if (x[17] == 93)
        return false;
    CHECK(x[17] == 64 && x[10] == 1 && x[12] <= sizeof(bytes));
    CHECK_EQ(vs_ram_get(&m->memory, x[11], bytes, x[12]), 0);
    append(&m->output, bytes, x[12]);
    x[10] = x[12];
    return true;
}

static void fails(struct machine *m, int stop)
{
    uint8_t bytes[4] = {0};
    char text[VS_RV64_TEXT_MAX] = "?";
    vs_ram_get(&m->memory, m->hart.cpu.pc, bytes, 4);
    vs_rv64_format(bytes, 4, m->hart.cpu.pc, text, sizeof(text));
    unittest_fail(__FILE__, __LINE__, "stop %d at %#" PRIx64 ", tval %#" PRIx64 ": %s", stop,
                  m->hart.cpu.pc, m->hart.cpu.fault, text);
}

/* Runs in slices of random length, the shortest a single instruction. */
static void run_slices(struct machine *m, uint64_t seed)
{
    struct rng rng = rng_init(seed);
    for (;;) {
        uint64_t before = m->hart.cpu.retired,
                 most = rng_below(&rng, 8) ? 1 + rng_below(&rng, 70) : 1;
        int stop = vs_cpu_run(&m->hart.cpu, most);
        if (stop != VS_STOP_LIMIT && stop != VS_STOP_CALL)
            fails(m, stop);
        CHECK(stop == VS_STOP_CALL ? m->hart.cpu.retired <= before + most
                                   : m->hart.cpu.retired == before + most);
        if (stop == VS_STOP_CALL && !system_call(m))
            return;
    }
}

static void run_whole(struct machine *m)
{
    for (;;) {
        int stop = vs_cpu_run(&m->hart.cpu, UINT64_MAX);
        if (stop != VS_STOP_CALL)
            fails(m, stop);
        if (!system_call(m))
            return;
    }
}

/* Every record is where the one before led to; together they are all instructions. */
static uint64_t check_log(const struct vs_cpu_log *log, uint64_t *next)
{
    uint64_t retired = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct vs_cpu_record *r = &log->records[i];
        unsigned kind = r->kind & VS_RECORD_KIND;
        if (kind == VS_RECORD_AMO_STORE)
            continue;
        CHECK_EQ(r->pc, *next);
        *next = kind == VS_RECORD_BRANCH && r->kind & VS_RECORD_DONE ? r->addr
                : r->kind & VS_RECORD_SHORT                          ? r->pc + 2
                                                                     : r->pc + 4;
        retired++;
    }
    return retired;
}

static void run_observed(struct machine *m)
{
    static struct vs_cpu_record records[1000];
    struct vs_cpu_log log = {.records = records, .capacity = 1000};
    uint64_t next = m->hart.cpu.pc, retired = 0;
    for (;;) {
        log.count = 0;
        int stop = vs_cpu_run_observed(&m->hart.cpu, UINT64_MAX, &log);
        retired += check_log(&log, &next);
        CHECK_EQ(retired, m->hart.cpu.retired);
        CHECK_EQ(next, m->hart.cpu.pc);
        if (stop != VS_STOP_CALL && stop != VS_STOP_LOG)
            fails(m, stop);
        if (stop == VS_STOP_CALL && !system_call(m))
            return;
    }
}

static const char *register_name(size_t index)
{
    return index < 32   ? vs_rv64_xname((unsigned)index)
           : index < 64 ? vs_rv64_fname((unsigned)index - 32)
                        : "fcsr";
}

static void list_block(const struct rvstream *s, size_t block)
{
    uint64_t pc = s->blocks[block];
    char text[VS_RV64_TEXT_MAX];
    do {
        int n = vs_rv64_format(s->image + (pc - RV_BASE), 4, pc, text, sizeof(text));
        printf("  %" PRIx64 "  %s\n", pc, n < 0 ? "?" : text);
        pc += (s->image[pc - RV_BASE] & 3) == 3 ? 4 : 2;
    } while (block + 1 < s->block_count ? pc < s->blocks[block + 1] : false);
}

static void agree(const struct rvstream *s, const struct output *got, const struct output *want)
{
    for (size_t block = 0; block < s->block_count; block++)
        for (size_t reg = 0; reg < RV_DUMP_SIZE / 8; reg++) {
            size_t at = block * RV_DUMP_SIZE + reg * 8;
            uint64_t g, w;
            CHECK(at + 8 <= got->size && at + 8 <= want->size);
            memcpy(&g, got->bytes + at, 8);
            memcpy(&w, want->bytes + at, 8);
            if (g == w)
                continue;
            list_block(s, block);
            unittest_fail(__FILE__, __LINE__,
                          "block %zu: %s is %016" PRIx64 ", qemu has %016" PRIx64, block,
                          register_name(reg), g, w);
        }
    CHECK_EQ(got->size, want->size);
    CHECK_MEM(got->bytes, want->bytes, got->size);
}

static uint64_t compare_program(uint64_t seed)
{
    static struct machine m;
    struct rvstream s;
    rvstream_make(&s, seed, BLOCKS);
    struct output want = run_qemu(&s);
    CHECK_EQ(want.size, BLOCKS * RV_DUMP_SIZE + RV_HALF - 1);
    for (unsigned way = 0; way < 3; way++) {
        machine_init(&m, &s);
        way == 0 ? run_whole(&m) : way == 1 ? run_slices(&m, seed) : run_observed(&m);
        agree(&s, &m.output, &want);
        machine_fini(&m);
    }
    rvstream_free(&s);
    free(want.bytes);
    return m.hart.cpu.retired;
}

TEST(agrees_with_qemu_on_random_programs)
{
    const char *wanted = getenv("VESTIGE_ISS_PROGRAMS");
    uint64_t programs = wanted ? strtoull(wanted, NULL, 10) : 2, instructions = 0;
    if (wanted)
        alarm(0);
    for (uint64_t seed = 1; seed <= programs; seed++) {
        instructions += compare_program(seed);
        if (wanted && seed % 10 == 0)
            printf("%" PRIu64 " programs, %" PRIu64 " instructions\n", seed, instructions);
    }
    CHECK(instructions > programs * 50000);
}

TEST(makes_programs_of_every_instruction)
{
    struct rvstream s;
    rvstream_make(&s, 1, BLOCKS);
    for (unsigned op = 0; op < VS_RV64_OPS; op++)
        if (!s.used[op] && op != VS_RV64_EBREAK)
            unittest_fail(__FILE__, __LINE__, "no %s", vs_rv64_row(op)->mnemonic);
    rvstream_free(&s);
}
