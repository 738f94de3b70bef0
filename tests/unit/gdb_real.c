/* SPDX-License-Identifier: MIT */
/* gdb itself as the debugger. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "gdb/gdb.h"
#include "gen/gdb_machine.h"
#include "isa/isa.h"
#include "unit/gdbtalk.h"

struct served {
    struct fake_machine fake;
    struct vs_gdb_machine machine;
    struct vs_gdb_server_options options;
    pthread_t thread;
    int runs[2]; /* a pipe: a byte for each time that the machine was told to run */
    int (*resume)(void *machine, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
                  struct vs_diag *diag);
    const char *commands; /* of gdb, one a line; none has quotes */
    char said[TALK_MAX];
};

/* The server calls this when its port is known; gdb runs from then on. */
static void *debug(void *context)
{
    struct served *s = context;
    char shell[8192];
    size_t n = (size_t)snprintf(shell, sizeof(shell),
                                "gdb-multiarch -nx -batch -ex 'target remote 127.0.0.1:%u'",
                                s->options.port);
    FILE *gdb;

    for (const char *p = s->commands; *p;) {
        int length = (int)strcspn(p, "\n");

        n += (size_t)snprintf(shell + n, sizeof(shell) - n, " -ex '%.*s'", length, p);
        CHECK(n < sizeof(shell));
        p += length + (p[length] == '\n');
    }
    snprintf(shell + n, sizeof(shell) - n, " 2>&1");
    gdb = popen(shell, "r");
    CHECK(gdb);
    n = fread(s->said, 1, sizeof(s->said) - 1, gdb);
    s->said[n] = 0;
    pclose(gdb);
    return NULL;
}

static void notice(void *context, const struct vs_gdb_notice *n)
{
    struct served *s = context;

    if (n->kind != VS_GDB_LISTENS)
        return;
    s->options.port = n->port;
    CHECK_EQ(pthread_create(&s->thread, NULL, debug, s), 0);
}

static void serve(struct served *s, const char *commands, int end)
{
    struct vs_diag diag;

    s->commands = commands;
    s->options =
        (struct vs_gdb_server_options){.stop = -1, .once = true, .notice = notice, .context = s};
    CHECK_EQ(vs_gdb_serve(&s->options, &s->machine, &diag), end);
    CHECK_EQ(pthread_join(s->thread, NULL), 0);
}

static struct served *prepare(void)
{
    struct served *s = calloc(1, sizeof(*s));

    CHECK(s);
    s->machine = fake_machine(&s->fake);
    s->fake.program = NULL;
    return s;
}

/* Each text must be in what gdb said, behind the one before. */
static void check_said(const struct served *s, const char *const *texts)
{
    const char *p = s->said;

    for (; *texts; texts++) {
        const char *found = strstr(p, *texts);

        if (!found)
            unittest_fail(__FILE__, __LINE__, "'%s' is not in: %s", *texts, p);
        p = found + strlen(*texts);
    }
}

TEST(gdb_knows_the_registers)
{
    struct served *s = prepare();

    serve(s, "info registers\ninfo registers ft1 fflags frm fcsr\np $ft0.double",
          VS_GDB_SERVED_LEFT);
    check_said(s,
               (const char *const[]){
                   "ra             0x1111111111111111", "sp             0x2222222222222222",
                   "t6             0xffffffffffffffff", "pc             0x10000",
                   "ft1            {float = ", "double = 2.0000000000000004}", "fflags         0x1",
                   "frm            0x3", "fcsr           0x61", "$1 = 2\n", NULL});
    free(s);
}

/* What gdb wants of another ISA: parts of registers, and some that nothing tells of. */
TEST(gdb_knows_the_registers_of_x86_64)
{
    struct served *s = prepare();

    s->machine.registers = vs_isa_find("x86-64")->registers;
    serve(s,
          "info registers rax rip mxcsr fs_base ftag fop orig_rax\np $xmm0.v2_int64\np "
          "$ymm0.v4_int64",
          VS_GDB_SERVED_LEFT);
    check_said(s, (const char *const[]){"rax            0x0", "rip            0x10000",
                                        "mxcsr          0x61", "fs_base        0x400000000000001a",
                                        "ftag           0xc3fc", "fop            <unavailable>",
                                        "orig_rax       0xffffffffffffffff",
                                        "$1 = {1229782938247303441, 0}",
                                        "$2 = {1229782938247303441, 0, 0, 0}", NULL});
    free(s);
}

TEST(gdb_goes_both_ways)
{
    struct served *s = prepare();

    serve(s,
          "stepi\nreverse-stepi\nreverse-stepi\nbreak *0x1000c\ncontinue\ndelete\n"
          "watch *(long *)0x80000\ncontinue\ndelete\nrwatch *(long *)0x80000\nreverse-continue\n"
          "delete\nhbreak *0x11008\ncontinue\ndelete\ncontinue\ncontinue",
          VS_GDB_SERVED_LEFT);
    check_said(s, (const char *const[]){
                      "0x0000000000010004 in", "0x0000000000010000 in",
                      "No more reverse-execution history", "Breakpoint 1, 0x000000000001000c",
                      "hit Hardware watchpoint 2", "Old value = 0\nNew value = 12",
                      "hit Hardware read watchpoint 3", "hit Breakpoint 4, 0x0000000000011008",
                      "received signal SIGUSR1", "No more reverse-execution history", NULL});
    free(s);
}

TEST(gdb_sees_threads)
{
    struct served *s = prepare();

    s->fake.at = 12;
    serve(
        s,
        "info threads\nthread 2\nreverse-stepi\nreverse-stepi\nstepi\np $pc\nthread apply 1 p $pc",
        VS_GDB_SERVED_LEFT);
    check_said(s, (const char *const[]){"* 1    Thread 1 \"core 0\" (LWP 1000) 0x0000000000010024",
                                        "2    Thread 2 \"core 1\" (LWP 1001) 0x000000000001100c",
                                        "Switching to thread 2", "0x0000000000011008 in",
                                        "0x0000000000011004 in", "0x0000000000011008 in", "0x11008",
                                        "0x10020", NULL});
    free(s);
}

TEST(gdb_is_told_what_is_not_known)
{
    struct served *s = prepare();

    s->fake.at = 2;
    s->fake.broken = 10;
    serve(s,
          "x/4xw 0x10000\nx/2xg 0x80000\nset var $pc = 0\nset var *(char *)0x10000 = 0\ncontinue\n"
          "p $pc\nmonitor where\nmonitor nonsense\nmonitor fail",
          VS_GDB_SERVED_LEFT);
    check_said(s, (const char *const[]){
                      "0x00000013\t0x00000013\t0x00000013\t0x00000013",
                      "0x0000000000000000\tCannot access memory at address 0x80008",
                      "the past cannot be changed", "Cannot access memory at address 0x10000",
                      "vestige: message 7 names no branch", "No more reverse-execution history",
                      "0x10020", "step 10 of the run", "does not support this command",
                      "vestige: it failed: $#}*", NULL});
    CHECK(!strstr(s->said, "warning: Architecture rejected"));
    free(s);
}

TEST(gdb_moves_by_command)
{
    struct served *s = prepare();

    serve(
        s,
        "monitor goto 30\nmaintenance flush register-cache\nmaintenance flush dcache\np $pc\nstepi",
        VS_GDB_SERVED_LEFT);
    check_said(s, (const char *const[]){"0x10048", "0x000000000001004c in", NULL});
    free(s);
}

/* Resumes as the fake machine does, and lets gdb know that it runs. */
static int resume_and_tell(void *machine, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
                           struct vs_diag *diag)
{
    struct served *s = (struct served *)((char *)machine - offsetof(struct served, fake));

    CHECK_EQ(write(s->runs[1], "", 1), 1);
    return s->resume(machine, how, stop, diag);
}

/* gdb has the pipe from us, and interrupts itself when the machine says that it runs. */
TEST(gdb_interrupts)
{
    struct served *s = prepare();
    struct vs_gdb_machine_ops ops = *s->machine.ops;
    char commands[512];

    s->fake.endless = UINT32_MAX;
    s->resume = ops.resume;
    ops.resume = resume_and_tell;
    s->machine.ops = &ops;
    CHECK_EQ(pipe(s->runs), 0);
    snprintf(commands, sizeof(commands),
             "python import threading, os\n"
             "python interrupt = lambda: (os.read(%d, 1), os.kill(os.getpid(), 2))\n"
             "python threading.Thread(target=interrupt).start()\n"
             "continue\np $pc",
             s->runs[0]);
    serve(s, commands, VS_GDB_SERVED_LEFT);
    check_said(s, (const char *const[]){"received signal SIGINT", "0x10000", NULL});
    close(s->runs[0]);
    close(s->runs[1]);
    free(s);
}

TEST(gdb_kills)
{
    struct served *s = prepare();

    serve(s, "kill", VS_GDB_SERVED_KILL);
    check_said(s, (const char *const[]){"killed]", NULL});
    free(s);
}
