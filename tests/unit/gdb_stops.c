/* SPDX-License-Identifier: MIT */
/* gdb's stub: running in both directions, where it stops and why, and the user's commands. */
#include "gdb/describe.h"
#include "unit/gdbstub.h"

/* ---- the stub: running --------------------------------------------------------------------- */

TEST(says_where_it_stands_at_first)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "?"), "T05thread:1;");
    end(t);
}

TEST(steps)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "s"), "T05thread:1;");
    CHECK_EQ(t->fake.at, 1);
    CHECK_STR(ask(t, "vCont;s"), "T05thread:1;");
    CHECK_EQ(t->fake.at, 2);
    CHECK_STR(ask(t, "vCont;S05:1;c"), "T05thread:1;");
    CHECK_EQ(t->fake.at, 3);
    CHECK_STR(ask(t, "S05"), "T05thread:1;");
    CHECK_EQ(t->fake.at, 4);
    CHECK_STR(ask(t, "vCont;s:2;c"), "T05thread:2;");
    CHECK_EQ(t->fake.at, 8);
    CHECK_STR(ask(t, "bs"), "T05thread:2;");
    CHECK_EQ(t->fake.at, 7);
    end(t);
}

TEST(asks_about_the_thread_that_stopped)
{
    struct talk *t = begin();

    ask(t, "vCont;s:2");
    CHECK_STR(ask(t, "qC"), "QC2");
    CHECK_STR(ask(t, "p20"), "0410010000000000");
    end(t);
}

TEST(steps_the_thread_it_is_told)
{
    struct talk *t = begin();

    t->fake.at = 12;
    ask(t, "Hg1");
    CHECK_STR(ask(t, "Hc2"), "OK");
    CHECK_STR(ask(t, "bs"), "T05thread:2;");
    CHECK_EQ(t->fake.at, 11);
    CHECK_STR(ask(t, "Hc0"), "OK");
    ask(t, "Hg1");
    CHECK_STR(ask(t, "bs"), "T05thread:1;");
    CHECK_EQ(t->fake.at, 10);
    end(t);
}

TEST(becomes_another_program)
{
    struct talk *t = begin();

    t->fake.other = "/bin/b";
    t->fake.at = FAKE_SIGNALLED;
    CHECK_STR(ask(t, "qfThreadInfo"), "m1,2");
    CHECK_STR(ask(t, "c"), "T05thread:1;"); /* it does not know this reason */
    CHECK_EQ(t->fake.at, FAKE_REPLACED);
    CHECK_HAS(ask(t, "qSupported:exec-events+"), ";exec-events+");
    CHECK_STR(ask(t, "qXfer:exec-file:read::0,100"), "l/bin/b");
    CHECK_STR(ask(t, "qfThreadInfo"), "m1");
    CHECK_STR(ask(t, "bc"), "T05thread:1;exec:2f62696e2f66616b65;");
    CHECK(t->fake.forgot[true] == 1);
    CHECK_STR(ask(t, "s"), "T05thread:1;exec:2f62696e2f62;");
    CHECK(t->fake.forgot[true] == 2);
    end(t);
}

TEST(runs_into_both_ends)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "bc"), "T05thread:1;replaylog:begin;");
    CHECK_STR(ask(t, "?"), "T05thread:1;replaylog:begin;");
    CHECK_STR(ask(t, "c"), "T1ethread:1;");
    CHECK_EQ(t->fake.at, FAKE_SIGNALLED);
    CHECK_STR(ask(t, "C1e"), "T05thread:1;replaylog:end;");
    CHECK_STR(ask(t, "vCont;c"), "T05thread:1;replaylog:end;");
    CHECK_STR(ask(t, "vCont;C05:1;c"), "T05thread:1;replaylog:end;");
    CHECK_EQ(t->fake.at, FAKE_STEPS);
    CHECK_STR(ask(t, "bc"), "T05thread:1;replaylog:begin;");
    CHECK_EQ(t->fake.at, 0);
    end(t);
}

TEST(refuses_malformed_actions)
{
    static const char *const packets[] = {"vCont",   "vCont;",   "vCont;x",  "vCont;c:9",
                                          "vCont;C", "vCont;s:", "vCont;s;", "vCont;cc",
                                          "vCont;t", "C",        "Cx",       "S"};
    struct talk *t = begin();

    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
        CHECK_STR(ask(t, packets[i]), "E01");
    CHECK_EQ(t->fake.at, 0);
    end(t);
}

TEST(stops_at_breakpoints)
{
    struct talk *t = begin();

    ask(t, "qSupported:swbreak+;hwbreak+");
    CHECK_STR(ask(t, "Z0,10010,4"), "OK");
    CHECK_STR(ask(t, "Z1,10018,4"), "OK");
    CHECK_STR(ask(t, "c"), "T05thread:1;swbreak:;");
    CHECK_EQ(t->fake.at, 4);
    CHECK_STR(ask(t, "c"), "T05thread:1;hwbreak:;");
    CHECK_STR(ask(t, "bc"), "T05thread:1;swbreak:;");
    CHECK_EQ(t->fake.at, 4);
    CHECK_STR(ask(t, "z0,10010,4"), "OK");
    CHECK_STR(ask(t, "z0,10010,4"), "OK");
    CHECK_STR(ask(t, "bc"), "T05thread:1;replaylog:begin;");
    end(t);
}

TEST(keeps_reasons_from_debuggers_that_do_not_know_them)
{
    struct talk *t = begin();

    ask(t, "qSupported:hwbreak+");
    ask(t, "Z0,10010,4");
    CHECK_STR(ask(t, "c"), "T05thread:1;");
    ask(t, "qSupported:swbreak+");
    ask(t, "Z1,10014,4");
    CHECK_STR(ask(t, "c"), "T05thread:1;");
    end(t);
}

TEST(stops_at_watchpoints)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "Z2,80004,2"), "OK");
    CHECK_STR(ask(t, "c"), "T05thread:1;watch:80004;");
    CHECK_EQ(t->fake.at, 1);
    CHECK_STR(ask(t, "c"), "T05thread:1;watch:80004;");
    CHECK_EQ(t->fake.at, 13);
    CHECK_STR(ask(t, "bc"), "T05thread:1;watch:80004;");
    CHECK_EQ(t->fake.at, 12);
    CHECK_STR(ask(t, "z2,80004,2"), "OK");
    CHECK_STR(ask(t, "Z3,80000,8"), "OK");
    CHECK_STR(ask(t, "bc"), "T05thread:1;rwatch:80000;");
    CHECK_EQ(t->fake.at, 4);
    CHECK_STR(ask(t, "z3,80000,8"), "OK");
    CHECK_STR(ask(t, "Z4,80000,20"), "OK");
    CHECK_STR(ask(t, "c"), "T05thread:1;awatch:80000;");
    CHECK_EQ(t->fake.at, 5);
    end(t);
}

TEST(refuses_points)
{
    static const char *const packets[] = {"Z0", "Z0,", "Z0,10", "Z0,10,", "Z0,10,4x", "z0,10"};
    struct talk *t = begin();

    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
        CHECK_STR(ask(t, packets[i]), "E01");
    CHECK_STR(ask(t, "Z0,10,4;X1,00"), "OK");
    for (unsigned i = 1; i < FAKE_POINTS; i++)
        CHECK_STR(ask(t, "Z0,20,4"), "OK");
    CHECK_STR(ask(t, "Z0,20,4"), "E.too many breakpoints and watchpoints");
    end(t);
}

TEST(stops_when_interrupted)
{
    struct talk *t = begin();

    t->polls = 4;
    CHECK_STR(ask(t, "c"), "T02thread:1;");
    CHECK_EQ(t->fake.at, 3);
    t->polls = 2;
    CHECK_STR(ask(t, "bc"), "T02thread:1;");
    CHECK_EQ(t->fake.at, 2);
    end(t);
}

TEST(survives_what_the_machine_cannot_do)
{
    struct talk *t = begin();

    t->fake.broken = 10;
    CHECK_STR(ask(t, "c"), "T05thread:1;replaylog:end;");
    CHECK_STR(t->console, "vestige: message 7 names no branch\n");
    CHECK_STR(ask(t, "bs"), "T05thread:1;");
    CHECK_STR(t->console, "");
    CHECK_EQ(t->fake.at, 8);
    end(t);
}

TEST(numbers_signals_as_gdb_does)
{
    CHECK_EQ(vs_gdb_signal(7), 10);  /* SIGBUS */
    CHECK_EQ(vs_gdb_signal(11), 11); /* SIGSEGV */
    CHECK_EQ(vs_gdb_signal(17), 20); /* SIGCHLD */
    CHECK_EQ(vs_gdb_signal(31), 12); /* SIGSYS */
    CHECK_EQ(vs_gdb_signal(32), 77);
    CHECK_EQ(vs_gdb_signal(33), 45);
    CHECK_EQ(vs_gdb_signal(63), 75);
    CHECK_EQ(vs_gdb_signal(64), 78);
    CHECK_EQ(vs_gdb_signal(0), 143);
    CHECK_EQ(vs_gdb_signal(16), 143);
    CHECK_EQ(vs_gdb_signal(65), 143);
    CHECK_EQ(vs_gdb_signal(-1), 143);
}

/* ---- the stub: commands -------------------------------------------------------------------- */

TEST(passes_commands_on)
{
    struct talk *t = begin();

    CHECK_STR(ask_monitor(t, "where"), "OK");
    CHECK_STR(t->console, "step 0 of the run\n");
    CHECK_STR(ask_monitor(t, "nonsense"), "");
    CHECK_STR(ask_monitor(t, ""), "");
    CHECK_STR(ask(t, "qRcmd"), "E01");
    CHECK_STR(ask(t, "qRcmd,7"), "E01");
    CHECK_STR(ask(t, "qRcmd,776865726500"), "E01");
    end(t);
}

TEST(splits_what_commands_say)
{
    struct talk *t = begin();

    CHECK_STR(ask_monitor(t, "much"), "OK");
    CHECK_EQ(strlen(t->console), 40000);
    CHECK_EQ(t->console_packets, 5);
    end(t);
}

TEST(says_why_a_command_failed)
{
    struct talk *t = begin();

    CHECK_STR(ask_monitor(t, "fail"), "OK");
    CHECK_STR(t->console, "vestige: it failed: $#}*\n");
    ask(t, "qSupported:error-message+");
    CHECK_STR(ask_monitor(t, "fail"), "E.it failed: ????");
    end(t);
}

TEST(notices_that_a_command_moved_the_machine)
{
    struct talk *t = begin();

    ask(t, "vCont;s:2");
    CHECK_STR(ask_monitor(t, "goto 12"), "OK");
    CHECK_STR(ask(t, "?"), "T05thread:1;");
    /* The debugger's choice of a thread stays. */
    CHECK_STR(ask(t, "qC"), "QC2");
    ask(t, "Hg1");
    CHECK_STR(ask(t, "p20"), "2400010000000000");
    end(t);
}

TEST(takes_no_endless_commands)
{
    struct talk *t = begin();
    char packet[2200] = "qRcmd,";

    memset(packet + 6, '6', 2 * 1025);
    CHECK_STR(ask(t, packet), "E01");
    packet[6 + 2 * 1024] = 0;
    CHECK_STR(ask(t, packet), "");
    end(t);
}
