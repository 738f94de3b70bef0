/* SPDX-License-Identifier: MIT */
#include "replay/calls.h"

#include <errno.h>

enum { PAGE = 4096 };
enum { MOST = 0x7ffff000 }; /* the most bytes that one call moves */

/* How many bytes a row stands for, and when they are written. */
enum rule {
    NOTHING,
    RESULT,      /* as many as the result says */
    FIXED,       /* `size`, if the call succeeds and the pointer is not null */
    SIGNAL,      /* `size`, if the result is a signal */
    INTERRUPTED, /* `size`, if a signal ended the call */
    SPECIAL,     /* as a function tells */
};

typedef int tell(const struct vs_call_made *c, const struct vs_call_memory *m);

static tell vector, poll_list, select_sets, ioctl_answer, fcntl_answer, wake_op, core_map, groups,
    name, pending, ids, two_words, robust, times_of_day, map, unmap, remap, advise, slept,
    clone_ids, clone3_ids, address, message, messages, received, sent, option, waited, waited_id,
    thread_bases, epoll_list, completions, offsets, queued, in_queue, node_status, attribute,
    capabilities, poll_until, select_until, seconds, policy, handle, anything, semaphores;

/* These stand for sizes that the ISA's ABI has. */
enum { SIZE_STAT = 0xffff, SIZE_SIGACTION = 0xfffe };

/* The calls that write, which argument says where, and the size. A call that writes in two places
 * is SPECIAL. */
static const struct row {
    uint16_t call, size;
    uint8_t rule, argument;
    tell *special;
} rows[] = {
    /* files */
    {.call = VS_SYS_getcwd, .rule = RESULT, .argument = 0},
    {.call = VS_SYS_fcntl, .rule = SPECIAL, .special = fcntl_answer},
    {.call = VS_SYS_ioctl, .rule = SPECIAL, .special = ioctl_answer},
    {.call = VS_SYS_statfs, .rule = FIXED, .argument = 1, .size = 120},
    {.call = VS_SYS_fstatfs, .rule = FIXED, .argument = 1, .size = 120},
    {.call = VS_SYS_pipe2, .rule = FIXED, .argument = 0, .size = 8},
    {.call = VS_SYS_getdents64, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_read, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_readv, .rule = SPECIAL, .special = vector},
    {.call = VS_SYS_pread64, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_preadv, .rule = SPECIAL, .special = vector},
    {.call = VS_SYS_preadv2, .rule = SPECIAL, .special = vector},
    {.call = VS_SYS_pselect6, .rule = SPECIAL, .special = select_until},
    {.call = VS_SYS_ppoll, .rule = SPECIAL, .special = poll_until},
    {.call = VS_SYS_select, .rule = SPECIAL, .special = select_until},
    {.call = VS_SYS_poll, .rule = SPECIAL, .special = poll_list},
    {.call = VS_SYS_epoll_wait, .rule = SPECIAL, .special = epoll_list},
    {.call = VS_SYS_epoll_pwait, .rule = SPECIAL, .special = epoll_list},
    {.call = VS_SYS_epoll_pwait2, .rule = SPECIAL, .special = epoll_list},
    {.call = VS_SYS_pipe, .rule = FIXED, .argument = 0, .size = 8},
    {.call = VS_SYS_getdents, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_stat, .rule = FIXED, .argument = 1, .size = SIZE_STAT},
    {.call = VS_SYS_lstat, .rule = FIXED, .argument = 1, .size = SIZE_STAT},
    {.call = VS_SYS_ustat, .rule = FIXED, .argument = 1, .size = 32},
    {.call = VS_SYS_readlink, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_getxattr, .rule = SPECIAL, .special = attribute},
    {.call = VS_SYS_lgetxattr, .rule = SPECIAL, .special = attribute},
    {.call = VS_SYS_fgetxattr, .rule = SPECIAL, .special = attribute},
    {.call = VS_SYS_listxattr, .rule = SPECIAL, .special = attribute},
    {.call = VS_SYS_llistxattr, .rule = SPECIAL, .special = attribute},
    {.call = VS_SYS_flistxattr, .rule = SPECIAL, .special = attribute},
    {.call = VS_SYS_sendfile, .rule = FIXED, .argument = 2, .size = 8},
    {.call = VS_SYS_splice, .rule = SPECIAL, .special = offsets},
    {.call = VS_SYS_copy_file_range, .rule = SPECIAL, .special = offsets},
    {.call = VS_SYS_vmsplice, .rule = SPECIAL, .special = vector},
    {.call = VS_SYS_name_to_handle_at, .rule = SPECIAL, .special = handle},
    {.call = VS_SYS_io_setup, .rule = SPECIAL, .special = anything},
    {.call = VS_SYS_io_getevents, .rule = SPECIAL, .special = completions},
    {.call = VS_SYS_io_pgetevents, .rule = SPECIAL, .special = completions},
    {.call = VS_SYS_io_cancel, .rule = FIXED, .argument = 2, .size = 32},
    {.call = VS_SYS_timerfd_settime, .rule = FIXED, .argument = 3, .size = 32},
    {.call = VS_SYS_timerfd_gettime, .rule = FIXED, .argument = 1, .size = 32},
    {.call = VS_SYS_process_vm_readv, .rule = SPECIAL, .special = vector},
    /* sockets and queues */
    {.call = VS_SYS_accept, .rule = SPECIAL, .special = address},
    {.call = VS_SYS_accept4, .rule = SPECIAL, .special = address},
    {.call = VS_SYS_getsockname, .rule = SPECIAL, .special = address},
    {.call = VS_SYS_getpeername, .rule = SPECIAL, .special = address},
    {.call = VS_SYS_getsockopt, .rule = SPECIAL, .special = option},
    {.call = VS_SYS_socketpair, .rule = FIXED, .argument = 3, .size = 8},
    {.call = VS_SYS_recvfrom, .rule = SPECIAL, .special = received},
    {.call = VS_SYS_recvmsg, .rule = SPECIAL, .special = message},
    {.call = VS_SYS_recvmmsg, .rule = SPECIAL, .special = messages},
    {.call = VS_SYS_sendmmsg, .rule = SPECIAL, .special = sent},
    {.call = VS_SYS_msgrcv, .rule = SPECIAL, .special = queued},
    {.call = VS_SYS_msgctl, .rule = FIXED, .argument = 2, .size = 120},
    {.call = VS_SYS_semctl, .rule = SPECIAL, .special = semaphores},
    {.call = VS_SYS_shmctl, .rule = FIXED, .argument = 2, .size = 112},
    {.call = VS_SYS_mq_timedreceive, .rule = SPECIAL, .special = in_queue},
    {.call = VS_SYS_mq_getsetattr, .rule = FIXED, .argument = 2, .size = 64},
    {.call = VS_SYS_readlinkat, .rule = RESULT, .argument = 2},
    {.call = VS_SYS_newfstatat, .rule = FIXED, .argument = 2, .size = SIZE_STAT},
    {.call = VS_SYS_fstat, .rule = FIXED, .argument = 1, .size = SIZE_STAT},
    {.call = VS_SYS_getrandom, .rule = RESULT, .argument = 0},
    {.call = VS_SYS_statx, .rule = FIXED, .argument = 4, .size = 256},
    /* threads */
    {.call = VS_SYS_futex, .rule = SPECIAL, .special = wake_op},
    {.call = VS_SYS_get_robust_list, .rule = SPECIAL, .special = robust},
    {.call = VS_SYS_sched_getparam, .rule = FIXED, .argument = 1, .size = 4},
    {.call = VS_SYS_sched_getaffinity, .rule = RESULT, .argument = 2},
    {.call = VS_SYS_sched_rr_get_interval, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_getcpu, .rule = SPECIAL, .special = two_words},
    {.call = VS_SYS_clone, .rule = SPECIAL, .special = clone_ids},
    {.call = VS_SYS_clone3, .rule = SPECIAL, .special = clone3_ids},
    {.call = VS_SYS_sched_getattr, .rule = FIXED, .argument = 1, .size = 56},
    {.call = VS_SYS_arch_prctl, .rule = SPECIAL, .special = thread_bases},
    {.call = VS_SYS_get_thread_area, .rule = FIXED, .argument = 0, .size = 16},
    {.call = VS_SYS_wait4, .rule = SPECIAL, .special = waited},
    {.call = VS_SYS_waitid, .rule = SPECIAL, .special = waited_id},
    /* signals */
    {.call = VS_SYS_sigaltstack, .rule = FIXED, .argument = 1, .size = 24},
    {.call = VS_SYS_rt_sigaction, .rule = FIXED, .argument = 2, .size = SIZE_SIGACTION},
    {.call = VS_SYS_rt_sigprocmask, .rule = FIXED, .argument = 2, .size = 8},
    {.call = VS_SYS_rt_sigpending, .rule = SPECIAL, .special = pending},
    {.call = VS_SYS_rt_sigtimedwait, .rule = SIGNAL, .argument = 1, .size = 128},
    /* time */
    {.call = VS_SYS_nanosleep, .rule = INTERRUPTED, .argument = 1, .size = 16},
    {.call = VS_SYS_getitimer, .rule = FIXED, .argument = 1, .size = 32},
    {.call = VS_SYS_setitimer, .rule = FIXED, .argument = 2, .size = 32},
    {.call = VS_SYS_timer_create, .rule = FIXED, .argument = 2, .size = 4},
    {.call = VS_SYS_timer_gettime, .rule = FIXED, .argument = 1, .size = 32},
    {.call = VS_SYS_timer_settime, .rule = FIXED, .argument = 3, .size = 32},
    {.call = VS_SYS_clock_gettime, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_clock_getres, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_clock_nanosleep, .rule = SPECIAL, .special = slept},
    {.call = VS_SYS_time, .rule = SPECIAL, .special = seconds},
    {.call = VS_SYS_adjtimex, .rule = FIXED, .argument = 0, .size = 208},
    {.call = VS_SYS_clock_adjtime, .rule = FIXED, .argument = 1, .size = 208},
    {.call = VS_SYS_times, .rule = FIXED, .argument = 0, .size = 32},
    {.call = VS_SYS_getrusage, .rule = FIXED, .argument = 1, .size = 144},
    {.call = VS_SYS_gettimeofday, .rule = SPECIAL, .special = times_of_day},
    /* the process */
    {.call = VS_SYS_getresuid, .rule = SPECIAL, .special = ids},
    {.call = VS_SYS_getresgid, .rule = SPECIAL, .special = ids},
    {.call = VS_SYS_getgroups, .rule = SPECIAL, .special = groups},
    {.call = VS_SYS_uname, .rule = FIXED, .argument = 0, .size = 390},
    {.call = VS_SYS_getrlimit, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_prctl, .rule = SPECIAL, .special = name},
    {.call = VS_SYS_sysinfo, .rule = FIXED, .argument = 0, .size = 112},
    {.call = VS_SYS_prlimit64, .rule = FIXED, .argument = 3, .size = 16},
    {.call = VS_SYS_capget, .rule = SPECIAL, .special = capabilities},
    {.call = VS_SYS_syslog, .rule = RESULT, .argument = 1},
    /* memory */
    {.call = VS_SYS_get_mempolicy, .rule = SPECIAL, .special = policy},
    {.call = VS_SYS_move_pages, .rule = SPECIAL, .special = node_status},
    {.call = VS_SYS_munmap, .rule = SPECIAL, .special = unmap},
    {.call = VS_SYS_mremap, .rule = SPECIAL, .special = remap},
    {.call = VS_SYS_mmap, .rule = SPECIAL, .special = map},
    {.call = VS_SYS_mincore, .rule = SPECIAL, .special = core_map},
    {.call = VS_SYS_madvise, .rule = SPECIAL, .special = advise},
};

/* Calls that write nothing, or whose effects the replay itself knows (exit, brk, rt_sigreturn). */
/* clang-format off */
#define HARMLESS(X) \
    X(eventfd2) X(dup) X(dup3) X(flock) X(mkdirat) X(unlinkat) X(symlinkat) X(linkat) \
    X(truncate) X(ftruncate) X(fallocate) X(faccessat) X(chdir) X(fchdir) X(fchmod) \
    X(fchmodat) X(fchownat) X(fchown) X(openat) X(close) X(lseek) X(write) X(writev) \
    X(pwrite64) X(pwritev) X(sync) X(fsync) X(fdatasync) X(utimensat) X(personality) X(exit) \
    X(exit_group) X(set_tid_address) X(set_robust_list) X(timer_getoverrun) X(timer_delete) \
    X(clock_settime) X(sched_setparam) X(sched_setscheduler) X(sched_getscheduler) \
    X(sched_setaffinity) X(sched_yield) X(sched_get_priority_max) X(sched_get_priority_min) \
    X(kill) X(tkill) X(tgkill) X(rt_sigsuspend) X(rt_sigqueueinfo) X(rt_sigreturn) \
    X(setpriority) X(getpriority) X(setpgid) X(getpgid) X(getsid) X(setsid) X(setrlimit) \
    X(umask) X(getpid) X(getppid) X(getuid) X(geteuid) X(getgid) X(getegid) X(gettid) \
    X(readahead) X(brk) X(fadvise64) X(mprotect) X(msync) X(mlock) X(munlock) X(mlockall) \
    X(munlockall) X(rt_tgsigqueueinfo) X(renameat2) \
    X(membarrier) X(mlock2) X(rseq) X(close_range) X(faccessat2) X(open) X(creat) X(access) \
    X(lchown) X(chown) X(chmod) X(rename) X(renameat) X(mkdir) X(rmdir) X(link) X(unlink) \
    X(symlink) X(dup2) X(epoll_create) X(epoll_create1) X(epoll_ctl) X(eventfd) X(signalfd) \
    X(signalfd4) X(inotify_init) X(inotify_init1) X(inotify_add_watch) X(inotify_rm_watch) \
    X(timerfd_create) X(memfd_create) X(memfd_secret) X(openat2) X(mknod) X(mknodat) X(utime) \
    X(utimes) X(futimesat) X(setxattr) X(lsetxattr) X(fsetxattr) X(removexattr) \
    X(lremovexattr) X(fremovexattr) X(sync_file_range) X(syncfs) X(tee) X(sendto) X(sendmsg) \
    X(connect) X(bind) X(listen) X(shutdown) X(socket) X(setsockopt) X(pwritev2) X(fork) \
    X(vfork) X(execve) X(execveat) X(pause) X(alarm) X(getpgrp) X(setuid) X(setgid) \
    X(setreuid) X(setregid) X(setresuid) X(setresgid) X(setgroups) X(setfsuid) X(setfsgid) \
    X(sethostname) X(setdomainname) X(capset) X(chroot) X(mount) X(umount2) X(ioprio_get) \
    X(ioprio_set) X(sched_setattr) X(restart_syscall) X(seccomp) X(unshare) X(setns) X(kcmp) \
    X(acct) X(msgget) X(msgsnd) X(semget) X(semop) X(semtimedop) X(shmget) X(mq_open) \
    X(mq_unlink) X(mq_timedsend) X(mq_notify) X(mbind) X(set_mempolicy) X(migrate_pages) \
    X(pkey_alloc) X(pkey_free) X(pkey_mprotect) X(set_mempolicy_home_node) X(pidfd_open) \
    X(pidfd_getfd) X(pidfd_send_signal) X(process_madvise) X(process_mrelease) X(futex_waitv) \
    X(io_submit) X(io_destroy) X(landlock_create_ruleset) X(landlock_add_rule) \
    X(landlock_restrict_self) X(perf_event_open) X(fanotify_init) X(fanotify_mark) \
    X(settimeofday) X(set_thread_area) X(vhangup) X(sysfs) X(open_by_handle_at) X(userfaultfd) \
    X(iopl) X(ioperm)
/* clang-format on */

static const uint16_t harmless[] = {
#define CALL(name) VS_SYS_##name,
    HARMLESS(CALL)
#undef CALL
        VS_SYS_riscv_hwprobe,
    VS_SYS_riscv_flush_icache,
};

static int64_t outcome(const struct vs_call_made *c)
{
    return (int64_t)c->result;
}

/* Returns whether the call succeeded, or failed half-way, when a part may be written; *exact tells
 * which. */
static bool did(const struct vs_call_made *c, bool *exact)
{
    *exact = outcome(c) != -EFAULT;
    return outcome(c) >= 0 || !*exact;
}

static int put(const struct vs_call_memory *m, uint64_t addr, uint64_t size, bool exact)
{
    return addr && size ? m->wrote(m->context, addr, size, exact) : 0;
}

static int everything(const struct vs_call_memory *m)
{
    return m->wrote(m->context, 0, VS_CALL_EVERYTHING, false);
}

static uint64_t pages(uint64_t size)
{
    return size > UINT64_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE;
}

/* ---- those that are like no other ------------------------------------------------------------ */

static int vector(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { PARTS_MOST = 1024 };
    uint64_t left = outcome(c) > 0 && c->result <= MOST ? c->result : 0;
    for (uint64_t i = 0; i < c->args[2] && i < PARTS_MOST && left; i++) {
        struct vs_abi_iovec part;
        if (m->read(m->context, c->args[1] + i * sizeof(part), (uint8_t *)&part, sizeof(part)) !=
            sizeof(part))
            return everything(m);
        uint64_t size = part.size < left ? part.size : left;
        int err = put(m, part.base, size, true);
        if (err)
            return err;
        left -= size;
    }
    return 0;
}

static int poll_list(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool exact;
    int err = 0;
    if (!did(c, &exact) || c->args[1] > PAGE)
        return 0;
    for (uint64_t i = 0; i < c->args[1] && !err; i++)
        err = put(m, c->args[0] + i * sizeof(struct vs_abi_pollfd) + 6, 2, exact);
    return err;
}

static int select_sets(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { DESCRIPTORS = 1024 };
    bool exact;
    uint64_t count = (uint32_t)c->args[0] < DESCRIPTORS ? (uint32_t)c->args[0] : DESCRIPTORS;
    int err = 0;
    if (!did(c, &exact))
        return 0;
    for (unsigned i = 1; i <= 3 && !err; i++)
        err = put(m, c->args[i], (count + 63) / 64 * 8, exact);
    return err;
}

/* A real kernel also says how much of the time was left. */
static int time_left(const struct vs_call_made *c, const struct vs_call_memory *m,
                     unsigned argument)
{
    return c->args[argument] ? put(m, c->args[argument], 16, false) : 0;
}

static int poll_until(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = poll_list(c, m);
    return err || c->abi->signals ? err : time_left(c, m, 2);
}

static int select_until(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = select_sets(c, m);
    return err || c->abi->signals ? err : time_left(c, m, 4);
}

static int epoll_list(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    uint64_t count = outcome(c) > 0 ? c->result : 0;
    return count <= MOST / 16 ? put(m, c->args[1], count * c->abi->epoll_size, true) : 0;
}

static int completions(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    uint64_t count = outcome(c) > 0 ? c->result : 0;
    return count <= MOST / 32 ? put(m, c->args[3], count * 32, true) : 0;
}

/* Where two files were read and written. */
static int offsets(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = outcome(c) >= 0 ? put(m, c->args[1], 8, false) : 0;
    return !err && outcome(c) >= 0 ? put(m, c->args[3], 8, false) : err;
}

/* With a size of 0, these only tell how long it is. */
static int attribute(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool lists =
        c->what == VS_SYS_listxattr || c->what == VS_SYS_llistxattr || c->what == VS_SYS_flistxattr;
    unsigned at = lists ? 1 : 2;
    return outcome(c) > 0 && c->args[at + 1] >= c->result ? put(m, c->args[at], c->result, true)
                                                          : 0;
}

static int handle(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { HANDLE_MOST = 8 + 128 };
    int err = put(m, c->args[2], HANDLE_MOST, false);
    return err ? err : put(m, c->args[3], 4, false);
}

static int anything(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) < 0 ? 0 : everything(m);
}

static int ioctl_answer(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    static const struct {
        uint32_t request;
        uint8_t size;
    } requests[] = {{0x5401, 36}, {0x5413, 8}, {0x541b, 4}, {0x540f, 4}}; /* TCGETS, TIOCGWINSZ,
                                                                           * FIONREAD, TIOCGPGRP */
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && outcome(c) >= 0; i++)
        if ((uint32_t)c->args[1] == requests[i].request)
            return put(m, c->args[2], requests[i].size, true);
    /* Newer requests say how many bytes they write; older ones are small. */
    enum { OLD_MOST = 256 };
    uint32_t size = (uint32_t)c->args[1] >> 16 & 0x3fff, direction = (uint32_t)c->args[1] >> 30;
    if (c->abi->signals || outcome(c) < 0 || c->args[2] < PAGE)
        return 0;
    return direction & 2 ? put(m, c->args[2], size, false)
                         : put(m, c->args[2], direction ? 0 : OLD_MOST, false);
}

static int fcntl_answer(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GETLK = 5, FLOCK_SIZE = 32 };
    return (uint32_t)c->args[1] == GETLK && outcome(c) >= 0 ? put(m, c->args[2], FLOCK_SIZE, true)
                                                            : 0;
}

/* Native runs tell of the word that a call waited for or woke others at as if it was written. */
static int wake_op(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { WAKE_OP = 5, COMMAND = 127 };
    if (outcome(c) < 0)
        return 0;
    int err = c->abi->signals ? 0 : put(m, c->args[0], 4, false);
    return !err && (c->args[1] & COMMAND) == WAKE_OP ? put(m, c->args[4], 4, true) : err;
}

/* Only a sleep for some time, not one until some time, tells what is left of it. */
static int slept(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { ABSOLUTE = 1 };
    return outcome(c) == -EINTR && !(c->args[1] & ABSOLUTE) ? put(m, c->args[3], 16, true) : 0;
}

/* mincore writes a byte for each page. */
static int core_map(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool exact;
    return did(c, &exact) ? put(m, c->args[2], pages(c->args[1]) / PAGE, exact) : 0;
}

static int groups(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return c->args[0] && outcome(c) > 0 && outcome(c) <= 65536
               ? put(m, c->args[1], 4 * c->result, true)
               : 0;
}

static int name(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GET_NAME = 16 };
    return c->args[0] == GET_NAME && outcome(c) >= 0 ? put(m, c->args[1], 16, true) : 0;
}

static int pending(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], c->args[1] < 8 ? c->args[1] : 8, true) : 0;
}

/* The call writes so many bytes at each of `count` arguments from `first` on, or fewer if one is
 * bad. */
static int at_each(const struct vs_call_made *c, const struct vs_call_memory *m, unsigned first,
                   unsigned count, const uint8_t *sizes)
{
    bool exact;
    int err = 0;
    if (!did(c, &exact))
        return 0;
    for (unsigned i = 0; i < count && !err; i++)
        err = put(m, c->args[first + i], sizes[i], exact);
    return err;
}

static int ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 3, (const uint8_t[]){4, 4, 4});
}

static int two_words(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 2, (const uint8_t[]){4, 4});
}

static int times_of_day(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 2, (const uint8_t[]){16, 8});
}

static int robust(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 1, 2, (const uint8_t[]){8, 8});
}

static int map(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) > 0 ? put(m, c->result, pages(c->args[1]), true) : 0;
}

static int unmap(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], pages(c->args[1]), true) : 0;
}

/* Memory that stays in its place keeps its contents. */
static int remap(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    uint64_t old = pages(c->args[1]), size = pages(c->args[2]);
    if (outcome(c) <= 0)
        return 0;
    if (c->result == c->args[0]) {
        uint64_t lesser = old < size ? old : size, more = old < size ? size : old;
        return more > lesser ? put(m, c->args[0] + lesser, more - lesser, true) : 0;
    }
    int err = put(m, c->args[0], old, true);
    return err ? err : put(m, c->result, size, true);
}

/* Memory of files keeps its contents, but it is not known here which memory that is. */
static int advise(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { DONTNEED = 4 };
    return c->args[2] == DONTNEED && outcome(c) >= 0 ? put(m, c->args[0], pages(c->args[1]), false)
                                                     : 0;
}

/* ---- sockets and queues ---------------------------------------------------------------------- */

/* Gets a number of 4 bytes that the program gave; if it is not known, the most that it can be. */
static uint32_t size_given(const struct vs_call_memory *m, uint64_t addr, uint32_t most)
{
    uint32_t size;
    bool known = m->read(m->context, addr, (uint8_t *)&size, sizeof(size)) == sizeof(size);
    return known && size < most ? size : most;
}

/* An address and its size, whose capacity the size said before. */
static int put_address(const struct vs_call_memory *m, uint64_t addr, uint64_t size)
{
    enum { ADDRESS_MOST = 128 };
    if (!addr || !size)
        return 0;
    int err = put(m, addr, size_given(m, size, ADDRESS_MOST), false);
    return err ? err : put(m, size, 4, false);
}

static int address(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) < 0 ? 0 : put_address(m, c->args[1], c->args[2]);
}

static int option(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = outcome(c) < 0 ? 0 : put(m, c->args[3], size_given(m, c->args[4], PAGE), false);
    return err || outcome(c) < 0 ? err : put(m, c->args[4], 4, false);
}

static int received(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    if (outcome(c) < 0 || c->result > MOST)
        return 0;
    uint64_t size = c->result < c->args[2] ? c->result : c->args[2];
    int err = put(m, c->args[1], size, true);
    return err ? err : put_address(m, c->args[4], c->args[5]);
}

struct header { /* struct msghdr */
    uint64_t name, name_size, parts, part_count, control, control_size, flags;
};

static int put_message(const struct vs_call_made *c, const struct vs_call_memory *m, uint64_t at,
                       uint64_t size)
{
    struct header h;
    if (m->read(m->context, at, (uint8_t *)&h, sizeof(h)) != sizeof(h))
        return everything(m);
    const struct vs_call_made parts = {
        .abi = c->abi, .args = {0, h.parts, h.part_count}, .result = size};
    int err = vector(&parts, m);
    if (!err && h.name)
        err = put(m, h.name, (uint32_t)h.name_size, false);
    if (!err && h.control)
        err = put(m, h.control, h.control_size < PAGE * 16 ? h.control_size : PAGE * 16, false);
    return err ? err : put(m, at, sizeof(h), false);
}

static int message(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) < 0 ? 0 : put_message(c, m, c->args[1], c->result);
}

enum { MESSAGE = 64 }; /* bytes of a struct mmsghdr: a header, and the size of what was moved */

static int messages(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = 0;
    for (uint64_t i = 0; outcome(c) > 0 && i < c->result && i < PAGE && !err; i++)
        if (!(err = put_message(c, m, c->args[1] + i * MESSAGE, MOST)))
            err = put(m, c->args[1] + i * MESSAGE + sizeof(struct header), 4, false);
    return err || outcome(c) < 0 ? err : time_left(c, m, 4);
}

static int sent(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = 0;
    for (uint64_t i = 0; outcome(c) > 0 && i < c->result && i < PAGE && !err; i++)
        err = put(m, c->args[1] + i * MESSAGE + sizeof(struct header), 4, true);
    return err;
}

static int queued(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 && c->result <= MOST ? put(m, c->args[1], 8 + c->result, true) : 0;
}

static int in_queue(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    if (outcome(c) < 0 || c->result > MOST)
        return 0;
    int err = put(m, c->args[1], c->result, true);
    return err ? err : put(m, c->args[3], 4, true);
}

/* GETALL writes as many numbers as the set has, which is not known here. */
static int semaphores(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { COMMAND = 0xff, GETALL = 13, SETVAL = 16, STATUS = 104, IPC_STAT = 2, SEM_STAT = 18 };
    unsigned command = (unsigned)c->args[2] & COMMAND;
    if (outcome(c) < 0)
        return 0;
    if (command == GETALL)
        return everything(m);
    return command == IPC_STAT || command >= SEM_STAT ? put(m, c->args[3], STATUS, false) : 0;
}

/* ---- the process ----------------------------------------------------------------------------- */

enum { USAGE = 144 }; /* bytes of a struct rusage */

static int waited(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = outcome(c) > 0 ? put(m, c->args[1], 4, true) : 0;
    return err || outcome(c) <= 0 ? err : put(m, c->args[3], USAGE, true);
}

static int waited_id(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = outcome(c) >= 0 ? put(m, c->args[2], VS_ABI_INFO_SIZE, false) : 0;
    return err || outcome(c) < 0 ? err : put(m, c->args[4], USAGE, false);
}

static int thread_bases(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GET_FS = 0x1003, GET_GS = 0x1004, GET_LAST = 0x1025 };
    bool gets = c->args[0] == GET_FS || c->args[0] == GET_GS;
    if (outcome(c) < 0 || (!gets && (c->args[0] <= GET_GS || c->args[0] > GET_LAST)))
        return 0;
    return put(m, c->args[1], 8, gets);
}

static int capabilities(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = put(m, c->args[0], 8, false);
    return err || outcome(c) < 0 ? err : put(m, c->args[1], 24, false);
}

static int seconds(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], 8, true) : 0;
}

static int policy(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    int err = outcome(c) >= 0 ? put(m, c->args[0], 4, true) : 0;
    uint64_t size = c->args[2] < PAGE * 8 ? (c->args[2] + 63) / 64 * 8 : PAGE;
    return err || outcome(c) < 0 ? err : put(m, c->args[1], size, false);
}

static int node_status(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 && c->args[1] < MOST / 4 ? put(m, c->args[4], 4 * c->args[1], true) : 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

enum {
    PARENT_SETTID = 0x00100000,
    CHILD_CLEARTID = 0x00200000,
    CHILD_SETTID = 0x01000000,
};

static int tell_ids(const struct vs_call_made *c, const struct vs_call_memory *m,
                    const struct vs_abi_clone *how)
{
    int err = 0;
    if (outcome(c) <= 0)
        return 0;
    if (how->flags & PARENT_SETTID)
        err = put(m, how->parent_tid, 4, true);
    return !err && how->flags & CHILD_SETTID ? put(m, how->child_tid, 4, true) : err;
}

/* Gets what a clone was asked for. Returns false if that is not known. */
static bool get_request(const struct vs_call_made *c, const struct vs_call_memory *m,
                        struct vs_abi_clone *how)
{
    const uint64_t *a = c->args;
    if (c->what == VS_SYS_clone3) {
        if (m->read(m->context, a[0], (uint8_t *)how, sizeof(*how)) != sizeof(*how))
            return false;
        how->stack += how->stack_size;
        return true;
    }
    *how = (struct vs_abi_clone){.flags = a[0],
                                 .stack = a[1],
                                 .parent_tid = a[2],
                                 .tls = a[c->abi->clone_tls],
                                 .child_tid = a[c->abi->clone_child]};
    return true;
}

static int clone_ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    struct vs_abi_clone how;
    get_request(c, m, &how);
    return tell_ids(c, m, &how);
}

static int clone3_ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    struct vs_abi_clone how;
    if (outcome(c) <= 0)
        return 0;
    return get_request(c, m, &how) ? tell_ids(c, m, &how) : everything(m);
}

bool vs_call_starts(const struct vs_call_made *c, const struct vs_call_memory *m,
                    struct vs_call_thread *thread)
{
    struct vs_abi_clone how;
    if ((c->what != VS_SYS_clone && c->what != VS_SYS_clone3) || outcome(c) <= 0 ||
        !get_request(c, m, &how))
        return false;
    *thread = (struct vs_call_thread){how.stack, how.flags & CHILD_CLEARTID ? how.child_tid : 0,
                                      c->result, 0};
    return true;
}

int vs_call_signal(const struct vs_call_made *c)
{
    static const struct {
        uint16_t call;
        uint8_t argument;
    } senders[] = {{VS_SYS_kill, 1},
                   {VS_SYS_tkill, 1},
                   {VS_SYS_tgkill, 2},
                   {VS_SYS_rt_sigqueueinfo, 1},
                   {VS_SYS_rt_tgsigqueueinfo, 2}};
    for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++)
        if (senders[i].call == c->what) {
            uint32_t signal = (uint32_t)c->args[senders[i].argument];
            return signal <= VS_ABI_SIGNALS ? (int)signal : 0;
        }
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static size_t find_row(enum vs_syscall call)
{
    size_t i = 0;
    while (i < ROWS && rows[i].call != call)
        i++;
    return i;
}

bool vs_call_is_known(enum vs_syscall call)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (harmless[i] == call)
            return true;
    return find_row(call) < ROWS;
}

static uint64_t size_of(const struct row *row, const struct vs_abi *abi)
{
    return row->size == SIZE_STAT        ? abi->stat_size
           : row->size == SIZE_SIGACTION ? abi->sigaction_size
                                         : row->size;
}

int vs_call_tell(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    size_t i = find_row(c->what);
    if (i == ROWS)
        return outcome(c) < 0 || vs_call_is_known(c->what) ? 0 : everything(m);
    uint64_t addr = c->args[rows[i].argument], size = size_of(&rows[i], c->abi);
    switch ((enum rule)rows[i].rule) {
    case NOTHING:
        return 0;
    case RESULT:
        return outcome(c) > 0 && c->result <= MOST ? put(m, addr, c->result, true) : 0;
    case FIXED:
        return outcome(c) >= 0 ? put(m, addr, size, true) : 0;
    case SIGNAL:
        return outcome(c) > 0 ? put(m, addr, size, true) : 0;
    case INTERRUPTED:
        return outcome(c) == -EINTR ? put(m, addr, size, true) : 0;
    case SPECIAL:
        return rows[i].special(c, m);
    }
    return 0;
}
