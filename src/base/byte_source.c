/* SPDX-License-Identifier: MIT */
#include "base/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

int vs_byte_source_open(struct vs_byte_source *s, const char *path, struct vs_diag *diag)
{
    struct stat st;

    *s = (struct vs_byte_source){.fd = -1};
    /* O_NONBLOCK: opening a pipe must not wait for its writer, only to be refused then */
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 || fstat(s->fd, &st) < 0) {
        int err = vs_diag_io(diag, "cannot open it", NULL);

        vs_byte_source_close(s);
        return err;
    }
    if (!S_ISREG(st.st_mode)) {
        vs_byte_source_close(s);
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not a regular file");
    }
    s->size = (uint64_t)st.st_size;
    return 0;
}

void vs_byte_source_memory(struct vs_byte_source *s, const void *data, size_t size)
{
    *s = (struct vs_byte_source){.fd = -1, .memory = data, .size = size};
}

void vs_byte_source_close(struct vs_byte_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct vs_byte_source){.fd = -1};
}

int vs_byte_source_read(const struct vs_byte_source *s, uint64_t offset, void *out, size_t size,
                        struct vs_diag *diag)
{
    uint8_t *p = out;

    if (offset > s->size || s->size - offset < size)
        return vs_diag_set(diag, -VSE_TRUNCATED, (int64_t)offset, -1,
                           "the file ends at %llu, %llu bytes too early",
                           (unsigned long long)s->size,
                           (unsigned long long)(offset + size - s->size));
    if (s->fd < 0) {
        if (size)
            memcpy(out, s->memory + offset, size);
        return 0;
    }
    while (size) {
        ssize_t n = pread(s->fd, p, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return vs_diag_io(diag, "cannot read it", NULL);
        if (n == 0)
            return vs_diag_set(diag, -VSE_TRUNCATED, (int64_t)offset, -1,
                               "the file became shorter while it was read");
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}
