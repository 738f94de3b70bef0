/* SPDX-License-Identifier: MIT */
/* How many files may be open: what the limits are and can be set to, here, in a child and after an
 * exec, and how many then are. Prints the same natively and recorded. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const char *what, const struct rlimit *r)
{
    printf("%s %ld %ld\n", what, (long)r->rlim_cur, (long)r->rlim_max);
    fflush(stdout);
}

static void set(const char *what, rlim_t soft, rlim_t hard)
{
    struct rlimit to = {soft, hard}, old = {7, 7}, now;

    printf("%s: %d\n", what, prlimit(0, RLIMIT_NOFILE, &to, &old) < 0 ? errno : 0);
    getrlimit(RLIMIT_NOFILE, &now);
    show("now", &now);
}

static void count(void)
{
    int n = 0, last = -1, fd;

    while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
        n++;
        last = fd;
    }
    printf("the last is %d: %s\n", last, strerror(errno));
    for (; n; n--)
        close(last--);
}

int main(int argc, char **argv)
{
    struct rlimit start, other;

    getrlimit(RLIMIT_NOFILE, &start);
    show("start", &start);
    syscall(SYS_getrlimit, RLIMIT_NOFILE, &other);
    show("the same", &other);
    (void)!system("ulimit -Sn; ulimit -Hn");
    if (argc > 1)
        return 0;
    set("to the higher", start.rlim_max, start.rlim_max);
    set("lower", 40, start.rlim_max);
    count();
    set("lower for good", 50, 100);
    count();
    set("beyond that", 50, 101);
    set("the wrong way round", 60, 50);
    printf("nowhere: %d\n", syscall(SYS_setrlimit, RLIMIT_NOFILE, 8) < 0 ? errno : 0);
    (void)!system("ulimit -Sn; ulimit -Hn");
    fflush(stdout);
    execl(argv[0], argv[0], "again", NULL);
    return 1;
}
