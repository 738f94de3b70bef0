/* SPDX-License-Identifier: MIT */
/* Loads two libraries in turn, into the same place, and calls a routine of each: real_dl LIB1 LIB2
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *first = NULL;
    long sum = 0;

    for (int round = 0; round < 6; round++) {
        void *lib = dlopen(argv[1 + round % (argc - 1)], RTLD_NOW);
        int (*twist)(int) = lib ? (int (*)(int))dlsym(lib, "twist") : NULL;

        if (!twist)
            return 1;
        if (round == 1)
            printf("%s place\n", first == (void *)twist ? "the same" : "another");
        first = (void *)twist;
        for (int i = 0; i < 100; i++)
            sum += twist(i);
        dlclose(lib);
    }
    printf("%ld\n", sum);
    return 0;
}
