/* SPDX-License-Identifier: MIT */
/* System calls by which the kernel writes into the program. Every buffer is filled before a call
 * and read after it: a write that was not recorded makes a load that differs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
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
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 2048 };

static unsigned char buffer[ROOM];
static uint64_t sum;

static void fill(void *p, size_t n)
{
    volatile unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        b[i] = 0x5a;
}

static void look(const void *p, size_t n)
{
    const volatile unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + b[i];
}

/* A call that writes to `buffer`. */
#define CALL(...)                                                                                  \
    do {                                                                                           \
        fill(buffer, ROOM);                                                                        \
        look(buffer, ROOM);                                                                        \
        (void)!(__VA_ARGS__);                                                                      \
        look(buffer, ROOM);                                                                        \
    } while (0)

/* A call that writes to an object of its own. */
#define INTO(object, ...)                                                                          \
    do {                                                                                           \
        look(&(object), sizeof(object));                                                           \
        (void)!(__VA_ARGS__);                                                                      \
        look(&(object), sizeof(object));                                                           \
    } while (0)

static void files(void)
{
    int fd = open("/proc/self/exe", O_RDONLY), dir = open("/", O_RDONLY | O_DIRECTORY), temp;
    struct iovec two[2] = {{buffer, 100}, {buffer + 200, 300}};
    char name[] = "/tmp/real_callsXXXXXX";
    off_t at = 16;
    loff_t from = 4, to = 0;

    CALL(read(fd, buffer, 777));
    CALL(pread(fd, buffer + 3, 64, 5));
    CALL(readv(fd, two, 2));
    CALL(preadv(fd, two, 2, 9));
    CALL(preadv2(fd, two, 2, 9, 0));
    CALL(fstat(fd, (struct stat *)buffer));
    CALL(stat("/", (struct stat *)buffer));
    CALL(lstat("/proc/self", (struct stat *)buffer));
    CALL(statx(AT_FDCWD, "/", 0, STATX_ALL, (struct statx *)buffer));
    CALL(statfs("/", (struct statfs *)buffer));
    CALL(fstatfs(fd, (struct statfs *)buffer));
    CALL(syscall(SYS_getdents64, dir, buffer, ROOM));
    CALL(readlink("/proc/self/exe", (char *)buffer, 100));
    CALL(readlinkat(dir, "proc/self/exe", (char *)buffer, 100));
    CALL(syscall(SYS_getcwd, buffer, 200));
    CALL(getxattr("/", "user.none", buffer, 100));
    CALL(listxattr("/", (char *)buffer, 100));
    CALL(ioctl(fd, FIONREAD, buffer));
    CALL(fcntl(fd, F_GETLK, (struct flock *)buffer));
    CALL(fcntl(fd, F_GETOWN_EX, (struct f_owner_ex *)buffer));
    temp = mkstemp(name);
    INTO(at, sendfile(temp, fd, &at, 100));
    INTO(from, copy_file_range(fd, &from, temp, &to, 50, 0));
    look(&to, sizeof(to));
    CALL(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", buffer, buffer + 512, 0));
    unlink(name);
    close(temp);
    close(fd);
    close(dir);
}

static void pipes(void)
{
    int ends[2], pair[2], duplicate[2], n = 0;
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd poll_fd;
    struct timeval short_time = {0, 1000};
    struct timespec wait = {0, 1000000};
    fd_set set;

    INTO(ends, pipe(ends));
    INTO(duplicate, pipe2(duplicate, O_CLOEXEC));
    INTO(pair, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    (void)!write(ends[1], "0123456789", 10);
    INTO(n, ioctl(ends[0], FIONREAD, &n));
    poll_fd = (struct pollfd){.fd = ends[0], .events = POLLIN};
    INTO(poll_fd, poll(&poll_fd, 1, 10));
    INTO(poll_fd, syscall(SYS_ppoll, &poll_fd, 1, &wait, NULL, 8));
    look(&wait, sizeof(wait));
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    INTO(set, select(ends[0] + 1, &set, NULL, NULL, &short_time));
    FD_ZERO(&set);
    INTO(short_time, select(0, &set, NULL, NULL, &short_time));
    INTO(wait, syscall(SYS_pselect6, 0, NULL, NULL, NULL, &wait, NULL));
    n = epoll_create1(0);
    epoll_ctl(n, EPOLL_CTL_ADD, ends[0], &event);
    CALL(epoll_wait(n, (struct epoll_event *)buffer, 4, 10));
    CALL(epoll_pwait(n, (struct epoll_event *)buffer, 4, 10, NULL));
    CALL(syscall(SYS_epoll_pwait2, n, buffer, 4, &wait, NULL, 8));
    close(n);
    CALL(tee(ends[0], duplicate[1], 5, 0));
    CALL(read(duplicate[0], buffer, 5));
    CALL(read(ends[0], buffer, 20));
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(duplicate[i]);
        close(pair[i]);
    }
}

static void sockets(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0vestige-real-calls"};
    struct iovec one = {buffer, 64}, out = {"abcdefgh", 8};
    char control[256];
    struct msghdr message = {.msg_iov = &one,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control),
                             .msg_name = buffer + 256,
                             .msg_namelen = 128};
    struct msghdr sent = {.msg_iov = &out, .msg_iovlen = 1};
    struct mmsghdr many[2] = {{.msg_hdr = {.msg_iov = &one, .msg_iovlen = 1}}};
    struct mmsghdr sent_many[1] = {{.msg_hdr = {.msg_iov = &out, .msg_iovlen = 1}}};
    socklen_t length = sizeof(address);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), got;
    int pair[2], value = 0;

    snprintf(address.sun_path + 1, 60, "vestige-real-%d", getpid());
    bind(listener, (struct sockaddr *)&address, sizeof(address));
    listen(listener, 4);
    connect(client, (struct sockaddr *)&address, sizeof(address));
    INTO(length, got = accept4(listener, (struct sockaddr *)buffer, &length, 0));
    length = 100;
    CALL(getsockname(listener, (struct sockaddr *)buffer, &length));
    CALL(getpeername(client, (struct sockaddr *)buffer, &length));
    look(&length, sizeof(length));
    length = sizeof(value);
    INTO(value, getsockopt(client, SOL_SOCKET, SO_SNDBUF, &value, &length));
    length = 12;
    CALL(getsockopt(client, SOL_SOCKET, SO_PEERCRED, buffer, &length));
    send(client, "hello, world", 12, 0);
    CALL(recv(got, buffer, 5, 0));
    length = 100;
    CALL(recvfrom(got, buffer, 50, 0, (struct sockaddr *)(buffer + 100), &length));
    sendmsg(client, &sent, 0);
    fill(control, sizeof(control));
    INTO(message, recvmsg(got, &message, 0));
    look(buffer, ROOM);
    look(control, sizeof(control));
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    INTO(sent_many, sendmmsg(pair[0], sent_many, 1, 0));
    INTO(many, recvmmsg(pair[1], many, 1, 0, NULL));
    look(buffer, ROOM);
    close(pair[0]);
    close(pair[1]);
    close(listener);
    close(client);
    close(got);
}

static void passed_descriptor(void)
{
    int pair[2], fd = 0;
    char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
    struct iovec one = {&byte, 1};
    struct msghdr m = {.msg_iov = &one,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    sendmsg(pair[0], &m, 0);
    fill(control, sizeof(control));
    m.msg_controllen = sizeof(control);
    INTO(m, recvmsg(pair[1], &m, MSG_CMSG_CLOEXEC));
    look(control, sizeof(control));
    look(&byte, 1);
    memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    close(fd);
    close(pair[0]);
    close(pair[1]);
}

static void process(void)
{
    struct __user_cap_header_struct cap = {.version = _LINUX_CAPABILITY_VERSION_3};
    uid_t ids[3];
    size_t length;
    unsigned cpu, node;

    CALL(uname((struct utsname *)buffer));
    CALL(sysinfo((struct sysinfo *)buffer));
    CALL(getrusage(RUSAGE_SELF, (struct rusage *)buffer));
    CALL(getrlimit(RLIMIT_NOFILE, (struct rlimit *)buffer));
    CALL(prlimit(0, RLIMIT_STACK, NULL, (struct rlimit *)buffer));
    CALL(syscall(SYS_times, buffer));
    CALL(syscall(SYS_getrandom, buffer, 300, 0));
    CALL(syscall(SYS_sched_getaffinity, 0, 128, buffer));
    CALL(sched_getparam(0, (struct sched_param *)buffer));
    CALL(syscall(SYS_sched_getattr, 0, buffer, 56, 0));
    CALL(syscall(SYS_sched_rr_get_interval, 0, buffer));
    CALL(getgroups(100, (gid_t *)buffer));
    INTO(ids, getresuid(&ids[0], &ids[1], &ids[2]));
    INTO(ids, getresgid(&ids[0], &ids[1], &ids[2]));
    CALL(prctl(PR_GET_NAME, buffer));
    CALL(prctl(PR_GET_PDEATHSIG, buffer));
    CALL(syscall(SYS_arch_prctl, 0x1003, buffer));
    CALL(syscall(SYS_capget, &cap, buffer));
    INTO(length, syscall(SYS_get_robust_list, 0, buffer, &length));
    look(buffer, 8);
    INTO(cpu, syscall(SYS_getcpu, &cpu, &node, NULL));
    look(&node, sizeof(node));
    CALL(mincore((void *)((uintptr_t)buffer & -4096ul), 4096, buffer + 100));
    CALL(syscall(SYS_get_mempolicy, buffer, buffer + 64, 64, NULL, 0));
    CALL(syscall(SYS_getpriority, 0, 0));
    CALL(syscall(SYS_ioprio_get, 1, 0));
    CALL(process_vm_readv(getpid(), &(struct iovec){buffer + 1000, 50}, 1, &(struct iovec){&sum, 8},
                          1, 0));
}

static void clocks(void)
{
    struct itimerval interval = {{0, 0}, {100, 0}}, old;
    struct itimerspec spec = {.it_value = {100, 0}}, left;
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    int fd;

    CALL(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, buffer));
    CALL(syscall(SYS_clock_getres, CLOCK_MONOTONIC, buffer));
    CALL(syscall(SYS_gettimeofday, buffer, buffer + 64));
    CALL(syscall(SYS_time, buffer));
    fill(&old, sizeof(old));
    INTO(old, setitimer(ITIMER_REAL, &interval, &old));
    INTO(old, getitimer(ITIMER_REAL, &old));
    interval.it_value.tv_sec = 0;
    INTO(old, setitimer(ITIMER_REAL, &interval, &old));
    fill(&timer, sizeof(timer));
    INTO(timer, timer_create(CLOCK_MONOTONIC, &none, &timer));
    fill(&left, sizeof(left));
    INTO(left, timer_settime(timer, 0, &spec, &left));
    INTO(left, timer_gettime(timer, &left));
    timer_delete(timer);
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    INTO(left, timerfd_settime(fd, 0, &spec, &left));
    INTO(left, timerfd_gettime(fd, &left));
    close(fd);
    fill(buffer, ROOM);
    memset(buffer, 0, sizeof(struct timex));
    look(buffer, ROOM);
    (void)!adjtimex((struct timex *)buffer);
    look(buffer, ROOM);
}

static void handle(int number)
{
    (void)number;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handle}, before;
    struct itimerval soon = {{0, 0}, {0, 20000}};
    struct timespec long_time = {5, 0}, left;
    struct signalfd_siginfo got;
    uint64_t number = 3;
    siginfo_t info;
    sigset_t set, old;
    stack_t stack;
    int fd;

    fill(&before, sizeof(before));
    INTO(before, sigaction(SIGALRM, &action, &before));
    INTO(before, sigaction(SIGALRM, NULL, &before));
    fill(&left, sizeof(left));
    look(&left, sizeof(left));
    setitimer(ITIMER_REAL, &soon, NULL);
    INTO(left, nanosleep(&long_time, &left));
    setitimer(ITIMER_REAL, &soon, NULL);
    INTO(left, clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    fill(&old, sizeof(old));
    INTO(old, sigprocmask(SIG_BLOCK, &set, &old));
    fill(&stack, sizeof(stack));
    INTO(stack, sigaltstack(NULL, &stack));
    raise(SIGUSR1);
    INTO(old, sigpending(&old));
    fill(&info, sizeof(info));
    INTO(info, sigwaitinfo(&set, &info));
    fd = signalfd(-1, &set, 0);
    kill(getpid(), SIGUSR1);
    fill(&got, sizeof(got));
    INTO(got, read(fd, &got, sizeof(got)));
    close(fd);
    kill(getpid(), SIGUSR1);
    INTO(info, sigtimedwait(&set, &info, &long_time));
    fd = eventfd(2, 0);
    INTO(number, read(fd, &number, 8));
    close(fd);
}

static void children(void)
{
    struct rusage usage;
    siginfo_t info;
    int status = 0x5a5a5a5a;
    pid_t child = fork();

    if (child == 0)
        _exit(3);
    fill(&info, sizeof(info));
    INTO(info, waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
    fill(&usage, sizeof(usage));
    INTO(status, wait4(child, &status, 0, &usage));
    look(&usage, sizeof(usage));
    sum += (uint64_t)status;
}

static void ipc(void)
{
    struct {
        long type;
        char text[32];
    } message = {1, "message"};
    int queue = msgget(IPC_PRIVATE, 0600), sems = semget(IPC_PRIVATE, 2, 0600), shm;
    unsigned short values[2] = {7, 7};
    void *at;

    msgsnd(queue, &message, 16, 0);
    fill(&message, sizeof(message));
    INTO(message, msgrcv(queue, &message, 32, 0, 0));
    CALL(msgctl(queue, IPC_STAT, (struct msqid_ds *)buffer));
    msgctl(queue, IPC_RMID, NULL);
    INTO(values, semctl(sems, 0, GETALL, values));
    CALL(semctl(sems, 0, IPC_STAT, buffer));
    semctl(sems, 0, IPC_RMID);
    shm = shmget(IPC_PRIVATE, 4096, 0600);
    at = shmat(shm, NULL, 0);
    CALL(shmctl(shm, IPC_STAT, (struct shmid_ds *)buffer));
    shmctl(shm, IPC_RMID, NULL);
    if (at != (void *)-1) {
        fill(at, 4096);
        look(at, 4096);
        shmdt(at);
    }
}

static void others(void)
{
    int fd = inotify_init1(IN_NONBLOCK), terminal, word = 0;
    char name[] = "/tmp/real_callsXXXXXX";
    struct winsize size;

    close(mkstemp(name));
    inotify_add_watch(fd, name, IN_DELETE_SELF | IN_ATTRIB);
    unlink(name);
    CALL(read(fd, buffer, 200));
    close(fd);
    terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    if (terminal >= 0) {
        fill(&size, sizeof(size));
        INTO(size, ioctl(terminal, TIOCGWINSZ, &size));
        CALL(ioctl(terminal, 0x5401 /* TCGETS */, buffer));
        CALL(ioctl(terminal, 0x80045430 /* TIOCGPTN */, buffer));
        close(terminal);
    }
    INTO(word, syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, &word, (1 << 28) | (5 << 12)));
    INTO(word, syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
    INTO(word, syscall(SYS_futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    fd = (int)syscall(SYS_memfd_create, "name", 0);
    CALL(write(fd, "abc", 3));
    CALL(pread(fd, buffer, 10, 0));
    close(fd);
}

int main(void)
{
    look(buffer, ROOM);
    files();
    pipes();
    sockets();
    passed_descriptor();
    process();
    clocks();
    signals();
    children();
    ipc();
    others();
    puts(sum ? "calls done" : "?");
    return 0;
}
