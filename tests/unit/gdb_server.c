/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gdb/gdb.h"
#include "gen/gdb_machine.h"
#include "unit/gdbtalk.h"

#define PATIENCE 300000 /* milliseconds: only what hangs takes so long */

/* ---- a server in a thread ------------------------------------------------------------------ */

struct served {
    struct fake_machine fake;
    struct vs_gdb_machine machine;
    struct vs_gdb_server_options options;
    struct vs_diag diag;
    pthread_t thread;
    int notices[2], stop[2]; /* pipes */
    int end;
};

static void notice(void *context, const struct vs_gdb_notice *n)
{
    struct served *s = context;
    struct {
        int kind;
        unsigned port;
    } told = {(int)n->kind, n->port};

    CHECK_EQ(write(s->notices[1], &told, sizeof(told)), (ssize_t)sizeof(told));
}

static void await(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    CHECK_EQ(poll(&p, 1, PATIENCE), 1);
}

/* The next notice must be of this kind; its port. */
static unsigned expect(struct served *s, enum vs_gdb_notice_kind kind)
{
    struct {
        int kind;
        unsigned port;
    } told;

    await(s->notices[0]);
    CHECK_EQ(read(s->notices[0], &told, sizeof(told)), (ssize_t)sizeof(told));
    CHECK_EQ(told.kind, (int)kind);
    return told.port;
}

static void *run(void *context)
{
    struct served *s = context;

    s->end = vs_gdb_serve(&s->options, &s->machine, &s->diag);
    return NULL;
}

static struct served *prepare(void)
{
    struct served *s = calloc(1, sizeof(*s));

    CHECK(s && pipe(s->notices) == 0 && pipe(s->stop) == 0);
    s->machine = fake_machine(&s->fake);
    s->options = (struct vs_gdb_server_options){.stop = s->stop[0], .notice = notice, .context = s};
    return s;
}

static void start(struct served *s)
{
    CHECK_EQ(pthread_create(&s->thread, NULL, run, s), 0);
}

static int join(struct served *s)
{
    struct timespec until;
    int end;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE / 1000;
    CHECK_EQ(pthread_timedjoin_np(s->thread, NULL, &until), 0);
    end = s->end;
    close(s->notices[0]);
    close(s->notices[1]);
    close(s->stop[0]);
    close(s->stop[1]);
    free(s);
    return end;
}

/* ---- debuggers ----------------------------------------------------------------------------- */

static int connect_to(unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void send_packet(int fd, const char *packet)
{
    char frame[4096];

    talk_frame(packet, frame, sizeof(frame));
    send_text(fd, frame);
}

static char get_char(int fd)
{
    char c;

    await(fd);
    CHECK_EQ(read(fd, &c, 1), 1);
    return c;
}

/* The next packet must be this one. */
static void expect_packet(int fd, const char *packet)
{
    char frame[256], text[256];
    const uint8_t *p = (const uint8_t *)frame;
    size_t n = 0;

    while (n < 4 || frame[n - 3] != '#') {
        CHECK(n < sizeof(frame));
        frame[n] = get_char(fd);
        if (n || frame[n] != '+')
            n++;
    }
    CHECK(talk_take(&p, p + n, text, sizeof(text)));
    CHECK_STR(text, packet);
}

static void ask(int fd, const char *packet, const char *answer)
{
    send_packet(fd, packet);
    expect_packet(fd, answer);
}

static bool is_closed(int fd)
{
    char c;

    await(fd);
    return read(fd, &c, 1) <= 0;
}

/* ---- on a port ----------------------------------------------------------------------------- */

TEST(serves_on_a_port)
{
    struct served *s = prepare();
    int fd;

    start(s);
    fd = connect_to(expect(s, VS_GDB_LISTENS));
    CHECK(expect(s, VS_GDB_COMES) > 0);
    ask(fd, "qC", "QC1");
    ask(fd, "s", "T05thread:1;");
    send_packet(fd, "k");
    expect(s, VS_GDB_LEAVES);
    close(fd);
    CHECK_EQ(join(s), VS_GDB_SERVED_KILL);
}

TEST(turns_a_second_debugger_away)
{
    struct served *s = prepare();
    unsigned port;
    int first, second;

    start(s);
    port = expect(s, VS_GDB_LISTENS);
    first = connect_to(port);
    expect(s, VS_GDB_COMES);
    second = connect_to(port);
    expect(s, VS_GDB_REFUSED);
    CHECK(is_closed(second));
    ask(first, "qC", "QC1");
    ask(first, "vKill;1", "OK");
    CHECK_EQ(join(s), VS_GDB_SERVED_KILL);
    close(first);
    close(second);
}

TEST(turns_a_second_debugger_away_while_the_machine_runs)
{
    struct served *s = prepare();
    unsigned port;
    int first, second;

    s->fake.endless = UINT32_MAX;
    start(s);
    port = expect(s, VS_GDB_LISTENS);
    first = connect_to(port);
    expect(s, VS_GDB_COMES);
    send_packet(first, "c");
    CHECK_EQ(get_char(first), '+');
    second = connect_to(port);
    CHECK(is_closed(second));
    send_text(first, "\3");
    expect_packet(first, "T02thread:1;");
    close(first);
    close(second);
    send_text(s->stop[1], "x");
    CHECK_EQ(join(s), VS_GDB_SERVED_STOP);
}

TEST(keeps_the_place_and_forgets_points_between_debuggers)
{
    struct served *s = prepare();
    unsigned port;
    int fd;

    start(s);
    port = expect(s, VS_GDB_LISTENS);
    fd = connect_to(port);
    expect(s, VS_GDB_COMES);
    ask(fd, "QStartNoAckMode", "OK");
    ask(fd, "Z0,10010,4", "OK");
    ask(fd, "c", "T05thread:1;");
    close(fd); /* just so */
    expect(s, VS_GDB_LEAVES);
    fd = connect_to(port);
    expect(s, VS_GDB_COMES);
    ask(fd, "?", "T05thread:1;");
    ask(fd, "p20", "1000010000000000");
    ask(fd, "bs", "T05thread:1;");
    ask(fd, "c", "T1ethread:1;");
    ask(fd, "D", "OK");
    expect(s, VS_GDB_LEAVES);
    CHECK(is_closed(fd));
    close(fd);
    fd = connect_to(port);
    expect(s, VS_GDB_COMES);
    ask(fd, "p20", "3400010000000000");
    send_packet(fd, "k");
    CHECK_EQ(join(s), VS_GDB_SERVED_KILL);
    close(fd);
}

TEST(serves_once_if_asked)
{
    struct served *s = prepare();
    int fd;

    s->options.once = true;
    start(s);
    fd = connect_to(expect(s, VS_GDB_LISTENS));
    close(fd);
    CHECK_EQ(join(s), VS_GDB_SERVED_LEFT);
}

TEST(stops_while_it_waits)
{
    struct served *s = prepare();

    start(s);
    expect(s, VS_GDB_LISTENS);
    send_text(s->stop[1], "x");
    CHECK_EQ(join(s), VS_GDB_SERVED_STOP);
}

TEST(stops_while_the_machine_runs)
{
    struct served *s = prepare();
    int fd;

    s->fake.endless = UINT32_MAX;
    start(s);
    fd = connect_to(expect(s, VS_GDB_LISTENS));
    send_packet(fd, "c");
    get_char(fd);
    send_text(s->stop[1], "x");
    CHECK_EQ(join(s), VS_GDB_SERVED_STOP);
    close(fd);
}

TEST(says_why_it_cannot_listen)
{
    struct vs_gdb_server_options o = {.stop = -1, .port = 65536};
    struct fake_machine f;
    struct vs_gdb_machine m = fake_machine(&f);
    struct served *s = prepare();
    struct vs_diag d;

    CHECK_ERR(vs_gdb_serve(&o, &m, &d), VSE_INVAL);
    CHECK_STR(d.text, "no such port: 65536");
    o.port = 0;
    o.host = "999.1.1.1.";
    CHECK_ERR(vs_gdb_serve(&o, &m, &d), VSE_INVAL);
    CHECK_HAS(d.text, "no such host: 999.1.1.1.");
    start(s);
    o.host = NULL;
    o.port = expect(s, VS_GDB_LISTENS);
    CHECK_ERR(vs_gdb_serve(&o, &m, &d), VSE_IO);
    CHECK_HAS(d.text, "cannot listen on 127.0.0.1:");
    send_text(s->stop[1], "x");
    CHECK_EQ(join(s), VS_GDB_SERVED_STOP);
}

/* ---- on file descriptors ------------------------------------------------------------------- */

static int start_pair(struct served *s)
{
    int ends[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    s->options.fds = true;
    s->options.in = s->options.out = ends[0];
    start(s);
    expect(s, VS_GDB_COMES);
    return ends[1];
}

/* The server's end of the pair stays the test's. */
static int join_pair(struct served *s, int fd)
{
    int theirs = s->options.in, end = join(s);

    close(fd);
    close(theirs);
    return end;
}

TEST(serves_on_descriptors)
{
    struct served *s = prepare();
    int fd = start_pair(s);

    ask(fd, "qC", "QC1");
    ask(fd, "D", "OK");
    CHECK_EQ(join_pair(s, fd), VS_GDB_SERVED_LEFT);
}

TEST(answers_what_comes_in_one_piece)
{
    struct served *s = prepare();
    int fd = start_pair(s);

    send_text(fd, "\3$qC#b4+$g#00$s#73-");
    CHECK_EQ(get_char(fd), '+');
    expect_packet(fd, "QC1");
    CHECK_EQ(get_char(fd), '-');
    expect_packet(fd, "T05thread:1;");
    expect_packet(fd, "T05thread:1;");
    send_packet(fd, "k");
    CHECK_EQ(join_pair(s, fd), VS_GDB_SERVED_KILL);
}

TEST(hears_an_interrupt_that_came_with_the_packet)
{
    struct served *s = prepare();
    int fd;

    s->fake.endless = UINT32_MAX;
    fd = start_pair(s);
    send_text(fd, "$c#63\3");
    expect_packet(fd, "T02thread:1;");
    s->fake.endless = 0;
    ask(fd, "s", "T05thread:1;");
    send_packet(fd, "k");
    CHECK_EQ(join_pair(s, fd), VS_GDB_SERVED_KILL);
}

TEST(notices_a_hang_up_while_the_machine_runs)
{
    struct served *s = prepare();
    int fd;

    s->fake.endless = UINT32_MAX;
    fd = start_pair(s);
    send_packet(fd, "c");
    CHECK_EQ(get_char(fd), '+');
    shutdown(fd, SHUT_RDWR);
    CHECK_EQ(join_pair(s, fd), VS_GDB_SERVED_LEFT);
}

TEST(survives_a_pipe_that_nobody_reads)
{
    struct served *s = prepare();
    int to[2], from[2];

    CHECK(pipe(to) == 0 && pipe(from) == 0);
    s->options.fds = true;
    s->options.in = to[0];
    s->options.out = from[1];
    close(from[0]);
    start(s);
    send_packet(to[1], "g");
    CHECK_EQ(join(s), VS_GDB_SERVED_LEFT); /* and no SIGPIPE */
    close(to[0]);
    close(to[1]);
    close(from[1]);
}

static void read_all(int fd, uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t got;

        await(fd);
        got = read(fd, bytes, size);
        CHECK(got > 0);
        bytes += got;
        size -= (size_t)got;
    }
}

/* More answers than the kernel buffers: the server writes as far as it can, and goes on when the
 * debugger reads at last. */
TEST(waits_for_a_slow_debugger)
{
    struct served *s = prepare();
    const size_t answers = 10, size = 1 + 2 * 40000 + 5 * strlen("$O#00") + strlen("$OK#9a");
    uint8_t *bytes = malloc(answers * size);
    int fd = start_pair(s), small = 4096;

    CHECK(bytes);
    CHECK_EQ(setsockopt(s->options.out, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    for (size_t i = 0; i < answers; i++)
        send_packet(fd, "qRcmd,6d756368");
    read_all(fd, bytes, answers * size);
    CHECK_MEM(bytes, "+$O", 3);
    CHECK_MEM(bytes + size - 6, "$OK#9a", 6);
    for (size_t i = 1; i < answers; i++)
        CHECK_MEM(bytes + i * size, bytes, size);
    free(bytes);
    ask(fd, "qC", "QC1");
    send_packet(fd, "k");
    CHECK_EQ(join_pair(s, fd), VS_GDB_SERVED_KILL);
}

static void nothing(int signal)
{
    (void)signal;
}

TEST(goes_on_after_signals)
{
    struct sigaction a = {.sa_handler = nothing}; /* without SA_RESTART */
    struct served *s = prepare();
    int fd = start_pair(s);

    CHECK_EQ(sigaction(SIGUSR1, &a, NULL), 0);
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQ(pthread_kill(s->thread, SIGUSR1), 0);
        ask(fd, "qC", "QC1");
    }
    send_packet(fd, "k");
    CHECK_EQ(join_pair(s, fd), VS_GDB_SERVED_KILL);
}
