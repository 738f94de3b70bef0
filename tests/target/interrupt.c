/* SPDX-License-Identifier: MIT */
/* System calls that signals interrupt: one fails, one is made again; and two signals at once.
 * Prints what the calls returned, and the stack pointers of the handlers, the outer first. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static uintptr_t frames[2];
static volatile int depth;

static void note(int number)
{
    (void)number;
    if (depth < 2)
        frames[depth] = (uintptr_t)__builtin_frame_address(0);
    depth++;
}

static void handle(int number, int flags)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void set_timer(long microseconds)
{
    struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void *write_late(void *arg)
{
    struct timespec time = {.tv_nsec = 5000000};
    sigset_t all;
    (void)arg;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    nanosleep(&time, NULL);
    return (void *)(intptr_t)write(ends[1], "x", 1);
}

int main(void)
{
    struct timespec time = {.tv_nsec = 100000000};
    pthread_t other;
    sigset_t both;
    char byte;

    handle(SIGALRM, 0);
    set_timer(500);
    int slept = nanosleep(&time, NULL);
    printf("sleep: %d %d\n", slept, errno == EINTR);

    handle(SIGALRM, SA_RESTART);
    if (pipe(ends))
        return 1;
    pthread_create(&other, NULL, write_late, NULL);
    set_timer(500);
    printf("read: %zd\n", read(ends[0], &byte, 1));
    pthread_join(other, NULL);

    sigemptyset(&both);
    sigaddset(&both, SIGALRM);
    sigaddset(&both, SIGUSR1);
    handle(SIGUSR1, 0);
    depth = 0;
    sigprocmask(SIG_BLOCK, &both, NULL);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGALRM);
    sigprocmask(SIG_UNBLOCK, &both, NULL);
    printf("at once: %d %s\n", depth, frames[0] < frames[1] ? "inner first" : "outer first");
    return 0;
}
