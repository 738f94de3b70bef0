/* SPDX-License-Identifier: MIT */
/* Address space: moved, replaced, protected, dropped and shrunk mappings. Every byte is written and
 * read again, so that a change of content that was not noticed shows. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, SIZE = PAGE * PAGES };

static uint64_t sum;

static void fill(char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i += 8)
        *(volatile uint64_t *)(p + i) = (uint64_t)seed * 0x0101010101010101u + i;
}

static void look(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        sum = sum * 31 + *(const volatile uint64_t *)(p + i);
}

static char *anonymous(void *where, size_t n, int flags)
{
    return mmap(where, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void moves(void)
{
    char *p = anonymous(NULL, SIZE, 0), *q, *target = anonymous(NULL, SIZE, 0);

    fill(p, SIZE, 1);
    look(p, SIZE);
    q = mremap(p, SIZE, 4 * SIZE, MREMAP_MAYMOVE);
    look(q, SIZE);
    look(q + SIZE, SIZE);
    fill(q, 4 * SIZE, 2);
    q = mremap(q, 4 * SIZE, SIZE, 0);
    look(q, SIZE);
    fill(target, SIZE, 3);
    look(target, SIZE);
    p = mremap(q, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    look(p, SIZE);
    munmap(p, SIZE);
    p = anonymous(target, SIZE, MAP_FIXED);
    look(p, SIZE);
    munmap(p, SIZE);
}

static void replacements(int fd)
{
    uint64_t before;
    char *p = anonymous(NULL, SIZE, 0);

    fill(p, SIZE, 4);
    look(p, SIZE);
    anonymous(p + 2 * PAGE, PAGE, MAP_FIXED);
    look(p, SIZE);
    mmap(p + 4 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0);
    look(p, SIZE);
    fill(p + 4 * PAGE, PAGE, 5);
    look(p, SIZE);
    /* back to what the file has */
    madvise(p + 4 * PAGE, 2 * PAGE, MADV_DONTNEED);
    look(p, SIZE);
    madvise(p, 2 * PAGE, MADV_DONTNEED);
    look(p, SIZE);
    fill(p, SIZE, 6);
    madvise(p + 8 * PAGE, 4 * PAGE, MADV_FREE);
    /* may be there, or not */
    before = sum;
    look(p, SIZE);
    sum = before;
    fill(p, SIZE, 7);
    mprotect(p, PAGE, PROT_READ);
    look(p, SIZE);
    mprotect(p, PAGE, PROT_READ | PROT_WRITE);
    fill(p, SIZE, 7);
    look(p, SIZE);
    munmap(p + 3 * PAGE, PAGE);
    look(p, 3 * PAGE);
    look(p + 4 * PAGE, SIZE - 4 * PAGE);
    munmap(p, SIZE);
}

static void break_moves(void)
{
    char *p = sbrk(SIZE);

    fill(p, SIZE, 8);
    look(p, SIZE);
    sbrk(-SIZE / 2);
    look(p, SIZE / 2);
    sbrk(SIZE / 2);
    look(p, SIZE);
    sbrk(-SIZE);
    p = sbrk(SIZE);
    look(p, SIZE);
}

static void grow_stack(int depth)
{
    volatile char room[3 * PAGE];

    room[0] = (char)depth;
    room[sizeof(room) - 1] = room[0];
    if (depth)
        grow_stack(depth - 1);
    sum += (uint64_t)room[0] + (uint64_t)room[sizeof(room) - 1];
}

static void shared_file(int fd)
{
    char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    look(p, PAGE);
    fill(p, PAGE, 9);
    look(p, PAGE);
    msync(p, PAGE, MS_SYNC);
    munmap(p, PAGE);
    p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    look(p, PAGE);
    munmap(p, PAGE);
}

int main(void)
{
    char bytes[2 * PAGE];
    int fd = memfd_create("maps", 0);

    memset(bytes, 'f', sizeof(bytes));
    if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
        return 1;
    moves();
    replacements(fd);
    break_moves();
    grow_stack(100);
    shared_file(fd);
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
