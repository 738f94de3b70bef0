/* SPDX-License-Identifier: MIT */
/* Reading and writing. The parts of memory that a call names are treated as one stretch of bytes,
 * which goes through a buffer in pieces. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/linux.h"

#define CHUNK     65536
#define TOTAL_MAX UINT64_C(0x7ffff000)
#define PARTS_MAX 1024

struct transfer {
    struct vs_file *file;
    struct vs_abi_iovec one, *parts;
    size_t count;
    uint64_t total;
    int64_t offset; /* in the file; -1: at its own position */
    uint8_t *buffer;
};

/* ---- the parts ------------------------------------------------------------------------------- */

/* It is the simulator that lacks memory. The program does not get to see this error. */
static int lacks_memory(struct vs_process *p)
{
    p->linux_state->nomem = true;
    return -ENOMEM;
}

/* Returns 0 or a negative errno; fini is needed in either case. */
static int init(struct vs_process *p, struct transfer *x, const uint64_t *a, bool vector)
{
    *x = (struct transfer){.file = vs_file_of(p, a[0]), .offset = -1};
    if (!x->file)
        return -EBADF;
    if (vector && a[2] > PARTS_MAX)
        return -EINVAL;
    x->one = (struct vs_abi_iovec){a[1], a[2]};
    x->parts = &x->one;
    x->count = vector ? a[2] : 1;
    if (vector) {
        x->parts = calloc(a[2] + 1, sizeof(*x->parts));
        if (!x->parts)
            return lacks_memory(p);
        if (vs_guest_get(p, a[1], x->parts, a[2] * sizeof(*x->parts)))
            return -EFAULT;
    }
    for (size_t i = 0; i < x->count; i++) {
        if (x->parts[i].size > INT64_MAX)
            return vector ? -EINVAL : -EFAULT;
        if (x->parts[i].size > TOTAL_MAX - x->total)
            x->parts[i].size = TOTAL_MAX - x->total;
        x->total += x->parts[i].size;
    }
    x->buffer = malloc(CHUNK);
    return x->buffer ? 0 : lacks_memory(p);
}

static void fini(struct transfer *x)
{
    free(x->buffer);
    if (x->parts != &x->one)
        free(x->parts);
}

/* Walks the parts of [from, from + size) of the stretch. With `put`, the buffer's bytes go there,
 * for the task; otherwise they come from there. Returns how many bytes could be accessed. */
static uint64_t walk(struct vs_process *p, struct vs_task *t, const struct transfer *x,
                     uint64_t from, uint64_t size, bool put)
{
    uint64_t done = 0;
    for (size_t i = 0; i < x->count && done < size; i++) {
        if (from >= x->parts[i].size) {
            from -= x->parts[i].size;
            continue;
        }
        uint64_t addr = x->parts[i].base + from, part = x->parts[i].size - from;
        if (part > size - done)
            part = size - done;
        uint64_t span = vs_space_span(p, addr, part, put ? VS_MAP_WRITE : VS_MAP_READ);
        if (put && t)
            vs_guest_put(p, t, addr, x->buffer + done, span);
        else if (!put)
            vs_guest_get(p, addr, x->buffer + done, span);
        done += span;
        if (span < part)
            break;
        from = 0;
    }
    return done;
}

/* ---- one piece ------------------------------------------------------------------------------- */

static int64_t read_random(struct vs_process *p, uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = vs_process_random(p);
        memcpy(bytes + at, &word, size - at < 8 ? size - at : 8);
    }
    return (int64_t)size;
}

static int64_t host_result(ssize_t got)
{
    return got < 0 ? -errno : got;
}

/* None of the host's calls below waits, so one that a signal to the simulator interrupts can be
 * made again: what the program does must not depend on such a signal. */
static int64_t read_host(const struct transfer *x, uint64_t done, size_t size)
{
    const struct vs_file *f = x->file;
    if (x->offset >= 0)
        return host_result(
            TEMP_FAILURE_RETRY(pread(f->host, x->buffer, size, x->offset + (off_t)done)));
    if (f->waits && !vs_file_ready(f, POLLIN))
        return -EAGAIN;
    return host_result(TEMP_FAILURE_RETRY(read(f->host, x->buffer, size)));
}

static int64_t read_piece(struct vs_process *p, const struct transfer *x, uint64_t done,
                          size_t size)
{
    switch (x->file->kind) {
    case VS_FILE_PIPE_IN:
        return vs_pipe_read(p, x->file, x->buffer, size);
    case VS_FILE_EVENT:
        return vs_event_read(p, x->file, x->buffer, size);
    case VS_FILE_RANDOM:
        return read_random(p, x->buffer, size);
    case VS_FILE_HOST:
        return read_host(x, done, size);
    default:
        return -EBADF;
    }
}

/* The host's SIGPIPE would end the simulator. */
static ssize_t write_quietly(int fd, const void *bytes, size_t size)
{
    const struct timespec none = {0};
    sigset_t set, old, before;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigpending(&before);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    ssize_t n = TEMP_FAILURE_RETRY(write(fd, bytes, size));
    int error = errno;
    if (n < 0 && error == EPIPE && !sigismember(&before, SIGPIPE))
        sigtimedwait(&set, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return n;
}

/* Waits, and all threads with it: how soon a reader outside takes what is written must not decide
 * what they do meanwhile. Returns false if the user wants an end. */
static bool wait_for_room(const struct vs_process *p, const struct vs_file *f)
{
    enum { TICK = 50 }; /* milliseconds until the interrupt is looked at again */
    const struct vs_interrupt *interrupt = p->linux_state->interrupt;
    struct pollfd fd = {.fd = f->host, .events = POLLOUT};
    while (!vs_interrupted(interrupt)) {
        int ready = poll(&fd, 1, TICK);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    return vs_file_ready(f, POLLOUT);
}

static int64_t write_host(const struct vs_process *p, const struct transfer *x, uint64_t done,
                          size_t size)
{
    const struct vs_file *f = x->file;
    if (x->offset >= 0)
        return host_result(
            TEMP_FAILURE_RETRY(pwrite(f->host, x->buffer, size, x->offset + (off_t)done)));
    if (!f->waits)
        return host_result(TEMP_FAILURE_RETRY(write(f->host, x->buffer, size)));
    if (x->file->flags & O_NONBLOCK) {
        if (!vs_file_ready(f, POLLOUT))
            return -EAGAIN;
    } else if (!wait_for_room(p, f)) {
        return -EINTR;
    }
    /* a file that is ready takes this much at once */
    return host_result(write_quietly(f->host, x->buffer, size < PIPE_BUF ? size : PIPE_BUF));
}

static int64_t write_piece(struct vs_process *p, const struct transfer *x, uint64_t done,
                           size_t size)
{
    switch (x->file->kind) {
    case VS_FILE_PIPE_OUT:
        return vs_pipe_write(p, x->file, x->buffer, size);
    case VS_FILE_EVENT:
        return vs_event_write(p, x->file, x->buffer, size);
    case VS_FILE_RANDOM:
        return (int64_t)size;
    case VS_FILE_HOST:
        return write_host(p, x, done, size);
    default:
        return -EBADF;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int64_t block(struct vs_process *p, struct vs_task *t, const struct transfer *x,
                     uint64_t done)
{
    vs_wait_begin(p, t, VS_WAIT_RETRY, VS_RESTART_ASKED, VS_NEVER);
    t->linux_state->wait.host = x->file->host >= 0;
    t->linux_state->wait.done = done;
    return VS_CALL_BLOCKED;
}

/* Returns whether more may follow a piece that came whole: files go on, while others give only what
 * they have. */
static bool goes_on(const struct transfer *x)
{
    return (x->file->kind == VS_FILE_HOST && !x->file->waits) || x->file->kind == VS_FILE_RANDOM;
}

static int64_t read_all(struct vs_process *p, struct vs_task *t, struct transfer *x)
{
    uint64_t done = 0;
    if ((x->file->flags & O_ACCMODE) == O_WRONLY || x->file->flags & O_PATH)
        return -EBADF;
    do {
        uint64_t want = x->total - done < CHUNK ? x->total - done : CHUNK;
        uint64_t room = walk(p, NULL, x, done, want, true);
        if (want && !room)
            return done ? (int64_t)done : -EFAULT;
        int64_t got = read_piece(p, x, done, room);
        if (got == -EAGAIN && !done && !(x->file->flags & O_NONBLOCK))
            return block(p, t, x, 0);
        if (got < 0)
            return done ? (int64_t)done : got;
        walk(p, t, x, done, (uint64_t)got, true);
        done += (uint64_t)got;
        if ((uint64_t)got < want)
            break;
    } while (done < x->total && goes_on(x) && !p->full);
    return (int64_t)done;
}

/* Returns the signal that comes with a write that failed with this result, or 0. */
static int signal_of(int64_t result)
{
    struct rlimit size;
    if (result == -EPIPE)
        return SIGPIPE;
    /* EFBIG may also come from the file system's limit, which does not signal. */
    return result == -EFBIG && !getrlimit(RLIMIT_FSIZE, &size) && size.rlim_cur != RLIM_INFINITY
               ? SIGXFSZ
               : 0;
}

static int64_t write_all(struct vs_process *p, struct vs_task *t, struct transfer *x)
{
    uint64_t done = t->linux_state->wait.again ? t->linux_state->wait.done : 0;
    if ((x->file->flags & O_ACCMODE) == O_RDONLY || x->file->flags & O_PATH)
        return -EBADF;
    do {
        uint64_t want = x->total - done < CHUNK ? x->total - done : CHUNK;
        uint64_t have = walk(p, t, x, done, want, false);
        if (want && !have)
            return done ? (int64_t)done : -EFAULT;
        int64_t put = write_piece(p, x, done, have);
        if (put == -EAGAIN && !(x->file->flags & O_NONBLOCK))
            return block(p, t, x, done);
        if (!done && signal_of(put)) {
            struct vs_signal signal =
                vs_signal_plain(signal_of(put), SI_USER, VS_LINUX_PID, VS_LINUX_UID);
            vs_signal_send(p, t, &signal);
        }
        if (put < 0)
            return done ? (int64_t)done : put;
        done += (uint64_t)put;
        if (!put)
            break;
    } while (done < x->total);
    return (int64_t)done;
}

static int64_t transfer(struct vs_process *p, struct vs_task *t, const uint64_t *a, bool vector,
                        bool writing)
{
    struct transfer x;
    int64_t result = init(p, &x, a, vector);
    if (!result)
        result = writing ? write_all(p, t, &x) : read_all(p, t, &x);
    fini(&x);
    return result;
}

static int64_t transfer_at(struct vs_process *p, struct vs_task *t, const uint64_t *a, bool vector,
                           bool writing)
{
    struct transfer x;
    int64_t result = init(p, &x, a, vector);
    x.offset = (int64_t)a[3];
    if (!result && x.offset < 0)
        result = -EINVAL;
    if (!result && (x.file->host < 0 || x.file->waits))
        result = -ESPIPE;
    if (!result)
        result = writing ? write_all(p, t, &x) : read_all(p, t, &x);
    fini(&x);
    return result;
}

int64_t vs_call_read(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer(p, t, a, false, false);
}

int64_t vs_call_write(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer(p, t, a, false, true);
}

int64_t vs_call_readv(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer(p, t, a, true, false);
}

int64_t vs_call_writev(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer(p, t, a, true, true);
}

int64_t vs_call_pread64(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer_at(p, t, a, false, false);
}

int64_t vs_call_pwrite64(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer_at(p, t, a, false, true);
}

int64_t vs_call_preadv(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer_at(p, t, a, true, false);
}

int64_t vs_call_pwritev(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return transfer_at(p, t, a, true, true);
}

int64_t vs_call_getrandom(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint8_t bytes[256];
    uint64_t size = a[1] < TOTAL_MAX ? a[1] : TOTAL_MAX, span, done = 0;
    if (a[2] & ~UINT64_C(7))
        return -EINVAL;
    span = vs_space_span(p, a[0], size, VS_MAP_WRITE);
    if (size && !span)
        return -EFAULT;
    for (uint64_t part; done < span; done += part) {
        part = span - done < sizeof(bytes) ? span - done : sizeof(bytes);
        read_random(p, bytes, part);
        vs_guest_put(p, t, a[0] + done, bytes, part);
    }
    return (int64_t)done;
}

int64_t vs_call_lseek(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_file *f = vs_file_of(p, a[0]);
    (void)t;
    if (!f)
        return -EBADF;
    if (f->host < 0 || f->borrowed)
        return f->kind == VS_FILE_RANDOM ? 0 : -ESPIPE;
    off_t at = lseek(f->host, (off_t)a[1], (int)a[2]);
    return at < 0 ? -errno : at;
}
