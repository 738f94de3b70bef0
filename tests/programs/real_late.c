/* SPDX-License-Identifier: MIT */
/* Code that was translated while nothing handled faults is reached again by one that is handled:
 * prints the registers that the handler sees, most of which were set right before the access. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void *page;

static void repair(int number, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)info;
    printf("%d: %llx %llx %llx %llx %llx\n", number, r[REG_RBX], r[REG_RCX], r[REG_R12], r[REG_R13],
           r[REG_R14]);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

/* Registers are set before the access and again after it, so that only a fault shows the first
 * values. */
static uint64_t work(uint64_t n)
{
    uint64_t sum = n;

    __asm__ volatile("mov $0x11, %%rbx\n\t"
                     "mov $0x22, %%rcx\n\t"
                     "lea 0x33(%0), %%r12\n\t"
                     "mov $0x44, %%r13\n\t"
                     "xor %%r14, %%r14\n\t"
                     "add (%1), %0\n\t"
                     "mov $1, %%rbx\n\t"
                     "mov $2, %%rcx\n\t"
                     "mov $3, %%r12\n\t"
                     "mov $4, %%r13\n\t"
                     "mov $5, %%r14\n\t"
                     : "+&r"(sum)
                     : "r"(page)
                     : "rbx", "rcx", "r12", "r13", "r14", "memory", "cc");
    return sum;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    uint64_t sum = 0;

    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < 1000; i++)
        sum += work(i);
    sigaction(SIGSEGV, &action, NULL);
    mprotect(page, PAGE, PROT_NONE);
    sum += work(1000);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
