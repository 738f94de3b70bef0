/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

double command_try(const char *const argv[], const char *out)
{
    double start = bench_now();
    pid_t pid = fork();
    int status;

    if (pid < 0)
        bench_fail("fork: %s", strerror(errno));
    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int null = open("/dev/null", O_WRONLY);

        if (fd < 0 || null < 0)
            _exit(126);
        dup2(fd, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            bench_fail("waitpid: %s", strerror(errno));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? bench_now() - start : -1;
}

double command_run(const char *const argv[], const char *out)
{
    double seconds = command_try(argv, out);

    if (seconds < 0)
        bench_fail("%s %s failed", argv[0], argv[1]);
    return seconds;
}

double command_size(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        bench_fail("no %s", path);
    return (double)st.st_size;
}

double command_figure(const char *text, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = strstr(text, quoted);
    if (!at)
        bench_fail("the output has no %s", key);
    return strtod(at + strlen(quoted), NULL);
}

void command_output(const char *path, char *text, size_t capacity)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, capacity - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = 0;
}

void command_build(char *path, size_t capacity)
{
    char self[PATH_MAX] = "";

    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        bench_fail("/proc/self/exe: %s", strerror(errno));
    dirname(self);
    snprintf(path, capacity, "%s", dirname(self));
}
