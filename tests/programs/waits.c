/* SPDX-License-Identifier: MIT */
/* waits READY STOP: makes the file READY, and then computes and looks for the file STOP until it is
 * there. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    volatile unsigned long sum = 0;

    if (argc < 3 || close(open(argv[1], O_CREAT | O_WRONLY, 0600)))
        return 2;
    while (access(argv[2], F_OK))
        for (unsigned i = 0; i < 100; i++)
            sum += i;
    return 0;
}
