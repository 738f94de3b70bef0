/* SPDX-License-Identifier: MIT */
/* Control flow that the code does not show: signal handlers and jumps out of many calls at once.
 *
 * A calculator evaluates generated expressions, some of them malformed. Syntax errors leave the
 * recursion by longjmp; division traps, and the handler of SIGFPE leaves by siglongjmp; the results
 * go to a sparse array whose pages appear when the handler of SIGSEGV, on a stack of its own, is
 * asked for them; pages that are closed for good make it siglongjmp instead. In between come
 * queued, blocked and nested signals. All of that is synchronous, hence the same in every run. Two
 * timers also interrupt all of it; what they count is not part of the checksum.
 */
#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/wl.h"
#include "signals_plan.h"

static const struct wl_program program = {
    .name = "signals",
    .about = "signal handlers, timers, setjmp and longjmp, repaired and fatal memory faults",
    .size = "expressions",
    .size_default = 1500,
    .size_min = 1,
    .size_max = 10000000,
    .threads_max = 1,
};

#define BLOCK     65536 /* a multiple of any page size */
#define STRIDE    (BLOCK / SLOTS)
#define ALT_STACK 65536
#define TICK      2000 /* microseconds */

/* What handlers see. There is one process, so there is one of it. */
static struct {
    volatile sig_atomic_t ticks, alarms;
    volatile sig_atomic_t repaired, closed, divisions, nested, queued;
    volatile uint64_t order; /* in which synchronous signals came */
    unsigned char *sparse;
    sigjmp_buf *volatile division, *volatile fault; /* where to go, or NULL */
    timer_t timer;
} shared;

/* ---- handlers -------------------------------------------------------------------------------- */

static void on_alarm(int signal)
{
    (void)signal;
    shared.alarms++;
}

/* One shot at a time: set again from here, so that a slow machine gets on in between. */
static void on_tick(int signal)
{
    const struct itimerspec again = {.it_value = {.tv_nsec = TICK * 1000}};

    (void)signal;
    shared.ticks++;
    timer_settime(shared.timer, 0, &again, NULL);
}

static void give_up(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        _exit(4);
    _exit(3);
}

static void on_division(int signal)
{
    sigjmp_buf *to = shared.division;

    (void)signal;
    if (!to)
        give_up("signals: division by zero\n");
    shared.divisions++;
    siglongjmp(*to, DIVISION);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)shared.sparse;
    size_t block = at / BLOCK;

    (void)signal;
    (void)context;
    if (at >= (uintptr_t)BLOCKS * BLOCK)
        give_up("signals: memory fault\n");
    if (block % 8 == 7) {
        if (!shared.fault)
            give_up("signals: closed page\n");
        shared.closed++;
        siglongjmp(*shared.fault, CLOSED);
    }
    if (mprotect(shared.sparse + block * BLOCK, BLOCK, PROT_READ | PROT_WRITE) != 0)
        give_up("signals: mprotect\n");
    shared.repaired++;
}

/* SIGUSR1 and SIGUSR2 raise each other, each handler inside the one before. */
static void on_nested(int signal)
{
    shared.nested++;
    shared.order = shared.order * 5 + (signal == SIGUSR1 ? 1 : 2);
    if (shared.nested % NEST_DEPTH)
        raise(signal == SIGUSR1 ? SIGUSR2 : SIGUSR1);
    shared.order = shared.order * 5 + (signal == SIGUSR1 ? 3 : 4);
}

static void on_queued(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    shared.queued++;
    shared.order = shared.order * 1000003 + (uint64_t)info->si_value.sival_int;
}

static void must(int result, const char *what)
{
    if (result != 0) {
        perror(what);
        exit(1);
    }
}

static void handle(int signal, int flags, void (*plain)(int),
                   void (*informed)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_flags = flags};

    sigemptyset(&action.sa_mask);
    if (informed) {
        action.sa_sigaction = informed;
        action.sa_flags |= SA_SIGINFO;
    } else {
        action.sa_handler = plain;
    }
    must(sigaction(signal, &action, NULL), "sigaction");
}

static void start_handlers(void *stack)
{
    const stack_t alternate = {.ss_sp = stack, .ss_size = ALT_STACK};

    must(sigaltstack(&alternate, NULL), "sigaltstack");
    handle(SIGFPE, 0, on_division, NULL);
    handle(SIGSEGV, SA_ONSTACK, NULL, on_fault);
    handle(SIGBUS, SA_ONSTACK, NULL, on_fault);
    handle(SIGUSR1, SA_NODEFER, on_nested, NULL);
    handle(SIGUSR2, SA_NODEFER | SA_ONSTACK, on_nested, NULL);
    handle(SIGRTMIN + 1, 0, NULL, on_queued);
    handle(SIGRTMIN + 2, SA_RESTART, on_tick, NULL);
    handle(SIGALRM, SA_RESTART, on_alarm, NULL);
}

/* Faults are fatal again, and the memory of the stack is the caller's. */
static void stop_handlers(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    handle(SIGSEGV, 0, SIG_DFL, NULL);
    handle(SIGBUS, 0, SIG_DFL, NULL);
    handle(SIGFPE, 0, SIG_DFL, NULL);
    must(sigaltstack(&none, NULL), "sigaltstack");
}

static void start_timers(void)
{
    const struct itimerval every = {{.tv_usec = TICK}, {.tv_usec = TICK}};
    const struct itimerspec once = {.it_value = {.tv_nsec = TICK * 1000}};
    struct sigevent event;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 2;
    must(timer_create(CLOCK_MONOTONIC, &event, &shared.timer), "timer_create");
    must(timer_settime(shared.timer, 0, &once, NULL), "timer_settime");
    must(setitimer(ITIMER_REAL, &every, NULL), "setitimer");
}

/* First no more of them are made, then the timer goes that on_tick would set. */
static void stop_timers(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};

    must(setitimer(ITIMER_REAL, &never, NULL), "setitimer");
    handle(SIGRTMIN + 2, 0, SIG_IGN, NULL);
    must(timer_delete(shared.timer), "timer_delete");
}

/* ---- expressions ----------------------------------------------------------------------------- */

struct parser {
    const char *at;
    jmp_buf syntax; /* SYNTAX, OVERFLOW */
};

__attribute__((noreturn)) static void fail(struct parser *p, enum failure why)
{
    longjmp(p->syntax, (int)why);
}

/* Division that traps where the machine's own does not. */
static int64_t divide(int64_t a, int64_t b, bool rest)
{
#if defined(__x86_64__)
    int64_t quotient, remainder;

    __asm__ volatile("cqto\n\tidivq %3" : "=a"(quotient), "=&d"(remainder) : "0"(a), "r"(b) : "cc");
    return rest ? remainder : quotient;
#else
    if (b == 0 || (a == INT64_MIN && b == -1))
        raise(SIGFPE);
    return rest ? a % b : a / b;
#endif
}

static int64_t parse_sum(struct parser *p);

static int64_t parse_value(struct parser *p)
{
    int64_t v = 0;

    if (*p->at == '(') {
        p->at++;
        v = parse_sum(p);
        if (*p->at++ != ')')
            fail(p, SYNTAX);
        return v;
    }
    if (!isdigit((unsigned char)*p->at))
        fail(p, SYNTAX);
    while (isdigit((unsigned char)*p->at))
        v = v * 10 + (*p->at++ - '0');
    return v;
}

static int64_t parse_product(struct parser *p)
{
    int64_t v = parse_value(p);

    for (;;) {
        char op = *p->at;
        int64_t w;

        if (op != '*' && op != '/' && op != '%')
            return v;
        p->at++;
        w = parse_value(p);
        if (op != '*')
            v = divide(v, w, op == '%');
        else if (__builtin_mul_overflow(v, w, &v))
            fail(p, OVERFLOW);
    }
}

static int64_t parse_sum(struct parser *p)
{
    int64_t v = parse_product(p);

    for (;;) {
        char op = *p->at;
        int64_t w;

        if (op != '+' && op != '-')
            return v;
        p->at++;
        w = parse_product(p);
        if (op == '+' ? __builtin_add_overflow(v, w, &v) : __builtin_sub_overflow(v, w, &v))
            fail(p, OVERFLOW);
    }
}

static int64_t parse_all(struct parser *p)
{
    int64_t v = parse_sum(p);

    if (*p->at)
        fail(p, SYNTAX);
    return v;
}

/* Both ways out of a failure: longjmp of the parser, siglongjmp of the handler. Of the two jump
 * buffers only the handler's restores the mask: the handler blocks its signal, the parser none. */
static enum failure calculate(const char *text, int64_t *value)
{
    struct parser p = {.at = text};
    sigjmp_buf division;
    int why = sigsetjmp(division, 1);

    if (why == 0) {
        shared.division = &division;
        why = setjmp(p.syntax);
        if (why == 0)
            *value = parse_all(&p);
    }
    shared.division = NULL;
    return (enum failure)why;
}

/* ---- the sparse array ------------------------------------------------------------------------ */

static volatile uint64_t *sparse_word(size_t block, size_t slot)
{
    return (volatile uint64_t *)(void *)(shared.sparse + block * BLOCK + slot * STRIDE);
}

static enum failure sparse_add(size_t block, size_t slot, uint64_t value, uint64_t *now)
{
    sigjmp_buf fault;
    int why = sigsetjmp(fault, 1);

    if (why == 0) {
        shared.fault = &fault;
        *sparse_word(block, slot) += value;
        *now = *sparse_word(block, slot);
    }
    shared.fault = NULL;
    return (enum failure)why;
}

/* ---- signals sent to oneself ----------------------------------------------------------------- */

/* Blocked while they are sent; those of one number come in the order sent when the mask opens. */
static void send_queued(uint64_t value)
{
    union sigval payload;
    sigset_t mask, before, pending;

    sigemptyset(&mask);
    sigaddset(&mask, SIGRTMIN + 1);
    must(sigprocmask(SIG_BLOCK, &mask, &before), "sigprocmask");
    for (unsigned i = 0; i < QUEUED; i++) {
        payload.sival_int = (int)(value >> (8 * i) & 0xff);
        must(sigqueue(getpid(), SIGRTMIN + 1, payload), "sigqueue");
    }
    must(sigpending(&pending), "sigpending");
    shared.order += (uint64_t)sigismember(&pending, SIGRTMIN + 1);
    must(sigprocmask(SIG_SETMASK, &before, NULL), "sigprocmask");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint64_t run_turn(const struct turn *t, uint64_t sum)
{
    uint64_t now = 0;
    int64_t value = 0;
    enum failure why = calculate(t->expression.text, &value);

    sum = wl_sum(wl_sum(sum, why), (uint64_t)value);
    why = sparse_add(t->block, t->slot, (uint64_t)value, &now);
    sum = wl_sum(wl_sum(sum, why), now);
    if (t->close < BLOCKS)
        must(mprotect(shared.sparse + t->close * BLOCK, BLOCK, PROT_NONE), "mprotect");
    if (t->nested)
        raise(t->nested);
    if (t->queued)
        send_queued((uint64_t)value);
    return sum;
}

static uint64_t run(const struct wl_args *a)
{
    struct wl_rng rng = wl_rng(a->seed, 0);
    struct turn t;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < a->size; i++) {
        plan(&t, &rng, i);
        sum = run_turn(&t, sum);
    }
    sum = wl_sum(wl_sum(sum, (uint64_t)shared.repaired), (uint64_t)shared.closed);
    sum = wl_sum(wl_sum(sum, (uint64_t)shared.divisions), (uint64_t)shared.nested);
    return wl_sum(wl_sum(sum, (uint64_t)shared.queued), shared.order);
}

/* Both timers came at least once, if need be after a wait of seconds. */
static bool timers_ran(void)
{
    const struct timespec moment = {.tv_nsec = 5000000};

    for (int i = 0; i < 2000 && !(shared.ticks && shared.alarms); i++)
        nanosleep(&moment, NULL);
    return shared.ticks && shared.alarms;
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    void *stack = wl_alloc(ALT_STACK);
    uint64_t sum;
    bool passed = true;

    shared.sparse = mmap(NULL, (size_t)BLOCKS * BLOCK, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(shared.sparse == MAP_FAILED, "mmap");
    start_handlers(stack);
    start_timers();
    sum = run(&a);
    if (a.check)
        passed = timers_ran() && sum == model_run(&a);
    stop_timers();
    stop_handlers();
    free(stack);
    return wl_finish(&program, &a, sum, passed);
}
