/* SPDX-License-Identifier: MIT */
#include "published/mtrace_out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"

extern char **environ;

enum { BUFFER = 1 << 20 };

_Static_assert((int)BUFFER >= (int)MTRACE_NEED_MAX, "one descriptor fits");

static const struct {
    const char *name, *suffix;
} compressors[MTRACE_COMPRESSORS_END] = {
    {NULL, ""},      {"bzip2", ".bz2"}, {"pbzip2", ".bz2"}, {"gzip", ".gz"},
    {"pigz", ".gz"}, {"xz", ".xz"},     {"zstd", ".zst"},
};

const char *mtrace_compressor_name(unsigned compressor)
{
    return compressors[compressor].name;
}

const char *mtrace_compressor_suffix(unsigned compressor)
{
    return compressors[compressor].suffix;
}

/* ---- the compressor -------------------------------------------------------------------------- */

/* Starts the program with its input from `input` and its output to the file. Returns an errno. */
static int spawn(struct mtrace_out *o, int input)
{
    char *name = strdup(compressors[o->compressor].name);
    char option[] = "-c";
    char *argv[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    int e = name ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (e) {
        free(name);
        return e;
    }
    e = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&actions, o->file.fd, STDOUT_FILENO);
    if (!e)
        e = posix_spawnp(&o->child, name, &actions, NULL, argv, environ);
    if (e)
        o->child = 0;
    posix_spawn_file_actions_destroy(&actions);
    free(name);
    return e;
}

static int start_compressor(struct mtrace_out *o, struct vs_diag *diag)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return vs_diag_io(diag, "make", "a pipe");
    ends[0] = vs_outfile_lift(ends[0]);
    ends[1] = vs_outfile_lift(ends[1]);
    int e = ends[0] < 0 || ends[1] < 0 ? errno : 0;
    if (!e) {
        fcntl(ends[1], F_SETPIPE_SZ, BUFFER); /* for fewer turns; it works without this */
        e = spawn(o, ends[0]);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    o->pipe = ends[1];
    if (!e)
        return 0;
    errno = e;
    return vs_diag_io(diag, "run", compressors[o->compressor].name);
}

/* Closes the pipe and waits. Returns 0; -VSE_IO (the compressor failed). */
static int end_compressor(struct mtrace_out *o, struct vs_diag *diag)
{
    int status;
    if (o->pipe >= 0)
        close(o->pipe);
    o->pipe = -1;
    if (!o->child)
        return 0;
    pid_t got;
    while ((got = waitpid(o->child, &status, 0)) < 0 && errno == EINTR)
        continue;
    o->child = 0;
    const char *name = compressors[o->compressor].name;
    if (got < 0)
        return vs_diag_io(diag, "wait for", name);
    if (WIFSIGNALED(status))
        return vs_diag_set(diag, -VSE_IO, -1, -1, "%s was killed by signal %d", name,
                           WTERMSIG(status));
    if (WEXITSTATUS(status))
        return vs_diag_set(diag, -VSE_IO, -1, -1, "%s ended with status %d", name,
                           WEXITSTATUS(status));
    return 0;
}

/* Writes like write() to a pipe whose reader may be gone, but without the signal. A program that is
 * being traced would inherit it if the signal were ignored, so it is held back and taken
 * instead. */
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
    sigset_t set, before, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    ssize_t n = write(fd, data, size);
    int error = errno;
    /* It is also raised if the reader left after it had taken a part, whose size is then
     * returned. */
    if (!sigismember(&pending, SIGPIPE))
        sigtimedwait(&set, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

static int feed_compressor(struct mtrace_out *o, const uint8_t *p, size_t size,
                           struct vs_diag *diag)
{
    while (size) {
        ssize_t n = write_quietly(o->pipe, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            vs_diag_io(diag, "write to", compressors[o->compressor].name);
            /* Why the compressor went away says more than that it did. */
            end_compressor(o, diag);
            return -VSE_IO;
        }
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void set_end(struct mtrace_out *o)
{
    uint64_t left = o->limit - o->written;
    o->at = o->buffer;
    o->end = o->buffer + (left < BUFFER ? (size_t)left : BUFFER);
}

int mtrace_out_open(struct mtrace_out *o, const char *path, bool overwrite, unsigned compressor,
                    uint64_t limit, struct vs_diag *diag)
{
    *o = (struct mtrace_out){
        .limit = limit, .compressor = compressor, .pipe = -1, .file = {.fd = -1}};
    o->buffer = malloc(BUFFER + MTRACE_SLACK);
    if (!o->buffer)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    set_end(o);
    int e = vs_outfile_open(&o->file, path, overwrite, diag);
    if (!e && compressor)
        e = start_compressor(o, diag);
    if (e)
        mtrace_out_abort(o);
    return e;
}

static int flush(struct mtrace_out *o, struct vs_diag *diag)
{
    size_t size = (size_t)(o->at - o->buffer);
    int e = o->compressor ? feed_compressor(o, o->buffer, size, diag)
                          : vs_outfile_write(&o->file, o->buffer, size, diag);
    o->written += size;
    set_end(o);
    return e;
}

int mtrace_out_more(struct mtrace_out *o, size_t need, struct vs_diag *diag)
{
    int e = flush(o, diag);
    if (e)
        return e;
    return (size_t)(o->end - o->at) >= need ? 0 : -VSE_END;
}

int mtrace_out_commit(struct mtrace_out *o, struct vs_diag *diag)
{
    int e = flush(o, diag);
    if (!e)
        e = end_compressor(o, diag);
    if (!e)
        e = vs_outfile_commit(&o->file, diag);
    mtrace_out_abort(o);
    return e;
}

void mtrace_out_abort(struct mtrace_out *o)
{
    end_compressor(o, NULL);
    vs_outfile_abort(&o->file);
    free(o->buffer);
    o->buffer = o->at = o->end = NULL;
}
