/* SPDX-License-Identifier: MIT */
/* Mappings: what may be accessed after each change, and what lies there. Prints the results.
 * For the simulated machine: its output is compared with qemu's, unless there is an argument. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static sigjmp_buf fault;
static volatile sig_atomic_t code;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    code = info->si_code;
    siglongjmp(fault, 1);
}

/* 'r', 'w', or the code of the fault. */
static void probe(const char *what, volatile char *at)
{
    printf("%s:", what);
    if (sigsetjmp(fault, 1))
        printf(" no read (%d)", code);
    else
        printf(" read %d", *at);
    if (sigsetjmp(fault, 1))
        printf(" no write (%d)", code);
    else {
        *at = *at;
        printf(" written");
    }
    printf("\n");
}

static void show(const char *what, const void *result)
{
    if (result == MAP_FAILED)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: done\n", what);
}

static void show_int(const char *what, int result)
{
    printf("%s: %s\n", what, result ? strerror(errno) : "done");
}

static char *map(void *at, size_t pages, int protection, int flags)
{
    return mmap(at, pages * PAGE, protection, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void anonymous(void)
{
    char *a = map(NULL, 4, PROT_READ | PROT_WRITE, 0);
    show("map", a);
    memset(a, 7, 4 * PAGE);
    probe("first", a);
    show_int("unmap the second", munmap(a + PAGE, PAGE));
    probe("second", a + PAGE);
    probe("third", a + 2 * PAGE);
    show("second again", map(a + PAGE, 1, PROT_READ, MAP_FIXED));
    probe("second", a + PAGE);
    show_int("protect three", mprotect(a, 3 * PAGE, PROT_NONE));
    probe("first", a);
    probe("last", a + 3 * PAGE);
    show_int("protect again", mprotect(a, PAGE, PROT_READ | PROT_WRITE));
    probe("first", a);
    show_int("protect what is not", mprotect(a, 4000 * PAGE, PROT_READ) && errno == ENOMEM ? 0 : 1);
    show_int("unaligned", munmap(a + 1, PAGE));
    show("nothing", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    show("without a file", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0));
    show("large", map(NULL, 1 << 20, PROT_NONE, MAP_NORESERVE)); /* 4 GiB */
}

/* What qemu 7.2 has no idea of, or hangs at. */
static void special(void)
{
    char *a = map(NULL, 2, PROT_READ | PROT_WRITE, 0);
    memset(a, 7, 2 * PAGE);
    show("no replacing", map(a + PAGE, 1, PROT_READ, MAP_FIXED_NOREPLACE));
    show_int("dontneed", madvise(a, PAGE, MADV_DONTNEED));
    probe("first", a);
    probe("second", a + PAGE);
    show("too much", mmap(NULL, SIZE_MAX / 2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void moving(void)
{
    char *a = map(NULL, 8, PROT_READ | PROT_WRITE, 0), *b;
    strcpy(a, "moved");
    a[3 * PAGE] = 3;
    munmap(a + 4 * PAGE, 4 * PAGE);
    show("shrink", b = mremap(a, 4 * PAGE, 2 * PAGE, 0));
    probe("gone", a + 3 * PAGE);
    show("grow", b = mremap(a, 2 * PAGE, 4 * PAGE, 0));
    probe("new", b + 3 * PAGE);
    map(a + 4 * PAGE, 1, PROT_READ, MAP_FIXED);
    show("grow in place", mremap(a, 4 * PAGE, 8 * PAGE, 0));
    show("move", b = mremap(a, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE));
    printf("%s %d\n", b, b != a);
    probe("before", a);
    char *c = map(NULL, 8, PROT_READ, 0);
    show("to a place", mremap(b, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, c));
    printf("%s\n", c);
    probe("writable", c);
}

static void files(void)
{
    FILE *f = tmpfile();
    char text[PAGE + 10];
    memset(text, 'x', sizeof(text));
    fwrite(text, 1, sizeof(text), f);
    fflush(f);
    char *a = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(f), 0);
    show("file", a);
    printf("%d %d %d\n", a[0], a[PAGE + 9], a[PAGE + 10]);
    a[0] = 'y';
    show_int("private", pread(fileno(f), text, 1, 0) == 1 && text[0] == 'x' ? 0 : 1);
    char *b = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(f), PAGE);
    show("second page", b);
    printf("%d %d\n", b[0], b[20]);
    show("odd offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fileno(f), 5));
    fclose(f);
}

static void heap(void)
{
    char *start = sbrk(0), *a = sbrk(3 * PAGE);
    printf("brk %d\n", a == start);
    memset(a, 1, 3 * PAGE);
    sbrk(-3 * PAGE);
    a = sbrk(PAGE);
    printf("brk %d, zero %d\n", a == start, a[PAGE - 1]);
    for (int i = 0; i < 64; i++)
        free(calloc(1, (size_t)1 << (i % 22)));
}

/* Code that is written, executed, and changed. */
static void code_changes(void)
{
    uint32_t *a = (void *)map(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
    int (*call)(void) = (int (*)(void))(uintptr_t)a;
    for (unsigned i = 1; i < 4; i++) {
        a[0] = i << 20 | 10u << 7 | 0x13; /* li a0, i */
        a[1] = 0x8067;                    /* ret */
        __builtin___clear_cache((char *)a, (char *)(a + 2));
        printf("%d ", call());
    }
    mprotect(a, PAGE, PROT_READ);
    if (sigsetjmp(fault, 1))
        printf("not executed (%d)\n", code);
    else
        printf("executed %d\n", call());
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigaction(SIGSEGV, &action, NULL);
    anonymous();
    moving();
    files();
    heap();
    code_changes();
    (void)argv;
    if (argc > 1)
        special();
    return 0;
}
