/* SPDX-License-Identifier: MIT */
/* Timers, nested handlers, alternate stacks, faults that a handler repairs or leaves by a jump. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TICKS = 40, PAGE = 4096 };

static volatile sig_atomic_t ticks, timers, nested, deepest, on_stack, faults, queued;
static char *stack_low, *page;
static sigjmp_buf back;

static void tick(int number)
{
    char here;

    (void)number;
    ticks++;
    on_stack += &here >= stack_low && &here < stack_low + 8 * PAGE;
}

static void timer(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    timers += info->si_code == SI_TIMER && info->si_value.sival_int == 77;
}

/* Raises itself within itself. */
static void nest(int number)
{
    nested++;
    if (nested > deepest)
        deepest = nested;
    if (nested < 6)
        raise(number);
    nested--;
}

static void fault(int number, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;

    (void)number;
    faults++;
    if (c->uc_mcontext.gregs[REG_RIP] == 0)
        abort();
    if ((char *)info->si_addr >= page && (char *)info->si_addr < page + PAGE)
        mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    else
        siglongjmp(back, 1);
}

static void take_value(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    queued += info->si_value.sival_int;
}

static void handle(int number, void *handler, int flags)
{
    struct sigaction a = {.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler,
                          .sa_flags = flags};

    sigemptyset(&a.sa_mask);
    sigaction(number, &a, NULL);
}

static unsigned work(unsigned x)
{
    for (int i = 0; i < 1000; i++)
        x = x * 1664525 + 1013904223;
    return x;
}

static void *victim(void *unused)
{
    struct timespec t = {0, 1000000};

    while (ticks < 2 * TICKS + 1)
        nanosleep(&t, NULL);
    return unused;
}

int main(void)
{
    struct itimerval interval = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec spec = {{0, 1000000}, {0, 1000000}};
    union sigval value = {.sival_int = 5};
    volatile unsigned x = 1;
    pthread_t thread;
    stack_t stack = {.ss_size = 8 * PAGE};
    timer_t id;
    volatile double d = 1;

    stack.ss_sp = stack_low =
        mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, NULL);
    handle(SIGALRM, (void *)tick, SA_ONSTACK | SA_RESTART);
    handle(SIGRTMIN, (void *)timer, SA_SIGINFO);
    handle(SIGUSR1, (void *)nest, SA_NODEFER);
    handle(SIGSEGV, (void *)fault, SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
    handle(SIGFPE, (void *)fault, SA_SIGINFO);
    handle(SIGRTMIN + 1, (void *)take_value, SA_SIGINFO);

    setitimer(ITIMER_REAL, &interval, NULL);
    while (ticks < TICKS) {
        x = work(x);
        d = d * 1.0000001 + 1e-9 * x;
    }
    event.sigev_value.sival_int = 77;
    timer_create(CLOCK_MONOTONIC, &event, &id);
    timer_settime(id, 0, &spec, NULL);
    while (timers < TICKS || ticks < 2 * TICKS)
        x = work(x);
    timer_delete(id);
    setitimer(ITIMER_REAL, &off, NULL);

    raise(SIGUSR1);
    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[100] = 7;
    x += (unsigned char)page[100];
    if (!sigsetjmp(back, 1))
        *(volatile int *)8 = 1;
    if (!sigsetjmp(back, 1))
        x /= (unsigned)(faults - 2);
    for (int i = 0; i < 10; i++)
        sigqueue(getpid(), SIGRTMIN + 1, value);
    pthread_create(&thread, NULL, victim, NULL);
    while (ticks < 2 * TICKS + 1) {
        pthread_kill(thread, SIGALRM);
        x = work(x);
    }
    pthread_join(thread, NULL);
    printf("ticks %d timers %d deepest %d stack %d faults %d queued %d %d\n", ticks >= 2 * TICKS,
           timers >= TICKS, deepest, on_stack >= TICKS, faults, queued, d > 1);
    return 0;
}
