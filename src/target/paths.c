/* SPDX-License-Identifier: MIT */
/* Calls that name files or ask about them. */
#include "target/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/linux.h"

#define DIRENTS_MAX 65536

_Static_assert(AT_FDCWD == -100 && AT_SYMLINK_NOFOLLOW == 0x100 && AT_EMPTY_PATH == 0x1000,
               "of the host as of the target");

/* Removes empty parts, "." and ".." from an absolute path. */
static void tidy(char *path)
{
    char *out = path;
    for (const char *in = path; *in;) {
        size_t n = strcspn(++in, "/");
        if (n == 2 && !strncmp(in, "..", 2)) {
            while (out > path && *--out != '/')
                ;
        } else if (n && !(n == 1 && *in == '.')) {
            *out++ = '/';
            memmove(out, in, n);
            out += n;
        }
        in += n;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
}

/* Makes a path absolute and without detours if it leads to where the target has files of its
 * own. */
static void reveal_virtual(int dir, char path[PATH_MAX])
{
    char link[64], whole[2 * PATH_MAX];
    if (path[0] == '/') {
        snprintf(whole, sizeof(whole), "%s", path);
    } else {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
        ssize_t n = readlink(link, whole, PATH_MAX);
        if (n <= 0 || whole[0] != '/')
            return;
        snprintf(whole + n, sizeof(whole) - (size_t)n, "/%s", path);
    }
    tidy(whole);
    if (strlen(whole) < PATH_MAX && vs_virtual_has(whole))
        strcpy(path, whole);
}

static int find_path(const struct vs_process *p, uint64_t fd, uint64_t addr, bool empty, int *dir,
                     char path[PATH_MAX])
{
    int64_t length = vs_guest_string(p, addr, path, PATH_MAX);
    *dir = p->linux_state->cwd;
    if (length < 0)
        return (int)length;
    if (!length && !empty)
        return -ENOENT;
    if (path[0] == '/' || (int32_t)fd == AT_FDCWD)
        return 0;
    const struct vs_file *f = vs_file_of(p, fd);
    if (!f)
        return -EBADF;
    *dir = f->host;
    return f->host < 0 && length ? -ENOTDIR : 0;
}

int vs_path_get(const struct vs_process *p, uint64_t fd, uint64_t addr, bool empty, int *dir,
                char path[PATH_MAX])
{
    int err = find_path(p, fd, addr, empty, dir, path);
    if (!err && path[0])
        reveal_virtual(*dir, path);
    return err;
}

/* Like vs_path_get, for calls that do not accept the target's own files. */
static int plain_path(const struct vs_process *p, uint64_t fd, uint64_t addr, int *dir,
                      char path[PATH_MAX])
{
    int err = vs_path_get(p, fd, addr, false, dir, path);
    return err ? err : vs_virtual_has(path) ? -ENOENT : 0;
}

static int64_t result_of(int64_t got)
{
    return got < 0 ? -errno : got;
}

/* ---- stat ------------------------------------------------------------------------------------ */

/* Only the kind of a file is told, unless it is a regular file, a directory or a link. */
static void make_anonymous(struct stat *st)
{
    if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode))
        return;
    st->st_dev = st->st_ino = st->st_rdev = 0;
    st->st_size = st->st_blocks = 0;
    st->st_uid = st->st_gid = VS_LINUX_UID;
    st->st_atim = st->st_mtim = st->st_ctim = (struct timespec){0};
}

static void own_stat(const struct vs_file *f, struct stat *st)
{
    memset(st, 0, sizeof(*st));
    st->st_mode = f->kind == VS_FILE_RANDOM  ? S_IFCHR | 0666
                  : f->kind == VS_FILE_EVENT ? 0600
                                             : S_IFIFO | 0600;
    st->st_ino = f->number;
    st->st_nlink = 1;
    st->st_uid = st->st_gid = VS_LINUX_UID;
    st->st_blksize = VS_PAGE_SIZE;
}

static int64_t stat_file(const struct vs_file *f, struct stat *st)
{
    if (!f)
        return -EBADF;
    /* If the program saw what the simulator's own files are, a run would depend on where its output
     * goes. */
    if (f->host < 0 || f->borrowed) {
        own_stat(f, st);
        return 0;
    }
    if (fstat(f->host, st))
        return -errno;
    make_anonymous(st);
    return 0;
}

static int64_t stat_path(struct vs_process *p, uint64_t fd, uint64_t addr, uint64_t flags,
                         struct stat *st)
{
    char path[PATH_MAX];
    int dir, err = vs_path_get(p, fd, addr, flags & AT_EMPTY_PATH, &dir, path);
    if (err)
        return err;
    if (!path[0] && (int32_t)fd != AT_FDCWD)
        return stat_file(vs_file_of(p, fd), st);
    int host = vs_virtual_open(p, path);
    if (host == VS_VIRTUAL_NONE)
        return -ENOENT;
    int64_t result =
        host >= 0 ? fstat(host, st)
                  : fstatat(dir, path, st, (int)flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
    result = result_of(result);
    if (host >= 0)
        close(host);
    if (!result)
        make_anonymous(st);
    return result;
}

static int64_t put_stat(struct vs_process *p, struct vs_task *t, uint64_t addr,
                        const struct stat *st)
{
    struct vs_linux_stat out = {
        .dev = st->st_dev,
        .ino = st->st_ino,
        .mode = st->st_mode,
        .nlink = (uint32_t)st->st_nlink,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .rdev = st->st_rdev,
        .size = st->st_size,
        .blksize = (int32_t)st->st_blksize,
        .blocks = st->st_blocks,
        .atime = st->st_atim.tv_sec,
        .atime_ns = st->st_atim.tv_nsec,
        .mtime = st->st_mtim.tv_sec,
        .mtime_ns = st->st_mtim.tv_nsec,
        .ctime = st->st_ctim.tv_sec,
        .ctime_ns = st->st_ctim.tv_nsec,
    };
    return vs_guest_put(p, t, addr, &out, sizeof(out));
}

int64_t vs_call_fstat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct stat st;
    int64_t err = stat_file(vs_file_of(p, a[0]), &st);
    return err ? err : put_stat(p, t, a[1], &st);
}

int64_t vs_call_newfstatat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct stat st;
    int64_t err = stat_path(p, a[0], a[1], a[3], &st);
    return err ? err : put_stat(p, t, a[2], &st);
}

static struct statx_timestamp stamp(struct timespec time)
{
    return (struct statx_timestamp){.tv_sec = time.tv_sec, .tv_nsec = (uint32_t)time.tv_nsec};
}

int64_t vs_call_statx(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct stat st;
    int64_t err = stat_path(p, a[0], a[1], a[2], &st);
    if (err)
        return err;
    struct statx x = {
        .stx_mask = STATX_BASIC_STATS,
        .stx_blksize = (uint32_t)st.st_blksize,
        .stx_nlink = (uint32_t)st.st_nlink,
        .stx_uid = st.st_uid,
        .stx_gid = st.st_gid,
        .stx_mode = (uint16_t)st.st_mode,
        .stx_ino = st.st_ino,
        .stx_size = (uint64_t)st.st_size,
        .stx_blocks = (uint64_t)st.st_blocks,
        .stx_atime = stamp(st.st_atim),
        .stx_ctime = stamp(st.st_ctim),
        .stx_mtime = stamp(st.st_mtim),
        .stx_dev_major = (uint32_t)(st.st_dev >> 8 & 0xfff),
        .stx_dev_minor = (uint32_t)(st.st_dev & 0xff),
    };
    return vs_guest_put(p, t, a[4], &x, sizeof(x));
}

/* Tells of a made-up file system, so that it does not matter how full the host's is. */
static int64_t put_statfs(struct vs_process *p, struct vs_task *t, uint64_t addr)
{
    const uint64_t out[15] = {0xef53,  4096,    1 << 28, 1 << 27, 1 << 27,
                              1 << 24, 1 << 23, 0,       255,     4096};
    return vs_guest_put(p, t, addr, out, sizeof(out));
}

int64_t vs_call_statfs(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct stat st;
    int64_t err = stat_path(p, (uint64_t)AT_FDCWD, a[0], 0, &st);
    return err ? err : put_statfs(p, t, a[1]);
}

int64_t vs_call_fstatfs(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return vs_file_of(p, a[0]) ? put_statfs(p, t, a[1]) : -EBADF;
}

/* ---- names ----------------------------------------------------------------------------------- */

int64_t vs_call_readlinkat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX], text[PATH_MAX];
    int dir, err = vs_path_get(p, a[0], a[1], true, &dir, path);
    if (err)
        return err;
    if ((int32_t)a[3] <= 0)
        return -EINVAL;
    ssize_t size;
    if (!strcmp(path, "/proc/self/exe")) {
        size = (ssize_t)strlen(p->linux_state->path);
        memcpy(text, p->linux_state->path, (size_t)size);
    } else if (vs_virtual_has(path)) {
        return -ENOENT;
    } else {
        size = readlinkat(dir, path, text, sizeof(text));
        if (size < 0)
            return -errno;
    }
    if ((uint64_t)size > (uint32_t)a[3])
        size = (ssize_t)(uint32_t)a[3];
    err = vs_guest_put(p, t, a[2], text, (uint64_t)size);
    return err ? err : size;
}

static int64_t check_access(struct vs_process *p, const uint64_t *a, uint64_t flags)
{
    char path[PATH_MAX];
    int dir, err = vs_path_get(p, a[0], a[1], false, &dir, path);
    if (err)
        return err;
    int host = vs_virtual_open(p, path);
    if (host >= 0) {
        close(host);
        return a[2] & (W_OK | X_OK) ? -EACCES : 0;
    }
    if (host == VS_VIRTUAL_NONE)
        return -ENOENT;
    return result_of(
        faccessat(dir, path, (int)a[2], (int)flags & (AT_EACCESS | AT_SYMLINK_NOFOLLOW)));
}

int64_t vs_call_faccessat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    return check_access(p, a, 0);
}

int64_t vs_call_faccessat2(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    return check_access(p, a, a[3]);
}

int64_t vs_call_getcwd(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", p->linux_state->cwd);
    ssize_t size = readlink(name, path, sizeof(path) - 1);
    if (size < 0)
        return -errno;
    path[size++] = 0;
    if ((uint64_t)size > a[1])
        return -ERANGE;
    int err = vs_guest_put(p, t, a[0], path, (uint64_t)size);
    return err ? err : size;
}

/* The directory is the process's, not the simulator's. */
static int64_t change_dir(struct vs_process *p, int dir, const char *path)
{
    int fd = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(p->linux_state->cwd);
    p->linux_state->cwd = fd;
    return 0;
}

int64_t vs_call_chdir(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX];
    int dir, err = plain_path(p, (uint64_t)AT_FDCWD, a[0], &dir, path);
    (void)t;
    return err ? err : change_dir(p, dir, path);
}

int64_t vs_call_fchdir(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_file *f = vs_file_of(p, a[0]);
    (void)t;
    if (!f)
        return -EBADF;
    return f->host < 0 ? -ENOTDIR : change_dir(p, f->host, ".");
}

/* ---- changes --------------------------------------------------------------------------------- */

int64_t vs_call_mkdirat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX];
    int dir, err = plain_path(p, a[0], a[1], &dir, path);
    (void)t;
    return err ? err : result_of(mkdirat(dir, path, (mode_t)a[2] & ~p->linux_state->umask));
}

int64_t vs_call_unlinkat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX];
    int dir, err = plain_path(p, a[0], a[1], &dir, path);
    (void)t;
    return err ? err : result_of(unlinkat(dir, path, (int)a[2]));
}

/* Reads two paths, relative to the descriptors a[0] and a[2]. */
static int get_two(const struct vs_process *p, const uint64_t *a, int dirs[2],
                   char paths[2][PATH_MAX])
{
    int err = plain_path(p, a[0], a[1], &dirs[0], paths[0]);
    return err ? err : plain_path(p, a[2], a[3], &dirs[1], paths[1]);
}

int64_t vs_call_linkat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char paths[2][PATH_MAX];
    int dirs[2], err = get_two(p, a, dirs, paths);
    (void)t;
    return err ? err : result_of(linkat(dirs[0], paths[0], dirs[1], paths[1], (int)a[4]));
}

int64_t vs_call_renameat2(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char paths[2][PATH_MAX];
    int dirs[2], err = get_two(p, a, dirs, paths);
    (void)t;
    return err ? err : result_of(renameat2(dirs[0], paths[0], dirs[1], paths[1], (unsigned)a[4]));
}

int64_t vs_call_symlinkat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char text[PATH_MAX], path[PATH_MAX];
    int dir, err = plain_path(p, a[1], a[2], &dir, path);
    int64_t size = vs_guest_string(p, a[0], text, sizeof(text));
    (void)t;
    if (err || size < 0)
        return err ? err : size;
    return result_of(symlinkat(text, dir, path));
}

int64_t vs_call_fchmodat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX];
    int dir, err = plain_path(p, a[0], a[1], &dir, path);
    (void)t;
    return err ? err : result_of(fchmodat(dir, path, (mode_t)a[2], 0));
}

int64_t vs_call_truncate(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char path[PATH_MAX];
    int dir, err = plain_path(p, (uint64_t)AT_FDCWD, a[0], &dir, path);
    (void)t;
    if (err)
        return err;
    int fd = openat(dir, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int64_t result = result_of(ftruncate(fd, (off_t)a[1]));
    close(fd);
    return result;
}

/* UTIME_NOW means the target's time, not the host's. */
static void no_host_time(const struct vs_process *p, struct timespec times[2])
{
    for (size_t i = 0; i < 2; i++)
        if (times[i].tv_nsec == UTIME_NOW)
            times[i] = (struct timespec){.tv_sec = (time_t)(VS_LINUX_EPOCH + p->now / VS_SECOND),
                                         .tv_nsec = (long)(p->now % VS_SECOND)};
}

int64_t vs_call_utimensat(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    char path[PATH_MAX];
    int dir;
    (void)t;
    if (a[2] && vs_guest_get(p, a[2], times, sizeof(times)))
        return -EFAULT;
    no_host_time(p, times);
    if (!a[1]) {
        const struct vs_file *f = vs_file_of(p, a[0]);
        return f && f->host >= 0 ? result_of(futimens(f->host, times)) : -EBADF;
    }
    int err = plain_path(p, a[0], a[1], &dir, path);
    return err ? err : result_of(utimensat(dir, path, times, (int)a[3]));
}

/* ---- of open files --------------------------------------------------------------------------- */

/* Returns a file of the host, or NULL with *error set. */
static const struct vs_file *host_file(const struct vs_process *p, uint64_t fd, int64_t *error)
{
    const struct vs_file *f = vs_file_of(p, fd);
    *error = !f ? -EBADF : -EINVAL;
    return f && f->host >= 0 ? f : NULL;
}

int64_t vs_call_fchmod(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int64_t error;
    const struct vs_file *f = host_file(p, a[0], &error);
    (void)t;
    return f ? result_of(fchmod(f->host, (mode_t)a[1])) : error;
}

int64_t vs_call_ftruncate(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int64_t error;
    const struct vs_file *f = host_file(p, a[0], &error);
    (void)t;
    return f ? result_of(ftruncate(f->host, (off_t)a[1])) : error;
}

int64_t vs_call_fallocate(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int64_t error;
    const struct vs_file *f = host_file(p, a[0], &error);
    (void)t;
    return f ? result_of(fallocate(f->host, (int)a[1], (off_t)a[2], (off_t)a[3])) : error;
}

int64_t vs_call_fsync(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int64_t error;
    const struct vs_file *f = host_file(p, a[0], &error);
    (void)t;
    return f ? result_of(fsync(f->host)) : error;
}

int64_t vs_call_getdents64(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int64_t error;
    const struct vs_file *f = host_file(p, a[0], &error);
    if (!f)
        return error;
    uint64_t size = (uint32_t)a[2] < DIRENTS_MAX ? (uint32_t)a[2] : DIRENTS_MAX;
    if (vs_space_span(p, a[1], size, VS_MAP_WRITE) < size)
        return -EFAULT;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) {
        p->linux_state->nomem = true;
        return -ENOMEM;
    }
    int64_t got = result_of(syscall(SYS_getdents64, f->host, bytes, size));
    if (got > 0)
        vs_guest_put(p, t, a[1], bytes, (uint64_t)got);
    free(bytes);
    return got;
}

int64_t vs_call_umask(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    unsigned old = p->linux_state->umask;
    (void)t;
    p->linux_state->umask = a[0] & 0777;
    return old;
}
