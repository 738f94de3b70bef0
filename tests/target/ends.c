/* SPDX-License-Identifier: MIT */
/* Ends in the way that its argument names. For the simulated machine. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void ignore(int number)
{
    (void)number;
}

/* Then ends the process, with an argument. */
static void *sleep_on(void *arg)
{
    struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
    if (arg)
        _exit(7);
    return NULL;
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void fault(void)
{
    uintptr_t nowhere = 16;
    __asm__("" : "+r"(nowhere));
    *(volatile int *)nowhere = 1;
}

/* A frame that no stack has room for. */
static void no_stack(void)
{
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGUSR1, &action, NULL);
    __asm__ volatile("li sp, 4096\n"
                     "li a7, 172\n" /* getpid */
                     "ecall\n"
                     "li a1, 10\n"  /* SIGUSR1 */
                     "li a7, 129\n" /* kill */
                     "ecall\n"
                     "unimp");
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t other;
    if (!strcmp(how, "status"))
        exit(300 + 42);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fault"))
        fault();
    if (!strcmp(how, "blocked")) {
        signal(SIGSEGV, ignore);
        block(SIGSEGV);
        fault();
    }
    if (!strcmp(how, "ignored")) {
        signal(SIGSEGV, SIG_IGN);
        fault();
    }
    if (!strcmp(how, "illegal"))
        __asm__ volatile(".word 0xffffffff");
    if (!strcmp(how, "misaligned"))
        __asm__ volatile("addi t0, sp, 2\namoadd.w t1, t1, (t0)" ::: "t0", "t1", "memory");
    if (!strcmp(how, "stack"))
        no_stack();
    if (!strcmp(how, "last")) {
        pthread_create(&other, NULL, sleep_on, NULL);
        syscall(SYS_exit, 9);
    }
    if (!strcmp(how, "other")) {
        pthread_create(&other, NULL, sleep_on, argv);
        pause();
    }
    if (!strcmp(how, "killed")) {
        pthread_create(&other, NULL, sleep_on, NULL);
        raise(SIGKILL);
    }
    if (!strcmp(how, "fork"))
        return fork() < 0 ? 3 : 4;
    if (!strcmp(how, "read")) {
        char bytes[16];
        return (int)read(0, bytes, sizeof(bytes));
    }
    if (!strcmp(how, "wait"))
        for (;;)
            pause();
    return 1;
}
