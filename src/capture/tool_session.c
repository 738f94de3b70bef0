/* SPDX-License-Identifier: MIT */
#include "capture/tool_session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "capture/assembler.h"
#include "capture/log.h"

/* Milliseconds between looks at the clock, the user and the program. */
#define GLANCE 100
/* How many seconds a program has for what it does before it stops (Ctrl-Z). */
#define PARTING 0.1

#define BIT(signal) (1u << (signal))
#define STOPPING    (BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

double vs_session_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* If the tool is gone, nobody needs it. Returns 0; -VSE_IO (the tool may be there, and wait). */
static int say(struct vs_session *s, const void *what, size_t size)
{
    const uint8_t *p = what;

    while (size > 0) {
        ssize_t n = send(s->launch.socket, p, size, MSG_NOSIGNAL);

        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return 0;
        if (n < 0 && errno != EINTR)
            return vs_diag_io(s->diag, "cannot answer Valgrind", NULL);
        p += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int reply(struct vs_session *s, enum wire_reply_kind kind, uint32_t value)
{
    struct wire_reply message = {kind, value};

    return say(s, &message, sizeof(message));
}

static int answer(struct vs_session *s)
{
    int e;

    s->ranges.len = 0;
    if (vs_images_ranges(&s->taker->images, &s->ranges) < 0)
        return -VSE_NOMEM;
    e = reply(s, WIRE_RANGES, (uint32_t)(s->ranges.len / sizeof(struct wire_range)));
    return e < 0 || !s->ranges.len ? e : say(s, s->ranges.data, s->ranges.len);
}

static const uint8_t *buffer_at(const struct vs_session *s, uint32_t buffer)
{
    return s->launch.memory + WIRE_HEAD_SIZE + (uint64_t)buffer * WIRE_BUFFER_SIZE;
}

/* ---- what takes records ---------------------------------------------------------------------- */

static void reaped(void *context, unsigned process, int status)
{
    struct vs_session *s = context;

    if (s->family)
        s->family->reaped(s->family->context, s->number, (int)process, status);
}

static void close_taker(struct vs_taker *t)
{
    if (!t)
        return;
    vs_relay_close(t->relay);
    vs_assembler_close(t->assembler);
    vs_images_fini(&t->images);
    free(t);
}

/* Returns 0; -VSE_NOMEM. */
static int open_taker(struct vs_session *s, struct vs_taker **out,
                      const struct vs_consumer *consumer)
{
    const struct vs_engine_request *o = s->o;
    struct vs_taker *t = calloc(1, sizeof(*t));
    struct vs_assembler_options a = {.windows = s->lengths,
                                     .window_count = o->window_count,
                                     .inputs = o->inputs,
                                     .light = o->light,
                                     .reaped = reaped,
                                     .context = s};

    *out = t;
    if (!t)
        return -VSE_NOMEM;
    /* Records are little work for this thread; for making events of everything, it wants another
     * one beside it. */
    if ((consumer->records ? vs_relay_open_here(&t->relay, consumer, VS_PARCEL_EVENTS)
                           : vs_relay_open(&t->relay, consumer, VS_PARCEL_EVENTS, false)) < 0)
        return -VSE_NOMEM;
    t->images = (struct vs_images){.relay = t->relay,
                                   .places = o->places,
                                   .place_count = o->place_count,
                                   .main_only = o->main_only};
    a.images = &t->images;
    a.relay = t->relay;
    return vs_assembler_open(&t->assembler, &a);
}

/* ---- what the tool says ---------------------------------------------------------------------- */

/* Hands a buffer to whom it is for: with `telling`, only to what has begun last. */
static int take_buffer(struct vs_session *s, uint32_t buffer, uint32_t bytes, bool telling)
{
    int e = 0;

    if (buffer >= WIRE_BUFFERS || bytes > WIRE_BUFFER_SIZE)
        return vs_diag_set(s->diag, -VSE_CORRUPT, -1, -1, "the tool announced buffer %u, %u bytes",
                           buffer, bytes);
    if (!telling)
        e = vs_assembler_take(s->taker->assembler, buffer_at(s, buffer), bytes, s->diag, s->theirs);
    if (e == 0 && s->newer)
        e = vs_assembler_take(s->newer->assembler, buffer_at(s, buffer), bytes, s->diag, s->theirs);
    return e;
}

/* Another run begins, or all that it begins with was told. */
static int renew(struct vs_session *s, bool begins)
{
    const struct vs_renewal *renewal = s->o->renewal;
    const struct vs_consumer *consumer;

    if (!renewal || (!begins && !s->newer))
        return vs_assembler_nonsense(s->diag, "a renewal");
    if (!begins)
        return vs_assembler_inherit(s->newer->assembler, s->taker->assembler, s->diag, s->theirs);
    if (s->newer) {
        close_taker(s->taker);
        s->taker = s->newer;
        s->newer = NULL;
        renewal->drop(renewal->context);
    }
    consumer = renewal->begin(renewal->context, s->diag);
    return consumer ? open_taker(s, &s->newer, consumer) : s->diag->error;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

/* Answers with descriptors. If the tool is gone, nobody needs them. Returns 0; -VSE_IO. */
static int hand_over(struct vs_session *s, const int fds[WIRE_DESCRIPTORS])
{
    struct wire_reply message = {WIRE_CHANNEL, WIRE_DESCRIPTORS};
    union {
        struct cmsghdr head;
        uint8_t room[CMSG_SPACE(WIRE_DESCRIPTORS * sizeof(int))];
    } control = {0};
    struct iovec part = {&message, sizeof(message)};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    ssize_t n;

    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(WIRE_DESCRIPTORS * sizeof(int));
    memcpy(CMSG_DATA(&control.head), fds, WIRE_DESCRIPTORS * sizeof(int));
    do
        n = sendmsg(s->launch.socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EPIPE && errno != ECONNRESET)
        return vs_diag_io(s->diag, "cannot answer Valgrind", NULL);
    return n > 0 && n < (ssize_t)sizeof(message)
               ? say(s, (const uint8_t *)&message + n, sizeof(message) - (size_t)n)
               : 0;
}

/* The process is about to make a child. */
static int give_channel(struct vs_session *s)
{
    int fds[WIRE_DESCRIPTORS], e;

    if (!s->family || s->family->child(s->family->context, s->number, fds) < 0)
        return reply(s, WIRE_CHANNEL, 0);
    e = hand_over(s, fds);
    close_all(fds, WIRE_DESCRIPTORS);
    return e;
}

static int take_note(struct vs_session *s, const struct wire_note *note)
{
    int e;

    if (note->kind == WIRE_CHILD)
        return give_channel(s);
    if (note->kind == WIRE_RENEW)
        return renew(s, note->bytes);
    e = take_buffer(s, note->buffer, note->bytes, note->telling);
    if (e < 0)
        return e;
    s->last_buffer = note->buffer;
    if (note->kind == WIRE_ASK && (e = answer(s)) < 0)
        return e;
    return reply(s, WIRE_FREE, note->buffer);
}

/* Tells the caller how far it is, and tells the tool if that is enough. Returns 0; -VSE_IO. */
static int tick(struct vs_session *s)
{
    struct vs_assembler_stats stats = vs_assembler_stats(s->taker->assembler);
    bool stop = stats.full;

    if (stats.programs != s->programs)
        s->stop_said = false;
    s->programs = stats.programs;
    if (s->o->tick && s->o->tick(s->o->context, stats.instructions)) {
        s->result->stopped = true;
        stop = true;
    }
    if (!stop || s->stop_said)
        return 0;
    s->stop_said = true;
    return reply(s, WIRE_STOP, 0);
}

/* Begins or ends recording if it is time to. */
static void watch_clock(struct vs_session *s)
{
    const struct vs_trigger *t = &s->o->trigger;

    if (t->kind != VS_TRIGGER_TIME || s->triggered || vs_session_now() < s->began + t->seconds)
        return;
    s->triggered = true;
    vs_launch_wish(&s->launch, s->o->renewal ? WIRE_WISH_STOP : WIRE_WISH_ON);
}

static void signal_others(const struct vs_session *s, int number)
{
    if (s->family)
        s->family->signal(s->family->context, number);
}

/* To the program; its children get what their parents send them, unless these are gone. */
static void pass_on(const struct vs_session *s, uint32_t signals)
{
    for (int n = 1; n < 32; n++)
        if (signals >> n & 1 && !s->launch.over)
            vs_launch_signal(&s->launch, n);
        else if (signals >> n & 1)
            signal_others(s, n);
}

static void stop(struct vs_session *s)
{
    if (s->family)
        s->family->pause(s->family->context, true);
    vs_launch_stop(&s->launch);
    if (s->family)
        s->family->pause(s->family->context, false);
}

/* Passes on the signals that the program does not get by itself. It may go on as long as it likes
 * after that, unless the user insists. */
void vs_session_heed(struct vs_session *s)
{
    struct vs_interrupt *i = s->o->interrupt;
    uint32_t alone, shared;

    if (!i || s->launch.child || (s->launch.over && !s->family))
        return;
    switch (atomic_exchange(&i->wish, VS_WISH_NONE)) {
    case VS_WISH_RESUME:
        vs_launch_wish(&s->launch, WIRE_WISH_ON);
        break;
    case VS_WISH_PAUSE:
        vs_launch_wish(&s->launch, WIRE_WISH_OFF);
        break;
    default:
        break;
    }
    alone = atomic_exchange(&i->alone, 0);
    shared = atomic_exchange(&i->shared, 0);
    /* Once the program is over, its number may be another process's. */
    if (shared && !s->launch.over && getpgid(s->launch.pid) != getpgrp())
        alone |= shared;
    s->passed |= alone | shared;
    pass_on(s, alone);
    if (i->insists) {
        s->killed = true;
        vs_launch_signal(&s->launch, SIGKILL);
        signal_others(s, SIGKILL);
    } else if ((alone | shared) & STOPPING && !s->stops) {
        s->stops = vs_session_now() + PARTING;
    } else if (s->stops && vs_session_now() > s->stops) {
        s->stops = 0;
        stop(s);
    }
}

/* Reads what is there of the next note. Returns 1 if the note is whole now; 0 if not; -VSE_END if
 * there will be no more notes; -VSE_IO. */
static int read_note(struct vs_session *s)
{
    struct iovec part = {(uint8_t *)&s->note + s->note_bytes, sizeof(s->note) - s->note_bytes};
    union {
        struct cmsghdr head;
        uint8_t room[CMSG_SPACE(sizeof(struct ucred))];
    } control = {0};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(s->launch.socket, &m, MSG_CMSG_CLOEXEC);

    if (n > 0 && m.msg_controllen >= CMSG_LEN(sizeof(struct ucred)) &&
        control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_CREDENTIALS)
        s->sender = ((const struct ucred *)(const void *)CMSG_DATA(&control.head))->pid;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0 && errno != ECONNRESET) /* it is not over: the tool may be waiting for an answer */
        return vs_diag_io(s->diag, "cannot hear Valgrind", NULL);
    if (n <= 0)
        return -VSE_END;
    s->note_bytes += (size_t)n;
    if (s->note_bytes < sizeof(s->note))
        return 0;
    s->note_bytes = 0;
    return 1;
}

int vs_session_await(struct vs_session *s, int *id, int *parent_id)
{
    int got = 0;

    while (got == 0)
        got = read_note(s);
    if (got < 0)
        return got == -VSE_END ? 0 : got;
    if (s->note.kind != WIRE_BORN || s->sender <= 0)
        return vs_assembler_nonsense(s->diag, "an introduction");
    *id = (int)s->note.buffer;
    *parent_id = (int)s->note.bytes;
    return 1;
}

int vs_session_greet(struct vs_session *s)
{
    return reply(s, WIRE_FREE, 0);
}

/* Whether another process could not be recorded any further: then this one is to end, too. */
static bool is_doomed(const struct vs_session *s)
{
    return s->family && s->family->failed(s->family->context);
}

/* Takes notes until the program is over and there are no more. The program may close its end
 * earlier; it then runs on, unobserved. */
static int listen_to_tool(struct vs_session *s)
{
    /* The end of a process that is ours to wait for need not wait for the next look. */
    struct pollfd fds[] = {{.fd = s->launch.socket, .events = POLLIN},
                           {.fd = s->launch.child ? -1 : s->launch.process, .events = POLLIN}};
    int e = 0;

    while (e == 0) {
        bool over = vs_launch_over(&s->launch);
        int ready, got;

        if (over)
            fds[1].fd = -1;
        ready = poll(fds, 2, over ? 0 : GLANCE);
        vs_session_heed(s);
        if (!over)
            watch_clock(s);
        if (!over && is_doomed(s))
            vs_launch_signal(&s->launch, SIGKILL);
        if (ready > 0 && fds[0].revents) {
            got = read_note(s);
            if (got > 0)
                e = take_note(s, &s->note);
            if (got == -VSE_END) {
                fds[0].fd = -1;
                if (s->launch.child)
                    vs_launch_gone(&s->launch);
            } else if (got < 0)
                e = got;
        } else if (over && (ready == 0 || errno != EINTR)) {
            break;
        }
        if (e == 0)
            e = tick(s);
    }
    return e;
}

/* Takes what the tool says is valid of its last buffer, which it had no time to hand over. */
static int take_remains(struct vs_session *s)
{
    struct wire_ring ring;
    uint32_t buffer, bytes;

    memcpy(&ring, s->launch.memory, sizeof(ring));
    buffer = (uint32_t)(ring.valid >> 32);
    bytes = (uint32_t)ring.valid;
    if (vs_assembler_stats(s->taker->assembler).ended || ring.version != WIRE_VERSION ||
        buffer == s->last_buffer || bytes < sizeof(struct wire_slot))
        return 0;
    return ring.telling ? 0 : take_buffer(s, buffer, bytes, false);
}

int vs_session_open(struct vs_session *s)
{
    const struct vs_engine_request *o = s->o;

    s->last_buffer = -1;
    s->lengths = calloc(o->window_count + 1, sizeof(*s->lengths));
    if (!s->lengths)
        return -VSE_NOMEM;
    for (size_t i = 0; i < o->window_count; i++)
        s->lengths[i] = o->windows[i].length;
    return open_taker(s, &s->taker, o->consumer);
}

static void take_log(struct vs_session *s)
{
    struct vs_engine_result *result = s->result;
    struct vs_valgrind_log log;
    char why[256] = "";

    vs_valgrind_log_read(&log, s->launch.log);
    snprintf(result->said, sizeof(result->said), "%s", log.said);
    if (!s->stats.programs)
        return;
    /* Valgrind sends itself the signal that ended the program. If that goes to another thread,
     * Valgrind may wonder why it is still there, and exit, before the signal arrives. */
    int signal = s->launch.child ? 0 : vs_valgrind_log_signal(&log, s->launch.pid);
    if (signal && s->stats.ended && WIFEXITED(s->launch.status) &&
        WEXITSTATUS(s->launch.status) == 1)
        s->launch.status = W_EXITCODE(0, signal);
    /* A program that ends by itself is reported as ended; only Valgrind's own exit is not. */
    if (WIFEXITED(s->launch.status) && !s->stats.ended && !s->launch.lost)
        vs_valgrind_log_failure(&log, why, sizeof(why));
    else if (WIFSIGNALED(s->launch.status) && WTERMSIG(s->launch.status) == SIGILL)
        vs_valgrind_log_instruction(&log, why, sizeof(why));
    if (*why)
        snprintf(result->gave_up, sizeof(result->gave_up), "Valgrind gave up: %s", why);
}

static int check_started(const struct vs_session *s)
{
    /* A child may be killed before it can say anything. */
    if (s->stats.programs || s->launch.child)
        return 0;
    if (s->result->interrupted)
        return vs_diag_set(s->diag, -VSE_IO, -1, -1, "interrupted before it began");
    return vs_diag_set(s->diag, -VSE_IO, -1, -1,
                       "Valgrind did not start the program (it ended with status %d)",
                       WIFEXITED(s->launch.status) ? WEXITSTATUS(s->launch.status)
                                                   : 128 + WTERMSIG(s->launch.status));
}

/* Returns 0; -VSE_NOMEM. */
static int take_result(struct vs_session *s, double start, double end)
{
    struct vs_engine_result *result = s->result;
    const char *command = vs_assembler_command(s->taker->assembler, &result->command_size);

    s->stats = vs_assembler_stats(s->taker->assembler);
    result->instructions = s->stats.instructions;
    result->skipped = s->stats.skipped;
    result->events = s->stats.events;
    result->threads = s->stats.threads;
    result->forks = s->stats.forks;
    if (s->family)
        s->family->made(s->family->context, s->stats.made, s->stats.forks);
    result->programs = s->stats.programs;
    result->ended = s->stats.ended;
    result->triggered = s->triggered || s->stats.triggered;
    take_log(s);
    snprintf(result->shared, sizeof(result->shared), "%s",
             vs_assembler_shared(s->taker->assembler));
    memcpy(result->unread, s->taker->images.unread, sizeof(result->unread));
    result->status = s->launch.status;
    result->lost = s->launch.lost;
    result->interrupted = s->launch.child
                              ? s->family->interrupted(s->family->context, s->launch.status)
                              : s->killed || vs_ended_by(s->passed, s->launch.status);
    result->seconds = end - start;
    result->more = vs_session_now() - end;
    if (!result->command_size)
        return 0;
    result->command = malloc(result->command_size);
    if (!result->command) {
        result->command_size = 0;
        return -VSE_NOMEM;
    }
    memcpy(result->command, command, result->command_size);
    return 0;
}

int vs_session_run(struct vs_session *s, double start)
{
    double end;
    int e, none;

    s->began = start;
    watch_clock(s);
    e = listen_to_tool(s);

    if (e < 0)
        vs_launch_signal(&s->launch, SIGKILL);
    vs_launch_wait(&s->launch);
    end = vs_session_now();
    if (e == 0)
        e = take_remains(s);
    if (e == 0)
        e = vs_assembler_finish(s->taker->assembler, s->diag, s->theirs);
    none = take_result(s, start, end);
    e = e < 0 ? e : none;
    return e < 0 ? e : check_started(s);
}

void vs_session_close(struct vs_session *s)
{
    close_taker(s->taker);
    close_taker(s->newer);
    vs_buf_fini(&s->ranges);
    free(s->lengths);
    s->taker = s->newer = NULL;
    s->lengths = NULL;
}
