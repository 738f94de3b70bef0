/* SPDX-License-Identifier: MIT */
/* A child of fork that goes on for a while; and a look at what a signal left below the stack. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

/* Reads before it writes: what lies there is what was pushed before, by whomever. */
static uint64_t look_below(void)
{
    uint64_t there[1024], sum = 0;
    const volatile uint64_t *p = there;

    __asm__ volatile("" : "=m"(there));
    for (unsigned i = 0; i < 1024; i++)
        sum ^= p[i];
    return sum;
}

int main(void)
{
    int status = 0;
    pid_t child;

    look_below();
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    uint64_t sum = look_below();
    __asm__ volatile("" : : "r"(sum));
    child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < 1000; i++)
            raise(SIGUSR1);
        _exit(signals == 1001 ? 7 : 1);
    }
    waitpid(child, &status, 0);
    printf("signals %u child %d\n", signals, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
