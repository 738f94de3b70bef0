/* SPDX-License-Identifier: MIT */
/* Calls with arguments that make no sense. Each is compared with what Linux answers; prints those
 * that differ, and how many there were. For the simulated machine. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned count, wrong;

static void expect(const char *what, long got, long want)
{
    count++;
    if (got < 0)
        got = -errno;
    if (got != want) {
        wrong++;
        printf("%s: %ld, not %ld\n", what, got, want);
    }
}

#define EXPECT(want, ...) expect(#__VA_ARGS__, syscall(__VA_ARGS__), want)

static void pointers(void *bad, const char *readable)
{
    int fds[2];
    char text[16];
    if (pipe(fds))
        return;
    EXPECT(-EFAULT, SYS_write, 1, bad, 10);
    EXPECT(-EFAULT, SYS_read, fds[0], bad, 0x7fffffffffffffff);
    EXPECT(3, SYS_write, fds[1], "abc", 3);
    EXPECT(-EFAULT, SYS_read, fds[0], readable, 3);
    EXPECT(3, SYS_read, fds[0], text, 16);
    EXPECT(-EFAULT, SYS_openat, AT_FDCWD, bad, 0);
    EXPECT(-EFAULT, SYS_newfstatat, AT_FDCWD, ".", bad, 0);
    EXPECT(-EFAULT, SYS_fstat, 0, (void *)-8);
    EXPECT(-EFAULT, SYS_uname, bad);
    EXPECT(-EFAULT, SYS_clock_gettime, 0, bad);
    EXPECT(-EFAULT, SYS_nanosleep, bad, NULL);
    EXPECT(-EFAULT, SYS_rt_sigaction, SIGUSR1, bad, NULL, 8);
    EXPECT(-EFAULT, SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8);
    EXPECT(-EFAULT, SYS_sigaltstack, bad, NULL);
    EXPECT(-EFAULT, SYS_pipe2, bad, 0);
    EXPECT(-EFAULT, SYS_getrandom, bad, 5, 0);
    EXPECT(-EFAULT, SYS_futex, bad, FUTEX_WAIT, 0, NULL);
    EXPECT(-EFAULT, SYS_writev, 1, bad, 3);
    EXPECT(-EFAULT, SYS_ppoll, bad, 3, NULL, NULL, 8);
    EXPECT(-EFAULT, SYS_readlinkat, AT_FDCWD, bad, text, 4);
    EXPECT(-EFAULT, SYS_clone3, bad, 64);
    EXPECT(-EFAULT, SYS_timer_create, 0, bad, text);
    EXPECT(-EFAULT, SYS_sched_getaffinity, 0, 128, bad);
    EXPECT(-EFAULT, SYS_getcwd, bad, 4096);
    EXPECT(-EFAULT, SYS_rt_sigtimedwait, bad, NULL, NULL, 8);
}

static void numbers(void)
{
    char byte = 0;
    struct iovec huge[2] = {{&byte, 1}, {NULL, SIZE_MAX}};
    struct timespec odd = {0, 1000000000}, negative = {-1, 0};
    char text[64];
    uint32_t word = 0;
    EXPECT(-EINVAL, SYS_writev, 1, huge, 2);
    EXPECT(-EINVAL, SYS_writev, 1, huge, 5000);
    EXPECT(-EINVAL, SYS_nanosleep, &odd, NULL);
    EXPECT(-EINVAL, SYS_nanosleep, &negative, NULL);
    EXPECT(-EINVAL, SYS_clock_gettime, 99, &odd);
    EXPECT(-EBADF, SYS_read, -1, text, 1);
    EXPECT(-EBADF, SYS_close, 0x1ffffffff);
    EXPECT(-EBADF, SYS_fcntl, 12345, F_GETFL);
    EXPECT(-EINVAL, SYS_munmap, 1, 4096);
    EXPECT(-EINVAL, SYS_munmap, 0, 0);
    EXPECT(-EINVAL, SYS_mmap, NULL, 0, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(-ENOMEM, SYS_mmap, NULL, -4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(-ENOMEM, SYS_mmap, -8192, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    EXPECT(-EINVAL, SYS_mprotect, 1, 4096, 0);
    EXPECT(-ENOMEM, SYS_mprotect, 4096, -8192, 0);
    EXPECT(-EINVAL, SYS_mremap, 4096, 4096, 0, 0);
    EXPECT(-EINVAL, SYS_kill, getpid(), 65);
    EXPECT(-ESRCH, SYS_kill, 123456, 0);
    EXPECT(-ESRCH, SYS_tkill, 123456, SIGUSR1);
    EXPECT(-EINVAL, SYS_tgkill, -1, 5, SIGUSR1);
    EXPECT(-EINVAL, SYS_rt_sigaction, 0, NULL, NULL, 8);
    EXPECT(-EINVAL, SYS_rt_sigaction, SIGKILL, text, NULL, 8);
    EXPECT(-EINVAL, SYS_rt_sigaction, SIGUSR1, NULL, NULL, 16);
    EXPECT(-EINVAL, SYS_futex, 1, FUTEX_WAIT, 0, NULL);
    EXPECT(-EINVAL, SYS_futex, &word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0);
    EXPECT(-EAGAIN, SYS_futex, &word, FUTEX_WAIT, 1, NULL);
    EXPECT(0, SYS_futex, &word, FUTEX_WAKE, 1, NULL);
    EXPECT(-EINVAL, SYS_setitimer, 7, NULL, NULL);
    EXPECT(-EINVAL, SYS_timer_delete, 12);
    EXPECT(-EINVAL, SYS_dup3, 1, 1, 0);
    EXPECT(-EINVAL, SYS_pipe2, text, 1);
    EXPECT(-ERANGE, SYS_getcwd, text, 1);
    EXPECT(-EINVAL, SYS_clone3, text, 8);
    EXPECT(-ENOENT, SYS_openat, AT_FDCWD, "/proc/nothing", 0);
    EXPECT(-ENOTTY, SYS_ioctl, open("/dev/null", O_RDONLY), 0x5401, text);
    EXPECT(-EINVAL, SYS_getrandom, text, 4, 0xff);
    EXPECT(-ECHILD, SYS_wait4, -1, NULL, 0, NULL);
    EXPECT(-ENOSYS, 5000);
}

int main(void)
{
    void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const char *readable = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pointers(bad, readable);
    numbers();
    printf("%u calls, %u wrong\n", count, wrong);
    return wrong != 0;
}
