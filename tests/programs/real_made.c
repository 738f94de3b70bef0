/* SPDX-License-Identifier: MIT */
/* One thread makes routines in memory that had other contents, one after the other, and two others
 * run each of them; now and then an earlier one is made anew. In between, the kernel writes what
 * was read before. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUTINES = 60, SIZE = 64, RUNNERS = 2 };

typedef int routine(void);

static unsigned char *memory;
static pthread_barrier_t before, after;
static long sums[RUNNERS];

/* mov eax, value; jmp to the next; ret */
static void make(int i, int value)
{
    unsigned char *at = memory + i * SIZE;
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    memcpy(at + 5, "\xeb\x00\xc3", 3);
}

static void *run(void *sum)
{
    for (int i = 0; i < ROUTINES; i++) {
        pthread_barrier_wait(&before);
        for (int k = i > 3 ? i - 3 : 0; k <= i; k++)
            *(long *)sum += ((routine *)(void *)(memory + k * SIZE))();
        pthread_barrier_wait(&after);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[RUNNERS];
    memory = mmap(NULL, ROUTINES * SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 0xcc, ROUTINES * SIZE);
    pthread_barrier_init(&before, NULL, RUNNERS + 1);
    pthread_barrier_init(&after, NULL, RUNNERS + 1);
    for (int i = 0; i < RUNNERS; i++)
        pthread_create(&threads[i], NULL, run, &sums[i]);
    for (int i = 0; i < ROUTINES; i++) {
        make(i, 3 * i);
        if (i % 4 == 3)
            make(i - 2, 1000 + i);
        pthread_barrier_wait(&before);
        pthread_barrier_wait(&after);
        struct sigaction old;
        make(i, 5 * i);
        sums[0] += ((routine *)(void *)(memory + i * SIZE))();
        sigaction(SIGUSR1, NULL, &old);
        sums[0] += old.sa_handler != SIG_DFL || sigismember(&old.sa_mask, SIGUSR2);
    }
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", sums[0], sums[1]);
    return 0;
}
