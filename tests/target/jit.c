/* SPDX-License-Identifier: MIT */
/* Code that is written over while other threads execute it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static uint32_t *code;

/* 0: li t0,1 or, after a change, beqz zero,1 -- 1: addi a0,a0,-1 -- 2: bnez a0,0 -- 3: ret */
enum {
    PLAIN = 0x00100293,
    JUMP = 0x00000263,
    COUNT = (int)0xfff50513,
    LOOP = (int)0xfe051ce3,
    RET = 0x00008067
};

static void execute(long times)
{
    ((long (*)(long))(uintptr_t)code)(times);
}

static void *spin(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++)
        execute(1000);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];

    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    code[0] = PLAIN;
    code[1] = (uint32_t)COUNT;
    code[2] = (uint32_t)LOOP;
    code[3] = RET;
    __asm__ volatile("fence.i" ::: "memory");
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, spin, NULL);
    for (int i = 0; i < 20; i++) {
        code[0] = i % 2 ? PLAIN : JUMP;
        __asm__ volatile("fence.i" ::: "memory");
        execute(50);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
