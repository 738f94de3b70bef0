/* SPDX-License-Identifier: MIT */
/* Takes as many random numbers as the first argument says. Each is of 64 bits, for which Valgrind
 * asks twice, unless the second argument wants the first number of 32 bits. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    long count = argc > 1 ? atol(argv[1]) : 1;
    if (argc > 2) {
        uint32_t half;
        __asm__ volatile("rdrand %0" : "=r"(half) : : "cc");
        sum += half;
    }
    for (long i = 0; i < count; i++) {
        uint64_t whole;
        __asm__ volatile("rdrand %0" : "=r"(whole) : : "cc");
        sum += whole;
    }
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
