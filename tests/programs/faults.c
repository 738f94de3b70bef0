/* SPDX-License-Identifier: MIT */
/* Faults in the midst of blocks and of repeated instructions, repaired by a handler; a trap; an
 * undefined instruction; signals between repetitions. Prints what it counted. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { PAGE = 4096 };

static char *pages;
static volatile unsigned faults, traps, illegal, divisions, alarms;

static void on_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    uintptr_t page = (uintptr_t)info->si_addr & -(uintptr_t)PAGE;

    switch (number) {
    case SIGSEGV:
        faults++;
        if (mprotect((char *)page, PAGE, PROT_READ | PROT_WRITE))
            abort();
        break;
    case SIGTRAP:
        traps++;
        break;
    case SIGILL:
        illegal++;
        u->uc_mcontext.gregs[REG_RIP] += 2;
        break;
    case SIGFPE:
        divisions++;
        u->uc_mcontext.gregs[REG_RCX] = 1;
        break;
    default:
        alarms++;
    }
}

static void protect(void)
{
    if (mprotect(pages, 4 * PAGE, PROT_NONE))
        abort();
}

static void handle(int number)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaction(number, &action, NULL);
}

static void repeat(void)
{
    void *to = pages + PAGE - 5;
    unsigned long count = 2 * PAGE;

    protect();
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");
    protect();
    to = pages + PAGE - 4;
    const void *from = pages + 2 * PAGE - 4;
    count = 3;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

/* A signal at almost any iteration. */
static void interrupted(void)
{
    struct itimerval soon = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &soon, NULL);
    while (alarms < 20) {
        void *to = pages;
        unsigned long count = 2 * PAGE;

        __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(9) : "memory");
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

int main(void)
{
    static const int numbers[] = {SIGSEGV, SIGTRAP, SIGILL, SIGFPE, SIGALRM};
    uint64_t quotient = 12, rest = 0;

    pages = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        handle(numbers[i]);
    repeat();
    protect();
    /* Not `pop` into such memory: when Valgrind begins that anew, the stack pointer has moved. */
    __asm__ volatile("sub $128, %%rsp\n push %0\n pop %%rax\n add $128, %%rsp"
                     :
                     : "m"(pages[8])
                     : "rax", "memory");
    protect();
    __asm__ volatile("lock incl %0\n addl $2, 4(%1)" : "+m"(pages[16]) : "r"(pages + 2 * PAGE));
    __asm__ volatile("int3\n ud2");
    __asm__ volatile("div %2" : "+a"(quotient), "+d"(rest) : "c"(0ul) : "cc");
    mprotect(pages, 4 * PAGE, PROT_READ | PROT_WRITE);
    interrupted();
    printf("faults %u traps %u illegal %u divisions %u\n", faults, traps, illegal, divisions);
    return 0;
}
