/* SPDX-License-Identifier: MIT */
/* The process of the simulated machine: the programs of tests/target print what they see, and that
 * is compared with what they print under qemu-riscv64. */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "processes.h"

#define OUTPUT_MAX 65536

static char *const no_environment[] = {NULL};

/* The path of a program of tests/target, which lies beside this one. */
static void target_path(char path[PATH_MAX], const char *name)
{
    char self[PATH_MAX - 64] = {0};
    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    snprintf(path, PATH_MAX, "%s/../target/%s", dirname(self), name);
}

/* What was written to a file of no name. */
static void take_output(int fd, char *text)
{
    ssize_t n = pread(fd, text, OUTPUT_MAX - 1, 0);
    CHECK(n >= 0);
    text[n] = 0;
    close(fd);
}

static int open_output(void)
{
    const char *tmp = getenv("TMPDIR");
    int fd = open(tmp ? tmp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    return fd;
}

/* Runs the program in the simulator, its standard output to text. */
static void simulate(struct run *r, char *const *argv, char *text)
{
    int fd = open_output(), kept = dup(1);
    CHECK(kept >= 0 && dup2(fd, 1) == 1);
    open_run(r, argv, no_environment);
    run_to_end(r);
    CHECK(dup2(kept, 1) == 1);
    close(kept);
    take_output(fd, text);
}

static int run_qemu(char *const *argv, char *text)
{
    int fd = open_output(), status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        char *args[8] = {(char[]){"qemu-riscv64"}};
        for (size_t i = 0; i < 6 && argv[i]; i++)
            args[i + 1] = argv[i];
        dup2(fd, 1);
        execvp(args[0], args);
        _exit(127);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    take_output(fd, text);
    return status;
}

/* Both print the same. The argument may be NULL. */
static void compare(const char *name, char *argument)
{
    static char ours[OUTPUT_MAX], theirs[OUTPUT_MAX];
    char path[PATH_MAX];
    char *argv[] = {path, argument, NULL};
    struct run r = {0};
    target_path(path, name);
    simulate(&r, argv, ours);
    CHECK_EQ(run_qemu(argv, theirs), 0);
    CHECK(theirs[0]);
    CHECK_STR(ours, theirs);
    CHECK_EQ(r.p->status, 0);
    CHECK_EQ(r.p->unsupported_count, 0);
    vs_process_close(r.p);
}

TEST(does_with_files_what_linux_does)
{
    const char *tmp = getenv("TMPDIR");
    char dir[PATH_MAX];
    snprintf(dir, sizeof(dir), "%s/process.XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(dir));
    compare("files", dir);
    CHECK_EQ(rmdir(dir), 0);
}

TEST(maps_memory_as_linux_does)
{
    compare("maps", NULL);
}

TEST(delivers_signals_as_linux_does)
{
    compare("signals", NULL);
}

TEST(runs_threads_that_wait_for_each_other)
{
    compare("threads", NULL);
}

/* What the program prints with an argument, beyond what qemu can do, ends so. */
static void check_special(const char *name, const char *end)
{
    static char text[OUTPUT_MAX];
    char path[PATH_MAX];
    char *argv[] = {path, (char[]){"all"}, NULL};
    struct run r = {0};
    target_path(path, name);
    simulate(&r, argv, text);
    CHECK(strlen(text) > strlen(end));
    CHECK_STR(text + strlen(text) - strlen(end), end);
    vs_process_close(r.p);
}

TEST(starts_a_thread_by_clone3)
{
    check_special("threads", "clone3 1, seen 42\n");
}

TEST(maps_memory_better_than_qemu)
{
    check_special("maps", "no replacing: File exists\n"
                          "dontneed: done\n"
                          "first: read 0 written\n"
                          "second: read 7 written\n"
                          "too much: Cannot allocate memory\n");
}

TEST(refuses_arguments_that_make_no_sense)
{
    static char text[OUTPUT_MAX];
    char path[PATH_MAX];
    char *argv[] = {path, NULL};
    struct run r = {0};
    target_path(path, "errors");
    simulate(&r, argv, text);
    CHECK_STR(text, "63 calls, 0 wrong\n");
    CHECK_EQ(r.p->unsupported_count, 1);
    CHECK_EQ(r.p->unsupported[0].number, 5000);
    vs_process_close(r.p);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static int status_of(const char *how, struct run *r)
{
    char path[PATH_MAX], argument[32];
    char *argv[] = {path, argument, NULL};
    target_path(path, "ends");
    snprintf(argument, sizeof(argument), "%s", how);
    open_run(r, argv, no_environment);
    run_to_end(r);
    return r->p->status;
}

TEST(ends_with_the_status_of_linux)
{
    static const struct {
        const char *how;
        int status;
    } cases[] = {
        {"status", (342 & 255) << 8},
        {"abort", SIGABRT},
        {"fault", SIGSEGV},
        {"blocked", SIGSEGV},
        {"ignored", SIGSEGV},
        {"illegal", SIGILL},
        {"misaligned", SIGBUS},
        {"stack", SIGSEGV},
        {"last", 9 << 8},
        {"other", 7 << 8},
        {"killed", SIGKILL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run r = {0};
        int status = status_of(cases[i].how, &r);
        if (status != cases[i].status)
            unittest_fail(__FILE__, __LINE__, "%s: status %x", cases[i].how, status);
        CHECK_EQ(r.effects[VS_EFFECT_ENDED], r.p->started);
        CHECK_EQ(r.p->alive, 0);
        vs_process_close(r.p);
    }
}

TEST(names_what_is_not_supported)
{
    struct run r = {0};
    CHECK_EQ(status_of("fork", &r), 3 << 8);
    CHECK_EQ(r.p->unsupported_count, 1);
    CHECK_EQ(r.p->unsupported[0].number, 220); /* clone */
    CHECK_EQ(r.p->unsupported[0].times, 1);
    CHECK(r.p->unsupported[0].pc);
    vs_process_close(r.p);
}

TEST(waits_for_the_host)
{
    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        usleep(100000);
        _exit(write(fds[1], "hello", 5) != 5);
    }
    CHECK_EQ(dup2(fds[0], 0), 0);
    struct run r = {0};
    CHECK_EQ(status_of("read", &r), 5 << 8);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    vs_process_close(r.p);
}

static void until_blocked(struct run *r)
{
    while (r->p->tasks[0]->state == VS_TASK_READY)
        run_slice(r, r->p->tasks[0]);
}

TEST(takes_signals_from_outside)
{
    char path[PATH_MAX];
    char *argv[] = {path, (char[]){"wait"}, NULL};
    struct run r = {0};
    target_path(path, "ends");
    open_run(&r, argv, no_environment);
    until_blocked(&r);
    CHECK_EQ(vs_process_deadline(r.p), UINT64_MAX);
    CHECK(!vs_process_waits(r.p));
    CHECK_EQ(vs_process_signal(r.p, SIGCHLD), 0); /* ignored */
    CHECK_EQ(r.p->tasks[0]->state, VS_TASK_BLOCKED);
    CHECK_EQ(vs_process_signal(r.p, SIGTERM), 0);
    CHECK_EQ(r.p->tasks[0]->state, VS_TASK_READY);
    run_to_end(&r);
    CHECK_EQ(r.p->status, SIGTERM);
    vs_process_close(r.p);
}

TEST(stops_waiting_when_interrupted)
{
    struct vs_interrupt interrupt = {.shared = 1u << SIGTERM};
    char path[PATH_MAX];
    char *argv[] = {path, (char[]){"read"}, NULL};
    struct vs_process_options options = {
        .path = path, .argv = argv, .cores = 1, .interrupt = &interrupt};
    struct run r = {0};
    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    CHECK_EQ(dup2(fds[0], 0), 0);
    target_path(path, "ends");
    CHECK_EQ(vs_process_open(&r.p, &options, NULL), 0);
    until_blocked(&r);
    CHECK(vs_process_waits(r.p));
    CHECK_EQ(vs_process_wait(r.p), 0);
    CHECK_EQ(r.p->tasks[0]->state, VS_TASK_BLOCKED);
    vs_process_close(r.p);
}

/* ---- effects --------------------------------------------------------------------------------- */

TEST(has_the_same_effects_in_every_run)
{
    static const char *const names[] = {"maps", "signals", "threads"};
    static char text[2][OUTPUT_MAX];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[PATH_MAX];
        char *argv[] = {path, NULL};
        struct run r[2] = {0};
        target_path(path, names[i]);
        for (size_t k = 0; k < 2; k++) {
            simulate(&r[k], argv, text[k]);
            vs_process_close(r[k].p);
        }
        CHECK_STR(text[0], text[1]);
        CHECK_EQ(r[0].instructions, r[1].instructions);
        CHECK_EQ(r[0].digest, r[1].digest);
    }
}

struct seen {
    const struct vs_task *calling; /* whose CALL came last */
    uint64_t calls, restarts, writes, starts;
    const char *wrong; /* told at the end: standard output is the program's until then */
};

/* Writes for a call come after its end, or else for a task that is gone. */
static void check_order(struct run *r, const struct vs_effect *e)
{
    struct seen *s = r->context;
    uint8_t byte;
    if (e->kind == VS_EFFECT_CALL) {
        if (e->pc != e->task->call.pc)
            s->wrong = "a call at another place";
        s->calling = e->task;
        s->calls++;
        s->restarts += e->restart;
    }
    if (e->kind == VS_EFFECT_WROTE) {
        if (!e->size || vs_ram_get(&r->p->memory, e->addr, &byte, 1) ||
            vs_ram_get(&r->p->memory, e->addr + e->size - 1, &byte, 1))
            s->wrong = "written where nothing is";
        if (e->pc && e->task->state != VS_TASK_ENDED && s->calling != e->task)
            s->wrong = "written before the call ended";
        s->writes++;
    }
    s->starts += e->kind == VS_EFFECT_STARTED;
}

TEST(tells_effects_in_order)
{
    static char text[OUTPUT_MAX];
    char path[PATH_MAX];
    char *argv[] = {path, NULL};
    struct seen seen = {0};
    struct run r = {.look = check_order, .context = &seen};
    target_path(path, "signals");
    simulate(&r, argv, text);
    CHECK_STR(seen.wrong ? seen.wrong : "", "");
    CHECK(seen.calls > 100 && seen.writes > 50);
    CHECK_EQ(seen.restarts, 1);
    CHECK_EQ(seen.starts, r.p->started);
    CHECK(r.effects[VS_EFFECT_SIGNAL] >= r.effects[VS_EFFECT_SIGRETURN]);
    CHECK(r.effects[VS_EFFECT_SIGRETURN] > 10);
    vs_process_close(r.p);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_refused(const char *path, int error, const char *words)
{
    struct vs_diag diag = {0};
    char *argv[] = {(char[]){"x"}, NULL};
    struct vs_process_options options = {.path = path, .argv = argv, .cores = 1};
    struct vs_process *p;
    CHECK_EQ(vs_process_check(path, &diag), -error);
    CHECK_HAS(diag.text, words);
    CHECK_EQ(vs_process_open(&p, &options, &diag), -error);
    CHECK(!p);
}

TEST(refuses_what_is_no_program)
{
    check_refused("/nowhere/program", VSE_NOTFOUND, "No such file");
    check_refused("/proc/self/exe", VSE_INVAL, "RISC-V");
    check_refused("/etc/passwd", VSE_INVAL, "not an ELF file");
    check_refused("/", VSE_INVAL, "not a regular file");
}

/* Every byte of the headers, changed: refused, or loaded and run, but never a crash. */
TEST(survives_damaged_programs)
{
    const char *tmp = getenv("TMPDIR");
    static uint8_t bytes[1 << 20];
    char from[PATH_MAX], path[PATH_MAX];
    char *argv[] = {path, NULL};
    struct vs_process_options options = {
        .path = path, .argv = argv, .cores = 1, .memory_limit = 64 << 20};
    target_path(from, "ends");
    snprintf(path, sizeof(path), "%s/damaged.%d", tmp ? tmp : "/tmp", (int)getpid());
    int in = open(from, O_RDONLY);
    ssize_t size = read(in, bytes, sizeof(bytes));
    CHECK(size > 1000);
    close(in);
    for (size_t at = 0; at < 64 + 8 * 56; at++) {
        struct vs_process *p = NULL;
        uint8_t kept = bytes[at];
        bytes[at] ^= (uint8_t)(1 + at * 37);
        int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
        CHECK_EQ(write(out, bytes, (size_t)size), size);
        close(out);
        bytes[at] = kept;
        struct vs_diag diag = {0};
        int err = vs_process_open(&p, &options, &diag);
        CHECK(err ? !p : !!p);
        if (!err)
            vs_cpu_run(p->tasks[0]->cpu, 10000);
        vs_process_close(p);
    }
    unlink(path);
}

TEST(keeps_to_the_limit_of_memory)
{
    char path[PATH_MAX];
    char *argv[] = {path, NULL};
    struct vs_process_options options = {
        .path = path, .argv = argv, .cores = 1, .memory_limit = 64 << 10};
    struct vs_diag diag = {0};
    struct vs_process *p;
    target_path(path, "ends");
    CHECK_ERR(vs_process_open(&p, &options, &diag), VSE_LIMIT);
    CHECK_HAS(diag.text, "takes more than the 0 MiB");
}

/* ---- hostile programs ------------------------------------------------------------------------ */

/* Calls that would change files, by names that happen to lie in memory. */
static bool changes_files(uint64_t number)
{
    return (number >= 33 && number <= 56 && number != 43 && number != 44 && number != 48 &&
            number != 49 && number != 50) ||
           number == 88 || number == 276;
}

static uint64_t any_argument(uint64_t *state, const struct vs_process *p)
{
    const uint64_t special[] = {0,
                                1,
                                2,
                                3,
                                8,
                                64,
                                4095,
                                4096,
                                65536,
                                p->entry,
                                p->image.start,
                                p->image.start + p->image.length - 8,
                                vs_cpu_get(p->tasks[0]->cpu, 2),
                                vs_cpu_get(p->tasks[0]->cpu, 2) & ~UINT64_C(4095),
                                UINT64_C(1) << 38,
                                (UINT64_C(1) << 38) - 4096,
                                INT64_MAX,
                                UINT64_C(1) << 63,
                                UINT64_MAX - 4095,
                                UINT64_MAX};
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t n = *state >> 33;
    return n % 4 ? special[n / 4 % (sizeof(special) / sizeof(special[0]))] : n / 4 % 300;
}

/* One call; a task that waits is woken by time, or else killed. */
static void any_call(struct run *r, uint64_t *state)
{
    struct vs_process *p = r->p;
    struct vs_task *t = p->tasks[0];
    uint64_t sp = vs_cpu_get(t->cpu, 2), number = (any_argument(state, p) + (*state >> 50)) % 460;
    if (changes_files(number) || number == 94)
        return;
    for (unsigned i = 10; i < 16; i++)
        vs_cpu_put(t->cpu, i, any_argument(state, p));
    vs_cpu_put(t->cpu, 17, number);
    t->cpu->pc = p->entry + 4;
    CHECK_EQ(vs_process_call(p, t), 0);
    if (t->state == VS_TASK_BLOCKED && vs_process_deadline(p) != UINT64_MAX) {
        p->now = vs_process_deadline(p);
        CHECK_EQ(vs_process_advance(p), 0);
    }
    if (t->state == VS_TASK_BLOCKED)
        CHECK_EQ(vs_process_signal(p, SIGKILL), 0);
    if (t->attention)
        CHECK_EQ(vs_process_attend(p, t), 0);
    vs_cpu_put(t->cpu, 2, sp);
    take_effects(r);
}

TEST(survives_any_call)
{
    char path[PATH_MAX];
    char *argv[] = {path, NULL};
    uint64_t state = 1;
    int null = open("/dev/null", O_RDWR), kept = dup(1);
    CHECK(null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2);
    target_path(path, "ends");
    for (unsigned i = 0; i < 100; i++) {
        struct vs_process_options options = {
            .path = path, .argv = argv, .cores = 1 + i % 70, .memory_limit = 64 << 20};
        struct run r = {0};
        CHECK_EQ(vs_process_open(&r.p, &options, NULL), 0);
        for (unsigned k = 0; k < 300 && r.p->tasks[0]->state == VS_TASK_READY; k++)
            any_call(&r, &state);
        vs_process_close(r.p);
    }
    CHECK(dup2(kept, 1) == 1);
}
