/* SPDX-License-Identifier: MIT */
/* noted WHAT: does what only a recorder that notes it lets a replay repeat. What matters is read by
 * instructions, so that a replay that gets it wrong differs. */
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *pages;
static volatile uint64_t seen[8];

/* ---- rep: three pages are protected; a fault comes at the first byte of each of the last two --
 */

static void repair(int number, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)info->si_addr & -(uintptr_t)PAGE;

    (void)number;
    (void)context;
    if (mprotect((char *)page, PAGE, PROT_READ | PROT_WRITE))
        abort();
}

static void repeat(void)
{
    struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    char *to = pages + PAGE - 5;
    uint64_t count = PAGE + 10;

    sigaction(SIGSEGV, &action, NULL);
    if (mprotect(pages + PAGE, 2 * PAGE, PROT_NONE))
        abort();
    __asm__ volatile(".globl noted_rep\nnoted_rep: rep stosb"
                     : "+D"(to), "+c"(count)
                     : "a"('x')
                     : "memory");
    printf("%d %d\n", pages[PAGE], pages[2 * PAGE]);
}

/* ---- requests -----------------------------------------------------------------------------------
 */

#define PREAMBLE "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"

static uint64_t request(uint64_t otherwise, uint64_t code, uint64_t a, const volatile void *b)
{
    volatile uint64_t args[6] = {code, a, (uintptr_t)b};

    __asm__ volatile(PREAMBLE "xchgq %%rbx, %%rbx" : "+d"(otherwise) : "a"(args) : "cc", "memory");
    return otherwise;
}

static void ask(void)
{
    volatile char place[64] = "?";
    uint64_t original = 5;

    seen[5] = request(7, 0x56530001, 0, NULL);           /* vestige_start */
    seen[0] = request(7, 0x1001, 0, NULL);               /* is this Valgrind? */
    seen[1] = request(7, 0x56530002, 0, NULL);           /* vestige_stop */
    seen[2] = request(9, 0x47110815, 0, NULL);           /* what nobody knows */
    seen[3] = request(9, 0x1701, (uintptr_t)ask, place); /* where is that? */
    __asm__ volatile(".globl noted_original\nnoted_original: " PREAMBLE "xchgq %%rcx, %%rcx\n\t"
                     "xorq $3, %%rax"
                     : "+a"(original)
                     :
                     : "cc");
    seen[4] = original;
    printf("%lu %lu %lu %lu %lu %lu %d\n", (unsigned long)seen[5], (unsigned long)seen[0],
           (unsigned long)seen[1], (unsigned long)seen[2], (unsigned long)seen[3],
           (unsigned long)seen[4], place[0]);
}

/* ---- x87, as a new thread finds it
 * --------------------------------------------------------------- */

static void *look(void *none)
{
    uint16_t status;
    uint64_t mm0;

    __asm__ volatile("fnstsw %0\n\tmovq %%mm0, %1" : "=m"(status), "=r"(mm0) : : "memory");
    seen[0] = status & 0x4700;
    seen[1] = mm0;
    return none;
}

/* C3 is set, and a register that is not in use has what is a signalling NaN as a double. */
static void count(void)
{
    const uint64_t nan = 0x7ff0000000000001;
    pthread_t thread;

    __asm__ volatile("movq %0, %%mm0\n\temms\n\tfldz\n\tfcom %%st(0)\n\tfstp %%st(0)" : : "r"(nan));
    if (pthread_create(&thread, NULL, look, NULL) || pthread_join(thread, NULL))
        abort();
    printf("%lx %lx\n", (unsigned long)seen[0], (unsigned long)seen[1]);
}

/* ---- the base of fs
 * ------------------------------------------------------------------------------ */

static void move_base(void)
{
    static char copy[8 * PAGE] __attribute__((aligned(64)));
    char *base, *there = copy + 4 * PAGE;
    uint64_t word;

    __asm__("movq %%fs:0, %0" : "=r"(base)); /* it points to itself */
    memcpy(there, base, 512);
    *(uint64_t *)(void *)there = 0x1234;
    syscall(SYS_arch_prctl, ARCH_SET_FS, there);
    __asm__ volatile("movq %%fs:0, %0" : "=r"(word));
    syscall(SYS_arch_prctl, ARCH_SET_FS, base);
    printf("%lx\n", (unsigned long)word);
}

/* ---- the old system calls
 * ------------------------------------------------------------------------ */

static void call_old(void)
{
    long (*old_time)(long *) = (long (*)(long *))0xffffffffff600400;
    int (*old_day)(struct timeval *, void *) =
        (int (*)(struct timeval *, void *))0xffffffffff600000;
    int (*old_cpu)(unsigned *, unsigned *, void *) =
        (int (*)(unsigned *, unsigned *, void *))0xffffffffff600800;
    struct timeval day;
    unsigned cpu = 0, node = 0;
    long then = 0, now = old_time(&then);

    printf("%d %d %d\n", now == then, old_day(&day, NULL), old_cpu(&cpu, &node, NULL));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } what[] = {
        {"rep", repeat}, {"requests", ask}, {"x87", count}, {"base", move_base}, {"old", call_old},
    };

    pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || argc != 2)
        return 2;
    for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++)
        if (!strcmp(argv[1], what[i].name)) {
            what[i].run();
            return 0;
        }
    return 2;
}
