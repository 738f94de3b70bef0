/* SPDX-License-Identifier: MIT */
/* Pipes and event counters between threads of the process. What they do depends on nothing
 * outside. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/invariant.h"
#include "target/linux.h"

static struct vs_pipe *new_pipe(struct vs_process *p)
{
    struct vs_pipe *pipe = calloc(1, sizeof(*pipe));
    if (pipe)
        pipe->bytes = malloc(VS_PIPE_SIZE);
    if (!pipe || !pipe->bytes) {
        p->linux_state->nomem = true;
        free(pipe);
        return NULL;
    }
    pipe->readers = pipe->writers = 1;
    return pipe;
}

void vs_pipe_close(struct vs_process *p, struct vs_file *f)
{
    struct vs_pipe *pipe = f->pipe;
    if (f->kind == VS_FILE_PIPE_IN)
        pipe->readers--;
    else
        pipe->writers--;
    p->linux_state->files_changed = true;
    if (pipe->readers || pipe->writers)
        return;
    free(pipe->bytes);
    free(pipe);
}

int64_t vs_pipe_read(struct vs_process *p, struct vs_file *f, void *bytes, size_t size)
{
    struct vs_pipe *pipe = f->pipe;
    invariant(pipe->used <= VS_PIPE_SIZE && pipe->start < VS_PIPE_SIZE);
    size_t part = size < pipe->used ? size : pipe->used;
    if (!part)
        return size && pipe->writers ? -EAGAIN : 0;
    size_t first = VS_PIPE_SIZE - pipe->start;
    if (first > part)
        first = part;
    memcpy(bytes, pipe->bytes + pipe->start, first);
    memcpy((uint8_t *)bytes + first, pipe->bytes, part - first);
    pipe->start = (pipe->start + part) % VS_PIPE_SIZE;
    pipe->used -= part;
    p->linux_state->files_changed = true;
    return (int64_t)part;
}

/* Up to PIPE_BUF bytes are written as a whole. */
int64_t vs_pipe_write(struct vs_process *p, struct vs_file *f, const void *bytes, size_t size)
{
    struct vs_pipe *pipe = f->pipe;
    invariant(pipe->used <= VS_PIPE_SIZE && pipe->start < VS_PIPE_SIZE);
    size_t room = VS_PIPE_SIZE - pipe->used, part = size < room ? size : room;
    if (!pipe->readers)
        return -EPIPE;
    if (!part || (size <= PIPE_BUF && part < size))
        return size ? -EAGAIN : 0;
    size_t at = (pipe->start + pipe->used) % VS_PIPE_SIZE, first = VS_PIPE_SIZE - at;
    if (first > part)
        first = part;
    memcpy(pipe->bytes + at, bytes, first);
    memcpy(pipe->bytes, (const uint8_t *)bytes + first, part - first);
    pipe->used += part;
    p->linux_state->files_changed = true;
    return (int64_t)part;
}

int64_t vs_call_pipe2(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int flags = (int)a[1];
    if (flags & ~(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    if (vs_space_span(p, a[0], 8, VS_MAP_WRITE) < 8)
        return -EFAULT;
    struct vs_pipe *pipe = new_pipe(p);
    struct vs_file *in = pipe ? vs_file_new(p, VS_FILE_PIPE_IN, -1, flags & O_NONBLOCK) : NULL;
    struct vs_file *out =
        in ? vs_file_new(p, VS_FILE_PIPE_OUT, -1, O_WRONLY | (flags & O_NONBLOCK)) : NULL;
    if (!out) {
        if (pipe)
            free(pipe->bytes);
        free(pipe);
        free(in);
        return -ENOMEM;
    }
    in->pipe = out->pipe = pipe;
    int64_t first = vs_fd_install(p, in, flags & O_CLOEXEC, 0);
    int64_t second = first < 0 ? first : vs_fd_install(p, out, flags & O_CLOEXEC, 0);
    if (second < 0) {
        if (first < 0)
            vs_file_release(p, out);
        else
            vs_call_close(p, t, (const uint64_t[]){(uint64_t)first});
        return -EMFILE;
    }
    int32_t fds[2] = {(int32_t)first, (int32_t)second};
    return vs_guest_put(p, t, a[0], fds, sizeof(fds));
}

int64_t vs_call_eventfd2(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int flags = (int)a[1];
    (void)t;
    if (flags & ~(EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE))
        return -EINVAL;
    struct vs_file *f = vs_file_new(p, VS_FILE_EVENT, -1, O_RDWR | (flags & O_NONBLOCK));
    if (!f)
        return -ENOMEM;
    f->count = (uint32_t)a[0];
    f->semaphore = flags & EFD_SEMAPHORE;
    return vs_fd_install(p, f, flags & EFD_CLOEXEC, 0);
}

int64_t vs_event_read(struct vs_process *p, struct vs_file *f, void *bytes, size_t size)
{
    uint64_t value = f->semaphore ? 1 : f->count;
    if (size < sizeof(value))
        return -EINVAL;
    if (!f->count)
        return -EAGAIN;
    f->count -= value;
    memcpy(bytes, &value, sizeof(value));
    p->linux_state->files_changed = true;
    return sizeof(value);
}

int64_t vs_event_write(struct vs_process *p, struct vs_file *f, const void *bytes, size_t size)
{
    uint64_t value;
    if (size < sizeof(value))
        return -EINVAL;
    memcpy(&value, bytes, sizeof(value));
    if (value == UINT64_MAX)
        return -EINVAL;
    if (value > UINT64_MAX - 1 - f->count)
        return -EAGAIN;
    f->count += value;
    p->linux_state->files_changed = true;
    return sizeof(value);
}
