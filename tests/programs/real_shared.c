/* SPDX-License-Identifier: MIT */
/* Another process writes to memory that this one reads: nothing that can be recorded tells so. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    volatile uint64_t *word =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t sum = 0;

    if (fork() == 0) {
        *word = 42;
        _exit(0);
    }
    wait(NULL);
    for (unsigned i = 0; i < 3000000; i++)
        sum += *word;
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
