/* SPDX-License-Identifier: MIT */
#include "capture/valgrind.h"

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
#include "capture/assemble.h"
#include "capture/launch.h"
#include "capture/log.h"

/* Milliseconds between looks at the clock, the user and the program. */
#define GLANCE 100
/* How many seconds a program has for what it does before it stops (Ctrl-Z). */
#define PARTING 0.1

#define BIT(signal) (1u << (signal))
#define STOPPING    (BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

struct session {
    const struct vs_engine_request *o;
    struct vs_launch launch;
    struct vs_relay *relay;
    struct vs_images images;
    struct vs_assembler *assembler;
    struct vs_engine_result *result;
    struct vs_diag *diag;
    bool *theirs;
    struct vs_assembler_stats stats; /* at the end */
    struct vs_buf ranges;
    uint64_t *lengths;   /* the windows' */
    int64_t last_buffer; /* the last that was announced; -1 = none */
    struct wire_note note;
    size_t note_bytes; /* the note's that have come so far */
    bool stop_said;    /* this program's tool was told to stop */
    unsigned programs;
    uint32_t passed; /* the user's signals that the program got; bit N is signal N */
    bool killed;     /* by the user, who insisted */
    double stops;    /* when program and recorder stop; 0 = they do not */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* If the tool is gone, nobody needs it. Returns 0; -VSE_IO (the tool may be there, and wait). */
static int say(struct session *r, const void *what, size_t size)
{
    const uint8_t *p = what;

    while (size > 0) {
        ssize_t n = send(r->launch.socket, p, size, MSG_NOSIGNAL);

        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return 0;
        if (n < 0 && errno != EINTR)
            return vs_diag_io(r->diag, "cannot answer Valgrind", NULL);
        p += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int reply(struct session *r, enum wire_reply_kind kind, uint32_t value)
{
    struct wire_reply message = {kind, value};

    return say(r, &message, sizeof(message));
}

static int answer(struct session *r)
{
    int e;

    r->ranges.len = 0;
    if (vs_images_ranges(&r->images, &r->ranges) < 0)
        return -VSE_NOMEM;
    e = reply(r, WIRE_RANGES, (uint32_t)(r->ranges.len / sizeof(struct wire_range)));
    return e < 0 || !r->ranges.len ? e : say(r, r->ranges.data, r->ranges.len);
}

static const uint8_t *buffer_at(const struct session *r, uint32_t buffer)
{
    return r->launch.memory + WIRE_HEAD_SIZE + (uint64_t)buffer * WIRE_BUFFER_SIZE;
}

static int take_buffer(struct session *r, uint32_t buffer, uint32_t bytes)
{
    if (buffer >= WIRE_BUFFERS || bytes > WIRE_BUFFER_SIZE)
        return vs_diag_set(r->diag, -VSE_CORRUPT, -1, -1, "the tool announced buffer %u, %u bytes",
                           buffer, bytes);
    return vs_assembler_take(r->assembler, buffer_at(r, buffer), bytes, r->diag, r->theirs);
}

static int take_note(struct session *r, const struct wire_note *note)
{
    int e = take_buffer(r, note->buffer, note->bytes);

    if (e < 0)
        return e;
    r->last_buffer = note->buffer;
    if (note->kind == WIRE_ASK && (e = answer(r)) < 0)
        return e;
    return reply(r, WIRE_FREE, note->buffer);
}

/* Tells the caller how far it is, and tells the tool if that is enough. Returns 0; -VSE_IO. */
static int tick(struct session *r)
{
    struct vs_assembler_stats stats = vs_assembler_stats(r->assembler);
    bool stop = stats.full;

    if (stats.programs != r->programs)
        r->stop_said = false;
    r->programs = stats.programs;
    if (r->o->tick && r->o->tick(r->o->context, stats.instructions)) {
        r->result->stopped = true;
        stop = true;
    }
    if (!stop || r->stop_said)
        return 0;
    r->stop_said = true;
    return reply(r, WIRE_STOP, 0);
}

static void pass_on(const struct session *r, uint32_t signals)
{
    for (int n = 1; n < 32; n++)
        if (signals >> n & 1)
            kill(r->launch.pid, n);
}

/* Passes on the signals that the program does not get by itself. It may go on as long as it likes
 * after that, unless the user insists. */
static void heed_user(struct session *r)
{
    struct vs_interrupt *i = r->o->interrupt;
    uint32_t alone, shared;

    /* Once the program is over, its number may be another process's. */
    if (!i || r->launch.over)
        return;
    alone = atomic_exchange(&i->alone, 0);
    shared = atomic_exchange(&i->shared, 0);
    if (shared && getpgid(r->launch.pid) != getpgrp())
        alone |= shared;
    r->passed |= alone | shared;
    pass_on(r, alone);
    if (i->insists) {
        r->killed = true;
        kill(r->launch.pid, SIGKILL);
    } else if ((alone | shared) & STOPPING && !r->stops) {
        r->stops = now() + PARTING;
    } else if (r->stops && now() > r->stops) {
        r->stops = 0;
        vs_launch_stop(&r->launch);
    }
}

/* Reads what is there of the next note. Returns 1 if the note is whole now; 0 if not; -VSE_END if
 * there will be no more notes; -VSE_IO. */
static int read_note(struct session *r)
{
    uint8_t *to = (uint8_t *)&r->note + r->note_bytes;
    ssize_t n = read(r->launch.socket, to, sizeof(r->note) - r->note_bytes);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0 && errno != ECONNRESET) /* it is not over: the tool may be waiting for an answer */
        return vs_diag_io(r->diag, "cannot hear Valgrind", NULL);
    if (n <= 0)
        return -VSE_END;
    r->note_bytes += (size_t)n;
    if (r->note_bytes < sizeof(r->note))
        return 0;
    r->note_bytes = 0;
    return 1;
}

/* Takes notes until the program is over and there are no more. The program may close its end
 * earlier; it then runs on, unobserved. */
static int listen_to_tool(struct session *r)
{
    struct pollfd fd = {.fd = r->launch.socket, .events = POLLIN};
    int e = 0;

    while (e == 0) {
        bool over = vs_launch_over(&r->launch);
        int ready = poll(&fd, 1, over ? 0 : GLANCE), got;

        heed_user(r);
        if (ready > 0) {
            got = read_note(r);
            if (got > 0)
                e = take_note(r, &r->note);
            if (got == -VSE_END)
                fd.fd = -1;
            else if (got < 0)
                e = got;
        } else if (over && (ready == 0 || errno != EINTR)) {
            break;
        }
        if (e == 0)
            e = tick(r);
    }
    return e;
}

/* Takes what the tool says is valid of its last buffer, which it had no time to hand over. */
static int take_remains(struct session *r)
{
    struct wire_ring ring;
    uint32_t buffer, bytes;

    memcpy(&ring, r->launch.memory, sizeof(ring));
    buffer = (uint32_t)(ring.valid >> 32);
    bytes = (uint32_t)ring.valid;
    if (vs_assembler_stats(r->assembler).ended || ring.version != WIRE_VERSION ||
        buffer == r->last_buffer || bytes < sizeof(struct wire_slot))
        return 0;
    return take_buffer(r, buffer, bytes);
}

static int prepare(struct session *r)
{
    const struct vs_engine_request *o = r->o;
    struct vs_assembler_options a = {.images = &r->images,
                                     .window_count = o->window_count,
                                     .inputs = o->inputs,
                                     .light = o->light};

    if (vs_relay_open(&r->relay, o->consumer, VS_PARCEL_EVENTS, false) < 0)
        return -VSE_NOMEM;
    r->images = (struct vs_images){.relay = r->relay,
                                   .places = o->places,
                                   .place_count = o->place_count,
                                   .main_only = o->main_only};
    r->lengths = calloc(o->window_count + 1, sizeof(*r->lengths));
    if (!r->lengths)
        return -VSE_NOMEM;
    for (size_t i = 0; i < o->window_count; i++)
        r->lengths[i] = o->windows[i].length;
    a.windows = r->lengths;
    a.relay = r->relay;
    return vs_assembler_open(&r->assembler, &a);
}

static void take_log(struct session *r)
{
    struct vs_engine_result *result = r->result;
    struct vs_valgrind_log log;
    char why[256] = "";

    vs_valgrind_log_read(&log, r->launch.log);
    snprintf(result->said, sizeof(result->said), "%s", log.said);
    if (!r->stats.programs)
        return;
    /* Valgrind sends itself the signal that ended the program. If that goes to another thread,
     * Valgrind may wonder why it is still there, and exit, before the signal arrives. */
    int signal = vs_valgrind_log_signal(&log, r->launch.pid);
    if (signal && r->stats.ended && WIFEXITED(r->launch.status) &&
        WEXITSTATUS(r->launch.status) == 1)
        r->launch.status = W_EXITCODE(0, signal);
    /* A program that ends by itself is reported as ended; only Valgrind's own exit is not. */
    if (WIFEXITED(r->launch.status) && !r->stats.ended)
        vs_valgrind_log_failure(&log, why, sizeof(why));
    else if (WIFSIGNALED(r->launch.status) && WTERMSIG(r->launch.status) == SIGILL)
        vs_valgrind_log_instruction(&log, why, sizeof(why));
    if (*why)
        snprintf(result->gave_up, sizeof(result->gave_up), "Valgrind gave up: %s", why);
}

static int check_started(const struct session *r)
{
    if (r->stats.programs)
        return 0;
    if (r->result->interrupted)
        return vs_diag_set(r->diag, -VSE_IO, -1, -1, "interrupted before it began");
    return vs_diag_set(r->diag, -VSE_IO, -1, -1,
                       "Valgrind did not start the program (it ended with status %d)",
                       WIFEXITED(r->launch.status) ? WEXITSTATUS(r->launch.status)
                                                   : 128 + WTERMSIG(r->launch.status));
}

static void take_result(struct session *r, double start, double end)
{
    struct vs_engine_result *result = r->result;

    r->stats = vs_assembler_stats(r->assembler);
    result->instructions = r->stats.instructions;
    result->skipped = r->stats.skipped;
    result->events = r->stats.events;
    result->threads = r->stats.threads;
    result->forks = r->stats.forks;
    result->programs = r->stats.programs;
    result->ended = r->stats.ended;
    take_log(r);
    memcpy(result->unread, r->images.unread, sizeof(result->unread));
    result->status = r->launch.status;
    result->interrupted = r->killed || vs_ended_by(r->passed, r->launch.status);
    result->seconds = end - start;
    result->more = now() - end;
}

static int record(struct session *r)
{
    double start = now(), end;
    int e = prepare(r);

    if (e < 0 || (e = vs_launch_start(&r->launch, r->o, r->diag)) < 0)
        return e;
    if (r->o->interrupt)
        r->o->interrupt->program = r->launch.pid;
    e = listen_to_tool(r);
    if (e < 0 && !r->launch.over)
        kill(r->launch.pid, SIGKILL);
    vs_launch_wait(&r->launch);
    end = now();
    if (e == 0)
        e = take_remains(r);
    if (e == 0)
        e = vs_assembler_finish(r->assembler, r->diag, r->theirs);
    take_result(r, start, end);
    return e < 0 ? e : check_started(r);
}

/* ---- the row --------------------------------------------------------------------------------- */

static bool fits(const char *path)
{
    (void)path;
    return true;
}

static int check(const struct vs_engine_request *o, uint32_t *features, struct vs_diag *diag)
{
    (void)features;
    return vs_launch_check(o, diag);
}

static int run(const struct vs_engine_request *o, struct vs_engine_result *result,
               struct vs_diag *diag, bool *theirs)
{
    struct session r = {
        .o = o, .result = result, .diag = diag, .theirs = theirs, .last_buffer = -1};
    int e;

    *result = (struct vs_engine_result){0};
    *theirs = false;
    r.launch.socket = r.launch.log = -1;
    e = vs_launch_check(o, diag);
    if (e == 0)
        e = record(&r);
    vs_launch_close(&r.launch);
    vs_relay_close(r.relay);
    vs_assembler_close(r.assembler);
    vs_images_fini(&r.images);
    vs_buf_fini(&r.ranges);
    free(r.lengths);
    if (e == -VSE_NOMEM && !*theirs)
        vs_diag_set(diag, e, -1, -1, "out of memory");
    return e;
}

const struct vs_engine vs_engine_valgrind = {
    .name = "valgrind",
    .isa = VS_VALGRIND_ISA,
    .apart = true,
    .fits = fits,
    .check = check,
    .run = run,
};
