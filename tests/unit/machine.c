/* SPDX-License-Identifier: MIT */
/* Programs on the simulated platform, through the library. The program is made here: a few words of
 * code in an ELF file. */
#include "target/target.h" /* must compile by itself */

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unittest.h"

#define BASE UINT64_C(0x10000)

/* A file with one segment: headers, then code that is entered at its start. */
struct program {
    int fd;
    char path[64];
};

static struct program make_program(const uint32_t *code, size_t words)
{
    size_t start = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), size = start + 4 * words;
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = EM_RISCV,
                       .e_version = EV_CURRENT,
                       .e_entry = BASE + start,
                       .e_phoff = sizeof(head),
                       .e_ehsize = sizeof(head),
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 1};
    Elf64_Phdr load = {.p_type = PT_LOAD,
                       .p_flags = PF_R | PF_W | PF_X,
                       .p_vaddr = BASE,
                       .p_paddr = BASE,
                       .p_filesz = size,
                       .p_memsz = size + 4096,
                       .p_align = 4096};
    struct program p = {.fd = memfd_create("program", 0)};
    CHECK(p.fd >= 0 && fchmod(p.fd, 0755) == 0);
    CHECK_EQ(write(p.fd, &head, sizeof(head)), sizeof(head));
    CHECK_EQ(write(p.fd, &load, sizeof(load)), sizeof(load));
    CHECK_EQ(write(p.fd, code, 4 * words), (ssize_t)(4 * words));
    snprintf(p.path, sizeof(p.path), "/proc/self/fd/%d", p.fd);
    return p;
}

/* Counts down from 1000 with a load and a store each time, and exits with 7. */
static const uint32_t loop[] = {
    0x3e800293, /* li t0,1000 */
    0xff010113, /* addi sp,sp,-16 */
    0x00513023, /* sd t0,0(sp) */
    0x00013303, /* ld t1,0(sp) */
    0xfff30293, /* addi t0,t1,-1 */
    0xfe029ae3, /* bnez t0,-12 */
    0x00700513, /* li a0,7 */
    0x05d00893, /* li a7,93 */
    0x00000073, /* ecall */
};

/* What a consumer was given. */
struct seen {
    uint64_t events, icount, kinds[VS_KIND_END];
    uint64_t last_cycle, digest;
    bool timed;
    uint64_t fail_after; /* 0: never */
};

static int put(void *context, const struct vs_batch *b)
{
    struct seen *s = context;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        CHECK_EQ(s->timed, b->cycles != NULL);
        if (b->cycles) {
            CHECK(b->cycles[i] >= s->last_cycle);
            s->last_cycle = b->cycles[i];
        }
        CHECK_EQ(vs_event_check(e, b->wide_size, NULL), 0);
        s->kinds[e->kind]++;
        s->icount += e->icount;
        uint64_t parts[] = {e->pc, e->addr, vs_event_is_wide(e) ? 0 : e->value, e->kind,
                            b->cycles ? b->cycles[i] : 0};
        for (size_t k = 0; k < 5; k++)
            s->digest = (s->digest ^ parts[k]) * UINT64_C(0x9e3779b97f4a7c15);
        if (++s->events == s->fail_after)
            return -VSE_IO;
    }
    return 0;
}

struct outcome {
    struct vs_machine_result result;
    struct vs_diag diag;
    bool theirs;
    int error;
};

static void simulate_code(struct outcome *o, struct vs_machine_options *options, struct seen *seen,
                          const uint32_t *code, size_t words)
{
    struct program program = make_program(code, words);
    char name[] = "program";
    char *argv[] = {name, NULL}, *envp[] = {NULL};
    struct vs_consumer consumer = {.context = seen, .put = put};
    options->process.path = program.path;
    options->process.argv = argv;
    options->process.envp = envp;
    options->consumer = seen ? &consumer : NULL;
    options->loads = options->stores = true;
    if (seen)
        seen->timed = options->config.timed;
    o->error = vs_machine_run(options, &o->result, &o->diag, &o->theirs);
    close(program.fd);
}

static void simulate(struct outcome *o, struct vs_machine_options *options, struct seen *seen)
{
    simulate_code(o, options, seen, loop, sizeof(loop) / 4);
}

static struct vs_machine_options fresh(bool timed)
{
    struct vs_machine_options options = {0};
    CHECK_EQ(vs_target_config_init(&options.config, "cs32"), 0);
    options.config.timed = timed;
    return options;
}

/* Two before the loop, four in it, three after. */
#define INSTRUCTIONS (2 + 4 * 1000 + 3)

TEST(runs_without_a_consumer)
{
    static struct outcome o;
    for (int timed = 0; timed < 2; timed++) {
        struct vs_machine_options options = fresh(timed);
        simulate(&o, &options, NULL);
        CHECK_EQ(o.error, 0);
        CHECK_EQ(WEXITSTATUS(o.result.status), 7);
        CHECK_EQ(o.result.stats.instructions, INSTRUCTIONS);
        CHECK_EQ(o.result.stats.threads, 1);
        CHECK_EQ(o.result.end, VS_END_EXIT);
        CHECK_EQ(o.result.stats.core[0].caches.loads, timed ? 1000 : 0);
        CHECK_EQ(o.result.stats.core[0].branches.conditionals, timed ? 1000 : 0);
    }
}

TEST(delivers_what_happened)
{
    static struct outcome o;
    for (int timed = 0; timed < 2; timed++) {
        struct seen seen = {0};
        struct vs_machine_options options = fresh(timed);
        simulate(&o, &options, &seen);
        CHECK_EQ(o.error, 0);
        CHECK_EQ(seen.icount, INSTRUCTIONS);
        CHECK_EQ(seen.kinds[VS_LOAD], 1000);
        CHECK_EQ(seen.kinds[VS_STORE], 1000);
        CHECK_EQ(seen.kinds[VS_BRANCH], 1000);
        CHECK_EQ(seen.kinds[VS_SYSCALL], 1);
        CHECK_EQ(seen.kinds[VS_THREAD_START], 1);
        CHECK_EQ(seen.kinds[VS_THREAD_EXIT], 1);
        CHECK_EQ(o.result.stats.recorded, INSTRUCTIONS);
        CHECK_EQ(o.result.stats.events, seen.events);
    }
}

TEST(does_the_same_again)
{
    static struct outcome o;
    uint64_t cycles = 0, digest = 0;
    for (int i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct vs_machine_options options = fresh(true);
        options.config.seed = 5;
        simulate(&o, &options, &seen);
        CHECK(i == 0 || (seen.digest == digest && o.result.stats.cycles == cycles));
        digest = seen.digest;
        cycles = o.result.stats.cycles;
    }
}

TEST(counts_in_windows)
{
    static struct outcome o;
    const struct vs_window windows[] = {{100, 50}, {150, 1}, {4000, 0}};
    for (int timed = 0; timed < 2; timed++) {
        struct seen seen = {0};
        struct vs_machine_options options = fresh(timed);
        options.windows = windows;
        options.window_count = 3;
        simulate(&o, &options, &seen);
        CHECK_EQ(o.error, 0);
        CHECK_EQ(seen.icount, 51 + INSTRUCTIONS - 4000);
        CHECK_EQ(o.result.stats.recorded, seen.icount);
        CHECK_EQ(o.result.stats.skipped, INSTRUCTIONS - seen.icount);
        CHECK_EQ(seen.kinds[VS_GAP], 2);
    }
}

TEST(passes_an_error_of_the_consumer_on)
{
    static struct outcome o;
    struct seen seen = {.fail_after = 100};
    struct vs_machine_options options = fresh(true);
    simulate(&o, &options, &seen);
    CHECK_EQ(o.error, -VSE_IO);
    CHECK(o.theirs);
}

static int enough(void *context, const struct vs_machine_stats *stats)
{
    (void)stats;
    ++*(unsigned *)context;
    return 1;
}

/* As one that shows the progress does. */
static int divide(void *context, const struct vs_machine_stats *stats)
{
    volatile double third = 1 / ((double)stats->cores + 2);
    ++*(unsigned *)context;
    return third > 1;
}

TEST(keeps_arithmetic_of_the_host_apart)
{
    /* Counts down long enough for a tick, and exits with its floating-point flags. */
    static const uint32_t flags[] = {
        0x002002b7, /* lui t0,0x200 */
        0xfff28293, /* addi t0,t0,-1 */
        0xfe029ee3, /* bnez t0,-4 */
        0x00102573, /* csrr a0,fflags */
        0x05d00893, /* li a7,93 */
        0x00000073, /* ecall */
    };
    static struct outcome o;
    for (int timed = 0; timed < 2; timed++) {
        struct vs_machine_options options = fresh(timed);
        unsigned ticks = 0;
        options.tick = divide;
        options.context = &ticks;
        simulate_code(&o, &options, NULL, flags, sizeof(flags) / 4);
        CHECK_EQ(o.error, 0);
        CHECK(ticks > 0);
        CHECK_EQ(WEXITSTATUS(o.result.status), 0);
    }
}

TEST(refuses_platforms_and_programs_that_cannot_be)
{
    static struct outcome o;
    struct vs_machine_options options = fresh(true);
    options.config.l1d_ways = 3;
    simulate(&o, &options, NULL);
    CHECK_EQ(o.error, -VSE_INVAL);
    CHECK(!o.theirs && *o.diag.text);

    unsigned ticks = 0;
    char name[] = "x", *argv[] = {name, NULL}, *envp[] = {NULL};
    options = fresh(false);
    options.process.path = "/nonexistent/program";
    options.process.argv = argv;
    options.process.envp = envp;
    options.tick = enough;
    options.context = &ticks;
    CHECK_EQ(vs_machine_run(&options, &o.result, &o.diag, &o.theirs), -VSE_NOTFOUND);
    CHECK_EQ(ticks, 0);
}
