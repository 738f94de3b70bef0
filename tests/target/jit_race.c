/* SPDX-License-Identifier: MIT */
/* One thread writes a function anew again and again, which others call: what they get, and with it
 * the program's output, is that of the version that each call fetched. The first argument says how:
 * "race" (the default) does not wait for anybody, "turns" waits until the others
 * have called each version, "fresh" takes a new place for each version, which it wipes afterwards,
 * "file" begins with what the program's file has, "both" has two writers that take turns,
 * "storm" stores the versions one right after the other, and "clash" has two writers that do so at
 * once. A second argument leaves out fence.i, which the last two never have. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { VERSIONS = 60, STORM = 2000, CALLERS = 3, SPACE = 16384 };

/* li a0, 1; ret: a page of its own */
static uint32_t in_file[1024] __attribute__((aligned(4096))) = {0x00100513, 0x8067};

static uint32_t *code;            /* what is called */
static volatile unsigned version; /* the last that was written */
static volatile unsigned seen[CALLERS];
static uint64_t sums[CALLERS], counts[CALLERS];
static int fences = 1, turns;
static long last = VERSIONS; /* version */

static long call(void)
{
    return ((long (*)(void))(uintptr_t)__atomic_load_n(&code, __ATOMIC_RELAXED))();
}

/* Gives the core to another thread, of which there may be more than cores. */
static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

/* li a0, n */
static uint32_t loads(unsigned n)
{
    return n << 20 | 10u << 7 | 0x13;
}

/* li a0, n; ret */
static void write_version(uint32_t *at, unsigned n)
{
    at[0] = loads(n);
    at[1] = 0x8067;
    if (fences && n % 2)
        __asm__ volatile("fence.i" ::: "memory");
    else if (fences)
        __builtin___clear_cache((char *)at, (char *)(at + 2));
}

static void *call_it(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    uint64_t sum = 0, count = 0;
    long n;
    do {
        n = call();
        sum = sum * 31 + (uint64_t)n;
        if (++count % 64 == 0)
            rest();
        seen[me] = (unsigned)n;
    } while (n < last);
    sums[me] = sum;
    counts[me] = count;
    return NULL;
}

static void wait_for_callers(unsigned n)
{
    for (unsigned i = 0; i < CALLERS; i++)
        while (seen[i] < n)
            rest();
}

static void write_storm(unsigned from, unsigned step)
{
    volatile uint32_t *at = code;
    wait_for_callers(1);
    for (unsigned n = from; n < STORM; n += step)
        *at = loads(n);
}

static void *clash(void *arg)
{
    (void)arg;
    write_storm(3, 2);
    return NULL;
}

static void *write_odd(void *arg)
{
    (void)arg;
    for (unsigned n = 3; n <= VERSIONS; n += 2) {
        while (version != n - 1)
            rest();
        write_version(code, n);
        version = n;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "race";
    int fresh = !strcmp(how, "fresh"), both = !strcmp(how, "both");
    int two = !strcmp(how, "clash"), storm = two || !strcmp(how, "storm");
    pthread_t threads[CALLERS], odd;
    uint32_t *space =
        mmap(NULL, SPACE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    turns = !strcmp(how, "turns");
    fences = argc <= 2;
    last = storm ? STORM : VERSIONS;
    code = space;
    if (!strcmp(how, "file")) {
        code = in_file;
        mprotect(code, sizeof(in_file), PROT_READ | PROT_WRITE | PROT_EXEC);
    } else {
        write_version(code, 1);
    }
    version = 1;
    for (uintptr_t i = 0; i < CALLERS; i++)
        pthread_create(&threads[i], NULL, call_it, (void *)i);
    if (both || two)
        pthread_create(&odd, NULL, both ? write_odd : clash, NULL);
    if (storm)
        write_storm(2, two ? 2 : 1);
    if (two)
        pthread_join(odd, NULL);
    if (storm)
        code[0] = loads(STORM);
    for (unsigned n = 2; n <= VERSIONS && !storm; n++) {
        if (turns || fresh)
            wait_for_callers(n - 1);
        if (both && n % 2)
            continue;
        while (both && version != n - 1)
            rest();
        uint32_t *before = code, *at = fresh ? before + 10 : before;
        write_version(at, n);
        __atomic_store_n(&code, at, __ATOMIC_RELEASE);
        version = n;
        if (fresh) {
            wait_for_callers(n);
            write_version(before, 2047);
        }
    }
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    if (both)
        pthread_join(odd, NULL);
    for (unsigned i = 0; i < CALLERS; i++)
        printf("%d: %llu calls, %016llx\n", i, (unsigned long long)counts[i],
               (unsigned long long)sums[i]);
    return 0;
}
