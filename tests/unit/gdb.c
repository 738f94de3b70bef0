/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "gdb/describe.h"
#include "gdb/fields.h"
#include "gdb/session.h"
#include "gen/gdb_machine.h"
#include "unit/gdbtalk.h"

/* ---- frames: from the debugger ------------------------------------------------------------- */

/* Takes all bytes, in pieces of at most `piece`, and writes what happened as one character each,
 * packets with their data. */
static void happen(const void *bytes, size_t size, size_t piece, char *text)
{
    static const char names[] = {[VS_GDB_INTERRUPT] = 'I',
                                 [VS_GDB_REPEAT] = 'R',
                                 [VS_GDB_SPOILT] = 'S',
                                 [VS_GDB_TOO_LONG] = 'L'};
    struct vs_gdb_reader *r = calloc(1, sizeof(*r));
    const uint8_t *p = bytes, *end = p + size;

    CHECK(r);
    while (p < end) {
        size_t n = (size_t)(end - p) < piece ? (size_t)(end - p) : piece, used;
        enum vs_gdb_event e = vs_gdb_reader_take(r, p, n, &used);

        CHECK(used <= n && (e != VS_GDB_MORE || used == n));
        CHECK(used > 0 || e == VS_GDB_SPOILT);
        p += used;
        if (e == VS_GDB_PACKET)
            text += sprintf(text, "<%s>", (const char *)r->data);
        else if (e != VS_GDB_MORE)
            *text++ = names[e];
    }
    *text = 0;
    free(r);
}

static void check_happens(const char *bytes, const char *what)
{
    char text[256];

    for (size_t piece = 1; piece <= strlen(bytes); piece++) {
        happen(bytes, strlen(bytes), piece, text);
        CHECK_STR(text, what);
    }
}

TEST(takes_packets_split_anywhere)
{
    check_happens("$g#67", "<g>");
    check_happens("+$g#67+$m10,4#2e-", "<g><m10,4>R");
    check_happens("$#00", "<>");
    check_happens("noise$g#67noise", "<g>");
}

TEST(takes_an_interrupt_between_packets)
{
    check_happens("\3$g#67\3\3$?#3f", "I<g>II<?>");
}

TEST(takes_a_byte_3_within_a_packet_as_data)
{
    check_happens("$X\3#5b", "<X\3>");
}

TEST(undoes_escapes)
{
    check_happens("$a}\3b#43", "<a#b>");
    check_happens("$}]#da", "<}>");
    check_happens("$}\4}\n#08", "<$*>");
}

TEST(keeps_nul_bytes_of_a_packet)
{
    struct vs_gdb_reader *r = calloc(1, sizeof(*r));
    size_t used;

    CHECK(r);
    CHECK_EQ(vs_gdb_reader_take(r, (const uint8_t *)"$X\0\1#59", 8, &used), VS_GDB_PACKET);
    CHECK_EQ(used, 7);
    CHECK_EQ(r->size, 3);
    CHECK_MEM(r->data, "X\0\1", 4);
    free(r);
}

TEST(notices_spoilt_packets)
{
    check_happens("$g#68", "S");
    check_happens("$g#6x$g#67", "S<g>");
    check_happens("$o#6x", "S");
    check_happens("$g#$g#67", "S<g>");
    check_happens("$g#6$g#67", "S<g>");
    check_happens("$a}#de", "S"); /* the sum is right, the escape has no byte */
}

TEST(is_in_step_again_at_a_dollar)
{
    check_happens("$lost the rest$g#67", "<g>");
    check_happens("$lost}$g#67", "<g>");
}

static void put_long(char *bytes, size_t data)
{
    uint8_t sum = 0;

    bytes[0] = '$';
    memset(bytes + 1, 'a', data);
    for (size_t i = 0; i < data; i++)
        sum = (uint8_t)(sum + 'a');
    sprintf(bytes + 1 + data, "#%02x$g#67", sum);
}

TEST(takes_packets_up_to_the_limit)
{
    static char bytes[VS_GDB_PACKET_MAX + 100], text[VS_GDB_PACKET_MAX + 100];

    put_long(bytes, VS_GDB_PACKET_MAX);
    happen(bytes, strlen(bytes), 1000, text);
    CHECK_EQ(strlen(text), VS_GDB_PACKET_MAX + 5);
    put_long(bytes, VS_GDB_PACKET_MAX + 1);
    happen(bytes, strlen(bytes), 1000, text);
    CHECK_STR(text, "L<g>");
}

/* ---- frames: to the debugger --------------------------------------------------------------- */

static void check_out(struct vs_gdb_writer *w, const char *bytes)
{
    CHECK_EQ(w->error, 0);
    CHECK_EQ(w->out.len, strlen(bytes));
    CHECK_MEM(w->out.data, bytes, w->out.len);
}

TEST(writes_packets)
{
    struct vs_gdb_writer w = {0};

    vs_gdb_begin(&w);
    vs_gdb_end(&w);
    vs_gdb_begin(&w);
    vs_gdb_printf(&w, "T%02x", 5);
    vs_gdb_put_hex(&w, "\x01\xfe", 2);
    vs_gdb_end(&w);
    check_out(&w, "$#00$T0501fe#e5");
    CHECK_EQ(w.last, 4);
    vs_gdb_writer_clear(&w);
    check_out(&w, "");
    vs_gdb_writer_fini(&w);
}

TEST(escapes_what_has_a_meaning)
{
    struct vs_gdb_writer w = {0};

    vs_gdb_begin(&w);
    vs_gdb_put(&w, "a$#}*\3", 6);
    vs_gdb_end(&w);
    check_out(&w, "$a}\4}\3}]}\n\3#c6");
    vs_gdb_writer_fini(&w);
}

TEST(reads_what_it_writes)
{
    struct vs_gdb_writer w = {0};
    struct vs_gdb_reader *r = calloc(1, sizeof(*r));
    uint8_t all[256];
    size_t used;

    for (unsigned i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    CHECK(r);
    vs_gdb_begin(&w);
    vs_gdb_put(&w, all, sizeof(all));
    vs_gdb_end(&w);
    CHECK_EQ(vs_gdb_reader_take(r, w.out.data, w.out.len, &used), VS_GDB_PACKET);
    CHECK_EQ(used, w.out.len);
    CHECK_EQ(r->size, 256);
    CHECK_MEM(r->data, all, 256);
    vs_gdb_writer_fini(&w);
    free(r);
}

TEST(leaves_out_a_packet_that_is_too_long)
{
    static uint8_t bytes[VS_GDB_PACKET_MAX];
    struct vs_gdb_writer w = {0};

    memset(bytes, 'a', sizeof(bytes));
    vs_gdb_begin(&w);
    vs_gdb_put(&w, bytes, sizeof(bytes));
    vs_gdb_end(&w);
    CHECK_EQ(w.error, 0);
    vs_gdb_writer_clear(&w);
    vs_gdb_begin(&w);
    vs_gdb_end(&w);
    vs_gdb_begin(&w);
    vs_gdb_put(&w, bytes, sizeof(bytes) - 1);
    vs_gdb_put(&w, "#", 1);
    vs_gdb_end(&w);
    CHECK_EQ(w.error, -VSE_LIMIT);
    CHECK_EQ(w.out.len, 4);
    vs_gdb_begin(&w);
    vs_gdb_end(&w);
    CHECK_EQ(w.out.len, 4);
    vs_gdb_writer_fini(&w);
}

/* ---- fields -------------------------------------------------------------------------------- */

TEST(takes_numbers)
{
    const char *p = "ffffffffffffffff,0Ag";
    uint64_t a, b;

    CHECK(vs_gdb_take_pair(&p, &a, &b));
    CHECK_EQ(a, UINT64_MAX);
    CHECK_EQ(b, 10);
    CHECK_STR(p, "g");
    CHECK(!vs_gdb_take_number(&p, &a));
    p = "10000000000000000";
    CHECK(!vs_gdb_take_number(&p, &a));
}

TEST(takes_threads)
{
    const char *p = "-1;0;2;4";
    int64_t t;

    CHECK(vs_gdb_take_thread(&p, 3, &t) && t == VS_GDB_ALL_THREADS && vs_gdb_take_char(&p, ';'));
    CHECK(vs_gdb_take_thread(&p, 3, &t) && t == VS_GDB_ANY_THREAD && vs_gdb_take_char(&p, ';'));
    CHECK(vs_gdb_take_thread(&p, 3, &t) && t == 1 && vs_gdb_take_char(&p, ';'));
    CHECK(!vs_gdb_take_thread(&p, 3, &t));
    CHECK_STR(p, "4");
}

TEST(decodes_digits)
{
    uint8_t bytes[3];

    CHECK_EQ(vs_gdb_unhex("00ffA1", bytes, 3), 3);
    CHECK_MEM(bytes, "\x00\xff\xa1", 3);
    CHECK_EQ(vs_gdb_unhex("", bytes, 3), 0);
    CHECK_ERR(vs_gdb_unhex("012", bytes, 3), VSE_CORRUPT);
    CHECK_ERR(vs_gdb_unhex("0g", bytes, 3), VSE_CORRUPT);
    CHECK_ERR(vs_gdb_unhex("01020304", bytes, 3), VSE_LIMIT);
}

/* ---- a debugger ---------------------------------------------------------------------------- */

struct talk {
    struct fake_machine fake;
    struct vs_gdb_machine machine;
    struct vs_gdb_session session;
    bool acks;
    unsigned polls;         /* after which the machine shall stop; 0: never */
    int wish;               /* after the last packet */
    char answer[TALK_MAX];  /* to it */
    char console[TALK_MAX]; /* what was said before that */
    unsigned console_packets;
};

static bool poll_now(void *context)
{
    struct talk *t = context;

    return t->polls && --t->polls == 0;
}

static struct talk *begin(void)
{
    struct talk *t = calloc(1, sizeof(*t));

    CHECK(t);
    t->machine = fake_machine(&t->fake);
    t->acks = true;
    vs_gdb_session_init(&t->session, &t->machine, poll_now, t);
    return t;
}

static void end(struct talk *t)
{
    vs_gdb_session_fini(&t->session);
    free(t);
}

static void take_answers(struct talk *t)
{
    const uint8_t *p = t->session.send, *last;

    t->console[0] = t->answer[0] = 0;
    t->console_packets = 0;
    if (!p)
        return;
    last = p + t->session.send_size;
    while (talk_take(&p, last, t->answer, TALK_MAX) && t->answer[0] == 'O' && p < last) {
        size_t n = strlen(t->console);

        talk_unhex(t->answer + 1, t->console + n, TALK_MAX - n);
        t->console_packets++;
    }
    CHECK(p == last);
}

static const char *ask(struct talk *t, const char *packet)
{
    char frame[4096];
    size_t size = talk_frame(packet, frame, sizeof(frame)), used;
    enum vs_gdb_event e =
        vs_gdb_reader_take(&t->session.reader, (const uint8_t *)frame, size, &used);

    CHECK_EQ(e, VS_GDB_PACKET);
    CHECK_STR(vs_gdb_session_acknowledge(&t->session, e), t->acks ? "+" : "");
    t->wish = vs_gdb_session_handle(&t->session, e);
    CHECK(t->wish >= 0);
    take_answers(t);
    return t->answer;
}

static const char *ask_monitor(struct talk *t, const char *command)
{
    char packet[4096] = "qRcmd,";

    talk_hex(command, packet + 6, sizeof(packet) - 6);
    return ask(t, packet);
}

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
