/* SPDX-License-Identifier: MIT */
/* fork in a program with threads, vfork, posix_spawn, and pipes from the children. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static atomic_bool stop;

static void *spin(void *arg)
{
    unsigned *n = arg;

    while (!stop) {
        n[0] = n[0] * 5 + 1;
        if (n[0] % 64 < 4)
            usleep(1000);
    }
    return NULL;
}

static int status_of(pid_t child)
{
    int status = -1;

    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void *nothing(void *arg)
{
    return arg;
}

int main(void)
{
    char *echo[] = {"sh", "-c", "echo spawned; exit 5", NULL}, text[64] = "";
    unsigned numbers[2][16] = {{1}, {2}};
    pthread_t t[2], extra;
    int ends[2];
    pid_t child;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, spin, numbers[i]);
    for (int i = 0; i < 5; i++) {
        child = fork();
        if (child == 0) {
            /* The child has a life of its own, with threads. */
            pthread_create(&extra, NULL, nothing, NULL);
            pthread_join(extra, NULL);
            _exit(10 + i);
        }
        printf("child %d ended with %d\n", i, status_of(child));
    }
    if (pipe(ends))
        return 1;
    child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        execlp("sh", "sh", "-c", "echo from a pipe", NULL);
        _exit(127);
    }
    close(ends[1]);
    if (read(ends[0], text, sizeof(text) - 1) > 0)
        printf("got: %s", text);
    printf("reader %d\n", status_of(child));
    child = vfork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "echo vfork; exit 4", NULL);
        _exit(127);
    }
    printf("vfork %d\n", status_of(child));
    if (posix_spawnp(&child, "sh", NULL, NULL, echo, environ) == 0)
        printf("spawn %d\n", status_of(child));
    child = fork();
    if (child == 0)
        abort();
    printf("abort %d\n", status_of(child));
    printf("system %d\n", WEXITSTATUS(system("exit 3")));
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
