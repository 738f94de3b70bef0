/* SPDX-License-Identifier: MIT */
/* Ways for a program to end, and to be unkind to its descriptors and limits. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *leave(void *arg)
{
    exit((int)(long)arg);
}

static void *leave_quietly(void *arg)
{
    syscall(SYS_exit_group, (int)(long)arg);
    return NULL;
}

static void *spin(void *arg)
{
    volatile unsigned *x = arg;

    for (;;)
        *x = *x * 3 + 1;
    return NULL;
}

static void in_thread(void *(*routine)(void *), void *arg)
{
    pthread_t t;

    pthread_create(&t, NULL, routine, arg);
    pthread_join(t, NULL);
}

static int limits(void)
{
    struct rlimit few = {20, 20}, small = {1 << 20, 1 << 20}, no = {0, 0};
    FILE *f;

    setrlimit(RLIMIT_NOFILE, &few);
    setrlimit(RLIMIT_FSIZE, &small);
    setrlimit(RLIMIT_CORE, &no);
    f = fopen("/proc/self/limits", "r");
    puts(f ? "opened" : strerror(errno));
    return 9;
}

static int close_all(void)
{
    for (int fd = 3; fd < 70000; fd++)
        close(fd);
    closefrom(3);
    puts("closed");
    fflush(stdout);
    close(0);
    close(1);
    close(2);
    return open("/dev/null", 0) == 0 ? 8 : 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    static unsigned x;

    if (!strcmp(how, "deaf")) {
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
    }
    puts(how); /* who waits for it may send signals now */
    fflush(stdout);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        *(volatile int *)16 = 1;
    if (!strcmp(how, "term") || !strcmp(how, "kill"))
        kill(getpid(), how[0] == 't' ? SIGTERM : SIGKILL);
    if (!strcmp(how, "fpe"))
        return argc / (int)x;
    if (!strcmp(how, "ill"))
        __builtin_trap();
    if (!strcmp(how, "_exit"))
        _exit(42);
    if (!strcmp(how, "thread"))
        in_thread(leave, (void *)43l);
    if (!strcmp(how, "group"))
        in_thread(leave_quietly, (void *)44l);
    if (!strcmp(how, "loop") || !strcmp(how, "deaf"))
        spin(&x);
    if (!strcmp(how, "loops"))
        in_thread(spin, &x);
    if (!strcmp(how, "limits"))
        return limits();
    if (!strcmp(how, "close"))
        return close_all();
    return 0;
}
