/* SPDX-License-Identifier: MIT */
/* How real_kernel.c makes a call: the arena is written before it and read as a whole after it. */
#ifndef REAL_KERNEL_H
#define REAL_KERNEL_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Eight places for buffers, each with room around it. */
enum { PLACES = 8, PLACE = 4096, GUARD = 64, ROOM = PLACE - 2 * GUARD };

static _Alignas(4096) uint64_t arena[PLACES * PLACE / 8];
static uint64_t sum;
static unsigned made, failed, refused, salt;
static int verbose;
static char *page; /* see edge */

static void *at(int place)
{
    return (char *)arena + place * PLACE + GUARD;
}

static int *ints(int place)
{
    return at(place);
}

static long *longs(int place)
{
    return at(place);
}

static char *text(int place)
{
    return at(place);
}

static void fill(void *to, size_t bytes)
{
    volatile uint64_t *word = to;

    salt++;
    for (size_t i = 0; i < bytes / 8; i++)
        word[i] = (i + salt) * 0x9e3779b97f4a7c15;
}

static void look(const void *from, size_t bytes)
{
    const volatile uint64_t *word = from;

    for (size_t i = 0; i < bytes / 8; i++)
        sum = sum * 31 + word[i];
}

static const char *current;

static void begin(const char *name)
{
    current = name;
    fill(arena, sizeof(arena));
    errno = 0;
}

static void end(long result)
{
    int error = errno;

    look(arena, sizeof(arena));
    if (page)
        look(page, 4096);
    made++;
    if (result == -1) {
        failed++;
        refused += error == ENOSYS || error == EPERM || error == EACCES || error == EOPNOTSUPP;
    }
    if (verbose)
        fprintf(stderr, "%u %s: %ld%s%s\n", made, current, result, result == -1 ? " " : "",
                result == -1 ? strerror(error) : "");
}

/* A call, with what prepares it; r is its result. */
#define TRY(name, ...)                                                                             \
    do {                                                                                           \
        long r = 0;                                                                                \
        begin(name);                                                                               \
        __VA_ARGS__;                                                                               \
        end(r);                                                                                    \
    } while (0)

/* A call with nothing to prepare. */
#define CALL(name, ...) TRY(name, r = (long)(__VA_ARGS__))

static char temporary[] = "/tmp/real_kernelXXXXXX";
static char *missing = "/nowhere/at/all";

/* The last `bytes` bytes before a page that cannot be used. */
static char *edge(size_t bytes)
{
    if (!page) {
        page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(page + 4096, 4096, PROT_NONE);
    }
    fill(page, 4096);
    return page + 4096 - bytes;
}

#endif
