/* SPDX-License-Identifier: MIT */
#include "gdb/server.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "gdb/session.h"

#define INPUT_MAX 4096
#define BACKLOG   4
#define INTERRUPT 3

struct server {
    const struct vs_gdb_server_options *options;
    int listener; /* -1: none */
    int in, out;  /* lead to the debugger that is here */
    bool gone;    /* it hung up, or could not be reached */
    int error;    /* why it could not be reached, an errno; 0: it hung up */
    bool stopped; /* options->stop could be read */
    uint8_t input[INPUT_MAX];
    size_t start, end; /* of the bytes in `input` that are not used yet */
    struct vs_gdb_session session;
};

/* ---- addresses ----------------------------------------------------------------------------- */

static void tell(const struct server *s, enum vs_gdb_notice_kind kind, const char *host,
                 unsigned port)
{
    struct vs_gdb_notice n = {.kind = kind, .host = host, .port = port};

    if (s->options->notice)
        s->options->notice(s->options->context, &n);
}

/* Tells the address of one end of a socket. */
static void tell_end(const struct server *s, enum vs_gdb_notice_kind kind, int fd,
                     int (*which)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "0";

    if (which(fd, (struct sockaddr *)&address, &size) == 0)
        getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    tell(s, kind, host, (unsigned)strtoul(port, NULL, 10));
}

/* Returns a socket that listens at the address, or -1 with errno. */
static int listen_at(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    int on = 1, error;

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int open_listener(struct server *s, struct vs_diag *diag)
{
    const char *host = s->options->host ? s->options->host : "127.0.0.1";
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list;
    char port[16], where[NI_MAXHOST + 16];
    int e;

    snprintf(port, sizeof(port), "%u", s->options->port);
    snprintf(where, sizeof(where), "on %s:%s", host, port);
    if (s->options->port > UINT16_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no such port: %s", port);
    e = getaddrinfo(host, port, &hints, &list);
    if (e)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no such host: %s: %s", host, gai_strerror(e));
    for (const struct addrinfo *a = list; a && s->listener < 0; a = a->ai_next)
        s->listener = listen_at(a);
    e = errno;
    freeaddrinfo(list);
    errno = e;
    if (s->listener < 0)
        return vs_diag_io(diag, "cannot listen", where);
    tell_end(s, VS_GDB_LISTENS, s->listener, getsockname);
    return 0;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* Turns away a debugger that comes while another is here. */
static void refuse_one(struct server *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return;
    tell_end(s, VS_GDB_REFUSED, fd, getpeername);
    close(fd);
}

/* Waits until fd is ready for `events`, or the milliseconds (-1: no limit) are over. Returns
 * whether fd is ready; false, too, if the server is to stop. */
static bool wait_for(struct server *s, int fd, short events, int milliseconds)
{
    do {
        struct pollfd fds[3] = {
            {.fd = fd, .events = events},
            {.fd = s->options->stop, .events = POLLIN},
            {.fd = fd == s->listener ? -1 : s->listener, .events = POLLIN},
        };
        int ready = poll(fds, 3, milliseconds);

        if (ready < 0) /* EINTR, or no memory for the moment */
            continue;
        if (fds[1].revents) {
            s->stopped = true;
            return false;
        }
        if (fds[2].revents)
            refuse_one(s);
        if (fds[0].revents)
            return true;
    } while (milliseconds < 0);
    return false;
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Notes why a call failed, unless it may simply be made again: the debugger hung up, or another
 * error. */
static void note_failure(struct server *s)
{
    if (errno == EINTR || errno == EAGAIN)
        return;
    s->gone = true;
    s->error = errno == EPIPE || errno == ECONNRESET ? 0 : errno;
}

/* Reads what is there, if there is room. The descriptor must be ready, so that it cannot block. */
static void read_some(struct server *s)
{
    ssize_t n;

    s->end -= s->start;
    memmove(s->input, s->input + s->start, s->end);
    s->start = 0;
    if (s->end == INPUT_MAX)
        return;
    n = read(s->in, s->input + s->end, INPUT_MAX - s->end);
    if (n > 0)
        s->end += (size_t)n;
    else if (n == 0)
        s->gone = true;
    else
        note_failure(s);
}

/* A pipe that is ready takes PIPE_BUF bytes without blocking. */
static ssize_t write_some(int fd, const uint8_t *bytes, size_t size)
{
    ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && errno == ENOTSOCK)
        n = write(fd, bytes, size < PIPE_BUF ? size : PIPE_BUF);
    return n;
}

static void write_all(struct server *s, const uint8_t *bytes, size_t size)
{
    while (size && !s->gone && !s->stopped) {
        ssize_t n;

        if (!wait_for(s, s->out, POLLOUT, -1))
            return;
        n = write_some(s->out, bytes, size);
        if (n >= 0) {
            bytes += n;
            size -= (size_t)n;
        } else {
            note_failure(s);
        }
    }
}

/* Returns whether the running machine is to stop. A debugger sends nothing meanwhile but the
 * request to stop; one that fills the buffer with something else is listened to as well. */
static bool wants_stop(void *context)
{
    struct server *s = context;

    if (wait_for(s, s->in, POLLIN, 0))
        read_some(s);
    return s->gone || s->stopped || s->end == INPUT_MAX ||
           memchr(s->input + s->start, INTERRUPT, s->end - s->start);
}

/* ---- debuggers ----------------------------------------------------------------------------- */

static int handle_input(struct server *s)
{
    int wish = VS_GDB_GO_ON;

    while (wish == VS_GDB_GO_ON && s->start < s->end && !s->gone && !s->stopped) {
        const char *ack;
        size_t used;
        enum vs_gdb_event event =
            vs_gdb_reader_take(&s->session.reader, s->input + s->start, s->end - s->start, &used);

        s->start += used;
        ack = vs_gdb_session_acknowledge(&s->session, event);
        write_all(s, (const uint8_t *)ack, strlen(ack));
        wish = vs_gdb_session_handle(&s->session, event);
        write_all(s, s->session.send, wish < 0 ? 0 : s->session.send_size);
    }
    return wish;
}

/* Serves the debugger until it leaves. Returns its last wish, or an error. */
static int attend(struct server *s, const struct vs_gdb_machine *machine)
{
    int wish = VS_GDB_GO_ON;

    s->gone = false;
    s->error = 0;
    s->start = s->end = 0;
    vs_gdb_session_init(&s->session, machine, wants_stop, s);
    while (wish == VS_GDB_GO_ON && !s->gone && !s->stopped) {
        if (wait_for(s, s->in, POLLIN, -1)) {
            read_some(s);
            wish = handle_input(s);
        }
    }
    vs_gdb_session_fini(&s->session);
    tell(s, VS_GDB_LEAVES, "", 0);
    return wish;
}

static int serve_fds(struct server *s, const struct vs_gdb_machine *machine, struct vs_diag *diag)
{
    int wish;

    s->in = s->options->in;
    s->out = s->options->out;
    tell(s, VS_GDB_COMES, "", 0);
    wish = attend(s, machine);
    errno = s->error;
    return wish >= 0 && errno ? vs_diag_io(diag, "cannot talk to the debugger", NULL) : wish;
}

/* Waits for a debugger and attends to it. */
static int serve_next(struct server *s, const struct vs_gdb_machine *machine, struct vs_diag *diag)
{
    int on = 1, fd, wish;

    if (!wait_for(s, s->listener, POLLIN, -1))
        return VS_GDB_GO_ON;
    fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
        return vs_diag_io(diag, "cannot accept a debugger", NULL);
    if (fd < 0)
        return VS_GDB_GO_ON; /* it has left already */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    s->in = s->out = fd;
    tell_end(s, VS_GDB_COMES, fd, getpeername);
    wish = attend(s, machine);
    close(fd);
    return wish == VS_GDB_GO_ON ? VS_GDB_DETACH : wish;
}

static int serve_port(struct server *s, const struct vs_gdb_machine *machine, struct vs_diag *diag)
{
    int wish = open_listener(s, diag);

    if (wish < 0)
        return wish;
    do
        wish = serve_next(s, machine, diag);
    while (!s->stopped && (wish == VS_GDB_GO_ON || (wish == VS_GDB_DETACH && !s->options->once)));
    close(s->listener);
    return wish;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* A SIGPIPE that our writing caused must not reach the caller once it is unblocked. */
static void unblock(const sigset_t *pipe_signal, const sigset_t *before, bool was_pending)
{
    const struct timespec at_once = {0};

    if (!was_pending) {
        while (sigtimedwait(pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int serve(struct server *s, const struct vs_gdb_machine *machine, struct vs_diag *diag)
{
    int wish = s->options->fds ? serve_fds(s, machine, diag) : serve_port(s, machine, diag);

    if (wish == -VSE_NOMEM)
        return vs_diag_set(diag, wish, -1, -1, "no memory for an answer to the debugger");
    if (wish < 0)
        return wish;
    if (s->stopped)
        return VS_GDB_SERVED_STOP;
    return wish == VS_GDB_KILL ? VS_GDB_SERVED_KILL : VS_GDB_SERVED_LEFT;
}

int vs_gdb_serve(const struct vs_gdb_server_options *options, const struct vs_gdb_machine *machine,
                 struct vs_diag *diag)
{
    struct server *s = malloc(sizeof(*s));
    sigset_t pipe_signal, before, pending;
    int served;

    if (!s)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for a debugger");
    *s = (struct server){.options = options, .listener = -1, .in = -1, .out = -1};
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    served = serve(s, machine, diag);
    unblock(&pipe_signal, &before, sigismember(&pending, SIGPIPE));
    free(s);
    return served;
}
