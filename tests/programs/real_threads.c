/* SPDX-License-Identifier: MIT */
/* Threads that are made, joined, detached, cancelled, and die with locks. The main thread may end
 * before the others. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 40, GROUP = 4, DETACHED = 30 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust, inherits;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_key_t key;
static unsigned long total;
static atomic_int detached, destroyed;
static sem_t ready;
static __thread int mine;

static void destroy(void *p)
{
    destroyed++;
    free(p);
}

static void *count(void *arg)
{
    long n = (long)arg;

    pthread_setspecific(key, malloc(16));
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&lock);
        total += (unsigned long)i;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        mine++;
    }
    pthread_barrier_wait(&barrier);
    return (void *)(long)mine;
}

static void *leave(void *arg)
{
    detached++;
    return arg;
}

static void *hold(void *arg)
{
    pthread_mutex_lock(&robust);
    sem_post(&ready);
    return arg;
}

static void *wait_forever(void *arg)
{
    sem_post(&ready);
    for (;;)
        pause();
    return arg;
}

static void *inherit(void *arg)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&inherits);
        total++;
        pthread_mutex_unlock(&inherits);
    }
    return arg;
}

static void groups(void)
{
    pthread_t t[GROUP];
    unsigned long sum = 0;
    void *result;

    pthread_barrier_init(&barrier, NULL, GROUP);
    pthread_key_create(&key, destroy);
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < GROUP; i++)
            pthread_create(&t[i], NULL, count, (void *)20l);
        for (int i = 0; i < GROUP; i++) {
            pthread_join(t[i], &result);
            sum += (unsigned long)result;
        }
    }
    printf("joined %lu total %lu destroyed %d\n", sum, total, destroyed);
}

static void strays(void)
{
    pthread_attr_t attr;
    pthread_t t;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < DETACHED; i++)
        if (pthread_create(&t, &attr, leave, NULL))
            detached++;
    while (detached < DETACHED)
        usleep(1000);
    printf("detached %d\n", detached);
}

static void dead_owner(void)
{
    pthread_mutexattr_t attr;
    pthread_t t;
    int e;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_create(&t, NULL, hold, NULL);
    sem_wait(&ready);
    e = pthread_mutex_lock(&robust);
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    pthread_join(t, NULL);
    printf("owner died %d\n", e == EOWNERDEAD);
}

static void cancelled(void)
{
    pthread_t t;
    void *result;

    pthread_create(&t, NULL, wait_forever, NULL);
    sem_wait(&ready);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

static void priorities(void)
{
    pthread_mutexattr_t attr;
    pthread_t t;

    total = 0;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherits, &attr);
    pthread_create(&t, NULL, inherit, NULL);
    pthread_join(t, NULL);
    inherit(NULL);
    printf("inherited %lu\n", total);
}

static void *last(void *arg)
{
    usleep(10000);
    puts("the last thread ends the program");
    exit((int)(long)arg);
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    groups();
    strays();
    dead_owner();
    cancelled();
    priorities();
    fflush(stdout);
    pthread_create(&t, NULL, last, (void *)7l);
    pthread_exit(NULL);
}
