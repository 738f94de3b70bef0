/* SPDX-License-Identifier: MIT */
#include "capture/valgrind.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "capture/launch.h"

/* Milliseconds between looks at the clock, the user and the program. */
#define GLANCE 100
/* Seconds that an interrupted program has to end by itself. */
#define GRACE 5.0

struct recording {
    const struct vs_valgrind_options *o;
    struct vs_launch launch;
    struct vs_relay *relay;
    struct vs_images images;
    struct vs_assembler *assembler;
    struct vs_valgrind_result *result;
    struct vs_diag *diag;
    bool *theirs;
    struct vs_buf ranges;
    uint64_t *lengths; /* of the windows */
    char main_path[PATH_MAX];
    int64_t last_buffer; /* that was announced, -1 = none */
    bool stop_said;
    bool forwarded;
    double deadline; /* when an interrupted program is killed; 0 = never */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether the tool got it. It may be gone. */
static bool say(struct recording *r, const void *what, size_t size)
{
    ssize_t n;

    do
        n = send(r->launch.socket, what, size, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

static void reply(struct recording *r, enum wire_reply_kind kind, uint32_t value)
{
    struct wire_reply message = {kind, value};

    say(r, &message, sizeof(message));
}

static int answer(struct recording *r)
{
    r->ranges.len = 0;
    if (vs_images_ranges(&r->images, &r->ranges) < 0)
        return -VSE_NOMEM;
    reply(r, WIRE_RANGES, (uint32_t)(r->ranges.len / sizeof(struct wire_range)));
    if (r->ranges.len)
        say(r, r->ranges.data, r->ranges.len);
    return 0;
}

static const uint8_t *buffer_at(const struct recording *r, uint32_t buffer)
{
    return r->launch.memory + WIRE_HEAD_SIZE + (uint64_t)buffer * WIRE_BUFFER_SIZE;
}

static int take_buffer(struct recording *r, uint32_t buffer, uint32_t bytes)
{
    if (buffer >= WIRE_BUFFERS || bytes > WIRE_BUFFER_SIZE)
        return vs_diag_set(r->diag, -VSE_CORRUPT, -1, -1, "the tool announced buffer %u, %u bytes",
                           buffer, bytes);
    return vs_assembler_take(r->assembler, buffer_at(r, buffer), bytes, r->diag, r->theirs);
}

static int take_note(struct recording *r, const struct wire_note *note)
{
    int e = take_buffer(r, note->buffer, note->bytes);

    if (e < 0)
        return e;
    r->last_buffer = note->buffer;
    if (note->kind == WIRE_ASK && (e = answer(r)) < 0)
        return e;
    reply(r, WIRE_FREE, note->buffer);
    return 0;
}

/* Tells the caller how far it is, and the tool if that is enough. */
static void tick(struct recording *r)
{
    struct vs_assembler_stats stats = vs_assembler_stats(r->assembler);
    bool stop = stats.full;

    if (r->o->tick && r->o->tick(r->o->context, &stats)) {
        r->result->stopped = true;
        stop = true;
    }
    if (stop && !r->stop_said) {
        r->stop_said = true;
        reply(r, WIRE_STOP, 0);
    }
}

static void heed_interrupt(struct recording *r)
{
    const struct vs_interrupt *i = r->o->interrupt;

    if (!i || !i->signal)
        return;
    r->result->interrupted = true;
    if (!r->forwarded) {
        r->forwarded = true;
        r->deadline = now() + GRACE;
        if (!i->everywhere)
            kill(r->launch.pid, i->signal);
    } else if (now() > r->deadline) {
        kill(r->launch.pid, SIGKILL);
    }
}

/* Takes notes until there are none and will be none. */
static int listen_to_tool(struct recording *r)
{
    struct pollfd fd = {.fd = r->launch.socket, .events = POLLIN};
    struct wire_note note;
    int e = 0;

    while (e == 0) {
        bool over = vs_launch_over(&r->launch);
        int ready = poll(&fd, 1, over ? 0 : GLANCE);
        ssize_t n = 0;

        heed_interrupt(r);
        if (ready > 0) {
            n = read(fd.fd, &note, sizeof(note));
            if (n == sizeof(note))
                e = take_note(r, &note);
            else if (n == 0)
                break;
        } else if (ready == 0 && over) {
            break;
        }
        tick(r);
    }
    return e;
}

/* The tool had no time to hand over its last buffer: takes what it says is valid. */
static int take_remains(struct recording *r)
{
    const struct wire_ring *ring = (const void *)r->launch.memory;

    if (vs_assembler_stats(r->assembler).ended || ring->version != WIRE_VERSION ||
        ring->buffer == r->last_buffer || ring->bytes < sizeof(struct wire_slot))
        return 0;
    return take_buffer(r, ring->buffer, ring->bytes);
}

static int prepare(struct recording *r, const struct vs_consumer *consumer)
{
    const struct vs_valgrind_options *o = r->o;
    struct vs_assembler_options a = {.images = &r->images, .window_count = o->window_count};
    char path[PATH_MAX];

    if (vs_relay_open(&r->relay, consumer, VS_PARCEL_EVENTS) < 0)
        return -VSE_NOMEM;
    r->images =
        (struct vs_images){.relay = r->relay, .places = o->places, .place_count = o->place_count};
    if (o->main_only && vs_find_program(o->argv[0], path, sizeof(path)) == 0 &&
        realpath(path, r->main_path))
        r->images.main_path = r->main_path;
    r->lengths = calloc(o->window_count + 1, sizeof(*r->lengths));
    if (!r->lengths)
        return -VSE_NOMEM;
    for (size_t i = 0; i < o->window_count; i++)
        r->lengths[i] = o->windows[i].length;
    a.windows = r->lengths;
    a.relay = r->relay;
    return vs_assembler_open(&r->assembler, &a);
}

static int check_started(const struct recording *r)
{
    if (r->result->stats.programs)
        return 0;
    return vs_diag_set(r->diag, -VSE_IO, -1, -1,
                       "Valgrind did not start the program (it ended with status %d)",
                       WIFEXITED(r->launch.status) ? WEXITSTATUS(r->launch.status)
                                                   : 128 + WTERMSIG(r->launch.status));
}

static int record(struct recording *r, const struct vs_consumer *consumer)
{
    double start = now(), end;
    int e = prepare(r, consumer), e2;

    if (e < 0 || (e = vs_launch_start(&r->launch, r->o, r->diag)) < 0)
        return e;
    e = listen_to_tool(r);
    if (e < 0)
        kill(r->launch.pid, SIGKILL);
    vs_launch_wait(&r->launch);
    end = now();
    if (e == 0)
        e = take_remains(r);
    if (e == 0)
        e = vs_assembler_finish(r->assembler, r->diag, r->theirs);
    r->result->stats = vs_assembler_stats(r->assembler);
    r->result->status = r->launch.status;
    r->result->seconds = end - start;
    r->result->more = now() - end;
    e2 = e == 0 ? check_started(r) : 0;
    return e < 0 ? e : e2;
}

int vs_valgrind_run(const struct vs_valgrind_options *o, const struct vs_consumer *consumer,
                    struct vs_valgrind_result *result, struct vs_diag *diag, bool *theirs)
{
    struct recording r = {
        .o = o, .result = result, .diag = diag, .theirs = theirs, .last_buffer = -1};
    int e;

    *result = (struct vs_valgrind_result){0};
    *theirs = false;
    r.launch.socket = -1;
    e = vs_valgrind_check(o, diag);
    if (e == 0)
        e = record(&r, consumer);
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
