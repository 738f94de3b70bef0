/* SPDX-License-Identifier: MIT */
/* Linux's system calls, by what they are rather than by number, since numbers differ between ISAs
 * (isa/abi.h); and its signals, whose numbers are the same on all ISAs that have a row. */
#ifndef ISA_SYSCALLS_H
#define ISA_SYSCALLS_H

#include <stdint.h>

/* clang-format off */
#define VS_SYS_LIST(X) \
    X(_sysctl) X(accept) X(accept4) X(access) X(acct) X(add_key) X(adjtimex) X(afs_syscall) \
    X(alarm) X(arch_prctl) X(bind) X(bpf) X(brk) X(capget) X(capset) X(chdir) X(chmod) X(chown) \
    X(chroot) X(clock_adjtime) X(clock_getres) X(clock_gettime) X(clock_nanosleep) \
    X(clock_settime) X(clone) X(clone3) X(close) X(close_range) X(connect) X(copy_file_range) \
    X(creat) X(create_module) X(delete_module) X(dup) X(dup2) X(dup3) X(epoll_create) \
    X(epoll_create1) X(epoll_ctl) X(epoll_ctl_old) X(epoll_pwait) X(epoll_pwait2) X(epoll_wait) \
    X(epoll_wait_old) X(eventfd) X(eventfd2) X(execve) X(execveat) X(exit) X(exit_group) \
    X(faccessat) X(faccessat2) X(fadvise64) X(fallocate) X(fanotify_init) X(fanotify_mark) \
    X(fchdir) X(fchmod) X(fchmodat) X(fchown) X(fchownat) X(fcntl) X(fdatasync) X(fgetxattr) \
    X(finit_module) X(flistxattr) X(flock) X(fork) X(fremovexattr) X(fsconfig) X(fsetxattr) \
    X(fsmount) X(fsopen) X(fspick) X(fstat) X(fstatfs) X(fsync) X(ftruncate) X(futex) \
    X(futex_waitv) X(futimesat) X(get_kernel_syms) X(get_mempolicy) X(get_robust_list) \
    X(get_thread_area) X(getcpu) X(getcwd) X(getdents) X(getdents64) X(getegid) X(geteuid) \
    X(getgid) X(getgroups) X(getitimer) X(getpeername) X(getpgid) X(getpgrp) X(getpid) \
    X(getpmsg) X(getppid) X(getpriority) X(getrandom) X(getresgid) X(getresuid) X(getrlimit) \
    X(getrusage) X(getsid) X(getsockname) X(getsockopt) X(gettid) X(gettimeofday) X(getuid) \
    X(getxattr) X(init_module) X(inotify_add_watch) X(inotify_init) X(inotify_init1) \
    X(inotify_rm_watch) X(io_cancel) X(io_destroy) X(io_getevents) X(io_pgetevents) X(io_setup) \
    X(io_submit) X(io_uring_enter) X(io_uring_register) X(io_uring_setup) X(ioctl) X(ioperm) \
    X(iopl) X(ioprio_get) X(ioprio_set) X(kcmp) X(kexec_file_load) X(kexec_load) X(keyctl) \
    X(kill) X(landlock_add_rule) X(landlock_create_ruleset) X(landlock_restrict_self) X(lchown) \
    X(lgetxattr) X(link) X(linkat) X(listen) X(listxattr) X(llistxattr) X(lookup_dcookie) \
    X(lremovexattr) X(lseek) X(lsetxattr) X(lstat) X(madvise) X(mbind) X(membarrier) \
    X(memfd_create) X(memfd_secret) X(migrate_pages) X(mincore) X(mkdir) X(mkdirat) X(mknod) \
    X(mknodat) X(mlock) X(mlock2) X(mlockall) X(mmap) X(modify_ldt) X(mount) X(mount_setattr) \
    X(move_mount) X(move_pages) X(mprotect) X(mq_getsetattr) X(mq_notify) X(mq_open) \
    X(mq_timedreceive) X(mq_timedsend) X(mq_unlink) X(mremap) X(msgctl) X(msgget) X(msgrcv) \
    X(msgsnd) X(msync) X(munlock) X(munlockall) X(munmap) X(name_to_handle_at) X(nanosleep) \
    X(newfstatat) X(nfsservctl) X(open) X(open_by_handle_at) X(open_tree) X(openat) X(openat2) \
    X(pause) X(perf_event_open) X(personality) X(pidfd_getfd) X(pidfd_open) X(pidfd_send_signal) \
    X(pipe) X(pipe2) X(pivot_root) X(pkey_alloc) X(pkey_free) X(pkey_mprotect) X(poll) X(ppoll) \
    X(prctl) X(pread64) X(preadv) X(preadv2) X(prlimit64) X(process_madvise) X(process_mrelease) \
    X(process_vm_readv) X(process_vm_writev) X(pselect6) X(ptrace) X(putpmsg) X(pwrite64) \
    X(pwritev) X(pwritev2) X(query_module) X(quotactl) X(quotactl_fd) X(read) X(readahead) \
    X(readlink) X(readlinkat) X(readv) X(reboot) X(recvfrom) X(recvmmsg) X(recvmsg) \
    X(remap_file_pages) X(removexattr) X(rename) X(renameat) X(renameat2) X(request_key) \
    X(restart_syscall) X(riscv_flush_icache) X(riscv_hwprobe) X(rmdir) X(rseq) X(rt_sigaction) \
    X(rt_sigpending) X(rt_sigprocmask) X(rt_sigqueueinfo) X(rt_sigreturn) X(rt_sigsuspend) \
    X(rt_sigtimedwait) X(rt_tgsigqueueinfo) X(sched_get_priority_max) X(sched_get_priority_min) \
    X(sched_getaffinity) X(sched_getattr) X(sched_getparam) X(sched_getscheduler) \
    X(sched_rr_get_interval) X(sched_setaffinity) X(sched_setattr) X(sched_setparam) \
    X(sched_setscheduler) X(sched_yield) X(seccomp) X(security) X(select) X(semctl) X(semget) \
    X(semop) X(semtimedop) X(sendfile) X(sendmmsg) X(sendmsg) X(sendto) X(set_mempolicy) \
    X(set_mempolicy_home_node) X(set_robust_list) X(set_thread_area) X(set_tid_address) \
    X(setdomainname) X(setfsgid) X(setfsuid) X(setgid) X(setgroups) X(sethostname) X(setitimer) \
    X(setns) X(setpgid) X(setpriority) X(setregid) X(setresgid) X(setresuid) X(setreuid) \
    X(setrlimit) X(setsid) X(setsockopt) X(settimeofday) X(setuid) X(setxattr) X(shmat) \
    X(shmctl) X(shmdt) X(shmget) X(shutdown) X(sigaltstack) X(signalfd) X(signalfd4) X(socket) \
    X(socketpair) X(splice) X(stat) X(statfs) X(statx) X(swapoff) X(swapon) X(symlink) \
    X(symlinkat) X(sync) X(sync_file_range) X(syncfs) X(sysfs) X(sysinfo) X(syslog) X(tee) \
    X(tgkill) X(time) X(timer_create) X(timer_delete) X(timer_getoverrun) X(timer_gettime) \
    X(timer_settime) X(timerfd_create) X(timerfd_gettime) X(timerfd_settime) X(times) X(tkill) \
    X(truncate) X(tuxcall) X(umask) X(umount2) X(uname) X(unlink) X(unlinkat) X(unshare) \
    X(uselib) X(userfaultfd) X(ustat) X(utime) X(utimensat) X(utimes) X(vfork) X(vhangup) \
    X(vmsplice) X(vserver) X(wait4) X(waitid) X(write) X(writev)
/* clang-format on */

enum vs_syscall {
    VS_SYS_none, /* not a known call */
#define NAME(name) VS_SYS_##name,
    VS_SYS_LIST(NAME)
#undef NAME
        VS_SYS_END
};

/* Returns a call's name, such as "read"; NULL for VS_SYS_none and what is no call. Static
 * storage. */
const char *vs_syscall_name(unsigned call);

/* Returns a signal's name, "SEGV" for 11; NULL if it has none. Static storage. */
const char *vs_signal_name(uint64_t number);

#endif
