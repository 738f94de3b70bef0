/* SPDX-License-Identifier: MIT */
/* Marks what is to be recorded of it, in one thread or several: real_marks [THREADS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "vestige/mark.h"

enum { COUNT = 1000 };

static int table[COUNT];

__attribute__((noinline)) static int marked(int seed)
{
    for (int i = 0; i < COUNT; i++)
        table[i] = seed * i;
    return table[COUNT - 1];
}

__attribute__((noinline)) static int unmarked(void)
{
    int sum = 0;

    for (int i = 0; i < COUNT; i++)
        sum += table[i] & 7;
    return sum;
}

static void *work(void *arg)
{
    return (void *)(long)unmarked() + (arg != NULL);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t threads[8];
    long sum = 0;

    for (int round = 1; round <= 3; round++) {
        vestige_start();
        for (int i = 0; i < n && i < 8; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        sum += marked(round);
        for (int i = 0; i < n && i < 8; i++)
            pthread_join(threads[i], NULL);
        vestige_stop();
        sum += unmarked();
    }
    printf("%ld\n", sum);
    return 0;
}
