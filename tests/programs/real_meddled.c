/* SPDX-License-Identifier: MIT */
/* meddled HOW FILE: another process writes to memory of this one, which never reads it. Prints the
 * address of what was written. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 8, THERE = 5 * PAGE + 100 };

static _Alignas(PAGE) uint8_t own[PAGES * PAGE];

static void write_into(pid_t process, uint8_t *there)
{
    uint64_t value = 42;
    struct iovec from = {&value, sizeof(value)}, to = {there, sizeof(value)};

    process_vm_writev(process, &from, 1, &to, 1, 0);
}

int main(int argc, char **argv)
{
    volatile uint64_t sum = 0;
    uint8_t *memory = own;
    pid_t parent = getpid();
    int fd = argc < 3 ? -1 : open(argv[2], O_RDWR | O_CREAT, 0600), status = 0;

    if (fd < 0 || ftruncate(fd, PAGES * PAGE) < 0)
        return 2;
    if (!strcmp(argv[1], "shared"))
        memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return 3;
    memset(memory, 1, PAGES * PAGE);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (fork() == 0) {
        if (!strcmp(argv[1], "shared"))
            memory[THERE] = 42;
        if (!strcmp(argv[1], "written"))
            write_into(parent, memory + THERE);
        _exit(0);
    }
    wait(&status);
    for (unsigned i = 0; i < 300000; i++)
        sum += i;
    printf("0x%lx 0x%lx\n", (unsigned long)memory, (unsigned long)(memory + THERE) / PAGE * PAGE);
    return status != 0;
}
