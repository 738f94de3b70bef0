/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/invariant.h"

enum { TRIES = 16 }; /* to open a partial file that others keep replacing */

void vs_outfile_keep(struct vs_outfile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->partial);
    free(f->path);
    *f = (struct vs_outfile){.fd = -1};
}

void vs_outfile_abort(struct vs_outfile *f)
{
    if (f->fd >= 0)
        unlink(f->partial); /* while it is locked: after the close it may be another's */
    vs_outfile_keep(f);
}

static int check_target(const struct vs_outfile *f, struct vs_diag *diag)
{
    struct stat st;
    if (lstat(f->path, &st))
        return errno == ENOENT ? 0 : vs_diag_io(diag, "stat", f->path);
    if (!S_ISREG(st.st_mode))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not a regular file: %s", f->path);
    if (!f->overwrite)
        return vs_diag_set(diag, -VSE_EXISTS, -1, -1, "already exists: %s", f->path);
    return 0;
}

static int in_use(const struct vs_outfile *f, struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_EXISTS, -1, -1, "another writer is using %s", f->partial);
}

int vs_outfile_lift(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(fd);
    errno = error;
    return higher;
}

bool vs_outfile_busy(const char *partial)
{
    int fd = open(partial, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool busy = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return busy;
}

/* One attempt to create and lock the partial file; *fresh: it was created. 1: the file system
 * changed underneath, or a left-over file has been removed; try again. */
static int try_partial(struct vs_outfile *f, bool *fresh, struct vs_diag *diag)
{
    struct stat ours, named;
    *fresh = true;
    f->fd = vs_outfile_lift(open(f->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (f->fd < 0 && errno == EEXIST) {
        *fresh = false;
        if (lstat(f->partial, &named))
            return errno == ENOENT ? 1 : vs_diag_io(diag, "stat", f->partial);
        if (!S_ISREG(named.st_mode))
            return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not a regular file: %s", f->partial);
        f->fd = vs_outfile_lift(open(f->partial, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    }
    if (f->fd < 0)
        return !*fresh && errno == ENOENT ? 1 : vs_diag_io(diag, "create", f->partial);
    if (flock(f->fd, LOCK_EX | LOCK_NB)) {
        if (errno == EWOULDBLOCK)
            return in_use(f, diag);
        if (!*fresh) /* a file system without locks: no one can tell whether it is in use */
            return vs_diag_io(diag, "lock", f->partial);
    }
    /* Before the lock was ours, the last owner may have given the file its final name, or another
     * writer may have taken ours for a left-over one. */
    if (fstat(f->fd, &ours))
        return vs_diag_io(diag, "stat", f->partial);
    if (lstat(f->partial, &named))
        return errno == ENOENT ? 1 : vs_diag_io(diag, "stat", f->partial);
    if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
        return 1;
    if (*fresh)
        return 0;
    /* Removed rather than truncated: it may have a second link, the final name of a commit that
     * was interrupted, and the owner and mode of someone else. */
    return unlink(f->partial) ? vs_diag_io(diag, "remove", f->partial) : 1;
}

static int open_partial(struct vs_outfile *f, struct vs_diag *diag)
{
    for (int i = 0; i < TRIES; i++) {
        bool fresh;
        int rc = try_partial(f, &fresh, diag);
        if (rc < 0 && fresh && f->fd >= 0 && rc != -VSE_EXISTS)
            vs_outfile_abort(f); /* it is ours and useless */
        if (rc <= 0)
            return rc;
        if (f->fd >= 0)
            close(f->fd);
        f->fd = -1;
    }
    return in_use(f, diag);
}

int vs_outfile_open(struct vs_outfile *f, const char *path, bool overwrite, struct vs_diag *diag)
{
    *f = (struct vs_outfile){.fd = -1, .overwrite = overwrite};
    if (!*path)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "empty file name");
    f->path = strdup(path);
    if (asprintf(&f->partial, "%s.partial", path) < 0)
        f->partial = NULL;
    int rc = f->path && f->partial
                 ? 0
                 : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory: %s", path);
    if (!rc)
        rc = check_target(f, diag);
    if (!rc)
        rc = open_partial(f, diag);
    if (rc)
        vs_outfile_keep(f);
    return rc;
}

int vs_outfile_write(struct vs_outfile *f, const void *data, size_t size, struct vs_diag *diag)
{
    invariant(f->fd >= 0);
    const char *p = data;
    while (size) {
        ssize_t n = write(f->fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            f->failed = true;
            return vs_diag_io(diag, "write", f->partial);
        }
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Like rename, but an existing file at the path survives unless it may be overwritten. */
static int publish(const struct vs_outfile *f)
{
    if (f->overwrite)
        return rename(f->partial, f->path);
    if (!renameat2(AT_FDCWD, f->partial, AT_FDCWD, f->path, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    /* Not every file system has the flag, NFS for one; link refuses to replace on all of them. */
    if (link(f->partial, f->path))
        return -1;
    unlink(f->partial);
    return 0;
}

/* Makes the new name durable. The file is complete whatever happens here, so a failure does not
 * fail the commit. */
static void sync_directory(char *path)
{
    int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

static int commit(struct vs_outfile *f, struct vs_diag *diag)
{
    if (f->failed)
        return vs_diag_set(diag, -VSE_IO, -1, -1, "incomplete after a failed write: %s",
                           f->partial);
    if (fsync(f->fd))
        return vs_diag_io(diag, "sync", f->partial);
    if (!publish(f)) {
        sync_directory(f->path);
        return 0;
    }
    if (errno == EEXIST)
        return vs_diag_set(diag, -VSE_EXISTS, -1, -1, "appeared meanwhile: %s", f->path);
    return vs_diag_io(diag, "rename to", f->path);
}

int vs_outfile_commit(struct vs_outfile *f, struct vs_diag *diag)
{
    invariant(f->fd >= 0);
    int rc = commit(f, diag);
    if (!rc)
        vs_outfile_keep(f);
    return rc;
}
