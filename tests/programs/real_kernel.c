/* SPDX-License-Identifier: MIT */
/* Every family of system calls by which the kernel writes into a program. The arena is written by
 * the program before each call and read as a whole after it, so that a write that was not recorded,
 * or one that was recorded with another value, makes a load that differs.
 *
 * With the argument `busy` another thread runs meanwhile; with `loud` each call is named.
 *
 * At the end it says how many calls were made, how many failed, and how many of these the kernel,
 * Valgrind or a sandbox does not offer at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/loop.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "real_kernel.h"
#include "real_kernel_sockets.h"

/* ---- files ---------------------------------------------------------------------------------- */

static void attributes(int file)
{
    CALL("stat", syscall(SYS_stat, "/", at(0)));
    CALL("stat fails", syscall(SYS_stat, missing, at(0)));
    CALL("lstat", syscall(SYS_lstat, "/proc/self", at(1)));
    CALL("fstat", syscall(SYS_fstat, file, at(2)));
    CALL("fstat fails", syscall(SYS_fstat, -1, at(2)));
    CALL("newfstatat", syscall(SYS_newfstatat, AT_FDCWD, "/", at(3), 0));
    CALL("newfstatat empty", syscall(SYS_newfstatat, file, "", at(3), AT_EMPTY_PATH));
    CALL("statx", syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_ALL, at(4)));
    CALL("statx few", syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_SIZE, at(4)));
    CALL("statx fails", syscall(SYS_statx, AT_FDCWD, missing, 0, STATX_ALL, at(4)));
    CALL("statfs", syscall(SYS_statfs, "/", at(5)));
    CALL("fstatfs", syscall(SYS_fstatfs, file, at(6)));
    CALL("ustat", syscall(SYS_ustat, 0x801, at(7)));
    CALL("sysfs", syscall(SYS_sysfs, 2, 0, at(7)));
    CALL("readlink", syscall(SYS_readlink, "/proc/self/exe", at(0), 500));
    CALL("readlink short", syscall(SYS_readlink, "/proc/self/cwd", at(0), 1));
    CALL("readlink fails", syscall(SYS_readlink, "/", at(0), 100));
    CALL("readlinkat", syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/root", at(0), 100));
    CALL("getcwd", syscall(SYS_getcwd, at(0), 1000));
    CALL("getcwd short", syscall(SYS_getcwd, at(0), 1));
    CALL("setxattr", fsetxattr(file, "user.vestige", "12345", 5, 0));
    CALL("getxattr", getxattr(temporary, "user.vestige", at(0), 100));
    CALL("fgetxattr", fgetxattr(file, "user.vestige", at(0), 100));
    CALL("fgetxattr short", fgetxattr(file, "user.vestige", at(0), 2));
    CALL("lgetxattr none", lgetxattr(temporary, "user.none", at(0), 100));
    CALL("listxattr", listxattr(temporary, at(1), 100));
    CALL("flistxattr", flistxattr(file, at(1), 100));
    CALL("llistxattr short", llistxattr(temporary, at(1), 3));
    TRY("name_to_handle_at", ints(0)[0] = 128;
        r = syscall(SYS_name_to_handle_at, AT_FDCWD, "/tmp", at(0), at(1), 0));
    TRY("name_to_handle_at short", ints(0)[0] = 0;
        r = syscall(SYS_name_to_handle_at, AT_FDCWD, "/tmp", at(0), at(1), 0));
    CALL("quotactl", quotactl(QCMD(Q_GETFMT, USRQUOTA), "/dev/vda", 0, at(0)));
    CALL("quotactl dqblk", quotactl(QCMD(Q_GETQUOTA, USRQUOTA), "/dev/vda", 0, at(0)));
}

static void contents(int file)
{
    struct iovec *v = at(7);
    int dir = open("/", O_RDONLY | O_DIRECTORY), out = memfd_create("x", 0);

    for (int i = 0; i < 50; i++)
        (void)!write(file, "0123456789abcdefghijklmnopqrst", 30);
    CALL("lseek", lseek(file, 0, SEEK_SET));
    CALL("read", read(file, at(0), 777));
    CALL("read short", read(file, at(0), 3000));
    CALL("read end", read(file, at(0), 3000));
    CALL("read fails", read(-1, at(0), 3000));
    CALL("read directory", read(dir, at(0), 3000));
    CALL("pread64", pread(file, text(0) + 3, 64, 5));
    CALL("pread64 short", pread(file, text(0) + 3, 64, 1490));
    TRY("readv", v[0] = (struct iovec){at(0), 10}, v[1] = (struct iovec){at(1), 0},
        v[2] = (struct iovec){at(2), 30}, lseek(file, 0, SEEK_SET), r = readv(file, v, 3));
    TRY("readv short", v[0] = (struct iovec){at(0), 10}, v[1] = (struct iovec){at(1), 40},
        lseek(file, 1480, SEEK_SET), r = readv(file, v, 2));
    TRY("preadv", v[0] = (struct iovec){at(0), 10}, v[1] = (struct iovec){at(1), 40},
        r = preadv(file, v, 2, 7));
    TRY("preadv2", v[0] = (struct iovec){at(0), 10}, v[1] = (struct iovec){at(1), 40},
        r = preadv2(file, v, 2, 1470, 0));
    TRY("preadv2 fails", v[0] = (struct iovec){at(0), 10}, r = preadv2(file, v, 1, 9, 0x40000));
    TRY("read to the edge", r = pread(file, edge(40), 100, 3));
    TRY("readv to the edge", v[0] = (struct iovec){edge(10), 20}, v[1] = (struct iovec){at(1), 40};
        r = preadv(file, v, 2, 0));
    CALL("getdents64", syscall(SYS_getdents64, dir, at(0), 300));
    CALL("getdents64 more", syscall(SYS_getdents64, dir, at(0), ROOM));
    CALL("getdents64 end", syscall(SYS_getdents64, dir, at(0), ROOM));
    lseek(dir, 0, SEEK_SET);
    CALL("getdents", syscall(SYS_getdents, dir, at(0), 200));
    CALL("getdents small", syscall(SYS_getdents, dir, at(0), 3));
    CALL("getdents fails", syscall(SYS_getdents64, file, at(0), 100));
    TRY("sendfile", longs(0)[0] = 16; r = sendfile(out, file, at(0), 100));
    TRY("sendfile short", longs(0)[0] = 1490; r = sendfile(out, file, at(0), 100));
    TRY("sendfile fails", longs(0)[0] = 0; r = sendfile(-1, file, at(0), 100));
    TRY("copy_file_range", longs(0)[0] = 4; longs(1)[0] = 9;
        r = copy_file_range(file, at(0), file, at(1), 2, 0));
    TRY("copy_file_range fails", longs(0)[0] = 4; longs(1)[0] = 9;
        r = copy_file_range(file, at(0), -1, at(1), 2, 0));
    CALL("getrandom", syscall(SYS_getrandom, at(0), 300, 0));
    CALL("getrandom none", syscall(SYS_getrandom, at(0), 0, 0));
    CALL("getrandom fails", syscall(SYS_getrandom, at(0), 30, 0x100));
    CALL("readahead", readahead(file, 0, 100));
    close(dir);
    close(out);
}

static void control(int file)
{
    struct flock *lock = at(0);
    struct fiemap *map = at(0);
    int other;

    TRY("F_GETLK", *lock = (struct flock){.l_type = F_WRLCK}; r = fcntl(file, F_GETLK, lock));
    TRY("F_SETLK", *lock = (struct flock){.l_type = F_WRLCK, .l_len = 100};
        r = fcntl(file, F_SETLK, lock));
    if (fork() == 0) {
        lock->l_type = F_WRLCK;
        _exit(fcntl(file, F_GETLK, lock));
    }
    CALL("wait", wait(NULL));
    other = open(temporary, O_RDWR);
    TRY("F_OFD_GETLK", *lock = (struct flock){.l_type = F_WRLCK};
        r = fcntl(other, F_OFD_GETLK, lock));
    TRY("F_OFD_SETLK", *lock = (struct flock){.l_type = F_WRLCK, .l_start = 200, .l_len = 100};
        r = fcntl(other, F_OFD_SETLK, lock));
    TRY("F_OFD_GETLK held", *lock = (struct flock){.l_type = F_WRLCK, .l_start = 150};
        r = fcntl(file, F_OFD_GETLK, lock));
    TRY("F_GETLK held", *lock = (struct flock){.l_type = F_RDLCK, .l_start = 150};
        r = fcntl(file, F_GETLK, lock));
    TRY("F_GETLK fails", *lock = (struct flock){.l_type = 77}; r = fcntl(file, F_GETLK, lock));
    CALL("F_GETOWN_EX", fcntl(file, F_GETOWN_EX, at(0)));
    CALL("F_GETOWNER_UIDS", fcntl(file, 17, at(0)));
    CALL("F_GET_RW_HINT", fcntl(file, F_GET_RW_HINT, at(0)));
    CALL("F_GET_FILE_RW_HINT", fcntl(file, F_GET_FILE_RW_HINT, at(0)));
    CALL("F_GETFL", fcntl(file, F_GETFL));
    CALL("F_GETPIPE_SZ", fcntl(file, F_GETPIPE_SZ));
    CALL("F_GET_SEALS", fcntl(file, F_GET_SEALS));
    CALL("F_GETLEASE", fcntl(file, F_GETLEASE));
    CALL("F_GETSIG", fcntl(file, F_GETSIG));
    TRY("FIEMAP", *map = (struct fiemap){.fm_length = ~0ull, .fm_extent_count = 4};
        r = ioctl(file, FS_IOC_FIEMAP, map));
    TRY("FIEMAP count", *map = (struct fiemap){.fm_length = ~0ull};
        r = ioctl(file, FS_IOC_FIEMAP, map));
    CALL("FIGETBSZ", ioctl(file, FIGETBSZ, at(0)));
    CALL("FIBMAP", ioctl(file, FIBMAP, at(0)));
    CALL("FS_IOC_GETFLAGS", ioctl(file, FS_IOC_GETFLAGS, at(0)));
    CALL("FS_IOC_GETVERSION", ioctl(file, FS_IOC_GETVERSION, at(0)));
    CALL("FS_IOC_FSGETXATTR", ioctl(file, FS_IOC_FSGETXATTR, at(0)));
    CALL("FS_IOC_GETFSLABEL", ioctl(file, FS_IOC_GETFSLABEL, at(0)));
    CALL("FIONREAD of a file", ioctl(file, FIONREAD, at(0)));
    CALL("FIOQSIZE", ioctl(file, FIOQSIZE, at(0)));
    CALL("an ioctl that nobody knows", ioctl(file, 0x80ff7aff, at(0)));
    close(other);
}

static void devices(void)
{
    int random = open("/dev/urandom", O_RDONLY), disk = open("/dev/loop0", O_RDONLY);
    int loops = open("/dev/loop-control", O_RDWR), null = open("/dev/null", O_RDWR);

    CALL("RNDGETENTCNT", ioctl(random, RNDGETENTCNT, at(0)));
    CALL("read of a device", read(random, at(0), 100));
    CALL("BLKGETSIZE", ioctl(disk, BLKGETSIZE, at(0)));
    CALL("BLKGETSIZE64", ioctl(disk, BLKGETSIZE64, at(0)));
    CALL("BLKSSZGET", ioctl(disk, BLKSSZGET, at(0)));
    CALL("BLKBSZGET", ioctl(disk, BLKBSZGET, at(0)));
    CALL("BLKROGET", ioctl(disk, BLKROGET, at(0)));
    CALL("BLKRAGET", ioctl(disk, BLKRAGET, at(0)));
    CALL("BLKIOMIN", ioctl(disk, BLKIOMIN, at(0)));
    CALL("BLKIOOPT", ioctl(disk, BLKIOOPT, at(0)));
    CALL("BLKPBSZGET", ioctl(disk, BLKPBSZGET, at(0)));
    CALL("BLKALIGNOFF", ioctl(disk, BLKALIGNOFF, at(0)));
    CALL("BLKSECTGET", ioctl(disk, BLKSECTGET, at(0)));
    CALL("BLKDISCARDZEROES", ioctl(disk, BLKDISCARDZEROES, at(0)));
    CALL("BLKROTATIONAL", ioctl(disk, BLKROTATIONAL, at(0)));
    CALL("HDIO_GETGEO", ioctl(disk, 0x0301, at(0)));
    CALL("LOOP_GET_STATUS64", ioctl(disk, LOOP_GET_STATUS64, at(0)));
    CALL("LOOP_GET_STATUS", ioctl(disk, LOOP_GET_STATUS, at(0)));
    CALL("LOOP_CTL_GET_FREE", ioctl(loops, LOOP_CTL_GET_FREE));
    CALL("read of nothing", read(null, at(0), 100));
    CALL("RTC_RD_TIME", ioctl(null, 0x80247009, at(0)));
    close(random);
    close(disk);
    close(loops);
    close(null);
}

static void terminals(void)
{
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK), slave;

    TRY("TIOCSPTLCK", ints(0)[0] = 0; r = ioctl(master, TIOCSPTLCK, at(0)));
    CALL("TIOCGPTN", ioctl(master, TIOCGPTN, at(0)));
    CALL("TIOCGPTLCK", ioctl(master, TIOCGPTLCK, at(0)));
    CALL("TIOCGPKT", ioctl(master, TIOCGPKT, at(0)));
    slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    if (slave < 0)
        slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    CALL("TCGETS", ioctl(slave, TCGETS, at(0)));
    CALL("TCGETS2", ioctl(slave, _IOR('T', 0x2A, char[44]), at(0)));
    CALL("TCGETA", ioctl(slave, TCGETA, at(0)));
    CALL("TIOCGWINSZ", ioctl(slave, TIOCGWINSZ, at(0)));
    CALL("TIOCGPGRP", ioctl(slave, TIOCGPGRP, at(0)));
    CALL("TIOCGPGRP of the master", ioctl(master, TIOCGPGRP, at(0)));
    CALL("TIOCGSID", ioctl(master, TIOCGSID, at(0)));
    CALL("TIOCMGET", ioctl(slave, TIOCMGET, at(0)));
    CALL("TIOCGSOFTCAR", ioctl(slave, TIOCGSOFTCAR, at(0)));
    CALL("TIOCGETD", ioctl(slave, TIOCGETD, at(0)));
    CALL("TIOCGEXCL", ioctl(slave, TIOCGEXCL, at(0)));
    CALL("TIOCGDEV", ioctl(slave, TIOCGDEV, at(0)));
    CALL("TIOCGLCKTRMIOS", ioctl(slave, TIOCGLCKTRMIOS, at(0)));
    CALL("TIOCGSERIAL", ioctl(slave, TIOCGSERIAL, at(0)));
    CALL("TIOCGICOUNT", ioctl(slave, TIOCGICOUNT, at(0)));
    (void)!write(slave, "to the master\n", 14);
    (void)!write(master, "to the slave\n", 13);
    CALL("TIOCINQ", ioctl(slave, TIOCINQ, at(0)));
    CALL("TIOCOUTQ", ioctl(slave, TIOCOUTQ, at(0)));
    CALL("read of a terminal", read(slave, at(0), 5));
    CALL("read of the master", read(master, at(0), 500));
    CALL("read of the master, empty", read(master, at(0), 500));
    CALL("TIOCGWINSZ fails", ioctl(-1, TIOCGWINSZ, at(0)));
    close(slave);
    close(master);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void set_only(int place, int fd)
{
    FD_ZERO((fd_set *)at(place));
    FD_SET(fd, (fd_set *)at(place));
}

static void on_alarm(int number)
{
    (void)number;
}

static void interrupt_soon(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {{0, 0}, {0, 20000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void restart_soon(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval soon = {{0, 0}, {0, 20000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void waiting(void)
{
    int idle[2], busy[2], duplicate[2], poller = epoll_create1(0), fd;
    struct epoll_event event = {.events = EPOLLIN};
    struct timeval *tv = at(3);
    struct timespec *ts = at(3);
    struct pollfd *p = at(0);

    CALL("pipe", syscall(SYS_pipe, at(0)));
    close(ints(0)[0]);
    close(ints(0)[1]);
    CALL("pipe2", syscall(SYS_pipe2, at(0), O_NONBLOCK));
    close(ints(0)[0]);
    close(ints(0)[1]);
    CALL("pipe2 fails", syscall(SYS_pipe2, at(0), ~0));
    (void)!pipe(idle);
    (void)!pipe(busy);
    (void)!pipe(duplicate);
    (void)!write(busy[1], "0123456789", 10);
    TRY("select not ready", set_only(0, idle[0]), *tv = (struct timeval){0, 1000};
        r = select(10, at(0), NULL, NULL, tv));
    TRY("select ready", set_only(0, busy[0]), set_only(1, busy[1]), set_only(2, busy[0]);
        *tv = (struct timeval){1, 0}; r = select(busy[1] + 1, at(0), at(1), at(2), tv));
    TRY("raw select", set_only(0, idle[0]), set_only(1, busy[1]), *tv = (struct timeval){0, 0};
        r = syscall(SYS_select, 60, at(0), at(1), NULL, tv));
    TRY("raw select of 1000", set_only(0, idle[0]), *tv = (struct timeval){0, 0};
        r = syscall(SYS_select, 1000, at(0), NULL, NULL, tv));
    TRY("select of nothing", *tv = (struct timeval){0, 1000}; r = select(0, NULL, NULL, NULL, tv));
    TRY("select fails", memset(at(0), 0xff, 128), *tv = (struct timeval){0, 0};
        r = syscall(SYS_select, 1000, at(0), NULL, NULL, tv));
    TRY("select interrupted", set_only(0, idle[0]), *tv = (struct timeval){3, 0}, interrupt_soon();
        r = select(idle[0] + 1, at(0), NULL, NULL, tv));
    TRY("pselect6 not ready", set_only(0, idle[0]), *ts = (struct timespec){0, 1000};
        r = syscall(SYS_pselect6, 10, at(0), NULL, NULL, ts, NULL));
    TRY("pselect6 ready", set_only(0, busy[0]), set_only(1, busy[1]), *ts = (struct timespec){1, 0};
        r = syscall(SYS_pselect6, 40, at(0), at(1), NULL, ts, NULL));
    TRY("pselect", set_only(0, idle[0]), *ts = (struct timespec){0, 1000};
        r = pselect(10, at(0), NULL, NULL, ts, NULL));
    TRY("poll not ready", p[0] = (struct pollfd){idle[0], POLLIN, 7},
        p[1] = (struct pollfd){-1, POLLIN, 7}, r = poll(p, 2, 1));
    TRY("poll ready", p[0] = (struct pollfd){busy[0], POLLIN, 7},
        p[1] = (struct pollfd){987, POLLIN, 7}, r = poll(p, 2, 1));
    TRY("poll interrupted", p[0] = (struct pollfd){idle[0], POLLIN, 7}; interrupt_soon();
        r = poll(p, 1, 3000));
    TRY("ppoll not ready", p[0] = (struct pollfd){idle[0], POLLIN, 7},
        *ts = (struct timespec){0, 1000}, r = syscall(SYS_ppoll, p, 1, ts, NULL, 8));
    TRY("ppoll ready", p[0] = (struct pollfd){busy[0], POLLIN, 7}, *ts = (struct timespec){1, 0},
        r = syscall(SYS_ppoll, p, 1, ts, NULL, 8));
    TRY("ppoll interrupted", p[0] = (struct pollfd){idle[0], POLLIN, 7},
        *ts = (struct timespec){3, 0};
        interrupt_soon(); r = syscall(SYS_ppoll, p, 1, ts, NULL, 8));
    CALL("epoll_wait of nothing", epoll_wait(poller, at(0), 8, 0));
    epoll_ctl(poller, EPOLL_CTL_ADD, idle[0], &event);
    CALL("epoll_wait not ready", epoll_wait(poller, at(0), 8, 1));
    epoll_ctl(poller, EPOLL_CTL_ADD, busy[0], &event);
    CALL("epoll_wait ready", epoll_wait(poller, at(0), 8, 1));
    CALL("epoll_pwait ready", epoll_pwait(poller, at(0), 8, 1, NULL));
    TRY("epoll_pwait2", *ts = (struct timespec){0, 1000};
        r = syscall(SYS_epoll_pwait2, poller, at(0), 8, ts, NULL, 8));
    CALL("epoll_wait fails", epoll_wait(-1, at(0), 8, 1));
    CALL("tee", tee(busy[0], duplicate[1], 5, 0));
    CALL("read of a pipe, short", read(duplicate[0], at(0), 100));
    fd = open(temporary, O_RDWR);
    TRY("splice from a file", longs(0)[0] = 3; r = splice(fd, at(0), duplicate[1], NULL, 20, 0));
    TRY("splice to a file", longs(0)[0] = 5; r = splice(duplicate[0], NULL, fd, at(0), 20, 0));
    TRY("splice fails", longs(0)[0] = 5; r = splice(-1, NULL, fd, at(0), 20, 0));
    CALL("FIONREAD", ioctl(busy[0], FIONREAD, at(0)));
    TRY("vmsplice", struct iovec *v = at(7); *v = (struct iovec){at(0), 20};
        r = vmsplice(duplicate[1], v, 1, 0));
    TRY("vmsplice from", struct iovec *v = at(7); *v = (struct iovec){at(1), 30};
        r = vmsplice(duplicate[0], v, 1, 0));
    fcntl(idle[0], F_SETFL, O_NONBLOCK);
    CALL("read would block", read(idle[0], at(0), 100));
    for (int i = 0; i < 2; i++) {
        close(idle[i]);
        close(busy[i]);
        close(duplicate[i]);
    }
    close(fd);
    close(poller);
    fd = eventfd(2, EFD_NONBLOCK);
    CALL("read of an eventfd", read(fd, at(0), 8));
    CALL("read of an eventfd, 0", read(fd, at(0), 8));
    close(fd);
}

/* ---- processes ------------------------------------------------------------------------------ */

static void myself(void)
{
    struct __user_cap_header_struct *cap = at(0);
    struct iovec *v = at(7);

    CALL("uname", uname(at(0)));
    CALL("sysinfo", sysinfo(at(0)));
    CALL("times", syscall(SYS_times, at(0)));
    CALL("getrusage", getrusage(RUSAGE_SELF, at(0)));
    CALL("getrusage of children", getrusage(RUSAGE_CHILDREN, at(0)));
    CALL("getrusage fails", getrusage(77, at(0)));
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        CALL("getrlimit", syscall(SYS_getrlimit, i, at(0)));
        CALL("prlimit64", syscall(SYS_prlimit64, 0, i, NULL, at(1)));
    }
    CALL("getrlimit fails", syscall(SYS_getrlimit, 99, at(0)));
    TRY("prlimit64 set", getrlimit(RLIMIT_NOFILE, at(0));
        r = syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, at(0), at(1)));
    TRY("prlimit64 fails", longs(0)[0] = 7; longs(0)[1] = 5;
        r = syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, at(0), at(1)));
    TRY("prlimit64 of the stack", getrlimit(RLIMIT_STACK, at(0));
        r = syscall(SYS_prlimit64, 0, RLIMIT_STACK, at(0), at(1)));
    CALL("prlimit64 of another", syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, at(1)));
    CALL("getresuid", getresuid(at(0), at(1), at(2)));
    CALL("getresgid", getresgid(at(0), at(1), at(2)));
    CALL("getgroups", getgroups(100, at(0)));
    CALL("getgroups count", getgroups(0, at(0)));
    CALL("getgroups fails", syscall(SYS_getgroups, -5, at(0)));
    CALL("sched_getaffinity", syscall(SYS_sched_getaffinity, 0, 1024, at(0)));
    CALL("sched_getaffinity small", syscall(SYS_sched_getaffinity, 0, 8, at(0)));
    CALL("sched_getaffinity fails", syscall(SYS_sched_getaffinity, 0, 3, at(0)));
    CALL("sched_getparam", sched_getparam(0, at(0)));
    CALL("sched_getattr", syscall(SYS_sched_getattr, 0, at(0), 200, 0));
    CALL("sched_getattr small", syscall(SYS_sched_getattr, 0, at(0), 48, 0));
    CALL("sched_getattr fails", syscall(SYS_sched_getattr, 0, at(0), 8, 0));
    TRY("sched_setattr fails", memset(at(0), 0xff, 100);
        r = syscall(SYS_sched_setattr, 0, at(0), 0));
    CALL("sched_rr_get_interval", syscall(SYS_sched_rr_get_interval, 0, at(0)));
    CALL("getcpu", syscall(SYS_getcpu, at(0), at(1), NULL));
    TRY("capget", *cap = (struct __user_cap_header_struct){_LINUX_CAPABILITY_VERSION_3, 0};
        r = syscall(SYS_capget, cap, at(1)));
    TRY("capget version 1", *cap = (struct __user_cap_header_struct){0x19980330, 0};
        r = syscall(SYS_capget, cap, at(1)));
    TRY("capget fails", *cap = (struct __user_cap_header_struct){77, 0};
        r = syscall(SYS_capget, cap, at(1)));
    CALL("get_robust_list", syscall(SYS_get_robust_list, 0, at(0), at(1)));
    CALL("mincore", mincore(arena, sizeof(arena), at(0)));
    CALL("mincore fails", mincore(at(0), 100, at(1)));
    CALL("get_mempolicy", syscall(SYS_get_mempolicy, at(0), at(1), 1024, NULL, 0));
    CALL("get_mempolicy of a page", syscall(SYS_get_mempolicy, at(0), NULL, 0, arena, 3));
    TRY("move_pages", ((void **)at(0))[0] = arena; ((void **)at(0))[1] = (void *)8;
        r = syscall(SYS_move_pages, 0, 2, at(0), NULL, at(1), 0));
    TRY("process_vm_readv", v[0] = (struct iovec){at(0), 50}, v[1] = (struct iovec){at(1), 50},
        r = process_vm_readv(getpid(), v, 1, v + 1, 1, 0));
    TRY("process_vm_writev", v[0] = (struct iovec){at(0), 50}, v[1] = (struct iovec){at(1), 20},
        v[2] = (struct iovec){at(2), 10}, r = process_vm_writev(getpid(), v, 1, v + 1, 2, 0));
    TRY("process_vm_writev short", v[0] = (struct iovec){at(0), 500},
        v[1] = (struct iovec){at(1), 20}, v[2] = (struct iovec){(void *)64, 10},
        r = process_vm_writev(getpid(), v, 1, v + 1, 2, 0));
    TRY("process_vm_readv fails", v[0] = (struct iovec){at(0), 50},
        v[1] = (struct iovec){(void *)64, 50}, r = process_vm_readv(getpid(), v, 1, v + 1, 1, 0));
    CALL("ptrace", syscall(SYS_ptrace, 1, getpid(), at(0), at(1)));
    CALL("syslog", syscall(SYS_syslog, 3, at(0), 300));
    CALL("ioprio_get", syscall(SYS_ioprio_get, 1, 0));
    CALL("kcmp", syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 1));
    CALL("modify_ldt", syscall(SYS_modify_ldt, 0, at(0), 100));
    CALL("lookup_dcookie", syscall(SYS_lookup_dcookie, 1ul, at(0), 100));
    CALL("rseq", syscall(SYS_rseq, at(0), 32, 0, 0x53053053));
    CALL("membarrier", syscall(SYS_membarrier, 0, 0, 0));
    CALL("keyctl", syscall(SYS_keyctl, 6 /* DESCRIBE */, -3, at(0), 200, 0));
    CALL("keyctl read", syscall(SYS_keyctl, 11 /* READ */, -3, at(0), 200, 0));
    CALL("pidfd_open", syscall(SYS_pidfd_open, getpid(), 0));
    CALL("bpf", (longs(0)[0] = 0, syscall(SYS_bpf, 11, at(0), 8)));
}

static void controls(void)
{
    static const int gets[] = {
        PR_GET_PDEATHSIG,       PR_GET_NAME,        PR_GET_UNALIGN,    PR_GET_FPEMU,
        PR_GET_FPEXC,           PR_GET_ENDIAN,      PR_GET_TSC,        PR_GET_TID_ADDRESS,
        PR_GET_CHILD_SUBREAPER, PR_GET_DUMPABLE,    PR_GET_KEEPCAPS,   PR_GET_TIMERSLACK,
        PR_GET_NO_NEW_PRIVS,    PR_GET_THP_DISABLE, PR_GET_SECUREBITS, PR_GET_SPECULATION_CTRL,
        PR_GET_IO_FLUSHER,      PR_GET_TIMING};

    for (unsigned i = 0; i < sizeof(gets) / sizeof(gets[0]); i++)
        CALL("prctl", syscall(SYS_prctl, gets[i], at(0), 0, 0, 0));
    CALL("prctl mm size", syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, at(0), 0, 0));
    CALL("prctl auxv", syscall(SYS_prctl, 0x41555856, at(0), 500, 0, 0));
    CALL("arch_prctl fs", syscall(SYS_arch_prctl, 0x1003, at(0)));
    CALL("arch_prctl gs", syscall(SYS_arch_prctl, 0x1004, at(0)));
    CALL("arch_prctl xcomp", syscall(SYS_arch_prctl, 0x1021, at(0)));
    CALL("arch_prctl fails", syscall(SYS_arch_prctl, 0x7777, at(0)));
}

static int vforked(void)
{
    pid_t child = vfork();

    if (child == 0)
        _exit(4);
    return child;
}

static void children(void)
{
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } *args = at(6);
    pid_t child = fork();

    if (child == 0)
        _exit(3);
    CALL("waitid", syscall(SYS_waitid, P_PID, child, at(0), WEXITED | WNOWAIT, at(1)));
    CALL("wait4", syscall(SYS_wait4, child, at(0), 0, at(1)));
    CALL("wait4 fails", syscall(SYS_wait4, -1, at(0), 0, at(1)));
    CALL("waitid fails", syscall(SYS_waitid, P_ALL, 0, at(0), WEXITED, at(1)));
    child = fork();
    if (child == 0) {
        pause();
        _exit(3);
    }
    CALL("wait4 not ready", syscall(SYS_wait4, child, at(0), WNOHANG, at(1)));
    CALL("waitid not ready", syscall(SYS_waitid, P_PID, child, at(0), WEXITED | WNOHANG, at(1)));
    kill(child, SIGKILL);
    CALL("waitpid", waitpid(child, at(0), 0));
    CALL("vfork", vforked());
    CALL("wait4 after vfork", syscall(SYS_wait4, -1, at(0), 0, NULL));
    begin("clone with a word of the parent's");
    child = (pid_t)syscall(
        SYS_clone, SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, 0,
        at(0), at(1), 0);
    if (child == 0)
        _exit(5);
    end(child);
    if (child > 0)
        CALL("waitpid", waitpid(child, at(0), 0));
    begin("clone with a pidfd");
    child = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_PIDFD, 0, at(0), 0, 0);
    if (child == 0)
        _exit(5);
    end(child);
    if (child > 0) {
        close(ints(0)[0]);
        CALL("waitpid", waitpid(child, at(0), 0));
    }
    begin("clone3");
    memset(args, 0, sizeof(*args));
    args->flags = CLONE_PARENT_SETTID | CLONE_PIDFD;
    args->pidfd = (uintptr_t)at(0);
    args->parent_tid = (uintptr_t)at(1);
    args->exit_signal = SIGCHLD;
    child = (pid_t)syscall(SYS_clone3, args, 64);
    if (child == 0)
        _exit(5);
    end(child);
    if (child > 0) {
        close(ints(0)[0]);
        CALL("waitpid", waitpid(child, at(0), 0));
    }
}

/* ---- clocks and signals --------------------------------------------------------------------- */

static void clocks(void)
{
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    struct itimerspec *spec = at(0);
    struct itimerval *interval = at(0);
    struct timespec *ts = at(0);
    long timer;
    int fd;

    CALL("clock_gettime", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at(0)));
    CALL("clock_gettime fails", syscall(SYS_clock_gettime, 777, at(0)));
    CALL("clock_gettime of the thread", syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, at(0)));
    CALL("clock_getres", syscall(SYS_clock_getres, CLOCK_REALTIME, at(0)));
    CALL("gettimeofday", syscall(SYS_gettimeofday, at(0), at(1)));
    CALL("time", syscall(SYS_time, at(0)));
    TRY("setitimer", *interval = (struct itimerval){{0, 0}, {100, 0}};
        r = setitimer(ITIMER_REAL, interval, at(1)));
    CALL("getitimer", getitimer(ITIMER_REAL, at(1)));
    TRY("setitimer off", memset(at(0), 0, sizeof(*interval));
        r = setitimer(ITIMER_REAL, interval, at(1)));
    CALL("getitimer virtual", getitimer(ITIMER_VIRTUAL, at(1)));
    CALL("setitimer fails", setitimer(77, interval, at(1)));
    CALL("timer_create", syscall(SYS_timer_create, CLOCK_MONOTONIC, &none, at(1)));
    timer = ints(1)[0];
    CALL("timer_create fails", syscall(SYS_timer_create, 777, &none, at(1)));
    TRY("timer_settime", *spec = (struct itimerspec){{0, 0}, {100, 0}};
        r = syscall(SYS_timer_settime, timer, 0, spec, at(1)));
    CALL("timer_gettime", syscall(SYS_timer_gettime, timer, at(1)));
    CALL("timer_gettime fails", syscall(SYS_timer_gettime, 12345, at(1)));
    CALL("timer_getoverrun", syscall(SYS_timer_getoverrun, timer));
    CALL("timer_delete", syscall(SYS_timer_delete, timer));
    fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    TRY("timerfd_settime", *spec = (struct itimerspec){{100, 0}, {0, 1}};
        r = timerfd_settime(fd, 0, spec, at(1)));
    CALL("timerfd_gettime", timerfd_gettime(fd, at(1)));
    usleep(2000);
    CALL("read of a timer", read(fd, at(0), 8));
    CALL("read of a timer, early", read(fd, at(0), 8));
    close(fd);
    TRY("nanosleep", *ts = (struct timespec){0, 1000}; r = nanosleep(ts, at(1)));
    TRY("nanosleep interrupted", *ts = (struct timespec){5, 0}; interrupt_soon();
        r = nanosleep(ts, at(1)));
    TRY("nanosleep into itself", *ts = (struct timespec){5, 0}; interrupt_soon();
        r = syscall(SYS_nanosleep, ts, ts));
    TRY("nanosleep fails", *ts = (struct timespec){0, -1}; r = nanosleep(ts, at(1)));
    TRY("clock_nanosleep interrupted", *ts = (struct timespec){5, 0}; interrupt_soon();
        r = syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, ts, at(1)));
    TRY("clock_nanosleep absolute", *ts = (struct timespec){1, 0};
        r = syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, ts, at(1)));
    TRY("adjtimex", memset(at(0), 0, sizeof(struct timex)); r = adjtimex(at(0)));
    TRY("clock_adjtime", memset(at(0), 0, sizeof(struct timex));
        r = syscall(SYS_clock_adjtime, CLOCK_REALTIME, at(0)));
}

static void signals(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } *action = at(0);
    sigset_t set;
    struct timespec *ts = at(3);
    int fd;

    CALL("rt_sigaction", syscall(SYS_rt_sigaction, SIGALRM, NULL, at(1), 8));
    TRY("rt_sigaction of another", memset(action, 0, sizeof(*action));
        r = syscall(SYS_rt_sigaction, SIGUSR2, action, at(1), 8));
    CALL("rt_sigaction fails", syscall(SYS_rt_sigaction, SIGKILL, at(0), at(1), 8));
    CALL("rt_sigaction fails", syscall(SYS_rt_sigaction, 999, NULL, at(1), 8));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    TRY("rt_sigprocmask", r = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, at(1), 8));
    CALL("rt_sigprocmask get", syscall(SYS_rt_sigprocmask, 0, NULL, at(1), 8));
    CALL("rt_sigprocmask fails", syscall(SYS_rt_sigprocmask, 77, &set, at(1), 8));
    CALL("rt_sigpending", syscall(SYS_rt_sigpending, at(0), 8));
    raise(SIGUSR1);
    CALL("rt_sigpending one", syscall(SYS_rt_sigpending, at(0), 8));
    CALL("rt_sigtimedwait", syscall(SYS_rt_sigtimedwait, &set, at(0), NULL, 8));
    TRY("rt_sigtimedwait in vain", *ts = (struct timespec){0, 1000};
        r = syscall(SYS_rt_sigtimedwait, &set, at(0), ts, 8));
    TRY("rt_sigqueueinfo", siginfo_t *info = at(0); memset(info, 0, sizeof(*info));
        info->si_code = SI_QUEUE; info->si_int = 77;
        r = syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, info));
    CALL("sigwaitinfo", sigwaitinfo(&set, at(0)));
    fd = signalfd(-1, &set, SFD_NONBLOCK);
    CALL("read of a signalfd, empty", read(fd, at(0), 500));
    kill(getpid(), SIGUSR1);
    CALL("read of a signalfd", read(fd, at(0), 500));
    close(fd);
    CALL("sigaltstack", sigaltstack(NULL, at(0)));
    TRY("sigaltstack set", stack_t *s = at(0); *s = (stack_t){.ss_flags = SS_DISABLE};
        r = sigaltstack(s, at(1)));
    TRY("sigaltstack fails", stack_t *s = at(0); *s = (stack_t){.ss_flags = 77};
        r = sigaltstack(s, at(1)));
    restart_soon();
    TRY("a call that is begun anew", *ts = (struct timespec){0, 60000000};
        r = syscall(SYS_futex, at(0), FUTEX_WAIT, ints(0)[0], ts, NULL, 0));
    CALL("signal mask of sigsuspend", (interrupt_soon(), sigemptyset(&set), sigsuspend(&set)));
}

/* ---- messages, queues, events ---------------------------------------------------------------- */

static void ipc(void)
{
    int queue = msgget(IPC_PRIVATE, 0600), sems = semget(IPC_PRIVATE, 3, 0600);
    int shm = shmget(IPC_PRIVATE, 8192, 0600);
    char name[40];
    void *shared;
    mqd_t posix;

    for (int i = 0; i < 3; i++)
        TRY("msgsnd", longs(0)[0] = 1 + i; r = msgsnd(queue, at(0), 30, 0));
    CALL("msgrcv", msgrcv(queue, at(0), 200, 0, 0));
    CALL("msgrcv too long", msgrcv(queue, at(0), 7, 0, 0));
    CALL("msgrcv cut", msgrcv(queue, at(0), 7, 0, MSG_NOERROR));
    CALL("msgrcv copy", msgrcv(queue, at(0), 100, 0, 040000 | IPC_NOWAIT));
    CALL("msgrcv the rest", msgrcv(queue, at(0), 100, 0, 0));
    CALL("msgrcv none", msgrcv(queue, at(0), 100, 0, IPC_NOWAIT));
    CALL("msgctl stat", msgctl(queue, IPC_STAT, at(0)));
    CALL("msgctl info", msgctl(queue, IPC_INFO, at(0)));
    CALL("msgctl all info", msgctl(0, MSG_INFO, at(0)));
    CALL("msgctl stat by index", msgctl(0, MSG_STAT, at(0)));
    CALL("msgctl set", (msgctl(queue, IPC_STAT, at(0)), msgctl(queue, IPC_SET, at(0))));
    CALL("msgctl fails", msgctl(-1, IPC_STAT, at(0)));
    msgctl(queue, IPC_RMID, NULL);
    CALL("semctl get", semctl(sems, 0, GETVAL));
    CALL("semctl all", semctl(sems, 0, GETALL, at(0)));
    CALL("semctl stat", semctl(sems, 0, IPC_STAT, at(0)));
    CALL("semctl info", semctl(sems, 0, IPC_INFO, at(0)));
    CALL("semctl all info", semctl(0, 0, SEM_INFO, at(0)));
    CALL("semctl stat by index", semctl(0, 0, SEM_STAT, at(0)));
    CALL("semctl fails", semctl(-1, 0, IPC_STAT, at(0)));
    semctl(sems, 0, IPC_RMID);
    CALL("shmctl stat", shmctl(shm, IPC_STAT, at(0)));
    CALL("shmctl info", shmctl(shm, IPC_INFO, at(0)));
    CALL("shmctl all info", shmctl(0, SHM_INFO, at(0)));
    CALL("shmctl stat by index", shmctl(0, SHM_STAT, at(0)));
    CALL("shmctl fails", shmctl(-1, IPC_STAT, at(0)));
    shared = shmat(shm, NULL, 0);
    if (shared != (void *)-1) {
        fill(shared, 8192);
        look(shared, 8192);
        CALL("read to shared memory", pread(open(temporary, O_RDONLY), shared, 200, 0));
        look(shared, 8192);
        shmdt(shared);
        shared = shmat(shm, NULL, 0);
        look(shared, 8192);
        shmdt(shared);
    }
    shmctl(shm, IPC_RMID, NULL);
    snprintf(name, sizeof(name), "/vestige-%d", getpid());
    posix = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600,
                    &(struct mq_attr){.mq_maxmsg = 4, .mq_msgsize = 100});
    CALL("mq_getattr", mq_getattr(posix, at(0)));
    CALL("mq_send", mq_send(posix, at(0), 50, 3));
    CALL("mq_receive", mq_receive(posix, at(0), 100, at(1)));
    CALL("mq_receive none", mq_receive(posix, at(0), 100, at(1)));
    CALL("mq_receive fails", mq_receive(posix, at(0), 10, at(1)));
    TRY("mq_timedreceive", *(struct timespec *)at(2) = (struct timespec){1, 0};
        r = mq_timedreceive(posix, at(0), 100, at(1), at(2)));
    TRY("mq_setattr", memset(at(0), 0, 64); r = mq_setattr(posix, at(0), at(1)));
    mq_close(posix);
    mq_unlink(name);
}

static void asynchronous(int file)
{
    struct iocb *block = at(0), **list = at(1);
    struct perf_event_attr *attr = at(0);
    struct io_uring_params *params = at(0);
    aio_context_t context = 0;
    int fd, memory;

    TRY("io_setup", longs(0)[0] = 0; r = syscall(SYS_io_setup, 4, at(0));
        context = (aio_context_t)longs(0)[0]);
    TRY("io_setup fails", longs(0)[0] = 0; r = syscall(SYS_io_setup, 0, at(0)));
    TRY("io_submit", memset(block, 0, sizeof(*block)); block->aio_lio_opcode = IOCB_CMD_PREAD;
        block->aio_fildes = (unsigned)file; block->aio_buf = (uintptr_t)at(2);
        block->aio_nbytes = 100; list[0] = block; r = syscall(SYS_io_submit, context, 1, list);
        if (r == 1) syscall(SYS_io_getevents, context, 1, 4, at(3), NULL));
    CALL("io_getevents none", syscall(SYS_io_getevents, context, 0, 4, at(3), NULL));
    CALL("io_pgetevents none", syscall(SYS_io_pgetevents, context, 0, 4, at(3), NULL, NULL));
    CALL("io_cancel", syscall(SYS_io_cancel, context, at(0), at(1)));
    syscall(SYS_io_destroy, context);
    TRY("io_uring_setup", memset(params, 0, sizeof(*params));
        r = fd = (int)syscall(SYS_io_uring_setup, 4, params));
    TRY("io_uring_setup fails", memset(params, 0xff, sizeof(*params));
        r = syscall(SYS_io_uring_setup, 4, params));
    TRY("io_uring probe", memset(at(0), 0, 16 + 64 * 8);
        r = syscall(SYS_io_uring_register, fd, 8, at(0), 64));
    close(fd);
    TRY("perf_event_open", memset(attr, 0, sizeof(*attr)); attr->size = sizeof(*attr);
        attr->type = PERF_TYPE_SOFTWARE; attr->config = PERF_COUNT_SW_TASK_CLOCK;
        r = fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, 0));
    CALL("read of a counter", read(fd, at(0), 100));
    CALL("PERF_EVENT_IOC_ID", ioctl(fd, PERF_EVENT_IOC_ID, at(0)));
    close(fd);
    TRY("perf_event_open of a future size", memset(attr, 0xff, 300); attr->size = 300;
        r = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0));
    fd = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(fd, temporary, IN_ATTRIB);
    CALL("read of inotify, empty", read(fd, at(0), 300));
    chmod(temporary, 0644);
    CALL("FIONREAD of inotify", ioctl(fd, FIONREAD, at(0)));
    CALL("read of inotify", read(fd, at(0), 300));
    close(fd);
    fd = fanotify_init(FAN_NONBLOCK, O_RDONLY);
    fanotify_mark(fd, FAN_MARK_ADD, FAN_CLOSE_WRITE, AT_FDCWD, temporary);
    close(open(temporary, O_WRONLY));
    TRY("read of fanotify", r = read(fd, at(0), 300); if (r > 0) close(ints(0)[4]));
    close(fd);
    memory = memfd_create("memory", MFD_ALLOW_SEALING);
    CALL("read of a memfd", ((void)!write(memory, "abcdefgh", 8), pread(memory, at(0), 100, 0)));
    close(memory);
}

static void futexes(void)
{
    TRY("futex wake op", ints(0)[0] = 1; ints(1)[0] = 1;
        r = syscall(SYS_futex, at(0), FUTEX_WAKE_OP, 1, 1, at(1), FUTEX_OP(1, 5, 0, 1)));
    TRY("futex lock with inheritance", ints(0)[0] = 0;
        r = syscall(SYS_futex, at(0), FUTEX_LOCK_PI, 0, NULL, NULL, 0));
    TRY("futex unlock with inheritance", ints(0)[0] = (int)syscall(SYS_gettid);
        r = syscall(SYS_futex, at(0), FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    TRY("futex wait in vain", ints(0)[0] = 1; *(struct timespec *)at(1) = (struct timespec){0, 9};
        r = syscall(SYS_futex, at(0), FUTEX_WAIT, 1, at(1), NULL, 0));
    TRY("futex wait refused", ints(0)[0] = 1;
        r = syscall(SYS_futex, at(0), FUTEX_WAIT, 2, NULL, NULL, 0));
}

/* ---- threads -------------------------------------------------------------------------------- */

static int idle_pipe[2];

/* Waits in the kernel while the other one works on the same memory. */
static void *second(void *argument)
{
    struct pollfd *p = at(5);
    fd_set *set = at(6);
    char *got = at(7);

    (void)argument;
    *p = (struct pollfd){idle_pipe[0], POLLIN, 9};
    (void)!poll(p, 1, -1);
    FD_ZERO(set);
    FD_SET(idle_pipe[0], set);
    (void)!select(idle_pipe[0] + 1, set, NULL, NULL, NULL);
    (void)!read(idle_pipe[0], got, 100);
    look(at(5), ROOM);
    look(at(6), ROOM);
    look(at(7), ROOM);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;

    (void)!pipe(idle_pipe);
    for (int i = 0; i < 4; i++) {
        begin("calls that wait while others work");
        pthread_create(&thread, NULL, second, NULL);
        usleep(2000);
        fill(at(0), ROOM);
        look(at(0), ROOM);
        text(5)[100] = 'a';
        (void)!write(idle_pipe[1], "0123456789", 10);
        usleep(1000);
        pthread_join(thread, NULL);
        end(0);
    }
    close(idle_pipe[0]);
    close(idle_pipe[1]);
}

/* ---- memory that becomes other memory ------------------------------------------------------- */

static void *anonymous(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    fill(p, size);
    look(p, size);
    return p;
}

#define CHANGES(name, p, size, ...)                                                                \
    do {                                                                                           \
        fill(p, size);                                                                             \
        TRY(name, r = (long)(__VA_ARGS__));                                                        \
        look(p, size);                                                                             \
    } while (0)

static void mappings(int file)
{
    enum { SIZE = 4 * 4096, LARGE = 40 * 4096 };
    char *p = anonymous(SIZE), *q, *end_of_heap;

    CHANGES("MADV_DONTNEED", p, SIZE, madvise(p + 4096, 4096, MADV_DONTNEED));
    CHANGES("MADV_FREE", p, SIZE, madvise(p, 8192, MADV_FREE));
    CHANGES("MADV_REMOVE", p, SIZE, madvise(p, 8192, MADV_REMOVE));
    CHANGES("MADV_WILLNEED", p, SIZE, madvise(p, 8192, MADV_WILLNEED));
    CHANGES("MADV_DONTNEED of a part", p, SIZE, madvise(p, 100, MADV_DONTNEED));
    CHANGES("MADV_DONTNEED unaligned", p, SIZE, madvise(p + 1, 100, MADV_DONTNEED));
    CHANGES("MADV_DONTNEED_LOCKED", p, SIZE, madvise(p, 8192, 24));
    CHANGES("mmap over it", p, SIZE,
            mmap(p + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0));
    CHANGES("mmap of a file over it", p, SIZE,
            mmap(p, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0));
    CHANGES("read to a mapped file", p, SIZE, pread(file, p + 100, 100, 0));
    munmap(p, SIZE);
    p = anonymous(SIZE);
    mprotect(p, SIZE, PROT_WRITE);
    CHANGES("read to memory for writing only", p, SIZE, pread(file, p + 100, 100, 0));
    CHANGES("select with memory for writing only", p, SIZE,
            (memset(p, 0xff, 128), syscall(SYS_select, 3, p, NULL, NULL, memset(p + 128, 0, 16))));
    munmap(p, SIZE);
    p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (p != MAP_FAILED) {
        fill(p, 4096);
        CALL("read beyond the end of a mapped file", pread(file, p + 4096 - 50, 100, 0));
        CALL("stat beyond the end of a mapped file", syscall(SYS_stat, "/", p + 4096));
        CALL("uname beyond the end of a mapped file", uname((void *)(p + 4096 - 65)));
        look(p, 4096);
        munmap(p, SIZE);
    }
    p = anonymous(SIZE);
    begin("mremap that grows");
    q = mremap(p, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
    look(q, 2 * SIZE);
    end(0);
    begin("mremap that shrinks and grows");
    fill(q, 2 * SIZE);
    q = mremap(q, 2 * SIZE, SIZE, 0);
    q = mremap(q, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
    look(q, 2 * SIZE);
    end(0);
    begin("mremap to a place");
    p = anonymous(2 * SIZE);
    q = mremap(q, 2 * SIZE, 2 * SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, p);
    look(p, 2 * SIZE);
    end(0);
    munmap(p, 2 * SIZE);
    p = anonymous(LARGE);
    q = anonymous(LARGE);
    CHANGES(
        "process_vm_writev of much", q, LARGE,
        process_vm_writev(getpid(), &(struct iovec){p, LARGE}, 1, &(struct iovec){q, LARGE}, 1, 0));
    CHANGES(
        "process_vm_readv of much", q, LARGE,
        process_vm_readv(getpid(), &(struct iovec){q, LARGE}, 1, &(struct iovec){p, LARGE}, 1, 0));
    munmap(p, LARGE);
    munmap(q, LARGE);
    begin("brk shrinks and grows");
    end_of_heap = sbrk(4 * 4096);
    if (end_of_heap != (void *)-1) {
        fill(end_of_heap, 4 * 4096);
        look(end_of_heap, 4 * 4096);
        sbrk(-2 * 4096);
        sbrk(2 * 4096);
        look(end_of_heap, 4 * 4096);
        sbrk(-4 * 4096);
    }
    end(0);
    CALL("mlock", mlock(arena, 4096));
    CALL("msync", msync(arena, 4096, MS_SYNC));
}

static void faults_of_users(void)
{
    struct uffdio_api *api = at(0);
    int fd;

    TRY("userfaultfd", r = fd = (int)syscall(SYS_userfaultfd, O_NONBLOCK));
    TRY("UFFDIO_API", *api = (struct uffdio_api){.api = UFFD_API}; r = ioctl(fd, UFFDIO_API, api));
    CALL("read of userfaultfd", read(fd, at(0), 100));
    close(fd);
}

static volatile unsigned long spun;

static void *spin(void *argument)
{
    sigset_t all;

    (void)argument;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (made < UINT_MAX)
        if (++spun % 4096 == 0)
            sched_yield();
    return NULL;
}

int main(int argc, char **argv)
{
    int file = mkstemp(temporary);
    pthread_t thread;

    verbose = argc > 1 && strcmp(argv[argc - 1], "loud") == 0;
    if (argc > 1 && strcmp(argv[1], "busy") == 0)
        pthread_create(&thread, NULL, spin, NULL);
    attributes(file);
    contents(file);
    control(file);
    devices();
    terminals();
    waiting();
    datagrams();
    passed(SOCK_STREAM);
    passed(SOCK_DGRAM);
    streams();
    interfaces();
    myself();
    controls();
    children();
    clocks();
    signals();
    ipc();
    asynchronous(file);
    futexes();
    threads();
    mappings(file);
    faults_of_users();
    unlink(temporary);
    printf("calls %u failed %u not offered %u\n", made, failed, refused);
    return sum == 1;
}
