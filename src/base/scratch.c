/* SPDX-License-Identifier: MIT */
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/outfile.h"

/* Address space that is asked for, and the least that is taken. Memory is used as it is filled. */
#define ROOM_MOST  ((size_t)1 << 38)
#define ROOM_LEAST ((size_t)1 << 26)

#define STEP ((size_t)1 << 24) /* by which a file grows */

/* Not every file system can make a file that never had a name. */
static int open_nameless(const char *folder)
{
    char path[4096];
    int fd = vs_outfile_lift(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    if (snprintf(path, sizeof(path), "%s/vestige-XXXXXX", folder) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return vs_outfile_lift(fd);
}

int vs_scratch_open(struct vs_scratch *s, const char *folder, struct vs_diag *diag)
{
    void *data = MAP_FAILED;
    *s = (struct vs_scratch){.room = ROOM_MOST, .fd = -1};
    if (folder && (s->fd = open_nameless(folder)) < 0)
        return vs_diag_io(diag, "cannot make a file in", folder);
    int flags = folder ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    errno = ENOMEM;
    while (data == MAP_FAILED && s->room >= ROOM_LEAST && errno == ENOMEM) {
        data = mmap(NULL, s->room, PROT_READ | PROT_WRITE, flags, s->fd, 0);
        if (data == MAP_FAILED)
            s->room /= 2;
    }
    if (data == MAP_FAILED) {
        int err = errno == ENOMEM
                      ? vs_diag_set(diag, -VSE_NOMEM, -1, -1, "there is too little address space")
                      : vs_diag_io(diag, "cannot map a file in", folder);
        if (folder)
            close(s->fd);
        return err;
    }
    s->data = data;
    return 0;
}

void vs_scratch_close(struct vs_scratch *s)
{
    munmap(s->data, s->room);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct vs_scratch){.fd = -1};
}

/* A page of a file that the disk has no room for would end the process when it is written, so the
 * room is taken beforehand. */
int vs_scratch_reach(struct vs_scratch *s, size_t size)
{
    size_t from = s->reached;
    if (size <= from)
        return 0;
    if (size > s->room)
        return -VSE_NOMEM;
    size_t to = s->room - size < STEP ? s->room : size + STEP - 1 - (size - 1) % STEP;
    if (s->fd >= 0) {
        int err;
        do
            err = posix_fallocate(s->fd, (off_t)from, (off_t)(to - from));
        while (err == EINTR);
        if (err) {
            s->error = err;
            return -VSE_IO;
        }
    }
    s->error = 0;
    s->reached = to;
    return 0;
}

void vs_scratch_rest(struct vs_scratch *s)
{
    size_t reached = s->reached;
    if (s->fd >= 0 && reached)
        madvise(s->data, reached, MADV_DONTNEED);
}

void vs_scratch_free(struct vs_scratch *s, size_t from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (s->fd < 0 && from < to)
        madvise(s->data + from, to - from, MADV_DONTNEED);
}
