/* SPDX-License-Identifier: MIT */
/* Threads that wait for each other: mutexes, robust ones too, conditions, semaphores, barriers,
 * pipes; and one that is made by clone3. Prints the results. For the simulated machine: its output
 * is compared with qemu's. */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned sum, turn;
static __thread unsigned own = 5;

static void *in_turn(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % THREADS != me)
            pthread_cond_wait(&condition, &mutex);
        sum = sum * 3 + me;
        turn++;
        own++;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&barrier);
    return (void *)(uintptr_t)own;
}

static void turns(void)
{
    pthread_t threads[THREADS];
    void *result;
    unsigned owned = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, in_turn, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        owned += (unsigned)(uintptr_t)result;
    }
    printf("turns %u, sum %u, own %u %u\n", turn, sum, owned, own);
}

static void *die_with_it(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&robust);
    return NULL;
}

static void robustness(void)
{
    pthread_mutexattr_t attr;
    pthread_t other;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_create(&other, NULL, die_with_it, NULL);
    pthread_join(other, NULL);
    int rc = pthread_mutex_lock(&robust);
    printf("its owner is dead: %s\n", strerror(rc));
    printf("consistent %d\n", pthread_mutex_consistent(&robust));
    pthread_mutex_unlock(&robust);
    printf("again %d\n", pthread_mutex_lock(&robust));
}

static void timeouts(void)
{
    sem_t semaphore;
    struct timespec at;
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    sem_init(&semaphore, 0, 1);
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 2000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    printf("sem_wait %d\n", sem_wait(&semaphore));
    int rc = sem_timedwait(&semaphore, &at);
    printf("sem_timedwait %d %s\n", rc, strerror(errno));
    pthread_mutex_lock(&held);
    printf("timedlock: %s\n", strerror(pthread_mutex_timedlock(&held, &at)));
    printf("timedwait: %s\n", strerror(pthread_cond_timedwait(&condition, &held, &at)));
    uint32_t word = 1;
    rc = (int)syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);
    printf("futex: %s\n", strerror(errno));
    struct timespec soon = {0, 1000};
    rc = (int)syscall(SYS_futex, &word, FUTEX_WAIT, 1, &soon);
    printf("futex: %d %s\n", rc, strerror(errno));
    rc = (int)syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, &word,
                      FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 1));
    printf("futex: %d, word %u\n", rc, word);
}

/* ---- pipes ----------------------------------------------------------------------------------- */

static int there[2], back[2];

static void *copy(void *arg)
{
    char bytes[1000];
    ssize_t n;
    (void)arg;
    while ((n = read(there[0], bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < n; i += 100)
            if (write(back[1], bytes + i, (size_t)(n - i < 100 ? n - i : 100)) < 0)
                abort();
    close(back[1]);
    return NULL;
}

static void *feed(void *arg)
{
    static char bytes[300000]; /* more than a pipe holds */
    (void)arg;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 7);
    ssize_t n = write(there[1], bytes, sizeof(bytes));
    close(there[1]);
    return (void *)(intptr_t)n;
}

static void pipes(void)
{
    pthread_t a, b;
    unsigned char bytes[777];
    unsigned total = 0, check = 0;
    ssize_t n;
    void *written;
    if (pipe(there) || pipe(back))
        return;
    pthread_create(&a, NULL, copy, NULL);
    pthread_create(&b, NULL, feed, NULL);
    struct pollfd one = {back[0], POLLIN, 0};
    printf("poll %d\n", poll(&one, 1, -1));
    while ((n = read(back[0], bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < n; i++)
            check = check * 31 + bytes[i], total++;
    pthread_join(a, NULL);
    pthread_join(b, &written);
    printf("piped %u of %ld, check %x\n", total, (long)(intptr_t)written, check);
    signal(SIGPIPE, SIG_IGN);
    close(there[0]);
    if (pipe(there))
        return;
    close(there[0]);
    n = write(there[1], "x", 1);
    printf("broken: %zd %s\n", n, strerror(errno));
}

/* ---- clone3 ---------------------------------------------------------------------------------- */

static uint32_t child_tid;
static volatile uint32_t seen;

/* The child runs on a stack of its own, without a thread of the library: it makes one call. */
static long clone_bare(struct clone_args *args)
{
    register struct clone_args *a0 __asm__("a0") = args;
    register long a1 __asm__("a1") = sizeof(*args);
    register long a7 __asm__("a7") = SYS_clone3;
    __asm__ volatile("ecall\n"
                     "bnez a0, 1f\n"
                     "li t0, 42\n"
                     "sw t0, %[seen]\n"
                     "li a0, 0\n"
                     "li a7, 93\n"
                     "ecall\n"
                     "1:"
                     : "+r"(a0), [seen] "+m"(seen)
                     : "r"(a1), "r"(a7)
                     : "t0", "memory");
    return (long)a0;
}

static void bare(void)
{
    static char stack[8192] __attribute__((aligned(16)));
    uint32_t parent_tid = 0;
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                 CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
        .child_tid = (uintptr_t)&child_tid,
        .parent_tid = (uintptr_t)&parent_tid,
        .stack = (uintptr_t)stack,
        .stack_size = sizeof(stack),
    };
    long tid = clone_bare(&args);
    if (tid == -ENOSYS) {
        printf("clone3 is missing\n");
        return;
    }
    uint32_t left;
    while ((left = __atomic_load_n(&child_tid, __ATOMIC_ACQUIRE)))
        syscall(SYS_futex, &child_tid, FUTEX_WAIT, left, NULL);
    printf("clone3 %d, seen %u\n", tid == parent_tid && tid > getpid(), seen);
}

int main(int argc, char **argv)
{
    (void)argv;
    setvbuf(stdout, NULL, _IOLBF, 0);
    turns();
    robustness();
    timeouts();
    pipes();
    if (argc > 1)
        bare(); /* qemu does not have it */
    return 0;
}
