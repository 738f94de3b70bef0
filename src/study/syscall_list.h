/* SPDX-License-Identifier: MIT */
/* The names of Linux's system calls: for a file that includes one architecture's numbers.
 *
 * VS_SYSCALLS is the rows of a table of struct vs_syscall_row. The numbers come from that header as
 * text: an architecture lacks some of the calls, and the text of a macro that is not defined is its
 * own name, which is no number. */
#ifndef STUDY_SYSCALL_LIST_H
#define STUDY_SYSCALL_LIST_H

#define VS_SYSCALL_TEXT(number)   #number
#define VS_SYSCALL_EXPAND(number) VS_SYSCALL_TEXT(number)
#define VS_SYSCALL(name)          {#name, VS_SYSCALL_EXPAND(__NR_##name)},

/* clang-format off */
#define VS_SYSCALLS \
    VS_SYSCALL(_sysctl) VS_SYSCALL(accept) VS_SYSCALL(accept4) VS_SYSCALL(access) \
    VS_SYSCALL(acct) VS_SYSCALL(add_key) VS_SYSCALL(adjtimex) VS_SYSCALL(afs_syscall) \
    VS_SYSCALL(alarm) VS_SYSCALL(arch_prctl) VS_SYSCALL(bind) VS_SYSCALL(bpf) VS_SYSCALL(brk) \
    VS_SYSCALL(capget) VS_SYSCALL(capset) VS_SYSCALL(chdir) VS_SYSCALL(chmod) VS_SYSCALL(chown) \
    VS_SYSCALL(chroot) VS_SYSCALL(clock_adjtime) VS_SYSCALL(clock_getres) \
    VS_SYSCALL(clock_gettime) VS_SYSCALL(clock_nanosleep) VS_SYSCALL(clock_settime) \
    VS_SYSCALL(clone) VS_SYSCALL(clone3) VS_SYSCALL(close) VS_SYSCALL(close_range) \
    VS_SYSCALL(connect) VS_SYSCALL(copy_file_range) VS_SYSCALL(creat) VS_SYSCALL(create_module) \
    VS_SYSCALL(delete_module) VS_SYSCALL(dup) VS_SYSCALL(dup2) VS_SYSCALL(dup3) \
    VS_SYSCALL(epoll_create) VS_SYSCALL(epoll_create1) VS_SYSCALL(epoll_ctl) \
    VS_SYSCALL(epoll_ctl_old) VS_SYSCALL(epoll_pwait) VS_SYSCALL(epoll_pwait2) \
    VS_SYSCALL(epoll_wait) VS_SYSCALL(epoll_wait_old) VS_SYSCALL(eventfd) VS_SYSCALL(eventfd2) \
    VS_SYSCALL(execve) VS_SYSCALL(execveat) VS_SYSCALL(exit) VS_SYSCALL(exit_group) \
    VS_SYSCALL(faccessat) VS_SYSCALL(faccessat2) VS_SYSCALL(fadvise64) VS_SYSCALL(fallocate) \
    VS_SYSCALL(fanotify_init) VS_SYSCALL(fanotify_mark) VS_SYSCALL(fchdir) VS_SYSCALL(fchmod) \
    VS_SYSCALL(fchmodat) VS_SYSCALL(fchown) VS_SYSCALL(fchownat) VS_SYSCALL(fcntl) \
    VS_SYSCALL(fdatasync) VS_SYSCALL(fgetxattr) VS_SYSCALL(finit_module) VS_SYSCALL(flistxattr) \
    VS_SYSCALL(flock) VS_SYSCALL(fork) VS_SYSCALL(fremovexattr) VS_SYSCALL(fsconfig) \
    VS_SYSCALL(fsetxattr) VS_SYSCALL(fsmount) VS_SYSCALL(fsopen) VS_SYSCALL(fspick) \
    VS_SYSCALL(fstat) VS_SYSCALL(fstatfs) VS_SYSCALL(fsync) VS_SYSCALL(ftruncate) \
    VS_SYSCALL(futex) VS_SYSCALL(futex_waitv) VS_SYSCALL(futimesat) VS_SYSCALL(get_kernel_syms) \
    VS_SYSCALL(get_mempolicy) VS_SYSCALL(get_robust_list) VS_SYSCALL(get_thread_area) \
    VS_SYSCALL(getcpu) VS_SYSCALL(getcwd) VS_SYSCALL(getdents) VS_SYSCALL(getdents64) \
    VS_SYSCALL(getegid) VS_SYSCALL(geteuid) VS_SYSCALL(getgid) VS_SYSCALL(getgroups) \
    VS_SYSCALL(getitimer) VS_SYSCALL(getpeername) VS_SYSCALL(getpgid) VS_SYSCALL(getpgrp) \
    VS_SYSCALL(getpid) VS_SYSCALL(getpmsg) VS_SYSCALL(getppid) VS_SYSCALL(getpriority) \
    VS_SYSCALL(getrandom) VS_SYSCALL(getresgid) VS_SYSCALL(getresuid) VS_SYSCALL(getrlimit) \
    VS_SYSCALL(getrusage) VS_SYSCALL(getsid) VS_SYSCALL(getsockname) VS_SYSCALL(getsockopt) \
    VS_SYSCALL(gettid) VS_SYSCALL(gettimeofday) VS_SYSCALL(getuid) VS_SYSCALL(getxattr) \
    VS_SYSCALL(init_module) VS_SYSCALL(inotify_add_watch) VS_SYSCALL(inotify_init) \
    VS_SYSCALL(inotify_init1) VS_SYSCALL(inotify_rm_watch) VS_SYSCALL(io_cancel) \
    VS_SYSCALL(io_destroy) VS_SYSCALL(io_getevents) VS_SYSCALL(io_pgetevents) \
    VS_SYSCALL(io_setup) VS_SYSCALL(io_submit) VS_SYSCALL(io_uring_enter) \
    VS_SYSCALL(io_uring_register) VS_SYSCALL(io_uring_setup) VS_SYSCALL(ioctl) VS_SYSCALL(ioperm) \
    VS_SYSCALL(iopl) VS_SYSCALL(ioprio_get) VS_SYSCALL(ioprio_set) VS_SYSCALL(kcmp) \
    VS_SYSCALL(kexec_file_load) VS_SYSCALL(kexec_load) VS_SYSCALL(keyctl) VS_SYSCALL(kill) \
    VS_SYSCALL(landlock_add_rule) VS_SYSCALL(landlock_create_ruleset) \
    VS_SYSCALL(landlock_restrict_self) VS_SYSCALL(lchown) VS_SYSCALL(lgetxattr) VS_SYSCALL(link) \
    VS_SYSCALL(linkat) VS_SYSCALL(listen) VS_SYSCALL(listxattr) VS_SYSCALL(llistxattr) \
    VS_SYSCALL(lookup_dcookie) VS_SYSCALL(lremovexattr) VS_SYSCALL(lseek) VS_SYSCALL(lsetxattr) \
    VS_SYSCALL(lstat) VS_SYSCALL(madvise) VS_SYSCALL(mbind) VS_SYSCALL(membarrier) \
    VS_SYSCALL(memfd_create) VS_SYSCALL(memfd_secret) VS_SYSCALL(migrate_pages) \
    VS_SYSCALL(mincore) VS_SYSCALL(mkdir) VS_SYSCALL(mkdirat) VS_SYSCALL(mknod) \
    VS_SYSCALL(mknodat) VS_SYSCALL(mlock) VS_SYSCALL(mlock2) VS_SYSCALL(mlockall) \
    VS_SYSCALL(mmap) VS_SYSCALL(modify_ldt) VS_SYSCALL(mount) VS_SYSCALL(mount_setattr) \
    VS_SYSCALL(move_mount) VS_SYSCALL(move_pages) VS_SYSCALL(mprotect) VS_SYSCALL(mq_getsetattr) \
    VS_SYSCALL(mq_notify) VS_SYSCALL(mq_open) VS_SYSCALL(mq_timedreceive) \
    VS_SYSCALL(mq_timedsend) VS_SYSCALL(mq_unlink) VS_SYSCALL(mremap) VS_SYSCALL(msgctl) \
    VS_SYSCALL(msgget) VS_SYSCALL(msgrcv) VS_SYSCALL(msgsnd) VS_SYSCALL(msync) \
    VS_SYSCALL(munlock) VS_SYSCALL(munlockall) VS_SYSCALL(munmap) VS_SYSCALL(name_to_handle_at) \
    VS_SYSCALL(nanosleep) VS_SYSCALL(newfstatat) VS_SYSCALL(nfsservctl) VS_SYSCALL(open) \
    VS_SYSCALL(open_by_handle_at) VS_SYSCALL(open_tree) VS_SYSCALL(openat) VS_SYSCALL(openat2) \
    VS_SYSCALL(pause) VS_SYSCALL(perf_event_open) VS_SYSCALL(personality) VS_SYSCALL(pidfd_getfd) \
    VS_SYSCALL(pidfd_open) VS_SYSCALL(pidfd_send_signal) VS_SYSCALL(pipe) VS_SYSCALL(pipe2) \
    VS_SYSCALL(pivot_root) VS_SYSCALL(pkey_alloc) VS_SYSCALL(pkey_free) VS_SYSCALL(pkey_mprotect) \
    VS_SYSCALL(poll) VS_SYSCALL(ppoll) VS_SYSCALL(prctl) VS_SYSCALL(pread64) VS_SYSCALL(preadv) \
    VS_SYSCALL(preadv2) VS_SYSCALL(prlimit64) VS_SYSCALL(process_madvise) \
    VS_SYSCALL(process_mrelease) VS_SYSCALL(process_vm_readv) VS_SYSCALL(process_vm_writev) \
    VS_SYSCALL(pselect6) VS_SYSCALL(ptrace) VS_SYSCALL(putpmsg) VS_SYSCALL(pwrite64) \
    VS_SYSCALL(pwritev) VS_SYSCALL(pwritev2) VS_SYSCALL(query_module) VS_SYSCALL(quotactl) \
    VS_SYSCALL(quotactl_fd) VS_SYSCALL(read) VS_SYSCALL(readahead) VS_SYSCALL(readlink) \
    VS_SYSCALL(readlinkat) VS_SYSCALL(readv) VS_SYSCALL(reboot) VS_SYSCALL(recvfrom) \
    VS_SYSCALL(recvmmsg) VS_SYSCALL(recvmsg) VS_SYSCALL(remap_file_pages) VS_SYSCALL(removexattr) \
    VS_SYSCALL(rename) VS_SYSCALL(renameat) VS_SYSCALL(renameat2) VS_SYSCALL(request_key) \
    VS_SYSCALL(restart_syscall) VS_SYSCALL(riscv_flush_icache) VS_SYSCALL(riscv_hwprobe) \
    VS_SYSCALL(rmdir) VS_SYSCALL(rseq) VS_SYSCALL(rt_sigaction) VS_SYSCALL(rt_sigpending) \
    VS_SYSCALL(rt_sigprocmask) VS_SYSCALL(rt_sigqueueinfo) VS_SYSCALL(rt_sigreturn) \
    VS_SYSCALL(rt_sigsuspend) VS_SYSCALL(rt_sigtimedwait) VS_SYSCALL(rt_tgsigqueueinfo) \
    VS_SYSCALL(sched_get_priority_max) VS_SYSCALL(sched_get_priority_min) \
    VS_SYSCALL(sched_getaffinity) VS_SYSCALL(sched_getattr) VS_SYSCALL(sched_getparam) \
    VS_SYSCALL(sched_getscheduler) VS_SYSCALL(sched_rr_get_interval) \
    VS_SYSCALL(sched_setaffinity) VS_SYSCALL(sched_setattr) VS_SYSCALL(sched_setparam) \
    VS_SYSCALL(sched_setscheduler) VS_SYSCALL(sched_yield) VS_SYSCALL(seccomp) \
    VS_SYSCALL(security) VS_SYSCALL(select) VS_SYSCALL(semctl) VS_SYSCALL(semget) \
    VS_SYSCALL(semop) VS_SYSCALL(semtimedop) VS_SYSCALL(sendfile) VS_SYSCALL(sendmmsg) \
    VS_SYSCALL(sendmsg) VS_SYSCALL(sendto) VS_SYSCALL(set_mempolicy) \
    VS_SYSCALL(set_mempolicy_home_node) VS_SYSCALL(set_robust_list) VS_SYSCALL(set_thread_area) \
    VS_SYSCALL(set_tid_address) VS_SYSCALL(setdomainname) VS_SYSCALL(setfsgid) \
    VS_SYSCALL(setfsuid) VS_SYSCALL(setgid) VS_SYSCALL(setgroups) VS_SYSCALL(sethostname) \
    VS_SYSCALL(setitimer) VS_SYSCALL(setns) VS_SYSCALL(setpgid) VS_SYSCALL(setpriority) \
    VS_SYSCALL(setregid) VS_SYSCALL(setresgid) VS_SYSCALL(setresuid) VS_SYSCALL(setreuid) \
    VS_SYSCALL(setrlimit) VS_SYSCALL(setsid) VS_SYSCALL(setsockopt) VS_SYSCALL(settimeofday) \
    VS_SYSCALL(setuid) VS_SYSCALL(setxattr) VS_SYSCALL(shmat) VS_SYSCALL(shmctl) \
    VS_SYSCALL(shmdt) VS_SYSCALL(shmget) VS_SYSCALL(shutdown) VS_SYSCALL(sigaltstack) \
    VS_SYSCALL(signalfd) VS_SYSCALL(signalfd4) VS_SYSCALL(socket) VS_SYSCALL(socketpair) \
    VS_SYSCALL(splice) VS_SYSCALL(stat) VS_SYSCALL(statfs) VS_SYSCALL(statx) VS_SYSCALL(swapoff) \
    VS_SYSCALL(swapon) VS_SYSCALL(symlink) VS_SYSCALL(symlinkat) VS_SYSCALL(sync) \
    VS_SYSCALL(sync_file_range) VS_SYSCALL(syncfs) VS_SYSCALL(sysfs) VS_SYSCALL(sysinfo) \
    VS_SYSCALL(syslog) VS_SYSCALL(tee) VS_SYSCALL(tgkill) VS_SYSCALL(time) \
    VS_SYSCALL(timer_create) VS_SYSCALL(timer_delete) VS_SYSCALL(timer_getoverrun) \
    VS_SYSCALL(timer_gettime) VS_SYSCALL(timer_settime) VS_SYSCALL(timerfd_create) \
    VS_SYSCALL(timerfd_gettime) VS_SYSCALL(timerfd_settime) VS_SYSCALL(times) VS_SYSCALL(tkill) \
    VS_SYSCALL(truncate) VS_SYSCALL(tuxcall) VS_SYSCALL(umask) VS_SYSCALL(umount2) \
    VS_SYSCALL(uname) VS_SYSCALL(unlink) VS_SYSCALL(unlinkat) VS_SYSCALL(unshare) \
    VS_SYSCALL(uselib) VS_SYSCALL(userfaultfd) VS_SYSCALL(ustat) VS_SYSCALL(utime) \
    VS_SYSCALL(utimensat) VS_SYSCALL(utimes) VS_SYSCALL(vfork) VS_SYSCALL(vhangup) \
    VS_SYSCALL(vmsplice) VS_SYSCALL(vserver) VS_SYSCALL(wait4) VS_SYSCALL(waitid) \
    VS_SYSCALL(write) VS_SYSCALL(writev)
/* clang-format on */

#endif
