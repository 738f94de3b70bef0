/* SPDX-License-Identifier: MIT */
/* crashes N HOW: computes for about 11 N instructions, and then crashes, aborts, or exits with a
 * status. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long table[4096];

static __attribute__((noinline, noclone)) long mix(long n)
{
    long sum = 0;

    for (long i = 0; i < n; i++) {
        sum = sum * 31 + i;
        table[sum & 4095] += sum;
    }
    return sum;
}

static __attribute__((noinline, noclone)) void finish(const char *how, volatile long *where)
{
    if (!strcmp(how, "crash"))
        *where = table[7];
    if (!strcmp(how, "abort"))
        abort();
    _exit(atoi(how));
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    table[7] = mix(atol(argv[1]));
    finish(argv[2], NULL);
}
