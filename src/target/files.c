/* SPDX-License-Identifier: MIT */
/* The table of open files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "target/linux.h"
#include "target/paths.h"

_Static_assert(O_DIRECTORY == 0200000 && O_NOFOLLOW == 0400000 && O_NONBLOCK == 04000 &&
                   O_CLOEXEC == 02000000,
               "of the host as of the target");

#define TERMIOS_SIZE 36

/* ---- the table ------------------------------------------------------------------------------- */

struct vs_file *vs_file_of(const struct vs_process *p, uint64_t fd)
{
    uint32_t n = (uint32_t)fd;
    return n < VS_FDS ? p->linux_state->fds[n].file : NULL;
}

struct vs_file *vs_file_new(struct vs_process *p, enum vs_file_kind kind, int host, int flags)
{
    struct vs_file *f = calloc(1, sizeof(*f));
    if (!f) {
        p->linux_state->nomem = true;
        return NULL;
    }
    *f = (struct vs_file){.kind = kind, .users = 1, .host = host, .flags = flags};
    if (host < 0)
        f->number = ++p->linux_state->files;
    return f;
}

void vs_file_release(struct vs_process *p, struct vs_file *f)
{
    invariant(f->users);
    if (--f->users)
        return;
    if (f->kind == VS_FILE_PIPE_IN || f->kind == VS_FILE_PIPE_OUT)
        vs_pipe_close(p, f);
    if (f->host >= 0 && !f->borrowed)
        close(f->host);
    free(f);
}

int64_t vs_fd_install(struct vs_process *p, struct vs_file *f, bool cloexec, unsigned least)
{
    struct vs_fd *fds = p->linux_state->fds;
    for (unsigned n = least; n < VS_FDS; n++)
        if (!fds[n].file) {
            fds[n] = (struct vs_fd){f, cloexec};
            return n;
        }
    vs_file_release(p, f);
    return -EMFILE;
}

static void remove_fd(struct vs_process *p, unsigned n)
{
    struct vs_file *f = p->linux_state->fds[n].file;
    p->linux_state->fds[n] = (struct vs_fd){0};
    if (f)
        vs_file_release(p, f);
}

/* Returns whether reading or writing a file of the host may have to wait. */
static bool may_wait(int host)
{
    struct stat st;
    return !fstat(host, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
           !S_ISBLK(st.st_mode);
}

int vs_files_init(struct vs_process *p)
{
    p->linux_state->umask = 022;
    p->linux_state->cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->linux_state->cwd < 0)
        return -VSE_IO;
    for (int n = 0; n < 3; n++) {
        int flags = fcntl(n, F_GETFL);
        if (flags < 0)
            continue;
        struct vs_file *f = vs_file_new(p, VS_FILE_HOST, n, flags & (O_ACCMODE | O_APPEND));
        if (!f)
            return -VSE_NOMEM;
        f->borrowed = true;
        f->waits = may_wait(n);
        p->linux_state->fds[n].file = f;
    }
    return 0;
}

void vs_files_fini(struct vs_process *p)
{
    for (unsigned n = 0; n < VS_FDS; n++)
        remove_fd(p, n);
    if (p->linux_state->cwd >= 0)
        close(p->linux_state->cwd);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Returns whether links led to a file that is not for the target. */
static bool leads_astray(int host)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", host);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = 0;
    return vs_virtual_has(path);
}

/* Returns a descriptor of the host for the path, or a negative errno. */
static int open_host(struct vs_process *p, int dir, const char *path, int flags, unsigned mode)
{
    int host = vs_virtual_open(p, path);
    if (host >= 0)
        return (flags & O_ACCMODE) == O_RDONLY ? host : (close(host), -EACCES);
    if (host == VS_VIRTUAL_NONE)
        return -ENOENT;
    /* the simulator must not wait for the other end of a pipe */
    host = openat(dir, path, flags | O_CLOEXEC | O_NOCTTY | (flags & O_PATH ? 0 : O_NONBLOCK),
                  mode & ~p->linux_state->umask);
    if (host >= 0 && leads_astray(host)) {
        close(host);
        return -ENOENT;
    }
    return host >= 0 ? host : -errno;
}

int64_t vs_call_openat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX];
    int dir, flags = (int)a[2];
    (void)t;
    int err = vs_path_get(p, a[0], a[1], false, &dir, path);
    if (err)
        return err;
    enum vs_file_kind kind = vs_virtual_is_random(path) ? VS_FILE_RANDOM : VS_FILE_HOST;
    int host = kind == VS_FILE_RANDOM ? -1 : open_host(p, dir, path, flags, (unsigned)a[3]);
    if (kind == VS_FILE_HOST && host < 0)
        return host;
    struct vs_file *f =
        vs_file_new(p, kind, host, flags & ~(O_CLOEXEC | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC));
    if (!f) {
        if (host >= 0)
            close(host);
        return -ENOMEM;
    }
    f->waits = host >= 0 && may_wait(host);
    return vs_fd_install(p, f, flags & O_CLOEXEC, 0);
}

int64_t vs_call_close(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    if (!vs_file_of(p, a[0]))
        return -EBADF;
    remove_fd(p, (uint32_t)a[0]);
    return 0;
}

int64_t vs_call_close_range(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint32_t first = (uint32_t)a[0], last = (uint32_t)a[1];
    (void)t;
    if (first > last || a[2] & ~UINT64_C(6))
        return -EINVAL;
    for (uint32_t n = first; n < VS_FDS && n <= last; n++)
        if (a[2] & 4) /* CLOSE_RANGE_CLOEXEC */
            p->linux_state->fds[n].cloexec = true;
        else
            remove_fd(p, n);
    return 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int64_t duplicate(struct vs_process *p, struct vs_file *f, bool cloexec, uint64_t least)
{
    if (least >= VS_FDS)
        return -EINVAL;
    f->users++;
    return vs_fd_install(p, f, cloexec, (unsigned)least);
}

int64_t vs_call_dup(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_file *f = vs_file_of(p, a[0]);
    (void)t;
    return f ? duplicate(p, f, false, 0) : -EBADF;
}

int64_t vs_call_dup3(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_file *f = vs_file_of(p, a[0]);
    uint32_t to = (uint32_t)a[1];
    (void)t;
    if (to == (uint32_t)a[0] || a[2] & ~(uint64_t)O_CLOEXEC)
        return -EINVAL;
    if (!f || to >= VS_FDS)
        return -EBADF;
    f->users++;
    remove_fd(p, to);
    p->linux_state->fds[to] = (struct vs_fd){f, a[2] & O_CLOEXEC};
    return to;
}

/* ---- fcntl ----------------------------------------------------------------------------------- */

static int64_t set_flags(struct vs_file *f, int flags)
{
    const int changeable = O_APPEND | O_NONBLOCK | O_NOATIME | O_DIRECT | O_ASYNC;
    if (f->host >= 0 && !f->borrowed && (f->flags ^ flags) & O_APPEND) {
        int host = fcntl(f->host, F_GETFL);
        if (host < 0 || fcntl(f->host, F_SETFL, (host & ~O_APPEND) | (flags & O_APPEND)) < 0)
            return -errno;
    }
    f->flags = (f->flags & ~changeable) | (flags & changeable);
    return 0;
}

/* Locks are the host's. One that would have to wait is refused. */
static int64_t lock(struct vs_process *p, struct vs_task *t, const struct vs_file *f,
                    const uint64_t *a)
{
    struct flock l;
    if (f->host < 0)
        return -EINVAL;
    if (vs_guest_get(p, a[2], &l, sizeof(l)))
        return -EFAULT;
    if (fcntl(f->host, a[1] == F_GETLK ? F_GETLK : F_SETLK, &l) < 0)
        return -errno;
    return a[1] == F_GETLK ? vs_guest_put(p, t, a[2], &l, sizeof(l)) : 0;
}

int64_t vs_call_fcntl(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_file *f = vs_file_of(p, a[0]);
    if (!f)
        return -EBADF;
    struct vs_fd *fd = &p->linux_state->fds[(uint32_t)a[0]];
    switch ((uint32_t)a[1]) {
    case F_DUPFD:
        return duplicate(p, f, false, a[2]);
    case F_DUPFD_CLOEXEC:
        return duplicate(p, f, true, a[2]);
    case F_GETFD:
        return fd->cloexec ? FD_CLOEXEC : 0;
    case F_SETFD:
        fd->cloexec = a[2] & FD_CLOEXEC;
        return 0;
    case F_GETFL:
        return f->flags;
    case F_SETFL:
        return set_flags(f, (int)a[2]);
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
        return lock(p, t, f, a);
    case F_GETPIPE_SZ:
        return f->pipe ? VS_PIPE_SIZE : -EBADF;
    default:
        return -EINVAL;
    }
}

int64_t vs_call_flock(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_file *f = vs_file_of(p, a[0]);
    (void)t;
    if (!f)
        return -EBADF;
    if (f->host < 0)
        return -EINVAL;
    return flock(f->host, (int)a[1] | LOCK_NB) ? -errno : 0;
}

/* ---- ioctl ----------------------------------------------------------------------------------- */

/* Does a request that reads or writes `size` bytes of the terminal's settings. */
static int64_t terminal(struct vs_process *p, struct vs_task *t, const struct vs_file *f,
                        const uint64_t *a, size_t size, bool get)
{
    uint8_t bytes[64] = {0};
    if (f->host < 0 || f->borrowed || !isatty(f->host))
        return -ENOTTY;
    if (!get && vs_guest_get(p, a[2], bytes, size))
        return -EFAULT;
    if (ioctl(f->host, (unsigned long)(uint32_t)a[1], bytes) < 0)
        return -errno;
    return get ? vs_guest_put(p, t, a[2], bytes, size) : 0;
}

static int64_t unread(struct vs_process *p, struct vs_task *t, const struct vs_file *f,
                      uint64_t addr)
{
    int count = f->pipe ? (int)f->pipe->used : 0;
    if (f->host >= 0 && ioctl(f->host, FIONREAD, &count) < 0)
        return -errno;
    return vs_guest_put(p, t, addr, &count, sizeof(count));
}

static int64_t set_nonblocking(struct vs_process *p, struct vs_file *f, uint64_t addr)
{
    int32_t on;
    if (vs_guest_get(p, addr, &on, sizeof(on)))
        return -EFAULT;
    return set_flags(f, on ? f->flags | O_NONBLOCK : f->flags & ~O_NONBLOCK);
}

int64_t vs_call_ioctl(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_file *f = vs_file_of(p, a[0]);
    if (!f)
        return -EBADF;
    switch ((uint32_t)a[1]) {
    case TCGETS:
        return terminal(p, t, f, a, TERMIOS_SIZE, true);
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        return terminal(p, t, f, a, TERMIOS_SIZE, false);
    case TIOCGWINSZ:
        return terminal(p, t, f, a, sizeof(struct winsize), true);
    case FIONREAD:
        return unread(p, t, f, a[2]);
    case FIONBIO:
        return set_nonblocking(p, f, a[2]);
    case FIOCLEX:
    case FIONCLEX:
        p->linux_state->fds[(uint32_t)a[0]].cloexec = (uint32_t)a[1] == FIOCLEX;
        return 0;
    default:
        return -ENOTTY;
    }
}
