/* SPDX-License-Identifier: MIT */
/* sharing HOW FILE: maps memory that others may change, or that looks like it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static void fork_once(void)
{
    if (fork() == 0)
        _exit(0);
    wait(NULL);
}

static void *of_none(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int segment(void)
{
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    void *at = shmat(id, NULL, 0);

    shmctl(id, IPC_RMID, NULL);
    return at == (void *)-1;
}

int main(int argc, char **argv)
{
    volatile unsigned sum = 0;
    int fd = argc < 3 ? -1 : open(argv[2], O_RDWR);
    const char *how = argc < 3 ? "" : argv[1];

    if (fd < 0)
        return 2;
    if (!strcmp(how, "file") || !strcmp(how, "late"))
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!strcmp(how, "late")) /* runs that begin later know of it, too */
        for (unsigned i = 0; i < 50000; i++)
            sum += i;
    if (!strcmp(how, "segment") && segment())
        return 3;
    if (!strcmp(how, "read"))
        mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (!strcmp(how, "private"))
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (!strcmp(how, "fork") || !strcmp(how, "alone"))
        of_none();
    if (!strcmp(how, "unmapped"))
        munmap(of_none(), 4096);
    if (!strcmp(how, "fork") || !strcmp(how, "read") || !strcmp(how, "unmapped"))
        fork_once();
    return 0;
}
