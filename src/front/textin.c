/* SPDX-License-Identifier: MIT */
#include "front/textin.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/outfile.h"

extern char **environ;

static const struct {
    const char *name;
    size_t length;
    char magic[8];
} programs[] = {
    {"gzip", 2, "\x1f\x8b"},
    {"bzip2", 3, "BZh"},
    {"xz", 6,
     "\xfd"
     "7zXZ"},
    {"zstd", 4, "\x28\xb5\x2f\xfd"},
};

/* Puts the decompressor's name into *name; NULL if the file needs none. Returns 0; -1, with
 * errno. */
static int decompressor(int fd, const char **name)
{
    char head[8];
    ssize_t n;
    *name = NULL;
    do
        n = pread(fd, head, sizeof(head), 0);
    while (n < 0 && errno == EINTR);
    if (n < 0) /* a pipe has no first bytes to go back to */
        return errno == ESPIPE ? 0 : -1;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (n >= (ssize_t)programs[i].length &&
            !memcmp(head, programs[i].magic, programs[i].length))
            *name = programs[i].name;
    return 0;
}

/* Starts the program between fd and a pipe. Returns an errno. */
static int spawn(struct textin *in, int fd, int output)
{
    char *name = strdup(in->program), option[] = "-dc", *argv[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    int e = name ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (e) {
        free(name);
        return e;
    }
    e = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!e)
        e = posix_spawnp(&in->child, name, &actions, NULL, argv, environ);
    if (e)
        in->child = 0;
    posix_spawn_file_actions_destroy(&actions);
    free(name);
    return e;
}

/* Returns the end of the pipe that is to be read; -1, with errno. */
static int start_program(struct textin *in, int fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    ends[0] = vs_outfile_lift(ends[0]);
    ends[1] = vs_outfile_lift(ends[1]);
    int e = ends[0] < 0 || ends[1] < 0 ? errno : spawn(in, fd, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    if (!e)
        return ends[0];
    if (ends[0] >= 0)
        close(ends[0]);
    errno = e;
    return -1;
}

int textin_open(struct textin *in, const char *path, struct vs_diag *diag)
{
    in->child = 0;
    in->program = NULL;
    in->line = 0;
    in->text = "";
    bool standard = !strcmp(path, "-");
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        fd = vs_outfile_lift(fd);
    vs_infile_init(&in->file, fd);
    if (fd < 0)
        return vs_diag_io(diag, "open", NULL);
    if (!standard && decompressor(fd, &in->program)) {
        int e = vs_diag_io(diag, "cannot read it", NULL);
        vs_infile_close(&in->file);
        return e;
    }
    if (in->program) {
        int end = start_program(in, fd);
        int e = end < 0 ? vs_diag_io(diag, "run", in->program) : 0;
        vs_infile_close(&in->file);
        vs_infile_init(&in->file, end);
        return e;
    }
    return 0;
}

int textin_is_text(struct textin *in, struct vs_diag *diag)
{
    int c = vs_infile_peek(&in->file, diag);
    return c < 0 && c != -VSE_END ? c : c >= '0' && c <= '9';
}

int64_t textin_line(struct textin *in, struct vs_diag *diag)
{
    int64_t n = vs_infile_line(&in->file, diag);
    in->line = in->file.line;
    in->text = n < 0 ? "" : (const char *)in->file.text.data;
    return n;
}

int textin_bytes(struct textin *in, void *bytes, size_t size, struct vs_diag *diag)
{
    int64_t n = vs_infile_bytes(&in->file, bytes, size, diag);
    if (n < 0)
        return (int)n;
    if ((size_t)n == size)
        return 0;
    return n ? vs_diag_set(diag, -VSE_TRUNCATED, -1, -1, "the last descriptor is cut") : -VSE_END;
}

int textin_close(struct textin *in, bool early, struct vs_diag *diag)
{
    int status = 0;
    pid_t got = 0;
    vs_infile_close(&in->file);
    while (in->child && (got = waitpid(in->child, &status, 0)) < 0 && errno == EINTR)
        continue;
    const char *program = in->program;
    in->child = 0;
    in->text = "";
    if (got <= 0 || early || (WIFEXITED(status) && !WEXITSTATUS(status)))
        return 0;
    return vs_diag_set(diag, -VSE_IO, -1, -1, "%s could not decompress it", program);
}
