/* SPDX-License-Identifier: MIT */
/* Waiting for several files. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/select.h>

#include "target/linux.h"

static short pipe_ready(const struct vs_file *f)
{
    const struct vs_pipe *pipe = f->pipe;
    if (f->kind == VS_FILE_PIPE_IN)
        return (short)((pipe->used ? POLLIN | POLLRDNORM : 0) | (pipe->writers ? 0 : POLLHUP));
    /* as on Linux, a pipe is ready if there is room for a page */
    return (short)((VS_PIPE_SIZE - pipe->used >= VS_PAGE_SIZE ? POLLOUT | POLLWRNORM : 0) |
                   (pipe->readers ? 0 : POLLERR));
}

short vs_file_ready(const struct vs_file *f, short events)
{
    const short always = POLLERR | POLLHUP | POLLNVAL;
    struct pollfd one = {.fd = f->host, .events = events};
    switch (f->kind) {
    case VS_FILE_PIPE_IN:
    case VS_FILE_PIPE_OUT:
        return pipe_ready(f) & (short)(events | always);
    case VS_FILE_EVENT:
        return (short)((f->count ? POLLIN : 0) | (f->count < UINT64_MAX - 1 ? POLLOUT : 0)) &
               events;
    case VS_FILE_RANDOM:
        return events & (POLLIN | POLLOUT);
    default:
        return poll(&one, 1, 0) > 0 ? one.revents : 0;
    }
}

/* ---- the common part ------------------------------------------------------------------------- */

static bool is_late(const struct vs_process *p, const struct vs_task *t)
{
    return t->linux_state->wait.again && t->linux_state->wait.deadline <= p->now;
}

/* Sets revents, and *host if some file is the host's. Returns how many have revents. */
static int64_t look(const struct vs_process *p, struct vs_abi_pollfd *list, size_t count,
                    bool *host)
{
    int64_t ready = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vs_file *f = vs_file_of(p, (uint64_t)(int64_t)list[i].fd);
        list[i].revents = 0;
        if (list[i].fd < 0)
            continue;
        list[i].revents = f ? vs_file_ready(f, list[i].events) : POLLNVAL;
        *host |= f && f->host >= 0;
        ready += list[i].revents != 0;
    }
    return ready;
}

/* Reads the timeout at addr and makes it a deadline. */
static int get_deadline(const struct vs_process *p, uint64_t addr, uint64_t *deadline)
{
    uint64_t ns;
    *deadline = VS_NEVER;
    int err = addr ? vs_time_get(p, addr, &ns) : 0;
    if (addr && !err)
        *deadline = vs_time_after(p, ns);
    return err;
}

/* Nothing is ready: waits if there is time left. Returns 0 or VS_CALL_BLOCKED. */
static int64_t wait_more(struct vs_process *p, struct vs_task *t, uint64_t deadline, bool host,
                         const uint64_t *mask)
{
    bool first = !t->linux_state->wait.again;
    if (is_late(p, t) || (first && deadline <= p->now))
        return 0;
    if (first && mask)
        vs_signal_mask_for_wait(p, t, *mask);
    vs_wait_begin(p, t, VS_WAIT_RETRY, VS_RESTART_SILENT, deadline);
    t->linux_state->wait.host = host;
    return VS_CALL_BLOCKED;
}

/* ---- ppoll ----------------------------------------------------------------------------------- */

static int64_t poll_list(struct vs_process *p, struct vs_task *t, const uint64_t *a,
                         struct vs_abi_pollfd *list, size_t count)
{
    uint64_t deadline, mask = 0;
    bool host = false;
    if (vs_guest_get(p, a[0], list, count * sizeof(*list)))
        return -EFAULT;
    int err = get_deadline(p, a[2], &deadline);
    if (!err && a[3] && a[4] != 8)
        err = -EINVAL;
    if (!err && a[3] && vs_guest_get(p, a[3], &mask, sizeof(mask)))
        err = -EFAULT;
    if (err)
        return err;
    int64_t ready = look(p, list, count, &host);
    if (!ready)
        ready = wait_more(p, t, deadline, host, a[3] ? &mask : NULL);
    for (size_t i = 0; ready != VS_CALL_BLOCKED && i < count; i++)
        if (vs_guest_put(p, t, a[0] + i * sizeof(*list) + 6, &list[i].revents, 2))
            return -EFAULT;
    return ready;
}

int64_t vs_call_ppoll(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_abi_pollfd list[VS_FDS];
    return (uint32_t)a[1] > VS_FDS ? -EINVAL : poll_list(p, t, a, list, (uint32_t)a[1]);
}

/* ---- pselect6 -------------------------------------------------------------------------------- */

#define SET_WORDS (VS_FDS / 64)

static const short kinds[3] = {POLLIN | POLLRDNORM, POLLOUT | POLLWRNORM, POLLPRI};
static const short answers[3] = {POLLIN | POLLRDNORM | POLLHUP | POLLERR,
                                 POLLOUT | POLLWRNORM | POLLERR, POLLPRI};

struct sets {
    uint64_t words[3][SET_WORDS];
    size_t count, size; /* descriptors, bytes of each set */
};

static int get_sets(const struct vs_process *p, const uint64_t *a, struct sets *s)
{
    memset(s, 0, sizeof(*s));
    if ((int32_t)a[0] < 0)
        return -EINVAL;
    s->count = (uint32_t)a[0] < VS_FDS ? (uint32_t)a[0] : VS_FDS;
    s->size = (s->count + 63) / 64 * 8;
    for (size_t k = 0; k < 3; k++)
        if (a[1 + k] && vs_guest_get(p, a[1 + k], s->words[k], s->size))
            return -EFAULT;
    return 0;
}

static bool has(const struct sets *s, size_t kind, size_t fd)
{
    return s->words[kind][fd / 64] >> (fd % 64) & 1;
}

/* Makes the list that the sets stand for. Returns its length, or -EBADF. */
static int64_t to_list(const struct vs_process *p, const struct sets *s, struct vs_abi_pollfd *list)
{
    size_t n = 0;
    for (size_t fd = 0; fd < s->count; fd++) {
        short events = 0;
        for (size_t k = 0; k < 3; k++)
            events |= has(s, k, fd) ? kinds[k] : 0;
        if (!events)
            continue;
        if (!vs_file_of(p, fd))
            return -EBADF;
        list[n++] = (struct vs_abi_pollfd){.fd = (int32_t)fd, .events = events};
    }
    return (int64_t)n;
}

/* Leaves in the sets only what is ready. Returns how many bits that are. */
static int64_t from_list(struct sets *s, const struct vs_abi_pollfd *list, size_t count)
{
    struct sets old = *s;
    int64_t bits = 0;
    memset(s->words, 0, sizeof(s->words));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0, fd = (size_t)list[i].fd; k < 3; k++)
            if (has(&old, k, fd) && list[i].revents & answers[k]) {
                s->words[k][fd / 64] |= UINT64_C(1) << (fd % 64);
                bits++;
            }
    return bits;
}

/* Reads the mask that the sixth argument names. Returns 0 or a negative errno. */
static int get_mask(const struct vs_process *p, uint64_t addr, uint64_t *mask, bool *given)
{
    uint64_t pair[2];
    *given = false;
    if (!addr)
        return 0;
    if (vs_guest_get(p, addr, pair, sizeof(pair)))
        return -EFAULT;
    if (!pair[0])
        return 0;
    *given = true;
    if (pair[1] != 8)
        return -EINVAL;
    return vs_guest_get(p, pair[0], mask, sizeof(*mask));
}

int64_t vs_call_pselect6(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_abi_pollfd list[VS_FDS];
    struct sets s;
    uint64_t deadline = VS_NEVER, mask = 0;
    bool host = false, given = false;
    int err = get_sets(p, a, &s);
    if (!err)
        err = get_deadline(p, a[4], &deadline);
    if (!err)
        err = get_mask(p, a[5], &mask, &given);
    int64_t count = err ? err : to_list(p, &s, list);
    if (count < 0)
        return count;
    look(p, list, (size_t)count, &host);
    int64_t ready = from_list(&s, list, (size_t)count);
    if (!ready)
        ready = wait_more(p, t, deadline, host, given ? &mask : NULL);
    for (size_t k = 0; ready != VS_CALL_BLOCKED && k < 3; k++)
        if (a[1 + k] && vs_guest_put(p, t, a[1 + k], s.words[k], s.size))
            return -EFAULT;
    return ready;
}

/* ---- for the simulator ----------------------------------------------------------------------- */

static size_t host_list(const struct vs_process *p, const struct vs_abi_pollfd *from, size_t count,
                        struct pollfd *list, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < count && n < room; i++) {
        const struct vs_file *f = vs_file_of(p, (uint64_t)(int64_t)from[i].fd);
        if (f && f->host >= 0)
            list[n++] = (struct pollfd){.fd = f->host, .events = from[i].events};
    }
    return n;
}

size_t vs_poll_host(const struct vs_process *p, const struct vs_task *t, struct pollfd *list,
                    size_t room)
{
    const uint64_t *a = t->call.args;
    struct vs_abi_pollfd from[VS_FDS];
    struct sets s;
    int64_t count;
    switch (t->call.what) {
    case VS_SYS_ppoll:
        if ((uint32_t)a[1] > VS_FDS ||
            vs_guest_get(p, a[0], from, (uint32_t)a[1] * sizeof(from[0])))
            return 0;
        return host_list(p, from, (uint32_t)a[1], list, room);
    case VS_SYS_pselect6:
        count = get_sets(p, a, &s) ? 0 : to_list(p, &s, from);
        return count > 0 ? host_list(p, from, (size_t)count, list, room) : 0;
    default:
        from[0] = (struct vs_abi_pollfd){.fd = (int32_t)a[0],
                                         .events = vs_call_writes(t->call.what) ? POLLOUT : POLLIN};
        return host_list(p, from, 1, list, room);
    }
}
