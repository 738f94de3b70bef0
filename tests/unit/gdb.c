/* SPDX-License-Identifier: MIT */
/* gdb's stub: how a session begins and ends, and what it shows: registers, memory, threads and
 * documents. */
#include "unit/gdbstub.h"

/* ---- the session --------------------------------------------------------------------------- */

TEST(answers_spoilt_packets_with_minus)
{
    struct talk *t = begin();

    CHECK_STR(vs_gdb_session_acknowledge(&t->session, VS_GDB_SPOILT), "-");
    CHECK_EQ(vs_gdb_session_handle(&t->session, VS_GDB_SPOILT), VS_GDB_GO_ON);
    CHECK_EQ(t->session.send_size, 0);
    CHECK_STR(vs_gdb_session_acknowledge(&t->session, VS_GDB_INTERRUPT), "");
    CHECK_STR(vs_gdb_session_acknowledge(&t->session, VS_GDB_REPEAT), "");
    end(t);
}

TEST(repeats_its_last_packet)
{
    struct talk *t = begin();

    CHECK_EQ(vs_gdb_session_handle(&t->session, VS_GDB_REPEAT), VS_GDB_GO_ON);
    CHECK_EQ(t->session.send_size, 0);
    ask_monitor(t, "where");
    vs_gdb_session_handle(&t->session, VS_GDB_INTERRUPT);
    CHECK_EQ(t->session.send_size, 0);
    vs_gdb_session_handle(&t->session, VS_GDB_REPEAT);
    CHECK_EQ(t->session.send_size, 6);
    CHECK_MEM(t->session.send, "$OK#9a", 6);
    end(t);
}

TEST(answers_a_packet_that_is_too_long_with_an_error)
{
    struct talk *t = begin();

    CHECK_STR(vs_gdb_session_acknowledge(&t->session, VS_GDB_TOO_LONG), "+");
    vs_gdb_session_handle(&t->session, VS_GDB_TOO_LONG);
    take_answers(t);
    CHECK_STR(t->answer, "E.the packet is too long");
    end(t);
}

TEST(stops_acknowledging)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "QStartNoAckMode"), "OK");
    t->acks = false;
    CHECK_STR(ask(t, "qC"), "QC1");
    vs_gdb_session_handle(&t->session, VS_GDB_REPEAT);
    CHECK_EQ(t->session.send_size, 0);
    vs_gdb_session_handle(&t->session, VS_GDB_SPOILT);
    take_answers(t);
    CHECK_HAS(t->answer, "E.");
    vs_gdb_session_handle(&t->session, VS_GDB_TOO_LONG);
    take_answers(t);
    CHECK_HAS(t->answer, "E.");
    end(t);
}

TEST(forgets_points_at_the_end)
{
    struct fake_machine f;
    struct vs_gdb_machine m = fake_machine(&f);
    struct vs_gdb_session *s = calloc(1, sizeof(*s));

    CHECK(s);
    vs_gdb_session_init(s, &m, NULL, NULL);
    m.ops->insert(m.machine, VS_GDB_POINT_BREAK, FAKE_CODE, 4);
    vs_gdb_session_fini(s);
    CHECK_EQ(f.detached, 1);
    CHECK(!f.points[0].set);
    free(s);
}

/* ---- the stub: beginnings and ends --------------------------------------------------------- */

TEST(tells_what_it_supports)
{
    struct talk *t = begin();
    const char *a = ask(t, "qSupported:multiprocess+;swbreak+;hwbreak+;error-message+");

    CHECK_HAS(a, "PacketSize=4000;");
    CHECK_HAS(a, "QStartNoAckMode+;");
    CHECK_HAS(a, "qXfer:features:read+;");
    CHECK_HAS(a, "qXfer:threads:read+;");
    CHECK_HAS(a, "qXfer:exec-file:read+;");
    CHECK_HAS(a, "ReverseStep+;ReverseContinue+;");
    CHECK_HAS(a, "vContSupported+;swbreak+;hwbreak+;");
    CHECK_HAS(a, ";error-message+");
    end(t);
}

TEST(passes_signals_that_need_not_stop_it)
{
    struct talk *t = begin();

    CHECK_HAS(ask(t, "qSupported"), "QPassSignals+");
    CHECK_STR(ask(t, "QPassSignals:e;1e;14;4d;3d"), "OK"); /* ALRM USR1 CHLD 32 49 */
    CHECK_EQ(t->fake.passed,
             UINT64_C(1) << 13 | 1 << 9 | 1 << 16 | UINT64_C(1) << 31 | UINT64_C(1) << 48);
    CHECK_STR(ask(t, "QPassSignals:"), "OK");
    CHECK_EQ(t->fake.passed, 0);
    CHECK_STR(ask(t, "QPassSignals"), "OK");
    CHECK_STR(ask(t, "QPassSignals:e,1"), "E01");
    CHECK_STR(ask(t, "QPassSignals:;"), "E01");
    end(t);
}

TEST(supports_no_more_than_it_can)
{
    struct talk *t = begin();

    t->fake.program = NULL;
    CHECK(!strstr(ask(t, "qSupported"), "exec-file"));
    CHECK(!strstr(t->answer, "error-message"));
    CHECK(!strstr(ask(t, "qSupported:no-error-message+;error-message-"), "error-message"));
    CHECK_STR(ask(t, "qXfer:exec-file:read::0,100"), "E00");
    end(t);
}

TEST(leaves_unknown_packets_without_an_answer)
{
    static const char *const packets[] = {
        "",         "!",        "R00",           "vMustReplyEmpty", "vCtrlC", "qOffsets",
        "qTStatus", "qCRC:0,1", "vFile:setfs:0", "QNonStopped:1",   "b",      "bcx",
        "vRun;",    "x0,10",    "Z5,0,4",        "z9,0,4"};
    struct talk *t = begin();

    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
        CHECK_STR(ask(t, packets[i]), "");
    end(t);
}

TEST(answers_formalities)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "qAttached"), "1");
    CHECK_STR(ask(t, "qAttached:1"), "1");
    CHECK_STR(ask(t, "qSymbol::"), "OK");
    CHECK_STR(ask(t, "QNonStop:0"), "OK");
    CHECK_HAS(ask(t, "QNonStop:1"), "E.");
    CHECK_STR(ask(t, "vCont?"), "vCont;c;C;s;S");
    CHECK_EQ(t->wish, VS_GDB_GO_ON);
    end(t);
}

TEST(tells_wishes)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "D"), "OK");
    CHECK_EQ(t->wish, VS_GDB_DETACH);
    end(t);
    t = begin();
    CHECK_STR(ask(t, "D;1"), "OK");
    CHECK_EQ(t->wish, VS_GDB_DETACH);
    end(t);
    t = begin();
    ask(t, "k");
    CHECK_EQ(t->session.send_size, 0);
    CHECK_EQ(t->wish, VS_GDB_KILL);
    end(t);
    t = begin();
    CHECK_STR(ask(t, "vKill;1"), "OK");
    CHECK_EQ(t->wish, VS_GDB_KILL);
    end(t);
}

/* ---- the stub: looking --------------------------------------------------------------------- */

TEST(reads_registers)
{
    struct talk *t = begin();
    const char *a;

    t->fake.at = 3;
    CHECK_STR(ask(t, "p0"), "0000000000000000");
    CHECK_STR(ask(t, "p1"), "1111111111111111");
    CHECK_STR(ask(t, "pa"), "0300000000000000");
    CHECK_STR(ask(t, "p20"), "0c00010000000000");
    CHECK_STR(ask(t, "p21"), "0000000000000040");
    CHECK_STR(ask(t, "p40"), "1f00000000000040");
    CHECK_STR(ask(t, "p41"), "01000000");
    CHECK_STR(ask(t, "p42"), "03000000");
    CHECK_STR(ask(t, "p43"), "61000000");
    CHECK_STR(ask(t, "p44"), "E01");
    CHECK_STR(ask(t, "p"), "E01");
    a = ask(t, "g");
    CHECK_EQ(strlen(a), 2 * (65 * 8 + 3 * 4));
    CHECK_MEM(a + 16 * 10, "0300000000000000", 16);
    CHECK_MEM(a + 16 * 32, "0c00010000000000", 16);
    CHECK_MEM(a + 16 * 65, "010000000300000061000000", 24);
    end(t);
}

TEST(has_no_registers_before_a_thread_starts)
{
    struct talk *t = begin();
    const char *a;

    CHECK_STR(ask(t, "Hg2"), "OK");
    CHECK_STR(ask(t, "p20"), "xxxxxxxxxxxxxxxx");
    CHECK_STR(ask(t, "p43"), "xxxxxxxx");
    a = ask(t, "g");
    CHECK_EQ(strlen(a), 2 * (65 * 8 + 3 * 4));
    CHECK_EQ(strspn(a, "x"), strlen(a));
    end(t);
}

TEST(reads_memory)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "m10000,8"), "1300000013000000");
    CHECK_STR(ask(t, "m80000,8"), "E14");
    t->fake.at = 13;
    CHECK_STR(ask(t, "m80000,8"), "0c00000000000000");
    CHECK_STR(ask(t, "m0,1"), "E14");
    CHECK_STR(ask(t, "mffffffffffffffff,2"), "E14");
    CHECK_STR(ask(t, "m10000"), "E01");
    CHECK_STR(ask(t, "m10000,4x"), "E01");
    end(t);
}

TEST(reads_the_known_part_of_memory)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "m11ffc,100"), "13000000");
    CHECK_EQ(strlen(ask(t, "m10000,ffffffffffffffff")), 2 * 0x1fff);
    end(t);
}

TEST(refuses_changes)
{
    static const char *const packets[] = {
        "G00", "P20=00", "M10000,1:00", "X10000,0:", "c10000", "s10000", "C05;10000", "S05;10000"};
    struct talk *t = begin();

    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
        CHECK_STR(ask(t, packets[i]), "E.this is a replay: the past cannot be changed");
    CHECK_EQ(t->fake.at, 0);
    end(t);
}

/* ---- the stub: threads --------------------------------------------------------------------- */

TEST(lists_threads_that_are_alive)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "qfThreadInfo"), "m1");
    CHECK_STR(ask(t, "qsThreadInfo"), "l");
    t->fake.at = FAKE_STARTS;
    CHECK_STR(ask(t, "qfThreadInfo"), "m1,2");
    CHECK_STR(ask(t, "qsThreadInfo"), "l");
    CHECK_STR(ask(t, "T1"), "OK");
    CHECK_STR(ask(t, "T2"), "OK");
    CHECK_HAS(ask(t, "T3"), "E.");
    CHECK_HAS(ask(t, "T4"), "E.");
    end(t);
}

TEST(lists_the_thread_that_stopped_last)
{
    struct talk *t = begin();

    t->fake.at = FAKE_ENDS;
    t->fake.current = 1;
    CHECK_STR(ask(t, "qfThreadInfo"), "m1,2");
    CHECK_STR(ask(t, "T2"), "OK");
    end(t);
}

TEST(describes_threads)
{
    struct talk *t = begin();
    char text[64];

    talk_unhex(ask(t, "qThreadExtraInfo,1"), text, sizeof(text));
    CHECK_STR(text, "core 0");
    talk_unhex(ask(t, "qThreadExtraInfo,2"), text, sizeof(text));
    CHECK_STR(text, "core 1, not started");
    CHECK_HAS(ask(t, "qThreadExtraInfo,4"), "E.");
    CHECK_HAS(ask(t, "qThreadExtraInfo"), "E.");
    t->fake.at = FAKE_STARTS;
    CHECK_HAS(ask(t, "qXfer:threads:read::0,1000"),
              "<thread id=\"1\" core=\"0\" name=\"core 0\">LWP 1000</thread>");
    CHECK_HAS(t->answer,
              "<thread id=\"2\" core=\"1\" name=\"core 1\">LWP 1001</thread>\n</threads>");
    CHECK(!strstr(t->answer, "core=\"2\""));
    t->fake.at = FAKE_ENDS;
    CHECK_HAS(ask(t, "qXfer:threads:read::0,1000"), ">LWP 1001, ended</thread>");
    talk_unhex(ask(t, "qThreadExtraInfo,2"), text, sizeof(text));
    CHECK_STR(text, "core 1, LWP 1001, ended");
    end(t);
}

TEST(selects_threads)
{
    struct talk *t = begin();

    t->fake.at = 12;
    CHECK_STR(ask(t, "Hg2"), "OK");
    CHECK_STR(ask(t, "qC"), "QC2");
    CHECK_STR(ask(t, "p20"), "0c10010000000000");
    CHECK_STR(ask(t, "Hg0"), "OK");
    CHECK_STR(ask(t, "qC"), "QC1");
    CHECK_HAS(ask(t, "Hg4"), "E.");
    CHECK_HAS(ask(t, "Hg"), "E.");
    CHECK_STR(ask(t, "Hc-1"), "OK");
    CHECK_HAS(ask(t, "Hcx"), "E.");
    end(t);
}

/* ---- the stub: documents ------------------------------------------------------------------- */

TEST(describes_the_target)
{
    struct talk *t = begin();

    CHECK_HAS(ask(t, "qXfer:features:read:target.xml:0,2000"), "l<?xml");
    CHECK_HAS(t->answer, "<architecture>riscv:rv64</architecture>");
    CHECK_HAS(t->answer, "<reg name=\"a0\" bitsize=\"64\" type=\"int\" regnum=\"10\"/>");
    CHECK_HAS(t->answer, "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"32\"/>");
    CHECK_HAS(t->answer, "<reg name=\"ft0\" bitsize=\"64\" type=\"riscv_double\" regnum=\"33\"/>");
    CHECK_HAS(t->answer, "<reg name=\"fcsr\" bitsize=\"32\" type=\"int\" regnum=\"67\"/>");
    CHECK_HAS(t->answer, "</target>\n");
    CHECK_STR(ask(t, "qXfer:features:read:other.xml:0,100"), "E00");
    CHECK_STR(ask(t, "qXfer:features:read:target.xml:0"), "E00");
    CHECK_STR(ask(t, "qXfer:features:read:target.xml"), "E00");
    CHECK_STR(ask(t, "qXfer:features:write:target.xml:0:0"), "");
    CHECK_STR(ask(t, "qXfer:siginfo:read::0,100"), "");
    end(t);
}

TEST(gives_documents_in_parts)
{
    struct talk *t = begin();
    char whole[TALK_MAX], parts[TALK_MAX] = "", packet[64];
    size_t n = 0;

    snprintf(whole, sizeof(whole), "%s", ask(t, "qXfer:features:read:target.xml:0,2000") + 1);
    do {
        snprintf(packet, sizeof(packet), "qXfer:features:read:target.xml:%zx,65", n);
        ask(t, packet);
        CHECK(t->answer[0] == 'm' ? strlen(t->answer) == 0x66 : t->answer[0] == 'l');
        n += (size_t)snprintf(parts + n, sizeof(parts) - n, "%s", t->answer + 1);
    } while (t->answer[0] == 'm');
    CHECK_STR(parts, whole);
    CHECK_STR(ask(t, "qXfer:features:read:target.xml:ffff,10"), "l");
    CHECK_STR(ask(t, "qXfer:features:read:target.xml:ffffffffffffffff,10"), "l");
    CHECK_STR(ask(t, "qXfer:features:read:target.xml:0,0"), "m");
    end(t);
}

TEST(names_the_program)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "qXfer:exec-file:read::0,100"), "l/bin/fake");
    CHECK_STR(ask(t, "qXfer:exec-file:read:1:0,100"), "l/bin/fake");
    CHECK_STR(ask(t, "qXfer:exec-file:read::0,9"), "l/bin/fake");
    CHECK_STR(ask(t, "qXfer:exec-file:read::0,8"), "m/bin/fak");
    t->fake.program = "/bin/$#}*";
    CHECK_STR(ask(t, "qXfer:exec-file:read::0,100"), "l/bin/$#}*");
    end(t);
}

TEST(lists_what_is_loaded_now)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "qXfer:libraries-svr4:read::0,1000"),
              "l<library-list-svr4 version=\"1.0\" main-lm=\"0x10e00\">\n</library-list-svr4>\n");
    t->fake.at = FAKE_LOADED;
    CHECK_HAS(ask(t, "qXfer:libraries-svr4:read::0,1000"),
              "\n<library name=\"/lib/a &#38; b.so\" lm=\"0x7e00\" l_addr=\"0x7000\" "
              "l_ld=\"0x7e00\" lmid=\"0x0\"/>\n");
    CHECK(t->fake.forgot[false] == 2);
    CHECK(!t->fake.forgot[true]);
    t->fake.program = NULL;
    CHECK_STR(ask(t, "qXfer:libraries-svr4:read::0,1000"),
              "l<library-list-svr4 version=\"1.0\">\n</library-list-svr4>\n");
    end(t);
}

TEST(tells_where_the_program_lies)
{
    /* AT_PHDR, AT_PHENT and AT_PHNUM, of which two hold no byte 0 before their value */
    struct talk *t = begin();

    ask(t, "qXfer:auxv:read::0,100");
    CHECK_EQ(t->answer[0], 'l');
    CHECK_MEM(t->answer + 1, "\3\0\0\0\0\0\0\0\x40\0\1\0\0\0\0\0\4\0\0\0\0\0\0\0\x38", 25);
    CHECK_MEM(t->answer + 1 + 5 * 16, "\11\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 18);
    t->fake.program = NULL;
    CHECK_STR(ask(t, "qXfer:auxv:read::0,100"), "E00");
    end(t);
}

TEST(finds_variables_of_threads)
{
    struct talk *t = begin();

    CHECK_STR(ask(t, "qGetTLSAddr:2,10,7e00"), "80018");
    CHECK_STR(ask(t, "qGetTLSAddr:1,10,10e00"),
              "E.it is not known where the thread has this variable");
    CHECK_STR(ask(t, "qGetTLSAddr:9,10,7e00"), "E01");
    CHECK_STR(ask(t, "qGetTLSAddr:1,10"), "E01");
    end(t);
}
