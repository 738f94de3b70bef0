/* SPDX-License-Identifier: MIT */
/* Signals: handlers that nest, on their own stack, that leave by a jump, that interrupt calls or
 * restart them, that repair faults; signals that are waited for; timers. Prints the results.
 * For the simulated machine: its output is compared with qemu's. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t count, depth, deepest, last_value, last_code, on_stack;
static char *stack;
static sigjmp_buf jump;

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, NULL);
}

static void on_count(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    count++;
    last_code = info->si_code;
    if (info->si_code == SI_QUEUE || info->si_code == SI_TIMER)
        last_value = info->si_value.sival_int;
}

/* ---- nesting --------------------------------------------------------------------------------- */

static void on_nested(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    if (++depth > deepest)
        deepest = depth;
    if (number == SIGUSR1)
        raise(SIGUSR2);
    if (number == SIGUSR2 && depth < 5)
        raise(SIGUSR2); /* SA_NODEFER: at once */
    depth--;
}

static void nesting(void)
{
    sigset_t set, old, pending;
    handle(SIGUSR1, on_nested, 0);
    handle(SIGUSR2, on_nested, SA_NODEFER);
    raise(SIGUSR1);
    printf("deepest %d\n", deepest);
    handle(SIGUSR2, on_count, SA_RESETHAND);
    raise(SIGUSR2);
    struct sigaction action;
    sigaction(SIGUSR2, NULL, &action);
    printf("reset %d, code %d\n", action.sa_handler == SIG_DFL, last_code);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, &old);
    handle(SIGUSR1, on_count, 0);
    handle(SIGRTMIN, on_count, 0);
    count = 0;
    raise(SIGUSR1);
    raise(SIGUSR1);
    for (int i = 1; i <= 3; i++)
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i * 11});
    sigpending(&pending);
    printf("pending %d %d, count %d\n", sigismember(&pending, SIGUSR1),
           sigismember(&pending, SIGUSR2), count);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("count %d, value %d, code %d\n", count, last_value, last_code);
}

/* ---- stacks and jumps ------------------------------------------------------------------------ */

static void on_alternate(int number, siginfo_t *info, void *context)
{
    char here;
    stack_t now;
    (void)number, (void)info, (void)context;
    sigaltstack(NULL, &now);
    on_stack = &here >= stack && &here < stack + SIGSTKSZ && now.ss_flags == SS_ONSTACK;
    if (number == SIGUSR2)
        siglongjmp(jump, 3);
}

static void stacks(void)
{
    stack_t s = {.ss_sp = stack = malloc(SIGSTKSZ), .ss_size = SIGSTKSZ}, old;
    printf("sigaltstack %d", sigaltstack(&s, &old));
    printf(" %d\n", old.ss_flags == SS_DISABLE);
    handle(SIGUSR1, on_alternate, SA_ONSTACK);
    handle(SIGUSR2, on_alternate, SA_ONSTACK);
    raise(SIGUSR1);
    printf("on it %d\n", on_stack);
    on_stack = 0;
    int from = sigsetjmp(jump, 1);
    if (!from)
        raise(SIGUSR2);
    printf("jumped %d, on it %d\n", from, on_stack);
    from = sigsetjmp(jump, 1);
    if (!from)
        raise(SIGUSR2); /* not blocked: the jump restored the mask */
    printf("jumped %d\n", from);
    s.ss_size = 16;
    printf("too small %d\n", sigaltstack(&s, NULL) ? errno : 0);
    s.ss_flags = SS_DISABLE;
    printf("disabled %d\n", sigaltstack(&s, NULL));
}

/* ---- faults ---------------------------------------------------------------------------------- */

static char *page;

static void on_repair(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    printf("signal %d, code %d, offset %ld, pc %d\n", number, info->si_code,
           number == SIGSEGV ? (long)((char *)info->si_addr - page) : 0L,
           info->si_addr == (void *)u->uc_mcontext.__gregs[REG_PC]);
    if (number == SIGSEGV)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    else
        u->uc_mcontext.__gregs[REG_PC] += 4;
}

static void faults(void)
{
    double kept = 1.5;
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle(SIGSEGV, on_repair, 0);
    handle(SIGILL, on_repair, 0);
    handle(SIGTRAP, on_repair, 0);
    __asm__ volatile("" : "+f"(kept));
    page[100] = 5;
    printf("repaired %d, kept %g\n", page[100], kept);
    __asm__ volatile(".word 0xffffffff");
    __asm__ volatile(".option push\n.option norvc\nebreak\n.option pop");
    printf("went on\n");
}

/* ---- calls that wait ------------------------------------------------------------------------- */

static int fds[2];

static void *disturb(void *main_thread)
{
    struct timespec soon = {0, 20000000};
    nanosleep(&soon, NULL);
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    nanosleep(&soon, NULL);
    if (write(fds[1], "later", 5) != 5)
        abort();
    return NULL;
}

static void waiting(int flags)
{
    pthread_t self = pthread_self(), other;
    char text[8] = {0};
    count = 0;
    handle(SIGUSR1, on_count, flags);
    if (pipe(fds))
        return;
    pthread_create(&other, NULL, disturb, &self);
    ssize_t n = read(fds[0], text, 5);
    printf("read %zd (%s) %s, count %d\n", n, n < 0 ? strerror(errno) : "", text, count);
    pthread_join(other, NULL);
    close(fds[0]);
    close(fds[1]);
}

static void *send_later(void *main_thread)
{
    struct timespec soon = {0, 20000000};
    nanosleep(&soon, NULL);
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    return NULL;
}

static void suspending(void)
{
    pthread_t self = pthread_self(), other;
    sigset_t set, none, old;
    siginfo_t info;
    struct timespec soon = {0, 1000000}, rest = {0}, second = {1, 0};
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    count = 0;
    pthread_create(&other, NULL, send_later, &self);
    int rc = sigsuspend(&none);
    printf("sigsuspend %d %s, count %d\n", rc, strerror(errno), count);
    pthread_join(other, NULL);
    raise(SIGUSR1);
    rc = sigwaitinfo(&set, &info);
    printf("sigwaitinfo %d, code %d\n", rc, info.si_code);
    rc = sigtimedwait(&set, &info, &soon);
    printf("sigtimedwait %d %s\n", rc, strerror(errno));
    pthread_create(&other, NULL, send_later, &self);
    rc = sigwaitinfo(&set, &info);
    printf("sigwaitinfo %d, count %d\n", rc, count);
    pthread_join(other, NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    pthread_create(&other, NULL, send_later, &self);
    rc = nanosleep(&second, &rest);
    printf("nanosleep %d %s, rest %d\n", rc, strerror(errno), rest.tv_sec == 0 && rest.tv_nsec > 0);
    pthread_join(other, NULL);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void timers(void)
{
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
    struct itimerspec once = {.it_value = {0, 2000000}}, left;
    timer_t timer;
    event.sigev_value.sival_int = 77;
    handle(SIGALRM, on_count, SA_RESTART);
    handle(SIGRTMIN + 1, on_count, 0);
    count = 0;
    setitimer(ITIMER_REAL, &often, NULL);
    while (count < 5)
        pause();
    setitimer(ITIMER_REAL, &never, NULL);
    printf("alarms came\n");
    count = 0;
    printf("timer_create %d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
    timer_settime(timer, 0, &once, NULL);
    timer_gettime(timer, &left);
    printf("left %d\n", left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 2000000);
    while (!count)
        pause();
    printf("value %d, code %d, overrun %d\n", last_value, last_code, timer_getoverrun(timer));
    printf("timer_delete %d, again %d\n", timer_delete(timer), timer_delete(timer));
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    nesting();
    stacks();
    faults();
    waiting(0);
    waiting(SA_RESTART);
    suspending();
    timers();
    return 0;
}
