/* SPDX-License-Identifier: MIT */
#include "base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/diag.h"

void vs_infile_init(struct vs_infile *f, int fd)
{
    f->fd = fd;
    f->line = 0;
    f->text = (struct vs_buf){0};
    f->at = f->end = 0;
}

int vs_infile_open(struct vs_infile *f, const char *path, struct vs_diag *diag)
{
    vs_infile_init(f, open(path, O_RDONLY | O_CLOEXEC));
    return f->fd < 0 ? vs_diag_io(diag, "open", path) : 0;
}

/* Reads more bytes if all were taken. Returns 0; -VSE_END; -VSE_IO. */
static int fill(struct vs_infile *f, struct vs_diag *diag)
{
    if (f->at < f->end)
        return 0;
    ssize_t n;
    do
        n = read(f->fd, f->buffer, sizeof(f->buffer));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return vs_diag_io(diag, "cannot read it", NULL);
    f->at = 0;
    f->end = (size_t)n;
    return n ? 0 : -VSE_END;
}

/* Takes what the buffer has of the line, and the line's end if it is there. Returns 1 if the line
 * is complete. */
static int take_part(struct vs_infile *f, struct vs_diag *diag)
{
    const uint8_t *from = f->buffer + f->at, *end = memchr(from, '\n', f->end - f->at);
    size_t size = end ? (size_t)(end - from) : f->end - f->at;
    if (f->text.len + size > VS_INFILE_LINE_MAX)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "line %llu is too long",
                           (unsigned long long)f->line);
    if (vs_buf_put(&f->text, from, size))
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    f->at += size + (end != NULL);
    return end != NULL;
}

int64_t vs_infile_line(struct vs_infile *f, struct vs_diag *diag)
{
    f->text.len = 0;
    int e = fill(f, diag);
    if (e)
        return e;
    f->line++;
    while (!e && !(e = take_part(f, diag)))
        e = fill(f, diag);
    if (e < 0 && e != -VSE_END)
        return e;
    if (vs_buf_reserve(&f->text, 1))
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    f->text.data[f->text.len] = 0;
    return (int64_t)f->text.len;
}

int64_t vs_infile_bytes(struct vs_infile *f, void *bytes, size_t size, struct vs_diag *diag)
{
    size_t done = 0;
    int e;
    while (done < size && !(e = fill(f, diag))) {
        size_t part = f->end - f->at < size - done ? f->end - f->at : size - done;
        memcpy((uint8_t *)bytes + done, f->buffer + f->at, part);
        f->at += part;
        done += part;
    }
    return done < size && e != -VSE_END ? e : (int64_t)done;
}

int vs_infile_peek(struct vs_infile *f, struct vs_diag *diag)
{
    int e = fill(f, diag);
    return e ? e : f->buffer[f->at];
}

void vs_infile_close(struct vs_infile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    vs_buf_fini(&f->text);
    f->fd = -1;
}
