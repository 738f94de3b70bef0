/* SPDX-License-Identifier: MIT */
/* Code that is written, run, rewritten and run again; once in place, once by another mapping. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int routine(void);

/* mov eax, value; ret */
static void make(unsigned char *at, int value)
{
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xc3;
}

int main(void)
{
    unsigned char *p =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;

    for (int i = 0; i < 50; i++) {
        make(p, i);
        make(p + 64, 1000 * i);
        for (int k = 0; k < 20; k++)
            sum += ((routine *)(void *)p)() + ((routine *)(void *)(p + 64))();
    }
    for (int i = 0; i < 10; i++) {
        munmap(p, 8192);
        p = mmap(p, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        make(p, 7 * i);
        mprotect(p, 8192, PROT_READ | PROT_EXEC);
        sum += ((routine *)(void *)p)();
    }
    printf("%ld\n", sum);
    return 0;
}
